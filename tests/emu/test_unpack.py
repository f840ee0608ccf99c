"""The packed product: it claims its room, keeps what the loader hands over, and knows when it is
damaged."""
import os
import struct
import subprocess

import pytest

import packed
from machine import product
from qemu import GUEST_IP

STATIC = f"ip={GUEST_IP}/24,10.0.2.2"
NS_PER_INSTRUCTION = 64   # ICOUNT in qemu.py
INSTRUCTIONS = (4e6, 9e6)  # to unpack: 7.6 million for 263 KB on 1 December 2026


def symbols(name):
    listing = subprocess.run(["nm", product(name)], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    return {name: int(at, 16) for at, _, name in map(str.split, listing.splitlines())}


def read(name):
    with open(product(name), "rb") as file:
        return file.read()


def segments(elf):
    """(offset, address, bytes in the file, bytes in memory) of each segment to load."""
    first, count = struct.unpack_from("<I", elf, 28)[0], elf[44]
    for number in range(count):
        kind, offset, _, address, in_file, in_memory = struct.unpack_from("<6I", elf,
                                                                          first + 32 * number)
        if kind == 1:
            yield offset, address, in_file, in_memory


def payload():
    """Offset and length in the product of what is packed."""
    name = symbols("nictest86.unpacker")
    (offset, address, _, _), = (one for one in segments(read("nictest86.elf")) if one[2])
    return offset + name["payload"] - address, name["payload_end"] - name["payload"]


def test_product_claims_the_kernels_room_and_lies_behind_it():
    """So no loader puts anything there, and unpacking overwrites nothing but that room."""
    kernel = list(segments(read("nictest86.sym")))
    start = min(address for _, address, _, _ in kernel)
    end = max(address + size for _, address, _, size in kernel)
    room, unpacker = segments(read("nictest86.elf"))
    assert room[1:] == (start, 0, end - start)
    assert unpacker[1] >= end
    assert unpacker[1] + unpacker[3] <= (2 << 20) - (64 << 10), "a machine with 2 MB"


def test_product_holds_the_kernel():
    at, size = payload()
    name = symbols("nictest86.sym")
    start, length = name["__image_start"], name["__data_end"] - name["__image_start"]
    image = packed.expand(read("nictest86.elf")[at:at + size], length)
    elf = read("nictest86.sym")
    for offset, address, in_file, _ in segments(elf):
        assert image[address - start:address - start + in_file] == elf[offset:offset + in_file]


def test_long_command_line_and_modules_survive(boot, tmp_path):
    """QEMU puts the command line and modules right behind the product."""
    module = tmp_path / "module"
    module.write_bytes(os.urandom(5000))
    box = boot(f"{STATIC} {'batch=on ' * 100} irq=poll", extra=["-initrd", str(module)])
    assert box.wait_for("ready", 10)["how"] == "static"
    assert box.all("fault") == []
    assert box.all("nic")[0]["mode"] == "poll", "the line's last word"


@pytest.mark.parametrize("where", ["begin", "middle", "sum"])
def test_damaged_image_says_so(boot, tmp_path, where):
    """One clear line on screen, COM1 and port E9h; nothing else, and it stands still."""
    at, size = payload()
    image = bytearray(read("nictest86.elf"))
    image[at + {"begin": 40, "middle": size // 2, "sum": 2}[where]] ^= 0x10
    damaged = tmp_path / "damaged.elf"
    damaged.write_bytes(image)
    box = boot(STATIC, kernel=str(damaged))
    said = "NicTest86 cannot start: its image is damaged"
    for stream in ("serial", "e9"):
        box.wait_text(said, 10, stream)
        box.wait_text("\n", 5, stream)
        assert len(box.text[stream].splitlines()) == 1, box.text[stream]
    assert any(said in line for line in box.screen())
    assert box.records == []
    assert box.monitor("query-status")["running"]


def test_unpacking_is_timed(boot):
    """In instructions' time; the kernel adds it to load_ms (tests/host/test_loader.c)."""
    box = boot(STATIC, icount=True)
    box.wait_for("ready", 20)
    took_ms, = struct.unpack("<I", box.memory(symbols("nictest86.sym")["loader_unpack_ms"], 4))
    least, most = (number * NS_PER_INSTRUCTION / 1e6 for number in INSTRUCTIONS)
    assert least <= took_ms <= most
