"""Bochs: the floppy with our own loader, at the pace of a 386, on small machines and other drives.

Bochs turns its floppy: a track takes 0.2 s of guest time, as on a real drive.
"""

import pytest

from disk import Disk
from machine import product

pytestmark = pytest.mark.bochs

STATIC = "ip=10.0.2.15/24,10.0.2.2"
IPS_386 = 6_000_000  # a 386DX-33
GOAL_MS = 6000


@pytest.mark.parametrize("mem", [2, 4])
def test_power_on_to_ready(boot_bochs, tmp_path, mem):
    """From the loader's first sector to `ready` with a static address, the count included."""
    disk = Disk(tmp_path)
    disk.options(STATIC)
    box = boot_bochs(floppy=disk.path, mem=mem, ips=IPS_386, sync="none")
    ready = box.wait_for("ready", 120, how="static")
    said = box.all("boot")[0]
    assert abs(said["mem_kb"] - mem * 1024) <= 1024
    took = said["load_ms"] + ready["t_us"] // 1000
    print(f"{mem} MB: loaded in {said['load_ms']} ms, ready after {took} ms")
    assert 2900 <= took < GOAL_MS
    tracks = box.text["e9"].split("NicTest86 0")[1].count(".") - 2
    print(f"{tracks + 1} tracks")
    assert tracks + 1 <= 18, "at most 160 KB are read, stage 2 with them"


@pytest.mark.parametrize("image", ["nictest86-1200.img", "nictest86-720.img", "nictest86-360.img"])
def test_other_drives(boot_bochs, image):
    box = boot_bochs(floppy=product(image))
    box.wait_for("ready", 120, how="dhcp")
    assert box.all("fault") == []


def test_next_to_nothing(boot_bochs, tmp_path):
    """No card, no serial port, and as if the CPU knew no CPUID: a line, and the prompt."""
    disk = Disk(tmp_path)
    disk.options("cpu=nocpuid", "run=nics")
    box = boot_bochs(floppy=disk.path, mem=4, nic="none", serial=False, sync="none")
    assert box.wait_for("fault", 60)["what"] == "nic_missing"
    assert box.wait_for("done", 10)["status"] == 2
    said = box.all("boot")[0]
    assert said["tsc"] is False and said["cpu"] in ("386", "486") and said["load_ms"] > 2900
