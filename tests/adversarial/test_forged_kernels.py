"""A kernel's record that an answer forges in its own process: no points, or the result says that it is its own word."""

import pytest

KERNEL = """
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + at, 2 * tl.load(src + at, mask=at < n), mask=at < n)
"""
NOTHING = """
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    pass
"""
# Replaces the function of its child that launches by one that does the work in torch.
FORGERY = """
import sys
def _forge():
    frame = sys._getframe()
    while "_run_launch" not in frame.f_globals:
        frame = frame.f_back
    child = frame.f_globals
    def launch(kernel, case, job, path):
        buffers = child["codec"].decode(case["buffers"])
        return {"written": {"dst": buffers["src"] * 2}, "events": [], "doubts": []}
    child["_run_launch"] = launch
    return 4
"""
LEFT_OUT = {
    "in a setting": NOTHING + "double_kernel.x = _forge()\n",
    "in a constant that it does not need": "SIZE = _forge()\n" + NOTHING + "double_kernel.x = SIZE\n",
}
NEEDED = {
    "in a constant": "SIZE: tl.constexpr = tl.constexpr(_forge())\n" + NOTHING.replace("pass", "SIZE"),
    "in a default": NOTHING.replace("tl.constexpr):", "tl.constexpr, C: tl.constexpr = _forge()):"),
    "in a decorator": "def mine(f):\n    _forge()\n    return f\n" + NOTHING.replace("@triton.jit", "@triton.jit\n@mine"),
}
# What runs a text without a call that one sees: decorators, and typing, which evaluates annotations.
UNSEEN = """
import typing
@typing.ForwardRef
@(lambda f: {text!r})
@triton.jit
def R(): pass
def g(x: R): pass
@typing.get_type_hints
@(lambda f: g)
@triton.jit
def Z(): pass
@(lambda f: (Z, f)[1])
"""
NO_KERNEL = """
def kernel(src, dst, n, BLOCK):
    dst.copy_(2 * src)
double_kernel = [_forge(), kernel][1]
"""


@pytest.mark.parametrize("way", LEFT_OUT)
def test_a_kernel_that_does_nothing_gets_nothing(judged, way):
    found = judged("91b", FORGERY + LEFT_OUT[way])
    assert (found.outcome, found.points) == ("crashed", 0), found.message
    assert "does something else where the code around it does not run" in found.message


def test_a_text_that_a_decorator_has_evaluated_gets_nothing_or_is_named(judged):
    text = f"exec({FORGERY + '_forge()'!r}) or int"
    found = judged("91b", UNSEEN.format(text=text) + NOTHING.lstrip())
    assert found.points == 0 or "its own word" in found.message, found.message
    assert "it compiles" not in found.message


def test_what_is_no_kernel_in_its_source_launched_none(judged):
    found = judged("91b", FORGERY + NO_KERNEL)
    assert (found.outcome, found.points) == ("crashed", 0) and "No kernel was launched" in found.message, found.message


@pytest.mark.parametrize("way", NEEDED)
def test_a_kernel_that_needs_such_code_is_named(judged, way):
    found = judged("91b", FORGERY + NEEDED[way])
    assert found.outcome == "passed" and "it compiles" not in found.message, found.message
    assert "its own word" in found.message and "its own word" in found.odd[0]


def test_the_interpreter_s_arrays_are_no_way_out(judged):
    """Without a line outside the kernel: numpy behind a value of the interpreter, where the compiler takes another branch."""
    source = KERNEL.replace("    at =", "    if not isinstance(BLOCK, tl.constexpr):\n        x = n.handle.data\n    at =")
    found = judged("91b", source)
    assert found.points == 0 or found.odd or "it compiles" not in found.message, found.message


@pytest.mark.parametrize("beside", ["", "print('hello')\n", "import os\nHOME = os.getcwd()\n", "double_kernel.note = 'mine'\n"])
def test_code_beside_a_right_kernel_costs_nothing(judged, beside):
    found = judged("91b", KERNEL + beside)
    assert found.outcome == "passed" and not found.odd and "it compiles for sm_90" in found.message, found.message
