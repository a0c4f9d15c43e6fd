"""Lab 05: an answer is run inside the engine, and finds no way to the wiring that the engine has of its own."""

from dataclasses import replace

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.notebook.extract import extract
from dcplab.reference import References

KEY = replace(catalog.lab("05").key("5a"), wrong=())  # without a bank: 30 s of servers would only look for a name
KEPT = References()


@pytest.mark.parametrize(
    "head, body",
    [
        ("import dcplab", "return dcplab.engine.backend.decode(step)"),
        ("import importlib", "return importlib.import_module('dcplab.engine.backend').decode(step)"),
        ("import sys", "return sys.modules[type(step).__module__].decode(step)"),
        ("import sys\nLOADED = dict(sys.modules)", "return LOADED['dcplab.engine.backend'].decode(step)"),
        ("OWN_FUNCTIONS = {'1c': 'from dcplab.engine import backend'}", "OWN_FUNCTIONS\n    return None"),
    ],
)
def test_the_engine_s_own_wiring_is_out_of_reach(head, body):
    program = extract([f"{head}\ndef decode_path(step):\n    {body}\n"], ("decode_path",))
    found = checking.check(KEY, program, seed=1, kept=KEPT)
    assert (found.outcome, found.points) == ("crashed", 0), found.message
    assert "Refused: An answer may not import dcplab" in found.detail or "KeyError" in found.detail
