"""Runs one step on all cp ranks of this process."""

from __future__ import annotations

from bisect import bisect_left

import torch

from . import layout
from .attention import merge_states, merge_topk
from .config import QuayConfig
from .drafter import Drafter
from .input_batch import InputBatch, StepBuffers
from .model import Activations, Model
from .scheduler import SchedulerOutput
from .sequence import Sequence
from .worker import RankWorker


class ModelRunner:
    def __init__(self, cfg: QuayConfig):
        self.cfg = cfg
        self.model = Model(cfg, cfg.num_layers, cfg.vocab_size, torch.device("cpu"))
        self.workers = [RankWorker(rank, cfg) for rank in range(cfg.cp_size)]
        self.drafter = Drafter(cfg) if cfg.num_draft_tokens else None
        self.batch = InputBatch(cfg)
        self.buffers = StepBuffers(cfg)
        self.num_captured_steps = 0

    def execute(self, out: SchedulerOutput) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Run a step. Returns, by seq_id, the tokens that are sure now and proposals for the next step."""
        self._update_rows(out)
        self._copy_blocks(out)
        if not out.scheduled:
            return {}, {}
        counts = [out.num_scheduled_tokens[seq.seq_id] for seq in out.scheduled]
        padded = self._prepare(out.scheduled, counts)
        state, result = self._forward(padded)
        sampled = self._sample(out.scheduled, counts, state, result)
        return sampled, self._propose(out.scheduled, sampled)

    def _update_rows(self, out: SchedulerOutput) -> None:
        for seq_id in out.left:
            if seq_id in self.batch.row_of:
                self.batch.remove(seq_id)
        for seq in out.scheduled:
            if seq.seq_id in self.batch.row_of:
                self.batch.set_blocks(seq)
            else:
                n = seq.num_computed_tokens
                self.batch.add(seq, self.model.codes[seq.token_ids[n - 1]] if n else 0.0)

    def _copy_blocks(self, out: SchedulerOutput) -> None:
        copiers = [worker.copier for worker in self.workers]
        if self.drafter:
            copiers.append(self.drafter.copier)
        for copier in copiers:
            for block, host_slot in out.copies_out:
                copier.to_host(block, host_slot)
            for host_slot, block in out.copies_in:
                copier.to_device(host_slot, block)

    def _prepare(self, seqs: list[Sequence], counts: list[int]) -> int:
        """Fill the step's buffers. Returns how many entries the step reads: a captured size, if requests only decode."""
        b, used = self.buffers, 0
        for seq, count in zip(seqs, counts, strict=True):
            row, part = self.batch.row_of[seq.seq_id], slice(used, used + count)
            start = self.batch.num_computed_tokens[row]
            positions = torch.arange(start, start + count)
            b.input_ids[part] = torch.tensor((seq.token_ids + seq.spec_token_ids)[start : start + count])
            b.positions[part] = positions
            b.rows[part] = row
            b.kv_lens[part] = positions + 1
            table = self.batch.block_table[row][None]
            for worker in self.workers:
                mapped = layout.slot_mapping(table, positions[None], worker.cp_rank, self.cfg)
                b.slot_mapping[worker.cp_rank, part] = mapped[0]
            b.draft_slots[part] = layout.draft_slots(table, positions[None], self.cfg)[0]
            used += count
        padded = used
        if all(count <= 1 + self.cfg.num_draft_tokens for count in counts) and used <= self.cfg.capture_sizes[-1]:
            padded = self.cfg.capture_sizes[bisect_left(self.cfg.capture_sizes, used)]
            self.num_captured_steps += 1
        b.pad(used, padded)
        return padded

    def _forward(self, n: int) -> tuple[Activations, torch.Tensor]:
        """Run the model on the first ``n`` entries of the buffers."""
        b, model = self.buffers, self.model
        rows, kv_lens, positions = b.rows[:n], b.kv_lens[:n], b.positions[:n]
        tables = self.batch.block_table[rows]
        word = model.embed(b.input_ids[:n])
        before = torch.roll(word, 1, 0)
        first = torch.ones(n, dtype=torch.bool)
        first[1:] = rows[1:] != rows[:-1]
        before[first] = self.batch.last_word[rows[first]]
        state = model.activations(word, before, positions)
        if self.drafter:
            self.drafter.observe(state, b.draft_slots[:n])
        code = word
        for layer in range(self.cfg.num_layers):
            latent, keys = model.latent(state, layer), model.index_keys(state, layer)
            for worker in self.workers:
                worker.layers[layer].put(latent, *keys, b.slot_mapping[worker.cp_rank, :n])
            query = model.index_query(code, state, layer)
            found = [worker.candidates(layer, query, tables, kv_lens) for worker in self.workers]
            scores, places = (torch.cat(part, 1) for part in zip(*found, strict=True))
            chosen = merge_topk(scores, places, self.cfg.index_topk)
            parts = [worker.attend(layer, model.query(code, state, layer), chosen, tables) for worker in self.workers]
            result = merge_states(*(torch.stack(part) for part in zip(*parts, strict=True)))
            if layer + 1 < self.cfg.num_layers:
                code = model.pointer(result, state, layer)
        return state, result

    def _sample(
        self, seqs: list[Sequence], counts: list[int], state: Activations, result: torch.Tensor
    ) -> dict[int, list[int]]:
        """Take the greedy token after each request's last sure token. Proposals that agree are sure."""
        best = self.model.logits(result, state).argmax(-1).tolist()
        sampled, used = {}, 0
        for seq, count in zip(seqs, counts, strict=True):
            row, end = self.batch.row_of[seq.seq_id], used + count
            kept = end - 1
            if self.batch.num_computed_tokens[row] + count >= seq.num_tokens:
                spec = seq.spec_token_ids
                verified = best[end - 1 - len(spec) : end]
                agreed = next((i for i, token in enumerate(spec) if token != verified[i]), len(spec))
                sampled[seq.seq_id] = verified[: agreed + 1]
                kept = end - 1 - len(spec) + agreed
            self.batch.last_word[row] = state.word[kept]
            used = end
        return sampled

    def _propose(self, seqs: list[Sequence], sampled: dict[int, list[int]]) -> dict[int, list[int]]:
        ready = [seq for seq in seqs if seq.seq_id in sampled]
        if not self.drafter or not ready:
            return {}
        rows = torch.tensor([self.batch.row_of[seq.seq_id] for seq in ready])
        tokens = torch.tensor([sampled[seq.seq_id][-1] for seq in ready])
        positions = torch.tensor([seq.num_tokens + len(sampled[seq.seq_id]) - 1 for seq in ready])
        proposed = self.drafter.propose(tokens, self.batch.last_word[rows], positions, self.batch.block_table[rows])
        return {seq.seq_id: some for seq, some in zip(ready, proposed.tolist(), strict=True)}
