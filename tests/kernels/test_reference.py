"""The oracles themselves, against numbers worked out by hand and against the plainest loops."""

import math

import pytest
import torch
from dcp_kernels import reference


def test_localize_by_hand():
    assert reference.localize_page_table(torch.tensor([8, 9, 10, 13, -1, 0]), 1, 4).tolist() == [-1, 2, -1, 3, -1, -1]
    assert reference.localize_page_table(torch.tensor([-1, 7]), 7, 8).tolist() == [-1, 0]  # torch: -1 % 8 is 7
    rows, counts = reference.localize_topk(torch.tensor([[3, 8, -1, 1, 7]]), 1, 2)
    assert rows.tolist() == [[1, 0, 3, -1, -1]] and counts.tolist() == [3]


def test_transforms_by_hand():
    pos, req = torch.tensor([[2, -1, 0]]), torch.tensor([1])
    assert reference.topk_to_paged(pos, req, torch.tensor([[1, 2, 3], [64, 65, 512]])).tolist() == [[512, -1, 64]]
    assert reference.topk_to_ragged(pos, req, torch.tensor([0, 7, 11])).tolist() == [[9, -1, 7]]


def test_fp8_saturates_and_rounds_to_even():
    pool = torch.zeros(1, 7).to(torch.float8_e4m3fn)
    reference.write_ckv_fp8(pool, torch.tensor([[1e6, -500.0, 464.0, 1.0625, 1.1875, 31.1, torch.nan]]), torch.tensor([0]))
    assert pool[0, :6].float().tolist() == [448, -448, 448, 1.0, 1.25, 32.0] and pool[0, 6].float().isnan()


def test_assemble_by_hand():
    """D = 3, prefix of 4 from position 1: position 1 is in shard 1, and position 3 in shard 0, row 1."""
    shards = torch.tensor([[[-1], [3]], [[1], [4]], [[2], [-1]]])
    lens = [torch.tensor(x) for x in ([4, 0], [1, 5], [1, 1])]
    assert reference.assemble_ragged(shards, torch.tensor([[10], [11]]), *lens, 3).flatten().tolist() == [1, 2, 3, 4, 10, 11]


def test_topk_order_ties_and_what_never_counts():
    inf, nan = torch.inf, torch.nan
    row = torch.tensor([[0.0, -0.0, 1.0, nan, 1.0, 2.0, 0.0, -inf]])
    assert reference.topk_select(row, 4).tolist() == [[0, 2, 4, 5]]
    assert reference.topk_select(row, 8).tolist() == [[0, 1, 2, 4, 5, 6, -1, -1]]
    assert reference.topk_select(row, 2, torch.tensor([6]), torch.tensor([8])).tolist() == [[6, -1]]
    assert reference.topk_select(row[:, :3], 5).tolist() == [[0, 1, 2, -1, -1]]


@pytest.mark.parametrize("counts", [None, torch.tensor([3, 0, 2, 4])])
def test_sparse_attention_by_loops(counts):
    q, kv = torch.randn(4, 2, 6), torch.randn(9, 6)
    indices = torch.tensor([[0, 3, -1, 8], [1, 2, 3, 4], [-1, -1, 5, 6], [99, -1, -1, 2]], dtype=torch.int32)
    out, lse = reference.sparse_mla_decode(q, kv, indices, counts, 0.3, d_v=4)
    for t in range(4):
        kept = indices[t].tolist() if counts is None else indices[t, : counts[t]].tolist()
        kept = [i for i in kept if 0 <= i < 9]
        for h in range(2):
            weights = [math.exp(0.3 * float(q[t, h].double() @ kv[i].double())) for i in kept]
            if not kept:
                assert lse[t, h] == -torch.inf and not out[t, h].any()
                continue
            expected = sum(w * kv[i, :4].double() for w, i in zip(weights, kept, strict=True)) / sum(weights)
            assert torch.allclose(out[t, h], expected) and math.isclose(lse[t, h], math.log2(sum(weights)), abs_tol=1e-9)


def test_paged_and_ragged_logits_agree_with_loops():
    heads, page_size = 3, 4
    buf = torch.zeros(5, page_size * 132, dtype=torch.uint8)
    keys, scales = torch.randn(11, 128).to(torch.float8_e4m3fn), torch.rand(11)
    pages = torch.tensor([3, 1, 4])
    locs = pages[torch.arange(11) // page_size] * page_size + torch.arange(11) % page_size
    reference.write_index_k(buf, keys, scales, locs, page_size)
    q, weights = torch.randn(2, heads, 128), torch.randn(2, heads)
    table = torch.tensor([[3, 1, 4], [3, -1, -1]], dtype=torch.int32)
    paged = reference.indexer_logits_paged(q, weights, buf, table, torch.tensor([11, 3]), page_size)
    ragged = reference.indexer_logits_ragged(q, weights, keys, scales, torch.tensor([0, 0]), torch.tensor([11, 3]))
    assert paged.shape == (2, 12) and torch.equal(paged[:, :11], ragged) and paged[:, 11].eq(-torch.inf).all()
    for t, n in ((0, 11), (1, 3)):
        for k in range(n):
            dots = [max(0.0, float(q[t, h].double() @ keys[k].float().double())) for h in range(heads)]
            score = float(scales[k].double()) * sum(float(weights[t, h].double()) * d for h, d in enumerate(dots))
            assert math.isclose(ragged[t, k], score, rel_tol=1e-9, abs_tol=1e-9)
        assert ragged[t, n:].eq(-torch.inf).all()


def test_merge_by_hand():
    """Masses 2 and 8, outputs 0 and 10: 8, and a mass of 10. An empty rank's NaN does not matter."""
    outs = torch.tensor([0.0, 10.0, torch.nan]).view(3, 1, 1, 1)
    lses = torch.tensor([1.0, 3.0, -torch.inf]).view(3, 1, 1)
    out, lse = reference.merge_lse(outs, lses)
    assert math.isclose(out.item(), 8.0) and math.isclose(lse.item(), math.log2(10))
    out, lse = reference.merge_lse(outs[2:], lses[2:])
    assert out.item() == 0 and lse.item() == -torch.inf
