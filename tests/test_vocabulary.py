"""docs/vocabulary.md and the map of docs/engine.md hold of the code: one word, one meaning, where a machine can tell."""

import ast
import functools
import re
from collections import defaultdict
from types import SimpleNamespace

import pytest

from dcplab import paths
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.forward_batch import ForwardBatch
from dcplab.engine.rank_step import RankStep
from dcplab.engine.shared import Worker
from dcplab.investigate.records import CheckedFigure

ROOT = paths.root()
SRC = ROOT / "src" / "dcplab"
ALIAS = "formerly"  # what makes an earlier name of an attribute readable


def rows(document, header):
    """The cells of each row of the table under ``header``."""
    lines = (ROOT / "docs" / document).read_text(encoding="utf-8").splitlines()
    start = lines.index(header) + 2
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[start:end]]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def names(tree):
    """Every name of a module with its line: variables, arguments, functions, classes, attributes, keywords. The earlier names
    of attributes are left out."""
    aliases = {
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == ALIAS
        for target in node.targets
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node not in aliases:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.end_lineno
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.lineno


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def names_in(path):
    return tuple(names(parsed(path)))


def second_uses(forbidden, sources):
    """``name in file:line`` of every forbidden name. ``sources``: file -> its names, each with its line."""
    return [f"{name} in {file}:{line}" for file, found in sources.items() for name, line in found if name in forbidden]


@pytest.mark.parametrize("word, meaning, where", rows("vocabulary.md", "| word | its one meaning | where |"))
def test_a_word_is_where_the_glossary_says(word, meaning, where):
    file, name = quoted(where)
    assert meaning and name in {found for found, _ in names_in(SRC / file)}


@pytest.mark.parametrize("forbidden, instead, where", rows("vocabulary.md", "| not | but | in |"))
def test_a_word_has_no_second_use(forbidden, instead, where):
    files = [path for pattern in quoted(where) for path in SRC.glob(pattern)]
    assert instead and files
    assert not second_uses(quoted(forbidden), {path.relative_to(ROOT): names_in(path) for path in files})


def test_a_second_use_is_seen_however_it_comes():
    text = "def f(row): ...\nrow = 1\nx.row\nf(row=2)\nclass row: ...\nrow = formerly('token')\n'row'  # row"
    assert sorted(second_uses({"row"}, {"m": names(ast.parse(text))})) == [f"row in m:{line}" for line in (1, 2, 3, 4, 5)]


def test_no_two_classes_have_one_name():
    homes = defaultdict(list)
    for folder in (SRC, ROOT / "kernels" / "dcp_kernels"):
        for path in folder.rglob("*.py"):
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(str(path.relative_to(ROOT)))
    assert len(homes) > 100
    assert not {name: files for name, files in homes.items() if len(files) > 1}


def members(folder):
    """``Class.member`` and ``module.function`` of every module in a folder, and the classes."""
    known = set()
    for path in folder.glob("*.py"):
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef):
                known.add(f"{path.stem}.{node.name}")
            if isinstance(node, ast.ClassDef):
                known.add(node.name)
                for part in ast.walk(node):
                    if isinstance(part, ast.FunctionDef):
                        known.add(f"{node.name}.{part.name}")
                    elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        known.add(f"{node.name}.{part.target.id}")
                    elif isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self":
                        known.add(f"{node.name}.{part.attr}")
    return known


def test_the_map_names_what_the_engine_has():
    table = rows("engine.md", "| here | SGLang | vLLM |")
    assert len(table) >= 25 and all(len(row) == 3 and all(row) for row in table)
    ours = [name for here, _, _ in table for name in quoted(here)]
    assert len(set(ours)) == len(ours)
    assert not set(ours) - members(SRC / "engine")


def test_the_map_has_every_option_of_a_server_and_every_operation_of_a_rank():
    mapped = {name for here, _, _ in rows("engine.md", "| here | SGLang | vLLM |") for name in quoted(here)}
    options = {f"ServerConfig.{name}" for name in ServerConfig.__dataclass_fields__}
    operations = {f"RankStep.{name}" for name in vars(RankStep) if not name.startswith("_")} - {
        "RankStep.replicated",  # a field with a default: the draft's step
        "RankStep.dcp_size",  # the server's
        "RankStep.interleave",
        "RankStep.index_k_sharded",
    }
    assert len(operations) > 15 and not (options | operations) - mapped


def test_saved_cells_may_use_the_earlier_names():
    fields = dict.fromkeys(ForwardBatch.__dataclass_fields__)
    batch = ForwardBatch(**fields | dict(out_cache_loc=1, req_of_token=2, req_pool_indices=3, forward_mode="extend"))
    assert (batch.out_locs, batch.req_of_row, batch.slots, batch.mode) == (1, 2, 3, "extend")
    with pytest.raises(AttributeError):
        batch.out_locs = 4
    worker = Worker(0, None)
    worker.activations = SimpleNamespace(latent=5)
    assert worker.stream.latent == 5
    assert CheckedFigure("rank", "right", "0", "").said == "0"
