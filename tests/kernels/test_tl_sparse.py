"""Sparse MLA attention, decode and extend, against the float64 oracle; the same tests run on the CPU target and on a GPU."""

import pytest
import torch
from dcp_kernels import reference, tl_runtime
from dcp_kernels.tl_sparse_decode import sparse_mla_decode
from dcp_kernels.tl_sparse_extend import sparse_mla_extend
from guarded import Guarded
from hypothesis import given
from hypothesis import strategies as st
from tl_cases import ATTENTION_DTYPES, CUDA, TOLERANCE, attention, relative

HEADS = [16, 64, 128] if CUDA else [16]
SCALE = 576**-0.5


@pytest.mark.slow
@given(
    heads=st.sampled_from(HEADS),
    rope=st.sampled_from([0, 64]),
    dtype=st.sampled_from(ATTENTION_DTYPES),
    tokens=st.integers(0, 3),
    rows=st.sampled_from([1, 2, 65, 300]),
    topk=st.sampled_from([1, 63, 64, 128, 200]),
    holes=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    counted=st.booleans(),
    splits=st.sampled_from([None, 1, 2, 5]),
    seed=st.integers(0, 2**31),
)
def test_against_float64(device, heads, rope, dtype, tokens, rows, topk, holes, counted, splits, seed):
    given_ = dict(heads=heads, rope=rope, dtype=dtype, tokens=tokens, rows=rows, topk=topk, holes=holes, counted=counted)
    q, kv, indices, counts = attention(seed, device=device, **given_)
    memory = Guarded(device, 8 << 20)
    q, kv, indices = memory.place(q), memory.place(kv), memory.place(indices)
    out = memory.place(torch.full((tokens, heads, 512), torch.nan, dtype=dtype, device=device))
    lse = memory.place(torch.full((tokens, heads), torch.nan, device=device))
    expected, expected_lse = reference.sparse_mla_decode(q, kv, indices, counts, SCALE)
    for run in (
        lambda: sparse_mla_decode(q, kv, indices, counts, SCALE, splits=splits, out=out, lse=lse),
        lambda: sparse_mla_extend(q, kv, indices, counts, SCALE, out=out, lse=lse),
    ):
        out.fill_(torch.nan), lse.fill_(torch.nan)
        with memory.watched():
            run()
        assert relative(out, expected) <= TOLERANCE[dtype]
        none = expected_lse == -torch.inf
        assert torch.equal(lse == -torch.inf, none) and not out[none].any()
        assert relative(lse, expected_lse) <= 1e-3
    memory.unchanged(q, kv, indices)


def test_a_row_nobody_names_may_hold_nan(device):
    """-1 is clamped to row 0 only as an address: a zero weight would not help, 0 * NaN is NaN."""
    q, kv, indices, _ = attention(0, tokens=2, heads=16, rope=64, rows=9, topk=64, dtype=ATTENTION_DTYPES[0], device=device)
    indices[1] = -1
    out, lse = sparse_mla_decode(q, kv, indices, None, SCALE)
    assert torch.isfinite(out.float()).all() and not out[1].any() and (lse[1] == -torch.inf).all()
    kv[3] = torch.nan
    indices[0, 0] = 3
    out, _ = sparse_mla_decode(q, kv, indices, None, SCALE)
    assert torch.isnan(out[0].float()).all() and not out[1].any()


def test_a_compacted_list_is_the_list_with_holes(device):
    q, kv, indices, _ = attention(
        1, tokens=3, heads=16, rope=0, rows=300, topk=256, holes=0.8, beyond=0, dtype=ATTENTION_DTYPES[0], device=device
    )
    compact, counts = torch.full_like(indices, -1), (indices >= 0).sum(1).to(torch.int32)
    for t in range(3):
        compact[t, : counts[t]] = indices[t][indices[t] >= 0]
    junk = compact.clone()
    junk[compact == -1] = 5  # what stands after the count does not matter
    a, a_lse = sparse_mla_decode(q, kv, indices, None, SCALE)
    for b, b_lse in (sparse_mla_decode(q, kv, x, counts, SCALE) for x in (compact, junk)):
        assert relative(b, a.double()) <= TOLERANCE[q.dtype] and relative(b_lse, a_lse.double()) <= 1e-5


def test_shards_merge_to_the_whole(device):
    """The sum over D ranks of what each owns, by the oracle's merge, is attention over all rows."""
    q, kv, indices, _ = attention(
        2, tokens=2, heads=16, rope=64, rows=320, topk=192, beyond=0, dtype=ATTENTION_DTYPES[0], device=device
    )
    parts = [
        sparse_mla_decode(q, kv[r::4].contiguous(), torch.where(indices % 4 == r, indices // 4, -1).int(), None, SCALE)
        for r in range(4)
    ]
    out, lse = reference.merge_lse(torch.stack([o for o, _ in parts]), torch.stack([x for _, x in parts]))
    expected, expected_lse = reference.sparse_mla_decode(q, kv, indices, None, SCALE)
    assert relative(out, expected) <= TOLERANCE[q.dtype] and relative(lse, expected_lse) <= 1e-4


def test_an_index_past_the_end_is_an_error_in_debug(device, monkeypatch):
    q, kv, indices, _ = attention(
        3, tokens=1, heads=16, rope=0, rows=9, topk=64, beyond=0, dtype=ATTENTION_DTYPES[0], device=device
    )
    monkeypatch.setattr(tl_runtime, "DEBUG", True)
    sparse_mla_decode(q, kv, indices, None, SCALE)
    indices[0, 40] = 9
    for run in (sparse_mla_decode, sparse_mla_extend):
        with pytest.raises(ValueError, match="indices holds 9, but there are only 9 rows"):
            run(q, kv, indices, None, SCALE)
    counts = torch.tensor([40], dtype=torch.int32, device=device)  # it stands after the count: nobody looks at it
    sparse_mla_decode(q, kv, indices, counts, SCALE)


def test_what_the_cpu_cannot_compute_is_refused():
    q, kv, indices, _ = attention(4, tokens=1, heads=16, rope=0, rows=9, topk=64, dtype=torch.bfloat16, device="cpu")
    with pytest.raises(TypeError, match=r"the CPU target computes \S+bfloat16 wrongly"):
        sparse_mla_decode(q, kv, indices, None, SCALE)


@pytest.mark.parametrize("bad", ["heads", "width", "indices", "scale", "dtype"])
def test_arguments_are_checked(device, bad):
    q, kv, indices, _ = attention(5, tokens=1, heads=16, rope=0, rows=9, topk=64, dtype=torch.float16, device=device)
    scale = SCALE
    if bad == "heads":
        q = q[:, :12].contiguous()
    elif bad == "width":
        kv = kv[:, :500].contiguous()
    elif bad == "indices":
        indices = indices.long()
    elif bad == "scale":
        scale = 0.0
    else:
        kv = kv.float()
    with pytest.raises((ValueError, TypeError)):
        sparse_mla_decode(q, kv, indices, None, scale)


@pytest.mark.gpu
@pytest.mark.parametrize("heads", [16, 32, 64, 96, 128])
@pytest.mark.parametrize("rope", [0, 64])
def test_full_size_is_right_and_repeats_to_the_bit(device, heads, rope):
    q, kv, indices, counts = attention(
        heads, tokens=40, heads=heads, rope=rope, rows=8192, topk=2048, dtype=torch.bfloat16, device=device
    )
    expected, expected_lse = reference.sparse_mla_decode(q, kv, indices, counts, SCALE)
    for run in (
        lambda: sparse_mla_decode(q, kv, indices, counts, SCALE, splits=3),
        lambda: sparse_mla_extend(q, kv, indices, counts, SCALE),
    ):
        out, lse = run()
        assert relative(out, expected) <= 5e-3 and relative(lse, expected_lse) <= 1e-3
        for _ in range(20):
            again, again_lse = run()
            assert torch.equal(again, out) and torch.equal(again_lse, lse)


def test_rows_past_two_to_the_31_elements(device):
    """4.3 GB of rows, of which a CPU touches few; an int32 address would wrap round to the start, where other values are."""
    rows = 2**31 // 512 + 64
    dtype, heads = (torch.bfloat16, 64) if device == "cuda" else (torch.float16, 16)
    kv = torch.empty(rows, 512, dtype=dtype, device=device)
    kv[:256] = 100.0
    kv[-256:] = torch.randn(256, 512, device=device)
    q = torch.randn(2, heads, 512, device=device).to(dtype)
    indices = (rows - 1 - torch.randint(0, 256, (2, 128), device=device)).int()
    expected, expected_lse = reference.sparse_mla_decode(q, kv, indices, None, SCALE)
    for out, lse in (sparse_mla_decode(q, kv, indices, None, SCALE), sparse_mla_extend(q, kv, indices, None, SCALE)):
        assert relative(out, expected) <= TOLERANCE[dtype] and relative(lse, expected_lse) <= 1e-3
