"""Bochs: the images as a user boots them, and real transfers through its NE2000."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

import iperf3
import nuttcp
from machine import OUT, ROOT, free_port, product
from wire import Sink, host_ttcp, run, send_tcp, ttcp_pattern

pytestmark = pytest.mark.bochs

MB = 1 << 20
HERE = os.path.dirname(os.path.abspath(__file__))


def children_left(marker):
    """Processes whose command line or environment names our temporary directories."""
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if marker in environment and (b"bochs" in command or b"Xvfb" in command):
            left.append(command)
    return left


ISA_CARD = {"bus": "isa", "io": 0x300, "irq": 10, "trigger": "edge", "width": 16}
PCI_CARD = {"bus": "pci", "trigger": "level", "width": 32}


@pytest.mark.parametrize("image,slot,says", [
    ("iso", None, ISA_CARD), ("floppy", None, ISA_CARD), ("grub", None, ISA_CARD),
    ("floppy", 1, PCI_CARD), ("floppy", 3, PCI_CARD)])
def test_boot_and_transfer(boot_bochs, image, slot, says):
    """To `ready`, then 10 MB in and out (ISO) or 1 MB (floppies), byte for byte, without a gap."""
    size = 10 * MB if image == "iso" else MB
    port = free_port()
    media = {"iso": {"cdrom": product("nictest86.iso"), "mem": 4},
             "grub": {"floppy": product("nictest86-grub.img"), "mem": 4},
             "floppy": {"floppy": product("nictest86.img")}}[image]
    box = boot_bochs(forward=[("tcp", port, 5001)], slot=slot, **media)
    ready = box.wait_for("ready", 180)
    assert (ready["ip"], ready["how"]) == ("10.0.2.15", "dhcp")
    nic = box.all("nic")[0]
    assert (nic["driver"], nic["mode"], nic["irq_proven"]) == ("ne2000", "irq", True)
    assert {**nic, **says} == nic
    assert box.all("fault") == []

    send_tcp(port, ttcp_pattern(8192) * (size // 8192))
    result = box.wait_for("result", 30, dir="rx")
    assert (result["bytes"], result["end"]) == (size, "ok")
    assert result["gap_us"] < 500_000

    sink = Sink()
    done, text = box.command(f"ttcp -t -l 8192 -n {size // 8192} -p {sink.port} 10.0.2.2", 90)
    assert done["status"] == 0
    assert sink.result() == ttcp_pattern(8192) * (size // 8192)
    result = box.wait_for("result", 5, dir="tx")
    assert (result["bytes"], result["end"]) == (size, "ok")
    assert result["gap_us"] < 500_000
    assert f"ttcp-t: {size} bytes in " in text

    box.type("quit\r")
    box.wait_exit(10)
    assert box.all("exit")[0]["status"] == 0
    assert box.all("panic") == []


@pytest.mark.skipif(shutil.which("iperf") is None, reason="iperf is not installed")
def test_iperf2(boot_bochs):
    """The real client once: TCP, -R, and UDP with its server's report."""
    tcp, udp = free_port(), free_port(socket.SOCK_DGRAM)
    box = boot_bochs(forward=[("tcp", tcp, 5001), ("udp", udp, 5001)],
                     floppy=product("nictest86.img"))
    box.wait_for("ready", 180)
    for words in ([], ["-R"]):
        since = box.mark()
        status, out, err = run(["iperf", "-c", "127.0.0.1", "-p", str(tcp), "-n", "300K", *words])
        assert status == 0, out + err
        result = box.wait_for("result", 20, since)
        assert (result["test"], result["bytes"], result["end"]) == ("iperf2", 307200, "ok")
        assert result["dir"] == ("tx" if words else "rx")
    since = box.mark()
    status, out, err = run(["iperf", "-c", "127.0.0.1", "-p", str(udp), "-u", "-n", "60K"])
    result = box.wait_for("result", 20, since)
    assert status == 0 and "Server Report" in out, out + err
    assert result["packets"] + result["lost"] == 43
    assert f"{result['lost']}/43 (" in out


def start_run(**environment):
    """`make run`'s program with ports and a marker of its own."""
    base = free_port()
    while base > 60000:
        base = free_port()
    marker = f"NICTEST86_TEST={os.getpid()}.{base}"
    key, value = marker.split("=")
    process = subprocess.Popen(
        [sys.executable, os.path.join(HERE, "run.py")], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env={**os.environ, "PORT_BASE": str(base), "HEADLESS": "1", "OUT": OUT, key: value,
             **environment})
    return process, base, marker.encode()


def test_make_run_once():
    """The README's first command, to its end; nothing is left behind."""
    process, _, marker = start_run(RUN_ONCE="1")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert "ready after" in output and "passed" in output
    for line in ("TCP, this computer -> NicTest86", "TCP, NicTest86 -> this computer",
                 "UDP, this computer -> NicTest86"):
        assert line in output
    assert output.count("ttcp-t:") >= 4 and output.count("ttcp-r:") >= 4
    assert children_left(marker) == []


def test_second_make_run_starts_at_once():
    """Through make, everything built: Bochs is on its way within 3 s."""
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    lwip = [f"LWIP={environment['LWIP']}"] if environment.get("LWIP") else []
    command = ["make", "-C", ROOT, "run", f"OUT={os.path.relpath(OUT, ROOT)}", *lwip,
               f"PORT_BASE={free_port() % 20000 + 20000}", "HEADLESS=1"]
    seen = []
    for _ in range(2):
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        for line in process.stdout:
            seen.append(line)
            if "0 s" in line:
                break
        took = time.monotonic() - began
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
    assert "0 s" in seen[-1], "".join(seen)
    assert took < 3, took


def test_make_run_stays_up(display):
    """In a window; then from another terminal, as it says; and Ctrl-C ends it well."""
    process, base, marker = start_run(HEADLESS="", DISPLAY=display)
    seen = ""
    while "The machine stays up" not in seen and process.poll() is None:
        seen += process.stdout.readline()
    assert f"window on {display}" in seen, seen
    assert f"ttcp -t -p {base + 1} 127.0.0.1" in seen, seen
    status, out, err = run([host_ttcp(), "-t", "-n", "50", "-p", str(base + 1), "127.0.0.1"])
    assert status == 0 and "409600 bytes" in out, out + err
    while "ttcp-r: 409600 bytes" not in seen and process.poll() is None:
        seen += process.stdout.readline()  # the box's console is shown
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0, output
    assert children_left(marker) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_make_run_is_stopped(number):
    process, _, marker = start_run()
    seen = ""
    while "0 s" not in seen and process.poll() is None:
        seen += process.stdout.readline()
    time.sleep(1)
    assert children_left(marker) != [], "it was running"
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130, seen + output
    assert "stopped by" in output
    assert children_left(marker) == []


def test_make_run_killed_outright(tmp_path):
    """Even SIGKILL leaves no emulator and no X server."""
    process, _, marker = start_run(TMPDIR=str(tmp_path))
    seen = ""
    while "0 s" not in seen and process.poll() is None:
        seen += process.stdout.readline()
    assert children_left(marker) != []
    process.kill()
    process.communicate(timeout=20)
    deadline = time.monotonic() + 5
    while children_left(marker) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert children_left(marker) == []


def test_make_run_with_a_busy_port():
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        process, _, marker = start_run(PORT_BASE=str(port - 1), RUN_ONCE="1")
        output, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert f"port {port}" in output and "in use" in output and "PORT_BASE" in output
    assert children_left(marker) == []


def test_make_run_with_a_broken_image(tmp_path):
    """What does not boot ends with the reason, soon after the machine has given up."""
    (tmp_path / "nictest86.iso").write_bytes(bytes(1 << 20))
    process, _, marker = start_run(OUT=str(tmp_path), RUN_ONCE="1", READY_SECONDS="15")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "make run failed: " in output and "last of serial" in output
    assert children_left(marker) == []


def test_iperf3(boot_bochs):
    """Debian's client against the floppy: both directions over TCP, and over UDP."""
    port = free_port(socket.SOCK_STREAM, socket.SOCK_DGRAM)
    box = boot_bochs(forward=[("tcp", port, 5201), ("udp", port, 5201)],
                     floppy=product("nictest86.img"))
    box.wait_for("ready", 180)
    for words in (["-n", "1M"], ["-R", "-t", "2"], ["-P", "4", "-t", "2"],
                  ["-u", "-b", "400K", "-l", "1000", "-t", "2"],
                  ["-u", "-R", "-b", "400K", "-l", "1000", "-t", "2"]):
        since = box.mark()
        iperf3.check(box, iperf3.run(port, *words), since)
    assert box.all("panic") == []


def test_nuttcp(boot_bochs):
    """Debian's client: both directions over TCP, and over UDP; data comes in on 5001."""
    control, data = free_port(), free_port(socket.SOCK_STREAM, socket.SOCK_DGRAM)
    box = boot_bochs(forward=[("tcp", control, 5000), ("tcp", data, 5001), ("udp", data, 5001)],
                     floppy=product("nictest86.img"))
    box.wait_for("ready", 180)
    for words in (["-n", "16"], ["-r", "-n", "16"], ["-u", "-R", "400k", "-l", "1000", "-T", "2"],
                  ["-u", "-r", "-R", "400k", "-l", "1000", "-T", "2"]):
        since = box.mark()
        port = nuttcp.free_ports(1) if "-r" in words else data
        status, out = nuttcp.Client(control, port, *words).finish()
        assert status == 0, out
        nuttcp.check(box, out, since)
    assert box.all("panic") == []


@pytest.mark.skipif(shutil.which("nc") is None, reason="nc is not installed")
def test_nc(boot_bochs):
    """The raw sink, echo, and the report that tells of it."""
    ports = {guest: free_port() for guest in (7001, 7, 7777)}
    box = boot_bochs(forward=[("tcp", host, guest) for guest, host in ports.items()],
                     floppy=product("nictest86.img"))
    box.wait_for("ready", 180)

    def nc(guest, *words, data=b""):
        done = subprocess.run(["nc", *words, "127.0.0.1", str(ports[guest])], input=data,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert nc(7001, "-N", data=bytes(300_000)) == b""
    result = box.wait_for("result", 20)
    assert (result["test"], result["bytes"], result["end"]) == ("sink", 300_000, "ok")
    assert nc(7, "-N", data=b"there and back " * 2000) == b"there and back " * 2000
    assert b"sink-r   tcp" in nc(7777, "-d")
