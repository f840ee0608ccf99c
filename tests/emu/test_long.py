"""What takes minutes: `make test-long` only.  A cut-down of each is in the other files."""

import random
import time

import pytest

from cards import BOTH
from qemu import GUEST_IP, HOST_IP
from rawpeer import ETH_IP, UDP
from wire import Sink, send_tcp, ttcp_pattern

pytestmark = [pytest.mark.long, pytest.mark.cards(*BOTH)]

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
MB = 1 << 20


def test_a_thousand_connections(boot):
    box = boot(STATIC, forward={"tcp": [5001]})
    box.wait_for("ready", 10)
    before = box.counters()
    sizes = [random.Random(86).randrange(1, 5000) for _ in range(1000)]
    for size in sizes:
        send_tcp(box.port("tcp", 5001), b"c" * size)
    results = box.wait_count("result", len(sizes), 30)
    assert [r["bytes"] for r in results] == sizes
    assert all(r["end"] == "ok" for r in results)
    assert box.counters()["pool_free"] == before["pool_free"]


def test_200_mb_each_way(boot):
    box = boot(STATIC, forward={"tcp": [5001]}, mem=8)
    box.wait_for("ready", 10)
    size = 200 * MB
    send_tcp(box.port("tcp", 5001), ttcp_pattern(8192) * (size // 8192), timeout=300)
    result = box.wait_for("result", 30, dir="rx")
    assert result["bytes"] == size and result["gap_us"] < 500_000
    sink = Sink(timeout=300)
    done, _ = box.command(f"ttcp -t -n {size // 8192} -p {sink.port} {HOST_IP}", 600)
    assert done["status"] == 0
    assert sink.result(60) == ttcp_pattern(8192) * (size // 8192)
    result = box.wait_for("result", 30, dir="tx")
    assert result["bytes"] == size and result["gap_us"] < 500_000


def test_flood_of_ten_minutes(wired, peer):
    """Full and tiny frames, whole and in lone fragments, as fast as the host can; it answers
    within seconds all along, and afterwards every frame is back."""
    box = wired()
    before = box.counters()
    dice = random.Random(386)
    end, seq = time.monotonic() + 600, 0
    while time.monotonic() < end:
        for _ in range(500):
            length = dice.choice((1, 18, 700, 1472))
            peer.send(peer.ethernet(ETH_IP, peer.ip_packet(
                UDP, peer.udp(4000, dice.choice((7, 9, 5001)), bytes(length)),
                fragment=dice.choice((0, 0, 0, 0x2000)))))
        seq += 1
        for attempt in range(20):
            try:
                assert peer.ping(b"alive", seq=seq % 60000, timeout=0.5) == b"alive"
                break
            except AssertionError:
                assert attempt < 19, "the box does not answer any more"
        with peer._changed:  # pylint: disable=protected-access
            peer.packets.clear()
    time.sleep(40)
    assert box.counters()["pool_free"] == before["pool_free"]
    assert box.all("panic") == []
