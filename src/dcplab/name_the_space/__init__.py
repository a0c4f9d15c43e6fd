"""Draws the eight snippets of a part *Name the space*, shows them, and words what is wrong with an answer.

`typing` follows the space of every index through a snippet. `words` has what snippets may be given and how three houses call
it; a module for each lab holds its templates, and `matters` says which part they are for. `drawing` makes eight snippets from a
seed, `wording` reads and judges an answer, `part` makes the part.
"""
