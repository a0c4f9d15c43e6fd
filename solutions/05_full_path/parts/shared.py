"""Lab 05: servers that run a wiring and one rank beside it (5a, 5b), and what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells

WORDS = range(1, 500)  # token ids; 0 is <bos>


def recall_prompt(draw: Draw, words: int, cycle: int) -> list[int]:
    """Different words, and at the end the first two of the last ``cycle`` again: the answer goes round in these, and reads them
    first out of the prompt, then out of what was generated."""
    told = draw.sample(WORDS, words)
    return [0, *told, *told[-cycle:][:2]]


# The wirings of the course that a case asks for, and those that its server does without.
HIDES = {
    "decode": ("decode", "draft"),
    "extend": ("extend", "draft"),
    "verify": ("decode",),
    "draft": ("draft",),
    "all": ("decode", "extend", "draft"),
}


def serving(label: str, size: int, role: str, rounds: list, new: int, dcp_size: int, call: str = "", **options) -> Case:
    look = {"look": True} if size == 0 else {}
    given = (role, rounds, new, dcp_size, options)
    return Case(given, look, label=label, size=size, call=call, hides=HIDES[role], tells=("look",))


def serve_with(entry, role, rounds, new, dcp_size, options, look=False):
    """A server with the answer's wiring in the place that ``role`` names: what it said, and how many guesses were kept."""
    import sys

    from dcplab.engine import learner_ops

    answer = sys.modules["__main__"]
    names = {"all": ("extend", "verify", "draft"), "whole": ("decode", "extend", "verify", "draft")}.get(role)
    paths = {name: getattr(answer, f"{name}_path") for name in names} if names else {role: entry}
    return learner_ops.answer(paths, rounds=rounds, new=new, dcp_size=dcp_size, look=look, **options)


def wants_kernels(*given, **more) -> bool:
    """True if the options among these arguments ask for the real kernels on a CPU: {"kernels": True}."""
    return any(isinstance(one, dict) and bool(one.get("kernels")) for one in (*given, *more.values()))


def one_rank(role, rounds, new, dcp_size, options, look=False):
    """What the same server says with one rank, where there is nothing to wire wrongly."""
    from dcplab.engine import harness
    from dcplab.engine.threads import one_thread

    with one_thread():
        return harness.serve(rounds, new, 1, **{k: v for k, v in options.items() if k != "high"})


LOST = {"ckv": "the c-KV rows", "index_k": "the index keys"}


def said_otherwise(case: Case, got: dict, expected: dict) -> str | None:
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
        many = " and ".join(f"{n} of {LOST[kind]}" for kind, n in got["lost"].items() if n)
        return f"Every word is right, but not everything is stored where it belongs: {many} are not."
    if got["large"]:
        return "Every word is right, but outputs are larger than any stored row: attention is a mean of rows."
    if got["early"]:
        return f"Every word is right, but {got['early']} times a rank read before it had stored the tokens of the step."
    if got["off"]:
        return (
            f"Every word is right, but {got['off']} outputs hold their rows in wrong shares: each rank's part weighs 2 to the "
            "power of its LSE."
        )
    if got["kept"] != expected["kept"]:
        mine, right = (f"{kept} of {proposed}" for kept, proposed in (got["kept"], expected["kept"]))
        return f"All words are right, but {mine} of the draft's guesses are kept; with one rank it is {right}."
    return None


def served_rows(case: Case, got: Any, expected: Any) -> Table:
    _, rounds, _, dcp_size, options = case.args
    asked = [prompt for prompts in rounds for prompt in prompts]
    rows = []
    for i, (prompt, right) in enumerate(zip(asked, expected["tokens"], strict=True)):
        mine = got["tokens"][i] if isinstance(got, dict) and i < len(got["tokens"]) else []
        mark = "" if mine == right else "differs"
        rows.append((str(i + 1), str(len(prompt)), ids_text(prompt[-2:]), ids_text(mine) or "nothing", ids_text(right), mark))
    if expected["kept"][1] and isinstance(got, dict):
        kept = [f"{a} of {b}" for a, b in (got["kept"], expected["kept"])]
        rows.append(("", "", "guesses kept", *kept, "" if kept[0] == kept[1] else "differs"))
    if isinstance(got, dict) and got["apart"]:
        rows.append(("", "", "words on which ranks disagree", str(got["apart"]), "0", "differs"))
    if isinstance(got, dict) and got["keys"][0] != got["keys"][1]:
        rows.append(("", "", "keys read, keys selected", *map(str, got["keys"]), "differs"))
    if isinstance(got, dict):
        rows += [("", "", f"{LOST[kind]} not found", str(n), "0", "differs") for kind, n in got["lost"].items() if n]
    if isinstance(got, dict) and got["large"]:
        rows.append(("", "", "outputs larger than any row", str(got["large"]), "0", "differs"))
    if isinstance(got, dict) and got["early"]:
        rows.append(("", "", "reads before the write", str(got["early"]), "0", "differs"))
    if isinstance(got, dict) and got["off"]:
        rows.append(("", "", "outputs that weigh a row wrongly or lack one", str(got["off"]), "0", "differs"))
    locs = "high" if options.get("high") else "low"
    more = "".join(f", {k} {options[k]}" for k in ("chunk", "draft") if options.get(k)) + (
        ", mixed" if "mixed" in options else ""
    )
    header = ("request", "tokens", "its last words", "with your wiring", "with one rank", "")
    caption = f"D {dcp_size}, {locs} locs{more}; words are token ids."
    return Table(header, tuple(rows), caption)


def ids_text(tokens: Sequence[int]) -> str:
    return " ".join(map(str, tokens[:8])) + (" ..." if len(tokens) > 8 else "")


LAYERS = 2  # of the small server that a check starts; its draft has one
ROLES = {"all": ("extend", "verify", "draft")}


def served_cells(tried: DrawnCase) -> Groups:
    """What each rank did in each layer, by operation, for every path that was wired; then the words."""
    role, rounds, new, dcp_size, _ = tried.case.args
    got = tried.got if isinstance(tried.got, dict) and not tried.got["died"] else None
    groups = [_operations(one, dcp_size, got) for one in ROLES.get(role, (role,))]
    words = [Strip("new word", tuple(DrawnCell(str(i + 1), "header") for i in range(new)))]
    for i in range(sum(map(len, rounds))):
        right = tried.expected["tokens"][i] if tried.expected else []
        words.append(Strip(f"request {i + 1}", _words(new, got and got["tokens"][i], right)))
    return (*groups, tuple(words))


def _words(new: int, mine: Sequence[int] | None, right: Sequence[int]) -> tuple[DrawnCell, ...]:
    if mine is None:
        return (grid_cells.BLANK,) * new
    pairs = zip([*mine, *[None] * new][:new], [*right, *[None] * new][:new], strict=True)
    return tuple(grid_cells.word(a, b, a != b) for a, b in pairs)


def _operations(role: str, dcp_size: int, got: dict | None) -> tuple[Strip, ...]:
    """A column for each layer and rank. ``got``: what the server came to; None if it has not run."""
    columns = [(layer, rank) for layer in range(1 if role == "draft" else LAYERS) for rank in range(dcp_size)]
    seen = None if got is None else list(got["places"].get(role, []))
    held = [seen[i][2:] if seen and i < len(seen) else None for i in range(len(columns))]
    asks = ["c-KV stored", "index-K stored", "reads", *(["keys read"] if role != "extend" else []), "outputs"]
    lines = [Strip(role, tuple(DrawnCell(f"layer {layer}, r{rank}", "header") for layer, rank in columns))]
    cells = [dict.fromkeys(asks, grid_cells.BLANK) if one is None else _said(*one) for one in held]
    return (*lines, *(Strip(ask, tuple(cell[ask] for cell in cells)) for ask in asks))


def _said(ckv: int, index_k: int, early: int, read: int, due: int, off: int) -> dict[str, DrawnCell]:
    """What a rank did in a layer, in all steps: a cell for each operation."""

    def counted(n: int, wrong: str, right: str) -> DrawnCell:
        return DrawnCell(f"{n} {wrong}" if n else right, right=right if n else None)

    return {
        "c-KV stored": counted(ckv, "missing", "all"),
        "index-K stored": counted(index_k, "missing", "all"),
        "reads": counted(early, "too early", "in time"),
        "keys read": DrawnCell(str(read), right=None if read == due else str(due)),
        "outputs": counted(off, "not right", "all right"),
    }
