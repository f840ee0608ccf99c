#!/usr/bin/python3
"""run_fuzz.py FOLDER SECONDS NAME...: run each fuzzer FOLDER/NAME for SECONDS, two at a time.

Seeds come from tests/host/seeds/NAME, if there are any; what libFuzzer finds new is kept in
FOLDER/corpus/NAME, and an input that crashes in FOLDER/found-NAME-*: give it to the program as
argument to see it again.
"""
import concurrent.futures
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import closing  # noqa: E402

GRACE = 60  # seconds for a fuzzer to notice that its time is over


def fuzz(folder, seconds, name):
    """(name, ok, output)"""
    corpus = f"{folder}/corpus/{name}"
    os.makedirs(corpus, exist_ok=True)
    seeds = f"tests/host/seeds/{name}"
    command = [f"{folder}/{name}", f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10",
               "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={folder}/found-{name}-", corpus]
    if os.path.isdir(seeds):
        command.append(seeds)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds + GRACE)
    except subprocess.TimeoutExpired as late:
        return name, False, (late.stdout or b"").decode(errors="replace") + "\nit hangs"
    return name, done.returncode == 0, done.stdout.decode(errors="replace")


def executions(output):
    runs = [line.split()[-1] for line in output.splitlines() if "number_of_executed_units" in line]
    return runs[-1] if runs else "?"


def main(folder, seconds, names):
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, ok, output in pool.map(lambda name: fuzz(folder, seconds, name), names):
            failed += not ok
            print(f"{'ok  ' if ok else 'FAIL'} {name}: {executions(output)} inputs", flush=True)
            if not ok:
                print("\n".join(output.splitlines()[-60:]), flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
