"""Lab 01, part by part: points, cases, predictions, hints.

The cases are drawn so that every misconception in ``wrong.py`` gives a result of its own on every seed: small readable locs
first, then 0 and -1, a dcp_size that is no power of two, values past 2^24, 2^31 and 2^53 (where float32, int32 and float64 give
up), int32, strided, zero-dimensional and empty tensors.
"""

LAB = dict(id="01", name="01_index_spaces", title="One number, five meanings", minutes=95)
