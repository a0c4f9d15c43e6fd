"""Draws the eight snippets of a part *Name the space*, shows them, and words what is wrong with an answer.

`typing` follows the space of every index through a snippet, `templates` holds what the snippets are made of, `drawing` makes
eight of them from a seed, `wording` reads and judges an answer.
"""
