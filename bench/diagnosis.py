"""How long it takes to say which mistake it is, part by part, where this runs: GPU or CPU.

Each wrong answer is judged on one seed, and then its mistake is named: by people's bank, the machine's, or facts. The two are
timed apart. The aim is 3 s for a name in every part once the servers are warm; more is marked, and so is a mistake that gets no
name or another one's. ``--answers 0`` takes all of a bank. ``--unnamed N`` adds N answers a part with two edits of the
solution: most get no name, after the longest search there is.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time
from dataclasses import replace

import psutil

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.course.mutants import slips
from dcplab.reference import Reference
from dcplab.sandbox import pool

AIM_S = 3.0
ME = psutil.Process()


def processor_s() -> float:
    """Return the processor seconds of this process, its servers, and the servers' children that have ended."""
    return sum(sum(process.cpu_times()[:4]) for process in [ME, *ME.children(recursive=True)])


def timed(key, program, seed):
    """Return the seconds that the verdict took, those that the name took, the name's processor seconds, and the judgement."""
    reference = Reference(key, draw(key.part, seed, mode.current().name))
    start = time.perf_counter()
    judged = checking.verdict(program, reference)
    between, before = time.perf_counter(), processor_s()
    found = checking.named(judged, reference) if judged.why == "failed" else judged
    return between - start, time.perf_counter() - between, processor_s() - before, found


def two_edits(key, count: int, seed: int):
    """Yield so many answers, each an edit of an edit of the solution; fewer if they do not come out wrong."""
    chosen, names = random.Random(f"{key.part.id} {seed}"), key.part.names
    first = slips(key.solution.source, names)
    for _ in range(8 * count if first else 0):
        second = slips(chosen.choice(first).source, names)
        program = replace(key.solution, source=chosen.choice(second).source, lines=())
        reference = Reference(key, draw(key.part, seed, mode.current().name))
        if count and checking.verdict(program, reference).outcome in ("wrong", "unsafe"):
            count -= 1
            yield program


def measured(lab, part, answers: int, unnamed: int, seed: int) -> dict:
    key = lab.key(part.id)
    bank = [(wrong, program) for wrong, program in key.wrong if wrong.part == part.id]
    chosen = bank if not answers else bank[:: max(1, len(bank) // answers)][:answers]
    first, named, other = [], [], []
    for number, program in enumerate(two_edits(key, unnamed, seed)):
        _, name_s, used, found = timed(key, program, seed)
        named.append((name_s, used, f"two edits, {number}: {found.wrong and found.wrong.id}"))
    for wrong, program in chosen:
        verdict_s, name_s, used, found = timed(key, program, seed)
        first.append(verdict_s)
        named.append((name_s, used, wrong.id))
        if not (found.wrong and (found.wrong.id, found.outcome) == (wrong.id, wrong.outcome)):
            other.append(f"{wrong.id}: {found.outcome}, {found.wrong and found.wrong.id}")
    longest, used, which = max(named)
    return {
        "part": part.id,
        "answers": len(chosen),
        "bank": len(bank),
        "verdict_s": statistics.median(first),
        "diagnosis_s": statistics.median(s for s, _, _ in named),
        "longest_s": longest,
        "longest_processor_s": used,
        "longest": which,
        "not_its_own": other,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="part ids; none: all")
    parser.add_argument("--answers", type=int, default=6, help="wrong answers a part, spread over its bank; 0: all")
    parser.add_argument("--unnamed", type=int, default=0, metavar="N", help="answers a part that no bank knows")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    here = mode.current()
    pairs = [(lab, part) for lab in catalog.labs() for part in lab.parts if not args.parts or part.id in args.parts]
    pairs = [(lab, part) for lab, part in pairs if not part.not_here(here.name)]
    for name in {here.name, "cpu"}:
        pool.run([], [], name, own_s=60)
    print(f"{here.label}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {mode.versions()}")
    print("part  answers  verdict, first  name, median  longest, of processors", flush=True)
    rows = []
    for lab, part in pairs:
        rows.append(row := measured(lab, part, args.answers, args.unnamed, args.seed))
        late = "" if row["longest_s"] <= AIM_S else f"  over {AIM_S:g} s"
        of = f"{row['answers']}/{row['bank']}"
        print(
            f"{part.id}  {of:>9}  {row['verdict_s']:10.2f} s  {row['diagnosis_s']:7.2f} s  {row['longest_s']:5.2f} s "
            f"{row['longest_processor_s']:6.2f} s  {row['longest']}{late}",
            *row["not_its_own"],
            sep="\n      not its own name: ",
            flush=True,
        )
        if args.json:
            with open(args.json, "w", encoding="utf-8") as f:
                about = {"mode": here.name, "versions": mode.versions(), "cores": os.cpu_count(), "seed": args.seed}
                json.dump(about | {"parts": rows}, f, indent=1)
    pool.shutdown()
    sys.exit(any(row["longest_s"] > AIM_S or row["not_its_own"] for row in rows))


if __name__ == "__main__":
    main()
