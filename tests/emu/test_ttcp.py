"""ttcp in both directions, byte for byte: the box's own counts against what the host knows.

The figures go through QEMU's user-mode network (slirp); what needs exact frames is in test_udp.py
and test_frames.py.
"""

import shutil
import socket
import struct
import threading
import time

import pytest

from cards import BOTH, EVERY
from qemu import GUEST_IP, HOST_IP
from rawpeer import ACK, SYN, TCP
from wire import (SENTINEL, Sink, UdpSink, host_ttcp, run, send_tcp, ttcp_pattern)

pytestmark = pytest.mark.cards(*BOTH)

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
MB = 1 << 20


@pytest.fixture
def box(boot):
    machine = boot(STATIC, forward={"tcp": [5001, 5010, 2000], "udp": [5001]}, mem=8)
    machine.wait_for("ready", 10)
    return machine


# ---- TCP, host -> box ----

@pytest.mark.parametrize("size", [1, 1459, 1460, 1461, 65536, 1_000_003])
def test_tcp_in_counts_every_byte(box, size):
    peer = send_tcp(box.port("tcp", 5001), ttcp_pattern(size))
    result = box.wait_for("result", 10)
    assert (result["test"], result["dir"], result["proto"]) == ("ttcp", "rx", "tcp")
    assert (result["bytes"], result["end"], result["streams"]) == (size, "ok", 1)
    assert 1 <= result["calls"] <= size and 1 <= result["packets"] <= size
    assert result["peer"].startswith(HOST_IP + ":") and peer[0] == "127.0.0.1"


def test_tcp_connection_without_payload_gives_no_result(box):
    send_tcp(box.port("tcp", 5001), b"")
    send_tcp(box.port("tcp", 5001), b"x")
    assert box.wait_for("result", 5)["bytes"] == 1
    assert len(box.all("result")) == 1


@pytest.mark.cards(*EVERY)
def test_tcp_in_10_mb_without_a_gap(box):
    size = 10 * MB
    send_tcp(box.port("tcp", 5001), ttcp_pattern(8192) * (size // 8192))
    result = box.wait_for("result", 10)
    assert (result["bytes"], result["end"]) == (size, "ok")
    assert result["gap_us"] < 500_000
    assert result["packets"] >= size // 1460


@pytest.mark.parametrize("port", [5010, 2000])
def test_other_ttcp_ports(box, port):
    send_tcp(box.port("tcp", port), b"z" * 5000)
    assert box.wait_for("result", 5)["bytes"] == 5000


def test_several_connections_at_once_are_each_counted(box):
    sizes = [300_000, 400_001, 500_002, 600_003]
    threads = [threading.Thread(target=send_tcp, args=(box.port("tcp", 5001), b"q" * size))
               for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    results = box.wait_count("result", len(sizes), 10)
    assert sorted(r["bytes"] for r in results) == sizes
    assert len({r["peer"] for r in results}) == len(sizes)
    assert all(r["end"] == "ok" and r["streams"] == 1 for r in results)


def test_more_connections_than_places_do_no_harm(box):
    """Forty clients that say nothing; then a real one is served."""
    idle = []
    for _ in range(40):
        try:
            idle.append(socket.create_connection(("127.0.0.1", box.port("tcp", 5001)), 5))
        except OSError:
            break
    time.sleep(0.5)
    for connection in idle:
        connection.close()
    time.sleep(0.5)
    send_tcp(box.port("tcp", 5001), b"y" * 10000)
    assert box.wait_for("result", 10)["bytes"] == 10000


def test_sender_that_breaks_off(box):
    """RST in the middle: counted up to there, end reset."""
    connection = socket.create_connection(("127.0.0.1", box.port("tcp", 5001)), 5)
    connection.sendall(b"w" * 50_000)
    time.sleep(0.5)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    result = box.wait_for("result", 10)
    # slirp turns the host's reset into an orderly end on some versions
    assert result["bytes"] == 50_000 and result["end"] in ("reset", "ok")


def test_dead_sender_is_cleaned_up_in_30_s(boot):
    """Idle time costs nothing here: the guest's clock runs ahead."""
    machine = boot(STATIC, forward={"tcp": [5001]}, icount=True)
    machine.wait_for("ready", 20)
    connection = socket.create_connection(("127.0.0.1", machine.port("tcp", 5001)), 5)
    with connection:
        connection.sendall(b"v" * 2000)
        result = machine.wait_for("result", 60)
        assert (result["bytes"], result["end"]) == (2000, "timeout")
        since = machine.records[[r["ev"] for r in machine.records].index("ready")]["t_us"]
        assert result["t_us"] - since <= 33e6
        assert result["us"] < 2e6, "the idle time is not in it"


# ---- TCP, box -> host ----

@pytest.mark.parametrize("length,count", [(1, 1), (1, 5000), (100, 333), (1460, 100), (8192, 64),
                                          (65536, 8)])
def test_tcp_out_is_exact(box, length, count):
    sink = Sink()
    done, text = box.command(f"ttcp -t -l {length} -n {count} -p {sink.port} {HOST_IP}", 30)
    assert done["status"] == 0
    assert sink.result() == ttcp_pattern(length) * count
    result = box.wait_for("result", 5)
    assert (result["dir"], result["proto"], result["end"]) == ("tx", "tcp", "ok")
    assert (result["bytes"], result["calls"]) == (length * count, count)
    assert result["peer"] == f"{HOST_IP}:{sink.port}"
    assert f"ttcp-t: {length * count} bytes in " in text
    assert " KB/sec" in text and "I/O calls, msec/call = " in text and "calls/sec = " in text


@pytest.mark.cards(*EVERY)
def test_tcp_out_10_mb_without_a_gap(box):
    sink = Sink()
    done, _ = box.command(f"ttcp -t -l 8192 -n 1280 -p {sink.port} {HOST_IP}", 60)
    assert done["status"] == 0
    assert sink.result() == ttcp_pattern(8192) * 1280
    result = box.wait_for("result", 5)
    assert result["bytes"] == 10 * MB and result["gap_us"] < 500_000


def test_tcp_out_defaults_and_no_delay(box):
    sink = Sink()
    done, _ = box.command(f"ttcp -t -D -l 10 -n 50 -p {sink.port} {HOST_IP}", 30)
    assert done["status"] == 0 and sink.result() == ttcp_pattern(10) * 50
    assert box.wait_for("result", 5)["packets"] >= 25, "no delay: writes do not wait for company"


def test_tcp_out_to_a_slow_receiver(box):
    """It closes its window for two seconds; nothing is lost, and the stall is seen."""
    sink = Sink(read_delay=2)
    done, _ = box.command(f"ttcp -t -l 8192 -n 2000 -p {sink.port} {HOST_IP}", 60)
    assert done["status"] == 0
    assert len(sink.result()) == 8192 * 2000
    result = box.wait_for("result", 5)
    assert result["bytes"] == 8192 * 2000 and result["gap_us"] >= 200_000


def test_tcp_out_refused(box):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    done, text = box.command(f"ttcp -t -n 10 -p {port} {HOST_IP}", 30)
    assert done["status"] == 1
    assert "refused" in text
    assert box.all("result") == [], "no payload, no result"


def test_tcp_out_aborted_by_ctrl_c(box):
    sink = Sink()
    since = box.mark()
    box.type(f"ttcp -t -n 100000 -p {sink.port} {HOST_IP}\r")
    time.sleep(1)
    box.type("\x03")
    done = box.wait_for("done", 10, since)
    assert done["status"] != 0
    result = box.wait_for("result", 5, since)
    assert result["end"] == "abort" and 0 < result["bytes"] < 100_000 * 8192
    assert box.command("help")[0]["status"] == 0


def test_progress_is_shown_once_a_second(box):
    sink = Sink(read_delay=0)
    since = len(box.text["serial"])
    box.type(f"ttcp -t -n 100000 -p {sink.port} {HOST_IP}\r")
    time.sleep(4.5)
    box.type("\x03")
    box.wait_for("done", 10)
    lines = [line for line in box.text["serial"][since:].split("\r\n")
             if "KB" in line and not line.startswith(("@", "ttcp-t:"))]
    assert 3 <= len(lines) <= 6, lines


def test_ttcp_receive_command(box):
    """`ttcp -r` waits for the next test on its port, reports it and ends."""
    since = box.mark()
    box.type("ttcp -r\r")
    time.sleep(0.5)
    assert box.all("done", since) == []
    send_tcp(box.port("tcp", 5001), b"r" * 12345)
    assert box.wait_for("done", 5, since)["status"] == 0
    assert box.wait_for("result", 5, since)["bytes"] == 12345
    # ... and the responder is still there
    send_tcp(box.port("tcp", 5001), b"r" * 100)
    box.wait_for("result", 5, since, bytes=100)


def test_both_directions_at_once(box):
    sink = Sink()
    box.type(f"ttcp -t -l 8192 -n 256 -p {sink.port} {HOST_IP}\r")
    send_tcp(box.port("tcp", 5001), b"b" * 2_000_000)
    assert sink.result() == ttcp_pattern(8192) * 256
    assert box.wait_for("result", 20, dir="rx")["bytes"] == 2_000_000
    assert box.wait_for("result", 20, dir="tx")["bytes"] == 256 * 8192


@pytest.mark.parametrize("words", ["batch=off", "irq=poll", "batch=off irq=poll"])
def test_other_paths_move_the_same_bytes(boot, words):
    machine = boot(f"{STATIC} {words}", forward={"tcp": [5001]})
    machine.wait_for("ready", 10)
    sink = Sink()
    assert machine.command(f"ttcp -t -l 8192 -n 128 -p {sink.port} {HOST_IP}", 30)[0]["status"] == 0
    assert sink.result() == ttcp_pattern(8192) * 128
    send_tcp(machine.port("tcp", 5001), b"o" * MB)
    assert machine.wait_for("result", 10, dir="rx")["bytes"] == MB


def test_dead_receiver_is_given_up(boot, peer):
    """The peer takes some segments and then never answers again: 30 s, and the box is free."""
    machine = boot(f"ip={peer.BOX_IP}/24", dgram=peer.sockets, icount=True)
    taken = []

    def answer(packet):
        if packet.proto != TCP:
            return
        if packet.flags & SYN:
            peer.send_ip(TCP, peer.tcp(packet.dport, packet.sport, 1000, packet.seq + 1,
                                       SYN | ACK, options=b"\x02\x04\x05\xb4"))
        elif packet.data and len(taken) < 5:
            taken.append(len(packet.data))
            peer.send_ip(TCP, peer.tcp(packet.dport, packet.sport, 1001,
                                       packet.seq + len(packet.data), ACK))
    peer.hook = answer
    machine.wait_for("ready", 20)
    done, text = machine.command(f"ttcp -t -n 100 {peer.IP}", 90)
    assert done["status"] == 1
    assert "30 s" in text, "it says why"
    result = machine.wait_for("result", 5)
    assert result["end"] == "timeout" and result["retrans"] >= 1
    assert sum(taken) <= result["bytes"] < 100 * 8192
    assert result["us"] < 5_000_000, "the idle time is not in it"
    assert machine.command("help")[0]["status"] == 0


# ---- UDP through slirp ----

def test_udp_in_paced(box):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", box.port("udp", 5001)))
        sender.send(SENTINEL)
        for _ in range(200):
            sender.send(ttcp_pattern(1024))
            time.sleep(0.001)
        for _ in range(5):
            sender.send(SENTINEL)
        result = box.wait_for("result", 10)
    assert (result["proto"], result["dir"], result["end"]) == ("udp", "rx", "ok")
    # A busy host may send in bursts that no NE2000 holds; what has arrived is counted right.
    assert result["bytes"] == result["packets"] * 1024 and 150 <= result["packets"] <= 200
    assert 200_000 <= result["us"] <= 5_000_000


@pytest.mark.parametrize("length,count", [(5, 20), (18, 300), (1472, 300)])
def test_udp_out(box, length, count):
    sink = UdpSink()
    done, _ = box.command(f"ttcp -t -u -l {length} -n {count} -p {sink.port} {HOST_IP}", 30)
    assert done["status"] == 0
    datagrams = sink.result()
    data = [d for d in datagrams if len(d) > 4]
    assert data == [ttcp_pattern(length)] * count
    assert len(datagrams[0]) == 4, "one sentinel before"
    assert len(datagrams) - len(data) >= 1 + 5, "five after"
    result = box.wait_for("result", 5)
    assert (result["proto"], result["bytes"], result["packets"]) == ("udp", length * count, count)


# ---- programs people have ----

def test_host_ttcp_in(box):
    status, out, err = run([host_ttcp(), "-t", "-n", "100", "-p", str(box.port("tcp", 5001)),
                            "127.0.0.1"])
    assert status == 0, err
    assert "ttcp-t: 819200 bytes in" in out and "100 I/O calls" in out
    assert box.wait_for("result", 5)["bytes"] == 819200


def test_host_ttcp_udp_in(box):
    status, _, err = run([host_ttcp(), "-t", "-u", "-l", "1000", "-n", "100", "-w", "1000", "-p",
                          str(box.port("udp", 5001)), "127.0.0.1"])
    assert status == 0, err
    result = box.wait_for("result", 5)
    assert result["bytes"] == result["packets"] * 1000 and 75 <= result["packets"] <= 100


@pytest.mark.skipif(shutil.which("nuttcp") is None, reason="nuttcp is not installed")
def test_nuttcp_falls_back_to_classic_ttcp(box):
    """Its control port refuses, so it does what ttcp did."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        control = probe.getsockname()[1]
    status, out, err = run(["nuttcp", "-t", "-P", str(control), "-p", str(box.port("tcp", 5001)),
                            "-l", "8192", "-n", "200", "127.0.0.1"])
    assert status == 0, out + err
    result = box.wait_for("result", 10)
    assert (result["bytes"], result["test"], result["end"]) == (200 * 8192, "ttcp", "ok")


def test_exit_status_of_a_transfer(boot):
    """run= and exit=on: the whole test as one command line."""
    sink = Sink()
    machine = boot(f'{STATIC} exit=on run="ttcp -t -n 16 -p {sink.port} {HOST_IP}"')
    assert machine.wait_exit(20) == 1
    assert sink.result() == ttcp_pattern(8192) * 16
    assert machine.all("exit")[0]["status"] == 0
