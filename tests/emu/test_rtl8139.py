"""What only an RTL8139 does: its ring overflows, its link comes and goes."""

import time

import pytest

from cards import PENTIUM, RTL8139
from rawpeer import ETH_IP, UDP
from test_frames import still_alive

pytestmark = pytest.mark.cards(RTL8139)

FRAMES = 60             # full ones, together: the ring of 32 KB holds 21
GATHER_US = 200_000


def flood(box, peer, seconds):
    """The smallest frames as fast as the host can; then an answer, and every frame is back."""
    before = box.counters()
    frame = peer.ethernet(ETH_IP, peer.ip_packet(UDP, peer.udp(4000, 9999, b"f" * 18)))
    end, sent = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for _ in range(100):
            peer.send(frame)
        sent += 100
        if sent % 20000 == 0:
            with peer._changed:     # pylint: disable=protected-access
                peer.packets.clear()
    assert peer.ping(b"after the flood", seq=7, timeout=5) == b"after the flood"
    counters = box.counters()
    assert counters["rx_frames"] - before["rx_frames"] >= sent * 0.9
    assert counters["pool_free"] == before["pool_free"]
    assert counters["irq_lost"] == 0 and counters["rx_resync"] == 0
    assert box.all("panic") == []
    return sent


@pytest.mark.parametrize("words", ["", "elcr=edge"])
def test_small_packet_flood(wired, peer, words):
    assert flood(wired(words), peer, 5) > 1000


@pytest.mark.long
@pytest.mark.cards(RTL8139, PENTIUM)
def test_small_packet_flood_of_a_minute(wired, peer):
    flood(wired(), peer, 60)


def test_ring_overflow(wired, peer):
    """More than the ring holds arrives within one instruction of the halted machine.

    QEMU holds frames back while there is no room, unless the interrupt of an overflow is unmasked
    (rtl8139_can_receive): that is only so while we halt.  The filter gathers what the neighbour
    sends and delivers it in one go, before the machine can wake.
    """
    box = wired(extra=["-object",
                       f"filter-buffer,id=gather,netdev=n0,queue=tx,interval={GATHER_US}"])
    before = box.counters()
    for number in range(5):
        for _ in range(FRAMES):
            peer.send_udp(4000, 9999, bytes(1472))
        time.sleep(2 * GATHER_US / 1e6)
        still_alive(peer, number)
    after = box.counters()
    assert after["rx_overrun"] > before["rx_overrun"]
    assert after["rx_missed"] > before["rx_missed"]
    assert after["rx_frames"] - before["rx_frames"] >= 5 * 16, "what was in the ring was served"
    assert (after["rx_resync"], after["irq_lost"]) == (0, 0)
    assert after["pool_free"] == before["pool_free"]
    assert box.wait_for("fault", 5, what="overrun")["count"] >= 1
    assert box.all("nic")[0]["mode"] == "irq"


def test_link_goes_and_comes(wired, peer):
    box = wired()
    assert "link 100 Mbit/s" in box.command("nics")[1]
    box.monitor("set_link", name="n0", up=False)
    assert box.wait_for("fault", 5, what="link_down")["nic"] == 0
    assert "link down" in box.command("nics")[1]
    box.monitor("set_link", name="n0", up=True)
    box.wait_text("link up, 100 Mbit/s", 5)
    still_alive(peer)
    assert "link 100 Mbit/s" in box.command("nics")[1]
