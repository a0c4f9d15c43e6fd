"""``python -m dcplab.sandbox.gpu_queue --socket PATH``: the daemon. `./course workshop queue` starts it for a class."""

import argparse
import asyncio
import sys
from pathlib import Path

from dcplab.sandbox.gpu_queue import daemon

parser = argparse.ArgumentParser(prog="dcplab.sandbox.gpu_queue")
parser.add_argument("--socket", type=Path, required=True)
parser.add_argument("--turns", type=int, default=1)
parser.add_argument("--hold", type=float, default=daemon.HOLD_S, metavar="S", help="seconds after which a turn is taken back")
parser.add_argument("--idle", type=float, metavar="S", help="end after so many seconds without a client")
asked = parser.parse_args()
sys.exit(asyncio.run(daemon.serve(asked.socket, daemon.QueueRules(asked.turns, asked.hold, asked.idle))))
