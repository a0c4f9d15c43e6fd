"""Asks the grading service, and holds what comes back: values as they are, anything else as what a notebook shows of it."""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dcplab.closed import wire
from dcplab.errors import CourseError
from dcplab.present.display import Shown

REF = "\0ref"  # as in the service's `asks`
BACK_S = 30.0  # for which one waits for a service that is being started anew
SILENT_S = 6 * wire.BEAT_S
CHUNK = 1 << 16

Told = dict[str, Any]


class Remote(Shown):
    """A result that stays with the service. Displayed it is what it would be there; its attributes are asked for."""

    def __init__(self, of: Any, shown: Mapping[str, str], fields: Mapping[str, Any] | None = None):
        super().__init__(shown.get("text/plain", ""), shown.get("text/html"))
        self._of, self._fields = of, dict(fields or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._fields[name] if name in self._fields else _made(("attr", self._of, name))

    def __float__(self) -> float:
        return float(self._fields["points"])


class RemoteName:
    """Something of the course that can be called: the service runs it."""

    def __init__(self, name: str, of: Any = None):
        self.__name__, self._of = name, of or ("name", name)

    def __repr__(self) -> str:
        return f"<{self.__name__}, which the grading service runs>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _made(("call", self._of, [sent(one) for one in args], {key: sent(one) for key, one in kwargs.items()}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return RemoteName(f"{self.__name__}.{name}")


def sent(given: Any) -> Any:
    """Return an argument as it travels."""
    if isinstance(given, Remote):
        return {REF: given._of}
    if isinstance(given, range):
        return list(given)
    return given


def _made(of: Any) -> Any:
    return result(of, ask({"of": of}))


def result(of: Any, told: Told) -> Any:
    """Return what a reply holds, with what it is displayed as."""
    if told.get("callable"):
        return RemoteName(str(of[2]), of)
    if "film" in told:
        from .film import SteppedFilm

        return SteppedFilm(of, told["shown"], told["film"])
    return Remote(of, told["shown"], told.get("fields")) if "shown" in told else told.get("value")


def ask(request: Told, note: Callable[[str], Any] = print) -> Told:
    """Ask the service. ``note`` gets what is printed there, and what one waits for. Raises CourseError with what it refuses, or
    if there is no service."""
    try:
        body = wire.value(request, wire.ASKED_BYTES)
    except ValueError as error:
        raise CourseError(f"That cannot be sent to the grading service: {error}") from error
    until, waited = time.monotonic() + BACK_S, False
    while True:
        try:
            with contextlib.closing(_connected()) as connection:
                connection.sendall(body)
                for told in _told(connection):
                    until = time.monotonic() + BACK_S
                    if "note" in told:
                        note(told["note"])
                    elif "error" in told:
                        raise CourseError(str(told["error"]))
                    elif "before" not in told:
                        return told
                    elif told["before"] and not waited:
                        waited = True
                        print(f"{told['before']} before you at the grading service ...", file=sys.stderr)
        except (OSError, wire.Broken) as error:
            if time.monotonic() > until:
                raise CourseError(
                    f"The grading service does not answer at {wire.socket_path()}: tell your instructor."
                ) from error
            time.sleep(0.3)


def _connected() -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SILENT_S)
    try:
        connection.connect(str(wire.socket_path()))
    except OSError:
        connection.close()
        raise
    return connection


def _told(connection: socket.socket) -> Iterator[Told]:
    def exactly(count: int) -> bytes:
        pieces = []
        while count:
            piece = connection.recv(min(count, CHUNK))
            if not piece:
                raise wire.Broken("the service hung up")
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    while True:
        told = wire.read(exactly, wire.TOLD_BYTES + 64)
        if not isinstance(told, dict):
            raise wire.Broken("no words")
        yield told
