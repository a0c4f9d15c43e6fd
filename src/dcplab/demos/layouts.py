"""Lab 07's demonstrations: how uneven the ranks are by the length of a run, the slots of a request by the block table and the
block size of two houses, what sharing out index-K saves and costs, and an indexer that is shared out, on the real kernels.

But for the last, all of it is counted on the CPU; no server runs.
"""

from __future__ import annotations

import random

import torch

from dcplab import mode, subprocess_call
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Pieces, table

RANKS, REQUESTS, LONGEST = 8, 1000, 4000  # of `uneven`
RUNS = (1, 16, 64, 512)
TOKENS, MANAGERS, KERNELS = 1000, 128, 64  # of `two_block_sizes`: tokens of a request, tokens in a block of either
LAYERS, ROWS, TOPK, CONTEXT = 11, 455_744, 2048, 100_000  # of `index_k_bill`: lab 02's server, and a request of it
KEY, CANDIDATE = 132, 8  # bytes of a key with its scale; of a candidate, a fp32 score and an int32 position


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
    for name, held in tables.items():
        for size in (MANAGERS, KERNELS):
            column = positions // size
            inside = column < len(held)
            slots = held[column[inside]] * size + positions[inside] % size
            same = int((slots == right[inside]).sum())
            other, beyond = len(slots) - same, TOKENS - len(slots)
            lines.append(f"{name:<16}{size:>6}{same:>14}{other:>14}{beyond:>19}   {int(slots[70])}")
    return Shown("\n".join(lines))


def index_k_bill() -> Pieces:
    """Hold index-K complete on every rank against index-K shared out: memory of a rank, keys scored, candidates, rows read."""
    whole, share = LAYERS * KEY * ROWS * RANKS, LAYERS * KEY * ROWS
    scored = CONTEXT // RANKS
    sent = RANKS * min(TOPK, scored)
    rows = [
        ("complete on each rank", _gigabytes(whole), f"{CONTEXT:,}", "none", f"{TOPK:,}"),
        ("shared out, exact", _gigabytes(share), f"{scored:,}", f"{sent:,}, {sent * CANDIDATE // 1024} KiB", f"{TOPK:,}"),
        ("shared out, union", _gigabytes(share), f"{scored:,}", "none", f"up to {sent:,}"),
    ]
    header = ("index-K", "memory of a rank", "keys a rank scores", "gathered candidates", "c-KV rows read")
    return Pieces(
        f"[CPU, counted] D {RANKS}, C {ROWS:,}, {LAYERS} indexer layers; a query of {CONTEXT:,} tokens, top-{TOPK}, one layer",
        table(header, rows),
        f"Lab 02's bill, what a rank pays above its share: {_gigabytes(whole - share)} where it is complete, nothing where it "
        f"is shared out. {RANKS} times less memory, {RANKS} times fewer keys to score.",
    )


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.2f} GB"


def sharded_indexer() -> Shown:
    """Let each rank score and choose among its own keys, exact and union, beside one rank with all keys, in a new process.

    On the real kernels where there is a GPU; elsewhere on their oracles, which the label says.
    """
    if subprocess_call.while_grading():
        return Shown("Not run while the notebook is graded.")
    gpu = mode.current().name == "gpu"
    env = {"TRITON_INTERPRET": None if gpu else "1"}
    done = subprocess_call.call("dcplab.demos.sharded_indexer", "run", {"device": "cuda" if gpu else "cpu"}, env)
    if done["value"] is None:
        return Shown(subprocess_call.told(done))
    head, rows, apart = done["value"]
    header = ("D", "I", "exact, against one rank", "it sent", "union reads", "of these not exact's")
    return Pieces(
        f"[{mode.current().label}] {head}",
        table(header, rows),
        f"A key's score on its own rank and on one rank with all keys: at most {apart:.1e} apart. Counts are those of the "
        "query with the most.",
    )
