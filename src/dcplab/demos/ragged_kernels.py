"""Runs an extend on the real kernels: Triton assembles the ragged workspace, TileLang attends to it. Runs in a child only.

The oracle takes each request's c-KV from before the sharding and attends in float64. It has no workspace, no shards and no
ragged index, so it cannot share a mistake with the kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import torch

SM_SCALE = 1 / 16


class Given(TypedDict):
    """A batch of an extend: of each request its first position, its cached and its new tokens."""

    dcp_size: int
    starts: tuple[int, ...]
    prefixes: tuple[int, ...]
    extends: tuple[int, ...]
    topk: int
    heads: int
    dtype: torch.dtype


SMALL = Given(
    dcp_size=3, starts=(0, 4, 0, 2), prefixes=(7, 0, 6, 5), extends=(2, 3, 1, 2), topk=4, heads=16, dtype=torch.float32
)
LARGE = Given(
    dcp_size=8,
    starts=(0, 5, 0, 3),
    prefixes=(4099, 0, 6001, 8190),
    extends=(64, 64, 1, 127),
    topk=512,
    heads=64,
    dtype=torch.bfloat16,
)


def sharded(contexts: list[torch.Tensor], starts: Sequence[int], prefixes: Sequence[int], dcp_size: int) -> torch.Tensor:
    """Return the result of an all-gather: ``[D, rows, 512]``, request by request, NaN in rows that hold no token."""
    shards = []
    for rank in range(dcp_size):
        own = []
        for context, start, length in zip(contexts, starts, prefixes, strict=True):
            rows = -(-(length + start % dcp_size) // dcp_size) if length else 0
            block = torch.full((rows, context.shape[1]), float("nan"), dtype=context.dtype, device=context.device)
            for position in range(start, start + length):
                if position % dcp_size == rank:
                    block[position // dcp_size - start // dcp_size] = context[position - start]
            own.append(block)
        shards.append(torch.cat(own))
    return torch.stack(shards)


def dense(q: torch.Tensor, contexts: list[torch.Tensor], req_of_token: Sequence[int], positions: torch.Tensor) -> torch.Tensor:
    """Attend in float64 from each new token to the positions it chose in its own request's context. Returns ``[T, H, 512]``."""
    outs = []
    for t, request in enumerate(req_of_token):
        chosen = positions[t][positions[t] >= 0].long()
        keys = contexts[request][chosen].double()
        outs.append((q[t].double() @ keys.T * SM_SCALE).softmax(-1) @ keys)
    return torch.stack(outs)


def extend(device: str) -> list[Any]:
    """Run the extend and return what to show: sentences, and last the rows of a table."""
    from dcp_kernels.ragged import assemble_ragged
    from dcp_kernels.tl_sparse_extend import sparse_mla_extend
    from dcp_kernels.topk_transform import topk_to_ragged

    given = LARGE if device == "cuda" else SMALL
    d, topk, heads, dtype = given["dcp_size"], given["topk"], given["heads"], given["dtype"]
    starts, prefixes, extends = given["starts"], given["prefixes"], given["extends"]
    g = torch.Generator().manual_seed(4)
    contexts = [torch.randn(p + e, 512, generator=g).to(dtype).to(device) for p, e in zip(prefixes, extends, strict=True)]
    req_of_token = [i for i, e in enumerate(extends) for _ in range(e)]
    q = torch.randn(len(req_of_token), heads, 512, generator=g).to(dtype).to(device)
    lens = [p + e for p, e in zip(prefixes, extends, strict=True)]
    positions = torch.full((len(req_of_token), topk), -1, dtype=torch.int32)
    for t, request in enumerate(req_of_token):
        visible = lens[request] - sum(r == request for r in req_of_token[t + 1 :])
        chosen = torch.randperm(visible, generator=g)[:topk].sort().values
        positions[t, : len(chosen)] = chosen
    positions = positions.to(device)

    def column(values: Sequence[int]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.int64, device=device)

    cu = torch.cat([column([0]), torch.cumsum(column(lens), 0)])
    new = torch.cat([c[p:] for c, p in zip(contexts, prefixes, strict=True)])
    shards = sharded(contexts, starts, prefixes, d)
    assembled = (shards, new, column(prefixes), column(starts), column(extends), d, sum(lens))
    workspace = assemble_ragged(*assembled)
    ids = topk_to_ragged(positions, column(req_of_token), cu)
    out, _ = sparse_mla_extend(q, workspace, ids, None, SM_SCALE)
    forgot, _ = sparse_mla_extend(q, workspace, positions, None, SM_SCALE)
    expected = dense(q, contexts, req_of_token, positions)
    same = "every row as it was before sharding" if torch.equal(workspace, torch.cat(contexts)) else "NOT the rows as they were"
    held, tokens = d * shards.shape[1], sum(prefixes)
    first = _error(forgot, expected, req_of_token, 0)
    rows = [
        ("Triton assemble", f"{same}, {workspace.shape[0]} rows"),
        ("TileLang extend", f"largest error {_error(out, expected):.1e} against dense attention in float64"),
        ("the same, no offset", f"largest error {_error(forgot, expected):.1e}, in the first request {first:.1e}"),
    ]
    if device == "cuda":
        moved, attended = _ms(assemble_ragged, *assembled), _ms(sparse_mla_extend, q, workspace, ids, None, SM_SCALE)
        rows.append(("time", f"assemble {moved:.3f} ms, extend {attended:.3f} ms"))
    return [
        f"D {d}, {len(lens)} requests in {str(dtype).removeprefix('torch.')}, {heads} heads, top-{topk}",
        f"Prefixes {_list(prefixes)} from positions {_list(starts)}, new tokens {_list(extends)}. Shards: {d} x "
        f"{shards.shape[1]} rows for {tokens} tokens; the other {held - tokens} rows are NaN.",
        rows,
    ]


def _list(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _error(out: torch.Tensor, expected: torch.Tensor, req_of_token: Sequence[int] = (), request: int | None = None) -> float:
    far = (out.double() - expected).abs().amax((1, 2))
    if request is not None:
        far = far[torch.tensor(req_of_token, device=far.device) == request]
    return float(far.max())


def _ms(run: Callable[..., Any], *given: Any, times: int = 20) -> float:
    """Return the mean milliseconds of one call. Waits for the device."""
    run(*given)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        run(*given)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times * 1e3
