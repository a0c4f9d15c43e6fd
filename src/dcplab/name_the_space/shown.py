"""Shows the snippets of a seed: text in a terminal, numbered lines in a notebook."""

from __future__ import annotations

from dcplab.name_the_space import drawing
from dcplab.present import page
from dcplab.present.display import Shown


def snippets(part: str, seed: int) -> Shown:
    """Return the eight snippets of a part for a seed, to display."""
    drawn = drawing.draw(part, seed)
    return Shown(_text(seed, drawn), page.fill("snippets.html", seed=seed, snippets=drawn))


def _text(seed: int, drawn: tuple[drawing.Snippet, ...]) -> str:
    blocks = [f"Seed {seed}. W = P * D."]
    for n, s in enumerate(drawn, 1):
        given = "; ".join(f"{code}: {words}" for code, words in s.given)
        lines = [f"    {i}  {line}" for i, line in enumerate(s.lines, 1)]
        asked = f"In which space is {s.asked} in line {s.at}? Which line mixes two spaces?"
        blocks.append("\n".join([f"{n} · {s.house}. {given}", *lines, asked]))
    return "\n\n".join(blocks)
