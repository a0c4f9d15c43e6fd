"""What a learner's docstring promises of the arguments is drawn: in every seed, by the part that promises it.

A promise is words of the docstring and what at least one case must then have. Words that are gone fail too: whoever changes a
docstring looks here.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from dcplab.course import catalog
from dcplab.course.model import Case, Launch
from dcplab.course.seeded import Draw

SEEDS = range(12)
WITH_TENSORS = "1a 1b 1c 1d 1f 1g 1h 2h 3a 3b 3d 3e 3f 3g 4a 4b 4c 4d 4f 4g".split()
KERNELS = "1h 2h 3a 3g 4g".split()


@dataclass(frozen=True)
class Promise:
    part: str
    words: str  # of the docstring; "" for what every function of the course promises (docs/authoring.md)
    drawn: Callable[[Case | Launch], bool]


def tensors(case):
    return list(case.buffers.values()) if isinstance(case, Launch) else [a for a in case.args if isinstance(a, torch.Tensor)]


def first(case):
    return next(iter(tensors(case)), torch.zeros(1))


def locs(case):
    return case.buffers["loc" if "loc" in case.buffers else "locs"]


def far(case):
    return any(int(t.max()) >= 2**31 for t in tensors(case) if t.numel() and t.dtype == torch.int64)


def wide_block(case):
    return (
        case.constexprs["ROWS"] > case.constexprs["DIM"]
        and case.args[-1 if "PAGE_SIZE" in case.constexprs else 3] > case.constexprs["DIM"]
    )


def past_2_to_31(case):
    at = case.args[0]
    return at.before >= 2**31


def strided(case):
    return any(not t.is_contiguous() for t in tensors(case))


def int32(case):
    return any(t.dtype == torch.int32 for t in tensors(case))


def empty(case):
    return any(not t.numel() for t in tensors(case))


def dtypes(case):
    return {t.dtype for t in tensors(case)}


PROMISES = [
    *(Promise(part, "", strided) for part in "1a 1b 1c 1d 1f 1g 3b 3d 3e 4a 4b 4c 4d 4f".split()),
    *(Promise(part, "", int32) for part in "1a 1b 1c 1d 1f 1g 3b 3d 4a 4b 4c 4d".split()),
    *(Promise(part, "", empty) for part in "1a 1c 1d 1f 1g 3b 3d 3e 3f 4a 4b 4c 4d 4f".split()),
    *(Promise(part, "", far) for part in "1a 1b 1c 1d 1f 1g 1h 3b 3d 4a 4d 4f".split()),
    *(Promise(part, "", lambda case: first(case).dim() == 0) for part in ("1a", "1b", "1c", "1d")),
    Promise("1a", "an int or", lambda case: isinstance(case.args[0], int)),
    Promise("1b", "an int or", lambda case: isinstance(case.args[0], int)),
    Promise("1c", "-1", lambda case: (first(case) == -1).any() and (first(case) == 0).any()),
    Promise("1d", "-1", lambda case: (first(case) == -1).any() and (first(case) == 0).any()),
    Promise("1g", "or none", lambda case: not len(case.args[1])),
    Promise("1g", "0 or more", lambda case: len(case.args[2]) > 1 and (case.args[2] == 0).any() and (case.args[2] > 0).any()),
    Promise("1g", "the table's dtype", lambda case: case.args[0].dtype == torch.int32 and case.args[2].dtype == torch.int64),
    Promise("1h", "-1 is padding", lambda case: (locs(case) == -1).any()),
    Promise("1h", "n >= 1", lambda case: case.args[-1] == 1),
    Promise("2h", "-1 is skipped", lambda case: (locs(case) == -1).any()),
    Promise("2h", "the slot of its loc", lambda case: (locs(case) == 0).any()),
    Promise("2h", "n >= 1 tokens", lambda case: case.args[-1] == 1),
    Promise("2h", "cdiv(n, ROWS) programs", wide_block),
    Promise("2h", "as bytes and as floats", past_2_to_31),
    *(Promise(part, "negative one is", lambda case: (locs(case) < -1).any()) for part in ("3a", "3g")),
    *(
        Promise(part, "its rows of", lambda case: (locs(case) == 0).any() and not case.constexprs["DCP_RANK"])
        for part in ("3a", "3g")
    ),
    *(Promise(part, "kv_stride", past_2_to_31) for part in ("3a", "3g")),
    *(Promise(part, "elements", wide_block) for part in ("3a", "3g")),
    Promise("3a", "src_stride elements apart", lambda case: case.args[5] > case.constexprs["DIM"]),
    Promise("3b", "a negative one is padding", lambda case: (case.args[2] < -1).any()),
    Promise("3b", "int64", lambda case: case.args[2].dtype == torch.int32),
    Promise("3b", "indexed by row", lambda case: (case.args[2] == 0).any() and case.args[3] == 0),
    Promise("3d", "k may be 0", lambda case: case.args[0].shape[-1] == 0),
    Promise("3d", "-1 for padding", lambda case: (first(case) == -1).any()),
    Promise("3e", "bf16", lambda case: case.args[0].dtype == torch.bfloat16),
    Promise("3e", "may be anything", lambda case: case.args[0].isnan().any()),
    *(Promise("3e", "of either dtype", lambda case, t=t: case.args[1].dtype == t) for t in (torch.bfloat16, torch.float32)),
    Promise("3f", "or are both -inf", lambda case: ((case.args[2] == -math.inf) & (case.args[3] == -math.inf)).any()),
    *(Promise("3g", "bf16 or fp32", lambda case, t=t: case.buffers["src"].dtype == t) for t in (torch.bfloat16, torch.float32)),
    Promise("4a", "0 allowed", lambda case: (case.args[1] == 0).any() and (case.args[1] > 0).any()),
    Promise("4a", "or none", lambda case: not len(case.args[1])),
    *(Promise(part, "or none", lambda case: not len(case.args[-2])) for part in ("4b", "4c")),
    Promise("4b", "any dtype", lambda case: first(case).dtype.is_floating_point),
    Promise("4b", "none if its length is 0", lambda case: (case.args[1] == 0).any() and (case.args[1] > 0).any()),
    Promise("4c", "0 allowed", lambda case: all((lens == 0).any() for lens in case.args[2:]) and len(case.args[0])),
    *(Promise("4c", "[n, ...]", lambda case, d=d: first(case).dim() == d) for d in (1, 2, 3)),
    Promise("4d", "another integer dtype", lambda case: case.call == "" and dtypes(case) == {torch.int32, torch.int64}),
    Promise("4d", "another dtype perhaps", lambda case: case.call != "" and dtypes(case) == {torch.int32, torch.int64}),
    Promise("4f", "", lambda case: (first(case) < -1).any()),
    Promise("4g", "_stride elements", lambda case: case.args[7] > case.constexprs["DIM"]),
]


@pytest.fixture(scope="module")
def drawn():
    known = {}

    def of_part(identity):
        if identity not in known:
            part = catalog.of_part(identity).part(identity)
            known[identity] = [part.cases(Draw(seed)) for seed in SEEDS]
        return known[identity]

    return of_part


def docstrings(identity):
    return re.sub(r"\s+", " ", catalog.of_part(identity).starter_cell(identity))


@pytest.mark.parametrize("promise", PROMISES, ids=[f"{p.part}-{i}" for i, p in enumerate(PROMISES)])
def test_a_promise_is_drawn_on_every_seed(promise, drawn):
    assert promise.words in docstrings(promise.part), f"the docstring no longer says {promise.words!r}"
    missing = [seed for seed, cases in zip(SEEDS, drawn(promise.part), strict=True) if not any(map(promise.drawn, cases))]
    assert not missing, f"no case of {promise.part} has it on the seeds {missing}"


@pytest.mark.parametrize("identity", WITH_TENSORS)
def test_shapes_come_again_with_other_values_and_the_first_case_once_more(identity, drawn):
    for cases in drawn(identity):
        labels = [case.label for case in cases]
        assert any(label.endswith(", other values") for label in labels), labels
        assert f"{cases[0].label}, once more" in labels
        assert [case.size for case in cases] == sorted(case.size for case in cases)


@pytest.mark.parametrize("identity", KERNELS)
def test_a_grid_is_walked_backwards(identity, drawn):
    for cases in drawn(identity):
        assert [math.prod(case.grid) > 1 for case in cases if case.backwards] == [True]
