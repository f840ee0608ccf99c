#!/usr/bin/python3
"""fat12.py KB BOOT STAGE2 IMAGE NAME=FILE...: a bootable FAT12 floppy of 1440, 1200, 720 or 360 KB.

The boot sector gets its BIOS parameter block and the place of stage 2, which is the file
NICTEST.SYS, in one piece and marked so that DOS does not move it.  (Reserved sectors would seem the
place for it, but MS-DOS takes the FAT to begin at sector 1 whatever the parameter block of a floppy
says.)  Stage 2 and the last file, the kernel, begin on tracks of their own: no track is read twice.
The same input gives the same image: SOURCE_DATE_EPOCH dates the files.

Source: ECMA-107 (1995), chapters 7 to 11; the extended parameter block (serial number and label)
as DOS 4 and later write it.
"""
import os
import struct
import sys
import time

SECTOR = 512
RESERVED = 1  # the boot sector
STAGE2_SECTORS = 17
STAGE2_NAME = "NICTEST.SYS"
STAGE2_PLACE = 0x1FA  # in the boot sector (boot/floppy/layout.h)
FATS = 2
ROOT_ENTRIES = 48
# Where bit 0 of the media byte is clear, MS-DOS 3.3 and 4.0 believe the sectors per cluster only if
# this ends in 3.2 or higher of 3.x; else they take one (MS-DOS 4.0, BIOS/MSDISK.ASM,
# CHECKSINGLESIDED; Microsoft's own disks of 1680 KB are named MSDMF3.2).
OEM_NAME = b"NICTS3.3"
BPB_START, BPB_END = 3, 0x3E
SERIAL = 0x86
LABEL = b"NICTEST86  "
END_OF_CHAIN = 0xFFF
ATTRIBUTE_ARCHIVE, ATTRIBUTE_LABEL, ATTRIBUTES_SYSTEM = 0x20, 0x08, 0x27

# KB: sectors, sectors a cluster, media byte, sectors a track.  A floppy of 1440 KB has clusters of
# one sector by custom only: its parameter block is believed (Microsoft's own distribution disks had
# four), and with two all that is no file fits into the first track, options included.
FORMATS = {1440: (2880, 2, 0xF0, 18), 1200: (2400, 1, 0xF9, 15), 720: (1440, 2, 0xF9, 9),
           360: (720, 2, 0xFD, 9)}
HEADS = 2


def fat_sectors(sectors, per_cluster):
    """The smallest FAT that holds all clusters."""
    root = ROOT_ENTRIES * 32 // SECTOR
    n = 1
    while True:
        clusters = (sectors - RESERVED - FATS * n - root) // per_cluster
        if (clusters + 2) * 3 <= n * SECTOR * 2:
            return n, clusters
        n += 1


def parameter_block(sectors, per_cluster, media, per_track, per_fat):
    block = struct.pack("<8sHBHBHHBHHHII", OEM_NAME, SECTOR, per_cluster, RESERVED, FATS,
                        ROOT_ENTRIES, sectors, media, per_fat, per_track, HEADS, 0, 0)
    block += struct.pack("<BBBI11s8s", 0, 0, 0x29, SERIAL, LABEL, b"FAT12   ")
    assert len(block) == BPB_END - BPB_START
    return block


def dos_date():
    t = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
    return (t.tm_hour << 11 | t.tm_min << 5 | t.tm_sec // 2,
            (t.tm_year - 1980) << 9 | t.tm_mon << 5 | t.tm_mday)


def entry(name, attributes, first, size):
    at, day = dos_date()
    return struct.pack("<11sB10sHHHI", name, attributes, bytes(10), at, day, first, size)


def padded(name):
    stem, _, extension = name.upper().partition(".")
    assert 1 <= len(stem) <= 8 and len(extension) <= 3, f"{name}: not a DOS name"
    return f"{stem:8}{extension:3}".encode("ascii")


def pack_fat(chain, sectors):
    """12 bits an entry, two in three bytes."""
    packed = bytearray(sectors * SECTOR)
    for i, value in enumerate(chain):
        at = i + i // 2
        packed[at] |= value << 4 & 0xFF if i % 2 else value & 0xFF
        packed[at + 1] |= value >> 4 if i % 2 else value >> 8
    return bytes(packed)


class Volume:
    """Directory, chains and data of a disk, filled front to back."""

    def __init__(self, kb):
        self.kb = kb
        self.sectors, self.per_cluster, self.media, self.per_track = FORMATS[kb]
        self.per_fat, clusters = fat_sectors(self.sectors, self.per_cluster)
        self.data_at = RESERVED + FATS * self.per_fat + ROOT_ENTRIES * 32 // SECTOR
        self.chain = [0xF00 | self.media, END_OF_CHAIN] + [0] * clusters
        self.root = entry(LABEL, ATTRIBUTE_LABEL, 0, 0)
        self.data = bytearray(clusters * self.per_cluster * SECTOR)
        self.next = 2

    def sector(self, cluster):
        return self.data_at + (cluster - 2) * self.per_cluster

    def begin_track(self):
        """Go on with the first cluster of the next track."""
        track = -(-self.sector(self.next) // self.per_track)
        while self.sector(self.next) < track * self.per_track:
            self.next += 1

    def add(self, name, content, attributes=ATTRIBUTE_ARCHIVE):
        """The file; its first sector."""
        first, length = self.next, -(-len(content) // (self.per_cluster * SECTOR))
        self.next += length
        if self.next > len(self.chain):
            raise SystemExit(f"fat12.py: {name}: does not fit a floppy of {self.kb} KB")
        self.root += entry(padded(name), attributes, first if length else 0, len(content))
        for cluster in range(first, self.next):
            self.chain[cluster] = cluster + 1 if cluster + 1 < self.next else END_OF_CHAIN
        at = (first - 2) * self.per_cluster * SECTOR
        self.data[at:at + len(content)] = content
        return self.sector(first)

    def image(self, boot):
        block = parameter_block(self.sectors, self.per_cluster, self.media, self.per_track,
                                self.per_fat)
        image = boot[:BPB_START] + block + boot[BPB_END:]
        image += pack_fat(self.chain, self.per_fat) * FATS
        image += self.root.ljust(ROOT_ENTRIES * 32, b"\0") + self.data
        return image.ljust(self.sectors * SECTOR, b"\0")


def volume(kb, boot, stage2, files):
    if len(stage2) > STAGE2_SECTORS * SECTOR:
        raise SystemExit(f"fat12.py: stage 2 is {len(stage2)} bytes, there is room for "
                         f"{STAGE2_SECTORS * SECTOR}")
    disk = Volume(kb)
    for name, content in files[:-1]:
        disk.add(name, content)
    disk.begin_track()
    first = disk.add(STAGE2_NAME, stage2, ATTRIBUTES_SYSTEM)
    place = struct.pack("<HH", first, first + -(-len(stage2) // SECTOR))
    boot = boot[:STAGE2_PLACE] + place + boot[STAGE2_PLACE + len(place):]
    disk.begin_track()
    disk.add(*files[-1])
    return disk.image(boot)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main(kb, boot, stage2, image, *files):
    contents = []
    for name, path in (item.split("=", 1) for item in files):
        content = read(path)
        if name.endswith((".CFG", ".TXT")):  # lines as DOS has them
            content = content.replace(b"\n", b"\r\n")
        contents.append((name, content))
    with open(image, "wb") as file:
        file.write(volume(int(kb), read(boot), read(stage2), contents))


if __name__ == "__main__":
    main(*sys.argv[1:])
