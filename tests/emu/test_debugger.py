"""The debugging recipe: QEMU paused at its stub, gdb with the checked-in .gdbinit."""
import os
import subprocess

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
