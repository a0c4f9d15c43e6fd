"""Reads the hub's configuration as JupyterHub does, with stand-ins for its classes: it is no dependency of the course."""

import sys
from collections import defaultdict
from types import ModuleType, SimpleNamespace

from dcplab import paths
from dcplab.hub import plan
from dcplab.hub.plan import Plan


class Section(SimpleNamespace):
    pass


def configuration(monkeypatch, of: Plan, spawner: type):
    """Return what the configuration set. ``spawner``: what stands for LocalProcessSpawner."""
    for name, given, kind in (("auth", "PAMAuthenticator", object), ("spawner", "LocalProcessSpawner", spawner)):
        module = ModuleType(f"jupyterhub.{name}")
        setattr(module, given, type(given, (kind,), {}))
        monkeypatch.setitem(sys.modules, f"jupyterhub.{name}", module)
    monkeypatch.setitem(sys.modules, "jupyterhub", ModuleType("jupyterhub"))
    plan.keep(of)
    sections = defaultdict(Section)
    c = type("Config", (), {"__getattr__": lambda self, name: sections[name]})()
    path = paths.root() / "workshop" / "jupyterhub_config.py"
    exec(compile(path.read_text(), str(path), "exec"), {"get_config": lambda: c, "__file__": str(path)})
    return c
