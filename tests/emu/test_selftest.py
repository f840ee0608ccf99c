"""The selftest on emulated cards: what it finds, and that the box is back at once."""

import pytest

from cards import ISA, NE2K_PCI, PENTIUM, RTL8139
from machine import product
from qemu import GUEST_IP, HOST_IP

pytestmark = pytest.mark.cards(ISA, NE2K_PCI, RTL8139, PENTIUM)

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
NE2000_STEPS = ("registers", "cycles", "PROM", "RAM", "loopback", "interrupt", "speed", "means")
RTL8139_STEPS = ("registers", "EEPROM", "loopback", "interrupt", "speed", "means")
LONGEST = 20


def figures(box):
    """What the `bench` records say, by name: each figure once, and in order."""
    found = {}
    for record in box.all("bench"):
        assert record["name"] not in found, record
        assert record["nic"] == 0 and record["n"] >= 1
        assert record["min"] <= record["p50"] <= record["p99"] <= record["max"]
        assert record["min"] <= record["mean"] <= record["max"]
        found[record["name"]] = record
    return found


def check_verdict(box, driver, width):
    """Every step was made, none found a fault; the figures are there, with their units."""
    table, = box.all("table", name="selftest")
    assert table["columns"] == ["step", "verdict", "words"]
    steps = list(dict.fromkeys(row[0] for row in table["rows"]))
    assert tuple(steps) == (RTL8139_STEPS if driver == "rtl8139" else NE2000_STEPS)
    assert all(row[1] in ("good", "note") for row in table["rows"]), table
    assert table["verdict"] == "this card works"
    found = figures(box)
    assert found["irq_latency"]["unit"] == "us"
    for name in (f"bus_out_{width}", "bus_tcp_rx", "bus_tcp_tx"):
        assert found[name]["unit"] == "KB/s" and found[name]["p50"] > 0
    return table["rows"], found


def test_sound_card(wired, peer, card):
    """One screen of good news; the next ping is answered at once; no frame of it is on the wire."""
    box = wired()
    since = peer.mark()
    done, text = box.command("selftest", LONGEST)
    assert done["status"] == 0
    assert peer.ping(b"at once", seq=2, timeout=1) == b"at once"
    nic = box.all("nic")[0]
    rows, found = check_verdict(box, nic["driver"], nic["width"])
    screen = text[text.index("card 0: "):]  # in front of it, the end of what was said before
    lines = [line for line in screen.splitlines() if line and line[0] not in "@>"]
    assert len(lines) <= 24 and [line for line in lines if len(line) > 80] == []
    assert "card 0: this card works" in text
    words = {row[0]: row[2] for row in rows}
    assert words["interrupt"].startswith(f"irq {nic['irq']}, ")
    if nic["driver"] == "ne2000":
        assert words["loopback"] == "not tested: this chip has none (QEMU)"
        assert {f"bus_in_{nic['width']}", "bus_in_8", "bus_out_8"} <= set(found)
        assert found["bus_tcp_rx"]["p50"] <= 1159
    else:
        assert "32 frames of 60 to 1514 bytes came back" in words["loopback"]
        assert f"{nic['mac']}, board 10ec:8139" == words["EEPROM"]
    others = [packet for packet in peer.seen(lambda one: True, since)
              if getattr(packet, "kind", None) == 0x9000]
    assert others == [], "what goes round in loopback stays in the chip"
    assert box.all("panic") == [] and box.all("fault") == []


def test_again_and_again(wired, peer):
    """Ten times, with traffic in between and meanwhile; the pool is whole at the end."""
    box = wired()
    before = box.counters()
    for number in range(10):
        box.type("selftest\r")
        since = box.mark()
        for _ in range(5):
            peer.send_udp(4000, 9, b"meanwhile" * 20)
        assert box.wait_for("done", LONGEST, since=since, cmd="selftest")["status"] == 0
        assert peer.ping(b"x" * 1000, seq=number + 1, timeout=1) == b"x" * 1000
    assert box.counters()["pool_free"] == before["pool_free"]
    assert box.all("nic")[0]["mode"] == "irq"


@pytest.mark.cards(RTL8139)
def test_without_a_cable(boot):
    box = boot(STATIC)
    box.wait_for("ready", 10)
    box.monitor("set_link", name="n0", up=False)
    box.wait_for("fault", 5, what="link_down")
    assert box.command("selftest", LONGEST)[0]["status"] == 0


@pytest.mark.cards(ISA)
def test_polled(boot):
    """Without an interrupt line, and at the other end of run=: the exit status tells."""
    box = boot(f'{STATIC} irq=poll run=selftest exit=on')
    assert box.wait_for("done", LONGEST, cmd="selftest")["status"] == 0
    assert box.wait_for("exit", 5)["status"] == 0
    rows = {row[0]: row for row in box.all("table")[0]["rows"]}
    assert rows["interrupt"][1:] == ["note", "not tested: irq=poll was asked for"]


@pytest.mark.bochs
@pytest.mark.parametrize("slot", [None, 1])
def test_bochs(boot_bochs, slot):
    """Bochs stops the machine at what a chip would not survive; it has a loopback of its own."""
    box = boot_bochs(floppy=product("nictest86.img"), slot=slot)
    box.wait_for("ready", 180)
    done, text = box.command("selftest", 60)
    assert done["status"] == 0, text
    nic = box.all("nic")[0]
    rows, _ = check_verdict(box, nic["driver"], nic["width"])
    assert "KB from 4000h, march test" in dict((row[0], row[2]) for row in rows)["RAM"]
    assert box.command(f"ping -n 2 {HOST_IP}", 30)[0]["status"] == 0
    assert box.all("panic") == []
