"""Floods at an exact rate of guest time: no livelock, nothing lost below capacity, alive after."""

import os
import sys

import pytest

from machine import ROOT

sys.path.append(os.path.join(ROOT, "tests", "bench"))

from flood import flood              # noqa: E402  (needs the path)
from rows import CARDS               # noqa: E402
from test_bench import image         # noqa: E402,F401  (a fixture)

FRAMES = {18: 2048, 1472: 1024}
OVERLOAD_NS = {18: 15_000, 1472: 30_000}   # far more than any card gets through


CASES = ([(nic, length, "on") for nic in CARDS for length in FRAMES]
         + [(nic, 18, "off") for nic in CARDS] + [(CARDS[0], 1472, "off")])


@pytest.mark.parametrize("nic, length, batch", CASES)
def test_no_livelock(image, nic, length, batch):   # noqa: F811
    """At twice and at many times what the CPU can take, 80 % of the peak still gets through to the
    application; a little below what it can take, nothing is lost."""
    count, options = FRAMES[length], f"batch={batch}"

    def run(interval_ns):
        got = flood(nic, image, length, count, interval_ns, options)
        assert got.counters["rx_resync"] == got.counters["udp_drop"] == 0
        return got
    beyond = run(OVERLOAD_NS[length])
    each_ns = beyond.us * 1000 / beyond.taken   # what one costs when there is always one
    below, twice = run(int(each_ns * 1.25)), run(int(each_ns / 2))
    assert below.datagrams == below.sent == count
    peak = max(got.rate() for got in (below, twice, beyond))
    for got in (twice, beyond):
        assert got.rate() >= 0.8 * peak, (got, peak)
    if nic != "rtl8139":   # QEMU's holds frames back instead
        assert twice.datagrams < 0.75 * count
