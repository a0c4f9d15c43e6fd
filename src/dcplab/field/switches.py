"""Takes the course's switches out of the engine's sources: a checkout has the engine as it is where none is on.

A list of switches would say half of where a fault may be. Conditions that ask for one are decided, what hands them on is left
out, and so is what nobody calls any more; every other line stays as it is. Our own: of what rewrites Python and keeps its
comments, nothing else is needed here.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PASSED_ON = {"defects", "raw", "twice"}  # parameters that are given nothing else than a switch
ASKS = {"has", "raw_write"}  # functions that ask for one
WIDTH = 128  # of a line

Known = Mapping[str, bool]  # names whose value is known then


def taken_out(name: str, text: str) -> str:
    """Return a module's text without switches. ``name``: of its file, for what is said of them in words (switches.toml)."""
    for one in _in_words().get(name, []):
        if text.count(one["before"]) != 1:
            raise LookupError(f"{name} does not hold once: {one['before']!r}")
        text = text.replace(one["before"], one["after"])
    made = _Module(text).without()
    while (fewer := _without_unused(made, text)) != made:
        made = fewer
    return made


@functools.cache
def _in_words() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).with_name("catalogue") / "switches.toml").read_text(encoding="utf-8"))


class _Module:
    """A source by its lines, and its statements one by one."""

    def __init__(self, text: str):
        self.lines = text.split("\n")
        self.tree = ast.parse(text)

    def without(self) -> str:
        body, end = self.tree.body, self.tree.body[-1].end_lineno or 0
        return "\n".join([*self._body(body, 1, {}), *self.lines[end:]])

    def _body(self, statements: list[ast.stmt], at: int, known: dict[str, bool]) -> list[str]:
        """Return the lines of a body, which begins in line ``at`` with what stands before its first statement."""
        out: list[str] = []
        for one in statements:
            lead = self.lines[at - 1 : _first(one) - 1]
            if (piece := self._statement(one, known)) is not None:
                out += [*lead, *piece]
            at = (one.end_lineno or 0) + 1
        return out

    def _statement(self, one: ast.stmt, known: dict[str, bool]) -> list[str] | None:
        """Return a statement's lines; None if it goes."""
        match one:
            case ast.If():
                return self._if(one, known)
            case ast.FunctionDef(name=name) if name in ASKS:
                return None
            case ast.FunctionDef() | ast.ClassDef():
                inner = dict(known)
                if isinstance(one, ast.FunctionDef):
                    given = {arg.arg for arg in [*one.args.args, *one.args.kwonlyargs]}
                    inner |= dict.fromkeys(given & (PASSED_ON - {"defects"}), False)
                return self._compound(one, inner)
            case ast.For() | ast.While() | ast.With() | ast.Try():
                return self._compound(one, known)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (is_so := _truth(value, known)) is not None:
                known[name] = is_so
                return None if _asks(value, known) else self._own(one)
            case ast.Assign(targets=[ast.Attribute(attr="defects")]) | ast.AnnAssign(target=ast.Name(id="defects")):
                return None
        made = _Without(known).visit(copy.deepcopy(one))
        return self._own(one) if _same(one, made) else _spelled(made, one.col_offset)

    def _if(self, one: ast.If, known: dict[str, bool]) -> list[str] | None:
        is_so, chained = _truth(one.test, known), self._chained(one)
        if is_so is True:
            return _moved(self._body(one.body, self._after_head(one), known))
        if is_so is False and chained:
            found = self._if(chained, known)
            return found and [re.sub(r"^(\s*)elif\b", r"\1if", found[0]), *found[1:]]
        if is_so is False:
            return _moved(self._body(one.orelse, self._else(one) + 1, known)) if one.orelse else None
        out = self._compound(one, known)
        if chained and (rest := self._if(chained, known)):
            if _truth(chained.test, known) is None or rest[0].lstrip().startswith(("if ", "elif ")):
                return [*out, re.sub(r"^(\s*)if\b", r"\1elif", rest[0]), *rest[1:]]
            return [*out, " " * one.col_offset + "else:", *(" " * 4 + line if line else line for line in rest)]
        if one.orelse and not chained:
            out += [self.lines[self._else(one) - 1], *self._body(one.orelse, self._else(one) + 1, known)]
        return out

    def _compound(self, one: Any, known: dict[str, bool]) -> list[str]:
        """Return the lines of a statement with a body: its head, then what is in it."""
        if isinstance(one, ast.Try) or (getattr(one, "orelse", None) and not isinstance(one, ast.If)) or self._in_its_head(one):
            if not _same(one, _Without(known).visit(copy.deepcopy(one))):
                raise NotImplementedError(f"line {one.lineno}: a switch in what has several bodies, or none")
            return self._own(one)
        head = copy.deepcopy(one)
        head.body, head.orelse = [ast.Pass()], []
        made = _Without(known).visit(copy.deepcopy(head))
        after = self._after_head(one)
        own = self.lines[_first(one) - 1 : after - 1]
        lines = own if _same(head, made) else _spelled(made, one.col_offset)[:-1]
        return [*lines, *self._body(one.body, after, known)]

    def _in_its_head(self, one: Any) -> bool:
        """Return True if a body stands on the line of its head."""
        return not self._code(_first(one.body[0]) - 1).endswith(":") and one.body[0].lineno == one.lineno

    def _after_head(self, one: Any) -> int:
        """Return the first line after the head of a compound statement, whose last one ends with a colon."""
        lines = range(_first(one.body[0]) - 1, one.lineno - 1, -1)
        return next(n for n in lines if self._code(n).endswith(":")) + 1

    def _code(self, number: int) -> str:
        line = self.lines[number - 1]
        return "" if line.lstrip().startswith("#") else line.partition("  #")[0].rstrip()

    def _chained(self, one: ast.If) -> ast.If | None:
        if len(one.orelse) == 1 and isinstance(one.orelse[0], ast.If):
            if self.lines[one.orelse[0].lineno - 1].lstrip().startswith("elif"):
                return one.orelse[0]
        return None

    def _else(self, one: ast.If) -> int:
        return next(n for n in range(_first(one.orelse[0]) - 1, 0, -1) if self._code(n).strip() == "else:")

    def _own(self, one: ast.stmt) -> list[str]:
        return self.lines[_first(one) - 1 : one.end_lineno]


class _Without(ast.NodeTransformer):
    """Decides what asks for a switch in an expression, and leaves out what hands them on."""

    def __init__(self, known: Known):
        self.known = known

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and _asks(node, self.known) and (is_so := _truth(node, self.known)) is not None:
            return ast.Constant(is_so)
        return super().visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        is_so = _truth(node.test, self.known)
        return self.generic_visit(node) if is_so is None else self.visit(node.body if is_so else node.orelse)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.ifs = [one for one in node.ifs if _truth(one, self.known) is not True]
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        left = [self.visit(one) for one in node.values if _truth(one, self.known) is None]
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_Call(self, node: ast.Call) -> Any:
        node.args = [one for one in node.args if not self._handed_on(one)]
        node.keywords = [one for one in node.keywords if not self._handed_on(one.value)]
        return self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        node.elts = [one for one in node.elts if not self._handed_on(one)]
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> Any:
        kept = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if getattr(k, "value", "") != "defects"]
        node.keys, node.values = [k for k, _ in kept], [v for _, v in kept]
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> Any:
        required = len(node.args) - len(node.defaults)
        pairs = [(arg, node.defaults[i - required] if i >= required else None) for i, arg in enumerate(node.args)]
        kept = [(arg, default) for arg, default in pairs if arg.arg not in PASSED_ON]
        node.args, node.defaults = [arg for arg, _ in kept], [default for _, default in kept if default]
        return node

    def _handed_on(self, node: ast.expr) -> bool:
        return _is_defects(node) or (_asks(node, self.known) and _truth(node, self.known) is False)


def _truth(node: ast.expr, known: Known) -> bool | None:
    """Return what a test gives where no switch is on; None if that is not known."""
    match node:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Compare(comparators=[of], ops=[ast.In()]) if _is_defects(of):
            return False
        case ast.Compare(comparators=[of], ops=[ast.NotIn()]) if _is_defects(of):
            return True
        case ast.BinOp(left=left, op=ast.BitAnd()) if _is_defects(left):
            return False
        case ast.Call(func=ast.Attribute(attr="has"), args=[ast.Constant()]) | ast.Attribute(attr="raw_write"):
            return False
        case ast.UnaryOp(op=ast.Not(), operand=of):
            return None if (is_so := _truth(of, known)) is None else not is_so
        case ast.BoolOp(op=op, values=values):
            each, decides = [_truth(one, known) for one in values], isinstance(op, ast.Or)
            return decides if decides in each else None if None in each else not decides
    return None


def _asks(node: ast.AST, known: Known) -> bool:
    """Return True if an expression names a switch, or a name that stands for one."""
    return any(
        (isinstance(one, ast.Name) and (one.id in known or one.id == "defects"))
        or (isinstance(one, ast.Attribute) and one.attr in ASKS | {"defects"})
        for one in ast.walk(node)
    )


def _is_defects(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "defects") or (isinstance(node, ast.Attribute) and node.attr == "defects")


def _without_unused(text: str, before: str) -> str:
    """Leave out private functions, constants and imports that were used ``before`` and are not any more."""
    tree, lines = ast.parse(text), text.split("\n")
    gone: list[tuple[int, int, list[str]]] = []
    for one in _definitions(tree):
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            kept = [alias for alias in one.names if not _lost(alias.asname or alias.name, text, before)]
            if len(kept) != len(one.names) and getattr(one, "module", "") != "__future__":
                gone.append((one.lineno, one.end_lineno or 0, _spelled(_with_names(one, kept), 0) if kept else []))
        elif isinstance(one, ast.Assign):
            target = one.targets[0]
            if isinstance(target, ast.Name) and target.id.isupper() and _lost(target.id, text, before):
                gone.append((_comment_above(lines, one.lineno), one.end_lineno or 0, []))
        elif one.name.startswith("_") and not one.name.startswith("__") and _lost(one.name, text, before):
            first = _first(one)
            first -= next(n for n in range(first) if first - n - 2 < 0 or lines[first - n - 2].strip())
            gone.append((first, one.end_lineno or 0, []))
    for first, last, instead in reversed(gone):
        lines[first - 1 : last] = instead
    return "\n".join(lines)


def _definitions(tree: ast.Module) -> Iterator[Any]:
    for one in tree.body:
        if isinstance(one, (ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)):
            yield one
        if isinstance(one, ast.ClassDef):
            yield from (inner for inner in one.body if isinstance(inner, ast.FunctionDef))


def _lost(name: str, text: str, before: str) -> bool:
    word = rf"\b{re.escape(name)}\b"
    return len(re.findall(word, text)) == 1 and len(re.findall(word, before)) > 1


def _with_names(one: Any, names: list[ast.alias]) -> ast.stmt:
    made = copy.deepcopy(one)
    made.names = names
    return made


def _comment_above(lines: list[str], first: int) -> int:
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    while first > 2 and not lines[first - 2].strip() and not lines[first - 3].strip():
        first -= 1
    return first


def _first(one: Any) -> int:
    return min([one.lineno, *(d.lineno for d in getattr(one, "decorator_list", []))])


def _same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


def _spelled(node: ast.AST, indent: int) -> list[str]:
    lines = []
    for line in ast.unparse(node).split("\n"):
        line = re.sub(r"(: [\w.\[\] |]+)=(?=[\w(])", r"\1 = ", line) if isinstance(node, ast.FunctionDef) else line
        line = re.sub(r"^(return|[\w, ]+ =) \((.*)\)$", r"\1 \2", line) if _is_tuple(node) else line
        lines += _broken(" " * indent + (line if '"' in line else line.replace("'", '"')))
    return lines


def _is_tuple(node: ast.AST) -> bool:
    return isinstance(getattr(node, "value", None), ast.Tuple)


def _broken(line: str) -> list[str]:
    """Return a line; one that is too long as three: what is in its first bracket on a line of its own."""
    if len(line) <= WIDTH:
        return [line]
    inner, indent = line[line.index("(") + 1 : line.rindex(")")], " " * (len(line) - len(line.lstrip()))
    parts = textwrap.wrap(inner, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return [line[: line.index("(") + 1], *(f"{indent}    {part}" for part in parts), indent + line[line.rindex(")") :]]


def _moved(lines: list[str]) -> list[str]:
    """Return a body's lines, a level further out."""
    return [line.removeprefix(" " * 4) for line in lines]
