"""The search on a machine: what `probe` tells, lines that are taken, and cards found again after
every kind of restart."""

import time

import pytest

from cards import BOTH
from qemu import nic_device

STATIC = "ip=10.0.2.15/24"


def second_isa(**options):
    return ["-netdev", "user,id=n1,restrict=on", "-device",
            nic_device("ne2k_isa", "n1", mac="52:54:00:12:34:57", **options)]


def probe_rows(box):
    mark = box.mark()
    box.command("probe")
    tables = box.all("table", since=mark, name="probe")
    assert [t["part"] for t in tables] == list(range(1, tables[0]["parts"] + 1))
    return [row for t in tables for row in t["rows"]]


def test_probe_explains(boot):
    box = boot(f"{STATIC} noprobe=0x340-0x347")
    box.wait_for("ready", 10)
    rows = probe_rows(box)
    assert ["0x300", "ne2000", "taken"] in [r[:3] for r in rows]
    assert ["0x340", "ne2000", "skipped", "noprobe="] in rows
    empty = [r for r in rows if r[0] == "0x360" and r[1] == "ne2000"]
    assert empty == [["0x360", "ne2000", "nothing", "nothing there"]]
    box.wait_text("not looked at: noprobe=", 5)
    assert box.all("table", name="probe")[0]["us"] < 3_000_000


def test_probe_without_a_card(boot):
    box = boot(STATIC, nic=None)
    box.wait_for("fault", 10, what="nic_missing")
    assert all(row[2] == "nothing" for row in probe_rows(box))


def test_line_of_com1(boot):
    """A card on COM1's line is polled, the owner named, and it works."""
    box = boot(STATIC, nic_options={"irq": 4})
    ready = box.wait_for("nic", 10)
    assert ready["mode"] == "poll" and ready["irq"] is None
    box.wait_text("irq 4 is taken by COM1, and edge-triggered: not shared, polling; free: 3, 5,", 5)
    box.command("ping -n 3 10.0.2.2")
    assert box.all("done")[-1]["status"] == 0


def test_two_isa_cards_on_one_line(boot):
    box = boot(f"{STATIC} ip=10.0.3.15/24", nic_options={"irq": 9},
               extra=second_isa(iobase="0x320", irq=9))
    box.wait_count("ready", 2, 10)
    first, second = box.all("nic")
    assert first["mode"] == "irq" and first["irq"] == 9
    assert second["mode"] == "poll"
    box.wait_text("ne2000 at 0x320: irq 9 is taken by card 0", 5)


def test_two_cards_compared(boot):
    box = boot(f"{STATIC} ip=10.0.3.15/24", extra=second_isa(iobase="0x320", irq=5))
    box.wait_count("ready", 2, 10)
    box.command("nics")
    box.wait_text("card        0                1", 5)
    box.wait_text("equally fast", 5)


@pytest.mark.cards(*BOTH)
@pytest.mark.parametrize("how", ["reboot", "reset button"])
def test_found_again(boot, how):
    """A restart, and one nobody had time for: the same card, the same line."""
    box = boot(STATIC)
    box.wait_for("ready", 10)
    for restart in (2, 3):
        if how == "reboot":
            box.type("reboot\r")
        else:
            box.command("ip")
            time.sleep(0.3)  # COM1 has said all it had to: a record cut off would be a fault
            box.monitor("system_reset")
        box.wait_count("boot", restart, 15)
        box.wait_count("ready", restart, 15)
    cards = box.all("nic")
    assert len(cards) == 3
    for card in cards[1:]:
        for key in ("driver", "model", "io", "irq", "irq_proven", "mode", "mac", "ring_kb"):
            assert card[key] == cards[0][key], key
    box.command("ping -n 3 10.0.2.2")
    assert box.all("done")[-1]["status"] == 0
