"""The hub's plan, limits, unit and configuration. JupyterHub itself is no dependency of the course: `bench/workshop_day.py`
tries a real one (workshop/README.md has what it said)."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub_stand_in import configuration

from dcplab import cli, paths
from dcplab.errors import CourseError
from dcplab.hub import accounts, checks, limits, plan, service
from dcplab.hub.plan import Plan, User
from dcplab.sandbox.gpu_queue import client


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("DCPLAB_HUB_STATE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def read(monkeypatch):
    monkeypatch.setattr(limits, "prepare", lambda: None)
    return lambda of: configuration(monkeypatch, of, object)


def test_a_learners_server_has_the_courses_settings_and_what_the_hub_was_told(read, monkeypatch, state):
    monkeypatch.setenv("DCPLAB_STATE", "/root/.dcplab")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    c = read(Plan(("ann",), environment=plan.handed_on()))
    given = c.Spawner.environment
    assert given["CUDA_VISIBLE_DEVICES"] == "1" and given["DCPLAB_SHARED_ENV"] == sys.prefix
    assert "DCPLAB_STATE" not in given, "progress is the learner's own"
    me = SimpleNamespace(user=SimpleNamespace(name=pwd.getpwuid(os.getuid()).pw_name))
    assert given["DCPLAB_ROOT"](me) == os.path.join(os.path.expanduser(f"~{me.user.name}"), "course")
    assert given["DCPLAB_SEED"](me) == ""
    assert "--ContentsManager.hide_globs=solutions" in c.Spawner.args
    settings = Path(next(word for word in c.Spawner.args if "app_settings_dir" in word).split("=")[1])
    assert (settings / "overrides.json").exists() and not settings.is_relative_to(state), "learners cannot read the hub's own"
    assert c.Spawner.default_url.startswith("/lab/tree/labs/01_")
    assert c.JupyterHub.cleanup_servers is False, "kernels outlive a restart of the hub"


def test_no_two_ports_are_one(read):
    c = read(Plan(("ann",), port=9000))
    urls = (c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url, c.ConfigurableHTTPProxy.api_url)
    assert [url.rpartition(":")[2] for url in urls] == ["9000", "9081", "9001"]


def test_who_is_added_may_log_in_without_a_restart(read):
    c = read(Plan(("ann",), ("eve",)))
    door = c.JupyterHub.authenticator_class()
    assert door.check_allowed("ann") and door.check_allowed("eve") and not door.check_allowed("bob")
    plan.keep(plan.read().with_more([User("bob")]))
    assert door.check_allowed("bob") and not door.check_allowed("root")


def test_the_hub_keeps_the_queue_for_the_gpu(read, tmp_path, monkeypatch):
    """Its command is run as the hub runs it, but for the socket, which is root's."""
    service_ = next(one for one in read(Plan(("ann",), gpu_turns=3)).JupyterHub.services if one["name"] == "gpu-queue")
    path = tmp_path / "q.sock"
    env = {**os.environ, **service_["environment"], "PYTHONPATH": paths.python_path()}
    with subprocess.Popen([*service_["command"], "--socket", str(path)], env=env, stdout=subprocess.DEVNULL) as process:
        try:
            monkeypatch.setenv("DCPLAB_GPU_QUEUE", str(path))
            end = time.monotonic() + 60
            while client.status() is None and time.monotonic() < end:
                time.sleep(0.1)
            assert client.status() == {"turns": 3, "holders": [], "waiting": []}
        finally:
            process.kill()


def test_a_closed_book_is_cloned_and_checked_by_a_service_of_its_own(read, tmp_path, monkeypatch):
    book = tmp_path / "book"
    (book / ".venv" / "bin").mkdir(parents=True)
    with pytest.raises(CourseError, match="no closed book"):
        Plan(("ann",), closed=str(book)).check()
    (book / "closed-book.txt").touch()
    monkeypatch.setenv("DCPLAB_SEED_KEY", "/etc/key")
    of = Plan(("ann",), closed=str(book), grader="grader", hints=2, environment=plan.handed_on())
    of.check()
    c = read(of)
    checks_ = next(one for one in c.JupyterHub.services if one["name"] == "checks")
    assert checks_["command"][3:] == ["workshop", "service", "--as", "grader", "--hints", "2", "--seed-key", "/etc/key"]
    given = c.Spawner.environment
    assert c.Spawner.cmd[0] == str(book / ".venv" / "bin" / "python") and given["DCPLAB_SHARED_ENV"] == str(book / ".venv")
    assert "DCPLAB_SEED" not in given and "DCPLAB_SEED_KEY" not in given, "seeds are the service's to know"
    me = SimpleNamespace(user=SimpleNamespace(name=pwd.getpwuid(os.getuid()).pw_name))
    assert given["PYTHONPATH"](me).endswith("/course/src")


def test_a_course_that_everybody_can_read_is_no_closed_book(tmp_path, monkeypatch):
    course = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        course.chmod(0o755)
        for name in ("src", "solutions", "labs"):
            (course / name).mkdir()
            (course / name).chmod(0o755)
        assert checks.exposed(course) == ["solutions", "src"]
        (course / "solutions").chmod(0o750)
        assert checks.exposed(course) == ["src"]
        course.chmod(0o750)
        assert checks.exposed(course) == []
    finally:
        shutil.rmtree(course)


@pytest.mark.parametrize(
    ("of", "says"),
    [
        (Plan(("Ann",)), "no name for an account"),
        (Plan(("ann; rm",)), "no name for an account"),
        (Plan(("ann",), ("ann",)), "stands twice"),
        (Plan(port=65500), "cannot be used"),
        (Plan(tls_cert="x"), "both or neither"),
        (Plan(tls_cert="/none", tls_key="/none"), "cannot be read"),
        (Plan(memory_bytes=1 << 29), "too little"),
        (Plan(address="0.0.0.0"), "in the clear"),
        (Plan(address="2001:db8::1"), "in the clear"),
    ],
)
def test_a_plan_that_no_hub_should_follow_is_refused(of, says):
    with pytest.raises(CourseError, match=says):
        of.check()


def test_plain_http_where_it_is_asked_for_or_stays_on_the_machine():
    Plan(address="0.0.0.0").check(plain_http=True)
    for address in ("127.0.0.1", "localhost", "::1"):
        Plan(address=address).check()
    assert Plan(address="::1").url == "http://[::1]:8000"


def test_users_by_csv_and_a_plan_that_is_read_as_it_was_kept(tmp_path, state):
    (tmp_path / "users.csv").write_text("username,password,role\nann,secret,\neve,,instructor\n")
    found = plan.users(tmp_path / "users.csv")
    assert found == [User("ann", "secret"), User("eve", "", instructor=True)]
    of = Plan(address="::1").with_more([*found, User("ann")])
    assert (of.learners, of.instructors) == (("ann",), ("eve",))
    plan.keep(of)
    assert plan.read() == of and state.stat().st_mode & 0o777 == 0o700
    (tmp_path / "users.csv").write_text("name\nann\n")
    with pytest.raises(CourseError, match="column username"):
        plan.users(tmp_path / "users.csv")
    (tmp_path / "users.csv").write_text("username,role\nann,boss\n")
    with pytest.raises(CourseError, match="no role"):
        plan.users(tmp_path / "users.csv")


def test_an_account_of_the_system_is_nobodys():
    with pytest.raises(CourseError, match="an account of the system"):
        accounts.check([User("daemon")])


def test_limits_in_one_tree_of_control_groups(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (tmp_path / "cgroup.subtree_control").write_text("")
    base = tmp_path / "dcplab-hub"
    folder = base / "user-ann"
    folder.mkdir(parents=True)
    for name in ("memory.max", "pids.max", "cpu.max"):
        (folder / name).write_text("")
    limits.place(limits.Groups({"": base}), "ann", Plan(memory_bytes=2 << 30, processes=99, cores=1.5))
    assert {name: (folder / name).read_text() for name in ("memory.max", "pids.max", "cpu.max")} == {
        "memory.max": str(2 << 30),
        "pids.max": "99",
        "cpu.max": "150000 100000",
    }
    assert not (folder / "memory.swap.max").exists(), "a machine without swap has no such file"
    limits.enter([folder])
    assert (folder / "cgroup.procs").read_text() == str(os.getpid())


def test_learners_groups_lie_below_the_root_and_not_below_the_hubs_unit(tmp_path):
    """Below the unit's they would keep systemd from starting it again; seen with systemd 252 (tests/hub_unit_trial.py)."""
    base = tmp_path / "dcplab-hub"
    base.mkdir()
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (tmp_path / "cgroup.subtree_control").write_text("memory io")
    (base / "cgroup.subtree_control").write_text("")
    assert limits.prepare(tmp_path) == limits.Groups({"": base})
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+pids +cpu", "what is on is left alone"
    assert (base / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_limits_in_a_tree_for_each_controller(tmp_path):
    for name in ("memory", "pids", "cpu"):
        (tmp_path / name / "dcplab-hub/user-ann").mkdir(parents=True)
    files = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpu": "cpu.cfs_quota_us"}
    for name, file in files.items():
        (tmp_path / name / "dcplab-hub/user-ann" / file).write_text("")
    groups = limits.prepare(tmp_path)
    assert set(groups.base) == set(files) == set(limits.available(tmp_path))
    limits.place(groups, "ann", Plan(memory_bytes=2 << 30, processes=99))
    values = {name: (tmp_path / name / "dcplab-hub/user-ann" / file).read_text() for name, file in files.items()}
    assert values == {"memory": str(2 << 30), "pids": "99", "cpu": "-1"}


def test_a_machine_without_control_groups_is_said(tmp_path, monkeypatch):
    assert limits.prepare(tmp_path / "none") is None
    monkeypatch.setattr(limits, "available", lambda: [])
    found = {one.name: one for one in checks.look(Plan(("ann",)))}
    assert not found["limits"].ok and "one may take all memory" in found["limits"].says


def test_a_unit_of_systemd_names_the_course_and_lets_servers_live(state):
    text = service.unit_text()
    assert f"DCPLAB_HUB_STATE={state}" in text and "KillMode=process" in text
    assert f"ExecStart={sys.executable} -m jupyterhub --config {paths.root()}/workshop/jupyterhub_config.py" in text


def test_what_is_missing_is_said_and_nothing_is_changed(state, capsys, monkeypatch, tmp_path):
    (tmp_path / "users.csv").write_text("username\nnobody-of-this-name\n")

    def absent(name):
        raise checks.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(checks.importlib.metadata, "version", absent)
    words = ["workshop", "check", "--users", str(tmp_path / "users.csv"), "--port", "23456"]
    assert cli.main(words) == 1
    said = capsys.readouterr().out
    assert "NO" in said and "jupyterhub==6.1.1" in said and "1 will be made" in said
    assert not state.exists() and accounts.account("nobody-of-this-name") is None
    assert cli.main(["workshop", "down"]) == 2
    assert "there is no hub here yet" in capsys.readouterr().err


PROXIES = {
    "nginx.conf": ("nginx", ["-t", "-q", "-c"]),
    "Caddyfile": ("caddy", ["adapt", "--adapter", "caddyfile", "--config"]),
}


@pytest.mark.parametrize("sample", PROXIES)
def test_a_proxys_sample_is_read_by_the_proxy(sample, tmp_path):
    """It leads to where the hub listens; the proxy itself reads it where it is installed."""
    text = (paths.root() / "workshop" / sample).read_text()
    assert f"127.0.0.1:{Plan().port}" in text
    program, words = PROXIES[sample]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on this machine")
    if program == "nginx":
        certificate = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=course.example.org"]
        given = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "fullchain.pem")]
        subprocess.run([*certificate, *given], check=True, capture_output=True)
        text = text.replace("/etc/ssl/course/", f"{tmp_path}/").replace("listen 443 ", "listen 127.0.0.1:18443 ")
        text = f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{text}\n}}\n"
    (tmp_path / sample).write_text(text)
    done = subprocess.run([program, *words, str(tmp_path / sample)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_hub_whose_disk_one_filled_can_be_started_again(tmp_path, monkeypatch):
    """Room is asked for checkouts that are still to be made, and `up` is how a hub is mended in the middle of a class."""
    homes = {name: SimpleNamespace(pw_dir=str(tmp_path / name)) for name in ("ann", "bob")}
    monkeypatch.setattr(accounts, "account", homes.get)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    (tmp_path / "ann" / "course").mkdir(parents=True)
    assert checks._disk(Plan(("ann",))).ok
    assert not checks._disk(Plan(("ann", "bob"))).ok, "bob has none yet"
