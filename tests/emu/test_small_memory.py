"""2 and 4 MB: everything still works, only smaller; what there is of each is told in one line."""

import re

import pytest

import iperf3
from cards import BOTH, EVERY
from machine import product
from qemu import GUEST_IP, HOST_IP
from wire import Sink, run, send_tcp, ttcp_pattern

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
PORTS = {"tcp+udp": [5201, 5001]}
MB = 1 << 20
SIZES = re.compile(r"memory: (\d+) frames, (\d+) KB for lwIP, TCP window (\d+) KB, "
                   r"(\d+) KB left of (\d+)\n")


def sizes(box):
    """(frames, heap, window, left, of)"""
    return tuple(map(int, SIZES.search(box.text["e9"]).groups()))


def nothing_is_held(box):
    """Every frame is back in the pool."""
    counters = box.counters()
    assert counters["pool_free"] == counters["pool_size"]


@pytest.mark.parametrize("mem", [2, 4])
@pytest.mark.cards(*EVERY)
def test_ttcp_both_ways(boot, mem):
    box = boot(STATIC, mem=mem, forward=PORTS)
    box.wait_for("ready", 10)
    send_tcp(box.port("tcp", 5001), ttcp_pattern(8192) * (4 * MB // 8192))
    result = box.wait_for("result", 20)
    assert (result["bytes"], result["end"]) == (4 * MB, "ok") and result["gap_us"] < 500_000
    sink = Sink()
    done, _ = box.command(f"ttcp -t -l 8192 -n 256 -p {sink.port} {HOST_IP}", 20)
    assert done["status"] == 0 and len(sink.result()) == 2 * MB
    nothing_is_held(box)


@pytest.mark.parametrize("mem", [2, 4])
@pytest.mark.parametrize("text", ["-P 4", "-P 4 -R", "--bidir", "-u -b 4M -l 1000",
                                  "-u -R -b 4M -l 4000"])
@pytest.mark.cards(*BOTH)
def test_iperf3(boot, mem, text):
    box = boot(STATIC, mem=mem, forward=PORTS)
    box.wait_for("ready", 10)
    since = box.mark()
    report = iperf3.run(box.port("tcp", 5201), *text.split(), "-t", "1")
    for record in iperf3.check(box, report, since).values():
        assert record["end"] == "ok" and record["bytes"] > 100_000
    nothing_is_held(box)


@pytest.mark.parametrize("mem", [2, 4])
def test_iperf2(boot, mem):
    box = boot(STATIC, mem=mem, forward=PORTS)
    box.wait_for("ready", 10)
    status, out, errors = run(["iperf", "-c", "127.0.0.1", "-p", str(box.port("tcp", 5001)),
                               "-P", "4", "-n", "256K"])
    assert status == 0, out + errors
    assert sum(r["bytes"] for r in box.wait_count("result", 4, 10)) == 4 * 256 * 1024


def test_everything_else_in_2_mb(boot):
    box = boot(STATIC, mem=2)
    box.wait_for("ready", 10)
    for command in ("help", "selftest", "bench all", "nics", "counters", "report",
                    f"ping -n 5 {HOST_IP}", f"ping -n 5 -s 8000 {HOST_IP}"):
        assert box.command(command, 60)[0]["status"] == 0, command


def test_pools_scale(boot):
    """More memory, more of everything, up to a bound; and the block is what the line says."""
    seen = []
    for mem in (2, 4, 8, 16):
        with boot(STATIC, mem=mem) as box:
            box.wait_for("ready", 10)
            seen.append(sizes(box))
    for smaller, larger in zip(seen, seen[1:]):
        assert all(a <= b for a, b in zip(smaller, larger)), seen
    frames, heap, window, left, of = seen[0]
    assert frames >= 48 and heap >= 96 and window >= 8 and left < of
    assert of > 448, "the image leaves nearly half a megabyte of 2"
    assert seen[0][0] < seen[1][0] and seen[-1][:2] == (256, 256)


def test_floppy_in_2_mb(boot):
    """With our own loader; a GRUB needs 4."""
    box = boot(floppy=product("nictest86.img"), mem=2, forward=PORTS)
    box.wait_for("ready", 20)
    assert box.records[0]["mem_kb"] == 2048
    send_tcp(box.port("tcp", 5001), b"f" * MB)
    assert box.wait_for("result", 20)["bytes"] == MB
