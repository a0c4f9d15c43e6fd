"""Every defect of the incident and its relatives, as a switch. ``Engine(defects=...)`` runs any subset.

The first five are what SGLang PR #36989 patches; a *patch* is the absence of its defect. The next three are what that PR
leaves. The last three are the other reports of the family.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcplab.errors import CourseError


@dataclass(frozen=True)
class Defect:
    """``name`` is the switch, ``does`` what the server does wrong while it is on, ``source`` where it was reported."""

    name: str
    does: str
    source: str


ALL = (
    Defect("index_k_size", "index-K has one rank's slots, C + P, and is addressed by loc", "#36886; patched by #36989"),
    Defect("ckv_write", "every rank writes every token's c-KV at row = loc", "#36886; patched by #36989"),
    Defect("read", "decode and verify read c-KV at row = loc", "#36886; patched by #36989"),
    Defect("extend", "extend reads this rank's own c-KV at row = loc, and gathers no prefix", "#36886; patched by #36989"),
    Defect("assert", "the flattened page table, which holds locs, is held against rows, C + P", "#36886; patched by #36989"),
    Defect("index_k_short", "index-K has C*D + P slots: the last (D-1)*P locs do not fit", "#36989 at 017d5cb6"),
    Defect(
        "assert_short", "the flattened page table is held against C*D + P: the last (D-1)*P locs trip it", "#36989 at 017d5cb6"
    ),
    Defect("mixed", "a mixed batch gathers, but its top-k is transformed to locs (PAGED)", "#36989 at 017d5cb6"),
    Defect(
        "draft_page",
        "the draft pool has C*D + P rows: its last page is P long, the allocator's P*D",
        "#32828; mended by #33348",
    ),
    Defect("oob_bound", "the check before the c-KV write holds locs against rows, C + P", "mended by #33432"),
    Defect("retract", "backup and restore of a retracted request use locs as rows", "#38645; mended by #39487"),
)
NAMES = tuple(d.name for d in ALL)
BY_NAME = {d.name: d for d in ALL}
PATCHES = NAMES[:5]
UPSTREAM_RESIDUE = NAMES[5:8]

# What people ask for by one word.
GROUPS = {
    "none": (),
    "unpatched": PATCHES,
    "upstream": UPSTREAM_RESIDUE,  # the server with #36989 as it stood
    "all": NAMES,
}


def parse(words: str | Iterable[str]) -> frozenset[str]:
    """Switch names from "a,b" or from several strings; groups are none, unpatched, upstream, all. CourseError for a bad one."""
    if isinstance(words, str):
        words = words.split(",")
    names: set[str] = set()
    for word in (w.strip() for w in words):
        if word in GROUPS:
            names.update(GROUPS[word])
        elif word in BY_NAME:
            names.add(word)
        elif word:
            raise CourseError(
                f"There is no defect called {word!r}; there are {', '.join(NAMES)}, and the groups {', '.join(GROUPS)}."
            )
    return frozenset(names)


def spell(defects: Iterable[str]) -> str:
    """A set of defects, shortly, in the order of `ALL`."""
    chosen = set(defects)
    for group, members in GROUPS.items():
        if chosen == set(members):
            return group
    return ",".join(name for name in NAMES if name in chosen)
