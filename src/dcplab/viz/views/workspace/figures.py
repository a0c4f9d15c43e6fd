"""Draws two static figures of an extend's buffers by position, without words: the gathered shards, and the two layouts."""

from __future__ import annotations

import torch

from dcplab.course.model import Table
from dcplab.engine import ops
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import MARGIN, Scene, number
from dcplab.viz.core.validate import geometry, whole_list
from dcplab.viz.figures.flattened import letter
from dcplab.viz.views.workspace.cells import GARBAGE, BufferCell, grid, label_width, strip, width_of

MOST_CELLS, MOST_REQUESTS, MOST_RANKS = 96, 8, 16


@drawn
def shards_picture(prefix_lens, start_positions=None, dcp_size: int = 4) -> Picture:
    """Draw the all-gathered shards of a batch's prefixes, padding hatched, and the prefixes un-interleaved below.

    ``prefix_lens``: tokens of each prefix, 0 allowed. ``start_positions``: the position of each prefix's first token, 0 by
    default. ``dcp_size``: D. At most 8 requests, and 96 gathered rows in all.
    """
    dcp_size, _ = geometry(dcp_size)
    lens = whole_list(prefix_lens, "prefix_lens", 0)
    starts = (0,) * len(lens) if start_positions is None else whole_list(start_positions, "start_positions", 0)
    _refuse(lens, starts, "start_positions")
    if dcp_size > MOST_RANKS:
        raise ValueError(f"D is {dcp_size}, and the picture shows at most {MOST_RANKS} ranks.")
    rows = [-(-(n + s % dcp_size) // dcp_size) if n else 0 for n, s in zip(lens, starts, strict=True)]
    if dcp_size * sum(rows) > MOST_CELLS:
        raise ValueError(f"{dcp_size} ranks of {number(sum(rows))} rows are too many cells: a picture shows {MOST_CELLS}.")
    if not sum(rows):
        raise ValueError("no request has a prefix, so nothing is gathered.")
    tokens = [(i, s + k) for i, (n, s) in enumerate(zip(lens, starts, strict=True)) for k in range(n)]
    # The engine's own assembly, run on the cells' numbers, tells from which cell of the shards each token is read.
    numbers = torch.arange(dcp_size * sum(rows)).view(dcp_size, -1, 1)
    none = torch.zeros(len(lens), dtype=torch.int64)
    given = torch.tensor([lens, starts], dtype=torch.int64)
    order = ops.assemble_ragged(numbers, numbers[0, :0], given[0], given[1], none, dcp_size, len(tokens))[:, 0].tolist()
    cells = {at: _cell(*token) for at, token in zip(order, tokens, strict=True)}
    lines = [[cells.get(r * sum(rows) + c, GARBAGE) for c in range(sum(rows))] for r in range(dcp_size)]
    width, labels = width_of([GARBAGE, *cells.values()]), label_width(["un-interleaved", f"rank {dcp_size}"])
    spans = [(f"request {letter(i)}", n) for i, n in enumerate(rows)]
    boxes, y = grid((MARGIN, MARGIN), "gathered row", (labels, width), lines, spans)
    spans = [(f"prefix {letter(i)}", n) for i, n in enumerate(lens)]
    flat, _ = strip((MARGIN, y + 8), "un-interleaved", (labels, width), [_cell(*t) for t in tokens], spans)
    facts = tuple(
        (_cell(i, p).text, f"r{at // sum(rows)}", number(at % sum(rows)), number(n))
        for n, ((i, p), at) in enumerate(zip(tokens, order, strict=True))
    )
    garbage = dcp_size * sum(rows) - len(tokens)
    return Picture(
        f"Shards of {len(lens)} prefixes, D = {dcp_size}",
        f"Above: what an all-gather gives, {dcp_size} shards of {sum(rows)} rows for {len(tokens)} tokens; "
        f"{garbage} rows hold garbage, hatched. Below: the same tokens in order. A0 is position 0 of request A.",
        Scene((*boxes, *flat)),
        Table(("token", "shard", "gathered row", "un-interleaved"), facts),
    )


@drawn
def workspace_picture(prefix_lens, extend_lens) -> Picture:
    """Draw the two layouts of prefixes and new tokens, A ``[p0 e0 p1 e1]`` and B ``[p0 p1 e0 e1]``, with the index of every
    token.

    ``prefix_lens``, ``extend_lens``: cached and new tokens of each request, 0 allowed. At most 8 requests and 96 tokens.
    """
    old, new = whole_list(prefix_lens, "prefix_lens", 0), whole_list(extend_lens, "extend_lens", 0)
    _refuse(old, new, "extend_lens")
    lens = [p + e for p, e in zip(old, new, strict=True)]
    if not 0 < sum(lens) <= MOST_CELLS:
        raise ValueError(f"there are {number(sum(lens))} tokens, and a picture shows 1 to {MOST_CELLS}.")
    a = [(i, p) for i, n in enumerate(lens) for p in range(n)]
    b = [(i, p) for i, p in a if p < old[i]] + [(i, p) for i, p in a if p >= old[i]]
    lay = {i: [(f"prefix {letter(i)}", old[i]), (f"new {letter(i)}", new[i])] for i in range(len(lens))}
    both = {"A": [s for i in lay for s in lay[i]], "B": [lay[i][0] for i in lay] + [lay[i][1] for i in lay]}
    cells = {(i, p): _cell(i, p, "new" if p >= old[i] else "prefix") for i, p in a}
    width, labels = width_of(cells.values()), label_width(["layout A"])
    boxes, y = strip((MARGIN, MARGIN), "layout A", (labels, width), [cells[t] for t in a], both["A"])
    more, _ = strip((MARGIN, y + 8), "layout B", (labels, width), [cells[t] for t in b], both["B"])
    cu = [0, *torch.cumsum(torch.tensor(lens), 0).tolist()]
    facts = tuple(
        (_cell(i, p).text, "new" if p >= old[i] else "prefix", number(cu[i] + p), number(b.index((i, p)))) for i, p in a
    )
    return Picture(
        f"Two layouts of {len(lens)} requests",
        f"A keeps a request together: the index is cu_seqlens_k[request] + position, with cu_seqlens_k {_list(cu)}. "
        "B is what a plain concatenation gives: no one offset fits a request there. A0 is position 0 of request A.",
        Scene((*boxes, *more)),
        Table(("token", "kind", "ragged index, layout A", "index in layout B"), facts),
    )


def _cell(i: int, position: int, kind: str = "") -> BufferCell:
    name = f"{letter(i)}{number(position)}"
    return BufferCell(name, kind, i, hover=f"position {number(position)} of request {letter(i)}")


def _list(values) -> str:
    return f"[{', '.join(map(str, values))}]"


def _refuse(lens: tuple[int, ...], others: tuple[int, ...], name: str) -> None:
    if not 0 < len(lens) <= MOST_REQUESTS:
        raise ValueError(f"there are {len(lens)} requests, and a picture shows 1 to {MOST_REQUESTS}.")
    if len(lens) != len(others):
        raise ValueError(f"there are {len(lens)} prefix_lens but {len(others)} {name}.")
