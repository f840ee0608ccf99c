"""Machines of which something is missing, or that tell nothing or lies: memory, A20, display,
keyboard, serial port."""

import os
import sys

import pytest

import iperf3
import records
from machine import ROOT
from qemu import GUEST_IP, HOST_IP
from stub import FLAG_MAP, FLAG_MEMORY, stopped
from wire import Sink, send_tcp

sys.path.insert(0, os.path.join(ROOT, "tests", "hw"))
import hwlog  # noqa: E402  (needs the path above)

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
NARROW = 40
TTCP = 5001


def people(box, stream="e9"):
    """The lines for people."""
    return [line for line in box.text[stream].split("\n") if not line.startswith("@")]


def works(box):
    """It is ready, answers, and takes a transfer."""
    box.wait_for("ready", 10)
    send_tcp(box.port("tcp", TTCP), b"w" * 100_000)
    assert box.wait_for("result", 10)["bytes"] == 100_000


# ---- memory ----

def test_no_memory_map(boot, tmp_path):
    """BIOS calls 88h and E801h give a size, no map."""
    box, stub = stopped(boot, tmp_path, STATIC, forward={"tcp": [TTCP]})
    stub.loader_says(flags_off=FLAG_MAP)
    stub.leave()
    works(box)
    assert box.records[0]["mem_kb"] == 4096


@pytest.mark.parametrize("said_kb", [15 * 1024, 64 * 1024, 0xffffffff])
def test_less_memory_than_the_bios_says(boot, tmp_path, said_kb):
    box, stub = stopped(boot, tmp_path, STATIC, forward={"tcp": [TTCP]})
    stub.loader_says(flags_off=FLAG_MAP, upper_kb=said_kb)
    stub.leave()
    works(box)
    assert box.records[0]["mem_kb"] == 4096
    assert any("it answers up to 4096 KB" in line for line in people(box)), people(box)


def test_loader_that_knows_no_memory(boot, tmp_path):
    box, stub = stopped(boot, tmp_path, STATIC, forward={"tcp": [TTCP]})
    stub.loader_says(flags_off=FLAG_MAP | FLAG_MEMORY)
    stub.leave()
    works(box)
    assert box.records[0]["mem_kb"] == 4096
    assert not any("BIOS says" in line for line in people(box))


def test_a20_is_off(boot, tmp_path):
    """As a loader leaves it that copied the kernel with A20 off: into the even megabyte."""
    box, stub = stopped(boot, tmp_path, STATIC)
    for at in range(0, 0x90000, 0x1000):
        stub.write(at, stub.read(0x100000 + at, 0x1000))
    box.human_monitor("o/b 0x92 0")
    stub.leave()
    box.wait_text("cannot run: address line A20 is off", 5)
    assert any("A20 is off" in line for line in box.screen())
    assert box.all("boot") == []


@pytest.mark.parametrize("byte", [0x00, 0xff])
def test_dead_cmos(boot, tmp_path, byte):
    """An empty battery: nothing in the clock chip means anything."""
    box, stub = stopped(boot, tmp_path, STATIC, forward={"tcp": [TTCP]})
    for register in range(0x80):
        box.human_monitor(f"o/b 0x70 {register:#x}")
        box.human_monitor(f"o/b 0x71 {byte:#x}")
    stub.leave()
    works(box)
    assert box.records[0]["mem_kb"] == 4096 and box.all("fault") == []


# ---- display ----

def test_no_display(boot):
    box = boot(STATIC, extra=["-vga", "none"], forward={"tcp": [TTCP]})
    works(box)
    assert box.command("help")[0]["status"] == 0


def test_monochrome_display(boot, tmp_path):
    """A VGA as it is with a monochrome monitor: text at B0000h, CRT controller at 3B4h."""
    box, stub = stopped(boot, tmp_path, STATIC)
    box.human_monitor("o/b 0x3c2 0x66")     # CRT controller at 3Bxh
    box.human_monitor("o/b 0x3ce 6")        # memory at B0000h
    box.human_monitor("o/b 0x3cf 0x0a")
    stub.write(0x463, b"\xb4\x03")
    stub.leave()
    box.wait_for("ready", 10)
    box.command("help")
    start = sum(crtc(box, register) << shift for register, shift in ((12, 8), (13, 0)))
    text = box.memory(0xb0000 + 2 * start, 80 * 25 * 2)[::2].decode("cp437")
    assert "list the commands" in text and "> " in text
    cursor = sum(crtc(box, register) << shift for register, shift in ((14, 8), (15, 0)))
    row, column = divmod(cursor - start, 80)
    assert text[80 * row:80 * row + 80].rstrip() == ">" and column == 2


def crtc(box, register):
    box.human_monitor(f"o/b 0x3b4 {register}")
    return int(box.human_monitor("i/b 0x3b5").split("=")[1], 16)


def test_forty_columns(boot):
    """Nothing for people is wider, records are untouched, and no line is lost."""
    box = boot(f"{STATIC} text=40", forward={"tcp": [TTCP, 5201]})
    works(box)
    iperf3.run(box.port("tcp", 5201), "-t", "2")
    box.wait_for("result", 5, test="iperf3")
    for command in ("help", "nics", "probe", "ip", "counters", f"ping -n 2 {HOST_IP}", "report",
                    "selftest", "bench clock"):
        assert box.command(command)[0]["status"] == 0, command
    wide = [line for line in people(box) if len(line) > NARROW]
    assert wide == []
    assert any(len(line) > NARROW for line in box.text["e9"].split("\n") if line.startswith("@"))
    text = " ".join(" ".join(people(box)).split())
    assert "  help \n    list the commands\n" in box.text["e9"]
    for whole in ("list the commands", "restart the machine", "proven, edge), by interrupt",
                  "card 0: this card works", "iperf3-r 10.0.2.2: 1 s, "):
        assert whole in text, whole
    assert all(line[NARROW:].strip() == "" for line in box.screen())


# ---- keyboard and serial port ----

@pytest.mark.parametrize("board", ["isapc", "pc"])
def test_no_keyboard_controller(boot, board):
    box = boot(STATIC, board=f"{board},i8042=off", forward={"tcp": [TTCP]})
    works(box)
    assert box.all("fault") == []
    assert box.command("help")[0]["status"] == 0


def test_nothing_but_the_card(boot):
    """No display, no keyboard, no serial port: it is found by the network."""
    box = boot(STATIC, board="isapc,i8042=off", serial=False, extra=["-vga", "none"],
               forward={"tcp": [TTCP]})
    works(box)
    assert box.records[0]["ev"] == "boot" and box.all("fault") == []


def test_serial_port_alone(boot):
    box = boot(f"{STATIC} console=com1")
    box.wait_for("ready", 10)
    assert box.command("ip")[0]["status"] == 0
    assert not any("card 0" in line for line in box.screen())


def test_no_cpuid_and_no_map(boot, tmp_path):
    """What a 386 with an old BIOS offers."""
    box, stub = stopped(boot, tmp_path, f"{STATIC} cpu=nocpuid", forward={"tcp": [TTCP]})
    stub.loader_says(flags_off=FLAG_MAP)
    stub.leave()
    works(box)
    boot_record = box.records[0]
    assert boot_record["tsc"] is False and boot_record["cpu"] in ("386", "486")
    records.check(boot_record)


# ---- the log of real machines ----

def test_capture_of_com1_becomes_an_entry(boot):
    """The list of tests/hw/README.md, as far as no hands are needed."""
    box = boot(STATIC, forward={"tcp": [TTCP]})
    works(box)
    box.command("selftest")
    sink = Sink()
    box.command(f"ttcp -t -n 20 -p {sink.port} {HOST_IP}")
    mark = box.mark()
    box.type("reboot\r")
    box.wait_for("ready", 20, since=mark)
    box.command("ip")
    entry = hwlog.make_entry(box.text["serial"], {
        "name": "qemu", "date": "2026-12-01", "machine": "QEMU", "medium": "grub", "by": "pytest",
        "saw": {}, "photos": []})
    assert entry["proven"] == dict.fromkeys(hwlog.PROVEN, True) and entry["noise"] == 0
