"""`make run`: the product in Bochs, with real data going through its NE2000 in both directions.

Environment: RUN_ONCE=1 ends after the report · PORT_BASE=15000 moves the ports · SCREENSHOT=FILE
saves the screen · HEADLESS=1 wants no window though there is a display · READY_SECONDS=180 limits
the boot · OUT=out where `make` built.
"""

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

from bochs import Bochs, usable_display
from machine import OUT, ROOT, MachineError, free_port, plain, product, spawn, stop

# Guest port and what listens there, by distance from PORT_BASE.
PORTS = {1: (5001, "ttcp"), 201: (5201, "iperf3"), 0: (5000, "nuttcp"), 3080: (80, "the web page")}
PORT_BASE = 15000
READY_SECONDS = int(os.environ.get("READY_SECONDS") or "180")
TEST_SECONDS = 120
TCP_WORDS = ["-l", "8192", "-n", "512"]                  # 4 MB
UDP_WORDS = ["-u", "-l", "1024", "-n", "600", "-w", "3000"]  # at most 0.3 MB/s
COLUMN = 64
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):
    """Ctrl-C, or a signal that means the same."""


def say(text):
    print(text, flush=True)


def port_base():
    text = os.environ.get("PORT_BASE") or str(PORT_BASE)
    if not text.isdigit() or not 1024 <= int(text) <= 65535 - max(PORTS):
        raise MachineError(f"PORT_BASE={text}: want a number from 1024 to {65535 - max(PORTS)}")
    return int(text)


def check_port_free(port, what):
    for kind, proto in ((socket.SOCK_STREAM, "TCP"), (socket.SOCK_DGRAM, "UDP")):
        with socket.socket(socket.AF_INET, kind) as probe:
            # As the emulator binds it: a lingering connection of the last run is no obstacle.
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                raise MachineError(
                    f"{proto} port {port} on loopback (for {what}) is in use: stop the program "
                    f"that has it, or move all ports: PORT_BASE={PORT_BASE + 5000}") from None


def build_ttcp():
    """The host's ttcp; make has built it already when it started us."""
    source = os.path.join(ROOT, "tests", "tools", "ttcp.c")
    binary = os.path.join(OUT, "host", "ttcp")
    if not os.path.exists(binary) or os.path.getmtime(binary) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(binary), exist_ok=True)
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", binary, source],
                       check=True)
    return binary


def wait_ready(box):
    """Wait for `ready`, showing seconds and the last thing said on COM1 meanwhile."""
    shown, terminal = None, sys.stdout.isatty()
    next_at = 0
    while True:
        ready = box.all("ready")
        if ready:
            if terminal:
                print("\r\033[K", end="")
            return ready[0]
        seconds = int(time.monotonic() - box.started)
        if not box.alive():
            raise MachineError(box.complaint("Bochs ended while the machine was booting"))
        if seconds >= READY_SECONDS:
            raise MachineError(box.complaint(f"not ready within {READY_SECONDS} s"))
        if time.monotonic() >= next_at:
            last = next((line for line in reversed(box.last_lines()) if line.strip()
                         and not line.startswith("@")), "BIOS")
            line = f"  {seconds:3d} s  {last.strip()[:66]}"
            if terminal:
                print("\r\033[K" + line, end="", flush=True)
            elif last != shown or seconds % 5 == 0:
                say(line)
            shown, next_at = last, time.monotonic() + 1
        time.sleep(0.05)


def box_report(text):
    return [line.strip() for line in plain(text).split("\n")
            if re.match(r"\s*ttcp-[tr]: (\d+ (bytes|I/O)|CPU)", line)]


def side_by_side(title, host, box):
    say(f"\n{title}")
    if sys.stdout.isatty() and shutil.get_terminal_size().columns < 2 * COLUMN + 20:
        for who, lines in (("this computer", host), ("NicTest86", box)):  # no room side by side
            say("\n".join([f"  {who}"] + ["    " + line for line in lines]))
        return
    say(f"  {'this computer':{COLUMN}}| NicTest86")
    for i in range(max(len(host), len(box))):
        left = host[i] if i < len(host) else ""
        right = box[i] if i < len(box) else ""
        say(f"  {left:{COLUMN}}| {right}")


def finish(process, what):
    """Report lines of a host ttcp that is about to end."""
    try:
        output, errors = process.communicate(timeout=TEST_SECONDS)
    except subprocess.TimeoutExpired:
        stop(process)
        raise MachineError(f"{what}: the host's ttcp did not end within {TEST_SECONDS} s") from None
    if process.returncode != 0:
        raise MachineError(f"{what}: the host's ttcp failed:\n{errors}{output}".rstrip())
    return output.splitlines()


def start_ttcp(binary, words):
    return spawn([binary, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, text=True)


def settle(box, offset):
    """The box's report: complete on COM1 when the record that follows it is there."""
    end = box.wait_text("\n", 10, since=box.wait_text('"ev":"result"', 10, since=offset))
    return box_report(box.text["serial"][offset:end])


def send_to_box(box, binary, port, words, proto):
    """Host -> box; the box's result."""
    title = f"{proto.upper()}, this computer -> NicTest86"
    since, offset = box.mark(), len(box.text["serial"])
    sender = start_ttcp(binary, ["-t", *words, "-p", str(port), "127.0.0.1"])
    try:
        host = finish(sender, title)
    finally:
        stop(sender)
    result = box.wait_for("result", 30, since, dir="rx", proto=proto)
    side_by_side(title, host, settle(box, offset))
    return result


def receive_from_box(box, binary):
    """Box -> host, over TCP."""
    title = "TCP, NicTest86 -> this computer"
    since, offset = box.mark(), len(box.text["serial"])
    port = free_port()
    receiver = start_ttcp(binary, ["-r", "-c", "-l", "8192", "-p", str(port), "127.0.0.1"])
    try:
        time.sleep(0.3)
        box.type(f"ttcp -t {' '.join(TCP_WORDS)} -p {port} 10.0.2.2\r")
        done = box.wait_for("done", TEST_SECONDS, since)
        if done["status"] != 0:
            raise MachineError(box.complaint(f"{title}: `{done['cmd']}` failed"))
        host = finish(receiver, title)
    finally:
        stop(receiver)
    result = box.wait_for("result", 5, since, dir="tx", proto="tcp")
    side_by_side(title, host, settle(box, offset))
    return result


def judge(what, got, want, exact=True):
    lost = want - got
    if lost == 0:
        say(f"  -> all {want} bytes arrived")
    elif exact or not 0 <= lost < want:
        raise MachineError(f"{what}: {got} bytes counted, {want} sent")
    else:
        say(f"  -> {100 * lost / want:.1f} % lost on the way, as UDP may")


def transfers(box, base):
    binary = build_ttcp()
    size = int(TCP_WORDS[1]) * int(TCP_WORDS[3])
    result = send_to_box(box, binary, base + 1, TCP_WORDS, "tcp")
    judge("TCP in", result["bytes"], size)
    result = receive_from_box(box, binary)
    judge("TCP out", result["bytes"], size)
    result = send_to_box(box, binary, base + 1, UDP_WORDS, "udp")
    judge("UDP in", result["bytes"], int(UDP_WORDS[2]) * int(UDP_WORDS[4]), exact=False)


def stay(box, base):
    """Leave it running: COM1 is on this terminal until Ctrl-C or the window is closed."""
    ttcp = os.path.relpath(os.path.join(OUT, "host", "ttcp"))
    say(f"\nThe machine stays up. From another terminal:  {ttcp} -t -p {base + 1} 127.0.0.1")
    say("Its shell is here: `help` lists the commands. Ctrl-C ends.\n")
    shown = len(box.text["serial"])
    inputs = [sys.stdin] if sys.stdin.isatty() else []
    box.type("\r")
    while box.alive():
        ready, _, _ = select.select(inputs, [], [], 0.1)
        if ready:
            line = sys.stdin.readline()
            if line:
                box.type(line.replace("\n", "\r"))
            else:
                inputs = []
        new = box.text["serial"][shown:]
        shown += len(new)
        sys.stdout.write(new.replace("\r", ""))
        sys.stdout.flush()
    say("\nBochs has ended.")


def run():
    base = port_base()
    for distance, (_, what) in PORTS.items():
        check_port_free(base + distance, what)
    forward = [(proto, base + distance, guest) for distance, (guest, _) in PORTS.items()
               for proto in ("tcp", "udp") if guest != 80 or proto == "tcp"]
    image = product("nictest86.iso")
    if shutil.which("bochs") is None:
        raise MachineError("bochs is not installed: run `make deps`")
    display = None if os.environ.get("HEADLESS") else usable_display()
    say(f"Starting {os.path.relpath(image)} in Bochs, "
        + (f"window on {display}" if display else "without a window (no display; using Xvfb)"))
    with Bochs(cdrom=image, display=display, forward=forward) as box:
        ready = wait_ready(box)
        say(f"  ready after {time.monotonic() - box.started:.0f} s: {ready['ip']} "
            f"({ready['how']})")
        transfers(box, base)
        box.check_records()
        if os.environ.get("SCREENSHOT"):
            time.sleep(1)  # Bochs draws five times a second
            box.screenshot(os.environ["SCREENSHOT"])
            say(f"Screen saved to {os.environ['SCREENSHOT']}")
        say("\nTCP both ways and UDP: passed.  "
            "(Seconds on the left are real, on the right Bochs' own.)")
        if os.environ.get("RUN_ONCE", "0") in ("", "0"):
            try:
                stay(box, base)
            except Stopped:
                say("\nStopped.")


def stop_on_signal(number, _frame):
    for ignored in SIGNALS:
        signal.signal(ignored, signal.SIG_IGN)  # a second Ctrl-C must not cut the cleaning-up short
    raise Stopped(signal.Signals(number).name)


def main():
    for number in SIGNALS:
        signal.signal(number, stop_on_signal)
    try:
        run()
    except Stopped as reason:
        say(f"\nmake run: stopped by {reason}")
        return 130
    except MachineError as error:
        say(f"\nmake run failed: {error}")
        return 1
    except AssertionError as error:
        say(f"\nmake run failed: a record breaks its contract: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
