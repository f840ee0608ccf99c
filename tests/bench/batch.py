#!/usr/bin/python3
"""What batching gains in each cell; fails where it costs more than it saves.

    tests/bench/batch.py [--rows NAME,...] [--cards NAME,...] [--jobs N]
"""

import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

from bench import chosen, measure_all     # noqa: E402  (needs the path)
from measure import load_image            # noqa: E402
from results import WORSE                 # noqa: E402
from rows import CARDS, ROWS              # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows")
    parser.add_argument("--cards")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    words = parser.parse_args()
    words.runs, words.profile = 1, False
    rows = chosen(words.rows, "row", ROWS, lambda row: row.name)
    cards = chosen(words.cards, "card", CARDS, str)
    image = load_image()
    costs, wrong = {}, []
    for setting in ("off", "on"):
        print(f"batch={setting}")
        words.options = f"batch={setting}"
        lines, faults, _ = measure_all(cards, rows, image, words)
        wrong += faults
        costs[setting] = {(line.card, line.row): line.ours for line in lines}
    for cell in costs["on"].keys() & costs["off"].keys():
        if costs["on"][cell] > costs["off"][cell] * (1 + WORSE):
            wrong.append(f"{cell[0]} {cell[1]}: {costs['on'][cell]:.1f} instructions with "
                         f"batching, {costs['off'][cell]:.1f} without")
    print()
    for (card, row), off in costs["off"].items():
        if (card, row) in costs["on"]:
            print(f"{card:<9} {row:<19} {off / costs['on'][card, row]:6.3f} times as cheap")
    print("".join(f"FAILED: {text}\n" for text in sorted(wrong)), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
