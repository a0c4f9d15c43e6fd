"""`incident` and `isolate` from a command line: what they print, what they refuse, and ranks that are processes."""

import csv
import io
import json
import os
import subprocess
import sys
import time

import pytest
import torch

from dcplab.cli import main
from dcplab.engine import defects as switches
from dcplab.engine import isolation, world

SMALL = ["--dcp-size", "2", "--page-size", "4", "--device", "cpu"]


def run(capsys, *words):
    status = main(list(words))
    out = capsys.readouterr()
    return status, out.out, out.err


def test_the_incident_as_it_is_told(capsys, tmp_path):
    status, out, err = run(capsys, "incident", *SMALL, "--json", str(tmp_path / "o.json"))
    assert status == 0 and "CPU (torch)" in out and "GPU" not in out
    fresh, again = out.split("The same questions again")
    assert fresh.split("Two long requests")[0].count("  right  ") == 3
    assert "WRONG" in again and "Verdict: silent corruption" in out and "EXCEEDED" in out
    assert "First operation outside its buffer:" in out and "write_ckv writes ckv.0 at loc" in out
    acts = [line.partition(":")[0] for line in err.splitlines() if line]
    assert list(dict.fromkeys(acts)) == ["fresh", "long", "again"] and "watermark" in err
    data = json.loads((tmp_path / "o.json").read_text())
    assert data["verdict"] == "silent corruption" and data["versions"]["torch"] and data["monitor"]["alarm"]
    assert [a["right"] for a in data["answers"]][:3] == [True] * 3


@pytest.mark.slow
def test_the_patched_incident_as_json(capsys):
    status, out, _ = run(capsys, "incident", *SMALL, "--defects", "none", "--json", "-")
    data = json.loads(out)
    assert status == 0 and data["verdict"] == "right" and data["first_outside"] is None and data["canaries"] == []


@pytest.mark.slow
def test_ranks_over_gloo_say_what_one_process_says(capfd):
    said = []
    for ranks in ("local", "gloo"):
        assert main(["incident", *SMALL, "--ranks", ranks, "--json", "-"]) == 0
        said.append(json.loads(capfd.readouterr().out))
    for data in said:
        del data["seconds"], data["ran_on"]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["incident", "--defects", "nonsense"], "There is no defect called 'nonsense'"),
        (["incident", "--dcp-size", "0"], "dcp_size must be at least 1, not 0"),
        (["incident", "--size", "100", "--device", "cpu"], "is too small for this story"),
        (["incident", "--size", "3", "--device", "cpu"], "does not hold one page"),
        (["isolate", "--levels", "sideways"], "--levels takes below, above, full"),
        *(
            (["isolate", "--only", word], "--only takes patches, which are index_k_size, ckv_write, read, extend, assert, not")
            for word in ("mixed", "foo", ",")
        ),
        (["isolate", "--resume", "--device", "cpu"], "--resume goes on with the rows of a --json FILE"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(capsys, words, sentence):
    status, out, err = run(capsys, *words)
    assert status == 2 and out == "" and sentence in err and len(err.strip().splitlines()) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="asks for what a machine without a GPU must refuse")
@pytest.mark.parametrize("words", [["--device", "cuda"], ["--ranks", "nccl"]])
def test_a_gpu_that_is_not_there_is_refused(capsys, words):
    status, _, err = run(capsys, "incident", *words)
    assert status == 2 and "CUDA device" in err


TORCHRUN = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
TORCHRUN |= {"LOCAL_WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "x"}


@pytest.mark.parametrize(
    ("ranks", "dcp_size", "gpus", "env", "sentence"),
    [
        ("gloo", 3, 0, {}, "3 DCP ranks cannot be dealt evenly to 2 processes: give --nproc-per-node 1 or 3, or a --dcp-size"),
        ("nccl", 8, 3, {"WORLD_SIZE": "3"}, "give --nproc-per-node 1 or 2 or 4 or 8, or a --dcp-size that 3 divides, as 6."),
        ("gloo", 2, 0, {"WORLD_SIZE": "4"}, "a --dcp-size that 4 divides, as 4."),
        ("nccl", 8, 1, {}, "2 were started here, and there is 1: give --nproc-per-node 1."),
        ("nccl", 8, 0, {}, "--ranks nccl needs a CUDA device, and none is visible"),
        ("nccl", 8, 2, {"WORLD_SIZE": None}, "runs under torchrun, a process a GPU: torchrun --standalone --nproc-per-node 2"),
        ("nccl", 8, 2, {"MASTER_PORT": None}, "WORLD_SIZE is in the environment and MASTER_PORT is not"),
        ("gloo", 8, 0, {"WORLD_SIZE": "two"}, "WORLD_SIZE='two' in the environment is no number"),
        ("gloo", 8, 0, {"RANK": "2"}, "RANK=2 is none of the 2 processes"),
        ("local", 8, 0, {}, "torchrun has started 2 processes, and --ranks local holds all 8 ranks in one"),
    ],
)
def test_ranks_that_would_not_meet_are_refused_before_any_group_is_made(
    capsys, monkeypatch, ranks, dcp_size, gpus, env, sentence
):
    for name, value in (TORCHRUN | env).items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.distributed, "init_process_group", None)  # a call would raise
    began = time.process_time()
    status, out, err = run(capsys, "incident", "--ranks", ranks, "--dcp-size", str(dcp_size))
    assert time.process_time() - began < 1
    assert status == 2 and out == "" and sentence in err and len(err.strip().splitlines()) == 1
    monkeypatch.setenv("LOCAL_RANK", "1")  # the others leave it to the first
    monkeypatch.setattr(world, "SAY_S", 0)
    with pytest.raises(SystemExit):
        main(["incident", "--ranks", ranks, "--dcp-size", str(dcp_size)])
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_several_ranks_a_process(tmp_path):
    """Eight ranks in two processes: what NCCL does on two GPUs, over gloo."""
    found = tmp_path / "o.json"
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "dcplab", "incident"]
    words += ["--ranks", "gloo", "--dcp-size", "8", "--page-size", "4", "--json", str(found)]
    subprocess.run(words, check=True, timeout=300, capture_output=True)
    assert main(["incident", "--ranks", "local", "--device", "cpu", *words[-6:-1], str(tmp_path / "l.json")]) == 0
    several, one = (json.loads(path.read_text()) for path in (found, tmp_path / "l.json"))
    for data in (several, one):
        del data["seconds"], data["ran_on"]
    assert several == one and one["verdict"] == "silent corruption"


@pytest.mark.slow
def test_the_isolation_table_in_its_forms(capsys, tmp_path):
    files = {kind: tmp_path / f"t.{kind}" for kind in ("csv", "json", "html", "markdown")}
    forms = [w for kind, path in files.items() for w in (f"--{kind}", str(path))]
    status, out, _ = run(capsys, "isolate", *SMALL, "--only", "index_k_size,assert", "-j", "1", *forms)
    assert status == 0 and "CPU (torch)" in out
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert tuple(rows[0]) == isolation.COLUMNS
    found = {(r["index_k_size"], r["assert"], r["level"]): r["verdict"] for r in rows}
    assert found == {
        ("no", "no", "below"): "right",
        ("no", "yes", "below"): "right",
        ("yes", "no", "below"): "right",
        ("yes", "yes", "below"): "right",
        ("no", "no", "above"): "alarm",
        ("no", "yes", "above"): "silent corruption",
        ("yes", "no", "above"): "alarm",
        ("yes", "yes", "above"): "right",
    }
    data = json.loads(files["json"].read_text())
    assert len(data["runs"]) == 8 and data["runs"][0]["defects"] == ["index_k_size", "assert"]
    page = files["html"].read_text()
    assert page.count("<tr") == 9 and "silent corruption" in page
    table = files["markdown"].read_text().splitlines()
    assert len(table) == 2 + 4 and table[0].startswith(
        "| index-K size | write | read | extend | assert | below | above | keys |"
    )
    assert table[-1] == "| + | + | + | + | + | right 3/3 2/2 3/3 | right 3/3 2/2 3/3 | 1.00 | - | - |"


MORTAL = """
import os, dcplab.engine.isolation as isolation
real = isolation.one
def one(**given):
    if os.path.exists({mark!r}) and given["defects"] == ["index_k_size"] and given["level"] == "above":
        os.kill(os.getpid(), 11)
    return real(**given)
isolation.one = one
"""


@pytest.mark.slow
def test_a_server_that_dies_costs_its_row_and_can_be_run_again(capsys, tmp_path, monkeypatch):
    mark, table, page = tmp_path / "die", tmp_path / "t.json", tmp_path / "t.html"
    mark.touch()
    (tmp_path / "sitecustomize.py").write_text(MORTAL.format(mark=str(mark)))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    asked = ["isolate", *SMALL, "--only", "index_k_size", "-j", "2", "--json", str(table), "--html", str(page)]
    status, out, err = run(capsys, *asked)
    assert status == 1 and "1 of 4 servers died" in err and "died: above, all but index_k_size: ended by SIGSEGV" in out
    assert "below, all patches: right" in err and "below, all but index_k_size: right" in err
    found = {(*r["defects"], r["level"]): r["outcome"]["verdict"] for r in json.loads(table.read_text())["runs"]}
    assert found == {
        ("index_k_size", "below"): "right",
        ("below",): "right",
        ("index_k_size", "above"): "died",
        ("above",): "right",
    }
    assert isolation.COLOURS["died"] in page.read_text()
    mark.unlink()
    kept = table.read_text()
    status, out, err = run(capsys, *asked, "--resume")
    assert status == 0 and "3 rows are there; 1 are to be run" in err and "died" not in out
    runs = json.loads(table.read_text())["runs"]
    assert [r["outcome"]["verdict"] for r in runs].count("silent corruption") == 1
    assert [r for r in json.loads(kept)["runs"] if r["outcome"]["verdict"] != "died"] == [
        r for r in runs if r["outcome"]["verdict"] != "silent corruption"
    ]
    # Another server: its rows are none of these. What was there is kept beside.
    status, _, err = run(capsys, *asked, "--resume", "--masked-reads", "--timeout", "0.1")
    assert status == 1 and "of another neighbours" in err and "4 are to be run" in err and "stopped after 0.1 s" in err
    assert json.loads(next((tmp_path / "state" / "backups").iterdir()).read_text())["runs"] == runs


def test_the_switches_can_be_listed(capsys):
    status, out, _ = run(capsys, "incident", "--list")
    lines = out.splitlines()
    assert status == 0 and len(lines) == len(switches.ALL)
    for line, defect in zip(lines, switches.ALL, strict=True):
        assert line.split()[0] == defect.name and line.endswith(f"{defect.does} ({defect.source})") and defect.source
