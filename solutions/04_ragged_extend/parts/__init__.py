"""Lab 04, part by part: points, cases, predictions, hints.

Every token says who it is: its first two numbers are its request and its position, so that a failure can be read as words
("request 1, position 3"). The third is noise. Rows that hold no token are garbage that no token looks like. Cases go from one
request to ragged batches: lengths and starts that are no multiples of D, requests without a prefix or without new tokens,
one rank, locs and positions past 2^31 and 2^53, strided views, int32, and nothing at all.
"""

LAB = dict(id="04", name="04_ragged_extend", title="Which buffer does this index point into?", minutes=103)
