"""A pass that owes something to luck says "but"; no other pass does."""

import pytest

from dcplab import checking
from dcplab.course import catalog, luck
from dcplab.notebook.extract import extract

HEAD = "def localize(locs, dcp_rank, dcp_size):\n    "
SIGN = "But it never asks for the sign: rank D-1 takes -1 for its own"


def told(part, source, seed=1):
    lab = catalog.of_part(part)
    found = checking.check(lab.key(part), extract([*lab.setup(), source], lab.part(part).names), seed=seed)
    assert found.outcome == "passed", found.message
    return " ".join(found.message.split())


@pytest.mark.parametrize(
    "body, lucky",
    [
        ("return torch.where(locs % dcp_size == dcp_rank, locs // dcp_size, -1)", True),
        ("return torch.where(torch.remainder(locs, dcp_size).eq(dcp_rank), locs // dcp_size, -1)", True),
        ("return (locs // dcp_size).masked_fill(locs % dcp_size != dcp_rank, -1)", True),
        (
            "out = torch.full_like(locs, -1)\n    mine = locs % dcp_size == dcp_rank\n"
            "    out[mine] = locs[mine] // dcp_size\n    return out",
            True,
        ),
        (
            "rows = [l // dcp_size if l % dcp_size == dcp_rank else -1 for l in locs.reshape(-1).tolist()]\n"
            "    return torch.tensor(rows, dtype=locs.dtype).reshape(locs.shape)",
            True,
        ),
        (
            "rows = [l // dcp_size if l + 1 and l % dcp_size == dcp_rank else -1 for l in locs.reshape(-1).tolist()]\n"
            "    return torch.tensor(rows, dtype=locs.dtype).reshape(locs.shape)",
            False,
        ),
        ("return torch.where(locs.ne(-1) & (locs % dcp_size == dcp_rank), locs // dcp_size, -1)", False),
        ("return torch.where(torch.fmod(locs, dcp_size) == dcp_rank, locs // dcp_size, -1)", False),  # -1 has no owner there
        ("return torch.where((locs >= 0) & (locs % dcp_size == dcp_rank), locs // dcp_size, -1)", False),
        ("return torch.where((locs != -1) & (locs % dcp_size == dcp_rank), locs // dcp_size, -1)", False),
        ("return torch.where((locs == -1) | (locs % dcp_size != dcp_rank), -1, locs // dcp_size)", False),
        ("return torch.where(~torch.signbit(locs) & (locs % dcp_size == dcp_rank), locs // dcp_size, -1)", False),
    ],
)
def test_1c_without_a_test_for_the_sign(body, lucky):
    said = told("1c", HEAD + body)
    assert said.startswith("Right on all ") and (SIGN in said) == lucky and (" But " in said) == lucky


def test_the_solutions_owe_nothing():
    for part in ("1c", "1h", "5b"):
        lab = catalog.of_part(part)
        assert lab.part(part).but(lab.solution(part).source) is None


def test_1h_by_luck():
    source = catalog.lab("01").solution("1h").source
    unasked = source.replace("(loc >= 0) & ", "")
    assert "But it never asks for the sign: padding stays -1 only by how" in told("1h", unasked)
    clamped = source.replace(", mask=mask, other=-1", "").replace(", mask=mask", "").replace(" = entry < n", " = 0")
    clamped = clamped.replace("    mask = 0", "    entry = tl.minimum(entry, n - 1)")
    assert "But no load or store has a mask: the lanes past the end repeat" in told("1h", clamped)


@pytest.mark.parametrize(
    "body, nothing",
    [
        ("x = tl.load(p + tl.arange(0, 4))\n    tl.store(q, x)", True),
        ("x = tl.load(p + tl.arange(0, 4), m)\n    tl.store(q, x)", False),
        ("x = tl.load(p + tl.arange(0, 4))\n    tl.store(q, x, mask=m)", False),
        ("if n:\n        tl.store(q, tl.load(p + tl.arange(0, 4)))", False),
        ("x = tl.load(p)\n    tl.store(q, x)", False),  # one address a program
        ("return 1", False),
    ],
)
def test_a_kernel_without_masks(body, nothing):
    assert luck.masks_nothing(f"def f():\n    {body}") == nothing


def test_5b_merging_equal_outputs():
    part = catalog.lab("05").part("5b")
    merged = "def draft_path(step):\n    return step.merge([rank.attend(*rank.as_rows(x)) for rank in step.ranks])\n"
    assert part.but(merged).startswith("But the draft merges D equal outputs")
    assert part.but(merged.replace("draft_path", "verify_path")) is None
