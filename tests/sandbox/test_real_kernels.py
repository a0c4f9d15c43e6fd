"""A learner's run on the course's real kernels, on a machine without a GPU: it works behind the walls that its child has."""

import pytest

from dcplab import checking, lab, mode, paths
from dcplab.course import catalog, lab_source
from dcplab.course.drawn import draw, pack
from dcplab.course.model import Case
from dcplab.sandbox import pool

LAB = catalog.lab("05")
CELLS = lab_source.read(paths.solutions() / LAB.name / f"{LAB.name}.py")
ASKS = ("whole", [[[0, 1, 2]]], 1, 2, {"kernels": True})


@pytest.mark.slow
def test_the_cell_of_lab_05_runs_the_real_kernels_and_says_what_torch_says(monkeypatch, capsys):
    """The cell as it stands, with the walls closed that a learner's child has."""
    (cell,) = [c for c in CELLS if c.kind == "code" and '"kernels": kernels' in c.source]
    if lacking := [piece for piece in pool.lacks("cpu") if not piece.startswith("namespaces")]:
        pytest.skip(f"this machine has no {', '.join(lacking)}")
    monkeypatch.setattr(lab, "program_of", lambda of, part: of.key(part.id).solution)
    monkeypatch.setattr(mode, "current", lambda: mode.Mode("cpu", "", "CPU"))
    exec(cell.source, {"lab": lab})
    said = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("[")]
    assert said == [f"D {dcp_size}: [[3, 4, 5, 1, 2], [8, 9, 7, 8, 9]]" for dcp_size in (1, 2)]


@pytest.mark.parametrize("part", ["5a", "5b"])
def test_only_who_asks_for_real_kernels_may_compile_and_no_check_asks(part):
    found = LAB.part(part)
    assert checking.own_case(found, ASKS, {}).compiles
    assert checking.own_case(found, ASKS[:4], {"options": ASKS[4]}).compiles
    for options in ({"kernels": False}, {"chunk": 8}, None):
        assert not checking.own_case(found, (*ASKS[:4], options), {}).compiles
    assert not any(case.compiles for case in draw(found, 1, "cpu").cases)


def test_a_case_says_that_it_compiles_and_any_other_says_nothing():
    assert pack(Case(compiles=True))["compiles"] is True and "compiles" not in pack(Case())
