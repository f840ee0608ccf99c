"""NICTEST.COM from a DOS prompt: the kernel starts, or DOS goes on with one clear line."""

import os
import subprocess

import pytest

from dosbox import DosBox
from machine import ROOT, product

GO_ON = ["echo still here > on.txt"]


@pytest.fixture
def dos(machines):
    """dos(commands, kernel=path, more=files, **options): a DOSBox with the program and its kernel
    on C:."""
    def start(commands, kernel=None, more=None, **options):
        files = {"NICTEST.COM": product("nictest.com"),
                 "NICTEST.ELF": kernel or product("nictest86.elf"), **(more or {})}
        if kernel is False:
            del files["NICTEST.ELF"]
        machine = DosBox(files, commands, **options)
        machines.append(machine)
        return machine
    return start


@pytest.mark.parametrize("mem,xms", [(2, False), (4, True), (16, True)])
def test_kernel_starts_from_dos(dos, mem, xms):
    """With HIMEM, which has taken all memory from the BIOS's count, and without."""
    box = dos(["nictest name=fromdos ip=192.168.0.86/24 > out.txt"] + GO_ON, mem=mem, xms=xms)
    boot = box.wait_for("boot", 30)
    assert abs(boot["mem_kb"] - mem * 1024) <= 64
    assert 0 < boot["load_ms"] < 20000
    assert box.wait_for("fault", 10)["what"] == "nic_missing", "DOSBox has no card"
    done, _ = box.command("help")
    assert done["status"] == 0


def assembled(folder, name, start):
    """tests/emu/NAME.S as bytes that belong at `start`; the file."""
    subprocess.run(["gcc", "-m32", "-c", f"{ROOT}/tests/emu/{name}.S", "-o", f"{name}.o"],
                   cwd=folder, check=True)
    subprocess.run(["ld", "-m", "elf_i386", "-Ttext", hex(start), "-e", "begin", "--oformat",
                    "binary", f"{name}.o", "-o", name], cwd=folder, check=True)
    return folder / name


@pytest.mark.parametrize("xms", [False, True])
def test_flushing_the_disks_closes_a20(dos, tmp_path, xms):
    """So A20 is opened after it, not before."""
    flush = assembled(tmp_path, "flush", 0x100)
    box = dos(["flush", "nictest"], more={"FLUSH.COM": flush}, xms=xms)
    box.wait_for("boot", 30)


def test_options_come_from_the_command_line(dos):
    box = dos(["nictest colour=blue console=com1"])
    fault = box.wait_for("fault", 30, what="option")
    assert "colour" in str(fault)


def refused(box, name="OUT.TXT"):
    """What the program said before DOS went on."""
    box.wait_exit(30)
    assert box.file("ON.TXT").startswith("still here")
    assert box.records == []
    return box.file(name).split("\r\n")


def test_missing_kernel(dos):
    lines = refused(dos(["nictest > out.txt"] + GO_ON, kernel=False))
    assert [line for line in lines if "not found" in line] == [r"C:\NICTEST.ELF: not found"]


def test_kernel_beside_the_program_is_taken_from_elsewhere(dos):
    """From another directory, by the program's own path."""
    box = dos(["md sub", "cd sub", r"c:\nictest"])
    box.wait_for("boot", 30)


@pytest.mark.parametrize("damage,says", [
    (lambda elf: b"MZ" + elf[2:], "not a program for a 386"),
    (lambda elf: elf[:60000], "cut off"),
    (lambda elf: elf + bytes(700_000), "too little memory free below 640 KB"),
])
def test_kernel_that_cannot_be(dos, tmp_path, damage, says):
    with open(product("nictest86.elf"), "rb") as file:
        (tmp_path / "bad").write_bytes(damage(file.read()))
    lines = refused(dos(["nictest > out.txt"] + GO_ON, kernel=str(tmp_path / "bad")))
    assert len([line for line in lines if says in line]) == 1, lines


def test_too_little_memory_above_one_megabyte(dos):
    lines = refused(dos(["nictest > out.txt"] + GO_ON, mem=1))
    assert any("too little memory" in line or "A20" in line for line in lines), lines


def test_help(dos):
    lines = refused(dos(["nictest /? > out.txt"] + GO_ON))
    assert lines[0].startswith("usage: NICTEST")


def test_memory_manager_is_told(boot, tmp_path):
    """In virtual 8086 mode, as EMM386 runs DOS; QEMU, with a few lines in place of both."""
    image = assembled(tmp_path, "v86", 0x7c00).read_bytes()
    assert len(image) == 512
    with open(product("nictest.com"), "rb") as file:
        program = file.read()
    assert len(program) <= 17 * 512, "what the boot sector reads"
    (tmp_path / "floppy").write_bytes((image + program).ljust(1474560, b"\0"))
    box = boot(floppy=str(tmp_path / "floppy"), nic=None)
    assert box.wait_exit(20) == 2 * 1 + 1, "error level 1"
    assert "memory manager" in box.text["e9"] and "CONFIG.SYS" in box.text["e9"]


def test_program_is_one_small_file():
    assert os.path.getsize(product("nictest.com")) < 8192
