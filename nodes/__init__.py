"""Built-in nodes, one theme a file."""
