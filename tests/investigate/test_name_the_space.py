"""Name the space: what is called right follows from the lines, and the numbers in them agree."""

import ast
import functools
import time
from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab import checking, investigate
from dcplab.course import catalog
from dcplab.course.model import Case
from dcplab.investigate.name_the_space import drawing, templates, typing, wording
from dcplab.investigate.name_the_space.typing import ALLOCATOR_PAGE, INDEX_K_PAGE, LOC, POSITION, RANK, ROW, SPACES

LAB = catalog.lab("01")
SEEDS = st.integers(0, 2**63 - 1)
VARIANTS = [
    pytest.param(template, slip, id=f"{template.name}{'' if slip is None else f' {n}'}")
    for template in templates.TEMPLATES
    for n, slip in enumerate((None, *template.slips))
]


def lines_of(template, slip):
    lines = list(template.lines)
    if slip:
        lines[slip[0] - 1] = slip[1]
    return tuple(lines)


# ---- the templates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template, slip", VARIANTS)
def test_a_template_mixes_two_spaces_in_one_line_with_a_slip_and_in_none_without(template, slip):
    lines = lines_of(template, slip)
    assert 3 <= len(lines) <= 6
    assert len(set(drawing.reading(lines).mixes)) == (slip is not None)
    assert drawing.askable(lines)


def test_templates_and_slips_differ():
    every = [lines_of(template, slip) for template in templates.TEMPLATES for slip in (None, *template.slips)]
    assert len(every) == len(set(every)) and len(templates.TEMPLATES) >= 20


def test_a_house_names_everything_that_can_be_given_and_no_two_things_alike():
    made = [*chain(*templates.CALLED.values(), *templates.NO_INDEX.values()), *templates.SAYS_NOTHING, *templates.ON_THE_WAY]
    assert len(made) == len(set(made))
    for house, words in templates.HOUSES.items():
        assert words.keys() == templates.GIVEN.keys(), house
        assert len(set(words.values())) == len(words) and not set(words.values()) & {*made, "torch"}, house


# ---- a drawing -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_no_answer_is_right_often_and_every_house_speaks(seed):
    drawn = drawing.draw("1i", seed)
    assert len(drawn) == drawing.COUNT == len({s.template for s in drawn}) == len({s.lines for s in drawn})
    spaces, lines = (Counter(getattr(s, name) for s in drawn) for name in ("space", "line"))
    assert max(spaces.values()) <= 2 and len(spaces) >= 5 and spaces.keys() <= set(SPACES)
    assert max(lines.values()) <= 3 and 2 <= lines[0]
    assert {s.house for s in drawn} == set(templates.HOUSES)
    assert sum(s.lies is not None for s in drawn) >= 4
    for s in drawn:
        assert s.asked in ast.unparse(ast.parse(s.lines[s.at - 1])).replace("'", '"')
        assert 0 <= s.line <= len(s.lines) and s.lies != s.space


@pytest.mark.slow
def test_a_seed_gives_the_same_again_and_others_others():
    first = drawing.draw("1i", 7)
    drawing.draw.cache_clear()
    assert drawing.draw("1i", 7) == first
    assert len({drawing.draw(part, seed) for part in ("1i", "2i") for seed in range(20)}) == 40


@pytest.mark.slow
def test_every_template_slip_house_and_space_is_drawn():
    drawn = [s for seed in range(250) for s in drawing.draw("1i", seed)]
    assert {s.template for s in drawn} == {t.name for t in templates.TEMPLATES}
    assert {(s.space, s.house) for s in drawn} == {(space, house) for space in SPACES for house in templates.HOUSES}
    assert {s.line for s in drawn} == {0, 1, 2, 3, 4, 5}
    share = Counter(s.lies is not None for s in drawn)
    assert 0.5 < share[True] / len(drawn) < 0.85


# ---- the same in numbers -------------------------------------------------------------------------------------------------


class Numbers:
    """A request of four allocator pages, so far apart that the numbers of two spaces have none in common, but ranks and
    positions. Whatever is looked up is held against the space's numbers; ``outside`` has the lines that left them."""

    FIRST, PAGES, REQUEST = 5000, (5003, 5000, 5005, 5001), 3

    def __init__(self, d, p):
        self.d, self.p, self.w = d, p, d * p
        self.line, self.outside = 0, []
        top = self.FIRST + 6
        self.of = {
            POSITION: range(4 * self.w), LOC: range(self.FIRST * self.w, top * self.w), RANK: range(d),
            ROW: range(self.FIRST * p, top * p + self.w), INDEX_K_PAGE: range(self.FIRST * d, top * d),
            ALLOCATOR_PAGE: range(self.FIRST, top), typing.ENTRY_P: range(4 * d), typing.ENTRY_W: range(4),
            typing.PLACE_P: range(p), typing.PLACE_ROW: range(p), typing.REQUEST: range(self.REQUEST, self.REQUEST + 1),
        }  # fmt: skip
        base = torch.tensor(self.PAGES)
        self.locs = (base[:, None] * self.w + torch.arange(self.w)).flatten()
        self.held = {
            "table": self.locs,
            "table_k": (base[:, None] * d + torch.arange(d)).flatten(),
            "table_w": base,
        }
        self.names = {
            "D": d, "P": p, "r": 1, "pos": torch.arange(3 * self.w, 4 * self.w),
            "top": torch.arange(self.w - 3, 3 * self.w - 1, 2),
            "new": self.locs[3 * self.w :], "row": torch.arange(p) + 5005 * p, "pages": torch.tensor([5003]),
            "req": self.REQUEST, "length": 3 * self.w, "rows_here": 5006 * p,
            "q": Anything(), "kv": Anything(), "k": Anything(),
        }  # fmt: skip
        for name, kind in templates.GIVEN.items():
            if isinstance(kind, typing.Store):
                self.names[name] = Looked(self, kind.keys, self.held.get(name))
            elif isinstance(kind, typing.Call):
                self.names[name] = functools.partial(self.called, kind)

    def called(self, kind, *args):
        for index, space in zip(args, kind.takes, strict=True):
            if space:
                self.inside(index, space)

    def inside(self, index, space):
        numbers = torch.as_tensor(index)
        fine = self.numbers_of(numbers, space) if numbers.dtype != torch.bool else False
        if not fine:
            self.outside.append(self.line)
        return fine

    def numbers_of(self, index, space):
        index = torch.as_tensor(index)
        index = index[index >= 0]  # -1 is padding
        return bool(((index >= self.of[space].start) & (index < self.of[space].stop)).all()) and index.numel() > 0


class Looked:
    def __init__(self, world, keys, held):
        self.world, self.keys, self.held = world, keys, held

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        keys = [torch.arange(k.stop) if isinstance(k, slice) else k for k in keys]
        fine = [self.world.inside(k, space) for k, space in zip(keys, self.keys, strict=True)]
        last = torch.as_tensor(keys[-1])
        if self.held is None:
            return torch.zeros(last.shape, dtype=torch.int64)
        return self.held[last if all(fine) else last % len(self.held)]  # a table holds what it holds, wherever it is read

    def __setitem__(self, key, value):
        self[key]


class Anything:
    def __getitem__(self, key):
        return self

    def __mul__(self, other):
        return self


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_numbers_agree(seed):
    """Nothing leaves its numbers before the line that mixes, nothing at all where none does, and what is asked for is a number
    of the space that is called right."""
    for s in drawing.draw("1i", seed):
        sizes = {words[-1]: int(code) for code, words in s.given if code.isdigit()}
        world = Numbers(sizes.get("D", 3), sizes.get("P", 16))
        names = {templates.HOUSES[s.house][name]: value for name, value in world.names.items()} | {"torch": torch}
        for world.line, line in enumerate(s.lines, 1):
            if world.line == s.at:
                asked = torch.as_tensor(eval(s.asked, names))
                others = [o for o in SPACES if o != s.space and world.numbers_of(asked, o)]
                # A wrong comparison may have left nothing to look at.
                assert world.numbers_of(asked, s.space) or (not asked.numel() and 0 < s.line < s.at), (s, asked)
                assert not others or {s.space, *others} == {RANK, POSITION}, (s, others)
            exec(line, names)
        assert not world.outside if s.line == 0 else min(world.outside, default=s.line) >= s.line, (s, world.outside)


# ---- answers -------------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_sentence_names_the_half_that_is_wrong_and_not_what_is_right(seed):
    for n, s in enumerate(drawing.draw("1i", seed), 1):
        assert wording.name_of_the_mistake(n, f"{s.space}, {s.line}", s) is None
        assert wording.not_right(f"{s.space}, {s.line}", s) == ()
        for space in set(SPACES) - {s.space}:
            says = wording.name_of_the_mistake(n, f"{space}, {s.line}", s)
            assert says.startswith(f"Snippet {n}, space: ") and len(says) <= 80
            assert wording.not_right(f"{space}, 9", s) == ("space", "line")
        for line in set(range(8)) - {s.line}:
            says = wording.name_of_the_mistake(n, f"{s.space}, {line}", s)
            assert says.startswith(f"Snippet {n}, line: ") and len(says) <= 80
            assert wording.not_right(f"{s.space}, {line}", s) == ("line",)


@pytest.mark.parametrize("text", ["row, 3", "Rows, line 3", " row 3 ", "ROW; 3", ("row", 3), ["rows", "3"]])
def test_ways_to_say_the_same(text):
    assert wording.parse(text) == wording.Said(ROW, 3, wording.parse(text).word)


@pytest.mark.parametrize(
    ("text", "space", "line"),
    [
        ("index-K page, 0", INDEX_K_PAGE, 0),
        ("index k pages, none", INDEX_K_PAGE, 0),
        ("index_k_page 12", INDEX_K_PAGE, 12),
        ("page of rows, 1", ALLOCATOR_PAGE, 1),
        ("allocator page", ALLOCATOR_PAGE, None),
        ("slot, 2", None, 2),
        ("2", None, 2),
    ],
)
def test_what_is_read_in_an_answer(text, space, line):
    said = wording.parse(text)
    assert (said.space, said.line) == (space, line)


@pytest.mark.parametrize("text", ["?", "", None, "row, ?"])
def test_what_is_no_answer_yet(text):
    assert wording.parse(text) is None


def test_the_bank_s_literals_are_right_and_its_sentences_what_anybody_reads():
    part, names = LAB.part("1i"), {}
    exec(LAB.key("1i").solution.source, names)
    seed, found = names["name_the_space"]()
    assert found == {n: f"{s.space}, {s.line}" for n, s in enumerate(drawing.draw("1i", seed), 1)}
    for wrong in (w for w in LAB.wrong if w.part == "1i" and w.outcome == "wrong"):
        names = {}
        exec(LAB.program(wrong).source, names)
        got = part.drive(names["name_the_space"], 1)
        says = [part.compare(Case((n,)), got, None) for n in range(1, 9)]
        assert next(filter(None, says)) == wrong.says, wrong.id


def test_the_snippets_as_text_and_as_a_page():
    shown = investigate.snippets("1i", 36886)
    for text in (repr(shown), shown._repr_html_()):
        for s in drawing.draw("1i", 36886):
            assert s.lines[0].split(" = ")[0] in text and s.house in text
    assert "&lt;" in shown._repr_html_() and "Seed 36886." in repr(shown)


def test_an_answer_of_another_s_seed_is_told_so(monkeypatch, capsys):
    from dcplab import lab

    monkeypatch.setattr(lab, "program_of", lambda *which: LAB.key("1i").solution)
    monkeypatch.setattr(investigate, "seed", lambda: 7_000_001)
    found = lab.check("1i")
    assert (found.outcome, found.points, found.case_seed) == ("passed", 10, 36886)
    says = "This answer is about seed 36886, the solved notebook's. Your own cases are those of seed 7000001."
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("space", SPACES)
def test_one_answer_for_all_earns_little(space):
    for seed in range(10):
        drawn = drawing.draw("1i", seed)
        assert all(sum((s.space, s.line) == (space, line) for s in drawn) <= 2 for line in range(7))


@pytest.mark.parametrize("text", [", " * 500_000 + "x", "a" + " " * 2_000_000 + "b", "row" * 1_000_000])
def test_a_strangers_long_text_is_read_in_no_time(text):
    began = time.process_time()
    said = wording.parse(text)
    assert time.process_time() - began < 0.5 and (said is None or said.space is None)
    assert len(wording.as_text([text, text])) <= wording.MOST


def test_what_is_nested_too_deep_to_travel_is_no_answer_and_no_fault_of_the_checker():
    key = catalog.of_part("1i").key("1i")
    deep = "def name_the_space():\n    x = []\n    for _ in range(900):\n        x = [x]\n"
    deep += "    return 7, dict.fromkeys(range(1, 9), x)\n"
    answer = replace(key.solution, source=deep, lines=())
    found = checking.check(key, answer, seed=1)
    assert (found.outcome, found.points) == ("wrong", 0), found.message
