"""Words the mistake in a learner's answer: which of the six names of a case, or which figure of a record, is wrong, and how.

All functions but `truth` are pure: they turn an answer and the truth into a sentence. The sentence names the mistake and never
the right answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dcplab.engine.configurator import ServerConfig, needed
from dcplab.engine.defects import PATCHES
from dcplab.engine.space_tags import Space
from dcplab.investigate import hidden_cases
from dcplab.investigate.records import FIELDS, CheckedFigure, Value, plain

NAMES = ("buffer", "op", "rank", "loc", "row", "rows_available")
WRITERS = {"write_ckv", "write_index_k", "load_cpu_copy"}
_NO_WRITES: Mapping[str, tuple[int, int]] = MappingProxyType({})
MACHINE = {"dcplab": r"\d+\.\d+.*", "torch": r"\d+\.\d+.*"}  # figures that depend on the machine where the record was made


def truth(n: int, seed: int) -> dict:
    """Run the server of a case and return what its watcher knows of the first wrong operation.

    Keys: ``buffer``, ``op``, ``rank``, ``loc``, ``row``, ``rows_available``, and ``defect``.
    """
    return hidden_cases.truth_of(hidden_cases.visible_run(n, seed))


def marks(answer: Mapping, truth: Mapping) -> dict[str, bool]:
    """Mark each name as right or not. Spelling counts; case and surrounding spaces do not."""
    return {name: _plain(answer.get(name)) == _plain(truth[name]) for name in NAMES}


def name_of_the_mistake(n: int, answer: Mapping, truth: Mapping, config: ServerConfig) -> str | None:
    """Return one sentence on the six names given for case ``n``, or None where all are right."""
    given = {k: answer.get(k) for k in NAMES}
    if missing := [k for k in NAMES if given[k] is None]:
        return f"Case {n} is not named yet: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
    right = marks(answer, truth)
    for name, say in (
        ("op", _op),
        ("buffer", _buffer),
        ("rank", _rank),
        ("loc", _loc),
        ("row", _row),
        ("rows_available", _rows),
    ):
        if not right[name]:
            return f"Case {n}: {say(given, truth, config)}"
    return None


def _op(given, truth, config) -> str:
    if _plain(given["op"]) in {"silent", "crash", "alarm", "wrong answer"}:
        return "that is the symptom; an operation has a name in the trace."
    writes, wrote = truth["op"] in WRITERS, _plain(given["op"]) in WRITERS
    if writes and not wrote:
        return "that operation read what was wrong already. Who put it there?"
    if wrote and not writes:
        return "that write was right; what was wrong is where somebody looked for it."
    return "that operation kept to its rule, or another came before it."


def _buffer(given, truth, config) -> str:
    (kind, _, layer), (right, _, at) = _plain(given["buffer"]).partition("."), truth["buffer"].partition(".")
    if kind == right and layer == str(int(at) + 1):
        return "that buffer lies behind and was hit; whose index left its own?"
    if kind == right:
        return "that is the right kind of buffer in another layer."
    return "another buffer was used with a wrong index before that one."


def _rank(given, truth, config) -> str:
    owner = truth["loc"] % config.dcp_size
    if given["rank"] == owner != truth["rank"]:
        return "that rank owns the loc. Which rank used it wrongly, and first?"
    return "that rank did it later, or not at all; the trace is in order."


def _loc(given, truth, config) -> str:
    if isinstance(given["loc"], int) and given["loc"] == truth["loc"] // config.dcp_size:
        return "that is a row of its owner; the loc is the number before any division."
    if isinstance(given["loc"], int) and given["loc"] > truth["loc"]:
        return "there is a smaller loc that goes wrong in the same operation."
    if isinstance(given["loc"], int) and given["loc"] < truth["loc"] and truth["row"] >= truth["rows_available"]:
        return "that loc's index fits; which is the first beyond the buffer?"
    return "that loc was used rightly, or in another operation."


def _row(given, truth, config) -> str:
    if given["row"] == truth["loc"] // config.dcp_size and truth["buffer"].startswith("index_k"):
        return "nothing is divided for index-K; which index was used?"
    if given["row"] == truth["loc"] // config.dcp_size:
        return "that is the row it has on its owner; which index was used?"
    return "the row is the index as it was used, in the buffer's own count."


def _rows(given, truth, config) -> str:
    rows, mine = truth["rows_available"], given["rows_available"]
    if mine == rows - 1:
        return "that is the last index there is; there is one more place than that."
    if mine == config.size:
        return "that is C; the buffer has a spare page too."
    if mine == needed(config)[Space.LOC] != rows:
        return "that is what it needs to have; how many places has it got?"
    return "the number of places is that of this buffer on one rank."


def figures_under(heading: str) -> list[str]:
    return [f.key for f in FIELDS if f.heading == heading]


def as_elsewhere(finding: CheckedFigure) -> bool:
    """Return True for a version that is wrong here but well formed: the record may come from a machine with other versions."""
    pattern = MACHINE.get(finding.key)
    return finding.outcome == "wrong" and pattern is not None and re.fullmatch(pattern, finding.written) is not None


def figure_of_the_mistake(
    findings: Sequence[CheckedFigure], figures: Mapping[str, Value], writes: Mapping[str, tuple[int, int]] = _NO_WRITES
) -> str | None:
    """Return one sentence on the first of these findings that is not right, or None. ``writes``: `Incident.writes_outside`."""
    bad = next((f for f in findings if f.outcome != "right" and not as_elsewhere(f)), None)
    if bad is None:
        return None
    if bad.outcome != "wrong":
        return bad.sentence
    says = _part_of_the_bytes(bad, writes) or _misread(bad, figures)
    return f"{bad.key}: {says}" if says else f"{bad.key} {bad.refuted}."


PLAIN = 20  # a number that is larger stands for one figure, hardly for another by chance
# Figure -> (another figure that learners put in its place, the sentence for that mistake).
_TAKEN_FOR = {
    "largest_loc": (("largest_legal_loc", "that is what the allocator may issue; how far did it go?"),
                    ("ckv_rows", "that counts rows; the watermark is a loc that held a token."),
                    ("index_k_highest", "that slot was touched, for pages are read to their end.")),
    "largest_legal_loc": (("largest_loc", "that loc was used; how far may the allocator go?"),
                          ("index_k_needed", "that is how many there are; they count from 0."),
                          ("size", "that is C, in rows of one rank; locs count all ranks.")),
    "smallest_loc": (("page_size", "page 0 is never issued, and a page of the allocator is P * D locs."),),
    "ckv_rows": (("size", "that is C without the spare page."),
                 ("index_k_needed", "that counts locs; c-KV has rows of one rank.")),
    "ckv_highest": (("ckv_rows", "that is how many rows there are; up to which one was written?"),),
    "index_k_slots": (("index_k_needed", "that is what it needs; how many slots had it got?"),),
    "index_k_needed": (("index_k_slots", "that is what it had; how many does every legal loc need?"),
                       ("largest_legal_loc", "a largest index of n needs n + 1 places.")),
    "index_k_highest": (("largest_legal_loc", "that loc is legal; how far was it used?"),),
    "first_wrong_step": (("first_outside_step", "its index left the buffer; one was wrong long before."),),
    "first_wrong_index": (("first_outside_index", "it is the first outside; one inside was wrong before."),),
    "first_outside_step": (("first_wrong_step", "that step used a wrong space, but inside the buffer."),),
    "first_outside_index": (("first_wrong_index", "that index is in a wrong space, but inside the buffer."),
                            ("ckv_highest", "that is the last one outside; which was the first?")),
    "fixed_long": (("long", "that is unpatched; this line is for the server with every patch."),),
    "fixed_again": (("again", "that is unpatched; this line is for the server with every patch."),),
    "again": (("fixed_again", "that is with every patch; this line is for the unpatched server."),),
    "long": (("fixed_long", "that is with every patch; this line is for the unpatched server."),),
}  # fmt: skip


_SPACE_OR_BUFFER = "an index beyond its buffer is wrong too; the run has one."
_NOT_NONE = {f"first_wrong_{name}": _SPACE_OR_BUFFER for name in ("step", "rank", "op", "buffer", "index")} | {
    f"first_outside_{name}": "an index left its buffer; the run says where." for name in ("step", "op", "buffer", "index")
} | {"patch_for_first": "an operation was wrong first; which patch is about it?"}  # fmt: skip


def _misread(finding: CheckedFigure, figures: Mapping[str, Value]) -> str | None:
    written = plain(finding.written)
    for other, says in _TAKEN_FOR.get(finding.key, ()):
        if written == plain(str(figures[other])) != plain(str(figures[finding.key])):
            return says
    if written in ("none", "-") and finding.key in _NOT_NONE:
        return _NOT_NONE[finding.key]
    if finding.key == "patch_enough":
        return "which of the five would still be missing then?" if written in ("yes", "no") else "it is yes or no."
    if finding.key == "bytes_outside" and written.isdigit():
        right, mine, ranks = int(figures["bytes_outside"]), int(written), int(figures["dcp_size"])
        if mine * ranks == right:
            return "that is one rank; all of them wrote."
        if mine < right // 100:
            return "that counts places; each place has its bytes."
    if finding.key == "patches" and (swapped := _in_place_of(written, str(figures["patches"]))):
        return swapped
    if finding.key == "patch_for_first" and written in plain(str(figures["patches"])).split(","):
        return "that patch is in force already; which is missing there?"
    if finding.key == "verdict" and written == "right":
        return "the fresh server was right; what did it come to in the end?"
    return _miscounted(finding.key, int(written), figures) if written.isdigit() else None


def _part_of_the_bytes(finding: CheckedFigure, writes: Mapping[str, tuple[int, int]]) -> str | None:
    """Say of which buffers alone an answer has the bytes: of one, of one layer, or of one kind in every layer."""
    written = plain(finding.written)
    if finding.key != "bytes_outside" or not written.isdigit():
        return None
    of = {buffer: places * each for buffer, (places, each) in writes.items()}
    for part, says in ((lambda b: b, "one buffer"), (lambda b: b.partition(".")[2], "one layer"),
                       (lambda b: b.partition(".")[0], "one kind of buffer")):  # fmt: skip
        sums: dict[str, int] = {}
        for buffer, number in of.items():
            sums[part(buffer)] = sums.get(part(buffer), 0) + number
        if len(sums) > 1 and int(written) in sums.values():
            return f"that is {says}; others were left as well."
    return None


def _in_place_of(written: str, right: str) -> str | None:
    """Say which patches an answer names in place of those in force."""
    mine, due = ({name for name in plain(text).split(",") if name != "none"} for text in (written, right))
    if mine == set(PATCHES) - due:
        return "those are missing; this line is for the patches that are in force."
    if mine == due:
        return "those are they, in another order than #36989's."
    if not mine <= set(PATCHES):
        return None
    if mine - due == {"assert"} and "extend" not in mine:
        return "without extend the assert cannot fire: nothing tells of its patch."
    if mine - due:
        return "a patch is named whose defect shows in this run."
    if due - mine == {"assert"}:
        return "one is left out whose defect raises an alarm above the watermark."
    return "a patch is left out whose defect does not show in this run."


def _miscounted(key: str, mine: int, figures: Mapping[str, Value]) -> str | None:
    """Name the formula behind a wrong number: one of sizes, another figure, or one more or less than right."""
    right, size, page, ranks = (figures[k] for k in (key, "size", "page_size", "dcp_size"))
    if not isinstance(right, int) or isinstance(right, bool):
        return None
    size, page, ranks = int(size), int(page), int(ranks)
    if key in ("largest_legal_loc", "index_k_needed"):
        if mine in (size * ranks + page, size * ranks + page - 1):
            return "that is C * D + P; the allocator's last page is P * D locs, and page 0 is never issued."
        if mine in (size * ranks, size * ranks - 1):
            return "that is C * D; page 0 is never issued, so locs go a page of P * D further."
        if mine in ((size + page) * ranks, (size + page) * ranks - 1):
            return "that is (C + P) * D; rows that fill no page are never handed out."
    if key == "smallest_loc" and mine == 0:
        return "page 0 is never issued; what is the first loc of page 1?"
    if key == "index_k_slots" and mine == size:
        return "that is C without the spare page."
    others = [k for k, value in figures.items() if k != key and type(value) is int and value == mine > PLAIN]
    if len(others) == 1:
        return f"that is {others[0]}."
    return f"that is one too {'many' if mine > right else 'few'}." if abs(mine - right) == 1 else None


def _plain(value: object) -> str:
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", str(value).strip().lower())
