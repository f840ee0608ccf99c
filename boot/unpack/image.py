#!/usr/bin/python3
"""image.py KERNEL IMAGE SYMBOLS: a linked kernel's text and data, to be packed (iso/pack).

KERNEL is an ELF; what it loads becomes the file IMAGE.
SYMBOLS gets what unpack.ld has to know about the kernel, as options for the linker.
"""
import struct
import subprocess
import sys

PT_LOAD = 1
ENTRY, HEADERS, HEADER_COUNT = 24, 28, 44   # offsets in an ELF32 header
HEADER_BYTES = 32
TOLD = "loader_unpack_ms"  # a variable of the kernel's that the unpacker sets


def segments(elf):
    """(physical address, contents, size in memory) of each segment to load."""
    first, = struct.unpack_from("<I", elf, HEADERS)
    count, = struct.unpack_from("<H", elf, HEADER_COUNT)
    for number in range(count):
        kind, offset, _, address, in_file, in_memory = struct.unpack_from(
            "<6I", elf, first + number * HEADER_BYTES)
        if kind == PT_LOAD:
            yield address, elf[offset:offset + in_file], in_memory


def load(elf):
    """(start, text and data in one piece, end with bss)"""
    parts = sorted(segments(elf))
    start = parts[0][0]
    image = bytearray()
    for address, contents, _ in parts:
        if contents:
            image.extend(bytes(address - start - len(image)))
            image.extend(contents)
    return start, bytes(image), max(address + size for address, _, size in parts)


def address_of(symbol, kernel):
    listing = subprocess.run(["nm", kernel], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(int(line.split()[0], 16) for line in listing.splitlines()
                if line.split()[-1] == symbol)


def main(kernel, image_path, symbols_path):
    with open(kernel, "rb") as file:
        elf = file.read()
    start, image, end = load(elf)
    entry, = struct.unpack_from("<I", elf, ENTRY)
    with open(image_path, "wb") as file:
        file.write(image)
    with open(symbols_path, "w", encoding="ascii") as file:
        for name, value in (("kernel_start", start), ("kernel_data_end", start + len(image)),
                            ("kernel_end", end), ("kernel_entry", entry),
                            (TOLD, address_of(TOLD, kernel))):
            file.write(f"--defsym={name}={value:#x}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
