"""Memory in which a kernel cannot err unseen: canaries around every buffer, and between the rows of a strided one.

A store to a byte that belongs to no buffer is found by comparing the canaries afterwards, on a CPU and a GPU alike. A load of
such a byte is found in the interpreter, by looking at the addresses of the active lanes (on a GPU, memcheck does that).
"""

import contextlib
import math

import numpy as np
import torch

BAND = 4096


class Guarded:
    """Buffers are placed one after another in one allocation; ``check`` says which bytes changed that may not have."""

    def __init__(self, device: str, size: int = 1 << 20):
        self.memory = torch.randint(0, 256, (size,), dtype=torch.uint8, device=device)
        self.owned = torch.zeros(size, dtype=torch.bool, device=device)
        self.end = BAND
        self.placed: list[tuple[torch.Tensor, torch.Tensor]] = []

    def place(self, t: torch.Tensor, gap: int = 0, shift: int = 0) -> torch.Tensor:
        """A copy of ``t`` in guarded memory. ``gap``: elements between rows that are not ours; ``shift``: elements by which
        the buffer's start misses its 256-byte alignment."""
        width = t.element_size()
        strides, reach = [0] * t.dim(), 1
        for d in reversed(range(t.dim())):
            strides[d] = reach
            reach *= max(t.shape[d], 1)
            if d == t.dim() - 1:
                reach += gap
        start = self.end // width + shift
        flat = self.memory.view(t.dtype) if t.dtype != torch.bool else self.memory
        view = torch.as_strided(flat, t.shape, strides, start)
        assert (start + reach) * width + BAND <= self.memory.numel(), "give Guarded a larger size"
        view.copy_(t)
        bytes_of = torch.as_strided(self.owned, (*t.shape, width), (*(s * width for s in strides), 1), start * width)
        bytes_of.fill_(True)
        self.end = -(-(start + reach) * width // 256) * 256 + BAND
        self.placed.append((view, t.clone()))
        return view

    @contextlib.contextmanager
    def watched(self):
        """Run a kernel: inside, an interpreted load of a foreign byte is an error; at the end, so is a changed foreign byte."""
        before = self.memory.clone()
        with _addresses(self):
            yield
        changed = ((self.memory != before) & ~self.owned).nonzero()
        assert not len(changed), f"{len(changed)} bytes outside the buffers were written, the first at {int(changed[0])}"

    def unchanged(self, *views: torch.Tensor) -> None:
        """Inputs are inputs: each of ``views`` still holds what was placed, to the bit."""
        for view in views:
            origin = next(t for v, t in self.placed if v is view)
            assert torch.equal(bits(view), bits(origin)), "a kernel changed its input"


def bits(t: torch.Tensor) -> torch.Tensor:
    """``t`` as bytes, so that equality is equality of bits (NaN equals itself, -0.0 is not 0.0)."""
    return t.contiguous().flatten().view(torch.uint8)


def random_bits(gen: torch.Generator, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Any bit pattern: what only copies must not care what the values mean."""
    count, width = math.prod(shape), torch.empty(0, dtype=dtype).element_size()
    return torch.randint(0, 256, (count * width,), generator=gen, dtype=torch.uint8).view(dtype).view(shape)


@contextlib.contextmanager
def _addresses(guarded: Guarded):
    if guarded.memory.device.type != "cpu":
        yield
        return
    from triton.runtime.interpreter import InterpreterBuilder as Builder

    low, owned = guarded.memory.data_ptr(), guarded.owned.numpy()
    plain = {name: getattr(Builder, name) for name in ("create_masked_load", "create_masked_store")}

    def check(what, pointers, mask):
        lanes = np.asarray(pointers.data)[np.broadcast_to(np.asarray(mask.data, bool), np.shape(pointers.data))]
        at = lanes.astype(np.int64) - low
        at = at[(at >= 0) & (at < owned.size)]  # the rest is memory that the public function made for itself
        width = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        for byte in (at, at + width - 1):
            assert owned[byte].all(), f"{what} of a byte that belongs to no buffer"

    def load(self, pointers, mask, *rest):
        check("a load", pointers, mask)
        return plain["create_masked_load"](self, pointers, mask, *rest)

    def store(self, pointers, value, mask, *rest):
        check("a store", pointers, mask)
        return plain["create_masked_store"](self, pointers, value, mask, *rest)

    Builder.create_masked_load, Builder.create_masked_store = load, store
    try:
        yield
    finally:
        for name, original in plain.items():
            setattr(Builder, name, original)
