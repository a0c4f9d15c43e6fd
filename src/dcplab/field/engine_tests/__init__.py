"""Unit tests that a checkout of the engine comes with: `pytest tests` there."""
