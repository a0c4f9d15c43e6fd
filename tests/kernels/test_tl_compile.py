"""Every TileLang kernel, as the public functions launch it on a Hopper GPU, compiles for sm_90a on a machine without one."""

import shutil

import pytest
from dcp_kernels import tl_indexer, tl_runtime, tl_sparse, tl_topk

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc to make a cubin; it needs no GPU")

# (builder, static parameters, most registers, most bytes spilled, are tensor cores fed by warpgroup instructions)
KERNELS = {
    "attention 512+64, 128 heads": (tl_sparse.specialized, dict(heads=128, rope=64), 128, 16, True),
    "attention 512+0, 64 heads, a split": (tl_sparse.specialized, dict(heads=64, rope=0, out_dtype="float32"), 128, 16, True),
    "attention 512+64, 16 heads": (tl_sparse.specialized, dict(heads=16, rope=64), 128, 16, True),
    "attention in tiles": (tl_sparse.tile, dict(heads=16, rope=64, dtype="bfloat16"), 255, 0, False),
    "combine": (tl_sparse.combine, dict(heads=128, dtype="bfloat16"), 64, 0, False),
    "indexer, paged": (tl_indexer.paged, dict(heads=64), 128, 0, True),
    "indexer, ragged fp8": (tl_indexer.ragged_specialized, dict(heads=64, **tl_indexer.SPECIALIZED[64]), 168, 0, True),
    "indexer, ragged bf16": (
        tl_indexer.ragged_specialized,
        dict(heads=64, dtype="bfloat16", **tl_indexer.SPECIALIZED[64]),
        168,
        0,
        True,
    ),
    "indexer, ragged in tiles": (tl_indexer.ragged, dict(heads=16), 128, 0, True),
    # Proving the bounds of the scans takes the compiler half a minute.
    "top-k": pytest.param(tl_topk.select, dict(topk=2048), 40, 0, False, marks=pytest.mark.slow),
}


@pytest.mark.parametrize(
    "builder, static, registers, spilled, warpgroups",
    [v if hasattr(v, "marks") else pytest.param(*v) for v in KERNELS.values()],
    ids=list(KERNELS),
)
def test_compiles_for_hopper(builder, static, registers, spilled, warpgroups):
    found = tl_runtime.compile_check(builder, **static)
    assert len(found["cubin"]) > 1000
    assert found["registers"] <= registers
    assert found["spills"] <= spilled
    assert found["shared"] <= tl_runtime.SMEM_LIMIT
    assert found["wgmma"] == warpgroups
