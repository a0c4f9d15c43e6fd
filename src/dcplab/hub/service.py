"""Starts and ends the hub: as a unit of systemd where that runs, else as a process of its own. Learners' servers outlive it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil

from dcplab import paths
from dcplab.errors import CourseError
from dcplab.hub import plan

UNIT = Path("/etc/systemd/system/dcplab-hub.service")
PATIENCE_S = 90.0
_UNIT_TEXT = """[Unit]
Description=JupyterHub of the course dcplab
After=network.target

[Service]
ExecStart={command}
Environment=PATH={path}
Environment=DCPLAB_HUB_STATE={state}
Environment=PYTHONPATH={python_path}
WorkingDirectory={state}
Restart=on-failure
RestartSec=3
# Learners' servers outlive a restart of the hub; their control groups lie beside this one (dcplab.hub.limits).
KillMode=process

[Install]
WantedBy=multi-user.target
"""


def node_folder() -> Path:
    return plan.folder() / "node"


def search_path() -> str:
    """Return the PATH of the hub: this environment, the proxy in the hub's folder, the system's."""
    own = [str(Path(sys.prefix) / "bin"), str(node_folder() / "node_modules" / ".bin")]
    return os.pathsep.join([*own, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"])


def command() -> list[str]:
    return [sys.executable, "-m", "jupyterhub", "--config", str(paths.root() / "workshop" / "jupyterhub_config.py")]


def systemd() -> bool:
    return Path("/run/systemd/system").is_dir() and shutil.which("systemctl") is not None


def unit_text() -> str:
    words = {"command": " ".join(command()), "path": search_path(), "state": plan.folder(), "python_path": paths.python_path()}
    return _UNIT_TEXT.format(**words)


def running() -> psutil.Process | None:
    """Return the hub's process, if it runs."""
    try:
        pid, began = (plan.folder() / "hub.pid").read_text().split()
        process = psutil.Process(int(pid))
        return process if abs(process.create_time() - float(began)) < 1 and process.status() != psutil.STATUS_ZOMBIE else None
    except (OSError, ValueError, psutil.Error):
        return None


def start(of: plan.Plan) -> None:
    """Start the hub, or start it anew if it runs, and wait until it answers. Raises CourseError with its log's last line."""
    stop()
    log = plan.folder() / "hub.log"
    if systemd():
        UNIT.write_text(unit_text(), encoding="utf-8")
        for words in (["daemon-reload"], ["enable", "dcplab-hub"], ["restart", "dcplab-hub"]):
            subprocess.run(["systemctl", *words], check=True)
        process = None
    else:
        env = {"PATH": search_path(), "DCPLAB_HUB_STATE": str(plan.folder()), "PYTHONPATH": paths.python_path()}
        env |= {name: os.environ[name] for name in ("LANG", "HOME") if name in os.environ}
        with log.open("ab") as out:
            os.chmod(log, 0o600)
            process = subprocess.Popen(
                command(), cwd=plan.folder(), env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
        (plan.folder() / "hub.pid").write_text(f"{process.pid} {psutil.Process(process.pid).create_time()}")
    _wait(of, process, log)


def let_clone(of: plan.Plan) -> None:
    """Let every user of this machine clone what learners get: git refuses another user's checkout unless it is told."""
    place = str(of.book / ".git")
    known = subprocess.run(["git", "config", "--system", "--get-all", "safe.directory"], capture_output=True, text=True).stdout
    if place not in known.splitlines():
        subprocess.run(["git", "config", "--system", "--add", "safe.directory", place], check=True)


def _wait(of: plan.Plan, process: subprocess.Popen | None, log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not answers(of):
        if time.monotonic() > end or (process is not None and process.poll() is not None):
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
            where = f"all of it: {log}" if log.exists() else "journalctl -u dcplab-hub"
            raise CourseError(f"the hub did not start: {(lines or ['it said nothing'])[-1].strip()} ({where})")
        time.sleep(0.2)


def answers(of: plan.Plan) -> bool:
    """Return True if the hub itself answers, on the port that only this machine reaches."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"http://127.0.0.1:{of.port + 81}/hub/health", timeout=2
        ):
            return True
    except (urllib.error.URLError, OSError):
        return False


def stop() -> bool:
    """End the hub and its proxy. Returns True if it ran. Learners' servers go on."""
    if systemd() and UNIT.exists():
        subprocess.run(["systemctl", "stop", "dcplab-hub"], check=False)
    process = running()
    if process is None:
        return False
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(5)
    (plan.folder() / "hub.pid").unlink(missing_ok=True)
    return True


def servers(of: plan.Plan) -> list[psutil.Process]:
    """Return the learners' servers that run."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.username() in of.names and any("jupyterhub.singleuser" in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def end_servers(of: plan.Plan) -> int:
    """End the learners' servers with their kernels. Returns how many there were."""
    found = servers(of)
    family = [child for server in found for child in _children(server)]
    for process in (*found, *family):
        _signal(process, signal.SIGTERM)
    _, alive = psutil.wait_procs([*found, *family], timeout=10)
    for process in alive:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=5)
    return len(found)


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _signal(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)
    except psutil.Error:
        pass
