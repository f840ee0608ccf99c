"""The services people reach with `nc`: raw sink and source, echo, discard, chargen, the report."""

import hashlib
import os
import shutil
import subprocess

import pytest

from cards import BOTH
from qemu import GUEST_IP, HOST_IP
from wire import ttcp_pattern

pytestmark = [pytest.mark.cards(*BOTH),
              pytest.mark.skipif(shutil.which("nc") is None, reason="nc is not installed")]

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
SINK, SOURCE = 7001, 7002
MB = 1 << 20


@pytest.fixture
def box(boot):
    machine = boot(STATIC, forward={"tcp": [SINK, SOURCE]}, mem=8)
    machine.wait_for("ready", 10)
    return machine


def nc(box, port, *words, data=b"", proto="tcp", timeout=60):
    """What netcat hears when it says `data`."""
    done = subprocess.run(["nc", *words, "127.0.0.1", str(box.port(proto, port))], input=data,
                          capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("size", [1, 100_000, 3 * MB + 1])
def test_sink(box, size):
    assert nc(box, SINK, "-N", data=os.urandom(size)) == b""
    result = box.wait_for("result", 10)
    assert (result["test"], result["dir"], result["proto"]) == ("sink", "rx", "tcp")
    assert (result["bytes"], result["end"]) == (size, "ok")


def test_source(box):
    """16 MiB to the byte, then FIN: nc ends by itself."""
    heard = nc(box, SOURCE, "-d")
    assert len(heard) == 16 * MB
    assert hashlib.sha256(heard).digest() == hashlib.sha256(ttcp_pattern(8192) * 2048).digest()
    result = box.wait_for("result", 10)
    assert (result["test"], result["dir"], result["end"]) == ("source", "tx", "ok")
    assert (result["bytes"], result["calls"], result["streams"]) == (16 * MB, 2048, 1)
