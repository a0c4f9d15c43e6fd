"""Runs a wiring: a small server with given paths answers prompts. A check of lab 05 runs it for a learner's wiring in a child,
and for the standard, one rank, in the parent.

Data goes in and out as plain values, so that it crosses to a child and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from dcp_kernels.reference import read_index_k

from dcplab.engine import backend, index_spaces, ops
from dcplab.engine.backend import LayerStep
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.index_spaces import Layout
from dcplab.engine.model import CODE
from dcplab.engine.pools import DeviceAssert
from dcplab.engine.rank_step import CapacityAlarm, RankStep
from dcplab.engine.runner import ServerCrash
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import SpaceError
from dcplab.engine.tokenizer import Tokenizer

ROLES = ("decode", "verify", "extend", "draft")
KINDS = ("ckv", "index_k")
COUNTS = (
    *KINDS,  # tokens that are not where they belong after a step
    "early",  # reads, of either kind, before this step's tokens had been stored
    "read",  # keys given to attention
    "due",  # keys of top-k that lie on this rank
    "off",  # outputs, by token, whose witness brought rows in other shares than it must
)
LAYERS, WORDS = 2, 512  # small model and vocabulary: a check starts hundreds of servers
SIGNS, SLACK = 3 * CODE, 0.05  # the first numbers of a c-KV row are signs; tolerance above 1 of a mean of bf16 rows

Wiring = Callable[[LayerStep], list[torch.Tensor]]
Rounds = Sequence[Sequence[Sequence[int]]]  # rounds of prompts, each token ids


@dataclass
class Tally:
    """Counts of a wiring's accesses. ``at``: by layer, rank and one of `COUNTS`."""

    at: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    selected: Counter[int] = field(default_factory=Counter)  # by rank: keys of its top-k
    large: int = 0  # outputs that no mean of stored rows can be

    def of(self, what: str) -> int:
        return sum(n for (*_, kind), n in self.at.items() if kind == what)

    def places(self) -> list[list[int]]:
        """Return a list for each layer and rank: these two, then its counts in the order of `COUNTS`."""
        return [[*place, *(self.at[*place, what] for what in COUNTS)] for place in sorted({key[:2] for key in self.at})]


@dataclass
class _Counted(RankStep):
    tally: Tally = field(default_factory=Tally)
    stored: set[str] = field(default_factory=set)

    def count(self, what: str, n: int) -> None:
        self.tally.at[self.layer, self.rank, what] += n

    def write_ckv(self, locs: torch.Tensor, raw: bool = False) -> None:
        self.stored.add("ckv")
        super().write_ckv(locs, raw)

    def write_index_k(self, locs: torch.Tensor) -> None:
        self.stored.add("index_k")
        super().write_index_k(locs)

    def select_paged(self) -> torch.Tensor:
        positions = self._selected(super().select_paged())
        requests = self.batch.req_pool_indices[self.batch.req_of_token][:, None]
        locs = self.shared.req_to_token[requests, positions.long().clamp(min=0)]
        owned = index_spaces.owner_rank(locs, *self.shared.config.layout) == self.rank
        self.count("due", int(((positions >= 0) & (self.replicated | owned)).sum()))
        return positions

    def select_ragged(self) -> torch.Tensor:
        return self._selected(super().select_ragged())

    def attend(self, rows: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.count("early", "ckv" not in self.stored)
        column = torch.arange(rows.shape[-1], device=rows.device)
        self.count("read", int(((rows >= 0) & (column < counts[:, None])).sum()))
        return super().attend(rows, counts)

    def _selected(self, positions: torch.Tensor) -> torch.Tensor:
        self.count("early", "index_k" not in self.stored)
        self.tally.selected[self.rank] += int((positions >= 0).sum())
        return positions


_Counted.__name__ = RankStep.__name__  # an AttributeError names the class, and learners know no other


def _counted(path: Wiring, tally: Tally) -> Wiring:
    def counted(step: LayerStep) -> list[torch.Tensor]:
        ranks = [_Counted(**vars(rank), tally=tally) for rank in step.ranks]
        outs = path(LayerStep(step.shared, step.batch, ranks, step.layer))
        for rank in ranks:
            for kind, n in _lost(rank).items():
                rank.count(kind, n)
        tally.large += sum(int((out[..., :SIGNS].abs() > 1 + SLACK).any()) for out in outs)
        for rank, out in zip(ranks, outs, strict=True):
            rank.count("off", _off(rank, out))
        return outs

    return counted


def _lost(rank: RankStep) -> dict[str, int]:
    """Count this step's tokens that are missing in the rank's pools: c-KV at the row of its owner (the draft's at the loc),
    index keys at the loc."""
    model, activations, locs, arena = rank.shared.model, rank.worker.activations, rank.batch.out_cache_loc, rank.worker.arena
    layout = Layout() if rank.replicated else rank.shared.config.layout
    mine = index_spaces.owner_rank(locs, *layout) == (0 if rank.replicated else rank.rank)
    rows = arena.view(rank.ckv)[index_spaces.local_row(locs[mine], *layout)]
    keys, scales = model.index_keys(activations, rank.layer)
    there, scale = read_index_k(arena.view(rank.index_k), locs, rank.shared.config.index_page)
    other = (there.view(torch.uint8) != keys.view(torch.uint8)).any(1) | (scale != scales)
    return {"ckv": int((rows != rank.latent[mine]).any(1).sum()), "index_k": int(other.sum())}


def _off(rank: RankStep, out: torch.Tensor) -> int:
    return int(rank.shared.model.doubted(out, rank.worker.activations, rank.layer).sum())


def serve(
    rounds: Sequence[Sequence[Sequence[int]]],
    new: int,
    dcp_size: int,
    *,
    page_size: int = 4,
    high: bool = False,
    chunk: int = 64,
    draft: int = 0,
    mixed: bool = False,
    paths: Mapping[str, Callable[..., Any]] | None = None,
    device: str = "cpu",
    kernels: bool = False,
    typed: bool = False,
) -> dict[str, Any]:
    """Answer ``rounds`` of prompts (token ids), the prompts of a round at once, ``new`` tokens each.

    ``high``: the pool is just large enough, so that most locs lie beyond one rank's rows. Otherwise one rank's rows cover all
    locs.
    ``paths``: "decode", "verify", "extend", "draft" -> wirings other than the standard ones.
    ``kernels``: run the real kernels on a CPU too, Triton's interpreted (the process must have started so) and TileLang's
    through its C target. ``typed`` lets SpaceError out at the first index of a wrong space.
    The prefix cache keeps the tokens of earlier rounds.

    Returns ``tokens`` (a list a prompt), ``kept`` (draft tokens accepted and proposed), ``apart`` (words on which ranks differ;
    rank 0's is taken), ``died`` (the reason why the server died, or ""), and the `Tally` of the given paths: ``keys`` (of
    decode and verify: read, selected), ``early``, ``lost``, ``large``, ``off``; ``places``, by role, as `Tally.places`.
    """
    tally = {role: Tally() for role in ROLES}
    wired = replace(backend.STANDARD, **{role: _counted(path, tally[role]) for role, path in (paths or {}).items()})
    real = kernels or device == "cuda"
    server = _server(rounds, new, dcp_size, 64 if real else page_size, high, chunk, draft, mixed, real)
    if device == "cpu":
        server = replace(server, dtype=torch.float32 if real else torch.bfloat16)
    engine = Engine(server, comm=Local(dcp_size, device), watch=False, typed=typed, paths=wired, tokenizer=Tokenizer(WORDS))
    with ops.kernels_on_cpu() if kernels and device == "cpu" else nullcontext():
        return _answered(engine, rounds, new, mixed, tally)


def _answered(engine: Engine, rounds: Rounds, new: int, mixed: bool, tally: Mapping[str, Tally]) -> dict[str, Any]:
    tokens, died = [], ""
    for prompts in rounds:
        requests = []
        try:
            for prompt in prompts:
                requests.append(engine.submit(prompt, new))
                # In mixed batches some decode while others extend, so prompts come one by one.
                while mixed and prompt is not prompts[-1] and not requests[-1].output:
                    engine.step()
            engine.run()
        except (ServerCrash, DeviceAssert, CapacityAlarm) as error:
            died = str(error)
        tokens += [list(r.output) for r in requests]
        if died:
            break
    m, one = engine.metrics, [tally["decode"], tally["verify"]]
    return {
        "tokens": tokens,
        "kept": [m.accepted, m.proposed],
        "apart": m.diverged,
        "died": died,
        "keys": [sum(t.of("read") for t in one), sum(max(t.selected.values(), default=0) for t in one)],
        "early": sum(t.of("early") for t in tally.values()),
        "lost": {kind: sum(t.of(kind) for t in tally.values()) for kind in KINDS},
        "large": sum(t.large for t in tally.values()),
        "off": sum(t.of("off") for t in tally.values()),
        "places": {role: t.places() for role, t in tally.items() if t.at},
    }


def first_misuse(**given: Any) -> str:
    """Return what the typed spaces say of a wiring on the same rounds: the first index of a wrong space, or ""."""
    try:
        serve(**given, typed=True)
    except SpaceError as error:
        return str(error)
    return ""


def _server(
    rounds: Rounds,
    new: int,
    dcp_size: int,
    page_size: int,
    high: bool,
    chunk: int,
    draft: int,
    mixed: bool,
    real: bool,
) -> ServerConfig:
    """Make the server. ``real``: meet the real kernels' demands, among them heads in sixteens and pages of 64."""
    width = page_size * dcp_size
    # Every prompt keeps its own pages, for its cached tokens, its answer and a draft's guesses.
    pages = sum(-(-(len(p) + new + draft) // width) + 1 for prompts in rounds for p in prompts)
    return ServerConfig(
        size=pages * page_size if high else (pages + 1) * width,
        page_size=page_size,
        dcp_size=dcp_size,
        layers=LAYERS,
        heads=16 if real else 2,
        index_heads=32 if real else 3,
        veto=False,  # `Tally.off` counts what the witness sees, so that it is said in other words than "wrong"
        topk=8,  # far fewer than a prompt has tokens: where all are selected, their order does not show
        chunk=chunk,
        mixed=mixed,
        draft_tokens=draft,
    )
