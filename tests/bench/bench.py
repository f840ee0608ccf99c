#!/usr/bin/python3
"""Instructions per packet, ours against Linux's on the same emulated hardware (PEERS).

    tests/bench/bench.py [--rows NAME,...] [--cards NAME,...] [--runs N] [--options WORDS]
                         [--jobs N] [--profile] [--update] [--json FILE]

Prints the table, writes out/bench.json, and fails if a row costs more than tests/bench/RESULTS.md
says it did, or a goal that is enforced (goals.py) is missed.  --update writes that file.
RESULTS.md tells how it is measured.
"""

import argparse
import json
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

import goals                                                     # noqa: E402  (needs the path)
import profile_view                                              # noqa: E402
import results                                                   # noqa: E402
from measure import NotSupported, Wrong, load_image, measure     # noqa: E402
from machine import OUT, MachineError                            # noqa: E402
from rows import ALL_ROWS, CARDS, ROWS                           # noqa: E402

RUNS = 3


class Line(NamedTuple):
    """A row on a card, over all runs."""
    row: str
    card: str
    ours: float
    linux: int
    ratio: float
    spread: float
    measured: object  # the median run


def line_of(row, card, measured):
    """The median of some runs, and how far they lie apart."""
    got = sorted(measured, key=lambda m: m.cost)
    ours = statistics.median_low([m.cost for m in got])
    middle = next(m for m in got if m.cost == ours)
    linux = row.linux.get(card)
    return Line(row.name, card, ours, linux, ours / linux if linux else None,
                (got[-1].cost - got[0].cost) / ours, middle)


def text_of(line):
    linux = f"{line.linux:8d} {line.ratio:7.3f}" if line.linux else f"{'-':>8} {'-':>7}"
    return (f"{line.card:<9} {line.row:<19} {line.ours:8.1f} {linux} {line.spread * 100:7.2f} %"
            f"  {float(line.measured.result['cpu_pct']):5.1f} % busy")


def show(line, words):
    print(text_of(line), flush=True)
    if words.profile:
        profile_view.show(line)


def measure_all(cards, rows, image, words):
    """(lines, what went wrong, cards for which there is no driver).  Some machines run at once:
    they share nothing, so the figures are the same; the runs of a row differ in where the tick
    falls."""
    lines, wrong, absent = [], [], []
    with ThreadPoolExecutor(words.jobs) as pool:
        started = [(card, row, [pool.submit(measure, row, card, image, phase,
                                            options=words.options, detail=words.profile)
                                for phase in range(words.runs)])
                   for card in cards for row in rows]
        for card, row, runs in started:
            if card in absent:
                for run in runs:
                    run.cancel()
                continue
            try:
                line = line_of(row, card, [run.result() for run in runs])
            except NotSupported:
                print(f"{card:<9} no driver yet", flush=True)
                absent.append(card)
            except (Wrong, MachineError) as error:
                wrong.append(f"{card} {row.name}: {error}")
                print(f"{card:<9} {row.name:<19} FAILED: {error}", flush=True)
            else:
                lines.append(line)
                show(line, words)
    return lines, wrong, absent


def json_row(line):
    return {"nic": line.card, "row": line.row, "ours": round(line.ours, 1), "linux": line.linux,
            "ratio": line.ratio and round(line.ratio, 4), "spread": round(line.spread, 5)}


def write_json(lines, file_name):
    """The cells of PEERS as `rows`; what it has no figure for, or is no cell of it, as `more`."""
    names = [row.name for row in ROWS]
    cells = [line for line in lines if line.linux and line.row in names]
    worst, geomean = goals.summary(cells)
    data = {"rows": [json_row(line) for line in cells],
            "worst": worst and round(worst, 4), "geomean": geomean and round(geomean, 4),
            "more": [json_row(line) for line in lines if line not in cells],
            "gain": {card: round(gain, 3) for card, gain in goals.gains(lines).items()}}
    with open(file_name, "w", encoding="utf-8") as file:
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


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows")
    parser.add_argument("--cards")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="machines at a time")
    parser.add_argument("--options", default="", help="boot options; nothing is compared then")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--json", default=os.path.join(OUT, "bench.json"))
    return parser.parse_args(arguments)


def main(arguments=None):
    words = parse(arguments)
    rows = chosen(words.rows, "row", ALL_ROWS, lambda row: row.name)
    cards = chosen(words.cards, "card", CARDS, str)
    print(f"{'card':<9} {'row':<19} {'ours':>8} {'Linux':>8} {'ratio':>7} {'spread':>9}")
    lines, wrong, absent = measure_all(cards, rows, load_image(), words)
    data = write_json(lines, words.json)
    print(f"worst ratio {data['worst']}, geometric mean {data['geomean']}")
    for card, gain in data["gain"].items():
        print(f"{card}: batch=on receives TCP {gain:.2f} times as cheaply as batch=off")
    if words.options:
        return 1 if wrong else 0
    for name, text in goals.missed(lines, len(lines) == len(ALL_ROWS) * len(CARDS)):
        print(f"goal missed: {text}")
        if name in goals.ENFORCED:
            wrong.append(text)
    committed = results.read()
    if words.update and not wrong:
        results.write(lines, committed)
        return 0
    wrong += results.regressions(lines, committed, absent)
    print("".join(f"FAILED: {text}\n" for text in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
