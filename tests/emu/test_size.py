"""`make size`: its table adds up, and names come from where they are."""

import os
import subprocess
import sys

from machine import OUT, ROOT, product

sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))

import size  # noqa: E402  (needs the path)


def test_every_byte_is_in_the_table():
    elf = product("nictest86.sym")
    table, named = size.by_layer(elf)
    told = subprocess.run(["size", elf], check=True, text=True, stdout=subprocess.PIPE).stdout
    text, data, bss = (int(word) for word in told.splitlines()[1].split()[:3])
    totals = {column: sum(row[column] for row in table.values()) for column in size.COLUMNS}
    # Sections begin aligned, and the multiboot header is in none of these.
    assert 0 <= text - totals["text"] - totals["const"] < 64
    assert 0 <= data - totals["data"] < 64 and 0 <= bss - totals["bss"] < 64
    assert set(table) == {"drivers", "kernel", "lwip", "net", "net/apps", size.UNNAMED}
    assert table[size.UNNAMED]["text"] < text / 20
    assert ("drivers", "nics") in {(where, name) for _, _, where, name in named}


def test_pools_scale_with_memory():
    place = {(source.removeprefix("./"), name): at
             for at, (source, name) in size.variables(product("nictest86.sym")).items()}
    small, large = size.pools(place, 2), size.pools(place, 8)
    for free, used, frames, window in (small, large):
        assert frames < used < free and window >= 2 * 1460
    assert small[2] < large[2] and small[0] < 1 << 20 < large[0]


def test_make_size_prints_it():
    run = subprocess.run([sys.executable, f"{ROOT}/tests/tools/size.py", OUT], check=True,
                         text=True, stdout=subprocess.PIPE, env={**os.environ, "OUT": OUT})
    for word in ("net/apps", "The largest symbols", "the kernel packed", "16 MB"):
        assert word in run.stdout
