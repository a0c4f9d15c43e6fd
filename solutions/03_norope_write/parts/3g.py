"""3g: Bonus: the same write, in eight bits"""

from __future__ import annotations

import torch

from dcplab.course.cases import GAP, UNWRITTEN, again
from dcplab.course.model import Launch, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import batch_locs, low_locs, own_write, pool_units, write_launch, write_oracle, write_rows

FP8 = torch.float8_e4m3fn


def _e4m3(draw: Draw, n: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """``[n, width]`` of normal numbers that float8_e4m3fn holds exactly, every one another."""
    numbers = [m * 2.0**e for e in range(-9, 6) for m in range(8, 16) if m * 2.0**e <= 448]
    both = [sign * x for x in numbers for sign in (1, -1) if x not in (UNWRITTEN, GAP)]
    return torch.tensor(draw.sample(both, n * width), dtype=dtype).reshape(n, width)


def _fp8_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, d, rank, rows, tokens, width, block, dtype, values=_e4m3, **more):
        locs = batch_locs(draw, rank, d, rows, *tokens)
        here = range(0, rows.stop)
        return write_launch(label, size, values(draw, len(locs), width, dtype), locs, here, rank, d, block, pool=FP8, **more)

    def any_values(draw, n, width, dtype):
        scale = 2.0 ** torch.randint(-9, 9, (n, width), generator=draw.torch())
        return (torch.rand(n, width, generator=draw.torch()) * scale).clamp(max=448).to(dtype)

    far = 2**18 + 4 * draw.int(1, 25)  # as in 3a
    far_locs, low = batch_locs(draw, 1, 4, range(far, far + 3), 3, 2, 1), low_locs(draw, 4)
    far_values, low_values = (_e4m3(draw, len(locs), 8, torch.float32) for locs in (far_locs, low))
    rounded = dict(values=any_values, modes=("gpu",))
    return [
        drawn("one program, rank 1 of 4", 0, 4, 1, range(2, 8), (2, 2, 1), 4, 8, torch.float32, exact=True),
        drawn("the last rank, bf16", 1, 4, 3, range(2, 8), (2, 2, 2), 8, 4, torch.bfloat16, gaps=(3, 0), exact=True),
        drawn("one rank, with padding", 2, 1, 0, range(2, 9), (4, 0, 2), 4, 4, torch.float32, exact=True),
        drawn("three ranks, gaps", 3, 3, draw.int(0, 2), range(2, 12), (5, 6), 16, 4, torch.bfloat16, gaps=(5, 3), exact=True),
        drawn("no token is this rank's", 4, 4, 2, range(2, 8), (0, 4, 1), 4, 8, torch.float32, exact=True),
        drawn("more tokens a program than elements a row", 5, 3, 1, range(0, 9), (9, 5, 1), 4, 16, torch.float32, exact=True),
        write_launch("row 0, loc 0 and every negative loc", 6, low_values, low, range(4), 0, 4, 4, pool=FP8, exact=True),
        write_launch(
            "a pool of more than 2^31 elements",
            7,
            far_values,
            far_locs,
            range(far, far + 3),
            1,
            4,
            4,
            (2**13 - 8, 0),
            FP8,
            exact=True,
        ),
        drawn("values that must be rounded, fp32", 8, 4, 1, range(2, 20), (12, 7), 64, 8, torch.float32, **rounded),
        drawn("values that must be rounded, bf16", 9, 8, 7, range(2, 20), (12, 7, 2), 64, 8, torch.bfloat16, **rounded),
    ]


def _own_fp8_launch(src, locs, dcp_rank: int, dcp_size: int, rows: int, block: int = 4) -> Launch:
    """The launch for ``lab.run("3g", src, locs, dcp_rank, dcp_size, rows, block)``: as 3a's, into a float8_e4m3fn pool."""
    return own_write(src, locs, dcp_rank, dcp_size, rows, block, FP8)


PART = Part(
    id="3g",
    entry="write_ckv_fp8_kernel",
    title="Bonus: the same write, in eight bits",
    points=5,
    minutes=5,
    can_wait=True,
    cases=again(_fp8_cases),
    oracle=write_oracle,
    launch=_own_fp8_launch,
    rows=write_rows,
    timeout_s=60.0,
    question="What changes in the kernel of 3a when the pool's elements are narrower than the source's?",
    hints=(
        "Rows, strides and masks count elements, not bytes. Which of them change?",
        "tl.store converts to the element type of the pointer. If you convert yourself, do it to float8e4nv, and as a number.",
        "The body of 3a does it as it is, if the value is loaded as a number and stored through kv_ptr.",
    ),
    prediction=Prediction(
        question=(
            "float8_e4m3fn has three bits after the leading one: from 16 to 32 it goes in steps of 2. What becomes of 31.1?"
        ),
        answer="32",
        because="32 is 0.9 away, 30 is 1.1 away. Rounding to nearest takes 32, although that is the next power of two.",
        choices=("16", "30", "31", "32"),
    ),
    picture=Shows("content", {"src": "content", "loc": "loc"}, units=pool_units),
)
