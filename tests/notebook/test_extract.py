import pytest

from dcplab.notebook.extract import extract, plain_python, same_code, unfinished


def value(cells, entry="f", *args):
    """What the extracted program's entry gives."""
    program = extract(cells, entry)
    assert program.problem is None
    space = {"__name__": "__main__"}
    exec(program.source, space)
    return space[entry](*args)


def test_it_takes_what_the_entry_needs_and_nothing_else():
    cells = [
        "import math\nimport os\nD = 4",
        "print('shown'); raise SystemExit",
        "def helper(x):\n    return math.floor(x / D)",
        "def other():\n    return 1",
        "def f(x):\n    return helper(x)",
        "lab.check('1a')",
    ]
    program = extract(cells, "f")
    assert (
        program.source == "import math\nD = 4\ndef helper(x):\n    return math.floor(x / D)\ndef f(x):\n    return helper(x)\n"
    )
    assert program.lines == ((1, 1), (1, 3), (3, 1), (3, 2), (5, 1), (5, 2))
    assert value(cells, "f", 9) == 2


def test_a_parameter_or_local_name_pulls_in_no_cell():
    cells = ["loc = input('blocks for ever')\ni = 1 / 0", "def f(loc):\n    total = [i for i in range(loc)]\n    return total"]
    assert extract(cells, "f").source == cells[1] + "\n"


def test_what_changes_a_needed_object_comes_along():
    cells = [
        "T = {}\nL = []\nclass Box: pass\nb = Box()\nn = 1",
        "T['a'] = 1\nL.append(2)\nb.x = 3\nn += 4\nfor k in range(2):\n    L.append(k)\n",
        "if n > 3:\n    m = 5\nelse:\n    m = 6",
        "try:\n    import nothing_of_this_name as q\nexcept ImportError:\n    q = None",
        "def f():\n    return T, L, b.x, n, m, q",
    ]
    assert value(cells) == ({"a": 1}, [2, 0, 1], 3, 5, 5, None)


def test_the_last_definition_wins_and_an_earlier_one_goes():
    cells = [
        "def f():\n    return 1 / 0 * g()",
        "def g():\n    return 'old'",
        "def f():\n    return g()",
        "def g():\n    return 'new'",
    ]
    program = extract(cells, "f")
    assert "1 / 0" not in program.source and "old" not in program.source
    assert value(cells) == "new"


def test_an_earlier_definition_stays_where_a_value_was_made_with_it():
    cells = ["def g():\n    return 'old'", "made = g()", "def g():\n    return 'new'", "def f():\n    return made, g()"]
    assert value(cells) == ("old", "new")


def test_what_only_an_old_version_used_is_gone():
    cells = [
        "from dcplab import lab, viz\nimport torch",
        "def f(kv):\n    return torch.tensor(kv)",
        "pool = lab.run('3a')",
        "def f(kv):\n    return helper(pool)\ndef helper(x):\n    return table[x]\ntable = lab.run('1a')",
        "f = torch.compile(lambda kv: pool)",
        "def f(kv):\n    return torch.tensor(kv)",
    ]
    assert extract(cells, "f").source == "import torch\ndef f(kv):\n    return torch.tensor(kv)\n"
    assert extract(cells, "f").borrowed == ()
    assert "pool = lab.run('3a')" in extract(cells[:-1], "f").source


def test_what_was_replaced_counts_where_it_was_used_before():
    cells = [
        "n = 1\nT = [n]\ndef g():\n    return n",
        "made = g()\nn = 2",
        "T.append(n)\nn += 10\nold = T\nT = []",
        "T.append(n)",
        "h = [g() for _ in range(1)]\nn, m = 3, 4",
        "def f():\n    return made, old, T, n, m, h, g()",
    ]
    assert value(cells) == (1, [1, 2], [12], 3, 4, [12], 3)
    assert "made" not in extract([*cells, "made = 5", "def f():\n    return n"], "f").source


def test_a_version_that_wraps_the_one_before_it_keeps_it():
    cells = [
        "import functools",
        "def f(x):\n    return x",
        "def f(x, before=f):\n    return before(x) + 1",
        "f = functools.partial(f)",
    ]
    assert value(cells, "f", 1) == 2


def test_what_may_not_run_settles_nothing():
    cells = ["D = 1", "if D > 5:\n    D = 7", "for D in []:\n    pass", "def f():\n    return D"]
    assert value(cells) == 1


def test_what_was_done_to_a_module_stays_done_when_it_is_imported_again():
    cells = ["import random", "random.seed(7)", "import random", "def f():\n    return random.random()"]
    assert value(cells) == value(cells)


@pytest.mark.parametrize(
    "cell, maker",
    [
        ("pool = lab.run('3a')", "lab.run"),
        ("pool = lab.run('3a')[0].reshape(2)", "lab.run"),
        ("pool = make(viz)", "viz"),
        ("whole = lab.run('3a')\npool = whole[0]", "lab.run"),
    ],
)
def test_what_the_course_made_is_known(cell, maker):
    cells = ["from dcplab import lab, viz\nimport torch", "make = str", cell, "def f():\n    return pool"]
    (found,) = extract(cells, "f").borrowed
    assert (found.name, found.cell, found.maker) == ("pool", 3, maker)


def test_a_cell_that_was_run_twice_counts_where_it_ran_last():
    cells = ["def f():\n    return 1", "def f():\n    return 2", "def f():\n    return 1"]
    assert value(cells) == 1


def test_recursion_classes_decorators_and_semicolons():
    cells = [
        "import functools; D = 2; E = 3",
        "@functools.cache\ndef f(n=4):\n    return n * f(n - 1) if n else D",
        "class C:\n    d = D",
    ]
    assert value(cells) == 48
    program = extract(cells, "C")
    assert program.source == "D = 2\nclass C:\n    d = D\n"


def test_columns_count_bytes_as_python_does():
    cells = ["s = 'äöü→'; D = 7", "def f():\n    return D, s"]
    assert value(cells) == (7, "äöü→")


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nD = 3",
        "!ls -l\nD = 3",
        "D = 3\nhelp?",
        "files = !ls\nD = 3",
        "%%time\nD = 3",
        "%time D = 3",
        "%%capture out\n# a comment\nD = 3",
        "if True:\n    %config x\n    D = 3",
    ],
)
def test_magics_and_shell_lines_are_dropped(cell):
    assert value([cell, "def f():\n    return D"]) == 3


def test_a_percent_sign_in_a_string_is_no_magic():
    assert value(["S = '''\n%time\n!x'''", "%who\ndef f():\n    return S, 7 % 3"]) == ("\n%time\n!x", 1)


def test_a_cell_of_another_language_is_dropped():
    assert plain_python("%%bash\nfor i in *; do echo $i; done") == ""


def test_lines_are_those_of_the_cell_under_a_magic():
    program = extract(["%%time\n\ndef f():\n    return 1"], "f")
    assert program.lines[0] == (1, 3)


def test_a_broken_cell_elsewhere_is_skipped():
    assert value(["D = (", "def f():\n    return 1"]) == 1


def test_a_broken_cell_with_the_entry_is_told_with_its_line():
    program = extract(["def f():\n    return 1", "def f():\n    x = 1\n    return (x\n"], "f")
    assert program.unreadable and program.problem.startswith("Line 3 of the cell with `f` cannot be read")


def test_a_later_good_cell_mends_a_broken_one():
    assert value(["def f(:\n", "def f():\n    return 1"]) == 1


def test_nothing_defines_it():
    assert extract(["x = 1"], "f").problem == "No cell defines `f`, the name that the check looks for."
    assert extract([], "f").problem == "No cell defines `f`, the name that the check looks for."


def test_future_imports_move_to_the_front():
    assert value(["D = 1", "from __future__ import annotations\ndef f(x: undefined_name = 2):\n    return x + D"]) == 3


def test_null_bytes_and_absurd_nesting_are_unreadable_not_a_crash():
    assert extract(["x = '\0'", "def f():\n    return 1"], "f").problem is None
    assert extract(["(" * 5000, "def f():\n    return 1"], "f").problem is None
    assert extract(["x = " + "-" * 100_000 + "1", "def f():\n    return 1"], "f").problem is None


STARTER = 'def f(x):\n    """Doc."""\n    # YOUR CODE HERE\n    raise NotImplementedError()\n'


@pytest.mark.parametrize(
    "answer, same",
    [
        (STARTER, True),
        ("import os\n" + STARTER.replace("Doc", "Other words").replace("# YOUR CODE HERE", "# ?"), True),
        ("def f(x):\n\n    raise NotImplementedError()", True),
        (STARTER.replace("raise NotImplementedError()", "return x"), False),
        ("def f(y):\n    raise NotImplementedError()", False),
    ],
)
def test_the_starter_is_known_by_its_syntax(answer, same):
    assert same_code(answer, STARTER, "f") is same


def test_unfinished():
    assert unfinished(STARTER, "f")
    assert unfinished("def f(x):\n    y = x\n    raise NotImplementedError('later')", "f")
    assert unfinished("class f:\n    def a(self):\n        return 1\n    def b(self):\n        raise NotImplementedError", "f")
    assert not unfinished("def f(x):\n    if x:\n        raise NotImplementedError\n    return 1", "f")
    assert unfinished("def f(x):\n    def g():\n        return 1\n    raise NotImplementedError", "f")


@pytest.mark.parametrize(
    "body",
    [
        "    return x + 1\n    raise NotImplementedError()\n",  # the starter's last line was left standing
        "    if isinstance(x, int):\n        return x + 1\n    raise NotImplementedError(type(x))\n",
    ],
)
def test_what_returns_before_its_last_line_is_run(body):
    assert not unfinished("def f(x):\n" + body, "f")


def test_a_try_out_of_another_part_costs_this_one_nothing():
    cells = [
        "import torch\nimport sys, random\nTABLE = []\nfrom config import WIDE",
        "torch.testing.assert_close(torch.tensor(1), torch.tensor(2))\ntorch.cuda.synchronize()",
        "for i in range(2):\n    torch.testing.assert_close(i, g(i))",
        "torch.set_default_dtype(torch.float64)\nrandom.seed(1)\nTABLE.append(2)\nWIDE.append(3)",
        "def f(x):\n    return torch.tensor(x), TABLE, random, WIDE",
    ]
    source = extract(cells, "f").source
    assert "testing" not in source and "synchronize" not in source
    for kept in ("set_default_dtype", "random.seed(1)", "TABLE.append(2)", "WIDE.append(3)"):
        assert kept in source  # these do change what f uses


@pytest.mark.parametrize("before", ["\n".join(f"!echo {i}" for i in range(6000)), "a = 1\rdef g():\r    return 2\rb = 3\r"])
def test_a_strange_cell_elsewhere_costs_nothing(before):
    assert extract([before, "def f():\n    return 1"], "f").problem is None


@pytest.mark.parametrize(
    "cell",
    [
        "\ufeffdef f():\n    return 1",
        "def f():\r\n    return 1\r\n",
        "def f():\r    return 1\r",
        "    def f():\n        return 1",  # IPython takes a cell that is indented as a whole
        ">>> def f():\n...     return 1",
    ],
)
def test_whatever_a_notebook_would_run(cell):
    space = {}
    exec(extract(["a = 1", cell], "f").source, space)
    assert space["f"]() == 1


def test_what_a_bare_call_changes_comes_along_and_a_try_out_does_not():
    cells = [
        "TABLE = {}\nclass C: pass\ndef fill(t):\n    t['one'] = 1\ndef init():\n    global STEP\n    STEP = 2",
        "fill(TABLE)\ninit()\nsetattr(C, 'three', 3)\nprint(TABLE)",
        "def f():\n    return TABLE['one'], STEP, C.three",
        "def try_out(g):\n    assert g() == 0\ntry_out(f)\nprint(f())\nfill({})",
    ]
    source, space = extract(cells, "f").source, {}
    exec(source, space)
    assert space["f"]() == (1, 2, 3)
    assert "try_out" not in source and "print" not in source
