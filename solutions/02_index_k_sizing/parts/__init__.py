"""Lab 02, part by part: points, cases, predictions, hints.

Sizes are drawn so that every misconception in ``wrong.py`` gives a result of its own on every seed: a small pool first, then
sizes that are no whole pages (where ``size + page_size`` and whole pages part), page sizes and dcp_sizes that are no powers of
two, one rank, the real server, and a size past 2^53.
"""

LAB = dict(id="02", name="02_index_k_sizing", title="A legal loc, a buffer too small", minutes=89)
