"""The bench measures what it says: the counts are exact, the transfer it measures is a real one,
and a row that got worse is noticed."""

import os
import struct
import subprocess
import sys

import pytest

from machine import ROOT
from rawpeer import ACK, TCP, Packet

sys.path.append(os.path.join(ROOT, "tests", "bench"))

import bench                                             # noqa: E402  (needs the path)
import results                                           # noqa: E402
from measure import NS_PER_INSTRUCTION, Wrong, load_image, measure    # noqa: E402
from image import PEER                                   # noqa: E402
from rows import ISA, ROWS                               # noqa: E402

ROW = {row.name: row for row in ROWS}


@pytest.fixture(scope="session")
def image():
    """The bench kernel, built with the words of the `make test` we are part of."""
    words = [f"{name}={os.environ[name]}" for name in ("OUT", "LWIP") if os.environ.get(name)]
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "OUT", "LWIP")}
    built = subprocess.run(["make", "-C", ROOT, *words, "bench-build"], env=environment,
                           capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return load_image()


def frames_of(pcap):
    """The frames in a capture, oldest first."""
    with open(pcap, "rb") as file:
        data = file.read()
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack("<I", data[at + 8:at + 12])[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def short(name, count):
    """A row with less to do."""
    row = ROW[name]
    return row._replace(run=row.run.replace(str(row.count), str(count)), count=count)


def test_bench_smoke(image, tmp_path):
    """TCP receive: the sum agrees with the guest's clock, all that went over the wire was right,
    and at least every eighth segment was acknowledged."""
    pcap = str(tmp_path / "wire.pcap")
    got = measure(short("tcp_rx", 512), ISA, image, pcap=pcap)
    ticked = got.result["us"] * 1000 / NS_PER_INSTRUCTION
    assert abs(sum(got.layers.values()) - ticked) < 0.01 * ticked, "the CPU never halts here"
    assert 1157 < got.cost < ROW["tcp_rx"].linux[ISA], "757 for the data port, 400 for the sum"
    assert got.layers["driver"] / got.units > 757
    assert 0 < got.layers[PEER] < 0.5 * ticked
    since_ack = 0
    for packet in map(Packet, frames_of(pcap)):
        assert not packet.faults(), packet.frame.hex()
        if packet.proto == TCP and packet.data:
            since_ack += 1
            assert since_ack <= 8
        elif packet.proto == TCP and packet.sport == 5001 and packet.flags & ACK:
            since_ack = 0


def test_bench_repeats(image):
    """The same run twice gives the same figure to the instruction."""
    row = short("udp_rx_18", 256)
    assert measure(row, ISA, image).cost == measure(row, ISA, image).cost


def test_bench_datagrams(image, tmp_path):
    """Each transmitted datagram has its own IP id and a right checksum."""
    pcap = str(tmp_path / "wire.pcap")
    measure(short("udp_tx_1472", 64), ISA, image, pcap=pcap)
    sent = [packet for packet in map(Packet, frames_of(pcap))
            if packet.dport == 5001 and packet.data is not None and len(packet.data) == 1472]
    assert len(sent) == 64
    assert len({packet.ident for packet in sent}) == 64
    for packet in sent:
        assert not packet.faults() and packet.body[6:8] != b"\0\0"


def test_bench_refuses_loss(image):
    """More frames under way than the ring holds: the transfer is not taken for a measured one."""
    row = ROW["udp_rx_1472"]._replace(run="peer udp 1472 64 64", count=64)
    with pytest.raises(Exception) as caught:
        measure(row, ISA, image, timeout=20)
    assert isinstance(caught.value, Wrong), caught.value


def test_bench_regression():
    """1 % is let pass, more is not; a card that vanished is named."""
    def line(ours):
        return bench.Line("tcp_rx", ISA, ours, 6350, ours / 6350, 0.0, None)
    committed = {("tcp_rx", ISA): (4000.0, "")}
    assert results.regressions([line(4039.0)], committed, []) == []
    assert len(results.regressions([line(4041.0)], committed, [])) == 1
    assert results.regressions([line(4041.0)], {}, []) == []
    assert len(results.regressions([], committed, [ISA])) == 1
