"""The hub's configuration, read as JupyterHub reads it. JupyterHub itself is no dependency of the course: what it then
does with it was tried by hand (workshop/README.md)."""

import os
import pwd
import subprocess
import time
from collections import defaultdict
from types import SimpleNamespace

import pytest

from dcplab import paths
from dcplab.sandbox.gpu_queue import client


class Section(SimpleNamespace):
    pass


@pytest.fixture
def read(monkeypatch, tmp_path):
    monkeypatch.setenv("DCPLAB_HUB_STATE", str(tmp_path / "hub"))

    def config(**environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        sections = defaultdict(Section)
        c = type("Config", (), {"__getattr__": lambda self, name: sections[name]})()
        path = paths.root() / "workshop" / "jupyterhub_config.py"
        exec(compile(path.read_text(), str(path), "exec"), {"get_config": lambda: c, "__file__": str(path)})
        return c

    return config


def test_a_learner_s_kernel_sees_what_the_hub_was_told_about_the_gpu(read, monkeypatch):
    for name in ("DCPLAB_MODE", "CUDA_VISIBLE_DEVICES", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    c = read(DCPLAB_GPU_TURNS="3", DCPLAB_STATE="/root/.dcplab", SECRET="x")
    given = c.Spawner.environment
    assert given["DCPLAB_GPU_TURNS"] == "3" and "DCPLAB_MODE" not in given
    assert not {"DCPLAB_STATE", "SECRET"} & given.keys(), "progress is the learner's own"
    me = SimpleNamespace(user=SimpleNamespace(name=pwd.getpwuid(os.getuid()).pw_name))
    assert given["DCPLAB_ROOT"](me) == os.path.join(os.path.expanduser(f"~{me.user.name}"), "course")


def test_the_hub_keeps_the_queue_for_the_gpu(read, tmp_path, monkeypatch):
    """Its command is run as the hub runs it, but for the socket, which is root's."""
    (service,) = read(DCPLAB_GPU_TURNS="3").JupyterHub.services
    path = tmp_path / "q.sock"
    env = {**os.environ, **service["environment"], "PYTHONPATH": paths.python_path()}
    with subprocess.Popen([*service["command"], "--socket", str(path)], env=env, stdout=subprocess.DEVNULL) as process:
        try:
            monkeypatch.setenv("DCPLAB_GPU_QUEUE", str(path))
            end = time.monotonic() + 60
            while client.status() is None and time.monotonic() < end:
                time.sleep(0.1)
            assert client.status() == {"turns": 3, "holders": [], "waiting": []}
        finally:
            process.kill()


def test_only_those_named_may_log_in_and_no_two_ports_are_one(read):
    c = read(DCPLAB_LEARNERS="ann,bob", DCPLAB_INSTRUCTORS="eve", DCPLAB_HUB_PORT="9000")
    assert c.Authenticator.allowed_users == {"ann", "bob", "eve"} and c.Authenticator.admin_users == {"eve"}
    ports = [
        url.rpartition(":")[2] for url in (c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url, c.ConfigurableHTTPProxy.api_url)
    ]
    assert ports == ["9000", "9081", "9001"]
