"""Our own loader on the floppy: from the boot sector to `ready`, and what it says if it fails."""

import os
import re
import subprocess
import time

import pytest

from disk import SECTOR, Disk, old_bios
from machine import OUT, product, version
from qemu import GUEST_IP
from stub import Stub
from wire import send_tcp, ttcp_pattern

STATIC = f"ip={GUEST_IP}/24,10.0.2.2"
IMAGES = ("nictest86.img", "nictest86-1200.img", "nictest86-720.img", "nictest86-360.img")
COUNT_MS = 3000
BIOS_TICK, NOTE_TICK, STAGE2 = 0x46C, 0x7BFC, 0x8000  # boot/floppy/layout.h


@pytest.fixture
def disk(tmp_path):
    return Disk(tmp_path)


def loader_text(box):
    """What the loader has said, up to the kernel's first line."""
    return re.split(r"(?<=\n)NicTest86 \S+: ", box.text["e9"])[0]


def wait_screen(box, line, timeout=30):
    deadline = time.monotonic() + timeout
    while line not in box.screen():
        assert time.monotonic() < deadline, box.screen()
        time.sleep(0.2)


# ---- the plain case ----

@pytest.mark.parametrize("image", IMAGES)
def test_boots_by_itself(boot, image):
    """No key, no options: the count, then `ready`, a transfer, and the time that loading took."""
    box = boot(floppy=product(image), forward={"tcp": [5001]})
    ready = box.wait_for("ready", 30)
    assert ready["how"] == "dhcp" and box.all("fault") == []
    said = box.all("boot")[0]
    assert COUNT_MS - 55 <= said["load_ms"] <= COUNT_MS + 3000
    assert 3000 <= said["mem_kb"] <= 4096
    text = loader_text(box)
    assert f"NicTest86 {version()} floppy" in text
    assert "A key opens the menu. Starting in 3" in text
    assert text.split("Starting in ")[1].replace(".", "").split() == ["321"], text
    send_tcp(box.port("tcp", 5001), ttcp_pattern(8192) * 128)
    assert box.wait_for("result", 30)["bytes"] == 1 << 20


def test_lines_fit_40_columns(boot):
    box = boot(floppy=product("nictest86.img"))
    box.wait_for("ready", 30)
    lines = loader_text(box).replace(".", "").split("\n")
    assert max(map(len, lines)) <= 39, lines


def test_reads_no_track_twice(boot):
    """A dot for each track: the FAT's, and those from the root directory to the kernel's end."""
    box = boot(floppy=product("nictest86.img"))
    box.wait_for("ready", 30)
    kernel = -(-os.path.getsize(product("nictest86.elf")) // (18 * SECTOR))
    assert loader_text(box).count(".") - 2 <= 2 + kernel  # "0.1" and "menu."


@pytest.mark.parametrize("mem", [2, 4, 16, 64])
def test_memory_sizes(boot, mem):
    box = boot(floppy=product("nictest86.img"), mem=mem)
    box.wait_for("ready", 30)
    assert abs(box.all("boot")[0]["mem_kb"] - mem * 1024) <= 1024


def test_no_keyboard_controller_and_no_serial_port(boot):
    box = boot(floppy=product("nictest86.img"), board="pc,i8042=off", nic="rtl8139", serial=False)
    assert box.wait_for("ready", 30)["how"] == "dhcp"


@pytest.mark.parametrize("image", IMAGES)
def test_mtools_can_use_the_volume(tmp_path, image):
    """A file written, read and deleted; the kernel on it is the one that was built."""
    disk = Disk(tmp_path, image)
    disk.write("HELLO.TXT", b"hello\r\n" * 1000)
    assert disk.read("HELLO.TXT") == b"hello\r\n" * 1000
    with open(product("nictest86.elf"), "rb") as file:
        assert disk.read("NICTEST.ELF") == file.read()
    disk.delete("HELLO.TXT")
    listing = disk.mtool("mdir", "::")
    assert "NICTEST  ELF" in listing and "NICTEST  CFG" in listing and "HELLO" not in listing
    assert disk.read("NICTEST.CFG").count(b"\r\n") == disk.read("NICTEST.CFG").count(b"\n") > 10


# ---- what a user does to the disk ----

def test_options_file(boot, disk):
    """CR LF, a comment, several words a line, a quoted group, ^Z and rubbish behind it."""
    disk.write("NICTEST.CFG", f"# a comment ip=1.2.3.4/8\r\n{STATIC}  name=box-1\r\n\r\n"
                              "irq=poll\r\nrun=\"ip; nics\"\r\n\x1aname=wrong rubbish".encode())
    box = boot(floppy=disk.path)
    assert box.wait_for("ready", 30)["how"] == "static"
    box.wait_count("done", 2, 10)
    assert [r["cmd"] for r in box.all("done")] == ["ip", "nics"]
    assert box.all("nic")[0]["mode"] == "poll"
    assert box.all("fault") == []


def test_no_options_file(boot, disk):
    disk.delete("NICTEST.CFG")
    box = boot(floppy=disk.path)
    assert box.wait_for("ready", 30)["how"] == "dhcp"
    assert box.all("fault") == []


def test_too_many_options(boot, disk):
    disk.options(STATIC, *["name=abcdefgh"] * 100)
    box = boot(floppy=disk.path)
    box.wait_for("ready", 30, how="static")
    assert "NICTEST.CFG: over 1023 bytes, rest lost" in loader_text(box)
    assert box.all("fault") == [], "what was left is whole"


def test_kernel_in_pieces(boot, disk):
    disk.scatter("NICTEST.ELF")
    disk.options(STATIC)
    assert len(disk.pieces("NICTEST.ELF")) >= 8
    box = boot(floppy=disk.path, forward={"tcp": [5001]})
    box.wait_for("ready", 40, how="static")
    send_tcp(box.port("tcp", 5001), ttcp_pattern(8192) * 128)
    assert box.wait_for("result", 30)["bytes"] == 1 << 20


# ---- damage, on a BIOS that forgives nothing (old_bios.S) ----

def test_old_bios(boot, disk, tmp_path):
    """Never across a head or a 64 KB border, within the disk table, registers lost, A20 closed,
    and only INT 15h AH=88h knows the memory."""
    disk.options(STATIC)
    box = boot(floppy=disk.path, extra=old_bios(tmp_path))
    box.wait_for("ready", 30, how="static")
    assert 3000 <= box.all("boot")[0]["mem_kb"] <= 4096


@pytest.mark.parametrize("times", [1, 4, 7])
def test_failing_reads_are_tried_again(boot, disk, tmp_path, times):
    """In the middle of a track; after five failures the sectors are read one by one."""
    disk.options(STATIC)
    bad = disk.sector_of("NICTEST.ELF", 40000)
    box = boot(floppy=disk.path, extra=old_bios(tmp_path, bad, times))
    box.wait_for("ready", 40, how="static")
    assert "error" not in loader_text(box)


@pytest.mark.parametrize("times", [1, 3, 6])
def test_failing_reads_of_stage_2(boot, disk, tmp_path, times):
    """The boot sector tries again, too; after four failures one by one."""
    disk.options(STATIC)
    bad = disk.sector_of("NICTEST.SYS", 2000)
    box = boot(floppy=disk.path, extra=old_bios(tmp_path, bad, times))
    box.wait_for("ready", 40, how="static")


def test_bad_sector_that_is_not_ours(boot, disk, tmp_path):
    """On a track of the kernel, but in another file."""
    disk.options(STATIC)
    disk.write("OTHER.TXT", bytes(9 * SECTOR))
    bad = disk.sector_of("NICTEST.ELF", len(disk.read("NICTEST.ELF")) - 1) + 1
    assert bad % 18 != 0, "it begins another track"
    box = boot(floppy=disk.path, extra=old_bios(tmp_path, bad, None))
    box.wait_for("ready", 40, how="static")


def test_bad_sector_is_told(boot, disk, tmp_path):
    """Where it is, then a key and the BIOS boots again."""
    bad = disk.sector_of("NICTEST.ELF", 20000)
    box = boot(floppy=disk.path, extra=old_bios(tmp_path, bad, None))
    where = f"disk read error at track {bad // 36}, head {bad // 18 % 2}, sector {bad % 18 + 1}\n"
    box.wait_text(where, 30, stream="e9")
    since = box.wait_text("Press a key to boot again. ", 5, stream="e9")
    assert where.strip() in box.screen()
    box.key("ret")
    box.wait_text(where, 30, stream="e9", since=since)


def test_bad_sector_in_stage_2_is_told(boot, disk, tmp_path):
    bad = disk.sector_of("NICTEST.SYS", 4000)
    box = boot(floppy=disk.path, extra=old_bios(tmp_path, bad, None))
    wait_screen(box, "NicTest86: disk read error. Another disk, then a key:")


# Of the look at the flags: `cmp $0xf0, %ah; je`, and `test $0x70, %ah; jnz`.
@pytest.mark.parametrize("check, verdict", [("80fcf074", "80fcf0eb"), ("f6c47075", "f6c470eb00")])
def test_needs_a_386(boot, disk, check, verdict):
    """No emulator here has less: the answer to the look is changed to an 8086's and a 286's."""
    stage2, where = disk.read("NICTEST.SYS"), disk.sector_of("NICTEST.SYS") * SECTOR
    assert stage2.count(bytes.fromhex(check)) == 1
    disk.patch(where + stage2.index(bytes.fromhex(check)), bytes.fromhex(verdict))
    box = boot(floppy=disk.path)
    wait_screen(box, "NicTest86 needs a 386 or later. Another disk, then a key:")
    box.key("ret")
    deadline = time.monotonic() + 20
    while sum("needs a 386" in line for line in box.screen()) < 2:  # it has booted again
        assert time.monotonic() < deadline, box.screen()
        time.sleep(0.2)


def test_stage_2_overwritten(boot, disk):
    """Deleted, and its sectors used by another file."""
    disk.patch(disk.sector_of("NICTEST.SYS") * SECTOR, b"some other text")
    box = boot(floppy=disk.path)
    wait_screen(box, "NicTest86: disk read error. Another disk, then a key:")


def test_layout_is_what_dos_assumes():
    """MS-DOS reads a floppy's FAT at sector 1, and believes in two of them (GETBP, MOVBPB); and in
    clusters of more than one sector only by media byte or name (CHECKSINGLESIDED)."""
    for image in IMAGES:
        with open(product(image), "rb") as file:
            boot = file.read(2 * SECTOR)
        assert boot[0] == 0xEB and boot[2] == 0x90 and boot[0x1FE:0x200] == b"\x55\xaa"
        assert boot[14:17] == b"\x01\x00\x02"
        assert boot[SECTOR:SECTOR + 3] == bytes([boot[21], 0xFF, 0xFF])
        per_cluster, media, version = boot[13], boot[21], boot[8:11]
        assert media & 1 or per_cluster == 1 or b"3.2" <= version <= b"3.9", image


def test_no_kernel(boot, disk):
    disk.delete("NICTEST.ELF")
    box = boot(floppy=disk.path)
    box.wait_text("\nno NICTEST.ELF on this disk\n", 20, stream="e9")


def test_broken_chain(boot, disk):
    """The FAT says that the kernel's second cluster is free."""
    first = disk.pieces("NICTEST.ELF")[0][0]
    fat = SECTOR
    disk.patch(fat + (first + 1) * 3 // 2, b"\0\0")
    box = boot(floppy=disk.path)
    box.wait_text("\nNICTEST.ELF: its chain of clusters is broken\n", 20, stream="e9")


def test_kernel_cut_off(boot, disk):
    disk.write("NICTEST.ELF", disk.read("NICTEST.ELF")[:50000])
    box = boot(floppy=disk.path)
    box.wait_text("\nNICTEST.ELF: cut off, copy it anew\n", 20, stream="e9")


def test_not_a_kernel(boot, disk):
    disk.write("NICTEST.ELF", b"MZ" + bytes(1000))
    box = boot(floppy=disk.path)
    box.wait_text("\nNICTEST.ELF: not a program for a 386\n", 20, stream="e9")


def test_too_little_memory(boot):
    box = boot(floppy=product("nictest86.img"), extra=["-m", "1280K"])
    box.wait_text("\ntoo little memory, 2 MB are needed\n", 20, stream="e9")


# ---- the menu ----

def menu(box):
    box.wait_text("Starting in 3", 20, stream="e9")
    box.key("spc")
    box.wait_text("1 to 5, E: ", 20, stream="e9")


def test_menu_without_interrupts(boot, disk):
    disk.options(STATIC)
    box = boot(floppy=disk.path)
    menu(box)
    assert f"Options: {STATIC}\n" in loader_text(box)
    box.key("2")
    box.wait_for("ready", 20, how="static")
    assert box.all("nic")[0]["mode"] == "poll"


def test_menu_forty_columns(boot, disk):
    disk.options(STATIC)
    box = boot(floppy=disk.path)
    menu(box)
    box.key("4")
    box.wait_for("ready", 20, how="static")
    cells = box.memory(0xb8000, 80 * 25 * 2)[::2].decode("cp437")
    lines = [cells[at:at + 80].rstrip() for at in range(0, len(cells), 80)]
    assert any(GUEST_IP in line for line in lines) and max(map(len, lines)) <= 40, lines


def test_menu_serial_only(boot, disk):
    disk.options(STATIC)
    box = boot(floppy=disk.path)
    menu(box)
    box.key("5")
    box.wait_for("ready", 20, how="static")
    assert not any("ready" in line for line in box.screen())


def test_menu_safe_probe(boot, disk):
    """The card is named in the line that the entry opens; nothing else is looked for."""
    disk.options(STATIC)
    box = boot(floppy=disk.path)
    menu(box)
    box.key("3")
    box.wait_text(f"> {STATIC} nic=ne2000:0x300", 5, stream="e9")
    box.keys("\n")
    box.wait_for("ready", 20, how="static")
    assert len(box.all("nic")) == 1


def test_menu_edit(boot, disk):
    """Esc leaves the options, Backspace and letters change them."""
    disk.options(STATIC, "name=boxx")
    box = boot(floppy=disk.path)
    menu(box)
    for what in ("e", "x", "esc"):
        box.key(what)
    box.wait_text(f"Options: {STATIC} name=boxx\n", 5, stream="e9",
                  since=box.wait_text("> ", 5, stream="e9"))
    box.key("e")
    for _ in range(len("name=boxx")):
        box.key("backspace")
    box.keys("irq=poll\n")
    box.wait_text(f"Options: {STATIC} irq=poll\n", 10, stream="e9")
    box.key("ret")
    box.wait_for("ready", 20, how="static")
    assert box.all("nic")[0]["mode"] == "poll"


@pytest.mark.parametrize("late", [0, 25])
def test_load_time_counts_from_the_boot_sector(boot, tmp_path, late):
    """By the BIOS tick that it has stored; here moved back by so many ticks once it has."""
    path = str(tmp_path / "gdb")
    box = boot(floppy=product("nictest86.img"),
               extra=["-S", "-gdb", f"unix:{path},server=on,wait=off"])
    stub = Stub(path)
    stub.run_to(0x7C00)
    tick = stub.read(BIOS_TICK, 4)
    stub.run_to(STAGE2)
    noted = int.from_bytes(stub.read(NOTE_TICK, 4), "little")
    assert noted - int.from_bytes(tick, "little") in (0, 1), "the first instructions"
    stub.write(NOTE_TICK, (int.from_bytes(tick, "little") - late).to_bytes(4, "little"))
    stub.leave()
    box.wait_for("ready", 30)
    ticks = int.from_bytes(box.memory(BIOS_TICK, 4), "little") - int.from_bytes(tick, "little")
    loaded = box.all("boot")[0]["load_ms"]
    unpacking = 1000  # and on a busy host more
    assert 0 <= loaded - (ticks + late) * 54.9 + 55 < unpacking


def test_image_tool_refuses_what_does_not_fit(tmp_path):
    big = tmp_path / "BIG.BIN"
    big.write_bytes(bytes(720 << 10))
    run = subprocess.run(
        ["/usr/bin/python3", "iso/fat12.py", "720", f"{OUT}/loader/boot.bin",
         f"{OUT}/loader/stage2.bin", str(tmp_path / "x.img"), f"BIG.BIN={big}"],
        text=True, stderr=subprocess.PIPE, env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"},
        check=False)
    assert run.returncode == 1 and "BIG.BIN: does not fit a floppy of 720 KB" in run.stderr
