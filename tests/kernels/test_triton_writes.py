"""c-KV writers: every owned row exactly, nothing else, for any rank of any D, strides, tails and padding."""

import pytest
import torch
from dcp_kernels import ckv_write, reference
from dcp_kernels.runtime import INTERPRETED
from guarded import Guarded, bits, random_bits
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.sampled_from([1, 2, 3, 8])  # D; 3 is no power of two
COUNTS = st.sampled_from([0, 1, 2, 15, 16, 33, 130])
WIDTHS = st.sampled_from([1, 36, 64])
DTYPES = st.sampled_from([torch.bfloat16, torch.float32, torch.float8_e4m3fn])


def draw_locs(gen: torch.Generator, n: int, rows: int, dcp_size: int, kind: str) -> torch.Tensor:
    """n different locs below ``rows * dcp_size``, some of them padding."""
    if kind == "one rank":  # all on rank 0: other ranks own nothing
        locs = torch.randperm(rows, generator=gen)[:n] * dcp_size
    elif kind == "run":
        locs = torch.arange(n) + int(torch.randint(0, rows * dcp_size - n + 1, (1,), generator=gen))
    else:
        locs = torch.randperm(rows * dcp_size, generator=gen)[:n]
    if kind != "run":
        locs[torch.rand(n, generator=gen) < 0.2] = -1
    return locs


@pytest.mark.slow
@given(
    dcp_size=SIZES,
    n=COUNTS,
    width=WIDTHS,
    rope=st.sampled_from([0, 5, 16]),
    dtype=DTYPES,
    kind=st.sampled_from(["mixed", "one rank", "run"]),
    gap=st.sampled_from([0, 16, 3]),
    shift=st.sampled_from([0, 1]),
    loc_dtype=st.sampled_from([torch.int64, torch.int32]),
    seed=st.integers(0, 2**31),
)
def test_writers_copy_owned_rows_and_touch_nothing_else(
    device, dcp_size, n, width, rope, dtype, kind, gap, shift, loc_dtype, seed
):
    gen = torch.Generator().manual_seed(seed)
    rows = 140
    memory = Guarded(device)
    locs = memory.place(draw_locs(gen, n, rows, dcp_size, kind).to(device, loc_dtype))
    nope = memory.place(random_bits(gen, (n, width), dtype).to(device), gap, shift)
    tail = memory.place(random_bits(gen, (n, rope), dtype).to(device), gap)
    for rank in {0, dcp_size - 1, seed % dcp_size}:
        pool = memory.place(random_bits(gen, (rows, width + rope), dtype).to(device), gap, shift)
        expected = pool.clone()
        with memory.watched():
            if rope:
                ckv_write.write_ckv_rope(pool, nope, tail, locs, rank, dcp_size)
            else:
                ckv_write.write_ckv_norope(pool, nope, locs, rank, dcp_size)
        reference.write_ckv_rope(raw(expected), raw(nope), raw(tail), locs, rank, dcp_size)
        assert torch.equal(bits(pool), bits(expected))
        memory.unchanged(locs, nope, tail)


def raw(t: torch.Tensor) -> torch.Tensor:
    return t.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[t.element_size()])


@pytest.mark.slow
@given(dcp_size=SIZES, n=COUNTS, src_dtype=st.sampled_from([torch.bfloat16, torch.float32]), seed=st.integers(0, 2**31))
def test_fp8_writer_casts_in_the_store(device, dcp_size, n, src_dtype, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    locs = memory.place(draw_locs(gen, n, 140, dcp_size, "mixed").to(device))
    values = torch.randn(n, 64, generator=gen) * 200  # over 448 in places
    if INTERPRETED:  # its rounding is wrong: judge what needs none
        values = values.clamp(-448, 448).to(torch.float8_e4m3fn).float()
    elif n:
        values[0, :6] = torch.tensor([1e6, -1e6, 464.0, 0.0009765625, 1.0625, torch.inf])
    src = memory.place(values.to(device, src_dtype), 16)
    pool = memory.place(random_bits(gen, (140, 64), torch.float8_e4m3fn).to(device), 16)
    expected, rank = pool.clone(), seed % dcp_size
    with memory.watched():
        ckv_write.write_ckv_fp8(pool, src, locs, rank, dcp_size)
    reference.write_ckv_fp8(expected, src, locs, rank, dcp_size)
    assert torch.equal(bits(pool), bits(expected))


@pytest.mark.skipif(not INTERPRETED, reason="a GPU rounds fp8 rightly; only the interpreter must refuse")
def test_interpreter_refuses_a_cast_it_would_get_wrong(device):
    pool = torch.zeros(4, 8).to(torch.float8_e4m3fn)
    with pytest.raises(NotImplementedError, match="fp8"):
        ckv_write.write_ckv_fp8(pool, torch.full((1, 8), 31.1), torch.tensor([1]))


def test_nan_stays_nan_in_fp8(device):
    if INTERPRETED:
        pytest.skip("the interpreter turns NaN into 384 in a cast to fp8")
    pool = torch.zeros(4, 16, device=device).to(torch.float8_e4m3fn)
    ckv_write.write_ckv_fp8(pool, torch.full((1, 16), torch.nan, device=device), torch.tensor([2], device=device))
    assert pool[2].float().isnan().all() and not pool[[0, 1, 3]].float().any()


def test_every_row_is_written_by_exactly_one_rank(device):
    """The ranks' pools side by side are the un-sharded pool: nothing lost, nothing twice."""
    for dcp_size in (1, 3, 8):
        locs = torch.randperm(64 * dcp_size)[:50].to(device)
        src = torch.randn(50, 16, device=device)
        pools = torch.zeros(dcp_size, 64, 16, device=device)
        for rank in range(dcp_size):
            ckv_write.write_ckv_norope(pools[rank], src, locs, rank, dcp_size)
        assert torch.equal(pools[locs % dcp_size, locs // dcp_size], src)
        assert int(pools.any(-1).sum()) == 50


@pytest.mark.parametrize(
    "call",
    [
        lambda kv, src, locs: ckv_write.write_ckv_norope(kv, src.float(), locs),
        lambda kv, src, locs: ckv_write.write_ckv_norope(kv, src[:, :4], locs),
        lambda kv, src, locs: ckv_write.write_ckv_norope(kv, src, locs[:1]),
        lambda kv, src, locs: ckv_write.write_ckv_norope(kv, src, locs.float()),
        lambda kv, src, locs: ckv_write.write_ckv_norope(kv, src, locs, 2, 2),
        lambda kv, src, locs: ckv_write.write_ckv_norope(kv.T, src.T, locs),
        lambda kv, src, locs: ckv_write.write_ckv_fp8(kv, src, locs),
    ],
)
def test_what_does_not_fit_is_refused(device, call):
    kv, src = torch.zeros(8, 8, dtype=torch.bfloat16, device=device), torch.zeros(2, 8, dtype=torch.bfloat16, device=device)
    with pytest.raises(ValueError, match=r"[.]$"):
        call(kv, src, torch.tensor([1, 2], device=device))
