"""Every Triton kernel once, at odd shapes, against its oracle: the program that compute-sanitizer runs on a GPU.

    PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool memcheck python tests/kernels/smoke.py

Without that variable PyTorch's allocator hands out pieces of large blocks and memcheck sees nothing wrong with a neighbour.
"""

import torch
from dcp_kernels import ckv_write, index_k, index_space, lse_merge, ragged, reference, relayout, rows, topk_transform


def main(device: str) -> None:
    def same(got, expected):
        assert torch.equal(got.contiguous().flatten().view(torch.uint8), expected.contiguous().flatten().view(torch.uint8))

    n, dcp_size, rank = 133, 3, 2
    locs = torch.randperm(200, device=device)[:n]
    locs[::7] = -1
    same(index_space.localize_page_table(locs, rank, dcp_size), reference.localize_page_table(locs, rank, dcp_size))
    src, rope = torch.randn(n, 96, device=device).bfloat16(), torch.randn(n, 20, device=device).bfloat16()
    for write, sources in (("write_ckv_norope", (src,)), ("write_ckv_rope", (src, rope))):
        pool = torch.randn(67, sum(s.shape[1] for s in sources), device=device).bfloat16()
        expected = pool.clone()
        getattr(ckv_write, write)(pool, *sources, locs, rank, dcp_size)
        getattr(reference, write)(expected, *sources, locs, rank, dcp_size)
        same(pool, expected)
    pool = torch.zeros(67, 96, device=device).to(torch.float8_e4m3fn)
    expected, exact = pool.clone(), src.to(torch.float8_e4m3fn).bfloat16()
    ckv_write.write_ckv_fp8(pool, exact, locs, rank, dcp_size)
    reference.write_ckv_fp8(expected, exact, locs, rank, dcp_size)
    same(pool, expected)

    buf = torch.zeros(4, 8448, dtype=torch.uint8, device=device)
    expected = buf.clone()
    keys, scales = torch.randint(0, 255, (n, 128), device=device, dtype=torch.uint8), torch.rand(n, device=device)
    index_k.write_index_k(buf, keys, scales, locs)
    reference.write_index_k(expected, keys, scales, locs)
    same(buf, expected)
    for got, want in zip(index_k.read_index_k(buf, locs), reference.read_index_k(buf, locs), strict=True):
        same(got, want)

    pos = torch.randint(-1, 40, (n, 77), device=device, dtype=torch.int32)
    req = torch.randint(0, 5, (n,), device=device)
    table = torch.randint(0, 900, (5, 40), device=device, dtype=torch.int32)
    cu = torch.arange(6, device=device) * 40
    paged = topk_transform.topk_to_paged(pos, req, table)
    same(paged, reference.topk_to_paged(pos, req, table))
    same(topk_transform.topk_to_ragged(pos, req, cu), reference.topk_to_ragged(pos, req, cu))
    compacted = zip(topk_transform.localize_topk(paged, 1, 3), reference.localize_topk(paged, 1, 3), strict=True)
    for got, want in compacted:
        same(got, want)

    outs, lses = torch.randn(3, 5, 7, 96, device=device), torch.randn(3, 5, 7, device=device)
    lses[1, 2] = lses[:, 4] = -torch.inf
    outs[1, 2] = torch.nan
    out, lse = lse_merge.merge_lse(outs, lses)
    expected, expected_lse = reference.merge_lse(outs, lses)
    assert (out - expected).norm() <= 1e-5 * expected.norm()
    assert torch.allclose(lse.double(), expected_lse, rtol=1e-5, atol=1e-5)

    prefix, starts, fresh = (torch.tensor(x, device=device) for x in ([40, 0, 7], [1, 2, 2], [3, 5, 0]))
    shards, extend = torch.randn(3, 17, 20, device=device), torch.randn(8, 20, device=device)
    same(*(m.assemble_ragged(shards, extend, prefix, starts, fresh, 3) for m in (ragged, reference)))

    pool, picked = torch.randn(60, 33, device=device), torch.randperm(60, device=device)[:41]
    picked[3] = -1
    saved = rows.gather_rows(pool, picked)
    same(saved, reference.gather_rows(pool, picked))
    expected = pool.clone()
    rows.scatter_rows(pool, saved.flip(0).contiguous(), picked)
    reference.scatter_rows(expected, saved.flip(0), picked)
    same(pool, expected)

    other, expected = torch.zeros_like(pool), torch.zeros_like(pool)
    piece, nodes = (9, 20, 70), ((1, 2, 5), (2, 3, 2))
    relayout.relayout(other, pool, relayout.RelayoutPiece(*piece), *(relayout.NodeRank(*node) for node in nodes))
    reference.relayout(expected, pool, piece, *nodes)
    same(other, expected)
    print("every kernel ran and agrees with its oracle")


if __name__ == "__main__":
    main("cuda" if torch.cuda.is_available() else "cpu")
