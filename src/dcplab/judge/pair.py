"""Defines what facts are found in: a wrong value beside the right one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pair:
    """A wrong value beside the right one. ``before``: what stood there, if it is memory to be written."""

    got: Any
    right: Any
    inputs: Mapping[str, Any]
    before: Any = None
