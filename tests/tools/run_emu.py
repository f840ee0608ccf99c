#!/usr/bin/python3
"""run_emu.py MARK: the system tests that MARK (pytest's -m) selects, two files of them at a time.

A system test has a real client at the other end, and that client sees the wall clock: on a busy
machine a test can fail that passes on an idle one.  So what failed is run once more, alone, and
only what fails again has failed.  What passes then is named in the closing lines, with what the
first run left in out/failed/.  More than a handful of first failures get no second run.
"""
import os
import subprocess
import sys

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
import closing  # noqa: E402

OUT = os.environ.get("OUT", "out")
FAILED = os.path.join(OUT, "failed", "tests")
HANDFUL = 5
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "failed_tests",
          f"--failed-tests={FAILED}"]
TOGETHER = ["-n", "2", "--dist", "loadfile"]    # a file's tests share what its fixtures build


def run(words):
    """Run pytest, showing its output as it comes: (counts, names of the failed tests)."""
    output = ""
    if os.path.exists(FAILED):
        os.remove(FAILED)
    with subprocess.Popen(PYTEST + words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": TOOLS}) as child:
        for line in child.stdout:
            text = line.decode(errors="replace")
            output += text
            print(text, end="", flush=True)
    names = []
    if os.path.exists(FAILED):
        with open(FAILED, encoding="utf-8") as file:
            names = file.read().splitlines()
    return closing.judge(output, child.returncode), names


def second_run(first, names):
    """Counts after the failed tests have had their second run, and the names of those that passed
    in it."""
    again, still = run(names)
    better = [name for name in names if name not in still]
    if again.passed != len(better) or again.failed != len(still):
        return first, []        # something else than a test went wrong
    return closing.Counts(first.passed + again.passed, again.failed, first.skipped), better


def main(mark):
    counts, names = run(["tests/emu", "-m", mark] + TOGETHER)
    better = []
    if 0 < len(names) <= HANDFUL:
        print(f"---- once more, alone: {len(names)} of them", flush=True)
        counts, better = second_run(counts, names)
    for name in better:
        print(f"passed only when run alone: {name}")
    print(closing.line(counts))
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
