"""Mutants of solutions: what one edit makes, and that the cases of a part tell it from the solution."""

import pytest

from dcplab.author import mutation
from dcplab.course import catalog
from dcplab.course.mutants import mutants, slips

SOURCE = 'K = 3\ndef f(a, b):\n    """Up to 7."""\n    return g(a, b, k=1) if a < b else a // b\n'


def test_a_mutant_is_one_edit_inside_the_function():
    made = mutants(SOURCE, ("f",))
    lines = {m.at: m.edit for m in made}
    assert lines["return g(a, b, k=1) if a <= b else a // b"] == "`<=` for `<` before `b`"
    assert lines["return g(a, b, k=1) if a < b else -(-a // b)"] == "rounding up for rounding down in a division by `b`"
    assert lines["return g(a, b) if a < b else a // b"] == "`k=` left out"
    assert mutants("def f(a):\n    return a.long()\n", ("f",))[0].edit == "`.long()` left out"
    assert lines["return g(b, a, k=1) if a < b else a // b"] == "two arguments of `g` swapped"
    assert all(m.source.startswith("K = 3") and "Up to" not in m.source for m in made)
    assert len({m.source for m in made}) == len(made)


def test_slips_are_more_than_the_mutants_a_part_is_tried_with():
    made = {m.at: m.edit for m in slips(SOURCE, ("f",))}
    assert {m.at for m in mutants(SOURCE, ("f",))} < made.keys()
    assert made["return g(b, b, k=1) if a < b else a // b"] == "`b` for `a`"
    assert made["return g(a, b, k=1) if a < b else a // b + 1"] == "1 added to a quotient"


def test_an_edit_says_what_it_is_of():
    source = "def f(a, b):\n    x = a * 2 + 1\n    return g(x // b - a, other=-1) if x < b else h(0)[3]\n"
    made = {m.edit for m in slips(source, ("f",))}
    assert {
        "the factor `3` for `2`",
        "`2` for the `1` of a sum",
        "`1` for `0` in a call of `h`",
        "`4` for `3` as an index",
    } <= made
    assert {
        "`<=` for `<` before `b`",
        "a division by `b` left out",
        "the term `1` left out",
        "what is divided left out",
    } <= made
    assert {"1 taken from `a`", "1 added to a quotient", "`a` added to a difference", "a product multiplied by `b`"} <= made
    assert {"rounding up for rounding down in a division by `b`", "`-2` for `-1`", "`0` for `-1`"} <= made


def test_parentheses_are_left_out_and_lines_turned():
    source = "def f(a, b, c):\n    for x in c:\n        x.write(a)\n        x.read()\n"
    source += "    return (a - b) * c, (a >= 0) & (b == c), a * b - c\n"
    made = {m.source.split("return ")[1].strip(): m.edit for m in slips(source, ("f",))}
    assert made["(a - b * c, (a >= 0) & (b == c), a * b - c)"] == "parentheses left out"
    assert made["((a - b) * c, a >= 0 & (b == c), a * b - c)"] == "parentheses left out"
    assert made["((a - b) * c, ((b == c) & a) >= 0, a * b - c)".replace("((b == c) & a) >= 0", "(b == c) & a >= 0")]
    assert made["((a - b) * c, (a >= 0) & (b == c), a * (b - c))"] == "other parentheses"
    assert any(
        m.edit == "two lines in another order" and "x.read()\n        x.write(a)" in m.source for m in slips(source, ("f",))
    )


@pytest.mark.parametrize("part, every", [("1c", 1), ("2d", 1), ("4f", 2), ("3d", 4), ("3a", 4)])
def test_every_survivor_of_a_sample_has_a_reason(part, every):
    found = mutation.tried(catalog.of_part(part), part, (1, 2), every)
    assert found.count > 5 and found.count > 2 * len(found.survivors)
    assert not found.unexplained, [m.at for m in found.unexplained]


def test_every_reason_is_of_a_mutant_that_there_is():
    for lab in catalog.labs():
        for part, reasons in mutation.reasons(lab.name).items():
            key = lab.key(part)
            assert set(reasons) <= {m.at for m in mutants(key.solution.source, key.part.names)}, part
