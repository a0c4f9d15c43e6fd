"""How long it takes to say which mistake it is, part by part, where this runs: GPU or CPU.

Each wrong answer is checked three times on one seed: without a bank (the kernel is compiled), again (it is not), and with it.
What the bank adds is the diagnosis. The aim is 3 s for every part once the servers are warm; more is marked, and so is a
mistake that gets no name or another one's. ``--answers 0`` takes all of a bank. ``--unnamed N`` adds N answers a part with two
edits of the solution: most get no name, after the longest search there is.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time
from dataclasses import replace

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.course.mutants import slips
from dcplab.sandbox import pool

AIM_S = 3.0


def timed(key, program, seed):
    start = time.perf_counter()
    found = checking.check(key, program, seed=seed)
    return time.perf_counter() - start, found


def two_edits(key, count: int, seed: int):
    """Yield so many answers, each an edit of an edit of the solution; fewer if they do not come out wrong."""
    chosen, names = random.Random(f"{key.part.id} {seed}"), key.part.names
    first = slips(key.solution.source, names)
    for _ in range(8 * count if first else 0):
        second = slips(chosen.choice(first).source, names)
        program = replace(key.solution, source=chosen.choice(second).source, lines=())
        if count and checking.check(replace(key, wrong=()), program, seed=seed).outcome in ("wrong", "unsafe"):
            count -= 1
            yield program


def measured(lab, part, answers: int, unnamed: int, seed: int) -> dict:
    key = lab.key(part.id)
    bank = [(wrong, program) for wrong, program in key.wrong if wrong.part == part.id]
    chosen = bank if not answers else bank[:: max(1, len(bank) // answers)][:answers]
    cold, named, other = [], [], []
    for number, program in enumerate(two_edits(key, unnamed, seed)):
        warm, _ = timed(replace(key, wrong=()), program, seed)
        whole, found = timed(key, program, seed)
        named.append((whole - warm, f"two edits, {number}: {found.diagnosis}"))
    for wrong, program in chosen:
        first, _ = timed(replace(key, wrong=()), program, seed)
        warm, _ = timed(replace(key, wrong=()), program, seed)
        whole, found = timed(key, program, seed)
        cold.append(first)
        named.append((whole - warm, wrong.id))
        if (found.diagnosis, found.outcome) != (wrong.id, wrong.outcome):
            other.append(f"{wrong.id}: {found.outcome}, {found.diagnosis}")
    longest, which = max(named)
    return {
        "part": part.id,
        "answers": len(chosen),
        "bank": len(bank),
        "verdict_s": statistics.median(cold),
        "diagnosis_s": statistics.median(s for s, _ in named),
        "longest_s": longest,
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
    print("part  answers  verdict, first  diagnosis  longest", flush=True)
    rows = []
    for lab, part in pairs:
        rows.append(row := measured(lab, part, args.answers, args.unnamed, args.seed))
        late = "" if row["longest_s"] <= AIM_S else f"  over {AIM_S:g} s"
        of = f"{row['answers']}/{row['bank']}"
        print(
            f"{part.id}  {of:>9}  {row['verdict_s']:10.2f} s  {row['diagnosis_s']:7.2f} s  {row['longest_s']:5.2f} s "
            f"{row['longest']}{late}",
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
