"""Compares what an answer did with what is expected, and gives a verdict. Nothing here runs anything."""
