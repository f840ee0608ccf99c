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
    ("net/net.c", "idle"), ("net/clock", "clock"), ("net/", "netif"),
    ("lwip/", "lwip"), ("kernel/string", "copy"),
    ("boot/", "interrupt"), ("kernel/irq", "interrupt"), ("kernel/pic", "interrupt"),
    ("kernel/trap", "interrupt"), ("kernel/idt", "interrupt"),
    ("kernel/time", "clock"), ("kernel/math64", "clock"),
    ("kernel/kmain", "idle"), ("kernel/load", "idle"), ("kernel/shell", "idle"),
    ("kernel/console", "idle"), ("kernel/serial", "idle"), ("kernel/vga", "idle"),
    ("kernel/keyboard", "idle"), ("kernel/terminal", "idle"),
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
        # The peer's code, told by its object files: it is no part of link-time optimisation.
        self.peer_ranges = [
            (int(at, 16), int(at, 16) + int(size, 16)) for at, size, path in found
            if int(at, 16) and layer_of(os.path.relpath(os.path.join(ROOT, path), objects)) == PEER]
        self.base = self.symbols["__image_start"]
        self.size = self.symbols["__text_end"] - self.base
        self._places = {}  # address -> (layer, function)

    def resolve(self, addresses):
        """Look up many addresses at once, for place()."""
        wanted = [address for address in addresses if address not in self._places]
        told = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", self.elf], check=True,
                              capture_output=True, text=True,
                              input="".join(f"{address:#x}\n" for address in wanted))
        lines = iter(told.stdout.splitlines())
        frames = {}
        for line in lines:  # an address, then function and source, what was inlined first
            if line.startswith("0x"):
                stack = frames.setdefault(int(line, 16), [])
            else:
                stack.append((line, next(lines).rsplit(":", 1)[0].removeprefix("./")))
        for address, stack in frames.items():
            self._places[address] = self._place(address, stack)

    def _place(self, address, stack):
        """What was inlined counts where it was written, unless that is a header."""
        if any(start <= address < end for start, end in self.peer_ranges):
            return PEER, self._symbol(address)
        function, source = next((one for one in stack if not one[1].endswith(".h")), stack[-1])
        return layer_of(source), self._symbol(address) if function == "??" else function

    def _symbol(self, address):
        return self._names[bisect.bisect_right(self._starts, address) - 1]

    def place(self, address):
        """(layer, function) of an address that was resolved."""
        return self._places[address]
