"""Parses Python, in threads too.

Python 3.11 counts the depth of a syntax tree for the whole process. Its count fails ("AST constructor recursion depth
mismatch", CPython gh-106905) where the garbage collector lets another thread parse meanwhile. The grader judges in threads, and
a right answer was not judged for it.
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def parse(source: str) -> ast.Module:
    """Return `ast.parse` of a source. Raises SyntaxError and what else `ast.parse` raises."""
    with _ONE_AT_A_TIME:
        try:
            return ast.parse(source)
        except SystemError:  # someone else parsed, who does not come here
            return ast.parse(source)
