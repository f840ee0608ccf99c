"""A peer on the box's wire made of raw Ethernet frames, over QEMU's `-netdev dgram`.

    with RawPeer() as peer:
        box = Qemu(append=f"ip={peer.BOX_IP}/24", dgram=peer.sockets)
        peer.find_box()
        peer.ping(b"payload")

Every frame from the box is checked on arrival: length, source address, all checksums, and that
what pads a short frame is zeros.  close() raises if one was wrong.

QEMU drops frames without a word when the card's ring is full: keep at most 8 full ones in flight.
"""

import os
import random
import shutil
import socket
import struct
import tempfile
import threading
import time

from qemu import MAC as BOX_MAC_TEXT

ETH_IP, ETH_ARP = 0x0800, 0x0806
ICMP, TCP, UDP = 1, 6, 17
BROADCAST = b"\xff" * 6
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
FRAME_MIN, FRAME_MAX = 60, 1514
MTU = 1500


def ip_bytes(text):
    return socket.inet_aton(text)


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    """Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


DHCP_COOKIE = b"\x63\x82\x53\x63"


def dhcp_options(message):
    """Options of a DHCP message: number -> value."""
    found, at = {}, 240
    while message[236:240] == DHCP_COOKIE and at < len(message) and message[at] != 255:
        if message[at] == 0:
            at += 1
            continue
        found[message[at]] = message[at + 2:at + 2 + message[at + 1]]
        at += 2 + message[at + 1]
    return found


class Packet:
    """A received frame taken apart.  Fields that do not apply are None."""

    def __init__(self, frame):
        self.frame = frame
        self.at = time.monotonic()
        self.dst, self.src = frame[0:6], frame[6:12]
        self.type = struct.unpack("!H", frame[12:14])[0]
        self.proto = self.ip_src = self.ip_dst = self.body = None
        self.sport = self.dport = self.data = self.op = None
        self.offset, self.more = 0, False
        if self.type == ETH_ARP:
            self._arp()
        elif self.type == ETH_IP:
            self._ip()
        else:
            self.end = len(frame)

    def _arp(self):
        self.op = struct.unpack("!H", self.frame[20:22])[0]
        self.arp_src_mac, self.ip_src = self.frame[22:28], self.frame[28:32]
        self.ip_dst = self.frame[38:42]
        self.end = 42

    def _ip(self):
        header = self.frame[14:34]
        (first, _, total, self.ident, fragment, self.ttl, self.proto, _) = struct.unpack(
            "!BBHHHBBH", header[:12])
        self.ip_src, self.ip_dst = header[12:16], header[16:20]
        self.header_length = (first & 15) * 4
        self.end = 14 + total
        self.offset, self.more = (fragment & 0x1fff) * 8, bool(fragment & 0x2000)
        self.body = self.frame[14 + self.header_length:self.end]
        if self.offset or self.more:
            return
        self._transport()

    def _transport(self):
        body = self.body
        if self.proto == ICMP and len(body) >= 8:
            self.icmp_type, self.icmp_code, _, self.icmp_id, self.icmp_seq = struct.unpack(
                "!BBHHH", body[:8])
            self.data = body[8:]
        elif self.proto == UDP and len(body) >= 8:
            self.sport, self.dport = struct.unpack("!HH", body[:4])
            self.data = body[8:]
        elif self.proto == TCP and len(body) >= 20:
            (self.sport, self.dport, self.seq, self.ack, offset, self.flags,
             self.window) = struct.unpack("!HHIIBBH", body[:16])
            self.data = body[offset >> 4 << 2:]

    def faults(self):
        """What is wrong with it, as texts."""
        frame, found = self.frame, []
        if not FRAME_MIN <= len(frame) <= FRAME_MAX:
            found.append(f"length {len(frame)}")
        if self.end > len(frame):
            found.append(f"says {self.end} bytes, has {len(frame)}")
        if any(frame[self.end:]):
            found.append(f"padding not zero: {frame[self.end:].hex()}")
        if self.type != ETH_IP:
            return found
        if checksum(frame[14:14 + self.header_length]) != 0:
            found.append("IP header checksum")
        if self.offset or self.more:
            return found
        pseudo = self.ip_src + self.ip_dst + struct.pack("!BBH", 0, self.proto, len(self.body))
        if self.proto == ICMP and checksum(self.body) != 0:
            found.append("ICMP checksum")
        if self.proto == TCP and checksum(pseudo + self.body) != 0:
            found.append("TCP checksum")
        if self.proto == UDP and self.body[6:8] != b"\0\0" and checksum(pseudo + self.body) != 0:
            found.append("UDP checksum")
        return found


class RawPeer:
    """One raw Ethernet neighbour."""

    IP, BOX_IP = "10.0.2.2", "10.0.2.15"
    MAC = "02:00:00:00:00:02"

    def __init__(self, ip=IP, box_ip=BOX_IP, mac=MAC, box_mac=BOX_MAC_TEXT):
        self.directory = tempfile.mkdtemp(prefix="nictest86-peer-")
        ours, its = (os.path.join(self.directory, name) for name in ("peer", "box"))
        self.sockets = (ours, its)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(ours)
        self._socket.settimeout(5)
        self.mac, self.ip = mac_bytes(mac), ip_bytes(ip)
        self.box_mac, self.box_ip = mac_bytes(box_mac), ip_bytes(box_ip)
        self.answer_arp = True
        self.answer_ping = True
        self.arp_for = {self.ip}     # addresses we claim
        self.hook = None             # called with each packet in the receiver thread
        self.fast = None             # called with each frame before all else; True: that was all
        self.packets = []
        self.faults = []
        self._changed = threading.Condition()
        self._idents = random.Random(1)
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close()
        if kind is None:
            self.check()

    def close(self):
        self._stop = True
        poke = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with poke:
            try:
                poke.sendto(b"", self.sockets[0])
            except OSError:
                pass
        self._thread.join(5)
        self._socket.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def check(self):
        assert not self.faults, "\n".join(self.faults)

    # ---- receiving ----

    def _run(self):
        while not self._stop:
            try:
                frame = self._socket.recv(65536)
            except socket.timeout:
                continue
            except OSError:
                return
            if not frame or (self.fast is not None and self.fast(frame)):
                continue
            if len(frame) < 14:
                self.faults.append(f"a frame of {len(frame)} bytes")
                continue
            packet = Packet(frame)
            wrong = packet.faults()
            if packet.src != self.box_mac:
                wrong.append(f"source address {packet.src.hex(':')}")
            if wrong:
                self.faults.append(f"{', '.join(wrong)}: {frame.hex()}")
            self._answer(packet)
            with self._changed:
                self.packets.append(packet)
                self._changed.notify_all()

    def _answer(self, packet):
        if packet.type == ETH_ARP and packet.op == 1 and self.answer_arp \
                and packet.ip_dst in self.arp_for:
            self.send(self.arp(2, packet.ip_dst, packet.ip_src, packet.src))
        elif packet.proto == ICMP and packet.data is not None and packet.icmp_type == 8 \
                and packet.ip_dst == self.ip and self.answer_ping:
            self.send_ip(ICMP, self.icmp(0, packet.icmp_id, packet.icmp_seq, packet.data))
        if self.hook is not None:
            self.hook(packet)

    def mark(self):
        with self._changed:
            return len(self.packets)

    def wait(self, test, timeout=5, since=0, what="frame"):
        """The first packet from `since` on that passes `test`."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                for packet in self.packets[since:]:
                    if test(packet):
                        return packet
                since = len(self.packets)
                left = deadline - time.monotonic()
                assert left > 0, f"no {what} within {timeout} s"
                self._changed.wait(left)

    def seen(self, test, since=0):
        with self._changed:
            return [packet for packet in self.packets[since:] if test(packet)]

    # ---- building ----

    def ethernet(self, kind, payload, dst=None, src=None):
        frame = (dst or self.box_mac) + (src or self.mac) + struct.pack("!H", kind) + payload
        return frame.ljust(FRAME_MIN, b"\0")

    def arp(self, op, our_ip, its_ip, dst_mac):
        body = struct.pack("!HHBBH", 1, ETH_IP, 6, 4, op) + self.mac + our_ip
        body += (dst_mac if op == 2 else b"\0" * 6) + its_ip
        return self.ethernet(ETH_ARP, body, dst=dst_mac)

    def ip_packet(self, proto, body, ident=None, fragment=0, src=None, dst=None, ttl=64,
                  total=None):
        if ident is None:
            ident = self._idents.randrange(1, 65536)
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, total or 20 + len(body), ident, fragment, ttl,
                           proto, 0, src or self.ip, dst or self.box_ip)
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body

    @staticmethod
    def icmp(kind, ident, seq, data):
        head = struct.pack("!BBHHH", kind, 0, 0, ident, seq)
        return head[:2] + struct.pack("!H", checksum(head + data)) + head[4:] + data

    def udp(self, sport, dport, data, src=None, dst=None):
        head = struct.pack("!HHHH", sport, dport, 8 + len(data), 0)
        pseudo = (src or self.ip) + (dst or self.box_ip) + struct.pack("!BBH", 0, UDP,
                                                                       8 + len(data))
        total = checksum(pseudo + head + data) or 0xffff
        return head[:6] + struct.pack("!H", total) + data

    def tcp(self, sport, dport, seq, ack, flags, data=b"", window=8192, options=b""):
        head = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xffffffff, ack & 0xffffffff,
                           (20 + len(options)) << 2, flags, window, 0, 0) + options
        pseudo = self.ip + self.box_ip + struct.pack("!BBH", 0, TCP, len(head) + len(data))
        total = checksum(pseudo + head + data)
        return head[:16] + struct.pack("!H", total) + head[18:] + data

    # ---- sending ----

    def send(self, frame):
        """One frame, as it is.  A full socket queue makes us wait, no frame is lost on the way."""
        self._socket.sendto(frame, self.sockets[1])

    def send_ip(self, proto, body, **options):
        """An IP packet, in fragments if it is too large for one frame."""
        room = (MTU - 20) // 8 * 8
        if len(body) <= MTU - 20:
            self.send(self.ethernet(ETH_IP, self.ip_packet(proto, body, **options)))
            return
        ident = options.pop("ident", None) or self._idents.randrange(1, 65536)
        for at in range(0, len(body), room):
            more = 0x2000 if at + room < len(body) else 0
            self.send(self.ethernet(ETH_IP, self.ip_packet(
                proto, body[at:at + room], ident=ident, fragment=more | at // 8, **options)))

    def send_udp(self, sport, dport, data):
        self.send_ip(UDP, self.udp(sport, dport, data))

    # ---- a DHCP server (RFC 2131), as small as it can be ----

    def serve_dhcp(self, lease_seconds=3600):
        """From now on give BOX_IP to whoever asks."""
        answers = {1: 2, 3: 5}  # DISCOVER: OFFER; REQUEST: ACK

        def answer(packet):
            if packet.proto != UDP or packet.dport != 67 or packet.data is None:
                return
            kind = answers.get(dhcp_options(packet.data).get(53, b"\0")[0])
            if kind is None:
                return
            options = {53: bytes([kind]), 54: self.ip, 51: struct.pack("!I", lease_seconds),
                       1: b"\xff\xff\xff\0", 3: self.ip}
            body = (b"\x02" + packet.data[1:16] + self.box_ip + self.ip + packet.data[24:236]
                    + DHCP_COOKIE + b"".join(bytes([key, len(value)]) + value
                                             for key, value in options.items()) + b"\xff")
            self.send(self.ethernet(ETH_IP, self.ip_packet(
                UDP, self.udp(67, 68, body, dst=b"\xff" * 4), dst=b"\xff" * 4), dst=BROADCAST))
        self.hook = answer

    # ---- conversations ----

    def find_box(self, timeout=5, attempts=20):
        """Ask who has BOX_IP until the box answers: from then on it knows us, too."""
        for _ in range(attempts):
            since = self.mark()
            self.send(self.arp(1, self.ip, self.box_ip, BROADCAST))
            try:
                return self.wait(lambda p: p.type == ETH_ARP and p.op == 2
                                 and p.ip_src == self.box_ip, timeout / attempts, since)
            except AssertionError:
                continue
        raise AssertionError(f"no ARP answer within {timeout} s")

    def reassemble(self, test, timeout=5, since=0, what="datagram"):
        """The body of the first IP datagram, whole or in fragments, whose body passes `test`."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                parts = {}
                for packet in self.packets[since:]:
                    if packet.type == ETH_IP:
                        parts.setdefault((packet.ip_src, packet.ident, packet.proto), []).append(
                            packet)
                for pieces in parts.values():
                    body = _join(pieces)
                    if body is not None and test(pieces[0].proto, body):
                        return body
                left = deadline - time.monotonic()
                assert left > 0, f"no {what} within {timeout} s"
                self._changed.wait(left)

    def ping(self, data, seq=1, ident=0x4e54, timeout=5):
        """Echo `data`; the data that came back."""
        since = self.mark()
        self.send_ip(ICMP, self.icmp(8, ident, seq, data))
        if len(data) + 28 <= MTU:
            packet = self.wait(lambda p: p.proto == ICMP and p.data is not None
                               and p.icmp_type == 0 and p.icmp_seq == seq, timeout, since,
                               f"echo of {len(data)} bytes")
            return packet.data
        body = self.reassemble(
            lambda proto, body: proto == ICMP and body[0] == 0
            and struct.unpack("!H", body[6:8])[0] == seq, timeout, since,
            f"echo of {len(data)} bytes")
        assert checksum(body) == 0
        return body[8:]


def _join(pieces):
    """The body of a datagram if all its fragments are there."""
    body, last = b"", False
    for piece in sorted(pieces, key=lambda p: p.offset):
        if piece.offset != len(body):
            return None
        body += piece.body
        last = not piece.more
    return body if last else None
