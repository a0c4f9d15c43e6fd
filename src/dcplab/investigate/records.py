"""Reads, fills and verifies the incident record: eight headings, one figure a line, each of which a run can confirm or refute.

A record is a dict of `FIELDS` by key, or its text: ``key: value`` lines under headings. The eight headings are what somebody
else needs to check a report of such an incident: revision, hardware and parallelism, requests and phase, locs, indices against
real shapes, the first abnormal operation, the patches in force, and the results compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dcplab.engine import defects, index_spaces
from dcplab.engine.earlier_names import formerly
from dcplab.engine.scheduler import BufferWatermark
from dcplab.engine.watcher import Access
from dcplab.errors import CourseError
from dcplab.investigate.incidents import Incident

Value = str | int


@dataclass(frozen=True)
class Field:
    """One figure: its ``key``, its ``heading``, a description (``what``), and the function that reads it from a run."""

    heading: str
    key: str
    what: str
    value: Callable[[Incident], Value]


@dataclass(frozen=True)
class CheckedFigure:
    """The verdict on one figure. ``outcome``: right, wrong, missing, or unknown (the record's key is no figure)."""

    key: str
    outcome: str
    written: str
    what: str

    said = formerly("written")

    @property
    def refuted(self) -> str:
        """Say that the figure is wrong, whether the run shows it or it has to be inferred."""
        return "does not follow from what the run shows" if self.key in INFERRED else "is not what the run shows"

    @property
    def sentence(self) -> str:
        return {
            "right": f"{self.key}: {self.written}",
            "wrong": f"{self.key}: {self.written!r} {self.refuted}. What is asked for: {self.what}.",
            "missing": f"{self.key} is not filled in. What is asked for: {self.what}.",
            "unknown": f"{self.key} is no figure of this record; investigate.template() has them all.",
        }[self.outcome]


def _of(access: Callable[[Incident], Access | None], name: str) -> Callable[[Incident], Value]:
    """Read a figure from an access. The figure is "none" where there was no such access."""

    def value(run: Incident) -> Value:
        seen = access(run)
        return "none" if seen is None else getattr(seen, name)

    return value


def _first(run: Incident) -> Access | None:
    return next(iter(run.watcher.wrong), None)


def _first_index(run: Incident) -> Value:
    a = _first(run)
    return "none" if a is None else a.low if a.misuse or a.first is None else a.first


def _outside(run: Incident) -> Access | None:
    return run.outcome.first_outside


def _buffer(run: Incident, kind: str) -> BufferWatermark:
    """Return the watermark of the layer, among buffers of one kind, that got the largest index."""
    return max((w for w in run.outcome.watermarks if w.buffer.startswith(kind)), key=lambda w: w.highest)


def _counts(act: str, fixed: bool = False) -> Callable[[Incident], Value]:
    return lambda run: run.counts(fixed)[act]


def _patches(run: Incident) -> str:
    return ", ".join(n for n in defects.PATCHES if n in run.patches) or "none"


def _first_wrong_answer(run: Incident) -> str:
    return next((a.got for a in run.outcome.wrong), "none")


REVISION, HARDWARE, REQUESTS, LOCS, INDICES, FIRST, PATCHES, RESULT = HEADINGS = (
    "Revision of code and model",
    "Hardware, parallelism, backend, dtype",
    "Requests, cache and phase",
    "Global locs",
    "Local indices and the shapes there are",
    "First abnormal operation, and what it did",
    "Patches in force",
    "Result and comparison",
)

FIELDS = (
    Field(REVISION, "dcplab", "the version of this course", lambda r: r.versions["dcplab"]),
    Field(REVISION, "torch", "torch's version", lambda r: r.versions["torch"]),
    Field(HARDWARE, "device", "cpu or cuda", lambda r: r.device),
    Field(HARDWARE, "dcp_size", "D, ranks", lambda r: r.config.dcp_size),
    Field(HARDWARE, "page_size", "P, rows in a page of one rank", lambda r: r.config.page_size),
    Field(HARDWARE, "size", "C, rows one rank's c-KV can hold, spare page not counted", lambda r: r.config.size),
    Field(HARDWARE, "ckv_dtype", "the dtype of c-KV rows", lambda r: str(r.config.dtype).removeprefix("torch.")),
    Field(REQUESTS, "tokens_cached", "tokens found in the prefix cache", lambda r: r.outcome.metrics.cached),
    Field(LOCS, "smallest_loc", "the smallest loc the allocator issues: W", lambda r: r.config.width),
    Field(LOCS, "largest_loc", "the watermark: the largest loc a token was stored at", lambda r: r.outcome.largest_loc),
    Field(LOCS, "largest_legal_loc", "the largest loc the allocator can issue", lambda r: _largest_legal(r)),
    Field(INDICES, "ckv_rows", "rows of c-KV that one rank has in a layer", lambda r: _buffer(r, "ckv").slots),
    Field(INDICES, "ckv_highest", "the largest row that was used on any layer's c-KV", lambda r: _buffer(r, "ckv").highest),
    Field(INDICES, "index_k_slots", "slots of index-K in a layer", lambda r: _buffer(r, "index_k").slots),
    Field(INDICES, "index_k_needed", "slots it needs for every legal loc", lambda r: _buffer(r, "index_k").needed),
    Field(
        INDICES,
        "index_k_highest",
        "the largest index on any index-K, which is read in whole pages",
        lambda r: _buffer(r, "index_k").highest,
    ),
    Field(
        FIRST,
        "first_wrong_step",
        "step of the first operation with an index of the wrong space or beyond its buffer",
        _of(_first, "step"),
    ),
    Field(FIRST, "first_wrong_rank", "its rank", _of(_first, "rank")),
    Field(FIRST, "first_wrong_op", "its name", _of(_first, "op")),
    Field(FIRST, "first_wrong_buffer", "the buffer it used", _of(_first, "buffer")),
    Field(FIRST, "first_wrong_index", "the smallest index that is wrong in it", _first_index),
    Field(FIRST, "first_outside_step", "step of the first operation outside its buffer", _of(_outside, "step")),
    Field(FIRST, "first_outside_op", "its name", _of(_outside, "op")),
    Field(FIRST, "first_outside_buffer", "the buffer it left", _of(_outside, "buffer")),
    Field(FIRST, "first_outside_index", "the first index beyond it", _of(_outside, "first")),
    Field(
        FIRST,
        "bytes_outside",
        "bytes that all ranks meant to write beyond their buffers: places times bytes",
        lambda r: _bytes(r),
    ),
    Field(FIRST, "canaries_changed", "canary bands of rank 0 that changed", lambda r: len(r.outcome.canaries)),
    Field(PATCHES, "patches", "which of the five are in force, in the order of #36989; none if none is", _patches),
    Field(PATCHES, "patch_for_first", "the patch that mends the first wrong operation", lambda r: _mends(r)),
    Field(PATCHES, "patch_enough", "with that patch too, is this server right? yes or no", lambda r: _enough(r)),
    Field(RESULT, "verdict", "right, silent corruption, alarm or crash", lambda r: r.outcome.verdict),
    Field(RESULT, "fresh", "right answers of those the fresh server gave, as 3/3; - for none", _counts("fresh")),
    Field(RESULT, "long", "the same of the long requests", _counts("long")),
    Field(RESULT, "again", "the same of the questions asked again", _counts("again")),
    Field(RESULT, "first_wrong_answer", "the first wrong answer, word for word", _first_wrong_answer),
    Field(RESULT, "fixed_long", "the same of the long requests, with every patch", _counts("long", True)),
    Field(RESULT, "fixed_again", "the same of the questions asked again, with every patch", _counts("again", True)),
)
BY_KEY = {f.key: f for f in FIELDS}
INFERRED = frozenset(("largest_legal_loc", "smallest_loc", "bytes_outside", "patches", "patch_for_first", "patch_enough"))


MENDED_BY = {"write_ckv": "ckv_write", "write_index_k": "index_k_size"}  # first wrong operation -> its patch


def _mends(run: Incident) -> str:
    first = _first(run)
    return "none" if first is None else MENDED_BY.get(first.op, "none")


def _enough(run: Incident) -> str:
    return "yes" if set(defects.PATCHES) - run.patches <= {_mends(run)} else "no"


def _largest_legal(run: Incident) -> int:
    return index_spaces.largest_loc(run.config.size, run.config.page_size, run.config.dcp_size)


def _bytes(run: Incident) -> int:
    return sum(places * each for places, each in run.writes_outside.values())


def figures(run: Incident) -> dict[str, Value]:
    """Return every figure of a run, by key, in order."""
    return {f.key: f.value(run) for f in FIELDS}


def template() -> str:
    """Return an empty record: a line a figure, its description behind a #."""
    return _text({f.key: f"{'':<12}# {f.what}" for f in FIELDS})


def filled(run: Incident) -> str:
    """Return the record of a run, filled in."""
    return _text(figures(run))


def _text(values: Mapping[str, Value]) -> str:
    width = max(len(f.key) for f in FIELDS) + 1
    lines = []
    for heading in HEADINGS:
        lines += ["", f"## {heading}"]
        lines += [f"{f.key + ':':<{width}} {values[f.key]}".rstrip() for f in FIELDS if f.heading == heading]
    return "\n".join(lines[1:]) + "\n"


def parse(text: str) -> dict[str, str]:
    """Parse a record's text into a dict. ``key: value`` lines count; headings and text behind " #" are ignored."""
    figures: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not line:
            continue
        key, colon, value = line.partition(":")
        if not colon:
            raise CourseError(f"Line {number} of the record, {line!r}, is not of the form 'key: value'.")
        if key.strip() in figures:
            raise CourseError(f"Line {number} of the record gives {key.strip()} a second time.")
        figures[key.strip()] = value.strip()
    return figures


def verify(record: str | Mapping[str, object], run: Incident) -> list[CheckedFigure]:
    """Compare a record, text or dict, with a run. Return a `CheckedFigure` for each figure, and for each key that is none."""
    written = parse(record) if isinstance(record, str) else {str(k): v for k, v in record.items()}
    checked = []
    for f in FIELDS:
        value = written.get(f.key)
        text = "" if value is None or value is Ellipsis else str(value).strip()
        outcome = "missing" if not text else "right" if plain(text) == plain(str(f.value(run))) else "wrong"
        checked.append(CheckedFigure(f.key, outcome, text, f.what))
    return checked + [CheckedFigure(key, "unknown", str(written[key]), "") for key in written if key not in BY_KEY]


NEW = ("patch_for_first", "patch_enough")  # figures that records did not have while every server was the unpatched one


def is_earlier(text: str) -> bool:
    """Return True for a record of the time before `NEW`: it is about the unpatched server of its seed, and stays as right as it
    was."""
    written = parse(text)
    return "dsa_layers" in written and not written.keys() & set(NEW)


_SAME = {"silent": "silent corruption", "bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
_SAME |= {"size": "index_k_size", "write": "ckv_write"}  # the patches, as the rows of 5c have them


def plain(text: str) -> str:
    """Normalise a figure. Case, quotes, thousands separators and a unit do not count, nor which of its usual forms it has:
    "0 of 3" is "0/3", "silent" is "silent corruption", "bf16" is "bfloat16", "write + read" is "ckv_write, read"."""
    text = re.sub(r"\s+", " ", text.strip().strip("'\"").lower())
    text = re.sub(r"(?<=\d)[, _](?=\d{3}(?!\d))", "", text).removeprefix("torch.")  # torch prints a dtype as torch.int64
    text = re.sub(r"^(\d+) bytes?$", r"\1", text)
    text = re.sub(r"^(\d+) (?:out )?of (\d+)$", r"\1/\2", text)
    text = re.sub(r"\s*([,/])\s*", r"\1", re.sub(r"(?<=[a-z_])\s*\+\s*(?=[a-z])", ",", text))
    return ",".join(_SAME.get(word, word) for word in text.split(","))
