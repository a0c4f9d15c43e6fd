"""Quay's own tests: `pytest tests` in a checkout."""
