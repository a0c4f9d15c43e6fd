"""A server's run on some traffic, in a sandboxed child, and what is wrong with it beside a right run."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcplab import files
from dcplab.field import checkout
from dcplab.sandbox import pool

OWN_S, TESTS_S = 20.0, 60.0  # of a processor; a run takes half a second
SLOWER = 1.25  # so many times the steps of a right run are a complaint
MORE = 1.25  # so many times the rows on one rank too: a server on fewer ranks is none that was mended
KEPT = 0.8  # so much of a right run's cache hits, and of its accepted proposals, must be left
# Counts of which a server that is right has enough.
_WANTED = {
    "hits": "tokens found in the prefix cache",
    "host_hits": "found on the host",
    "accepted": "proposals accepted",
    "captured": "captured steps",
}
BUSY = "the machine kept it from working"  # it proves nothing about a server
_DRIVE = Path(__file__).with_name("drive.py")


@dataclass(frozen=True)
class ServedOutcome:
    """What a user and a dashboard see of a run. ``words``: the tokens of each request, in order of submission. ``error``: what
    ended the server, and ``where``. ``refused``: (request, why). ``counts``: steps, preempted, hits and host_hits (tokens),
    proposed, accepted, captured (steps), lost (blocks that nobody holds and nobody can have), rows (of layer 0 that hold
    something, on the rank that has most)."""

    words: Sequence[Sequence[int]]
    error: str = ""
    where: str = ""
    refused: Sequence[tuple[int, str]] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def house_of(folder: Path) -> str:
    """Name the house whose server lies in a checkout."""
    return next(house for house in checkout.HOUSES if (folder / house).is_dir())


def run(folder: Path, traffic: Mapping[str, Any]) -> ServedOutcome:
    """Serve ``traffic`` with the checkout in ``folder``, which may be a stranger's code, in a child inside the walls.

    A child that ends before it can tell is an outcome too: its ``error`` says how.
    """
    house = house_of(folder)
    back = _in_child(folder, "serve", (house, dict(traffic)), OWN_S)
    if isinstance(back, str):
        return ServedOutcome(words=(), error=back)
    try:
        return ServedOutcome(
            words=tuple(tuple(int(token) for token in words) for words in back["words"]),
            error=str(back["error"]),
            where=str(back.get("where", "")),
            refused=tuple((int(number), str(why)) for number, why in back["refused"]),
            counts={str(name): int(count) for name, count in back["counts"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # a checkout may return anything
        return ServedOutcome(words=(), error=f"no outcome came back: {error!r}")


def unit_tests(folder: Path, names: Sequence[str] = (), own_s: float = TESTS_S) -> dict[str, str]:
    """Run a checkout's unit tests, or only the files ``names`` below it, in a child, for ``own_s`` seconds of a processor at
    most. Returns what each test raised, "" where it passed; one entry "" with a reason if the child ended before it could
    tell."""
    chosen = list(names) or sorted(p.relative_to(folder).as_posix() for p in (folder / "tests").glob("test_*.py"))
    back = _in_child(folder, "unit_tests", (str(folder), chosen), own_s)
    if isinstance(back, str):
        return {"": back}
    return {str(name): str(said) for name, said in back.items()} if isinstance(back, dict) else {"": "no result came back"}


def _in_child(folder: Path, entry: str, args: tuple[Any, ...], own_s: float) -> Any:
    """Return what the program's ``entry`` returns, or a sentence on how the child ended."""
    from dcplab import codec

    program = {"source": _DRIVE.read_text(encoding="utf-8"), "entry": entry, "folder": str(folder)}
    case = {"kind": "call", "args": codec.encode(args), "kwargs": codec.encode({}), "writes": []}
    ran = pool.run([program], [case], "cpu", own_s)
    for record in ran.records:
        if "returned" in record:
            return record["returned"]
        if "raised" in record:
            return f"{record['raised']['type']}: {record['raised']['message']}"
    return {"timeout": f"no answer within {own_s:g} s of a processor", "busy": BUSY}.get(
        ran.status, f"the process ended ({ran.status})"
    )


@functools.lru_cache(maxsize=256)
def _right(house: str, key: str) -> ServedOutcome:
    import json

    with files.scratch("right") as folder:
        return run(checkout.write(checkout.files(house), Path(folder)), json.loads(key))


def right(house: str, traffic: Mapping[str, Any]) -> ServedOutcome:
    """Serve ``traffic`` with the house's server as it is in the repository."""
    import json

    return _right(house, json.dumps(traffic, sort_keys=True))


def complaints(seen: ServedOutcome, right: ServedOutcome) -> list[str]:
    """Say what a user of ``seen`` may complain of, one sentence each; nothing if it is as good as the right run."""
    said = []
    if seen.error:
        said.append(f"the server ended: {seen.error}")
    if seen.refused != right.refused:
        said.append(f"{len(seen.refused)} requests were refused, and {len(right.refused)} should be")
    wrong = [i for i, words in enumerate(right.words) if i < len(seen.words) and tuple(seen.words[i]) != tuple(words)]
    if wrong and not seen.error:
        said.append(f"{len(wrong)} of {len(right.words)} answers are wrong, first that of request {wrong[0]}")
    if seen.error or wrong or not seen.counts:
        return said  # what was said otherwise takes another number of steps
    now, then = seen.counts, right.counts
    if now["lost"] > then["lost"]:
        said.append(f"{now['lost']} blocks are lost when nothing runs")
    if now["lost"] < then["lost"]:
        said.append(f"there are {then['lost'] - now['lost']} more free blocks than there are blocks")
    for name, what in _WANTED.items():
        if now[name] < KEPT * then[name]:
            said.append(f"{now[name]} {what}, of {then[name]}")
    if now["steps"] > SLOWER * then["steps"]:
        said.append(f"{now['steps']} steps, where {then['steps']} were enough")
    if now["rows"] > MORE * then["rows"]:
        said.append(f"a rank stores {now['rows']} rows of a layer, where {then['rows']} were the most")
    if now["preempted"] > 2 * then["preempted"] + 1:
        said.append(f"{now['preempted']} preemptions, where there were {then['preempted']}")
    return said
