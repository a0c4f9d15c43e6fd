"""A CUDA context that is lost in a process that goes on: who is told what. No GPU is needed: what CUDA says is raised."""

import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from dcplab.cli import main
from dcplab.commands import doctor

pytestmark = pytest.mark.slow  # notebooks run

SAYS = "CUDA error: an illegal memory access was encountered"


def test_a_learner_whose_own_cell_did_it_is_told_what_to_do():
    cells = [
        "from dcplab import lab; lab.start('01')",
        f"raise RuntimeError({SAYS!r})",
        "raise RuntimeError('CUDA error: invalid argument')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    NotebookClient(book, timeout=120, store_widget_state=False, allow_errors=True).execute()
    told = ["".join(o.get("text", "") for o in cell.outputs if o.output_type == "stream") for cell in book.cells]
    assert "(CUDA error: an illegal memory access)" in told[1] and "Restart the kernel" in told[1]
    assert "Restart" not in told[0] + told[2]


def test_a_command_says_it_in_a_sentence(capsys, monkeypatch):
    def run(args):
        raise RuntimeError(f"{SAYS}\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.")

    monkeypatch.setattr(doctor, "run", run)
    assert main(["doctor"]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and "Nothing of this run counts; start it again." in err


def test_no_test_runs_after_one_that_lost_the_context(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import torch\ntorch.cuda.is_available = lambda: True\nfrom tests.conftest import pytest_exception_interact\n"
    )
    (tmp_path / "test_it.py").write_text(f"def test_a():\n    raise RuntimeError({SAYS!r})\n\ndef test_b():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (
        "1 failed" in done.stdout and "passed" not in done.stdout and "No test after test_it.py::test_a was run" in done.stdout
    )
