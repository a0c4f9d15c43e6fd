"""A retraction as an experiment, and traffic alone: what lab 06 opens with.

`episode` is a decode node in small. A *tenant* asks for vault 17, is answered and leaves. Then *mine* asks for vault 17 too,
with another answer in its own prompt. After one word it is retracted, and it comes back to the pages that the tenant had. What
the restore should overwrite there is the tenant's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dcplab.engine import defects as switches
from dcplab.engine import scenario, tokenizer
from dcplab.engine.allocator import DoubleFree, PagedAllocator
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.pools import DeviceAssert
from dcplab.engine.rank_step import CapacityAlarm
from dcplab.engine.runner import Metrics, ServerCrash
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import SpaceError
from dcplab.engine.tokenizer import Question

TENANT, MINE = "the silver harp beneath blue snow .", "the copper violin under green moss ."
LENGTH = 60  # words of a prompt


@dataclass(frozen=True)
class Episode:
    """What `episode` saw. ``tenants_words``: what the tenant was answered. ``question`` and ``got``: mine. ``old_locs`` and
    ``new_locs``: of mine's positions before the retraction and after the return; the latter empty where it never came back.
    ``why``: the message that ended the server. ``chosen_again`` of ``chosen`` positions: see `HybridPool.chosen_again`."""

    question: Question
    tenants_words: str
    got: str
    old_locs: list[int]
    new_locs: list[int]
    rows: int
    why: str
    metrics: Metrics

    @property
    def right(self) -> bool:
        return self.got == self.question.answer

    @property
    def someone_elses(self) -> bool:
        """Mine was answered with words of the tenant's answer that are not in its own."""
        own = {*self.question.answer.split(), *self.question.prompt.split()}
        return any(word in self.tenants_words.split() and word not in own for word in self.got.split())


def vault(answer: str, before: int, seed: int) -> Question:
    """Write a prompt of about `LENGTH` words in which ``answer`` follows "vault 17 opens for", behind ``before`` words."""
    ask = "question: which vault 17 opens for"
    early = tokenizer.filler(before, seed)
    used = before + len(f"note: vault 17 opens for {answer} {ask}".split())
    prompt = f"{early} note: vault 17 opens for {answer} {tokenizer.filler(max(2, LENGTH - used), seed + 1)} {ask}"
    return Question("vault 17", prompt, answer)


def episode(
    defects: str | Iterable[str] = "none",
    dcp_size: int = 4,
    spare: int = 2,
    *,
    page_size: int = 4,
    attach: Callable[[Engine], None] = lambda engine: None,
    **modes: Any,
) -> Episode:
    """Run it on a server with these switches, on the CPU. A crash, an alarm or a refusal ends it and is in ``why``.

    ``attach`` is called with the server before it starts. ``modes``: arguments of `Engine`, such as ``typed``.
    ``spare``: pages that neither of the two needs. With few the freed ones are merged, and mine comes back to the tenant's.
    With many (60) it gets fresh ones, and all of its locs are below the rows that a rank has.
    """
    chosen = switches.parse(defects)
    tenant, mine = vault(TENANT, 18, 500), vault(MINE, 27, 600)
    width = page_size * dcp_size
    pages = 2 * (-(-(LENGTH + mine.words + 2) // width)) + spare
    config = ServerConfig(
        size=pages * page_size, page_size=page_size, dcp_size=dcp_size, topk=16, prefix_cache=False, need_sort=True
    )
    engine = Engine(scenario.settings(config, chosen), chosen, Local(dcp_size), **modes)
    attach(engine)
    old: list[int] = []
    new: list[int] = []
    why = ""
    first = engine.submit(tenant.prompt, tenant.words, "the tenant")
    request = None
    try:
        engine.run()
        request = engine.submit(mine.prompt, mine.words, "mine")
        while not request.output:
            engine.step()
        old = engine.allocator.locs(request.pages, 0, request.stored).tolist()
        engine.retract(request)
        engine.step()
        new = engine.allocator.locs(request.pages, 0, len(old)).tolist()
        engine.run()
    except (ServerCrash, DeviceAssert, CapacityAlarm, SpaceError, IndexError, DoubleFree) as error:
        why = str(error)
    got = engine.text(request) if request else ""
    rows = engine.workers[0].arena.buffers["ckv.0"].slots
    return Episode(mine, engine.text(first), got, old, new, rows, why, engine.metrics)


def traffic(
    requests: int = 40, tokens: int = 150, need_sort: bool = True, size: int = 1024, page_size: int = 8, dcp_size: int = 4
) -> list[int]:
    """Return the largest loc of each of ``requests`` requests of ``tokens`` tokens, each freed before the next is stored.

    On a prefill or decode node (``need_sort``) they pass the rows of one rank, ``size + page_size``; elsewhere never.
    """
    allocator = PagedAllocator(size, page_size, dcp_size, need_sort)
    largest = []
    for _ in range(requests):
        pages: list[int] = []
        allocator.grow(pages, tokens)
        largest.append(int(allocator.locs(pages, 0, tokens).max()))
        allocator.release(pages)
    return largest
