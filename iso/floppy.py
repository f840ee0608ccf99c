#!/usr/bin/python3
"""floppy.py BOOT CORE IMAGE NAME=FILE...: a bootable 1.44 MB FAT12 floppy with GRUB.

Sector 0 holds GRUB's boot code around the BIOS parameter block.  It loads GRUB's core, which is an
ordinary file, marked read-only, hidden and system so that it is not moved: the boot code knows its
place by number.  (Reserved sectors would be safer still, but mformat allows 255, and the core is
longer.)
"""
import os
import re
import struct
import subprocess
import sys

SECTOR = 512
SECTORS = 2880
# GRUB's boot.img leaves these bytes for the parameter block (its boot.h: BPB_START, BPB_END), and
# keeps the first sector of the core after them.
BPB_START, BPB_END, CORE_SECTOR = 0x03, 0x5A, 0x5C
# The core's first sector ends with the place of the rest: sector (8 bytes), count, segment.
REST_SECTOR = SECTOR - 12
CORE = "boot/grub/core.img"


def mtool(*command):
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return run.stdout


def first_data_sector(fat):
    """Where cluster 2 begins; a 1.44 MB floppy has one sector a cluster."""
    reserved, fats, roots = struct.unpack_from("<HBH", fat, 14)
    per_fat, = struct.unpack_from("<H", fat, 22)
    return reserved + fats * per_fat + roots * 32 // SECTOR


def place_of_core(image, fat, length):
    """Sector of the core, which must lie in one piece."""
    clusters = re.search(r"<(\d+)-(\d+)>", mtool("mshowfat", "-i", image, f"::/{CORE}"))
    first, last = int(clusters[1]), int(clusters[2])
    assert last - first + 1 == -(-length // SECTOR), "the core is in pieces"
    return first_data_sector(fat) + first - 2


def install_grub(image, boot, core_path):
    core = os.path.getsize(core_path)
    with open(image, "r+b") as file:
        fat = file.read(SECTOR)
        at = place_of_core(image, fat, core)
        file.seek(0)
        file.write(boot[:BPB_START] + fat[BPB_START:BPB_END] + boot[BPB_END:CORE_SECTOR]
                   + struct.pack("<Q", at) + boot[CORE_SECTOR + 8:])
        file.seek(at * SECTOR + REST_SECTOR)
        file.write(struct.pack("<Q", at + 1))


def make_filesystem(image, files):
    with open(image, "wb") as file:
        file.truncate(SECTOR * SECTORS)
    mtool("mformat", "-i", image, "-f", "1440", "-v", "NICTEST86", "-N", "86", "::")
    mtool("mmd", "-i", image, "::/boot", "::/boot/grub")
    for target, source in files:
        mtool("mcopy", "-i", image, source, f"::/{target}")
    mtool("mattrib", "-i", image, "+r", "+h", "+s", f"::/{CORE}")


def main(boot_path, core_path, image, *files):
    with open(boot_path, "rb") as file:
        boot = file.read()
    make_filesystem(image, [(CORE, core_path)] + [item.split("=", 1) for item in files])
    install_grub(image, boot, core_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
