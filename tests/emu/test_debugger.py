"""The debugging recipes: gdb with the checked-in .gdbinit at QEMU's stub, Bochs' magic break."""
import os
import struct
import subprocess
import sys

import pytest

from bochs import debug
from machine import OUT, ROOT, free_port, product


def test_gdbinit_stops_at_kmain_and_dumps_the_card(tmp_path):
    port = free_port()
    with open(os.path.join(ROOT, ".gdbinit"), encoding="utf-8") as file:
        script = file.read().replace(":1234", f":{port}").replace("file out/", f"file {OUT}/")
    (tmp_path / "gdbinit").write_text(script)
    qemu = subprocess.Popen(
        ["qemu-system-i386", "-M", "isapc", "-cpu", "486", "-m", "4", "-display", "none",
         "-nodefaults", "-netdev", "user,id=n", "-device", "ne2k_isa,netdev=n,iobase=0x300,irq=10",
         "-kernel", product("nictest86.elf"), "-gdb", f"tcp:127.0.0.1:{port}", "-S"])
    try:
        gdb = subprocess.run(
            ["gdb", "-nx", "-batch", "-x", "gdbinit", "-ex", "hbreak kmain", "-ex", "continue",
             "-ex", "nicdump", "-ex", "hbreak net_init", "-ex", "continue", "-ex", "nicdump"],
            cwd=tmp_path, timeout=60, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    finally:
        qemu.kill()
        qemu.wait()
    stopped, cards = gdb.stdout.index("kernel/kmain.c"), gdb.stdout.index("---- card 0: ne2000")
    assert stopped < cards, gdb.stdout
    assert "0 cards" in gdb.stdout and "1 cards" in gdb.stdout
    assert "rx_start = " in gdb.stdout


@pytest.mark.bochs
def test_breakpoint_stops_bochs(tmp_path):
    """breakpoint()'s instruction stands at the product's entry here, in place of what is there."""
    with open(product("nictest86.elf"), "rb") as file:
        elf = file.read()
    entry, headers = struct.unpack_from("<II", elf, 24)
    offset, address = next(
        (offset, address)
        for offset, address, size in (struct.unpack_from("<4xII4xI", elf, headers + 32 * number)
                                      for number in range(elf[44]))
        if address <= entry < address + size)
    at = offset + entry - address
    code = elf[at:at + 64]
    with open(product("nictest86.iso"), "rb") as file:
        iso = file.read()
    assert iso.count(code) == 1
    image = tmp_path / "break.iso"
    image.write_bytes(iso.replace(code, b"\x66\x87\xdb" + code[3:]))
    here = os.path.dirname(debug.__code__.co_filename)
    bochs = subprocess.run(
        [sys.executable, "-c", f"import bochs; bochs.debug({{'cdrom': {str(image)!r}}})"], cwd=here,
        input="c\nq\n", timeout=90, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)
    assert "Magic breakpoint" in bochs.stdout, bochs.stdout[-1000:]
    assert f"[0x{entry + 3:012x}]" in bochs.stdout, "behind the instruction"
