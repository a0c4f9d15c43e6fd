"""`./course` in a checkout of its own, with a stand-in for uv: what it asks for, what it keeps, and how it fails."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import until

pytestmark = pytest.mark.slow  # environments are made

ROOT = Path(__file__).parents[1]
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Makes a venv with no packages; "installs" a dcplab that prints its words, or fails with UV_FAIL. With UV_WAITS it goes on
# once there is a file of that name.
FAKE_UV = r"""#!/bin/bash
echo "$*" >>"$CALLS"
case $1 in
--version) echo "uv 0" ;;
venv) exec python3 -m venv --without-pip "${@: -1}" ;;
pip)
    [[ -z ${UV_FAIL:-} ]] || { echo "$UV_FAIL" >&2; exit 1; }
    site=$(echo "$(dirname "$4")"/../lib/python3*/site-packages)
    mkdir -p "$site/dcplab" "$site/pytest"
    # Whoever sees the file may send a signal, and between a shell's fork and exec one can be lost: so the sleeper makes it.
    python3 -c 'import os, sys, time
open(sys.argv[1], "w").close()
while sys.argv[2] and not os.path.exists(sys.argv[2]): time.sleep(0.02)' "$site/half-installed" "${UV_WAITS:-}" || exit
    rm "$site/half-installed"
    echo 'import sys; print("dcplab", *sys.argv[1:])' >"$site/dcplab/__main__.py"
    echo 'import sys; print("pytest", *sys.argv[1:])' >"$site/pytest/__main__.py"
    ;;
esac
"""


def write_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


class Checkout:
    """A folder with the launcher in it, a home, and a PATH that begins with programs of ours."""

    def __init__(self, base: Path):
        self.root, self.bin, self.calls = base / "the checkout", base / "bin", base / "calls"
        for folder in (self.root, self.bin, base / "home"):
            folder.mkdir()
        for name in ("course", "pyproject.toml", "kernels/pyproject.toml", "pins.txt"):
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "scripts").mkdir()
        write_program(self.root / "scripts/check", "#!/bin/sh\necho checked; exit ${CHECK_STATUS:-0}\n")
        self.python = self.root / ".venv/bin/python"
        self.env = {"HOME": str(base / "home"), "PATH": f"{self.bin}:{SYSTEM}", "CALLS": str(self.calls), "LANG": "C.UTF-8"}
        write_program(self.bin / "python3", f'#!/bin/sh\nexec "{os.path.realpath(sys.executable)}" "$@"\n')
        write_program(self.bin / "uv", FAKE_UV)
        write_program(self.bin / "df", "#!/bin/sh\necho head; echo x 1 1 99999999 1% /\n")
        for name in ("chromium", "g++"):  # so that `./course test` misses nothing on the machine that runs this
            write_program(self.bin / name, "#!/bin/sh\n")

    def start(self, *words: str, stderr=subprocess.PIPE, **env: str) -> subprocess.Popen:
        return subprocess.Popen(
            [str(self.root / "course"), *words],
            env=self.env | env,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, **env: str) -> tuple[int, str, str]:
        process = self.start(*words, **env)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def count(self, what: str) -> int:
        """How often uv was called with words that begin so."""
        return sum(line.startswith(what) for line in self.calls.read_text().splitlines()) if self.calls.exists() else 0


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    return Checkout(tmp_path)


def test_it_makes_the_environment_once_and_passes_its_words_on(checkout):
    assert checkout.run("lab", "01", "--port", "9 9")[:2] == (0, "dcplab lab 01 --port 9 9\n")
    status, out, err = checkout.run("doctor")
    assert (status, out, err) == (0, "dcplab doctor\n", "")
    assert (checkout.count("venv"), checkout.count("pip install")) == (1, 1)


def test_it_says_what_it_does(checkout):
    err = checkout.run("lab")[2]
    assert "making .venv with Python 3." in err and "installing" in err and "ready" in err


def test_it_runs_from_any_folder_and_through_a_link(checkout, tmp_path):
    link = tmp_path / "elsewhere"
    link.symlink_to(checkout.root / "course")
    done = subprocess.run([link, "progress"], env=checkout.env, cwd="/", capture_output=True, text=True)
    assert done.stdout == "dcplab progress\n" and checkout.python.exists()


def test_new_pins_are_installed_into_the_environment_that_is_there(checkout):
    checkout.run("lab")
    with (checkout.root / "pins.txt").open("a") as pins:
        pins.write("six==1.17.0\n")
    assert checkout.run("lab")[0] == 0
    assert (checkout.count("venv"), checkout.count("pip install")) == (1, 2)


def test_tests_add_their_extra_once_and_the_plain_commands_keep_it(checkout):
    checkout.run("lab")
    assert checkout.run("test", "-k", "x")[1].startswith("checked\npytest -n 2") and checkout.run("test")[0] == 0
    checkout.run("lab")
    lines = [line for line in checkout.calls.read_text().splitlines() if line.startswith("pip install")]
    assert [line.endswith("[site,test]") for line in lines] == [False, True]


def test_the_site_adds_its_extra_when_it_is_asked_for_and_only_then(checkout):
    checkout.run("lab")
    checkout.run("site"), checkout.run("site", "--help")
    assert checkout.count("pip install") == 1, "a question about the command installs nothing"
    assert checkout.run("site", "out")[:2] == (0, "dcplab site out\n")
    checkout.run("site", "out"), checkout.run("lab")
    lines = [line for line in checkout.calls.read_text().splitlines() if line.startswith("pip install")]
    assert [line.endswith("[site]") for line in lines] == [False, True]
    checkout.run("test"), checkout.run("site", "out"), checkout.run("lab")
    assert checkout.count("pip install") == 3, "the tests need the site's packages too, and nothing is installed twice"


def test_no_test_runs_where_the_checks_fail(checkout):
    assert checkout.run("test", CHECK_STATUS="3")[:2] == (3, "checked\n")


def test_course_and_kernels_are_installed_together(checkout):
    checkout.run("lab")
    assert f"-c {checkout.root}/pins.txt -e {checkout.root}/kernels -e {checkout.root}\n" in checkout.calls.read_text()


def test_other_kernels_are_installed_into_the_environment_that_is_there(checkout):
    checkout.run("lab")
    with (checkout.root / "kernels/pyproject.toml").open("a") as file:
        file.write("# changed\n")
    checkout.run("lab")
    assert (checkout.count("venv"), checkout.count("pip install")) == (1, 2)


def test_the_words_after_test_go_to_pytest_last_so_they_win(checkout):
    assert checkout.run("test", "tests/a.py", "-n", "0")[1].split()[-3:] == ["tests/a.py", "-n", "0"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_installation_is_made_anew(checkout, sent):
    process = checkout.start("lab", UV_WAITS="/nowhere")
    site = until(lambda: next(checkout.root.glob(".venv/lib/python3*/site-packages/half-installed"), None))
    os.killpg(process.pid, sent)
    process.communicate(timeout=120)
    assert process.returncode != 0
    assert checkout.run("lab")[:2] == (0, "dcplab lab\n")
    assert not site.exists() and checkout.count("venv") == 2


def test_a_broken_environment_is_made_anew(checkout):
    checkout.run("lab")
    checkout.python.unlink()
    assert checkout.run("lab")[:2] == (0, "dcplab lab\n")
    assert checkout.count("venv") == 2


def test_a_moved_checkout_gets_an_environment_of_its_own(checkout):
    checkout.run("lab")
    checkout.root = checkout.root.rename(checkout.root.parent / "moved")
    assert checkout.run("lab")[:2] == (0, "dcplab lab\n")
    assert checkout.count("venv") == 2


def test_the_second_of_two_waits_for_the_first_and_installs_nothing(checkout):
    go, said = checkout.root.parent / "go", checkout.root.parent / "said"
    first = checkout.start("lab", UV_WAITS=str(go))
    until(lambda: checkout.count("pip install"))
    with said.open("w") as err:
        second = checkout.start("doctor", stderr=err)
    until(lambda: "another ./course is installing" in said.read_text())
    go.touch()
    assert (second.communicate(timeout=120)[0], second.returncode) == ("dcplab doctor\n", 0)
    assert first.communicate(timeout=120)[0] == "dcplab lab\n" and checkout.count("pip install") == 1


@pytest.mark.parametrize(
    ("uv_says", "sentence"),
    [
        ("error: failed to write: No space left on device (os error 28)", "the disk is full"),
        ("  Caused by: dns error: failed to lookup address information", "no package index could be reached"),
        ("Failed to establish a new connection: [Errno 101] Network is unreachable", "no package index could be reached"),
        ("  x No solution found when resolving dependencies", "a pinned package does not exist for Python 3."),
        ("something else", "installing failed; the reason is above and in"),
    ],
)
def test_a_failed_installation_ends_in_one_sentence(checkout, uv_says, sentence):
    status, out, err = checkout.run("lab", UV_FAIL=uv_says)
    assert (status, out) == (2, "") and err.splitlines()[-1].startswith(f"course: {sentence}")
    assert uv_says.strip() in err and uv_says in (checkout.root / ".dcplab/install.log").read_text()
    assert checkout.run("lab")[:2] == (0, "dcplab lab\n"), "and the next run mends it"


def test_a_full_disk_is_said_before_anything_is_made(checkout):
    write_program(checkout.bin / "df", "#!/bin/sh\necho head; echo x 1 1 102400 1% /\n")
    status, _, err = checkout.run("lab")
    assert status == 2 and err.count("\n") == 1 and "100 MB are free" in err and not (checkout.root / ".venv").exists()


def test_an_old_python_is_named(checkout):
    for name in ("python3", "python3.13", "python3.12", "python3.11", "python3.14", "python"):
        write_program(checkout.bin / name, "#!/bin/sh\necho 3.10.4\n")
    status, _, err = checkout.run("lab")
    assert status == 2 and err.count("\n") == 1 and "Python 3.11 or newer is needed (python3 is 3.10.4," in err


def test_an_old_python_is_passed_over_for_a_newer_one(checkout):
    (checkout.bin / "python3").rename(checkout.bin / "python3.12")
    write_program(checkout.bin / "python3", "#!/bin/sh\necho 3.10.4\n")
    write_program(checkout.bin / "uv", FAKE_UV.replace("exec python3", "exec python3.12"))
    assert checkout.run("lab")[:2] == (0, "dcplab lab\n")


def test_a_python_without_venv_is_said(checkout):
    real = os.path.realpath(sys.executable)
    write_program(checkout.bin / "python3", f'#!/bin/bash\n[[ $* == *ensurepip* ]] && exit 1\nexec "{real}" "$@"\n')
    status, _, err = checkout.run("lab", DCPLAB_INSTALLER="pip")
    assert status == 2 and "has no venv module: install it" in err.splitlines()[-1] and checkout.count("venv") == 0


def test_local_wheels_reach_uv(checkout):
    checkout.run("lab", PIP_FIND_LINKS="/some/wheels /more")
    assert "--find-links /some/wheels --find-links /more" in checkout.calls.read_text()


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_installs_nothing(checkout, words):
    status, out, _ = checkout.run(*words)
    assert status == 0 and "./course lab" in out and checkout.count("pip install") == 0


def test_a_stray_pythonpath_stays_outside(checkout, tmp_path):
    (tmp_path / "dcplab.py").write_text("print('not ours')\n")
    assert checkout.run("lab", PYTHONPATH=str(tmp_path))[1] == "dcplab lab\n"


def test_what_was_compiled_is_kept_whatever_the_user_says(checkout):
    checkout.run("lab")
    main = next(checkout.root.glob(".venv/lib/*/site-packages/dcplab/__main__.py"))
    # Of another length than before: Python holds a compiled file against the source's size and the second of its writing.
    main.write_text("# A program of another length\nimport sys\n\nprint(sys.dont_write_bytecode)\n")
    assert checkout.run("lab", PYTHONDONTWRITEBYTECODE="1")[1] == "False\n"


TOOLS = "awk bash cat cut dirname env flock grep id mkdir mv readlink rm sed sha256sum sh sleep tail tee touch uname".split()


@pytest.fixture
def bare(checkout, tmp_path) -> Checkout:
    """A PATH that holds neither chromium nor g++; `apt-get` writes down what it is asked."""
    for name in TOOLS:
        (checkout.bin / name).symlink_to(shutil.which(name, path=SYSTEM))
    for name in ("chromium", "g++", "id"):
        (checkout.bin / name).unlink()
    checkout.env["PATH"] = str(checkout.bin)
    write_program(checkout.bin / "id", "#!/bin/sh\necho ${USER_ID:-0}\n")
    write_program(checkout.bin / "apt-get", f'#!/bin/sh\necho "$*" >>"{tmp_path}/apt"\nexit ${{APT_STATUS:-0}}\n')
    return checkout


def test_nothing_of_the_system_changes_unasked(bare, tmp_path):
    status, out, err = bare.run("test")
    assert status == 0 and "\npytest -n 2" in out and not (tmp_path / "apt").exists()
    assert "without chromium fonts-dejavu-core g++ some tests will skip" in err and "--install-browser" in err


def test_install_browser_installs_what_is_missing(bare, tmp_path):
    status, out, _ = bare.run("test", "-k", "x", "--install-browser")
    assert status == 0 and out.rstrip().endswith("-k x"), "and pytest does not see the word"
    first, second = (tmp_path / "apt").read_text().splitlines()
    assert first == "update -q" and second.endswith("--no-install-recommends chromium fonts-dejavu-core g++")


@pytest.mark.parametrize(("env", "sentence"), [({"APT_STATUS": "1"}, "could not install"), ({"USER_ID": "1000"}, "needs root")])
def test_what_was_asked_for_and_cannot_be_had_stops(bare, env, sentence):
    status, out, err = bare.run("test", "--install-browser", **env)
    assert (status, out) == (2, "") and sentence in err.splitlines()[-1]


def test_ci_runs_the_same_command():
    text = (ROOT / ".ci/run").read_text()
    assert (
        "./course test --install-browser" in text
        and os.access(ROOT / ".ci/run", os.X_OK)
        and os.access(ROOT / "course", os.X_OK)
    )


def test_in_a_terminal_of_a_hub_nobody_installs_an_environment_of_their_own(checkout, tmp_path):
    shared = tmp_path / "shared/bin"
    shared.mkdir(parents=True)
    write_program(shared / "python", '#!/bin/sh\necho "$DCPLAB_ROOT: $*"\n')
    status, out, _ = checkout.run("hint", "1a", DCPLAB_SHARED_ENV=str(tmp_path / "shared"))
    assert (status, out) == (0, f"{checkout.root}: -m dcplab hint 1a\n")
    assert not (checkout.root / ".venv").exists()
