"""Two sizes of block: the manager hands out blocks of B tokens, and a kernel reads blocks of b of them.

Each has a step of its own. The manager's block is used once, to find where a position's block stands in a request's table; the
kernel's once, to find a slot in the buffer that it reads. In between a table is rewritten, block by block. In this engine the
manager's block is the page, the kernel's ``ServerConfig.kernel_block_size``, and the buffer the indexer's. Stands for vLLM's
``block_size`` and ``kernel_block_size`` (vllm#24486).
"""

from __future__ import annotations

import torch


def kernel_block_table(table: torch.Tensor, block_size: int, kernel_block_size: int) -> torch.Tensor:
    """Rewrite a table of the manager's blocks ``[T, n]`` for a kernel: ``[T, n * block_size // kernel_block_size]``.

    -1 is padding. Block q of the manager is blocks ``q * each`` and on of the kernel. Equal sizes give the table itself.
    """
    each = block_size // kernel_block_size
    if each == 1:
        return table
    inside = torch.arange(each, device=table.device, dtype=table.dtype)
    return torch.where(table[:, :, None] >= 0, table[:, :, None] * each + inside, -1).flatten(1)
