"""Every Triton kernel compiles for sm_90 without a GPU, within a budget of registers, and moves 16 bytes at a time."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # one child compiles them all
SM90 = Path(__file__).with_name("sm90.py")
# (registers, bytes of the widest load, bytes of the widest store). 8-byte accesses: a length that is no multiple of 16.
BUDGET = {
    "assemble_ragged": (64, 16, 16),
    "cumulative_lengths": (48, 8, 8),
    "gather_rows": (64, 16, 16),
    "localize_page_table": (40, 8, 8),
    "localize_topk": (112, 16, 16),
    "merge_lse": (96, 16, 16),
    "read_index_k": (48, 16, 16),
    "relayout": (64, 16, 16),
    "scatter_rows": (64, 16, 16),
    "topk_to_paged": (112, 16, 16),
    "topk_to_ragged": (80, 16, 16),
    "write_ckv_fp8": (64, 16, 16),
    "write_ckv_norope": (64, 16, 16),
    "write_ckv_norope_single": (64, 16, 16),
    "write_ckv_rope": (80, 16, 16),
    "write_index_k": (48, 16, 16),
}


@functools.cache
def reports() -> dict[str, dict]:
    """One child for all of them: a process that interprets cannot compile."""
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, str(SM90)], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_every_kernel_has_a_budget():
    assert set(reports()) == set(BUDGET)


@pytest.mark.parametrize("name", sorted(BUDGET))
def test_compiles_for_hopper(name):
    registers, load_bytes, store_bytes = BUDGET[name]
    found = reports()[name]
    assert found["registers"] <= registers
    assert found["spill_bytes"] <= 8  # ptxas parks a word now and then when it aims at a rounder number of registers
    assert (found["load_bytes"], found["store_bytes"]) == (load_bytes, store_bytes)
