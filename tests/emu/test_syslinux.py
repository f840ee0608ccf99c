"""Syslinux and Pxelinux, which start multiboot kernels by mboot.c32, as iso/BOOTING.md has it."""

import os
import re
import shutil
import subprocess

import pytest

from machine import ROOT, product
from qemu import GUEST_IP

MODULES = "/usr/lib/syslinux/modules/bios"


def recipe():
    """The menu in BOOTING.md, started at once."""
    with open(f"{ROOT}/iso/BOOTING.md", encoding="utf-8") as text:
        label = re.search(r"```\n(LABEL .*?)```", text.read(), re.DOTALL)[1]
    return f"DEFAULT nictest86\n{label}"


@pytest.fixture
def files(tmp_path):
    """A folder with the kernel, and what Syslinux needs to start it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    for name in ("mboot.c32", "libcom32.c32"):
        shutil.copy(f"{MODULES}/{name}", folder)
    shutil.copy(product("nictest86.elf"), folder)
    (folder / "syslinux.cfg").write_text(recipe())
    return folder


def test_syslinux_on_a_floppy(boot, files, tmp_path):
    """With 4 MB."""
    image = str(tmp_path / "syslinux.img")
    subprocess.run(["mformat", "-C", "-i", image, "-f", "1440", "::"], check=True)
    subprocess.run(["mcopy", "-i", image, *map(str, files.iterdir()), "::"], check=True)
    subprocess.run(["syslinux", "--install", image], check=True)
    box = boot(floppy=image, mem=4)
    assert box.wait_for("ready", 60)["how"] == "dhcp"
    assert box.all("fault") == []


@pytest.mark.cards("rtl8139")
def test_pxelinux(boot, files):
    shutil.copy("/usr/lib/PXELINUX/pxelinux.0", files)
    shutil.copy(f"{MODULES}/ldlinux.c32", files)
    (files / "pxelinux.cfg").mkdir()
    os.rename(files / "syslinux.cfg", files / "pxelinux.cfg" / "default")
    box = boot(tftp=str(files), bootfile="pxelinux.0", mem=16, cpu="pentium2")
    ready = box.wait_for("ready", 60)
    assert (ready["ip"], ready["how"]) == (GUEST_IP, "dhcp")
    assert box.all("fault") == []
