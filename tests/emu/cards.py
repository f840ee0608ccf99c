"""The cards that QEMU tests run with, and what the box must say of each."""

from typing import NamedTuple

from qemu import MAC

ISA, RTL8139, PENTIUM, NE2K_PCI = "ne2k_isa", "rtl8139", "rtl8139-pentium", "ne2k_pci"


class Card(NamedTuple):
    """One card in one machine."""
    options: dict   # of qemu.Qemu
    nic: dict       # keys of the `nic` record
    boot: dict      # of the `boot` record
    in_flight: int  # full frames that its receive ring holds for sure, with a small one behind


_486 = {"cpu": "486", "tsc": False}

CARDS = {
    ISA: Card(
        {"nic": "ne2k_isa"},
        {"driver": "ne2000", "bus": "isa", "width": 16, "io": 0x300, "irq": 10, "trigger": "edge"},
        _486, 6),
    RTL8139: Card(
        {"nic": "rtl8139"},
        {"driver": "rtl8139", "bus": "pci", "width": 32, "trigger": "level"}, _486, 16),
    PENTIUM: Card(
        {"nic": "rtl8139", "cpu": "pentium"},
        {"driver": "rtl8139", "bus": "pci", "width": 32, "trigger": "level"},
        {"cpu": "586", "tsc": True}, 16),
    NE2K_PCI: Card(
        {"nic": "ne2k_pci"},
        {"driver": "ne2000", "bus": "pci", "width": 32, "trigger": "level"}, _486, 6),
}
for _card in CARDS.values():
    _card.nic.update(nic=0, mac=MAC, irq_proven=True, mode="irq")

EVERY = tuple(CARDS)
BOTH = (ISA, RTL8139)   # the full set of tests
