"""Surrounds a Triton kernel in the child: bounds, canaries, the interpreter's limits, a compiler for a GPU."""
