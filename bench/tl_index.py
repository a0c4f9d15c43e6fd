"""Indexer logits (fp8, 64 heads of 128) and the top-k of them.

    python bench/tl_index.py [logits] [paged] [topk]

Extend is causal: token i of the last 4,096 sees the keys up to its own, and operations are counted for what it sees. The floor
of extend is the rate of a large fp8 matmul, that of the rest the bytes of the keys, scales, logits and results over the rate of
a large copy. Otherwise: TileLang's own examples (``tl_peers.py``), and ``torch.topk``, which promises nothing about ties.
"""

import sys

import harness
import tl_peers
import torch
from dcp_kernels.tl_indexer import indexer_logits_paged, indexer_logits_ragged
from dcp_kernels.tl_topk import topk_select

HEADS, DIM, NEW = 64, 128, 4096


def fp8(*shape):
    return torch.randn(*shape, device="cuda").to(torch.float8_e4m3fn)


def logits() -> list[harness.Row]:
    rows = []
    for keys in (8_192, 32_768, 131_072):
        q, k = fp8(NEW, HEADS, DIM), fp8(keys, DIM)
        weights, scales = torch.randn(NEW, HEADS, device="cuda"), torch.rand(keys, device="cuda")
        ks = torch.zeros(NEW, dtype=torch.int32, device="cuda")
        ke = torch.arange(keys - NEW + 1, keys + 1, dtype=torch.int32, device="cuda")
        out = torch.empty(NEW, keys, device="cuda")
        ms = harness.time_ms(lambda: indexer_logits_ragged(q, weights, k, scales, ks, ke, out=out), 15)  # noqa: B023
        example = tl_peers.indexer(q, weights, k, scales, ks, ke)
        others = {"example": harness.time_ms(example, 10)} if example else {}
        seen = int(ke.long().sum())
        row = harness.Row(f"logits {NEW} x {keys}", ms, flop=2.0 * seen * HEADS * DIM, flop_rate=harness.matmul_rate("fp8"))
        row.bytes, row.others = q.numel() + weights.numel() * 4 + keys * (DIM + 4) + out.numel() * 4, others
        rows.append(row)
    return rows


def paged() -> list[harness.Row]:
    rows = []
    for batch in (1, 8, 64, 128):
        npages = 512
        q, weights = fp8(batch, HEADS, DIM), torch.randn(batch, HEADS, device="cuda")
        keys, scales = fp8(batch * npages, 64 * DIM), torch.rand(batch * npages, 64, device="cuda")
        buf = torch.cat([keys.view(torch.uint8), scales.view(torch.uint8)], 1)
        table = torch.randperm(batch * npages, device="cuda").int().view(batch, npages)
        seq_lens = torch.full((batch,), npages * 64, dtype=torch.int32, device="cuda")
        ms = harness.time_ms(lambda: indexer_logits_paged(q, weights, buf, table, seq_lens))  # noqa: B023
        rows.append(harness.Row(f"paged b={batch}, 32768 positions", ms, bytes=buf.numel() + batch * npages * 64 * 4))
    return rows


def topk() -> list[harness.Row]:
    rows = []
    for batch, columns in ((4096, 8_192), (4096, 32_768), (1, 32_768), (64, 32_768), (64, 131_072)):
        x = torch.randn(batch, columns, device="cuda")
        ms = harness.time_ms(lambda: topk_select(x, 2048), 15)  # noqa: B023
        others = {"torch.topk": harness.time_ms(lambda: torch.topk(x, 2048, dim=1), 5)}  # noqa: B023
        example = tl_peers.topk(x, 2048)
        if example:
            others["example"] = harness.time_ms(example, 15)
        rows.append(harness.Row(f"top 2048 of {batch} x {columns}", ms, bytes=x.numel() * 4 + batch * 2048 * 4, others=others))
    return rows


def main(names: list[str]) -> None:
    harness.require_gpu()
    for name, run in (("logits", logits), ("paged", paged), ("topk", topk)):
        if not names or name in names:
            harness.report(f"tl_{name}", run())


if __name__ == "__main__":
    main(sys.argv[1:])
