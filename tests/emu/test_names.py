"""Two boxes and a resolver on one wire: who has which name, by mDNS and NetBIOS.

The questions and the reading of the answers are scapy's, not ours.
"""

import time

import pytest
from scapy.layers.dns import DNS, DNSQR
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.netbios import NBNSHeader, NBNSQueryRequest, NBNSQueryResponse

from cards import BOTH
from hub import Hub

pytestmark = pytest.mark.cards(*BOTH)

ADDRESSES = "10.0.9.1", "10.0.9.2"
MACS = "52:54:00:aa:00:01", "52:54:00:aa:00:02"
GROUP, GROUP_MAC = "224.0.0.251", "01:00:5e:00:00:fb"


@pytest.fixture
def hub():
    with Hub(2) as wire:
        yield wire


def start(boot, card, hub, number, words=""):
    options = dict(card.options)
    options["nic_options"] = {"mac": MACS[number]}
    return boot(f"ip={ADDRESSES[number]}/24 {words}", dgram=hub.sockets[number], **options)


def ready(box):
    box.wait_for("ready", 10)
    return box


def answers(hub, packet, seconds=1.0):
    """What the boxes say within `seconds` after this packet of ours."""
    since = hub.mark()
    hub.send(bytes(packet))
    return [Ether(frame) for _, frame in hub.collect(seconds, since)]


def mdns(hub, name, sport=5353):
    """Addresses that `name`.local has, with the address each answer is from."""
    question = Ether(src=hub.MAC, dst=GROUP_MAC) / IP(src=hub.IP, dst=GROUP, ttl=255) \
        / UDP(sport=sport, dport=5353) / DNS(rd=0, qd=DNSQR(qname=f"{name}.local"))
    time.sleep(1.1)  # two answers by multicast are a second apart
    found = set()
    for packet in answers(hub, question):
        if DNS in packet and packet[UDP].sport == 5353 and packet[DNS].qr == 1:
            assert packet[UDP].dport == sport
            assert packet[IP].ttl == 255
            record = packet[DNS].an[0] if isinstance(packet[DNS].an, list) else packet[DNS].an
            assert record.rrname.lower() == f"{name}.local.".encode()
            found.add((packet[IP].src, record.rdata))
    return found


def netbios(hub, name):
    question = Ether(src=hub.MAC, dst="ff:ff:ff:ff:ff:ff") / IP(src=hub.IP, dst="10.0.9.255") \
        / UDP(sport=137, dport=137) / NBNSHeader(NAME_TRN_ID=77, NM_FLAGS=0x11, QDCOUNT=1) \
        / NBNSQueryRequest(QUESTION_NAME=name.upper().ljust(15), SUFFIX=0x4141)
    found = set()
    for packet in answers(hub, question):
        if NBNSQueryResponse in packet and packet[NBNSHeader].NAME_TRN_ID == 77:
            answer = packet[NBNSQueryResponse]
            found.add((packet[IP].src, answer.ADDR_ENTRY[0].NB_ADDRESS))
    return found


def name_of(box, timeout=15):
    """What `ip` says, once the box has its name."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        done, text = box.command("ip")
        assert done["status"] == 0, text
        if ".local" in text:
            time.sleep(1.2)  # the second announcement
            return text.split("name ")[1].split(".local")[0]
        time.sleep(0.3)
    raise AssertionError(f"no name within {timeout} s: {text}")


def test_second_box_is_name_2(boot, card, hub):
    first = ready(start(boot, card, hub, 0))
    assert name_of(first) == "nictest86"
    second = ready(start(boot, card, hub, 1))
    assert name_of(second) == "nictest86-2"
    assert "the name nictest86 is taken by 10.0.9.1: this box is nictest86-2" \
        in second.text["serial"]
    assert name_of(first) == "nictest86"
    for name, address in zip(("nictest86", "nictest86-2"), ADDRESSES):
        assert mdns(hub, name) == {(address, address)}
        assert mdns(hub, name, sport=40000) == {(address, address)}
        assert netbios(hub, name) == {(address, address)}
    assert mdns(hub, "nictest86-3") == netbios(hub, "nictest86-3") == set()


def test_switched_on_together(boot, card, hub):
    boxes = [start(boot, card, hub, number) for number in (0, 1)]
    names = {}
    for box in boxes:
        ready(box)
    time.sleep(4)
    for number, box in enumerate(boxes):
        names[name_of(box)] = ADDRESSES[number]
    assert sorted(names) == ["nictest86", "nictest86-2"]
    for name, address in names.items():
        assert mdns(hub, name) == {(address, address)}


def test_set_name(boot, card, hub):
    box = ready(start(boot, card, hub, 0, "name=Alpha"))
    assert name_of(box) == "Alpha"
    assert mdns(hub, "alpha") == {(ADDRESSES[0], ADDRESSES[0])}
    assert box.command("set name=beta")[0]["status"] == 0
    assert name_of(box) == "beta"
    assert mdns(hub, "beta") == netbios(hub, "beta") == {(ADDRESSES[0], ADDRESSES[0])}
    assert mdns(hub, "alpha") == netbios(hub, "alpha") == set()
