"""Serve traffic.json with the checkout beside this file, and print what is other than it should be.

Words NAME=VALUE change the server's configuration, as cp_size=1: what stays wrong, and what does not?
"""

import json
import runpy
import sys
from pathlib import Path


def main(words: list[str]) -> None:
    here = Path(__file__).resolve().parent
    case = json.loads((here / "traffic.json").read_text())
    for name, value in (word.split("=") for word in words):
        case["traffic"]["config"][name] = json.loads(value.lower())
    sys.path.insert(0, str(here / "checkout"))
    seen = runpy.run_path(str(here / "serve.py"))["serve"](case["house"], case["traffic"])
    if seen["error"]:
        print(f"the server ended: {seen['error']} ({seen['where']})")
    wrong = 0
    for number, (said, right) in enumerate(zip(seen["words"], case["right"]["words"], strict=False)):
        if said != right:
            wrong += 1
            print(f"request {number}: {said}, and right is {right}")
    print(f"{wrong} of {len(case['right']['words'])} answers are wrong")
    for name, count in seen["counts"].items():
        right = count if words else case["right"]["counts"][name]  # another configuration takes other counts
        print(f"{name:<10}{count:>6}" + ("" if count == right else f"   (a right server: {right})"))
    for number, why in seen["refused"]:
        print(f"request {number} is refused: {why}")


if __name__ == "__main__":
    main(sys.argv[1:])
