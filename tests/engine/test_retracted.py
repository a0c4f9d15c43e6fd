"""Retraction: nothing is lost, a full host says so, and each way to lose something has its sign."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dcplab.engine import retraction
from dcplab.engine.host import HostPool

MINE, TENANTS = "the copper violin under green moss .", "the silver harp beneath blue snow ."


def test_mine_comes_back_to_the_tenants_pages_and_is_right():
    seen = retraction.episode("none")
    assert seen.got == MINE and seen.right and not seen.someone_elses and seen.tenants_words == TENANTS
    assert seen.old_locs[:2] == [96, 97] and seen.new_locs[:2] == [16, 17] and len(seen.old_locs) == len(seen.new_locs)
    assert seen.metrics.retractions == 1 and not seen.metrics.selection_lost


@pytest.mark.parametrize("dcp_size", [2, 4])
def test_restored_at_the_old_locs_it_is_answered_with_the_tenants_words(dcp_size):
    seen = retraction.episode("restore_old_locs", dcp_size)
    assert seen.got == TENANTS and seen.someone_elses and seen.why == "", "in range, and no error anywhere"


def test_locs_as_rows_crash_beyond_a_ranks_rows_and_are_silent_within():
    crash, silent = retraction.episode("retract"), retraction.episode("retract", spare=60)
    assert crash.why == "get_cpu_copy on ckv.0, rank 0: row 156 of 52" and crash.new_locs == []
    assert silent.why == "" and not silent.right and max(silent.old_locs + silent.new_locs) < silent.rows


def test_a_stale_index_k_is_seen_in_the_set_that_top_k_chose():
    seen = retraction.episode("index_k_stale")
    assert not seen.right and not seen.someone_elses and seen.metrics.chosen_again < seen.metrics.chosen == 192


def test_a_stride_per_chunk_loses_a_row():
    assert not retraction.episode("retract_stride").right


def test_traffic_alone_passes_the_watermark_where_freed_pages_wait():
    assert max(retraction.traffic()) == 4_021 >= 1024 + 8 > max(retraction.traffic(need_sort=False)) == 181


def test_the_bench_of_the_copies_runs_and_says_that_it_timed_no_link():
    bench = Path(__file__).parents[2] / "bench/retract_gpu.py"
    ran = subprocess.run([sys.executable, bench, "--dry-run", "--layers", "2"], capture_output=True, text=True, check=True)
    record = json.loads(ran.stdout)
    assert record["device"] == "CPU: a dry run, no link was timed"
    assert all(r["came_back_the_same"] and r["bytes"] == 2 * 1024 * r["rows_of_this_rank"] for r in record["requests"])


def test_a_full_host_says_so():
    host = HostPool(10)
    assert host.reserve("a", 7) and not host.reserve("b", 4) and host.reserve("c", 3)
    assert host.refusals == [
        "The host pool is full: b has 4 tokens stored, and 3 of 10 are free. Its KV is dropped, and its tokens are computed "
        "anew when there is room on the device."
    ]
    host.give_back(7)
    assert host.free == 7 and host.highest == 10
