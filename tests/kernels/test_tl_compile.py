"""Every TileLang kernel, as the public functions launch it on a Hopper GPU, compiles for sm_90a on a machine without one."""

import itertools
import re

import hopper
import pytest
from dcp_kernels import tl_indexer, tl_runtime, tl_sparse, tl_topk, tl_topk_sampled

pytestmark = pytest.mark.slow  # nvcc takes ten seconds for a kernel

needs_nvcc = pytest.mark.skipif(hopper.nvcc() is None, reason="needs nvcc, which the extra `test` brings; it needs no GPU")

# (builder, static parameters, most registers, most bytes spilled, are tensor cores fed by warpgroup instructions)
KERNELS = {
    "attention 512+64, 128 heads": (tl_sparse.specialized, dict(heads=128, rope=64), 128, 16, True),
    "attention 512+0, 16 heads, a split": (tl_sparse.specialized, dict(heads=16, rope=0, out_dtype="float32"), 128, 16, True),
    "attention in tiles": (tl_sparse.tile, dict(heads=16, rope=64, dtype="bfloat16"), 255, 64, False),
    "combine": (tl_sparse.combine, dict(heads=128, dtype="bfloat16"), 64, 0, False),
    "indexer, paged": (tl_indexer.paged_specialized, dict(heads=64), 128, 0, True),
    "indexer, paged in tiles": (tl_indexer.paged, dict(heads=32), 128, 0, True),
    "indexer, ragged fp8": (tl_indexer.ragged_specialized, dict(heads=64, **tl_indexer.SPECIALIZED[64]), 168, 0, True),
    "indexer, ragged bf16": (
        tl_indexer.ragged_specialized,
        dict(heads=64, dtype="bfloat16", **tl_indexer.SPECIALIZED[64]),
        168,
        0,
        True,
    ),
    "indexer, ragged in tiles": (tl_indexer.ragged, dict(heads=16), 128, 0, True),
    # 1,024 lanes leave 64 registers a lane.
    "top-k, few rows": (tl_topk.select, dict(topk=2048), 64, 64, False),
    "top-k, many rows": (tl_topk.select, dict(topk=2048, lanes=256, each=16, copies=4), 128, 0, False),
    # Three programs of 512 lanes a processor leave 42; what spills was measured to cost less than a program fewer.
    "top-k of long rows, many": (
        tl_topk_sampled.build,
        dict(kind="rows", topk=2048, shape=tl_topk_sampled.Shape(512, 8, 4, 160, 3, 4)),
        42,
        256,
        False,
    ),
    "top-k of long rows, slices": (
        tl_topk_sampled.build,
        dict(kind="slices", topk=2048, shape=tl_topk_sampled.Shape(1024, 4, 8, 160, wide=4)),
        64,
        0,
        False,
    ),
    "top-k of long rows, join": (
        tl_topk_sampled.build,
        dict(kind="join", topk=2048, shape=tl_topk_sampled.Shape(1024, 4, 8, 256)),
        64,
        192,
        False,
    ),
}


# Kernels with roles: registers a lane that each warpgroup asks for.
ROLES = {
    "attention 512+64, 128 heads": [72, 104, 168, 168],
    "attention 512+0, 16 heads, a split": [72, 104, 168, 168],
    "indexer, ragged fp8": [24, 152, 152, 152],
    "indexer, ragged bf16": [24, 152, 152, 152],
}


@needs_nvcc
@pytest.mark.parametrize("name", list(KERNELS))
def test_compiles_for_hopper(name):
    builder, static, registers, spilled, warpgroups = KERNELS[name]
    found = hopper.compiled(builder, **static)
    assert found.registers <= registers
    assert found.spilled <= spilled
    assert found.shared <= tl_runtime.SMEM_LIMIT
    assert found.wgmma == warpgroups
    granted = [granted for granted, _ in found.roles]
    assert sorted(granted) == ROLES.get(name, []) and not found.ignored
    assert sum(granted) * hopper.LANES <= hopper.REGISTERS, "the warpgroups of a block ask for more than there is"
    assert all(used <= granted for granted, used in found.roles), found.roles


@pytest.mark.parametrize(
    "builder, static, buffers",
    [
        (tl_sparse.specialized, dict(heads=128, rope=64), ["kv", "indices", "out"]),
        (tl_sparse.combine, dict(heads=128, dtype="bfloat16"), ["parts", "out"]),
    ],
    ids=["attention", "combine"],
)
def test_addresses_are_64_bits_wide(builder, static, buffers):
    """Every subscript of a tensor that can pass 2^31 elements is computed in int64."""
    source = hopper.lowered(builder, **static).kernel_source
    for name in buffers:
        subscripts = re.findall(rf"\b{name}\)?\[(.*)", source) + re.findall(rf"\b{name} \+ (.*)", source)
        assert subscripts, f"no access to {name} found"
        assert all("int64_t" in s for s in subscripts), name


@pytest.mark.parametrize("name", [name for name in KERNELS if name.startswith("top-k of long rows") and "slices" not in name])
def test_no_two_buffers_share_memory_where_the_compiler_adds_no_barriers(name):
    """``tl_topk_sampled`` waits where its own text says so; a buffer laid over another would need more than that.

    In ``slices`` the list lies over the histogram, with the barriers of ``locate`` and ``collect`` between the two.
    """
    builder, static, *_ = KERNELS[name]
    source = hopper.lowered(builder, **static).kernel_source
    offsets = re.findall(r"void\* (\w+) = .*buf_dyn_shmem \+ (\d+)", source)
    assert len(offsets) > 5, "no shared buffers found"
    assert len({offset for _, offset in offsets}) == len(offsets), offsets
    shape = static["shape"]
    sizes = dict.fromkeys(("keys", "cols"), 4 * tl_topk_sampled.SEGMENTS * shape.levels) | {"tmp": 4 * static["topk"]}
    spans = sorted((int(offset), int(offset) + sizes.get(buffer, 4)) for buffer, offset in offsets)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans)), offsets
