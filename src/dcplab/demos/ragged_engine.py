"""Runs two requests in one extend step of the engine, with ids of the right and of the wrong kind: the servers of lab 04.

Everything runs on the CPU, in torch. Prefixes are stored first, so that an extend has something to gather. Top-k is 1, so that
one id decides one word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from dcplab.engine import backend, ops
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.rank_step import RankStep
from dcplab.engine.request import Request
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread

# Pages of 4 rows on two ranks. Two layers, since a word takes two looks: the first finds the place, the second reads the word
# there.
SIZES: dict[str, Any] = dict(size=96, page_size=4, dcp_size=2, layers=2, topk=1, chunk=64, max_requests=4)
TOY = ServerConfig(**SIZES, heads=1, index_heads=1, witness=False)  # one key a query, to be followed

# Each prompt ends with words that it began with, so its next word is known. The prompts share no word but the full stop.
PROMPTS = {
    "A": "the red fox hides under the old bridge . where ? under the",
    "B": "a blue whale sings below a grey cloud all day . so below a",
}
NEXT = {"A": "old bridge .", "B": "grey cloud all"}


@dataclass(frozen=True)
class Look:
    """One look of a request's last token at its context, in one layer on rank 0.

    ``position``: the one that top-k picked. ``index``: the id that attention got. ``wanted``: the ragged index of the picked
    token.
    ``rows``: the size of the workspace. ``found``: (request, position) of the token that lies at ``index``, or None if it is no
    token of this step.
    """

    layer: int
    request: str
    position: int
    index: int
    wanted: int
    rows: int
    found: tuple[str, int] | None


@dataclass
class RaggedRun:
    """A server that has answered.

    ``said``: a request's words by its name. ``looks``: those of the first extend step with several requests. ``lse_shift``: the
    amount that a merge over ranks added to the LSE, or None without a merge.
    """

    engine: Engine = field(init=False)
    said: dict[str, str] = field(default_factory=dict)
    looks: list[Look] = field(default_factory=list)
    lse_shift: float | None = None


Ids = Callable[[RankStep, torch.Tensor], torch.Tensor]


def as_they_come(rank: RankStep, positions: torch.Tensor) -> torch.Tensor:
    """Return positions as ragged indices: the ids of a server that forgets the offset."""
    return positions


def paged(rank: RankStep, positions: torch.Tensor) -> torch.Tensor:
    """Return PAGED ids: locs."""
    return rank.to_locs(positions)


def residue(rank: RankStep, positions: torch.Tensor) -> torch.Tensor:
    """Return the ids of #36989 as it stood: RAGGED in an extend, but PAGED in a mixed batch, which gathers too."""
    return paged(rank, positions) if rank.batch.forward_mode == "mixed" else ragged(rank, positions)


def ragged(rank: RankStep, positions: torch.Tensor) -> torch.Tensor:
    """Return RAGGED ids: indices of the workspace."""
    return rank.to_ragged(positions)


def gathering(ids: Ids, run: RaggedRun, merge: bool = False) -> Callable:
    """Build an extend that gathers every prefix into the workspace and attends to it by ``ids``.

    ``merge``: merge over ranks afterwards, as decode does. Notes the looks of the first batch of several requests in ``run``.
    """

    def extend(step: backend.LayerStep) -> list[torch.Tensor]:
        for rank in step.ranks:
            rank.write_ckv(step.batch.out_cache_loc)
            rank.write_index_k(step.batch.out_cache_loc)
        shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
        parts = []
        for rank in step.ranks:
            rank.assemble(shards)
            positions = rank.select_ragged()
            given = ids(rank, positions)
            if rank.rank == 0 and len(step.batch.req_pool_indices) > 1:
                _note(run, step, positions, given)
            parts.append(rank.attend_ragged_lse(given))
        if not merge:
            return [out for out, _ in parts]
        merged = step.merge(parts)
        _, lse = ops.merge_lse(step.all_gather([o for o, _ in parts]), step.all_gather([v for _, v in parts]))
        run.lse_shift = float((lse - parts[0][1]).max())
        return merged

    return extend


def _note(run: RaggedRun, step: backend.LayerStep, positions: torch.Tensor, given: torch.Tensor) -> None:
    """Note the looks of each request's last token, once for each layer. Later steps with several requests are not noted."""
    batch = step.batch
    if any(look.layer >= step.layer for look in run.looks):
        return
    name_of = {r.req_pool_idx: r.name for r in run.engine.running}
    names = [name_of[i] for i in batch.req_pool_indices.tolist()]
    cu = batch.cu_seqlens_k.tolist()
    last = (torch.cumsum(batch.extend_lens, 0) - 1).tolist()
    for i, token in enumerate(last):
        position, index = int(positions[token, 0]), int(given[token, 0])
        at = next((k for k in range(len(names)) if cu[k] <= index < cu[k + 1]), None)
        found = None if at is None else (names[at], index - cu[at])
        run.looks.append(Look(step.layer, names[i], position, index, cu[i] + position, batch.total_k, found))


def serve(ids: Ids | None, defects: Iterable[str] = (), merge: bool = False, words: int = 3) -> RaggedRun:
    """Store the first pages of both prompts, extend both in one step, and decode. ``ids`` None: use the engine's own wiring,
    with its ``defects``."""
    run = RaggedRun()
    with one_thread():
        extend = backend.extend if ids is None else gathering(ids, run, merge)
        run.engine = Engine(TOY, defects, Local(TOY.dcp_size), paths=replace(backend.STANDARD, extend=extend))
        for prompt in PROMPTS.values():
            run.engine.preload(prompt)
        asked = [run.engine.submit(prompt, words, name) for name, prompt in PROMPTS.items()]
        run.engine.run()
    run.said = {r.name: run.engine.text(r) for r in asked}
    return run


def serve_mixed(ids: Ids, words: int = 4) -> RaggedRun:
    """Submit B while A decodes, so one step takes A's next token and B's whole prompt: a mixed batch."""
    run = RaggedRun()
    with one_thread():
        extend = gathering(ids, run)
        config = replace(TOY, mixed=True)
        run.engine = Engine(config, (), Local(config.dcp_size), paths=replace(backend.STANDARD, extend=extend))
        asked: list[Request] = [run.engine.submit(PROMPTS["A"], words, "A")]
        while not asked[0].output:
            run.engine.step()
        run.engine.preload(PROMPTS["B"])
        asked.append(run.engine.submit(PROMPTS["B"], words, "B"))
        run.engine.run()
    run.said = {r.name: run.engine.text(r) for r in asked}
    return run


def word(run: RaggedRun, request: str, position: int) -> str:
    """Return the word at a position of a request. ``<bos>`` stands at 0."""
    tokens = run.engine.tokenizer.encode(PROMPTS[request])
    said = run.engine.tokenizer.encode(run.said[request])[1:]
    return run.engine.tokenizer.decode([[*tokens, *said][position]])
