"""Thirty learners ask at once, some of whom mean harm: each of the others gets their own verdict."""

import json

import pytest
from kept import ROOT_ALONE, learn

pytestmark = [pytest.mark.slow, ROOT_ALONE]

# A learner's answer to 1a, and what becomes of them. The last hangs up in the middle; so does who asks without end.
HARM = {
    "loops": "while True: pass",
    "eats memory": "held = [bytearray(1 << 28) for _ in range(64)]",
    "fills the disk": "open('here', 'wb').write(bytes(1 << 30))",
    "starts threads": "import threading, time; [threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(5000)]",
    "ends its process": "import os; os.kill(os.getpid(), 9)",
}


def test_nobody_is_harmed_by_who_loops_eats_fills_and_dies(service):
    said = learn(
        service,
        """
        import json, signal, time
        import dcplab.remote
        from dcplab import lab
        harm = HARM
        ways = [*harm, "is killed"]
        children = []
        for n in range(30):
            read, write = os.pipe()
            way = ways[n] if n < len(ways) else "is right" if n % 2 else "is wrong"
            pid = os.fork()
            if pid == 0:
                os.setgid(64400 + n); os.setuid(64400 + n)
                line = harm.get(way, "pass") + "\\n    return loc " + ("//" if way == "is wrong" else "%") + " dcp_size"
                try:
                    told = dcplab.remote.ask({
                        "of": ("call", ("name", "lab.check"), ["1a"], {"seed": n}),
                        "history": ["def owner_rank(loc, dcp_size):\\n    " + line],
                    }, note=lambda text: None)
                    found = [told["fields"]["outcome"], told["fields"]["seed"]]
                except Exception as error:
                    found = [str(error), n]
                os.write(write, json.dumps([way, *found]).encode())
                os._exit(0)
            os.close(write)
            children.append((pid, read))
        time.sleep(0.5)
        os.kill(children[len(harm)][0], signal.SIGKILL)
        print("TOLD", json.dumps([json.loads(os.read(read, 4000) or b"null") for _, read in children]))
        """.replace("HARM", repr(HARM)),
        uid=0,
        timeout=500,
    )
    told = json.loads(next(line for line in said.splitlines() if line.startswith("TOLD")).removeprefix("TOLD "))
    assert told[len(HARM)] is None, "it was killed"
    for n, (way, outcome, seed) in enumerate(one for one in told if one):
        assert seed == n + (n >= len(HARM)), (way, outcome)
        if way in HARM:
            assert outcome in ("crashed", "timeout", "unsafe"), (way, outcome)
        else:
            assert outcome == {"is right": "passed", "is wrong": "wrong"}[way], (way, outcome)
    assert len(service.workers()) == 1, "and the service keeps its worker"
    assert not list((service.home / "tmp").glob("dcplab-a*")), "nothing of theirs lies about"
