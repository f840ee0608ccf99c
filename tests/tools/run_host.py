#!/usr/bin/python3
"""run_host.py PROGRAM...: run the host tests, two at a time, then the tests of the tools.

One line each; the whole output only of what failed.  Each program has a minute.
"""
import concurrent.futures
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import closing  # noqa: E402

SECONDS = 60
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
              "UBSAN_OPTIONS": "print_stacktrace=1"}
PYTHON_TESTS = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/host"]


def run(name, command, seconds):
    """Run to the end or the time limit: (name, counts, seconds, output)."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, env={**os.environ, **SANITIZERS})
        status, output = done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        status = 1
        output = (late.stdout or b"").decode(errors="replace") + f"\nstopped after {seconds} s"
    return name, closing.judge(output, status), time.monotonic() - start, output


def main(programs):
    jobs = [(os.path.basename(program), [program], SECONDS) for program in programs]
    jobs.append(("tests of the tools", PYTHON_TESTS, 3 * SECONDS))
    total = closing.NOTHING
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, counts, seconds, output in pool.map(lambda job: run(*job), jobs):
            total = closing.add(total, counts)
            print(f"{'FAIL' if counts.failed else 'ok  '} {name}: {closing.line(counts)} "
                  f"({seconds:.1f} s)", flush=True)
            if counts.failed:
                print(output.rstrip(), flush=True)
    print(closing.line(total))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
