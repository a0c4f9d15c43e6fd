"""A file is replaced whole or not at all, whoever writes it."""

import os
import stat

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
