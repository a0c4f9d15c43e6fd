"""JupyterHub for a class on one machine, as `./course workshop up` starts it: Unix accounts, one JupyterLab each, every learner
with a checkout of their own, held to a share of the machine. What it is stands in the hub's folder (`dcplab.hub.plan`)."""

import asyncio
import os
import pwd
import resource
import sys
from pathlib import Path

from jupyterhub.auth import PAMAuthenticator
from jupyterhub.spawner import LocalProcessSpawner
from tornado.web import HTTPError

from dcplab import jupyterlab, paths
from dcplab.course import catalog
from dcplab.hub import disk, limits, plan, starting

c = get_config()  # noqa: F821 - JupyterHub defines it

COURSE = paths.root()
STATE, SHARED, PLAN = plan.folder(), plan.shared(), plan.read()
BOOK = PLAN.book  # the checkout that learners' own checkouts are cloned from
GROUPS = limits.prepare()
# In a learner's file browser: their labs and the documents. The rest of the checkout is there, in a terminal.
HIDDEN = ("solutions", "tests", "kernels", "src", "bench", "workshop", "scripts", "__pycache__", "*.pyc", "*~")
# Servers start so many at a time: all at once, each takes as long as all, and the first is not there before the last.
TURNS, TURN_S, WAITING = asyncio.Semaphore(2 * (os.cpu_count() or 1)), 60.0, []
PORTS = {}  # of servers that start: name to port
STARTS, ANSWER_S = 3, 300.0  # a server's tries, and the seconds until it must answer


class ClassAuthenticator(PAMAuthenticator):
    """Lets in who is in the plan now: learners are added while the hub runs."""

    def check_allowed(self, username, authentication=None):
        return username in plan.read().names

    async def is_admin(self, handler, authentication):
        return authentication["name"] in plan.read().instructors


class NoServer(HTTPError):
    """Says why a learner has no server. JupyterHub's page shows ``jupyterhub_message``, of an HTTPError alone."""

    def __init__(self, said: str):
        super().__init__(500, "%s", said)
        self.jupyterhub_message = f"{said} Tell your instructor."


class LearnerSpawner(LocalProcessSpawner):
    """Starts a learner's server in a control group of theirs, where the machine has them.

    JupyterHub waits for a started server's answer and does not see that it has ended: the learner waits for all of
    `http_timeout`. So `start` waits itself, and tries again. What it started stands in the hub's database at once: a hub that
    ends meanwhile finds it after its restart."""

    began = 0.0  # when the server's process did: after a restart of the machine its number is another's

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

    async def start(self):
        name, token = self.user.name, self.api_token
        WAITING.append(name)
        try:
            async with starting.turn(TURNS, TURN_S):
                WAITING.remove(name)
                for _ in range(STARTS):
                    self.api_token = token  # JupyterHub forgets it when a server ends, and its database does not
                    self.port = PORTS[name] = starting.free_port(PLAN.port + 100, {*PORTS.values()})
                    where = await super().start()
                    self.remember(*where)
                    if await self.stands():
                        return where
                    self.log.warning("%s's server ended before it answered, or another listens at its port", name)
                    await self.stop(now=True)
        finally:
            PORTS.pop(name, None)
            if name in WAITING:
                WAITING.remove(name)
        raise NoServer(f"Your server ended while it started, {STARTS} times; the hub's log has its words.")

    def remember(self, ip: str, port: int) -> None:
        self.began = starting.born(self.pid) or 0.0
        self.server.ip, self.server.port = ip, port
        self.orm_spawner.state = self.get_state()
        self.db.commit()

    async def stands(self) -> bool:
        """Wait until the server answers, and return True; False if it has ended, does not answer in time, or is another's."""
        answer = asyncio.ensure_future(self.server.wait_up(http=True, timeout=ANSWER_S, extra_path="api"))
        try:
            while not answer.done() and await self.poll() is None:
                await asyncio.wait({answer}, timeout=0.5)
            here = answer.done() and answer.exception() is None
        finally:
            answer.cancel()
        return here and starting.listener(self.server.port) in (None, pwd.getpwnam(self.user.name).pw_uid)

    async def get_url(self):
        """Return the address, which JupyterHub asks for when it finds a server after its own restart: one that was about to
        start has its time, and for one that ended nobody waits."""
        if not await self.stands():
            self.http_timeout = 1
        return await super().get_url()

    def get_state(self):
        return super().get_state() | ({"began": self.began} if self.pid and self.began else {})

    def load_state(self, state):
        super().load_state(state)
        self.began = state.get("began", 0.0)

    async def poll(self):
        if self.proc is None and self.pid and self.began and starting.born(self.pid) != self.began:
            self.clear_state()
            return 0
        return await super().poll()

    async def progress(self):
        """Tell who waits how many are before them."""
        told = -1
        while self.user.name in WAITING:
            if (before := WAITING.index(self.user.name)) != told:
                told = before
                yield {"progress": 10, "message": f"{before} start before yours" if before else "Yours is next"}
            await asyncio.sleep(1)
        yield {"progress": 50, "message": "Your server starts: half a minute, longer while others' do"}


def seed_of(name: str) -> str:
    """Return the seed of a learner's cases, if DCPLAB_SEED_KEY names the key: `grade --seed-key` makes the
    same."""
    from dcplab.grade.seeds import bound

    key = PLAN.environment.get("DCPLAB_SEED_KEY")
    return str(bound(key=Path(key))(name)) if key else ""


def checkout_of(name: str) -> Path:
    return Path(pwd.getpwnam(name).pw_dir) / "course"


async def clone_once(spawner) -> None:
    """Give a learner their checkout at the first login, made by themselves so that it is theirs."""
    name = spawner.user.name
    if said := await starting.clone(BOOK, checkout_of(name), pwd.getpwnam(name)):
        lines = [line.strip() for line in said.splitlines()]
        why = next((line for line in lines if "No space left" in line or "quota" in line.lower()), lines[-1])
        raise NoServer(f"Your checkout of the course could not be made ({why}).")


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

# Where no quota holds a learner's files, somebody looks how many they are.
WATCH = [sys.executable, "-m", "dcplab.hub.disk"]
HUB = {"DCPLAB_ROOT": str(COURSE), "DCPLAB_HUB_STATE": str(plan.folder())}
c.JupyterHub.services.append({"name": "disk", "command": WATCH, "environment": HUB})

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
c.Spawner.start_timeout = 1800  # with the wait for a turn; what has ended or does not answer, LearnerSpawner sees
c.Spawner.http_timeout = 60  # it has answered once already
c.Spawner.environment = {
    **PLAN.environment,
    **jupyterlab.learners_environment(CONFIG),
    "DCPLAB_SEED": lambda spawner: seed_of(spawner.user.name),  # "" unless there is a key
    "DCPLAB_ROOT": lambda spawner: str(checkout_of(spawner.user.name)),  # labs and progress are the learner's own
    "DCPLAB_NOTE": lambda spawner: str(disk.notes() / spawner.user.name),  # what the hub tells one learner
    "DCPLAB_SHARED_ENV": str(Path(PLAN.python).parents[1]),  # `./course` in a terminal of the hub uses this environment
}
if PLAN.closed:  # a learner's own `dcplab` asks; seeds are the service's to know
    for name in ("DCPLAB_SEED", "DCPLAB_SEED_KEY"):
        c.Spawner.environment.pop(name, None)
    c.Spawner.environment["PYTHONPATH"] = lambda spawner: str(checkout_of(spawner.user.name) / "src")
    c.Spawner.environment["PATH"] = f"{Path(PLAN.python).parent}:/usr/local/bin:/usr/bin:/bin"
c.Spawner.pre_spawn_hook = clone_once
