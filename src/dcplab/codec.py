"""Encodes values as bytes, in both directions between a check and its child.

The format is our own and never pickle: the child runs a stranger's code, and unpickling its bytes would run code here.

Kept exactly: None, bool, int of any size, float (NaN, signed zero), str, bytes, list, tuple, dict, set, frozenset and
tensors (dtype, shape, strides, offset and the whole storage, so that a strided view arrives as a strided view). A bool stays a
bool, and an int subclass does not become an int: a value of any other exact type arrives as an ``Other``, which equals nothing.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import Any

import torch

_HEAD = struct.Struct("<Q")
DEPTH = 32
SPREAD = 1 << 26  # elements of a view that shows fewer more than once (`expand`)
_NAMES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"
)
_DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in _NAMES.split()}


class CodecError(ValueError):
    """The bytes are not what ``encode`` writes, or the value is too deep or too large for it."""


@dataclass(frozen=True)
class Other:
    """A value that is none of the kinds above: its type's name and the start of its repr."""

    type: str
    text: str


def dtype_named(name: str) -> torch.dtype:
    """Map ``"int64"`` to ``torch.int64``; ``CodecError`` for a name that is no storable dtype."""
    try:
        return _DTYPES[name]
    except KeyError:
        raise CodecError(f"{name!r} is no dtype that can travel") from None


def encode(value: Any, *, compact: bool = False, limit: int = 1 << 28) -> bytes:
    """Encode ``value`` as bytes. ``compact`` sends a tensor's elements only, contiguous, and forgets its layout: what a result
    is compared by."""
    blobs = _Blobs(limit)
    tree = json.dumps(_pack(value, blobs, compact, 0), separators=(",", ":")).encode()
    blobs.admit(_HEAD.size + len(tree))
    return b"".join((_HEAD.pack(len(tree)), tree, *blobs))


def decode(data: bytes) -> Any:
    """Return the value that ``encode`` was given. Raises ``CodecError`` for anything else, and never runs code from the
    bytes."""
    try:
        (length,) = _HEAD.unpack_from(data)
        tree = json.loads(data[_HEAD.size : _HEAD.size + length])
        blobs = memoryview(data)[_HEAD.size + length :]
        value, used = _unpack(tree, blobs, 0)
    except CodecError:
        raise
    except Exception as e:  # whatever a forged record trips over, the caller needs one kind of error
        raise CodecError(f"not a record: {type(e).__name__}: {e}") from e
    if used != len(blobs):
        raise CodecError("bytes are left over")
    return value


def tensor_bytes(t: torch.Tensor) -> bytes:
    """Return the elements in row-major order, as bytes; works for every dtype, also those that numpy does not know."""
    # clone, not contiguous(): a single element counts as contiguous whatever its stride, and view() then refuses it.
    flat = t.detach().cpu().reshape(-1).clone(memory_format=torch.contiguous_format)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def storage_bytes(t: torch.Tensor) -> bytes:
    """Return the whole storage behind a tensor, also what lies before, between and after its elements."""
    storage = t.detach().untyped_storage()
    if not storage.nbytes():
        return b""
    return bytes(torch.empty(0, dtype=torch.uint8, device=t.device).set_(storage).cpu().numpy())


class _Blobs(list):
    """The raw bytes of a value, and how many more there may be: asked before they are copied."""

    def __init__(self, limit: int):
        super().__init__()
        self.left = self.limit = limit

    def admit(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise CodecError(f"the value takes more than {self.limit:,} bytes")


def _pack(v: Any, blobs: _Blobs, compact: bool, depth: int) -> Any:
    if depth > DEPTH:
        raise CodecError(f"the value is nested more than {DEPTH} deep")
    kind = type(v)
    if v is None or kind is bool or kind is str:
        return v
    if kind is int:
        return {"i": str(v)} if v.bit_length() < 4096 else _pack(Other("int", "an enormous int"), blobs, compact, depth)
    if kind is float:
        return {"f": struct.pack("<d", v).hex()}
    if kind is bytes:
        blobs.admit(len(v))
        blobs.append(v)
        return {"b": len(v)}
    if kind in (list, tuple, set, frozenset):
        return {kind.__name__: [_pack(x, blobs, compact, depth + 1) for x in v]}
    if kind is dict:
        pairs = [[_pack(k, blobs, compact, depth + 1), _pack(x, blobs, compact, depth + 1)] for k, x in v.items()]
        return {"dict": pairs}
    if kind is Other:
        return {"other": [v.type, v.text]}
    if isinstance(v, torch.Tensor):
        packed = _pack_tensor(v, blobs, compact)
        if packed is not None:
            return packed
    return {"other": [kind.__name__, _text(v)]}


def _pack_tensor(t: torch.Tensor, blobs: _Blobs, compact: bool) -> dict | None:
    name = str(t.dtype).removeprefix("torch.")
    if type(t) not in (torch.Tensor, torch.nn.Parameter) or t.layout is not torch.strided or name not in _DTYPES or t.is_meta:
        return None
    t = t.detach().resolve_conj().resolve_neg()
    head: dict[str, Any] = {"dtype": name, "shape": list(t.shape)}
    if not compact:
        head |= {"stride": list(t.stride()), "offset": t.storage_offset()}
    blobs.admit(t.numel() * t.element_size() if compact else t.untyped_storage().nbytes())
    blob = tensor_bytes(t) if compact else storage_bytes(t)
    blobs.append(blob)
    return {"t": head | {"nbytes": len(blob)}}


def _text(v: Any) -> str:
    try:
        return repr(v)[:200]
    except Exception as e:  # a stranger's __repr__
        return f"<its repr raised {type(e).__name__}>"


def _unpack(node: Any, blobs: memoryview, at: int) -> tuple[Any, int]:
    if node is None or isinstance(node, bool | str):
        return node, at
    if not isinstance(node, dict) or len(node) != 1:
        raise CodecError("an unknown node")
    ((kind, body),) = node.items()
    if kind == "i":
        return int(body), at
    if kind == "f":
        return struct.unpack("<d", bytes.fromhex(body))[0], at
    if kind == "b":
        if not 0 <= body <= len(blobs) - at:
            raise CodecError("bytes are cut short")
        return bytes(blobs[at : at + body]), at + body
    if kind == "other":
        return Other(str(body[0]), str(body[1])), at
    if kind in ("list", "tuple", "set", "frozenset"):
        items = []
        for child in body:
            value, at = _unpack(child, blobs, at)
            items.append(value)
        return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind](items), at
    if kind == "dict":
        result = {}
        for key, child in body:
            key, at = _unpack(key, blobs, at)
            result[key], at = _unpack(child, blobs, at)
        return result, at
    if kind == "t":
        return _unpack_tensor(body, blobs, at)
    raise CodecError(f"an unknown kind {kind!r}")


def _unpack_tensor(head: dict, blobs: memoryview, at: int) -> tuple[torch.Tensor, int]:
    dtype, shape, end = dtype_named(head["dtype"]), [int(n) for n in head["shape"]], at + int(head["nbytes"])
    if end > len(blobs) or end < at or any(n < 0 for n in shape):
        raise CodecError("a tensor is cut short")
    raw = torch.frombuffer(bytearray(blobs[at:end]), dtype=torch.uint8) if end > at else torch.empty(0, dtype=torch.uint8)
    t = torch.empty(0, dtype=dtype)
    if "stride" in head:
        offset, strides = int(head["offset"]), [int(s) for s in head["stride"]]
        _admit_layout(offset, shape, strides, (end - at) // dtype.itemsize)
        return t.set_(raw.untyped_storage(), offset, shape, strides), end
    count = 1
    for n in shape:
        count *= n
    if count * dtype.itemsize != end - at:
        raise CodecError("a tensor's bytes do not fit its shape")
    return t.set_(raw.untyped_storage(), 0, shape, _contiguous(shape)), end


def _admit_layout(offset: int, shape: list[int], strides: list[int], sent: int) -> None:
    """Raise CodecError for a view that reaches beyond the ``sent`` elements, or spreads them without end. ``set_`` would make
    the storage larger, and what stood in this process's memory there would be the tensor's."""
    if offset < 0 or len(strides) != len(shape) or any(s < 0 for s in strides):
        raise CodecError("a tensor has no such layout")
    if math.prod(shape) > max(sent, SPREAD):
        raise CodecError("a tensor spreads few bytes over many elements")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if all(shape) and last >= sent:
        raise CodecError("a tensor reaches beyond its bytes")


def _contiguous(shape: list[int]) -> list[int]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return strides[::-1]
