#!/usr/bin/python3
"""The largest rate of frames that the box takes without loss, per card (PEERS machine, icount).

    tests/bench/keepup.py [--cards NAME,...] [--jobs N] [--no-write]

Bisects the interval between frames, 60 and 1514 bytes long (64 and 1518 on the wire), and puts the
table into RESULTS.md.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

import document                        # noqa: E402  (needs the path)
from bench import chosen               # noqa: E402
from flood import flood                # noqa: E402
from measure import NS_PER_INSTRUCTION, load_image    # noqa: E402
from rows import CARDS                 # noqa: E402

HEADERS = 42         # Ethernet, IP, UDP
LENGTHS = {64: (18, 4096), 1514: (1472, 2048)}  # name -> payload, frames: many rings full
SLOWEST_NS, FASTEST_NS = 400_000, 5_000
FINE = 1.005         # two rates this close are the same
LATE, LATE_US = 1.01, 3000  # a flood over so late was held back by the card, not kept up with
SECTION = "keep-up"


class KeptUp(NamedTuple):
    """The shortest interval that went well."""
    card: str
    frame: int
    interval_ns: int

    def frames_a_second(self):
        return 1e9 / self.interval_ns

    def mbit_a_second(self):
        payload, _ = LENGTHS[self.frame]
        return self.frames_a_second() * (payload + HEADERS) * 8 / 1e6


def keeps_up(card, image, frame, interval_ns):
    payload, count = LENGTHS[frame]
    got = flood(card, image, payload, count, interval_ns)
    return (got.sent == got.taken == got.datagrams
            and got.us <= count * interval_ns / 1000 * LATE + LATE_US)


def search(card, image, frame):
    slow, fast = SLOWEST_NS, FASTEST_NS
    if not keeps_up(card, image, frame, slow):
        raise SystemExit(f"{card}: not even one frame of {frame} bytes in {slow} ns")
    while slow > fast * FINE:
        middle = int((slow * fast) ** 0.5)
        if keeps_up(card, image, frame, middle):
            slow = middle
        else:
            fast = middle
    return KeptUp(card, frame, slow)


def table(found):
    commit, qemu = document.commit(), document.qemu_version()
    text = ("| card | frame, bytes | frames a second | Mbit/s | instructions a frame | commit | "
            "QEMU |\n|---|---|---|---|---|---|---|\n")
    return text + "".join(
        f"| {one.card} | {one.frame} | {one.frames_a_second():.0f} | {one.mbit_a_second():.1f} | "
        f"{one.interval_ns / NS_PER_INSTRUCTION:.0f} | {commit} | {qemu} |\n" for one in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cards")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-write", action="store_true")
    words = parser.parse_args()
    cards = chosen(words.cards, "card", CARDS, str)
    image = load_image()
    with ThreadPoolExecutor(words.jobs) as pool:
        running = [pool.submit(search, card, image, frame) for card in cards for frame in LENGTHS]
        found = []
        for run in running:
            one = run.result()
            found.append(one)
            print(f"{one.card:<9} {one.frame:5d} bytes {one.frames_a_second():8.0f} frames/s "
                  f"{one.mbit_a_second():7.1f} Mbit/s", flush=True)
    if cards == CARDS and not words.no_write:
        document.replace(SECTION, table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
