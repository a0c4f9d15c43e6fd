"""Every fault is anchored in its server's source and says what it is; a few are proved here, all of them at build time."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from dcplab.field import checkout, faults, outcome
from dcplab.field.traffic import traffic

EVERY = faults.every()
IDS = [fault.id for fault in EVERY]
SOURCE = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+")


@pytest.mark.parametrize("fault", EVERY, ids=IDS)
def test_each_is_anchored_once_and_says_what_it_is(fault):
    contents = checkout.files(fault.house)
    planted = fault.edit.made(contents)
    ast.parse(planted[fault.edit.file])
    assert fault.patch.made(planted) == contents, "the true patch gives the server back"
    assert fault.decoys, "a patch beside the place that people try"
    for decoy in fault.decoys:
        decoy.made(planted)
        assert len(decoy.before.splitlines()) == 1 or decoy.after.count("\n") == decoy.before.count("\n"), "one line each"
    assert {fault.was, fault.expected} <= set(faults.spaces())
    assert SOURCE.fullmatch(fault.source)
    assert fault.report and fault.about and fault.report != fault.about
    assert fault.index.strip() and 0 < fault.line <= planted[fault.edit.file].count("\n") + 1


def test_there_are_enough_of_enough_kinds_over_both_servers():
    assert len(EVERY) >= 40 and len(faults.kinds()) >= 12
    assert len(set(IDS)) == len(IDS)
    houses = Counter(fault.house for fault in EVERY)
    assert set(houses) == set(checkout.HOUSES) and min(houses.values()) >= 8
    assert {decoy.file.partition("/")[0] for house in checkout.HOUSES for decoy in faults.common(house)} == set(checkout.HOUSES)


def test_each_has_another_of_its_kind_in_its_server():
    """So that a regression test is held against more than the one fault."""
    counted = Counter((fault.house, fault.kind) for fault in EVERY)
    assert [which for which, count in counted.items() if count < 2] == []


@pytest.mark.parametrize("house", checkout.HOUSES)
def test_a_checkout_names_nothing_of_the_course(house):
    for name, text in checkout.files(house).items():
        for node in ast.walk(ast.parse(text)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [n for n in names if n.split(".")[0] in ("dcplab", "dcp_kernels")], name


def test_a_planted_fault_leaves_no_trace_but_itself(tmp_path):
    fault = EVERY[0]
    planted = checkout.read(faults.plant(fault, tmp_path))
    changed = [name for name, text in checkout.files(fault.house).items() if planted[name] != text]
    assert changed == [fault.edit.file]
    assert not [name for name, text in planted.items() if fault.id in text]


def test_traffic_is_its_seeds():
    shape = EVERY[0].shape
    assert traffic(5, shape) == traffic(5, shape) != traffic(6, shape)
    with pytest.raises(KeyError, match="a shape does not say colour"):
        traffic(5, {**shape, "colour": 1})


@pytest.mark.parametrize("house", checkout.HOUSES)
def test_a_right_checkout_passes_its_tests_and_has_nothing_to_complain_of(house, tmp_path):
    checkout.write(checkout.files(house), tmp_path)
    said = outcome.unit_tests(tmp_path)
    assert len(said) >= 10 and not [why for why in said.values() if why]
    asked = next(fault for fault in EVERY if fault.house == house).traffic(9)
    seen = outcome.run(tmp_path, asked)
    assert outcome.complaints(seen, outcome.right(house, asked)) == []
    assert not seen.error
    assert sorted(len(words) for words in seen.words) == sorted(one["max_tokens"] for one in asked["requests"])


def test_a_hostile_checkout_gets_an_outcome_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(outcome, "OWN_S", 2.0)  # the endless one uses all of it
    contents = dict(checkout.files("quay"))
    for attack, says in (
        ("import os\nos._exit(7)\n", "the process ended"),
        ("raise SystemExit('no')\n", "no"),
        (f"open({str(Path(__file__))!r}).read()\n", "may not open"),
        ("while True: pass\n", "no answer within"),
    ):
        checkout.write(contents | {"quay/server.py": attack}, tmp_path)
        seen = outcome.run(tmp_path, traffic(1, EVERY[0].shape))
        assert says in seen.error and not any(seen.words), attack


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quay-owner-by-token", "quay-keys-left-behind", "engine-batch-row-for-request"])
def test_a_few_are_proved(name):
    proof = faults.prove(faults.named(name), seeds=(11, 12))
    assert not proof.broken and all(proof.symptoms.values())
