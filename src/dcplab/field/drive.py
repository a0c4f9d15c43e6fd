"""Runs in the sandbox's child: the traffic of a case on the server that lies in a folder beside it, or its unit tests.

The text of this module is the program that the child runs, and the checkout its folder. So it imports nothing of the course.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

MOST_STEPS = 400


def serve(house: str, traffic: dict[str, Any]) -> dict[str, Any]:
    """Answer the requests of ``traffic``. Returns what a user and a dashboard see: see `dcplab.field.outcome.ServedOutcome`."""
    torch.set_num_threads(1)
    server: Any = {"quay": _Quay, "engine": _Engine}[house](traffic["config"])
    requests: list[Any] = []
    seen: dict[str, Any] = {"refused": [], "error": ""}
    try:
        for number in range(1 + max(asked["round"] for asked in traffic["requests"])):
            _round(server, [a for a in traffic["requests"] if a["round"] == number], requests, seen)
        seen["counts"] = server.counts()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        seen["error"] = f"{type(error).__name__}: {error}"[:400]
        seen["where"] = f"{Path(at.filename).name}:{at.lineno}"
        seen["counts"] = {}
    seen["words"] = [[int(token) for token in server.output(request)] if request else [] for request in requests]
    return seen


def _round(server: Any, asked: list[dict[str, Any]], requests: list[Any], seen: dict[str, Any]) -> None:
    """Submit each request ``after`` so many steps of the round, and step until none is left."""
    first, left = server.steps, sorted(asked, key=lambda one: one["after"])
    while left or server.busy:
        while left and (left[0]["after"] <= server.steps - first or not server.busy):
            one = left.pop(0)
            try:
                requests.append(server.submit(one["tokens"], one["max_tokens"]))
            except server.refusal as error:
                seen["refused"].append([len(requests), str(error)[:200]])
                requests.append(None)
            if not left and not server.busy:
                return
        if server.steps >= MOST_STEPS:
            raise TimeoutError(f"{sum(r is not None for r in requests)} requests, not done after {MOST_STEPS} steps")
        server.step()


class _Quay:
    def __init__(self, config: dict[str, Any]):
        quay = importlib.import_module("quay.config")
        self.server = importlib.import_module("quay.server").QuayServer(quay.QuayConfig(**config))
        self.refusal = quay.RequestRefused

    @property
    def steps(self) -> int:
        return self.server.stats.steps

    @property
    def busy(self) -> bool:
        return bool(self.server.scheduler.waiting or self.server.scheduler.running)

    def submit(self, tokens: list[int], max_tokens: int) -> Any:
        return self.server.add_request(tokens, max_tokens)

    def step(self) -> None:
        self.server.step()

    def output(self, request: Any) -> list[int]:
        return request.output_token_ids

    def counts(self) -> dict[str, int]:
        stats = self.server.stats
        return {
            "steps": stats.steps,
            "preempted": stats.preempted,
            "hits": stats.prefix_hits,
            "host_hits": stats.host_hits,
            "proposed": stats.proposed,
            "accepted": stats.accepted,
            "captured": self.server.runner.num_captured_steps,
            "lost": self.server.cfg.num_blocks - 1 - self.server.num_free_blocks,
            "rows": max(_filled(worker.layers[0].latent) for worker in self.server.runner.workers),
        }


class _Engine:
    def __init__(self, config: dict[str, Any]):
        configurator = importlib.import_module("engine.configurator")
        self.engine = importlib.import_module("engine.scheduler").Engine(configurator.ServerConfig(**config), watch=False)
        self.refusal = importlib.import_module("engine.errors").CourseError

    @property
    def steps(self) -> int:
        return self.engine.metrics.steps

    @property
    def busy(self) -> bool:
        return self.engine.busy

    def submit(self, tokens: list[int], max_tokens: int) -> Any:
        return self.engine.submit(tokens, max_tokens)

    def step(self) -> None:
        self.engine.step()

    def output(self, request: Any) -> list[int]:
        return request.output[: request.max_new]

    def counts(self) -> dict[str, int]:
        metrics, allocator = self.engine.metrics, self.engine.allocator
        self.engine.cache.clear()
        return {
            "steps": metrics.steps,
            "preempted": metrics.retractions,
            "hits": metrics.cached,
            "host_hits": metrics.retractions - metrics.recomputed,
            "proposed": metrics.proposed,
            "accepted": metrics.accepted,
            "captured": 0,
            "lost": allocator.pages - allocator.available,
            "rows": max(_filled(worker.arena.view("ckv.0")) for worker in self.engine.workers),
        }


def _filled(rows: torch.Tensor) -> int:
    return int((rows != 0).any(1).sum())


def unit_tests(folder: str, files: list[str]) -> dict[str, str]:
    """Call every ``test_*`` function of these files of ``folder``. Returns what each raised, "" where it passed."""
    torch.set_num_threads(1)
    said = {}
    random.seed(0)  # a test that draws by chance draws the same on every server
    torch.manual_seed(0)
    for name in files:
        try:
            spec = importlib.util.spec_from_file_location(Path(name).stem, Path(folder) / name)
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        except BaseException as error:
            said[name] = f"{type(error).__name__}: {error}"[:400]
            continue
        for test in [test for test in vars(module) if test.startswith("test_")]:
            try:
                getattr(module, test)()
                said[f"{name}::{test}"] = ""
            except BaseException as error:
                said[f"{name}::{test}"] = f"{type(error).__name__}: {error}"[:400]
    return said
