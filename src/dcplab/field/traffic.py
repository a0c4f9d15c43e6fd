"""Requests for a server, drawn from a seed: data that crosses to a child.

A fault names a *shape*: the server's configuration and what its requests are like. The seed decides the words.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

# What a shape may say, and what holds where it says nothing. Pairs are the least and the most.
DEFAULTS: Mapping[str, Any] = {
    "rounds": 2,  # each begins when the one before is done
    "requests": [3, 4],  # a round
    "shared": [0, 40],  # words of a story that a prompt begins with
    "own": [8, 40],  # words of its own after these
    "answers": [4, 14],  # tokens to generate
    "apart": 0,  # steps between two requests of a round, at most
    "words": 200,  # in use; id 0 begins every prompt
    "follow": 0,  # requests of the first round whose conversation goes on in each later one
    "repeats": 1,  # requests of an earlier round that come again in each later one
}


def traffic(seed: int, shape: Mapping[str, Any]) -> dict[str, Any]:
    """Draw traffic of this shape: ``config`` of the server, and ``requests``, each with ``round``, ``after`` (steps of the
    round), ``tokens`` and ``max_tokens``. Every prompt ends with two words that stood in it before: the answer is known."""
    say = {**DEFAULTS, **{key: value for key, value in shape.items() if key != "config"}}
    if unknown := set(say) - set(DEFAULTS):
        raise KeyError(f"a shape does not say {', '.join(sorted(unknown))}")
    draw = random.Random(seed)
    story = [draw.randrange(1, say["words"]) for _ in range(say["shared"][1])]
    rounds: list[list[dict[str, Any]]] = []
    for number in range(say["rounds"]):
        made = [_request(draw, story, say) for _ in range(draw.randint(*say["requests"]))]
        if number:
            made += [dict(one) for one in draw.sample(rounds[0], min(say["repeats"], len(rounds[0])))]
            made += [_follow_up(draw, one, say) for one in rounds[0][: say["follow"]]]
        rounds.append([one | {"round": number, "after": i * draw.randint(0, say["apart"])} for i, one in enumerate(made)])
    return {"config": dict(shape["config"]), "requests": [one for made in rounds for one in made]}


def _request(draw: random.Random, story: list[int], say: Mapping[str, Any]) -> dict[str, Any]:
    shared, own = draw.randint(*say["shared"]), draw.randint(*say["own"])
    prompt = [0, *story[:shared], *(draw.randrange(1, say["words"]) for _ in range(own))]
    at = draw.randrange(1, len(prompt) - 3)
    return {"tokens": prompt + prompt[at : at + 2], "max_tokens": draw.randint(*say["answers"])}


def _follow_up(draw: random.Random, asked: Mapping[str, Any], say: Mapping[str, Any]) -> dict[str, Any]:
    """Go on with a conversation: what was asked, what is answered, and two words of it again."""
    tokens = list(asked["tokens"])
    for _ in range(asked["max_tokens"]):
        before = [i for i, token in enumerate(tokens[:-1]) if token == tokens[-1]]
        tokens.append(tokens[before[-1] + 1] if before else 0)
    at = draw.randrange(1, len(tokens) - 3)
    return {"tokens": tokens + tokens[at : at + 2], "max_tokens": draw.randint(*say["answers"])}
