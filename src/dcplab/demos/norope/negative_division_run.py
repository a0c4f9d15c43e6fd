"""Runs two kernels that only divide: ``%`` and ``//`` of a negative number in Triton and in TileLang. Runs in a child.

TileLang evaluates a kernel's annotations, so this module must not turn them into strings (no `from __future__ import
annotations`).
"""

import re

import tilelang.language as T
import torch
import triton
import triton.language as tl

VALUES = (-1, 13)  # padding, and a loc to compare with


@triton.jit
def divide_kernel(x_ptr, out_ptr, n, D: tl.constexpr, BLOCK: tl.constexpr):
    """Compute ``out[i] = (x[i] % D, x[i] // D)`` of int64 ``x [n]``."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + 2 * i, x % D, mask=i < n)
    tl.store(out_ptr + 2 * i + 1, x // D, mask=i < n)


def divide(*, d=8):
    """Build the same kernel in TileLang, one program a value."""
    n = T.dynamic("n")

    @T.prim_func
    def divide_values(x: T.Tensor((n,), "int64"), out: T.Tensor((n, 2), "int64")):
        with T.Kernel(n, threads=32) as i:
            for j in T.Parallel(2):
                out[i, j] = T.if_then_else(j == 0, x[i] % d, x[i] // d)

    return divide_values


def by_triton(device: str, sizes: list[int]) -> list[list[list[int]]]:
    """Return [remainder, quotient] of each of VALUES for each ``dcp_size``, by this process's Triton."""
    x = torch.tensor(VALUES, device=device)
    found = []
    for d in sizes:
        out = torch.zeros(len(VALUES), 2, dtype=torch.int64, device=device)
        divide_kernel[(1,)](x, out, len(VALUES), D=d, BLOCK=16)
        found.append(out.tolist())
    return found


def by_tilelang(device: str, sizes: list[int]) -> list[list[list[int]]]:
    """Return the same by TileLang: its C target on a CPU, CUDA on a GPU."""
    from dcp_kernels import tl_runtime

    x = torch.tensor(VALUES, device=device)
    found = []
    for d in sizes:
        out = torch.zeros(len(VALUES), 2, dtype=torch.int64, device=device)
        tl_runtime.kernel(divide, x.device, d=d)(x, out)
        found.append(out.tolist())
    return found


def by_torch(device: str, sizes: list[int]) -> list[list[list[int]]]:
    """Return the same by torch."""
    x = torch.tensor(VALUES, device=device)
    return [torch.stack([x % d, x // d], 1).tolist() for d in sizes]


def not_interpreted(device: str, sizes: list[int]) -> dict:
    """Run everything that a process with a compiling Triton can run.

    Keys: ``found`` (way -> result as in `by_triton`), ``Triton`` (result of `compiled`), ``TileLang`` (result of `emitted`).
    """
    found = {f"torch, {device}": by_torch(device, sizes)}
    if device == "cuda":
        found["Triton, compiled"] = by_triton(device, sizes)
    found["TileLang, CUDA" if device == "cuda" else "TileLang, C target"] = by_tilelang(device, sizes)
    return {"found": found, "Triton": compiled(sizes[0]), "TileLang": emitted(sizes[0])}


def compiled(d: int) -> list[str]:
    """Return the operations that divide in the Triton kernel, compiled for sm_90 and not run. MLIR defines their meaning."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = divide_kernel.arg_names
    types = {"x_ptr": "*i64", "out_ptr": "*i64", "n": "i32"}
    consts = {"D": d, "BLOCK": 16}
    source = ASTSource(
        fn=divide_kernel,
        signature={n: types.get(n, "constexpr") for n in names},
        constexprs={(names.index(k),): v for k, v in consts.items()},
    )
    ttir = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]
    return sorted(set(re.findall(r"arith\.(?:rem|div)\w+", ttir)))


def emitted(d: int) -> list[str]:
    """Return the division operators, each with its divisor, in the CUDA that TileLang emits for sm_90a. Nothing is run."""
    import tilelang
    from tilelang import tvm

    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    with tvm.transform.PassContext(opt_level=3), target:
        made = tilelang.lower(divide(d=d), target=target, enable_host_codegen=False, enable_device_compile=False)
    return [f"{sign} {number}" for sign, number in re.findall(r"(&|>>|%|/) \(int64_t\)(\d+)", made.kernel_source)]
