#!/usr/bin/python3
"""fat12.py KB BOOT STAGE2 IMAGE NAME=FILE...: a bootable FAT12 floppy of 1440, 1200, 720 or 360 KB.

The boot sector gets its BIOS parameter block; stage 2 lies behind it in the reserved sectors, which
DOS never touches, together a track of a 1.44 MB disk, so one turn reads it.  Files lie one behind
the other in the order given.  The same input gives the same image: SOURCE_DATE_EPOCH dates them.

Source: ECMA-107 (1995), chapters 7 to 11; the extended parameter block (serial number and label)
as DOS 4 and later write it.
"""
import os
import struct
import sys
import time

SECTOR = 512
RESERVED = 18  # boot sector and stage 2
STAGE2_SECTORS = RESERVED - 1
FATS = 2
ROOT_ENTRIES = 64
BPB_START, BPB_END = 3, 0x3E
SERIAL = 0x86
LABEL = b"NICTEST86  "
END_OF_CHAIN = 0xFFF
ATTRIBUTE_ARCHIVE, ATTRIBUTE_LABEL = 0x20, 0x08

# KB: sectors, sectors a cluster, media byte, sectors a track
FORMATS = {1440: (2880, 1, 0xF0, 18), 1200: (2400, 1, 0xF9, 15), 720: (1440, 2, 0xF9, 9),
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
    block = struct.pack("<8sHBHBHHBHHHII", b"NICTST86", SECTOR, per_cluster, RESERVED, FATS,
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


def volume(kb, boot, stage2, files):
    sectors, per_cluster, media, per_track = FORMATS[kb]
    per_fat, clusters = fat_sectors(sectors, per_cluster)
    if len(stage2) > STAGE2_SECTORS * SECTOR:
        raise SystemExit(f"fat12.py: stage 2 is {len(stage2)} bytes, there is room for "
                         f"{STAGE2_SECTORS * SECTOR}")
    chain, root, data = [0xF00 | media, END_OF_CHAIN], entry(LABEL, ATTRIBUTE_LABEL, 0, 0), b""
    for name, content in files:
        first, length = len(chain), -(-len(content) // (per_cluster * SECTOR))
        root += entry(padded(name), ATTRIBUTE_ARCHIVE, first if length else 0, len(content))
        chain += [first + i + 1 for i in range(length)]
        if length:
            chain[-1] = END_OF_CHAIN
        data += content.ljust(length * per_cluster * SECTOR, b"\0")
    if len(chain) - 2 > clusters:
        raise SystemExit(f"fat12.py: {len(data)} bytes do not fit a floppy of {kb} KB")
    image = boot[:BPB_START] + parameter_block(sectors, per_cluster, media, per_track, per_fat)
    image += boot[BPB_END:] + stage2.ljust(STAGE2_SECTORS * SECTOR, b"\0")
    image += pack_fat(chain, per_fat) * FATS + root.ljust(ROOT_ENTRIES * 32, b"\0") + data
    return image.ljust(sectors * SECTOR, b"\0")


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
