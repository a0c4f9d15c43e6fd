"""The bench of several processes, small on a CPU, and the model of what more of them cost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcplab import paths

BENCH = paths.root() / "bench"
sys.path.append(str(BENCH))
import ranks_model as model  # noqa: E402

FAST = model.Link(start_ms=0.01, rate=100e6)
SLOW = model.Link(start_ms=0.1, rate=10e6)


def torchrun(words: list[str], found: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(BENCH / "ranks_gpu.py")]
    return subprocess.run([*command, "--json", str(found), *words], capture_output=True, text=True, timeout=400)


@pytest.mark.slow
def test_a_dry_run_measures_every_part_and_says_that_it_is_a_cpu(tmp_path):
    done = torchrun(["--dry", "--limit", "300"], tmp_path / "f.json")
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "f.json").read_text())
    assert found["ran_on"].startswith("CPU, 2 processes over gloo: a dry run") and found["ended"] == "in order"
    assert found["left_out"] == []
    rows = found["rows"]
    assert {r["what"] for r in rows} == {"link", "gather", "merge", "overlap", "store", "step"}
    assert all(r["right"] for r in rows if "right" in r)
    ways = {(r["way"], r["dtype"]) for r in rows if r["what"] == "merge"}
    assert ways == {(w, "bfloat16") for w in ("all-gather", "reduce-scatter", "all-to-all")} | {("reduce-scatter", "float32")}
    steps = [r for r in rows if r["what"] == "step"]
    assert {(r["dcp_size"], r["devices"]) for r in steps} == {(d, n) for d in (2, 4) for n in (1, 2)}
    assert all(r["as_on_one_device"] for r in steps if r["devices"] == 2)
    assert [what for what, _, _ in model.checked(found, model.link(rows))][-1].startswith("decode, D = 2")


@pytest.mark.slow
def test_a_limit_ends_it_in_order_and_names_what_is_left_out(tmp_path):
    done = torchrun(["--dry", "--limit", "19"], tmp_path / "f.json")  # a server is begun only where 23 s are left
    found = json.loads((tmp_path / "f.json").read_text())
    assert done.returncode == 0, done.stderr[-2000:]
    assert found["ended"] in ("in order", "at the limit of 19 s")
    assert found["ended"] != "in order" or any("steps of D" in what for what in found["left_out"])
    assert not any(r["what"] == "step" for r in found["rows"])


@pytest.mark.parametrize(
    ("words", "sentence"), [([], "runs under torchrun, a process a GPU"), (["--dry"], "runs under torchrun, a process a GPU")]
)
def test_the_bench_refuses_to_run_alone(words, sentence):
    env = {name: value for name, value in os.environ.items() if name != "WORLD_SIZE"}
    done = subprocess.run([sys.executable, str(BENCH / "ranks_gpu.py"), *words], capture_output=True, text=True, env=env)
    assert done.returncode == 1 and sentence in done.stderr


def test_a_gather_of_two_processes_is_its_start_and_its_bytes():
    two = model.Fabric("x", FAST, SLOW, 8)
    assert two.all_gather(1, 1e6) == 0
    assert two.all_gather(2, 1e6) == pytest.approx(0.01 + 1e6 / 100e6)
    assert model.gather_ms(two, 2, 1001) == pytest.approx(0.01 + 501 * 1024 / 100e6)


def test_processes_of_other_boxes_are_reached_over_the_network():
    # 64 processes in 8 boxes: 7 shares come over the network, and 7 x 8 go round in a box. The slower one counts.
    boxes = model.Fabric("x", FAST, SLOW, 8)
    each = 1e6
    assert boxes.all_gather(64, each) == pytest.approx(max(3 * 0.1 + 7 * each / 10e6, 3 * 0.01 + 7 * 8 * each / 100e6))
    # An all-to-all: 56 of 64 shares leave the box.
    assert boxes.exchange(64, each) == pytest.approx(3 * 0.1 + 56 / 64 * each / 10e6)
    assert model.Fabric("x", FAST, SLOW, 1).all_gather(4, each) == pytest.approx(2 * 0.1 + 3 * each / 10e6)


def test_a_merge_by_exchange_receives_a_share_where_one_by_gather_receives_all():
    free = model.Link(0.0, 1e6)
    fabric = model.Fabric("x", free, free, 64)
    took = {way: model.merge_ms(fabric, 8, 32, 16, way) for way in ("all-gather", "reduce-scatter", "all-to-all")}
    assert took["all-gather"] == pytest.approx(8 * took["all-to-all"])
    assert took["reduce-scatter"] == pytest.approx(32 * 16 * (7 * 4 + 7 / 8 * 1024) / 1e6)


def test_a_step_is_a_line_through_the_servers_of_one_device():
    step = model.line([(2, 10.0), (8, 22.0)])
    assert (step.fixed_ms, step.rank_ms) == pytest.approx((6.0, 2.0))
    assert step.over(4, 0.5) == pytest.approx(14.5)
    assert model.line([(8, 24.0)]) == model.Step(0.0, 3.0)


def test_the_link_is_a_line_through_the_smallest_and_the_largest():
    rows = [{"what": "link", "bytes_each": n, "received": n, "ms": 0.02 + n / 50e6} for n in (1000, 10**6, 10**8)]
    found = model.link(rows)
    assert (found.start_ms, found.rate) == pytest.approx((0.02, 50e6))


def test_what_a_device_holds_shrinks_by_its_share_and_by_no_more_than_c_kv():
    assert model.held_gb(1_000_000, 1, 3) == pytest.approx((3.072, 0.396))
    assert model.held_gb(1_000_000, 64, 3) == pytest.approx((0.048, 0.396))
