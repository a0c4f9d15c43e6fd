"""Words a check's result: the diagnosis first, then a failing case, one question, and how to see more."""

from __future__ import annotations

import textwrap
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcplab import mode as modes
from dcplab.course.key import Key
from dcplab.course.model import Case, CheckResult, Launch, Table
from dcplab.course.trial import Trial
from dcplab.judge.judgement import FAILED, Judgement
from dcplab.judge.verdict import NO_CASE, Verdict
from dcplab.notebook.extract import Program
from dcplab.notebook.runs import Judged
from dcplab.present import answer_cells, case_table, facts, sentences
from dcplab.present.strangers import printable
from dcplab.present.table import columns
from dcplab.present.values import short
from dcplab.sandbox.kernels.compile_for_gpu import TARGET

WIDTH, FIRST_PRINTED = 80, 40
TYPED = "Typed spaces: "  # how a server begins that looks at a wiring (`engine.learner_ops`)
SAID, CELL, DETAIL = 2_000, 400, 200_000  # characters of a sentence, of a table's cell and of the details
FAR = 10**9  # nobody counts so far within a check
WORDS = {
    "passed": "passed",
    "wrong": "not right yet",
    "unsafe": "unsafe",
    "crashed": "crashed",
    "timeout": "did not end",
    "not_attempted": "not attempted",
    "error": "not judged",
}


def result(judgement: Judgement, versions: Mapping[str, str], elapsed_s: float, lacks: Sequence[str] = ()) -> CheckResult:
    """Put a judgement into words: the CheckResult with its message composed. ``lacks``: as in the CheckResult. What an answer
    said is quoted without its escape codes."""
    part, names = judgement.part, _names(judgement)
    told = _fit(_told(judgement, names))
    share = 1.0 if judgement.outcome == "passed" else judgement.share
    points = part.points if share == 1.0 else round(part.points * share, 2)
    return CheckResult(
        lab=judgement.key.lab,
        part=part.id,
        outcome=judgement.outcome,
        points=float(points),
        max_points=float(part.points),
        message=printable(_message(judgement, told, points, conditions(_seed(judgement), judgement.mode, versions, lacks))),
        seed=judgement.seed,
        mode=judgement.mode,
        versions=versions,
        diagnosis=_diagnosis(judgement),
        question=told.question,
        table=told.table,
        case=told.case,
        detail=printable(_detail(judgement, names), DETAIL),
        elapsed_s=elapsed_s,
        case_seed=judgement.case_seed,
        busy=judgement.why == "busy" or judgement.nameless,
        lacks=tuple(lacks),
        odd=() if judgement.vouched else (sentences.NOT_VOUCHED,),
        handed=judgement.handed,
        cells=answer_cells.of_judged(judgement),
    )


def placed(found: CheckResult, judged: Judged | None) -> CheckResult:
    """Add to a result's message which run of which cell was judged, and what about that may surprise."""
    if judged is None:
        return found
    _, rest = first_and_rest(found.message)
    lines, says = found.message.split("\n"), sentences.of_judged(judged)
    at = len(lines) - len(rest.split("\n")) if rest else len(lines)
    lines[at:at] = textwrap.wrap(says, WIDTH) if says else []
    if judged.count:
        lines[-2] = f"[{judged.count}] was judged, {lines[-2]}"
    return replace(found, message="\n".join(lines))


def not_judged(key: Key, seed: int, mode: str, error: Exception, elapsed_s: float) -> CheckResult:
    """Word the result of an answer over which the checker itself failed. Only this part is affected, and the message says
    so."""
    says = printable(f"The checker failed over this answer ({type(error).__name__}: {error}).", SAID)
    judgement = Judgement(key, key.solution, seed, mode, "error", "checker")
    versions = modes.versions()
    message = _message(judgement, _Told(says), 0.0, conditions(_seed(judgement), mode, versions))
    detail, worth = "".join(traceback.format_exception(error)), float(key.part.points)
    return CheckResult(
        key.lab, key.part.id, "error", 0.0, worth, message, seed, mode, versions, detail=detail, elapsed_s=elapsed_s
    )


@dataclass(frozen=True)
class _Told:
    """The pieces of a message: the diagnosis, further facts, the displayed case, and a question."""

    first: str
    second: str = ""
    count: str = ""
    label: str = ""
    case: str = ""
    table: Table | None = None
    question: str = ""
    aside: str = ""  # what holds for functions of other parts


def _fit(told: _Told) -> _Told:
    """Return the pieces with what an answer said in them cut, and without what steers a terminal."""
    texts = {name: printable(text, SAID) for name, text in vars(told).items() if isinstance(text, str)}
    if (table := told.table) is not None:
        rows = tuple(tuple(printable(cell, CELL) for cell in row) for row in table.rows)
        table = replace(table, rows=rows, caption=printable(table.caption, SAID))
    return replace(told, **texts, table=table)


def _told(judgement: Judgement, names: Sequence[Sequence[str]]) -> _Told:
    j, drawn = judgement, judgement.drawn
    shown = sentences.of_case(j, j.shown, names) if j.shown is not NO_CASE else ""
    if j.shown.what == "raised":  # also from inside a library that a line of the answer called
        shown += sentences.place(j.trial.records[j.shown.number]["raised"]["line"], j.program)
    match j.why:
        case "not_here":
            return _Told(f"Not judged here: {j.says}")
        case "unreadable":
            return _Told(j.says)
        case "starter":
            return _Told("Not attempted yet: the starter is as it was.")
        case "unfinished":
            return _Told("Not finished yet: it still ends in `raise NotImplementedError`.")
        case "waits":
            which = f"`{j.says}`, which it needs," if j.says else "it"
            return _Told(f"Not finished yet: {which} raises NotImplementedError.")
        case "elsewhere":
            return _Told(f"Not judged here: it can only be judged {_other(j.mode)}.")
        case "busy":
            return _Told("Not judged: the machine is busy. It hardly let this run, twice. Check it again.")
        case "checker":
            return _Told(f"The checker failed, not your answer: {j.says}")
        case "does_not_load":
            return _Told(sentences.of_load(j.trial.load_error or {}, j.program))
        case "refused":
            refused = f"The interpreter runs it, a GPU could not: {sentences.of_refusal(j.refusal, j.program)}"
            meaning = facts.meaning(j)
            return _Told(meaning[1], refused) if meaning else _Told(refused)
        case "other_seed" | "several_seeds":
            return _Told(sentences.SEED[j.why].format(j.says))
        case "no_kernel":
            return _Told(sentences.NO_KERNEL[j.says].format(j.part.entry), sentences.KERNEL_ALONE)
        case "unjudged":
            return _Told(f"Not judged here: {shown}")
        case "passed":
            also = f"; it compiles for {TARGET}" if j.compiled else ""
            more = [f"{drawn.elsewhere} more can only be judged {_other(j.mode)}."] if drawn.elsewhere else []
            helped = f" beside the course's {_replaced(j)}" if j.own else ""
            right = f"Right on all {len(drawn.cases)} cases{helped}{also}."
            alone = () if j.vouched else (sentences.NOT_VOUCHED,)
            told = " ".join([right, *alone, *sentences.of_notes(j.trial), *sentences.of_unwatched(j), *more])
            return _Told(told, aside=_with_own(j, names) or _by_luck(j))
    case = drawn.cases[j.shown.number]
    first, seedless = _mistake(j, names), _seedless(j)
    return _Told(
        first=first or shown,
        second=" ".join(filter(None, [shown if first and first != shown else "", *facts.besides(j, first, names)])),
        count=f"{_count(j, 'fail')}; shown: " if len(drawn.cases) > 1 and not seedless else "",
        label="" if seedless else _label(j, case),
        case=case_table.of_part(j.part, case, names[j.shown.number]),
        table=case_table.of_shown(j, names[j.shown.number]),
        question=j.wrong.asks if j.wrong else "" if seedless else _question(j, shown),
        aside=_with_own(j, names),
    )


def _label(judgement: Judgement, case: Case | Launch) -> str:
    """Return a case's label. Where a part asks for several functions, it says which of them is called."""
    called = {getattr(each, "call", "") for each in judgement.drawn.cases}
    name = getattr(case, "call", "") or judgement.part.entry
    return case.label if len(called) == 1 or name in case.label else f"`{name}`, {case.label}"


def _seedless(judgement: Judgement) -> bool:
    """Return True if an answer about its learner's own cases does not say of which seed: nothing else of it was judged."""
    return judgement.why == "failed" and bool(judgement.named_seeds) and judgement.case_seed is None


def _replaced(judgement: Judgement) -> str:
    return " and ".join(f"`{name}` ({part})" for name, part in judgement.beside.items())


def _with_own(judgement: Judgement, names: Sequence[Sequence[str]]) -> str:
    """Say what the answer does with the learner's own functions of other parts, if the course's stood in for them."""
    own = judgement.own
    if own is None:
        return ""
    if judgement.outcome != "passed":
        return f"It was judged with the course's {_replaced(judgement)} in place of yours."
    match own.why:
        case "waits":
            return f"Your own {_replaced(judgement)} is not finished yet."
        case "does_not_load":
            return f"But with your own: {sentences.of_load(own.trial.load_error or {}, own.program)}"
    shown, case = own.shown, own.drawn.cases[own.shown.number]
    says = sentences.of_case(own, shown, names)
    call = case_table.call(own.part, case, names[shown.number])
    return f"But with your own {_replaced(judgement)} {_count(own, 'would fail')}, as {call}: {_lower(says)}"


def _count(judgement: Judgement, fail: str) -> str:
    """Count the cases that fail. Those after the one that ended the answer never ran, and prove nothing."""
    cases, ran = len(judgement.verdicts), [v for v in judgement.verdicts if v.outcome != "not_run"]
    failing = sum(v.number in judgement.failing for v in ran)
    return f"{failing} of {cases} cases {fail}" if len(ran) == cases else f"{failing} of the {len(ran)} cases that ran {fail}"


def _by_luck(judgement: Judgement) -> str:
    part = judgement.part
    return (part.but(judgement.program.source) or "") if part.but else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _mistake(j: Judgement, names: Sequence[Sequence[str]]) -> str:
    """Return the mistake in a sentence: its name, a fact about all cases, what an exception means; or nothing."""
    if j.wrong:
        return j.wrong.says
    meaning = facts.meaning(j)
    if meaning:
        return meaning[1]
    told = facts.of_plain(*j.plain, names[j.shown.number]) if j.plain else ""
    return told if facts.leads(j.plain) and j.shown.what != "touched" else _many(j, names)


def _diagnosis(judgement: Judgement) -> str | None:
    """Return the id of the misconception, of the fact that holds for every case, or of the exception's meaning."""
    if judgement.wrong:
        return judgement.wrong.id
    if judgement.plain:
        return f"{judgement.part.id}-{facts.PLAIN[judgement.plain[0]][0]}"
    meaning = facts.meaning(judgement)
    return f"{judgement.part.id}-{meaning[0]}" if meaning else None


def _many(judgement: Judgement, names: Sequence[Sequence[str]]) -> str:
    """Describe the majority of the cases that are not right, if they end differently from the displayed case."""
    if judgement.many is None:
        return ""
    count = sum(v.outcome == judgement.many.outcome for v in judgement.verdicts)
    says = sentences.of_case(judgement, judgement.many, names)
    return f"In {count} of {len(judgement.verdicts)} cases: {says}"


def _question(judgement: Judgement, says: str) -> str:
    """Return the question for a mistake without a name: the part's own, or none if the plain fact suffices. A crash has its own
    question."""
    if judgement.plain and (asks := facts.PLAIN[judgement.plain[0]][2]):
        return asks
    if says.endswith(sentences.RIGHT_VALUES):
        return "Which dtype does the docstring promise?"
    if judgement.outcome == "timeout" and (far := _largest(judgement.drawn.cases[judgement.shown.number])) >= FAR:
        return f"Does anything count up to {far:,}, one by one?"
    return judgement.part.question if judgement.outcome in ("wrong", "unsafe") else ""


def _largest(case: Case | Launch) -> int:
    return max((value for value in case.args if type(value) is int), default=0)


def _message(judgement: Judgement, told: _Told, points: float, under: str) -> str:
    part, outcome = judgement.part, judgement.outcome
    lines = textwrap.wrap(" ".join(told.first.split()), WIDTH) or [""]
    # An overlong first sentence continues in the next line. Nothing is cut away.
    if told.second:
        lines += textwrap.wrap(told.second, WIDTH)
    if outcome in FAILED and not judgement.wrong and (typed := _typed(judgement.trial)):
        lines += textwrap.wrap(typed, WIDTH)
    if told.aside:
        lines += textwrap.wrap(told.aside, WIDTH)
    if judgement.nameless:
        lines += ["The machine is busy: which mistake it is was not found out. Check it again."]
    if told.table is not None:
        lines += ["", *textwrap.wrap(f"{told.count}{told.label}".rstrip(": "), WIDTH), *table_lines(told.table)]
    if told.question:
        lines += ["", *textwrap.wrap(f"Ask yourself: {told.question}", WIDTH)]
    if outcome in FAILED:
        traceback_too = " and the traceback" if outcome == "crashed" else ""
        told_all = part.seed_of and outcome == "wrong"  # the table of such a part has every entry that fails
        every = "" if told_all else f', lab.explain("{part.id}") for every case{traceback_too}'
        lines += [f'More: lab.hint("{part.id}") for a hint{every}.']
    if printed := judgement.trial.stdout.rstrip():
        count = printed.count("\n") + 1
        first = short(printed.lstrip().splitlines()[0], FIRST_PRINTED)
        lines += [f'It printed {count} line{"s" * (count > 1)}, which lab.explain("{part.id}") shows. The first: {first}']
    lines += ["", under]
    return "\n".join([*lines, f"{part.id}: {WORDS[outcome]}, {points:g} of {part.points:g} points"])


def _typed(trial: Trial) -> str:
    """Return what the typed spaces say of a wiring, if they name the space that an index is in."""
    said = next((line for line in trial.stdout.splitlines() if line.startswith(TYPED)), "")
    return "" if "of no stated space" in said else said[:SAID]


def _detail(judgement: Judgement, names: Sequence[Sequence[str]]) -> str:
    """Return the details that explain() shows: every case, the traceback of the displayed one, and the answer's output."""
    j = judgement
    match j.why:
        case "checker":
            return j.says
        case "does_not_load":
            return _traceback(j.trial.load_error or {}, j.program) + _output(j.trial)
        case "refused":
            return _traceback(j.refusal, j.program) + _output(j.trial)
    if j.why not in ("passed", "unjudged", "failed"):
        return ""
    told = [_line(j, v, names) for v in sorted(j.verdicts, key=lambda v: (j.drawn.cases[v.number].size, v.number))]
    pieces = ["\n".join(told)]
    if j.shown is not NO_CASE and (came_from := _where_it_ended(j)):
        pieces.append(came_from)
    if output := _output(j.trial):
        pieces.append(output)
    return "\n\n".join(pieces)


def _line(j: Judgement, verdict: Verdict, names: Sequence[Sequence[str]]) -> str:
    """Describe a case and its outcome in a line. Where each case is a question of its own, what is wrong there is said."""
    number, outcome = verdict.number, verdict.outcome
    case = case_table.of_part(j.part, j.drawn.cases[number], names[number])[:150]
    if not j.part.by_case:
        return f"{number:3d}  {outcome:<13} {case}"
    says = sentences.of_case(j, verdict, names) if outcome != "passed" else ""
    return f"{outcome:<13} {says if verdict.what == 'compared' else ': '.join(filter(None, [case, says]))}"


def _where_it_ended(judgement: Judgement) -> str:
    verdict, trial = judgement.shown, judgement.trial
    if verdict.what == "ended":
        return trial.stuck if verdict.fact == "timeout" else ""
    if verdict.what not in ("fault", "refused", "memory", "name", "raised"):
        return ""
    raised = trial.records[verdict.number]["raised"]
    return raised["traceback"] + sentences.place(raised["line"], judgement.program) if raised["traceback"] else ""


def _traceback(error: Mapping[str, Any], program: Program) -> str:
    return f"{error['traceback']}{sentences.place(error['line'], program)}\n"


def _output(trial: Trial) -> str:
    streams = (("printed", trial.stdout), ("stderr", trial.stderr))
    return "\n".join(f"--- {name} ---\n{text.rstrip()}" for name, text in streams if text.strip())


def _names(judgement: Judgement) -> list[list[str]]:
    return [judgement.key.argument_names(case) for case in judgement.drawn.cases]


def _other(mode: str) -> str:
    return "on a GPU" if mode == "cpu" else "in the interpreter"


def _seed(judgement: Judgement) -> str:
    """Name the seed that decided: the one of the learner's own cases, else the one that drew the inputs."""
    if _seedless(judgement):
        return "no seed in the answer"  # the check's own would be taken for it
    return f"seed {judgement.seed}" if (own := judgement.case_seed) is None else f"about the cases of seed {own}"


def conditions(seed: str, mode: str, versions: Mapping[str, str], lacks: Sequence[str] = ()) -> str:
    """Name the conditions of a result: no CPU result passes for a GPU result, no open room for a closed one."""
    where = f"GPU ({modes.current().device})" if mode == "gpu" else "CPU (Triton interpreter)"
    known = [seed, where, *(f"{k} {versions[k]}" for k in ("torch", "triton") if k in versions)]
    return ", ".join([*known, *(f"without {piece}" for piece in lacks)])


def text(found: CheckResult) -> str:
    return found.message


def first_and_rest(message: str) -> tuple[str, str]:
    """Split a message into its diagnosis, also one that was too long for a line, and the rest."""
    lines, n = message.split("\n"), 1
    while n < len(lines) and lines[n].strip() and not lines[n - 1].endswith((".", "?")):
        if len(lines[n - 1]) + 1 + len(lines[n].split()[0]) <= WIDTH:  # the diagnosis was not broken here
            break
        n += 1
    return " ".join(lines[:n]), "\n".join(lines[n:])


def table_lines(table: Table) -> list[str]:
    """Format a table as text, columns aligned to the right, under its caption."""
    caption = textwrap.wrap(table.caption, WIDTH) if table.caption else []
    if not table.rows:
        return caption
    return caption + [f"  {line}" for line in columns([table.header, *table.rows], right=True)]
