"""Train the text-to-image model that comes with vinode: emoji from their names, in an hour."""
