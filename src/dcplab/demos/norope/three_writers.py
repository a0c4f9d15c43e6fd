"""Runs the real kernels from write to merge: three writers, sparse decode on every rank, the merge, against float64."""

from __future__ import annotations

from dcplab import mode, subprocess_call
from dcplab.demos.three_faces import NOT_GRADED
from dcplab.present.display import Shown

MODULE = "dcplab.demos.norope.three_writers_run"
CPU = {"device": "cpu", "dcp_size": 4, "tokens": 300, "queries": 2, "topk": 96}
GPU = {"device": "cuda", "dcp_size": 8, "tokens": 20_000, "queries": 8, "topk": 2048}


class Decoded(Shown):
    """``results``: one dict a writer, from `three_writers_run.every_writer`."""

    def __init__(self, results: list[dict], said: str):
        super().__init__(said)
        self.results = results


def real_decode() -> Decoded:
    """Write one request by the norope, the rope and the raw fp8 writer, attend on every rank, merge, and compare with an
    oracle.

    The oracle knows no ranks. A CPU runs small shapes in float32, Triton interpreted and TileLang by its C target.
    """
    if subprocess_call.while_grading():
        return Decoded([], NOT_GRADED)
    gpu = mode.current().name == "gpu"
    shape = GPU if gpu else CPU
    done = subprocess_call.call(MODULE, "every_writer", shape, {"TRITON_INTERPRET": None if gpu else "1"})
    if done["value"] is None:
        return Decoded([], subprocess_call.told(done))
    results = done["value"]
    how = "compiled" if gpu else "Triton interpreted, TileLang by its C target"
    lines = [
        f"[{mode.current().label}] {how}; D {shape['dcp_size']}, {shape['tokens']:,} tokens, {shape['queries']} queries of 16 "
        f"heads, top-k {shape['topk']:,}",
        "",
        f"{'writer':<8}{'c-KV row':<24}{'tokens stored, by rank':<26}{'error':>10}{'of':>7}{'LSE error':>11}",
    ]
    rows = {"norope": f"512 {results[0]['dtype']}", "rope": f"512 + 64 {results[0]['dtype']}", "fp8": "512 float8_e4m3fn"}
    for r in results:
        stored = " ".join(map(str, r["stored"]))
        lines.append(
            f"{r['writer']:<8}{rows[r['writer']]:<24}{stored:<26}{r['error']:>10.1e}{r['largest']:>7.2f}{r['lse_error']:>11.1e}"
        )
    lines += ["", "keys of each rank, by query (norope)"]
    for rank, counts in enumerate(results[0]["counts"]):
        empty = [t for t, yes in enumerate(results[0]["empty"][rank]) if yes]
        note = f"   query {empty[-1]}: no key, LSE -inf, weighs zero" if empty else ""
        lines.append(f"rank {rank}  {' '.join(f'{c:>4}' for c in counts)}{note}")
    lines += ["", "The attention kernel reads no fp8: the fp8 pool is widened before it, which is exact."]
    return Decoded(results, "\n".join(lines))
