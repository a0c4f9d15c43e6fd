"""Earlier names of attributes. A saved cell of a learner's notebook may use one, so it stays readable."""

from __future__ import annotations


def formerly(name: str) -> property:
    """Make the earlier name of the attribute ``name``: a read-only property with the same value."""
    return property(lambda self: getattr(self, name), doc=f"`{name}`, under its earlier name.")
