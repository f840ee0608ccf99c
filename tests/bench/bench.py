#!/usr/bin/python3
"""Instructions per packet, ours against Linux's on the same emulated hardware (PEERS).

    tests/bench/bench.py [--rows NAME,...] [--cards NAME,...] [--runs N] [--options WORDS]
                         [--profile] [--update]

Prints the table, writes out/bench.json, and fails if a row costs more than tests/bench/RESULTS.md
says it did.  --update writes that file.  RESULTS.md tells how it is measured.
"""

import argparse
import json
import math
import os
import statistics
import sys
from typing import NamedTuple

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

import results                                                   # noqa: E402  (needs the path)
from measure import NotSupported, Wrong, load_image, measure     # noqa: E402
from image import PEER                                           # noqa: E402
from machine import OUT, MachineError                            # noqa: E402
from rows import CARDS, ROWS                                     # noqa: E402

RUNS = 3
FUNCTIONS = 25  # shown by --profile


class Line(NamedTuple):
    """A row on a card, over all runs."""
    row: str
    card: str
    ours: float
    linux: int
    ratio: float
    spread: float
    measured: object  # the median run


def measure_line(row, card, image, words):
    """Some runs, the tick falling differently in each; the median, and how far they lie apart."""
    got = sorted((measure(row, card, image, phase, options=words.options)
                  for phase in range(words.runs)), key=lambda m: m.cost)
    ours = statistics.median_low([m.cost for m in got])
    middle = next(m for m in got if m.cost == ours)
    linux = row.linux.get(card)
    return Line(row.name, card, ours, linux, ours / linux if linux else None,
                (got[-1].cost - got[0].cost) / ours, middle)


def text_of(line):
    linux = f"{line.linux:8d} {line.ratio:7.3f}" if line.linux else f"{'-':>8} {'-':>7}"
    return (f"{line.card:<9} {line.row:<19} {line.ours:8.1f} {linux} {line.spread * 100:7.2f} %"
            f"  {float(line.measured.result['cpu_pct']):5.1f} % busy")


def show_profile(line):
    """Where the instructions of a row go, by layer and by function."""
    m = line.measured
    print(f"\n{line.row} on {line.card}: {line.ours:.1f} instructions, of them")
    layers = sorted(m.layers.items(), key=lambda item: -item[1])
    for layer, count in layers:
        if layer != PEER:
            print(f"    {count / m.units:8.1f} {count / m.units / line.ours * 100:5.1f} %  {layer}")
    functions = sorted(((count, where) for where, count in m.functions.items()
                        if where[0] != PEER), reverse=True)
    print("  by function:")
    for count, (layer, name) in functions[:FUNCTIONS]:
        print(f"    {count / m.units:8.1f} {count / m.units / line.ours * 100:5.1f} %  "
              f"{layer:<10} {name}")
    rest = sum(count for count, _ in functions[FUNCTIONS:])
    print(f"    {rest / m.units:8.1f} {rest / m.units / line.ours * 100:5.1f} %  all others",
          flush=True)


def measure_card(card, rows, image, words):
    """The lines of a card, and what went wrong with it; (None, []) if there is no driver for it."""
    lines, wrong = [], []
    for row in rows:
        try:
            line = measure_line(row, card, image, words)
        except NotSupported:
            print(f"{card:<9} no driver yet", flush=True)
            return None, []
        except (Wrong, MachineError) as error:
            wrong.append(f"{card} {row.name}: {error}")
            print(f"{card:<9} {row.name:<19} FAILED: {error}", flush=True)
            continue
        lines.append(line)
        print(text_of(line), flush=True)
        if words.profile:
            show_profile(line)
    return lines, wrong


def write_json(lines):
    ratios = [line.ratio for line in lines if line.ratio]
    data = {
        "rows": [{"nic": line.card, "row": line.row, "ours": round(line.ours, 1),
                  "linux": line.linux, "ratio": line.ratio and round(line.ratio, 4),
                  "spread": round(line.spread, 5)} for line in lines],
        "worst": round(max(ratios), 4) if ratios else None,
        "geomean": round(math.exp(sum(map(math.log, ratios)) / len(ratios)), 4) if ratios else None,
    }
    with open(os.path.join(OUT, "bench.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
        file.write("\n")
    return data


def chosen(names, what, all_of_them, name_of):
    if names is None:
        return all_of_them
    wanted = names.replace(",", " ").split()
    unknown = set(wanted) - {name_of(one) for one in all_of_them}
    if unknown:
        sys.exit(f"bench: no {what} {', '.join(sorted(unknown))}; there are "
                 f"{', '.join(name_of(one) for one in all_of_them)}")
    return [one for one in all_of_them if name_of(one) in wanted]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows")
    parser.add_argument("--cards")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--options", default="", help="boot options; nothing is compared then")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--update", action="store_true")
    return parser.parse_args()


def main():
    words = parse()
    rows = chosen(words.rows, "row", ROWS, lambda row: row.name)
    cards = chosen(words.cards, "card", CARDS, str)
    image = load_image()
    print(f"{'card':<9} {'row':<19} {'ours':>8} {'Linux':>8} {'ratio':>7} {'spread':>9}")
    lines, wrong, absent = [], [], []
    for card in cards:
        got, faults = measure_card(card, rows, image, words)
        wrong += faults
        if got is None:
            absent.append(card)
        else:
            lines += got
    data = write_json(lines)
    print(f"worst ratio {data['worst']}, geometric mean {data['geomean']}")
    committed = {} if words.options else results.read()
    if words.update and not words.options and not wrong:
        results.write(lines, committed)
        return 0
    wrong += results.regressions(lines, committed, absent)
    print("".join(text + "\n" for text in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
