"""Datagrams of 32 KB, as iperf3 -u sends them over loopback: 22 fragments each.

An NE2000 holds eight full frames.  At the pace of a wire it is emptied in time; QEMU delivers all
22 within one instant and drops, without a word, what finds no room.  One is counted whole or not
at all.
"""

import time

import pytest

from cards import BOTH
from rawpeer import ETH_IP, UDP
from wire import SENTINEL, ttcp_pattern

pytestmark = pytest.mark.cards(*BOTH)

PORT, FROM = 5001, 4000
LENGTH = 32000
PER_FRAGMENT = 1480
AT_ONCE = 5          # an NE2000 takes so many, and an echo request


def fragments(peer, ident):
    body = peer.udp(FROM, PORT, ttcp_pattern(LENGTH))
    for at in range(0, len(body), PER_FRAGMENT):
        more = 0x2000 if at + PER_FRAGMENT < len(body) else 0
        yield peer.ethernet(ETH_IP, peer.ip_packet(UDP, body[at:at + PER_FRAGMENT], ident=ident,
                                                   fragment=more | at // 8))


def test_at_its_pace(wired, peer):
    """A few frames, then a look whether they are taken: all arrives."""
    box = wired(mem=8)
    peer.send_udp(FROM, PORT, SENTINEL)
    for ident in range(1, 4):
        for number, frame in enumerate(fragments(peer, ident)):
            peer.send(frame)
            if number % AT_ONCE == AT_ONCE - 1:
                peer.ping(b"")
        peer.ping(b"")
    peer.send_udp(FROM, PORT, SENTINEL)
    result = box.wait_for("result", 10)
    assert (result["bytes"], result["packets"]) == (3 * LENGTH, 3)


def test_all_at_once(wired, peer):
    """More than the ring holds: whole ones count, parts do not, and all frames come back."""
    box = wired(mem=8)
    before = box.counters()
    peer.send_udp(FROM, PORT, SENTINEL)
    peer.ping(b"")
    for ident in range(1, 7):
        for frame in fragments(peer, ident):
            peer.send(frame)
        time.sleep(0.1)
        peer.ping(b"")
    peer.send_udp(FROM, PORT, SENTINEL)
    result = box.wait_for("result", 10)
    assert result["bytes"] == result["packets"] * LENGTH <= 6 * LENGTH
    deadline = time.monotonic() + 20  # reassembly gives up after 5 s
    while box.counters()["pool_free"] != before["pool_free"]:
        assert time.monotonic() < deadline, "frames are still held"
        time.sleep(0.5)
    assert peer.ping(b"still there") == b"still there"
