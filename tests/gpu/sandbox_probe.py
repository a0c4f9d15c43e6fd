"""What an answer does on a GPU inside the walls: each stage, and where one fails, which allowance mends it.

    python tests/gpu/sandbox_probe.py [--json FILE] [--quick]

Without --quick it also leaves out each allowance of a GPU's child in turn, and names those that no stage needs. On a machine
without a GPU the stages run in CPU mode, which proves the script and nothing else. Exit status 1 if a stage fails.
"""

import argparse
import json
import os
import time

os.environ["DCPLAB_SANDBOX"] = ""

import torch

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.course.drawn import pack
from dcplab.course.model import Case
from dcplab.sandbox import pool
from dcplab.sandbox.walls import allowances

KERNEL = """
import torch, triton, triton.language as tl
@triton.jit
def double(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)
def probe():
    a = torch.arange(1000, device=DEVICE); b = torch.empty_like(a)
    double[(8,)](a, b, 1000, BLOCK=128)
    return int(b.sum())
"""
TILELANG = """
import tilelang, tilelang.language as T, torch
def build(n):
    @T.prim_func
    def main(a: T.Tensor((n,), "float32"), b: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                b[i] = a[i] * 2
    return main
def probe():
    kernel = tilelang.compile(build(64), out_idx=[1], target="cuda")
    return float(kernel(torch.ones(64, device=DEVICE)).sum())
"""
STAGES = {
    "context": "import torch\ndef probe(): return float(torch.ones(4, device=DEVICE).sum())",
    "torch": "import torch\ndef probe():\n    a = torch.randn(64, 64, device=DEVICE); b = (a @ a.T).half()\n"
    "    return [float(b.float().topk(3).values.sum()) * 0, int(a.sort().indices.max()), str(a.to(torch.float8_e4m3fn).dtype)]",
    "pinned": "import torch\ndef probe():\n    a = torch.ones(1 << 20)\n    a = a.pin_memory() if DEVICE == 'cuda' else a\n"
    "    return float(a.to(DEVICE, non_blocking=True).sum())",
    "triton": KERNEL,
    "tilelang": TILELANG,
}
# Tried one by one where a stage fails: the first that mends it is named.
MORE = [
    *(f"read={p}" for p in ("/etc", "/run", "/var", "/opt", "/dev", "/tmp", "/root", "/home", "/")),
    *(f"device={p}" for p in ("/dev/char", "/dev/infiniband", "/dev/tty", "/dev/fuse", "/dev/mem", "/dev/shm", "/dev")),
    *(f"write={p}" for p in ("/run", "/var", "/tmp", "/root", "/dev", "/proc", "/sys", "/")),
    *(f"call={name}" for name in (*allowances.REFUSED, *allowances.OTHERS)),
]


def tried(source: str, sandbox: str = "") -> tuple[bool, str, float]:
    os.environ["DCPLAB_SANDBOX"] = sandbox
    device = "cuda" if mode.current().name == "gpu" else "cpu"
    program = {"source": f"DEVICE = {device!r}\n{source}\n", "entry": "probe", "folder": None}
    began = time.perf_counter()
    ran = pool.run([program], [pack(Case(()))], mode.current().name, 120.0)
    record = next((r for r in ran.records if r.get("case") in (0, -1)), {})
    raised = record.get("raised")
    said = (
        f"{raised['type']}: {raised['message']}\n{raised['traceback']}"
        if raised
        else f"{ran.status} {ran.exit} {record.get('returned')}"
    )
    return raised is None and "returned" in record, said + ran.stderr[-1500:], time.perf_counter() - began


def mends(source: str) -> list[str]:
    """The pieces without which it works, then the allowances that mend it one by one."""
    pieces = [word for word in ("no-landlock", "no-seccomp", "no-landlock,no-seccomp") if tried(source, word)[0]]
    kinds = {"no-landlock": ("read", "device", "write"), "no-seccomp": ("call",)}
    wanted = {kind for word in pieces for kind in kinds.get(word, ())}
    return pieces + [word for word in MORE if word.split("=")[0] in wanted and tried(source, word)[0]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    here = mode.current()
    found: dict = {
        "mode": here.label,
        "versions": mode.versions(),
        "lacks": pool.lacks(here.name),
        "torch_cuda": torch.version.cuda,
    }
    print(json.dumps(found), flush=True)
    stages = {name: source for name, source in STAGES.items() if here.name == "gpu" or name != "tilelang"}
    for name, source in stages.items():
        ok, said, seconds = tried(source)
        bare, _, without = tried(source, "no-landlock,no-seccomp")
        found[name] = {"ok": ok, "seconds": round(seconds, 2), "without walls": [bare, round(without, 2)], "said": said[-3000:]}
        if not ok and bare:
            found[name]["mended by"] = mends(source)
        print(name, json.dumps(found[name]), flush=True)
    for part in ("1c", "1h", "3a", "5a"):
        os.environ["DCPLAB_SANDBOX"] = ""
        key = catalog.of_part(part).key(part)
        for sandbox in ("", "", "no-landlock,no-seccomp"):
            os.environ["DCPLAB_SANDBOX"] = sandbox
            result = checking.check(key, key.solution, seed=1)
            row = {"outcome": result.outcome, "seconds": round(result.elapsed_s, 2), "sandbox": sandbox}
            if result.outcome != "passed":
                row |= {"message": result.message, "detail": result.detail[-3000:]}
            found.setdefault(part, []).append(row)
            print(part, json.dumps(row), flush=True)
    if not args.quick and here.name == "gpu":
        gpu = allowances.GPU
        every = [f"read=-{p}" for p in gpu.read] + [f"device=-{p}" for p in gpu.devices] + [f"call=-{c}" for c in gpu.calls]
        every += [f"write=-{p}" for p in gpu.write]
        found["not needed"] = []
        for word in every:
            if all(tried(source, word)[0] for name, source in stages.items() if found[name]["ok"] and name != "tilelang"):
                found["not needed"].append(word.replace("=-", "="))
                print("not needed:", found["not needed"][-1], flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
    pool.shutdown()
    return int(not all(found[name]["ok"] for name in stages))


if __name__ == "__main__":
    raise SystemExit(main())
