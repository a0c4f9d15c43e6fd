"""Reports an experiment to a person and to a program. Pure: turns outcomes into strings and plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dcplab.engine import defects as switches
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scenario import Outcome
from dcplab.engine.watcher import Access

TITLES = {"fresh": "Fresh server", "long": "Two long requests", "again": "The same questions again"}


def server(config: ServerConfig) -> str:
    """Describe a server's sizes in one line."""
    turn = f"I={config.interleave}, " if config.interleave > 1 else ""
    return (
        f"D={config.dcp_size}, {turn}P={config.page_size}, C={config.size} rows a rank, {config.layers} DSA layers, "
        f"top-k {config.topk}, c-KV rows of 512 {str(config.dtype).removeprefix('torch.')}"
    )


def incident(config: ServerConfig, defects: frozenset[str], level: str, out: Outcome, ran_on: str) -> str:
    """Tell the whole story as text."""
    lines = [
        f"{ran_on}; {server(config)}",
        f"defects: {switches.spell(defects)}",
        "",
    ]
    when = None
    for a in out.answers:
        if a.when != when:
            when = a.when
            lines.append(TITLES[when])
        end = " ".join(a.question.prompt.split()[-6:])
        lines.append(f"  {'right' if a.right else 'WRONG'}  {a.question.name}: ... {end}")
        lines.append(f"         -> {a.got}")
        if not a.right:
            lines.append(f"  not    -> {a.question.answer}")
    lines += ["", f"Verdict: {out.verdict}" + (f" ({out.why})" if out.why else ""), ""]
    lines += [f"Watermark: the largest loc that was given to a token is {out.largest_loc}.", ""]
    lines += grid(
        ("buffer", "indexed by", "slots", "needed", "highest index", ""),
        [
            (
                w.buffer,
                w.space.value,
                w.slots,
                w.needed,
                w.highest,
                "EXCEEDED" if w.exceeded else "short" if w.slots < w.needed else "",
            )
            for w in out.watermarks
        ],
    )
    lines += ["", "First operation with an index of the wrong space:", f"  {_sentence(out.first_misuse)}"]
    lines += ["First operation outside its buffer:", f"  {_sentence(out.first_outside)}"]
    if out.overwritten:
        lines += ["What the writes outside hit (rank 0 and all others alike):"]
        for (writer, _), hit in out.overwritten.items():
            held = f"; loc {hit.loc} belongs to {out.holders.get(hit.loc, 'nobody')} now" if hit.loc is not None else ""
            lines.append(f"  {writer} -> {hit.words()}{held}")
    if out.canaries:
        lines.append(
            "Canary bands changed: " + ", ".join(f"{d.band.removeprefix('canary ')} ({d.changed} bytes)" for d in out.canaries)
        )
    m = out.monitor
    if m and m.selected:
        lines += [
            "",
            f"Sharding monitor (decode): {m.valid} valid keys summed over ranks for {m.selected} selected; "
            f"{m.replicated} of {m.queries} queries with equal LSEs on all ranks: {'ALARM' if m.alarm else 'quiet'}",
        ]
    u = out.choices
    if u.whole:
        lines.append(
            f"Union: {u.whole + u.more} keys read where the whole top-k has {u.whole}, more of them for {u.queries} queries"
            + (f"; first in {u.first}" if u.first else "")
        )
    n = out.metrics
    if n.proposed:
        lines.append(f"Draft: {n.accepted} of {n.proposed} proposals accepted: {'ALARM' if n.draft_dead else 'quiet'}")
    if n.misplaced:
        lines.append(f"Pooled keys and window: {n.misplaced} reads brought back another token: ALARM")
    if n.diverged:
        lines.append(f"Ranks disagreed on {n.diverged} tokens: ALARM")
    lines.append(f"{n.steps} steps, {n.extended} tokens extended, {n.decoded} decoded, {out.seconds:.1f} s")
    return "\n".join(lines)


def _sentence(access: Access | None) -> str:
    if access is None:
        return "none"
    if access.byte is None or not access.hits:
        return access.sentence()
    return f"{access.sentence()} That is byte {access.byte:,} of the rank's memory: {access.hits[0].region}."


def access_data(access: Access | None) -> dict[str, Any] | None:
    """Return an access as plain data."""
    if access is None:
        return None
    return {
        "step": access.step,
        "phase": access.phase,
        "rank": access.rank,
        "op": access.op,
        "write": access.write,
        "buffer": access.buffer,
        "given": access.given.value if access.given else None,
        "needed": access.needed.value,
        "low": access.low,
        "high": access.high,
        "slots": access.slots,
        "outside": access.outside,
        "first_outside": access.first,
        "byte": access.byte,
        "hits": [h.words() for h in access.hits],
    }


def outcome_data(out: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data."""
    return {
        "verdict": out.verdict,
        "why": out.why,
        "answers": [
            {"when": a.when, "question": a.question.name, "right": a.right, "got": a.got, "answer": a.question.answer}
            for a in out.answers
        ],
        "largest_loc": out.largest_loc,
        "watermarks": [
            {"buffer": w.buffer, "space": w.space.value, "slots": w.slots, "needed": w.needed, "highest": w.highest}
            for w in out.watermarks
        ],
        "first_misuse": access_data(out.first_misuse),
        "first_outside": access_data(out.first_outside),
        "overwritten": [
            {"writer": w, "region": h.region, "low": h.low, "high": h.high, "count": h.count, "held": h.held, "loc": h.loc}
            for (w, _), h in out.overwritten.items()
        ],
        "canaries": [{"band": d.band, "changed": d.changed, "first": d.first} for d in out.canaries],
        "monitor": vars(out.monitor) | {"alarm": out.monitor.alarm},
        "choices": vars(out.choices),
        "metrics": vars(out.metrics),
        "signs": list(out.signs),
        "seconds": round(out.seconds, 3),
    }


def short(access: Mapping[str, Any] | None) -> str:
    """Describe an access, as `access_data` has it, in a few words: phase, op, buffer, and the index that was wrong with what
    there is."""
    if access is None:
        return "-"
    what = f"{access['phase']} {access['op']} {access['buffer']}"
    if access["outside"]:
        return f"{what}[{access['first_outside']}] of {access['slots']}"
    return f"{what}: {access['given'] or 'untagged'} for {access['needed']}"


def counts(out: Outcome, when: str) -> str:
    """Count the right answers of those given in an act, as "3/3"; "-" where none was given."""
    return right_of(({"when": a.when, "right": a.right} for a in out.answers), when)


def right_of(answers: Iterable[Mapping[str, Any]], when: str) -> str:
    """Count as `counts` does, in answers as `outcome_data` has them."""
    given = [a["right"] for a in answers if a["when"] == when]
    return f"{sum(given)}/{len(given)}" if given else "-"


def grid(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Align a table in columns, numbers as they come. The engine stands alone, so it does not ask `present.table`."""
    table = [[str(c) for c in r] for r in (header, *rows)]
    widths = [max(len(r[i]) for r in table) for i in range(len(header))]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in table]
