"""One row, once: boot the bench kernel in QEMU, count what it executes between the start and the
end of the transfer, leave out what the peer inside it executed."""

import array
import os
import tempfile
from typing import NamedTuple

from image import Image
from machine import OUT, MachineError
from qemu import Qemu, nic_device
from rows import ISA

PEER_MAC = "52:54:00:00:00:02"
PEER_IO, PEER_IRQ = 0x320, 5
NS_PER_INSTRUCTION = 64
PHASE_US = 3300  # runs differ in where the tick falls, by so much
START, END = "meter_start", "meter_end_at"


class NotSupported(Exception):
    """The kernel has no driver for this card."""


class Measured(NamedTuple):
    """What came out."""
    cost: float         # instructions per packet, 1460 bytes or call
    result: dict        # the kernel's own record
    units: float
    total: int          # instructions, the peer's included
    peer: int           # the peer's
    layers: dict        # layer -> instructions, the peer's included; only where asked for
    functions: dict     # (layer, function) -> instructions; likewise
    counts: object      # how often each address was executed, from image.base on


class Wrong(Exception):
    """The transfer did not go as a measured one must."""


def _machine(row, card, image, counts, phase, pcap, options):
    directory = os.path.join(OUT, "bench")
    plugin = (f"{directory}/count.so,base={image.base:#x},size={image.size:#x},"
              f"start={image.symbols[START]:#x},end={image.symbols[END]:#x},out={counts}")
    extra = ["-netdev", "hubport,id=n0,hubid=0", "-device", nic_device(card),
             "-netdev", "hubport,id=p0,hubid=0",
             "-device", f"ne2k_isa,netdev=p0,iobase={PEER_IO:#x},irq={PEER_IRQ},mac={PEER_MAC}",
             "-plugin", plugin]
    if row.paced_us:
        extra += ["-object",
                  f"filter-buffer,id=pace,netdev=p0,queue=rx,interval={row.paced_us}"]
    if pcap:
        extra += ["-object", f"filter-dump,id=dump,netdev=n0,file={pcap}"]
    # COM1 is left out: at 115200 baud it would still be sending the boot's records meanwhile.
    append = (f"ip=10.0.2.15/24 noprobe={PEER_IO:#x}-{PEER_IO + 0x1f:#x} console=vga "
              f"{row.options} {options} "
              f'run="peer wait {phase * PHASE_US}; {row.run}"')
    return Qemu(append=append, kernel=image.elf, nic=None, icount=True, extra=extra,
                board="isapc" if card == ISA else "pc")


def _check(row, result):
    """A transfer that lost something, or not all of it, measures something else."""
    units = {"packets": result["packets"], "calls": result["calls"],
             "mss": result["bytes"] / 1460}[row.per]
    if result["end"] != "ok" or abs(units - row.count) > 1 or result["retrans"]:
        raise Wrong(f"{row.name}: {row.count} {row.per} wanted, got {result}")
    return units


def _check_clock(row, executed, result):
    """The guest's clock counts instructions too: with no halt the two must agree."""
    ticked = result["us"] * 1000 / NS_PER_INSTRUCTION
    if executed > ticked * 1.02 + 2000:
        raise Wrong(f"{row.name}: {executed} instructions in the time of {ticked:.0f}")


def load_image(folder=None):
    """The bench kernel; or one built elsewhere, its objects in `folder`/obj."""
    if folder is None:
        return Image(os.path.join(OUT, "bench", "nictest86.elf"), os.path.join(OUT, "obj"))
    return Image(os.path.join(folder, "nictest86.elf"), os.path.join(folder, "obj"))


def measure(row, card, image, phase=0, pcap=None, options="", timeout=120, detail=False):
    """Run `row` with `card`.  `phase` shifts it against the tick; `pcap` keeps the frames;
    `detail` tells the layers and functions."""
    with tempfile.TemporaryDirectory(prefix="nictest86-bench-") as directory:
        file_name = os.path.join(directory, "counts")
        with _machine(row, card, image, file_name, phase, pcap, options) as box:
            result = _wait(box, timeout)
        counts = array.array("Q")
        with open(file_name, "rb") as file:
            counts.frombytes(file.read())
    return _judge(row, result, counts, image, detail)


def _wait(box, timeout):
    try:
        box.wait_for("nic", 20)
    except MachineError:
        if box.all("fault", what="nic_missing"):
            raise NotSupported from None
        raise
    result = box.wait_for("result", timeout)
    box.check_records()
    return result


def _split(counts, image):
    layers, functions = {}, {}
    image.resolve(image.base + offset for offset, count in enumerate(counts) if count)
    for offset, count in enumerate(counts):
        if count:
            where = image.place(image.base + offset)
            layers[where[0]] = layers.get(where[0], 0) + count
            functions[where] = functions.get(where, 0) + count
    return layers, functions


def _judge(row, result, counts, image, detail):
    layers, functions = _split(counts, image) if detail else ({}, {})
    total = sum(counts)
    peer = sum(sum(counts[start - image.base:end - image.base])
               for start, end in image.peer_ranges)
    units = _check(row, result)
    _check_clock(row, total, result)
    return Measured((total - peer) / units, result, units, total, peer, layers, functions, counts)
