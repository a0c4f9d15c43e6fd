"""A tiny lab that has one part of each kind that a check knows; the checker's own tests run on it."""

LAB = dict(id="91", name="91_small", title="A small lab", minutes=6)
HINTS = (
    "Look at the smallest loc.",
    "Two questions: whose, and where.",
    "Use the remainder for one and the quotient for the other.",
)
