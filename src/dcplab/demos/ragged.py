"""Lab 04's demonstrations: two requests in one extend, three batches of prefixes, a mixed batch, a real gather, and real
kernels."""

from __future__ import annotations

import torch

from dcplab import mode, subprocess_call
from dcplab.course.model import Table
from dcplab.demos import ragged_engine, ragged_ranks, server
from dcplab.demos.ragged_engine import NEXT, PROMPTS, TOY, RaggedRun
from dcplab.engine import index_spaces, world
from dcplab.engine.allocator import PagedAllocator
from dcplab.errors import CourseError
from dcplab.present import progress_line
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Pieces, table

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
    ask = [f"{name}: ... {prompt.split(' ', 4)[-1]}  ->  {NEXT[name]}" for name, prompt in PROMPTS.items()]
    return Pieces(
        f"[CPU, torch] D {TOY.dcp_size}, P {TOY.page_size}, top-k {TOY.topk}; two requests in one extend step",
        *ask,
        table(("server", "A says", "B says"), [(what, _said(run, "A"), _said(run, "B")) for what, run in servers]),
        f"The first wrong operation of the half patch: {_first_misuse(half)}",
        _looks(half),
        f"What the merge did to B: the same words, and an LSE of {merged.lse_shift:+.2f}, log2({TOY.dcp_size}). All ranks read "
        "the same wrong row. A merge puts pieces of one context together; here no piece is missing.",
    )


def _said(run: RaggedRun, name: str) -> str:
    return f"{run.said[name]}{'' if run.said[name] == NEXT[name] else '  WRONG'}"


def _looks(run: RaggedRun) -> Table:
    """Make a table of a run's looks: the picked position, the id used, and the token that lies there."""
    rows = []
    for look in run.looks:
        picked = f"{look.request}{look.position} {ragged_engine.word(run, look.request, look.position)}"
        if look.found is None:
            there = "nothing of this step"
        else:
            there = f"{look.found[0]}{look.found[1]} {ragged_engine.word(run, *look.found)}"
        wrong = "" if look.found == (look.request, look.position) else "  WRONG"
        rows.append((look.layer, look.request, picked, look.index, there + wrong, look.wanted))
    return table(("layer", "request", "picked", "id used", "lies there", "its ragged index"), rows)


def strided() -> Shown:
    """Compare ``[r::4]`` on the flat locs of a batch's prefixes with the rows that each rank must read.

    Three batches: prefixes 8 and 4 (right); 5 and 3 (wrong rows); 5 and 4 (wrong locs, but by luck the right rows).
    """
    dcp_size = page_size = 4
    tables = []
    for lens in BATCHES:
        allocator = PagedAllocator(64 * page_size, page_size, dcp_size)
        locs = torch.cat([allocator.locs(allocator.issue(allocator.pages_needed(0, n)) or (), 0, n) for n in lens])
        rows = []
        for rank in range(dcp_size):
            owned = locs[index_spaces.owner_rank(locs, dcp_size) == rank]
            picked = locs[rank::dcp_size]
            want, got = index_spaces.local_row(owned, dcp_size).tolist(), index_spaces.local_row(picked, dcp_size).tolist()
            verdict = _verdict(owned.tolist() == picked.tolist(), want == got)
            rows.append((rank, _list(owned), _list(want), _list(picked), _list(got), verdict))
        caption = f"prefixes {lens[0]} and {lens[1]}: locs {_ranges(locs.tolist(), lens)}"
        tables.append(table(("rank", "locs it owns", "rows", "[r::D] picks", "// D", ""), rows, caption))
    return Pieces(
        f"[CPU, torch] D {dcp_size}, P {page_size}: what rank r reads of the prefixes of a batch",
        *tables,
        "5 and 4: B begins at place 5 of the flat list, and 5 % 4 = 1: from there on a rank picks a neighbour's loc. But B's 4 "
        "tokens are whole groups of 4 locs that share a row, and loc // 4 is that row whichever of them it was. The rank reads "
        "that row of its own pool, which is its own token. With 5 and 3 the last group has a hole: rank 0 loses B's row, and "
        "rank 3 sends one that holds no token of this batch.",
    )


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
    said = [
        (what, *(f"{run.said[name]}{'' if run.said[name] == right_words else '  WRONG'}" for name, right_words in want.items()))
        for what, run in (("PAGED, what #36989 left", left), ("RAGGED", right))
    ]
    met = [(what, out.verdict, out.why or "") for what, out in ((w, server.replay("above", d).outcome) for w, d in ASSERTS)]
    return Pieces(
        f"[CPU, torch] D {TOY.dcp_size}, P {TOY.page_size}, top-k {TOY.topk}; A decodes while B's prompt is extended",
        table(("ids of a mixed batch", "A says", "B says"), said),
        f"The first wrong operation: {_first_misuse(left)}",
        _looks(left),
        "The capacity assert: all locs of an extend's requests, held against a bound. It stands in the branch that gathers.",
        table(("server", "verdict", "why"), met),
    )


def over_gloo(ranks: int = 4) -> Shown:
    """Run the gather of two extend steps in one process, in ``ranks`` processes over gloo, and over NCCL where there are
    several GPUs.

    Shows whether all of them attended to the same bytes, and the bytes sent beside the bytes that top-k needed.
    """
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    if isinstance(ranks, bool) or not isinstance(ranks, int) or not 2 <= ranks <= MOST_RANKS:
        return Shown(f"over_gloo: ranks must be a whole number from 2 to {MOST_RANKS}, not {ranks!r}.")
    pieces = _over("gloo", ranks, ranks)
    gpus = torch.cuda.device_count() if mode.current().name == "gpu" else 0
    processes = max((n for n in range(1, gpus + 1) if ranks % n == 0), default=0)
    if processes > 1:
        pieces += _over("nccl", ranks, processes)
    else:
        have = "there is none" if not gpus else f"there {'is' if gpus == 1 else 'are'} {gpus}"
        pieces += [f"NCCL was not run: it takes two GPUs or more, in a number that divides {ranks}, and {have} here."]
    return Pieces(*pieces)


def gather(dcp_size: int = 4, ranks: str = "gloo", processes: int | None = None, gpus: int | None = None) -> Shown:
    """Run the gather of two extend steps in one process, and in processes that hold ``dcp_size`` ranks between them.

    ``ranks``, ``processes``, ``gpus``: the options of ``./course incident``. CourseError where they cannot hold the ranks.
    """
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    kind, count = world.asked(ranks, processes, gpus)
    if not (held_by := world.check(kind, dcp_size, count)):
        raise CourseError("The gather is held against one process: give ranks 'gloo', or gpus.")
    return Pieces(*_over(kind, dcp_size, held_by))


def _over(kind: str, dcp_size: int, processes: int) -> list[str | Table]:
    each = "each a process of its own" if processes == dcp_size else f"in {processes} processes"
    where = "over gloo on this machine" if kind == "gloo" else "a GPU each, over NCCL"
    here = "CPU, torch" if kind == "gloo" else mode.current().label
    return [f"[{here}] {dcp_size} ranks, {each}, {where}", *_gathered(kind, dcp_size, processes, _DEVICE[kind])]


_DEVICE = {"gloo": "cpu", "nccl": "cuda"}


def _gathered(kind: str, dcp_size: int, processes: int, device: str) -> list[str | Table]:
    """Run the ranks in one way, compare with all ranks in this process, and return what to show."""
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
    rows = []
    for steps in zip(*(one["gathers"] for one in found), strict=True):
        step = max(steps, key=lambda s: s["needed"])
        pair = [" + ".join(map(str, step[key])) for key in ("prefixes", "extends")]
        wire = "not counted" if kind != "gloo" or step["on_sockets"] is None else f"{step['on_sockets']:,}"
        share = f"{step['needed'] / step['received']:.0%}"
        rows.append((*pair, f"{step['received']:,}", wire, f"{step['needed']:,}", share))
    return [
        f"Workspaces equal to those of one process, byte for byte: {same} of {dcp_size} ranks. "
        f"Answers right: {'all' if all(one['right'] for one in found) else 'NOT ALL'}.",
        table(("prefixes", "new tokens", "received by a process", "on its sockets", "top-k needed", "of it"), rows),
        "Bytes of one layer. Received: D shards without one's own, padding included. Needed: the prefix rows that some new "
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
    head, *given, rows = done["value"]
    return Pieces(f"[{mode.current().label}] {head}", *given, table(("what ran", "what came of it"), rows))


def _first_misuse(run: RaggedRun) -> str:
    found = run.engine.watcher.first_misuse
    return found.sentence() if found else "none"
