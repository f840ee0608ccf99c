#!/usr/bin/python3
"""mutants.py OUT TABLE: break driver lines one at a time; the host suites must notice each.

TABLE holds entries, apart by blank lines; lines that begin with # are comments:

    drivers/8390/ring.c: ring
    - return page + 1 >= stop ? start : page + 1;
    + return page + 1 > stop ? start : page + 1;

First the file and, after the colon, the suites that should notice, apart by commas, each with a
case of it if that will do (conform/overrun).  The lines with - must stand in the file exactly once,
blanks at either end aside; those with + take their place.  An entry that no longer fits stops
everything: say what it is to break now.

Each of two workers has a copy of the tree, built without sanitizers; a mutant costs a compilation,
a link, and its suites up to the first failure.  Ends with the line `N passed, N failed`.
"""
import concurrent.futures
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source_files import own_files  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKERS = 2
BUILD_SECONDS = 600
RUN_SECONDS = 300
AT_LEAST = 30
COPIED = (".c", ".h", ".mk", ".S", ".ld", ".py", ".sh", ".txt", "Makefile")


class Mutant(NamedTuple):
    """One way to break a file."""
    path: str
    suites: tuple   # (suite, case or "")
    old: tuple      # lines without blanks at either end
    new: tuple
    line: int       # of the entry

    def __str__(self):
        if self.new:
            return f"{self.path}: {' '.join(self.new)}"
        return f"{self.path}: without {' '.join(self.old)}"


class StaleEntry(Exception):
    """An entry that does not fit its file any more, or none at all."""


# ---- the table ----

def suites_of(text):
    """"conform/8139 rx, pci" -> (("conform", "8139 rx"), ("pci", ""))"""
    return tuple((suite.strip(), case.strip()) for suite, _, case in
                 (one.partition("/") for one in text.split(",")))


def parse(text):
    """The mutants of a table."""
    entries, entry = [], []
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            entry.append((number, line))
        elif entry:
            entries.append(entry)
            entry = []
    return [parse_entry(entry) for entry in entries]


def parse_entry(entry):
    number, head = entry[0]
    path, colon, suites = head.partition(":")
    old = tuple(line[1:].strip() for _, line in entry[1:] if line.startswith("-"))
    new = tuple(line[1:].strip() for _, line in entry[1:] if line.startswith("+"))
    if not colon or not suites.strip() or not old or old == new or \
            len(old) + len(new) != len(entry) - 1:
        raise StaleEntry(f"line {number}: no entry: {head}")
    return Mutant(path.strip(), suites_of(suites), old, new, number)


def mutate(mutant, text):
    """The file with its lines exchanged."""
    lines = text.split("\n")
    bare = [line.strip() for line in lines]
    n = len(mutant.old)
    found = [i for i in range(len(lines) - n + 1) if tuple(bare[i:i + n]) == mutant.old]
    if len(found) != 1:
        raise StaleEntry(f"line {mutant.line}: in {mutant.path} there {'are' if found else 'is no'}"
                         f" {len(found) if found else 'such'} line{'s' if found else ''}: "
                         f"{mutant.old[0]}")
    return "\n".join(lines[:found[0]] + list(mutant.new) + lines[found[0] + n:])


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def load(table):
    """The mutants of the table, each known to fit."""
    mutants, stale = parse(read(table)), []
    for mutant in mutants:
        try:
            mutate(mutant, read(os.path.join(ROOT, mutant.path)))
        except (StaleEntry, FileNotFoundError) as error:
            stale.append(str(error))
    if stale:
        raise StaleEntry("\n".join(stale))
    if len(mutants) < AT_LEAST:
        raise StaleEntry(f"{len(mutants)} entries, at least {AT_LEAST}")
    return mutants


# ---- a worker's tree ----

class Tree:
    """A copy of the sources, with its own build."""

    def __init__(self, where):
        self.where = where
        for path in own_files(ROOT, *COPIED):
            copy = os.path.join(where, path)
            text = read(os.path.join(ROOT, path))
            if not os.path.exists(copy) or read(copy) != text:
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copy2(os.path.join(ROOT, path), copy)
                os.utime(copy)

    def write(self, path, text):
        with open(os.path.join(self.where, path), "w", encoding="utf-8") as file:
            file.write(text)

    def build(self, suites):
        """None, or what the compiler said."""
        lwip = os.environ.get("LWIP", "")
        lwip = [f"LWIP={os.path.join(ROOT, lwip)}"] if lwip else []
        done = subprocess.run(
            ["make", "-s", *lwip, "OUT=out", "HOST_SANITIZE=", "HOST_WARNINGS=-w",
             *(f"out/host/test_{suite}" for suite in suites)],
            cwd=self.where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            timeout=BUILD_SECONDS, env={**os.environ, "MAKEFLAGS": ""})
        return None if done.returncode == 0 else done.stdout.decode(errors="replace")

    def run(self, suite, case):
        """None if all passes, else the first complaint."""
        environment = {**os.environ, "CK_TAP_LOG_FILE_NAME": "-", "CK_VERBOSITY": "silent"}
        if case:
            environment["CK_RUN_CASE"] = case
        with subprocess.Popen([f"out/host/test_{suite}"], cwd=self.where, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as child:
            try:
                return first_complaint(child, time.monotonic() + RUN_SECONDS)
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass


def first_complaint(child, until):
    """Read what a suite says, as TAP lines among others, up to the first failure."""
    passed = 0
    for raw in child.stdout:
        line = raw.decode(errors="replace")
        if line.startswith("not ok"):
            return re.sub(r"not ok \d+ - ", "", line).strip()[:100]
        passed += line.startswith("ok ")
        if time.monotonic() > until:
            return "does not end"
    if child.wait() != 0 or passed == 0:
        return f"ended with {child.returncode} after {passed} cases"
    return None


# ---- the work ----

def try_mutant(tree, mutant):
    """(caught, what noticed it or what is wrong)"""
    original = read(os.path.join(ROOT, mutant.path))
    tree.write(mutant.path, mutate(mutant, original))
    try:
        said = tree.build([suite for suite, _ in mutant.suites])
        if said is not None:
            return False, "does not compile:\n" + said
        for suite, case in mutant.suites:
            complaint = tree.run(suite, case)
            if complaint is not None:
                return True, f"{suite}: {complaint}"
        return False, "nobody noticed"
    finally:
        tree.write(mutant.path, original)


def baseline(tree, parts):
    """Unbroken, everything must pass: what did not."""
    said = tree.build(sorted({suite for suite, _ in parts}))
    if said is not None:
        return said
    for suite, case in parts:
        complaint = tree.run(suite, case)
        if complaint is not None:
            return f"unbroken, {suite}/{case} fails: {complaint}"
    return None


def shares(items):
    """Two halves of a list, in turn."""
    return [items[i::WORKERS] for i in range(WORKERS)]


def report(mutant, caught, words, seconds):
    print(f"{'ok  ' if caught else 'FAIL'} {mutant} ({seconds:.1f} s)\n       {words}", flush=True)


def run_all(trees, mutants):
    """Try them all, those of a file one after the other; how many were caught."""
    waiting = queue.Queue()
    for mutant in sorted(mutants):
        waiting.put(mutant)

    def work(tree):
        caught = 0
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return caught
            start = time.monotonic()
            good, words = try_mutant(tree, mutant)
            report(mutant, good, words, time.monotonic() - start)
            caught += good

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return sum(pool.map(work, trees))


def main(out, table):
    start = time.monotonic()
    try:
        mutants = load(table)
    except StaleEntry as error:
        print(f"{table} no longer fits the sources:\n{error}\n0 passed, 1 failed")
        return 1
    trees = [Tree(os.path.join(out, f"tree{i}")) for i in range(WORKERS)]
    parts = sorted({part for mutant in mutants for part in mutant.suites})
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        failed = [said for said in pool.map(baseline, trees, shares(parts)) if said is not None]
    if failed:
        print("\n".join(failed) + "\n0 passed, 1 failed")
        return 1
    print(f"unbroken, {len(parts)} parts of the suites pass ({time.monotonic() - start:.0f} s)",
          flush=True)
    caught = run_all(trees, mutants)
    print(f"mutants: {len(mutants)} in {time.monotonic() - start:.0f} s")
    print(f"{caught} passed, {len(mutants) - caught} failed")
    return 0 if caught == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
