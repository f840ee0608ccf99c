"""GRUB's images: fit for a 386, and a menu that starts by itself but can be steered."""

import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import time

import pytest

from machine import OUT, ROOT, plain, product
from qemu import GUEST_IP

sys.path.insert(0, os.path.join(ROOT, "iso"))

import grub  # noqa: E402  (needs the path)

INSTALLED = "/usr/lib/grub/i386-pc"
CORES = {"iso": "iso/boot/grub/eltorito.img", "floppy": "floppy/core.img"}
IMAGES = {"iso": {"cdrom": "nictest86.iso"}, "floppy": {"floppy": "nictest86-grub.img"}}
MENU_SECONDS = 40   # to the kernel, on a loaded machine


def read(path):
    with open(path, "rb") as file:
        return file.read()


# ---- what is in the images ----

def unpacked_core(core):
    """GRUB's kernel and modules, from what grub-mkimage has made of them."""
    unpacker = read(f"{INSTALLED}/lzma_decompress.img")
    at = core.find(unpacker[32:128]) - 32       # its first bytes are filled in
    assert at >= 0, "no decompressor in the core"
    _, size = struct.unpack_from("<II", core, at + 8)
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16, "lc": 3, "lp": 0, "pb": 2}]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters).decompress(
        core[at + len(unpacker):], size)


@pytest.mark.parametrize("image", CORES)
def test_nothing_in_the_core_touches_cr4(image):
    core = read(os.path.join(OUT, CORES[image]))
    modules = unpacked_core(core)
    assert grub.TOUCHES_CR4 not in modules
    assert modules.count(grub.NOP * len(grub.TOUCHES_CR4)) >= grub.PLACES
    if image == "floppy":   # the images hold these very cores, but for places filled in
        assert core[512:] in read(product("nictest86-grub.img"))
    else:
        assert core[4096:] in read(product("nictest86.iso"))


def stock_core(folder):
    core = folder / "stock.img"
    subprocess.run(["grub-mkimage", "-O", "i386-pc", "-p", "(fd0)/boot/grub", "-o", str(core),
                    "biosdisk", "normal", "multiboot", "serial", "reboot", "fat"], check=True)
    return core


def test_the_stock_core_does(tmp_path):
    assert unpacked_core(read(stock_core(tmp_path))).count(grub.TOUCHES_CR4) == grub.PLACES


@pytest.mark.parametrize("places", [0, 1, 3])
def test_another_grub_stops_the_build(tmp_path, places):
    """With one clear line, and without an image."""
    installed = tmp_path / "installed"
    shutil.copytree(INSTALLED, installed)
    (installed / grub.MODULE).write_bytes(b"ELF" + (grub.TOUCHES_CR4 + b"..") * places)
    run = subprocess.run([sys.executable, f"{ROOT}/iso/grub.py", installed, tmp_path / "copy"],
                         stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1 and f"in {places} places" in run.stderr
    assert not (tmp_path / "copy").exists()


def test_the_copy_differs_in_nothing_else(tmp_path):
    grub.copy(INSTALLED, tmp_path / "copy")
    for name in os.listdir(INSTALLED):
        ours, theirs = read(tmp_path / "copy" / name), read(f"{INSTALLED}/{name}")
        assert len(ours) == len(theirs)
        assert (ours == theirs) == (name != grub.MODULE), name


# ---- what is executed ----

@pytest.fixture(scope="module")
def cr4_plugin(tmp_path_factory):
    so = tmp_path_factory.mktemp("plugin") / "cr4.so"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Werror",
                    f"{ROOT}/tests/emu/cr4.c", "-o", str(so)], check=True)
    return so


def boot_watched(boot, plugin, folder, **image):
    """To `ready`; the addresses where CR4 was touched on the way."""
    seen = folder / "cr4"
    box = boot(extra=["-plugin", f"{plugin},out={seen}"], **image)
    box.wait_for("ready", MENU_SECONDS)
    return seen.read_text().split()


@pytest.mark.parametrize("image", IMAGES)
def test_no_access_to_cr4_from_power_on_to_ready(boot, cr4_plugin, tmp_path, image):
    files = {kind: product(name) for kind, name in IMAGES[image].items()}
    assert boot_watched(boot, cr4_plugin, tmp_path, **files) == []


def test_accesses_to_cr4_would_be_seen(boot, cr4_plugin, tmp_path):
    """The same floppy with the stock GRUB."""
    floppy = tmp_path / "stock-floppy.img"
    subprocess.run([sys.executable, f"{ROOT}/iso/floppy.py", f"{INSTALLED}/boot.img",
                    str(stock_core(tmp_path)), str(floppy),
                    f"boot/grub/grub.cfg={ROOT}/iso/grub.cfg",
                    f"boot/nictest86.elf={product('nictest86.elf')}"], check=True)
    assert len(boot_watched(boot, cr4_plugin, tmp_path, floppy=str(floppy))) >= 2


# ---- the menu ----

DOWN, ENTER = "\x0e", "\r"   # as GRUB understands them on a serial line


@pytest.fixture
def menu(boot):
    """menu(keys): the ISO, these keys typed on COM1 in its menu; the machine."""
    def start(*keys, **options):
        box = boot(cdrom=product("nictest86.iso"), **options)
        box.wait_text("automatically in", MENU_SECONDS)
        for key in keys:
            box.type(key)
        return box
    return start


def test_menu_starts_by_itself_after_a_visible_count(menu):
    box = menu()
    box.wait_for("ready", MENU_SECONDS)
    counts = [int(n) for n in re.findall(r"automatically in (\d+)s", plain(box.text["serial"]))]
    assert counts == sorted(counts, reverse=True) and 1 <= max(counts) <= 5, counts


def test_menu_fits_forty_columns():
    with open(f"{ROOT}/iso/grub.cfg", encoding="ascii") as file:
        entries = re.findall(r'(?:menuentry|submenu) "(.*)"', file.read())
    assert len(entries) > 8
    assert [entry for entry in entries if len(entry) > 33] == []  # GRUB's frame takes 7


def test_menu_on_the_keyboard(menu):
    """The PC's own keys choose, too."""
    box = menu()
    for key in ("down", "ret"):
        box.key(key)
    box.wait_for("ready", MENU_SECONDS)
    assert box.all("nic")[0]["mode"] == "poll"


def test_menu_polling(menu):
    box = menu(DOWN, ENTER)
    box.wait_for("ready", MENU_SECONDS)
    assert box.all("nic")[0]["mode"] == "poll"


@pytest.mark.parametrize("entry,io,found", [(0, 0x300, False), (1, 0x300, True),
                                            (2, 0x280, True), (3, 0x300, False)])
def test_menu_safe_probe(menu, entry, io, found):
    """Only what is chosen is looked for."""
    box = menu(DOWN, DOWN, ENTER, nic_options={"iobase": hex(io)})
    box.wait_text("PCI only", MENU_SECONDS)
    for _ in range(entry):
        box.type(DOWN)
    box.type(ENTER)
    if found:
        box.wait_for("ready", MENU_SECONDS)
        assert [nic["io"] for nic in box.all("nic")] == [io]
    else:
        assert box.wait_for("fault", MENU_SECONDS)["what"] == "nic_missing"
        assert box.all("nic") == []


def entries():
    """Title and options of each entry that starts the kernel."""
    with open(f"{ROOT}/iso/grub.cfg", encoding="ascii") as file:
        return re.findall(r'menuentry "(.*)" \{\s*multiboot \S+ ?(.*)\n', file.read())


@pytest.mark.parametrize("title,words", entries())
def test_words_of_every_entry(boot, title, words):
    """Options that the kernel knows; with a card at 300h, the place is the one in the title."""
    at = re.search(r" at (\d+)", title)
    assert at is None or f":0x{at[1]}" in words
    box = boot(words)
    places = {int(at, 16) for at in re.findall(r"nic=\w+:(0x\w+)", words)}
    if "0x100-0x3ff" in words or "wd80x3" in words or "3c503" in words or places - {0x300}:
        assert box.wait_for("fault", 10)["what"] == "nic_missing"
        assert box.all("nic") == []
    else:
        assert box.wait_for("ready", 10)["how"] == ("static" if "ip=" in words else "dhcp")
        assert box.all("fault") == []
    assert box.all("fault", what="option") == []


def test_menu_restarts_the_machine(menu):
    box = menu(DOWN * 6, ENTER)
    counts = len(re.findall("automatically in 3s", plain(box.text["serial"])))
    deadline = time.monotonic() + MENU_SECONDS
    while len(re.findall("automatically in 3s", plain(box.text["serial"]))) == counts:
        assert time.monotonic() < deadline, "no second menu"
        time.sleep(0.2)
    assert box.records == []


def test_menu_forty_columns(menu):
    box = menu(DOWN * 3, ENTER)
    box.wait_for("ready", MENU_SECONDS)
    assert box.all("fault") == []
    cells = box.memory(0xb8000, 40 * 25 * 2)[::2].decode("cp437")
    lines = [cells[row * 40:row * 40 + 40].rstrip() for row in range(25)]
    assert any(line.startswith("NicTest86") for line in lines), lines
    assert any(GUEST_IP in line for line in lines), lines


def test_menu_serial_only(menu):
    box = menu(DOWN * 4, ENTER)
    box.wait_for("ready", MENU_SECONDS)
    box.wait_text(f"card 0 ready: {GUEST_IP}", 5)
    assert not any("card 0" in line for line in box.screen())


def test_menu_entry_is_edited(menu):
    """`e`, to the end of the multiboot line, more words, Ctrl-X."""
    box = menu("e")
    box.wait_text("multiboot", MENU_SECONDS)
    box.type(DOWN + DOWN + "\x05" + f" ip={GUEST_IP}/24 irq=poll" + "\x18")
    assert box.wait_for("ready", MENU_SECONDS)["how"] == "static"
    assert box.all("nic")[0]["mode"] == "poll"


def test_menu_without_a_serial_port(boot):
    box = boot(cdrom=product("nictest86.iso"), serial=False)
    assert box.wait_for("ready", MENU_SECONDS)["how"] == "dhcp"


def test_iso_on_a_disk_or_stick(boot):
    """It begins with a boot sector, too."""
    box = boot(disk=product("nictest86.iso"))
    assert box.wait_for("ready", MENU_SECONDS)["how"] == "dhcp"
