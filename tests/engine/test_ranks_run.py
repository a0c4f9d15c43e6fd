"""One run for two, four or eight GPUs: what it runs, in which order, and that a step costs only itself."""

import json
import sys
import time

from dcplab import paths

sys.path.append(str(paths.root() / "bench"))
import ranks_run
from ranks_run import Step


def test_what_is_worth_most_comes_first(tmp_path):
    steps = list(ranks_run.plan(8, 8, tmp_path, dry=False))
    assert [("isolate" in step.words, step.gpus) for step in steps] == [(True, 0), (False, 0), (False, 2), (True, 0)]
    first, _, two, rest = (step.words for step in steps)
    assert first == rest and "--resume" in rest, "the last goes on with the first's table"
    for words in ("--gpus 8 --dcp-size 8", "--size 455744 --page-size 64 --levels below,above,full"):
        assert words in " ".join(first)
    assert " ".join(two[-3:]) == "--steps --dcp-size 8" and "--nproc-per-node=2" in two
    assert sum(step.limit for step in steps[:3]) < 400
    assert len(list(ranks_run.plan(2, 8, tmp_path, dry=True))) == 3, "on two the steps on two are the second"


def told(monkeypatch, tmp_path, steps, *words):
    monkeypatch.setattr(ranks_run, "plan", lambda *given: iter(steps))
    monkeypatch.setattr(ranks_run, "LEAST_S", 1.0)
    monkeypatch.setattr(ranks_run, "END_S", 1.0)
    monkeypatch.setattr(sys, "argv", ["ranks_run.py", "--gpus", "2", "--out", str(tmp_path), *words])
    return ranks_run.main(), json.loads((tmp_path / "run.json").read_text())["steps"]


def test_a_step_that_fails_or_hangs_costs_itself(monkeypatch, tmp_path):
    steps = [Step("fails", ("-c", "raise SystemExit(3)"), 9), Step("hangs", ("-c", "import time; time.sleep(60)"), 1)]
    steps.append(Step("is told its limit", ("-c", "import sys; sys.exit(sys.argv[1:] != ['--limit', '7'])"), 7))
    began = time.monotonic()
    status, done = told(monkeypatch, tmp_path, steps)
    assert status == 1 and [step["status"] for step in done] == [3, -15, 0] and time.monotonic() - began < 30


def test_a_step_for_which_no_time_is_left_is_named(monkeypatch, tmp_path):
    steps = [Step("runs", ("-c", ""), 9), Step("not asked for", ("-c", ""), 9)]
    assert told(monkeypatch, tmp_path, steps, "--skip", "2")[1][1]["left_out"] == "as asked"
    status, done = told(monkeypatch, tmp_path, steps, "--limit", "1")
    assert status == 0 and [step["left_out"] for step in done] == ["0 s were left"] * 2


def test_the_steps_on_two_see_two_gpus(monkeypatch):
    code = "import os, sys; sys.exit(os.environ['CUDA_VISIBLE_DEVICES'] != {!r})"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    assert ranks_run.run(Step("two", ("-c", code.format("4,5")), 9, gpus=2), 9, dry=False)["status"] == 0
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert ranks_run.run(Step("two", ("-c", code.format("0,1")), 9, gpus=2), 9, dry=False)["status"] == 0
