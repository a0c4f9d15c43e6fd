"""Addresses beyond 2^31 elements: an int32 product anywhere would land in the wrong place."""

import pytest
import torch
from dcp_kernels import ckv_write, index_k, lse_merge, ragged, reference, rows, topk_transform

LAST = 4_194_304 + 3  # row * 512 passes 2^31 at row 4,194,304


def test_writer_and_backup_far_into_a_pool(device):
    """4.3 GB of address space; only the rows that are written become memory on a CPU."""
    pool = torch.empty(LAST + 1, 512, dtype=torch.bfloat16, device=device)
    near = torch.tensor([0, 1, 2, 3], device=device)  # where a product taken modulo 2^32 would land
    far = torch.tensor([LAST - 3, LAST - 2, LAST - 1, LAST], device=device)
    pool[near] = 0
    src = torch.randn(4, 512, device=device).bfloat16()
    ckv_write.write_ckv_norope(pool, src, far * 8 + 5, 5, 8)
    assert torch.equal(pool[far], src) and not pool[near].any()
    assert torch.equal(rows.gather_rows(pool, far), src)
    rows.scatter_rows(pool, src.flip(0).contiguous(), far)
    assert torch.equal(pool[far], src.flip(0)) and not pool[near].any()


def test_index_k_far_into_the_pages(device):
    buf = torch.empty(2**31 // 8448 + 3, 8448, dtype=torch.uint8, device=device)
    locs = torch.tensor([(buf.shape[0] - 1) * 64 + 9, (buf.shape[0] - 2) * 64 + 63], device=device)
    keys = torch.randint(0, 127, (2, 128), dtype=torch.uint8, device=device)
    index_k.write_index_k(buf, keys, torch.tensor([1.5, 2.5], device=device), locs)
    got, scales = reference.read_index_k(buf, locs)
    assert torch.equal(got.view(torch.uint8), keys) and scales.tolist() == [1.5, 2.5]
    got, scales = index_k.read_index_k(buf, locs)
    assert torch.equal(got.view(torch.uint8), keys) and scales.tolist() == [1.5, 2.5]


def test_tables_far_apart(device):
    """A request's row of the table begins beyond 2^31 entries."""
    table = torch.empty(2**31 // 4096 + 2, 4096, dtype=torch.int32, device=device)
    table[-1] = torch.arange(4096, dtype=torch.int32, device=device) * 3
    pos = torch.tensor([[5, -1, 4095]], dtype=torch.int32, device=device)
    req = torch.tensor([table.shape[0] - 1], device=device)
    assert topk_transform.topk_to_paged(pos, req, table).tolist() == [[15, -1, 12285]]


@pytest.mark.gpu
def test_many_rows(device):
    """Inputs and outputs of over 2^31 elements, all of them written."""
    n = LAST + 1
    shards = torch.randint(0, 2**15, (2, n // 2, 512), dtype=torch.int16, device=device)
    extend = torch.randint(0, 2**15, (8, 512), dtype=torch.int16, device=device)
    lens = [torch.tensor([x], device=device) for x in (n, 0, 8)]
    out = ragged.assemble_ragged(shards, extend, *lens, 2, total=n + 8)
    for piece in (slice(0, 1000), slice(n - 1000, n)):
        position = torch.arange(n, device=device)[piece]
        assert torch.equal(out[piece], shards[position % 2, position // 2])
    assert torch.equal(out[n:], extend)
    picked = torch.arange(n - 1, -1, -1, device=device)
    back = rows.gather_rows(out[:n], picked)
    assert torch.equal(back[-1000:], out[:1000].flip(0)) and torch.equal(back[:1000], out[n - 1000 : n].flip(0))


@pytest.mark.gpu
def test_merge_of_many_heads(device):
    tokens, heads = 16_400, 128
    outs = torch.randn(2, tokens, heads, 512, dtype=torch.bfloat16, device=device)
    lses = torch.randn(2, tokens, heads, device=device)
    out, lse = lse_merge.merge_lse(outs, lses)
    for piece in (slice(0, 8), slice(tokens - 8, tokens)):
        expected, expected_lse = reference.merge_lse(outs[:, piece], lses[:, piece])
        assert (out[piece] - expected).norm() <= 1e-5 * expected.norm()
        assert (lse[piece] - expected_lse).abs().max() <= 1e-5


@pytest.mark.gpu
def test_selections_of_over_two_billion_entries(device):
    queries, k = 2**20 + 1, 2048
    locs = torch.randint(-1, 2**31 - 1, (queries, k), dtype=torch.int32, device=device)
    got, counts = topk_transform.localize_topk(locs, 3, 8)
    for piece in (slice(0, 16), slice(queries - 16, queries)):
        expected, expected_counts = reference.localize_topk(locs[piece], 3, 8)
        assert torch.equal(got[piece], expected) and torch.equal(counts[piece], expected_counts)
