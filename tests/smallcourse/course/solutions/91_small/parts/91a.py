import torch

from dcplab.course.model import Case, Part, Prediction

from . import HINTS


def _localize(draw):
    size = draw.int(3, 6)
    low = torch.tensor([-1, *range(2 * size)])
    far = torch.tensor([2**31 + draw.int(0, 99), 2**40 + draw.int(0, 99), -1])
    return [
        Case((low, size - 1, size), label="small", size=1),
        Case((far, draw.int(0, size - 1), size), label="past 2^31", size=2),
        Case((low.reshape(1, -1)[:, ::2], 0, size), label="strided", size=3),
    ]


PART = Part(
    "91a",
    "localize",
    "Mine, or -1",
    20,
    1,
    _localize,
    "Whose is loc 5?",
    HINTS,
    prediction=Prediction("2 + 2?", "4", "It is four.", ("3", "4")),
)
