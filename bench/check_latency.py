"""How long one check takes: the first of a session, and the median once the checker is warm, for a right and a wrong answer."""

import argparse
import json
import os
import statistics
import time

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.sandbox import pool


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def walls_ratio(lab, blocks: int) -> None:
    """Print what the walls add to a check: the least of three checks of each part's solution with them over the least without,
    block by block in turns, so that a busy machine slows both."""
    took: dict[str, list[dict[str, float]]] = {"": [], "off": []}
    for block in range(blocks):
        for opened in ("", "off") if block % 2 else ("off", ""):
            pool.shutdown()
            os.environ["DCPLAB_SANDBOX"] = opened
            least = {}
            for part in lab.parts:
                key = lab.key(part.id)
                checking.check(key, key.solution, seed=0)  # starts the servers
                least[part.id] = min(timed(lambda k=key, s=s: checking.check(k, k.solution, seed=s))[0] for s in (1, 2, 3))
            took[opened].append(least)
    ratios = sorted(on[part.id] / off[part.id] for on, off in zip(took[""], took["off"], strict=True) for part in lab.parts)
    medians = [statistics.median(v for least in took[opened] for v in least.values()) for opened in ("", "off")]
    quarter = len(ratios) // 4
    print(f"{mode.current().label}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {len(ratios)} pairs")
    middle = f"middle half {ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}"
    print(f"with walls / without: median {statistics.median(ratios):.2f}, {middle}")
    print(f"medians of the least: {medians[0]:.3f} s and {medians[1]:.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", default="01")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument(
        "--walls", type=int, metavar="N", help="only the ratio of with and without the walls, from N blocks of each"
    )
    args = parser.parse_args()
    lab = catalog.lab(args.lab)
    if args.walls:
        walls_ratio(lab, args.walls)
        pool.shutdown()
        return
    key = lab.key(lab.parts[0].id)
    first, _ = timed(lambda: checking.check(key, key.solution, seed=0))
    print(f"{mode.current().label}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {mode.versions()}")
    print(f"first check of a session (starts the server): {first:.2f} s")
    rows = []
    for part in lab.parts:
        key = lab.key(part.id)
        wrong = next(program for w, program in key.wrong if w.outcome == "wrong")
        row = {"part": part.id, "bank": len(key.wrong)}
        for name, program in (("right", key.solution), ("wrong", wrong)):
            times = [timed(lambda s=seed, p=program, k=key: checking.check(k, p, seed=s))[0] for seed in range(args.repeat)]
            row[name] = statistics.median(times)
        rows.append(row)
        print(f"{part.id}: right {row['right']:.3f} s, wrong {row['wrong']:.3f} s (held against {row['bank']} wrong answers)")
    overall = statistics.median(row[name] for row in rows for name in ("right", "wrong"))
    print(f"median of all: {overall:.3f} s")
    if args.json:
        data = {"first_s": first, "median_s": overall, "parts": rows, "mode": mode.current().name, "versions": mode.versions()}
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(data | {"cores": os.cpu_count(), "load": os.getloadavg()[0]}, f, indent=1)
    pool.shutdown()


if __name__ == "__main__":
    main()
