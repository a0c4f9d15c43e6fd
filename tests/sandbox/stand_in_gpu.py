"""A GPU for machines that have none: ``python -m stand_in_gpu FD`` is a fork server whose children take the CPU for one.

What a compiled run does otherwise than an interpreted one is done here. No load is seen. A store outside a buffer goes to
memory, and shows where it meets a canary. The allocation before a buffer (`Buf.before`) is there to be written. An address
outside every allocation is a fault, which ends the child. Programs and lanes come in another order, so that another one of
two writers of one place wins. Casts to bf16 and fp8 round. Mode "gpu" of the product runs, on the interpreter.
"""

import sys

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

from dcplab.sandbox import child, server
from dcplab.sandbox.kernels.canary_buffers import CanaryBuffers

FAULT = "CUDA error: an illegal memory access was encountered"
SMALL = {tl.bfloat16: torch.bfloat16, tl.float8e4nv: torch.float8_e4m3fn, tl.float8e5: torch.float8_e5m2}
any_order = np.random.default_rng()
allocated: list[tuple[int, int]] = []  # first and last byte


def install() -> None:
    of_child = {
        "CanaryBuffers": lambda buffers, device, before: _canary_buffers(buffers, before),
        "_settle": lambda mode: None,
        "_on_device": lambda mode: lambda t: t,
    }
    for name, stand_in in of_child.items():
        assert hasattr(child, name), f"the child has no {name} that could be stood in for"
        setattr(child, name, stand_in)
    builder = interpreter.InterpreterBuilder
    load, store, place = builder.create_masked_load, builder.create_masked_store, builder.set_grid_idx

    def guarded_load(self, pointers, mask, *rest):
        _fault_outside(pointers, mask)
        return load(self, pointers, mask, *rest)

    def any_lane_first(self, pointers, value, mask, *rest):
        _fault_outside(pointers, mask)
        shape = np.shape(pointers.data)
        order = any_order.permutation(int(np.prod(shape)))
        turned = [np.broadcast_to(h.data, shape).ravel()[order] for h in (pointers, value, mask)]
        handles = (interpreter.TensorHandle(d, h.dtype) for d, h in zip(turned, (pointers, value, mask), strict=True))
        return store(self, *handles, *rest)

    builder.create_masked_load, builder.create_masked_store = guarded_load, any_lane_first
    builder.set_grid_idx = lambda self, *at: place(self, *(n - 1 - i for i, n in zip(at, self.grid_dim, strict=True)))
    convert = interpreter._convert_float

    def rounded(values, was, to, mode):
        if to not in SMALL or was not in (tl.float32, tl.bfloat16):
            return convert(values, was, to, mode)
        exact = values if was == tl.float32 else convert(values, was, tl.float32, None).view(np.float32)
        small = torch.from_numpy(np.ascontiguousarray(exact)).to(SMALL[to])
        return small.view(torch.uint8 if small.element_size() == 1 else torch.uint16).numpy()

    interpreter._convert_float = rounded


def _canary_buffers(buffers, before):
    arena = CanaryBuffers(buffers, "cpu", before)
    first = arena.memory.data_ptr()
    allocated[:] = [(first, first + arena.memory.numel())]
    return arena


def _fault_outside(pointers, mask) -> None:
    if not allocated:  # the warm-up of the server
        return
    width = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    at = np.asarray(pointers.data, dtype=np.uint64)[np.broadcast_to(np.asarray(mask.data, dtype=bool), np.shape(pointers.data))]
    inside = np.zeros(at.shape, dtype=bool)
    for low, high in allocated:
        inside |= (at >= np.uint64(low)) & (at <= np.uint64(high - width))
    if not inside.all():
        raise RuntimeError(FAULT)


if __name__ == "__main__":
    install()
    server.main(int(sys.argv[1]), "cpu")  # its walls too are those of the CPU, on which all runs
