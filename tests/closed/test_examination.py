"""The examination with the trusted grader: what a learner may do, and that nothing they hold tells the fault."""

import json

import pytest
import search
from kept import LEARNER, ROOT_ALONE, learn

from dcplab.field import checkout, faults


@pytest.mark.slow
def test_no_fault_is_in_a_released_checkout(released):
    held = [search.tokens(text) for _, text in search.texts(released)]
    for fault in faults.every():
        for secret in (fault.id, fault.about, fault.report, fault.edit.before, fault.edit.after):
            wanted = search.tokens(secret)
            assert len(wanted.split()) < 4 or not [text for text in held if wanted in text], fault.id


@pytest.mark.slow
@ROOT_ALONE
def test_a_learner_practises_with_the_service(service):
    said = learn(
        service,
        """
        import json, pathlib, tempfile
        from dcplab import exam, remote
        from dcplab.__main__ import main
        from dcplab.errors import CourseError
        place = pathlib.Path(tempfile.mkdtemp()) / "mine"
        main(["exam", "start", str(place), "--practice", "--seed", "3"])
        texts = {p.relative_to(place).as_posix(): p.read_text() for p in place.rglob("*") if p.is_file()}
        print("FILES", json.dumps(texts))
        def tried(*words):
            try: main(["exam", *words])
            except CourseError as error: print("REFUSED", error)
        tried("hint", str(place))
        tried("hand-in", str(place))
        for number in range(4):
            test = place / "case_1/checkout/tests/test_regression.py"
            test.write_text(f"def test_it():\\n    assert {number} < 0\\n")
            tried("hand-in", str(place))
        tried("status", str(place))
        for sitting in ("../../x", "practice-4", 7, None):
            try: remote.ask({"of": ("call", ("name", "exam.status"), [sitting], {})})
            except CourseError as error: print("REFUSED", error)
        (place / "exam.json").write_text(json.dumps({"sitting": "examination"}))
        tried("hint", str(place))
        """,
    )
    texts = json.loads(next(line for line in said.splitlines() if line.startswith("FILES"))[6:])
    house = "quay" if "case_1/checkout/quay/__init__.py" in texts else "engine"
    right = checkout.files(house)
    changed = [name for name, text in right.items() if texts[f"case_1/checkout/{name}"] != text]
    assert len(changed) == 1, "one fault"
    planted = texts[f"case_1/checkout/{changed[0]}"]
    fault = next(f for f in faults.every() if f.edit.file == changed[0] and f.edit.made(right)[changed[0]] == planted)
    assert json.loads(texts["exam.json"]) == {"sitting": "practice-3"}
    assert not [name for name, text in texts.items() if fault.id in text or fault.about in text or '"seed"' in text]
    lines = said.splitlines()
    assert any(line.startswith("Hint 1 of 3, 3 points") for line in lines)
    refused = [line for line in lines if line.startswith("REFUSED")]
    assert "Nothing in it has changed" in refused[0] and "closed" in refused[1]
    assert [line for line in lines if "hand-in" in line and "of 3" in line and line.startswith("Case")][-1].startswith(
        "Case 1, hand-in 3"
    )
    assert fault.about in said, "told when it is closed"
    assert len(refused) == 7 and all("begun no such" in line for line in refused[2:])
    assert (service.home / "state" / str(LEARNER) / "exam" / "begun" / "practice-3" / "exam.json").is_file()
