"""What an exception of torch means is known by its message: held against the torch that is installed."""

import pytest
import torch

from dcplab.present import kernel_slips
from dcplab.present.facts import of_raised

T = torch.arange(6)


@pytest.mark.parametrize(
    "identity, slip",
    [
        ("one-bool", lambda: T >= 0 and T < 3),
        ("index-dtype", lambda: T[T.float()]),
        ("tensor-for-int", lambda: T[: T + 1]),
        ("slice-of-float", lambda: T.tolist()[: 4 / 2]),
        ("float-for-int", lambda: range(4 / 2)),
        ("largest-of-none", lambda: T[:0].max()),
        ("shapes-apart", lambda: T + T[:4]),
        ("range-backwards", lambda: torch.arange(5, 2)),
        ("arguments", lambda: T.argsort(-1, stable=True)),
        ("stack", lambda: torch.stack([T, T[:2]])),
        ("mask-shape", lambda: T[T[:3] > 0]),
        ("split-lengths", lambda: T.split([1, 2])),
        ("store-dtype", lambda: T.clone().index_put_((T,), torch.ones(6))),
        ("join-shapes", lambda: torch.cat([T[None], T[None, :3]])),
        ("view-size", lambda: T.view(4, 2)),
        ("beyond", lambda: T[7]),
        ("number-walked", lambda: list(T[0].tolist())),
        ("number-walked", lambda: list(T[0])),
        ("one-of-several", lambda: (lambda: [(a, b) for a, b in [7]])()),
    ],
)
def test_a_message_of_torch_is_known(identity, slip):
    with pytest.raises(Exception) as raised:
        slip()
    found = of_raised(str(raised.value))
    assert found and found[0] == identity, raised.value


def test_another_message_is_not():
    assert of_raised("division by zero") is None and of_raised("") is None


KERNEL = """import triton
import triton.language as tl
@triton.jit
def kernel(p, q, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    at, more = i * BLOCK + tl.arange(0, BLOCK), 3
    x = tl.load(p + at)
    {}
"""


@pytest.mark.parametrize(
    "identity, body, message",
    [
        ("block-condition", "if x > 0:\n        tl.store(q + at, x)", "Boolean value of Tensor with more than one value"),
        ("block-condition", "y = 1 if at < n and more else 2", "Ternary expression with dynamic condition has"),
        ("block-condition", "if i > 0 and x > 0:\n        return", "Boolean value of Tensor with more than one value"),
        ("chained", "y = 0 <= at < n", "simultaneous multiple comparison is not supported"),
        ("joined", "y = i and more", "Boolean value of Tensor with more than one value"),
        ("arange-constant", "y = tl.arange(0, n)", "arange's arguments must be of type tl.constexpr"),
        (None, "y = x >= 0 & x < n", "simultaneous multiple comparison is not supported"),  # without parentheses: torch's too
        (None, "if tl.sum(x) > 0:\n        return", "Boolean value of Tensor with more than one value"),
        (None, "if i > 0:\n        return", "out of resource"),
    ],
)
def test_a_kernels_slip_is_known_by_its_message(identity, body, message):
    found = kernel_slips.of_raised(KERNEL.format(body), {"message": message})
    assert (found and found[0]) == identity


def test_a_block_that_is_walked_and_a_while_over_one():
    walked = KERNEL.format("for one in at:\n        pass")
    assert kernel_slips.of_raised(walked, {"message": "not iterable", "line": 8})[0] == "walked-block"
    assert kernel_slips.of_endless(KERNEL.format("while at < n:\n        at += BLOCK"))[0] == "block-condition"
    assert kernel_slips.of_endless(KERNEL.format("while i < n:\n        i += BLOCK")) is None
