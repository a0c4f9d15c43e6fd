"""Says what a learner's side may ask the grading service for, and evaluates it: names of a table, and what hangs on them.

An expression is ``("name", "viz.owner_table")``, ``("call", expression, args, kwargs)`` or ``("attr", expression, name)``. An
argument is a plain value, or ``{REF: expression}``. Nothing else of the course can be named: of a hidden case one gets the
tools and not the setup, of a seed only one's own.
"""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from dcplab import codec
from dcplab.errors import CourseError

KEPT = 16  # results of long runs, so that what hangs on one is not run again
LONG = ("demos.", "investigate.case", "investigate.incident", "investigate.night")  # their calls change nothing
REF = "\0ref"
DEPTH = 8
SEEDS = "A closed book shows only your own cases: leave `seed` out."

# Module -> what may be called. A seed that an instructor has bound to a learner is the service's to know.
CALLS: Mapping[str, tuple[str, ...]] = {
    "lab": ("check", "explain", "predict", "progress", "recall", "reset", "run", "start"),
    "viz": (
        "arena_map",
        "decode_step",
        "extend_step",
        "flattened",
        "kernel_lanes",
        "layouts",
        "links",
        "localized",
        "memory_map",
        "owner_strip",
        "owner_table",
        "question",
        "rank_table",
        "retraction",
        "roofline",
        "shards_picture",
        "token_journey",
        "token_journey_picture",
        "two_page_tables",
        "watermark",
        "widened_page",
        "workspace",
        "workspace_picture",
    ),
    "investigate": ("at_scale", "case", "incident", "matrix", "night", "snippets"),
    "demos.layout_servers": ("five_servers",),
    "demos.layouts": ("index_k_bill", "sharded_indexer", "two_block_sizes", "uneven"),
    "demos.memcheck": ("memcheck",),
    "demos.norope": ("half_fixes", "minus_one", "needle", "real_decode", "replicas", "times", "tma"),
    "demos.retraction": (
        "overnight",
        "strided_view",
        "traffic",
        "two_frees",
        "two_layouts",
        "what_a_check_costs",
        "what_came_back",
    ),
    "demos.ragged": ("mixed", "over_gloo", "real_extend", "strided", "two_requests"),
    "demos.server": ("replay", "traffic"),
    "demos.three_faces": ("faces", "guard"),
    "engine.allocator": ("PagedAllocator",),
}
# Class of a result -> what may be asked of it.
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "HalfFixes": ("outcomes",),
    "HiddenCase": ("identity", "layers", "lse", "strict", "trace", "typed"),
    "Measured": ("arguments", "off"),
    "Night": ("identity", "trace"),
    "Outcome": ("wrong", "right"),
    "PagedAllocator": ("available", "issue", "locs"),
    "Questions": ("answers",),
    "Replay": ("engine",),
    "Replicas": ("patched", "unpatched"),
    "dict": ("get",),
}
CLOSED: Mapping[str, str] = {
    "lab.mine": "In a closed book lab 05 runs on the course's own functions: lab.mine has nothing to take here.",
    "investigate.seed": "In a closed book your seed is the service's; investigate.snippets and investigate.case use it.",
}
NOT_HERE = "{} does not work in a closed book: it shows or holds what the parts ask for."


class Results(OrderedDict[tuple[str, bytes], Any]):
    """What long runs gave, by learner and expression; the oldest go first."""

    def of(self, learner: str, expression: Any, run: Callable[[], Any]) -> Any:
        key = (learner, codec.encode(expression))
        if key in self:
            self.move_to_end(key)
            return self[key]
        self[key] = run()
        while len(self) > KEPT:
            self.popitem(last=False)
        return self[key]


_results = Results()


class CourseCall:
    """A function, or a method of a result, that may be called."""

    def __init__(self, name: str, function: Callable[..., Any]):
        self.name, self.function = name, function


def evaluate(of: Any, special: Mapping[str, Callable[..., Any]], learner: str, depth: int = 0) -> Any:
    """Return what an expression gives to a learner. ``special``: names whose function is the service's own. Raises
    CourseError."""
    match of:
        case _ if depth > DEPTH:
            raise CourseError("That is too deep to be asked.")
        case ("name", str(name)):
            return CourseCall(name, special[name]) if name in special else named(name)
        case ("attr", inner, str(name)):
            return _attribute(evaluate(inner, special, learner, depth + 1), name)
        case ("call", inner, list(args), dict(kwargs)) if all(isinstance(key, str) for key in kwargs):
            bound = evaluate(inner, special, learner, depth + 1)
            if not isinstance(bound, CourseCall):
                raise CourseError(f"{type(bound).__name__} is nothing to call.")
            if bound.name.startswith("investigate.") and "seed" in kwargs:
                raise CourseError(SEEDS)

            def run() -> Any:
                given = [_argument(one, special, learner, depth) for one in args]
                named = {key: _argument(one, special, learner, depth) for key, one in kwargs.items()}
                return _call(bound, given, named)

            return _results.of(learner, of, run) if bound.name.startswith(LONG) else run()
    raise CourseError("The grading service does not understand what was asked.")


def named(name: str) -> CourseCall:
    """Return the function of a name in the table. Raises CourseError with the reason why another one is closed."""
    module, _, last = name.rpartition(".")
    if last not in CALLS.get(module, ()):
        raise CourseError(CLOSED.get(name) or NOT_HERE.format(name[:80]))
    return CourseCall(name, getattr(importlib.import_module(f"dcplab.{module}"), last))


def _argument(given: Any, special: Mapping[str, Callable[..., Any]], learner: str, depth: int) -> Any:
    if isinstance(given, dict) and REF in given:
        return evaluate(given[REF], special, learner, depth + 1)
    return given


def _attribute(of: Any, name: str) -> Any:
    kind = type(of).__name__
    if isinstance(of, CourseCall) or name not in ATTRIBUTES.get(kind, ()):
        raise CourseError(NOT_HERE.format(f"`{name[:40]}` of {'a function' if isinstance(of, CourseCall) else kind}"))
    found = getattr(of, name)
    return CourseCall(f"{kind}.{name}", found) if callable(found) else found


def _call(bound: CourseCall, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if bound.name in ("investigate.case", "investigate.snippets") and len(args) > 1:
        raise CourseError(SEEDS)
    if bound.name == "investigate.incident" and args:
        raise CourseError(SEEDS)
    return bound.function(*args, **kwargs)
