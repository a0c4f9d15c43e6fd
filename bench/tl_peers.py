"""TileLang's own examples beside our kernels: set ``TILELANG_EXAMPLES`` to ``examples/deepseek_v32`` of a TileLang checkout.

Without it the benches print our times alone. Each function returns a call to time. The examples are run as they are; their
causal mask counts queries from token 0, which changes what the decode shape computes but not how long it takes.
"""

import functools
import importlib
import os
import sys

import torch

FOLDER = os.environ.get("TILELANG_EXAMPLES")


@functools.cache
def module(name: str):
    if not FOLDER:
        return None
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    return importlib.import_module(name)


def attention(name: str, q: torch.Tensor, kv: torch.Tensor, indices: torch.Tensor):
    """Load the kernel ``name``: "sparse_mla_fwd" (tiles) or "sparse_mla_fwd_pipelined" (warp roles). They take 512 + 64
    columns."""
    example = module(name)
    if example is None or q.shape[2] != 576 or q.shape[1] % 64:
        return None
    heads, topk = q.shape[1], indices.shape[1]
    args = (q[None], kv[None, :, None], indices[None, :, None])
    if name == "sparse_mla_fwd":
        return lambda: example.sparse_mla_fwd(*args, heads, 512, 64, topk, 1, None, True)
    start = torch.tensor([kv.shape[0]], dtype=torch.int32, device=q.device)
    return lambda: example.sparse_mla_fwd(*args, start, heads, 512, 64, topk, 1, 1, None, True, False)


def indexer(q, weights, keys, scales, ks, ke):
    example = module("fp8_lighting_indexer")
    if example is None:
        return None
    return lambda: example.mqa_attn_return_logits_interface(q, keys, scales, weights, ks, ke, clean_logits=True)


def topk(logits, k):
    example = module("topk_selector")
    if example is None:
        return None
    starts = torch.zeros(len(logits), dtype=torch.int32, device=logits.device)
    ends = torch.full_like(starts, logits.shape[1])
    return lambda: example.tl_topk(logits, starts, ends, k)
