"""The services people reach with `nc`: raw sink and source, echo, discard, chargen, the report."""

import hashlib
import os
import shutil
import socket
import subprocess
import threading
import time

import pytest

import iperf3
from cards import BOTH
from qemu import GUEST_IP, HOST_IP
from wire import run, send_tcp, ttcp_pattern

pytestmark = [pytest.mark.cards(*BOTH),
              pytest.mark.skipif(shutil.which("nc") is None, reason="nc is not installed")]

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
SINK, SOURCE, ECHO, DISCARD, CHARGEN, REPORT = 7001, 7002, 7, 9, 19, 7777
MB = 1 << 20
LINES = [bytes(0x20 + (line + column) % 95 for column in range(72)) + b"\r\n"
         for line in range(95)]


@pytest.fixture
def box(boot):
    machine = boot(STATIC, mem=8, forward={
        "tcp": [SINK, SOURCE, ECHO, DISCARD, CHARGEN, REPORT], "udp": [ECHO, DISCARD, CHARGEN]})
    machine.wait_for("ready", 10)
    return machine


def nc(box, port, *words, data=b"", proto="tcp", timeout=60):
    """What netcat hears when it says `data`."""
    done = subprocess.run(["nc", *words, "127.0.0.1", str(box.port(proto, port))], input=data,
                          capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("size", [1, 100_000, 3 * MB + 1])
def test_sink(box, size):
    assert nc(box, SINK, "-N", data=os.urandom(size)) == b""
    result = box.wait_for("result", 10)
    assert (result["test"], result["dir"], result["proto"]) == ("sink", "rx", "tcp")
    assert (result["bytes"], result["end"]) == (size, "ok")


def test_source(box):
    """16 MiB to the byte, then FIN: nc ends by itself."""
    heard = nc(box, SOURCE, "-d")
    assert len(heard) == 16 * MB
    assert hashlib.sha256(heard).digest() == hashlib.sha256(ttcp_pattern(8192) * 2048).digest()
    result = box.wait_for("result", 10)
    assert (result["test"], result["dir"], result["end"]) == ("source", "tx", "ok")
    assert (result["bytes"], result["calls"], result["streams"]) == (16 * MB, 2048, 1)


@pytest.mark.parametrize("size", [1, 5000, 1_000_003])
def test_echo(box, size):
    """nc says all of it, then stops saying: what is left still comes."""
    data = os.urandom(size)
    assert nc(box, ECHO, "-N", data=data) == data


def test_echo_to_one_who_never_reads(box):
    """It may send for ever; the box keeps answering the others."""
    with socket.create_connection(("127.0.0.1", box.port("tcp", ECHO)), 5) as deaf:
        deaf.setblocking(False)
        for _ in range(200):
            try:
                deaf.send(b"z" * 65536)
            except BlockingIOError:
                time.sleep(0.01)
        assert nc(box, ECHO, "-N", data=b"hello") == b"hello"
        nc(box, SINK, "-N", data=b"x" * 100_000)
        assert box.wait_for("result", 10)["bytes"] == 100_000


def test_discard(box):
    assert nc(box, DISCARD, "-N", data=os.urandom(500_000)) == b""
    assert box.all("result") == []


def test_chargen(box):
    with subprocess.Popen(["nc", "-d", "127.0.0.1", str(box.port("tcp", CHARGEN))],
                          stdout=subprocess.PIPE) as client:
        heard = client.stdout.read(200 * 74)
        client.kill()
    assert heard == b"".join(LINES[i % 95] for i in range(200))
    assert nc(box, ECHO, "-N", data=b"there?") == b"there?"


def test_udp(box):
    assert nc(box, ECHO, "-u", "-w", "1", data=b"one datagram", proto="udp") == b"one datagram"
    lines = nc(box, CHARGEN, "-u", "-w", "1", data=b"?" * 80, proto="udp")
    assert lines == (LINES[0] + LINES[1])[:80]
    assert nc(box, DISCARD, "-u", "-w", "1", data=b"nothing", proto="udp") == b""


def test_report(box):
    assert nc(box, REPORT, "-d") == b"no results yet\n"
    nc(box, SINK, "-N", data=b"x" * 3_000_000)
    box.wait_for("result", 10)
    heard = nc(box, REPORT, "-d").decode()
    _, shown = box.command("report")
    assert "sink-r" in heard and "NicTest86 " in heard
    assert heard.strip() in shown.replace("\r", "")


@pytest.mark.skipif(shutil.which("iperf") is None, reason="iperf is not installed")
def test_everybody_at_once(boot):
    """ttcp, iperf, iperf3 both ways, nc in, out and to be echoed: nobody loses a byte."""
    box = boot(STATIC, mem=8, forward={"tcp+udp": [5201], "tcp": [5001, 5010, SINK, SOURCE, ECHO]})
    box.wait_for("ready", 10)
    heard = {}

    def client(name, act, *words, **options):
        heard[name] = act(*words, **options)

    echoed = os.urandom(200_000)
    jobs = [("ttcp", send_tcp, box.port("tcp", 5010), ttcp_pattern(700_000)),
            ("iperf", run, ["iperf", "-c", "127.0.0.1", "-p", str(box.port("tcp", 5001)),
                            "-n", "600000"]),
            ("source", nc, box, SOURCE, "-d")]
    threads = [threading.Thread(target=client, args=job) for job in jobs]
    threads += [threading.Thread(target=client, args=("sink", nc, box, SINK, "-N"),
                                 kwargs={"data": bytes(500_000)}),
                threading.Thread(target=client, args=("echo", nc, box, ECHO, "-N"),
                                 kwargs={"data": echoed})]
    two_ways = iperf3.Client(box.port("tcp", 5201), ["--bidir", "-P", "2", "-t", "2"])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    status, report = two_ways.finish()
    assert status == 0 and heard["iperf"][0] == 0
    iperf3.check(box, report, 0)
    assert len(heard["source"]) == 16 * MB and heard["echo"] == echoed
    results = {(r["test"], r["dir"]): r for r in box.wait_count("result", 6, 10)}
    assert {key: r["bytes"] for key, r in results.items() if key[0] != "iperf3"} == {
        ("ttcp", "rx"): 700_000, ("iperf2", "rx"): 600_000, ("sink", "rx"): 500_000,
        ("source", "tx"): 16 * MB}
    assert all(r["end"] == "ok" for r in results.values())
