"""2f: The wrapper that did not pass it on"""

from __future__ import annotations

from typing import Any

from dcplab.course.cases import numbered
from dcplab.course.model import Case, Part, Prediction, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN
from dcplab.present.values import short


def _pool_cases(draw: Draw) -> list[Case]:
    size, other = 64 * draw.int(3, 9), 64 * draw.int(20, 40) + 2
    own = 64 * draw.int(50, 60) + 1  # what the inner pool takes where it is told nothing
    return numbered(
        [
            ("a size for index-K is given", (size, 64, size * 8, own, other, True)),
            ("no size is given: the inner pool decides", (size, 64, None, own, other, False)),
        ]
    )


def use_pool(entry, size, page_size, index_buf_size, inner_default, later, localized):
    """Builds a HybridPool over an inner pool that notes what is done to it, and says what is seen from outside. What the inner
    pool was built with is noted apart from it: memory is taken then, and an attribute set later is only a label."""
    built, built_with = [], []

    class Inner:
        def __init__(self, size, page_size, index_buf_size):
            self.size, self.page_size = size, page_size
            self.index_buf_size = inner_default if index_buf_size is None else index_buf_size
            self.dcp_localized_writes = localized

    def make_pool(*, size, page_size, index_buf_size=None):
        built.append(Inner(size, page_size, index_buf_size))
        built_with.append((size, page_size, index_buf_size))
        return built[-1]

    def look(pool, name):
        value = getattr(pool, name)
        if isinstance(value, int | float | str | None):
            return value
        return type(type(value).__name__, (), {"__repr__": lambda self: "no number"})()  # its own repr has an address

    def put(pool, name, value):
        try:
            setattr(pool, name, value)
        except Exception as e:
            return "AttributeError" if isinstance(e, AttributeError) else type(e).__name__
        return "no error"

    given = {} if index_buf_size is None else {"index_buf_size": index_buf_size}
    pool = entry(make_pool, size, page_size, **given)
    entry(make_pool, 2 * size, page_size, 3 * size)  # another server's, which is none of the first one's business
    seen = {"index_buf_size": look(pool, "index_buf_size"), "dcp_localized_writes": look(pool, "dcp_localized_writes")}
    mine = [(inner, with_) for inner, with_ in zip(built, built_with, strict=True) if with_[0] == size]
    if not mine:
        return seen | {"inner pools built with this size": 0, "sizes built": [with_[0] for with_ in built_with]}
    first, (_, its_page_size, its_index_buf_size) = mine[0]
    seen["index_buf_size that make_pool was given"] = its_index_buf_size
    seen["index_buf_size of the inner pool"] = first.index_buf_size
    first.index_buf_size, first.dcp_localized_writes = later, not localized
    return seen | {
        "index_buf_size, after the inner pool changed": look(pool, "index_buf_size"),
        "dcp_localized_writes, after the inner pool changed": look(pool, "dcp_localized_writes"),
        "setting index_buf_size": put(pool, "index_buf_size", 5),
        "setting dcp_localized_writes": put(pool, "dcp_localized_writes", localized),
        "index_buf_size, after it was set": look(pool, "index_buf_size"),
        "index_buf_size of the inner pool at the end": first.index_buf_size,
        "dcp_localized_writes of the inner pool at the end": first.dcp_localized_writes,
        "inner pools built with this size": sum(with_[0] == size for with_ in built_with),  # by all that was done above
        "page_size that make_pool was given": its_page_size,
    }


def _words(value: Any) -> str:
    return value if isinstance(value, str) else short(value)


def _pool_rows(case: Case, got: Any, expected: Any) -> Table:
    header = ("what is seen from outside", "yours", "expected")
    if not isinstance(got, dict):
        return Table(header, (), "Nothing was seen.")
    rows = [(key, _words(got.get(key, "not seen")), _words(value)) for key, value in expected.items() if got.get(key) != value]
    size, page_size, index_buf_size = case.args[:3]
    return Table(header, tuple(rows[:SHOWN]), f"size {size}, page_size {page_size}, index_buf_size {index_buf_size}.")


PART = Part(
    id="2f",
    entry="HybridPool",
    title="The wrapper that did not pass it on",
    points=10,
    minutes=7,
    can_wait=True,
    cases=_pool_cases,
    drive=use_pool,
    rows=_pool_rows,
    question="When somebody reads pool.index_buf_size, whose number do they get, and of when?",
    hints=(
        "A wrapper can lie in two ways: it does not pass on what it was given, or it answers from a copy of its own.",
        "Build the inner pool once, in __init__, with all three keywords, and keep only the pool. A property "
        "is computed each "
        "time it is read, so it can ask the inner pool then.",
        "A property without a setter raises AttributeError when somebody sets it. You need two: each returns "
        "the attribute of "
        "the same name of the inner pool.",
    ),
    prediction=Prediction(
        question=(
            "A wrapper copies inner.index_buf_size in __init__. Then the builder sets it on the inner pool. The wrapper shows?"
        ),
        answer="the old value",
        because="A copy is a photograph. The server then plans with one number while the buffer has another.",
        choices=("the new value", "the old value", "an error", "None"),
    ),
)
