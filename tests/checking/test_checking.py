import json
import re

import pytest

from dcplab import checking
from dcplab.notebook.extract import extract
from dcplab.present import card
from dcplab.reference import References

LOCALIZE = "def localize(locs, dcp_rank, dcp_size):\n    "
KERNEL = """@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    """


KEPT = References()  # what is right and what a bank of kernels does takes a second: once is enough here


def lines(found):
    return found.message.split("\n")


def test_a_wrong_answer_is_told_in_order(judged):
    found = judged("91a", LOCALIZE + "return torch.where(locs >= 0, locs // dcp_size, -1)", seed=4)
    assert (found.outcome, found.diagnosis, found.points, found.max_points) == ("wrong", "91a-no-filter", 0, 20)
    said = lines(found)
    assert said[0] == "Every rank took every loc: nothing selected an owner."
    table = next(i for i, line in enumerate(said) if line.split() == ["loc", "owner", "row", "yours", "expected"])
    assert said[table + 1].split() == ["0", "0", "0", "0", "-1"]
    question = next(i for i, line in enumerate(said) if line == "Ask yourself: Who owns loc 1?")
    more = next(i for i, line in enumerate(said) if 'lab.explain("91a")' in line)
    seed = next(i for i, line in enumerate(said) if line.startswith("seed 4, CPU (Triton interpreter), torch "))
    assert table < question < more < seed < len(said) - 1 and said[-1] == "91a: not right yet, 0 of 20 points"
    assert "Traceback" not in found.message and "tensor(" not in found.message


@pytest.mark.slow
def test_a_mistake_that_does_not_explain_every_failing_case_is_not_named(judged):
    # The case that is shown and one more of three do what the bank's answer does, and the third one does not.
    found = judged(
        "91a", LOCALIZE + "if locs.ndim == 2:\n        return locs * 0\n    return torch.where(locs >= 0, locs // dcp_size, -1)"
    )
    assert found.outcome == "wrong" and found.diagnosis in (None, "91a-fact"), "at most what is true of every case"
    other = judged("91a", LOCALIZE + "return torch.where(locs >= 0, locs // dcp_size, -1) + (locs >= 2**31)")
    assert other.diagnosis in (None, "91a-fact")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report(judged):
    source = LOCALIZE + "return locs + 1"
    assert judged("91a", source, seed=9).message == judged("91a", source, seed=9).message
    assert judged("91a", source, seed=9).case != judged("91a", source, seed=10).case


def test_an_answer_that_waits_for_an_unfinished_helper_is_told_which(judged):
    helper = "def owner(loc):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n\n"
    found = judged("91a", helper + LOCALIZE + "return owner(locs)")
    assert (found.outcome, lines(found)[0]) == (
        "not_attempted",
        "Not finished yet: `owner`, which it needs, raises NotImplementedError.",
    )


def test_a_result_is_plain_json(judged):
    found = judged("91a", LOCALIZE + "return locs + 1")
    data = json.loads(json.dumps(found.to_json()))
    assert {
        "lab",
        "part",
        "outcome",
        "points",
        "max_points",
        "diagnosis",
        "message",
        "case",
        "seed",
        "mode",
        "versions",
    } <= data.keys()


def test_an_unknown_mistake_gets_the_parts_question_and_the_facts(judged):
    found = judged("91a", LOCALIZE + "return locs * 0 - 5")
    assert found.diagnosis == "91a-fact" and found.question == "Whose is loc 5?"
    assert lines(found)[0] == "Where it fails, every entry of the result is wrong: each is -5."
    assert re.fullmatch(r"The result differs in \d+ of \d+ values\.", lines(found)[1])


@pytest.mark.parametrize(
    "body, outcome, first",
    [
        ("return None", "wrong", "It gives None in every case\\.$"),
        ("return locs.float()", "wrong", "The result differs in 8 of 9 values, and has dtype float32; int64 is expected."),
        ("return locs.tolist()[0]", "wrong", "an int|a list"),
        ("return locs.reshape(-1, 1)", "wrong|unsafe", "shape"),
        ("return locs.view(-1)", "crashed|wrong|unsafe", "."),
        ("return undefined_name", "crashed", "name 'undefined_name' is not defined: if a cell of yours defines it, run and"),
        ("raise ValueError('two\\nlines')", "crashed", "It raised ValueError: two \\(line 2 of code cell \\d\\)$"),
        ("1 / 0", "crashed", "It raised ZeroDivisionError: division by zero"),
        ("locs += 1; return locs + 1", "unsafe", "It changes `locs`, which it may only read."),
        ("return locs[...]", "wrong", "It gives back `locs` as it got it\\."),
        ("return locs[...] if dcp_size == 1 else locs + 1", "wrong", "wrong"),
        (
            "m = (locs >= 0) & (locs % dcp_size == dcp_rank); locs.set_(torch.where(m, locs // dcp_size, -1)); return locs",
            "unsafe",
            "changes",
        ),
        ("raise NotImplementedError", "not_attempted", "Not finished yet: it still ends in"),
        (
            "if True: raise NotImplementedError\n    return 1",
            "not_attempted",
            "Not finished yet: it raises NotImplementedError.",
        ),
    ],
)
def test_first_lines(judged, body, outcome, first):
    found = judged("91a", LOCALIZE + body)
    assert re.fullmatch(outcome, found.outcome), found.message
    assert re.search(first, lines(found)[0]), found.message
    assert len(lines(found)[0]) <= 80 and "Traceback" not in found.message


def test_a_right_result_that_is_the_input_itself_is_unsafe(small):
    from dataclasses import replace

    import torch

    from dcplab.course.model import Case

    key = small.key("91a")
    key = replace(key, part=replace(key.part, cases=lambda draw: [Case((torch.tensor([-1, -1]), 0, 2))]))
    program = extract([*small.setup(), LOCALIZE + "return locs[...]"], "localize")
    found = checking.check(key, program, seed=1)
    assert found.outcome == "unsafe"
    assert lines(found)[0] == "Its result shares memory with `locs`: it must be a tensor of its own."


def test_a_traceback_is_in_the_detail_with_the_cells_line(judged):
    found = judged("91a", "def inner(x):\n    return x.nothing\n" + LOCALIZE + "print('seen')\n    return inner(locs)")
    assert "AttributeError" in lines(found)[0]
    assert 'File "answer.py"' in found.detail and "(line 2 of code cell" in found.detail
    assert "--- printed ---\nseen" in found.detail and "/answer0.py" not in found.detail


def test_syntax_error_and_missing(judged):
    found = judged("91a", LOCALIZE + "return (")
    assert (found.outcome, found.points) == ("crashed", 0) and "Line 2 of the cell with `localize`" in lines(found)[0]
    found = judged("91a", "x = 1")
    assert found.outcome == "not_attempted"
    assert lines(found)[0] == "No cell defines `localize`, the name that the check looks for."


def test_a_helper_that_fails_while_it_loads(judged):
    found = judged("91a", "TABLE = [missing]\n" + LOCALIZE + "return TABLE")
    assert found.outcome == "crashed" and lines(found)[0].startswith("name 'missing' is not defined")
    found = judged("91a", "import no_such_module_here\n" + LOCALIZE + "return no_such_module_here")
    assert "It does not load: ModuleNotFoundError" in lines(found)[0]


def test_passed(judged):
    found = judged("91a", LOCALIZE + "return torch.where((locs >= 0) & (locs % dcp_size == dcp_rank), locs // dcp_size, -1)")
    assert (found.outcome, found.points, found.table) == ("passed", 20, None)
    assert lines(found)[0] == "Right on all 3 cases." and lines(found)[-1] == "91a: passed, 20 of 20 points"


@pytest.mark.parametrize(
    "body, outcome, first",
    [
        (
            "tl.store(dst + at, tl.load(src + at, mask=at < n) * 2)",
            "unsafe",
            r"It wrote elements \d to \d of `dst`, which has \d \(0 to \d\): 1 to \d past the end",
        ),
        ("tl.store(dst + at, tl.load(src + at) * 2, mask=at < n)", "unsafe", r"It read elements \d to \d of `src`"),
        (
            "tl.store(dst - 1 + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)",
            "unsafe",
            "element -1 of `dst`.*: 1 before the start",
        ),
        ("tl.store(dst + at * 10**9, tl.load(src + at, mask=at < n) * 2, mask=at < n)", "unsafe", "of `dst`"),
        ("pass", "wrong", r"`dst` differs in \d of \d values"),
        ("tl.nothing(at)", "crashed", "AttributeError"),
    ],
)
def test_kernels(judged, body, outcome, first):
    found = judged("91b", KERNEL + body, kept=KEPT)
    assert found.outcome == outcome and re.search(first, " ".join(lines(found)[:2])), found.message


@pytest.mark.slow
def test_and_between_blocks_is_not_judged_in_the_interpreter_and_never_called_unsafe(judged):
    # It keeps the second mask whole; the compiler joins the two, so on a GPU this is right.
    body = "old, new = at >= 0, at < n\n    m = new and old\n    tl.store(dst + at, tl.load(src + at, mask=m) * 2, mask=m)"
    found = judged("91b", KERNEL + body, kept=KEPT)
    assert (found.outcome, found.points) == ("error", 0)
    assert "keeps one side of `and`" in " ".join(found.message.split()), found.message
    assert judged("91b", KERNEL + body.replace(" and ", " & ")).outcome == "passed"
    scalar = "if n > 0 and tl.program_id(0) >= 0:\n        m = at < n\n        "
    scalar += "tl.store(dst + at, tl.load(src + at, mask=m) * 2, mask=m)"
    assert judged("91b", KERNEL + scalar).outcome == "passed", "of scalars it is right"


def test_a_load_that_says_what_masked_lanes_get_is_judged(judged):
    # Triton asks `if mask and other` itself.
    body = "tl.store(dst + at, tl.load(src + at, mask=at < n, other=0) * 3, mask=at < n)"
    assert judged("91b", KERNEL + body, kept=KEPT).outcome == "wrong"


def test_an_entry_that_is_no_kernel(judged):
    found = judged("91b", KERNEL.replace("@triton.jit\n", "") + "pass")
    assert found.outcome == "crashed" and "is @triton.jit above it?" in " ".join(found.message.split())


def test_what_lies_between_the_rows_is_somebody_elses(judged):
    found = judged("91c", "def write_rows(kv, src, rows):\n    kv.untyped_storage().fill_(0)")
    assert found.outcome == "unsafe" and "between the elements of `kv`" in found.message


def test_tolerance_and_nan(judged):
    assert judged("91d", "def mean(x):\n    return float(x.sum()) / len(x)").outcome == "passed"
    assert judged("91d", "def mean(x):\n    return float(x.sum()) / len(x) + 1e-3").outcome == "wrong"


def test_a_driver_calls_what_data_cannot(judged):
    head = "class Counter:\n    def __init__(self, made):\n        made()\n        self.steps = 0\n"
    right = head + "    def step(self):\n        self.steps += 1"
    assert judged("91e", right).outcome == "passed"
    assert judged("91e", right.replace("made()\n", "pass\n")).outcome == "wrong"


def test_an_error_that_is_asked_for(judged):
    head = "def pages(size, page_size):\n    if size % page_size:\n        raise {}\n    return size // page_size"
    assert judged("91f", head.format("ValueError('x')")).outcome == "passed"
    assert judged("91f", "class Mine(ValueError): pass\n" + head.format("Mine")).outcome == "passed"
    found = judged("91f", head.format("KeyError(1)"))
    assert found.outcome == "wrong" and "It raises KeyError where a ValueError is asked for." in found.message


@pytest.mark.slow
def test_bf16_arithmetic_in_the_interpreter_is_not_judged_and_never_called_wrong(small):
    from dataclasses import replace

    import torch

    from dcplab.course.model import Buf, Launch

    def cases(draw):
        x = torch.tensor([1.5, 2.25, -3.0], dtype=torch.bfloat16)
        return [
            Launch(
                {"src": x, "dst": torch.zeros(3, dtype=torch.bfloat16)},
                (Buf("src"), Buf("dst"), 3),
                (1,),
                {"BLOCK": 4},
                writes=("dst",),
            )
        ]

    key = small.key("91b")
    key = replace(key, part=replace(key.part, cases=cases))

    def outcome(body):
        program = extract([*small.setup(), KERNEL + body], "double_kernel")
        return checking.check(key, program, seed=1, mode="cpu")

    found = outcome("tl.store(dst + at, tl.load(src + at, mask=at < n) * tl.load(src + at, mask=at < n), mask=at < n)")
    assert (found.outcome, found.points) == ("error", 0)
    assert lines(found)[0].startswith("Not judged here: Triton's CPU interpreter computes bf16 wrongly")
    found = outcome("tl.store(dst + at, tl.load(src + at, mask=at < n), mask=at < n)")
    assert found.outcome == "wrong", "moving bf16 is exact, so this can be judged"


def test_a_part_that_cannot_be_judged_here_says_so(small):
    from dataclasses import replace

    key = small.key("91a")
    key = replace(key, part=replace(key.part, not_here=lambda mode: "It needs a GPU." if mode == "cpu" else None))
    found = checking.check(key, key.solution, seed=1, mode="cpu")
    assert (found.outcome, found.points) == ("error", 0) and lines(found)[0] == "Not judged here: It needs a GPU."


def test_a_broken_solution_is_the_checkers_fault_not_the_learners(small):
    from dataclasses import replace

    key = small.key("91a")
    key = replace(key, solution=extract(["def localize(locs, dcp_rank, dcp_size):\n    raise KeyError(3)"], "localize"))
    found = checking.check(key, small.key("91a").solution, seed=1)
    assert found.outcome == "error" and "not your answer" in found.message


def test_html_says_the_outcome_in_words_and_escapes(judged):
    found = judged("91a", LOCALIZE + "raise ValueError('<script>alert(1)</script>')")
    page = card.as_html(found)
    assert "<script>" not in page and "91a crashed" in page and "0 of 20 points" in page
    assert "Ask yourself" not in page and "seed 1" in page  # a crash asks enough by itself
    assert "Ask yourself" in card.as_html(judged("91a", LOCALIZE + "return locs"))
    colours = re.findall(r"border-left:12px double ([^;]+);", page)
    assert colours == ["#d32f2f", "var(--jp-error-color1,#d32f2f)"], "the theme's own colour, where there is a theme"
    wrong = card.as_html(judged("91a", LOCALIZE + "return torch.where(locs >= 0, locs // dcp_size, -1)"))
    assert wrong.count("<table") == 1 and wrong.count("expected") == 1 and "Every rank took every loc" in wrong


def test_a_name_that_is_a_slip_is_said_so(judged):
    found = judged("91a", LOCALIZE + "return locs // dcpsize")
    assert found.message.startswith("name 'dcpsize' is not defined. Did you mean `dcp_size`?")
    assert "if a cell of yours defines it" in judged("91a", LOCALIZE + "return helper(locs)").message


def test_an_answer_may_import_what_lies_beside_the_notebook(small, tmp_path):
    (tmp_path / "beside_me.py").write_text("D = 2\n")
    cells = [*small.setup(), "from beside_me import D\n" + LOCALIZE + "return locs + D"]
    key = small.key("91a")
    assert checking.check(key, extract(cells, "localize", str(tmp_path)), seed=1).outcome == "wrong"
    assert checking.check(key, extract(cells, "localize"), seed=1).outcome == "crashed"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("tl.store(dst + at, numpy.where(True, 2, 2) * tl.load(src + at, mask=at < n), mask=at < n)", "Unsupported function"),
        (
            "try:\n        tl.store(dst + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)\n    finally:\n        pass",
            "Try",
        ),
    ],
)
def test_what_only_an_interpreter_runs_is_no_kernel(judged, body, why):
    found = judged("91b", "import numpy\n" + KERNEL + body, mode="cpu")
    assert (found.outcome, found.points) == ("crashed", 0) and "a GPU could not" in found.message and why in found.message


def test_a_kernel_that_passes_is_said_to_compile(judged):
    found = judged("91b", KERNEL + "tl.store(dst + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)", mode="cpu")
    assert found.outcome == "passed" and "it compiles for sm_90." in found.message
