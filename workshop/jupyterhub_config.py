"""JupyterHub for a workshop on one machine: Unix accounts, one JupyterLab each, every learner with a checkout of their own.

    jupyterhub --config workshop/jupyterhub_config.py          (as root: it starts servers as the learners)

Needs, besides the course's environment: `uv pip install -p COURSE/.venv jupyterhub==6.1.1` and
`npm install -g configurable-http-proxy@5.3.0`. The course must lie where every learner can read it (not below /root), and
`git config --system --add safe.directory COURSE/.git` lets them clone it. workshop/README.md has the whole list.
"""

import os
import pwd
import subprocess
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub defines it

COURSE = Path(__file__).resolve().parents[1]  # the checkout that learners' own checkouts are cloned from
LEARNERS = set(filter(None, os.environ.get("DCPLAB_LEARNERS", "").split(",")))  # account names: "ann,bob"
INSTRUCTORS = set(filter(None, os.environ.get("DCPLAB_INSTRUCTORS", "").split(",")))
PORT = int(os.environ.get("DCPLAB_HUB_PORT", "8000"))
STATE = Path(os.environ.get("DCPLAB_HUB_STATE", "/var/lib/dcplab-hub"))  # the hub's database and secret; root's alone
STATE.mkdir(mode=0o700, parents=True, exist_ok=True)

# Ports are given, all of them: the defaults may be taken. Put a reverse proxy with TLS in front before you open this machine
# to others.
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{PORT + 81}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 1}"

c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

c.JupyterHub.authenticator_class = "pam"  # accounts made with useradd and chpasswd
c.Authenticator.allowed_users = LEARNERS | INSTRUCTORS  # without a list nobody can log in
c.Authenticator.admin_users = INSTRUCTORS

# Turns on the GPU for the whole class: the hub starts this again if it ends.
QUEUE = [sys.executable, "-m", "dcplab", "workshop", "queue", "--turns", os.environ.get("DCPLAB_GPU_TURNS", "1")]
c.JupyterHub.services = [{"name": "gpu-queue", "command": QUEUE, "environment": {"DCPLAB_ROOT": str(COURSE)}}]

c.JupyterHub.spawner_class = "localprocess"
c.Spawner.cmd = [str(Path(sys.prefix) / "bin" / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.notebook_dir = "~/course"
c.Spawner.start_timeout = 120  # many start at once when a workshop begins
c.Spawner.http_timeout = 120
# What the hub was started with and a learner's kernel has to see: a hub hands on next to nothing of its own environment.
HANDED_ON = ("DCPLAB_MODE", "DCPLAB_GPU_TURNS", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
c.Spawner.environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ} | {
    "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
    "DCPLAB_SEED": lambda spawner: seed_of(spawner.user.name),  # "" unless there is a key
    "DCPLAB_ROOT": lambda spawner: str(checkout_of(spawner.user.name)),  # labs and progress are the learner's own
}


def seed_of(name: str) -> str:
    """The seed of a learner's cases in labs 01 and 05, if DCPLAB_SEED_KEY names the key: `grade --seed-key` makes the same."""
    from dcplab.grade.seeds import bound

    key = os.environ.get("DCPLAB_SEED_KEY")
    return str(bound(key=Path(key))(name)) if key else ""


def checkout_of(name: str) -> Path:
    return Path(pwd.getpwnam(name).pw_dir) / "course"


def clone_once(spawner) -> None:
    """Gives a learner their checkout at the first login, made by themselves so that it is theirs."""
    folder = checkout_of(spawner.user.name)
    if not folder.exists():
        who = pwd.getpwnam(spawner.user.name)
        subprocess.run(
            ["git", "clone", "--quiet", str(COURSE), str(folder)],
            check=True,
            user=who.pw_uid,
            group=who.pw_gid,
            cwd=who.pw_dir,
            env={"HOME": who.pw_dir, "PATH": "/usr/bin:/bin"},
        )


c.Spawner.pre_spawn_hook = clone_once
