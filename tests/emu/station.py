"""A Linux station of its own on a hub's wire: network namespace, tap, and a real mDNS resolver.

    with Hub(2) as hub, Station(hub.sockets[1], "10.0.9.3") as station:
        station.run(["getent", "hosts", "nictest86.local"])

Needs root and avahi: missing() says what is not there.  The namespaces have no names, so nothing is
left of them when the process inside ends; this file is that process's program, too.
"""

import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

AVAHI, NSS = "/usr/sbin/avahi-daemon", "libnss_mdns4_minimal.so.2"
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
NSSWITCH = "passwd: files\nhosts: files mdns4_minimal [NOTFOUND=return]\n"
CONFIG = """[server]
host-name={name}
use-ipv4=yes
use-ipv6=no
allow-interfaces=tap0
enable-dbus=no
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
publish-hinfo=no
"""


def missing():
    """In a word what a station lacks here; empty: nothing."""
    if os.geteuid() != 0:
        return "not root"
    if not os.path.exists("/dev/net/tun"):
        return "no /dev/net/tun"
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    if not os.path.exists(AVAHI):
        return "avahi-daemon is not installed"
    try:
        ctypes.CDLL(NSS)
    except OSError:
        return "libnss-mdns is not installed"
    return ""


class Station:
    """The station; `name` is what its own resolver claims for it."""

    def __init__(self, sockets, ip, name="linux"):
        self.directory = tempfile.mkdtemp(prefix="nictest86-station-")
        self._process = subprocess.Popen(
            ["unshare", "--net", "--mount", sys.executable, __file__, *sockets, ip, name,
             self.directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        self._answer()  # it is up

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        try:
            self._process.wait(10)
        finally:
            self._process.kill()
            self._process.stdout.close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def _answer(self, timeout=20):
        ready, _, _ = select.select([self._process.stdout], [], [], timeout)
        line = self._process.stdout.readline() if ready else ""
        assert line, f"the station says nothing within {timeout} s, or has ended"
        return json.loads(line)

    def run(self, words, timeout=30):
        """A program there; (status, all it said)."""
        self._process.stdin.write(json.dumps([words, timeout]) + "\n")
        self._process.stdin.flush()
        return tuple(self._answer(timeout + 10))


# ---- inside ----

def open_tap():
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP | IFF_NO_PI))
    return tap


def relay(tap, wire, hub):
    while True:
        for source in select.select([tap, wire], [], [])[0]:
            if source == tap:
                wire.sendto(os.read(tap, 65536), hub)
            else:
                os.write(tap, wire.recv(65536))


def settle(ip, name, directory):
    """Address, names by mDNS, and the daemon that asks for them."""
    for words in (["ip", "link", "set", "lo", "up"], ["ip", "link", "set", "tap0", "up"],
                  ["ip", "address", "add", f"{ip}/24", "broadcast", "+", "dev", "tap0"],
                  ["ip", "route", "add", "224.0.0.0/4", "dev", "tap0"]):
        subprocess.run(words, check=True)
    for file, text in (("nsswitch", NSSWITCH), ("avahi", CONFIG.format(name=name))):
        with open(os.path.join(directory, file), "w", encoding="ascii") as out:
            out.write(text)
    os.makedirs("/run/avahi-daemon", exist_ok=True)
    for words in (["tmpfs", "/run/avahi-daemon", "-t", "tmpfs"],
                  [os.path.join(directory, "nsswitch"), "/etc/nsswitch.conf", "--bind"]):
        subprocess.run(["mount", *words], check=True)
    avahi = subprocess.Popen([AVAHI, "--no-drop-root", "--no-chroot", "--no-rlimits", "-f",
                              os.path.join(directory, "avahi")], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in avahi.stdout:
        if "startup complete" in line:  # the name is its own
            return avahi
    raise RuntimeError("avahi-daemon has ended")


def obey(line):
    words, timeout = json.loads(line)
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return -signal.SIGALRM, f"not done within {timeout} s: {late.stdout}"


def inside(hub, its, ip, name, directory):
    tap = open_tap()
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    wire.bind(its)
    threading.Thread(target=relay, args=(tap, wire, hub), daemon=True).start()
    avahi = settle(ip, name, directory)
    try:
        print("[]", flush=True)
        for line in sys.stdin:
            print(json.dumps(obey(line)), flush=True)
    finally:
        avahi.kill()
        avahi.wait()


if __name__ == "__main__":
    inside(*sys.argv[1:])
