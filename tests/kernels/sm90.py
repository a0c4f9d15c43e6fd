"""Compile Triton kernels for sm_90 on a machine without a GPU and read what ptxas says about them.

Run as a program (never under TRITON_INTERPRET): ``python sm90.py [NAME]`` prints a JSON object, kernel name to report.
The launches are the shapes of the labs' real model: 512 + 64 wide bf16 rows, 128 wide index keys, top-k of 2048.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def report(kernel, types: dict[str, str], constexprs: dict, num_warps: int = 4, unaligned: tuple[str, ...] = ()) -> dict:
    """Registers, spills, shared memory and the widest global loads and stores of one launch.

    types: Triton types of the run-time arguments. Every argument but those in ``unaligned`` is a multiple of 16, as the
    launcher finds for pointers from an allocator and for strides of whole rows; without that there are no 16-byte accesses.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    signature = {n: "constexpr" if n in constexprs else types[n] for n in names}
    attrs = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n not in constexprs and n not in unaligned}
    source = ASTSource(
        fn=kernel, signature=signature, constexprs={(names.index(k),): v for k, v in constexprs.items()}, attrs=attrs
    )
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": num_warps})
    ptx = compiled.asm["ptx"]
    ptxas = os.environ.get("TRITON_PTXAS_PATH") or Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    with tempfile.TemporaryDirectory() as d:
        (Path(d) / "k.ptx").write_text(ptx)
        done = subprocess.run(
            [ptxas, "-v", "--gpu-name=sm_90a", f"{d}/k.ptx", "-o", f"{d}/k.cubin"], capture_output=True, text=True, check=True
        )

    def number(pattern: str) -> int:
        found = re.search(pattern, done.stderr)
        return int(found[1]) if found else 0

    return {
        "registers": number(r"Used (\d+) registers"),
        "spill_bytes": number(r"(\d+) bytes spill stores"),
        "shared_bytes": compiled.metadata.shared,
        "load_bytes": _widest(ptx, "ld.global"),
        "store_bytes": _widest(ptx, "st.global"),
    }


def _widest(ptx: str, op: str) -> int:
    """Bytes of the widest access of a kind: 16 where ptx says ``ld.global.v4.b32``."""
    found = re.findall(rf"{re.escape(op)}(?:\.[\w:]+)*?(?:\.v(\d))?\.[bsuf](\d+)", ptx)
    return max((int(v or 1) * int(bits) // 8 for v, bits in found), default=0)


def launches() -> dict[str, tuple]:
    """Every Triton kernel: ``name -> (kernel, types, constexprs, options)``."""
    from dcp_kernels.ckv_write import write_ckv_kernel
    from dcp_kernels.index_space import localize_page_table_kernel

    def ckv(kind: str, src: str, **extra) -> tuple:
        types = dict(kv_ptr=kind, nope_ptr=src, rope_ptr=src, loc_ptr="*i64", n="i32")
        types |= dict(kv_stride="i32", nope_stride="i32", rope_stride="i32", dcp_rank="i32")
        constexprs = dict(DN=512, DR=0, DCP_SIZE=8, BLOCK=256, ROWS=16, COLS=512, COLS_R=1) | extra
        return write_ckv_kernel, types, constexprs, dict(unaligned=("n", "dcp_rank"))

    return {
        "localize_page_table": (
            localize_page_table_kernel,
            dict(locs_ptr="*i64", rows_ptr="*i64", n="i32"),
            dict(DCP_RANK=3, DCP_SIZE=8, BLOCK=1024),
            {},
        ),
        "write_ckv_norope": ckv("*i16", "*i16"),
        "write_ckv_norope_single": ckv("*i16", "*i16", DCP_SIZE=1, BLOCK=32),
        "write_ckv_rope": ckv("*i16", "*i16", DR=64, COLS_R=64),
        "write_ckv_fp8": ckv("*fp8e4nv", "*bf16"),
    }


def main(names: list[str]) -> None:
    wanted = {n: v for n, v in launches().items() if not names or n in names}
    print(json.dumps({n: report(k, t, c, **o) for n, (k, t, c, o) in wanted.items()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
