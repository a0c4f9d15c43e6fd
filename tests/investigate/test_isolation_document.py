"""docs/isolation.md against the rows that ran on an H200: verdicts are the CPU's, and counts differ where it says so."""

import csv
import itertools
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATCHES = ("index_k_size", "ckv_write", "read", "extend", "assert")
SHORT = {"silent corruption": "silent"}


def tables():
    """The document's tables, row by row, as lists of cells."""
    lines = (ROOT / "docs" / "isolation.md").read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def said():
    """subset -> what the CPU's table says of each level."""
    of_cpu = [row for row in tables() if len(row) == 11 and set(row[:5]) <= {"", "+"}]
    return {
        tuple(bool(cell) for cell in row[:5]): dict(zip(("below", "above", "full"), row[5:8], strict=True)) for row in of_cpu
    }


def differing():
    """(subset, level) -> the counts on a CPU and on the H200, of the table of those that differ."""
    found = {}
    for row in tables():
        if len(row) == 8 and row[5] in ("below", "above", "full"):
            cells = [(False, True) if cell == "either" else (cell == "+",) for cell in row[:5]]
            found |= {(subset, row[5]): (row[6], row[7]) for subset in itertools.product(*cells)}
    return found


def ran():
    with open(ROOT / "bench" / "results" / "isolation_h200.csv", encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            counts = " ".join(row[act] for act in ("fresh", "long", "again"))
            yield (
                tuple(row[patch] == "yes" for patch in PATCHES),
                row["level"],
                SHORT.get(row["verdict"], row["verdict"]),
                counts,
            )


def test_the_h200s_verdicts_are_the_cpus_and_its_counts_differ_where_the_document_says_so():
    of_cpu, apart = said(), {}
    seen = list(ran())
    assert len(of_cpu) == 32 and len({(subset, level) for subset, level, *_ in seen}) == len(seen) == 96
    for subset, level, verdict, counts in seen:
        expected, _, expected_counts = of_cpu[subset][level].partition(" ")
        assert verdict == expected, (subset, level)
        if counts != expected_counts:
            apart[subset, level] = (expected_counts, counts)
    assert apart == differing() and len(apart) == 2
