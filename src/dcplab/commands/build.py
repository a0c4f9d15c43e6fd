"""Make the labs and the solved notebooks from their one source, solutions/NN_name/NN_name.py."""

from __future__ import annotations

import argparse

HELP = "make labs/ from solutions/ (for authors)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("labs", nargs="*", metavar="NN", help="labs to build, as 01 or 01_index_spaces (default: all)")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; say whether labs/ is what solutions/ gives (exit status 1 if not)"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a notebook that holds a learner's edits; a dated copy of it is kept"
    )
    parser.add_argument(
        "--execute",
        action="store_true",
        help="instead, run the solved notebooks and keep them, outputs and all, in solutions/ (needs no nbgrader)",
    )
    parser.add_argument(
        "--mutants",
        nargs="?",
        const="",
        metavar="PART",
        help="instead, try every small edit of the solutions (of PART, as 1c) and list those that no case tells from them",
    )
    parser.add_argument(
        "--faults",
        nargs="?",
        const="",
        metavar="ID",
        help="instead, prove the planted faults of field/catalogue (those whose id begins with ID)",
    )
    parser.add_argument("--seeds", type=int, default=4, metavar="N", help="seeds that a mutant is tried on (default: 4)")


def run(args: argparse.Namespace) -> int:
    from dcplab import paths
    from dcplab.author import build
    from dcplab.course import catalog
    from dcplab.errors import CourseError
    from dcplab.present import progress_line

    if args.mutants is not None:
        return _mutants(args)
    if args.faults is not None:
        return _faults(args.faults)
    labs = [catalog.lab(name) for name in args.labs] or catalog.labs()
    faults = 0
    for lab in labs:
        if args.execute:
            with progress_line.line(lab.name) as say:
                path = build.execute(lab, lambda done, total: say(f"code cell {done + 1} of {total}"))
            print(f"{lab.name}: executed, {path.relative_to(paths.root())}, {path.stat().st_size:,} bytes")
            continue
        made = build.make(lab)
        for fault in build.faults(lab, made):
            faults += 1
            print(f"{lab.name}: {fault}")
        if args.check:
            found = build.compare(made)
            faults += found != "equal"
            print(f"{lab.name}: {build.SAYS[found]}")
            continue
        print(f"{lab.name}: {build.write(made, force=args.force)}")
    if faults and not args.check:
        raise CourseError(f"{faults} fault{'s' * (faults > 1)} in the labs, listed above.")
    return 1 if faults else 0


def _mutants(args: argparse.Namespace) -> int:
    """Return 1 if a survivor has no reason in its lab's mutants.toml."""
    from dcplab.author import mutation
    from dcplab.course import catalog

    if args.mutants:
        wanted = [(catalog.of_part(args.mutants), catalog.of_part(args.mutants).part(args.mutants).id)]
    else:
        labs = [catalog.lab(name) for name in args.labs] or catalog.labs()
        wanted = [(lab, part.id) for lab in labs for part in lab.parts if mutation.judged_by_results(lab, part.id)]
    unexplained = 0
    for lab, part in wanted:
        found = mutation.tried(lab, part, range(1, args.seeds + 1))
        unexplained += len(found.unexplained)
        print(f"{part}: {found.count - len(found.survivors)} of {found.count} mutants told apart", flush=True)
        for mutant in found.survivors:
            print(f"    {mutant.edit}: {mutant.at}\n        {found.reasons.get(mutant.at, 'no reason given')}", flush=True)
    return 1 if unexplained else 0


def _faults(begin: str) -> int:
    """Return 1 if a fault is not proved: see `dcplab.field.faults.prove`."""
    from dcplab.errors import CourseError
    from dcplab.field import faults

    wanted = [fault for fault in faults.every() if fault.id.startswith(begin)]
    if not wanted:
        raise CourseError(f"No fault's id begins with {begin!r}; there are {', '.join(fault.id for fault in faults.every())}.")
    unproved = 0
    for fault in wanted:
        proof = faults.prove(fault)
        unproved += bool(proof.broken)
        first = next((said[0] for said in proof.symptoms.values() if said), "nothing shows")
        print(f"{fault.id} ({fault.kind}): {'NOT PROVED' if proof.broken else first}", flush=True)
        for why in proof.broken:
            print(f"    {why}", flush=True)
    print(f"{len(wanted) - unproved} of {len(wanted)} faults of {len({f.kind for f in wanted})} kinds are proved")
    return 1 if unproved else 0
