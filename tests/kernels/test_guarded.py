"""The tests' own instrument: kernels that err must be caught by it, each in its way."""

import pytest
import torch
import triton
import triton.language as tl
from dcp_kernels.runtime import INTERPRETED
from guarded import Guarded


@triton.jit
def copy(src, dst, n, src_stride, dst_stride, LOAD: tl.constexpr, STORE: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Rows of ``src`` to ``dst``; loads LOAD and stores STORE rows and columns too many."""
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, 16)[None, :]
    x = tl.load(src + r * src_stride + c, mask=(r < n + LOAD) & (c < WIDTH + LOAD), other=0)
    tl.store(dst + r * dst_stride + c, x, mask=(r < n + STORE) & (c < WIDTH + STORE))


@pytest.mark.parametrize("load,store,caught", [(0, 0, False), (0, 1, True), (1, 0, INTERPRETED)])
@pytest.mark.parametrize("gap", [0, 5])
def test_a_lane_too_many_is_caught(device, load, store, caught, gap):
    memory = Guarded(device)
    src = memory.place(torch.randn(6, 8, device=device), gap)
    dst = memory.place(torch.randn(6, 8, device=device), gap)
    run = pytest.raises(Exception, match=r"belongs to no buffer|outside the buffers") if caught else memory.watched()
    with run:
        with memory.watched():
            copy[(1,)](src, dst, 6, src.stride(0), dst.stride(0), load, store, 8, 8)


def test_a_changed_input_is_caught(device):
    memory = Guarded(device)
    src = memory.place(torch.tensor([0.0, 1.0], device=device))
    memory.unchanged(src)
    src[0] = -0.0
    with pytest.raises(AssertionError, match="changed its input"):
        memory.unchanged(src)
