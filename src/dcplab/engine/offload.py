"""A request off the device and back: its pages, its share of the pools, and the host's room.

Stands for SGLang's ``Req.offload_kv_cache`` and ``load_kv_cache`` of a decode node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from dcplab.engine.request import Request
from dcplab.engine.space_tags import Space, tag
from dcplab.errors import CourseError

if TYPE_CHECKING:
    from dcplab.engine.scheduler import Engine


def retract(engine: Engine, request: Request) -> None:
    """Save a decoding request's share of every pool on the host, and free its pages; see `Engine.retract`."""
    engine.metrics.retractions += 1
    if not engine.host.reserve(request.name, request.stored):
        _forget(engine, request)
        return
    engine.watcher.phase = "retract"
    locs = _locs(engine, request.pages, request.stored)
    request.saved = [pool.backup(locs, request.held_req_pool_idx) for pool in engine.pools]
    request.left_pages = list(request.pages)
    engine.leave(request)
    engine.retracted.appendleft(request)


def _forget(engine: Engine, request: Request) -> None:
    """Drop what a request has stored, and put it in front of the queue."""
    if len(request.tokens) > engine.config.workspace_rows - engine.config.max_requests:
        raise CourseError(f"{engine.host.refusals[-1]} {request.name} has outgrown the workspace and cannot be computed anew.")
    engine.leave(request)
    request.stored = 0
    engine.waiting.appendleft(request)
    engine.metrics.recomputed += 1


def resume(engine: Engine, request: Request) -> None:
    """Give a retracted request new pages, hence new locs, and put its share back. Backup and restore translate on their own."""
    engine.watcher.phase = "resume"
    engine.allocator.grow(request.pages, request.stored + 1)
    request.req_pool_idx = engine.req_to_token_pool.alloc()
    engine.place(request, 0, request.stored)
    locs = to = _locs(engine, request.pages, request.stored)
    if "restore_old_locs" in engine.defects:
        to = _locs(engine, request.left_pages, request.stored)
    for pool, saved in zip(engine.pools, request.saved, strict=True):
        pool.restore(saved, to, request.held_req_pool_idx)
        if engine.watcher.on:
            chosen, again = pool.chosen_again(saved, locs, engine.config.topk)
            engine.metrics.chosen += chosen
            engine.metrics.chosen_again += again
    engine.host.give_back(request.stored)
    request.saved = []
    engine.running.append(request)


def _locs(engine: Engine, pages: Sequence[int], count: int) -> torch.Tensor:
    return tag(engine.allocator.locs(pages, 0, count).to(engine.device), Space.LOC, layout=engine.config.layout)
