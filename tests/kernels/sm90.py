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
    from dcp_kernels.index_k import read_index_k_kernel, write_index_k_kernel
    from dcp_kernels.index_space import localize_page_table_kernel
    from dcp_kernels.lse_merge import merge_lse_kernel
    from dcp_kernels.ragged import assemble_ragged_kernel, cumulative_lengths_kernel
    from dcp_kernels.relayout import relayout_rows_kernel
    from dcp_kernels.rows import gather_rows_kernel, scatter_rows_kernel
    from dcp_kernels.topk_transform import localize_topk_kernel, topk_to_paged_kernel, topk_to_ragged_kernel

    def ckv(kind: str, src: str, **extra) -> tuple:
        types = dict(kv_ptr=kind, nope_ptr=src, rope_ptr=src, loc_ptr="*i64", n="i32")
        types |= dict(kv_stride="i32", nope_stride="i32", rope_stride="i32", dcp_rank="i32")
        constexprs = dict(DN=512, DR=0, DCP_SIZE=8, BLOCK=128, ROWS=16, COLS=512, COLS_R=1, INTERLEAVE=1) | extra
        return write_ckv_kernel, types, constexprs, dict(unaligned=("n", "dcp_rank"), num_warps=8)

    def of(kernel, pointers: str, scalars: str, unaligned: str = "", num_warps: int = 4, **constexprs) -> tuple:
        types = dict(p.split(":") for p in pointers.split()) | dict.fromkeys(scalars.split(), "i32")
        return kernel, types, constexprs, dict(unaligned=tuple(unaligned.split()), num_warps=num_warps)

    pages = "buf_ptr:*u8 buf_f32_ptr:*fp32 key_ptr:*u8 scale_ptr:*fp32 loc_ptr:*i64"
    selected = "pos_ptr:*i32 req_ptr:*i64 out_ptr:*i32"
    merge = "rows heads outs_d outs_t outs_h lses_d lses_t lses_h"
    return {
        "localize_page_table": of(
            localize_page_table_kernel,
            "locs_ptr:*i64 rows_ptr:*i64",
            "n",
            "n",
            DCP_RANK=3,
            DCP_SIZE=8,
            BLOCK=1024,
            INTERLEAVE=1,
        ),
        "write_ckv_norope": ckv("*i16", "*i16"),
        "write_ckv_norope_single": ckv("*i16", "*i16", DCP_SIZE=1, BLOCK=16),
        "write_ckv_rope": ckv("*i16", "*i16", DR=64, COLS_R=64),
        "write_ckv_fp8": ckv("*fp8e4nv", "*bf16"),
        "write_index_k": of(write_index_k_kernel, pages, "n page_stride key_stride", "n", PAGE_SIZE=64, DIM=128, ROWS=64),
        "read_index_k": of(read_index_k_kernel, pages, "n page_stride", "n", PAGE_SIZE=64, DIM=128, ROWS=64),
        "topk_to_paged": of(
            topk_to_paged_kernel, selected + " table_ptr:*i32", "rows k pos_stride table_stride", "rows", ROWS=16, COLS=256
        ),
        "topk_to_ragged": of(topk_to_ragged_kernel, selected + " cu_ptr:*i64", "rows k pos_stride", "rows", ROWS=16, COLS=256),
        "localize_topk": of(
            localize_topk_kernel,
            "loc_ptr:*i64 row_ptr:*i32 count_ptr:*i32",
            "queries k loc_stride dcp_rank",
            "queries dcp_rank",
            DCP_SIZE=8,
            ROWS=1,
            COLS=2048,
            INTERLEAVE=1,
        ),
        "merge_lse": of(
            merge_lse_kernel,
            "outs_ptr:*bf16 lses_ptr:*fp32 out_ptr:*fp32 lse_ptr:*fp32",
            merge,
            "rows heads",
            num_warps=2,
            D=8,
            V=512,
            ROWS=2,
            COLS=512,
        ),
        "assemble_ragged": of(
            assemble_ragged_kernel,
            "shards_ptr:*i16 extend_ptr:*i16 out_ptr:*i16 cu_ptr:*i64 start_ptr:*i64",
            "total requests steps shard_stride row_stride extend_stride",
            "total requests steps",
            V=576,
            DCP_SIZE=8,
            ROWS=8,
            COLS=1024,
            INTERLEAVE=1,
        ),
        "cumulative_lengths": of(
            cumulative_lengths_kernel,
            "prefix_ptr:*i64 start_ptr:*i64 extend_ptr:*i64 cu_ptr:*i64",
            "requests",
            "requests",
            DCP_SIZE=8,
            BLOCK=16,
            INTERLEAVE=1,
        ),
        "gather_rows": of(
            gather_rows_kernel,
            "pool_ptr:*i16 rows_ptr:*i64 out_ptr:*i16",
            "n pool_stride out_stride",
            "n",
            V=576,
            ROWS=8,
            COLS=1024,
        ),
        "relayout": of(
            relayout_rows_kernel,
            "dst_ptr:*i16 src_ptr:*i16",
            "first_row n further src_rank dst_rank dst_stride src_stride",
            "first_row n further src_rank dst_rank",
            SRC_SIZE=2,
            SRC_INTERLEAVE=1,
            DST_SIZE=8,
            DST_INTERLEAVE=64,
            V=576,
            ROWS=8,
            COLS=1024,
        ),
        "scatter_rows": of(
            scatter_rows_kernel,
            "pool_ptr:*i16 rows_ptr:*i64 saved_ptr:*i16",
            "n pool_stride saved_stride",
            "n",
            V=576,
            ROWS=8,
            COLS=1024,
        ),
    }


def main(names: list[str]) -> None:
    wanted = {n: v for n, v in launches().items() if not names or n in names}
    print(json.dumps({n: report(k, t, c, **o) for n, (k, t, c, o) in wanted.items()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
