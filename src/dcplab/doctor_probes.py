"""Holds the doctor's small programs. `python -m dcplab.doctor_probes NAME` prints a JSON object, ``{"ok": bool, "detail":
sentence}``.

Each runs in its own process: Triton decides at its import whether it interprets, so one process cannot try both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

# Worked by hand for rank 7 of 8: 7 = 0 * 8 + 7, 15 = 1 * 8 + 7, 2**40 + 7 = 2**37 * 8 + 7. The rest belong to other ranks, or
# are padding.
LOCS = [-1, 0, 7, 8, 15, 2**40 + 7]
ROWS = [-1, -1, 0, -1, 1, 2**37]


def triton_runs() -> str:
    """Localize LOCS: interpreted under TRITON_INTERPRET=1, else compiled for the GPU and run there."""
    import torch
    from dcp_kernels import runtime
    from dcp_kernels.index_space import localize_page_table

    device = "cpu" if runtime.INTERPRETED else "cuda"
    rows = localize_page_table(torch.tensor(LOCS, device=device), dcp_rank=7, dcp_size=8).tolist()
    if rows != ROWS:
        raise AssertionError(f"localized {LOCS} to {rows}, not to {ROWS}")
    where = "interpreted on the CPU" if runtime.INTERPRETED else f"compiled and run on {torch.cuda.get_device_name()}"
    return f"{where}, {len(LOCS)} locs right, 2**40 + 7 among them"


def triton_compiles() -> str:
    """Compile the same kernel to machine code for an H100 or H200. Needs no GPU and runs nothing."""
    import triton
    from dcp_kernels.index_space import localize_page_table_kernel
    from triton.backends.compiler import GPUTarget

    static = {"DCP_RANK": 7, "DCP_SIZE": 8, "BLOCK": 1024, "INTERLEAVE": 1}
    types = {"locs_ptr": "*i64", "rows_ptr": "*i64", "n": "i32"} | dict.fromkeys(static, "constexpr")
    source = triton.compiler.ASTSource(fn=localize_page_table_kernel, signature=types, constexprs=static)
    cubin = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
    return f"compiled for sm_90, {len(cubin)} bytes of machine code, not run"


def tilelang_runs() -> str:
    """Gather rows, with padding: compiled for the GPU if there is one, else for the C target, and run."""
    import tilelang.language as T
    import torch
    from dcp_kernels import tl_runtime

    from dcplab import mode

    def gather(*, n, width):
        @T.prim_func
        def main(pool: T.Tensor((n, width), "float32"), rows: T.Tensor((n,), "int32"), out: T.Tensor((n, width), "float32")):
            with T.Kernel(n, threads=32) as i:
                for j in T.Parallel(width):
                    out[i, j] = T.if_then_else(rows[i] >= 0, pool[rows[i], j], 0.0)

        return main

    device = torch.device("cuda" if mode.current().name == "gpu" else "cpu")
    pool = torch.arange(4 * 32, dtype=torch.float32, device=device).reshape(4, 32)
    out = torch.full_like(pool, 7.0)
    rows = torch.tensor([3, -1, 0, 3], dtype=torch.int32, device=device)
    tl_runtime.kernel(gather, device, n=4, width=32)(pool, rows, out)
    expected = torch.where(rows[:, None] >= 0, pool[rows.clamp(min=0).long()], 0.0)
    if not torch.equal(out, expected):
        raise AssertionError("gathered rows are wrong")
    return f"compiled and run {'on ' + torch.cuda.get_device_name() if device.type == 'cuda' else 'on the CPU through g++'}"


PROBES: dict[str, Callable[[], str]] = {probe.__name__: probe for probe in (triton_runs, triton_compiles, tilelang_runs)}


def main(name: str) -> None:
    try:
        answer = {"ok": True, "detail": PROBES[name]()}
    except Exception as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "no message")
        answer = {"ok": False, "detail": f"{type(error).__name__}: {first.strip()}"}
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
