import torch

from dcplab.course.model import Buf, Launch, Part

from . import HINTS


def _double(draw):
    n = draw.int(5, 7)
    return [
        Launch(
            {"src": torch.arange(n) + draw.int(1, 9), "dst": torch.full((n,), -7)},
            (Buf("src"), Buf("dst"), n),
            (2,),
            {"BLOCK": 4},
            label=f"{n} elements",
            writes=("dst",),
        )
    ]


PART = Part(
    "91b",
    "double_kernel",
    "A kernel",
    20,
    1,
    _double,
    "What does lane 3 do?",
    HINTS,
    oracle=lambda buffers, launch: {"dst": buffers["src"] * 2},
)
