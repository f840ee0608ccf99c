"""Raw Ethernet: echo of every size, fragments, garbage.  The neighbour checks every frame the box
sends (length, checksums, zero padding); the pool must be whole again after each test."""

import random
import struct
import time

import pytest

from cards import BOTH, EVERY
from rawpeer import (ACK, BROADCAST, ETH_ARP, ETH_IP, FIN, FRAME_MAX, FRAME_MIN, ICMP, RST, SYN,
                     TCP, UDP, ip_bytes, mac_bytes)

pytestmark = pytest.mark.cards(*BOTH)

IN_FLIGHT = 6  # full frames that an NE2000's ring holds for sure, with a small one behind them


@pytest.fixture
def box(wired):
    machine = wired()
    before = machine.counters()
    yield machine
    # Whatever it was: the box answers, and every frame is back in the pool.
    deadline = time.monotonic() + 20
    after = machine.counters()
    while after["pool_free"] != before["pool_free"] and time.monotonic() < deadline:
        time.sleep(0.5)  # fragments wait for their company
        after = machine.counters()
    assert after["pool_free"] == before["pool_free"], "frames leaked"
    assert after["pool_size"] == before["pool_size"]


def contents(length, seed=0):
    return random.Random(length * 7919 + seed).randbytes(length)


def still_alive(peer, seq=0, attempts=20):
    """An echo comes back; asked again when the question itself fell victim to a full ring."""
    for _ in range(attempts):
        try:
            assert peer.ping(b"alive", seq=seq, timeout=0.5) == b"alive"
            return
        except AssertionError:
            continue
    raise AssertionError("the box does not answer any more")


# ---- echo ----

@pytest.mark.cards(*EVERY)
def test_ping_sweep(box, peer):
    """All sizes 0 to 1472, contents compared, up to 8 in flight."""
    waiting, since = {}, peer.mark()

    def collect(down_to):
        nonlocal since
        deadline = time.monotonic() + 5
        while len(waiting) > down_to:
            assert time.monotonic() < deadline, f"no echo of {sorted(waiting)}"
            found, since = peer.seen(lambda p: p.proto == ICMP, since), peer.mark()
            for packet in found:
                assert packet.icmp_type == 0
                assert packet.data == waiting.pop(packet.icmp_seq), packet.icmp_seq
            if not found:
                time.sleep(0.0005)

    for size in range(1473):
        waiting[size] = contents(size)
        peer.send_ip(ICMP, peer.icmp(8, 0x4e54, size, waiting[size]))
        collect(IN_FLIGHT - 1 if size > 400 else 3)
    collect(0)
    assert box.alive()


@pytest.mark.parametrize("size", [1473, 2952, 4000, 5000])
def test_ping_in_fragments(box, peer, size):
    data = contents(size)
    assert peer.ping(data, timeout=5) == data
    assert box.alive()


def test_fragments_in_reverse_and_twice(box, peer):
    data = contents(4000)
    body = peer.icmp(8, 9, 77, data)
    pieces = [(at, body[at:at + 1480]) for at in range(0, len(body), 1480)]
    since = peer.mark()
    for at, part in reversed(pieces):
        more = 0x2000 if at + 1480 < len(body) else 0
        peer.send(peer.ethernet(ETH_IP, peer.ip_packet(ICMP, part, ident=500,
                                                       fragment=more | at // 8)))
    echo = peer.reassemble(lambda proto, got: proto == ICMP and got[0] == 0
                           and got[6:8] == struct.pack("!H", 77), 5, since)
    assert echo[8:] == data
    assert box.alive()


def test_lone_fragments_time_out(wired, peer):
    """First halves only, again and again: bounded, and gone after their time (guest time)."""
    machine = wired(icount=True)
    before = machine.counters()
    for ident in range(1, 60):
        peer.send(peer.ethernet(ETH_IP, peer.ip_packet(UDP, b"f" * 1480, ident=ident,
                                                       fragment=0x2000)))
        if ident % IN_FLIGHT == 0:
            peer.ping(b"")
    assert machine.counters()["pool_free"] > 0
    end = machine.counters()["t_us"] + 40_000_000
    while machine.counters()["t_us"] < end:
        pass
    assert machine.counters()["pool_free"] == before["pool_free"]
    assert peer.ping(b"still there") == b"still there"


def test_short_frames_are_padded_with_zeros(box, peer):
    """After a full frame of FFs went out through the same card memory (CVE-2003-0001)."""
    assert peer.ping(b"\xff" * 1472) == b"\xff" * 1472
    assert peer.ping(b"\xff" * 1472) == b"\xff" * 1472
    since = peer.mark()
    for size in range(20):
        assert peer.ping(b"\xee" * size, seq=size) == b"\xee" * size
    peer.send(peer.arp(1, peer.ip, peer.box_ip, BROADCAST))
    peer.wait(lambda p: p.type == ETH_ARP and p.op == 2, 5, since)
    short = peer.seen(lambda p: len(p.frame) == FRAME_MIN, since)
    assert len(short) >= 18
    assert all(p.frame[p.end:] == bytes(len(p.frame) - p.end) for p in short)
    assert box.alive()


# ---- what must not be answered ----

def test_what_is_not_for_us(box, peer):
    other = ip_bytes("10.0.2.77")
    echo = peer.icmp(8, 1, 5, b"not you")
    since = peer.mark()
    peer.send(peer.ethernet(ETH_IP, peer.ip_packet(ICMP, echo, dst=other)))
    peer.send(peer.ethernet(ETH_IP, peer.ip_packet(ICMP, echo), dst=mac_bytes("02:00:00:00:00:99")))
    peer.send(peer.ethernet(0x86dd, b"\x60" + bytes(60)))
    peer.send(peer.ethernet(0x88cc, contents(100)))
    peer.send(peer.arp(1, peer.ip, other, BROADCAST))
    assert peer.ping(b"you", seq=6) == b"you"
    assert peer.seen(lambda p: p.proto == ICMP and p.icmp_seq == 5, since) == []
    assert peer.seen(lambda p: p.type == ETH_ARP and p.ip_src == other, since) == []
    assert box.alive()


def garbage(peer):
    """(name, frame) of what no neighbour should send."""
    good = peer.ip_packet(UDP, peer.udp(4000, 5001, b"g" * 100))
    syn = peer.tcp(999, 5001, 1, 0, SYN)
    yield "checksum of the IP header", peer.ethernet(
        ETH_IP, good[:10] + b"\x12\x34" + good[12:])
    yield "checksum of UDP", peer.ethernet(ETH_IP, good[:26] + b"\x12\x34" + good[28:])
    yield "checksum of TCP", peer.ethernet(ETH_IP, peer.ip_packet(
        TCP, syn[:16] + b"\xab\xcd" + syn[18:]))
    yield "IP version 5", peer.ethernet(ETH_IP, b"\x55" + good[1:])
    yield "IP header of 4 bytes", peer.ethernet(ETH_IP, b"\x41" + good[1:])
    yield "IP header longer than the packet", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, b"", total=20)[:1].replace(b"\x45", b"\x4f") + good[1:20])
    yield "IP length beyond the frame", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, peer.udp(4000, 5001, b"g" * 30), total=1500))
    yield "IP length below its header", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, b"g" * 30, total=10))
    yield "UDP length beyond the packet", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, struct.pack("!HHHH", 4000, 5001, 2000, 0) + b"g" * 30))
    yield "UDP length of 3", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, struct.pack("!HHHH", 4000, 5001, 3, 0) + b"g" * 30))
    yield "UDP of 4 bytes", peer.ethernet(ETH_IP, peer.ip_packet(UDP, b"\x0f\xa0\x13\x89"))
    yield "TCP header of 4 bytes", peer.ethernet(ETH_IP, peer.ip_packet(
        TCP, syn[:12] + b"\x10" + syn[13:]))
    yield "TCP header beyond the segment", peer.ethernet(ETH_IP, peer.ip_packet(
        TCP, syn[:12] + b"\xf0" + syn[13:]))
    yield "TCP of 7 bytes", peer.ethernet(ETH_IP, peer.ip_packet(TCP, syn[:7]))
    yield "TCP options without end", peer.ethernet(ETH_IP, peer.ip_packet(
        TCP, peer.tcp(998, 5001, 1, 0, SYN, options=b"\x02\x00\x03\x00")))
    yield "TCP with all flags", peer.ethernet(ETH_IP, peer.ip_packet(
        TCP, peer.tcp(997, 5001, 1, 1, 0x3f)))
    yield "ICMP of 3 bytes", peer.ethernet(ETH_IP, peer.ip_packet(ICMP, b"\x08\x00\x00"))
    yield "ICMP checksum", peer.ethernet(ETH_IP, peer.ip_packet(
        ICMP, b"\x08\x00\xba\xad" + b"\0\1\0\1" + b"i" * 20))
    yield "fragment at the far end", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, b"h" * 1400, fragment=0x1fff))
    yield "fragment not a multiple of 8", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, b"h" * 13, fragment=0x2000))
    yield "from ourselves", peer.ethernet(ETH_IP, peer.ip_packet(
        UDP, peer.udp(5001, 5001, b"l" * 40, src=peer.box_ip), src=peer.box_ip))
    yield "from the broadcast address", peer.ethernet(ETH_IP, peer.ip_packet(
        ICMP, peer.icmp(8, 1, 1, b"smurf"), src=b"\xff" * 4))
    yield "to everybody", peer.ethernet(ETH_IP, peer.ip_packet(
        ICMP, peer.icmp(8, 1, 1, b"smurf"), dst=b"\xff" * 4), dst=BROADCAST)
    yield "ARP of another medium", peer.ethernet(ETH_ARP, struct.pack(
        "!HHBBH", 6, ETH_IP, 6, 4, 1) + bytes(20))
    yield "ARP with long addresses", peer.ethernet(ETH_ARP, struct.pack(
        "!HHBBH", 1, ETH_IP, 200, 200, 1) + bytes(30))
    yield "IEEE 802.3 length, no type", peer.ethernet(0x0026, bytes(50))
    yield "nothing but a header", peer.ethernet(ETH_IP, b"")[:14]
    yield "13 bytes", b"x" * 13
    yield "one byte", b"x"
    yield "59 bytes", peer.ethernet(ETH_IP, good)[:59]
    yield "1515 bytes", peer.ethernet(ETH_IP, good).ljust(1515, b"J")
    yield "1518 bytes", peer.ethernet(ETH_IP, good).ljust(1518, b"J")
    yield "1600 bytes", peer.ethernet(ETH_IP, good).ljust(1600, b"J")
    yield "4096 bytes", peer.ethernet(ETH_IP, good).ljust(4096, b"J")


# Where the stack says it dropped it; the rest is dropped too, without a cause of its own.
COUNTED_AS = {
    "checksum of the IP header": "ip_chkerr", "checksum of UDP": "udp_chkerr",
    "checksum of TCP": "tcp_chkerr", "ICMP checksum": "icmp_chkerr",
    "IP header longer than the packet": "ip_lenerr", "IP length beyond the frame": "ip_lenerr",
    "ICMP of 3 bytes": "icmp_lenerr", "IP version 5": "ip_drop", "TCP of 7 bytes": "tcp_lenerr",
    "1515 bytes": "rx_length", "1600 bytes": "rx_length",
}


def test_garbage(box, peer):
    """Each by itself: counted, the box answers after it, and nothing of it was taken for data."""
    counters = box.counters()
    for number, (name, frame) in enumerate(garbage(peer)):
        peer.send(frame)
        assert peer.ping(b"alive", seq=number) == b"alive", name
        before, counters = counters, box.counters()
        if name in COUNTED_AS:
            key = COUNTED_AS[name]
            assert counters[key] == before[key] + 1, (name, key, before[key], counters[key])
    assert box.all("panic") == []
    assert box.all("result") == [], "no part of the garbage was a test"


@pytest.mark.parametrize("length,good", [(1514, True), (1515, False), (1518, False),
                                         (1600, False), (4096, False)])
def test_longest_frame(box, peer, length, good):
    """What is longer than Ethernet allows is dropped and counted by its cause."""
    before = box.counters()
    peer.send(peer.ethernet(0x88b5, b"J" * (length - 14)))
    still_alive(peer)
    after = box.counters()
    assert after["rx_length"] - before["rx_length"] == (0 if good else 1)
    assert after["rx_resync"] == before["rx_resync"]


def test_random_frames(box, peer):
    """Good headers with random damage, 3000 frames."""
    dice = random.Random(86)
    base = [peer.ethernet(ETH_IP, peer.ip_packet(proto, body)) for proto, body in (
        (ICMP, peer.icmp(8, 1, 1, b"d" * 64)), (TCP, peer.tcp(1234, 5001, 1, 0, SYN)),
        (TCP, peer.tcp(1234, 5001, 1, 1, ACK | FIN, b"d" * 10)),
        (TCP, peer.tcp(1234, 5001, 1, 1, RST)), (UDP, peer.udp(9, 7, b"d" * 20)))]
    for number in range(3000):
        frame = bytearray(dice.choice(base))
        for _ in range(dice.randrange(1, 6)):
            frame[dice.randrange(12, len(frame))] = dice.randrange(256)
        if dice.random() < 0.2:
            frame = frame[:dice.randrange(14, len(frame))]
        peer.send(bytes(frame))
        if number % 50 == 49:
            still_alive(peer, number)
    assert box.all("panic") == []


def test_flood_beyond_the_ring(box, peer):
    """Faster than it can be: what the ring cannot hold is lost, the rest is served, no harm."""
    for number in range(20):
        for _ in range(40):
            peer.send_udp(4000, 9999, bytes(1472))
        still_alive(peer, number)
    counters = box.counters()
    assert counters["rx_frames"] >= 20 * IN_FLIGHT
    assert box.all("panic") == []


def test_counters_count_each_frame_once(box, peer):
    time.sleep(0.3)     # COM1 has said all it had to: the box halts, and is woken by interrupts
    box.command("counters reset")
    since = peer.mark()
    start = box.counters()
    assert start["rx_frames"] == 0
    sizes = [0, 18, 100, 1472]
    for size in sizes:
        peer.ping(bytes(size))
    end = box.counters()
    frames = [max(FRAME_MIN, 14 + 20 + 8 + size) for size in sizes]
    assert end["rx_frames"] == len(sizes) and end["rx_bytes"] == sum(frames)
    own = [len(p.frame) for p in peer.seen(lambda p: p.proto != ICMP, since)]  # when it likes
    count = end["tx_frames"] - start["tx_frames"] - len(sizes)
    assert 0 <= count <= len(own)
    assert end["tx_bytes"] - start["tx_bytes"] - sum(frames) in [
        sum(own[first:first + count]) for first in range(len(own) - count + 1)]
    assert max(frames) == FRAME_MAX
    assert end["irqs"] >= 1


# ---- TCP with a neighbour that loses things ----

def open_tcp(peer, sport, dport=5001):
    """Three-way handshake; (our next sequence number, its next).  There may be no window yet."""
    since = peer.mark()
    peer.send_ip(TCP, peer.tcp(sport, dport, 1000, 0, SYN, options=b"\x02\x04\x05\xb4"))
    answer = peer.wait(lambda p: p.proto == TCP and p.dport == sport and p.flags & SYN, 5, since,
                       "SYN+ACK")
    peer.send_ip(TCP, peer.tcp(sport, dport, 1001, answer.seq + 1, ACK))
    return 1001, answer.seq + 1


def close_tcp(peer, sport, seq, ack, dport=5001):
    since = peer.mark()
    peer.send_ip(TCP, peer.tcp(sport, dport, seq, ack, FIN | ACK))
    fin = peer.wait(lambda p: p.proto == TCP and p.dport == sport and p.flags & FIN, 5, since,
                    "FIN")
    peer.send_ip(TCP, peer.tcp(sport, dport, seq + 1, fin.seq + 1, ACK))


def test_missing_segment_gets_in(box, peer):
    """Everything after one segment arrives, as much as the window allows; then that one.  A window
    begins narrow and is whole after the first segment."""
    segment = b"S" * 1460
    seq, ack = open_tcp(peer, 2001)
    since = peer.mark()
    peer.send_ip(TCP, peer.tcp(2001, 5001, seq, ack, ACK, segment))
    seq += 1460
    peer.wait(lambda p: p.proto == TCP and p.dport == 2001 and p.ack == seq
              and p.window >= 6 * 1460, 5, since, "window for six")
    for number in range(1, 6):
        peer.send_ip(TCP, peer.tcp(2001, 5001, seq + number * 1460, ack, ACK, segment))
        peer.ping(b"", seq=number)
    since = peer.mark()
    peer.send_ip(TCP, peer.tcp(2001, 5001, seq, ack, ACK, segment))
    peer.wait(lambda p: p.proto == TCP and p.dport == 2001 and p.ack == seq + 6 * 1460, 5, since,
              "ACK of all six")
    close_tcp(peer, 2001, seq + 6 * 1460, ack)
    result = box.wait_for("result", 5)
    assert (result["bytes"], result["end"]) == (7 * 1460, "ok")


def test_out_of_order_from_many_cannot_hold_the_pool(box, peer):
    """Eight connections, each with a hole in front: an echo still comes back, and the holes
    can still be filled."""
    places = {}
    for sport in range(3001, 3009):
        places[sport] = open_tcp(peer, sport)
    for number in range(1, 5):
        for sport, (seq, ack) in places.items():
            peer.send_ip(TCP, peer.tcp(sport, 5001, seq + number * 1460, ack, ACK, b"H" * 1460))
            still_alive(peer, number)
    assert peer.ping(b"room left", seq=99) == b"room left"
    assert box.counters()["pool_free"] >= 1
    for sport, (seq, ack) in places.items():
        since = peer.mark()
        peer.send_ip(TCP, peer.tcp(sport, 5001, seq, ack, ACK, b"H" * 1460))
        peer.wait(lambda p, port=sport, s=seq: p.proto == TCP and p.dport == port
                  and p.ack >= s + 1460, 5, since, "ACK of the missing segment")
        peer.send_ip(TCP, peer.tcp(sport, 5001, seq + 1460, ack, RST | ACK))


def test_reset_ends_a_test(box, peer):
    seq, ack = open_tcp(peer, 2002)
    peer.send_ip(TCP, peer.tcp(2002, 5001, seq, ack, ACK, b"R" * 700))
    peer.ping(b"")
    peer.send_ip(TCP, peer.tcp(2002, 5001, seq + 700, ack, RST | ACK))
    result = box.wait_for("result", 5)
    assert (result["bytes"], result["end"]) == (700, "reset")


def test_retransmissions_are_counted(box, peer):
    """The neighbour ignores one segment of the box's stream, once."""
    state = {"next": None, "dropped": False, "bytes": 0, "repeated": 0}

    def receiver(packet):
        if packet.proto != TCP or packet.dport != 6000:
            return
        reply = ACK
        if packet.flags & SYN:
            state["next"] = packet.seq + 1
            peer.send_ip(TCP, peer.tcp(6000, packet.sport, 5000, state["next"], SYN | ACK,
                                       window=16384, options=b"\x02\x04\x05\xb4"))
            return
        if packet.data and packet.seq == state["next"]:
            if state["bytes"] > 20000 and not state["dropped"]:
                state["dropped"] = True
                return
            state["next"] += len(packet.data)
            state["bytes"] += len(packet.data)
        if packet.flags & FIN and packet.seq + len(packet.data) == state["next"]:
            state["next"] += 1
            reply |= FIN
        peer.send_ip(TCP, peer.tcp(6000, packet.sport, 5001, state["next"], reply, window=16384))

    peer.hook = receiver
    done, _ = box.command(f"ttcp -t -l 1460 -n 60 -p 6000 {peer.IP}", 30)
    assert done["status"] == 0
    result = box.wait_for("result", 5)
    assert state["dropped"] and state["bytes"] == 60 * 1460
    assert result["bytes"] == 60 * 1460
    sent = [p for p in peer.seen(lambda p: p.proto == TCP and p.dport == 6000 and p.data)]
    highest, repeats = 0, 0
    for packet in sent:
        repeats += packet.seq < highest
        highest = max(highest, packet.seq + len(packet.data))
    assert repeats >= 1 and result["retrans"] == repeats
    assert result["packets"] == len(sent)


def test_half_open_flood_keeps_a_place(box, peer):
    """SYNs that are never completed; a real client is served within moments."""
    for sport in range(10000, 10100):
        peer.send_ip(TCP, peer.tcp(sport, 5001, 1, 0, SYN))
        if sport % IN_FLIGHT == 0:
            peer.ping(b"")
    deadline = time.monotonic() + 5
    while True:
        try:
            seq, ack = open_tcp(peer, 20000)
            break
        except AssertionError:
            assert time.monotonic() < deadline, "no place for a real client"
    peer.wait(lambda p: p.proto == TCP and p.dport == 20000 and p.window >= 4, 5, 0, "window")
    peer.send_ip(TCP, peer.tcp(20000, 5001, seq, ack, ACK, b"real"))
    close_tcp(peer, 20000, seq + 4, ack)
    assert box.wait_for("result", 5)["bytes"] == 4
    # RST what is left, so that the pool comes back before their time.
    for sport in range(10000, 10100):
        peer.send_ip(TCP, peer.tcp(sport, 5001, 2, 0, RST))
        if sport % IN_FLIGHT == 0:
            peer.ping(b"")
