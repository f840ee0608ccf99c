#!/usr/bin/python3
"""layers.py: every test, layer by layer (DESIGN section 7), fast ones first.

A layer that fails does not stop the next.  Prints the time of each, and at the end the sum of what
all runners counted, alone on a line.
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import closing  # noqa: E402

MAKE = os.environ.get("MAKE", "make")
FUZZ_SECONDS = 15
EMULATORS = [sys.executable, "tests/tools/run_emu.py"]

LAYERS = [
    ("0 lint", [MAKE, "--no-print-directory", "lint"]),
    ("1 host tests", [MAKE, "--no-print-directory", "-j2", "check"]),
    ("2 lwIP's own suite", [MAKE, "--no-print-directory", "-j2", "lwip-test"]),
    ("3 short fuzz", [MAKE, "--no-print-directory", "-j2", "fuzz", f"TIME={FUZZ_SECONDS}"]),
    ("4 QEMU", EMULATORS + ["not bochs and not long"]),
    ("5 Bochs", EMULATORS + ["bochs and not long"]),
]


def run(command):
    """Run, showing the output as it comes; (status, output)."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL) as child:
        for line in child.stdout:
            text = line.decode(errors="replace")
            lines.append(text)
            print(text, end="", flush=True)
    return child.returncode, "".join(lines)


def main():
    total = closing.NOTHING
    summary = []
    for name, command in LAYERS:
        print(f"---- layer {name}", flush=True)
        start = time.monotonic()
        status, output = run(command)
        counts = closing.judge(output, status)
        total = closing.add(total, counts)
        summary.append(f"{name:<20} {time.monotonic() - start:6.1f} s  {closing.line(counts)}")
    print("---- layers\n" + "\n".join(summary))
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
