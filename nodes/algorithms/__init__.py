"""Plain functions behind the nodes: arrays in, arrays out, no engine needed."""
