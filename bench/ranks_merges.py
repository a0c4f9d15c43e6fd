"""Decode's merge over processes, three ways: who sends what, and who has which heads afterwards.

Each process holds a partial output ``out [T, H, V]`` and its LSE ``lse [T, H]`` (fp32, base 2) of the same T queries and H
heads; R processes, R divides H. A process without a key of a query has LSE -inf there, weighs zero, and its output is not read.
``whole`` gives every head to every process, ``by_sum`` and ``by_exchange`` give process r the heads ``r * H / R`` on, which is
what a server needs whose next matrix is sharded by head.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

from dcplab.engine import link_bytes, ops

Merge = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def whole(out: Tensor, lse: Tensor) -> tuple[Tensor, Tensor]:
    """Merge locally after an all-gather of outputs and LSEs: ``([T, H, V], [T, H])`` in every process. As the engine does
    it."""
    world = dist.get_world_size()
    sent = _pack(out[None], lse[None])
    got = sent.new_empty(world, sent.shape[1])
    dist.all_gather_into_tensor(got.view(-1), sent.view(-1))
    return ops.merge_lse(*_unpack(got, out))


def by_exchange(out: Tensor, lse: Tensor) -> tuple[Tensor, Tensor]:
    """Merge after an all-to-all: each process gets its heads of all partial results and merges those. ``([T, H / R, V], [T, H /
    R])``."""
    sent = _pack(_by_owner(out), _by_owner(lse))
    got = torch.empty_like(sent)
    dist.all_to_all_single(got.view(-1), sent.view(-1))
    return ops.merge_lse(*_unpack(got, out[:, : out.shape[1] // dist.get_world_size()]))


def by_sum(out: Tensor, lse: Tensor) -> tuple[Tensor, Tensor]:
    """Merge by an all-gather of the LSEs alone, then a reduce-scatter of outputs rescaled by ``2 ** (lse - total)``: the
    library adds.

    It adds in the dtype of ``out``: bf16 is rounded at each addition, fp32 is twice the bytes. ``([T, H / R, V], [T, H / R])``.
    """
    world, rank = dist.get_world_size(), dist.get_rank()
    lses = lse.new_empty(world, *lse.shape)
    dist.all_gather_into_tensor(lses.view(-1), lse.reshape(-1))
    total = torch.logsumexp(lses * _LN2, 0) / _LN2  # -inf where no process has a key
    weight = torch.where(lse > ops.MINUS_INF, torch.exp2(lse - total), 0.0)
    scaled = torch.where(weight[..., None] > 0, out * weight[..., None], 0.0).to(out.dtype)
    summed = torch.empty_like(_by_owner(out)[0], memory_format=torch.contiguous_format)
    dist.reduce_scatter_tensor(summed.view(-1), _by_owner(scaled).contiguous().view(-1))
    return summed, _by_owner(total)[rank]


_LN2 = 0.6931471805599453
WAYS: dict[str, Merge] = {"all-gather": whole, "reduce-scatter": by_sum, "all-to-all": by_exchange}


def received(way: str, out: Tensor, world: int) -> int:
    """Count the bytes that a process receives from others, for what `WAYS` have: computed from shapes, not measured."""
    return link_bytes.merge(way, out.shape[0] * out.shape[1], world, out.shape[2] * out.element_size())


def oracle(out: Tensor, lse: Tensor) -> tuple[Tensor, Tensor]:
    """Merge everything gathered in float64: ``([T, H, V], [T, H])``."""
    world = dist.get_world_size()
    outs, lses = out.new_empty(world, *out.shape), lse.new_empty(world, *lse.shape)
    dist.all_gather_into_tensor(outs.view(-1), out.reshape(-1))
    dist.all_gather_into_tensor(lses.view(-1), lse.reshape(-1))
    lses = lses.double()
    total = torch.logsumexp(lses * _LN2, 0) / _LN2
    weight = torch.where(lses > ops.MINUS_INF, torch.exp2(lses - total), 0.0)[..., None]
    return torch.where(weight > 0, outs.double() * weight, 0.0).sum(0), total


def own_heads(tensor: Tensor) -> Tensor:
    """Return this process's heads of ``[T, H, ...]``."""
    return _by_owner(tensor)[dist.get_rank()]


def _by_owner(tensor: Tensor) -> Tensor:
    """View ``[T, H, ...]`` as ``[R, T, H / R, ...]``: the heads of each process."""
    world = dist.get_world_size()
    return tensor.unflatten(1, (world, tensor.shape[1] // world)).transpose(0, 1)


def _pack(outs: Tensor, lses: Tensor) -> Tensor:
    """Pack ``[n, T, h, V]`` and ``[n, T, h]`` into bytes ``[n, ...]``, so that one collective carries both."""
    flat = [part.contiguous().view(part.shape[0], -1).view(torch.uint8) for part in (outs, lses)]
    return torch.cat(flat, 1)


def _unpack(packed: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    shape = (packed.shape[0], *like.shape)
    split = like.shape[0] * like.shape[1] * like.shape[2] * like.element_size()
    return packed[:, :split].view(like.dtype).view(shape), packed[:, split:].view(torch.float32).view(shape[:-1])
