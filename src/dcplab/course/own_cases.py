"""Makes the parts whose cases only their learner has: drawn from a seed that the answer itself names.

What is common to them stands here: the seed is read and held against what a seed may be, an answer is told one sentence or is
right, and its table says of each entry how it stands. A part gives its words: ``says`` and ``table``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcplab.codec import Other
from dcplab.course.model import Case, Part, Table
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


def part(says: Callable[[Case, Any], str | None], table: Callable[[Case, Any], Table], **about: Any) -> Part:
    """Make a part, judged case by case, from an author's words; ``about`` is the rest of a `Part`.

    ``says(case, got)`` returns a sentence on what is not right, or None; ``table(case, got)`` the entries of the answer. Both
    get what the driver returned, a dict whose "seed" is a seed. A CourseError of either is told as its sentence.
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

    return Part(oracle=_by_its_words, compare=compare, rows=rows, seed_of=seed_of, by_case=True, **about)


def _by_its_words(*case: Any) -> None:
    """Return the expected value of such a case: none, for `compare` holds the answer against what its seed gives."""


def _shown(seed: object) -> str:
    return seed.text if isinstance(seed, Other) else repr(seed)
