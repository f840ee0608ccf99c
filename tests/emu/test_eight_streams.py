"""Eight streams at once from a real TCP (Linux, in a namespace, with no slirp between) share the
wire.  Network namespaces, so these need root."""

import subprocess

import pytest

import iperf3
from bridge import Bridge, missing
from cards import BOTH

pytestmark = [pytest.mark.cards(*BOTH),
              pytest.mark.skipif(bool(missing()), reason=missing() or "all is there")]

MB = 1 << 20
STREAMS = 8


@pytest.fixture
def bridge():
    with Bridge() as made:
        yield made


@pytest.fixture(params=[4, 8])
def box(boot, bridge, request):
    machine = boot(f"ip={bridge.BOX_IP}/24", dgram=bridge.sockets, mem=request.param)
    machine.wait_for("ready", 10)
    return machine


def test_iperf2(bridge, box):
    """All bytes of all, and nothing that the ring could not take."""
    done = subprocess.run([*bridge.prefix, "iperf", "-c", bridge.BOX_IP, "-P", str(STREAMS),
                           "-n", "2M"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0 and done.stdout.count("2.00 MBytes") == STREAMS, done
    results = box.wait_count("result", STREAMS, 30)
    assert [(r["bytes"], r["end"]) for r in results] == [(2 * MB, "ok")] * STREAMS
    counters = box.counters()
    assert counters["rx_overrun"] == counters["rx_missed"] == 0


@pytest.mark.parametrize("way", ["", "-R"])
def test_iperf3(bridge, box, way):
    """Each within 20 % of the mean."""
    since = box.mark()
    report = iperf3.run(5201, "-t", "4", "-P", str(STREAMS), *way.split(), host=bridge.BOX_IP,
                        prefix=bridge.prefix)
    iperf3.check(box, report, since)
    rates = [stream["receiver"]["bits_per_second"] for stream in report["end"]["streams"]]
    mean = sum(rates) / STREAMS
    assert len(rates) == STREAMS
    assert all(abs(rate / mean - 1) < 0.2 for rate in rates), rates
