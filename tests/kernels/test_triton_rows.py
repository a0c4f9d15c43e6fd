"""What moves whole rows: backup and restore, and the ragged workspace of extend."""

import pytest
import torch
from dcp_kernels import ragged, reference, rows
from guarded import Guarded, bits, random_bits
from hypothesis import given
from hypothesis import strategies as st

WIDTHS = st.sampled_from([1, 36, 64])
DTYPES = st.sampled_from([torch.bfloat16, torch.float32, torch.uint8, torch.float8_e4m3fn])


@given(
    n=st.sampled_from([0, 1, 7, 64, 129]),
    width=WIDTHS,
    dtype=DTYPES,
    gap=st.sampled_from([0, 3, 16]),
    shift=st.sampled_from([0, 1]),
    row_dtype=st.sampled_from([torch.int64, torch.int32]),
    seed=st.integers(0, 2**31),
)
def test_gather_and_scatter(device, n, width, dtype, gap, shift, row_dtype, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    pool = memory.place(random_bits(gen, (140, width), dtype).to(device), gap, shift)
    picked = torch.randperm(140, generator=gen)[:n]
    picked[torch.rand(n, generator=gen) < 0.2] = -1
    picked = memory.place(picked.to(device, row_dtype))
    with memory.watched():
        saved = rows.gather_rows(pool, picked)
    assert torch.equal(bits(saved), bits(reference.gather_rows(raw(pool), picked)))
    memory.unchanged(pool, picked)

    other = memory.place(random_bits(gen, (140, width), dtype).to(device), gap, shift)
    fresh = memory.place(random_bits(gen, (n, width), dtype).to(device), gap)
    expected = other.clone()
    with memory.watched():
        rows.scatter_rows(other, fresh, picked)
    reference.scatter_rows(raw(expected), raw(fresh), picked)
    assert torch.equal(bits(other), bits(expected))
    memory.unchanged(fresh, picked)


def raw(t: torch.Tensor) -> torch.Tensor:
    return t.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[t.element_size()])


def test_backup_and_restore_to_other_rows(device):
    pool = torch.randn(50, 24, device=device)
    old, new = torch.randperm(50)[:20].to(device), torch.randperm(50)[:20].to(device)
    saved, target = rows.gather_rows(pool, old), torch.zeros_like(pool)
    rows.scatter_rows(target, saved, new)
    assert torch.equal(target[new], pool[old]) and int(target.any(1).sum()) == 20


def gathered(prefixes: list[torch.Tensor], starts: list[int], dcp_size: int, garbage) -> torch.Tensor:
    """Shards as ranks hand them over: request i's rows padded to one length, position p in shard p % D, garbage elsewhere."""
    parts = []
    for prefix, start in zip(prefixes, starts, strict=True):
        padded = -(-(len(prefix) + start % dcp_size) // dcp_size) if len(prefix) else 0
        block = garbage(dcp_size, padded)
        for i, token in enumerate(prefix):
            p = start + i
            block[p % dcp_size, p // dcp_size - start // dcp_size] = token
        parts.append(block)
    return torch.cat(parts, 1) if parts else garbage(dcp_size, 0)


@given(
    dcp_size=st.sampled_from([1, 2, 3, 8]),
    lens=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20), st.integers(0, 9)), max_size=6),
    width=WIDTHS,
    dtype=DTYPES,
    gap=st.sampled_from([0, 3, 16]),
    known=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_assemble_ragged(device, dcp_size, lens, width, dtype, gap, known, seed):
    gen = torch.Generator().manual_seed(seed)
    prefix_lens, starts, extend_lens = (list(x) for x in zip(*lens, strict=True)) if lens else ([], [], [])
    prefixes = [random_bits(gen, (n, width), dtype) for n in prefix_lens]
    news = [random_bits(gen, (n, width), dtype) for n in extend_lens]
    shards = gathered(prefixes, starts, dcp_size, lambda *shape: random_bits(gen, (*shape, width), dtype))
    parts = [t for pair in zip(prefixes, news, strict=True) for t in pair]
    expected = torch.cat(parts) if parts else random_bits(gen, (0, width), dtype)

    memory = Guarded(device)
    shards = memory.place(shards.to(device), gap)
    extend = memory.place((torch.cat(news) if news else random_bits(gen, (0, width), dtype)).to(device), gap)
    tables = [memory.place(torch.tensor(x, dtype=torch.int64).to(device)) for x in (prefix_lens, starts, extend_lens)]
    with memory.watched():
        out = ragged.assemble_ragged(shards, extend, *tables, dcp_size, total=len(expected) if known else None)
    assert out.dtype == dtype and out.shape == (len(expected), width)
    assert torch.equal(bits(out), bits(expected.to(device)))
    assert torch.equal(bits(out), bits(reference.assemble_ragged(raw(shards), raw(extend), *tables, dcp_size)))
    memory.unchanged(shards, extend, *tables)


def test_an_empty_prefix_fills_no_rows(device):
    """Request 0 has no prefix and starts at position 2 of D = 3: ``ceil((0 + 2) / 3)`` is 1, but it must fill no row."""
    prefix = torch.arange(12, dtype=torch.float32).view(4, 3)
    shards = gathered([prefix[:0], prefix], [2, 1], 3, lambda *shape: torch.full((*shape, 3), torch.nan)).to(device)
    lens = [torch.tensor(x, device=device) for x in ([0, 4], [2, 1], [0, 0])]
    for module in (ragged, reference):
        assert torch.equal(module.assemble_ragged(shards, shards[0, :0], *lens, 3), prefix.to(device))


def test_what_does_not_fit_is_refused(device):
    pool, picked = torch.zeros(4, 8, device=device), torch.tensor([1, 2], device=device)
    lens, shards = torch.tensor([2, 0], device=device), torch.zeros(2, 2, 8, device=device)
    for bad in (
        lambda: rows.gather_rows(pool.T, picked),
        lambda: rows.gather_rows(pool, picked.float()),
        lambda: rows.scatter_rows(pool, torch.zeros(2, 7, device=device), picked),
        lambda: rows.scatter_rows(pool, torch.zeros(2, 8, device=device).half(), picked),
        lambda: rows.scatter_rows(pool, torch.zeros(3, 8, device=device), picked),
        lambda: ragged.assemble_ragged(shards, pool, lens, lens, lens, 3),
        lambda: ragged.assemble_ragged(shards, pool.half(), lens, lens, lens, 2),
        lambda: ragged.assemble_ragged(shards, pool, lens, lens[:1], lens, 2),
    ):
        with pytest.raises(ValueError, match=r"[.]$"):
            bad()
