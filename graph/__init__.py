"""The engine, in reading order: errors, kinds, values, node, workflow, graph, plan, run, timing."""
