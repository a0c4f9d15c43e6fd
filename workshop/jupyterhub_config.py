"""JupyterHub for a class on one machine, as `./course workshop up` starts it: Unix accounts, one JupyterLab each, every learner
with a checkout of their own, held to a share of the machine. What it is stands in the hub's folder (`dcplab.hub.plan`)."""

import pwd
import resource
import subprocess
import sys
from pathlib import Path

from jupyterhub.auth import PAMAuthenticator
from jupyterhub.spawner import LocalProcessSpawner
from tornado.web import HTTPError

from dcplab import jupyterlab, paths
from dcplab.course import catalog
from dcplab.hub import limits, plan

c = get_config()  # noqa: F821 - JupyterHub defines it

COURSE = paths.root()
STATE, SHARED, PLAN = plan.folder(), plan.shared(), plan.read()
BOOK = PLAN.book  # the checkout that learners' own checkouts are cloned from
GROUPS = limits.prepare()
# In a learner's file browser: their labs and the documents. The rest of the checkout is there, in a terminal.
HIDDEN = ("solutions", "tests", "kernels", "src", "bench", "workshop", "scripts", "__pycache__", "*.pyc", "*~")


class ClassAuthenticator(PAMAuthenticator):
    """Lets in who is in the plan now: learners are added while the hub runs."""

    def check_allowed(self, username, authentication=None):
        return username in plan.read().names

    async def is_admin(self, handler, authentication):
        return authentication["name"] in plan.read().instructors


class LearnerSpawner(LocalProcessSpawner):
    """Starts a learner's server in a control group of theirs, where the machine has them."""

    def make_preexec_fn(self, name):
        become = super().make_preexec_fn(name)
        try:
            place = limits.place(GROUPS, name, PLAN) if GROUPS else []
        except OSError as error:  # a learner without limits is better than one without a server
            place = []
            self.log.warning("%s has no limits: %s", name, error)

        def before() -> None:
            limits.enter(place)
            resource.setrlimit(resource.RLIMIT_FSIZE, (PLAN.file_bytes, PLAN.file_bytes))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            become()

        return before


def seed_of(name: str) -> str:
    """Return the seed of a learner's cases, if DCPLAB_SEED_KEY names the key: `grade --seed-key` makes the
    same."""
    from dcplab.grade.seeds import bound

    key = PLAN.environment.get("DCPLAB_SEED_KEY")
    return str(bound(key=Path(key))(name)) if key else ""


class NoCheckout(HTTPError):
    """Says why a learner has no server. JupyterHub's page shows ``jupyterhub_message``, of an HTTPError alone."""

    def __init__(self, said: str):
        super().__init__(500, "%s", said)
        lines = [line.strip() for line in said.splitlines()]
        why = next(
            (line for line in lines if "No space left" in line or "quota" in line.lower()), (lines or ["git failed"])[-1]
        )
        self.jupyterhub_message = f"Your checkout of the course could not be made ({why}). Tell your instructor."


def checkout_of(name: str) -> Path:
    return Path(pwd.getpwnam(name).pw_dir) / "course"


def clone_once(spawner) -> None:
    """Give a learner their checkout at the first login, made by themselves so that it is theirs."""
    folder = checkout_of(spawner.user.name)
    if not folder.exists():
        who = pwd.getpwnam(spawner.user.name)
        done = subprocess.run(
            ["git", "clone", "--quiet", str(BOOK), str(folder)],
            capture_output=True,
            text=True,
            user=who.pw_uid,
            group=who.pw_gid,
            extra_groups=[],
            cwd=who.pw_dir,
            umask=0o077,
            env={"HOME": who.pw_dir, "PATH": "/usr/bin:/bin"},
        )
        if done.returncode:
            raise NoCheckout(done.stderr)


c.JupyterHub.bind_url = PLAN.url
c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = PLAN.tls_cert, PLAN.tls_key
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{PLAN.port + 81}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PLAN.port + 1}"
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.cleanup_servers = False  # kernels outlive a restart of the hub
c.JupyterHub.authenticator_class = ClassAuthenticator
c.JupyterHub.spawner_class = LearnerSpawner
c.JupyterHub.concurrent_spawn_limit = 0  # a class logs in at one moment; who came too late would be told to try again

# Turns on the GPU for the whole class: the hub starts this again if it ends.
QUEUE = [sys.executable, "-m", "dcplab", "workshop", "queue", "--turns", str(PLAN.gpu_turns)]
c.JupyterHub.services = [{"name": "gpu-queue", "command": QUEUE, "environment": {"DCPLAB_ROOT": str(COURSE)}}]

# A closed book's checks are this service's, under an account of its own.
if PLAN.closed:
    CHECKS = [sys.executable, "-m", "dcplab", "workshop", "service", "--as", PLAN.grader, "--hints", str(PLAN.hints)]
    if key := PLAN.environment.get("DCPLAB_SEED_KEY"):
        CHECKS += ["--seed-key", key]
    c.JupyterHub.services.append({"name": "checks", "command": CHECKS, "environment": {"DCPLAB_ROOT": str(COURSE)}})

# The same settings as `./course lab`, and the first lab open.
WORDS, CONFIG = jupyterlab.learners_settings(SHARED / "jupyter")
FIRST = next(iter(catalog.labs())).name
c.Spawner.cmd = [PLAN.python, "-m", "jupyterhub.singleuser"]
c.Spawner.args = [*WORDS, *(f"--ContentsManager.hide_globs={name}" for name in HIDDEN)]
c.Spawner.default_url = f"/lab/tree/labs/{FIRST}/{FIRST}.ipynb"
c.Spawner.notebook_dir = "~/course"
c.Spawner.start_timeout = 300  # many start at once when a workshop begins
c.Spawner.http_timeout = 300
c.Spawner.environment = {
    **PLAN.environment,
    **jupyterlab.learners_environment(CONFIG),
    "DCPLAB_SEED": lambda spawner: seed_of(spawner.user.name),  # "" unless there is a key
    "DCPLAB_ROOT": lambda spawner: str(checkout_of(spawner.user.name)),  # labs and progress are the learner's own
    "DCPLAB_SHARED_ENV": str(Path(PLAN.python).parents[1]),  # `./course` in a terminal of the hub uses this environment
}
if PLAN.closed:  # a learner's own `dcplab` asks; seeds are the service's to know
    for name in ("DCPLAB_SEED", "DCPLAB_SEED_KEY"):
        c.Spawner.environment.pop(name, None)
    c.Spawner.environment["PYTHONPATH"] = lambda spawner: str(checkout_of(spawner.user.name) / "src")
    c.Spawner.environment["PATH"] = f"{Path(PLAN.python).parent}:/usr/local/bin:/usr/bin:/bin"
c.Spawner.pre_spawn_hook = clone_once
