"""The incident as an experiment: fresh server and three questions; two long requests; the same questions again.

A *story* is run on one engine and gives an `Outcome`: what was asked, what came, and what the watcher saw. How far the long
requests push the watermark is the story's *level*: ``below`` what one rank's buffers can address as locs, ``above`` it, as in
the report (about 1.4 times), or ``full``, to the last slot of the pool.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from dcplab.engine import defects as switches
from dcplab.engine import tokenizer
from dcplab.engine.allocator import DoubleFree
from dcplab.engine.arena import Damage
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.group import PATIENCE, PeerLost, Unlike
from dcplab.engine.pools import DeviceAssert
from dcplab.engine.rank_step import CapacityAlarm
from dcplab.engine.runner import Metrics, ServerCrash
from dcplab.engine.scheduler import BufferWatermark, Engine
from dcplab.engine.shared import Choices, Monitor
from dcplab.engine.space_tags import SpaceError
from dcplab.engine.tokenizer import Question
from dcplab.engine.watcher import Access, Hit, access_of
from dcplab.errors import CourseError

LEVELS = ("below", "above", "full")
RATIO = {"below": 0.95, "above": 1.4}  # the watermark the long requests leave, in rows of one rank's c-KV
VERDICTS = ("right", "silent corruption", "alarm", "crash", "refused")
# A wrong answer; a check, a crash or a refusal that ended the server; and what only a monitor tells: keys or LSEs of ranks that
# share too much, ranks that disagree on a token, a draft of which nothing is accepted, a changed canary, a top-k that chooses
# otherwise after a restore, or breaks ties otherwise than by position; pooled keys or a window that are
# another token's.
SIGNS = ("answer", "alarm", "crash", "refused", "sharding", "ranks", "draft", "canary", "selection", "stores")

Progress = Callable[[str, Engine], None]


@dataclass(frozen=True)
class Answer:
    """``when`` is the story's act: fresh, long, or again."""

    when: str
    question: Question
    got: str

    @property
    def right(self) -> bool:
        return self.got == self.question.answer


@dataclass
class Outcome:
    """The outcome of a story. ``verdict`` is one of `VERDICTS`. ``why``: the message of a crash, an alarm or a refusal, which
    was raised as ``error``."""

    verdict: str = "right"
    why: str = ""
    error: Exception | None = None
    answers: list[Answer] = field(default_factory=list)
    watermarks: list[BufferWatermark] = field(default_factory=list)
    largest_loc: int = -1
    first_misuse: Access | None = None
    first_outside: Access | None = None
    overwritten: dict[tuple[str, str], Hit] = field(default_factory=dict)
    canaries: list[Damage] = field(default_factory=list)
    monitor: Monitor = field(default_factory=Monitor)
    choices: Choices = field(default_factory=Choices)
    metrics: Metrics = field(default_factory=Metrics)
    holders: dict[int, str] = field(default_factory=dict)  # loc of a victim -> who held it
    seconds: float = 0.0

    @property
    def wrong(self) -> list[Answer]:
        return [a for a in self.answers if not a.right]

    @property
    def signs(self) -> tuple[str, ...]:
        """What gives a fault away, of `SIGNS`: () where nothing does."""
        seen = {
            "answer": self.wrong,
            self.verdict: self.verdict in ("alarm", "crash", "refused"),
            "sharding": self.monitor.alarm,
            "ranks": self.metrics.diverged,
            "draft": self.metrics.draft_dead,
            "canary": self.canaries,
            "stores": self.metrics.misplaced,
            "selection": self.metrics.selection_lost or self.choices.otherwise,
        }
        return tuple(sign for sign in SIGNS if seen.get(sign))


def settings(config: ServerConfig, defects: Iterable[str]) -> ServerConfig:
    """Return the config with everything that its defects need to be reachable: mixed batches, or a draft."""
    chosen = set(defects)
    for defect in switches.ALL:
        if defect.name in chosen:
            config = defect.reachable(config)
    return config


def default_level(defects: Iterable[str]) -> str:
    """Return the lowest level at which a set of defects can show: what #36989 leaves, and the draft's page, only at the last
    page."""
    levels = {switches.BY_NAME[name].level for name in defects}
    return min(levels, key=LEVELS.index, default="above")


END = timedelta(seconds=10)  # in which all processes see the end of a server that died, or wait for ranks that are gone
AGAIN = 3 * 2  # pages that the questions take when they are asked again: their ends, and the answers


TOPK = 32  # keys selected on a CPU. Fewer than a question has words, so that a wrong selection shows
FACT = 24  # words of the longest fact, from where it begins


def default_size(page_size: int, dcp_size: int, topk: int = TOPK) -> int:
    """Return a size C, in whole pages, at which the story has room at every level: what lies between one rank's rows and
    ``above`` holds the questions twice, and the two long requests are more tokens than one rank has rows."""
    width = page_size * dcp_size
    need = (_question_pages(width, topk) + AGAIN + 2) * width
    if dcp_size == 1:  # there is no watermark to pass
        return 2 * need
    return -(-int(need / (RATIO["above"] - 1) * 1.05) // page_size) * page_size


def _question_pages(width: int, topk: int) -> int:
    """Count the whole allocator pages that the three questions and their answers leave in the prefix cache."""
    return sum((len(q.prompt.split()) + q.words) // width for q in asked(width, topk))


def asked(width: int, topk: int, salt: int = 0) -> list[Question]:
    """Write the three questions for a server. Each is longer than top-k and its fact lies behind the first top-k positions,
    within the whole allocator pages of its beginning, which a prefix cache keeps."""
    length = max(2 * TOPK, 3 * width // 2, topk + TOPK)
    if length // width * width < topk + FACT:
        length = -(-length // width) * width
    return tokenizer.questions(length, salt, topk)


def check_room(config: ServerConfig, level: str) -> None:
    """Raise CourseError for a server on which the story cannot be told: the questions alone would reach the watermark."""
    room = _target(config, level) - _question_pages(config.width, config.topk)
    # Above: the capacity assert is evaluated only where there are more tokens than one rank has rows.
    few = level == "above" and config.dcp_size > 1 and room * config.width <= config.size + config.page_size
    # A document has its fact in its middle, and that must lie behind the first top-k positions.
    if few or room < 2 or room // 2 * config.width < 2 * config.topk + TOPK:
        raise CourseError(
            f"A pool of {config.size} rows ({config.pages} pages of {config.width} locs) is too small for this story: three "
            f"questions and two long requests must fit {level} one rank's rows. "
            f"A size of {default_size(config.page_size, config.dcp_size, config.topk)} will do."
        )


def _target(config: ServerConfig, level: str) -> int:
    """Count the allocator pages that may be held after the long requests."""
    if level == "full":
        return config.pages
    return min(int(RATIO[level] * (config.size + config.page_size)) // config.width - 1, config.pages) - AGAIN


def documents(engine: Engine, level: str, salt: int = 0, like: ServerConfig | None = None) -> list[Question]:
    """Write two long requests that bring the watermark to ``level`` of this server, or of one ``like`` it, given the pages
    held; more than two where two would not fit the ragged workspace."""
    config, ask = engine.config, 4
    width, held = config.width, config.pages - engine.allocator.available
    room = _target(like or config, level) - held
    fits = min(config.longest, config.workspace_rows - config.max_requests) // width - 1  # pages; one is for what follows up
    count = max(2, -(-room // fits))
    pages = [(room + i) // count for i in range(count)]
    # A prompt and all but the last word of its answer are stored, and ``<bos>`` is one more: the last page is used to its end.
    return [tokenizer.document(n * width - ask, seed, salt) for seed, n in enumerate(pages)]


def story(
    engine: Engine,
    level: str,
    progress: Progress | None = None,
    stored: bool = False,
    salt: int = 0,
    retract: bool | None = None,
    like: ServerConfig | None = None,
) -> Outcome:
    """Run the incident on a fresh engine. Crashes and alarms end it and are part of its outcome.

    ``stored``: the whole pages of the long requests are only written, as a transfer would; their last pages are extended as
    ever. The caches end up the same, and hours at full scale become minutes. ``salt``: other words (`text.questions`).
    ``retract``: whether memory pressure takes one request off the device in the last act; by default where that is defective.
    ``like``: the server whose level is meant, where this one has the same pages on fewer ranks.
    """
    check_room(like or engine.config, level)
    start, out = time.perf_counter(), Outcome()
    three = asked(engine.config.width, engine.config.topk, salt)
    force = any(switches.BY_NAME[d].retracts for d in engine.defects) if retract is None else retract
    try:
        _act(engine, "fresh", three, out, progress)
        long = documents(engine, level, salt, like)
        for document in long if stored else ():
            engine.preload(document.prompt)
        _act(engine, "long", long, out, progress)
        # With the pool full, two users follow up on each document: prefixes are shared, so there are more tokens than slots.
        more = [tokenizer.follow_up(document) for document in long] * 2 if level == "full" else []
        _act(engine, "again", more + three, out, progress, retract=force)
    except (ServerCrash, DeviceAssert) as error:
        out.verdict, out.why, out.error = "crash", str(error), error
    except CapacityAlarm as error:
        out.verdict, out.why, out.error = "alarm", str(error), error
    except (SpaceError, IndexError, DoubleFree) as error:  # typed or strict mode
        out.verdict, out.why, out.error = "refused", str(error), error
    else:
        out.verdict = "silent corruption" if out.wrong else "right"
    watcher = engine.watcher
    out.largest_loc, out.overwritten = engine.metrics.largest_loc, dict(watcher.overwritten)
    _tell_each_other(engine, out)
    out.canaries = engine.workers[0].arena.damage()
    out.monitor, out.metrics, out.choices = engine.shared.monitor, engine.metrics, engine.shared.choices
    out.holders = {h.loc: engine.owner_of(h.loc) for h in out.overwritten.values() if h.loc is not None}
    out.seconds = time.perf_counter() - start
    return out


def _tell_each_other(engine: Engine, out: Outcome) -> None:
    """Complete the outcome by what other processes saw: the first misuse and the first access outside, of the earliest step and
    there of the lowest ranks, and the highest indices. Raises Unlike in every process unless the server ended alike in all."""
    comm, watcher = engine.comm, engine.watcher
    seen = [access and access.plain() for access in (watcher.first_misuse, watcher.first_outside)]
    ended = f"{out.verdict} ({out.why})" if out.why else out.verdict
    cut_short = out.verdict in ("crash", "alarm", "refused")
    try:
        everyone = comm.share("the story's end", [out.verdict, ended, watcher.highest, *seen], END if cut_short else PATIENCE)
    except PeerLost:
        if not cut_short:
            raise
        ranks = f"ranks {comm.ranks[0]} to {comm.ranks[-1]}" if len(comm.ranks) > 1 else f"rank {comm.ranks[0]}"
        raise Unlike(
            f"The server ended on {ranks} only: {ended}. The others would wait for ever; one process shows all."
        ) from None
    if len({verdict for verdict, *_ in everyone}) > 1:
        what = "; ".join(f"process {i}: {one[1]}" for i, one in enumerate(everyone))
        raise Unlike(f"The server did not end alike on all ranks. {what}.") if comm.first_to_say() else SystemExit(2)
    highest = [one[2] for one in everyone]
    out.watermarks = [replace(w, highest=max(h.get(w.buffer, w.highest) for h in highest)) for w in engine.watermarks()]
    misuse, outside = ([one[i] for one in everyone if one[i]] for i in (3, 4))
    out.first_misuse, out.first_outside = (
        access_of(min(kind, key=lambda access: access["step"])) if kind else None for kind in (misuse, outside)
    )


def _act(
    engine: Engine, when: str, asked: list[Question], out: Outcome, progress: Progress | None, retract: bool = False
) -> None:
    """Ask, wait, and take down the answers of those that finished, also where the server dies on the way."""
    requests = []
    try:
        for i, question in enumerate(asked):
            request = engine.submit(question.prompt, question.words, question.name)
            requests.append((question, request))
            # In mixed mode requests come one by one, so that some decode while others extend.
            while engine.config.mixed and i + 1 < len(asked) and not request.output:
                _step(engine, when, progress)
        while engine.busy:
            _step(engine, when, progress)
            ready = [r for r in engine.running if not r.extending]
            if retract and ready:  # once, as memory pressure would do it
                engine.retract(ready[0])
                retract = False
    finally:
        out.answers += [Answer(when, q, engine.text(r)) for q, r in requests if r.finished]


def _step(engine: Engine, when: str, progress: Progress | None) -> None:
    engine.step()
    if progress:
        progress(when, engine)


def isolate_subsets() -> list[frozenset[str]]:
    """List the defects left by every subset of the five patches, from no patch to all of them."""
    names = switches.PATCHES
    subsets = [frozenset(n for i, n in enumerate(names) if not mask >> i & 1) for mask in range(1 << len(names))]
    return sorted(subsets, key=lambda left: (-len(left), [names.index(n) for n in sorted(left, key=names.index)]))
