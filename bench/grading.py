"""How long `./course grade` takes for a class: 30 notebooks of each lab, with right, wrong and unfinished answers.

Notebooks are made of the labs themselves: of each part the solution, a wrong answer of the bank or the starter, drawn by a
fixed seed in the shares of `SHARES`. What is timed is the command, from its start to its last row. The aim for 30 notebooks
of five labs is 12 minutes on two cores.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from dcplab import mode, paths
from dcplab.author import build
from dcplab.course import catalog

SHARES = {"right": 6, "wrong": 3, "starter": 1}
AIM_S = 12 * 60


def answers(lab: catalog.Lab, dice: random.Random) -> dict[str, str]:
    """Return the source of each part's answer cell in one notebook."""
    sources = {}
    for part in lab.parts:
        kind = dice.choices(list(SHARES), list(SHARES.values()))[0]
        if kind == "wrong":
            wrong = dice.choice([w for w in lab.wrong if w.part == part.id])
            sources[part.id] = "\n".join([*lab.preambles[part.id], wrong.source])
        elif kind == "right":
            sources[part.id] = next(c.source for c in lab.cells if c.role == "answer" and c.part == part.id)
        else:
            sources[part.id] = lab.starter_cell(part.id)
    return sources


def write(lab: catalog.Lab, number: int, home: Path) -> None:
    notebook = nbformat.from_dict(build.make(lab).learner)
    sources = answers(lab, random.Random(f"{lab.name} {number}"))
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = sources.get(name, cell.source)
    path = home / f"student{number:02d}" / lab.name / f"{lab.name}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notebooks", type=int, default=30, help="of each lab")
    parser.add_argument("--labs", default="01,02,03,04,05")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dcplab-bench-") as folder:
        home, rows = Path(folder) / "submitted", Path(folder) / "rows.json"
        for number in args.labs.split(","):
            for n in range(args.notebooks):
                write(catalog.lab(number), n, home)
        print(f"{mode.current().label}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {mode.versions()}", flush=True)
        command = [sys.executable, "-m", "dcplab", "grade", str(home), "--seed", "1", "-j", str(args.j), "--json", str(rows)]
        started = time.perf_counter()
        subprocess.run(command, check=True, cwd=paths.root(), stdout=subprocess.DEVNULL)
        whole = time.perf_counter() - started
        graded = json.loads(rows.read_text(encoding="utf-8"))
    by_lab: dict[str, float] = {}
    for row in graded:
        by_lab[row["lab"]] = by_lab.get(row["lab"], 0.0) + sum(part["elapsed_s"] for part in row["parts"])
    for name, seconds in sorted(by_lab.items()):
        print(f"{name}: {seconds:.0f} s of checks (those that ran side by side added up)")
    slow = "" if whole <= AIM_S else f"; the aim for 30 notebooks of five labs is {AIM_S} s"
    print(f"{len(graded)} notebooks with -j {args.j}: {whole:.0f} s{slow}")
    if args.json:
        found = {"whole_s": whole, "notebooks": len(graded), "labs": by_lab, "mode": mode.current().name, "j": args.j}
        Path(args.json).write_text(json.dumps(found | {"load": os.getloadavg()[0]}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
