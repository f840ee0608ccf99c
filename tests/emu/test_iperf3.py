"""The box as an iperf3 server: Debian's client with every option, and clients that misbehave."""

import json
import os
import signal
import socket
import struct
import subprocess
import time

import pytest

import iperf3
from cards import BOTH
from iperf3 import check, shape
from machine import free_port, spawn, stop
from qemu import GUEST_IP, HOST_IP
from wire import send_tcp

pytestmark = pytest.mark.cards(*BOTH)

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
PORTS = {"tcp+udp": [5201], "tcp": [5001]}
COOKIE = b"abcdefghijklmnopqrstuvwxyz234567abcd\0"
PARAM_EXCHANGE, CREATE_STREAMS, DENIED, ERROR = b"\x09", b"\x0a", b"\xff", b"\xfe"
RECV_PARAMS, NUM_STREAMS, UNIMPLEMENTED = 114, 6, 13
SMALL = ["-l", "1000"]  # datagrams that need no fragments

# One word each, so that the names of the tests tell what is run.
SHORT = ["", "-R", "--bidir", "-P 8", "-P 8 -R", "-n 1M", "-k 20 -l 8K", "-R -n 1M", "-O 1",
         "-R -O 1", "-b 4M -P 2", "-R -b 4M", "-R -N -l 1000", "-u -b 2M", "-u -R -b 2M -P 3",
         "-u --bidir", "-u -O 1", "-u -R --udp-counters-64bit", "--get-server-output -i 0.5",
         "-4 -M 700 -w 16K -Z", "-R -M 700 -w 16K"]
LONG = [f"{proto} {way} {more}".strip() for proto in ("", "-u -l 1000")
        for way in ("", "-R", "--bidir")
        for more in ("-P 1", "-P 3 -O 1", "-P 8", "-b 3M", "-b 2M/5 -P 2", "-i 0.2", "-n 400K",
                     "-k 200", "-w 16K", "-S 16", "-Z", "-N", "-4", "-M 600", "-l 300", "-l 1460",
                     "--get-server-output")]


def words_of(text):
    words = text.split()
    if "-u" in words and "-l" not in words:
        words += SMALL
    if not {"-t", "-n", "-k"} & set(words):
        words += ["-t", "1"]
    return words


@pytest.fixture
def box(boot):
    machine = boot(STATIC, forward=PORTS, mem=8)
    machine.wait_for("ready", 10)
    return machine


def client(box, *words, **options):
    """One that has just been started."""
    return iperf3.Client(box.port("tcp", 5201), words, **options)


def run(box, *words):
    return iperf3.run(box.port("tcp", 5201), *words)


# ---- with Debian's client ----

@pytest.mark.parametrize("text", SHORT)
def test_option(box, text):
    since = box.mark()
    report = run(box, *words_of(text))
    records = check(box, report, since)
    if "-O" in text.split():
        assert all(r["us"] < 1.5e6 for r in records.values()), "omitted seconds do not count"
    if "-b" in text.split() or "-u" in text.split():
        assert all(kept_its_rate(r, report) for r in records.values()), records
    if "--get-server-output" in text:
        assert "iperf3-r: " in report["server_output_text"]
    run(box, "-n", "10K")  # it is free again


def kept_its_rate(record, report):
    """Bound by pacing; or a busy host has held one of the two up, and it was not reached."""
    setup = report["start"]["test_start"]
    asked = setup["target_bitrate"] * setup["num_streams"] / 1e6
    return record["bound"] == "pacing" or float(record["mbit_s"]) < 0.95 * asked


@pytest.mark.long
@pytest.mark.parametrize("text", LONG)
def test_every_option(box, text):
    since = box.mark()
    check(box, run(box, *words_of(text)), since)


@pytest.mark.long
@pytest.mark.parametrize("text", ["", "-R", "-P 4", "-P 4 -R", "--bidir", "-u -b 4M",
                                  "-u -b 4M -R"])
def test_rates_agree_over_five_seconds(box, text):
    """What the box counted against what the client has seen go by.  Each has its clock, and the
    host is never quiet: the best of three."""
    worst = []
    for _ in range(3):
        since = box.mark()
        report = run(box, *words_of(text), "-t", "5")
        worst.append(max(difference(record, report, "--bidir" in text)
                         for record in check(box, report, since).values()))
        if worst[-1] < 0.02:
            return
    pytest.fail(f"rates of both ends differ by {worst}")


def difference(record, report, bidir):
    """Of the two rates, as a part of one."""
    key = "sum_bidir_reverse" if record["dir"] == "tx" and bidir else "sum"
    if record["dir"] == "rx" and record["proto"] == "tcp":
        # Of this it knows but what went into its own send buffer; what it prints is from us.
        theirs = report["end"]["sum_received"]["bits_per_second"]
    else:
        sums = [interval[key] for interval in report["intervals"]]
        theirs = sum(one["bytes"] for one in sums) * 8 / sum(one["seconds"] for one in sums)
    return abs(float(record["mbit_s"]) * 1e6 / theirs - 1)


@pytest.mark.long
@pytest.mark.parametrize("way", ["", "-R"])
def test_eight_streams_share_the_wire(box, way):
    """Each within 20 % of the mean, together at least 95 % of one; the host is never quiet, so
    the best of three."""
    best = 0
    for _ in range(3):
        one = run(box, "-t", "5", *way.split())["end"]["sum_received"]["bits_per_second"]
        end = run(box, "-t", "5", "-P", "8", *way.split())["end"]
        rates = [s["receiver"]["bits_per_second"] for s in end["streams"]]
        mean = sum(rates) / len(rates)
        assert all(abs(rate / mean - 1) < 0.2 for rate in rates), rates
        best = max(best, end["sum_received"]["bits_per_second"] / one)
        if best >= 0.95:
            return
    pytest.fail(f"eight streams reach {best:.0%} of one")


@pytest.mark.parametrize("text", ["-P 8", "-P 8 -R", "-P 8 --bidir", "-u -P 8 -R"])
def test_eight_streams_in_4_mb(boot, text):
    machine = boot(STATIC, forward=PORTS, mem=4)
    machine.wait_for("ready", 10)
    since = machine.mark()
    records = check(machine, run(machine, *words_of(text)), since)
    assert all(r["streams"] == 8 for r in records.values())
    assert machine.all("panic") == []


@pytest.mark.parametrize("text", ["-V", "-V -R", "--bidir -P 2", "-u -V", "-u -R", "-u --bidir"])
def test_report_looks_like_that_of_their_own_server(box, text):
    port = free_port(socket.SOCK_STREAM, socket.SOCK_DGRAM)
    server = spawn(["iperf3", "-s", "-1", "-p", str(port)], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        words = words_of(text)
        time.sleep(0.5)
        theirs = subprocess.run(["iperf3", "-c", "127.0.0.1", "-p", str(port), *words],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=30, check=True)
    finally:
        stop(server)
    status, ours = client(box, *words, text=True).finish()
    assert status == 0
    assert columns(ours) == columns(theirs.stdout)


def columns(text):
    """The lines that matter, each once: how many there are of the last, shorter interval, is
    chance, and so are names of congestion algorithms and the times of day."""
    return {line for line in shape(text) if "tcp_congestion" not in line
            and not line.startswith(("Time:", "Cookie:", "Starting", "Linux", "TCP MSS:"))}


def test_ttcp_meanwhile(box):
    """Two protocols at once: neither loses a byte of the other's."""
    since = box.mark()
    meanwhile = client(box, "-t", "2", "-R")
    time.sleep(0.5)
    send_tcp(box.port("tcp", 5001), b"t" * 500_000)
    status, report = meanwhile.finish()
    assert status == 0
    check(box, report, since)
    assert box.wait_for("result", 5, since, test="ttcp")["bytes"] == 500_000


# ---- who does not behave ----

def test_second_client_is_told_that_it_is_busy(box):
    since = box.mark()
    first = client(box, "-t", "3")
    time.sleep(1)
    status, text = client(box, "-t", "1", text=True).finish(10)
    assert status == 1 and "the server is busy running a test. try again later" in text
    status, report = first.finish()
    assert status == 0
    check(box, report, since)


@pytest.mark.parametrize("number,end", [(signal.SIGKILL, "reset"), (signal.SIGINT, "abort")])
@pytest.mark.parametrize("proto", ["", "-u -l 1000"])
def test_killed_client_frees_the_server(box, proto, number, end):
    since = box.mark()
    for way in ([], ["-R"]):
        victim = client(box, "-t", "30", *proto.split(), *way)
        time.sleep(1.2)
        os.kill(victim.process.pid, number)
        victim.process.communicate(timeout=10)
        killed = time.monotonic()
        while client(box, "-n", "1K").finish(30)[0] != 0:
            assert time.monotonic() - killed < 10
            time.sleep(0.3)
    ends = [r["end"] for r in box.all("result", since, test="iperf3")]
    assert ends == [end, "ok", end, "ok"]


def test_too_many_streams_are_refused(box):
    status, text = client(box, "-P", "9", text=True).finish(10)
    assert status == 1 and "number of parallel streams too large" in text
    run(box, "-n", "10K")


# ---- hand-made clients ----

class Raw:
    """A control connection made by hand."""

    def __init__(self, box, hello=COOKIE):
        self.socket = socket.create_connection(("127.0.0.1", box.port("tcp", 5201)), 10)
        self.socket.settimeout(15)
        self.socket.sendall(hello)

    def say(self, data):
        self.socket.sendall(data)

    def document(self, text, length=None):
        data = text if isinstance(text, bytes) else json.dumps(text).encode()
        self.say(struct.pack("!I", len(data) if length is None else length) + data)

    def hear(self, count=1):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                break
            data += part
        return data

    def error(self):
        """The number in a SERVER_ERROR, and nothing behind it."""
        assert self.hear() == ERROR
        number, errno = struct.unpack("!ii", self.hear(8))
        assert errno == 0 and self.hear() == b""
        return number

    def close(self):
        self.socket.close()


HOSTILE = {
    "no length": struct.pack("!I", 0),
    "absurd length": b"\xff\xff\xff\xff" + b"{" * 4000,
    "just too long": struct.pack("!I", 8193) + b" " * 8193,
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + b"a" * 40,
    "no object": struct.pack("!I", 4) + b"[[]]",
    "cut off inside": struct.pack("!I", 20) + b'{"tcp":true,"paralle',
    "deep": struct.pack("!I", 2000) + b"[" * 2000,
    "zeros": struct.pack("!I", 100) + bytes(100),
    "wrong kind": struct.pack("!I", 27) + b'{"tcp":true,"parallel":"1"}',
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_parameters_are_refused(box, what):
    raw = Raw(box)
    assert raw.hear() == PARAM_EXCHANGE
    raw.say(HOSTILE[what])
    assert raw.error() == RECV_PARAMS
    raw.close()
    run(box, "-n", "10K")


def test_truncated_parameters_hold_the_server_but_seconds(box):
    for ending in ("stall", "close"):
        raw = Raw(box)
        assert raw.hear() == PARAM_EXCHANGE
        raw.document(b'{"tcp":true', length=100)
        began = time.monotonic()
        if ending == "stall":
            assert raw.hear() == b"" and time.monotonic() - began < 10
        raw.close()
        time.sleep(0.3)
        run(box, "-n", "10K")


@pytest.mark.parametrize("asked,error", [
    ({"sctp": True, "parallel": 1}, UNIMPLEMENTED),
    ({"tcp": True, "parallel": 128}, NUM_STREAMS),
    ({"udp": True, "len": 8}, 20),
])
def test_what_cannot_be_done_is_refused(box, asked, error):
    raw = Raw(box)
    assert raw.hear() == PARAM_EXCHANGE
    raw.document(asked)
    assert raw.error() == error


def test_piecemeal_client(box):
    """Every byte of the dialogue in a segment of its own."""
    raw = Raw(box, hello=b"")
    raw.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = Raw(box, hello=b"")
    stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.close()  # told that it is busy; this one comes too early

    def trickle(where, data):
        for i in range(len(data)):
            where.say(data[i:i + 1])
            time.sleep(0.002)

    trickle(raw, COOKIE)
    assert raw.hear() == PARAM_EXCHANGE
    text = b'{"tcp":true,"time":1,"parallel":1}'
    trickle(raw, struct.pack("!I", len(text)) + text)
    assert raw.hear() == CREATE_STREAMS
    stream = Raw(box, hello=b"")
    trickle(stream, COOKIE)
    assert raw.hear(2) == b"\x01\x02"
    stream.say(b"x" * 12345)
    time.sleep(0.5)
    raw.say(b"\x04")
    assert raw.hear() == b"\x0d"
    trickle(raw, struct.pack("!I", 2) + b"{}")
    length, = struct.unpack("!I", raw.hear(4))
    answer = json.loads(raw.hear(length))
    assert raw.hear() == b"\x0e"
    raw.say(b"\x10")
    assert answer["streams"][0]["bytes"] == 12345
    assert box.wait_for("result", 5, test="iperf3")["bytes"] == 12345


def test_stranger_among_the_streams(box):
    """Somebody connects while streams are awaited: without the cookie he is none of them."""
    raw = Raw(box)
    assert raw.hear() == PARAM_EXCHANGE
    raw.document({"tcp": True, "time": 1, "parallel": 2})
    assert raw.hear() == CREATE_STREAMS
    first = Raw(box)
    stranger = Raw(box, hello=b"z" + COOKIE[1:])
    assert stranger.hear() == DENIED
    second = Raw(box)
    assert raw.hear(2) == b"\x01\x02"
    first.say(b"1" * 1000)
    second.say(b"2" * 2000)
    time.sleep(0.5)
    raw.say(b"\x04")
    assert raw.hear() == b"\x0d"
    raw.document({})
    length, = struct.unpack("!I", raw.hear(4))
    streams = json.loads(raw.hear(length))["streams"]
    assert [(s["id"], s["bytes"]) for s in streams] == [(1, 1000), (3, 2000)]
