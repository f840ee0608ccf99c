"""The box's name through the resolver of a Linux machine on the same wire (avahi, nss-mdns), as in
`iperf3 -c nictest86.local`; and against that machine's own claim to a name."""

import re
import shutil

import pytest

import station
from cards import BOTH
from hub import Hub
from test_names import ADDRESSES, name_of, ready, start

pytestmark = [pytest.mark.cards(*BOTH),
              pytest.mark.skipif(bool(station.missing()), reason=station.missing())]

LINUX = "10.0.9.3"


@pytest.fixture
def hub():
    with Hub(2) as wire:
        yield wire


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
def test_iperf3_by_name(boot, card, hub):
    """The command of the README; the numbers are the client's and ours."""
    box = ready(start(boot, card, hub, 0))
    assert name_of(box) == "nictest86"
    with station.Station(hub.sockets[1], LINUX) as linux:
        status, text = linux.run(["getent", "hosts", "nictest86.local"])
        assert status == 0 and text.split() == [ADDRESSES[0], "nictest86.local"], text
        since = box.mark()
        status, text = linux.run(["iperf3", "-c", "nictest86.local", "-n", "500K"])
        assert status == 0 and "iperf Done." in text, text
        assert "Connecting to host nictest86.local, port 5201\n" in text
        assert f"connected to {ADDRESSES[0]} port 5201" in text
        result = box.wait_for("result", 10, since)
        assert (result["test"], result["end"]) == ("iperf3", "ok")
        assert result["peer"].startswith(LINUX) and result["bytes"] >= 500 << 10
        assert linux.run(["getent", "hosts", "nictest87.local"])[0] == 2, "nobody has that name"


def test_avahi_has_the_name(boot, card, hub):
    """A Linux machine of our name was here first: it keeps it, and the box is name-2."""
    with station.Station(hub.sockets[1], LINUX, name="nictest86") as linux:
        box = ready(start(boot, card, hub, 0))
        assert name_of(box) == "nictest86-2"
        for name, ip in (("nictest86", LINUX), ("nictest86-2", ADDRESSES[0])):
            status, text = linux.run(["getent", "hosts", f"{name}.local"])
            assert status == 0 and text.split()[0] == ip, text
        assert re.search(f"is taken by {re.escape(LINUX)}: this box is nictest86-2",
                         box.text["serial"])
