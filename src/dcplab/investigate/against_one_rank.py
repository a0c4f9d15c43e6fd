"""Compares a faulty server with a server of one rank, layer by layer and step by step.

Both servers get the same requests. Their allocators have the same pages, so a request gets the same locs on both. What a token
has left in a layer (its index-K, its c-KV) can therefore be compared loc by loc, and what a layer computes (top-k, output)
token by token. The comparison ends after the first wrong word: from there on the two servers are fed different tokens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import torch

from dcplab.engine import ops
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.request import Request
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.investigate import hidden_cases, local_faults
from dcplab.investigate.hidden_cases import Setup
from dcplab.investigate.local_faults import Fault

QUANTITIES = ("index-K", "c-KV", "top-k", "output")
CLOSE = 2e-2  # tolerance of a bf16 output: merging ranks rounds by less, a wrong key changes more


@dataclass(frozen=True)
class ComparedStep:
    """The state that one step left behind. ``values[quantity][layer]``: checksums by loc, positions, or outputs."""

    phase: str
    values: dict[str, list[torch.Tensor]]
    held: torch.Tensor  # bool, by loc: a request or the prefix cache holds it
    words: tuple[tuple[int, ...], ...]  # the words of every request so far


@dataclass(frozen=True)
class LayerDifference:
    """The first step at which a layer's quantity differs. ``count`` of ``of`` locs, or tokens, differ."""

    step: int
    phase: str
    count: int
    of: int


class _Stop(Exception):
    """Ends the comparison: nothing after this step can be compared."""


def layer_by_layer(setup: Setup, say=lambda text: None) -> tuple[dict[tuple[int, str], LayerDifference], int]:
    """Return ``{(layer, quantity): LayerDifference}`` for all that differ up to the first wrong word, and the step of that word
    (0: none)."""
    right: list[ComparedStep] = []
    _play(setup, local_faults.single(setup.config), Fault(), lambda step: say(f"one rank, step {step}"), right.append)
    differences: dict[tuple[int, str], LayerDifference] = {}
    wrong = step = 0

    def compare(now: ComparedStep) -> None:
        nonlocal wrong, step
        want, step = right[step], step + 1
        for quantity in QUANTITIES:
            for layer, pair in enumerate(zip(now.values[quantity], want.values[quantity], strict=True)):
                if (layer, quantity) not in differences and (d := _differ(quantity, *pair, want.held)) is not None:
                    differences[layer, quantity] = LayerDifference(step, now.phase, *d)
        if now.words != want.words:
            wrong = step
            raise _Stop

    with contextlib.suppress(_Stop):
        _play(setup, setup.config, setup.fault, lambda step: say(f"this server, step {step}"), compare)
    return differences, wrong


def _play(
    setup: Setup, config: ServerConfig, fault: Fault, say: Callable[[int], None], after: Callable[[ComparedStep], None]
) -> None:
    """Play the setup's story on a server. Call ``after`` with the `ComparedStep` that each step left behind."""
    selected: list[torch.Tensor] = []
    requests: dict[int, Request] = {}

    def note(layer: int, rank: int, positions: torch.Tensor) -> None:
        if rank == 0:  # index-K is replicated, so every rank has the same top-k
            selected.append(positions.clone())

    def step(when: str, engine: Engine) -> None:
        say(engine.metrics.steps)
        requests.update({r.id: r for r in engine.running})
        captured = engine.shared.captured
        assert captured is not None  # asked for when the engine was made
        outs = [kept["out"] for kept in captured]
        values = {"index-K": _index_k(engine), "c-KV": _ckv(engine), "top-k": list(selected), "output": outs}
        captured.clear()
        selected.clear()
        words = tuple(tuple(r.output) for r in requests.values())
        after(ComparedStep(engine.watcher.phase, values, _held(engine), words))

    with one_thread():
        hidden_cases.play(local_faults.engine(config, fault, note, capture=True), setup, step)


def _held(engine: Engine) -> torch.Tensor:
    """Return a bool for each loc: it holds a token of a running request or of the prefix cache."""
    pages = torch.tensor([page > 0 and engine.allocator.holders(page) > 0 for page in range(engine.allocator.pages + 1)])
    held = pages.repeat_interleave(engine.config.width)
    for request in engine.running:  # a request gets its pages before its tokens are stored
        held[engine.allocator.locs(request.pages, request.stored, len(request.pages) * engine.config.width)] = False
    return held


def _ckv(engine: Engine) -> list[torch.Tensor]:
    """Return checksums ``[1, locs]`` of c-KV, one tensor a layer. Reads each loc where the rules put it: on its owner, in row
    loc // D."""
    d, rows = engine.config.dcp_size, (engine.allocator.pages + 1) * engine.config.page_size
    layers = []
    for layer in range(engine.config.layers):
        sums = torch.empty(rows * d, dtype=torch.int64)
        for worker in engine.workers:
            sums[worker.rank :: d] = _checksum(worker.arena.view(f"ckv.{layer}")[:rows].contiguous().view(torch.int64))
        layers.append(sums[None])
    return layers


def _index_k(engine: Engine) -> list[torch.Tensor]:
    """Return checksums ``[ranks, locs]`` of index key and scale, one tensor a layer. Reads without a guard, as the kernel
    does."""
    locs = torch.arange((engine.allocator.pages + 1) * engine.config.width)
    layers = []
    for layer in range(engine.config.layers):
        sums = []
        for worker in engine.workers:
            buffer = worker.arena.buffers[f"index_k.{layer}"]
            safe = torch.where(locs < buffer.reach, locs, -1)
            keys, scales = ops.read_index_k(worker.arena.window(buffer.name), safe, engine.config.page_size)
            whole = torch.cat([keys.view(torch.uint8), scales.reshape(-1, 1).view(torch.uint8)], 1).to(torch.int64)
            sums.append(_checksum(whole))
        layers.append(torch.stack(sums))
    return layers


def _checksum(words: torch.Tensor) -> torch.Tensor:
    """Sum ``[n, k]`` int64 words to checksums ``[n]`` that wrap around. Unequal words collide only by chance."""
    gen = torch.Generator().manual_seed(1)
    odd = torch.randint(-(2**62), 2**62, (words.shape[1],), generator=gen) * 2 + 1
    return (words * odd).sum(1)


def _differ(quantity: str, got: torch.Tensor, want: torch.Tensor, held: torch.Tensor) -> tuple[int, int] | None:
    """Return (how many differ, of how many), or None where all agree."""
    if quantity in ("index-K", "c-KV"):
        unlike, of = (got != want).any(0) & held, int(held.sum())  # a difference on any rank counts
    elif quantity == "top-k":
        unlike, of = (got != want).any(-1), len(want)
    else:
        unlike, of = ((got - want).abs() > CLOSE * (1 + want.abs())).flatten(1).any(-1), len(want)
    return (int(unlike.sum()), of) if unlike.any() else None
