"""Lab 07, part by part: points, cases, predictions, hints.

A layout is a pair (D, I): I neighbouring locs go to one rank, then the next has its turn. What must come to light: a rule of
I = 1 where I is larger, an edge of a rank's run, a round that is not complete, a size that is no power of two, I larger than
every loc, ids past 2^31 and 2^53, strided views, and nothing at all.
"""

LAB = dict(id="07", name="07_layouts", title="Other layouts, same questions", minutes=90)
