"""The demonstrations of lab 06 show what its text says they show."""

import re

from dcplab.demos import retraction
from dcplab.engine import index_spaces


def lines_of(shown, *starts):
    told = shown.text.split("\n")
    return [next(line for line in told if line.strip().startswith(start)) for start in starts]


def test_a_request_is_told_the_tenant_s_secret_and_only_large_locs_crash():
    shown = retraction.overnight()
    starts = "translates both", "restores to the old", "locs as rows, small", "locs as rows, large"
    right, tenants, small, large = lines_of(shown, *starts)
    secret = re.search(r"the tenant was told: +(.*)", shown.text)[1]
    assert "WRONG" not in right and "crash" not in right and secret not in right
    assert tenants.endswith(f"{secret}  WRONG")
    assert "WRONG" in small and "crash" not in small
    assert "crash" in large and "row 156 of 52" in large
    before, after = re.search(r"(\d+\.\.\d+) +(\d+\.\.\d+)", right).groups()
    assert (before, after) == ("96..156", "16..76")  # as the lab's text says


def test_the_view_is_wrong_only_where_a_run_begins_at_another_owner():
    whole, cut = (list(map(int, line.split()[-3:])) for line in lines_of(retraction.strided_view(), "owner 0", "another owner"))
    assert whole[0] + cut[0] == retraction.RUNS and whole[1:] == [0, 0]
    assert cut[1] > 0.9 * cut[0] and 0.6 * cut[0] < cut[2] < 0.9 * cut[0]  # nearly always; three cases of four


def test_a_run_s_owner_rule_is_the_one_that_is_counted():
    for locs, rank, dcp_size in list(retraction.runs(3))[:50]:
        assert 0 <= rank < dcp_size and all(index_spaces.owner_rank(int(loc), dcp_size) < dcp_size for loc in locs)


def test_who_hears_of_a_broken_precondition():
    none, asserted, raised, alarm = (
        re.split(r" {2,}", line) for line in lines_of(retraction.what_a_check_costs(), "none", "assert", "exception", "alarm")
    )
    assert none[1] == none[2] == "rows [16, 17], wrong"
    assert asserted[1:3] == ["AssertionError", "rows [16, 17], wrong"]  # python -O takes it out
    assert raised[1:3] == ["ValueError"] * 2
    assert alarm[1] == alarm[2] == "rows [16, 17], wrong, alarm"


def test_a_cut_within_a_page_frees_it_twice_and_two_requests_get_it():
    shown = retraction.two_frees()
    (second,) = lines_of(shown, "[576, 1000)")
    assert "its pages 1 " in second and "is free already" in second  # page 1, as the prediction of 6c says
    pages = [line.split()[-1] for line in lines_of(shown, "Ben", "Cleo")]
    assert pages == ["2", "2"]
    (told,) = lines_of(shown, "mine is told")
    assert "WRONG" in told and "the copper violin under green moss" in told


def test_a_stale_index_k_is_seen_by_what_top_k_chose():
    right, stale, draft = lines_of(retraction.what_came_back(), "everything", "c-KV, not index-K", "the target, not the draft")
    counts = [list(map(int, re.search(r"(\d+) of (\d+)", line).groups())) for line in (right, stale, draft)]
    assert counts[0] == [192, 192] and counts[1] == [172, 192] and counts[2][0] < counts[2][1]
    assert "WRONG" in stale and "WRONG" not in right + draft


def test_every_prefill_node_s_rows_land_and_pairs_that_share_no_position_send_none():
    shown = retraction.two_layouts()
    rows = [line.split() for line in shown.text.split("\n") if re.match(r"\d ranks? ", line)]
    assert len(rows) == 1 + 2 + 3 + 4
    for ranks in (1, 2, 3, 4):
        sent = [row[3:7] for row in rows if row[0] == str(ranks)]
        assert sum(int(n) for row in sent for n in row if n != "-") == 61
        assert sum(n == "-" for row in sent for n in row) == {1: 0, 2: 4, 3: 0, 4: 12}[ranks]
    assert shown.text.split("From one rank")[0].count("the copper violin under green moss .") == 4
    raw, twice = lines_of(shown, "locs used as rows", "rows divided once more")
    assert "crash" in raw and "WRONG" in twice


def test_traffic_alone_passes_the_rows_of_a_rank_only_where_frees_are_sorted():
    ordinary, node = (
        list(map(int, line.split()[-6:])) for line in lines_of(retraction.traffic(), "an ordinary", "a prefill or")
    )
    rows = int(re.search(r"rows 0 to (\d+)", retraction.traffic().text)[1])
    assert max(ordinary) < rows < max(node) and node[3] > rows  # the tenth request is past them


def test_columns_fit_a_cell_of_jupyterlab():
    shown = (retraction.overnight, retraction.strided_view, retraction.what_a_check_costs, retraction.two_frees)
    for made in (*shown, retraction.traffic, retraction.what_came_back, retraction.two_layouts):
        assert max(map(len, made().text.split("\n"))) <= 98, made
