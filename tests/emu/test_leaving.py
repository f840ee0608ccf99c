"""The ways out: Ctrl-Alt-Del, reboot, quit; and the machine starts again as if nothing had been."""

import time

import pytest

from cards import EVERY, ISA, RTL8139
from machine import product
from qemu import GUEST_IP, HOST_IP
from stub import stopped

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
SYSTEM_SERVICES, UNUSED = 0x15, 0x78  # BIOS interrupts
BOCHS_START = 180
START = 20  # seconds a start may take, BIOS and loader included


def starts_again(box, mark, limit=START):
    """A second boot record, the card found as at first, and an address that answers."""
    first = box.all("nic")[0]
    box.wait_for("ready", limit, since=mark)
    again = box.all("boot", since=mark)
    assert len(again) == 1 and again[0]["mem_kb"] == box.records[0]["mem_kb"]
    second, = box.all("nic", since=mark)
    assert {**second, "t_us": 0} == {**first, "t_us": 0}
    assert box.all("fault") == []
    assert box.command(f"ping -n 2 {HOST_IP}")[0]["status"] == 0


def ctrl_alt_del(box):
    mark = box.mark()
    box.key("ctrl", "alt", "delete")
    return mark


@pytest.mark.cards(*EVERY)
def test_reboot(boot):
    box = boot(STATIC)
    box.wait_for("ready", START)
    mark = box.mark()
    box.type("reboot\r")
    box.wait_for("done", 5, since=mark)
    starts_again(box, mark)


@pytest.mark.cards(ISA, RTL8139)
def test_ctrl_alt_del(boot):
    box = boot(STATIC)
    box.wait_for("ready", START)
    starts_again(box, ctrl_alt_del(box))


def test_ctrl_alt_del_while_a_command_runs(boot):
    box = boot(STATIC)
    box.wait_for("ready", START)
    box.type("ttcp -r\r")
    box.wait_text("ttcp -r", 5)
    starts_again(box, ctrl_alt_del(box))


def test_ctrl_alt_del_after_a_panic(boot):
    box = boot(STATIC)
    box.wait_for("ready", START)
    box.monitor("inject-nmi")
    box.wait_for("panic", 5)
    starts_again(box, ctrl_alt_del(box))


def test_ctrl_alt_del_after_a_refusal(boot, tmp_path):
    """A20 is off: it has said so and stands still."""
    box, stub = stopped(boot, tmp_path, STATIC)
    for at in range(0, 0x90000, 0x1000):
        stub.write(at, stub.read(0x100000 + at, 0x1000))
    box.human_monitor("o/b 0x92 0")
    stub.leave()
    box.wait_text("cannot run: address line A20 is off", 5)
    ctrl_alt_del(box)
    box.wait_for("ready", START)


@pytest.mark.parametrize("medium", ["floppy", "cdrom"])
def test_from_disk_and_back(boot, medium):
    """Both ways out of a machine that has a disk in it, by the BIOS and the loader."""
    image = {"floppy": "nictest86.img", "cdrom": "nictest86.iso"}[medium]
    box = boot(board="pc", mem=8, **{medium: product(image)})
    box.wait_for("ready", START)
    starts_again(box, ctrl_alt_del(box))
    mark = box.mark()
    box.type("reboot\r")
    starts_again(box, mark)


@pytest.mark.parametrize("board", ["isapc", "pc"])
def test_reboot_without_keyboard_controller(boot, board):
    """Port 92h does it."""
    box = boot(STATIC, board=f"{board},i8042=off")
    box.wait_for("ready", START)
    mark = box.mark()
    box.type("reboot\r")
    starts_again(box, mark)


def test_reboot_tells_the_bios_it_is_a_warm_start(boot, tmp_path):
    box = boot(STATIC, extra=["-no-reboot", "-action", "reboot=shutdown,shutdown=pause"])
    box.wait_for("ready", START)
    box.type("reboot\r")
    box.wait_for("done", 5)
    deadline = time.monotonic() + 5
    while "shutdown" not in box.human_monitor("info status"):
        assert time.monotonic() < deadline, "no reset"
    assert box.memory(0x472, 2) == b"\x34\x12"


# ---- quit ----

def test_quit_switches_off(boot):
    """Through the APM BIOS: no port of an emulator has a part in it."""
    box = boot(STATIC, board="pc", exit_device=False)
    box.wait_for("ready", START)
    box.type("quit\r")
    assert box.wait_exit(5) == 0
    assert box.all("exit")[0]["status"] == 0


def bios_ticks(box):
    return int.from_bytes(box.memory(0x46c, 4), "little")


def test_quit_where_nothing_switches_off(boot, tmp_path):
    """A BIOS that knows no APM: the machine waits in it, where Ctrl-Alt-Del is known."""
    box, stub = stopped(boot, tmp_path, STATIC, board="isapc", exit_device=False)
    nothing = stub.read(4 * UNUSED, 4)  # an iret in ROM
    stub.write(4 * SYSTEM_SERVICES, nothing)
    stub.leave()
    box.wait_for("ready", START)
    box.type("quit\r")
    box.wait_for("exit", 5)
    box.wait_text("can be switched off now", 5)
    first = bios_ticks(box)
    deadline = time.monotonic() + 5
    while bios_ticks(box) < first + 3:
        assert time.monotonic() < deadline, "the BIOS' clock does not tick"
    starts_again(box, ctrl_alt_del(box))


def test_quit_where_dos_was(boot, tmp_path):
    """Its hooks lead to memory that is ours by now: nobody goes there."""
    box, stub = stopped(boot, tmp_path, STATIC, board="pc", exit_device=False)
    stub.write(4 * SYSTEM_SERVICES, (0x0070 << 16).to_bytes(4, "little"))
    stub.leave()
    box.wait_for("ready", START)
    box.type("quit\r")
    box.wait_for("exit", 5)
    box.wait_text("can be switched off now", 5)
    registers = box.human_monitor("info registers")
    assert "CR0=00000011" in registers, "in protected mode"
    starts_again(box, ctrl_alt_del(box))


# ---- Bochs ----

@pytest.mark.bochs
def test_bochs_with_2_mb_from_the_floppy_and_back(boot_bochs):
    """Its BIOS is another: our floppy in 2 MB, reboot, the floppy again, and switched off."""
    box = boot_bochs(floppy=product("nictest86.img"), mem=2)
    box.wait_for("ready", BOCHS_START)
    assert 1984 <= box.records[0]["mem_kb"] <= 2048  # the BIOS keeps 64 KB for its tables
    mark = box.mark()
    box.type("reboot\r")
    starts_again(box, mark, BOCHS_START)
    box.type("quit\r")
    box.wait_exit(10)
    assert box.all("exit")[0]["status"] == 0
