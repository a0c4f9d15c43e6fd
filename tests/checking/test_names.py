"""Answers that people wrote and that once got a false name: what each is told, on real parts. A name must be true."""

import pytest

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.judge import judgement
from dcplab.notebook.extract import extract
from dcplab.present import check_result
from dcplab.reference import Reference
from dcplab.sandbox.attempts import attempt

pytestmark = pytest.mark.slow
SEEDS = (5, 77)
ALARM = "def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):\n    return "
BOUND = "def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):\n    rows = (size // page_size + 1) * page_size\n"
BOUND += "    bound = rows if consumer == 'ckv_row' else rows * dcp_size\n    x = flat_locs.tolist()\n    return "
SHARDS = "def interleave_shards(shards, prefix_lens, start_positions, dcp_size):\n    n = int(prefix_lens.sum())\n    return "
LOCS = "import torch\ndef flatten_request_locs(req_to_token, req_pool_indices, seq_lens):\n    return "
WRITER = """def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    page = 4
    mine = (locs >= 0) & (locs // page % dcp_size == dcp_rank)
    kv[locs[mine] // page // dcp_size * page + locs[mine] % page] = src[mine]
"""

# part -> answers; of each: its source, and the names that would be false of it
UNTRUE = {
    "3f": {
        ALARM + "bool((valid_counts * len(valid_counts) > topk_counts).any())": {"lse-equal"},
        ALARM + "bool(((valid_counts > 0).sum(0) > 1).any())": {"lse-equal"},
        ALARM + "bool((2 * valid_counts > topk_counts).any())": {"lse-equal"},
        ALARM + "bool((valid_counts > 0).all(0).any())": {"allclose", "d-times"},
        ALARM + "bool(((valid_counts == topk_counts).sum(0) > 1).any())": {"whole-unit", "all-full"},
        ALARM + "bool((single_lse - merged_lse > 0.5).any())": {"full-rank"},
        ALARM + "bool((valid_counts.sum(0) - topk_counts).float().mean() > 0)": {"all-queries"},
        ALARM + "True": {"lse-equal", "not-within", "allclose"},
    },
    "4f": {
        BOUND + "0 <= x[-1] < bound if x else True": {"smallest-only", "inclusive"},
        BOUND + "0 <= x[0] < bound if x else True": {"smallest-only", "inclusive"},
        BOUND + "0 <= sum(x) / len(x) < bound if x else True": {"smallest-only", "inclusive"},
        BOUND + "len(x) < 5 or all(0 <= i < bound for i in x)": {"smallest-only", "inclusive"},
        BOUND + "all(0 <= i < (size + page_size) * dcp_size for i in x)": {"inclusive"},
        BOUND + "all(0 <= i < size * dcp_size + page_size for i in x)": {"pool-rows-for-all"},
    },
    "4e": {
        "def choose_transform(mode, dcp_sharded):\n"
        "    return 'RAGGED' if dcp_sharded or mode in ('extend', 'mixed') else 'PAGED'": {"always"},
    },
    "3b": {WRITER: {"swap", "bound-on-locs"}},
}


def told(part_id, sources, seed):
    """What each answer is told: its judgement and its result."""
    lab = catalog.of_part(part_id)
    key = lab.key(part_id)
    reference = Reference(key, draw(key.part, seed, "cpu"), whole=True)
    programs = [extract([*lab.setup(), source], key.part.names) for source in sources]
    trials = attempt(programs, key.part, reference.drawn.packed, "cpu", reference.drawn.own_s)
    judged = [
        judgement.not_run(key, program, seed, "cpu") or checking.judge(program, reference, trial=trial)
        for program, trial in zip(programs, trials, strict=True)
    ]
    return [(j, check_result.result(j, mode.versions(), 0.0)) for j in judged]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("part", UNTRUE)
def test_a_name_that_is_not_true_is_not_told(part, seed):
    for (source, untrue), (judged, found) in zip(UNTRUE[part].items(), told(part, UNTRUE[part], seed), strict=True):
        assert judged.why == "failed", f"{source}\n{found.message}"
        assert found.diagnosis not in {f"{part}-{name}" for name in untrue}, f"{source}\n{found.message}"
        known = {wrong.id for wrong, _ in judged.key.wrong}
        assert {f"{part}-{name}" for name in untrue} & known, "the names that would be false are names of the bank"


def one(part, source, seed=5):
    [(judged, found)] = told(part, [source], seed)
    return judged, found, found.message.split("\n")[0]


def test_the_same_in_every_case_is_called_that():
    _, found, first = one("2a", "def largest_loc(size, page_size, dcp_size):\n    return 63")
    assert (found.diagnosis, first) == ("2a-always-the-same", "It gives 63 in every case.")


def test_a_sentence_tells_what_is_seen_where_two_ways_lead_to_it():
    source = LOCS + "torch.cat([req_to_token[0, :0]] + [req_to_token[r, -n:] if n else req_to_token[r, :0]"
    source += " for r, n in zip(req_pool_indices.tolist(), seq_lens.tolist())])"
    assert one("1g", source)[2] == "Rows are read from their ends: a request's first position is not 0 here."


KERNEL = """import triton
import triton.language as tl
@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "pid = tl.program_id(0)",
        "at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    loc = tl.load(locs_ptr + at, mask=at < n, other=-1)\n"
        "    return tl.where((loc >= 0) & (loc % DCP_SIZE == DCP_RANK), loc // DCP_SIZE, -1)",
    ],
)
def test_an_unfinished_kernel_is_told_that_nothing_was_stored(body):
    _, found, first = one("1h", KERNEL + body)
    assert first.startswith("Nothing ") and found.diagnosis == "1h-nothing", found.message


def test_memory_that_is_as_it_was_is_called_that_where_the_bank_does_not_know_it():
    """Part 2h: no bank answer stores nothing."""
    source = "import triton\nimport triton.language as tl\n@triton.jit\n"
    source += "def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr,\n"
    source += "                         DIM: tl.constexpr, ROWS: tl.constexpr):\n    pass\n"
    _, found, first = one("2h", source)
    assert found.diagnosis == "2h-stores-nothing" and first.startswith("Nothing was stored: `"), found.message


@pytest.mark.parametrize("clone", ["", ".clone()"])
@pytest.mark.parametrize(
    "source, name",
    [
        ("shards.reshape(-1, shards.shape[-1])[:n]", "4b-rank-order"),
        ("shards.transpose(0, 1).flatten(0, 1)[:n]", "4b-cut-at-the-end"),
    ],
)
def test_a_mistake_in_a_view_has_the_name_of_the_one_in_a_copy(source, name, clone):
    for seed in SEEDS:
        _, found, _ = one("4b", SHARDS + source + clone, seed)
        assert (found.outcome, found.diagnosis) == ("wrong", name)


def test_a_wrong_value_is_shown_before_a_wrong_dtype():
    source = "import torch\ndef owner_rank(loc, dcp_size):\n"
    source += "    return loc % dcp_size if isinstance(loc, int) else (loc.float() % dcp_size).long()\n"
    judged, found, first = one("1a", source)
    assert judged.shown.fact.places and first.startswith("This goes through float32"), found.message
    said = found.message
    assert "the values are right" not in said and 0 < said.index("dtype is") < said.index("values, and has dtype"), said


CKV = """import triton
import triton.language as tl
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr,
                            DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    t = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + t, mask=t < n, other=-1)
    c = tl.arange(0, DIM)
"""
STORE = """    value = tl.load(src_ptr + t[:, None] * src_stride + c[None, :], mask=own[:, None])
    tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + c[None, :], value, mask=own[:, None])
"""


def test_what_no_gpu_compiles_is_told_before_the_few_cases_that_the_interpreter_ran():
    without = CKV + "    own = t < n & loc >= 0 & loc % DCP_SIZE == DCP_RANK\n" + STORE
    judged, found, first = one("3a", without)
    assert (found.outcome, judged.why) == ("crashed", "refused"), found.message
    assert first.startswith("`&` binds more tightly than a comparison") and "a GPU could not:" in found.message, first
