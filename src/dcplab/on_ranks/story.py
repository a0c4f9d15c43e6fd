"""Tells the incident's story on ranks that one process holds, or several: this is one process's share of it."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from dcplab import mode
from dcplab.engine import comm, incident_report, options, scenario
from dcplab.engine.backend import STANDARD, Paths
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.options import EngineOptions
from dcplab.engine.runner import ServerCrash
from dcplab.engine.scenario import Outcome
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import SpaceError
from dcplab.notebook.extract import Program
from dcplab.on_ranks import wiring
from dcplab.present import progress_line


@dataclass(frozen=True)
class Story:
    """What is told on every rank. ``wiring``: a learner's program (`wiring.program`). ``to_json``: the file of the outcome, or
    - for standard output; ``text``: whether it is told in words too."""

    chosen: frozenset[str]
    level: str
    typed: bool = False
    strict: bool = False
    masked: bool = False
    stored: bool = False
    wiring: Program | None = None
    to_json: str | None = None
    text: bool = True


def play(engine_options: EngineOptions, told: Story) -> None:
    """Run one process's share of the story. The process that hosts rank 0 prints."""
    device = options.device(engine_options)
    with comm.make(engine_options.ranks, engine_options.dcp_size, device) as ranks:
        ranks.agree("story", {"--level": told.level, "--stored": told.stored})
        if ranks.leads and len(ranks.ranks) < engine_options.dcp_size:
            count, each = engine_options.dcp_size // len(ranks.ranks), len(ranks.ranks)
            print(
                f"{count} processes have met over {ranks.name}, {each} of {engine_options.dcp_size} ranks in each",
                file=sys.stderr,
                flush=True,
            )
        if told.wiring is None:
            _play(engine_options, told, ranks, STANDARD)
            return
        ranks.agree("wiring", {"source": hashlib.sha256(told.wiring.source.encode()).hexdigest()[:16]})
        try:
            with wiring.at_work(told.wiring, device, ranks.leads) as paths:
                _play(engine_options, told, ranks, paths)
        except wiring.WiringFailed:
            if ranks.first_to_say():
                raise
            time.sleep(options.GRACE_S)
            raise SystemExit(2) from None


def _play(engine_options: EngineOptions, told: Story, ranks: comm.Local | comm.Distributed, paths: Paths) -> None:
    config = scenario.settings(options.config(engine_options), told.chosen)
    try:
        engine = Engine(
            config, told.chosen, ranks, typed=told.typed, strict=told.strict, neighbours=not told.masked, paths=paths
        )
    except SpaceError as error:
        if ranks.leads:
            print(f"Refused before any data: {error}")
        return
    except ServerCrash as error:
        if ranks.leads:
            print(f"It did not start: {error}")
        return
    with progress_line.line("the incident") as say:
        out = scenario.story(engine, told.level, _progress(say) if ranks.leads else None, told.stored)
    if ranks.leads:
        _tell(config, told, out, options.ran_on(engine_options))


def _tell(config: ServerConfig, told: Story, out: Outcome, ran_on: str) -> None:
    if told.to_json:
        data = {"ran_on": ran_on, "versions": mode.versions(), "defects": sorted(told.chosen), "level": told.level}
        data |= incident_report.outcome_data(out)
        if told.to_json == "-":
            print(json.dumps(data, indent=1))
            return
        with open(told.to_json, "w") as f:
            json.dump(data, f, indent=1)
    if told.text:
        if told.wiring:
            print("The wiring is yours.")
        print(incident_report.incident(config, told.chosen, told.level, out, ran_on))


def _progress(say: Callable[[str], None]) -> Callable[[str, Engine], None]:
    """Show progress: by ``say`` on a terminal; in a file, a line at the start of an act and one every few seconds."""
    last, at = "", 0.0

    def progress(when: str, engine: Engine) -> None:
        nonlocal last, at
        m = engine.metrics
        text = f"{when}: step {m.steps}, {m.extended} tokens extended, {m.decoded} decoded, watermark {m.largest_loc}"
        if sys.stderr.isatty():
            say(text)
        elif last != when or time.monotonic() - at > 5:
            last, at = when, time.monotonic()
            print(text, file=sys.stderr, flush=True)

    return progress
