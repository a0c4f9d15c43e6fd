"""Index work in Triton against the oracles: exact, for any shape and layout, -1, values beyond 2^31, D no power of two."""

import pytest
import torch
from dcp_kernels import index_space, reference, topk_transform
from guarded import Guarded
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.sampled_from([1, 2, 3, 7, 8])
INTS = st.sampled_from([torch.int64, torch.int32])


def draw_locs(gen: torch.Generator, shape: tuple[int, ...], dtype: torch.dtype, holes: float) -> torch.Tensor:
    """Locs of every size the dtype holds, small ones too, with -1 in places."""
    top = torch.iinfo(dtype).max
    locs = torch.randint(0, top, shape, generator=gen, dtype=torch.int64) >> torch.randint(0, 62, shape, generator=gen)
    locs[torch.rand(shape, generator=gen) < holes] = -1
    return locs.to(dtype)


@given(
    dcp_size=SIZES,
    shape=st.sampled_from([(0,), (), (1,), (1023,), (1025,), (5, 7), (3, 1, 33), (2, 0, 4)]),
    dtype=INTS,
    transpose=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_localize_page_table(device, dcp_size, shape, dtype, transpose, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    table = memory.place(draw_locs(gen, shape, dtype, 0.2).to(device))
    view = table.mT if transpose and table.dim() >= 2 else table
    for rank in {0, dcp_size - 1, seed % dcp_size}:
        with memory.watched():
            rows = index_space.localize_page_table(view, rank, dcp_size)
        expected = reference.localize_page_table(view, rank, dcp_size)
        assert rows.dtype == dtype and rows.shape == view.shape and torch.equal(rows, expected)
    memory.unchanged(table)


@given(
    dcp_size=SIZES,
    queries=st.sampled_from([(), (1,), (5,), (2, 3), (0,)]),
    k=st.sampled_from([0, 1, 7, 16, 65, 2048, 2500]),
    dtype=INTS,
    holes=st.sampled_from([0.0, 0.3, 1.0]),
    gap=st.sampled_from([0, 3, 16]),
    seed=st.integers(0, 2**31),
)
def test_localize_topk_compacts_in_order(device, dcp_size, queries, k, dtype, holes, gap, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device)
    locs = draw_locs(gen, (*queries, k), dtype, holes)
    locs = memory.place(locs.where(locs < 2**31 * dcp_size, -1).to(device), gap)  # rows must fit in int32
    counted = torch.zeros(queries, dtype=torch.int64, device=device)
    for rank in range(dcp_size):
        with memory.watched():
            rows, counts = topk_transform.localize_topk(locs, rank, dcp_size)
        expected_rows, expected_counts = reference.localize_topk(locs, rank, dcp_size)
        assert rows.dtype == counts.dtype == torch.int32
        assert torch.equal(rows, expected_rows) and torch.equal(counts, expected_counts)
        counted += counts
    assert torch.equal(counted, (locs >= 0).sum(-1))  # each selected loc has exactly one owner
    memory.unchanged(locs)


@pytest.mark.slow
@given(
    rows=st.sampled_from([0, 1, 3, 130]),
    k=st.sampled_from([0, 1, 7, 16, 65, 2500]),
    dtype=INTS,
    table_dtype=INTS,
    gap=st.sampled_from([0, 3, 16]),
    seed=st.integers(0, 2**31),
)
def test_transforms(device, rows, k, dtype, table_dtype, gap, seed):
    gen = torch.Generator().manual_seed(seed)
    memory = Guarded(device, 1 << 23)
    requests, longest = 5, 90
    lens = torch.randint(0, longest + 1, (requests,), generator=gen)
    lens[1] = 0
    req = torch.randint(0, requests, (rows,), generator=gen)
    pos = (torch.rand(rows, k, generator=gen) * (lens[req][:, None] + 1)).to(torch.int64) - 1  # -1 .. len - 1
    pos = memory.place(pos.to(device, dtype), gap)
    req = memory.place(req.to(device, torch.int32 if seed % 2 else torch.int64))
    locs = torch.randint(0, 2**31 - 1, (requests, longest), generator=gen)
    table = memory.place(locs.to(device, table_dtype), gap)
    cu = memory.place(torch.nn.functional.pad(lens.cumsum(0), (1, 0)).to(device, table_dtype))
    with memory.watched():
        paged = topk_transform.topk_to_paged(pos, req, table)
        ragged = topk_transform.topk_to_ragged(pos, req, cu)
    assert paged.dtype == ragged.dtype == dtype
    assert torch.equal(paged, reference.topk_to_paged(pos, req, table))
    assert torch.equal(ragged, reference.topk_to_ragged(pos, req, cu))
    memory.unchanged(pos, req, table, cu)


def test_values_beyond_int32(device):
    big = torch.tensor([[2**40 + 5, -1, 2**62 + 1]], device=device)
    assert torch.equal(index_space.localize_page_table(big, 2, 3), reference.localize_page_table(big, 2, 3))
    pos, req = torch.tensor([[1, 0, -1]], device=device), torch.tensor([1], device=device)
    table = torch.tensor([[0, 0], [2**41, 2**42]], device=device)
    assert topk_transform.topk_to_paged(pos, req, table).tolist() == [[2**42, 2**41, -1]]
    cu = torch.tensor([0, 2**40, 2**41], device=device)
    assert topk_transform.topk_to_ragged(pos, req, cu).tolist() == [[2**40 + 1, 2**40, -1]]


@pytest.mark.parametrize("position, request_", [(4, 0), (0, 3)])
def test_the_oracle_refuses_what_the_paged_transform_must_not_be_given(position, request_):
    table = torch.arange(12).view(3, 4)
    with pytest.raises(IndexError):
        reference.topk_to_paged(torch.tensor([[position]]), torch.tensor([request_]), table)


@pytest.mark.parametrize("rank,size", [(-1, 2), (2, 2), (0, 0)])
def test_a_rank_outside_its_group_is_refused(device, rank, size):
    locs = torch.tensor([[1]], device=device)
    for function in (index_space.localize_page_table, topk_transform.localize_topk):
        with pytest.raises(ValueError, match="dcp_rank"):
            function(locs, rank, size)


def test_tables_that_are_no_indices_are_refused(device):
    pos, req = torch.zeros(2, 3, dtype=torch.int32, device=device), torch.zeros(2, dtype=torch.int32, device=device)
    for bad in (
        lambda: topk_transform.topk_to_paged(pos, req, torch.zeros(4, dtype=torch.int32, device=device)),
        lambda: topk_transform.topk_to_paged(pos, req[:1], torch.zeros(4, 4, dtype=torch.int32, device=device)),
        lambda: topk_transform.topk_to_ragged(pos.float(), req, torch.zeros(4, dtype=torch.int32, device=device)),
        lambda: topk_transform.topk_to_ragged(pos[0], req, torch.zeros(4, dtype=torch.int32, device=device)),
    ):
        with pytest.raises(ValueError, match=r"[.]$"):
            bad()
