"""A learner's notebook on disk: read, reset, copied."""
