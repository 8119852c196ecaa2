"""Programs that make what vinode ships; not part of it."""
