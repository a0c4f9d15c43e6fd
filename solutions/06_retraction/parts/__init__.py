"""Lab 06, part by part: points, cases, predictions, hints.

A request's locs come as an allocator gives them: whole widened pages, never adjacent, not ascending. Each row of a pool says
whose it is, so that a failure can be read as words. What must come to light: a run that begins at another owner's turn, a count
that is right by luck, one saved row that torch spreads over many, two nodes whose sizes share no divisor, padding on the last
rank, ids past 2^31 and 2^53, strided views, and nothing at all.
"""

LAB = dict(id="06", name="06_retraction", title="The ids changed while you slept", minutes=90)
