"""4c: Prefix and new tokens, request by request"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different

from .shared import both_sides, ints, who


def _assemble_cases(draw: Draw) -> list[Case]:
    def case(label, prefix_lens, extend_lens, change=lambda t: t, lens_dtype=torch.int64):
        sides = (change(t) for t in both_sides(draw, prefix_lens, extend_lens))
        return label, (*sides, ints(prefix_lens, lens_dtype), ints(extend_lens, lens_dtype))

    def deep(t):
        return torch.stack([t, t + 1], dim=1)

    return numbered(
        [
            case("one request", [3], [2]),
            case("two requests", [2, 3], [1, 2]),
            case("a request without a prefix", [2, 0, 3], [1, 2, 1]),
            case("a request without new tokens", [2, 1, 3], [2, 0, draw.int(1, 3)]),
            case("requests without either", [0, 3, 0, 2], [0, 1, 2, 0]),
            case("the longest first", [draw.int(5, 6), 1, 2], [1, 4, 2]),
            case("the longest last", [1, draw.int(3, 4), 6], [2, 1, 3]),
            case("the words alone, one dimension", [3, 2], [2, 4], lambda t: t[:, 2].contiguous()),
            case("two heads, three dimensions", [2, 4], [3, 1], deep),
            case("float16, int32 lengths", [4, 2], [2, 3], lambda t: t.half(), torch.int32),
            case("strided", [3, 3], [1, 2], lambda t: as_column(t)),
            case("one request without new tokens", [4], [0]),
            case("new tokens only", [0, 0], [2, draw.int(1, 3)]),
            case("eleven requests", [draw.int(0, 2) for _ in range(10)] + [2], [draw.int(0, 2) for _ in range(10)] + [1]),
            case("no tokens", [0, 0], [0, 0]),
            case("no request", [], []),
        ]
    )


def _assemble_rows(case: Case, got: Any, expected: Any) -> Table:
    caption = f"prefix_lens {case.args[2].tolist()}, extend_lens {case.args[3].tolist()}."
    return different(("ragged index", "yours", "expected"), lambda i: (i,), got, expected, caption, who)


PART = Part(
    id="4c",
    entry="assemble_ragged",
    title="Prefix and new tokens, request by request",
    points=10,
    minutes=6,
    cases=again(_assemble_cases),
    rows=_assemble_rows,
    question="What stands right behind the last prefix token of a request?",
    hints=(
        "Cut both tensors into one piece a request. Then it is a question of order.",
        "torch.split takes a list of lengths, zeros too. Take a piece of prefix and one of extend in turn and join them.",
        "torch.cat wants at least one tensor: give it prefix[:0] as well, and a batch without requests is no special case.",
    ),
    prediction=Prediction(
        question=(
            "Each token must lie at its request's start + its position. Prefixes of 2 and 3 tokens, one new token each. "
            "At which index does the second request start?"
        ),
        answer="3",
        because="Before it come the first request's two old tokens and its new one. In [p0 p1 e0 e1] it would be 2.",
        choices=("2", "3", "4", "5"),
    ),
    picture=Shows("token", {"prefix": "token", "extend": "token"}),
)
