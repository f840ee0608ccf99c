#!/usr/bin/python3
"""run_host.py PROGRAM...: run the host tests and the tests of the tools, two at a time.

One line each as they end; the whole output only of what failed.  All together take some six
minutes; the limit of each is for what hangs, and generous for a busy machine.  At the end,
every abort of the simulated machine must have been provoked by one of them (aborts.py).
"""
import concurrent.futures
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import aborts  # noqa: E402
import closing  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WRONG_STEPS = os.path.abspath(os.path.join(os.environ.get("OUT", "out"), "host", "wrong_steps"))
SECONDS = 1500
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
              "UBSAN_OPTIONS": "print_stacktrace=1"}
TOOLS = "tests of the tools"
LONGEST = (TOOLS, "test_net", "test_conform")   # first, or they would run alone at the end
PYTHON_TESTS = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/host"]


def run(name, command, seconds):
    """Run to the end or the time limit: (name, counts, seconds, output)."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds,
                              env={**os.environ, **SANITIZERS, "WRONG_STEPS": WRONG_STEPS})
        status, output = done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        status = 1
        output = (late.stdout or b"").decode(errors="replace") + f"\nstopped after {seconds} s"
    return name, closing.judge(output, status), time.monotonic() - start, output


def provoked():
    """Counts of the aborts that some wrong step reached, and what to say of the others."""
    calls, complaints = aborts.judge(ROOT, WRONG_STEPS)
    return closing.Counts(len(calls) - len(complaints), len(complaints), 0), complaints


def main(programs):
    open(WRONG_STEPS, "w", encoding="utf-8").close()
    jobs = [(TOOLS, PYTHON_TESTS)]
    jobs += [(os.path.basename(program), [program]) for program in programs]
    jobs.sort(key=lambda job: job[0] not in LONGEST)
    total = closing.NOTHING
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run, name, command, SECONDS) for name, command in jobs]
        for done in concurrent.futures.as_completed(runs):
            name, counts, seconds, output = done.result()
            total = closing.add(total, counts)
            print(f"{'FAIL' if counts.failed else 'ok  '} {name}: {closing.line(counts)} "
                  f"({seconds:.1f} s)", flush=True)
            if counts.failed:
                print(output.rstrip(), flush=True)
    counts, complaints = provoked()
    total = closing.add(total, counts)
    print("\n".join([f"{'FAIL' if complaints else 'ok  '} aborts provoked: {closing.line(counts)}",
                     *complaints]))
    print(closing.line(total))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
