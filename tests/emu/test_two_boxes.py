"""Two of our machines on one wire (a QEMU socket link): one runs the client, the other answers."""

import os
import shutil
import tempfile

import pytest

from cards import BOTH, PENTIUM

pytestmark = pytest.mark.cards(*BOTH)

A, B = "10.0.9.1", "10.0.9.2"
MACS = "52:54:00:aa:00:01", "52:54:00:aa:00:02"
MB = 1 << 20


@pytest.fixture
def pair(boot, card):
    """(client, server): ready, and known to each other."""
    directory = tempfile.mkdtemp(prefix="nictest86-pair-")
    ends = [os.path.join(directory, name) for name in "ab"]
    boxes = []
    for number, ip in enumerate((A, B)):
        options = dict(card.options)
        options["nic_options"] = {"mac": MACS[number]}
        boxes.append(boot(f"ip={ip}/24", dgram=(ends[1 - number], ends[number]), **options))
    for box in boxes:
        box.wait_for("ready", 10)
    yield boxes
    shutil.rmtree(directory, ignore_errors=True)


def both(client, server, line, streams=1, timeout=40):
    """Run a client command; its results, and what the server says of the same flows."""
    here, there = client.mark(), server.mark()
    done, text = client.command(line, timeout)
    assert done["status"] == 0, text
    ours = client.wait_count("result", streams, 10, here)
    theirs = server.wait_count("result", streams, 10, there)
    assert all(r["end"] == "ok" for r in ours + theirs), text
    return ours, theirs, text


@pytest.mark.parametrize("words,sent", [
    ("-n 1M", MB), ("-n 1000001 -l 1000", 1_000_001), ("-n 50K -l 100", 50 * 1024)])
def test_tcp(pair, words, sent):
    (ours,), (theirs,), _ = both(*pair, f"iperf {words} {B}")
    assert ours["bytes"] == theirs["bytes"] == sent
    assert (ours["test"], ours["dir"], theirs["test"], theirs["dir"]) == (
        "iperf2", "tx", "iperf2", "rx")
    assert ours["retrans"] is not None and theirs["retrans"] is None


def test_tcp_reverse(pair):
    (ours,), (theirs,), _ = both(*pair, f"iperf -R -n 1M {B}")
    assert ours["bytes"] == theirs["bytes"] == MB
    assert (ours["dir"], theirs["dir"]) == ("rx", "tx")


def test_tcp_by_time_and_rate(pair):
    (ours,), (theirs,), _ = both(*pair, f"iperf -t 1 -b 2m {B}")
    assert ours["bytes"] == theirs["bytes"]
    assert ours["bound"] == "pacing"
    assert 1.9 <= ours["mbit_s"] <= 2.2 and 1_000_000 <= ours["us"] <= 1_200_000


def test_tcp_parallel(pair):
    ours, theirs, text = both(*pair, f"iperf -n 20K -P 3 {B}", 3)
    assert sorted(r["bytes"] for r in ours + theirs) == [20480] * 6
    assert "sum of 3 streams: 61440 bytes" in text


@pytest.mark.parametrize("words", ["", "-R"])
def test_tcp_eight_at_once(pair, words):
    ours, theirs, text = both(*pair, f"iperf -n 100K -P 8 {words} {B}", 8, 60)
    assert [r["bytes"] for r in ours + theirs] == [102400] * 16
    assert "sum of 8 streams: 819200 bytes" in text


def test_udp(pair):
    """Numbers, losses and jitter by the server's report; a bound by the rate that was asked."""
    (ours,), (theirs,), text = both(*pair, f"iperf -u -t 1 {B}")
    assert (ours["bound"], theirs["bound"]) == ("pacing", "pacing")
    assert ours["packets"] == theirs["packets"] + theirs["lost"]
    assert (ours["lost"], ours["ooo"], ours["dup"]) == (theirs["lost"], theirs["ooo"], None)
    assert ours["bytes"] == ours["packets"] * 1470
    assert f"the server got {theirs['bytes']} bytes" in text
    assert 88 <= ours["packets"] <= 93


def test_udp_reverse(pair):
    (ours,), (theirs,), _ = both(*pair, f"iperf -u -R -n 100K -b 2M {B}")
    assert (ours["dir"], theirs["dir"]) == ("rx", "tx")
    assert theirs["packets"] == ours["packets"] + ours["lost"] == 71
    assert ours["jitter_us"] < 100_000


def test_udp_parallel(pair):
    ours, theirs, _ = both(*pair, f"iperf -u -n 30K -P 4 -l 500 {B}", 4)
    assert sum(r["packets"] for r in ours) == sum(r["packets"] + r["lost"] for r in theirs)


def test_nobody_listens(pair):
    client, _ = pair
    for line, says in ((f"iperf -n 1M -p 9999 {B}", "refused"),
                       (f"iperf -u -n 1M -p 9999 {B}", "not open"),
                       ("iperf -u -n 1M 10.0.9.77", "no answer to ARP"),
                       (f"iperf -u -R -n 10K -p 9999 {B}", "no answer")):
        done, text = client.command(line, 30)
        assert done["status"] == 1 and says in text, text


def test_abort(pair):
    client, server = pair
    for line in (f"iperf -t 60 {B}", f"iperf -u -t 60 {B}", f"iperf -R -t 60 {B}",
                 f"iperf -u -R -t 50 -b 200k {B}"):
        since = client.mark()
        client.type(line + "\r")
        client.wait_text("1 s, ", 20, since=len(client.text["serial"]))
        client.type("\x03")
        assert client.wait_for("done", 5, since)["status"] == 1
        assert client.wait_for("result", 5, since)["end"] == "abort"
    assert client.command("help")[0]["status"] == 0
    assert server.command("help")[0]["status"] == 0


def test_wrong_words(pair):
    client, _ = pair
    for line, says in (("iperf", "usage"), ("iperf -x 10.0.9.2", "usage"), ("iperf -t", "usage"),
                       (f"iperf -t 5 -n 5 {B}", "not both"), (f"iperf -b 0 {B}", "is not a rate"),
                       (f"iperf -u -l 10 {B}", "16 to 65507"), (f"iperf -P 9 {B}", "from 1 to 8"),
                       (f"iperf {B} {B}", "usage"), (f"iperf -t 1x {B}", "is not a number")):
        done, text = client.command(line)
        assert done["status"] == 1 and says in text, text


def test_ping_and_report(pair):
    client, _ = pair
    done, text = client.command(f"ping -n 3 -f {B}")
    assert done["status"] == 0 and "3 sent, 3 received" in text and "min/avg/max/jitter" in text
    done, text = client.command(f"ping --sweep {B}", 60)
    assert done["status"] == 0 and "1473 sent, 1473 received, 0 lost, 0 wrong" in text
    both(*pair, f"iperf -n 100K {B}")
    done, text = client.command("report")
    assert done["status"] == 0 and "iperf2-t tcp" in text and "NicTest86 " in text


def test_ttcp(pair):
    (ours,), (theirs,), _ = both(*pair, f"ttcp -t -n 64 {B}")
    assert ours["bytes"] == theirs["bytes"] == 64 * 8192


@pytest.mark.long
@pytest.mark.cards(PENTIUM)  # on a busy host a 486, without a cycle counter, loses time
@pytest.mark.parametrize("words", ["", "-R"])
@pytest.mark.parametrize("rate", ["500K", "2M", "8M"])
def test_udp_rates_agree(pair, rate, words):
    (ours,), (theirs,), _ = both(*pair, f"iperf -u -t 6 -b {rate} {words} {B}")
    send, receive = (ours, theirs) if not words else (theirs, ours)
    got = 1 - receive["lost"] / (receive["packets"] + receive["lost"])
    assert abs(float(send["mbit_s"]) * got / float(receive["mbit_s"]) - 1) <= 0.02
    asked = int(rate[:-1]) * {"K": 1024, "M": 1 << 20}[rate[-1]] / 1e6
    assert abs(float(send["mbit_s"]) / asked - 1) <= 0.02
