"""RESULTS.md: the committed figures, and what counts as having got worse."""

import os
import re
import subprocess

import rows as table
from machine import ROOT

FILE = os.path.join(ROOT, "tests", "bench", "RESULTS.md")
# Every row is deterministic: frames travel over a hub inside QEMU, no host has a part in it.
WORSE = 0.01
GOAL = 0.25  # of Linux, in every cell (PEERS)

HEAD = """# What a packet costs

Written by `make bench UPDATE=1`; `make bench` measures again and fails where a row has become more
than 1 % dearer. `make bench-profile ROWS=tcp_rx` tells where the instructions of a row go.

Instructions per packet, per 1460 bytes of TCP, or per call. *Linux*: 6.1, lean, same emulated
hardware (PEERS). *Goal*: a quarter of it. *Spread*: of three runs that the tick hits differently.

| row | card | ours | Linux | ratio | goal | spread | commit | QEMU |
|---|---|---|---|---|---|---|---|---|
"""

METHOD = """
## Method

`qemu-system-i386 -M isapc -cpu 486 -m 4 -icount shift=6,sleep=off -rtc clock=vm`, 64 ns an
instruction. The peer is a second NE2000 in the same guest, on the same hub, driven by code of the
bench (`tests/bench/peer*.c`) that is linked to the product's unchanged objects and called once a
main loop turn: no host has a part in the timing, and a run repeats to the last instruction. A
plugin in QEMU (`count.c`) counts how often each instruction of the kernel is executed between the
start of the transfer (`meter_start`) and its end (`meter_end_at`). The sum, less what lies in the
peer's own object files, divided by packets, 1460-byte units or calls, is the figure. So everything
is in it (interrupts, tick, driver, lwIP, responder, main loop, clock), and halted time, which
executes nothing, is not. Each run is checked: all bytes moved, nothing lost or sent again, and the
sum never more than the guest's clock allows; where the CPU never halts the two agree to 0.1 %.

- Transmit: the peer takes what is sent; TCP is acknowledged every second segment, with a window of
  16 segments (the size of our send buffer).
- Receive: at most 8 full or 32 short frames are under way, sent as soon as there is room: frames
  come faster than they are served, the burst size is what the card's ring allows.
- Paced: QEMU's `filter-buffer` lets one full frame go every 1230 us; the box halts in between, and
  each frame costs an interrupt and a wake-up.
- Nagle: 1-byte writes gathered by lwIP; NODELAY: a frame each.
"""

_ROW = re.compile(r"^\| (\w+) \| (\w+) \| ([0-9.]+) \|", re.MULTILINE)
_LINE = re.compile(r"^\| \w+ \| \w+ \| [0-9.]+ \|.*$", re.MULTILINE)


def read():
    """(row, card) -> (cost, the line as it stands)."""
    try:
        with open(FILE, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return {}
    return {(name, card): (float(ours), line)
            for line in _LINE.findall(text) for name, card, ours in [_ROW.match(line).groups()]}


def regressions(lines, committed, absent):
    """One text for each row that costs more than it did, or can no longer be measured."""
    found = []
    for line in lines:
        before, _ = committed.get((line.row, line.card), (line.ours, ""))
        if line.ours > before * (1 + WORSE):
            found.append(f"{line.card} {line.row}: {line.ours:.1f} instructions, "
                         f"{before:.1f} in RESULTS.md")
    return found + [f"{card}: in RESULTS.md, but the kernel finds no such card"
                    for card in absent if any(key[1] == card for key in committed)]


def _output(*words):
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _commit():
    changed = _output("git", "status", "--porcelain", "--untracked-files=no", "--", "boot",
                      "kernel", "drivers", "net", "Makefile")
    return _output("git", "rev-parse", "--short", "HEAD") + ("+" if changed else "")


def _format(line, commit, qemu):
    linux, ratio, goal = "-", "-", "-"
    if line.linux:
        linux, ratio, goal = line.linux, f"{line.ratio:.3f}", round(line.linux * GOAL)
    return (f"| {line.row} | {line.card} | {line.ours:.1f} | {linux} | {ratio} | {goal} | "
            f"{line.spread * 100:.2f} % | {commit} | {qemu} |")


def write(lines, committed):
    """Rows measured now replace those of before; the others stay as they are."""
    qemu = re.search(r"version (\S+)", _output("qemu-system-i386", "--version"))[1]
    commit = _commit()
    kept = {key: line for key, (_, line) in committed.items()}
    kept |= {(line.row, line.card): _format(line, commit, qemu) for line in lines}
    order = [(row.name, card) for card in table.CARDS for row in table.ROWS]
    text = HEAD + "".join(kept[key] + "\n" for key in order if key in kept)
    absent = [card for card in table.CARDS if not any(key[1] == card for key in kept)]
    if absent:
        text += f"\nNo driver yet, so not measured: {', '.join(absent)}.\n"
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(text + METHOD)
