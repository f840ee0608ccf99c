"""Batching on a real wire: switched under load, acknowledgements, and no ping the later for it."""

import os
import random
import sys
import threading
import time

import pytest

from cards import BOTH
from machine import ROOT
from rawpeer import ACK, SYN, TCP, FIN
from wire import Sink, send_tcp, ttcp_pattern

sys.path.append(os.path.join(ROOT, "tests", "bench"))

import latency                       # noqa: E402  (needs the path)

STATIC = "ip=10.0.2.15/24,10.0.2.2"
MSS = 1460
BURST = 6
GATHER_US = 40000
LOOK_US = 60  # instructions of a look, and when the peer happens to answer


@pytest.mark.cards(*BOTH)
def test_switched_under_load(boot):
    """Two streams in, batch switched all the time; then out, once each way: every byte counted."""
    box = boot(STATIC, forward={"tcp": [5001]})
    box.wait_for("ready")
    size = 6_000_000
    switched = rounds = 0
    while switched < 8:         # a busy host may switch but once in a round
        assert rounds < 8, "the console is not served under load"
        senders = [threading.Thread(target=send_tcp, args=(box.port("tcp", 5001), bytes(size)))
                   for _ in range(2)]
        for sender in senders:
            sender.start()
        while any(sender.is_alive() for sender in senders):
            done, _ = box.command(f"set batch={'on' if switched % 2 else 'off'}")
            assert done["status"] == 0
            done, _ = box.command(f"set rxbudget={random.Random(switched).randrange(1, 40)}")
            assert done["status"] == 0
            switched += 1
        for sender in senders:
            sender.join()
        rounds += 1
    results = box.wait_count("result", 2 * rounds, 20)
    assert [(r["bytes"], r["end"]) for r in results] == [(size, "ok")] * 2 * rounds
    for setting in ("off", "on"):
        box.command(f"set batch={setting}")
        sink = Sink()
        done, _ = box.command(f"ttcp -t -l 5000 -n 200 -p {sink.port} 10.0.2.2", 60)
        assert done["status"] == 0
        assert sink.result() == ttcp_pattern(5000) * 200


@pytest.mark.parametrize("nic", latency.CARDS)
def test_ping_is_not_delayed(nic):
    """Median from request to reply on the wire, in guest time: no longer than one at a time but for
    the second look into the ring before the reply leaves."""
    took = latency.measure(nic)
    assert 20 < took["off"].median < 500, took
    assert took["on"].median <= took["off"].median + LOOK_US, took


def open_tcp(peer, sport):
    since = peer.mark()
    peer.send_ip(TCP, peer.tcp(sport, 5001, 1000, 0, SYN, options=b"\x02\x04\x05\xb4"))
    answer = peer.wait(lambda p: p.proto == TCP and p.dport == sport and p.flags & SYN, 5, since,
                       "SYN+ACK")
    peer.send_ip(TCP, peer.tcp(sport, 5001, 1001, answer.seq + 1, ACK))
    return 1001, answer.seq + 1


class Conversation:
    """A client of the box's sink whose segments arrive in bursts."""

    def __init__(self, peer, sport):
        self.peer, self.sport = peer, sport
        self.seq, self.ack = open_tcp(peer, sport)

    def segment(self, number, damage=None):
        """Segment `number` behind what is acknowledged; one bit of it damaged."""
        peer, at = self.peer, self.seq + number * MSS
        data = bytes((at + i) * 7 & 0xff for i in range(MSS))
        body = bytearray(peer.tcp(self.sport, 5001, at, self.ack, ACK, data))
        if damage is not None:
            body[damage // 8] ^= 1 << damage % 8
        peer.send_ip(TCP, bytes(body))

    def acknowledged(self, number, since, timeout=1.0):
        """Wait for the acknowledgement of all before segment `number`."""
        want = self.seq + number * MSS & 0xffffffff
        self.peer.wait(lambda p: p.proto == TCP and p.dport == self.sport and p.flags & ACK
                       and p.ack == want, timeout, since, f"ACK of {number} segments")

    def taken(self, segments):
        self.seq += segments * MSS

    def close(self):
        since = self.peer.mark()
        self.peer.send_ip(TCP, self.peer.tcp(self.sport, 5001, self.seq, self.ack, FIN | ACK))
        fin = self.peer.wait(lambda p: p.proto == TCP and p.dport == self.sport and p.flags & FIN,
                             5, since, "FIN")
        self.peer.send_ip(TCP, self.peer.tcp(self.sport, 5001, self.seq + 1, fin.seq + 1, ACK))


@pytest.mark.cards(*BOTH)
def test_holes_in_a_burst(wired, peer):
    """A segment missing, or with one bit wrong, anywhere in a burst: told at once by its number,
    never counted, and all there once it has come."""
    dice = random.Random(4)
    box = wired(extra=["-object",
                       f"filter-buffer,id=gather,netdev=n0,queue=tx,interval={GATHER_US}"])
    talk = Conversation(peer, 2001)
    for _ in range(20):
        since = peer.mark()
        talk.segment(0)
        talk.acknowledged(1, since)
        talk.taken(1)
    for kind in ("missing", "damaged"):
        for hole in range(BURST):
            since = peer.mark()
            for number in range(BURST):
                if number != hole:
                    talk.segment(number)
                elif kind == "damaged":
                    talk.segment(number, dice.randrange(32, (20 + MSS) * 8))
            if hole + 1 < BURST:
                talk.acknowledged(hole, since)
            since = peer.mark()
            talk.segment(hole)
            talk.acknowledged(BURST, since)
            talk.taken(BURST)
    talk.close()
    result = box.wait_for("result", 5)
    assert (result["bytes"], result["end"]) == ((20 + 2 * BURST * BURST) * MSS, "ok")
    assert box.counters()["tcp_chkerr"] == BURST
    bursts = box.counters()
    assert bursts["burst_3_4"] + bursts["burst_5_8"] >= BURST, bursts   # they did come in bursts


@pytest.mark.cards(*BOTH)
def test_datagrams_damaged_in_a_burst(wired, peer):
    """Of seven at once, each in turn with one bit wrong: six are counted."""
    dice = random.Random(5)
    box = wired(extra=["-object",
                       f"filter-buffer,id=gather,netdev=n0,queue=tx,interval={GATHER_US}"])
    count = 0
    peer.send_udp(4000, 5001, b"gone")
    for bad in range(BURST + 1):
        for number in range(BURST + 1):
            body = bytearray(peer.udp(4000, 5001, bytes([number]) * 700))
            if number == bad:
                body[dice.randrange(8, len(body))] ^= 1 << dice.randrange(8)
            else:
                count += 1
            peer.send_ip(17, bytes(body))
        time.sleep(2 * GATHER_US / 1e6)
    peer.send_udp(4000, 5001, b"gone")
    result = box.wait_for("result", 5)
    assert (result["packets"], result["bytes"]) == (count, count * 700)
    assert box.counters()["udp_chkerr"] == BURST + 1
