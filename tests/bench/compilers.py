#!/usr/bin/python3
"""Which compiler options are best: each set builds a bench kernel of its own, and the same rows are
measured with it, in instructions and in estimated microseconds on a 386 and a 486 (estimate.py).

    tests/bench/compilers.py [--rows NAME,...] [--cards NAME,...] [--flags 'SET; SET...'] [--write]

A set is words: FAST=-O2 (or another) for what a packet goes through, WARM= for the rest of net/ and
lwIP, SMALL= for all else, as the Makefile has them; other words are added to the kernel's flags and
so overrule them.  "as built" changes nothing.  The first set is the yardstick.
"""

import argparse
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "emu"))

import document                                  # noqa: E402  (needs the path)
import estimate                                  # noqa: E402
from bench import chosen                         # noqa: E402
from machine import OUT, ROOT                    # noqa: E402
from measure import load_image, measure          # noqa: E402
from rows import CARDS, ISA, RTL8139, ROWS       # noqa: E402

AS_BUILT = "as built"
SETS = (AS_BUILT + "; FAST=-O2; FAST=-Os; WARM=-O2; WARM=-O3; SMALL=-O2; -fno-lto; -mtune=i486; "
        "-mtune=pentium; -mpreferred-stack-boundary=4 -fcaller-saves; "
        "--param=max-inline-insns-auto=60 --param=inline-unit-growth=100")
DEFAULT_ROWS = "udp_tx_18 udp_rx_18 tcp_tx tcp_rx tcp_rx_paced tcp_tx_1_nodelay"
SECTION = "compilers"
NO_ERROR = "-Wno-error=stack-usage="  # another set needs another stack
VARIABLE = re.compile(r"(?:FAST|WARM|SMALL)=-O\w")


def make(*words):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    given = [f"LWIP={os.environ['LWIP']}"] if os.environ.get("LWIP") else []
    done = subprocess.run(["make", "--no-print-directory", "-C", ROOT, *given, *words], check=False,
                          capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def build(flags, kernel_flags):
    """The folder of a bench kernel with these options."""
    folder = os.path.join(OUT, "compilers", re.sub(r"\W+", "_", flags).strip("_"))
    words = [] if flags == AS_BUILT else flags.split()
    added = [word for word in words if not VARIABLE.fullmatch(word)] + [NO_ERROR]
    make("-j", str(os.cpu_count()), f"OBJ={folder}/obj", f"BENCH={folder}",
         "NO_LAYER_MAP=1",  # some sets make more code than it has room for
         " ".join([f"KERNEL_FLAGS={kernel_flags}"] + added),
         *(word for word in words if VARIABLE.fullmatch(word)), f"{folder}/nictest86.elf")
    return folder


def costs(folder, cells, jobs):
    """{(row, card): (instructions, ns on each machine)}, each per packet."""
    image = load_image(folder)
    listing = estimate.disassemble(image.elf)

    def one(cell):
        got = measure(*cell, image)
        return (got.cost, *(estimate.nanoseconds(got.counts, image, listing, machine) / got.units
                            for machine in estimate.MACHINES))
    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(((row.name, card) for row, card in cells), pool.map(one, cells)))


def text_size(folder):
    out = subprocess.run(["size", f"{folder}/nictest86.elf"], check=True, capture_output=True,
                         text=True).stdout
    return int(out.splitlines()[1].split()[0])


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def relative(got, base, which):
    return geomean(got[cell][which] / base[cell][which] for cell in base)


def table(results):
    """Markdown: each set against the first, then the cells of TCP receive in full."""
    names = ["instructions"] + [machine.name for machine in estimate.MACHINES]
    _, base, _ = results[0]
    text = ("| options | text, KB | " + " | ".join(names) + " | "
            + " | ".join(f"tcp_rx, us on {machine.name}" for machine in estimate.MACHINES) + " |\n"
            + "|---" * (2 + len(names) + len(estimate.MACHINES)) + "|\n")
    cell = next(one for one in base if one[0] == "tcp_rx")
    for flags, got, size in results:
        parts = [f"{relative(got, base, which):.3f}" for which in range(len(names))]
        parts += [f"{got[cell][which] / 1000:.0f}" for which in range(1, len(names))]
        text += f"| `{flags}` | {size / 1024:.0f} | " + " | ".join(parts) + " |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", default=DEFAULT_ROWS)
    parser.add_argument("--cards", default=f"{ISA} {RTL8139}")
    parser.add_argument("--flags", default=SETS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    words = parser.parse_args()
    rows = chosen(words.rows, "row", ROWS, lambda row: row.name)
    cells = [(row, card) for card in chosen(words.cards, "card", CARDS, str) for row in rows]
    kernel_flags = make("-s", "bench-flags").strip()
    results = []
    for flags in [one.strip() for one in words.flags.split(";")]:
        folder = build(flags, kernel_flags)
        got = costs(folder, cells, words.jobs)
        results.append((flags, got, text_size(folder)))
        print(table(results).splitlines()[-1], flush=True)
    print("\n" + table(results))
    for cell in results[0][1]:
        print(f"{cell[1]} {cell[0]}: " + "; ".join(
            f"{flags}: {got[cell][0]:.0f}, "
            + ", ".join(f"{ns / 1000:.1f} us" for ns in got[cell][1:])
            for flags, got, _ in results))
    if words.write:
        document.replace(SECTION, table(results) + f"\nCommit {document.commit()}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
