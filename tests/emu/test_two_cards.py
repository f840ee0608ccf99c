"""Two cards in one machine: each answers on its own wire, and the one that is not used is quiet."""

import time

import pytest

from qemu import dgram_netdev, nic_device
from rawpeer import ACK, BROADCAST, FIN, SYN, TCP, RawPeer
from wire import SENTINEL, ttcp_pattern

QUIET_US = 30_000_000   # guest time; until then a card speaks of the address it got
SECOND_MAC = "52:54:00:12:34:57"
PAIRS = {
    "pci+isa": ("rtl8139", {}, "ne2k_isa", {"iobase": "0x300", "irq": 5}),
    # slots 3 and 7 are wired to the same line of the i440FX
    "one line": ("rtl8139", {"addr": 3}, "rtl8139", {"addr": 7}),
    "one line, two drivers": ("rtl8139", {"addr": 3}, "ne2k_pci", {"addr": 7}),
}
NETS = {
    # (neighbour, box) of each wire; the neighbours of one subnet even have the same address
    "one subnet": (("10.0.2.2", "10.0.2.15"), ("10.0.2.2", "10.0.2.16")),
    "two subnets": (("10.0.2.2", "10.0.2.15"), ("10.0.3.2", "10.0.3.15")),
}


@pytest.fixture
def two(boot):
    """two(pair, nets, words): a machine, the neighbour of card 0, that of card 1."""
    peers = []

    def start(pair, nets="two subnets", words="", only=None, **options):
        first, first_options, second, second_options = PAIRS[pair]
        for number, (ip, box_ip) in enumerate(NETS[nets]):
            peers.append(RawPeer(ip, box_ip, f"02:00:00:00:00:0{2 + number}",
                                 (None, SECOND_MAC)[number] or "52:54:00:12:34:56"))
        ips = " ".join(f"ip={box_ip}/24" for _, box_ip in NETS[nets])
        extra = ["-netdev", dgram_netdev("n1", peers[1].sockets),
                 "-device", nic_device(second, "n1", **{"mac": SECOND_MAC, **second_options})]
        box = boot(f"{ips} {words}", nic=first, nic_options=first_options, board="pc", mem=8,
                   dgram=peers[0].sockets, extra=extra, **options)
        if only is None:
            box.wait_count("ready", 2, 10)
            for peer in peers:
                peer.find_box()
        return [box, *peers]
    yield start
    for peer in peers:
        peer.close()
        peer.check()


def open_close(peer, sport, data):
    """A TCP connection to ttcp, all of it."""
    since = peer.mark()
    peer.send_ip(TCP, peer.tcp(sport, 5001, 1000, 0, SYN, options=b"\x02\x04\x05\xb4"))
    answer = peer.wait(lambda p: p.proto == TCP and p.dport == sport and p.flags & SYN, 5, since)
    peer.send_ip(TCP, peer.tcp(sport, 5001, 1001, answer.seq + 1, ACK, data))
    peer.send_ip(TCP, peer.tcp(sport, 5001, 1001 + len(data), answer.seq + 1, FIN | ACK))
    fin = peer.wait(lambda p: p.proto == TCP and p.dport == sport and p.flags & FIN, 5, since)
    peer.send_ip(TCP, peer.tcp(sport, 5001, 1002 + len(data), fin.seq + 1, ACK))


@pytest.mark.parametrize("nets", NETS)
@pytest.mark.parametrize("pair", PAIRS)
def test_replies_leave_by_the_card_of_the_request(two, pair, nets):
    """Each neighbour sees its own answers and no frame of the other's (RawPeer also checks the
    source address of every frame)."""
    box, *peers = two(pair, nets)
    nics = box.all("nic")
    assert [nic["nic"] for nic in nics] == [0, 1]
    assert all(nic["irq_proven"] and nic["mode"] == "irq" for nic in nics)
    if pair != "pci+isa":
        assert nics[0]["irq"] == nics[1]["irq"] and nics[0]["trigger"] == "level"
    for number in range(50):
        for index, peer in enumerate(peers):
            data = bytes([index + 1]) * (1 + number * 29)
            assert peer.ping(data, seq=number) == data
    for index, peer in enumerate(peers):
        for _ in range(3):
            peer.send_udp(4000 + index, 5001, ttcp_pattern(500))
        peer.send_udp(4000 + index, 5001, SENTINEL)
        open_close(peer, 2000 + index, b"t" * (100 + index))
    for index in (0, 1):
        box.wait_for("result", 10, nic=index, proto="tcp", bytes=100 + index)
        box.wait_for("result", 10, nic=index, proto="udp", bytes=1500)
    for peer in peers:
        assert peer.seen(lambda p, own=peer.box_ip: p.ip_src is not None
                         and p.ip_src not in (own, b"\0" * 4)) == []
    assert box.all("fault") == []


def test_own_connections_leave_by_the_right_card(two):
    box, first, second = two("pci+isa")
    for index, peer in enumerate((first, second)):
        host = ".".join(map(str, peer.ip))
        assert box.command(f"ping -n 3 {host}")[0]["status"] == 0
        assert len(peer.seen(lambda p: p.proto == 1 and p.data is not None
                             and p.icmp_type == 8)) == 3, index


@pytest.mark.parametrize("pair,busy", [("pci+isa", 0), ("pci+isa", 1), ("one line", 1)])
def test_the_card_not_used_is_quiet(two, pair, busy):
    """No interrupt and no frame of it, while the other works."""
    box, *peers = two(pair, icount=True)
    while box.counters()["t_us"] < QUIET_US:
        time.sleep(0.1)
    idle = peers[1 - busy]
    before, since = box.counters(1 - busy), idle.mark()
    for number in range(200):
        assert peers[busy].ping(b"busy" * 10, seq=number) == b"busy" * 10
    after = box.counters(1 - busy)
    for key in ("irqs", "rx_frames", "tx_frames", "irq_lost"):
        assert after[key] == before[key], key
    assert idle.seen(lambda p: True, since) == []
    assert box.counters(busy)["rx_frames"] >= 200


@pytest.mark.parametrize("words,used", [("nic=rtl8139", 0), ("nic=ne2000:0x300", 1)])
def test_the_card_not_named_is_left_alone(two, words, used):
    """Its neighbour hears nothing, whatever it asks."""
    box, *peers = two("pci+isa", words=words, only=used)
    box.wait_for("ready", 10)
    assert len(box.all("nic")) == 1
    idle = peers[1 - used]
    for _ in range(20):
        idle.send(idle.arp(1, idle.ip, idle.box_ip, BROADCAST))
    time.sleep(0.5)
    assert idle.seen(lambda p: True) == []
    assert box.counters()["irq_lost"] == 0


def test_flood_on_one_does_not_stop_the_other(two):
    box, first, second = two("one line")
    for number in range(20):
        for _ in range(60):
            first.send_udp(4000, 9999, bytes(1472))
        assert second.ping(b"me too", seq=number, timeout=1) == b"me too"
    assert box.all("panic") == []
