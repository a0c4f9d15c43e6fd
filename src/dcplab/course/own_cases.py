"""Makes the parts whose cases only their learner has: drawn from a seed that the answer itself names.

What is common to them stands here: the seed is read and held against what a seed may be, an answer is told one sentence or is
right, and its table says of each entry how it stands. A part gives its words: ``says`` and ``table``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dcplab.codec import Other
from dcplab.course.model import Case, HandIn, Part, Table
from dcplab.errors import CourseError

SEEDS = 2**63  # a seed is smaller, and not negative: so each is seen where answers about one seed are listed


def seed_of(got: Any) -> Any:
    """Read the seed that an answer names out of what its driver returned."""
    return got["seed"] if isinstance(got, dict) else None


def seed_sentence(seed: object) -> str | None:
    """Return a sentence that says why this is no seed, or None."""
    if isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < SEEDS:
        return None
    return f"{_shown(seed)[:60]} is no seed: `investigate.seed()` gives yours."


def part(
    says: Callable[[Case, Any], str | None],
    table: Callable[[Case, Any], Table],
    counts: Callable[[Case, Any], tuple[int, int] | None] | None = None,
    **about: Any,
) -> Part:
    """Make a part, judged case by case, from an author's words; ``about`` is the rest of a `Part`.

    ``says(case, got)`` returns a sentence on what is not right, or None; ``table(case, got)`` the entries of the answer. Both
    get what the driver returned, a dict whose "seed" is a seed. A CourseError of either is told as its sentence.
    ``counts(case, got)``, for a part that could be guessed name by name: (how many names are right, of how many), or None
    while one is missing. The first answer to a case is then told this count; ``says`` speaks of an answer that differs from it.
    """

    def compare(case: Case, got: Any, expected: Any) -> str | None:
        if wrong := seed_sentence(seed_of(got)):
            return wrong
        try:
            return says(case, got)
        except CourseError as e:
            return str(e)

    def rows(case: Case, got: Any, expected: Any) -> Table:
        if seed_sentence(seed := seed_of(got)):
            return Table(("", "you said", ""), (("seed", _shown(seed), "no seed"),))
        try:
            return table(case, got)
        except CourseError as e:
            return Table(("", "you said", ""), (), str(e))

    made = Part(oracle=_by_its_words, compare=compare, rows=rows, seed_of=seed_of, by_case=True, **about)
    if counts is None:
        return made

    def hand_in(case: Case, got: Any) -> HandIn | None:
        try:
            counted = None if seed_sentence(seed_of(got)) else counts(case, got)
        except CourseError:
            return None
        return counted and HandIn(str(case.args[0]), hashlib.sha256(repr(got).encode()).hexdigest()[:16], *counted)

    return replace(made, hand_in=hand_in, after=lambda earlier: _counted(made, hand_in, earlier))


def _counted(made: Part, hand_in: Callable[[Case, Any], HandIn | None], earlier: Mapping[str, Any]) -> Part:
    """Return the part that tells the first answer to a case how many names are right, and not which."""

    def compare(case: Case, got: Any, expected: Any) -> str | None:
        assert made.compare is not None
        wrong = made.compare(case, got, expected)
        now = hand_in(case, got) if wrong else None
        if now is None or _is_another(now, earlier):
            return wrong
        told = f"{now.right} of {now.of} names are right. Change one to be told what is wrong."
        return f"{case.label[:1].upper()}{case.label[1:]}: {told}"

    return replace(made, compare=compare, hand_in=hand_in)


def _is_another(now: HandIn, earlier: Mapping[str, Any]) -> bool:
    """Return True if another answer to this case was handed in before: pressing the button again is no hand-in."""
    known = earlier.get(now.case, {})
    return bool(known) and (bool(known.get("others")) or known.get("answer") != now.answer)


def _by_its_words(*case: Any) -> None:
    """Return the expected value of such a case: none, for `compare` holds the answer against what its seed gives."""


def _shown(seed: object) -> str:
    return seed.text if isinstance(seed, Other) else repr(seed)
