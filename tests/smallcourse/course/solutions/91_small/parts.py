"""A tiny lab that has one part of each kind that a check knows; the checker's own tests run on it."""

import torch

from dcplab.course.model import Buf, Case, Launch, Part, Prediction

LAB = dict(id="91", name="91_small", title="A small lab", minutes=6)
HINTS = (
    "Look at the smallest loc.",
    "Two questions: whose, and where.",
    "Use the remainder for one and the quotient for the other.",
)


def _localize(draw):
    size = draw.int(3, 6)
    low = torch.tensor([-1, *range(2 * size)])
    far = torch.tensor([2**31 + draw.int(0, 99), 2**40 + draw.int(0, 99), -1])
    return [
        Case((low, size - 1, size), label="small", size=1),
        Case((far, draw.int(0, size - 1), size), label="past 2^31", size=2),
        Case((low.reshape(1, -1)[:, ::2], 0, size), label="strided", size=3),
    ]


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


def _write(draw):
    store = torch.full((8, 5), -7)
    return [
        Case(
            (store[:, :3], torch.arange(6).reshape(2, 3), torch.tensor([draw.int(1, 3), -1])),
            writes=(0,),
            label="a strided pool",
        )
    ]


def _mean(draw):
    return [Case((torch.rand(9, generator=draw.torch()),), label="nine values")]


def _counter(draw):
    return [Case((draw.int(2, 9),), label="a counter")]


def _drive_counter(entry, steps):
    made = []
    counter = entry(lambda: made.append(1))
    for _ in range(steps):
        counter.step()
    return counter.steps, len(made)


def _pages(draw):
    return [Case((8, 4), label="divides"), Case((9, 4), label="does not divide", size=1, raises="ValueError")]


PARTS = [
    Part("91a", "localize", "Mine, or -1", 20, 1, _localize, "Whose is loc 5?", HINTS,
         prediction=Prediction("2 + 2?", "4", "It is four.", ("3", "4"))),
    Part(
        "91b", "double_kernel", "A kernel", 20, 1, _double, "What does lane 3 do?", HINTS,
        oracle=lambda buffers, launch: {"dst": buffers["src"] * 2},
    ),
    Part("91c", "write_rows", "In place", 20, 1, _write, "Which row?", HINTS, timeout_s=5.0),
    Part("91d", "mean", "A float", 20, 1, _mean, "By how many?", HINTS, oracle=lambda x: x.double().mean().item(), close=1e-6),
    Part("91e", "Counter", "A class", 10, 1, _counter, "How often?", HINTS, drive=_drive_counter),
    Part("91f", "pages", "An error", 10, 1, _pages, "What is 9 / 4?", HINTS),
]  # fmt: skip
