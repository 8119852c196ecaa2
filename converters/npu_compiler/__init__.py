"""Intel's NPU graph compiler on a computer without an NPU: find or install it, and ask it.

Nothing here runs unless somebody asks for a preflight. What it says is of a compile: that a model
compiles is no promise that its numbers are right.
"""
