"""The web port through user-mode networking: pages, refusals, the stream of records, http=."""

import http.client
import select
import socket
import time

import pytest

import records
from cards import BOTH
from qemu import GUEST_IP, HOST_IP
from wire import send_tcp, ttcp_pattern

pytestmark = pytest.mark.cards(*BOTH)

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
HTTP, TTCP = 80, 5001
STREAMS = 4


@pytest.fixture
def box(boot):
    machine = boot(STATIC, mem=8, forward={"tcp": [HTTP, TTCP]})
    machine.wait_for("ready", 10)
    return machine


def ask(box, path, method="GET"):
    """Status, headers and body of one request."""
    browser = http.client.HTTPConnection("127.0.0.1", box.port("tcp", HTTP), timeout=10)
    try:
        browser.request(method, path)
        reply = browser.getresponse()
        return reply.status, reply.headers, reply.read().decode("ascii")
    finally:
        browser.close()


def measure(box, size=100_000):
    """A ttcp transfer; its `result` record."""
    since = box.mark()
    send_tcp(box.port("tcp", TTCP), ttcp_pattern(size))
    return box.wait_for("result", 10, since)


class Stream:
    """A reader of /events."""

    def __init__(self, box, buffer=None):
        self.socket = socket.socket()
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", box.port("tcp", HTTP)))
        self.socket.sendall(b"GET /events HTTP/1.1\r\nHost: box\r\n\r\n")
        self.text = ""
        self.ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def listen(self, seconds, until=lambda stream: False):
        """Read for `seconds`, or until something is true of the stream, or it ends."""
        end = time.monotonic() + seconds
        while not self.ended and not until(self):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                break
            part = self.socket.recv(65536)
            self.ended = part == b""
            self.text += part.decode("ascii")
        return self

    @property
    def body(self):
        return self.text.partition("\r\n\r\n")[2]

    def records(self, ev=None):
        whole = self.body.rpartition("\n\n")[0].split("\n\n")
        told = [records.parse("@" + part.removeprefix("data: ")) for part in whole
                if part.startswith("data: ")]
        return [record for record in told if ev in (None, record["ev"])]

    def comments(self):
        return self.body.split("\n\n").count(":")


def test_pages(box):
    status, headers, page = ask(box, "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=us-ascii"
    assert int(headers["Content-Length"]) == len(page)
    nic = box.all("nic")[-1]
    assert f"<B>{GUEST_IP}</B> (static)" in page and nic["mac"] in page and "none yet" in page
    assert ask(box, "/report.txt")[2] == "no results yet\n"

    measure(box)
    assert "<TR><TD>ttcp tcp in<TD" in ask(box, "/")[2]
    status, headers, report = ask(box, "/report.txt")
    assert status == 200 and headers["Content-Type"] == "text/plain; charset=us-ascii"
    assert "ttcp-r" in report
    _, shown = box.command("report")
    assert report.strip() in shown.replace("\r", "")

    assert ask(box, "/nothing")[0] == 404
    assert ask(box, "/", "HEAD")[0] == 501
    assert ask(box, "/", "POST")[0] == 501


def test_events(box):
    """What was missed comes first, then each record as it happens, then a comment every 3 s."""
    with Stream(box) as stream:
        stream.listen(5, lambda s: s.records("ready"))
        assert "Content-Type: text/event-stream\r\n" in stream.text
        told = [record["ev"] for record in stream.records()]
        assert told == ["boot", "nic", "ready"]
        assert stream.records() == [box.all(ev)[-1] for ev in told]
        result = measure(box)
        assert stream.listen(5, lambda s: s.records("result")).records("result") == [result]
        before = stream.comments()
        stream.listen(4)
        assert stream.comments() - before == 1 and not stream.ended


def test_four_streams(box):
    """A fifth is refused, the pages are not, and a closed one makes room."""
    streams = [Stream(box).listen(5, lambda s: s.records("ready")) for _ in range(STREAMS)]
    try:
        assert all(" 200 OK" in stream.text for stream in streams)
        assert ask(box, "/events")[0] == 503
        assert ask(box, "/")[0] == 200
        streams.pop().socket.close()
        time.sleep(0.5)
        streams.append(Stream(box).listen(5, lambda s: s.records("ready")))
        assert " 200 OK" in streams[-1].text
        result = measure(box)
        for stream in streams:
            assert stream.listen(5, lambda s: s.records("result")).records("result") == [result]
    finally:
        for stream in streams:
            stream.socket.close()


def test_slow_reader(box):
    """One who reads nothing costs the others nothing; what it gets later is whole."""
    with Stream(box, buffer=2048) as slow, Stream(box) as quick:
        for _ in range(60):
            send_tcp(box.port("tcp", TTCP), ttcp_pattern(2000))
        results = box.wait_count("result", 60, 20)
        quick.listen(10, lambda s: len(s.records("result")) == 60)
        assert quick.records("result") == results
        assert ask(box, "/")[0] == 200
        slow.listen(10, lambda s: results[-1] in s.records("result"))
        lost = sum(r["lost"] for r in slow.records("fault") if r["what"] == "record_lost")
        assert len(slow.records("result")) + lost >= 60 and not slow.ended


def test_set_http(box):
    with Stream(box) as stream:
        stream.listen(5, lambda s: s.records("ready"))
        assert box.command("set http=off")[0]["status"] == 0
        assert stream.listen(5).ended
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            ask(box, "/")
        assert measure(box)["end"] == "ok"
        assert box.command("set http=ro")[0]["status"] == 0
        assert ask(box, "/")[0] == 200
