"""No result depends on our tick (SEEDS 1): kernels with half and double of it measure the same."""

import os
import statistics
import subprocess

import pytest

from machine import OUT, ROOT, product
from qemu import GUEST_IP
from rawpeer import ACK, FIN, SYN, TCP

USUAL_HZ = 100
RUNS = 7  # single ones are disturbed by a busy host


def kernel_with_tick(hz):
    """A kernel built with another timer interrupt, in a directory of its own."""
    if hz == USUAL_HZ:
        return product("nictest86.elf")
    out = os.path.join(OUT, f"tick{hz}")
    lwip = os.path.abspath(os.environ.get("LWIP") or os.path.join(OUT, "lwip"))
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "OUT", "LWIP")}
    target = os.path.join(os.path.relpath(out, ROOT), "nictest86.elf")
    built = subprocess.run(
        ["make", "-j2", "-C", ROOT, f"OUT={os.path.relpath(out, ROOT)}", f"LWIP={lwip}",
         f"TICK_HZ={hz}", target], env=environment, capture_output=True, text=True, timeout=300,
        check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return os.path.join(ROOT, target)


def calls_per_second(wired, peer, hz):
    """`ttcp -t -n 32768 -l 1` in guest time, into a neighbour that acknowledges full segments only:
    Nagle's rule then gathers almost the same segments in each run, however late the host is."""
    def sink(packet):
        if packet.proto != TCP or packet.dport != 5001:
            return
        end = packet.seq + len(packet.data) + (packet.flags & (SYN | FIN) != 0)
        flags = ACK | (packet.flags & (SYN | FIN))
        if len(packet.data) >= 1460 or packet.flags & (SYN | FIN):
            peer.send_ip(TCP, peer.tcp(5001, packet.sport, 1 if flags & SYN else 2, end, flags,
                                       window=32768,
                                       options=b"\x02\x04\x05\xb4" if flags & SYN else b""))
    peer.hook = sink
    box = wired(kernel=kernel_with_tick(hz), icount="shift=6,align=off,sleep=on")
    rates, bounds = [], []
    for _ in range(RUNS):
        since = box.mark()
        done, _ = box.command(f"ttcp -t -n 32768 -l 1 {peer.IP}", 60)
        assert done["status"] == 0
        result = box.wait_for("result", 5, since)
        assert (result["bytes"], result["calls"]) == (32768, 32768)
        bounds.append(result["bound"])
        rates.append(float(result["calls_s"]))
    box.close()
    ours = sum(bound in ("cpu", "wire") for bound in bounds)
    assert ours > RUNS / 2, bounds  # the rest: this host left the peer waiting
    return statistics.median(rates)


@pytest.mark.parametrize("hz", [50, 200])
def test_calls_per_second(boot, peer, hz):
    """Against 100 Hz: less than 2 % apart."""
    def wired(**options):
        machine = boot(f"ip={GUEST_IP}/24", dgram=peer.sockets, **options)
        machine.wait_for("ready", 20)
        peer.find_box()
        return machine
    usual = calls_per_second(wired, peer, USUAL_HZ)
    other = calls_per_second(wired, peer, hz)
    assert usual > 1000, "no tick-bound 100 calls a second"
    assert abs(other - usual) < 0.02 * usual, (hz, other, usual)
