"""Say what works on this machine.

Compiles a Triton and a TileLang kernel, runs a known result, and lists what will not work and why."""

from __future__ import annotations

import argparse
import json

HELP = "say what works here, and what will not and why"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(args: argparse.Namespace) -> int:
    from dcplab import doctor

    here, findings = doctor.examine()
    print(json.dumps(doctor.as_json(here, findings), indent=2) if args.json else doctor.report(here, findings))
    return 0
