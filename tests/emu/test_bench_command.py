"""The `bench` command on an emulated machine: every step has a figure, on the 8254 and on the cycle
counter; what `split` samples agrees with what a plugin in QEMU counts."""

import os
import sys

import pytest

from machine import ROOT

sys.path.append(os.path.join(ROOT, "tests", "bench"))

import measure                                    # noqa: E402  (needs the path)
from rows import ISA, RTL8139, ROWS               # noqa: E402
from test_bench import image                      # noqa: E402,F401  (a fixture)

STATIC = "ip=10.0.2.15/24"
STEPS = ("clock", "copy", "checksum", "interrupt", "turn", "tx60", "tx1514", "rx18", "rx1472")
LAYERS = ("driver", "netif", "lwip", "checksum", "copy", "responder", "interrupt", "clock", "idle",
          "other")
NS = 64   # an instruction


@pytest.mark.cards("ne2k_isa", "rtl8139-pentium")
def test_every_step(boot):
    box = boot(f'{STATIC} run="bench all" exit=on', icount=True)
    assert box.wait_exit(60) == 1
    got = {record["name"]: record for record in box.all("bench")}
    assert list(got) == list(STEPS) + [f"split.{name}" for name in
                                       ("other",) + LAYERS[:-1]]
    for name in STEPS:
        record = got[name]
        assert record["n"] == 50 and record["unit"] == "ns" and record["share_pct"] is None
        assert 0 < record["min"] <= record["p50"] <= record["p99"] <= record["max"]
        assert (record["nic"] == 0) == name.startswith(("tx", "rx")), record
    # In instructions: `rep movs` 379, the unrolled sum of 1472 bytes at least 370, a frame 757
    # words through a 16-bit port or copied; the tick comes and goes within a few hundred.
    assert 379 * NS < got["copy"]["p50"] < 450 * NS
    assert 370 * NS < got["checksum"]["p50"] < 600 * NS
    assert 50 * NS < got["interrupt"]["p50"] < 600 * NS
    assert 370 * NS < got["tx1514"]["p50"] < 1500 * NS
    assert got["tx60"]["p50"] < got["tx1514"]["p50"]
    assert 150 * NS < got["rx18"]["p50"] < got["rx1472"]["p50"] < 1500 * NS
    shares = {name: float(got[f"split.{name}"]["share_pct"]) for name in LAYERS}
    assert 99 < sum(shares.values()) < 101 and shares["idle"] > 80


@pytest.mark.parametrize("nic", [ISA, RTL8139])
def test_split_is_true(image, monkeypatch, nic):   # noqa: F811
    """TCP receive for seven seconds of guest time, five of them sampled: the share of each layer
    within 1.5 points of the exact count, the time per packet within 10 % where it is much."""
    row = next(row for row in ROWS if row.name == "tcp_rx")
    count = {ISA: 40000, RTL8139: 52000}[nic]
    row = row._replace(run=f"peer also; {row.run.replace(str(row.count), str(count))}; bench split",
                       count=count)
    sampled = {}
    wait = measure._wait

    def wait_for_split(box, timeout):
        result = wait(box, timeout)
        assert box.wait_for("done", 60, cmd="bench split")["status"] == 0
        sampled.update({record["name"].removeprefix("split."): record
                        for record in box.all("bench")})
        return result
    monkeypatch.setattr(measure, "_wait", wait_for_split)
    got = measure.measure(row, nic, image, detail=True)
    exact = dict(got.layers, other=got.layers["peer"] + got.layers.get("rest", 0))
    ticks = got.result["us"] * 1000 / NS
    for name in LAYERS:
        share = 100 * exact.get(name, 0) / ticks
        assert abs(float(sampled[name]["share_pct"]) - share) < 1.5, (name, share, sampled[name])
        if share > 10:
            per_packet = exact[name] * NS / got.units
            assert abs(float(sampled[name]["mean"]) - per_packet) < 0.1 * per_packet, name
