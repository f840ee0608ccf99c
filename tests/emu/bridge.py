"""Real clients on the box's wire, and that wire in our hands: a network namespace whose one card
is joined to QEMU's `-netdev dgram`.  Frames may be lost, doubled and swapped on the way.

    with Bridge() as bridge:                       # missing() says what is not there
        box = boot(f"ip={bridge.BOX_IP}/24", dgram=bridge.sockets)
        bridge.to_host = lambda frame: []          # what is delivered instead of this frame
        Client(..., prefix=bridge.prefix)

Both rules are called in the bridge's one thread, with each frame in order.
"""

import ctypes
import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading

from machine import spawn, stop
from rawpeer import TCP, UDP, Packet
from station import open_tap

CLONE_NEWNET = 0x40000000


def missing():
    """In a word what a bridge lacks here; empty: nothing."""
    if os.geteuid() != 0:
        return "not root"
    if not os.path.exists("/dev/net/tun"):
        return "no /dev/net/tun"
    return "" if shutil.which("ip") else "iproute2 is not installed"


def _tap_in(namespace):
    """A tap card in that namespace, as a file.  A thread may live in a namespace of its own."""
    made = []

    def work():
        with open(namespace, "rb") as where:
            if ctypes.CDLL(None).setns(where.fileno(), CLONE_NEWNET) == 0:
                made.append(open_tap())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    if not made:
        raise OSError("no tap card in a network namespace")
    return made[0]


class Bridge:
    """One machine and one host of its own, whose namespace ends with the process that holds it."""

    IP, BOX_IP = "10.0.7.2", "10.0.7.15"

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="nictest86-bridge-")
        ours, its = (os.path.join(self.directory, name) for name in ("bridge", "box"))
        self.sockets = (ours, its)
        self.to_host = self.to_box = lambda frame: [frame]
        self.prefix = self._tap = None
        self._stop = False
        self._wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._wire.bind(ours)
        self._holder = spawn(["unshare", "--net", "cat"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        self._thread = threading.Thread(target=self._relay, daemon=True)

    def __enter__(self):
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        self._thread.start()
        return self

    def _set_up(self):
        self._holder.stdin.write(b"x")
        self._holder.stdin.flush()
        self._holder.stdout.read(1)     # cat runs, so it is in its namespace
        namespace = f"/proc/{self._holder.pid}/ns/net"
        self.prefix = ["nsenter", "--net=" + namespace]
        self._tap = _tap_in(namespace)
        for words in (["addr", "add", f"{self.IP}/24", "dev", "tap0"],
                      ["link", "set", "tap0", "up"], ["link", "set", "lo", "up"]):
            subprocess.run([*self.prefix, "ip", *words], check=True, timeout=10,
                           stdin=subprocess.DEVNULL)

    def __exit__(self, *_):
        self._stop = True
        if self._thread.is_alive():
            self._thread.join(5)
        if self._tap is not None:
            os.close(self._tap)
        stop(self._holder)
        self._holder.stdin.close()
        self._holder.stdout.close()
        self._wire.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _relay(self):
        while not self._stop:
            ready, _, _ = select.select([self._tap, self._wire], [], [], 0.1)
            if self._wire in ready:
                for frame in self.to_host(self._wire.recv(65536)):
                    os.write(self._tap, frame)
            if self._tap in ready:
                for frame in self.to_box(os.read(self._tap, 65536)):
                    try:
                        self._wire.sendto(frame, self.sockets[1])
                    except (FileNotFoundError, ConnectionRefusedError):
                        pass  # it is not switched on


class Losses:
    """A rule: every so many segments with data of the box are lost.  Counts what it repeats."""

    def __init__(self, every):
        self.every = every
        self.segments = self.lost = self.repeated = 0
        self.stopped = False    # no more is counted
        self.until = None       # called with (port, data) of each segment; true: stop
        self._highest = {}      # (box's port, peer's port): sequence number behind all so far

    def __call__(self, frame):
        packet = Packet(frame)
        if packet.proto != TCP or not packet.data:
            return [frame]
        if self.until is not None and self.until(packet.sport, packet.data):
            self.stopped = True
        where = (packet.sport, packet.dport)
        end = (packet.seq + len(packet.data)) & 0xffffffff
        ahead = (end - self._highest.setdefault(where, packet.seq)) & 0xffffffff
        again = (packet.seq - self._highest[where]) & 0x80000000 != 0
        if not self.stopped:
            self.repeated += again
        if ahead < 0x80000000:
            self._highest[where] = end
        if len(packet.data) < 1000:
            return [frame]
        self.segments += 1
        if self.segments % self.every == 0:
            self.lost += 1
            return []
        return [frame]


class Disorder:
    """A rule for numbered datagrams of one server port: of those longer than `least`, some are
    lost, some come twice, some after the next one.  From number `tail` on, all are lost."""

    def __init__(self, port, least=100, lost=17, twice=23, late=29, tail=None):
        self.port, self.least, self.tail = port, least, tail
        self.every = {"lost": lost, "twice": twice, "late": late}
        self.seen = self.lost = self.dup = self.ooo = 0
        self._held = None

    def __call__(self, frame):
        packet = Packet(frame)
        if packet.proto != UDP or self.port not in (packet.sport, packet.dport) \
                or len(packet.data) < self.least:
            return self._flush(frame)
        self.seen += 1
        if self.tail is not None and self.seen >= self.tail:
            return self._flush()
        if self._held is None and self.seen % self.every["late"] == 0:
            self._held = frame
            return []
        if self._held is not None:
            self.ooo += 1
            return [frame] + self._flush()
        if self.seen % self.every["lost"] == 0:
            self.lost += 1
            return []
        if self.seen % self.every["twice"] == 0:
            self.dup += 1
            return [frame, frame]
        return [frame]

    def _flush(self, *frames):
        held, self._held = self._held, None
        return ([held] if held is not None else []) + list(frames)
