"""Lab 04's demonstrations: two requests in one extend, three batches of prefixes, a mixed batch, a real gather, and real
kernels."""

from __future__ import annotations

import torch

from dcplab import mode, subprocess_call
from dcplab.demos import ragged_engine, ragged_ranks, server
from dcplab.demos.ragged_engine import NEXT, PROMPTS, TOY, RaggedRun
from dcplab.engine import index_spaces
from dcplab.engine.allocator import PagedAllocator
from dcplab.present import progress_line
from dcplab.present.display import Shown

NOT_GRADED = "Not run while the notebook is graded."
MOST_RANKS = 8
THEN = {"started": "they join", "joined": "they serve"}  # after each stage that ranks report: what they do next
BATCHES = ((8, 4), (5, 3), (5, 4))  # prefix lengths: a slide's, then two of a real server's
# Servers that meet the assert whose bound counts rows: (server, its defects).
ASSERTS = (
    ("extend gathers nothing; bound in rows", "extend,assert"),
    ("extend gathers; bound in rows", "assert"),
    ("extend gathers; bound in locs", "none"),
)


def two_requests() -> Shown:
    """Run requests A and B in one extend step on four servers, then show the half patch's first wrong operation, id by id.

    The servers: without the extend patch; with half of it (it gathers, but uses positions as they come); with that half and a
    merge over ranks; with all of it. Under the half patch only A is right.
    """
    half = ragged_engine.serve(ragged_engine.as_they_come)
    merged = ragged_engine.serve(ragged_engine.as_they_come, merge=True)
    servers = (
        ("no extend patch: own rows, row = loc", ragged_engine.serve(None, ["extend"])),
        ("half of it: gathers, ids as they come", half),
        ("the same, merged over ranks by LSE", merged),
        ("the whole patch", ragged_engine.serve(ragged_engine.ragged)),
    )
    lines = [f"[CPU, torch] D {TOY.dcp_size}, P {TOY.page_size}, top-k {TOY.topk}; two requests in one extend step", ""]
    lines += [f"{name}: ... {prompt.split(' ', 4)[-1]}  ->  {NEXT[name]}" for name, prompt in PROMPTS.items()]
    lines += ["", f"{'server':<40}{'A says':<24}B says"]
    lines += [f"{what:<40}{_said(run, 'A'):<24}{_said(run, 'B'):<24}".rstrip() for what, run in servers]
    lines += ["", "The first wrong operation of the half patch:", f"  {_first_misuse(half)}", "", *_looks(half)]
    shift = f"{merged.lse_shift:+.2f}"
    lines += [
        "",
        f"What the merge did to B: the same words, and an LSE of {shift}, log2({TOY.dcp_size}). All ranks read the same",
    ]
    lines += ["wrong row. A merge puts pieces of one context together; here no piece is missing."]
    return Shown("\n".join(lines))


def _said(run: RaggedRun, name: str) -> str:
    return f"{run.said[name]}{'' if run.said[name] == NEXT[name] else '  WRONG'}"


def _looks(run: RaggedRun) -> list[str]:
    """Make a table of a run's looks: the picked position, the id used, and the token that lies there."""
    lines = [f"{'layer':>5}  {'request':<8}{'picked':<14}{'id used':>8}  {'lies there':<22}{'its ragged index':>16}"]
    for look in run.looks:
        picked = f"{look.request}{look.position} {ragged_engine.word(run, look.request, look.position)}"
        if look.found is None:
            there = "nothing of this step"
        else:
            there = f"{look.found[0]}{look.found[1]} {ragged_engine.word(run, *look.found)}"
        wrong = "" if look.found == (look.request, look.position) else "  WRONG"
        lines.append(f"{look.layer:>5}  {look.request:<8}{picked:<14}{look.index:>8}  {there + wrong:<22}{look.wanted:>16}")
    return lines


def strided() -> Shown:
    """Compare ``[r::4]`` on the flat locs of a batch's prefixes with the rows that each rank must read.

    Three batches: prefixes 8 and 4 (right); 5 and 3 (wrong rows); 5 and 4 (wrong locs, but by luck the right rows).
    """
    dcp_size = page_size = 4
    lines = [f"[CPU, torch] D {dcp_size}, P {page_size}: what rank r reads of the prefixes of a batch", ""]
    for lens in BATCHES:
        allocator = PagedAllocator(64 * page_size, page_size, dcp_size)
        locs = torch.cat([allocator.locs(allocator.issue(allocator.pages_needed(0, n)) or (), 0, n) for n in lens])
        lines.append(f"prefixes {lens[0]} and {lens[1]}: locs {_ranges(locs.tolist(), lens)}")
        lines.append(f"{'rank':>6}  {'locs it owns':<16}{'rows':<12}{'[r::D] picks':<16}// D")
        for rank in range(dcp_size):
            owned = locs[index_spaces.owner_rank(locs, dcp_size) == rank]
            picked = locs[rank::dcp_size]
            want, got = index_spaces.local_row(owned, dcp_size).tolist(), index_spaces.local_row(picked, dcp_size).tolist()
            verdict = _verdict(owned.tolist() == picked.tolist(), want == got)
            cells = (_list(owned), _list(want), _list(picked), _list(got))
            lines.append(f"{rank:>6}  {cells[0]:<16}{cells[1]:<12}{cells[2]:<16}{cells[3]:<12}{verdict}".rstrip())
        lines.append("")
    lines += [
        "5 and 4: B begins at place 5 of the flat list, and 5 % 4 = 1: from there on a rank picks a neighbour's loc. But B's 4",
        "tokens are whole groups of 4 locs that share a row, and loc // 4 is that row whichever of them it was. The rank reads",
        "that row of its own pool, which is its own token. With 5 and 3 the last group has a hole: rank 0 loses B's row, and",
        "rank 3 sends one that holds no token of this batch.",
    ]
    return Shown("\n".join(lines))


def _verdict(same_locs: bool, same_rows: bool) -> str:
    if same_locs:
        return "right"
    return "wrong locs, right rows" if same_rows else "WRONG rows"


def _list(values) -> str:
    return " ".join(str(int(v)) for v in values) or "-"


def _ranges(locs: list[int], lens: tuple[int, ...]) -> str:
    found, at = [], 0
    for n in lens:
        found.append(f"{locs[at]}..{locs[at + n - 1]}")
        at += n
    return " and ".join(found)


def mixed() -> Shown:
    """Run a mixed batch, in which A decodes while B's prompt is extended: once with PAGED ids for a gathered buffer, as #36989
    left it, and once with RAGGED ids.

    Then show the capacity assert, which only a server that gathers and uses RAGGED ids reaches.
    """
    left, right = (ragged_engine.serve_mixed(ids) for ids in (ragged_engine.residue, ragged_engine.ragged))
    want = {"A": "old bridge . where", "B": "grey cloud all day"}
    lines = [f"[CPU, torch] D {TOY.dcp_size}, P {TOY.page_size}, top-k {TOY.topk}; A decodes while B's prompt is extended", ""]
    lines.append(f"{'ids of a mixed batch':<30}{'A says':<30}B says")
    for what, run in (("PAGED, what #36989 left", left), ("RAGGED", right)):
        cells = [f"{run.said[n]}{'' if run.said[n] == want[n] else '  WRONG'}" for n in want]
        lines.append(f"{what:<30}{cells[0]:<30}{cells[1]:<30}".rstrip())
    lines += ["", "The first wrong operation:", f"  {_first_misuse(left)}", "", *_looks(left), ""]
    lines += [
        "The capacity assert: all locs of an extend's requests, held against a bound. It stands in the branch that gathers.",
        "",
    ]
    lines.append(f"{'server':<50}verdict")
    for what, defects in ASSERTS:
        out = server.replay("above", defects).outcome
        lines.append(f"{what:<50}{out.verdict}")
        lines += [f"    {out.why}"] if out.why else []
    return Shown("\n".join(lines))


def over_gloo(ranks: int = 4) -> Shown:
    """Run the gather of two extend steps in one process, in ``ranks`` processes over gloo, and over NCCL where there are
    several GPUs.

    Shows whether all of them attended to the same bytes, and the bytes sent beside the bytes that top-k needed.
    """
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    if isinstance(ranks, bool) or not isinstance(ranks, int) or not 2 <= ranks <= MOST_RANKS:
        return Shown(f"over_gloo: ranks must be a whole number from 2 to {MOST_RANKS}, not {ranks!r}.")
    lines = [f"[CPU, torch] {ranks} ranks, each a process of its own, over gloo on this machine", ""]
    lines += _gathered("gloo", ranks, ranks, "cpu")
    gpus = torch.cuda.device_count() if mode.current().name == "gpu" else 0
    processes = max((n for n in range(1, gpus + 1) if ranks % n == 0), default=0)
    if processes > 1:
        lines += ["", f"[{mode.current().label}] the same {ranks} ranks in {processes} processes, a GPU each, over NCCL", ""]
        lines += _gathered("nccl", ranks, processes, "cuda")
    else:
        have = "there is none" if not gpus else f"there {'is' if gpus == 1 else 'are'} {gpus}"
        lines += ["", f"NCCL was not run: it takes two GPUs or more, in a number that divides {ranks}, and {have} here."]
    return Shown("\n".join(lines))


def _gathered(kind: str, dcp_size: int, processes: int, device: str) -> list[str]:
    """Run the ranks in one way, compare with all ranks in this process, and return the result as lines."""
    done = subprocess_call.call("dcplab.demos.ragged_ranks", "alone", {"dcp_size": dcp_size, "device": device})
    if (alone := done["value"]) is None:
        return [subprocess_call.told(done)]
    try:
        with progress_line.line(f"stages over {kind}", 3) as say:
            say(f"{processes} processes start", 1)

            def told(stage: str, count: int) -> None:
                if count == processes and stage in THEN:
                    say(THEN[stage], 1)

            found = ragged_ranks.ranks(kind, dcp_size, processes, told)
    except ragged_ranks.Failed as error:
        return [f"It did not run: {error}."]
    same = sum(alone["workspace"][rank] == digest for one in found for rank, digest in one["workspace"].items())
    lines = [f"workspaces equal to those of one process, byte for byte: {same} of {dcp_size} ranks"]
    lines += [f"answers right: {'all' if all(one['right'] for one in found) else 'NOT ALL'}", ""]
    lines.append(f"{'prefixes':<12}{'new tokens':<12}{'received by a process':>22}{'on its sockets':>16}{'top-k needed':>14}")
    for steps in zip(*(one["gathers"] for one in found), strict=True):
        step = max(steps, key=lambda s: s["needed"])
        pair = [" + ".join(map(str, step[key])) for key in ("prefixes", "extends")]
        wire = "not counted" if kind != "gloo" or step["on_sockets"] is None else f"{step['on_sockets']:,}"
        share = f"{step['needed']:,}"
        cells = f"{pair[0]:<12}{pair[1]:<12}{step['received']:>22,}{wire:>16}{share:>14}"
        lines.append(f"{cells}  {step['needed'] / step['received']:.0%}")
    return [
        *lines,
        "",
        "Bytes of one layer. Received: D shards without one's own, padding included. Needed: the prefix rows that some new",
        "token's top-k chose and that the process did not have, of the process that needed most.",
    ]


def real_extend() -> Shown:
    """Run Triton's ragged assemble and TileLang's sparse extend over the workspace, in a new process, against a dense oracle.

    The oracle computes in float64 and uses no workspace. A second run uses ids that forget the offset.
    """
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    gpu = mode.current().name == "gpu"
    env = {"TRITON_INTERPRET": None if gpu else "1"}
    done = subprocess_call.call("dcplab.demos.ragged_kernels", "extend", {"device": "cuda" if gpu else "cpu"}, env)
    if done["value"] is None:
        return Shown(subprocess_call.told(done))
    return Shown("\n".join([f"[{mode.current().label}] {done['value'][0]}", *done["value"][1:]]))


def _first_misuse(run: RaggedRun) -> str:
    found = run.engine.watcher.first_misuse
    return found.sentence() if found else "none"
