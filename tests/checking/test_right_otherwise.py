"""Right answers in another form, and what stands on a card that does not pass."""

from dataclasses import replace

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.notebook.extract import extract


def judged(part, source, timeout_s=None):
    lab = catalog.of_part(part)
    key = lab.key(part)
    if timeout_s:
        key = replace(key, part=replace(key.part, timeout_s=timeout_s))
    return checking.check(key, extract([*lab.setup(), source], key.part.names), seed=1)


def test_a_list_serves_where_a_tuple_is_asked_for():
    source = catalog.of_part("1f").solution("1f").source
    lines = [f"return [{line.partition('return ')[2]}]" if "return " in line else line for line in source.split("\n")]
    last = max(i for i, line in enumerate(lines) if line.startswith("return ["))
    lines[last] = "    " + lines[last]
    found = judged("1f", "\n".join(lines))
    assert found.outcome == "passed", found.message


def test_an_empty_piece_of_an_argument_shares_nothing():
    source = """def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    if not len(seq_lens):
        return req_to_token[0, :0]
    return torch.cat([req_to_token[i, :n] for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist())])
"""
    found = judged("1g", source)
    assert found.outcome == "passed", found.message


def test_who_counts_to_the_end_of_a_large_size_is_asked_about_it():
    counts = (
        "    last = 0\n    for page in range(1, size // page_size + 1):\n        last = (page + 1) * page_size * dcp_size - 1\n"
    )
    found = judged("2a", f"def largest_loc(size, page_size, dcp_size):\n{counts}    return last\n", 0.5)
    assert found.outcome == "timeout" and ", one by one?" in found.question, found.message
    assert "largest_loc(" in found.table.caption and found.table.rows[0][0] == "no end"


@pytest.mark.parametrize("said", ["\\x1b[2Jbad", "\\x1b]0;title\\x07bad", "\\x9b2Jbad", "b\\x00ad"])
def test_a_quoted_exception_obeys_no_terminal_and_is_whole(said):
    body = f'    print("{said}")\n    raise ValueError("{said} " + "x " * 60)\n'
    found = judged("1c", f"def localize(locs, dcp_rank, dcp_size):\n{body}")
    assert found.outcome == "crashed" and found.message.count("x") > 60
    everything = found.message + found.detail + found.case + str(found.table)
    assert not [c for c in everything if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
    assert (
        "localize(" in found.table.caption and found.table.rows[0][0] == "ValueError" and "It printed 12 lines" in found.message
    )


def test_a_lab_may_be_called_by_its_title():
    assert catalog.place("lab01")[0].number == catalog.place("Lab 1")[0].number == "01"
    assert catalog.place("lab01", "c")[1].id == "1c"
    with pytest.raises(CourseError, match="There is no lab"):
        catalog.place("lab99")
