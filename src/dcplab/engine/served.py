"""A wiring at work: a small server with given paths answers prompts. What a check of lab 05 runs, for a learner's wiring in a
child and for one rank, as the standard, in the parent.

Plain data in and out, so that it crosses to a child and back.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dcplab.engine import backend
from dcplab.engine.backend import CapacityAlarm, Paths
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.pools import DeviceAssert
from dcplab.engine.runner import ServerCrash
from dcplab.engine.scheduler import Engine
from dcplab.engine.typed import SpaceError

LAYERS = 2
TOPK = 64


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
    paths: Paths = backend.STANDARD,
    device: str = "cpu",
    typed: bool = False,
) -> dict:
    """Answer ``rounds`` of prompts (token ids), the prompts of a round at once, ``new`` tokens each.

    ``high``: the pool is just large enough, so that most locs lie beyond one rank's rows; else one rank's rows cover all locs.
    What a round stored stays in the prefix cache. Gives ``tokens`` (a list a prompt), ``kept`` (draft tokens accepted and
    proposed) and ``died`` (why the server died, or ""). ``typed`` lets SpaceError out at the first index of a wrong space.
    """
    server = _server(rounds, new, dcp_size, 64 if device == "cuda" else page_size, high, chunk, draft, mixed, device)
    engine = Engine(server, comm=Local(dcp_size, device), watch=False, typed=typed, paths=paths)
    tokens, died = [], ""
    for prompts in rounds:
        requests = []
        try:
            for prompt in prompts:
                requests.append(engine.submit(prompt, new))
                # In mixed batches some decode while others extend: so they come one by one.
                while mixed and prompt is not prompts[-1] and not requests[-1].output:
                    engine.step()
            engine.run()
        except (ServerCrash, DeviceAssert, CapacityAlarm) as error:
            died = str(error)
        tokens += [list(r.output) for r in requests]
        if died:
            break
    return {"tokens": tokens, "kept": [engine.metrics.accepted, engine.metrics.proposed], "died": died}


def first_misuse(**given) -> str:
    """What the typed spaces say of a wiring, on the same rounds: the first index of a wrong space, or ""."""
    try:
        serve(**given, typed=True)
    except SpaceError as error:
        return str(error)
    return ""


def _server(rounds, new, dcp_size, page_size, high, chunk, draft, mixed, device) -> ServerConfig:
    gpu, width = device == "cuda", page_size * dcp_size
    # Every prompt keeps its own pages: what is cached of it, and what its answer and a draft's guesses take.
    pages = sum(-(-(len(p) + new + draft) // width) + 1 for prompts in rounds for p in prompts)
    return ServerConfig(
        size=pages * page_size if high else (pages + 1) * width,
        page_size=page_size,
        dcp_size=dcp_size,
        layers=LAYERS,
        heads=16 if gpu else 1,
        index_heads=32 if gpu else 1,
        topk=TOPK,
        chunk=chunk,
        mixed=mixed,
        draft_tokens=draft,
        dtype=torch.bfloat16,
    )
