"""Serve traffic.json with the checkout beside this file, and print what is other than it should be."""

import json
import runpy
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).resolve().parent
    case = json.loads((here / "traffic.json").read_text())
    sys.path.insert(0, str(here / "checkout"))
    seen = runpy.run_path(str(here / "serve.py"))["serve"](case["house"], case["traffic"])
    if seen["error"]:
        print(f"the server ended: {seen['error']} ({seen['where']})")
    for number, (words, right) in enumerate(zip(seen["words"], case["right"]["words"], strict=False)):
        if words != right:
            print(f"request {number}: {words}, and right is {right}")
    for name, count in seen["counts"].items():
        right = case["right"]["counts"][name]
        print(f"{name:<10}{count:>6}" + ("" if count == right else f"   (a right server: {right})"))
    for number, why in seen["refused"]:
        print(f"request {number} is refused: {why}")


if __name__ == "__main__":
    main()
