"""A flood at a fixed rate of guest time: frames from a virtio card of QEMU, which sends one each
interval whatever the box does (peer_flood.c)."""

import re
from typing import NamedTuple

from image import Image
from measure import PEER_IO, PEER_IRQ, PEER_MAC
from qemu import Qemu, nic_device

FLOOD_MAC = "52:54:00:00:00:03"
SENT = re.compile(r"flood: (\d+) sent, (\d+) taken in (\d+) us")


class Flooded(NamedTuple):
    """What became of a flood."""
    sent: int
    taken: int          # frames out of the card's ring
    us: int             # from the first sent to the last taken
    datagrams: int      # that reached the responder
    counters: dict

    def rate(self):
        """Datagrams a second."""
        return self.datagrams * 1e6 / self.us


def flood(card, image: Image, length, count, interval_ns, options="", timeout=60):
    """`count` datagrams of `length` bytes, one each `interval_ns`."""
    extra = ["-netdev", "hubport,id=n0,hubid=0", "-device", nic_device(card),
             "-netdev", "hubport,id=p0,hubid=0",
             "-device", f"ne2k_isa,netdev=p0,iobase={PEER_IO:#x},irq={PEER_IRQ},mac={PEER_MAC}",
             "-netdev", "hubport,id=g0,hubid=0",
             "-device", f"virtio-net-pci,netdev=g0,mac={FLOOD_MAC},disable-modern=on,romfile=,"
                        f"tx=timer,x-txtimer={interval_ns},x-txburst=1"]
    append = (f"ip=10.0.2.15/24 noprobe={PEER_IO:#x}-{PEER_IO + 0x1f:#x} console=vga {options} "
              f'run="peer flood {length} {count}; counters"')
    with Qemu(append=append, kernel=image.elf, nic=None, icount=True, extra=extra,
              board="pc") as box:
        counters = box.wait_for("counters", timeout)
        result = box.wait_for("result", 5)
        box.check_records()
        sent, taken, us = map(int, SENT.search(box.text["e9"]).groups())
    return Flooded(sent, taken, us, result["packets"], counters)
