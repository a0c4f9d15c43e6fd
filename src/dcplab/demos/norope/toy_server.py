"""Runs the engine at toy scale for lab 03: four ranks, the needle test, and every rank's rows after it. CPU only, in torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from dcplab.engine import backend, model, tokenizer
from dcplab.engine.backend import LayerStep, Paths
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.engine.tokenizer import Question

# Four ranks, pages of 4 rows, 840 rows a rank: room for the story below one rank's rows and above them.
FOUR = ServerConfig(size=840, page_size=4, dcp_size=4, layers=2)

READERS = ("read", "extend")  # the two places that read c-KV: decode (and verify), and extend
BOTH = ("ckv_write", *READERS)  # the defects that this lab mends


@dataclass
class Notes:
    """Decode's notes on its queries, one entry for each layer and step: ``counts [D, T]`` keys that each rank holds, ``selected
    [T]`` keys of top-k, ``lse [T, H]`` merged, base 2."""

    counts: list[torch.Tensor]
    selected: list[torch.Tensor]
    lse: list[torch.Tensor]

    def stacked(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Concatenate all queries: ``counts [D, T]``, ``selected [T]``, ``lse [T, H]``."""
        return torch.cat(self.counts, 1), torch.cat(self.selected), torch.cat(self.lse)


@dataclass
class NeedleRun:
    """A question to a fresh server: the server afterwards, its answer, decode's notes, and the locs."""

    engine: Engine
    question: Question
    got: str
    notes: Notes
    locs: torch.Tensor  # of the stored tokens, in position order
    words: list[str]  # of the same tokens

    @property
    def right(self) -> bool:
        return self.got == self.question.answer


def heading(config: ServerConfig) -> str:
    """Name the device and the server of a run."""
    return f"[CPU, torch] D {config.dcp_size}, P {config.page_size}, C {config.size}"


def needle_question() -> Question:
    """Make a note early in the prompt, filler, and a question about the note."""
    return next(q for q in tokenizer.questions(48) if "needle" in q.name)


def ask(defects: Iterable[str] = (), dcp_size: int | None = None) -> NeedleRun:
    """Ask a fresh server for the needle. ``dcp_size`` 1 is the same server on one rank."""
    config = FOUR if dcp_size is None else replace(FOUR, dcp_size=dcp_size, size=FOUR.size * FOUR.dcp_size // dcp_size)
    question, notes = needle_question(), Notes([], [], [])
    with one_thread():
        decode = _noting(notes)
        paths = Paths(decode=decode, verify=decode, extend=backend.extend)
        engine = Engine(config, defects, Local(config.dcp_size), paths=paths, capture=True)
        request = engine.submit(question.prompt, question.words, question.name)
        req_pool_idx = None
        while engine.busy:
            engine.step()
            req_pool_idx = req_pool_idx if request.req_pool_idx is None else request.req_pool_idx
        locs = engine.req_to_token_pool.req_to_token[req_pool_idx, : request.stored].clone()
    words = engine.tokenizer.decode(request.tokens[: len(locs)]).split()
    return NeedleRun(engine, question, engine.text(request), notes, locs, words)


def _noting(notes: Notes):
    """Return the engine's own decode, with its counts and its merged LSE noted."""

    class Noted(LayerStep):
        def count(self, selected, counts):
            notes.selected.append((selected[0] >= 0).sum(-1).to(torch.int32))  # index-K is replicated: every rank chose this
            notes.counts.append(torch.stack([c.to(torch.int32) for c in counts]))
            super().count(selected, counts)

        def capture(self, out, lse):
            notes.lse.append(lse.clone())
            super().capture(out, lse)

    return lambda step: backend.decode(Noted(step.shared, step.batch, step.ranks, step.layer))


def held(run: NeedleRun, layer: int = 0) -> list[dict[int, str]]:
    """Read row -> word for each rank from the c-KV bytes: the word whose code lies in the row. Rows of zeros are left out."""
    codes, bases = run.engine.shared.model.codes, run.engine.shared.model.bases
    found = []
    for worker in run.engine.workers:
        rows = worker.arena.view(f"ckv.{layer}").float() * bases[layer]
        used = rows.abs().sum(1).nonzero()[:, 0]
        ids = (rows[used][:, model.WORD] @ codes.t()).argmax(1).tolist()
        words = [run.engine.tokenizer.decode([i]) for i in ids]
        found.append(dict(zip(used.tolist(), words, strict=True)))
    return found
