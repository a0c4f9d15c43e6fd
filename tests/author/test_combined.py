"""Two wrong answers made into one that makes both mistakes."""

import ast

from dcplab.course.combined import combined

RIGHT = 'def f(a, d):\n    """What it gives."""\n    mine = (a >= 0) & (a % d == 1)\n    return where(mine, a // d, -1)\n'
UNSIGNED = "def f(a, d):\n    return where(a % d == 1, a // d, -1)\n"
UNDIVIDED = "def f(a, d):\n    ok = (a >= 0) & (a % d == 1)\n    return where(ok, a, -1)\n"


def same(source, other):
    return source and ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def test_changes_of_two_places_are_made_together_whatever_a_step_is_called():
    both = "def f(a, d):\n    return where(a % d == 1, a, -1)\n"
    assert same(combined(RIGHT, UNSIGNED, UNDIVIDED), both) and same(combined(RIGHT, UNDIVIDED, UNSIGNED), both)


def test_changes_of_one_place_are_not():
    assert combined(RIGHT, UNDIVIDED, UNDIVIDED.replace("where(ok, a,", "where(ok, a * d,")) is None
    assert combined(RIGHT, UNSIGNED, UNSIGNED) is None and combined(RIGHT, RIGHT, UNSIGNED) is None


def test_lines_that_come_and_go_stay_in_order():
    right = "def f(a):\n    one(a)\n    two(a)\n    three(a)\n"
    shorter, longer = right.replace("    two(a)\n", ""), right + "    four(a)\n"
    assert same(combined(right, shorter, longer), "def f(a):\n    one(a)\n    three(a)\n    four(a)\n")
    assert combined(right, shorter, right.replace("two(a)", "two(b)")) is None
