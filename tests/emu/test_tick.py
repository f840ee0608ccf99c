"""No result depends on our tick (SEEDS 1): kernels with half and double of it measure the same.

In guest time (-icount) against the bench's own neighbour, so that how busy this host is shows in
no figure.
"""

import os
import subprocess
import sys

import pytest

from machine import OUT, ROOT

sys.path.append(os.path.join(ROOT, "tests", "bench"))

import measure                      # noqa: E402  (needs the path)
from image import Image             # noqa: E402
from rows import ISA, ROWS          # noqa: E402
from test_bench import image        # noqa: E402,F401  (a fixture)

ROW = next(row for row in ROWS if row.name == "tcp_tx_1_nagle")


def image_with_tick(hz):
    """A bench kernel built with another timer interrupt, in a directory of its own."""
    out = os.path.join(OUT, f"tick{hz}")
    lwip = os.path.abspath(os.environ.get("LWIP") or os.path.join(OUT, "lwip"))
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "OUT", "LWIP")}
    built = subprocess.run(
        ["make", "-j2", "-C", ROOT, f"OUT={os.path.relpath(out, ROOT)}", f"LWIP={lwip}",
         f"TICK_HZ={hz}", "bench-build"], env=environment, capture_output=True, text=True,
        timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return Image(os.path.join(out, "bench", "nictest86.elf"), os.path.join(out, "obj"))


@pytest.fixture(scope="module")
def usual(image):   # noqa: F811
    """The result at 100 Hz."""
    return measure.measure(ROW, ISA, image).result


@pytest.mark.parametrize("hz", [50, 200])
def test_calls_per_second(usual, hz):
    """`ttcp -t -l 1` against 100 Hz: less than 2 % apart."""
    other = measure.measure(ROW, ISA, image_with_tick(hz)).result
    assert usual["calls"] == other["calls"] == ROW.count
    assert float(usual["calls_s"]) > 1000, "no tick-bound 100 calls a second"
    assert abs(float(other["calls_s"]) / float(usual["calls_s"]) - 1) < 0.02, (hz, other, usual)
