"""Guards bounds in Triton's CPU interpreter: compares every active lane's address with the buffers it may touch.

Without a guard an interpreted kernel stores to the raw address: near misses overwrite a neighbour silently, and far ones kill
the process. The guard masks a bad lane off and reports it as an element of a named buffer.

Each buffer has its own address space, 2**52 bytes from the next. A kernel computes with these addresses, and the guard turns
them into real ones at each access. So a wild index is always charged to the buffer whose pointer it was added to, and cannot
land in another one. A tensor descriptor masks its own accesses, so the guard sees nothing there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch

SPACE = 1 << 52
KEPT = 32  # reports kept for a run: a person needs one, telling two answers apart needs several


class OutOfBounds(IndexError):
    """Raised at a bad access under ``mode="raise"``. The message names the buffer and the element."""


def report(op: str, buffer: str, element: int, size: int, lanes: int, run: tuple[int, int] | None = None) -> dict[str, Any]:
    """Report one access outside a buffer. ``element`` counts in the buffer's own dtype from its start; the buffer has
    ``size``. ``run``: the first and last of the neighbours, among them ``element``, that the same access touched."""
    event = {"kind": "outside", "op": op, "buffer": buffer, "element": element, "size": size, "lanes": lanes}
    return event | {"run": list(run)} if run and run[0] < run[1] else event


Program = tuple[int, ...]  # its place in the grid
Lanes = tuple[np.ndarray, np.ndarray]


class AccessNotes(Protocol):
    """Takes note of an access of ``width`` elements at each of ``elements``, which count from the buffer's start."""

    def note(self, op: str, buffer: str, program: Program, elements: np.ndarray, width: int) -> None: ...


class Guard:
    """Knows the buffers that a kernel may touch, and reports all other accesses (``events``). ``notes`` are told of each."""

    def __init__(self, buffers: Mapping[str, torch.Tensor], mode: str = "record", notes: Sequence[AccessNotes] = ()):
        if mode not in ("record", "raise"):
            raise ValueError(f"mode is {mode!r}; it must be 'record' or 'raise'")
        self.mode, self.events, self.notes = mode, list[dict[str, Any]](), notes
        self.names = list(buffers)
        self.tensors = list(buffers.values())
        if bad := [n for n, t in buffers.items() if not t.is_contiguous() or t.device.type != "cpu"]:
            raise ValueError(f"buffer {bad[0]!r} must be contiguous and on the CPU")
        self.starts = np.array([(i + 1) * SPACE for i in range(len(buffers))], dtype=np.uint64)
        self.sizes = np.array([t.numel() * t.element_size() for t in self.tensors], dtype=np.uint64)
        self.real = np.array([t.data_ptr() for t in self.tensors], dtype=np.uint64)
        self.missing = np.zeros(len(buffers), dtype=np.uint64)  # bytes of a larger buffer that are not here

    def pointer(self, name: str, dtype: torch.dtype | None = None, before: int = 0) -> Any:
        """Return the kernel's pointer for a buffer: an address in the buffer's own space, of another element type if asked.

        ``before``: the pointer lies so many elements before the buffer, as if the buffer were the end of a larger one.
        The rest of that may be touched, but is not here: a load gives 0, a store is lost.
        """
        from triton.runtime import interpreter

        i = self.names.index(name)
        like = self.tensors[i] if dtype is None else torch.empty(1, dtype=dtype)
        made = interpreter._implicit_cvt(like if like.numel() else torch.empty(1, dtype=like.dtype))
        self.missing[i] = max(int(self.missing[i]), before * like.element_size())
        made.handle.data = np.array([int(self.starts[i]) - before * like.element_size()], dtype=np.uint64)
        return made

    def admit(self, op: str, program: Program, addresses: np.ndarray, mask: np.ndarray, nbytes: int) -> Lanes:
        """Return ``(real addresses, lanes whose memory is here)``. Reports lanes that ``mask`` has active outside every
        buffer."""
        seen = np.asarray(addresses, dtype=np.uint64)
        i = self._space(seen)
        offset = seen - self.starts[i]  # below the start it wraps around and is far above every size
        sizes = self.sizes[i]
        inside = (sizes >= nbytes) & (offset <= np.maximum(sizes, nbytes) - np.uint64(nbytes))
        absent = seen + self.missing[i] - self.starts[i] < self.missing[i]  # in the larger buffer, before this end of it
        active = np.asarray(mask, dtype=bool)
        if self.notes:
            self._note(op, program, seen[active].ravel(), i[active].ravel(), nbytes)
        bad = active & ~inside & ~absent
        if bad.any():
            self._report(op, program, seen[bad].ravel(), i[bad].ravel(), nbytes)
        return offset + self.real[i], inside

    def _space(self, addresses: np.ndarray) -> np.ndarray:
        """Return the buffer whose space holds an address. A space reaches half its width to each side of its start."""
        nearest = (addresses + np.uint64(SPACE // 2)) // np.uint64(SPACE)
        return np.clip(nearest.astype(np.int64) - 1, 0, len(self.names) - 1)

    def _note(self, op: str, program: Program, addresses: np.ndarray, which: np.ndarray, nbytes: int) -> None:
        for i in np.unique(which):
            width = self.tensors[i].element_size()
            elements = (addresses[which == i] - self.starts[i]).astype(np.int64) // width  # below the start: negative
            for recorder in self.notes:
                recorder.note(op, self.names[i], program, elements, max(1, nbytes // width))

    def _report(self, op: str, program: Program, addresses: np.ndarray, which: np.ndarray, nbytes: int) -> None:
        for i in np.unique(which):
            mine = [int(a) - int(self.starts[i]) for a in addresses[which == i]]
            width = self.tensors[i].element_size()
            size = int(self.sizes[i]) // width
            # Through a pointer of another type one access touches several elements of the buffer: a float is four bytes.
            all_of = {e for byte in mine for e in range(byte // width, (byte + nbytes - 1) // width + 1)}
            touched = {element for element in all_of if not 0 <= element < size} or all_of
            first = min(touched, key=lambda element: (element >= 0, abs(element)))
            event = report(op, self.names[i], first, size, len(mine), _run(first, touched))
            if self.mode == "raise":
                raise OutOfBounds(f"{sentence(event)} (program {program})")
            if len(self.events) < KEPT:
                self.events.append(event)


def sentence(event: Mapping[str, Any]) -> str:
    """Put a report into words, for a person."""
    verb = {"load": "read", "store": "wrote"}.get(event["op"], "updated")
    element, size = event["element"], event["size"]
    first, last = event.get("run") or (element, element)
    far = [-last, -first] if element < 0 else [first - size + 1, last - size + 1]
    where = f"{' to '.join(map(str, dict.fromkeys(far)))} {'before the start' if element < 0 else 'past the end'}"
    which = f"element {element}" if first == last else f"elements {first} to {last}"
    return f"It {verb} {which} of `{event['buffer']}`, which has {size} (0 to {size - 1}): {where}."


def _run(element: int, touched: set[int]) -> tuple[int, int]:
    """Return the ends of the run of neighbours that holds an element, on its own side of the buffer's start."""
    first = last = element
    while first - 1 in touched:
        first -= 1
    while last + 1 in touched and (last + 1 < 0) == (element < 0):
        last += 1
    return first, last


@contextlib.contextmanager
def guarded(guard: Guard) -> Iterator[Guard]:
    """Pass every load, store and atomic of the interpreter through ``guard`` while open."""
    from triton import language as tl
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    names = ("create_masked_load", "create_masked_store", "create_atomic_rmw", "create_atomic_cas")
    plain = {name: getattr(builder, name) for name in names}

    def admit(op: str, self: Any, pointers: Any, mask: Any) -> tuple[Any, Any]:
        width = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        active = np.broadcast_to(np.asarray(mask, dtype=bool), np.shape(pointers.data))
        real, inside = guard.admit(op, tuple(self.grid_idx), pointers.data, active, width)
        return interpreter.TensorHandle(real, pointers.dtype), interpreter.TensorHandle(active & inside, tl.int1)

    def load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **more: Any) -> Any:
        real, active = admit("load", self, pointers, mask.data)
        return plain["create_masked_load"](self, real, active, other, *rest, **more)

    def store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **more: Any) -> Any:
        real, active = admit("store", self, pointers, mask.data)
        return plain["create_masked_store"](self, real, value, active, *rest, **more)

    def rmw(self: Any, op: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **more: Any) -> Any:
        real, active = admit("atomic", self, pointers, mask.data)
        return plain["create_atomic_rmw"](self, op, real, value, active, *rest, **more)

    def cas(self: Any, pointers: Any, *rest: Any, **more: Any) -> Any:
        real, active = admit("atomic", self, pointers, True)
        if not active.data.all():  # it has no mask to turn a lane off with
            raise OutOfBounds("an atomic_cas outside the buffers")
        return plain["create_atomic_cas"](self, real, *rest, **more)

    for name, replacement in zip(names, (load, store, rmw, cas), strict=True):
        setattr(builder, name, replacement)
    try:
        yield guard
    finally:
        for name, original in plain.items():
            setattr(builder, name, original)
