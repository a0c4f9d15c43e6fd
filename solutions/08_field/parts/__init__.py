"""Lab 08: a case that the notebook solves with the learner, and the parts that the examination marks (`dcplab.exam`).

No part here has cases, an oracle or a bank: what is handed in lies in a folder, may be handed in three times, and is marked
with a key. Its points are those of `dcplab.exam.marking.POINTS`. The predictions are about the case that the notebook solves.
"""

from dcplab.course.model import ExaminedPart, Prediction

LAB = dict(id="08", name="08_field", title="Somebody else's server", minutes=135)

_SWITCHES = Prediction(
    "The report's traffic again, once with `cp_size=1` and once with `cp_interleave=1`. Where are the answers right?",
    "with either",
    "One rank owns everything, whatever the turn; turns of one make all rules for owner and row agree. So it is wrong only "
    "where ranks and turns meet, and the server has few lines that speak of both.",
    ("with either", "only with cp_size=1", "only with cp_interleave=1", "with neither"),
)
_PATCH = Prediction(
    "The owner is dealt by positions, the local index by turns. Somebody changes the other line: a local index of "
    "`positions // cp_size`. Is the server mended?",
    "no, two more functions count in turns",
    "Owner and local index agree then, as for turns of one. But `global_position` and `local_seq_lens` still count in turns, "
    "and the indexer finds its keys by them.",
    ("yes", "yes, but with turns of one", "no, two more functions count in turns", "no, the owner is out of range"),
)
_TEST = Prediction(
    "Which of these tests fails on this fault and on others of its kind, in whatever function they lie?",
    "the same words with ranks and turns as with one rank",
    "The words pass through every function of the layout. A test of `owner_of` alone sees no wrong local index.",
    (
        "owner_of on four positions",
        "the same words with ranks and turns as with one rank",
        "the same words twice on two ranks",
        "no slot of a step is negative",
    ),
)

EXAMINED = (
    ExaminedPart("8a", "The first wrong operation, case 1", 20, 20, _SWITCHES),
    ExaminedPart("8b", "The patch, case 1", 18, 10, _PATCH),
    ExaminedPart("8c", "The regression test, case 1", 12, 15, _TEST),
    ExaminedPart("8d", "The first wrong operation, case 2", 20, 20),
    ExaminedPart("8e", "The patch, case 2", 18, 10),
    ExaminedPart("8f", "The regression test, case 2", 12, 15),
)
