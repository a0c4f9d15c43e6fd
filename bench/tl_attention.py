"""Sparse MLA attention, decode and extend: top-k of 2048 random rows a query, bf16.

    python bench/tl_attention.py [decode] [extend] [dcp]

The floor counts 2 * tokens * topk * heads * (columns + 512) operations at the rate of a large bf16 matmul, or the bytes of q,
the rows named at least once, the indices and the outputs at the rate of a large copy. Otherwise: TileLang's own examples
(``tl_peers.py``), which have no 512+0 form of this kernel, so there their 512+64 form stands beside ours.
"""

import sys

import harness
import tl_peers
import torch
from dcp_kernels.tl_sparse_decode import sparse_mla_decode
from dcp_kernels.tl_sparse_extend import sparse_mla_extend

TOPK = 2048
SHAPES = ((128, 64), (64, 0))  # heads, rope columns


def draw(tokens: int, rows: int, heads: int, rope: int):
    q = torch.randn(tokens, heads, 512 + rope, device="cuda").div_(10).bfloat16()
    kv = torch.randn(rows, 512 + rope, device="cuda").div_(10).bfloat16()
    indices = torch.empty(tokens, TOPK, dtype=torch.int32, device="cuda")
    for at in range(0, tokens, 256):
        few = torch.rand(min(256, tokens - at), rows, device="cuda")
        indices[at : at + 256] = few.topk(TOPK, dim=1, sorted=False).indices.int()
    return q, kv, indices


def row(case: str, ms: float, q, kv, indices, others: dict, valid: int | None = None, note: str = "") -> harness.Row:
    tokens, heads, width = q.shape
    valid = TOPK if valid is None else valid
    distinct = min(kv.shape[0], int(indices.clamp(min=0).unique().numel()))
    moved = q.numel() * 2 + distinct * width * 2 + indices.numel() * 4 + tokens * heads * (512 * 2 + 4)
    flop = 2.0 * tokens * valid * heads * (width + 512)
    return harness.Row(case, ms, bytes=moved, flop=flop, flop_rate=harness.matmul_rate(), others=others, note=note)


def peers(q, kv, indices, rope: int) -> dict[str, float]:
    if not rope:
        q, kv = (torch.cat([t, t[..., :64]], -1).contiguous() for t in (q, kv))
    found = {}
    for name, label in (("sparse_mla_fwd_pipelined", "example"),):
        run = tl_peers.attention(name, q, kv, indices)
        if run is not None:
            found[f"{label}{'' if rope else ' 512+64'}"] = harness.time_ms(run)
    return found


def decode() -> list[harness.Row]:
    rows = []
    for heads, rope in SHAPES:
        for batch in (1, 8, 32, 64, 128):
            q, kv, indices = draw(batch, 32_768, heads, rope)
            ms = harness.time_ms(lambda: sparse_mla_decode(q, kv, indices, None, 0.04))  # noqa: B023
            rows.append(row(f"decode b={batch}, {heads} heads, 512+{rope}", ms, q, kv, indices, peers(q, kv, indices, rope)))
    return rows


def extend() -> list[harness.Row]:
    rows = []
    for heads, rope in (*SHAPES, (16, 64)):
        for keys in (8_192, 32_768, 131_072):
            q, kv, indices = draw(4096, keys, heads, rope)
            ms = harness.time_ms(lambda: sparse_mla_extend(q, kv, indices, None, 0.04), 15)  # noqa: B023
            rows.append(row(f"extend {keys} keys, {heads} heads, 512+{rope}", ms, q, kv, indices, peers(q, kv, indices, rope)))
    return rows


def dcp() -> list[harness.Row]:
    """Measure one rank of eight: the localized list with -1 where another rank owns the row, and the same list compacted."""
    rows = []
    for heads, rope in SHAPES:
        for batch in (1, 8, 32, 64, 128):
            q, kv, indices = draw(batch, 32_768, heads, rope)
            kv = kv[: kv.shape[0] // 8].contiguous()
            holes = torch.where(indices % 8 == 3, indices // 8, -1)
            counts = (holes >= 0).sum(1).int()
            order = (holes < 0).int().argsort(dim=1, stable=True)
            compact = holes.gather(1, order).contiguous()
            ms = harness.time_ms(lambda: sparse_mla_decode(q, kv, compact, counts, 0.04))  # noqa: B023
            slow = harness.time_ms(lambda: sparse_mla_decode(q, kv, holes, None, 0.04))  # noqa: B023
            case = f"D=8 rank b={batch}, {heads} heads, 512+{rope}"
            rows.append(row(case, ms, q, kv, compact, {"with holes": slow}, valid=int(counts.float().mean())))
    return rows


def main(names: list[str]) -> None:
    harness.require_gpu()
    for name, run in (("decode", decode), ("extend", extend), ("dcp", dcp)):
        if not names or name in names:
            harness.report(f"tl_{name}", run())


if __name__ == "__main__":
    main(sys.argv[1:])
