"""A bad value is answered with one sentence, never with an exception or an empty picture."""

import numpy as np
import pytest
import torch

from dcplab import viz

BAD = {
    "float loc": (lambda: viz.owner_strip([1.5], 4), "locs[0] must be a whole number, not 1.5."),
    "float tensor": (lambda: viz.owner_strip(torch.tensor([1.0]), 4), "locs[0] must be a whole number"),
    "bool": (lambda: viz.owner_strip([True], 4), "locs[0] must be a whole number, not True."),
    "negative loc": (lambda: viz.owner_strip([-2], 4), "locs[0] must be at least -1, not -2."),
    "no rank": (lambda: viz.owner_strip([1], 0), "D (dcp_size) must be at least 1, not 0."),
    "text": (lambda: viz.owner_strip("12", 4), "locs must be a list of whole numbers"),
    "None": (lambda: viz.owner_strip(None, 4), "locs must be a list of whole numbers"),
    "two dimensions": (lambda: viz.owner_strip(torch.zeros(2, 2, dtype=torch.int64), 4), "locs[0] must be a whole number"),
    "too many": (lambda: viz.owner_strip(range(10**9), 4), "1,000,000,000 entries"),
    "only padding": (lambda: viz.rank_table([-1], 4), "there is no loc to draw."),
    "padding in a request": (lambda: viz.two_page_tables([-1], 4, 2), "locs[0] must be at least 0"),
    "no locs": (lambda: viz.two_page_tables([], 4, 2), "the request has no locs."),
    "rank too high": (lambda: viz.kernel_lanes([1], 4, 4, 8), "dcp_rank must be below dcp_size 4, not 4."),
    "huge block": (lambda: viz.kernel_lanes([1], 0, 4, 1024), "at most 16 programs of 32 lanes"),
    "pool row": (lambda: viz.flattened([[1]], [1], [1]), "request A uses row 1, and req_to_token has 1 rows."),
    "too long": (lambda: viz.flattened([[1]], [0], [2]), "request A has 2 tokens"),
    "row twice": (lambda: viz.flattened([[1]], [0, 0], [1, 1]), "use the same row"),
    "lengths differ": (lambda: viz.flattened([[1]], [0], []), "1 req_pool_indices but 0 seq_lens"),
    "page": (lambda: viz.widened_page(-1, 4, 2), "page must be at least 0, not -1."),
    "missing argument": (lambda: viz.owner_strip([1]), "dcp_size"),
    "regions overlap": (lambda: viz.memory_map([("a", 0, 4), ("b", 3, 8)]), "regions a and b overlap at row 3."),
    "empty region": (lambda: viz.memory_map([("a", 4, 4)]), "ends before it begins"),
    "unknown region": (lambda: viz.memory_map([("a", 0, 4)], [("x", "b", 1)]), "there is no such region"),
    "small pool": (lambda: viz.owner_table(4, 4, 3), "must hold at least one page"),
    "range backwards": (lambda: viz.owner_table(first=30, last=20), "lies after"),
    "range too long": (lambda: viz.owner_table(8, 64, 4096, first=0, last=500), "at most 128"),
    "beyond the space": (lambda: viz.owner_table(selected=64), "the last loc that the allocator issues is 63"),
    "request on page 0": (lambda: viz.owner_table(requests={"A": [3]}), "page 0 (locs 0 to 15) is never issued"),
    "request too long": (lambda: viz.owner_table(requests={"A": 49}), "does not fit"),
    "loc held twice": (lambda: viz.owner_table(requests={"A": [16], "B": [16]}), "held twice"),
    "requests as number": (lambda: viz.owner_table(requests=3), "requests must map"),
}


@pytest.mark.parametrize("call, says", BAD.values(), ids=BAD)
def test_a_bad_value_becomes_a_sentence(call, says):
    picture = call()
    assert isinstance(picture, viz.Picture) and says in picture.text
    assert picture.table.header == ("message",) and says.replace("'", "&#x27;")[:20] in picture.svg


def test_the_same_call_raises_without_its_guard():
    with pytest.raises(ValueError, match="at least 1"):
        viz.owner_strip.__wrapped__([1], 0)


@pytest.mark.parametrize("values", [[5, 6], (5, 6), range(5, 7), torch.tensor([5, 6]), np.array([5, 6], dtype=np.int32)])
def test_lists_tensors_and_arrays_are_all_fine(values):
    assert [row[0] for row in viz.owner_strip(values, 4).table.rows] == ["5", "6"]
