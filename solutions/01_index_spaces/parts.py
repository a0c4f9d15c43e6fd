"""Lab 01, part by part: points, cases, predictions, hints.

The cases are drawn so that every misconception in ``wrong.py`` gives a result of its own on every seed: small readable locs
first, then 0 and -1, a dcp_size that is no power of two, values past 2^24, 2^31 and 2^53 (where float32, int32 and float64 give
up), int32, strided, zero-dimensional and empty tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import torch

from dcplab.course.model import Buf, Case, Launch, Part, Prediction, Table
from dcplab.course.seeded import Draw
from dcplab.judge.compare import short

LAB = dict(id="01", name="01_index_spaces", title="One number, five meanings", minutes=70)

EDGES = (2**24, 2**31, 2**58)  # past these float32, int32 and float64 are no longer exact
UNWRITTEN = -7777  # what a rows buffer holds before a launch; no loc, row or padding
SHOWN = 6  # rows of a failure table


# ---- inputs -----------------------------------------------------------------------------------------------------------


def _locs(draw: Draw, dcp_size: int, dtype: torch.dtype = torch.int64, pads: int = 0) -> torch.Tensor:
    """Shuffled locs: the first two rows of every rank, ``dcp_size`` neighbours past each edge, and ``pads`` times -1."""
    edges = EDGES if dtype == torch.int64 else (2**24, 2**31 - 2**9)
    starts = [0, *(edge + draw.int(70, 120) for edge in edges)]
    locs = [start + i for start in starts for i in range(dcp_size)] + [dcp_size + i for i in range(dcp_size)] + [-1] * pads
    return torch.tensor(draw.shuffled(locs), dtype=dtype)


def _strided(values: torch.Tensor, draw: Draw) -> torch.Tensor:
    """The same values, two to a row where they are even in number, as a transposed view of every other column."""
    flat = values.flatten()
    grid = flat.reshape(2, -1) if flat.numel() % 2 == 0 else flat.reshape(1, -1)
    store = torch.full((grid.shape[1], 2 * grid.shape[0]), draw.int(90, 99), dtype=values.dtype)
    view = store[:, ::2].T
    view.copy_(grid)
    return view


def _numbered(cases: Sequence[tuple[str, tuple]]) -> list[Case]:
    """Cases in the order in which a failure should be shown: ``size`` is the place in the list."""
    return [Case(args=args, label=label, size=i) for i, (label, args) in enumerate(cases)]


def _mapping_cases(draw: Draw) -> list[Case]:
    """Locs for 1a and 1b: no padding, ints and tensors."""
    past_float = 2**58 + draw.int(70, 120)
    while past_float % 3 == 2**58 % 3:  # float64 rounds it to a neighbour; let the neighbour have another owner
        past_float += 1
    return _numbered(
        [
            ("an int", (draw.int(11, 14), 4)),  # owner and row differ
            ("an int, one rank", (draw.int(5, 99), 1)),
            ("an int past 2^53", (past_float, 3)),
            ("a zero-dimensional tensor", (torch.tensor(draw.int(20, 39)), 6)),
            ("consecutive locs", (torch.arange(12) + 8 * draw.int(0, 3), 4)),
            ("int32 locs", (_locs(draw, 3, torch.int32), 3)),
            ("shuffled locs, past 2^31 and 2^53", (_locs(draw, 6), 6)),
            ("a strided table", (_strided(_locs(draw, 8), draw), 8)),
            ("one rank", (_locs(draw, 1), 1)),
            ("no locs", (torch.empty(0, 3, dtype=torch.int64), 4)),
        ]
    )


def _localize_cases(draw: Draw) -> list[Case]:
    low = torch.tensor(draw.shuffled([0, *draw.sample(range(1, 12), 4), -1]))
    return _numbered(
        [
            ("rank 0", (low, 0, 4)),
            ("last rank", (torch.tensor(draw.shuffled([-1, 3, 7, draw.int(8, 20), 2])), 3, 4)),
            ("a rank between", (torch.arange(12) + 4 * draw.int(0, 3), draw.int(1, 2), 4)),
            ("a zero-dimensional tensor", (torch.tensor(3 * draw.int(9, 20) + 1), 1, 3)),
            ("int32 locs", (_locs(draw, 3, torch.int32, pads=2), draw.int(0, 2), 3)),
            ("one rank", (_locs(draw, 1, pads=2), 0, 1)),
            ("shuffled locs, past 2^31 and 2^53", (_locs(draw, 6, pads=3), draw.int(1, 5), 6)),
            ("a strided table", (_strided(_locs(draw, 8, pads=2), draw), draw.choice([0, 5, 7]), 8)),
            ("no locs", (torch.empty(2, 0, dtype=torch.int64), 1, 4)),
        ]
    )


def _globalize_cases(draw: Draw) -> list[Case]:
    return _numbered(
        [
            ("rank 0", (torch.tensor(draw.shuffled([0, -1, *draw.sample(range(1, 20), 3)])), 0, 4)),
            ("last rank", (torch.tensor(draw.shuffled([-1, 0, draw.int(2, 20)])), 3, 4)),
            ("a zero-dimensional tensor", (torch.tensor(draw.int(5, 30)), 1, 3)),
            ("int32 rows", (torch.tensor(draw.shuffled([-1, 0, *draw.sample(range(1, 10**6), 4)]), dtype=torch.int32), 2, 3)),
            ("one rank", (_locs(draw, 2, pads=1), 0, 1)),
            ("rows past 2^31 and 2^53", (_locs(draw, 6, pads=2), draw.int(1, 4), 6)),
            ("a strided table", (_strided(_locs(draw, 8, pads=2), draw), draw.int(3, 6), 8)),
            ("no rows", (torch.empty(0, dtype=torch.int64), 1, 4)),
        ]
    )


def _page_cases(draw: Draw) -> list[Case]:
    return _numbered(
        [
            ("a page", (draw.int(2, 5), 4, 2)),
            ("page 0", (0, 4, 3)),
            ("one rank", (draw.int(2, 9), 16, 1)),
            ("a dcp_size that is no power of two", (draw.int(2, 9), 5, 6)),
            ("a page of a real server", (draw.int(890, 7120), 64, 8)),
            ("a page past 2^53", (2**50 + draw.int(5, 99), 64, 3)),
        ]
    )


def _request(draw: Draw, page_size: int, dcp_size: int, full: int, last: int, base: int = 1, dtype=torch.int64) -> torch.Tensor:
    """A request's locs: ``full`` whole widened pages and ``last`` locs of one more; its pages fall, and are never adjacent."""
    width, count = page_size * dcp_size, full + (last > 0)
    pages = sorted(draw.sample(range(base, base + 12), count), reverse=True)
    pages = [2 * page + draw.int(0, 1) for page in pages]
    locs = [page * width + i for page in pages for i in range(width)]
    return torch.tensor(locs[: full * width + last], dtype=dtype)


def _page_table_cases(draw: Draw) -> list[Case]:
    column = torch.stack([_request(draw, 2, 4, 3, 5), torch.full((29,), draw.int(1, 7))], dim=1)[:, 0]
    return _numbered(
        [
            ("one page, partly filled", (_request(draw, 4, 2, 0, draw.int(5, 7)), 4, 2)),
            ("three pages, the last partly filled", (_request(draw, 4, 2, 2, draw.int(5, 7)), 4, 2)),
            ("whole pages only", (_request(draw, 4, 3, 2, 0), 4, 3)),
            ("one rank", (_request(draw, 4, 1, 3, 1), 4, 1)),
            ("one loc on the last page", (_request(draw, 5, 3, 2, 1), 5, 3)),
            ("int32 locs", (_request(draw, 8, 3, 2, draw.int(9, 15), dtype=torch.int32), 8, 3)),
            ("a column of a table", (column, 2, 4)),
            ("locs past 2^53", (_request(draw, 16, 8, 2, draw.int(17, 31), base=2**50), 16, 8)),
            ("no locs", (torch.empty(0, dtype=torch.int64), 4, 2)),
        ]
    )


def _table(draw: Draw, rows: int, width: int, dtype: torch.dtype, base: int = 0) -> torch.Tensor:
    """A ``req_to_token`` in use: distinct locs, and 0s early and late; past a length stands what an older request left."""
    locs = torch.tensor(draw.sample(range(base + 1, base + 20 * rows * width), rows * width), dtype=dtype).reshape(rows, width)
    for row in range(rows):
        locs[row, [draw.int(0, 1), width - 1]] = 0
    return locs


def _flatten_cases(draw: Draw) -> list[Case]:
    tail = [draw.int(1, 4), 0, draw.int(2, 4)]
    wide = _table(draw, 5, 24, torch.int64, base=2**40)[:, 2:22]
    return _numbered(
        [
            ("one request", (_table(draw, 3, 8, torch.int64), torch.tensor([2]), torch.tensor([draw.int(2, 5)]))),
            ("two requests", (_table(draw, 4, 12, torch.int64), torch.tensor([3, 1]), torch.tensor([draw.int(3, 5), 2]))),
            ("an empty request first", (_table(draw, 4, 12, torch.int32), torch.tensor([2, 3, 0]), torch.tensor([0, 3, 4]))),
            ("an empty request between", (wide, torch.tensor([4, 0, 3]), torch.tensor(tail))),
            (
                "int32 table and lengths, a transposed table",
                (_table(draw, 16, 5, torch.int32).T, torch.tensor([4, 1, 2]), torch.tensor([3, 5, 1], dtype=torch.int32)),
            ),
            ("nothing but empty requests", (_table(draw, 3, 6, torch.int64), torch.tensor([1, 2]), torch.tensor([0, 0]))),
        ]
    )


def _launch(label: str, size: int, locs: torch.Tensor, dcp_rank: int, dcp_size: int, block: int) -> Launch:
    n = locs.numel()
    return Launch(
        buffers={"locs": locs, "rows": torch.full((n,), UNWRITTEN)},
        args=(Buf("locs"), Buf("rows"), n),
        grid=(-(-n // block),),
        constexprs={"DCP_RANK": dcp_rank, "DCP_SIZE": dcp_size, "BLOCK": block},
        label=label,
        size=size,
        writes=("rows",),
    )


def _kernel_cases(draw: Draw) -> list[Launch]:
    few = torch.tensor(draw.shuffled([0, -1, *draw.sample(range(1, 16), 3)]))
    last = torch.tensor(draw.shuffled([-1, 3, 7, *draw.sample(range(8, 30), 4)]))
    launches = [
        ("one program, a partly filled block, rank 0", few, 0, 4, 8),
        ("one program, a partly filled block, last rank", last, 3, 4, 8),
        ("a full block", torch.tensor(draw.shuffled(range(4, 20))), draw.int(1, 2), 4, 16),
        ("two programs", _locs(draw, 6, pads=3), draw.int(1, 4), 6, 32),
        ("one loc", torch.tensor([3 * draw.int(20, 40) + 1]), 1, 3, 4),
        ("one rank", _locs(draw, 1, pads=2), 0, 1, 8),
        ("three programs, past 2^31 and 2^53", _locs(draw, 8, pads=5), draw.choice([0, 5, 7]), 8, 16),
    ]
    return [_launch(label, i, *rest) for i, (label, *rest) in enumerate(launches)]


def _own_launch(locs, dcp_rank: int, dcp_size: int, block: int) -> Launch:
    """The launch for ``lab.run("1h", locs, dcp_rank, dcp_size, block)``."""
    return _launch("yours", 0, torch.as_tensor(locs, dtype=torch.int64).flatten(), dcp_rank, dcp_size, block)


def _kernel_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    locs, size, rank = buffers["locs"], launch.constexprs["DCP_SIZE"], launch.constexprs["DCP_RANK"]
    return {"rows": torch.where((locs >= 0) & (locs % size == rank), locs.div(size, rounding_mode="floor"), -1)}


# ---- the smallest failure, as a table -----------------------------------------------------------------------------------


def _flat(value: Any) -> list[int]:
    return value.flatten().tolist() if isinstance(value, torch.Tensor) else [value]


def _side_by_side(got: Any, expected: Any) -> bool:
    """Whether entry can be held against entry: ints, tensors of one dtype and shape, or vectors of different lengths."""
    if not (isinstance(got, torch.Tensor) and isinstance(expected, torch.Tensor)):
        return type(got) is type(expected) is int
    return got.dtype == expected.dtype and (got.shape == expected.shape or got.dim() == expected.dim() == 1)


def _different(header: tuple[str, ...], cells: Callable[[int], tuple], got: Any, expected: Any, caption: str) -> Table:
    """The first few places where the two differ; the two as wholes where they cannot be held against each other."""
    if not _side_by_side(got, expected):
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    pairs = list(zip_longest(_flat(got), _flat(expected)))
    wrong = [i for i, (yours, right) in enumerate(pairs) if yours != right]
    if len(wrong) > SHOWN:
        caption += f" The first {SHOWN} places:"
    rows = [(*_at(cells, i, len(header) - 2), *map(_said, pairs[i])) for i in wrong[:SHOWN]]
    return Table(header, tuple(tuple(map(str, row)) for row in rows), caption)


def _at(cells: Callable[[int], tuple], i: int, width: int) -> tuple:
    try:
        return cells(i)
    except IndexError:  # an entry too many
        return ("-",) * width


def _said(value: Any) -> Any:
    return "nothing" if value is None else "not written" if value == UNWRITTEN else value


def _owner_row(loc: int, dcp_size: int) -> tuple:
    return (loc, "-", "-") if loc < 0 else (loc, loc % dcp_size, loc // dcp_size)


LOC_HEADER = ("loc", "owner", "row", "yours", "expected")


def _mapping_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, dcp_size = _flat(case.args[0]), case.args[1]
    return _different(LOC_HEADER, lambda i: _owner_row(locs[i], dcp_size), got, expected, f"dcp_size {dcp_size}.")


def _localize_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, (dcp_rank, dcp_size) = _flat(case.args[0]), case.args[1:]
    caption = f"dcp_rank {dcp_rank}, dcp_size {dcp_size}."
    return _different(LOC_HEADER, lambda i: _owner_row(locs[i], dcp_size), got, expected, caption)


def _globalize_rows(case: Case, got: Any, expected: Any) -> Table:
    rows, (dcp_rank, dcp_size) = _flat(case.args[0]), case.args[1:]
    header = ("row", "dcp_rank", "yours", "expected")
    return _different(header, lambda i: (rows[i], dcp_rank), got, expected, f"dcp_size {dcp_size}.")


def _page_rows(case: Case, got: Any, expected: Any) -> Table:
    page, page_size, dcp_size = case.args
    caption = f"page {page}, page_size {page_size}, dcp_size {dcp_size}."
    return _different(("place in the page", "yours", "expected"), lambda i: (i,), got, expected, caption)


def _page_table_rows(case: Case, got: Any, expected: Any) -> Table:
    _, page_size, dcp_size = case.args
    header, caption = ("table", "entry", "yours", "expected"), f"page_size {page_size}, dcp_size {dcp_size}."
    if not (isinstance(got, tuple) and len(got) == 2 and all(map(_side_by_side, got, expected))):
        return _different(header, lambda i: (), got, expected, caption)
    tables = [
        _different(header, lambda i, name=name: (name, i), got[k], expected[k], caption)
        for k, name in enumerate(("index_k_pages", "ckv_pages"))
    ]
    return Table(header, tuple(row for table in tables for row in table.rows)[:SHOWN], caption)


def _flatten_rows(case: Case, got: Any, expected: Any) -> Table:
    _, pool, lens = case.args
    places = [(row, position) for row, n in zip(pool.tolist(), lens.tolist(), strict=True) for position in range(n)]
    caption = f"req_pool_indices {pool.tolist()}, seq_lens {lens.tolist()}."
    return _different(("row of req_to_token", "position", "yours", "expected"), lambda i: places[i], got, expected, caption)


def _kernel_rows(case: Launch, got: Any, expected: Any) -> Table:
    locs, c = case.buffers["locs"].tolist(), case.constexprs
    caption = f"n {len(locs)}, DCP_RANK {c['DCP_RANK']}, DCP_SIZE {c['DCP_SIZE']}, BLOCK {c['BLOCK']}."
    mine, right = (value.get("rows") if isinstance(value, dict) else value for value in (got, expected))
    header = ("program", "lane", *LOC_HEADER)
    return _different(header, lambda i: (*divmod(i, c["BLOCK"]), *_owner_row(locs[i], c["DCP_SIZE"])), mine, right, caption)


# ---- the parts ----------------------------------------------------------------------------------------------------------

PARTS = [
    Part(
        id="1a",
        entry="owner_rank",
        title="Whose slot is it?",
        points=10,
        minutes=5,
        cases=_mapping_cases,
        rows=_mapping_rows,
        question="Deal locs 0, 1, 2, 3, 4 to four ranks like cards. Who holds 4?",
        hints=(
            "Write the first dozen locs in a line and deal them out, one to each rank in turn.",
            "With D ranks the pattern repeats after D locs, so the owner depends only on where a loc stands in its group of "
            "D. Ints and tensors share the operator that says so, and it is exact for both.",
            "The owner is the remainder of loc by dcp_size. Python's remainder operator takes ints and tensors alike and "
            "keeps the dtype.",
        ),
        prediction=Prediction(
            question="Four ranks share the slots, interleaved: 0, 1, 2, 3, 0, 1, ... Which rank stores the c-KV of loc 10?",
            answer="2",
            because="Locs 8, 9, 10, 11 go to ranks 0, 1, 2, 3. Ten is two past a multiple of four.",
            choices=("0", "1", "2", "3"),
        ),
    ),
    Part(
        id="1b",
        entry="local_row",
        title="Which row is it there?",
        points=10,
        minutes=5,
        cases=_mapping_cases,
        rows=_mapping_rows,
        question="How many locs with the same owner come before this one?",
        hints=(
            "On the owner, rows fill up without gaps. Count how many locs of the same owner are smaller.",
            "Each full group of D locs gives every rank exactly one row. So the row is the number of full groups before the "
            "loc. It must stay an integer: a true division makes a float, and floats lose odd numbers past 2^24 or 2^53.",
            "Divide loc by dcp_size with the operator that drops the remainder and stays in integers.",
        ),
        prediction=Prediction(
            question="D = 4. Loc 13 belongs to rank 1. In which row of rank 1's pool does it lie?",
            answer="3",
            because="Rank 1 owns locs 1, 5, 9 and 13. Three of them come before 13, and the first one is in row 0.",
            choices=("1", "3", "4", "13"),
        ),
    ),
    Part(
        id="1c",
        entry="localize",
        title="Mine, or -1",
        points=15,
        minutes=10,
        cases=_localize_cases,
        rows=_localize_rows,
        question="For one entry of the table: does this rank own it, and if so, in which row? What if it is padding?",
        hints=(
            "Two questions an entry: does this rank store it, and where? Answer them apart, then join the answers.",
            "Make a mask of the entries that this rank owns, and the rows that they would have. Pick the row where the mask "
            "holds, -1 elsewhere. Then look at -1 itself: which owner does your arithmetic give to -1 when dcp_size is 4?",
            "torch.where takes the mask, the rows and -1. Keep -1 out of the mask with a comparison, so that it cannot pass "
            "for rank D-1's.",
        ),
        prediction=Prediction(
            question="D = 4. The top-k chose locs [2, 5, 8, 10]. What does rank 0 see?",
            answer="[-1, -1, 2, -1]",
            because="Of the four only 8 leaves no remainder by 4, and 8 is the third of rank 0's locs: row 2.",
            choices=("[0, 1, 2, 2]", "[-1, -1, 8, -1]", "[-1, -1, 2, -1]", "[2]"),
        ),
    ),
    Part(
        id="1d",
        entry="globalize",
        title="And back",
        points=10,
        minutes=5,
        cases=_globalize_cases,
        rows=_globalize_rows,
        question="Push one loc through localize and back. Which number did you lose on the way, and who still knows it?",
        hints=(
            "localize threw the owner away. In this function it comes back, as an argument.",
            "A row counts full groups of dcp_size locs; the rank says where in the group. And -1 is no row: what does your "
            "formula make of it on rank 0, and on the last rank?",
            "Multiply the row by dcp_size, add the rank, and use torch.where so that an entry below zero stays -1.",
        ),
        prediction=Prediction(
            question="D = 4, rank 3. You multiply and add without looking at the sign. What becomes of an entry -1?",
            answer="-1",
            because=(
                "-1 * 4 + 3 is -1. On the last rank the mistake hides; on rank 0 it gives -4. A test on one rank would not "
                "see it."
            ),
            choices=("-4", "-1", "3", "7"),
        ),
    ),
    Part(
        id="1e",
        entry="page_locs",
        title="A page that is wider than a page",
        points=10,
        minutes=5,
        cases=_page_cases,
        rows=_page_rows,
        question="How many locs must one allocator page hold so that every rank gets page_size rows of it?",
        hints=(
            "Each of the D ranks stores a full physical page of its own. Count the locs that fill them all.",
            "The allocator's page is page_size * dcp_size locs wide. Page 0 starts at loc 0, page 1 right after it ends.",
            "A range from the first loc of this page up to the first loc of the next. torch.arange makes it; for ints it is "
            "int64 already.",
        ),
        prediction=Prediction(
            question="P = 4, D = 2. Page 0 is never handed out. What is the first loc that a request can get?",
            answer="8",
            because="The allocator counts in pages of P * D = 8 locs: page 0 is locs 0..7, page 1 starts at 8.",
            choices=("1", "4", "8", "16"),
        ),
    ),
    Part(
        id="1f",
        entry="page_tables",
        title="Two page tables for one request",
        points=15,
        minutes=10,
        cases=_page_table_cases,
        rows=_page_table_rows,
        question="Take one loc in the middle of the request. In which index-K page is it, and in which c-KV page of its owner?",
        hints=(
            "Both tables are thinned-out copies of locs. Only the step and the divisor differ.",
            "The request starts on a widened page, so every P-th position opens a new index-K page and every P*D-th a new "
            "c-KV page. Taking the loc at those places keeps the order of first use and also catches a last page that is "
            "partly filled.",
            "Slice locs with step page_size and divide by page_size; slice again with step page_size * dcp_size and divide by "
            "that.",
        ),
        prediction=Prediction(
            question=(
                "P = 4, D = 2. A request holds locs 8 to 15 and then 40 to 43: index-K pages 2, 3 and 10. Its c-KV pages on "
                "rank 1?"
            ),
            answer="[1, 5]",
            because="Rank 1 owns 9, 11, 13, 15 and 41, 43. Those are rows 4 to 7, page 1 of its pool, and rows 20 and 21, "
            "page 5. On rank 0 they are pages 1 and 5 too.",
            choices=("[2, 3, 10]", "[2, 10]", "[1, 5]", "[1, 1, 5]"),
        ),
    ),
    Part(
        id="1g",
        entry="flatten_request_locs",
        title="From requests to locs",
        points=15,
        minutes=10,
        cases=_flatten_cases,
        rows=_flatten_rows,
        question="Which row of req_to_token belongs to the second request of the batch, and where does its last token stand?",
        hints=(
            "A batch is a list of rows and a list of lengths. Take them in pairs.",
            "Row req_pool_indices[i] of the table belongs to request i, and only its first seq_lens[i] entries are its own. "
            "What stands after them is left over from an older request; nothing marks it.",
            "Slice each row up to its length and join the slices with torch.cat; or gather the rows, and select with a mask "
            "that compares column numbers with lengths.",
        ),
        prediction=Prediction(
            question="A request has 3 tokens. Its row of req_to_token reads [40, 41, 42, 17, 18, 0]. What are 17 and 18?",
            answer="left over from an older request",
            because="Nobody clears a row when a request ends. Only seq_lens says where a request stops.",
            choices=("its next two tokens", "left over from an older request", "padding", "token ids"),
        ),
    ),
    Part(
        id="1h",
        entry="localize_page_table_kernel",
        title="The same rule as a Triton kernel",
        points=15,
        minutes=15,
        cases=_kernel_cases,
        oracle=_kernel_oracle,
        launch=_own_launch,
        rows=_kernel_rows,
        timeout_s=60.0,
        question="For lane i of program p: which entry does it read, may it, and what does it write?",
        hints=(
            "Three steps: which entries are mine to handle, load them, store the answer for each. Only the second line of 1c "
            "is new syntax.",
            "Program p handles entries p*BLOCK to p*BLOCK + BLOCK - 1; some of them lie past n and must be masked in the load "
            "and in the store. An entry that another rank owns is inside n: it gets a -1, it is not skipped.",
            "offsets = program_id * BLOCK + arange; one mask compares them with n and serves load and store; tl.where picks "
            "the row or -1.",
        ),
        prediction=Prediction(
            question="Compiled Triton divides like C. With DCP_SIZE = 8, what is -1 % 8 inside the kernel?",
            answer="-1",
            because=(
                "C rounds the quotient towards zero: -1 // 8 is 0 and the remainder -1. torch rounds down: -1 and 7. One "
                "rule, two answers."
            ),
            choices=("-1", "0", "1", "7"),
        ),
    ),
]
