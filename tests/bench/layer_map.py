#!/usr/bin/python3
"""layer_map.py ELF: write into a linked kernel which of its code belongs to which layer.

The kernel's section .layer_map is replaced (kernel/profile.c says how it is read): a magic byte,
then four bits for each 64 bytes of code.  Debug information says which source an instruction is
from, as for `make bench-profile`.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "emu")]

from image import Image      # noqa: E402  (needs the path)

LOOK = 8   # bytes from look to look
SECTION, SIZE, MAGIC, BLOCK = ".layer_map", 2048, 0x5a, 64
NUMBERS = {name: number for number, name in enumerate(
    ("other", "driver", "netif", "lwip", "checksum", "copy", "responder", "interrupt", "clock",
     "idle"))}  # enum profile_layer


def layer_map(image):
    """The section's contents."""
    looks = range(image.base, image.base + image.size, LOOK)
    image.resolve(looks)
    layers = [NUMBERS.get(image.place(at)[0], 0) for at in looks]
    # A block is what most of it is.
    numbers = [Counter(layers[at:at + BLOCK // LOOK]).most_common(1)[0][0]
               for at in range(0, len(layers), BLOCK // LOOK)]
    packed = [low | high << 4 for low, high in zip(numbers[::2], numbers[1::2] + [0])]
    contents = bytes([MAGIC] + packed)
    if len(contents) > SIZE:
        sys.exit(f"layer_map: {len(contents)} bytes, {SIZE} are reserved (kernel/profile.c)")
    return contents.ljust(SIZE, b"\0")


def main(elf):
    with tempfile.NamedTemporaryFile() as file:
        file.write(layer_map(Image(elf, os.path.join(os.path.dirname(elf), "obj"))))
        file.flush()
        subprocess.run(["objcopy", "--update-section", f"{SECTION}={file.name}", elf], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
