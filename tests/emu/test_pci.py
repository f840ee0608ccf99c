"""PCI as the firmware leaves it, good and bad.

The machine is stopped at the kernel's first instruction, and its configuration space changed to
what a bad firmware might have left there.
"""

import pytest

from cards import RTL8139
from qemu import GUEST_IP, HOST_IP, nic_device
from rawpeer import BROADCAST
from stub import stopped

pytestmark = pytest.mark.cards(RTL8139)

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
SLOT = 3
SAME_LINE_SLOT = 7  # wired to the same line of the i440FX
COMMAND, BAR0, LINE = 0x04, 0x10, 0x3c
IO, MASTER = 1, 4


@pytest.fixture
def boot_with(boot, tmp_path):
    """boot_with({register: (width, value)}, append): registers of the card in `slot`."""
    def start(registers, append=STATIC, slot=SLOT, more=(), **options):
        box, stub = stopped(boot, tmp_path, append, more, nic_options={"addr": SLOT}, **options)
        for register, (width, value) in registers.items():
            box.human_monitor(f"o/w 0xcf8 {0x80000000 | slot << 11 | register & 0xfc:#x}")
            box.human_monitor(f"o/{width} {0xcfc + (register & 3):#x} {value:#x}")
        stub.leave()
        return box
    return start


def lines_about(box, word):
    return [line for line in box.text["e9"].split("\n")
            if word in line and not line.startswith("@")]


@pytest.mark.parametrize("line", [0, 255, 16])
def test_no_interrupt_line_from_the_firmware(boot_with, line):
    """One clear line; then whatever line the card drives is found, or it is polled."""
    box = boot_with({LINE: ("b", line)})
    box.wait_for("ready", 10)
    assert len(lines_about(box, f"no interrupt ({line})")) == 1
    assert box.command(f"ping -n 3 {HOST_IP}")[0]["status"] == 0
    nic = box.all("nic")[0]
    assert nic["mode"] == "poll" or nic["irq_proven"]


def test_wrong_interrupt_line_from_the_firmware(boot_with):
    """It says so, and uses the line that the card really drives."""
    box = boot_with({LINE: ("b", 9)})
    box.wait_for("ready", 10)
    assert box.all("fault")[0]["what"] == "irq_missing"
    assert box.command(f"ping -n 3 {HOST_IP}")[0]["status"] == 0


def test_wrong_line_and_the_real_one_shared(boot_with):
    """The second card drives the line of the first: it listens there, and both are used."""
    box = boot_with({LINE: ("b", 9)}, f"{STATIC} ip=10.0.3.15/24", slot=SAME_LINE_SLOT,
                    more=["-netdev", "user,id=n1,restrict=on", "-device",
                          nic_device(RTL8139, "n1", addr=SAME_LINE_SLOT, mac="52:54:00:12:34:57")])
    box.wait_count("ready", 2, 10)
    first, second = box.all("nic")
    assert second["irq"] == first["irq"] and second["irq_proven"] and second["mode"] == "irq"
    assert [f["what"] for f in box.all("fault")] == ["irq_missing"]
    assert box.command(f"ping -n 3 {HOST_IP}")[0]["status"] == 0


@pytest.mark.parametrize("bar", [0, 1])
def test_no_io_range_from_the_firmware(boot_with, bar):
    box = boot_with({BAR0: ("w", bar)})
    assert box.wait_for("fault", 5)["what"] == "nic_missing"
    assert len(lines_about(box, "no I/O range")) == 1
    assert box.command("help")[0]["status"] == 0


@pytest.mark.parametrize("command,told", [
    (0, "I/O bus mastering"), (IO, "bus mastering"), (MASTER, "I/O"), (IO | MASTER, None)])
def test_what_the_firmware_left_off_is_switched_on(boot_with, command, told):
    box = boot_with({COMMAND: ("h", command)})
    box.wait_for("ready", 10)
    assert box.command(f"ping -n 3 {HOST_IP}")[0]["status"] == 0
    _, text = box.command("nics")
    assert (f"switched on: {told}" if told else "nothing had to be changed") in text
    assert f"pci:0.{SLOT}.0" in text


@pytest.mark.parametrize("words", [f"nic=pci:0.{SLOT}.0", "nic=rtl8139",
                                   "nic=rtl8139 nic=ne2000:0x300"])
def test_card_named(boot, words):
    box = boot(f"{STATIC} {words}", nic_options={"addr": SLOT})
    box.wait_for("ready", 10)
    nics = box.all("nic")
    assert [nic["driver"] for nic in nics] == ["rtl8139"]
    assert len(box.all("fault")) == words.count("ne2000")


@pytest.mark.parametrize("words", ["nic=pci:0.9.0", "nic=pci:0.3.1", "nic=pci:1.3.0",
                                   "nic=pci:0.2.0", "nic=ne2000", "nic=rtl8139:0x300"])
def test_nothing_at_the_place_named(boot, words):
    """One clear line and one record, also where another kind of device is (the display, 0.2.0)."""
    box = boot(f"{STATIC} {words}", nic_options={"addr": SLOT})
    assert box.wait_for("fault", 5)["what"] == "nic_missing"
    assert box.command("help")[0]["status"] == 0
    assert len(box.all("fault")) == 1 and box.all("nic") == []
    assert len(lines_about(box, "no network card")) == 1


def test_no_card_on_the_bus(boot):
    box = boot(f"{STATIC} nic=rtl8139", nic=None, board="pc")
    assert box.wait_for("fault", 5)["what"] == "nic_missing"
    assert len(lines_about(box, "no network card for rtl8139")) == 1


def test_warm_start_finds_the_card_quiet(boot, peer):
    """After `reboot` under traffic it is found again: no DMA went on into the new kernel."""
    box = boot(f"ip={peer.BOX_IP}/24", dgram=peer.sockets)
    box.wait_for("ready", 10)
    peer.find_box()
    box.type("reboot\r")
    for _ in range(200):
        peer.send(peer.arp(1, peer.ip, peer.box_ip, BROADCAST))
        peer.send_udp(4000, 9999, bytes(1000))
    box.wait_count("ready", 2, 15)
    assert peer.ping(b"again") == b"again"
    assert box.all("panic") == []
