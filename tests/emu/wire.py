"""Small host-side clients for the tests: plain sockets that speak classic ttcp, byte by byte."""

import os
import socket
import subprocess
import threading
import time

from machine import OUT

# The classic pattern: printable characters over and over, from the start in each buffer.
PRINTABLE = bytes(range(0x20, 0x7f))
SENTINEL = b" !\"#"


def ttcp_pattern(length):
    """One buffer of `length` bytes."""
    return (PRINTABLE * (length // len(PRINTABLE) + 1))[:length]


def host_ttcp():
    """Path of the host's ttcp (make builds it)."""
    return os.path.join(OUT, "host", "ttcp")


def run(words, timeout=60):
    """A host program; (status, stdout, stderr)."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr


def send_tcp(port, data, timeout=60, source_port=0):
    """Everything to a port of ours, FIN, and wait for the other side's; our (address, port)."""
    with socket.create_connection(("127.0.0.1", port), timeout,
                                  source_address=("127.0.0.1", source_port)) as connection:
        connection.settimeout(timeout)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b"", "a ttcp sink sends nothing"
        return connection.getsockname()


class Sink(threading.Thread):
    """Accepts one TCP connection and keeps all it says.  The port is a free one."""

    def __init__(self, timeout=60, read_delay=0):
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(timeout)
        self._delay = read_delay
        self.port = self._listener.getsockname()[1]
        self.data = bytearray()
        self.error = None
        self.start()

    def run(self):
        try:
            with self._listener:
                connection, _ = self._listener.accept()
            with connection:
                connection.settimeout(60)
                time.sleep(self._delay)
                while True:
                    part = connection.recv(65536)
                    if not part:
                        return
                    self.data += part
        except OSError as error:
            self.error = error

    def result(self, timeout=60):
        self.join(timeout)
        assert not self.is_alive(), "the box did not finish"
        assert self.error is None, self.error
        return bytes(self.data)


class UdpSink(threading.Thread):
    """Collects datagrams until none has come for `quiet` seconds after the first."""

    def __init__(self, quiet=1.0, timeout=30):
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(timeout)
        self._quiet = quiet
        self.port = self._socket.getsockname()[1]
        self.datagrams = []
        self.start()

    def run(self):
        with self._socket:
            try:
                while True:
                    self.datagrams.append(self._socket.recv(65536))
                    self._socket.settimeout(self._quiet)
            except OSError:
                pass

    def result(self, timeout=60):
        self.join(timeout)
        assert not self.is_alive()
        return self.datagrams
