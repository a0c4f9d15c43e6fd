"""Lab 05, part by part: points, cases, predictions, hints.

The wirings of 5a and 5b are run in a small server and held against one rank, token for token. Prompts end in words that stood
in them before, so that each answer needs keys of the whole prompt, and of every rank in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course.model import Case, Part, Prediction, Table
from dcplab.course.seeded import Draw

LAB = dict(id="05", name="05_full_path", title="The whole fixed path", minutes=75)

WORDS = range(1, 500)  # token ids; 0 is <bos>


# ---- 5a and 5b: servers and prompts --------------------------------------------------------------------------------------


def _prompt(draw: Draw, words: int, cycle: int) -> list[int]:
    """Different words, and at the end the first two of the last ``cycle`` again: the answer goes round in these, and reads them
    first out of the prompt, then out of what was generated."""
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

    from dcplab.engine import learner_ops

    answer = sys.modules["__main__"]
    names = {"all": ("extend", "verify", "draft"), "whole": ("decode", "extend", "verify", "draft")}.get(role)
    paths = {name: getattr(answer, f"{name}_path") for name in names} if names else {role: entry}
    return learner_ops.answer(paths, rounds=rounds, new=new, dcp_size=dcp_size, **options)


def _one_rank(role, rounds, new, dcp_size, options):
    """What the same server says with one rank, where there is nothing to wire wrongly."""
    from dcplab.demos.server import one_thread
    from dcplab.engine import harness

    with one_thread():
        return harness.serve(rounds, new, 1, **{k: v for k, v in options.items() if k not in ("look", "high")})


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
        return f"Every word is right, but not everything is stored where it belongs: {many} are not."
    if got["large"]:
        return "Every word is right, but outputs are larger than any stored row: attention is a mean of rows."
    if got["early"]:
        return f"Every word is right, but {got['early']} times a rank read before it had stored the tokens of the step."
    if got["kept"] != expected["kept"]:
        mine, right = (f"{kept} of {proposed}" for kept, proposed in (got["kept"], expected["kept"]))
        return f"All words are right, but {mine} of the draft's guesses are kept; with one rank it is {right}."
    return None


def _served_rows(case: Case, got: Any, expected: Any) -> Table:
    _, rounds, _, dcp_size, options = case.args
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
    if isinstance(got, dict) and got["large"]:
        rows.append(("", "", "outputs larger than any row", str(got["large"]), "0", "differs"))
    if isinstance(got, dict) and got["early"]:
        rows.append(("", "", "reads before the write", str(got["early"]), "0", "differs"))
    locs = "high" if options.get("high") else "low"
    more = "".join(f", {k} {options[k]}" for k in ("chunk", "draft") if options.get(k)) + (
        ", mixed" if "mixed" in options else ""
    )
    header = ("request", "tokens", "its last words", "with your wiring", "with one rank", "")
    caption = f"D {dcp_size}, {locs} locs{more}; words are token ids."
    return Table(header, tuple(rows), caption)


def _ids(tokens: Sequence[int]) -> str:
    return " ".join(map(str, tokens[:8])) + (" ..." if len(tokens) > 8 else "")


# ---- 5c: the matrix -----------------------------------------------------------------------------------------------------

MATRIX = (
    *(f"{subset}, {level}" for subset in ("none", "size", "write", "extend", "write+read") for level in ("below", "above")),
    *(f"{subset}, {level}" for subset in ("all but size", "all but assert") for level in ("below", "above", "full")),
    "all, below",
    "all, above",
)


def _matrix_cases(draw: Draw) -> list[Case]:
    return [Case((row,), label=f"the row {row!r}", size=MATRIX.index(row)) for row in draw.shuffled(MATRIX)]


def look_up(entry, row=None):
    """The verdict that a table of predictions has for a row; the whole table for none."""
    table = entry()
    if not isinstance(table, dict):
        raise TypeError(f"isolation returns a dict of verdicts, not a {type(table).__name__}.")
    return table if row is None else table.get(row)


def _ran(row: str) -> str:
    from dcplab import investigate

    wanted = next(r for r in investigate.matrix_rows() if r.id == row)
    return investigate.run_matrix([wanted])[0].verdict


def _other_verdict(case: Case, got: Any, expected: str) -> str | None:
    if str(got).strip().lower() == expected:
        return None
    from dcplab.investigate.isolation import VERDICTS

    row = case.args[0]
    if got is None:
        return f"The row {row!r} has no verdict yet."
    if str(got).strip().lower() not in VERDICTS:
        return f"{got!r} is no verdict; there are {', '.join(VERDICTS)}."
    return f"The row {row!r} is not {str(got).strip().lower()}."


def _matrix_table(case: Case, got: Any, expected: str) -> Table:
    from dcplab import investigate

    result = investigate.run_matrix([r for r in investigate.matrix_rows() if r.id == case.args[0]])[0]
    header = ("row", "you said", "it is", "fresh", "long", "again")
    row = (case.args[0], "nothing" if got is None else str(got), expected, result.fresh, result.long, result.again)
    return Table(header, (row,), result.because)


# ---- 5d: three cases ----------------------------------------------------------------------------------------------------


def _hidden_cases(draw: Draw) -> list[Case]:
    return [Case((n,), label=f"case {n}", size=n) for n in draw.shuffled((1, 2, 3))]


def _seed_of(got: Any) -> Any:
    """The seed that an answer to 5d or 5e names."""
    return got["seed"] if isinstance(got, dict) else None


def named(entry, n):
    """The seed of an answer, and what it says of case ``n``."""
    seed, found = entry()
    return {"seed": seed, "found": found.get(n) if isinstance(found, dict) else None}


def _misnamed(case: Case, got: Any, expected: Any) -> str | None:
    from dcplab import investigate
    from dcplab.errors import CourseError
    from dcplab.investigate import diagnose_by_rule

    n, seed = case.args[0], got["seed"]
    if says := diagnose_by_rule.seed_sentence(seed):
        return says
    said = got["found"] if isinstance(got["found"], dict) else {}
    try:
        return diagnose_by_rule.name_of_the_mistake(n, said, diagnose_by_rule.truth(n, seed), investigate.case(n, seed).config)
    except CourseError as e:
        return str(e)


def _names_table(case: Case, got: Any, expected: Any) -> Table:
    from dcplab.investigate import diagnose_by_rule

    header = ("", "you said", "")
    if diagnose_by_rule.seed_sentence(got["seed"]):
        return Table(header, (("seed", str(got["seed"]), "no seed"),))
    said = got["found"] if isinstance(got["found"], dict) else {}
    marks = diagnose_by_rule.marks(said, diagnose_by_rule.truth(case.args[0], got["seed"]))
    rows = tuple((name, str(said.get(name)), "right" if ok else "not right") for name, ok in marks.items())
    return Table(header, rows, f"Case {case.args[0]} of seed {got['seed']}.")


# ---- 5e: the record -----------------------------------------------------------------------------------------------------


def _record_cases(draw: Draw) -> list[Case]:
    from dcplab.investigate.records import HEADINGS

    asked = draw.shuffled(HEADINGS)
    return [Case((heading,), label=f"under {heading!r}", size=HEADINGS.index(heading)) for heading in asked]


def written(entry, heading):
    """The seed and the text of a record. All of it travels, whichever heading is asked for."""
    seed, text = entry()
    return {"seed": seed, "text": text}


def _held(case: Case, got: Any):
    """What the checker finds under a case's heading, and the run's own figures."""
    from dcplab import investigate
    from dcplab.investigate import diagnose_by_rule, records

    run = investigate.incident(got["seed"])
    keys = diagnose_by_rule.figures_under(case.args[0])
    return [f for f in records.verify(got["text"], run) if f.key in keys], records.figures(run)


def _misrecorded(case: Case, got: Any, expected: Any) -> str | None:
    from dcplab.errors import CourseError
    from dcplab.investigate import diagnose_by_rule

    if says := diagnose_by_rule.seed_sentence(got["seed"]):
        return says
    if not isinstance(got["text"], str):
        return f"The record is a {type(got['text']).__name__}; it is a text, as the template is."
    try:
        return diagnose_by_rule.figure_of_the_mistake(*_held(case, got))
    except CourseError as e:
        return str(e)


def _record_table(case: Case, got: Any, expected: Any) -> Table:
    from dcplab.errors import CourseError
    from dcplab.investigate import diagnose_by_rule

    header = ("figure", "your record", "")
    if diagnose_by_rule.seed_sentence(got["seed"]) or not isinstance(got["text"], str):
        return Table(header, (("seed", str(got["seed"]), ""),))
    try:
        found, _ = _held(case, got)
    except CourseError as e:
        return Table(header, (), str(e))
    rows = tuple((f.key, f.said or "nothing", "right" if diagnose_by_rule.as_elsewhere(f) else f.outcome) for f in found)
    return Table(header, rows, f"The run of seed {got['seed']}.")


# ---- the parts ----------------------------------------------------------------------------------------------------------

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
        carries=True,
        timeout_s=90.0,
        question="In which space is the index that each operation is given, and in which does it expect one?",
        hints=(
            "Go through the table of operations and write down, for each, which space it takes and which it gives. The order "
            "follows from that.",
            "Both writers take locs, on every rank: the c-KV writer keeps and divides by itself, index-K keeps all. Top-k "
            "gives positions; one step makes them locs, the next makes rows of them.",
            "For each rank: write_ckv, write_index_k, select_paged, to_locs, localize, attend. Keep what attend gives for "
            "every rank in a list, and return step.merge of it.",
        ),
        prediction=Prediction(
            question=(
                "Four ranks. A query's top-k picks 64 tokens of a long context. How many keys does one rank read, once the "
                "path is right?"
            ),
            answer="about 16",
            because=(
                "Each key lies on one rank, so the four counts add up to 64. With the raw wiring each rank read all 64, "
                "and the answers were right all the same."
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
        carries=True,
        timeout_s=120.0,  # on a GPU, twice that: the first time TileLang compiles its kernels
        question="Which buffer does attention read in this batch, and what must its indices count?",
        hints=(
            "Three batches, three buffers: extend reads a workspace that you fill, verify reads this rank's pool, the "
            "draft's pool is whole on every rank.",
            "Extend: after the writes, every rank reads its share of the prefixes and step.all_gather gives all shares; "
            "interleave puts them in position order, join sets each request's new tokens behind its prefix. Top-k then has to "
            "become ragged indices. Nothing is merged.",
            "extend: rank.fill(step.join(prefix, rank.latent)), then attend_ragged(to_ragged(select_ragged())). verify: "
            "the wiring of decode. draft: rank.as_rows(...) where decode has rank.localize(...), and each rank's own out, "
            "no merge.",
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
    Part(
        id="5c",
        entry="isolation",
        title="Which patch fixes which symptom?",
        points=15,
        minutes=15,
        cases=_matrix_cases,
        drive=look_up,
        oracle=_ran,
        compare=_other_verdict,
        rows=_matrix_table,
        by_case=True,
        timeout_s=60.0,
        question="Do write, decode and extend keep to one rule on this server, and does every loc that is used fit?",
        hints=(
            "Ask two questions of each row. Do the three c-KV places keep to one rule, whichever? And does what is used "
            "fit into what there is?",
            "If the three places disagree, the answers are wrong below the line too. If they agree, the watermark decides. "
            "Below it nothing overflows, whatever the sizes are.",
            "alarm needs the old assert and an extend that gathers, above the line. crash needs a full pool: just above "
            "the line an overflow only hits a neighbour, so it is silent.",
        ),
        prediction=Prediction(
            question=(
                "Three patches concern c-KV: write, read, extend. Below the watermark, how many of their eight "
                "combinations give right answers?"
            ),
            answer="2",
            because=(
                "All three or none. Whoever applies one or two of them makes a server that is wrong from its first requests or "
                "the first cached prefix on, where the bug needed a watermark."
            ),
            choices=("1", "2", "4", "8"),
        ),
    ),
    Part(
        id="5d",
        entry="first_wrong",
        title="Three servers, three faults",
        points=20,
        minutes=15,
        cases=_hidden_cases,
        drive=named,
        oracle=lambda n: None,
        compare=_misnamed,
        rows=_names_table,
        seed_of=_seed_of,
        by_case=True,
        timeout_s=60.0,
        question="Which access in the trace is the first whose index is in another space than the buffer's, or beyond its end?",
        hints=(
            "Do not begin where it broke. Ask first whether the fresh server was right: that tells a fault of the "
            "watermark from one that is always there.",
            "layers() tells the layer, lse() whether ranks hold the same keys, typed() and strict() the step. With the "
            "step, look at the trace of that step and read each line: which index does this operation use, and in what "
            "does the buffer count?",
            "trace(step=...) shows the accesses of one step. A c-KV write of a rank should use loc // D of the locs with "
            "loc % D equal to the rank. The first line that does not is it: its loc is the one shown, its row the index "
            "that was used.",
        ),
        prediction=Prediction(
            question=(
                "Somebody compares the first three layers of a hybrid model with a single-rank run and finds no "
                "difference. What does that show?"
            ),
            answer="nothing about later layers",
            because=(
                "In the report's model the first three layers are linear attention and touch no paged cache. The fault can "
                "only begin where the first DSA layer reads."
            ),
            choices=(
                "index-K is right",
                "the c-KV write is right",
                "nothing about later layers",
                "the fault is in the scheduler",
            ),
        ),
    ),
    Part(
        id="5e",
        entry="incident_record",
        title="The incident record",
        points=15,
        minutes=15,
        cases=_record_cases,
        drive=written,
        oracle=lambda heading: None,
        compare=_misrecorded,
        rows=_record_table,
        seed_of=_seed_of,
        by_case=True,
        timeout_s=60.0,
        question="Where in the run does this figure stand, and what does it count?",
        hints=(
            "Every figure stands in what investigate.incident() shows, or follows from D, P and C.",
            "Keep three things apart: what was used, what there is, and what there should be. Largest loc used; slots "
            "there are; slots needed for every legal loc.",
            "smallest_loc is P * D; largest_legal_loc is (C // P + 1) * P * D - 1; bytes_outside is the sum over the "
            "buffers of places times bytes, from the last lines of the run.",
        ),
        prediction=Prediction(
            question="The server's first wrong word comes in the long requests. In which step is the first operation wrong?",
            answer="in step 1",
            because=(
                "The write of the very first prompt uses locs as rows. It stays inside its buffer, and the reads look in "
                "the same wrong places, so for a while nobody can tell."
            ),
            choices=(
                "in step 1",
                "in the first long request",
                "in the step of the wrong word",
                "in the step of the first overflow",
            ),
        ),
    ),
]
