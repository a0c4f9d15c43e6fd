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
from dcplab.name_the_space import drawing, matters, typing, wording, words
from dcplab.name_the_space.typing import (
    ALLOCATOR_PAGE,
    BYTE,
    ELEMENT,
    FLOAT,
    GATHERED,
    INDEX_K_PAGE,
    LOC,
    POSITION,
    RAGGED,
    RANK,
    REQUEST,
    ROW,
    SENT,
    SOURCE,
    SRC_LOC,
    SRC_RANK,
    SRC_ROW,
    TOKEN,
)

PARTS = tuple(matters.MATTERS)
SEEDS = st.integers(0, 2**63 - 1)
in_each_part = pytest.mark.parametrize("part", PARTS)
VARIANTS = [
    pytest.param(part, template, slip, id=f"{part} {template.name}{'' if slip is None else f' {n}'}")
    for part in PARTS
    for template in matters.of(part).templates
    for n, slip in enumerate((None, *template.slips))
]


def lines_of(template, slip):
    lines = list(template.lines)
    if slip:
        lines[slip[0] - 1] = slip[1]
    return tuple(lines)


# ---- the templates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part, template, slip", VARIANTS)
def test_a_template_mixes_two_spaces_in_one_line_with_a_slip_and_in_none_without(part, template, slip):
    lines, matter = lines_of(template, slip), matters.of(part)
    assert 3 <= len(lines) <= 6
    assert len(set(drawing.reading(matter, lines).mixes)) == (slip is not None)
    assert drawing.askable(matter, lines)


@in_each_part
def test_templates_and_slips_differ(part):
    templates = matters.of(part).templates
    every = [lines_of(template, slip) for template in templates for slip in (None, *template.slips)]
    assert len(every) == len(set(every)) and len(templates) >= 16
    assert len({t.name for t in templates}) == len(templates)


@in_each_part
def test_a_house_names_everything_that_can_be_given_and_no_two_things_alike(part):
    pools = words.CALLED, words.COUNTED, words.NO_INDEX
    made = [*chain(*(names for pool in pools for names in pool.values()))]
    made += [*words.SAYS_NOTHING, *words.NO_COUNT, *words.ON_THE_WAY]
    assert len(made) == len(set(made))
    for house in words.HOUSES:
        called = [name.at(house) for name in matters.of(part).given.values()]
        assert len(set(called)) == len(called) and not set(called) & {*made, "torch"}, house


@in_each_part
def test_a_matter_gives_nothing_that_no_template_takes(part):
    used = set()
    for template in matters.of(part).templates:
        for slip in (None, *template.slips):
            used |= {n.id for line in lines_of(template, slip) for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Name)}
    assert set(matters.of(part).more) <= used


def test_a_position_s_place_in_its_page_is_its_loc_s():
    """What 1i says beside its snippets: a request begins on an allocator page, so position % P is loc % P."""
    world = Numbers(3, 16)
    assert torch.equal(world.locs % 16, torch.arange(len(world.locs)) % 16)
    assert torch.equal(world.locs % 3, torch.arange(len(world.locs)) % 3)


# ---- a drawing -----------------------------------------------------------------------------------------------------------


@in_each_part
@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_no_answer_is_right_often_and_every_house_speaks(part, seed):
    drawn = drawing.draw(part, seed)
    assert len(drawn) == drawing.COUNT == len({s.template for s in drawn}) == len({s.lines for s in drawn})
    spaces, lines = (Counter(getattr(s, name) for s in drawn) for name in ("space", "line"))
    assert max(spaces.values()) <= 2 and len(spaces) >= 5 and spaces.keys() <= set(matters.of(part).spaces)
    assert max(lines.values()) <= 3 and 2 <= lines[0]
    assert {s.house for s in drawn} == set(words.HOUSES)
    assert sum(s.lies is not None for s in drawn) >= 4
    for s in drawn:
        assert s.asked in ast.unparse(ast.parse(s.lines[s.at - 1])).replace("'", '"')
        assert 0 <= s.line <= len(s.lines) and s.lies != s.space


@in_each_part
@pytest.mark.slow
def test_a_seed_gives_the_same_again_and_others_others(part):
    first = drawing.draw(part, 7)
    drawing.draw.cache_clear()
    assert drawing.draw(part, 7) == first
    assert len({drawing.draw(part, seed) for seed in range(20)}) == 20


@in_each_part
@pytest.mark.slow
def test_every_template_slip_house_and_space_is_drawn(part):
    drawn, matter = [s for seed in range(250) for s in drawing.draw(part, seed)], matters.of(part)
    assert {s.template for s in drawn} == {t.name for t in matter.templates}
    assert {(s.space, s.house) for s in drawn} == {(space, house) for space in matter.spaces for house in words.HOUSES}
    assert {s.line for s in drawn} >= {0, 1, 2, 3, 4, 5} - {1} and max(s.line for s in drawn) <= 6
    share = Counter(s.lies is not None for s in drawn)
    assert 0.5 < share[True] / len(drawn) < 0.85


# ---- the same in numbers -------------------------------------------------------------------------------------------------


class Numbers:
    """A request of four allocator pages, the last of it new, so far apart that the numbers of two spaces have none in common,
    but ranks and positions. Whatever is looked up is held against the space's numbers; ``outside``: the lines that left."""

    FIRST, PAGES = 5000, (5003, 5000, 5005, 5001)
    REQ, RAG, GATHER, TOK = 10**11, 10**10, 10**13, 10**15
    KEY, ROW_ELEMENTS, SOURCE_ELEMENTS = 128, 10**7, 1000
    S, SENDER, FAR, FAR_PAGES = 5, 3, 3 * 10**7, (3, 0, 5, 1, 6, 2, 4)  # the node that sends: its ranks, and pages from FAR on

    def __init__(self, d, p, part="1i"):
        self.d, self.p, self.w = d, p, d * p
        self.line, self.outside, w = 0, [], d * p
        top, page = self.FIRST + 6, p * (self.KEY + 4)  # bytes of an index-K page
        ends = {
            LOC: (self.FIRST * w, top * w), ROW: (self.FIRST * p, top * p + w), INDEX_K_PAGE: (self.FIRST * d, top * d),
            ALLOCATOR_PAGE: (self.FIRST, top), BYTE: (self.FIRST * d * page, top * d * page),
            FLOAT: (self.FIRST * d * page // 4, top * d * page // 4), RAGGED: (self.RAG, self.RAG + 4 * w),
            REQUEST: (self.REQ, self.REQ + 1), TOKEN: (self.TOK, self.TOK + w), GATHERED: (self.GATHER, self.GATHER + 4 * p),
            ELEMENT: (self.FIRST * p * self.ROW_ELEMENTS, (top * p + w) * self.ROW_ELEMENTS),
            SOURCE: (self.TOK * self.SOURCE_ELEMENTS, (self.TOK + w) * self.SOURCE_ELEMENTS),
            SRC_LOC: (self.FAR * self.S * p, (self.FAR + 7) * self.S * p), SRC_ROW: (self.FAR * p, (self.FAR + 7) * p),
        }  # fmt: skip
        self.of = {
            **{space: range(first, last + 1) for space, (first, last) in ends.items()},  # how many there are, too
            POSITION: range(4 * w), RANK: range(d), typing.ENTRY_P: range(4 * d), typing.ENTRY_W: range(4),
            SRC_RANK: range(self.S), SENT: range(-(-4 * w // self.S)),
            typing.PLACE_P: range(p), typing.PLACE_ROW: range(p),
        }  # fmt: skip
        base, step = torch.tensor(self.PAGES), torch.arange(w)
        self.locs = (base[:, None] * w + torch.arange(w)).flatten()
        new = self.locs[3 * w :]
        far = (self.FAR + torch.tensor(self.FAR_PAGES)[:, None]) * self.S * p + torch.arange(self.S * p)
        far = far.flatten()[: 4 * w]  # a source loc for each position
        self.held = {  # a table, and the first index that it is read by
            "table": (self.locs, 0), "table_k": ((base[:, None] * d + torch.arange(d)).flatten(), 0), "table_w": (base, 0),
            "locs": (new, self.TOK), "rows_of": (new // d, self.TOK), "pos_of": (3 * w + step, self.TOK),
            "req_of": (torch.full((w,), self.REQ), self.TOK), "picked": (2 * step, self.TOK),
            "cu_k": (torch.tensor([self.RAG, self.RAG + 4 * w]), self.REQ),
            "cu_q": (torch.tensor([self.TOK, self.TOK + w]), self.REQ), "begin": (torch.tensor([self.GATHER]), self.REQ),
            "prefix": (torch.tensor([3 * w]), self.REQ), "slocs": (far, 0), "dlocs": (self.locs, 0),
            "pos_at": (self.inverse(far, ends[SRC_LOC]), ends[SRC_LOC][0]),
            "pos_for": (self.inverse(self.locs, ends[LOC]), ends[LOC][0]),
        }  # fmt: skip
        self.names = {
            "D": d, "P": p, "r": 1, "pos": torch.arange(3 * w, 4 * w), "top": torch.arange(w - 3, 3 * w - 1, 2), "new": new,
            "row": torch.arange(p) + 5005 * p, "pages": torch.tensor([5003]), "req": self.REQ, "length": 3 * w,
            "rows_here": 5006 * p, "q": Anything(), "kv": Anything(), "k": Anything(), "scale": Anything(), "C": 5005 * p,
            "high": self.locs.max(), "kbytes": page, "kdim": self.KEY, "fbytes": 4, "tok": self.TOK + step,
            "stride": self.ROW_ELEMENTS, "sstride": self.SOURCE_ELEMENTS, "rag": self.RAG + torch.arange(w, 2 * w),
            "S": self.S, "s": self.SENDER, "got": far[w : 2 * w], "srow": far[far % self.S == self.SENDER] // self.S,
            "part": torch.arange(4), "sroom": (self.FAR + 7) * p, "legal": top * w,
            "room": top * d * page if part == "2i" else self.RAG + 4 * w,
        }  # fmt: skip
        for name, kind in matters.of(part).types.items():
            if isinstance(kind, typing.Store):
                self.names[name] = Looked(self, kind.keys, *self.held.get(name, (None, 0)))
            elif isinstance(kind, typing.Call):
                self.names[name] = functools.partial(self.called, kind)

    @staticmethod
    def inverse(ids, ends):
        """Positions by id, from the first id of the space on; 0 where an id is nobody's."""
        found = torch.zeros(ends[1] - ends[0], dtype=torch.int64)
        found[ids - ends[0]] = torch.arange(len(ids))
        return found

    def called(self, kind, *args):
        for index, space in zip(args, kind.takes, strict=True):
            if space:
                self.inside(index, space)

    def inside(self, index, space):
        numbers = torch.as_tensor(index)
        fine = numbers.dtype == torch.bool or self.numbers_of(numbers, space)
        if not fine:
            self.outside.append(self.line)
        return fine

    def numbers_of(self, index, space):
        index = torch.as_tensor(index)
        index = index[index >= 0]  # -1 is padding
        return bool(((index >= self.of[space].start) & (index < self.of[space].stop)).all()) and index.numel() > 0


class Looked:
    def __init__(self, world, keys, held, first):
        self.world, self.keys, self.held, self.first = world, keys, held, first

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        ends = [k.stop if isinstance(k, slice) else k for k in keys]
        fine = [self.world.inside(k, space) for k, space in zip(ends, self.keys, strict=True)]
        if self.held is None:
            return torch.zeros(torch.as_tensor(ends[-1]).shape, dtype=torch.int64)
        last = torch.arange(keys[-1].stop) if isinstance(keys[-1], slice) else torch.as_tensor(keys[-1])
        if last.dtype == torch.bool:
            return self.held[last]
        # A table holds what it holds, wherever it is read; the last entry of cu_seqlens begins no request.
        return self.held[(last - self.first) % len(self.held) if all(fine) else last % max(1, len(self.held) - 1)]

    def __setitem__(self, key, value):
        self[key]


class Anything:
    def __getitem__(self, key):
        return self

    def __mul__(self, other):
        return self


@in_each_part
@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_the_numbers_agree(part, seed):
    """Nothing leaves its numbers before the line that mixes, nothing at all where none does, and what is asked for is a number
    of the space that is called right."""
    for s in drawing.draw(part, seed):
        sizes = {words[-1]: int(code) for code, words in s.given if code.isdigit()}
        world = Numbers(sizes.get("D", 3), sizes.get("P", 16), part)
        given = matters.of(part).given
        names = {given[name].at(s.house): value for name, value in world.names.items() if name in given} | {"torch": torch}
        assert len(names) == len(given) + 1
        for world.line, line in enumerate(s.lines, 1):
            if world.line == s.at:
                asked = torch.as_tensor(eval(s.asked, names))
                others = [o for o in s.spaces if o != s.space and world.numbers_of(asked, o)]
                # A wrong comparison may have left nothing to look at, or nothing but padding.
                assert world.numbers_of(asked, s.space) or (not (asked >= 0).any() and 0 < s.line < s.at), (s, asked)
                assert not others or {s.space, *others} <= {RANK, POSITION, SRC_RANK, SENT}, (s, others)
            try:
                exec(line, names)
            except AssertionError:
                assert 0 < s.line <= world.line, s
        assert not world.outside if s.line == 0 else min(world.outside, default=s.line) >= s.line, (s, world.outside)


# ---- answers -------------------------------------------------------------------------------------------------------------


@in_each_part
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_a_sentence_names_the_half_that_is_wrong_and_not_what_is_right(part, seed):
    spaces = set(matters.of(part).spaces)
    for n, s in enumerate(drawing.draw(part, seed), 1):
        assert wording.name_of_the_mistake(n, f"{s.space}, {s.line}", s) is None
        assert wording.not_right(f"{s.space}, {s.line}", s) == ()
        for space in spaces - {s.space}:
            says = wording.name_of_the_mistake(n, f"{space}, {s.line}", s)
            assert says.startswith(f"Snippet {n}, space: ") and len(says) <= 80
            assert wording.not_right(f"{space}, 9", s) == ("space", "line")
            assert [reason.split()[1] for reason in wording.reasons(f"{space}, 9", s)] == ["space:", "line:"]
        for space in set(words.CALLED) - spaces:
            says = wording.name_of_the_mistake(n, f"{space}, 0", s)
            assert says.endswith(f"is none of the {'eight' if len(spaces) == 8 else 'six'} words.")
        for line in set(range(8)) - {s.line}:
            says = wording.name_of_the_mistake(n, f"{s.space}, {line}", s)
            assert says.startswith(f"Snippet {n}, line: ") and len(says) <= 80
            assert wording.not_right(f"{s.space}, {line}", s) == ("line",)


@pytest.mark.parametrize("space", words.CALLED)
def test_every_space_is_read_in_the_singular_and_in_the_plural(space):
    plural = "ragged indices" if space == RAGGED else f"{space}s"
    assert wording.parse(f"{space}, 2").space == wording.parse(f"{plural}, line 2").space == space


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


@in_each_part
def test_the_bank_s_literals_are_right_and_its_sentences_what_anybody_reads(part):
    lab, names = catalog.of_part(part), {}
    exec(lab.key(part).solution.source, names)
    seed, found = names["name_the_space"]()
    assert found == {n: f"{s.space}, {s.line}" for n, s in enumerate(drawing.draw(part, seed), 1)}
    for wrong in (w for w in lab.wrong if w.part == part and w.outcome == "wrong"):
        names = {}
        exec(lab.program(wrong).source, names)
        got = lab.part(part).drive(names["name_the_space"], 1)
        says = [lab.part(part).compare(Case((n,)), got, None) for n in range(1, 9)]
        assert next(filter(None, says)) == wrong.says, wrong.id


@in_each_part
def test_the_snippets_as_text_and_as_a_page(part):
    shown = investigate.snippets(part, 36886)
    for text in (repr(shown), shown._repr_html_()):
        for s in drawing.draw(part, 36886):
            assert s.lines[0].split(" = ")[0] in text and s.house in text
    assert ("&lt;" in shown._repr_html_()) == (" < " in repr(shown)) and "Seed 36886." in repr(shown)


@in_each_part
def test_an_answer_of_another_s_seed_is_told_so(part, monkeypatch, capsys):
    from dcplab import lab

    key = catalog.of_part(part).key(part)
    monkeypatch.setattr(lab, "program_of", lambda *which: key.solution)
    monkeypatch.setattr(investigate, "seed", lambda: 7_000_001)
    found = lab.check(part)
    assert (found.outcome, found.points, found.case_seed) == ("passed", 10, 36886)
    says = "This answer is about seed 36886, the solved notebook's. Your own cases are those of seed 7000001."
    assert says in capsys.readouterr().out


@in_each_part
def test_where_a_seed_was_given_a_check_holds_an_answer_against_it(part, monkeypatch, capsys):
    from dcplab import lab

    key = catalog.of_part(part).key(part)
    monkeypatch.setattr(lab, "program_of", lambda *which: key.solution)
    monkeypatch.setenv("DCPLAB_SEED", "36886")
    assert lab.check(part).points == 10
    monkeypatch.setenv("DCPLAB_SEED", "7000001")
    found = lab.check(part)
    assert (found.outcome, found.points) == ("wrong", 0)
    assert found.message.startswith("It is about the cases of another seed: your own cases are those of seed 7000001.")
    assert "This answer is about" not in capsys.readouterr().out, "it is said once"


@in_each_part
def test_one_answer_for_all_earns_little(part):
    for seed in range(10):
        drawn = drawing.draw(part, seed)
        assert max(Counter((s.space, s.line) for s in drawn).values()) <= 2


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
