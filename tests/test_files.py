"""A file is replaced whole or not at all, whoever writes it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dcplab import files


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text("old")

    def killed(source, target):
        assert path.read_text() == "old" and "new" in open(source).read()
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        files.replace(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path], "and nothing is left beside it"


@pytest.mark.parametrize(("before", "private", "after"), [(None, False, 0o644), (None, True, 0o600), (0o640, False, 0o640)])
def test_who_may_read_it(tmp_path, before, private, after):
    path = tmp_path / "a"
    if before is not None:
        path.write_text("old")
        path.chmod(before)
    mask = os.umask(0o022)
    try:
        files.replace(path, "new", private)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == after and path.read_text() == "new"


def test_what_utf8_cannot_hold_and_what_is_no_file(tmp_path):
    files.replace(tmp_path / "a", "x\ud800\r\n")
    assert (tmp_path / "a").read_bytes() == b"x?\r\n"
    reader = os.open(os.devnull, os.O_RDONLY)
    os.close(reader)
    files.replace(type(tmp_path)(os.devnull), "gone")
    assert not (tmp_path / os.devnull[1:]).exists() and os.path.exists(os.devnull)


KEEPS = """
import sys, tempfile
from dcplab import files
tempfile.tempdir = sys.argv[1]
with files.scratch("zips") as folder:
    (folder / "a").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


def keeper(tmp_path):
    words = [sys.executable, "-c", KEEPS, str(tmp_path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_old_folders_of_the_former_name_go_too(tmp_path):
    """By its name alone a folder says little: one that is young, that somebody works in, or that is a user's queue stays."""
    names = ["dcplab-0a_z9xyq", "dcplab-youngone", "dcplab-workedin", "dcplab-10000123", "dcplab-ninechars", "dcplab-0j_wl22j"]
    gone, young, worked, queue, longer, link = (tmp_path / name for name in names)
    (tmp_path / "mine").mkdir()
    link.symlink_to(tmp_path / "mine")
    for folder in (gone, young, worked, queue, longer):
        (folder / "inside").mkdir(parents=True)
    for folder in (gone, worked, queue, longer):
        os.utime(folder, (0, 0))
    os.utime(link, (0, 0), follow_symlinks=False)
    works = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=worked / "inside")
    process, folder = keeper(tmp_path)
    process.communicate("")
    works.communicate(b"\n")
    assert sorted(tmp_path.iterdir()) == sorted([young, worked, queue, longer, link, tmp_path / "mine"])


def test_a_scratch_folder_goes_with_its_process_killed_or_not(tmp_path):
    """The next process of its user removes what a killed one has left, and nothing of a living one or of somebody else's."""
    (killed, left), (living, held) = keeper(tmp_path), keeper(tmp_path)
    killed.kill()
    killed.wait()
    (other := tmp_path / "dcplab-zips-link").symlink_to(tmp_path / "mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "dcplab-answer-x").mkdir()
    assert left.is_dir() and held.is_dir()
    third, folder = keeper(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([held, folder, other, tmp_path / "mine", tmp_path / "dcplab-answer-x"])
    for process in (living, third):
        process.communicate("")
    assert not held.exists() and not folder.exists()
