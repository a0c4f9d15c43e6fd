"""Writes what `ranks_gpu.py` measured into the documents, so that no figure of it is typed.

    python bench/ranks_report.py            fill every place of the documents from bench/results/ranks_gpu.json
    python bench/ranks_report.py --check    write nothing; exit status 1 where a document says something else

A place is what stands between ``<!-- ranks NAME -->`` and ``<!-- end -->``, in a line of a table or on lines of its own; NAME
is one of `PLACES`. What the record lacks is **not yet**. A dry run's record is refused: a CPU's figures are not a GPU's.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ranks_model as model

from dcplab import measured, paths
from dcplab.engine.link_bytes import MERGES

DOCUMENTS = ("README.md", "bench/README.md", "docs/gpu.md", "docs/isolation.md")
PLACE = re.compile(r"(<!-- ranks (\w+) -->)(.*?)(<!-- end -->)", re.DOTALL)
NOT_YET = "**not yet**"
Record = dict[str, Any]


def number(value: float) -> str:
    """Format three figures: 0.0891, 2.02, 1,072."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}".removesuffix(".")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def of(record: Record, what: str) -> list[dict[str, Any]]:
    return [r for r in record["rows"] if r["what"] == what]


def links(record: Record) -> str:
    rows = [(f"{r['bytes_each']:,}", number(r["ms"]), number(r["GBps"])) for r in of(record, "link")]
    return table(("bytes that each process sends", "ms", "GB/s received"), rows) if rows else NOT_YET


def gather(record: Record) -> str:
    rows = [
        (f"{r['tokens']:,}", number(r["received"] / 1e6), number(r["ms"]), number(r["GBps"]), number(r["order_ms"]))
        for r in of(record, "gather")
    ]
    return table(("tokens", "MB received", "ms", "GB/s", "putting it in order, ms"), rows) if rows else NOT_YET


def merge(record: Record) -> str:
    """Return a table of microseconds, a line for each number of queries and heads, and the worst error of each way."""
    found = of(record, "merge")
    if not found:
        return NOT_YET
    ways = [(way, "bfloat16") for way in MERGES] + [("reduce-scatter", "float32")]
    at = {(r["batch"], r["heads"], r["way"], r["dtype"]): r for r in found}
    shapes = dict.fromkeys((r["batch"], r["heads"]) for r in found)
    rows = [(f"{shape[0]} x {shape[1]}", *(_us(at.get((*shape, *way))) for way in ways)) for shape in shapes]
    by_way = [[r["worst_error"] for r in found if (r["way"], r["dtype"]) == way] for way in ways]
    errors = [f"{max(worst):.1g}" if worst else NOT_YET for worst in by_way]
    header = ("us, queries x heads", *(f"{way}, {'bf16' if dtype == 'bfloat16' else 'fp32'}" for way, dtype in ways))
    return table(header, [*rows, ("furthest from float64", *errors)])


def _us(row: dict[str, Any] | None) -> str:
    return NOT_YET if row is None else number(1e3 * row["ms"])


def steps(record: Record) -> str:
    """Return a table of the steps, and what limits them."""
    found = of(record, "step")
    if not found:
        return NOT_YET
    servers = sorted({(r["dcp_size"], r["devices"]) for r in found})
    at = {(r["dcp_size"], r["devices"], r["context"]): r for r in found}
    rows = [
        (f"{context:,}", *(_step(at.get((*server, context))) for server in servers))
        for context in sorted({r["context"] for r in found})
    ]
    header = ("ms, extend / decode, behind", *(f"D = {d}, {n} GPU{'s' if n > 1 else ''}" for d, n in servers))
    return "\n\n".join([table(header, rows), *(_limits(found, kind) for kind in ("extend", "decode"))])


def _step(row: dict[str, Any] | None) -> str:
    return NOT_YET if row is None else f"{number(row['extend_ms'])} / {number(row['decode_ms'])}"


def _limits(rows: list[dict[str, Any]], kind: str) -> str:
    by_limit: dict[str, dict[tuple[int, int], list[str]]] = {}
    for r in sorted(rows, key=lambda r: (r["dcp_size"], r["devices"], r["context"])):
        servers = by_limit.setdefault(r["limit"][kind], {})
        servers.setdefault((r["dcp_size"], r["devices"]), []).append(f"{r['context']:,}")
    told = [
        f"* {limit}. " + "; ".join(f"D = {d} on {n}, behind {', '.join(at)}" for (d, n), at in servers.items()) + "."
        for limit, servers in by_limit.items()
    ]
    return f"What limits {'an extend' if kind == 'extend' else 'a decode'} step, by its profile:\n\n" + "\n".join(told)


def overlap(record: Record) -> str:
    found = of(record, "overlap")
    if not found:
        return NOT_YET
    r = found[0]
    ms = ", ".join(f"{name} {number(value)}" for name, value in r["ms"].items())
    hidden = ", ".join(f"{share:.0%} with {name}" for name, share in r["share_hidden"].items())
    return f"{r['tokens']:,} tokens under {r['queries']:,} queries, ms: {ms}. Of the shorter of the two is hidden: {hidden}."


def ran(record: Record) -> str:
    return f"{record['ran_on']}; multicast {record['multicast']}; {number(record['seconds'])} s; ended {record['ended']}."


def missing(record: Record) -> str:
    left = dict.fromkeys(record["left_out"])
    return f"{NOT_YET}: {'; '.join(left)}." if left else "Nothing was left out."


def model_held(record: Record) -> str:
    """Return how far the model is off, a line for each kind of point."""
    if not of(record, "link"):
        return NOT_YET
    kinds: dict[str, list[float]] = {}
    for what, ms, says in model.checked(record, model.link(record["rows"])):
        kinds.setdefault(", ".join(what.split(", ")[: 2 if what.startswith("merge") else 1]), []).append(says / ms)
    rows = [(kind, str(len(r)), f"{min(r):.2f} to {max(r):.2f}") for kind, r in kinds.items()]
    return table(("what", "points", "model / measured"), rows)


def summary(record: Record) -> str:
    """Return what the README says in a cell of its table."""
    parts = []
    if found := of(record, "link"):
        widest = max(found, key=lambda r: r["bytes_each"])
        parts.append(f"{number(widest['GBps'])} GB/s received a GPU")
    if found := of(record, "gather"):
        longest = max(found, key=lambda r: r["tokens"])
        parts.append(f"a layer's prefix of {longest['tokens']:,} tokens gathered in {number(longest['ms'])} ms")
    if found := [r for r in of(record, "step") if r["devices"] > 1]:
        for d in sorted({r["dcp_size"] for r in found}):
            r = max((r for r in found if r["dcp_size"] == d), key=lambda r: r["context"])
            took = f"an extend step {number(r['extend_ms'])}, a decode step {number(r['decode_ms'])} ms"
            parts.append(f"D = {d} on {r['devices']}, behind {r['context']:,}: {took}")
    left = f"; {missing(record).removesuffix('.')}" if record["left_out"] else ""
    return ("; ".join(parts) or NOT_YET) + left


PLACES: dict[str, Callable[[Record], str]] = {
    "links": links,
    "gather": gather,
    "merge": merge,
    "steps": steps,
    "overlap": overlap,
    "ran": ran,
    "missing": missing,
    "model": model_held,
    "summary": summary,
}


def filled(text: str, record: Record | None) -> str:
    """Return a document with every place filled. A place on lines of its own keeps an empty line on both sides."""

    def fill(place: re.Match[str]) -> str:
        said = NOT_YET if record is None else PLACES[place[2]](record)
        between = f"\n\n{said}\n\n" if "\n" in place[3] else f" {said} "
        return place[1] + between + place[4]

    return PLACE.sub(fill, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit status 1 where a document says something else"
    )
    check = parser.parse_args().check
    record = measured.record("ranks_gpu")
    if record is not None and not record["ran_on"].startswith("GPU"):
        sys.exit(f"bench/results/ranks_gpu.json is of: {record['ran_on']}. The documents speak of GPUs.")
    stale = []
    for name in DOCUMENTS:
        path = paths.root() / name
        before = path.read_text(encoding="utf-8")
        after = filled(before, record)
        if after != before:
            stale.append(name)
            if not check:
                path.write_text(after, encoding="utf-8")
    print(
        "\n".join(f"{'out of date' if check else 'written'}: {name}" for name in stale)
        or "Every document says what was measured."
    )
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
