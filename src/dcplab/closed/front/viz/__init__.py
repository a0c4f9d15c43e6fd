"""Pictures, drawn by the grading service."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from ..remote import RemoteName

    return RemoteName(f"viz.{name}")
