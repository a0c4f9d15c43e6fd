"""Lab 05: wirings held against one rank, own functions really used, and the banks' literals held against the engine."""

import ast
import itertools
import json
import math
import re
from dataclasses import replace

import pytest
import torch

from dcplab import checking, investigate, lab, own_answers, paths, progress
from dcplab.course import catalog, lab_source
from dcplab.course.cells import DrawnCase
from dcplab.course.drawn import draw
from dcplab.course.model import Case
from dcplab.course.seeded import Draw
from dcplab.engine import harness, learner_ops, ops
from dcplab.engine.harness import serve
from dcplab.errors import CourseError
from dcplab.investigate import diagnose_by_rule, incidents, records
from dcplab.investigate.records import FIELDS, HEADINGS
from dcplab.judge.deeds import deeds
from dcplab.name_the_space import matters
from dcplab.notebook import reset
from dcplab.reference import References
from dcplab.sandbox.attempts import attempt

pytestmark = pytest.mark.slow  # its answers run whole servers

LAB = catalog.lab("05")
CELLS = lab_source.read(paths.solutions() / LAB.name / f"{LAB.name}.py")
NAMES = ("decode", "extend", "verify", "draft")


def solved():
    names = {}
    exec(LAB.key("5b").solution.source, names)
    return {role: names[f"{role}_path"] for role in NAMES}


def bank(part):
    """What stands before the answers to a part: what its solution says."""
    names = {}
    exec("\n".join(LAB.preambles[part]), names)
    return names


@pytest.fixture
def taken(monkeypatch):
    monkeypatch.setattr(own_answers, "_taken", {})
    return own_answers._taken


def source_of(part):
    return catalog.of_part(part).key(part).solution.source


KEPT = References()


def checked(part, program):
    """Judged without a bank, which names a mistake and takes seconds of servers to do it. What is right is computed once."""
    return checking.check(replace(LAB.key(part), wrong=()), program, seed=1, kept=KEPT)


# ---- the wirings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dcp_size, mixed, draft", [(2, False, 0), (3, True, 0), (5, False, 2), (4, True, 3)])
def test_the_solution_says_what_one_rank_says(dcp_size, mixed, draft):
    draw = Draw(100 * dcp_size + draft)
    prompt = LAB.part("5a").cases.__globals__["recall_prompt"]
    rounds = [[prompt(draw, n, c) for n, c in ((9, 3), (21, 5), (30, 25))]]
    for high in (False, True):
        given = dict(new=6, chunk=13, mixed=mixed, draft=draft)
        one, many = serve(rounds, dcp_size=1, **given), serve(rounds, dcp_size=dcp_size, high=high, paths=solved(), **given)
        assert many["tokens"] == one["tokens"]
        assert (many["died"], many["apart"], many["early"], many["large"], many["off"]) == ("", 0, 0, 0, 0)
        assert many["lost"] == {"ckv": 0, "index_k": 0}
        assert many["keys"][0] == many["keys"][1]


def test_high_locs_are_beyond_one_rank_s_rows_and_low_ones_are_not():
    rounds = [[[0, *range(1, 20)], [0, *range(30, 60)]]]
    for high in (False, True):
        server = harness._server(rounds, 4, 3, 4, high, 64, 0, False, False)
        engine = harness.Engine(server)
        engine.generate(rounds[0], 4)
        assert (engine.metrics.largest_loc >= server.size + server.page_size) == high


def test_what_is_lost_is_counted():
    def forgetful(step):
        for rank in step.ranks:
            rank.write_index_k(step.batch.out_cache_loc)
        return step.merge([rank.attend(*rank.localize(rank.to_locs(rank.select_paged()))) for rank in step.ranks])

    out = serve([[[0, 1, 2, 3, 1]]], 6, 2, paths={"decode": forgetful})
    # Five words are stored by decode steps (the last one never is), each on one rank; both ranks read before any write.
    assert out["lost"] == {"ckv": 5 * harness.LAYERS, "index_k": 0} and out["early"] == 5 * harness.LAYERS * 2
    columns = dict(zip(harness.COUNTS, zip(*(place[2:] for place in out["places"]["decode"]), strict=True), strict=True))
    assert [place[:2] for place in out["places"]["decode"]] == [[layer, r] for layer in range(harness.LAYERS) for r in range(2)]
    assert sum(columns["ckv"]) == out["lost"]["ckv"] and columns["early"] == (5,) * 4 and columns["read"] == columns["due"]
    assert (sum(columns["read"]), sum(columns["due"])) == tuple(out["keys"])


def merged_as(base, outs, lses):
    top = lses.max(0).values
    weight = base ** (lses - torch.where(top == ops.MINUS_INF, 0.0, top))
    total = weight.sum(0)
    out = (weight[..., None] * outs.float()).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + total.log2()


@pytest.mark.parametrize("base, seen", [(2.0, False), (math.e, True), (10.0, True)])
def test_the_base_of_the_merge_is_seen_though_every_word_is_right(base, seen):
    rounds = [[[0, *range(1, 20), 5, 6], [0, *range(30, 60), 40, 41]]]
    with ops.using(merge_lse=lambda outs, lses: merged_as(base, outs, lses)):
        many = serve(rounds, 6, 3, draft=2, paths=solved())
    assert many["tokens"] == serve(rounds, 6, 1, draft=2)["tokens"]
    assert (many["off"] > 0) == seen


OWN_MERGE = """
import torch

def merged(step, parts):
    outs, lses = (step.all_gather(list(each)) for each in zip(*parts))
    weight = torch.exp2(lses - lses.max(0).values)
    out = (weight[..., None] * outs).sum(0) / weight.sum(0)[..., None]
    return [out] * len(step.ranks)
"""


@pytest.mark.parametrize("power, outcome", [("exp2", "passed"), ("exp", "wrong")])
def test_a_wiring_that_merges_by_another_base_is_told_so(power, outcome):
    program = LAB.key("5a").solution
    assert "step.merge(parts)" in program.source
    own = program.source.replace("step.merge(parts)", "merged(step, parts)") + OWN_MERGE.replace("exp2", power)
    found = checked("5a", replace(program, source=own))
    assert found.outcome == outcome, found.message + found.detail
    assert outcome == "passed" or "weighs 2 to the power of its LSE" in found.message


def test_typed_spaces_name_a_wiring_s_first_misuse():
    def raw(step):
        for rank in step.ranks:
            rank.write_ckv(step.batch.out_cache_loc)
            rank.write_index_k(step.batch.out_cache_loc)
        return step.merge([rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))) for rank in step.ranks])

    given = dict(rounds=[[[0, 1, 2, 3, 1]]], new=3, dcp_size=2)
    assert "takes a row and was given a loc" in harness.first_misuse(**given, paths={"decode": raw})
    assert harness.first_misuse(**given, paths=solved()) == ""


@pytest.mark.parametrize("returned, says", [
    (None, "is there a return?"),
    (torch.zeros(1, 1, 512), "it returned a Tensor"),
    ([(torch.zeros(1, 1, 512), None)] * 2, "a list of tuples"),
    ([torch.zeros(1, 1, 512)], "1 for 2 ranks"),
    ([torch.zeros(1, 512)] * 2, r"the shape \[1, 512\]"),
])  # fmt: skip
def test_what_no_path_returns_is_said_in_a_sentence(returned, says):
    path = learner_ops.checked(lambda step: returned)
    with pytest.raises((TypeError, ValueError), match=says):
        serve([[[0, 1, 2, 3, 1]]], 3, 2, paths={"decode": path})


# ---- the learner's own functions -----------------------------------------------------------------------------------------


def test_the_path_runs_on_functions_of_every_part_that_it_names(taken):
    taken.update({part: source_of(part) for part in learner_ops.PARTS})
    for part in ("5a", "5b"):
        found = checked(part, own_answers.carry(LAB.key(part).solution))
        assert found.outcome == "passed", found.message + found.detail


# What each part's function becomes when it is wrong, behind the right one.
BROKEN = {
    "1c": "def localize(locs, dcp_rank, dcp_size):\n    return locs * 0",
    "3d": "def localize_topk(locs, dcp_rank, dcp_size):\n    return locs.int(), (locs >= 0).sum(-1).int()",
    "3e": "def merge_lse(outs, lses):\n    return outs.float().mean(0), lses.float().mean(0)",
    "4b": "def interleave_shards(shards, lens, starts, dcp_size):\n    return shards.flatten(0, 1)[: int(lens.sum())]",
    "4c": "def assemble_ragged(prefix, extend, prefix_lens, extend_lens):\n    return torch.cat([extend, prefix])",
    "4d": "def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):\n    return topk_pos",
    "2h": "write_index_k_kernel = None",
    "3a": "write_ckv_norope_kernel = None",
}


@pytest.mark.parametrize("part", learner_ops.PARTS)
def test_a_wrong_function_of_one_s_own_is_noticed(taken, part):
    """Each is really called: the same path fails with a wrong one in its place."""
    taken[part] = f"{source_of(part)}\nimport torch\n\n\n{BROKEN[part]}\n"
    path = "5b" if part in ("1c", "4b", "4c", "4d") else "5a"
    assert checked(path, own_answers.carry(LAB.key(path).solution)).outcome in ("wrong", "crashed")


def test_what_is_missing_or_wrong_falls_back_to_the_reference_and_is_said(taken, monkeypatch):
    def program(lab, part, answer=None):
        if part.id == "3d":
            return lab.key("3d").solution
        if part.id == "1c":
            return lab.program(next(w for w in lab.wrong if w.part == "1c"))
        if part.id == "3e":
            return lab.key("3e").starter
        raise CourseError("There is no notebook.")

    monkeypatch.setattr(reset, "program", program)
    said = []
    summary = own_answers.take(("1c", "3d", "3e", "4b"), said.append)
    assert list(taken) == ["3d"] and "1 of 8" in summary
    assert [line[:2] for line in said] == ["1c", "3d", "3e", "4b"]
    assert "yours does not pass" in said[0] and said[1].endswith("yours") and "not attempted" in said[2]
    assert said[3].endswith("the reference; There is no notebook.")
    own_answers.take(("none",), said.append)
    assert not taken
    with pytest.raises(CourseError, match="no function of part '1a'"):
        own_answers.take(("1a",), said.append)


def test_notebooks_beside_the_open_one_come_before_those_of_the_checkout(taken, monkeypatch, tmp_path):
    """nbgrader's folders, a heap of one's own, and the checkout; the solved notebooks lie side by side and are nobody's."""
    one = catalog.lab("01")
    ours = reset.path_of(one)
    monkeypatch.chdir(paths.labs() / LAB.name)
    assert own_answers.notebook_of(one) == ours
    monkeypatch.chdir(paths.solutions() / LAB.name)
    assert own_answers.notebook_of(one) == ours
    (tmp_path / LAB.name).mkdir()
    monkeypatch.chdir(tmp_path / LAB.name)
    assert own_answers.notebook_of(one) == ours
    nb = json.loads(ours.read_text())
    for cell in nb["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "1c":
            cell["source"] = one.key("1c").solution.source
    for beside in (tmp_path / LAB.name / ours.name, tmp_path / one.name / ours.name):
        beside.parent.mkdir(exist_ok=True)
        beside.write_text(json.dumps(nb))
        assert own_answers.notebook_of(one) == beside
        said = []
        own_answers.take(("1c",), said.append)
        assert said == ["1c   localize: yours"] and list(taken) == ["1c"]
    beside.write_text(ours.read_text())
    own_answers.take(("1c",), said.append)
    assert said[-1] == f"1c   localize: the reference; not attempted in {beside}"


def test_a_graded_notebook_runs_on_the_reference(taken, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert "graded alone" in own_answers.take((), print) and not taken


@pytest.mark.parametrize("says, source", [
    (
        "Your answer uses `backend`, which is the course's own",
        "from dcplab.engine import backend\n\ndef decode_path(step):\n    return backend.decode(step)\n",
    ),
    (
        "An answer may not import dcplab.engine",
        "def decode_path(step):\n    from dcplab.engine import backend\n    return backend.decode(step)\n",
    ),
    (
        "An answer may not import dcplab.engine",
        "def decode_path(step):\n    import dcplab.engine.backend as b\n    return b.decode(step)\n",
    ),
])  # fmt: skip
def test_the_course_s_own_wiring_cannot_be_imported_as_an_answer(says, source):
    from dcplab.notebook.extract import extract

    found = checked("5a", extract([source], ("decode_path",)))
    assert (found.outcome, found.points) == ("crashed", 0) and found.message.startswith(says)
    assert "Refused: An answer may not import dcplab.engine" in found.detail


# ---- the matrix, the cases, the record -----------------------------------------------------------------------------------


def test_the_rows_of_the_answer_are_the_matrix_s():
    rows = [row.id for row in investigate.matrix_rows()]
    assert list(LAB.part("5c").cases.__globals__["MATRIX"]) == rows
    starter = next(n for n in ast.walk(ast.parse(LAB.starter_cell("5c"))) if isinstance(n, ast.Dict))
    assert [k.value for k in starter.keys] == rows and all(v.value is None for v in starter.values)


def test_a_matrix_that_is_partly_right_gets_its_share():
    wrong = next(w for w in LAB.wrong if w.id == "5c-alarm-everywhere")
    found = checked("5c", LAB.program(wrong))
    assert found.outcome == "wrong" and found.points == pytest.approx(15 * 14 / 18, abs=0.01)


def test_the_bank_s_literals_are_what_the_engine_does():
    assert {r.row.id: r.verdict for r in investigate.run_matrix()} == bank("5c")["MATRIX"]
    named = bank("5d")
    for n, names in named["NAMES"].items():
        truth = diagnose_by_rule.truth(n, named["SEED"])
        assert {k: truth[k] for k in diagnose_by_rule.NAMES} == names
    recorded = bank("5e")
    findings = records.verify(recorded["RECORD"], investigate.incident(recorded["SEED"]))
    assert [f.key for f in findings if f.outcome != "right" and not diagnose_by_rule.as_elsewhere(f)] == []


@pytest.mark.parametrize("part", ["5d", "5e"])
def test_a_diagnosis_says_what_anybody_s_mistake_of_the_kind_gets(part):
    """The bank's answers are those of one seed; what a learner of another seed reads is made by rule, and is the same."""
    asked = {"5d": ("first_wrong", (1, 2, 3)), "5e": ("incident_record", HEADINGS)}[part]
    for wrong in (w for w in LAB.wrong if w.part == part and w.outcome == "wrong"):
        names = {}
        exec(LAB.program(wrong).source, names)
        part_of = LAB.part(part)
        says = [part_of.compare(Case((n,)), part_of.drive(names[asked[0]], n), None) for n in asked[1]]
        assert next(filter(None, says)) == wrong.says, wrong.id


@pytest.mark.parametrize("seed", [1, 77])
def test_names_of_other_seeds(seed):
    for n in (1, 2, 3):
        truth, config = diagnose_by_rule.truth(n, seed), investigate.case(n, seed).config
        assert diagnose_by_rule.name_of_the_mistake(n, truth, truth, config) is None
        missing = diagnose_by_rule.name_of_the_mistake(n, truth | {"row": None}, truth, config)
        assert missing == f"Case {n} is not named yet: row is missing."
        for name in diagnose_by_rule.NAMES:
            says = diagnose_by_rule.name_of_the_mistake(n, truth | {name: "zero"}, truth, config)
            assert says.startswith(f"Case {n}: ") and str(truth[name]) not in says.removeprefix(f"Case {n}:").split()


@pytest.fixture
def hand_in(monkeypatch, tmp_path):
    """Hand in names for 5d that differ from the solution's in these, and return the first line that a learner reads."""
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path))
    solution, table = LAB.key("5d").solution, {"SEED": progress.SOLVED_SEED, "NAMES": bank("5d")["NAMES"]}

    def of(**names):
        said = {n: table["NAMES"][n] | names.get(f"case{n}", {}) for n in (1, 2, 3)}
        source = f"def first_wrong():\n    return {table['SEED']}, {said!r}\n"
        monkeypatch.setattr(lab, "program_of", lambda *which: replace(solution, source=source, lines=((0, 0),) * 2))
        return lab.check("5d").message.partition("\n")[0]

    return of


def test_a_first_hand_in_is_told_how_many_names_are_right_and_not_which(hand_in):
    first = {"op": "read_prefix", "rank": 0}
    counted = "Case 3: 4 of 6 names are right. Change one to be told what is wrong."
    assert hand_in(case3=first) == counted
    assert hand_in(case3=first) == counted, "the same once more is no second hand-in"
    found = lab.check("5d")
    assert "not right" not in str(found.table) and found.table.header == ("", "you said") and found.diagnosis is None
    assert counted in str(lab.explain("5d")), "nor does explain() tell more"
    assert hand_in(case3={"rank": None}) == "Case 3 is not named yet: rank is missing."
    assert hand_in(case3={"rank": 0}) == "Case 3: that rank owns the loc. Which rank used it wrongly, and first?"
    assert hand_in(case3=first) == "Case 3: that operation kept to its rule, or another came before it.", "told from then on"


def test_hand_ins_are_kept_case_by_case_and_the_first_one_is_shown_at_the_end(hand_in, capsys):
    hand_in(case3={"rank": None})
    assert set(progress.hand_ins(LAB.name, "5d")) == {"1", "2"}, "a case that is not named yet was not handed in"
    assert hand_in(case3={"rank": 0, "loc": 16, "row": 16}).startswith("Case 3: 3 of 6 names are right")
    capsys.readouterr()
    assert hand_in() == "Right on all 3 cases." and "At the first hand-in 15 of 18 were right." in capsys.readouterr().out
    assert hand_in(case1={"rank": 1}).startswith("Case 1: that rank did it later")
    kept = progress.part(LAB.name, "5d")
    assert (kept["best"], kept["handed"]["3"]["right"], kept["handed"]["3"]["others"]) == (20, 3, True)


def test_each_case_s_count_is_told_and_an_unchanged_case_is_not_called_first(hand_in, capsys):
    wrong = {"op": "read_prefix", "rank": 0}
    assert hand_in(case1={"rank": 1}, case3=wrong) == "Case 1: 5 of 6 names are right. Change one to be told what is wrong."
    assert "Right at the first hand-in: case 1: 5 of 6, case 2: 6 of 6, case 3: 4 of 6." in capsys.readouterr().out
    third = [hand_in(case3=wrong) for _ in range(2)]
    assert third == ["Case 3: 4 of 6 names are right. Change one to be told what is wrong."] * 2
    assert "case 3: 4 of 6" in capsys.readouterr().out


def test_no_cell_of_5d_asks_for_the_learner_what_names_a_space_or_a_bound():
    """Which case is of which kind is the seed's: what helps little with one gives another away."""
    code = [cell.source for cell in CELLS if cell.kind == "code"]
    asked = [line for source in code for line in source.split("\n") if line.startswith("case[")]
    assert asked and not [line for line in asked if ".typed(" in line or ".strict(" in line or ".identity(" in line]


def test_a_grader_and_a_bank_are_told_all():
    wrong = next(w for w in LAB.wrong if w.id == "5d-owner")
    assert checked("5d", LAB.program(wrong)).message.startswith("Case 3: that rank owns the loc.")


def test_the_picture_of_5d_puts_a_loc_s_owner_beside_it_and_marks_no_name():
    part, named = LAB.part("5d"), bank("5d")
    tried = [DrawnCase(Case((n,), label=f"case {n}", size=n), {"seed": named["SEED"], "found": named["NAMES"][n]}, None, n == 3)
             for n in (3, 1, 2)]  # fmt: skip
    groups = part.picture.whole(tried)
    assert [head.label for head, _ in groups] == ["case 1", "case 1", "case 2", "case 2", "case 3", "case 3"]
    values = {name.text: cell for head, line in groups[4:] for name, cell in zip(head.cells, line.cells, strict=True)}
    assert (values["loc"].text, values["its owner"].text, values["its row there"].text) == ("14", "0", "7")
    assert [name for name, cell in values.items() if cell.right is not None] == ["named"]
    assert all(cell.right is None for group in groups[:4] for cell in group[1].cells)
    seed = named["SEED"]
    for got in ({"seed": None, "found": None}, {"seed": seed, "found": {1: "x"}}, {"seed": "x", "found": {"loc": "7"}}):
        assert part.picture.whole([replace(tried[0], got=got)]), "whatever came back"


@pytest.mark.parametrize("part", ["5d", "5e"])
def test_an_answer_about_another_s_cases_is_told_so(part, monkeypatch, capsys):
    key = LAB.key(part)
    monkeypatch.setattr(lab, "program_of", lambda *which: key.solution)
    monkeypatch.setattr(investigate, "seed", lambda: 7_000_001)
    found = lab.check(part)
    assert (found.outcome, found.case_seed) == ("passed", progress.SOLVED_SEED)
    says = "This answer is about seed 36886, the solved notebook's. Your own cases are those of seed 7000001."
    assert says in capsys.readouterr().out
    monkeypatch.setattr(investigate, "seed", lambda: progress.SOLVED_SEED)
    lab.check(part)
    assert "This answer is about" not in capsys.readouterr().out


@pytest.mark.parametrize("part", ["5d", "5e"])
def test_an_answer_that_ends_early_is_shown_no_expected_none(part):
    from dcplab.notebook.extract import extract

    name = LAB.part(part).entry
    for body in ("import os\n    os._exit(0)", "raise KeyError(3)"):
        found = checked(part, extract([f"def {name}():\n    {body}\n"], (name,)))
        assert found.outcome == "crashed" and found.table.header == ("yours",) and "None" not in found.message


@pytest.mark.parametrize("part, right, wrong", [
    ("5d", '"rank": 1, "loc": 14', '"rank": 2, "loc": 14'),
    ("5d", '"loc": 876', '"loc": 877'),
    ("5c", '    said |= {"extend, below": "silent", "extend, above": "alarm"}\n', ""),
])  # fmt: skip
def test_a_wrong_entry_of_an_answer_that_is_data_is_no_edit_of_a_program(part, right, wrong):
    solution = LAB.key(part).solution
    assert solution.source.count(right) == 1
    found = checking.check(LAB.key(part), replace(solution, source=solution.source.replace(right, wrong)), seed=1)
    assert found.outcome == "wrong" and "in one place" not in found.message and "edit" not in (found.diagnosis or "")


def test_the_template_in_the_answer_cell_is_the_record_s():
    text = re.search(r'record = """\n(.*?)"""', LAB.starter_cell("5e"), re.DOTALL)[1]
    assert text == investigate.template()


def test_a_record_of_the_template_before_passes_as_it_did():
    """Then every server was the unpatched one; this seed's has the size patch now."""
    part, run = LAB.part("5e"), incidents.replay(1, unpatched=True)
    text = "".join(line for line in records.filled(run).splitlines(True) if not line.startswith(records.NEW))
    assert incidents.replay(1).patches and not run.patches
    for heading in HEADINGS:
        case = Case((heading,))
        assert part.compare(case, {"seed": 1, "text": text + "dsa_layers: 3\n"}, None) is None
    assert part.compare(Case((HEADINGS[6],)), {"seed": 1, "text": text}, None), "without a line of then it is one of now"


def test_versions_of_another_machine_are_no_mistake_and_anything_else_is():
    run = investigate.incident(bank("5e")["SEED"])
    figures = records.figures(run)
    for field, value in itertools.product(FIELDS, ("2.11.0+cu130", "17")):
        findings = [f for f in records.verify(figures | {field.key: value}, run) if f.key == field.key]
        fine = diagnose_by_rule.figure_of_the_mistake(findings, figures) is None
        assert fine == (field.key in ("torch", "dcplab") and value.startswith("2.11"))


# ---- the last page -------------------------------------------------------------------------------------------------------


def test_the_last_page_maps_every_part():
    page = next(c.source for c in CELLS if "where it lives upstream" in c.source)
    table = [line.split("|")[1] for line in page.split("\n") if line.startswith("| ") and "you wrote" not in line]
    named = set()
    for entry in table:
        for first, last in re.findall(r"(\d[a-h])(?: to (\d[a-h]))?", entry):
            named |= {f"{first[0]}{chr(c)}" for c in range(ord(first[1]), ord((last or first)[1]) + 1)}
    parts = {p.id for number in ("01", "02", "03", "04") for p in catalog.lab(number).parts}
    parts -= set(matters.MATTERS)  # read code, and stand for none of upstream's
    assert parts <= named, parts - named


@pytest.mark.parametrize("part", ["5a", "5b"])
def test_the_bank_runs_without_what_only_makes_an_answer_print_more(part):
    """The typed run beside the other prints a line, and takes as long again."""
    key = LAB.key(part)
    drawn = draw(key.part, 1, "cpu")
    assert drawn.cases[0].kwargs == {"look": True} and not any(case.kwargs for case in drawn.cases[1:])
    wrong = next(p for w, p in key.wrong if w.id == f"{part}-raw-write") if part == "5a" else key.wrong[0][1]
    told, quiet = (attempt([wrong], key.part, cases[:1], "cpu", drawn.own_s)[0] for cases in (drawn.packed, drawn.quiet))
    assert deeds(told, None) == deeds(quiet, None)
    assert not quiet.stdout and (part == "5b" or "Typed spaces:" in told.stdout)
