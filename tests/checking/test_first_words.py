"""What beginners' answers are told: every sentence is true of that answer."""

from dataclasses import replace

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.course.trial import Trial
from dcplab.name_the_space import drawing
from dcplab.notebook.extract import extract
from dcplab.present import check_result, facts

OUT = """def largest_loc(size, page_size, dcp_size):
    return (size // page_size + 1) * page_size * dcp_size - 1
def first_loc_out(consumer, size, page_size, dcp_size):
"""
SLOTS = "def index_k_slots(size, page_size, dcp_size, scale):\n    "
KERNEL = catalog.lab("01").solution("1h").source
HEAD = KERNEL.split("    ### BEGIN")[0]
LOAD = "tl.load(locs_ptr + entry, mask=mask, other=-1)"
RULE = "tl.where((x >= 0) & (x % DCP_SIZE == DCP_RANK), x // DCP_SIZE, -1)"


def check(part, source, seed=1, timeout_s=None):
    lab = catalog.of_part(part)
    key = lab.key(part)
    if timeout_s:
        key = replace(key, part=replace(key.part, timeout_s=timeout_s))
    return checking.check(key, extract([*lab.setup(), source], lab.part(part).names), seed=seed)


def told(part, source, seed=1):
    return " ".join(check(part, source, seed).message.split())


def branch(consumer, slots):
    return f"""    if consumer == "{consumer}":
        n = max({slots}, page_size * dcp_size)
        return n if n <= largest_loc(size, page_size, dcp_size) else None
"""


@pytest.mark.parametrize("seed", [1, 8])
@pytest.mark.parametrize(
    "branches, silent",
    [
        (branch("draft", "size * dcp_size + page_size"), '"index_k" or "ckv_raw"'),
        (branch("index_k", "size + page_size"), '"ckv_raw" or "draft"'),
        (branch("index_k", "size + page_size") + branch("draft", "size + page_size"), '"ckv_raw"'),  # one is wrong besides
    ],
)
def test_a_branch_that_is_missing_is_said_first(branches, silent, seed):
    found = check("2d", OUT + branches, seed)
    assert found.message.startswith(f"Nothing comes back where `consumer` is {silent}.\n"), found.message
    assert found.diagnosis == "2d-branch-missing" and "raw here" not in found.message and "And" not in found.message


@pytest.mark.parametrize(
    "body",
    [
        branch("index_k", "size + page_size") + branch("draft", "size * dcp_size + page_size"),
        "    slots = {'index_k': size + page_size, 'draft': size * dcp_size + page_size}.get(consumer)\n"
        "    n = slots and max(slots, page_size * dcp_size)\n"
        "    return n if n and n <= largest_loc(size, page_size, dcp_size) else None\n",
    ],
)
def test_a_branch_that_is_missing_is_none_that_says_none(body):
    # It gives what an answer gives that takes c-KV for localized: None for "ckv_raw", and says so.
    assert check("2d", OUT + body).message.startswith('Nothing comes back where `consumer` is "ckv_raw".\n')


def test_the_case_that_is_shown_is_one_in_which_nothing_comes_back():
    said = told("4e", "def choose_transform(mode, dcp_sharded):\n    if dcp_sharded:\n        return 'PAGED'\n")
    assert said.startswith("Nothing comes back where `dcp_sharded` is False. The result is None; 'PAGED' is expected.")
    said = told("4e", "def choose_transform(mode, dcp_sharded):\n    if mode == 'extend':\n        return 'RAGGED'\n")
    assert said.startswith('Nothing comes back where `mode` is "target_verify", "decode" or "mixed".')


def test_names_in_a_condition_stand_without_quotes():
    lines = "    slots = size * (dcp_size if consumer == 'draft' else 1) + page_size\n"
    lines += "    first = max(slots, page_size * dcp_size)\n"
    lines += "    if size > page_size * dcp_size and first <= largest_loc(size, page_size, dcp_size):\n        return first\n"
    assert "those fail where `page_size` is `dcp_size` - 1, and no others" in told("2d", OUT + lines)


def test_no_two_mistakes_for_what_is_silent_in_some_cases():
    silent = branch("draft", "size * dcp_size + page_size").replace('consumer == "draft"', "size % 8 == 0")
    found = check("2d", OUT + silent)
    assert found.outcome == "wrong" and "something else" not in found.message and "in one place" not in found.message


def test_none_is_no_missing_return_where_every_way_returns():
    body = "    n = size * (dcp_size if consumer == 'draft' else 1) + page_size\n"
    said = told("2d", OUT + body + "    return max(n, page_size * dcp_size) if n < size * dcp_size else None\n")
    assert "The result is None; 52 is expected. 5 of 18" in said and "return?" not in said
    said = told("2d", OUT + body)
    assert said.startswith("It gives None in every case. ") and "Does every way through it end in a return?" in said


@pytest.mark.slow
def test_a_formula_that_is_the_answers_own_is_not_read_back():
    for body in (
        "return size + page_size * dcp_size",
        "return dcp_size * page_size + size",
        "wide = page_size * dcp_size\n    return size + wide",
    ):
        assert "the result is `" not in told("2c", SLOTS + body), body


def test_the_places_shown_are_called_wrong():
    narrow = "import torch\ndef page_locs(page, page_size, dcp_size):\n    wide = page_size * dcp_size\n"
    said = told("1e", narrow + "    return torch.arange(page * wide + 1, page * wide + wide + 1)")
    assert "The first 6 wrong places: " in said


def test_a_case_that_is_not_the_smallest_is_not_called_so():
    wide = "import torch\ndef page_locs(page, page_size, dcp_size):\n    wide = page_size * dcp_size\n"
    said = told("1e", wide + "    return torch.arange(page * wide, page * wide + wide).int()")
    assert "6 of 6 cases fail; shown: a page past 2^53" in said and "smallest" not in said


def test_a_kernels_call_is_the_one_that_was_made():
    assert "[(1,)](locs, rows, 5, DCP_RANK=0, DCP_SIZE=4, BLOCK=8)" in told("1h", KERNEL.replace("tl.where", "tl.nowhere"))


@pytest.mark.parametrize(
    "old, new, says",
    [
        (LOAD, "locs_ptr[entry]", "A pointer is an address and is not indexed: `tl.load(locs_ptr + entry)` reads there."),
        ("tl.where", "torch.where", "torch's functions do not exist in a kernel: `torch.where` is `tl.where` there."),
        ("tl.where", "torch.gather", "torch's functions do not exist in a kernel: `torch.gather` is `tl.gather` there."),
        (
            "tl.program_id(0)",
            "torch.ones(1)",
            "torch's functions do not exist in a kernel: `torch.ones` has no namesake there.",
        ),
    ],
)
def test_first_slips_in_a_kernel(old, new, says):
    assert told("1h", KERNEL.replace(old, new)).startswith(says)


@pytest.mark.parametrize(
    "condition, says",
    [
        ("not (loc % DCP_SIZE != DCP_RANK)", "one bool for `not` of a whole block: `~` turns"),
        ("(loc % DCP_SIZE == DCP_RANK) and (loc >= 0)", "keeps one side of `and` or `or`"),
        ("(loc >= 0) and (loc % DCP_SIZE == DCP_RANK)", "keeps one side of `and` or `or`"),
    ],
)
def test_a_bool_of_a_block_is_not_judged_in_any_order(condition, says):
    found = check("1h", KERNEL.replace("tl.where(owned", f"tl.where({condition}"))
    assert found.outcome == "error" and says in " ".join(found.message.split()), found.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        f"""    for i in range(BLOCK):
        j = tl.program_id(0) * BLOCK + i
        if j < n:
            x = tl.load(locs_ptr + j)
            tl.store(rows_ptr + j, {RULE})
""",
        f"""    j = tl.program_id(0) * BLOCK
    e = tl.minimum(j + BLOCK, n)
    while j < e:
        x = tl.load(locs_ptr + j)
        tl.store(rows_ptr + j, {RULE})
        j += 1
""",
    ],
)
def test_a_loop_over_entries_repeats_nothing(body):
    found = check("1h", HEAD + body)
    assert found.outcome == "passed" and "But" not in found.message, found.message


def test_stacking_unlike_pieces_advises_nothing_false():
    source = "import torch\ndef assemble_ragged(prefix, extend, prefix_lens, extend_lens):\n    "
    said = told("4c", source + "return torch.stack([prefix, extend], 1).flatten(0, 1)")
    assert "`torch.stack` lays pieces of one shape side by side" in said and "torch.cat" not in said


@pytest.mark.slow
def test_an_endless_answer_runs_once_and_counts_what_ran(monkeypatch):
    runs = []
    plain = checking.attempt
    monkeypatch.setattr(checking, "attempt", lambda *args, **more: (runs.append(args), plain(*args, **more))[1])
    found = check("1c", "import torch\ndef localize(locs, dcp_rank, dcp_size):\n    while True:\n        pass\n", timeout_s=3.0)
    assert found.outcome == "timeout" and len(runs) == 1
    assert "1 of the 1 cases that ran fail" in found.message and "12 of 12" not in found.message


def test_a_module_without_its_import():
    source = "def owner_rank(loc, dcp_size):\n    return int(math.fmod(loc, dcp_size))\n"
    assert "`math` is a module that no cell of yours imports." in told("1a", source)


def test_answers_of_a_record_are_explained_one_by_one():
    found = check("1i", "def name_the_space():\n    return 36886, {1: 'position, 0', 2: 'row, 2'}\n")
    lines = found.detail.split("\n")
    assert (
        lines[0].split(maxsplit=1) == ["passed", "snippet 1"]
        and lines[1].startswith("wrong  ")
        and "Snippet 2, space:" in lines[1]
    )
    assert found.case == "snippet 2" and "n = 2" not in found.detail


@pytest.mark.slow
def test_rows_of_a_table_without_a_verdict_are_told_so():
    half = told("5c", "def isolation():\n    return {'none, below': 'right', 'none, above': 'silent'}\n")
    assert "has no verdict yet." in half and "Nothing comes back" not in half


def test_a_mistake_is_known_where_the_banks_answer_also_ends_in_a_batch_without_requests():
    source = """def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pieces = [req_to_token[i, :n] for i, n in enumerate(seq_lens.tolist())]
    return torch.cat([req_to_token[0, :0], *pieces])
"""
    assert told("1g", source).startswith("Row i was read for request i: its row is req_pool_indices[i].")


TWO_FUNCTIONS = "def loc_space_scale(is_draft_worker, dcp_size):\n    return 1 if is_draft_worker else dcp_size\n"
TWO_FUNCTIONS += "def pool_page_size(page_size, scale):\n    return page_size\n"
BILL = "def index_k_extra_bytes(layers, size, dcp_size):\n    return 7\n"
BILL += "def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):\n    return 1.0\n"


def test_a_card_says_which_function_failed_and_of_which_cases_it_speaks():
    found = told("2b", TWO_FUNCTIONS)
    assert "shown: `loc_space_scale`, a target" in found, found
    assert "Of the cases drawn" not in found and "Of the cases of `loc_space_scale`" in found, found
    found = told("2g", BILL)
    assert "shown: `index_k_extra_bytes`, a toy" in found and "layers " in found and "layer " not in found, found


def test_a_result_of_several_is_called_by_its_name():
    unique = "import torch\ndef page_tables(locs, page_size, dcp_size):\n"
    unique += "    return torch.unique(locs // page_size), torch.unique(locs // page_size // dcp_size)\n"
    found = told("1f", unique)
    assert "`index_k_pages` differs in" in found and "ntry 0" not in found, found


@pytest.mark.parametrize(
    "part, source, says",
    [
        ("1d", "def globalize(rows, dcp_rank, dcp_size):\n    return rows * dcp_size\n", "The rank is missing, and -1 is"),
        (
            "1b",
            "def local_row(loc, dcp_size):\n    r = loc / dcp_size\n"
            "    return int(r) if isinstance(loc, int) else r.to(loc.dtype)\n",
            "`/` gives floats: ints past 2^53 and a tensor's rows past 2^24 come out wrong.",
        ),
    ],
)
def test_two_mistakes_of_one_kind_are_told_as_one(part, source, says):
    assert says in told(part, source)


@pytest.mark.parametrize("part", ["1i", "2i", "3h", "4h", "6g"])
def test_an_answer_without_a_seed_is_not_shown_the_checks_own(part):
    key = catalog.of_part(part).key(part)
    source = "def name_the_space():\n    return None, {n: '?' for n in range(1, 9)}\n"
    found = checking.check(key, extract([source], key.part.names), seed=28_245_202).message
    assert "None is no seed: `investigate.seed()` gives yours." in found and "28245202" not in found, found
    assert "shown: snippet" not in found and "Ask yourself" not in found, found


def test_a_block_that_begins_at_its_programs_number_fails_a_small_case():
    source = KERNEL.replace("tl.program_id(0) * BLOCK", "tl.program_id(0)")
    assert source != KERNEL
    found = check("1h", source)
    assert "eleven locs" in found.message, found.message
    shown = found.message.partition("shown: ")[2].partition("\n")[0]
    assert (found.cells.title.lower() == shown.lower()) == ("Another case than the table's" not in found.cells.caption)


def test_a_picture_of_another_case_than_the_tables_says_so():
    found = check("1h", KERNEL.replace("loc // DCP_SIZE", "loc"))
    assert "one program" in found.message and found.cells.title.startswith("Two programs"), found.message
    assert found.cells.caption.startswith("Another case than the table's: "), found.cells.caption


@pytest.mark.parametrize("part", ["1i", "2i", "3h", "4h", "6g"])
def test_what_is_asked_fits_an_answer_of_which_only_a_line_is_wrong(part):
    lab = catalog.of_part(part)
    seed, right = 36886, drawing.draw(part, 36886)
    said = {n: f"{s.space}, {0 if s.line else 1}" for n, s in enumerate(right, 1)}
    source = f"def name_the_space():\n    return {seed}, {said!r}\n"
    found = checking.check(lab.key(part), extract([source], ["name_the_space"]), seed=1)
    assert found.question and (found.diagnosis or "the one that takes it" in found.question), found.message


NO_MAX = """def merge_lse(outs, lses):
    weight = 2.0**lses{}
    return (weight[..., None] * outs).sum(0) / weight.sum(0)[..., None], torch.log2(weight.sum(0))
"""


@pytest.mark.parametrize("wide", ["", ".float()"])
def test_a_merge_without_a_largest_lse_is_not_told_that_one_was_taken(wide):
    said = told("3e", NO_MAX.format(wide))
    assert said.startswith("No largest LSE is subtracted") and "was taken" not in said and "2^595" not in said


@pytest.mark.slow
def test_rows_of_zeros_are_called_so_in_the_table_and_in_the_picture():
    kernel = catalog.lab("04").key("4g").solution.source
    source = kernel.replace("mask=old)", "mask=old, other=0)").replace("tl.where(old, x, y)", "x")
    found = check("4g", source)
    assert found.outcome == "wrong" and all(row[2] == "zeros" for row in found.table.rows), found.message
    assert {cell.text for _, _, cell in found.cells.wrong} == {"zeros"}
    assert found.cells.caption.startswith("Another case than the table's: ")  # the card's own has one program


def test_a_row_that_an_empty_prefix_takes_is_known_where_pieces_are_cut_out():
    source = """def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, s in zip(prefix_lens.tolist(), start_positions.tolist()):
        out.append(whole[first * dcp_size + s % dcp_size :][:n])
        first += (n + s % dcp_size + dcp_size - 1) // dcp_size
    return torch.cat(out)
"""
    assert told("4b", source).startswith("A request without a prefix takes a row where its start is no multiple of D.")


@pytest.mark.slow
def test_what_an_operation_of_the_course_cannot_use_is_no_slip_of_a_mask():
    path = catalog.lab("05").key("5a").solution.source
    write = "rank.write_ckv(step.batch.out_cache_loc)"
    assert write in path
    said = told("5a", path.replace(write, write.replace("out_cache_loc", "out_cache_loc[:0]")))
    assert said.startswith(facts.INSIDE.format("write_ckv")) and "mask must have the shape" not in said, said


def test_what_the_typed_spaces_say_is_quoted_where_they_name_the_space():
    says = "Typed spaces: write_ckv on ckv.0 takes a loc and was given a row: the kernel divides them."
    assert check_result._typed(Trial({}, status="done", stdout=f"mine\n{says}\n")) == says
    assert check_result._typed(Trial({}, status="done", stdout=says.replace("a row", "an index of no stated space"))) == ""
