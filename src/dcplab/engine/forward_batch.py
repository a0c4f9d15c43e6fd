"""One step's requests and tokens, as tensors: what the runner makes and the backend reads.

Batches: ``decode`` has one token a request, ``verify`` ``draft_tokens + 1``, ``extend`` a chunk; a mixed batch is an extend in
which some requests bring one token. T counts the tokens of a batch, B its requests. Stands for SGLang's ``ForwardBatch``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

import torch

from dcplab.engine.earlier_names import formerly

T = TypeVar("T")
ForwardMode = Literal["decode", "verify", "extend", "mixed"]


@dataclass(frozen=True)
class ForwardBatch:
    """One step's requests and tokens. Everything int64 on the device; lengths also as Python ints, for shapes without a wait.

    ``positions`` and ``req_of_token`` ``[T]``; ``out_cache_loc [T]`` locs that the tokens are stored at; ``req_pool_indices
    [B]`` where a request's locs stand in ``req_to_token``; ``seq_lens = prefix_lens + extend_lens`` ``[B]``; ``cu_seqlens_k
    [B + 1]``. What only some modes have are properties.
    """

    forward_mode: ForwardMode
    positions: torch.Tensor
    req_of_token: torch.Tensor
    out_cache_loc: torch.Tensor
    req_pool_indices: torch.Tensor
    prefix_lens: torch.Tensor
    extend_lens: torch.Tensor
    seq_lens: torch.Tensor
    cu_seqlens_k: torch.Tensor
    total_k: int
    total_prefix: int
    paged: torch.Tensor | None = None
    flat: torch.Tensor | None = None
    shards: tuple[torch.Tensor, torch.Tensor] | None = None
    row_pages: torch.Tensor | None = None
    shares: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
    reads: bool = True  # False: the step only stores, as a transfer would; every read gives zeros and touches nothing

    @property
    def page_table(self) -> torch.Tensor:
        """Index-K pages of each query token's request ``[T, pages]``; decode and verify alone have them."""
        return self._there(self.paged)

    @property
    def flat_locs(self) -> torch.Tensor:
        """Locs of all requests' tokens, one request after another ``[total_k]``; extend and mixed alone have them."""
        return self._there(self.flat)

    @property
    def prefix_rows(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Request and row of every padded shard row; extend and mixed alone have them."""
        return self._there(self.shards)

    @property
    def row_page_table(self) -> torch.Tensor:
        """Pages of rows of each query token's request ``[T, pages]``, the same on every rank; decode and verify on a server
        whose index-K is sharded have them."""
        return self._there(self.row_pages)

    @property
    def share_rows(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Request and row of every row of a rank's share of whole requests, each padded to what rank 0 has; and where each
        request's begin ``[B]``. Extend and mixed on a server whose index-K is sharded have them."""
        return self._there(self.shares)

    def _there(self, index: T | None) -> T:
        if index is None:
            raise AttributeError(f"a batch of mode {self.forward_mode} has no such index")
        return index

    out_locs = formerly("out_cache_loc")
    req_of_row = formerly("req_of_token")
    slots = formerly("req_pool_indices")
    mode = formerly("forward_mode")
