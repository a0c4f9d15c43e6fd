"""Lab 03, part by part: points, cases, predictions, hints.

Pools and batches hold distinct values, so that a table can say whose value lies in a row. What must come to light: padding on
the last rank and on the only one, row 0, gaps between rows, a dcp_size that is no power of two or far past 2^31, an address
past 2^31 elements, empty ranks whose output is NaN, LSEs whose powers overflow.
"""

LAB = dict(id="03", name="03_norope_write", title="Right until then", minutes=97)
