"""Floppy images as a user leaves them: files changed, moved and put in pieces with mtools."""

import os
import re
import shutil
import struct
import subprocess

from machine import product

SECTOR = 512


class Disk:
    """A copy of one of our floppy images."""

    def __init__(self, folder, image="nictest86.img"):
        self.path = os.path.join(str(folder), image)
        shutil.copy(product(image), self.path)

    def mtool(self, name, *words):
        run = subprocess.run([name, "-i", self.path, *words], check=True, text=True,
                             stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        return run.stdout

    def write(self, name, content):
        """A file with this content, in place of one of the same name."""
        source = self.path + ".file"
        with open(source, "wb") as file:
            file.write(content)
        self.mtool("mcopy", "-o", source, f"::{name}")

    def read(self, name):
        target = self.path + ".file"
        self.mtool("mcopy", "-n", "-o", f"::{name}", target)
        with open(target, "rb") as file:
            return file.read()

    def delete(self, name):
        self.mtool("mdel", f"::{name}")

    def options(self, *lines):
        """NICTEST.CFG as an editor under DOS leaves it."""
        self.write("NICTEST.CFG", "".join(f"{line}\r\n" for line in lines).encode() + b"\x1a")

    def pieces(self, name):
        """Clusters of a file, first and last of each piece."""
        found = re.findall(r"<(\d+)(?:-(\d+))?>", self.mtool("mshowfat", f"::{name}"))
        return [(int(first), int(last or first)) for first, last in found]

    def scatter(self, name, piece=9 * SECTOR, holes=16):
        """Write the file anew where only holes are free."""
        content = self.read(name)
        self.delete(name)
        for i in range(2 * holes):
            self.write(f"F{i}", bytes(piece))
        for i in range(0, 2 * holes, 2):
            self.delete(f"F{i}")
        self.write(name, content)

    def patch(self, offset, content):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(content)

    def sector_of(self, name, offset=0):
        """The sector of the disk that holds this byte of a file."""
        with open(self.path, "rb") as file:
            boot = file.read(SECTOR)
        per_cluster, reserved, fats, roots = struct.unpack_from("<BHBH", boot, 13)
        per_fat, = struct.unpack_from("<H", boot, 22)
        data = reserved + fats * per_fat + roots * 32 // SECTOR
        clusters = [c for first, last in self.pieces(name) for c in range(first, last + 1)]
        sector = offset // SECTOR
        return data + (clusters[sector // per_cluster] - 2) * per_cluster + sector % per_cluster


def old_bios(folder, bad=0xFFFF, times=0):
    """QEMU's words for old_bios.S: reads of sector `bad` fail so often (None: always)."""
    here = os.path.dirname(os.path.abspath(__file__))
    made = os.path.join(str(folder), "old_bios")
    subprocess.run(["as", "--32", "--defsym", f"BAD={bad}", "--defsym",
                    f"TIMES={0xFFFF if times is None else times}", f"{here}/old_bios.S",
                    "-o", made + ".o"], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", made + ".o", made + ".bin"],
                   check=True)
    with open(made + ".bin", "rb") as file:
        rom = bytearray(file.read())
    rom[-1] = -sum(rom) & 0xFF
    with open(made + ".bin", "wb") as file:
        file.write(rom)
    return ["-option-rom", made + ".bin"]
