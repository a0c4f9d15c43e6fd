"""Every TileLang kernel once, on small shapes, against its oracle: the program that compute-sanitizer runs on a GPU.

    PYTORCH_NO_CUDA_MEMORY_CACHING=1 PYTHONPATH=kernels compute-sanitizer --tool memcheck python tests/kernels/tl_smoke.py

On a CPU the same in fp16, through the C target.
"""

import torch
from dcp_kernels import reference
from dcp_kernels.tl_indexer import indexer_logits_paged, indexer_logits_ragged
from dcp_kernels.tl_sparse_decode import sparse_mla_decode
from dcp_kernels.tl_sparse_extend import sparse_mla_extend
from dcp_kernels.tl_topk import topk_select
from tl_cases import CUDA, TOLERANCE, attention, index_k_pages, relative


def main(device: str) -> None:
    gen = torch.Generator().manual_seed(0)
    dtype = torch.bfloat16 if CUDA else torch.float16
    keys_dtype = torch.float8_e4m3fn if CUDA else torch.float16
    for heads, rope in ((128, 64), (64, 0)) if CUDA else ((16, 0),):
        drawn = attention(heads, tokens=2, heads=heads, rope=rope, rows=300, topk=200, dtype=dtype, device=device)
        expected, lse = reference.sparse_mla_decode(*drawn, 0.04)
        for got, got_lse in (sparse_mla_extend(*drawn, 0.04), sparse_mla_decode(*drawn, 0.04, splits=2)):
            assert relative(got, expected) < TOLERANCE[dtype] and relative(got_lse, lse) < 1e-3
    q = torch.randn(3, 64, 128, generator=gen).to(device, keys_dtype)
    weights, keys = torch.randn(3, 64, generator=gen).to(device), torch.randn(300, 128, generator=gen).to(device, keys_dtype)
    scales = torch.rand(300, generator=gen).to(device)
    ks, ke = (torch.tensor(ends, dtype=torch.int32, device=device) for ends in ([0, 5, 300], [300, 250, 300]))
    ragged = (q, weights, keys, scales, ks, ke)
    assert relative(indexer_logits_ragged(*ragged), reference.indexer_logits_ragged(*ragged)) < 1e-3
    table = torch.tensor([[0, 4, 2], [1, 4, 3], [3, 2, 0]], dtype=torch.int32, device=device)
    lens = torch.tensor([150, 192, 64], dtype=torch.int32, device=device)
    paged = (q, weights, index_k_pages(gen, 5).to(device), table, lens)
    assert relative(indexer_logits_paged(*paged), reference.indexer_logits_paged(*paged)) < 1e-3
    logits = torch.randn(2, 9000 if CUDA else 900, generator=gen).round().to(device)
    assert torch.equal(topk_select(logits, 256), reference.topk_select(logits, 256))
    # Long rows: slices and a join, one program a row, rows of no whole 16-byte words.
    for rows, columns in ((3, 40_000), (300, 8_192), (2, 12_001)) if CUDA else ():
        logits = torch.randn(rows, columns, generator=gen).to(device)
        assert torch.equal(topk_select(logits, 2048), reference.topk_select(logits, 2048)), (rows, columns)
    print("every TileLang kernel ran and agrees with its oracle")


if __name__ == "__main__":
    main("cuda" if CUDA else "cpu")
