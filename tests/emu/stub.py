"""QEMU's gdb stub: stop a machine at the kernel's first instruction and change what it will find.

    box, stub = stopped(boot, tmp_path, "ip=dhcp")
    box.human_monitor("o/b 0x92 0")
    stub.leave()
"""

import re
import socket
import struct

from machine import product

INFO_FLAGS, INFO_UPPER = 0, 8           # struct multiboot_info
FLAG_MEMORY, FLAG_MAP = 1 << 0, 1 << 6
EBX = 3                                 # in gdb's order of the registers
CHUNK = 1024


class Stub:
    """As much of gdb's remote protocol as it takes."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(20)
        self._socket.connect(path)

    def command(self, text):
        self._socket.sendall(b"$%s#%02x" % (text, sum(text) & 0xff))
        answer = b""
        while not re.search(rb"\$[^#]*#..", answer):
            part = self._socket.recv(4096)
            assert part, "the stub hung up"
            answer += part
        self._socket.sendall(b"+")
        return re.search(rb"\$([^#]*)#", answer).group(1)

    def run_to(self, address):
        assert self.command(b"Z1,%x,1" % address) == b"OK"
        assert self.command(b"c").startswith(b"T05")
        assert self.command(b"z1,%x,1" % address) == b"OK"

    def register(self, number):
        registers = bytes.fromhex(self.command(b"g").decode())
        return struct.unpack_from("<I", registers, 4 * number)[0]

    def read(self, address, size):
        return b"".join(bytes.fromhex(self.command(
            b"m%x,%x" % (at, min(CHUNK, address + size - at))).decode())
            for at in range(address, address + size, CHUNK))

    def write(self, address, data):
        for at in range(0, len(data), CHUNK):
            part = data[at:at + CHUNK]
            text = b"M%x,%x:%s" % (address + at, len(part), part.hex().encode())
            assert self.command(text) == b"OK"

    def loader_says(self, flags_off=0, upper_kb=None):
        """Change the multiboot structure in ebx."""
        info = self.register(EBX)
        flags, = struct.unpack("<I", self.read(info + INFO_FLAGS, 4))
        self.write(info + INFO_FLAGS, struct.pack("<I", flags & ~flags_off))
        if upper_kb is not None:
            self.write(info + INFO_UPPER, struct.pack("<I", upper_kb))

    def leave(self):
        assert self.command(b"D") == b"OK"
        self._socket.close()


def entry():
    """The kernel's first instruction, once it is in its place."""
    with open(product("nictest86.sym"), "rb") as file:
        return struct.unpack("<I", file.read(28)[24:])[0]


def stopped(boot, directory, append="", extra=(), **options):
    """A machine that stands before the kernel's first instruction, and its stub."""
    path = str(directory / "gdb")
    box = boot(append, **options, extra=["-S", "-gdb", f"unix:{path},server=on,wait=off", *extra])
    stub = Stub(path)
    stub.run_to(entry())
    return box, stub
