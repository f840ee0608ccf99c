#!/usr/bin/python3
"""How long the answer to a lone ping takes, with batching and without (QEMU -icount).

    tests/bench/latency.py [--cards NAME,...] [--jobs N] [--no-write]

A neighbour outside the guest asks; the times are those of the guest's clock, at which the frames
pass its wire (filter-dump).  The table goes into RESULTS.md.
"""

import argparse
import os
import statistics
import struct
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

import document                                # noqa: E402  (needs the path)
from bench import chosen                       # noqa: E402
from cards import CARDS as MACHINES            # noqa: E402
from qemu import Qemu                          # noqa: E402
from rawpeer import ICMP, Packet, RawPeer      # noqa: E402
from rows import CARDS                         # noqa: E402

PINGS, DATA = 60, b"x" * 56
SECTION = "latency"
REQUEST, REPLY = 8, 0


class Latency(NamedTuple):
    """Median and extremes of one setting, microseconds."""
    card: str
    batch: str
    median: float
    least: int
    most: int


def captured(pcap):
    """(microsecond, frame) of each frame in a capture of QEMU; guest time."""
    with open(pcap, "rb") as file:
        data = file.read()
    at = 24
    while at + 16 <= len(data):
        seconds, us, length = struct.unpack("<III", data[at:at + 12])
        yield seconds * 1000000 + us, data[at + 16:at + 16 + length]
        at += 16 + length


def times(pcap):
    """Sequence number -> microseconds from request to reply."""
    asked, took = {}, {}
    for us, frame in captured(pcap):
        packet = Packet(frame)
        if packet.proto == ICMP and packet.icmp_type == REQUEST:
            asked[packet.icmp_seq] = us
        elif packet.proto == ICMP and packet.icmp_type == REPLY:
            took[packet.icmp_seq] = us - asked[packet.icmp_seq]
    return took


def measure(card, pings=PINGS):
    """{"off": Latency, "on": Latency} of one card."""
    with tempfile.TemporaryDirectory(prefix="nictest86-latency-") as directory, \
            RawPeer() as peer:
        pcap = os.path.join(directory, "wire.pcap")
        with Qemu(append=f"ip={peer.BOX_IP}/24", dgram=peer.sockets, pcap=pcap, icount=True,
                  **MACHINES[card].options) as box:
            box.wait_for("ready", 20)
            peer.find_box()
            for begin, setting in ((0, "off"), (1000, "on")):
                box.command(f"set batch={setting}")
                for seq in range(begin, begin + pings):
                    peer.ping(DATA, seq=seq)
        took = times(pcap)
    found = {}
    for begin, setting in ((0, "off"), (1000, "on")):
        got = [took[seq] for seq in range(begin, begin + pings)]
        found[setting] = Latency(card, setting, statistics.median(got), min(got), max(got))
    return found


def table(found):
    commit, qemu = document.commit(), document.qemu_version()
    return ("| card | batch | median, us | least | most | commit | QEMU |\n"
            "|---|---|---|---|---|---|---|\n") + "".join(
                f"| {one.card} | {one.batch} | {one.median:.0f} | {one.least} | {one.most} | "
                f"{commit} | {qemu} |\n" for one in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cards")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-write", action="store_true")
    words = parser.parse_args()
    cards = chosen(words.cards, "card", CARDS, str)
    with ThreadPoolExecutor(words.jobs) as pool:
        found = [one for got in pool.map(measure, cards) for one in (got["off"], got["on"])]
    print(table(found), end="")
    if cards == CARDS and not words.no_write:
        document.replace(SECTION, table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
