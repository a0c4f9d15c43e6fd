"""Defines the smallest TileLang kernel that reads by index, and emits it with the compiler's guard and without it.

TileLang evaluates a kernel's annotations, so this module must not turn them into strings (no `from __future__ import
annotations`).
"""

import tilelang.language as T

GUARD_OFF = "tl.disable_safe_memory_legalize"


def gather(*, width=8):
    """Build ``out[i, j] = pool[ids[i], j]``. ``ids`` are rows of ``pool``; nothing in the source checks their bounds."""
    rows, n = T.dynamic("rows"), T.dynamic("n")

    @T.prim_func
    def read_rows(pool: T.Tensor((rows, width), "float32"), ids: T.Tensor((n,), "int32"), out: T.Tensor((n, width), "float32")):
        with T.Kernel(n, threads=32) as i:
            for j in T.Parallel(width):
                out[i, j] = pool[ids[i], j]

    return read_rows


def cuda_sources() -> list[str]:
    """Return the CUDA that TileLang emits for `gather`, guarded and unguarded. Needs no GPU and no nvcc."""
    import tilelang
    from tilelang import tvm

    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    made = []
    for config in ({}, {GUARD_OFF: True}):
        with tvm.transform.PassContext(opt_level=3, config=config), target:
            made.append(tilelang.lower(gather(), target=target, enable_host_codegen=False, enable_device_compile=False))
    return [one.kernel_source for one in made]
