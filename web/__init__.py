"""The server and the canvas."""
