"""The bench kernel's symbols, and which source each piece of its code comes from.

The peer is told by its object files (linker map): it is no part of link-time optimisation.  All
else is one object by then, so the debug information says which source an instruction is from; what
was inlined counts where it was written, unless that is a header.
"""

import bisect
import os
import re
import subprocess

from machine import ROOT

# Start of the source's path -> layer, first match; what fits none is "rest".
LAYERS = (
    ("tests/bench/", "peer"),
    ("drivers/frame", "netif"), ("drivers/", "driver"),
    ("net/port/checksum", "checksum"), ("net/apps/", "responder"), ("net/meter", "responder"),
    ("net/", "netif"), ("lwip/", "lwip"),
    ("boot/", "interrupt"), ("kernel/irq", "interrupt"), ("kernel/pic", "interrupt"),
    ("kernel/trap", "interrupt"), ("kernel/idt", "interrupt"),
    ("kernel/time", "clock"), ("kernel/clock", "clock"), ("kernel/math64", "clock"),
    ("kernel/kmain", "main loop"), ("kernel/load", "main loop"),
)
PEER = "peer"

_SECTION = re.compile(r"^ \.text\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+\.o)$", re.MULTILINE)


def layer_of(source):
    return next((layer for start, layer in LAYERS if source.startswith(start)), "rest")


class Image:
    """An ELF with its symbols, and the map next to it."""

    def __init__(self, elf, objects):
        self.elf = elf
        listing = subprocess.run(["nm", "-n", elf], check=True, capture_output=True,
                                 text=True).stdout
        table = [line.split() for line in listing.splitlines()]
        self.symbols = {name: int(address, 16) for address, _, name in table}
        functions = sorted({int(address, 16): name for address, kind, name in table
                            if kind in "tT"}.items())
        self._starts = [address for address, _ in functions]
        self._names = [name for _, name in functions]
        with open(os.path.splitext(elf)[0] + ".map", encoding="utf-8") as file:
            found = _SECTION.findall(file.read())
        self._sections = sorted((int(at, 16), int(at, 16) + int(size, 16),
                                 os.path.relpath(os.path.join(ROOT, path), objects)[:-2])
                                for at, size, path in found if int(at, 16) and int(size, 16))
        self._section_starts = [start for start, _, _ in self._sections]
        self.base = self.symbols["__image_start"]
        self.size = self.symbols["__text_end"] - self.base

        self._sources = {}

    def resolve(self, addresses):
        """Look up the sources of many addresses at once, for layer()."""
        wanted = [address for address in addresses if address not in self._sources]
        told = subprocess.run(["addr2line", "-a", "-i", "-e", self.elf], check=True,
                              capture_output=True, text=True,
                              input="".join(f"{address:#x}\n" for address in wanted))
        address = None
        for line in told.stdout.splitlines():  # an address, then its sources, inlined ones first
            if line.startswith("0x"):
                address = int(line, 16)
            elif address not in self._sources or self._sources[address].endswith(".h"):
                self._sources[address] = line.rsplit(":", 1)[0].removeprefix("./")

    def function(self, address):
        return self._names[bisect.bisect_right(self._starts, address) - 1]

    def layer(self, address):
        at = bisect.bisect_right(self._section_starts, address) - 1
        if (at >= 0 and address < self._sections[at][1]
                and layer_of(self._sections[at][2]) == PEER):
            return PEER
        return layer_of(self._sources.get(address, ""))
