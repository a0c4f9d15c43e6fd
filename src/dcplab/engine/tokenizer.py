"""Words in, words out, and the three questions whose answers everybody can judge."""

from __future__ import annotations

import random
from dataclasses import dataclass

from dcplab.errors import CourseError

BOS_WORD = "<bos>"


class Tokenizer:
    """A token is a word. Words get ids as they are first seen, up to ``words`` of them; id 0 is ``<bos>``."""

    def __init__(self, words: int = 4096):
        self.words = words
        self._ids = {BOS_WORD: 0}
        self._words = [BOS_WORD]

    def encode(self, text: str) -> list[int]:
        """Map words to ids, ``<bos>`` first. CourseError where the vocabulary is full."""
        return [0, *(self._id(word) for word in text.split())]

    def decode(self, ids: list[int]) -> str:
        """Map ids to words; an id that no word has been given yet is shown as ``<id>``."""
        return " ".join(self._words[i] if 0 <= i < len(self._words) else f"<{i}>" for i in ids)

    def _id(self, word: str) -> int:
        if word not in self._ids:
            if len(self._words) == self.words:
                raise CourseError(
                    f"The vocabulary is full: {self.words} different words have been seen, and {word!r} is one more."
                )
            self._ids[word] = len(self._words)
            self._words.append(word)
        return self._ids[word]


@dataclass(frozen=True)
class Question:
    """``prompt`` is sent, ``answer`` is right: the words that follow in the prompt itself."""

    name: str
    prompt: str
    answer: str

    @property
    def words(self) -> int:
        return len(self.answer.split())


PASSAGE = (
    "before sunrise one small ferry leaves our harbour carrying letters bread and two sleepy musicians across cold water "
    "toward islands"
)
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"


def filler(count: int, seed: int, names: int = 400) -> str:
    """Draw ``count`` words that answer nothing from ``names`` made-up ones. Deterministic."""
    draw = random.Random(seed)
    return " ".join(f"w{draw.randrange(names)}" for _ in range(count))


def _hidden(fact: str, ask: str, length: int, seeds: tuple[int, int], before: int, least: int) -> str:
    """Write a prompt of ``length`` words, more where the rest needs it: a decoy, filler, ``fact``, filler, ``ask``.

    The decoy stands at the beginning: the last word of ``ask``, which the fact answers, and other words after it. Who does not
    find the fact finds the decoy. The fact begins behind ``before`` words, and ``least`` words of filler follow it. Where
    ``before`` is 0 the fact is the beginning.
    """
    decoy = f"{ask.split()[-1]} nothing here .".split() if before else []
    early = filler(max(before - len(decoy), 1), seeds[0]).split() if before else []
    used = len([*decoy, *early, *fact.split(), *ask.split()])
    return " ".join([*decoy, *early, fact, filler(max(length - used, least), seeds[1]), ask])


def questions(length: int = 0, salt: int = 0, topk: int = 0) -> list[Question]:
    """Write three prompts, padded with filler to about ``length`` words: a passage to recite, a needle to find, a list to
    continue. What is asked for stands behind the first ``topk`` positions; at the beginning where ``topk`` is 0. Another
    ``salt`` gives other words of the same kinds."""
    draw = random.Random(salt)
    passage, vault, start = PASSAGE.split(), 17, 0
    if salt:
        draw.shuffle(passage)
        vault, start = draw.randrange(20, 1000), draw.randrange(5)
    numbers = NUMBERS.split()[start:]
    thing = "copper violin" if not salt else " ".join(draw.sample(passage[15:], 2))

    def prompt(fact: str, ask: str, seed: int) -> str:
        return _hidden(fact, ask, length, (seed + 5 + 10 * salt, seed + 10 * salt), topk, 2 if topk else 8)

    recite = prompt(" ".join(passage), " ".join(["recite", *passage[:3]]), 1)
    needle = prompt(f"note: vault {vault} opens for {thing} under green moss .", f"question: which vault {vault} opens for", 2)
    count = prompt(" ".join(numbers), f"go on: {' '.join(numbers[4:7])}", 3)
    return [
        Question("recite a passage", recite, " ".join(passage[3:15])),
        Question("find a needle", needle, f"{thing} under green moss ."),
        Question("continue a list", count, " ".join(numbers[7 : min(15, len(numbers))])),
    ]


def document(count: int, seed: int, salt: int = 0) -> Question:
    """Write a long request: ``count`` words of filler with one fact in its middle, and the question for it at its end.
    CourseError for a count that has no room for that."""
    fact = f"fact{seed}: gate{seed} hides silver{seed} harp{seed} beneath{seed} snow{seed}"
    ask = f"ask: gate{seed} hides"
    text = _hidden(fact, ask, count, (100 + seed + 10 * salt, 200 + seed + 10 * salt), count // 2, 1)
    if (lack := len(text.split()) - count) > 0:
        raise CourseError(f"A document of {count} words is too short to hide a fact in; it needs {count + lack}.")
    return Question(f"document {seed}", text, f"silver{seed} harp{seed} beneath{seed} snow{seed}")


def follow_up(asked: Question) -> Question:
    """Write the next turn of a document's conversation: what was asked, what was answered, and the same question once more."""
    ask = " ".join(asked.prompt.split()[-2:])
    return Question(f"{asked.name}, again", f"{asked.prompt} {asked.answer} more: {ask}", asked.answer)
