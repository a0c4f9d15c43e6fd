"""Holds a learner's wiring on several processes against the same in one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from dcplab import files, mode, own_answers, subprocess_call
from dcplab.course import catalog
from dcplab.course.catalog import Lab
from dcplab.course.model import Part
from dcplab.engine import incident_report, options, world
from dcplab.engine.options import EngineOptions
from dcplab.errors import CourseError
from dcplab.notebook.extract import Program
from dcplab.on_ranks import story, wiring
from dcplab.present import progress_line
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Pieces, table

NOT_HERE = "Your wiring runs on whole servers in a checkout of your own, and not in a service or a grader."
DRAFT = 2  # tokens, for a story that runs verify and draft
TIMEOUT_S = 600.0
SMALL: dict[str, Any] = {"page_size": 4, "layers": 2}  # of the servers on a CPU, of which there are four


def of_notebook(
    program_of: Callable[[Lab, Part], Program], dcp_size: int, ranks: str, processes: int | None, gpus: int | None
) -> Shown:
    """Do what `full_path` does with a notebook's answer, as ``program_of`` finds it. What cannot run is a sentence, so that Run
    All goes on."""
    found = program_of(catalog.of_part(wiring.PART), wiring.part())
    try:
        return full_path(own_answers.carry(found), dcp_size, ranks, None if gpus else processes, gpus)
    except CourseError as problem:
        return Shown(str(problem))


def differences(one: Mapping[str, Any], many: Mapping[str, Any]) -> list[str]:
    """List in what two outcomes (`incident_report.outcome_data`) differ, their seconds apart: words first."""
    said = []
    for a, b in zip(one["answers"], many["answers"], strict=False):
        if a["got"] != b["got"]:
            said.append(f"{a['when']}, {a['question']}: {a['got']!r} in one process, {b['got']!r} in several")
    others = [name for name in one if name not in ("seconds", "answers", "ran_on") and one[name] != many.get(name)]
    if len(one["answers"]) != len(many["answers"]):
        others.insert(0, "number of answers")
    return said + others


def both(found: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Run the story with a wiring, without a draft and with one: all ranks in this process, then as ``fields`` (of
    `EngineOptions`) deal them. Returns ``ran_on`` and ``runs``, pairs of outcomes; or what a process ``said`` when it ended."""
    own = Program(**{**found, "lines": tuple(map(tuple, found["lines"])), "borrowed": ()})
    pairs, dealt = [], EngineOptions(**fields)
    alone = replace(dealt, ranks="local", processes=None, device=options.device(dealt))
    with files.scratch("path") as folder:
        for draft in (0, DRAFT):
            pair = []
            for asked in (alone, dealt) if dealt.ranks != "local" else (alone,):
                told = story.Story(frozenset(), "above", wiring=own, to_json=str(folder / "o.json"), text=False)
                try:
                    options.on_every_rank(replace(asked, draft=draft), story.play, told)
                except CourseError as error:
                    return {"said": str(error)}
                except SystemExit:  # a process has said why on standard error
                    return {"said": ""}
                pair.append(json.loads((folder / "o.json").read_text()))
            pairs.append(pair)
    return {"ran_on": options.ran_on(dealt), "runs": pairs}


def full_path(found: Program, dcp_size: int, ranks: str, processes: int | None, gpus: int | None) -> Pieces:
    """Run `both` in a process of its own, with the words of ``./course incident``, and show whether it makes a difference who
    holds the ranks."""
    kind, count = world.asked(ranks, processes, gpus)
    world.check(kind, dcp_size, count)
    on_gpu = mode.current().name == "gpu" and kind != "gloo"
    dealt = EngineOptions("cuda" if on_gpu else "cpu", kind, dcp_size, processes=count, **(SMALL if not on_gpu else {}))
    env = {"TRITON_INTERPRET": None if on_gpu else "1"}
    given = {"found": wiring.plain(wiring.ready(found)), "fields": asdict(dealt)}
    with progress_line.line("your wiring on whole servers"):
        done = subprocess_call.call("dcplab.on_ranks.full_path", "both", given, env, timeout_s=TIMEOUT_S)
    value = done["value"]
    if value is None:
        return Pieces(subprocess_call.told(done))
    if "runs" not in value:
        said = [line.removeprefix("course: ") for line in done["errors"].splitlines() if line.startswith("course: ")]
        return Pieces(value["said"] or "\n".join(said) or "It ended without a word.")
    rows, unlike = [], []
    for what, pair in zip(("decode, extend", "verify, draft, extend"), value["runs"], strict=True):
        for held, out in zip(("one process", "several processes"), pair, strict=False):
            right = " ".join(incident_report.right_of(out["answers"], act) for act in ("fresh", "long", "again"))
            words = sum(len(answer["got"].split()) for answer in out["answers"])
            rows.append((what, held, out["verdict"], right, words, incident_report.short(out["first_misuse"])))
        unlike += [f"{what}: {text}" for text in differences(*pair)] if len(pair) > 1 else []
    header = ("wiring", "ranks in", "verdict", "right: fresh, long, again", "words", "first wrong space")
    same = "Every word, and every figure of the servers, is that of one process."
    told = "" if dealt.ranks == "local" else "\n".join(["It differs.", *unlike]) if unlike else same
    return Pieces(f"{value['ran_on']}; D = {dcp_size}", table(header, rows), told)
