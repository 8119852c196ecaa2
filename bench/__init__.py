"""Measurements, each printed beside the bar that it has to clear: `python -m bench.engine`."""
