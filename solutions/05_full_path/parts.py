"""Lab 05, part by part: points, cases, predictions, hints.

The wirings of 5a and 5b are run in a small server and held against one rank, token for token. Prompts end in words that stood
in them before, so that each answer needs keys of the whole prompt, and of every rank in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.check.draw import Draw
from dcplab.check.model import Case, Part, Prediction, Table

LAB = dict(id="05", name="05_full_path", title="The whole fixed path", minutes=75)

WORDS = range(1, 4000)  # token ids; 0 is <bos>


# ---- 5a and 5b: servers and prompts --------------------------------------------------------------------------------------


def _prompt(draw: Draw, words: int, cycle: int) -> list[int]:
    """Different words, and at the end the first two of the last ``cycle`` again, so that the answer goes round in them: at first
    it is read out of the prompt, then out of what was generated."""
    told = draw.sample(WORDS, words)
    return [0, *told, *told[-cycle:][:2]]


def _served(label: str, size: int, role: str, rounds: list, new: int, dcp_size: int, call: str = "", **options) -> Case:
    return Case((role, rounds, new, dcp_size, {"look": size == 0, **options}), label=label, size=size, call=call)


def _decode_cases(draw: Draw) -> list[Case]:
    def served(label, size, rounds, new, dcp_size, **options):
        return _served(label, size, "decode", rounds, new, dcp_size, **options)

    first = [_prompt(draw, 13, 5), _prompt(draw, 22, 7), _prompt(draw, 31, 4)]
    again = [[*first[2][:27], *_prompt(draw, 9, 3)[1:]], _prompt(draw, 8, 4)]
    short = [[0, *draw.sample(WORDS, 2)], _prompt(draw, 14, 3)]
    long = [_prompt(draw, 81, 40), _prompt(draw, 10, 3)]
    return [
        served("one request of 12 tokens, two ranks", 0, [[_prompt(draw, 9, 3)]], 6, 2),
        served("two requests, two ranks, most locs beyond one rank's rows", 1, [first[:2]], 7, 2, high=True),
        served("three requests, then two, one with cached pages; three ranks", 2, [first, again], 7, 3),
        served("more ranks than the first request has tokens", 3, [short], 6, 5),
        served("a longer one, four ranks, pages of 6, high locs", 4, [long, again], 9, 4, high=True, page_size=6),
        served("one rank", 5, [first[:1]], 7, 1),
    ]


def _extend_cases(draw: Draw) -> list[Case]:
    def served(role, label, size, rounds, new, dcp_size, **options):
        call = {"verify": "verify_path", "draft": "draft_path"}.get(role, "")
        return _served(label, size, role, rounds, new, dcp_size, call=call, **options)

    three = [_prompt(draw, 13, 5), _prompt(draw, 24, 15), _prompt(draw, 34, 30)]
    again = [[*three[2][:30], *_prompt(draw, 11, 4)[1:]], _prompt(draw, 9, 4), [*three[1][:20], *three[1][5:7]]]
    two = [_prompt(draw, 12, 9), _prompt(draw, 17, 12)]
    return [
        served("extend", "one request in chunks of 9, two ranks", 0, [[_prompt(draw, 16, 14)]], 3, 2, chunk=9),
        served("extend", "two requests in one batch", 1, [two], 3, 2),
        served("extend", "three in chunks, then with cached pages and without", 2, [three, again], 3, 3, chunk=17, high=True),
        served("extend", "mixed: some decode while others extend", 3, [[*two, three[1]]], 9, 3, chunk=9, mixed=True),
        served("verify", "target verify, two ranks", 4, [[_prompt(draw, 10, 3)]], 8, 2, draft=2),
        served("verify", "target verify, high locs", 5, [two], 8, 3, draft=3, high=True),
        served("draft", "the draft, two ranks", 6, [[_prompt(draw, 10, 4)]], 8, 2, draft=2),
        served("draft", "the draft, high locs", 7, [two], 8, 3, draft=3, high=True),
        served("all", "all three at once, four ranks", 8, [three, again], 8, 4, chunk=19, draft=3, high=True),
    ]


def serve_with(entry, role, rounds, new, dcp_size, options):
    """A server with the answer's wiring in the place that ``role`` names: what it said, and how many guesses were kept."""
    import sys

    from dcplab.engine import own

    answer = sys.modules["__main__"]
    roles = {"extend": "extend_path", "verify": "verify_path", "draft": "draft_path"}
    paths = {r: getattr(answer, name) for r, name in roles.items()} if role == "all" else {role: entry}
    return own.answer(paths, rounds=rounds, new=new, dcp_size=dcp_size, **options)


def _one_rank(role, rounds, new, dcp_size, options):
    """What the same server says with one rank, where there is nothing to wire wrongly."""
    from dcplab.demos.server import one_thread
    from dcplab.engine import served

    with one_thread():
        return served.serve(rounds, new, 1, **{k: v for k, v in options.items() if k not in ("look", "high")})


_LOST = {"ckv": "the c-KV rows", "index_k": "the index keys"}


def _said_otherwise(case: Case, got: dict, expected: dict) -> str | None:
    if got["died"]:
        return f"The server died: {got['died']}"
    asked = [prompt for prompts in case.args[1] for prompt in prompts]
    for i, (mine, right) in enumerate(zip(got["tokens"], expected["tokens"], strict=True)):
        if mine != right:
            at = next((k for k, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b), min(len(mine), len(right)))
            which = f"Request {i + 1} of {len(asked)}" if len(asked) > 1 else "The request"
            return f"{which} gets other words than from one rank, from new word {at + 1} on."
    if got["apart"]:
        return f"Rank 0 says what one rank says, but on {got['apart']} words the ranks disagree: each must have the output."
    read, selected = got["keys"]
    if read != selected:
        return f"Every word is right, but {read} keys were read for {selected} selected: each lies on one rank."
    if got["lost"] != expected["lost"]:
        many = " and ".join(f"{n} of {_LOST[kind]}" for kind, n in got["lost"].items() if n)
        return f"Every word is right, but not everything is where it belongs: {many} cannot be found there."
    if got["early"]:
        return f"Every word is right, but {got['early']} times a rank read before it had stored the tokens of the step."
    if got["kept"] != expected["kept"]:
        mine, right = (f"{kept} of {proposed}" for kept, proposed in (got["kept"], expected["kept"]))
        return f"All words are right, but {mine} of the draft's guesses are kept; with one rank it is {right}."
    return None


def _served_rows(case: Case, got: Any, expected: Any) -> Table:
    role, rounds, new, dcp_size, options = case.args
    asked = [prompt for prompts in rounds for prompt in prompts]
    rows = []
    for i, (prompt, right) in enumerate(zip(asked, expected["tokens"], strict=True)):
        mine = got["tokens"][i] if isinstance(got, dict) and i < len(got["tokens"]) else []
        mark = "" if mine == right else "differs"
        rows.append((str(i + 1), str(len(prompt)), _ids(prompt[-2:]), _ids(mine) or "nothing", _ids(right), mark))
    if expected["kept"][1] and isinstance(got, dict):
        kept = [f"{a} of {b}" for a, b in (got["kept"], expected["kept"])]
        rows.append(("", "", "guesses kept", *kept, "" if kept[0] == kept[1] else "differs"))
    if isinstance(got, dict) and got["apart"]:
        rows.append(("", "", "words on which ranks disagree", str(got["apart"]), "0", "differs"))
    if isinstance(got, dict) and got["keys"][0] != got["keys"][1]:
        rows.append(("", "", "keys read, keys selected", *map(str, got["keys"]), "differs"))
    if isinstance(got, dict):
        rows += [("", "", f"{_LOST[kind]} not found", str(n), "0", "differs") for kind, n in got["lost"].items() if n]
    if isinstance(got, dict) and got["early"]:
        rows.append(("", "", "reads before the write", str(got["early"]), "0", "differs"))
    locs = "high" if options.get("high") else "low"
    more = "".join(f", {k} {options[k]}" for k in ("chunk", "draft") if options.get(k)) + (
        ", mixed" if "mixed" in options else ""
    )
    header = ("request", "tokens", "its last words", "with your wiring", "with one rank", "")
    caption = f"D {dcp_size}, P {options.get('page_size', 4)}, {locs} locs{more}; words are token ids."
    return Table(header, tuple(rows), caption)


def _ids(tokens: Sequence[int]) -> str:
    return " ".join(map(str, tokens[:8])) + (" ..." if len(tokens) > 8 else "")


# ---- the parts ----------------------------------------------------------------------------------------------------------

TOOLS = ("1c", "2h", "3a", "3d", "3e", "4b", "4c", "4d")  # parts of earlier labs that a path can run on

PARTS = [
    Part(
        id="5a",
        entry="decode_path",
        title="Wire the decode",
        points=25,
        minutes=15,
        cases=_decode_cases,
        drive=serve_with,
        oracle=_one_rank,
        compare=_said_otherwise,
        rows=_served_rows,
        timeout_s=60.0,
        question="In which space is the index that each operation is given, and in which does it expect one?",
        hints=(
            "Go through the table of operations and write down, for each, which space it takes and which it gives. The order "
            "follows from that.",
            "Both writers take locs, on every rank: the c-KV writer keeps and divides by itself, index-K keeps all. Top-k gives "
            "positions; one step makes them locs, the next makes rows of them.",
            "For each rank: write_ckv, write_index_k, select_paged, to_locs, localize, attend. Keep what attend gives for every "
            "rank in a list, and return step.merge of it.",
        ),
        prediction=Prediction(
            question=(
                "Four ranks. A query's top-k picks 64 tokens of a long context. How many keys does one rank read, once the "
                "path is right?"
            ),
            answer="about 16",
            because=(
                "Each key lies on one rank, so the four counts add up to 64. With the raw wiring each rank read all 64, and the "
                "answers were right all the same."
            ),
            choices=("16 exactly", "about 16", "64", "256"),
        ),
    ),
    Part(
        id="5b",
        entry="extend_path",
        also=("verify_path", "draft_path"),
        title="Wire extend, verify and draft",
        points=25,
        minutes=15,
        cases=_extend_cases,
        drive=serve_with,
        oracle=_one_rank,
        compare=_said_otherwise,
        rows=_served_rows,
        timeout_s=90.0,
        question="Which buffer does attention read in this batch, and what must its indices count?",
        hints=(
            "Three batches, three buffers: extend reads a workspace that you fill, verify reads this rank's pool, the draft's pool "
            "is whole on every rank.",
            "Extend: after the writes, every rank reads its share of the prefixes and step.all_gather gives all shares; "
            "interleave puts them in position order, join sets each request's new tokens behind its prefix. Top-k then has to "
            "become ragged indices. Nothing is merged.",
            "extend: rank.fill(step.join(prefix, rank.latent)), then attend_ragged(to_ragged(select_ragged())). verify: the wiring "
            "of decode. draft: rank.as_rows(...) where decode has rank.localize(...), and each rank's own out, no merge.",
        ),
        prediction=Prediction(
            question="Somebody localizes in the draft's path too. The draft's pool is whole on every rank. What do users see?",
            answer="right words, more slowly",
            because=(
                "The target verifies every guess, so no wrong word gets out. The guesses are bad, few are kept, and each step "
                "brings fewer words. No test of answers finds it; the acceptance rate does."
            ),
            choices=("wrong words", "right words, more slowly", "a crash", "nothing at all"),
        ),
    ),
]
