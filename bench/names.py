"""How many wrong answers of a file are told which mistake they are, and by whom: people, the machine, or a fact.

The file holds answers as a bank does: ``# %% 1c a few words``, then the code. What a call needs of another part (5b of 5a, 2d
of 2a) is the course's. Every answer is printed with what it is told: whether that is true, only a reader can say. One that
passes is right, or a gap in the cases.
"""

import argparse
import collections
from pathlib import Path

from dcplab import checking
from dcplab.course import catalog
from dcplab.notebook.extract import extract

NEEDS = {"2d": "2a", "5b": "5a"}
RULES = ("is not what the run shows.",)  # how a rule begins that knows no reason


def answers(text: str) -> list[tuple[str, str, str]]:
    """Return part, words and source of each answer of a file."""
    pieces = ("\n" + text).split("\n# %% ")[1:]
    heads = [piece.partition("\n") for piece in pieces]
    return [(*head.partition(" ")[::2], source) for head, _, source in heads]


def by_whom(found, part) -> str:
    """Return who named a mistake: people, machine, two, fact, rule; exception or nothing where nobody did."""
    name = found.diagnosis
    if name is None:
        first = found.message.partition("\n\n")[0].replace("\n", " ")
        rule = part.by_case and not any(says in first for says in RULES)
        return "rule" if rule else "exception" if found.outcome == "crashed" else "nothing"
    if name == f"{part.id}-edit":
        return "machine"
    known = {wrong.id for wrong, _ in catalog.of_part(part.id).key(part.id).wrong}
    return "people" if name in known else "two" if "+" in name else "fact"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=4711)
    args = parser.parse_args()
    count: collections.Counter[str] = collections.Counter()
    for identity, words, source in answers(args.file.read_text(encoding="utf-8")):
        lab = catalog.of_part(identity)
        key = lab.key(identity)
        cells = [*lab.setup(), *([lab.solution(NEEDS[identity]).source] if identity in NEEDS else []), source]
        found = checking.check(key, extract(cells, key.part.names), seed=args.seed)
        who = "passed" if found.outcome == "passed" else by_whom(found, key.part)
        count[who] += 1
        print(f"{identity} {words}: {found.outcome}, {who}: {found.message.partition(chr(10) * 2)[0]}", flush=True)
    wrong = sum(count.values()) - count["passed"]
    named = wrong - count["nothing"] - count["exception"]
    print(f"\n{named} of {wrong} wrong answers named ({named / max(wrong, 1):.0%}):", dict(count))


if __name__ == "__main__":
    main()
