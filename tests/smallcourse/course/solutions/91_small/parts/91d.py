import torch

from dcplab.course.model import Case, Part

from . import HINTS


def _mean(draw):
    return [Case((torch.rand(9, generator=draw.torch()),), label="nine values")]


PART = Part(
    "91d", "mean", "A float", 20, 1, _mean, "By how many?", HINTS, oracle=lambda x: x.double().mean().item(), close=1e-6
)
