"""Indexer logits, paged and ragged, against the float64 oracle; the same tests run on the CPU target and on a GPU."""

import pytest
import torch
from dcp_kernels import reference, tl_runtime
from dcp_kernels.tl_indexer import indexer_logits_paged, indexer_logits_ragged
from guarded import Guarded
from hypothesis import given
from hypothesis import strategies as st
from tl_cases import CUDA, index_k_pages, relative

PAGED_DTYPES = [torch.float8_e4m3fn] if CUDA else [torch.float16, torch.float32]
RAGGED_DTYPES = [torch.float8_e4m3fn, torch.bfloat16] if CUDA else [torch.float16, torch.float32]
# fp8 products are exact, but the tensor cores of sm_90 keep only some 14 bits of an fp8 sum; the sum over heads cancels.
TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-5, torch.bfloat16: 1e-4, torch.float8_e4m3fn: 2e-3}


def e4m3(gen, *shape):
    """Values that e4m3 holds exactly, as float32."""
    return torch.randn(*shape, generator=gen).to(torch.float8_e4m3fn).float()


@pytest.mark.slow
@given(
    heads=st.sampled_from([32, 64]),
    dtype=st.sampled_from(PAGED_DTYPES),
    tokens=st.integers(0, 4),
    pages=st.integers(1, 9),
    npages=st.integers(0, 6),
    broken=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_paged(device, heads, dtype, tokens, pages, npages, broken, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    q = memory.place(e4m3(gen, tokens, heads, 128).to(device, dtype))
    weights = memory.place(torch.randn(tokens, heads, generator=gen).to(device))
    buf = memory.place(index_k_pages(gen, pages).to(device))
    seq_lens = torch.randint(0, npages * 64 + 1, (tokens,), generator=gen, dtype=torch.int32)
    table = torch.randint(0, pages, (tokens, npages), generator=gen, dtype=torch.int32)
    # Past the last page that a position needs, anything may stand.
    unused = torch.arange(npages) * 64 >= seq_lens[:, None]
    table[unused] = torch.randint(-(2**31), 2**31, (int(unused.sum()),), generator=gen).int()
    good = table.clone()
    holes = ~unused & (torch.rand(tokens, npages, generator=gen) < 0.3) if broken else torch.zeros_like(unused)
    table[holes] = torch.tensor([-1, pages, 2**31 - 1], dtype=torch.int32)[
        torch.randint(0, 3, (int(holes.sum()),), generator=gen)
    ]
    seq_lens, table = memory.place(seq_lens.to(device)), memory.place(table.to(device))
    out = memory.place(torch.full((tokens, npages * 64), torch.nan, device=device))
    with memory.watched():
        indexer_logits_paged(q, weights, buf, table, seq_lens, out=out)
    expected = reference.indexer_logits_paged(q, weights, buf, good.to(device), seq_lens)
    expected[holes.repeat_interleave(64, 1).to(device)] = -torch.inf  # an id that is no page: -inf, and nothing is read
    assert relative(out, expected) <= TOLERANCE[dtype]
    memory.unchanged(q, weights, buf, table, seq_lens)


@pytest.mark.slow
@given(
    heads=st.sampled_from([32, 64]),
    dtype=st.sampled_from(RAGGED_DTYPES),
    tokens=st.integers(0, 7),
    keys=st.sampled_from([1, 63, 64, 65, 300, 1000]),
    scaled=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_ragged(device, heads, dtype, tokens, keys, scaled, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device, 4 << 20)
    q = memory.place(e4m3(gen, tokens, heads, 128).to(device, dtype))
    k = memory.place(e4m3(gen, keys, 128).to(device, dtype))
    weights = memory.place(torch.randn(tokens, heads, generator=gen).to(device))
    scales = memory.place((torch.rand(keys, generator=gen) + 0.5).to(device)) if scaled else None
    ks = torch.randint(0, keys + 1, (tokens,), generator=gen, dtype=torch.int32).to(device)
    ke = torch.randint(0, keys + 1, (tokens,), generator=gen, dtype=torch.int32).to(device)  # before ks: nothing to see
    out = memory.place(torch.full((tokens, keys), torch.nan, device=device))
    with memory.watched():
        indexer_logits_ragged(q, weights, k, scales, ks, ke, out=out)
    ones = torch.ones(keys, device=device)
    expected = reference.indexer_logits_ragged(q, weights, k, ones if scales is None else scales, ks, ke)
    assert relative(out, expected) <= TOLERANCE[dtype]
    memory.unchanged(q, weights, k)


def test_a_page_past_the_end_is_an_error_in_debug(device, monkeypatch):
    gen = torch.Generator().manual_seed(0)
    q, weights = e4m3(gen, 1, 32, 128).to(device, PAGED_DTYPES[0]), torch.randn(1, 32, device=device)
    buf, table = index_k_pages(gen, 3).to(device), torch.tensor([[0, 3]], dtype=torch.int32, device=device)
    monkeypatch.setattr(tl_runtime, "DEBUG", True)
    short, long = (torch.tensor([n], dtype=torch.int32, device=device) for n in (64, 65))
    indexer_logits_paged(q, weights, buf, table, short)
    with pytest.raises(ValueError, match="page_table holds 3, but there are only 3 index-K pages"):
        indexer_logits_paged(q, weights, buf, table, long)


def test_what_the_cpu_cannot_compute_is_refused():
    q = torch.zeros(1, 32, 128).to(torch.float8_e4m3fn)
    ks = torch.zeros(1, dtype=torch.int32)
    with pytest.raises(TypeError, match=r"the CPU target computes \S+e4m3fn wrongly"):
        indexer_logits_ragged(q, torch.zeros(1, 32), q[0], None, ks, ks)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.bfloat16])
def test_full_size_is_right_and_repeats_to_the_bit(device, dtype):
    gen = torch.Generator().manual_seed(1)
    tokens, keys = 257, 8200
    q, k = e4m3(gen, tokens, 64, 128).to(device, dtype), e4m3(gen, keys, 128).to(device, dtype)
    weights, scales = torch.randn(tokens, 64, device=device), torch.rand(keys, device=device) + 0.5
    ke = torch.arange(keys - tokens + 1, keys + 1, dtype=torch.int32, device=device)
    ks = torch.arange(tokens, dtype=torch.int32, device=device) // 50 * 700
    out = indexer_logits_ragged(q, weights, k, scales, ks, ke)
    assert relative(out, reference.indexer_logits_ragged(q, weights, k, scales, ks, ke)) <= TOLERANCE[dtype]
    for _ in range(20):
        assert torch.equal(indexer_logits_ragged(q, weights, k, scales, ks, ke), out)


@pytest.mark.gpu
def test_pages_and_logits_past_two_to_the_31(device):
    """A page whose bytes begin past 2^31, and logits whose last elements do."""
    gen = torch.Generator().manual_seed(2)
    pages = 2**31 // 8448 + 3
    buf = torch.zeros(pages, 8448, dtype=torch.uint8, device=device)
    buf[-2:] = index_k_pages(gen, 2).to(device)
    q, weights = e4m3(gen, 1, 64, 128).to(device, torch.float8_e4m3fn), torch.randn(1, 64, device=device)
    table = torch.tensor([[pages - 1, 0, pages - 2]], dtype=torch.int32, device=device)
    seq_lens = torch.tensor([192], dtype=torch.int32, device=device)
    out = indexer_logits_paged(q, weights, buf, table, seq_lens)
    assert relative(out, reference.indexer_logits_paged(q, weights, buf, table, seq_lens)) <= 2e-3
    keys = 65_600
    tokens = 2**31 // keys + 3
    k = e4m3(gen, keys, 128).to(device, torch.float8_e4m3fn)
    q = e4m3(gen, 3, 64, 128).to(device, torch.float8_e4m3fn)
    every_q = torch.zeros(tokens, 64, 128, dtype=torch.float8_e4m3fn, device=device)
    every_q[-3:] = q
    weights, scales = torch.randn(tokens, 64, device=device), torch.ones(keys, device=device)
    ks = torch.zeros(tokens, dtype=torch.int32, device=device)
    ke = torch.zeros(tokens, dtype=torch.int32, device=device)
    ke[-3:] = keys
    out = indexer_logits_ragged(every_q, weights, k, scales, ks, ke)
    assert relative(out[-3:], reference.indexer_logits_ragged(q, weights[-3:], k, scales, ks[-3:], ke[-3:])) <= 2e-3
    assert (out[:5] == -torch.inf).all()
