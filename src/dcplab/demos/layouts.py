"""Lab 07's demonstrations: how uneven the ranks are by the length of a run, and the slots of a request by the block table and
the block size of two houses.

All of it is counted on the CPU, in torch; no server runs.
"""

from __future__ import annotations

import random

import torch

from dcplab.present.display import Shown

RANKS, REQUESTS, LONGEST = 8, 1000, 4000  # of `uneven`
RUNS = (1, 16, 64, 512)
TOKENS, MANAGERS, KERNELS = 1000, 128, 64  # of `two_block_sizes`: tokens of a request, tokens in a block of either


def held_by_rank(length: int, dcp_size: int, interleave: int) -> list[int]:
    """Count the tokens of a request on each rank: ``interleave`` to a rank at a time, from rank 0 on, until all are dealt."""
    held, left, rank = [0] * dcp_size, length, 0
    while left > 0:
        held[rank] += min(interleave, left)
        left, rank = left - interleave, (rank + 1) % dcp_size
    return held


def uneven(seed: int = 7) -> Shown:
    """Deal a thousand requests of 1 to 4,000 tokens to eight ranks, by the length of a run."""
    draw = random.Random(seed)
    lengths = [draw.randint(1, LONGEST) for _ in range(REQUESTS)]
    lines = [f"[CPU, counted] D {RANKS}: {REQUESTS} requests of 1 to {LONGEST} tokens", ""]
    lines.append(f"{'I':>5}{'longest less shortest':>24}{'lost to waiting':>17}{'ranks without a token':>24}")
    for run in RUNS:
        every = [held_by_rank(length, RANKS, run) for length in lengths]
        spread = max(max(held) - min(held) for held in every)
        wait = sum(max(held) for held in every) * RANKS / sum(lengths) - 1
        idle = sum(held.count(0) for held in every) / (RANKS * REQUESTS)
        lines.append(f"{run:>5}{f'up to {spread} tokens':>24}{wait:>17.1%}{idle:>24.1%}")
    return Shown("\n".join(lines))


def two_block_sizes(seed: int = 7) -> Shown:
    """Look up a thousand tokens of a request by two tables and two sizes, and count the slots that are another token's."""
    draw = random.Random(seed)
    columns = -(-TOKENS // MANAGERS)
    blocks = [5, 9, *draw.sample(range(10, 40), columns - 2)]  # the text's request begins with blocks 5 and 9
    each = MANAGERS // KERNELS
    tables = {
        "the manager's": torch.tensor(blocks),
        "the kernel's": torch.tensor([block * each + part for block in blocks for part in range(each)]),
    }
    right = torch.tensor([blocks[p // MANAGERS] * MANAGERS + p % MANAGERS for p in range(TOKENS)])
    positions = torch.arange(TOKENS)
    lines = [f"[CPU, counted] a request of {TOKENS} tokens, blocks of {MANAGERS} and {KERNELS}", ""]
    lines.append(f"{'table':<16}{'size':>6}{'right slots':>14}{'other slots':>14}{'beyond the table':>19}   position 70 at")
    for name, table in tables.items():
        for size in (MANAGERS, KERNELS):
            column = positions // size
            inside = column < len(table)
            slots = table[column[inside]] * size + positions[inside] % size
            same = int((slots == right[inside]).sum())
            other, beyond = len(slots) - same, TOKENS - len(slots)
            lines.append(f"{name:<16}{size:>6}{same:>14}{other:>14}{beyond:>19}   {int(slots[70])}")
    return Shown("\n".join(lines))
