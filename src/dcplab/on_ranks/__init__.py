"""Whole servers on ranks that one process holds or several, and a learner's own wiring on them."""
