"""A wire with several machines on it: what one sends, all others and we get.

    with Hub(2) as hub:
        boxes = [boot(..., dgram=sockets) for sockets in hub.sockets]
        hub.send(frame)
        hub.wait(lambda frame: ...)

Frames are bytes; the station with IP and MAC answers ARP requests for itself.
"""

import os
import select
import shutil
import socket
import tempfile
import threading
import time

from rawpeer import ETH_ARP, ip_bytes, mac_bytes


class Hub:
    """`ports` machines, and one station of ours."""

    IP, MAC = "10.0.9.77", "02:00:00:00:00:77"

    def __init__(self, ports):
        self.directory = tempfile.mkdtemp(prefix="nictest86-hub-")
        self.sockets = []
        self._ends = []
        for port in range(ports):
            ours, its = (os.path.join(self.directory, f"{end}{port}") for end in ("hub", "box"))
            end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            end.bind(ours)
            self._ends.append((end, its))
            self.sockets.append((ours, its))
        self.ip, self.mac = ip_bytes(self.IP), mac_bytes(self.MAC)
        self.frames = []             # all that the machines have sent: (port, frame)
        self._changed = threading.Condition()
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop = True
        self._thread.join(5)
        for end, _ in self._ends:
            end.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _run(self):
        by_socket = {end: port for port, (end, _) in enumerate(self._ends)}
        while not self._stop:
            ready, _, _ = select.select(list(by_socket), [], [], 0.1)
            for end in ready:
                port, frame = by_socket[end], end.recv(65536)
                self._relay(frame, port)
                self._answer_arp(frame)
                with self._changed:
                    self.frames.append((port, frame))
                    self._changed.notify_all()

    def _relay(self, frame, port=None):
        for other, (end, its) in enumerate(self._ends):
            if other == port:
                continue
            try:
                end.sendto(frame, its)
            except (FileNotFoundError, ConnectionRefusedError):
                pass  # that machine is not switched on

    def _answer_arp(self, frame):
        if frame[12:14] == ETH_ARP.to_bytes(2, "big") and frame[20:22] == b"\0\1" \
                and frame[38:42] == self.ip:
            self.send(frame[6:12] + self.mac + frame[12:20] + b"\0\2" + self.mac + self.ip
                      + frame[22:32] + bytes(18))

    def send(self, frame):
        """From our station to everybody (the destination is in the frame)."""
        self._relay(frame)

    def mark(self):
        with self._changed:
            return len(self.frames)

    def collect(self, seconds, since):
        """All that comes within `seconds`, from `since` on."""
        time.sleep(seconds)
        with self._changed:
            return self.frames[since:]
