"""TileLang kernels compiled for sm_90a on a machine without a GPU: what nvcc and the machine code say about registers.

nvcc comes with the extra ``test`` (the packages nvidia-cuda-nvcc and its headers), nvdisasm with Triton.
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tilelang
from dcp_kernels.tl_runtime import HOPPER
from tilelang import tvm
from tilelang.env import CUTLASS_INCLUDE_DIR, TILELANG_TEMPLATE_PATH

REGISTERS = 65_536  # of one multiprocessor, 32 bits each; one block of these kernels may take all of them
LANES = 128  # of a warpgroup


@dataclass(frozen=True)
class Compiled:
    registers: int  # a lane's at launch
    spilled: int  # bytes stored a lane
    shared: int  # bytes a block, static and dynamic
    wgmma: bool  # whether tensor cores are fed by warpgroup instructions
    roles: tuple[tuple[int, int], ...]  # of each warpgroup that asks for registers of its own: (granted, used) a lane
    ignored: bool  # whether ptxas dropped a setmaxnreg


def nvcc() -> str | None:
    """The test extra's nvcc, else the PATH's."""
    spec = importlib.util.find_spec("nvidia")
    folders = [str(Path(place) / "cu13" / "bin") for place in (spec.submodule_search_locations if spec else None) or ()]
    return shutil.which("nvcc", path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))


def lowered(builder, **static):
    """TileLang's artifact of ``builder(**static)`` for sm_90a; its ``kernel_source`` is CUDA C++."""
    target = tvm.target.Target({"kind": "cuda", "arch": HOPPER})
    with tvm.transform.PassContext(opt_level=3, config=getattr(builder, "pass_configs", None) or {}), target:
        return tilelang.lower(builder(**static), target=target)


def compiled(builder, **static) -> Compiled:
    artifact = lowered(builder, **static)
    source = artifact.kernel_source
    dynamic = [int(f.attrs.get("dyn_shared_memory_buf", 0)) for _, f in artifact.device_mod.functions.items() if f.attrs]
    fast = (getattr(builder, "pass_configs", None) or {}).get("tl.enable_fast_math")
    with tempfile.TemporaryDirectory() as folder:
        cu, cubin = Path(folder, "k.cu"), Path(folder, "k.cubin")
        cu.write_text(source)
        command = [nvcc(), "--cubin", "-O3", "-std=c++20", "-w", "-Xptxas", "-v", *(["--use_fast_math"] if fast else [])]
        command += [
            f"-gencode=arch=compute_{HOPPER[3:]},code={HOPPER}",
            "-I" + TILELANG_TEMPLATE_PATH,
            "-I" + CUTLASS_INCLUDE_DIR,
        ]
        done = subprocess.run([*command, "-o", str(cubin), str(cu)], capture_output=True, text=True)
        assert done.returncode == 0, f"nvcc refused the kernel: {done.stderr[-2000:]}"
        code = subprocess.run([nvdisasm(), "-c", str(cubin)], capture_output=True, text=True, check=True).stdout

    def most(pattern: str) -> int:
        return max((int(n) for n in re.findall(pattern, done.stderr)), default=0)

    return Compiled(
        registers=most(r"Used (\d+) registers"),
        spilled=most(r"(\d+) bytes spill stores"),
        shared=most(r"(\d+) bytes smem") + max(dynamic, default=0),
        wgmma="wgmma" in source,
        roles=roles(code),
        ignored="setmaxnreg" in done.stderr,
    )


@functools.cache
def nvdisasm() -> str:
    import triton

    return str(Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "nvdisasm")


GRANT = re.compile(r"USETMAXREG\.[\w.]+\s+(?:UP\d,\s*)?(0x[0-9a-f]+)")
TARGET = re.compile(r"`\(([\w.$]+)\)")


def roles(code: str) -> tuple[tuple[int, int], ...]:
    """For each USETMAXREG of nvdisasm's listing: the registers a lane it grants, and how many the code reached from it names.

    A listing puts what one role seldom does behind another role's code, so this follows the branches and not the lines.
    """
    lines = code.splitlines()
    places = {line[:-1]: at for at, line in enumerate(lines) if line.endswith(":")}
    return tuple(
        (int(found[1], 16), _named(lines, places, at + 1)) for at, line in enumerate(lines) if (found := GRANT.search(line))
    )


def _named(lines: list[str], places: dict[str, int], start: int) -> int:
    seen: set[int] = set()
    todo, highest = [start], -1
    while todo:
        at = todo.pop()
        while at < len(lines) and at not in seen and not GRANT.search(lines[at]):
            seen.add(at)
            words = lines[at].partition("*/")[2].split("/*")[0].split()
            highest = max([highest, *(int(n) for n in re.findall(r"\bR(\d+)\b", " ".join(words)))])
            todo += [places[name] for name in TARGET.findall(lines[at]) if name in places]
            if words and words[0].rstrip(";") in ("EXIT", "BRA", "RET.REL.NODEC"):  # without a predicate: no line follows it
                break
            at += 1
    return highest + 1
