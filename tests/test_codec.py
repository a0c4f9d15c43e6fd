import json
import math
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab.codec import CodecError, Other, decode, encode, storage_bytes, tensor_bytes

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=12,
)


def typed(v):
    """A value with the exact type of everything in it, so that 1, 1.0 and True differ."""
    if isinstance(v, list | tuple):
        return type(v).__name__, [typed(x) for x in v]
    if isinstance(v, dict):
        return "dict", [(typed(k), typed(x)) for k, x in v.items()]
    return type(v).__name__, v


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(PLAIN)
def test_plain_values_come_back_exactly(value):
    assert typed(decode(encode(value))) == typed(value)


def test_floats_keep_their_bits():
    for x in (math.nan, -0.0, math.inf, 5e-324):
        assert struct.pack("<d", decode(encode(x))) == struct.pack("<d", x)


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.int8, torch.int64, torch.uint64, torch.bfloat16, torch.float8_e4m3fn, torch.complex64]
)
def test_tensors_keep_dtype_shape_and_bytes(dtype):
    t = torch.arange(24, dtype=torch.uint8).view(torch.bool if dtype == torch.bool else torch.uint8)
    t = (t.to(torch.float32).to(dtype) if dtype != torch.bool else t.to(torch.bool)).reshape(2, 12)
    for compact in (False, True):
        back = decode(encode(t, compact=compact))
        assert (back.dtype, back.shape) == (t.dtype, t.shape)
        assert tensor_bytes(back) == tensor_bytes(t)


def test_a_strided_view_arrives_as_one():
    store = torch.arange(40).reshape(5, 8)
    view = store[1:, ::3].T
    back = decode(encode(view))
    assert (back.stride(), back.storage_offset(), back.shape) == (view.stride(), view.storage_offset(), view.shape)
    assert storage_bytes(back) == storage_bytes(store)
    assert decode(encode(view, compact=True)).is_contiguous()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_small_and_empty_shapes(shape):
    back = decode(encode(torch.ones(shape, dtype=torch.int32), compact=True))
    assert back.shape == torch.Size(shape) and back.dtype == torch.int32


def test_what_has_another_exact_type_is_other():
    class Int(int):
        def __eq__(self, other):
            return True

        __hash__ = None

    class Liar(torch.Tensor):
        pass

    for value in (Int(3), torch.ones(2).as_subclass(Liar), object(), torch.Size([2]), range(3), torch.ones(2).to_sparse()):
        assert isinstance(decode(encode(value)), Other)


def test_a_repr_that_raises_is_no_harm():
    class Rude:
        def __repr__(self):
            raise SystemExit if False else ValueError

    assert decode(encode(Rude())).text == "<its repr raised ValueError>"


def test_too_deep_and_too_large():
    deep = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(CodecError, match="deep"):
        encode(deep)
    with pytest.raises(CodecError, match="more than"):
        encode(torch.zeros(1000), limit=100)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60))
def test_junk_is_refused_never_run(data):
    with pytest.raises(CodecError):
        decode(b"\xff" + data)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 400), st.integers(0, 255))
def test_a_changed_byte_gives_a_value_or_a_codec_error(at, byte):
    data = bytearray(encode({"a": [1, torch.arange(3), "x"], "b": (2.0, None)}))
    data[at % len(data)] = byte
    try:
        decode(bytes(data))
    except CodecError:
        pass


def test_a_tensor_that_claims_more_than_it_sends():
    data = encode(torch.arange(4), compact=True).replace(b'"shape":[4]', b'"shape":[9]')
    with pytest.raises(CodecError):
        decode(data)


@pytest.mark.parametrize(
    ("shape", "stride", "offset", "sent"),
    [
        ([60_000], [1], 0, 0),  # torch would make a storage of whatever stood there
        ([1 << 34], [1], 0, 0),
        ([1 << 40], [0], 0, 1),
        ([1 << 62, 1 << 62], [0, 0], 0, 1),
        ([3], [2], 0, 4),
        ([3], [1], 2, 4),
        ([], [], 0, 0),
        ([2], [-1], 3, 4),
        ([2], [1], -1, 4),
        ([2, 2], [1], 0, 4),
    ],
)
def test_a_view_shows_only_what_was_sent(shape, stride, offset, sent):
    """What lies in the reader's own memory is another learner's request, or the right answer."""
    head = {"dtype": "uint8", "shape": shape, "stride": stride, "offset": offset, "nbytes": sent}
    tree = json.dumps({"t": head}).encode()
    with pytest.raises(CodecError):
        decode(struct.pack("<Q", len(tree)) + tree + b"\1" * sent)


@pytest.mark.parametrize(
    "view", [torch.zeros(1).expand(1000, 1000), torch.arange(4)[4:], torch.arange(6)[1::2], torch.tensor(7)]
)
def test_an_honest_view_arrives_as_it_was(view):
    found = decode(encode(view))
    assert torch.equal(found, view) and found.stride() == view.stride() and found.storage_offset() == view.storage_offset()
