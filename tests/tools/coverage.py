#!/usr/bin/python3
"""coverage.py FOLDER [--details] PROGRAM...: run the programs, built with gcc --coverage into
FOLDER/obj, and print how many branches of drivers/ they took together.

The same source is compiled once for each set of flags; a branch counts as taken if any of its
copies was.  The last line is `drivers/ branch coverage: N %`; less than AT_LEAST is a failure.
"""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

SECONDS = 1200
COVERED = "drivers/"
AT_LEAST = 90


def run(program):
    """None, or what a failing program said."""
    try:
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{program}: stopped after {SECONDS} s"
    return None if done.returncode == 0 else f"{program}:\n{done.stdout.decode(errors='replace')}"


def gcov(note):
    """What gcov knows of one object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", note],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


def branches(folder):
    """(file, line, index) -> how often that branch was taken."""
    taken = collections.Counter()
    for note in sorted(glob.glob(f"{folder}/obj/*/{COVERED}**/*.gcno", recursive=True)):
        for report in gcov(note):
            for source in report["files"]:
                if not source["file"].startswith(COVERED):
                    continue
                for line in source["lines"]:
                    for index, branch in enumerate(line["branches"]):
                        key = source["file"], line["line_number"], index
                        taken[key] += branch["count"]
    return taken


def percent(part, whole):
    """Rounded down: 89.99 is not 90."""
    return 100 * part // whole if whole else 0


def print_report(taken, details):
    files = collections.defaultdict(list)
    for (file, line, _), count in sorted(taken.items()):
        files[file].append((line, count))
    for file, found in sorted(files.items()):
        hit = sum(count > 0 for _, count in found)
        print(f"{percent(hit, len(found)):4} %  {hit:5} of {len(found):5}  {file}")
        if details:
            missed = sorted({line for line, count in found if count == 0})
            for line in missed:
                print(f"            {file}:{line}")
    whole = percent(sum(count > 0 for count in taken.values()), len(taken))
    print(f"{COVERED} branch coverage: {whole} %")
    return whole


def main(arguments):
    details = "--details" in arguments
    folder, *programs = [word for word in arguments if word != "--details"]
    for data in glob.glob(f"{folder}/obj/**/*.gcda", recursive=True):
        os.remove(data)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failed = [said for said in pool.map(run, programs) if said is not None]
    print("\n".join(failed), end="\n" if failed else "")
    return 1 if print_report(branches(folder), details) < AT_LEAST or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
