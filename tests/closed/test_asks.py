"""What a lab's notebook calls, a closed book's service answers or refuses with a sentence of its own."""

import ast

import pytest

from dcplab.author import build
from dcplab.closed import asks, worker
from dcplab.course import catalog


def called(lab):
    """The dotted names, below `dcplab`, that the learner's notebook of a lab takes from the course."""
    trees = [ast.parse(cell.source) for cell in build.make(lab).learner.cells if cell.cell_type == "code"]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("dcplab.")
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dcplab")
        for alias in node.names
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            yield f"{imported[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported:
            yield imported[node.func.id]


@pytest.mark.parametrize("lab", catalog.checked(), ids=lambda lab: lab.name)
def test_every_call_of_a_notebook_is_named(lab):
    names = set(called(lab))
    assert names >= {"lab.start", "lab.check", "lab.predict"}
    own = worker._special({"state": "", "hints": 0})
    for name in sorted(names - own.keys() - asks.CLOSED.keys()):
        assert asks.named(name).name == name
