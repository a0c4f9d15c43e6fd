"""Runs the engine at toy scale for lab 02: the incident below, above and at the top of the pool, and traffic, which gets there
or not.

Everything runs on the CPU, in torch, in one allocation. An index outside a buffer lands within that allocation, and the engine
checks the allocation's bounds. So this needs no process of its own and no GPU.
"""

from __future__ import annotations

from dataclasses import replace

from dcplab.engine import defects as switches
from dcplab.engine import scenario, tokenizer
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scenario import Outcome
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import SpaceError
from dcplab.engine.threads import one_thread
from dcplab.present.display import Shown

ACTS = {"fresh": "just started", "long": "two long requests", "again": "asked again"}


# A small server that can tell the story at every level: two ranks, pages of 4 rows, two DSA layers.
TOY = ServerConfig(size=768, page_size=4, dcp_size=2, layers=2, topk=scenario.TOPK)


class Replay(Shown):
    """A story that was run. ``engine``: the server afterwards. ``outcome``: everything that was noted."""

    def __init__(self, engine: Engine | None, outcome: Outcome, said: str):
        super().__init__(said)
        self.engine, self.outcome = engine, outcome


def replay(level: str, defects: str = "index_k_size", strict: bool = False, typed: bool = False) -> Replay:
    """Ask three questions, run two long requests that push the watermark to ``level`` (below, above, full), and ask again.

    ``defects``: switches of `engine.defects`, as ``./course incident --list`` shows them.
    ``strict``: refuse the first index outside its buffer. ``typed``: refuse the first index, or size, of a wrong space.
    """
    chosen = switches.parse(defects)
    config = scenario.settings(TOY, chosen)
    with one_thread():
        try:
            engine = Engine(config, chosen, Local(config.dcp_size), strict=strict, typed=typed)
        except SpaceError as error:
            return Replay(None, Outcome("refused", str(error)), f"Refused before any request: {error}")
        out = scenario.story(engine, level)
    return Replay(engine, out, _told(config, chosen, out))


def _told(config: ServerConfig, chosen: frozenset[str], out: Outcome) -> str:
    lines = [
        f"[CPU, torch] D {config.dcp_size}, P {config.page_size}, C {config.size}; defects: {switches.spell(chosen)}",
        "",
    ]
    for when, title in ACTS.items():
        asked = [a for a in out.answers if a.when == when]
        if asked:
            wrong = [a.question.name for a in asked if not a.right]
            lines.append(
                f"{title:<20}{len(asked) - len(wrong)} of {len(asked)} right" + "".join(f"; WRONG: {name}" for name in wrong)
            )
    lines += ["", f"verdict: {out.verdict}" + (f" ({out.why})" if out.why else "")]
    lines += ["", f"{'buffer':<12}{'slots':>8}{'legal':>8}{'largest seen':>14}"]
    lines += [
        f"{w.buffer:<12}{w.slots:>8}{w.needed:>8}{w.highest:>14}  {'EXCEEDED' if w.exceeded else ''}".rstrip()
        for w in out.watermarks
    ]
    if out.verdict == "refused":
        changed = ", ".join(d.band for d in out.canaries) or "none"
        return "\n".join([*lines, "", f"canaries changed: {changed}"])
    if out.first_outside:
        lines += ["", f"first outside: {out.first_outside.sentence()}"]
    for (writer, _), hit in out.overwritten.items():
        whose = f"; loc {hit.loc} belongs to: {out.holders.get(hit.loc, 'nobody')}" if hit.loc is not None else ""
        where = hit.words() if hit.low is not None else f"{hit.region}, {hit.count} times"
        lines.append(f"  {writer} wrote into {where}{whose}")
    return "\n".join(lines)


def traffic(keep: bool, requests: int = 8, words: int = 150, need_sort: bool = False) -> Shown:
    """Run different requests one after another on a server with every patch, and compare tokens so far with the largest live
    loc.

    ``keep``: leave finished requests in the prefix cache. After each request the table shows the tokens served so far, the
    largest loc used, the largest loc still held, and whether unpatched index-K would have had room for it. ``need_sort``: the
    allocator of a prefill or decode node, which issues every page once before any comes back.
    """
    config = replace(TOY, layers=1, prefix_cache=keep, need_sort=need_sort)
    unpatched = config.size + config.page_size
    rows = []
    with one_thread():
        engine = Engine(config, (), Local(config.dcp_size))
        for number in range(requests):
            engine.submit(tokenizer.filler(words, seed=number), 1)
            while engine.busy:
                engine.step()
            through, used = engine.metrics.extended + engine.metrics.decoded, engine.metrics.largest_loc
            rows.append((number + 1, through, used, engine.allocator.watermark, used >= unpatched))
    lines = [
        f"[CPU, torch] C {config.size}, unpatched index-K: {unpatched} slots; "
        f"finished requests {'stay cached' if keep else 'are freed'}"
        + ("; with need_sort freed pages wait until the others have been issued" if need_sort else ""),
        "",
        f"{'request':>8}{'tokens so far':>15}{'largest loc used':>18}{'largest loc held':>18}",
    ]
    for number, through, used, held_loc, beyond in rows:
        note = "  beyond index-K" if beyond else ""
        lines.append(f"{number:>8}{through:>15}{used:>18}{held_loc if held_loc >= 0 else 'none':>18}{note}")
    return Shown("\n".join(lines))
