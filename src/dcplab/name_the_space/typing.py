"""Follows the space of each index through a few lines of Python, and finds the first line that mixes two.

The lines are read, not run: an expression's type is made from those of its parts by the tables below, which are the arrows of
docs/vocabulary.md. What a table has no entry for mixes two spaces. A space is a word: "loc", "row".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

POSITION, LOC, ROW, RANK = "position", "loc", "row", "rank"
INDEX_K_PAGE, ALLOCATOR_PAGE = "index-K page", "allocator page"
BYTE, FLOAT = "byte", "float"  # of index-K, which a kernel is given twice
TOKEN, ELEMENT = "token", "element"  # a step's tokens, end to end; numbers of c-KV, row after row
REQUEST, RAGGED, GATHERED = "request", "ragged index", "gathered row"
SRC_LOC, SRC_ROW, SRC_RANK, SENT = (
    "source loc",
    "source row",
    "source rank",
    "sent row",
)  # of the node that a request comes from

# Numbers on the way: an entry of a page table, a place within a page, a position's turn, a request's n-th new token.
ENTRY_P, ENTRY_W, PLACE_P, PLACE_W, PLACE_ROW = "position // P", "position // W", "loc % P", "loc % W", "row % P"
PLACE_BYTE, SOURCE, TURN, NTH = "byte of a page", "element of the source", "position // D", "token of a request"
D, P, W, S = "D", "P", "W", "S"
KEY_BYTES, SCALE_BYTES, KEYS, PAGE_BYTES, STRIDE, SOURCE_STRIDE = (
    "bytes of a key", "bytes of a scale", "bytes of a page's keys", "bytes of a page", "elements of a row", "of a source's row",
)  # fmt: skip


@dataclass(frozen=True)
class Index:
    """An index, or a tensor of them, in a space."""

    space: str


@dataclass(frozen=True)
class Bound:
    """How many indices a space has in some buffer or request: what an index of that space is compared with."""

    space: str


@dataclass(frozen=True)
class Size:
    """How many of one thing make one of another: D, P, W, S, their product, or bytes, floats and elements of a page or row."""

    name: str


@dataclass(frozen=True)
class Store:
    """A buffer or table: the spaces that it is read by, and the space of what it holds (None: no index)."""

    keys: tuple[str, ...]
    holds: str | None = None


@dataclass(frozen=True)
class Call:
    """A function: the space that each argument must be in (None: no index)."""

    takes: tuple[str | None, ...]


@dataclass(frozen=True)
class NoIndex:
    """Neither an index nor a size: values, a mask, a plain number, or what came of a mix."""

    what: str


Type = Index | Bound | Size | Store | Call | NoIndex
VALUES, MASK, NUMBER, MIXED = NoIndex("values"), NoIndex("mask"), NoIndex("number"), NoIndex("mixed")

DIVIDED = {
    (POSITION, P): ENTRY_P, (POSITION, W): ENTRY_W,
    (LOC, D): ROW, (LOC, P): INDEX_K_PAGE, (LOC, W): ALLOCATOR_PAGE,
    (ROW, P): ALLOCATOR_PAGE, (INDEX_K_PAGE, D): ALLOCATOR_PAGE, (PLACE_W, D): PLACE_ROW,
    (BYTE, SCALE_BYTES): FLOAT, (BYTE, PAGE_BYTES): INDEX_K_PAGE, (ELEMENT, STRIDE): ROW, (POSITION, D): TURN,
    (SRC_LOC, S): SRC_ROW, (POSITION, S): SENT,
}  # fmt: skip
REMAINDER = {
    (POSITION, P): PLACE_P, (POSITION, W): PLACE_W, (POSITION, D): RANK,  # a request begins on an allocator page
    (LOC, D): RANK, (LOC, P): PLACE_P, (LOC, W): PLACE_W, (ROW, P): PLACE_ROW, (PLACE_W, D): RANK,
    (SRC_LOC, S): SRC_RANK, (POSITION, S): SRC_RANK,
}  # fmt: skip
TIMES = {
    (ROW, D): LOC, (INDEX_K_PAGE, P): LOC, (ALLOCATOR_PAGE, P): ROW, (ALLOCATOR_PAGE, W): LOC,
    (ALLOCATOR_PAGE, D): INDEX_K_PAGE, (INDEX_K_PAGE, PAGE_BYTES): BYTE, (PLACE_P, KEY_BYTES): PLACE_BYTE,
    (ROW, STRIDE): ELEMENT, (TOKEN, SOURCE_STRIDE): SOURCE,
    (SRC_ROW, S): SRC_LOC, (SENT, S): POSITION,
}  # fmt: skip
PLUS = {(LOC, RANK): LOC, (LOC, PLACE_P): LOC, (LOC, PLACE_W): LOC, (ROW, PLACE_ROW): ROW}
PLUS |= {(BYTE, PLACE_BYTE): BYTE, (FLOAT, PLACE_P): FLOAT, (POSITION, NTH): POSITION, (TOKEN, NTH): TOKEN}
PLUS |= {(SRC_LOC, SRC_RANK): SRC_LOC, (POSITION, SRC_RANK): POSITION}
PLUS |= {(RAGGED, POSITION): RAGGED, (GATHERED, TURN): GATHERED}
MINUS = {(RAGGED, RAGGED): POSITION, (TOKEN, TOKEN): NTH}
PRODUCTS = {frozenset((D, P)): W, frozenset((P, KEY_BYTES)): KEYS}
MORE = {(BYTE, KEYS): BYTE}  # an index and a size
SPARE = {(ROW, P): ROW, (LOC, W): LOC}  # how many, and a spare page
PAGES = {INDEX_K_PAGE, ALLOCATOR_PAGE}
ARITHMETIC = {ast.FloorDiv: DIVIDED, ast.Mod: REMAINDER, ast.Mult: TIMES}
SAME = {"unique", "long", "int", "flatten", "clone", "max"}  # methods that leave an index where it is


@dataclass
class Reading:
    """What was found in a snippet. ``used``: each index that a line uses, as (line, text, space), in order. ``mixes``: the
    lines that mix two spaces; what follows the first may be a consequence."""

    names: dict[str, Type]
    used: list[tuple[int, str, str]] = field(default_factory=list)
    mixes: list[int] = field(default_factory=list)

    @property
    def line(self) -> int:
        """Return the first line that mixes two spaces, or 0."""
        return min(self.mixes, default=0)


def read(lines: str, names: Mapping[str, Type], numbers: Mapping[int, str] | None = None) -> Reading:
    """Follow the spaces through ``lines``. ``names``: the types of what is given. ``numbers``: sizes written as numbers.

    Raises KeyError for a name that is not given, and NotImplementedError for what a snippet may not have.
    """
    found = Reading(dict(names))
    reader = _Reader(found, dict(numbers or {}))
    for statement in ast.parse(lines).body:
        reader.statement(statement)
    return found


class _Reader:
    def __init__(self, found: Reading, numbers: Mapping[int, str]):
        self.found, self.numbers = found, numbers

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self.store(target, self.of(value))
            case ast.AugAssign(target=target, value=value):
                self.of(value)
                self.of(target)
            case ast.Expr(value=value) | ast.Assert(test=value):
                self.of(value)
            case _:
                raise NotImplementedError(ast.unparse(node))

    def store(self, target: ast.expr, value: Type) -> None:
        if isinstance(target, ast.Name):
            self.found.names[target.id] = value
            return
        held = self.of(target)
        if isinstance(held, Index) and isinstance(value, Index) and held != value:
            self.mix(target)

    def mix(self, node: ast.expr) -> Type:
        self.found.mixes.append(node.lineno)
        return MIXED

    def use(self, node: ast.expr, space: str | None) -> bool:
        """Note that an index, or how many there are, is used where ``space`` is needed. Return whether it is in another."""
        kind = self.noted(node)
        if isinstance(kind, Bound):  # `:n` takes the first n
            return kind.space != space
        return isinstance(kind, Index) and kind.space != space

    def noted(self, node: ast.expr) -> Type:
        """Return the type of an operand, a key or an argument, and note it if it is an index."""
        kind = self.of(node)
        if isinstance(kind, Index | Bound):
            self.found.used.append((node.lineno, ast.unparse(node), kind.space))
        return kind

    def of(self, node: ast.expr) -> Type:
        match node:
            case ast.Name(id=name):
                return self.found.names[name]
            case ast.Constant(value=int(n)) if not isinstance(n, bool):
                return Size(self.numbers[n]) if n in self.numbers else NUMBER
            case ast.Constant() | ast.UnaryOp():
                return NUMBER
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(node, self.noted(left), op, self.noted(right))
            case ast.Compare(left=left, comparators=[right]):
                return self.compare(node, left, right)
            case ast.Subscript(value=value, slice=key):
                return self.subscript(node, self.of(value), key)
            case ast.Call(func=func, args=args):
                return self.call(node, func, args)
        raise NotImplementedError(ast.unparse(node))

    def arithmetic(self, node: ast.expr, left: Type, op: ast.operator, right: Type) -> Type:
        if MIXED in (left, right):
            return MIXED
        if isinstance(left, Size) and isinstance(right, Size):
            return Size(PRODUCTS[frozenset((left.name, right.name))])
        if isinstance(left, Bound):
            return self.count(node, left, op, right)
        if not isinstance(left, Index):
            return VALUES if left in (VALUES, MASK) else self.mix(node)
        space = None
        if isinstance(right, Size) and type(op) in ARITHMETIC:
            space = ARITHMETIC[type(op)].get((left.space, right.name))
        elif isinstance(op, ast.Add | ast.Sub):
            space = self.sum(left, op, right)
        return Index(space) if space else self.mix(node)

    def count(self, node: ast.expr, left: Bound, op: ast.operator, right: Type) -> Type:
        """Type arithmetic on a count: a count of something else, one page more, or, less 1, the last index."""
        if isinstance(right, Size) and isinstance(op, ast.FloorDiv | ast.Mult):
            space = ARITHMETIC[type(op)].get((left.space, right.name))
        elif isinstance(right, Size) and isinstance(op, ast.Add):
            if (left.space, right.name) == (LOC, P):  # short by (D - 1) * P, and still a number of locs
                raise NotImplementedError(ast.unparse(node))
            space = SPARE.get((left.space, right.name))
        elif isinstance(op, ast.Sub) and right == NUMBER:
            return Index(left.space)
        else:
            space = left.space if right == NUMBER and left.space in PAGES else None
        return Bound(space) if space else self.mix(node)

    @staticmethod
    def sum(left: Index, op: ast.operator, right: Type) -> str | None:
        match right:
            case Index(space):
                return (PLUS if isinstance(op, ast.Add) else MINUS).get((left.space, space))
            case Size(name):
                return MORE.get((left.space, name)) if isinstance(op, ast.Add) else None
        return left.space if right == NUMBER else None

    def compare(self, node: ast.Compare, left: ast.expr, right: ast.expr) -> Type:
        kinds = self.noted(left), self.noted(right)
        spaces = {kind.space for kind in kinds if isinstance(kind, Index | Bound)}
        if len(spaces) > 1:
            self.mix(node)
        return MASK

    def subscript(self, node: ast.expr, value: Type, key: ast.expr) -> Type:
        keys = key.elts if isinstance(key, ast.Tuple) else [key]
        if isinstance(value, Store):
            wrong = [self.use(part, space) for part, space in self.against(keys, value.keys)]
            if any(wrong):
                self.mix(node)
            return Index(value.holds) if value.holds else VALUES
        for part in keys:
            if not isinstance(part, ast.Slice | ast.Constant) and self.of(part) not in (MASK, MIXED):
                raise NotImplementedError(ast.unparse(node))
        return value

    @staticmethod
    def against(keys: list[ast.expr], spaces: tuple[str, ...]) -> Iterator[tuple[ast.expr, str]]:
        for part, space in zip(keys, spaces, strict=True):
            if not isinstance(part, ast.Slice):
                yield part, space
            elif part.upper is not None:
                yield part.upper, space

    def call(self, node: ast.expr, func: ast.expr, args: list[ast.expr]) -> Type:
        if isinstance(func, ast.Attribute):
            if isinstance(func.value, ast.Name) and func.value.id == "torch":
                return self.torch(node, func.attr, args)
            if func.attr in SAME:
                return self.of(func.value)
            raise NotImplementedError(ast.unparse(node))
        called = self.of(func)
        assert isinstance(called, Call), ast.unparse(node)
        wrong = [self.use(arg, space) if space else self.of(arg) is None for arg, space in zip(args, called.takes, strict=True)]
        if any(wrong):
            self.mix(node)
        return VALUES

    def torch(self, node: ast.expr, name: str, args: list[ast.expr]) -> Type:
        if name == "arange":
            kind = self.of(args[0])
            return Index(kind.space) if isinstance(kind, Bound) else NUMBER
        if name == "where":
            self.of(args[0])
            args = args[1:]
        elif name == "cat":
            assert isinstance(args[0], ast.List)
            args = args[0].elts
        else:
            raise NotImplementedError(ast.unparse(node))
        kinds = {kind for kind in map(self.noted, args) if kind != NUMBER}
        if MIXED in kinds:
            return MIXED
        return kinds.pop() if len(kinds) == 1 else self.mix(node)
