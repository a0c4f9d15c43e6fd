"""Oracles: one twin for every public kernel function, same name, same arguments, in plain torch.

Index work is exact and returns what the kernel returns. Float work is done and returned in float64, whatever the inputs
are, so that a test measures the kernel's error and not the oracle's. Every oracle runs on any device; none is fast.
"""

from dcp_kernels.reference.attention import (
    indexer_logits_paged,
    indexer_logits_ragged,
    merge_lse,
    sparse_mla_decode,
    sparse_mla_extend,
    topk_select,
)
from dcp_kernels.reference.cache import (
    assemble_ragged,
    gather_rows,
    read_index_k,
    relayout,
    scatter_rows,
    write_ckv_fp8,
    write_ckv_norope,
    write_ckv_rope,
    write_index_k,
)
from dcp_kernels.reference.spaces import localize_page_table, localize_topk, topk_to_paged, topk_to_ragged

__all__ = [
    "assemble_ragged",
    "gather_rows",
    "indexer_logits_paged",
    "indexer_logits_ragged",
    "localize_page_table",
    "localize_topk",
    "merge_lse",
    "read_index_k",
    "relayout",
    "scatter_rows",
    "sparse_mla_decode",
    "sparse_mla_extend",
    "topk_select",
    "topk_to_paged",
    "topk_to_ragged",
    "write_ckv_fp8",
    "write_ckv_norope",
    "write_ckv_rope",
    "write_index_k",
]
