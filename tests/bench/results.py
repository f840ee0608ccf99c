"""The committed figures, and what counts as having got worse."""

import re

import document
import rows as table
from goals import CELL

# Frames travel over a hub inside QEMU and no host has a part in it: every run is the same.
WORSE = 0.01
# Where a timer of QEMU or a host lets frames go, chance decides what meets the tick.
WORSE_TIMED, SPREADS = 0.03, 3

SECTION = "rows"
TITLE = """| row | card | ours | Linux | ratio | goal | spread | commit | QEMU |
|---|---|---|---|---|---|---|---|---|
"""

_LINE = re.compile(r"^\| (\w+) \| (\w+) \| ([0-9.]+) \|.*$", re.MULTILINE)
_TIMED = {row.name for row in table.ALL_ROWS if row.paced_us}


def read():
    """(row, card) -> (cost, the line as it stands)."""
    return {(found[1], found[2]): (float(found[3]), found[0])
            for found in _LINE.finditer(document.section(SECTION))}


def allowed(line):
    """By how much this line may cost more than it did."""
    if line.row in _TIMED:
        return max(WORSE_TIMED, SPREADS * line.spread)
    return WORSE


def regressions(lines, committed, absent):
    """One text for each row that costs more than it did, or can no longer be measured."""
    found = []
    for line in lines:
        before, _ = committed.get((line.row, line.card), (line.ours, ""))
        if line.ours > before * (1 + allowed(line)):
            found.append(f"{line.card} {line.row}: {line.ours:.1f} instructions, "
                         f"{before:.1f} in RESULTS.md")
    return found + [f"{card}: in RESULTS.md, but the kernel finds no such card"
                    for card in absent if any(key[1] == card for key in committed)]


def _format(line, commit, qemu):
    linux, ratio, goal = "-", "-", "-"
    if line.linux:
        linux, ratio = line.linux, f"{line.ratio:.3f}"
        goal = "-" if line.row == table.OFF.name else round(line.linux * CELL)
    return (f"| {line.row} | {line.card} | {line.ours:.1f} | {linux} | {ratio} | {goal} | "
            f"{line.spread * 100:.2f} % | {commit} | {qemu} |")


def write(lines, committed):
    """Rows measured now replace those of before; the others stay as they are."""
    qemu, commit = document.qemu_version(), document.commit()
    kept = {key: line for key, (_, line) in committed.items()}
    kept |= {(line.row, line.card): _format(line, commit, qemu) for line in lines}
    order = [(row.name, card) for card in table.CARDS for row in table.ALL_ROWS]
    document.replace(SECTION, TITLE + "".join(kept[key] + "\n" for key in order if key in kept))
