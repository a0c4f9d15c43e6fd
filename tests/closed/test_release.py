"""A learner's checkout of a closed book holds no solution, bank, oracle, hint or seed, by content; the search would see one."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import search

from dcplab import paths
from dcplab.author import build
from dcplab.cli import main
from dcplab.closed import release
from dcplab.course import catalog
from dcplab.errors import CourseError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(released):
    """Everything that the checkout holds, once as words and signs, once as shapes of functions."""
    held = list(search.texts(released))
    given = "\n".join(text for lab in catalog.checked() for _, text in search.within("", starters(lab)))
    assert len(held) > 60, "files and git's objects"
    return held, given


def starters(lab):
    """The learner's notebook, which everybody gets: what a bank's answer shares with it is no secret."""
    return build.to_text(build.make(lab).learner).encode()


def texts_with(held, wanted):
    return [where for where, text in held if wanted in text]


def test_no_solution_is_there_in_any_layout(found):
    held = [(where, search.code(text)) for where, text in found[0]]
    held += [(where, search.tokens(text)) for where, text in found[0]]
    regions = [one for lab in catalog.checked() for one in search.solutions(lab)]
    assert len(regions) >= 41
    for which, source in regions:
        wanted = search.code(source)
        assert not texts_with(held, wanted), f"{which}: {source}"


def test_no_answer_of_a_bank_is_there(found):
    held = [(where, search.tokens(text)) for where, text in found[0]]
    here = {shape for _, text in found[0] for shape in search.shapes(text)}
    here |= {shape for _, text in found[0] for cell in re.split(r"\n(?=def |@)", text) for shape in search.shapes(cell)}
    given = {
        shape for lab in catalog.labs() for cell in lab.cells if cell.role != "answer" for shape in search.shapes(cell.source)
    }
    answers = [one for lab in catalog.labs() for one in (*lab.wrong, *lab.right)]
    assert len(answers) > 1000
    for one in answers:
        for shape, name in search.shapes(one.source).items():
            assert shape not in here - given, f"{one.id}: {name}"
    for one in (wrong for lab in catalog.labs() for wrong in lab.wrong):
        for sentence in (one.says, one.asks):
            assert not texts_with(held, search.tokens(sentence)), f"{one.id}: {sentence}"


def test_no_oracle_and_no_function_of_the_course_is_there(found, released):
    shared = {p.read_text() for p in (released / "src").rglob("*.py")}
    own = {shape for text in shared for shape in search.shapes(text)}
    root = paths.root()
    front = {p.resolve() for p in (root / "src/dcplab/closed/front").rglob("*.py")}
    front |= {(root / "src/dcplab" / name).resolve() for name in release.SHARED}
    sources = [
        *root.glob("solutions/*/parts/*.py"),
        *(root / "kernels/dcp_kernels").rglob("*.py"),
        *(root / "src/dcplab").rglob("*.py"),
    ]
    counted = 0
    for path in sources:
        if path.resolve() in front:
            continue
        for shape, name in search.shapes(path.read_text()).items():
            counted += 1
            long = len(shape) > 400  # a short one, such as a property that returns a field, is anybody's
            assert not (long and shape in own), f"{path.name}: {name}"
    assert counted > 1500


def test_no_hint_no_prediction_and_no_seed_is_there(found):
    held = [(where, search.tokens(text)) for where, text in found[0]]
    for part in (part for lab in catalog.labs() for part in lab.parts):
        secrets = [*part.hints, *([part.prediction.because] if part.prediction else [])]
        for sentence in secrets:
            assert not texts_with(held, search.tokens(sentence)), f"{part.id}: {sentence}"
    solved = [json.loads(p.read_text()) for p in paths.solutions().glob("*/*.ipynb")]
    drawn = {n for nb in solved for n in re.findall(r"\bseed (\d{5,})", json.dumps(nb)) if n != "36886"}
    assert drawn, "the solved notebooks name the seeds that drew their inputs"
    for seed in drawn:
        assert not texts_with(held, f" {seed} "), seed


def test_a_script_without_the_service_gets_one_sentence(released):
    env = {name: value for name, value in os.environ.items() if not name.startswith("DCPLAB_")}
    env["PYTHONPATH"] = str(released / "src")
    code = "from dcplab import lab\nlab.check('1a')"
    done = subprocess.run([sys.executable, "-c", code], cwd=released, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "grading service" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("how", ["an output", "an older commit", "a packed object", "base64 of gzip", "a cache"])
def test_the_search_sees_what_is_hidden(released, tmp_path, how):
    book = tmp_path / "book"
    shutil.copytree(released, book)
    secret = "def mine(a, b):\n        owned = (locs >= 0)   &  (locs % dcp_size == dcp_rank)\n"
    wanted = search.tokens("(locs >= 0) & (locs % dcp_size == dcp_rank)")
    git = ["git", "-C", str(book), "-c", "user.name=a", "-c", "user.email=a@b"]
    if how == "an output":
        path = next(book.glob("labs/01*/*.ipynb"))
        nb = json.loads(path.read_text())
        code = next(cell for cell in nb["cells"] if cell["cell_type"] == "code")
        code["outputs"] = [{"output_type": "stream", "text": secret.splitlines(keepends=True)}]
        path.write_text(json.dumps(nb))
    elif how == "base64 of gzip":
        (book / "README.md").write_text(base64.b64encode(gzip.compress(secret.encode() * 3)).decode())
    elif how == "a cache":
        (book / ".cache" / "x").mkdir(parents=True)
        (book / ".cache" / "x" / "entry").write_text(secret)
    else:
        (book / "notes.txt").write_text(secret)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "notes"], check=True)
        subprocess.run([*git, "rm", "-q", "notes.txt"], check=True)
        subprocess.run([*git, "commit", "-qm", "none"], check=True)
        if how == "a packed object":
            subprocess.run([*git, "gc", "-q"], check=True)
            assert list((book / ".git/objects/pack").glob("*.pack"))
    assert texts_with([(where, search.tokens(text)) for where, text in search.texts(book)], wanted)


def test_a_release_is_renewed_and_nobody_elses_folder_is_touched(tmp_path, capsys):
    book = tmp_path / "book"
    assert main(["release", "--learners", str(book), "--lab", "01"]) == 0
    assert [p.name for p in (book / "labs").iterdir()] == ["01_index_spaces"]
    assert main(["release", "--learners", str(book), "--lab", "02"]) == 0
    assert [p.name for p in (book / "labs").iterdir()] == ["02_index_k_sizing"]
    log = subprocess.run(["git", "-C", str(book), "log", "--oneline"], capture_output=True, text=True).stdout
    assert len(log.splitlines()) == 2, "learners who cloned it may pull"
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years")
    with pytest.raises(CourseError, match="did not make it"):
        release.release(theirs, [], print)
    with pytest.raises(CourseError, match="outside"):
        release.release(paths.root() / "book", [], print)
    assert (theirs / "thesis.txt").read_text() == "years"
