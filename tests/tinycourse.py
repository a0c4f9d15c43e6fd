"""The files of a course of one tiny lab: no tensors, two parts."""

from pathlib import Path

import pytest

SOURCE = '''# %% [markdown]
# # A tiny lab
#
# A loc has an *owner*.

# %%
from dcplab import lab

# %% [markdown]
# ## 1a

# %% part="1a" role="answer"
def owner_rank(loc, dcp_size):
    """The rank that stores it."""
    ### BEGIN SOLUTION
    return loc % dcp_size
    ### END SOLUTION

# %% part="1a" role="check"
lab.check("1a")

# %% [markdown]
# ## 1b

# %% part="1b" role="answer"
def local_row(loc, dcp_size):
    ### BEGIN SOLUTION
    whole, rest = divmod(loc, dcp_size)
    return whole
    ### END SOLUTION

# %% part="1b" role="check"
lab.check("1b")

# %% [markdown]
# The end.
'''

PARTS = """
from dcplab.course.model import Case, Part

LAB = dict(id="01", name="01_tiny", title="A tiny lab", minutes=10)
PARTS = [
    Part(
        id=part, entry=entry, title=entry, points=points, minutes=5, question="Who owns it?", timeout_s=10,
        hints=("one", "two", "three"),
        cases=lambda draw: [  # no owner is 0, or an answer that says 0 would pass on some seeds
            Case(args=(4 * draw.int(3, 24) + draw.int(1, 3), 4), size=1),
            Case(args=(6 * (2**38 + draw.int(1, 9)) + draw.int(1, 5), 6), size=2),
        ],
    )
    for part, entry, points in (("1a", "owner_rank", 60), ("1b", "local_row", 40))
]
"""

WRONG = """# %% preamble
import math

# %% 1a row
# says: That is the row, not the owner.
# asks: Which of the two is below dcp_size?
def owner_rank(loc, dcp_size):
    return loc // dcp_size
"""

RIGHT = """# %% preamble
import math

# %% 1a divmod
def owner_rank(loc, dcp_size):
    return divmod(loc, dcp_size)[1]
"""


def write_course(root: Path) -> Path:
    """Writes the tiny course and returns its root."""
    home = root / "solutions" / "01_tiny"
    home.mkdir(parents=True)
    (root / "labs").mkdir()
    for name, text in (("01_tiny.py", SOURCE), ("parts.py", PARTS), ("wrong.py", WRONG), ("right.py", RIGHT)):
        (home / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """The tiny course in a folder of its own; labs, solutions and state are there."""
    monkeypatch.setenv("DCPLAB_ROOT", str(tmp_path / "course"))
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return write_course(tmp_path / "course")
