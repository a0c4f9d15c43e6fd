"""Lab 04, part by part: points, cases, predictions, hints.

Every token says who it is: its first two numbers are its request and its position, so that a failure can be read as words
("request 1, position 3"). The third is noise. Rows that hold no token are garbage that no token looks like. Cases go from one
request to ragged batches: lengths and starts that are no multiples of D, requests without a prefix or without new tokens,
one rank, locs and positions past 2^31 and 2^53, strided views, int32, and nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, zip_longest
from typing import Any

import torch

from dcplab.course.model import Buf, Case, Launch, Part, Prediction, Table
from dcplab.course.seeded import Draw
from dcplab.judge.compare import short

LAB = dict(id="04", name="04_ragged_extend", title="Which buffer does this index point into?", minutes=75)

FAR = 2**58  # past what float64, float32 and int32 hold exactly
GARBAGE = -7777  # in a row that holds no token
UNWRITTEN = -4444  # in a workspace, before a launch
GAP = -3333  # between a row's last number and the next row: somebody else's
CONSUMERS = ("ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc", "flattened_page_table")
SHOWN = 6  # rows of a failure table


# ---- inputs -----------------------------------------------------------------------------------------------------------


def _numbered(cases: Sequence[tuple[str, tuple]], call: str = "", start: int = 0) -> list[Case]:
    """Cases in the order in which a failure should be shown: ``size`` is the place in the list."""
    return [Case(args=args, label=label, size=start + i, call=call) for i, (label, args) in enumerate(cases)]


def _ints(values: Sequence[int], dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor(list(values), dtype=dtype)


def _column(values: torch.Tensor) -> torch.Tensor:
    """The same values as a strided view: a column of a table whose other column holds something else."""
    return torch.stack([values, values + 1], dim=-1).movedim(-1, 0)[0]


def _locs(draw: Draw, lengths: Sequence[int], page_size: int, dcp_size: int, starts: Sequence[int] = (), base: int = 0):
    """Locs of positions ``start ..`` of each request, one request after another. Pages fall, and are never adjacent."""
    width, locs = page_size * dcp_size, []
    free = [base + 2 * page + draw.int(0, 1) for page in sorted(draw.sample(range(1, 9), 6), reverse=True)]
    for n, start in zip_longest(lengths, starts, fillvalue=0):
        pages = [free.pop(0) for _ in range(-(-(start + n) // width))]
        locs += [pages[p // width] * width + p % width for p in range(start, start + n)]
    return locs


def _prefix_cases(draw: Draw) -> list[Case]:
    def case(label, lengths, page_size, dcp_size, rank, dtype=torch.int64, **more):
        locs = _ints(_locs(draw, lengths, page_size, dcp_size, **more), dtype)
        return label, (locs, _ints(lengths), rank, dcp_size)

    shared = _locs(draw, [6], 3, 2)

    def float64_is_right(locs, _, rank, dcp_size):
        mine = locs[locs % dcp_size == rank]
        return torch.equal((mine.double() / dcp_size).long(), mine // dcp_size)

    def drawn_far():
        return case("locs past 2^31 and 2^53", [5, 8], 4, 6, draw.int(1, 4), base=2**54)

    far = drawn_far()
    while float64_is_right(*far[1]):
        far = drawn_far()
    column = case("a column of a table, int32 lengths", [10, draw.int(11, 13)], 2, 8, draw.choice([0, 5]))[1]
    return _numbered(
        [
            case("one request", [draw.int(6, 7)], 4, 4, 1),
            case("prefixes of 5 and 3 tokens", [5, 3], 4, 4, 0),
            case("prefixes of 5 and 4 tokens", [5, 4], 4, 4, 0),
            case("an empty prefix between two", [4, 0, 5], 3, 3, 0),
            case("prefixes that fill several pages", [draw.int(9, 11), 13], 2, 3, 1),
            ("two requests that share a prefix", (_ints(shared + shared[:5]), _ints([6, 5]), 1, 2)),
            case("a piece that does not start at position 0", [6, 4], 4, 4, draw.int(1, 2), starts=[5, 3]),
            ("loc 0 and its neighbours", (torch.arange(5), _ints([2, 3]), 0, 3)),
            case("int32 locs", [7, 1, 4], 4, 3, draw.int(0, 1), torch.int32),
            case("one rank", [4, 3], 4, 1, 0),
            far,
            ("a column of a table, int32 lengths", (_column(column[0]), column[1].int(), *column[2:])),
            case("a rank that holds nothing of them", [2, 1], 4, 4, 3),
            case("nothing but empty prefixes", [0, 0], 4, 4, 1),
        ]
    )


def _padded(length: int, start: int, dcp_size: int) -> int:
    """Rows of every shard that a request fills."""
    return -(-(length + start % dcp_size) // dcp_size) if length else 0


def _token(draw: Draw, request: int, position: int) -> list[int]:
    return [request, position, draw.int(10, 99)]


def _shards(draw: Draw, lengths: Sequence[int], starts: Sequence[int], dcp_size: int) -> torch.Tensor:
    """What an all-gather of padded shards gives, ``[D, rows, 3]``."""
    rows = [_padded(n, s, dcp_size) for n, s in zip(lengths, starts, strict=True)]
    shards = torch.full((dcp_size, sum(rows), 3), GARBAGE)
    for i, (n, start, first) in enumerate(zip(lengths, starts, accumulate(rows, initial=0), strict=False)):
        for p in range(start, start + n):
            shards[p % dcp_size, first + p // dcp_size - start // dcp_size] = _ints(_token(draw, i, p))
    return shards


def _shard_cases(draw: Draw) -> list[Case]:
    def case(label, lengths, starts, dcp_size, change=lambda t: t, lens_dtype=torch.int64):
        shards = change(_shards(draw, lengths, starts, dcp_size))
        return label, (shards, _ints(lengths, lens_dtype), _ints(starts), dcp_size)

    def poisoned(t):
        return torch.where(t == GARBAGE, torch.nan, t.half())

    # float64 and int32 lead to other rows there, not to the same ones, and to none that there is not
    far = FAR + draw.choice([72, 73, 75, 78, 79])
    return _numbered(
        [
            case("one request", [5], [0], 2),
            case("two requests", [5, 3], [0, 0], 4),
            case("a start that is no multiple of D", [5], [3], 4),
            case("a start past a whole turn of the ranks", [4, draw.int(5, 7)], [2, 7], 3),
            case("an empty prefix between two, with a start", [3, 0, 6], [1, 5, 2], 4),
            case("an empty prefix at a start that is a multiple of D", [3, 0, 5], [0, 8, 4], 4),
            case("one token a request", [1, 1, 1, 1], draw.shuffled([2, 5, 4, 7]), 4),
            case("lengths that are multiples of D", [6, 3], [0, 3], 3),
            case("one rank", [4, 2], [0, draw.int(3, 5)], 1),
            case("one rank, one request", [4], [0], 1),
            case("float16, rows without a token are NaN", [5, 6], [1, 3], 4, poisoned),
            case("strided shards, int32 lengths", [4, 7], [5, 0], 3, lambda t: _column(t), torch.int32),
            case("positions past 2^31 and 2^53", [9, 4], [far, far // 3], 6),
            case("a longer batch", [draw.int(9, 14) for _ in range(5)], [draw.int(0, 9) for _ in range(5)], 5),
            case("nothing but empty prefixes", [0, 0], [0, 3], 4),
        ]
    )


def _sides(draw: Draw, prefix_lens: Sequence[int], extend_lens: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Prefixes and new tokens, ``[n, 3]`` and ``[m, 3]``; a request's new tokens go on where its prefix ends."""
    prefix = [_token(draw, i, p) for i, n in enumerate(prefix_lens) for p in range(n)]
    pairs = zip(prefix_lens, extend_lens, strict=True)
    extend = [_token(draw, i, n + j) for i, (n, m) in enumerate(pairs) for j in range(m)]
    return tuple(torch.tensor(rows, dtype=torch.int64).reshape(-1, 3) for rows in (prefix, extend))


def _assemble_cases(draw: Draw) -> list[Case]:
    def case(label, prefix_lens, extend_lens, change=lambda t: t, lens_dtype=torch.int64):
        sides = (change(t) for t in _sides(draw, prefix_lens, extend_lens))
        return label, (*sides, _ints(prefix_lens, lens_dtype), _ints(extend_lens, lens_dtype))

    def deep(t):
        return torch.stack([t, t + 1], dim=1)

    return _numbered(
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
            case("strided", [3, 3], [1, 2], lambda t: _column(t)),
            case("one request without new tokens", [4], [0]),
            case("new tokens only", [0, 0], [2, draw.int(1, 3)]),
            case("no tokens", [0, 0], [0, 0]),
            case("no request", [], []),
        ]
    )


def _picked(draw: Draw, lens: Sequence[int], req_of_row: Sequence[int], k: int) -> torch.Tensor:
    """A selection ``[rows, k]``: positions of the row's request, not sorted, with position 0 among them, -1 behind."""
    rows = []
    for i, request in enumerate(req_of_row):
        count = min(k - (i % 2), lens[request])
        chosen = [0, *draw.sample(range(1, lens[request]), count - 1)] if count else []
        rows.append(draw.shuffled(chosen) + [-1] * (k - count))
    return torch.tensor(rows, dtype=torch.int64).reshape(len(req_of_row), k)


def _request_table(draw: Draw, requests: int, width: int, base: int = 0) -> torch.Tensor:
    """A ``req_to_token`` in use: distinct locs, falling ones too; past a length stands what an older request left."""
    locs = draw.sample(range(base + 40, base + 40 + 30 * requests * width), requests * width)
    return torch.tensor(locs).reshape(requests, width)


def _transform_cases(draw: Draw) -> list[Case]:
    def drawn(lens, req_of_row, k, base=0, spare=8):
        topk = _picked(draw, lens, req_of_row, k)
        table = _request_table(draw, max(len(lens), len(req_of_row)), max(lens) + spare, base)
        cu = _ints([0, *(base + end for end in accumulate(lens))])  # far: request 0 is that long, and few of it are picked
        return topk, _ints(req_of_row), table, cu

    def narrow(topk, req, table, cu):
        return topk.int(), req.int(), table.int(), cu.int()

    def strided(topk, req, table, cu):
        return topk.T.contiguous().T, _column(req), _column(table), _column(cu)

    empty = (torch.empty(0, 4, dtype=torch.int64), _ints([]), _request_table(draw, 2, 9), _ints([0, 4, 9]))
    drawn_cases = [
        ("one request", drawn([5], [0], 3)),
        ("two requests, the second one's row", drawn([5, 6], [1], 4)),
        ("two requests, three rows", drawn([4, 7], [1, 0, 1], 4)),
        ("a request without tokens between", drawn([6, 0, 5], [2, 0, 2], 4)),
        ("more places than tokens", drawn([2, 3], [0, 1], 6)),
        ("a row that selected nothing", drawn([4, 0, 3], [1, 0, 2], 3)),
        ("rows in another order than requests", drawn([4, 5, 6], draw.shuffled([2, 0, 1, 2]), 5)),
        ("int32", narrow(*drawn([6, 4], [1, 0, 1], 4))),
        ("strided", strided(*drawn([7, 5], [0, 1, 1], 4))),
        ("past 2^31 and 2^53", drawn([5, 8], [1, 0], 5, base=FAR + draw.int(5, 60))),
        ("no rows", empty),
    ]
    paged = [(label, (topk, req, table)) for label, (topk, req, table, _) in drawn_cases]
    ragged = [(label, (topk, req, cu)) for label, (topk, req, _, cu) in drawn_cases]
    return _numbered(paged) + _numbered(ragged, "topk_to_ragged", len(paged))


def _mode_cases(draw: Draw) -> list[Case]:
    modes = ["extend", "mixed", "decode", "target_verify"]
    asked = [(mode, sharded) for sharded in (True, False) for mode in draw.shuffled(modes)]
    return _numbered([(f"{mode}, {'sharded' if sharded else 'not sharded'}", (mode, sharded)) for mode, sharded in asked])


def _capacity_cases(draw: Draw) -> list[Case]:
    def rows(size, page_size):
        return (size // page_size + 1) * page_size

    def bound(consumer, size, page_size, dcp_size):
        return rows(size, page_size) * (1 if consumer == "ckv_row" else dcp_size)

    def float32_confuses(end):
        return torch.tensor(end - 1).float() == torch.tensor(end).float()

    toy = (4 * draw.int(3, 6), 4, 2)
    odd = (5 * draw.int(3, 6) + draw.int(2, 4), 5, 3)
    server, far = (455_744, 64, 8), (3 * (2**55 + 2 * draw.int(10**6, 10**9) + 1) + 2, 3, 7)
    cases = []
    for what, sizes in (("a toy", toy), ("no whole pages", odd), ("a real server", server), ("past 2^53", far)):
        for consumer in CONSUMERS:
            end = bound(consumer, *sizes)
            below = draw.sample(range(end // 2, end - 2), 3)
            cases += [
                (f"{consumer}, {what}, the largest legal index", (consumer, sizes, [below[0], end - 1, below[1]])),
                (f"{consumer}, {what}, one past it", (consumer, sizes, [below[2], below[0], end, below[1]])),
            ]
    r, end = rows(*odd[:2]), bound("index_k_loc", *odd)
    large = draw.int(10**6, 10**7)
    while not float32_confuses(end_large := bound("index_k_loc", 3 * (2**24 + large), 3, 7)):
        large += 1
    cases += [
        ("the first is too large", ("index_k_loc", odd, [end, 17, 18])),
        ("the last is too large", ("flattened_page_table", toy, [17, 9, bound("index_k_loc", *toy)])),
        ("legal for locs, no row", ("ckv_row", odd, [3, r + draw.int(0, 4), 5])),
        ("every one is too large", ("draft_loc", odd, [end + 3, end + 1])),
        ("index 0", ("ckv_row", toy, [0, 5, 2])),
        ("in the last page", ("index_k_loc", toy, [9, toy[0] * 2 + 1, 10])),
        ("in a page that is only begun", ("index_k_loc", odd, [17, (odd[0] + 5) * 3 + 1, 18])),
        ("past 2^24", ("index_k_loc", (3 * (2**24 + large), 3, 7), [40, end_large - 1, 50])),
        ("a -1 among legal ones", ("ckv_row", toy, [5, -1, 6])),
        ("a -1 alone", ("flattened_page_table", toy, [-1])),
        ("a -2 among legal ones", ("index_k_loc", toy, [9, -2, 10])),
        ("no row, but a loc far below the end", ("index_k_loc", toy, [9, toy[0] + 5, 10])),
        ("a loc twice: requests share a prefix", ("flattened_page_table", toy, [9, 10, 9])),
        ("a large negative one", ("index_k_loc", toy, [9, -(2**40), 10])),
        ("far past 2^31", ("draft_loc", toy, [9, 2**32 + 9, 10])),
        ("no locs", ("flattened_page_table", toy, [])),
        ("more locs than slots, all legal: requests share a prefix", ("flattened_page_table", toy, [9, 10] * 40)),
        ("one rank", ("flattened_page_table", (8, 4, 1), [4, 11, 5])),
    ]
    made = [(label, (_ints(locs), consumer, *sizes)) for label, (consumer, sizes, locs) in cases]
    column = (_column(_ints([9, 12, 10])), "ckv_row", *toy)
    return _numbered([*made, ("a column of a table", column)])


def _launch(label: str, size: int, sides, lens, rows: int, strides=None, dtype=torch.float32) -> Launch:
    """The launch for prefixes and new tokens ``[n, DIM]``; rows lie ``strides`` apart, with others' memory between them."""
    (prefix, extend), dim = sides, sides[0].shape[1]
    strides = strides or (dim, dim, dim)
    cu = [_ints(accumulate(side, initial=0)) for side in lens]
    total = int(cu[0][-1] + cu[1][-1])

    def buffer(values: torch.Tensor, stride: int) -> torch.Tensor:
        held = torch.full((len(values), stride), GAP, dtype=dtype)
        held[:, :dim] = values
        return held

    longest = max(p + e for p, e in zip(*lens, strict=True))
    return Launch(
        buffers={
            "prefix": buffer(prefix, strides[0]),
            "extend": buffer(extend, strides[1]),
            "out": buffer(torch.full((total, dim), UNWRITTEN), strides[2]),
            "cu_prefix": cu[0],
            "cu_extend": cu[1],
        },
        args=(Buf("prefix"), Buf("extend"), Buf("out"), Buf("cu_prefix"), Buf("cu_extend"), *strides),
        grid=(len(lens[0]), -(-longest // rows)),
        constexprs={"DIM": dim, "ROWS": rows},
        label=label,
        size=size,
        writes=("out",),
    )


def _kernel_cases(draw: Draw) -> list[Launch]:
    def drawn(prefix_lens, extend_lens, dim):
        """Sides ``[n, dim]``: request, position, then noise."""
        sides = _sides(draw, prefix_lens, extend_lens)
        noise = (torch.randint(10, 100, (len(side), dim - 2), generator=draw.torch()) for side in sides)
        return [torch.cat([side[:, :2], more], dim=1) for side, more in zip(sides, noise, strict=True)], (
            prefix_lens,
            extend_lens,
        )

    shapes = [
        ("one request, one program", drawn([3], [2], 4), 8, None),
        ("two requests, partly filled blocks", drawn([2, 3], [1, 2], 4), 8, None),
        ("several programs a request", drawn([5, 2], [4, 3], 4), 2, None),
        ("a block full to its last row", drawn([3, 6], [1, 2], 8), 4, None),
        ("requests without a prefix, and without new tokens", drawn([0, 4, 3, 0], [3, 0, 2, 0], 4), 4, None),
        ("rows that lie further apart", drawn([3, 2], [2, draw.int(2, 3)], 4), 4, (7, 5, 6)),
        ("rows of 32, float16", drawn([7, 1, 6], [1, 5, 3], 32), 4, (40, 32, 33)),
        ("new tokens only", drawn([0, 0], [draw.int(3, 4), 2], 4), 4, None),
    ]
    return [
        _launch(label, i, sides, lens, rows, strides, torch.float16 if "float16" in label else torch.float32)
        for i, (label, (sides, lens), rows, strides) in enumerate(shapes)
    ]


def _own_launch(prefix, extend, prefix_lens, extend_lens, rows: int) -> Launch:
    """The launch for ``lab.run("4g", prefix, extend, prefix_lens, extend_lens, rows)``."""
    prefix, extend = torch.as_tensor(prefix), torch.as_tensor(extend)
    lens = tuple(torch.as_tensor(side).tolist() for side in (prefix_lens, extend_lens))
    if prefix.dim() != 2 or extend.dim() != 2 or prefix.shape[1] != extend.shape[1]:
        raise ValueError("prefix is [n, DIM] and extend [m, DIM]")
    if len(lens[0]) != len(lens[1]) or (sum(lens[0]), sum(lens[1])) != (len(prefix), len(extend)) or not sum(map(sum, lens)):
        raise ValueError("prefix_lens and extend_lens have an entry a request and sum to the rows there are, at least one")
    return _launch("yours", 0, (prefix.float(), extend.float()), lens, rows)


def _kernel_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    dim, out = launch.constexprs["DIM"], buffers["out"].clone()
    lens = (buffers[name].diff().tolist() for name in ("cu_prefix", "cu_extend"))
    sides = [buffers[name][:, :dim].split(n) for name, n in zip(("prefix", "extend"), lens, strict=True)]
    out[:, :dim] = torch.cat([piece for pair in zip(*sides, strict=True) for piece in pair])
    return {"out": out}


# ---- the smallest failure, as a table -----------------------------------------------------------------------------------


def _who(row: Any) -> str:
    """A row of a gathered buffer, in words."""
    if row is None:
        return "nothing"
    while isinstance(row, list) and row and isinstance(row[0], list):
        row = row[0]
    if not isinstance(row, list):
        return str(row)
    if any(v == GARBAGE or v != v for v in row):
        return "garbage"
    if all(float(v).is_integer() and v >= 0 for v in row) and len(row) >= 2 and row[0] < 10:  # noise is 10 and more
        return f"request {int(row[0])}, position {int(row[1])}"
    return short(row, 40)


def _written(row: list, dim: int) -> str:
    """A row of a workspace after a launch, and what lies behind it, in words."""
    own, gap = row[:dim], row[dim:]
    if UNWRITTEN in own:
        said = "not written" if set(own) == {UNWRITTEN} else "partly written"
    else:
        said = "what lies between rows" if GAP in own else _who(own)
    return said if set(gap) <= {GAP} else f"{said}; written behind it"


def _different(header: tuple[str, ...], where: Callable[[int], tuple], got: Any, expected: Any, caption: str, say=str) -> Table:
    """The first few entries that differ; the two as wholes where they cannot be held against each other."""
    alike = isinstance(got, torch.Tensor) and got.dtype == expected.dtype and got.shape[1:] == expected.shape[1:]
    if not alike or got.dim() != expected.dim() or not got.dim():
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    pairs = list(zip_longest(got.tolist(), expected.tolist()))
    wrong = [i for i, (mine, right) in enumerate(pairs) if mine != right]
    if len(wrong) > SHOWN:
        caption += f" The first {SHOWN} places:"
    rows = []
    for i in wrong[:SHOWN]:
        mine, right = (say(side) if side is not None else "nothing" for side in pairs[i])
        if mine == right:  # the same token by name, so the numbers must tell them apart
            mine, right = (short(side, 40) for side in pairs[i])
        rows.append((*map(str, where(i)), mine, right))
    return Table(header, tuple(rows), caption)


def _prefix_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, lens, rank, dcp_size = case.args
    owned = [(i, p, loc) for i, p, loc in _places(lens.tolist(), locs.tolist()) if loc % dcp_size == rank]
    caption = f"dcp_rank {rank}, dcp_size {dcp_size}, prefix_lens {lens.tolist()}, prefix_locs {short(locs)}."
    header = ("entry", "request", "place in it", "loc", "yours", "expected")
    return _different(header, lambda i: (i, *(owned[i] if i < len(owned) else "---")), got, expected, caption)


def _places(lens: Sequence[int], values: Sequence[int]) -> list[tuple[int, int, int]]:
    """(request, place in it, value) of each entry of a list of all requests' values."""
    return [(i, p, v) for (i, p), v in zip(((i, p) for i, n in enumerate(lens) for p in range(n)), values, strict=True)]


def _shard_rows(case: Case, got: Any, expected: Any) -> Table:
    _, lens, starts, dcp_size = case.args
    caption = f"dcp_size {dcp_size}, prefix_lens {lens.tolist()}, start_positions {starts.tolist()}."
    return _different(("row of the result", "yours", "expected"), lambda i: (i,), got, expected, caption, _who)


def _assemble_rows(case: Case, got: Any, expected: Any) -> Table:
    caption = f"prefix_lens {case.args[2].tolist()}, extend_lens {case.args[3].tolist()}."
    return _different(("ragged index", "yours", "expected"), lambda i: (i,), got, expected, caption, _who)


def _transform_rows(case: Case, got: Any, expected: Any) -> Table:
    topk, req, table = case.args
    caption = f"req_of_row {req.tolist()}"
    caption += f", cu_seqlens_k {short(table)}." if table.dim() == 1 else f", req_to_token of {len(table)} rows."
    header = ("row", "its request", "positions", "yours", "expected")
    return _different(header, lambda i: (i, int(req[i]), short(topk[i].tolist())), got, expected, caption)


def _capacity_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, consumer, size, page_size, dcp_size = case.args
    header = ("checked", "smallest", "largest", "yours", "expected")
    ends = (str(int(locs.min())), str(int(locs.max()))) if locs.numel() else ("none", "none")
    caption = f"size {size}, page_size {page_size}, dcp_size {dcp_size}; {locs.numel()} indices."
    return Table(header, ((consumer, *ends, short(got), short(expected)),), caption)


def _kernel_rows(case: Launch, got: Any, expected: Any) -> Table:
    dim, rows = case.constexprs["DIM"], case.constexprs["ROWS"]
    lens = [case.buffers[name].diff().tolist() for name in ("cu_prefix", "cu_extend")]
    caption = f"prefix lengths {lens[0]}, new tokens {lens[1]}, DIM {dim}, ROWS {rows}, strides {list(case.args[5:])}."
    mine, right = (value.get("out") if isinstance(value, dict) else value for value in (got, expected))
    whose = [(i, b // rows) for i, (p, e) in enumerate(zip(*lens, strict=True)) for b in range(p + e)]
    header = ("ragged index", "program", "yours", "expected")
    return _different(header, lambda i: (i, whose[i]), mine, right, caption, lambda row: _written(row, dim))


# ---- the parts ----------------------------------------------------------------------------------------------------------

PARTS = [
    Part(
        id="4a",
        entry="local_prefix_rows",
        title="My rows of everybody's prefix",
        points=15,
        minutes=10,
        cases=_prefix_cases,
        rows=_prefix_rows,
        question="Take the first loc of the second request. Who owns it, and what does that depend on?",
        hints=(
            "Ask each loc, not its place in the list: the list is several requests, laid end to end.",
            "A mask of the locs that this rank owns keeps the order and needs no lengths. What is left has to become rows.",
            "Select prefix_locs where its remainder by dcp_size is dcp_rank, then floor-divide what you have selected.",
        ),
        prediction=Prediction(
            question="D = 4. Prefixes of 5 and 3 tokens at locs 16 to 20 and 32 to 34. Which rows does rank 0 read?",
            answer="[4, 5, 8]",
            because=(
                "Rank 0 owns 16, 20 and 32. Every fourth entry of the eight would be 16 and 20 only: the second request begins "
                "at entry 5, which is not its turn."
            ),
            choices=("[4, 5]", "[4, 5, 8]", "[16, 20, 32]", "[0, 1, 2]"),
        ),
    ),
    Part(
        id="4b",
        entry="interleave_shards",
        title="Un-interleave the gather",
        points=20,
        minutes=15,
        cases=_shard_cases,
        rows=_shard_rows,
        question="In which shard, and in which of its rows, is position p of the second request?",
        hints=(
            "Go from the result back: for each token that you want, say in which shard and in which row it is. The rows that "
            "hold no token are then never asked for.",
            "Within its request, position p is in shard p % D, in row p // D - start // D. The request's own rows begin where "
            "those of the requests before it end, and a request takes ceil((len + start % D) / D) of them, or none.",
            "Loop over the requests with `first`, the row at which this one begins. With p = torch.arange(start, start + n), "
            "index shards with two tensors, p % D and the rows; then add the request's count of rows to `first` if n is not 0.",
        ),
        prediction=Prediction(
            question="D = 4. A piece of one request has 6 tokens, the first at position 11. How many rows has a shard?",
            answer="3",
            because=(
                "Positions 11 to 16 lie in three turns of the ranks: 8..11, 12..15 and 16..19. So 12 rows travel for 6 tokens. "
                "Six tokens from position 8 on would take two turns."
            ),
            choices=("2", "3", "5", "6"),
        ),
    ),
    Part(
        id="4c",
        entry="assemble_ragged",
        title="Prefix and new tokens, request by request",
        points=10,
        minutes=7,
        cases=_assemble_cases,
        rows=_assemble_rows,
        question="What stands right behind the last prefix token of the first request?",
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
    ),
    Part(
        id="4d",
        entry="topk_to_paged",
        also=("topk_to_ragged",),
        title="Two transforms of one selection",
        points=15,
        minutes=10,
        cases=_transform_cases,
        rows=_transform_rows,
        question="A position says where a token is in its request. Which request, and where does that request begin?",
        hints=(
            "Both turn a position into an address, and a position alone is none: each needs the row's request.",
            "PAGED reads the request's row of req_to_token at the position. RAGGED adds the index at which the request begins. "
            "Look at -1 in both: what is the last column of the table, and what stands just before a request's start?",
            "Give req_of_row a second dimension, [:, None], so that each row uses its own request. torch.where with "
            "topk_pos >= 0 keeps the padding; clamp the positions to 0 before you index with them.",
        ),
        prediction=Prediction(
            question="cu_seqlens_k is [0, 3, 7]. A row of request 1 selected positions [3, 0, -1]. Its ragged indices?",
            answer="[6, 3, -1]",
            because="Request 1 begins at 3. Added to the padding as well, it would give 2: the last token of request 0.",
            choices=("[3, 0, -1]", "[6, 3, 2]", "[6, 3, -1]", "[10, 7, -1]"),
        ),
    ),
    Part(
        id="4e",
        entry="choose_transform",
        title="Which transform for which batch?",
        points=10,
        minutes=5,
        cases=_mode_cases,
        question="In this batch, does attention read the pool, or a workspace that was gathered for it?",
        hints=(
            "The transform must fit the buffer that attention reads. So ask what it reads, not what the batch is called.",
            "A gather happens where there is a prefix on other ranks and no merge: in extend and in mixed, if c-KV is sharded. "
            "decode and target_verify read the pool, and merge.",
            'RAGGED if dcp_sharded and mode is one of "extend" and "mixed"; PAGED in every other case.',
        ),
        prediction=Prediction(
            question=(
                "A mixed batch, c-KV sharded: a prompt with 10 cached and 5 new tokens, and a request that decodes its 9th "
                "token. How many rows has the workspace?"
            ),
            answer="24",
            because=(
                "10 + 5 of the prompt, and 8 + 1 of the request that decodes: the gather runs for the whole batch. So the "
                "decode row reads the workspace too, and needs ragged indices."
            ),
            choices=("15", "16", "18", "24"),
        ),
    ),
    Part(
        id="4f",
        entry="capacity_ok",
        title="A check for the table that was just born",
        points=10,
        minutes=8,
        cases=_capacity_cases,
        rows=_capacity_rows,
        question="Which space are these indices in, and how many of that space are there?",
        hints=(
            "Two ends must hold: nothing below 0, nothing at or above the consumer's bound.",
            "The bounds are 2e's. Four of the consumers count locs, (size // page_size + 1) * page_size * dcp_size; ckv_row "
            "counts rows, without the dcp_size. An empty tensor has no maximum, and nothing in it is wrong.",
            "bool(((flat_locs >= 0) & (flat_locs < bound)).all()): all() of nothing is True.",
        ),
        prediction=Prediction(
            question="C = 12, P = 4, D = 2. Which is the largest index that a flattened page table may hold?",
            answer="31",
            because=(
                "It holds locs, and of these there are (12 // 4 + 1) * 4 * 2 = 32. 15 is the largest row, and 23 forgets the "
                "spare page. The assert of #36989 compared with rows, and would stop the server at loc 16."
            ),
            choices=("11", "15", "23", "31"),
        ),
    ),
    Part(
        id="4g",
        entry="assemble_ragged_kernel",
        title="The assembly as a Triton kernel",
        points=20,
        minutes=15,
        cases=_kernel_cases,
        oracle=_kernel_oracle,
        launch=_own_launch,
        rows=_kernel_rows,
        timeout_s=60.0,
        question="Row b of request i's segment: is it an old token or a new one, and where do you read it?",
        hints=(
            "Each lane is one row of a segment. Decide first which of three it is: an old token, a new one, or past the end.",
            "The request's prefix begins at p0 = cu_prefix[i] and has p rows; its new tokens at e0 = cu_extend[i], e rows. "
            "Row b is prefix row p0 + b while b < p, then extend row e0 + b - p. It goes to row p0 + e0 + b of the output.",
            "Load twice, under the masks b < p and (b >= p) & (b < p + e), take tl.where of the two and store under "
            "b < p + e. Multiply each row by the stride of its own buffer.",
        ),
        prediction=Prediction(
            question="Two requests, 2 + 1 and 3 + 2 tokens, ROWS = 2. How many programs are launched?",
            answer="6",
            because=(
                "The longest segment has 5 rows: three blocks of 2. The grid is 2 by 3, and program (0, 2) has nothing to do: "
                "a rectangle over a ragged batch."
            ),
            choices=("2", "4", "5", "6"),
        ),
    ),
]
