import torch

from dcplab.course.model import Case, Part

from . import HINTS


def _write(draw):
    store = torch.full((8, 5), -7)
    return [
        Case(
            (store[:, :3], torch.arange(6).reshape(2, 3), torch.tensor([draw.int(1, 3), -1])),
            writes=(0,),
            label="a strided pool",
        )
    ]


PART = Part("91c", "write_rows", "In place", 20, 1, _write, "Which row?", HINTS, timeout_s=5.0)
