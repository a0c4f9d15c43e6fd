"""The isolation: one run of the incident for each subset of the patches, as plain data, and tables of them.

A run is made where it may end badly (`one`, in a process of its own), so what it gives is a row of plain data: ``defects`` (a
list), ``level`` and ``outcome`` (`incident_report.outcome_data`). A server that died before its story ended has the verdict
``died`` and what it died of; that is nothing the story tells, as its ``crash`` is.
"""

from __future__ import annotations

import csv
import gc
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from dcplab.engine import comm, incident_report, options, scenario
from dcplab.engine import defects as switches
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine

COLUMNS = (
    *switches.PATCHES,
    "level",
    "verdict",
    "fresh",
    "long",
    "again",
    "watermark",
    "keys",
    "first wrong space",
    "first outside",
    "why",
)
COLOURS = {
    "right": "#dff0e2",
    "silent corruption": "#f6d5d0",
    "crash": "#e9c1e4",
    "alarm": "#fbeac2",
    "refused": "#d8e3f5",
    "died": "#d9d9d9",
}


def one(fields: Mapping[str, Any], defects: Sequence[str], level: str, stored: bool, neighbours: bool) -> dict[str, Any]:
    """Make a row: tell the story on a fresh server with these defects, in this process. ``fields``: of
    `options.EngineOptions`."""
    asked = options.EngineOptions(**fields)
    device = options.device(asked)
    if device == "cpu":
        torch.set_num_threads(asked.threads)
    with comm.make("local", asked.dcp_size, device) as ranks:
        return row(options.config(asked), ranks, defects, level, stored=stored, neighbours=neighbours)


def row(
    config: ServerConfig,
    ranks: comm.Local | comm.Distributed,
    defects: Sequence[str],
    level: str,
    *,
    stored: bool,
    neighbours: bool,
) -> dict[str, Any]:
    """Make a row, as `one` does, on ranks that are there. It is whole where rank 0 is hosted."""
    gc.collect()  # the server before this one
    engine = Engine(config, defects, ranks, neighbours=neighbours)
    made: dict[str, Any] = {
        "defects": list(defects),
        "level": level,
        "outcome": incident_report.outcome_data(scenario.story(engine, level, stored=stored)),
    }
    if ranks.device.type == "cuda":
        torch.cuda.synchronize()  # what has gone wrong so far is this server's
        made["gpu_bytes"] = torch.cuda.max_memory_reserved()
    return made


def died(defects: Sequence[str], level: str, why: str, seconds: float) -> dict[str, Any]:
    """Make the row of a server whose process ended before its story did."""
    nothing = {"answers": [], "largest_loc": -1, "first_misuse": None, "first_outside": None, "monitor": None}
    outcome = {"verdict": "died", "why": why, **nothing, "seconds": round(seconds, 3)}
    return {"defects": list(defects), "level": level, "outcome": outcome}


def key(row: Mapping[str, Any]) -> tuple[frozenset[str], str]:
    """Return the identity of a row's server: its defects and its level."""
    return frozenset(row["defects"]), row["level"]


def in_order(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort rows level by level, subsets from no patch to all of them."""
    subsets = {left: i for i, left in enumerate(scenario.isolate_subsets())}
    return sorted(rows, key=lambda row: (scenario.LEVELS.index(row["level"]), subsets[frozenset(row["defects"])]))


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Turn a row into strings, in the order of `COLUMNS`. ``keys``: valid keys summed over ranks, for each that was
    selected."""
    out = row["outcome"]
    m = out["monitor"]
    return (
        *("no" if name in row["defects"] else "yes" for name in switches.PATCHES),
        row["level"],
        out["verdict"],
        *(incident_report.right_of(out["answers"], act) for act in ("fresh", "long", "again")),
        str(out["largest_loc"]) if out["largest_loc"] >= 0 else "-",
        f"{m['valid'] / m['selected']:.2f}" if m and m["selected"] else "-",
        incident_report.short(out["first_misuse"]),
        incident_report.short(out["first_outside"]),
        out["why"],
    )


def as_text(rows: Sequence[Mapping[str, Any]], note: str) -> str:
    marks = {"yes": "+", "no": "."}
    table = [tuple(marks.get(c, c) if i < len(switches.PATCHES) else c for i, c in enumerate(cells(r))) for r in rows]
    lines = [note, "Patches: + applied, . not.", "", *incident_report.grid(COLUMNS[:-1], [t[:-1] for t in table])]
    dead = [r for r in rows if r["outcome"]["verdict"] == "died"]
    return "\n".join(lines + [f"died: {r['level']}, {patches_of(r)}: {r['outcome']['why']}" for r in dead])


def patches_of(row: Mapping[str, Any]) -> str:
    """Name the patches that a row's server has: "no patch", "only read", "all but assert"."""
    has = [name for name in switches.PATCHES if name not in row["defects"]]
    lacks = [name for name in switches.PATCHES if name in row["defects"]]
    if not has or not lacks:
        return "no patch" if lacks else "all patches"
    return f"all but {', '.join(lacks)}" if len(lacks) < len(has) else f"only {', '.join(has)}"


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(cells(r) for r in rows)
    return out.getvalue()


def as_json(rows: Sequence[Mapping[str, Any]], head: Mapping[str, Any]) -> str:
    return json.dumps({**head, "runs": list(rows)}, indent=1)


def as_markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write a line a subset, as docs/isolation.md has it: verdict and right answers at each level, keys read for each selected
    at the lowest, and the first wrong access at ``above``, or the highest there is."""
    levels = [level for level in scenario.LEVELS if any(row["level"] == level for row in rows)]
    table = {key(row): dict(zip(COLUMNS, cells(row), strict=True)) for row in rows}
    head = (*_SHORT, *levels, "keys", "first index of a wrong space", "first outside its buffer")
    lines = [_line(head), _line(["---"] * len(head)).replace(" ", "")]
    for left in scenario.isolate_subsets():
        here = {level: table[left, level] for level in levels if (left, level) in table}
        if not here:
            continue
        verdicts = [
            " ".join([at["verdict"].removesuffix(" corruption"), at["fresh"], at["long"], at["again"]]) for at in here.values()
        ]
        low, high = next(iter(here.values())), here.get("above", list(here.values())[-1])
        marks = [" " if name in left else "+" for name in switches.PATCHES]
        lines.append(_line([*marks, *verdicts, low["keys"], high["first wrong space"], high["first outside"]]))
    return "\n".join(lines) + "\n"


_SHORT = ("index-K size", "write", "read", "extend", "assert")  # `switches.PATCHES`, as the table heads them


def _line(words: Sequence[str]) -> str:
    return "| " + " | ".join(words) + " |"
