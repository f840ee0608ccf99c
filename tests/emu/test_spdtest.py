"""mTCP's SPDTEST as the peer of the raw ports: no header, small windows, and an end that is a close
(NEEDS 3.7).  `-target HOST 7001 -send -mb N` pushes and closes; `-target HOST 7002 -receive` counts
until the other end has closed."""

import socket
import struct
import time

import pytest

from cards import BOTH
from qemu import GUEST_IP, HOST_IP
from wire import ttcp_pattern

pytestmark = pytest.mark.cards(*BOTH)

SINK, SOURCE = 7001, 7002
MB = 1 << 20
WINDOW = 4096  # of a DOS machine


@pytest.fixture
def box(boot):
    machine = boot(f"ip={GUEST_IP}/24,{HOST_IP}", mem=8, forward={"tcp": [SINK, SOURCE]})
    machine.wait_for("ready", 10)
    return machine


def dial(box, port):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WINDOW)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", box.port("tcp", port)))
    return connection


def test_send(box):
    """In its writes of 8 KB, and gone without waiting for our FIN."""
    with dial(box, SINK) as connection:
        for _ in range(128):
            connection.sendall(bytes(8192))
    result = box.wait_for("result", 20)
    assert (result["test"], result["bytes"], result["end"]) == ("sink", MB, "ok")


def test_receive(box):
    """By its reads of a segment, and slow at first; every byte is the pattern's."""
    heard = bytearray()
    with dial(box, SOURCE) as connection:
        while part := connection.recv(1460):
            if len(heard) < 40_000:
                time.sleep(0.01)
            heard += part
    assert heard == ttcp_pattern(8192) * 2048
    result = box.wait_for("result", 20)
    assert (result["test"], result["bytes"], result["end"]) == ("source", 16 * MB, "ok")


def test_switched_off(box):
    """Reset in the middle, either way: told as that, and the next one is served."""
    for port, name in ((SINK, "sink"), (SOURCE, "source")):
        since = box.mark()
        connection = dial(box, port)
        if port == SINK:
            connection.sendall(bytes(20_000))
        else:
            assert connection.recv(1000)
        time.sleep(0.3)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        result = box.wait_for("result", 20, since)
        assert (result["test"], result["end"]) == (name, "reset")
    since = box.mark()
    with dial(box, SINK) as connection:
        connection.sendall(b"again")
    result = box.wait_for("result", 20, since)
    assert (result["bytes"], result["end"]) == (5, "ok")
