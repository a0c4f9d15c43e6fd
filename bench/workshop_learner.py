"""A learner at a real hub, as their browser is: cookies, a server, a kernel behind a websocket; over TLS where the hub has it.

The pages and messages are JupyterHub's and Jupyter Server's REST interface and Jupyter's messaging protocol 5.3.
"""

from __future__ import annotations

import html
import json
import re
import time
import uuid

import requests
import websocket

LAUNCH = 'id="start"'  # the button on the page of a server that does not run
PATIENCE_S = 300.0  # for a server, and for what a kernel says next


class Learner:
    """One browser: its cookies, its server, its kernel."""

    def __init__(self, url: str, name: str, password: str, certificate: str):
        """``certificate``: a file with the one that is trusted, and no other is; "": those that the system trusts."""
        self.url, self.name, self.password, self.web = url, name, password, requests.Session()
        self.web.verify, self.web.trust_env = certificate or True, False
        self.base = f"{url}/user/{name}"

    def login(self) -> float:
        """Log in and wait for the server. Returns the seconds. Raises RuntimeError with what the page says if the hub gives
        none, TimeoutError."""
        began = time.monotonic()
        self.web.get(f"{self.url}/hub/login")
        given = {"username": self.name, "password": self.password, "_xsrf": self.web.cookies["_xsrf"]}
        answer = self.web.post(f"{self.url}/hub/login", data=given, allow_redirects=False)
        if answer.status_code != 302:
            raise PermissionError(f"{self.name} is not let in: {answer.status_code}")
        self.web.get(f"{self.url}/hub/spawn/{self.name}", allow_redirects=False)
        while not self._at_their_server():
            pending = self.web.get(f"{self.url}/hub/spawn-pending/{self.name}", allow_redirects=False)
            if pending.status_code >= 400:
                raise RuntimeError(f"{self.name} has no server: {pending.status_code}, {_words(pending.text)}")
            if LAUNCH in pending.text:  # the hub was started anew meanwhile, and offers a button
                self.web.get(f"{self.url}/hub/spawn/{self.name}", allow_redirects=False)
            if time.monotonic() - began > PATIENCE_S:
                raise TimeoutError(f"{self.name} has no server after {PATIENCE_S:g} s: {_words(pending.text)}")
            time.sleep(0.5)
        return time.monotonic() - began

    def refused(self) -> str:
        """Log in where no server can be had. Returns what the hub's page says of it."""
        began = time.monotonic()
        self.web.get(f"{self.url}/hub/login")
        given = {"username": self.name, "password": self.password, "_xsrf": self.web.cookies["_xsrf"]}
        self.web.post(f"{self.url}/hub/login", data=given, allow_redirects=False)
        page = self.web.get(f"{self.url}/hub/spawn/{self.name}")
        while time.monotonic() - began < PATIENCE_S and "Spawn failed" not in page.text and "Error" not in page.text:
            time.sleep(0.5)
            page = self.web.get(f"{self.url}/hub/spawn-pending/{self.name}")
        return _words(page.text) or f"{page.status_code}"

    def _at_their_server(self) -> bool:
        """Return True once the server's own page comes; until the hub has logged them in to it there is a page of the hub's."""
        page = self.web.get(f"{self.base}/lab")
        return page.status_code == 200 and page.url.startswith(f"{self.base}/lab")

    def start(self) -> None:
        """Start a kernel and open its websocket."""
        cookies = {c.name: c.value for c in self.web.cookies if c.path.startswith(f"/user/{self.name}")}
        answer = self.web.post(f"{self.base}/api/kernels", json={}, headers={"X-XSRFToken": cookies["_xsrf"]})
        answer.raise_for_status()
        self.kernel = answer.json()["id"]
        self.connect()

    def connect(self) -> None:
        """Open the kernel's websocket, anew if it was open."""
        words = "; ".join(f"{c.name}={c.value}" for c in self.web.cookies if f"/user/{self.name}/".startswith(c.path))
        path = f"{self.base}/api/kernels/{self.kernel}/channels".replace("http", "ws", 1)
        trusted = {"ca_certs": self.web.verify}
        self.socket = websocket.create_connection(path, cookie=words, timeout=PATIENCE_S, sslopt=trusted)

    def ask(self, code: str, wait: bool = True) -> str:
        """Run code in the kernel. Returns what it printed, with its error if there was one."""
        number = uuid.uuid4().hex
        header = {"msg_id": number, "msg_type": "execute_request", "username": self.name, "session": number, "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        said = ""
        while wait:
            told = json.loads(self.socket.recv())
            kind, of = told["msg_type"], told["parent_header"].get("msg_id")
            if kind == "status" and told["content"]["execution_state"] in ("restarting", "dead"):
                return said + "KERNEL DIED"
            if of != number:
                continue
            said += told["content"].get("text", "") if kind == "stream" else ""
            said += told["content"].get("ename", "") if kind == "error" else ""
            if kind == "status" and told["content"]["execution_state"] == "idle":
                break
        return said


def _words(page: str) -> str:
    """Return what a page of the hub says of a server that there is none of."""
    text = html.unescape(re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", page, flags=re.S))
    lines = [line.strip() for line in text.splitlines() if re.search("fail|full|could not|space left|quota|ended", line)]
    return " ".join(lines)
