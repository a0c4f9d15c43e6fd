"""The files of a course of one tiny lab: no tensors, two parts."""

from pathlib import Path

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
from dcplab.check.model import Case, Part

LAB = dict(id="01", name="01_tiny", title="A tiny lab", minutes=10)
PARTS = [
    Part(
        id=part, entry=entry, title=entry, points=points, minutes=5, question="Who owns it?", hints=("one", "two", "three"),
        cases=lambda draw: [Case(args=(draw.int(10, 99), 4), size=1), Case(args=(2**40 + draw.int(1, 9), 6), size=2)],
    )
    for part, entry, points in (("1a", "owner_rank", 60), ("1b", "local_row", 40))
]
"""

WRONG = """
from dcplab.check.model import Wrong

WRONG = [
    Wrong(id="1a-row", part="1a", says="That is the row, not the owner.", asks="Which of the two is below dcp_size?",
          source="def owner_rank(loc, dcp_size):\\n    return loc // dcp_size\\n"),
]
"""

RIGHT = """
from dcplab.check.model import Right

RIGHT = [Right(id="1a-divmod", part="1a", source="def owner_rank(loc, dcp_size):\\n    return divmod(loc, dcp_size)[1]\\n")]
"""


def write_course(root: Path) -> Path:
    """Writes the tiny course and returns its root."""
    home = root / "solutions" / "01_tiny"
    home.mkdir(parents=True)
    (root / "labs").mkdir()
    for name, text in (("01_tiny.py", SOURCE), ("parts.py", PARTS), ("wrong.py", WRONG), ("right.py", RIGHT)):
        (home / name).write_text(text, encoding="utf-8")
    return root
