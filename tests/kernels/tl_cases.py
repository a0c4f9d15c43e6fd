"""Inputs for the TileLang tests, on whatever device there is: fp32 and fp16 on a CPU, bf16, fp16 and fp8 on a GPU."""

import torch

CUDA = torch.cuda.is_available()
HOPPER = CUDA and torch.cuda.get_device_capability() == (9, 0)
ATTENTION_DTYPES = [torch.bfloat16, torch.float16] if CUDA else [torch.float32, torch.float16]
TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 5e-3}


def attention(seed, *, tokens, heads, rope, rows, topk, dtype, device, holes=0.3, beyond=0.05, counted=True):
    """``(q, kv, indices, counts)`` with holes, indices past the end, short counts, and NaN in row 0, which nobody names."""
    gen = torch.Generator().manual_seed(seed)
    q = torch.randn(tokens, heads, 512 + rope, generator=gen).to(device, dtype)
    kv = torch.randn(rows, 512 + rope, generator=gen).to(device, dtype)
    kv[0] = torch.nan
    indices = torch.randint(1, max(rows, 2), (tokens, topk), generator=gen, dtype=torch.int32)
    if rows < 2:
        indices.fill_(-1)
    drawn = torch.rand(tokens, topk, generator=gen)
    indices[drawn < holes] = -1
    indices[drawn > 1 - beyond] = rows + 7
    counts = torch.randint(0, topk + 1, (tokens,), generator=gen, dtype=torch.int32).to(device) if counted else None
    return q, kv, indices.to(device), counts


def relative(got, expected):
    """``||got - expected|| / ||expected||`` over what is finite in both."""
    finite = torch.isfinite(expected)
    assert torch.equal(finite, torch.isfinite(got.double())), "not finite in different places"
    expected, got = expected[finite], got.double()[finite]
    return float((got - expected).norm() / expected.norm().clamp(min=1e-30))


def index_k_pages(gen, pages, page_size=64):
    """Index-K pages ``uint8 [pages, page_size * 132]``: e4m3 keys of about unit size, then one fp32 scale a key."""
    keys = torch.randn(pages, page_size * 128, generator=gen).to(torch.float8_e4m3fn).view(torch.uint8)
    scales = torch.rand(pages, page_size, generator=gen) + 0.5
    return torch.cat([keys, scales.view(torch.uint8)], 1)
