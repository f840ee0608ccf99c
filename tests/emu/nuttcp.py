"""The host's nuttcp client, and what must agree between its report and the box's records."""

import random
import re
import socket
import subprocess

from machine import spawn

BRIEF = re.compile(r"(?P<mb>[\d.]+) MB / +(?P<seconds>[\d.]+) sec = +(?P<mbps>[\d.]+) Mbps "
                   r"(?P<tx>\d+) %TX (?P<rx>\d+) %RX"
                   r"(?: (?P<drop>-?\d+) / (?P<pkt>\d+) drop/pkt (?P<loss>[\d.]+) %loss)?"
                   r"(?: (?P<retrans>\d+) retrans)?(?: (?P<rtt>[\d.]+) msRTT)?")


def free_ports(number):
    """The first of so many loopback ports in a row that nobody uses, TCP and UDP."""
    while True:
        first = random.randrange(10000, 30000)  # below those that the host gives to clients
        if all(_is_free(first + i, kind) for i in range(number)
               for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
            return first


def _is_free(port, kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Client:
    """nuttcp towards a control port, of loopback if no host is given, data at `data`; starts at
    once, by the command `prefix`."""

    def __init__(self, control, data, *words, host="127.0.0.1", prefix=()):
        self.argv = [*prefix, "nuttcp", "-P", str(control), "-p", str(data), *words, host]
        self.process = spawn(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, universal_newlines=True)

    def finish(self, timeout=60):
        """(status, what it printed)."""
        try:
            out, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, _ = self.process.communicate()
            raise AssertionError(f"{self.argv} hangs:\n{out}") from None
        return self.process.returncode, out


def summary(text):
    """The figures of the brief report's last line."""
    found = [match for match in map(BRIEF.search, text.splitlines()) if match]
    assert found, text
    return {key: None if value is None else float(value)
            for key, value in found[-1].groupdict().items()}


def check(box, text, since):
    """The record of that session agrees with what the client says."""
    record = box.wait_for("result", 10, since=since, test="nuttcp")
    assert len(box.all("result", since, test="nuttcp")) == 1
    ends = summary(text)
    assert record["end"] == "ok"
    lost = 0 if not ends["drop"] else ends["drop"]
    if record["dir"] == "rx" or not lost:
        assert abs(record["bytes"] / 1048576 - ends["mb"]) <= 0.00005001
    busy = ends["rx" if record["dir"] == "rx" else "tx"]
    assert abs(busy - float(record["cpu_pct"])) <= 0.51
    if record["dir"] == "rx":
        assert abs(float(record["mbit_s"]) - ends["mbps"]) <= 0.002 + 0.0001 * ends["mbps"]
    if record["proto"] == "tcp" and record["dir"] == "tx" and record["streams"] == 1:
        assert record["retrans"] == ends["retrans"]
    return record, ends


def shape(text):
    """A report without its figures; equal lines in a row, as of intervals, are one."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"(\d+\.){3}\d+", "HOST", re.sub(r"v\d+\.\d+\.\d+", "VERSION", line))
        line = re.sub(r"-?\d+(\.\d+)?", "0", line)
        line = re.sub(r"\s+", " ", line).strip()
        if not lines or lines[-1] != line:
            lines.append(line)
    return lines
