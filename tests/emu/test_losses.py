"""Real clients on a wire that loses, doubles and swaps: what both ends count is what the wire did.
Network namespaces, so these need root."""

import pytest

import iperf3
import nuttcp
from bridge import Bridge, Disorder, Losses, missing
from cards import BOTH

pytestmark = [pytest.mark.cards(*BOTH),
              pytest.mark.skipif(bool(missing()), reason=missing() or "all is there")]

EXCHANGE_RESULTS = b"\x0d"
DATA = 6000     # nuttcp's first data port


@pytest.fixture
def bridge():
    with Bridge() as made:
        yield made


@pytest.fixture
def box(boot, bridge):
    machine = boot(f"ip={bridge.BOX_IP}/24", dgram=bridge.sockets, mem=8)
    machine.wait_for("ready", 10)
    return machine


def run_iperf3(bridge, box, *words):
    """The report, and the records."""
    since = box.mark()
    report = iperf3.run(5201, *words, host=bridge.BOX_IP, prefix=bridge.prefix)
    return report, iperf3.check(box, report, since)


def run_nuttcp(bridge, box, *words):
    """The record, and the client's figures."""
    since = box.mark()
    client = nuttcp.Client(5000, DATA, *words, host=bridge.BOX_IP, prefix=bridge.prefix)
    status, out = client.finish()
    assert status == 0, out
    return nuttcp.check(box, out, since)


# ---- TCP: what we have sent again ----

@pytest.mark.parametrize("text", ["-R -n 2M", "-R -P 3 -n 2M", "--bidir -t 2"])
def test_iperf3_retransmissions(bridge, box, text):
    """The count ends where the box asks for results; what it repeats later is nobody's."""
    bridge.to_host = losses = Losses(40)
    losses.until = lambda port, data: port == 5201 and data == EXCHANGE_RESULTS
    _, records = run_iperf3(bridge, box, *text.split())
    assert losses.lost >= 5
    assert records["tx"]["retrans"] == losses.repeated > 0


def test_nuttcp_retransmissions(bridge, box):
    bridge.to_host = losses = Losses(40)
    record, ends = run_nuttcp(bridge, box, "-r", "-n", "40")
    assert losses.lost >= 5
    assert record["bytes"] == 40 * 65536
    assert record["retrans"] == ends["retrans"] == losses.repeated >= losses.lost


# ---- UDP: what has not come, twice, or late ----

# Short ones at leisure: QEMU's NE2000 has room for some forty when a busy host holds us up.
IPERF3 = "-u -k 400 -l 200 -b 400K"
NUTTCP = "-u -i 0.5 -n 400 -l 200 -R 400k"


@pytest.mark.parametrize("text", [IPERF3, IPERF3 + " --udp-counters-64bit"])
def test_iperf3_datagrams(bridge, box, text):
    bridge.to_box = wire = Disorder(5201)
    report, records = run_iperf3(bridge, box, *text.split())
    record = records["rx"]
    assert wire.seen == 400 and min(wire.lost, wire.dup, wire.ooo) >= 10
    assert (record["lost"], record["dup"], record["ooo"]) == (wire.lost, wire.dup, wire.ooo)
    assert report["end"]["sum"]["lost_packets"] == wire.lost
    assert record["packets"] == 400 - wire.lost + wire.dup


def test_nuttcp_datagrams(bridge, box):
    bridge.to_box = wire = Disorder(DATA)
    record, ends = run_nuttcp(bridge, box, *NUTTCP.split())
    assert wire.seen == 400 and min(wire.lost, wire.dup, wire.ooo) >= 10
    assert (record["lost"], record["dup"], record["ooo"]) == (wire.lost, wire.dup, wire.ooo)
    assert record["packets"] == 400 - wire.lost + wire.dup
    assert ends["drop"] == wire.lost - wire.dup  # it compares bytes


def test_iperf3_tail_is_lost(bridge, box):
    """What comes behind the highest number that was seen, nobody can miss: as with their own."""
    bridge.to_box = Disorder(5201, lost=1000, twice=1000, late=1000, tail=301)
    report, records = run_iperf3(bridge, box, *IPERF3.split())
    assert (records["rx"]["lost"], records["rx"]["packets"]) == (0, 300)
    assert report["end"]["sum"]["bytes"] == 80_000


def test_nuttcp_tail_is_lost(bridge, box):
    """The client compares bytes, so it knows."""
    bridge.to_box = Disorder(DATA, lost=1000, twice=1000, late=1000, tail=301)
    record, ends = run_nuttcp(bridge, box, *NUTTCP.split())
    assert (record["lost"], record["packets"]) == (0, 300)
    assert ends["drop"] == 100


def test_iperf3_sends_datagrams(bridge, box):
    """The client's own count of what the wire did to ours, up to the last that it was given."""
    bridge.to_host = wire = Disorder(5201, twice=1000, tail=301)
    report, records = run_iperf3(bridge, box, *"-u -R -t 4 -l 200 -b 400K".split())
    assert records["tx"]["packets"] > 300 and min(wire.lost, wire.ooo) >= 10
    assert report["end"]["sum"]["lost_packets"] == wire.lost
