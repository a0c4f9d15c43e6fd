"""Right answers that ask for what a check goes without pass, and are told so."""

from dataclasses import replace

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.course.seeded import Draw
from dcplab.course.trial import Trial
from dcplab.present import sentences

LAB = catalog.lab("03")
JIT = "@triton.jit"
CHOICE = "[triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)]"
ALIAS = [("import triton.language as tl\n", "import triton.language as T\n"), ("tl.", "T.")]


def judged(part, changes, mode="cpu"):
    key = LAB.key(part)
    source = key.solution.source
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return checking.check(key, replace(key.solution, source=source, lines=()), seed=1, mode=mode)


@pytest.mark.parametrize(
    "changes, says",
    [
        ([(JIT, f"@triton.autotune({CHOICE}, key=[])\n{JIT}")], "Of its 2 configurations the first was run: a GPU chooses."),
        (
            [(JIT, f"@triton.autotune({CHOICE}, key=['n'])\n@triton.heuristics({{'num_warps': lambda a: 4}})\n{JIT}")],
            "first was",
        ),
        ([(JIT, f"@triton.autotune({CHOICE[:-1]}][:1], key=[])\n{JIT}")], ""),
        ([(JIT, f"@triton.heuristics({{'num_warps': lambda a: 4 if a['n'] > 2 else 2}})\n{JIT}")], ""),
        (ALIAS, ""),
        ([("import triton\n", "from __future__ import annotations\nimport triton\n"), *ALIAS], ""),
        ([(ALIAS[0][0], ALIAS[0][0] + "from triton.language import constexpr as C\n"), ("tl.constexpr", "C")], ""),
    ],
    ids=["autotuned", "both", "one configuration", "heuristics", "alias", "alias, annotations as text", "constexpr alone"],
)
def test_a_kernel_written_otherwise_passes_and_is_compiled(changes, says):
    found = judged("3a", changes)
    assert found.outcome == "passed" and "it compiles for sm_90." in found.message, found.message
    assert says in " ".join(found.message.split()) and ("configuration" in found.message) == bool(says)


def test_a_configuration_that_does_not_compile_is_told():
    found = judged("3a", [(JIT, f"@triton.autotune([triton.Config({{'DIM': 8}})], key=[])\n{JIT}")])
    assert found.outcome == "crashed" and "DIM" in found.message


@pytest.mark.parametrize("decorator", ["@torch.compile", "@torch.compile(dynamic=True)"])
def test_torch_compile_is_passed_over(decorator):
    found = judged("3b", [("def write_ckv_torch", f"import torch\n{decorator}\ndef write_ckv_torch")])
    assert found.outcome == "passed" and "torch.compile was passed over" in found.message


def test_torch_compile_for_a_kernel_is_no_kernel():
    found = judged("3a", [("import triton\n", "import torch\nimport triton\n"), (JIT, "@torch.compile")])
    assert found.outcome == "crashed" and "this is a function, not a Triton kernel" in found.message


@pytest.mark.parametrize("call", ["breakpoint()", "import pdb; pdb.set_trace()", "input('?')"])
def test_who_asks_somebody_is_told_that_nobody_is_there(call):
    found = judged("3d", [("    owned =", f"    {call}\n    owned =")])
    assert found.outcome == "crashed" and found.message.startswith("Nobody can answer a question in a check: print instead")


@pytest.mark.parametrize("times", [1, 0])
def test_what_was_printed_is_said_to_be_somewhere(times):
    cases = sum("cpu" in case.modes for case in LAB.key("3d").part.cases(Draw(1)))
    found = judged("3d", [("    owned =", "    print('here')\n" * times + "    owned =")])
    assert found.outcome == "passed" and ("printed" in found.message) == bool(times)
    assert (f"It printed {cases} lines, which" in found.message) == bool(times)
    assert found.detail.count("here") == cases * times


def test_notes_that_an_answer_wrote_itself_are_left_out():
    """They come from the answer's own process: no text of theirs is shown, and none stops the checker."""
    forged = [["configurations", "\x1b[2J" * 9], ["x", 1], 3, ["configurations", 10**9], ["configurations", True], "compile"]
    assert sentences.of_notes(Trial(status="done", records={0: {"notes": forged}})) == []
    assert sentences.of_notes(Trial(status="done", records={0: {"notes": 7}})) == []
    twice = {0: {"notes": [["compile", 0]]}, 1: {"notes": [["compile", 0]]}}
    assert len(sentences.of_notes(Trial(status="done", records=twice))) == 1
