"""The UDP rules of classic ttcp (NEEDS 3.1), datagram by datagram from a raw neighbour."""

import pytest

from cards import BOTH
from rawpeer import UDP
from wire import SENTINEL, ttcp_pattern

PORT = 5001


def sentinels(peer, count, port=4000):
    for _ in range(count):
        peer.send_udp(port, PORT, SENTINEL)


def data(peer, count, length=1000, port=4000):
    """In portions of 8, each followed by a ping: the box has taken them when that is answered."""
    for at in range(0, count, 8):
        for _ in range(min(8, count - at)):
            peer.send_udp(port, PORT, ttcp_pattern(length))
        peer.ping(b"", seq=1000 + at // 8)


def results_after_silence(box, seconds=7):
    """All results once every time-out of the protocol is over (guest time)."""
    now = box.counters()["t_us"]
    deadline = now + seconds * 1_000_000
    while box.counters()["t_us"] < deadline:
        pass
    return box.all("result")


@pytest.mark.parametrize("ends", [1, 2, 5, 9])
def test_sentinels(wired, peer, ends):
    """One start, data, any number of ends: one test, exactly the data."""
    box = wired()
    sentinels(peer, 1)
    data(peer, 40)
    sentinels(peer, ends)
    result = box.wait_for("result", 5)
    assert (result["test"], result["proto"], result["dir"]) == ("ttcp", "udp", "rx")
    assert (result["bytes"], result["packets"], result["calls"]) == (40_000, 40, 40)
    assert (result["end"], result["peer"]) == ("ok", f"{peer.IP}:4000")
    assert len(results_after_silence(box)) == 1, "the further end sentinels began no new test"


@pytest.mark.parametrize("ends", [1, 5, 9])
def test_lost_start_sentinel(wired, peer, ends):
    box = wired()
    data(peer, 24)
    sentinels(peer, ends)
    result = box.wait_for("result", 10)
    assert (result["bytes"], result["end"]) == (24_000, "ok")
    assert len(results_after_silence(box)) == 1
    assert result["us"] < 2_000_000, "the idle time-out is not in it"


@pytest.mark.cards(*BOTH)
def test_all_end_sentinels_lost(wired, peer):
    box = wired()
    sentinels(peer, 1)
    data(peer, 16)
    last = box.counters()["t_us"]
    result = box.wait_for("result", 15)
    assert (result["bytes"], result["end"]) == (16_000, "timeout")
    assert 2.5e6 <= result["t_us"] - last <= 6e6, "3 to 5 s of silence end it"
    assert result["us"] < 2_000_000, "the idle time-out is not in it"


def test_sentinels_alone_are_no_test(wired, peer):
    box = wired()
    sentinels(peer, 2)
    assert results_after_silence(box) == []


def test_next_test_from_the_same_port(wired, peer):
    box = wired()
    for number in (1, 2):
        sentinels(peer, 1)
        data(peer, 8 * number)
        sentinels(peer, 5)
        box.wait_count("result", number, 5)
        results_after_silence(box, 3)
    assert [r["bytes"] for r in box.all("result")] == [8000, 16000]


@pytest.mark.cards(*BOTH)
def test_flows_at_once_are_counted_apart(wired, peer):
    box = wired()
    ports = [4001, 4002, 4003]
    for port in ports:
        sentinels(peer, 1, port)
    for _ in range(5):
        for index, port in enumerate(ports):
            data(peer, index + 1, 500, port)
    for port in ports:
        sentinels(peer, 5, port)
    results = box.wait_count("result", 3, 5)
    by_peer = {r["peer"]: r["bytes"] for r in results}
    assert by_peer == {f"{peer.IP}:{port}": 5 * (index + 1) * 500
                       for index, port in enumerate(ports)}


@pytest.mark.cards(*BOTH)
def test_datagram_sizes(wired, peer):
    """5 bytes are data, 4 and fewer are not; one larger than the MTU arrives in fragments."""
    box = wired()
    sentinels(peer, 1)
    for length in (5, 6, 1471, 1472, 1473, 4000):
        peer.send_udp(4000, PORT, ttcp_pattern(length))
        peer.ping(b"")
    sentinels(peer, 1)
    result = box.wait_for("result", 5)
    assert (result["bytes"], result["packets"]) == (5 + 6 + 1471 + 1472 + 1473 + 4000, 6)


@pytest.mark.cards(*BOTH)
@pytest.mark.parametrize("length,count", [(5, 10), (18, 200), (1472, 200), (4000, 20)])
def test_box_sends(wired, peer, length, count):
    """Sentinel, data, five sentinels, in this order, every byte right, each with its own IP id."""
    box = wired()
    done, _ = box.command(f"ttcp -t -u -l {length} -n {count} {peer.IP}", 20)
    assert done["status"] == 0
    result = box.wait_for("result", 5)
    assert (result["bytes"], result["packets"], result["dir"]) == (length * count, count, "tx")
    last = peer.wait(lambda p: p.dport == PORT and len(peer.seen(
        lambda q: q.dport == PORT and q.data is not None and len(q.data) <= 4)) >= 6, 5)
    assert last is not None
    whole = peer.seen(lambda p: p.proto == UDP and p.dport == PORT)
    if length <= 1472:
        assert [len(p.data) for p in whole] == [4] + [length] * count + [4] * 5
        assert all(p.data == ttcp_pattern(len(p.data)) for p in whole)
    fragments = peer.seen(lambda p: p.proto == UDP and p.ip_dst == peer.ip)
    idents = {p.ident for p in fragments}
    assert len(idents) == count + 6
