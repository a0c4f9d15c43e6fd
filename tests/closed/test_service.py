"""The grading service under an account of its own: what a learner gets is what self-paced gives, and what they cannot get."""

import contextlib
import json
import re
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
from kept import HEAD, LEARNER, ROOT_ALONE, as_user, asked, connected, heard, learn
from waiting import until

from dcplab import checking
from dcplab.closed import asks, wire
from dcplab.course import catalog
from dcplab.errors import CourseError

pytestmark = [pytest.mark.slow, ROOT_ALONE]


def test_a_check_says_what_it_says_on_ones_own(service):
    """Outcome, points, diagnosis, table, question; and a picture."""
    answers = ["return loc // dcp_size", "return loc % dcp_size", "raise NotImplementedError()"]
    source = """
    import json
    for body in {answers!r}:
        cell("def owner_rank(loc, dcp_size):\\n    " + body)
        made = cell('lab.check("1a", seed=7)')
        print("RESULT", json.dumps([made.outcome, made.points, made.diagnosis, made.text, "image/svg" in made._repr_html_()]))
    """
    said = learn(service, source.replace("{answers!r}", repr(answers)))
    told = [json.loads(line.removeprefix("RESULT ")) for line in said.splitlines() if line.startswith("RESULT")]
    key = catalog.of_part("1a").key("1a")
    for body, (outcome, points, diagnosis, text, _) in zip(answers, told, strict=True):
        from dcplab.notebook.extract import extract

        here = checking.check(key, extract([f"def owner_rank(loc, dcp_size):\n    {body}"], key.part.names), seed=7, mode="cpu")
        assert (outcome, points, diagnosis) == (here.outcome, here.points, here.diagnosis)
        assert re.sub(r"\[\d+\] was judged, ", "", text) == here.message
    assert [one[0] for one in told] == ["wrong", "passed", "not_attempted"]
    assert told[0][2] and told[0][4], "a name for the mistake, and a picture"


def test_pictures_demonstrations_runs_and_the_board_come_from_the_service(service):
    said = learn(
        service,
        """
        cell("def local_row(loc, dcp_size):\\n    return loc // dcp_size")
        print("RUN", cell('lab.run("1b", torch.tensor([9, 10]), 4)'))
        print("VIEW", "image/svg" in cell('viz.decode_step()')._repr_html_())
        live = cell('viz.owner_table(dcp_size=2, page_size=4, size=12, selected=25)')
        box = live._widget()
        slider = box.children[1]
        before = box.children[3].value
        slider.value = slider.options[0]
        print("FILM", before.count("<svg"), before != box.children[3].value)
        print("DEMO", cell('from dcplab.demos.server import replay\\nabove = replay("above")\\nabove').text.count("EXCEEDED"))
        print("ARENA", "index_k" in cell('viz.arena_map(above.engine)').text)
        print("SAID", cell('lab.predict("1a", "2")'))
        print("HINT", cell('lab.hint("1a")'))
        cell('lab.hint("1a")')
        cell('lab.mine()')
        cell('investigate.case(1).setup')
        cell('investigate.snippets("1i", 5)')
        cell('investigate.run_matrix()')
        from dcplab.demos.norope import compaction
        cell('from dcplab.engine import index_spaces\\nindex_spaces.owner(1, 2)')
        """,
    )
    lines = said.splitlines()
    assert "RUN tensor([2, 2])" in lines and "VIEW True" in lines and "FILM 1 True" in lines and "DEMO 2" in lines
    assert "ARENA True" in lines
    assert "✓ You said 2: right." in said and "HINT 1a, hint 1 of 3" in said
    refused = [line for line in lines if line.startswith("ERROR")]
    assert refused[0].startswith("ERROR Hints 1 to 1 are open in this class")
    assert refused[1] == f"ERROR {asks.CLOSED['lab.mine']}"
    assert refused[2].startswith("ERROR `setup` of HiddenCase does not work in a closed book")
    assert refused[3] == f"ERROR {asks.SEEDS}"
    assert refused[4].startswith("ERROR investigate.run_matrix does not work in a closed book")
    assert refused[5].startswith("ERROR engine.index_spaces.owner does not work in a closed book")
    progress = json.loads((service.home / "state" / str(LEARNER) / "progress.json").read_text())
    assert progress["labs"]["01_index_spaces"]["1a"]["prediction"]["answer"] == "2", "by the user that the kernel named"


def test_lab_06_works_there(service):
    said = learn(
        service,
        """
        cell("from dcplab.demos import retraction")
        names = "overnight strided_view what_a_check_costs two_frees traffic what_came_back two_layouts"
        for name in names.split():
            print("DEMO", name, len(cell(f"retraction.{name}()").text) > 200)
        live = cell("viz.retraction()")._widget()
        print("FILM", "<svg" in live.children[3].value, len(live.children[1].options))
        print("SNIPPETS", "source row" in cell('investigate.snippets("6g")').text)
        cell("def merge_frees(segments, page_size, dcp_size):\\n    return sorted(segments)")
        print("CHECK", cell('lab.check("6c", seed=1)').outcome)
        """,
    )
    lines = said.splitlines()
    assert sum(line.startswith("DEMO") and line.endswith("True") for line in lines) == 7, said
    assert {"FILM True 4", "SNIPPETS True", "CHECK wrong"} <= set(lines) and not [
        line for line in lines if line.startswith("ERROR")
    ], said


def test_lab_07_works_there(service):
    said = learn(
        service,
        """
        cell("from dcplab.demos import layout_servers, layouts")
        for call in ("layouts.uneven", "layouts.two_block_sizes", "layout_servers.five_servers"):
            print("DEMO", call, len(cell(f"{call}()").text) > 200)
        print("QUESTION", "How many tokens has each rank?" in repr(cell('viz.question("7c")')))
        cell("def owner_and_row(loc, dcp_size, interleave):\\n    return loc % dcp_size, loc // dcp_size")
        print("CHECK", cell('lab.check("7a", seed=1)').outcome)
        """,
    )
    lines = said.splitlines()
    assert sum(line.startswith("DEMO") and line.endswith("True") for line in lines) == 3, said
    assert {"QUESTION True", "CHECK wrong"} <= set(lines) and not [line for line in lines if line.startswith("ERROR")], said


def test_a_learner_reads_nothing_of_the_services(service):
    said = learn(
        service,
        """
        import glob, pathlib
        opened = []
        def tried(what, act):
            try: act()
            except OSError: return
            opened.append(what)
        course, state = os.environ["COURSE"], os.environ["STATE"]
        for name in ("", "solutions", "src", "kernels", "solutions/01_index_spaces"):
            tried(name, lambda: os.listdir(f"{course}/{name}"))
        for name in ("src/dcplab/engine/index_spaces.py", "solutions/01_index_spaces/01_index_spaces.py"):
            tried(name, lambda: open(f"{course}/{name}"))
        tried("state", lambda: os.listdir(state))
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if os.stat(f"/proc/{pid}").st_uid not in (os.getuid(), 0):
                for name in ("environ", "maps", "mem"):
                    tried(f"{pid}/{name}", lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
                tried(f"{pid}/fd", lambda: os.listdir(f"/proc/{pid}/fd"))
                tried(f"kill {pid}", lambda: os.kill(int(pid), 0))
        tried("socket", lambda: os.unlink(os.environ["DCPLAB_SERVICE"]))
        print("OPENED", opened)
        """,
    )  # fmt: skip
    assert "OPENED []" in said.splitlines(), said


def test_twelve_learners_at_once_each_get_their_own(service):
    said = learn(
        service,
        """
        import dcplab.remote
        from dcplab import lab
        children = []
        for n in range(12):
            read, write = os.pipe()
            if os.fork() == 0:
                os.setgid(64310 + n); os.setuid(64310 + n)
                told = dcplab.remote.ask({
                    "of": ("call", ("name", "lab.check"), ["1a"], {"seed": n}),
                    "history": ["def owner_rank(loc, dcp_size):\\n    return loc " + "%/"[n % 2] * (1 + n % 2) + " dcp_size"],
                })
                os.write(write, f"{told['fields']['outcome']} {told['fields']['seed']}".encode())
                os._exit(0)
            os.close(write)
            children.append(read)
        print("TOLD", [os.read(read, 100).decode() for read in children])
        """,
        uid=0,
    )
    wanted = [f"{('passed', 'wrong')[n % 2]} {n}" for n in range(12)]
    assert f"TOLD {wanted}" in said.splitlines(), said
    for n in range(12):
        known = json.loads((service.home / "state" / str(64310 + n) / "progress.json").read_text())
        assert known["labs"]["01_index_spaces"]["1a"]["seed"] == n


def test_a_hostile_client_gets_a_sentence_and_harms_nobody(service):
    def call(name, *args):
        return wire.value({"of": ("call", ("name", name), list(args), {}), "user": "root", "state": "/tmp", "uid": 0})

    assert "at most 8 MiB" in asked(service, struct.pack("<cQ", b"v", 1 << 62))["error"], "huge"
    assert "at most 8 MiB" in asked(service, b"x" * 64)["error"], "no frame"
    for rubbish in (b"\0" * 40, b'{"of": 1}', b""):
        assert "does not understand" in asked(service, wire.frame(b"v", rubbish))["error"]
    for of in (
        None,
        7,
        ("attr", ("name", "lab.check"), "__globals__"),
        ("call", ("name", "os.system"), ["id"], {}),
        ("name", "lab.os"),
    ):
        said = asked(service, wire.value({"of": of}))["error"]
        assert "does not understand" in said or "does not work in a closed book" in said, (of, said)
    deep = ("name", "viz.decode_step")
    for _ in range(20):
        deep = ("attr", deep, "text")
    assert "too deep" in asked(service, wire.value({"of": deep}))["error"]
    assert "shown" in asked(service, call("lab.progress")), "and it goes on"
    assert not (Path("/tmp") / "progress.json").exists(), "nobody says who they are"
    assert (service.home / "state" / "root").is_dir()
    with contextlib.ExitStack() as held:
        silent = [held.enter_context(connected(service)) for _ in range(8)]
        assert "8 things at a time" in asked(service, call("lab.progress"))["error"]
        assert "passed" in learn(
            service,
            'cell("def owner_rank(loc, dcp_size):\\n    return loc % dcp_size")\nprint(cell(\'lab.check("1a")\').outcome)',
        )
        began = time.monotonic()
        assert all(heard(one) == [] for one in silent), "who says nothing is hung up on"
        assert time.monotonic() - began < 60
    assert "shown" in asked(service, call("lab.progress"))


def test_an_answer_that_ends_its_worker_costs_that_request_alone(service):
    [worker] = until(service.workers, 60)
    with connected(service) as one:
        one.sendall(wire.value({"of": ("call", ("name", "demos.norope.half_fixes"), [], {})}))
        time.sleep(1)  # it runs for many
        worker.kill()
        assert "ended the grading service's worker" in heard(one)[-1]["error"]
    assert "shown" in asked(service, wire.value({"of": ("call", ("name", "lab.progress"), [], {})}))


def test_who_asks_while_the_service_is_killed_and_started_anew_is_answered(service):
    source = """
cell("def owner_rank(loc, dcp_size):\\n    return loc % dcp_size")
print("OUTCOME", cell('lab.check("1a", seed=3)').outcome)
"""
    assert "OUTCOME passed" in learn(service, source)
    before = json.loads((service.home / "state" / str(LEARNER) / "progress.json").read_text())
    service.end(signal.SIGKILL)
    env = service.environment(service.home / "book" / "src", HOME="/nonexistent")
    waiting = subprocess.Popen(
        [service.python, "-c", HEAD + source], **as_user(LEARNER), env=env,
        cwd=service.home, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    service.start()
    assert "OUTCOME passed" in waiting.communicate(timeout=240)[0]
    after = json.loads((service.home / "state" / str(LEARNER) / "progress.json").read_text())
    one = [known["labs"]["01_index_spaces"]["1a"] for known in (before, after)]
    assert one[1]["attempts"] == one[0]["attempts"] + 1 and after["labs"].keys() == before["labs"].keys()
    with pytest.raises(CourseError, match="keeps a grading service"):
        from dcplab.cli import dispatch

        dispatch(["workshop", "service", "--socket", str(service.socket), "--state", str(service.home / "state")])
