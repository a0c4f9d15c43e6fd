import math
from itertools import product

import pytest
import torch

from dcplab.codec import Other
from dcplab.judge.compare import alike, difference, identical, values, wrong_places
from dcplab.present.sentences import of_difference
from dcplab.present.values import short

NAN = math.nan


@pytest.mark.parametrize(
    "value",
    [
        1,
        True,
        2**80,
        1.5,
        "a",
        None,
        [1, 2],
        (1, [True]),
        {"a": 1},
        {1, 2},
        torch.arange(3),
        torch.empty(0),
        torch.tensor(7),
        math.inf,
    ],
)
def test_right_is_right(value):
    assert difference(value, value) is None


@pytest.mark.parametrize(
    "got, expected, says",
    [
        (1, True, "a bool is expected"),
        (True, 1, "an int is expected"),
        (1.0, 1, "a float; an int"),
        (torch.tensor(1), 1, "a tensor; an int"),
        (1, torch.tensor(1), "an int; a tensor"),
        (None, 1, "result is None; 1 is expected."),
        ((1, 2), [1, 2], "a tuple; a list"),
        (Other("tensor", "a lie"), torch.tensor(1), "tensor of another kind"),
        (Other("int", "x"), 1, "int of another kind"),
        (NAN, NAN, "nan"),
        (NAN, 1.0, "nan"),
        (torch.tensor([1, 2]), torch.tensor([[1, 2]]), "shape [2]; [1, 2]"),
        (torch.tensor([1, 2], dtype=torch.int32), torch.tensor([1, 2]), "the values are right"),
        (torch.tensor([1, 3], dtype=torch.int32), torch.tensor([1, 2]), "dtype int32; int64 is expected."),
        (torch.tensor([1, 3]), torch.tensor([1, 2]), "1 of 2 values"),
        (torch.tensor([NAN]), torch.tensor([NAN]), "1 of 1"),
        (torch.full((3,), NAN), torch.zeros(3), "3 of 3"),
        ((1, 2), (1, 2, 3), "2 entries; 3"),
        ((1, (2, 4)), (1, (2, 3)), "Entry 1 of entry 1 is 4"),
        ({"a": 1}, {"b": 1}, "keys"),
        ({1: 1}, {True: 1}, "keys"),
        (torch.tensor([2**53 + 1]), torch.tensor([2**53]), "1 of 1"),
    ],
)
def test_wrong_is_told(got, expected, says):
    assert says in of_difference(difference(got, expected))


@pytest.mark.parametrize(
    ("got", "says"),
    [
        ([(0, 21)], "The end of segment 0 is 21; 29 is expected."),
        ([(1, 29)], "The start of segment 0 is 1; 0 is expected."),
        ([(0, 29), (29, 30)], "The result has 2 segments; 1 is expected."),
        ([(0, 29.0)], "The end of segment 0 is a float; an int is expected."),
        ([(0, 29, 1)], "Segment 0 has 3 entries; 2 are expected."),
        ([], "The result has 0 segments; 1 is expected."),
    ],
)
def test_of_a_list_of_tuples_it_is_told_which_and_which_end(got, says):
    assert of_difference(difference(got, [(0, 29)]), entries=("segment", "start", "end")) == says


def test_close_is_relative_and_never_takes_nan_or_inf():
    right = torch.tensor([1.0, 1000.0])
    assert difference(right + torch.tensor([1e-5, 1e-2]), right, close=1e-4) is None
    assert difference(right + torch.tensor([1e-3, 0.0]), right, close=1e-4)
    assert difference(NAN, 1.0, close=10.0)
    assert difference(math.inf, 1.0, close=10.0)
    assert difference(-math.inf, -math.inf, close=1e-4) is None
    assert difference(-math.inf, math.inf, close=1e-4)


def test_a_patched_torch_changes_nothing(monkeypatch):
    yes = lambda *a, **k: True  # noqa: E731
    for name in ("equal", "allclose", "isclose"):
        monkeypatch.setattr(torch, name, yes)
    monkeypatch.setattr(torch.Tensor, "__eq__", lambda a, b: torch.ones(1, dtype=torch.bool))
    assert difference(torch.tensor([1, 3]), torch.tensor([1, 2]))


def test_identical_is_bitwise():
    assert identical(torch.tensor([NAN]), torch.tensor([NAN]))
    assert not identical(0.0, -0.0)
    assert not identical(1, True)


def test_wrong_places():
    assert wrong_places(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0], [3, 0]])) == [1, 3]
    assert wrong_places(torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN])) == [1]


ODD = [0.0, -0.0, 1.0, 1.0000001, 1e-9, 5e-324, 2.5, 1e300, -1e300, math.inf, -math.inf, NAN]


@pytest.mark.parametrize("close", [None, 0.0, 1e-6, 0.5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float8_e5m2], ids=str)
def test_a_tensor_is_compared_as_its_values_are(dtype, close):
    got, right = (torch.tensor(each, dtype=torch.float64).to(dtype) for each in zip(*product(ODD, ODD), strict=True))
    pairs = list(zip(values(got), values(right), strict=True))
    assert wrong_places(got, right, close) == [i for i, (g, r) in enumerate(pairs) if difference(g, r, close)]
    if close is not None:
        assert [alike(got[i], right[i], close) for i in range(len(pairs))] == [alike(g, r, close) for g, r in pairs]


def test_short_is_one_line():
    for value in (
        torch.arange(100).reshape(10, 10),
        torch.tensor([[1], [2]]),
        ["x" * 500],
        {"a": torch.tensor(1)},
        Other("T", "y"),
    ):
        assert "\n" not in short(value) and len(short(value)) <= 60
    assert short(torch.tensor(5)) == "tensor(5) (int64)"
