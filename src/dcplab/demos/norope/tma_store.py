"""Shows which writer the wrapper may choose: a predicate that is part of the contract, and the bytes that change without it."""

from __future__ import annotations

from dcplab import mode, subprocess_call
from dcplab.demos.three_faces import NOT_GRADED
from dcplab.present.display import Shown

MODULE = "dcplab.demos.norope.tma_store_run"
TMA_ALIGN = 16  # bytes: a bulk store moves multiples of this
# (compute capability, bytes of a row, dcp_size)
SERVERS = (((8, 0), 1024, 1), ((9, 0), 1032, 1), ((9, 0), 1024, 1), ((9, 0), 1024, 4))


def fits_bulk(capability: tuple[int, int], row_bytes: int) -> bool:
    """Return True if a bulk store can move such rows: the GPU has TMA, and a row is whole multiples of 16 bytes."""
    return capability >= (9, 0) and row_bytes % TMA_ALIGN == 0


def may_use_bulk(capability: tuple[int, int], row_bytes: int, dcp_size: int) -> bool:
    """Return True if the wrapper may choose the bulk store. It writes every token to row = loc, so only an unsharded pool may
    use it."""
    return fits_bulk(capability, row_bytes) and dcp_size == 1


def tma() -> Shown:
    """Show four servers and the writer that each should get; then run the bulk store on the sharded one, rank by rank.

    The real kernel runs in a new process, interpreted on a CPU.
    """
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    gpu = mode.current().name == "gpu"
    env = {"TRITON_INTERPRET": None if gpu else "1"}
    done = subprocess_call.call(MODULE, "every_rank", {"device": "cuda" if gpu else "cpu"}, env)
    if done["value"] is None:
        return Shown(subprocess_call.told(done))
    lines = [
        f"[{mode.current().label}]",
        "",
        f"{'GPU':<8}{'row':>8}{'D':>4}  {'may':<8}{'without the clause on D':<24}".rstrip(),
    ]
    for capability, row_bytes, d in SERVERS:
        may, could = (_name(yes) for yes in (may_use_bulk(capability, row_bytes, d), fits_bulk(capability, row_bytes)))
        note = "" if may == could else "  <- wrong"
        lines.append(f"{'sm_{}{}'.format(*capability):<8}{row_bytes:>6} B{d:>4}  {may:<8}{could}{note}")
    lines += ["", "D 4, P 4, 24 rows of 1,024 bytes a rank: the bulk store writes the step's locs 16 to 31", ""]
    head = f"{'rank':<6}{'own rows not written':<22}{'rows overwritten':<18}{'whose locs':<12}"
    lines.append(f"{head}{'past the pool':<15}{'bytes wrong':>11}")
    for rank, r in enumerate(done["value"]):
        lines.append(
            f"{rank:<6}{_span(r['lost']):<22}{_span(r['hurt']):<18}{_span(r['belong']):<12}"
            f"{str(r['dropped']) + ' dropped':<15}{r['bytes']:>11,}"
        )
    if not gpu:
        made = subprocess_call.call(MODULE, "instructions", {}, {"TRITON_INTERPRET": None})["value"]
        lines += ["", "The same kernel as Triton compiles it for sm_90, not run: " + (", ".join(made or []) or "not compiled")]
    return Shown("\n".join(lines))


def _span(rows: list[int]) -> str:
    return f"{rows[0]} to {rows[-1]}" if rows else "none"


def _name(bulk: bool) -> str:
    return "bulk" if bulk else "Triton"
