"""Reads, resets and copies a learner's notebook on disk."""
