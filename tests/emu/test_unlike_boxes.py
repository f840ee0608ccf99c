"""Two of our machines with different cards on one wire: each as the client of the other."""

import pytest

from cards import CARDS, ISA, RTL8139
from test_two_boxes import A, B, MACS, MB, both
from hub import Hub

WAYS = {"ne2000-asks": (ISA, RTL8139), "rtl8139-asks": (RTL8139, ISA)}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def pair(boot, request):
    """(client, server): ready."""
    with Hub(2) as hub:
        boxes = []
        for number, (name, ip) in enumerate(zip(request.param, (A, B))):
            options = dict(CARDS[name].options, nic_options={"mac": MACS[number]})
            boxes.append(boot(f"ip={ip}/24", dgram=hub.sockets[number], **options))
        for box in boxes:
            box.wait_for("ready", 10)
        yield boxes


def test_each_way(pair):
    """Bytes to the byte by TCP, and by UDP what one end misses the other has been told."""
    client, server = pair
    for words in ("-n 500K", "-n 500K -R"):
        (ours,), (theirs,), _ = both(client, server, f"iperf {words} {B}")
        assert ours["bytes"] == theirs["bytes"] == 500 * 1024
    (ours,), (theirs,), _ = both(client, server, f"iperf -u -n 100K -b 2M {B}")
    assert ours["packets"] == theirs["packets"] + theirs["lost"]
    assert ours["lost"] == theirs["lost"]
    (ours,), (theirs,), _ = both(client, server, f"iperf -u -R -n 100K -b 2M {B}")
    assert theirs["packets"] == ours["packets"] + ours["lost"]
    (ours,), (theirs,), _ = both(client, server, f"ttcp -t -n 64 {B}")
    assert ours["bytes"] == theirs["bytes"] == MB // 2
    done, text = client.command(f"ping -n 3 -f -s 4000 {B}")
    assert done["status"] == 0 and "3 sent, 3 received, 0 lost, 0 wrong" in text


def test_ttcp_waits_for_it(pair):
    """`ttcp -r` on one, `ttcp -t` on the other: both report, and the receiver's command ends."""
    client, server = pair
    since = server.mark()
    server.type("ttcp -r -p 5010\r")
    server.wait_text("ttcp -r -p 5010", 10)
    (ours,), (theirs,), _ = both(client, server, f"ttcp -t -n 32 -p 5010 {B}")
    assert ours["bytes"] == theirs["bytes"] == 32 * 8192
    assert server.wait_for("done", 10, since)["status"] == 0
