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

LAB = """
LAB = dict(id="01", name="01_tiny", title="A tiny lab", minutes=10)
"""

PART = """
from dcplab.course.model import Case, Part

PART = Part(
    id={id!r}, entry={entry!r}, title={entry!r}, points={points}, minutes=5, question="Who owns it?", timeout_s=3,
    hints=("one", "two", "three"),
    cases=lambda draw: [  # no owner is 0, or an answer that says 0 would pass on some seeds
        Case(args=(4 * draw.int(3, 24) + draw.int(1, 3), 4), size=1),
        Case(args=(6 * (2**38 + draw.int(1, 9)) + draw.int(1, 5), 6), size=2),
    ],
)
"""

BANK = """# %% 1a row
# says: That is the row, not the owner.
# asks: Which of the two is below dcp_size?
def owner_rank(loc, dcp_size):
    return loc // dcp_size

# %% 1a divmod
# outcome: passed
def owner_rank(loc, dcp_size):
    return divmod(loc, dcp_size)[1]
"""


def write_course(root: Path) -> Path:
    """Writes the tiny course and returns its root."""
    home = root / "solutions" / "01_tiny"
    (root / "labs").mkdir(parents=True)
    parts = [("1a", "owner_rank", 60), ("1b", "local_row", 40)]
    files = {"01_tiny.py": SOURCE, "parts/__init__.py": LAB, "bank/preamble.py": "import math\n", "bank/1a.py": BANK}
    files |= {f"parts/{id}.py": PART.format(id=id, entry=entry, points=points) for id, entry, points in parts}
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """The tiny course in a folder of its own; labs, solutions and state are there."""
    monkeypatch.setenv("DCPLAB_ROOT", str(tmp_path / "course"))
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return write_course(tmp_path / "course")
