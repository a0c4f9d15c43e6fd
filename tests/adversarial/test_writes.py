"""Nothing outside the scratch folder can be changed: notebooks, the checker, its environment, a home, the caches."""

from pathlib import Path

import pytest
from attack import answer, did, refused

import dcplab

WAYS = {
    "open": "def attack():\n    open(TARGET, 'a').write('x')\n    return 'done'",
    "remove": "import os\ndef attack():\n    os.remove(TARGET)\n    return 'done'",
    "rename": "import os\ndef attack():\n    os.rename(TARGET, 'mine')\n    return 'done'",
    "put another in its place": "import os\ndef attack():\n    open('mine', 'w').write('x')\n"
    "    os.replace('mine', TARGET)\n    return 'done'",
    "truncate": "import os\ndef attack():\n    os.truncate(TARGET, 0)\n    return 'done'",
    "chmod": "import os\ndef attack():\n    os.chmod(TARGET, 0)\n    return 'done'",
    "chown": "import os\ndef attack():\n    os.chown(TARGET, 1, 1)\n    return 'done'",
    "utime": "import os\ndef attack():\n    os.utime(TARGET, (0, 0))\n    return 'done'",
    "setxattr": "import os\ndef attack():\n    os.setxattr(TARGET, 'user.x', b'x')\n    return 'done'",
    "torch's zip writer": "def attack():\n    torch._C.PyTorchFileWriter(TARGET).write_end_of_file()\n    return 'done'",
    "a file beside it": "import os\ndef attack():\n"
    "    open(os.path.dirname(TARGET) + '/new.py', 'w').write('x')\n    return 'done'",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_others_stays_as_it_is(judged, tmp_path, way):
    notebook = tmp_path / "zoe" / "zoe.ipynb"
    notebook.parent.mkdir()
    notebook.write_text("{}")
    before = notebook.stat()
    for target in (notebook, Path(dcplab.__file__).parent / "codec.py", Path(pytest.__file__), Path.home() / ".profile"):
        found = judged("91a", answer(WAYS[way], TARGET=str(target)))
        assert refused(found), (target, found.detail)
    after = notebook.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_uid, after.st_ino) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_uid,
        before.st_ino,
    )
    assert notebook.read_text() == "{}" and list(notebook.parent.iterdir()) == [notebook]


def test_its_own_folder_is_open_and_goes_with_it(judged, tmp_path):
    found = judged(
        "91a", answer("import os, tempfile\ndef attack():\n    open('a', 'w').write('x')\n    return tempfile.mkdtemp()")
    )
    assert found.outcome == "passed" and not Path(did(found)).exists()
