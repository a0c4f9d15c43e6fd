"""Runs the indexer with index-K shared out over ranks, on the real kernels, beside one rank that has all keys. In a child only.

Each rank has its own pages of index-K: the keys of its own tokens, at their rows. On a GPU logits and top-k are TileLang's and
the writes Triton's; elsewhere the oracles stand in, in float64.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypedDict

import torch

from dcplab.engine import index_spaces

PAGE, DIM = 64, 128
Chosen = list[torch.Tensor]  # of each query its positions, ascending


class IndexerGiven(TypedDict):
    """Queries at the end of one request: its tokens, the choice of a query, and the indexer's heads."""

    tokens: int
    topk: int
    heads: int
    queries: int
    layouts: tuple[tuple[int, int], ...]  # D and I


SMALL = IndexerGiven(tokens=700, topk=32, heads=16, queries=3, layouts=((2, 1), (3, 1), (3, 64)))
LARGE = IndexerGiven(tokens=50_000, topk=2048, heads=64, queries=4, layouts=((2, 1), (8, 1), (8, 64)))


def run(device: str) -> list[Any]:
    """Return what to show: a sentence, the rows of a table, one a layout, and the largest difference of a key's two scores."""
    given = LARGE if device == "cuda" else SMALL
    tokens, topk, queries = given["tokens"], given["topk"], given["queries"]
    g = torch.Generator().manual_seed(7)
    keys, scales = _quantized(torch.randn(tokens, DIM, generator=g))
    q = torch.randn(queries, given["heads"], DIM, generator=g).to(torch.float8_e4m3fn if device == "cuda" else torch.float32)
    weights = torch.rand(queries, given["heads"], generator=g)
    q, weights, keys, scales = (t.to(device) for t in (q, weights, keys, scales))

    (whole, places), *_ = _scores((q, weights), (keys, scales), (1, 1))
    alone = _positions(_top(whole, topk), places)
    rows, apart = [], 0.0
    for layout in given["layouts"]:
        ranks = _scores((q, weights), (keys, scales), layout)
        union = [_positions(_top(logits, topk), places) for logits, places in ranks]
        exact, sent = _exact(ranks, union, topk)
        read = [torch.cat([of_rank[t] for of_rank in union]) for t in range(queries)]
        same = all(torch.equal(a, b) for a, b in zip(exact, alone, strict=True))
        for logits, of_rank in ranks:
            apart = max(apart, float((logits[:, : len(of_rank)] - whole[:, of_rank]).abs().max()))
        others = max(int((~torch.isin(r, a)).sum()) for r, a in zip(read, alone, strict=True))
        told = "the same keys" if same else "OTHER keys"
        rows.append((str(layout[0]), str(layout[1]), told, f"{max(sent):,}", f"{max(map(len, read)):,}", f"{others:,}"))
    kernels = "TileLang logits and top-k, Triton writes" if device == "cuda" else "the oracles, float64"
    head = f"{kernels}; {tokens:,} tokens, {given['heads']} indexer heads, top-{topk}, {queries} queries"
    return [head, rows, apart]


def _kernels(device: torch.device) -> tuple[ModuleType, ModuleType, ModuleType]:
    """Return the modules with ``write_index_k``, ``indexer_logits_paged`` and ``topk_select``."""
    from dcp_kernels import index_k, reference, tl_indexer, tl_topk

    return (index_k, tl_indexer, tl_topk) if device.type == "cuda" else (reference, reference, reference)


def _quantized(keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return keys as fp8 bytes, and their scales."""
    scales = keys.abs().amax(1) / 448
    return (keys / scales[:, None]).to(torch.float8_e4m3fn).view(torch.uint8), scales.float()


def _scores(
    query: tuple[torch.Tensor, torch.Tensor], keys: tuple[torch.Tensor, torch.Tensor], layout: tuple[int, int]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Let each rank score its own keys. Returns, rank by rank, logits ``[T, columns]`` and the position of each column.

    The request's pages lie apart, so neither a loc nor a row is a position.
    """
    (q, weights), (content, scales), (size, run) = query, keys, layout
    writer, indexer, _ = _kernels(q.device)
    tokens, width = len(content), PAGE * size
    pages = torch.arange(-(-tokens // width)) * 2 + 1
    locs = (pages[:, None] * width + torch.arange(width)).flatten()[:tokens]
    found = []
    for rank in range(size):
        rows = index_spaces.localize(locs, rank, size, run)
        mine = (rows >= 0).nonzero().flatten()
        buf = torch.zeros(int(pages[-1]) + 1, PAGE * (DIM + 4), dtype=torch.uint8, device=q.device)
        writer.write_index_k(buf, content[mine], scales[mine], rows[mine].to(q.device), PAGE)
        table = pages[: -(-len(mine) // PAGE)].int().to(q.device).expand(len(q), -1).contiguous()
        lens = torch.full((len(q),), len(mine), dtype=torch.int32, device=q.device)
        logits = indexer.indexer_logits_paged(q, weights, buf, table, lens, PAGE)
        found.append((logits.float(), mine))
    return found


def _top(logits: torch.Tensor, topk: int) -> torch.Tensor:
    *_, chooser = _kernels(logits.device)
    return chooser.topk_select(logits.contiguous(), topk)


def _positions(columns: torch.Tensor, places: torch.Tensor) -> Chosen:
    return [places[row[row >= 0].long()] for row in columns.cpu()]


def _exact(ranks: list[tuple[torch.Tensor, torch.Tensor]], union: list[Chosen], topk: int) -> tuple[Chosen, list[int]]:
    """Gather what each rank proposes, in the order of positions, and choose once more. Returns the choice and what was sent."""
    chosen, sent = [], []
    for t in range(len(union[0])):
        scores, positions = [], []
        for (logits, places), of_rank in zip(ranks, union, strict=True):
            scores.append(logits[t].cpu()[torch.searchsorted(places, of_rank[t])])
            positions.append(of_rank[t])
        order = torch.cat(positions).argsort()
        candidates = torch.cat(scores)[order][None].to(ranks[0][0].device)
        chosen += _positions(_top(candidates, topk), torch.cat(positions)[order])
        sent.append(len(order))
    return chosen, sent
