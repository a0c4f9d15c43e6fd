"""Lab 05, part by part: points, cases, predictions, hints.

The wirings of 5a and 5b are run in a small server and held against one rank, token for token. Prompts end in words that stood
in them before, so that each answer needs keys of the whole prompt, and of every rank in turn.
"""

LAB = dict(id="05", name="05_full_path", title="The whole fixed path", minutes=85)
