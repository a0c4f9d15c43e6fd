"""Lab 02, part by part: points, cases, predictions, hints.

Sizes are drawn so that every misconception in ``wrong.py`` gives a result of its own on every seed: a small pool first, then
sizes that are no whole pages (where ``size + page_size`` and whole pages part), page sizes and dcp_sizes that are no powers of
two, one rank, the real server, and a size past 2^53.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dcplab.course.model import Buf, Case, Launch, Part, Prediction, Table
from dcplab.course.seeded import Draw

LAB = dict(id="02", name="02_index_k_sizing", title="A legal loc, a buffer too small", minutes=75)

REAL = (455_744, 64, 8)  # size, page_size, dcp_size of issue #36886
CONSUMERS = ("index_k", "ckv_raw", "draft")
CHECKED = ("ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc", "flattened_page_table")
UNWRITTEN = 0xAA  # what index-K holds before a launch
SHOWN = 6  # rows of a failure table


# ---- inputs -----------------------------------------------------------------------------------------------------------


def _numbered(cases: Sequence[tuple[str, tuple]], call: str = "", start: int = 0) -> list[Case]:
    """Cases in the order in which a failure should be shown: ``size`` is the place in the list."""
    return [Case(args=args, label=label, size=start + i, call=call) for i, (label, args) in enumerate(cases)]


def _pages(draw: Draw, low: int = 3, high: int = 9) -> int:
    return draw.int(low, high)


def _huge(draw: Draw, rest: int) -> int:
    """A size past 2^53, for pages of 3 with ``rest`` rows over, which neither bit masks nor float64 round down rightly."""
    while True:
        size = 3 * (2**57 + draw.int(10**6, 10**9)) + rest
        if len({size // 3, int(size / 3), int(float(size)) // 3}) == 3 and size & ~2 != size - rest:
            return size


def _largest_cases(draw: Draw) -> list[Case]:
    return _numbered(
        [
            ("a toy", (4 * _pages(draw), 4, 2)),
            ("one page", (4, 4, 3)),
            ("a size that is no whole pages", (5 * _pages(draw) + draw.int(2, 4), 5, 3)),
            ("one rank", (8 * _pages(draw) + draw.int(1, 7), 8, 1)),
            ("a real server", REAL),
            ("a page of one row", (draw.int(20, 99), 1, 6)),
            ("a size past 2^53", (_huge(draw, 2), 3, 7)),
        ]
    )


def _scale_cases(draw: Draw) -> list[Case]:
    d = draw.choice((3, 5, 6, 7))
    scales = [
        ("a target", (False, d)),
        ("a draft", (True, d)),
        ("a draft, one rank", (True, 1)),
        ("a target, one rank", (False, 1)),
    ]
    pages = [("a draft's pool", (draw.int(5, 9), d)), ("a target's pool", (64, 1)), ("a real draft", (64, 8))]
    return _numbered(scales) + _numbered(pages, "pool_page_size", len(scales))


def _slot_cases(draw: Draw) -> list[Case]:
    toy, odd = 4 * _pages(draw), 5 * _pages(draw) + draw.int(2, 4)
    far = _huge(draw, 1)
    return _numbered(
        [
            ("a toy target", (toy, 4, 2, 1)),
            ("a toy draft: its size is scaled", (toy * 2, 4, 2, 2)),
            ("a target, no whole pages", (odd, 5, 3, 1)),
            ("a draft, no whole pages", (odd * 3, 5, 3, 3)),
            ("one rank, no whole pages", (8 * _pages(draw) + draw.int(1, 7), 8, 1, 1)),
            ("a real target", (*REAL, 1)),
            ("a real draft", (REAL[0] * 8, 64, 8, 8)),
            ("a size past 2^53", (far, 3, 7, 1)),
        ]
    )


def _first_out_cases(draw: Draw) -> list[Case]:
    toy, pages = 4 * _pages(draw, 5, 9), _pages(draw)
    odd = 7 * pages + 6
    far = _huge(draw, 0)
    cases = [(f"{consumer}, a toy", (consumer, toy, 4, 2)) for consumer in CONSUMERS]
    cases += [(f"{consumer}, one rank", (consumer, toy, 4, 1)) for consumer in CONSUMERS]
    cases += [(f"{consumer}, a pool smaller than an allocator page", (consumer, 8, 4, 5)) for consumer in CONSUMERS]
    cases += [
        ("ckv_raw, no whole pages", ("ckv_raw", 5 * pages + draw.int(2, 3), 5, 3)),
        ("draft, the last loc only", ("draft", 3 * pages + 1, 3, 2)),
        ("draft, no whole pages", ("draft", odd, 7, 3)),
        *((f"{consumer}, a real server", (consumer, *REAL)) for consumer in CONSUMERS),
        *((f"{consumer}, a size past 2^53", (consumer, far, 3, 7)) for consumer in CONSUMERS),
    ]
    return _numbered(cases)


def _bound_cases(draw: Draw) -> list[Case]:
    toy, odd = (4 * _pages(draw), 4, 2), (5 * _pages(draw) + draw.int(2, 4), 5, 3)
    far = (_huge(draw, 2), 3, 7)
    named = [("a toy", toy), ("no whole pages", odd), ("a real server", REAL), ("a size past 2^53", far)]
    cases = [(f"{consumer}, {what}", (consumer, *sizes)) for what, sizes in named for consumer in CHECKED]
    return _numbered([*cases, ("ckv_row, one rank", ("ckv_row", 8 * _pages(draw), 8, 1))])


def _pool_cases(draw: Draw) -> list[Case]:
    size, other = 64 * draw.int(3, 9), 64 * draw.int(20, 40) + 2
    own = 64 * draw.int(50, 60) + 1  # what the inner pool takes where it is told nothing
    return _numbered(
        [
            ("a size for index-K is given", (size, 64, size * 8, own, other, True)),
            ("no size is given: the inner pool decides", (size, 64, None, own, other, False)),
        ]
    )


def use_pool(entry, size, page_size, index_buf_size, inner_default, later, localized):
    """Builds a HybridPool over an inner pool that notes what is done to it, and says what is seen from outside."""
    built = []

    class Inner:
        def __init__(self, size, page_size, index_buf_size):
            self.size, self.page_size = size, page_size
            self.index_buf_size = inner_default if index_buf_size is None else index_buf_size
            self.dcp_localized_writes = localized

    def make_pool(*, size, page_size, index_buf_size=None):
        built.append(Inner(size, page_size, index_buf_size))
        return built[-1]

    def look(pool, name):
        value = getattr(pool, name)
        return value if isinstance(value, int | float | str | None) else f"a {type(value).__name__}"

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
    first = next((inner for inner in built if inner.size == size), None)
    if first is None:
        return seen | {"inner pools built with this size": 0, "sizes built": [inner.size for inner in built]}
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
        "inner pools built with this size": sum(inner.size == size for inner in built),
        "page_size of the inner pool": first.page_size,
    }


def _bill_cases(draw: Draw) -> list[Case]:
    extra = [
        ("a toy", (2, 4 * _pages(draw), 3)),
        ("one rank", (draw.int(3, 9), 64, 1)),
        ("a real server", (11, REAL[0], 8)),
        ("past 2^53", (5, 2**57 + draw.int(1, 10**6), 7)),
    ]
    gain = [
        ("a toy", (3, 1, 256 * draw.int(1, 3), 4)),
        ("a real server", (11, 11, 1024, 8)),
        ("one rank", (11, 11, 1024, 1)),
        ("a model in which few layers have an indexer", (78, 21, 1152, draw.int(3, 7))),
    ]
    return _numbered(extra) + _numbered(gain, "capacity_gain", len(extra))


def _launch(label: str, size: int, locs: torch.Tensor, pages: int, page_size: int, rows: int, keys, scales) -> Launch:
    n, dim = keys.shape
    return Launch(
        buffers={
            "buf": torch.full((pages, page_size * (dim + 4)), UNWRITTEN, dtype=torch.uint8),
            "key": keys,
            "scale": scales,
            "loc": locs,
        },
        args=(Buf("buf"), Buf("buf", "float32"), Buf("key"), Buf("scale"), Buf("loc"), n),
        grid=(-(-n // rows),),
        constexprs={"PAGE_SIZE": page_size, "DIM": dim, "ROWS": rows},
        label=label,
        size=size,
        writes=("buf",),
    )


def _write_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, n, pads, pages, page_size, dim, rows, first=None):
        locs = draw.sample(range(page_size, pages * page_size), n - pads)
        locs = draw.shuffled([*locs, *[-1] * pads])
        if first is not None:  # what stands first is what a failure shows first
            locs = [first, *(loc for loc in locs if loc != first)][:n]
        keys = torch.randint(1, 255, (n, dim), generator=draw.torch(), dtype=torch.uint8)
        scales = torch.rand(n, generator=draw.torch()) + 0.5
        return _launch(label, size, torch.tensor(locs), pages, page_size, rows, keys, scales)

    return [
        drawn("one token", 0, 1, 0, 4, 4, 8, 1),
        drawn("three tokens, one is padding, a partly filled block", 1, 3, 1, 4, 4, 8, 4),
        drawn("a full block", 2, 8, 0, 5, 4, 16, 8),
        drawn("two programs, a page of 6 slots", 3, 11, 2, 5, 6, 8, 8),
        drawn("the last slot of the last page", 4, 5, 1, 3, 8, 16, 8, first=23),
        drawn("a server's page: 64 slots of 128 + 4 bytes", 5, 20, 3, 3, 64, 128, 8),
    ]


def _own_launch(keys, scales, locs, pages: int, page_size: int, rows: int) -> Launch:
    """The launch for ``lab.run("2h", keys, scales, locs, pages, page_size, rows)``."""
    keys, scales, locs = torch.as_tensor(keys), torch.as_tensor(scales), torch.as_tensor(locs)
    if keys.dim() != 2 or len(keys) != len(scales) or len(keys) != len(locs):
        raise ValueError("keys is [n, DIM]; scales and locs have n entries")
    keys, scales, locs = keys.to(torch.uint8), scales.to(torch.float32), locs.to(torch.int64)
    return _launch("yours", 0, locs.contiguous(), pages, page_size, rows, keys.contiguous(), scales.contiguous())


def _write_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    page_size, dim = launch.constexprs["PAGE_SIZE"], launch.constexprs["DIM"]
    buf, here = buffers["buf"], buffers["loc"] >= 0
    loc, keys, scales = buffers["loc"][here], buffers["key"][here], buffers["scale"][here]
    page, slot = loc.div(page_size, rounding_mode="floor"), loc % page_size
    buf[:, : page_size * dim].view(-1, page_size, dim)[page, slot] = keys
    buf[:, page_size * dim :].view(-1, page_size, 4)[page, slot] = scales.view(-1, 1).view(torch.uint8)
    return {"buf": buf}


# ---- the smallest failure, as a table -----------------------------------------------------------------------------------


def _pool_rows(case: Case, got: Any, expected: Any) -> Table:
    header = ("what is seen from outside", "yours", "expected")
    if not isinstance(got, dict):
        return Table(header, (), "Nothing was seen.")
    rows = [(key, str(got.get(key, "not seen")), str(value)) for key, value in expected.items() if got.get(key) != value]
    size, page_size, index_buf_size = case.args[:3]
    return Table(header, tuple(rows[:SHOWN]), f"size {size}, page_size {page_size}, index_buf_size {index_buf_size}.")


def _write_rows(case: Launch, got: Any, expected: Any) -> Table:
    """Byte by byte: where in index-K, what belongs there, and what is there."""
    page_size, dim = case.constexprs["PAGE_SIZE"], case.constexprs["DIM"]
    locs = set(case.buffers["loc"].tolist())
    header = ("page", "byte of the page", "belongs to", "yours", "expected")
    caption = f"locs {case.buffers['loc'].tolist()[:12]}, PAGE_SIZE {page_size}, DIM {dim}, ROWS {case.constexprs['ROWS']}. "
    mine, right = (value.get("buf") if isinstance(value, dict) else None for value in (got, expected))
    if mine is None or right is None or mine.shape != right.shape:
        return Table(header, (), caption)
    places = (mine != right).nonzero().tolist()
    rows = []
    for page, byte in places:
        if byte < page_size * dim:
            slot, what = byte // dim, f"key byte {byte % dim}"
        else:
            slot, what = (byte - page_size * dim) // 4, "scale"
        loc = page * page_size + slot
        whose = f"loc {loc}, {what}" if loc in locs else f"loc {loc}, which is not written"
        if rows and rows[-1][:1] == (str(page),) and rows[-1][2] == whose:
            continue  # a scale is four bytes
        yours, asked = ("not written" if v == UNWRITTEN else str(v) for v in (int(mine[page, byte]), int(right[page, byte])))
        rows.append((str(page), str(byte), whose, yours, asked))
        if len(rows) == SHOWN:
            break
    return Table(header, tuple(rows), f"{caption}{len(places)} of {right.numel()} bytes differ.")


# ---- the parts ----------------------------------------------------------------------------------------------------------

PARTS = [
    Part(
        id="2a",
        entry="largest_loc",
        title="The largest loc there is",
        points=10,
        minutes=5,
        cases=_largest_cases,
        question="How many allocator pages are there, and what is the last loc of the last one?",
        hints=(
            "Do not start from C. Start from pages: which ones can be issued, and which is the last?",
            "A pool of C rows holds C // P whole pages; what is left over is never issued. Page 0 is not issued either, so the "
            "pages are 1 to C // P. Each is P * D locs wide.",
            "The page after the last one would start at (C // P + 1) * P * D. The loc before that is the largest.",
        ),
        prediction=Prediction(
            question="C = 20, P = 4, D = 2. The allocator has pages 1 to 5 to give, of 8 locs each. What is the largest loc?",
            answer="47",
            because="Page 5 is locs 40 to 47. C * D - 1 would be 39: it forgets that page 0 takes up eight numbers.",
            choices=("19", "23", "39", "47"),
        ),
    ),
    Part(
        id="2b",
        entry="loc_space_scale",
        also=("pool_page_size",),
        title="Who else reads locs?",
        points=10,
        minutes=5,
        cases=_scale_cases,
        question="Which of the two pools is a copy on every rank, and how wide is a page for somebody who counts locs?",
        hints=(
            "Ask of each pool: does a rank store its share of the tokens, or all of them?",
            "The target's c-KV is sharded, so a rank needs C rows: scale 1. The draft's pool is whole on every rank and is "
            "addressed by loc: it needs D times as much. A page grows by the same factor as the pool.",
            "The scale is dcp_size for a draft worker and 1 for anybody else; the pool's page is page_size times the scale.",
        ),
        prediction=Prediction(
            question=(
                "Between the two pull requests the draft has C * D + P rows on every rank. A pool fills to its last page. "
                "What does the server do?"
            ),
            answer="writes past the draft's end",
            because=(
                "The last page is P * D locs, and only P of them have a row. The run after your check shows what lay behind: "
                "index-K, and one answer is wrong."
            ),
            choices=("goes on, since no loc comes so far", "refuses the last page", "writes past the draft's end", "crashes"),
        ),
    ),
    Part(
        id="2c",
        entry="index_k_slots",
        title="How much index-K is enough?",
        points=15,
        minutes=8,
        cases=_slot_cases,
        question="What is the largest loc that may come, and how many slots does a buffer need that has one for it?",
        hints=(
            "index-K has a slot for every loc. So its size follows from the largest loc, not from C.",
            "For a draft, size has been multiplied already: size // scale is C again for both. Then count whole "
            "pages as in 2a. "
            "The last allocator page is P * D slots long here, not P.",
            "One slot more than largest_loc(size // scale, page_size, dcp_size); that is a multiple of page_size already.",
        ),
        prediction=Prediction(
            question=(
                "#36989 gives index-K C * D + P slots. C = 20, P = 4, D = 3: that is 64. How many legal locs have no slot?"
            ),
            answer="8",
            because=(
                "Page 5 is locs 60 to 71, and slots end at 63. The spare page of a buffer that is addressed by loc is P * D = "
                "12 slots, and this leaves P = 4: (D - 1) * P are missing."
            ),
            choices=("0", "4", "8", "12"),
        ),
    ),
    Part(
        id="2d",
        entry="first_loc_out",
        title="Where it breaks first",
        points=15,
        minutes=10,
        cases=_first_out_cases,
        question=(
            "How many slots or rows does this buffer have, and which loc that the allocator really issues is the first beyond?"
        ),
        hints=(
            "Three numbers decide: how much the buffer has, which loc is issued first of all, and which is the largest.",
            "The buffer holds indices 0 to slots - 1, so the index that equals the number of slots is the first "
            "outside. It counts "
            "only if it is issued: not below the first page, which starts at P * D, and not above largest_loc.",
            "slots is size + page_size for index_k and ckv_raw, size * dcp_size + page_size for draft. Take the "
            "larger of slots and "
            "P * D; give None if that is above largest_loc(size, page_size, dcp_size).",
        ),
        prediction=Prediction(
            question=(
                "C = 8, P = 4, D = 2: index-K has 12 slots, locs start at 8. Which allocator page holds the first loc outside?"
            ),
            answer="page 1, the first",
            because=(
                "Page 1 is locs 8 to 15, and 12 is in the middle of it. In so small a pool the very first request "
                "crosses the line."
            ),
            choices=("page 1, the first", "page 2, the last", "page 3, which does not exist", "none"),
        ),
    ),
    Part(
        id="2e",
        entry="check_bound",
        title="An assert for each consumer",
        points=10,
        minutes=8,
        cases=_bound_cases,
        question="Which space is the checked index in: locs of all ranks, or rows of this one?",
        hints=(
            "The bound belongs to the index that is checked, not to the file or the class that the assert stands in.",
            "Four of the five are locs: before the c-KV write nothing has been divided yet, and index-K, the draft and the "
            "flattened page table hold locs. Only ckv_row has been divided.",
            "largest_loc(...) + 1 for the four; for ckv_row the same count of whole pages without dcp_size: "
            "(size // page_size + 1) * page_size.",
        ),
        prediction=Prediction(
            question=(
                "C = 14, P = 4, D = 2: c-KV has C + P = 18 rows on a rank. What is the tightest right bound for a row, after "
                "the division?"
            ),
            answer="16",
            because=(
                "14 rows make 3 pages, and page 0 comes before them: legal rows go to 15. Rows 16 and 17 exist, but no loc "
                "leads there."
            ),
            choices=("14", "16", "18", "32"),
        ),
    ),
    Part(
        id="2f",
        entry="HybridPool",
        title="The wrapper that did not pass it on",
        points=15,
        minutes=8,
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
                "A wrapper copies inner.index_buf_size in __init__. Then the builder sets it on the inner pool. The "
                "wrapper shows?"
            ),
            answer="the old value",
            because="A copy is a photograph. The server then plans with one number while the buffer has another.",
            choices=("the new value", "the old value", "an error", "None"),
        ),
    ),
    Part(
        id="2g",
        entry="index_k_extra_bytes",
        also=("capacity_gain",),
        title="The bill",
        points=10,
        minutes=7,
        cases=_bill_cases,
        close=1e-9,
        question="For one row of size: how many bytes of c-KV does a rank pay, and how many of index-K, with DCP and without?",
        hints=(
            "Write down what one more row of C costs a rank: so many bytes of c-KV, and index-K slots for so many locs.",
            "A slot of index-K is 128 bytes of key and 4 of scale, a layer. With DCP a row of C means D locs, "
            "and each rank keeps "
            "index-K for all D. Tokens held are memory over bytes a row, times D with DCP.",
            "Extra: layers * 132 * size * (dcp_size - 1). Gain: with c = ckv_layers * row_bytes and k = index_layers * 132, "
            "D * (c + k) over c + D * k.",
        ),
        prediction=Prediction(
            question=(
                "11 layers, a c-KV row of 1,024 bytes, an index-K slot of 132, D = 8, the same memory a rank. "
                "How many times as many tokens does the server hold?"
            ),
            answer="about 4.4",
            because=(
                "c-KV is split by 8, index-K is not: 8 copies of 132 bytes cost more than one c-KV row. The lab computes 4.446."
            ),
            choices=("8", "about 7", "about 4.4", "1"),
        ),
    ),
    Part(
        id="2h",
        entry="write_index_k_kernel",
        title="The write that meets the end",
        points=15,
        minutes=15,
        cases=_write_cases,
        oracle=_write_oracle,
        launch=_own_launch,
        rows=_write_rows,
        timeout_s=60.0,
        question="For the token of one lane: at which byte of which page does its key begin, and where does its scale lie?",
        hints=(
            "Two pointers to one memory. Count bytes with the first and floats with the second, and never mix the two counts.",
            "Page loc // PAGE_SIZE begins at byte page * PAGE_SIZE * (DIM + 4). In it key number slot begins at "
            "slot * DIM; the "
            "scales follow after PAGE_SIZE * DIM bytes. Divide by 4 where you count floats.",
            "token = program * ROWS + arange; loc = load(masked by n, other=-1); here = loc >= 0 masks "
            "everything after it. Keys "
            "need a 2-D block: offsets[:, None] + arange(DIM)[None, :], and here[:, None].",
        ),
        prediction=Prediction(
            question=(
                "A page has 64 slots of 128 bytes of key and 4 of scale. At which byte of its page does the scale of "
                "slot 1 begin?"
            ),
            answer="8196",
            because="First all keys, 64 * 128 = 8,192 bytes, then the scales: slot 1's is the second, 4 bytes further.",
            choices=("132", "260", "8192", "8196"),
        ),
    ),
]
