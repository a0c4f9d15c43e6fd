"""Quay: a serving engine with context parallelism over the decode cache."""
