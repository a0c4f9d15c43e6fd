"""One released checkout, and one grading service, for all tests of a closed book."""

import shutil
import subprocess

import pytest
from kept import SERVICE, Kept, home_for_everybody, python_for_everybody

from dcplab import paths
from dcplab.closed import release
from dcplab.course import catalog


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("closed") / "book"
    release.release(folder, catalog.checked(), lambda text: None)
    return folder


@pytest.fixture(scope="session")
def place(released, request):
    """A course that only the service's account may read, a released book for everybody, and a socket."""
    home = home_for_everybody()
    request.addfinalizer(lambda: shutil.rmtree(home))
    env, python = python_for_everybody(home)
    course = home / "course"
    for name in ("src", "kernels", "solutions", "labs", "workshop"):
        shutil.copytree(paths.root() / name, course / name, ignore=shutil.ignore_patterns("__pycache__", "build"))
    for name in ("pyproject.toml", "pins.txt"):
        shutil.copy(paths.root() / name, course / name)
    shutil.copytree(released, home / "book")
    (home / "hub").mkdir(mode=0o700)  # root's: a hub starts the service in such a folder
    subprocess.run(["chmod", "-R", "a+rX", home / "book"], check=True)
    for name in ("run", "state", "tmp"):
        (home / name).mkdir(mode=0o755)
    subprocess.run(["chown", "-R", f"{SERVICE}:{SERVICE}", course, home / "run", home / "state", home / "tmp"], check=True)
    subprocess.run(["chmod", "-R", "go-rwx", course, home / "state", home / "tmp"], check=True)
    return home, env, python


@pytest.fixture(scope="session")
def service(place):
    kept = Kept(*place)
    kept.start()
    yield kept
    kept.end()
    assert not kept.socket.exists()
