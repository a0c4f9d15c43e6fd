"""The operations of one DSA layer on one rank: write, select, transform, localize, attend. Each tags the indices that it gives
and checks those that it is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from dcplab.engine import index_spaces, ops, public_cases
from dcplab.engine.configurator import WIDTH, flattened_bound, write_bound
from dcplab.engine.forward_batch import ForwardBatch
from dcplab.engine.index_spaces import Layout
from dcplab.engine.indexer import Candidates
from dcplab.engine.model import SM_SCALE
from dcplab.engine.shared import Shared, Worker
from dcplab.engine.space_tags import ExtentError, Space, SpaceError, TagError, space_of, tag

LOGITS_BYTES = 2 << 30  # indexer logits are made for so many bytes of queries at a time


class CapacityAlarm(AssertionError):
    """A capacity check tripped. ``check`` names it; ``index`` was held against ``bound``; ``legal`` says whether it was right
    to be there."""

    def __init__(self, check: str, index: int, bound: int, legal: bool):
        self.check, self.index, self.bound, self.legal = check, index, bound, legal
        super().__init__(f"{check}: loc {index} was held against {bound}" + (", but it is a legal loc." if legal else "."))


@dataclass
class RankStep:
    """The operations of one layer on one rank. Indices are tagged with their space and checked where they are used."""

    shared: Shared
    batch: ForwardBatch
    worker: Worker
    layer: int
    ckv: str
    index_k: str
    replicated: bool = False  # the draft's pool: addressed by loc on every rank

    @property
    def rank(self) -> int:
        return self.worker.rank

    @property
    def dcp_size(self) -> int:
        return self.shared.config.dcp_size

    @property
    def interleave(self) -> int:
        return self.shared.config.interleave

    def write_ckv(self, locs: torch.Tensor, raw: bool = False) -> None:
        """Store this step's c-KV. ``locs [T]``: of the step's tokens. The kernel keeps this rank's locs and divides; ``raw``
        (the norope kernel as it was) takes them for rows, on every rank."""
        s = self.shared
        self.check_write(locs)
        source = self.latent
        if self.replicated or raw:
            rows = s.watcher.use(self.worker.arena, self.rank, self.ckv, locs, "write_ckv", True, locs)
            ops.write_ckv(self._pool(self.ckv, True), source, rows)
            return
        s.watcher.expect(locs, Space.LOC, f"write_ckv on {self.ckv}", "the kernel keeps the locs of its rank and divides them")
        if s.watcher.on:
            s.watcher.use(self.worker.arena, self.rank, self.ckv, self._localize(locs), "write_ckv", True, locs)
        ops.write_ckv(self._pool(self.ckv, True), source, locs, self.rank, self.dcp_size, self.interleave)

    def check_write(self, locs: torch.Tensor) -> None:
        """Check the bound before the write (SGLang's ``maybe_detect_oob``): locs against the largest legal loc. Watched servers
        only."""
        s = self.shared
        if self.replicated or not s.watcher.on:
            return
        c = s.config
        bound, need = write_bound(c.size, c.page_size, c.dcp_size, s.defects), write_bound(c.size, c.page_size, c.dcp_size)
        self._check("the bound check of the c-KV write", locs, bound, need, Space.ROW if s.has("oob_bound") else Space.LOC)

    def write_index_k(self, locs: torch.Tensor) -> None:
        """Store this step's index keys at their locs, on every rank; where index-K is sharded, this rank's at their rows."""
        if self.shared.has("index_k_localized") and not self.replicated:
            locs = self._localize(locs)
        if self.shared.has("kernel_block") and not self.replicated:
            locs = self._slots_by_kernel_block()
        whole = self.shared.has("index_k_unsharded") or not self.index_k_sharded
        at = locs if whole else self._localize(locs)
        activations, model = self.worker.activations, self.shared.model
        keys, scales = self.shared.once(
            "index keys", self.layer, activations, lambda: model.index_keys(activations, self.layer)
        )
        safe = self.shared.watcher.use(self.worker.arena, self.rank, self.index_k, at, "write_index_k", True, locs)
        ops.write_index_k(self._pool(self.index_k, True), keys, scales, safe, self.shared.config.index_page)

    def _slots_by_kernel_block(self) -> torch.Tensor:
        """Compute the slots of this step's tokens from the manager's table with the kernel's size of a block."""
        s, b, block = self.shared, self.batch, self.shared.config.index_page
        page = s.config.page_size
        requests = b.req_pool_indices[b.req_of_token]
        first = (b.positions // block * page).clamp(max=s.req_to_token.shape[1] - 1)  # of the block in that column
        of = tag(s.req_to_token[requests, first] // page, Space.INDEX_K_PAGE, page)
        s.watcher.expect(of, Space.INDEX_K_PAGE, f"the slots of {self.index_k}", of=block)
        return self._locs(public_cases.slots_of(of, b.positions, block))

    def select_paged(self) -> torch.Tensor:
        """Select each token's top-k, with keys read from index-K pages. Returns positions ``[T, topk]`` int32, ascending, -1
        behind: of all keys, or of this rank's where index-K is sharded (`candidates`)."""
        s, b = self.shared, self.batch
        if not b.reads:
            return self._none_selected()
        if self.index_k_sharded:
            return self.candidates().positions
        page = s.config.index_page
        q, w = self._index_query()
        if s.has("index_k_half_pages") and not self.replicated:
            return self._select_half_pages(q, w)
        s.watcher.expect(b.page_table, Space.INDEX_K_PAGE, f"indexer_logits_paged on {self.index_k}", of=page)
        if s.watcher.on:  # the last slot of each page that is read
            lens = b.positions + 1
            pages = torch.where(
                torch.arange(b.page_table.shape[1], device=lens.device) * page < lens[:, None], b.page_table, -1
            )
            last = torch.where(pages >= 0, pages * page + page - 1, -1)
            s.watcher.use(self.worker.arena, self.rank, self.index_k, self._locs(last), "indexer_logits_paged", False)
        buf = self._pool(self.index_k, False)
        table, lens = s.once("page table", 0, b, lambda: (b.page_table.to(torch.int32), (b.positions + 1).to(torch.int32)))
        if self.index_k not in s.watcher.trusted:
            table = torch.where(table < buf.shape[0], table, -1)
        logits = ops.indexer_logits_paged(q, w, buf, table, lens, page)
        return tag(ops.topk_select(logits, s.config.topk), Space.POSITION)

    def _select_half_pages(self, q: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        """Select as `select_paged` does, by a reader whose pages are half as long as those that the table counts."""
        s, b, page = self.shared, self.batch, self.shared.config.index_page
        s.watcher.expect(b.page_table, Space.INDEX_K_PAGE, f"indexer_logits_paged on {self.index_k}", of=page // 2)
        locs = self._locs(public_cases.half_page_locs(b.page_table, page))
        safe = s.watcher.use(self.worker.arena, self.rank, self.index_k, locs, "indexer_logits_paged", False)
        keys, scales = ops.read_index_k(self._pool(self.index_k, False), safe.reshape(-1), page)
        ks = (torch.arange(len(locs), device=locs.device) * locs.shape[1]).to(torch.int32)
        ke = ks + (b.positions + 1).to(torch.int32)
        columns = ops.topk_select(ops.indexer_logits_ragged(q, w, keys, scales, ks, ke), s.config.topk, ks, ke)
        return tag(torch.where(columns >= 0, columns - ks[:, None], -1), Space.POSITION)

    def select_ragged(self) -> torch.Tensor:
        """Select each token's top-k over the keys of its whole request, gathered by loc. Returns positions ``[T, topk]`` int32,
        -1 behind: of all keys, or of this rank's where index-K is sharded (`candidates`)."""
        s, b = self.shared, self.batch
        if not b.reads:
            return self._none_selected()
        if self.index_k_sharded:
            return self.candidates().positions
        safe = s.watcher.use(self.worker.arena, self.rank, self.index_k, b.flat_locs, "read_index_k", False)
        keys, scales = ops.read_index_k(self._pool(self.index_k, False), safe, s.config.index_page)
        q, w = self._index_query()
        start = b.cu_seqlens_k[b.req_of_token]
        ks, ke = start.to(torch.int32), (start + b.positions + 1).to(torch.int32)
        selected = []
        tokens = max(1, LOGITS_BYTES // max(4 * b.total_k, 1))
        for i in range(0, len(start), tokens):
            part = slice(i, i + tokens)
            logits = ops.indexer_logits_ragged(q[part], w[part], keys, scales, ks[part], ke[part])
            selected.append(ops.topk_select(logits, s.config.topk, ks[part], ke[part]))
        columns = torch.cat(selected)
        return tag(torch.where(columns >= 0, columns - ks[:, None], -1), Space.POSITION)

    def candidates(self) -> Candidates:
        """Select each token's top-k of this rank's own keys, and give their scores: what a sharded indexer gathers."""
        if not self.batch.reads:
            nothing = self._none_selected()
            return Candidates(nothing, torch.full(nothing.shape, ops.MINUS_INF, device=nothing.device))
        own = self._own_paged if self.batch.forward_mode in ("decode", "verify") else self._own_ragged
        columns, scores = own()
        positions = index_spaces.globalize(columns, self.rank, self.dcp_size, self.interleave)
        return Candidates(tag(positions.to(torch.int32), Space.POSITION), scores)

    def _own_paged(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Score this rank's keys by pages of rows: columns, which are rows in a request's share, and scores ``[T, topk]``."""
        s, b, page = self.shared, self.batch, self.shared.config.index_page
        s.watcher.expect(b.row_page_table, Space.ALLOCATOR_PAGE, f"indexer_logits_paged on {self.index_k}", of=page)
        lens = index_spaces.held(b.positions + 1, self.rank, *s.config.layout)
        table = b.row_page_table
        if s.watcher.on:  # the last row of each page that is read
            pages = torch.where(torch.arange(table.shape[1], device=lens.device) * page < lens[:, None], table, -1)
            last = torch.where(pages >= 0, pages * page + page - 1, -1)
            s.watcher.use(self.worker.arena, self.rank, self.index_k, self._rows(last), "indexer_logits_paged", False)
        q, w = self._index_query()
        table, lens = table.to(torch.int32), lens.to(torch.int32)
        logits = ops.indexer_logits_paged(q, w, self._pool(self.index_k, False), table, lens, page)
        return _best(logits, s.config.topk)

    def _own_ragged(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Score this rank's share of whole requests, gathered by row; as `_own_paged`."""
        s, b = self.shared, self.batch
        req, at, first = b.share_rows
        position = index_spaces.loc_of(at, self.rank, self.dcp_size, self.interleave)
        there = position < b.seq_lens[req]
        locs = s.req_to_token[b.req_pool_indices[req], torch.where(there, position, 0)]
        rows = self._rows(torch.where(there, self._localize(locs), -1))
        safe = s.watcher.use(self.worker.arena, self.rank, self.index_k, rows, "read_index_k", False)
        keys, scales = ops.read_index_k(self._pool(self.index_k, False), safe, s.config.index_page)
        ks = first[b.req_of_token].to(torch.int32)
        ke = ks + index_spaces.held(b.positions + 1, self.rank, *s.config.layout).to(torch.int32)
        q, w = self._index_query()
        best = []
        tokens = max(1, LOGITS_BYTES // max(4 * len(at), 1))
        for i in range(0, len(ks), tokens):
            part = slice(i, i + tokens)
            logits = ops.indexer_logits_ragged(q[part], w[part], keys, scales, ks[part], ke[part])
            best.append(_best(logits, s.config.topk, ks[part], ke[part]))
        columns, scores = (torch.cat(kind) for kind in zip(*best, strict=True))
        return torch.where(columns >= 0, columns - ks[:, None], -1), scores

    @property
    def index_k_sharded(self) -> bool:
        """Whether this step's index keys are this rank's alone; the draft's never are."""
        return self.shared.config.index_k_sharded and not self.replicated

    def _none_selected(self) -> torch.Tensor:
        shape = (len(self.batch.positions), self.shared.config.topk)
        return tag(torch.full(shape, -1, dtype=torch.int32, device=self.batch.positions.device), Space.POSITION)

    def _nothing(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the attention to no key."""
        shape = (len(self.batch.positions), self.shared.config.heads)
        zero = torch.zeros(1, device=self.batch.positions.device)
        return zero.expand(*shape, WIDTH), (zero + ops.MINUS_INF).expand(shape)

    def to_locs(self, positions: torch.Tensor) -> torch.Tensor:
        """Map selected positions to locs, int64, -1 stays: the PAGED transform."""
        b = self.batch
        self.shared.watcher.expect(positions, Space.POSITION, "topk_to_paged")
        per_token = self.shared.once("req_pool_indices per token", 0, b, lambda: b.req_pool_indices[b.req_of_token])
        return self._locs(ops.topk_to_paged(positions.to(torch.int64), per_token, self.shared.req_to_token))

    def to_ragged(self, positions: torch.Tensor) -> torch.Tensor:
        """Map selected positions to ragged indices of the workspace, -1 stays: the RAGGED transform."""
        if self.shared.has("topk_unfused"):
            return positions
        self.shared.watcher.expect(positions, Space.POSITION, "topk_to_ragged")
        return tag(ops.topk_to_ragged(positions, self.batch.req_of_token, self.batch.cu_seqlens_k), Space.RAGGED)

    def localize(self, locs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Map selected locs ``[T, topk]`` to this rank's rows, owned ones in front, and count those ``[T]``; both int32."""
        self.shared.watcher.expect(locs, Space.LOC, "localize_topk", "what is a row already would be divided twice")
        rank = (self.rank + 1) % self.dcp_size if self.shared.has("ranks_rotated") else self.rank
        layout = Layout.of(self.dcp_size, 1 if self.shared.has("interleave_other") else self.interleave)
        if self.shared.has("exact_unfiltered"):
            rows = torch.where(locs >= 0, index_spaces.local_row(locs, *layout), -1).to(torch.int32)
            return tag(rows, Space.ROW, rank, layout), (locs >= 0).sum(-1).to(torch.int32)
        rows, counts = ops.localize_topk(locs, rank, *layout)
        return tag(rows, Space.ROW, rank, layout), counts

    def as_rows(self, locs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the locs unchanged, all of them counted: the rows of a reader that does not localize."""
        return locs, (locs >= 0).sum(-1).to(torch.int32)

    def attend(self, rows: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend to rows of this rank's pool: ``(out [T, H, 512], lse [T, H])``, base 2; no key gives (0, -inf).

        A typed server raises TagError for a row where no token of the query's own request lies, whatever its tag says.
        """
        s = self.shared
        if not self.batch.reads:
            return self._nothing()
        safe = s.watcher.use(self.worker.arena, self.rank, self.ckv, rows, "sparse_mla_decode", False)
        if s.watcher.typed:
            self._own(safe, counts)
        out, lse = ops.attend_rows(self._query(), self._pool(self.ckv, False), safe.to(torch.int32), counts, SM_SCALE)
        if self.replicated:
            return out, lse
        if s.has("lse_base"):
            lse = lse / ops.LOG2_E
        if s.has("lse_plus_inf"):
            lse = torch.where(lse == ops.MINUS_INF, -ops.MINUS_INF, lse)
        return public_cases.left_over(out, lse, self.worker.left) if s.has("lse_uninitialised") else (out, lse)

    def _own(self, rows: torch.Tensor, counts: torch.Tensor) -> None:
        """Hold rows ``[T, topk]``, the first ``counts`` of each, against the locs of each query's request."""
        b, column = self.batch, torch.arange(rows.shape[1], device=rows.device)
        used = (rows >= 0) & (column < counts[:, None])
        locs = rows.to(torch.int64).contiguous()
        if not self.replicated:
            locs = index_spaces.loc_of(locs, self.rank, self.dcp_size, self.interleave)
        longest = int(b.seq_lens.max())
        held = self.shared.req_to_token[b.req_pool_indices[b.req_of_token], :longest]
        held = torch.where(torch.arange(longest, device=rows.device) <= b.positions[:, None], held, -1).sort(1).values
        at = torch.searchsorted(held, locs).clamp(max=longest - 1)
        foreign = used & (held.gather(1, at) != locs)
        if bool(foreign.any()):
            space = Space.LOC if self.replicated else Space.ROW
            why = f"no token of the query's request lies there on rank {self.rank}"
            raise TagError(f"sparse_mla_decode on {self.ckv}", int(rows[foreign][0]), space, why)

    def read_prefix(self) -> torch.Tensor:
        """Read this rank's share of every prefix, request by request, padded to as many rows as rank 0 has of it: ``[rows,
        512]``."""
        s = self.shared
        req, at = self.batch.prefix_rows
        if not self.batch.reads:
            return torch.zeros(1, 1, dtype=s.config.dtype, device=at.device).expand(len(at), WIDTH)
        position = index_spaces.loc_of(at, self.rank, self.dcp_size, self.interleave)
        there = position < self.batch.prefix_lens[req]
        locs = s.req_to_token[self.batch.req_pool_indices[req], torch.where(there, position, 0)]
        rows = torch.where(there, self._localize(locs), -1)
        if s.has("prefix_stride"):
            rows = public_cases.strided_prefix(self._prefix_locs(), there, self.rank, self.dcp_size)
        rows = self._rows(rows)
        safe = s.watcher.use(self.worker.arena, self.rank, self.ckv, rows, "read_prefix", False)
        return ops.gather_rows(self._pool(self.ckv, False), safe)

    def _prefix_locs(self) -> torch.Tensor:
        """Return the locs of every prefix, one request after another ``[total_prefix]``."""
        b, lens = self.batch, self.batch.prefix_lens
        req = torch.repeat_interleave(torch.arange(len(lens), device=lens.device), lens, output_size=b.total_prefix)
        at = torch.arange(b.total_prefix, device=lens.device) - (torch.cumsum(lens, 0) - lens)[req]
        return self.shared.req_to_token[b.req_pool_indices[req], at]

    def assemble(self, shards: torch.Tensor) -> None:
        """Put gathered shards ``[D, rows, 512]`` and this step's c-KV together as ``[prefix_i; extend_i]`` in the workspace."""
        b = self.batch
        if not b.reads:
            return
        given = (shards, self.latent, b.prefix_lens, torch.zeros_like(b.prefix_lens), b.extend_lens)
        self.fill(ops.assemble_ragged(*given, self.dcp_size, b.total_k, self.interleave))

    @property
    def latent(self) -> torch.Tensor:
        """The c-KV of this step's tokens ``[T, 512]``, as it goes into this layer's pool."""
        activations, model = self.worker.activations, self.shared.model
        return self.shared.once("latent", self.layer, activations, lambda: model.latent(activations, self.layer))

    def fill(self, rows: torch.Tensor) -> None:
        """Put ``rows [n, 512]`` at the start of the workspace: what ragged indices point into."""
        if self.batch.reads:
            self.worker.arena.view("workspace")[: len(rows)] = rows

    def attend_ragged(self, indices: torch.Tensor) -> torch.Tensor:
        """Attend to the workspace: ``out [T, H, 512]``."""
        return self.attend_ragged_lse(indices)[0]

    def attend_ragged_lse(self, indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend to the workspace and give the LSE ``[T, H]`` too, base 2: ``(out, lse)``, as `attend` does."""
        s = self.shared
        if not self.batch.reads:
            return self._nothing()
        safe = s.watcher.use(self.worker.arena, self.rank, "workspace", indices, "sparse_mla_extend", False)
        kv = self._pool("workspace", False)
        if s.watcher.neighbours is False or space_of(indices) is Space.RAGGED:
            kv = kv[: self.batch.total_k]
        return ops.attend_ragged(self._query(), kv, safe.to(torch.int32), None, SM_SCALE)

    def check_flattened(self) -> None:
        """Assert the capacity for the flattened page table. As upstream, the assert is evaluated only where there are more
        tokens than the bound, and waits for the device."""
        s, b, c = self.shared, self.batch, self.shared.config
        bound = flattened_bound(c.size, c.page_size, c.dcp_size, s.defects)
        need = flattened_bound(c.size, c.page_size, c.dcp_size)
        if b.reads and b.total_prefix and (b.total_k > bound or s.watcher.typed):
            self._check("the capacity assert", b.flat_locs, bound, need, Space.ROW if s.has("assert") else Space.LOC)

    def _check(self, check: str, locs: torch.Tensor, bound: int, need: int, space: Space) -> None:
        if self.shared.watcher.typed and bound != need:
            if space is not Space.LOC:
                raise SpaceError(space_of(locs), space, f"{check}, whose bound {bound} counts rows,")
            raise ExtentError(check, bound, Space.LOC, need)
        highest = int(locs.max()) if locs.numel() else -1
        if highest >= bound:
            raise CapacityAlarm(check, highest, bound, highest < need)

    def _query(self) -> torch.Tensor:
        code, s = self.worker.code, self.worker.activations
        return self.shared.once("query", self.layer, code, lambda: self.shared.model.query(code, s, self.layer))

    def _index_query(self) -> tuple[torch.Tensor, torch.Tensor]:
        code, s = self.worker.code, self.worker.activations
        return self.shared.once("index query", self.layer, code, lambda: self.shared.model.index_query(code, s, self.layer))

    def _localize(self, locs: torch.Tensor) -> torch.Tensor:
        return self._rows(ops.localize(locs, self.rank, self.dcp_size, self.interleave))

    def _rows(self, rows: torch.Tensor) -> torch.Tensor:
        return tag(rows, Space.ROW, self.rank, self.shared.watcher.layout)

    def _locs(self, locs: torch.Tensor) -> torch.Tensor:
        return tag(locs, Space.LOC, layout=self.shared.watcher.layout)

    def _pool(self, name: str, write: bool) -> torch.Tensor:
        arena = self.worker.arena
        return arena.window(name) if write or self.shared.watcher.neighbours else arena.view(name)


def _best(
    logits: torch.Tensor, topk: int, ks: torch.Tensor | None = None, ke: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose the ``topk`` best columns of ``logits [T, K]``, ascending, -1 behind, and give their logits, -inf behind."""
    columns = ops.topk_select(logits, topk, ks, ke)
    there = columns >= 0
    scores = logits.gather(1, torch.where(there, columns, 0).to(torch.int64)) if logits.shape[1] else columns.float()
    return columns, torch.where(there, scores.float(), ops.MINUS_INF)
