"""What iperf 2.1.8's client prints of a test with the box, beside what it prints of one with its
own server: the same lines, and no column is missing."""

import re
import shutil

import pytest

from cards import BOTH
from machine import free_port
from test_iperf2 import box, run, server  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.cards(*BOTH),
              pytest.mark.skipif(shutil.which("iperf") is None, reason="iperf is not installed")]


def shape(text):
    """Its lines without figures and units, each once: streams come in any order."""
    lines = set()
    for line in re.sub(r"-+\nServer listening(.*\n){3}", "", text).splitlines():  # its own
        line = re.sub(r"[\d.]+K/\d+\(\d+\) us", "CWND", line)  # -e: it has no K below 1024 bytes
        line = re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "0", line)
        line = re.sub(r"\b[KMGT]?(Bytes?\b|bits/sec)", r"\1", line)
        lines.add(re.sub(r"\s+", " ", line).strip())
    return lines


# Its own UDP server mixes the first datagrams of parallel clients up, and then says so.
MIXED_UP = "[ 0] 00 sec 0 datagrams received out-of-order"


@pytest.mark.parametrize("words", [
    "-n 64K", "-n 64K -r", "-n 64K -R", "-n 64K -d", "-n 64K -P 2", "-t 1.2 -i 0.5", "-n 64K -e",
    "-u -n 100K", "-u -n 100K -r", "-u -n 100K -R", "-u -n 100K -d", "-u -n 50K -P 2",
    "-u -t 1.2 -i 0.5", "-u -n 100K -e"])
def test_looks_like_its_own_server(box, server, words):  # noqa: F811
    def printed(port):
        back = ["-L", str(free_port())] if words[-2:] in ("-r", "-d") else []
        status, out, err = run(["iperf", "-c", "127.0.0.1", "-p", str(port), *words.split(),
                                *back], 30)
        assert status == 0, out + err
        return out + err

    proto = "udp" if "-u" in words else "tcp"
    theirs = printed(server(*(["-u"] if proto == "udp" else [])))
    ours = printed(box.port(proto, 5001))
    assert shape(ours) == shape(theirs) - {MIXED_UP}, f"{ours}\n--- and its own server:\n{theirs}"
