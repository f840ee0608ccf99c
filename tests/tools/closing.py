"""The counts in what a test runner prints: our closing line, pytest's, or Check's."""
import re
from collections import namedtuple

Counts = namedtuple("Counts", "passed failed skipped")
NOTHING = Counts(0, 0, 0)

OURS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.MULTILINE)
PYTEST = re.compile(r"^(?:=+ )?((?:\d+ \w+(?:, )?)+) in [\d.]+s\b.*$", re.MULTILINE)


def add(a, b):
    return Counts(*(x + y for x, y in zip(a, b)))


def pytest_counts(words):
    counts = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) (\w+)", words)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return Counts(counts.get("passed", 0), failed, counts.get("skipped", 0))


def counts_in(output):
    """Counts of the last closing line in `output`, None if there is none."""
    found = [(match.start(), Counts(*(int(n or 0) for n in match.groups())))
             for match in OURS.finditer(output)]
    for match in CHECK.finditer(output):
        run, failures, errors = map(int, match.groups())
        found.append((match.start(), Counts(run - failures - errors, failures + errors, 0)))
    found += [(match.start(), pytest_counts(match[1])) for match in PYTEST.finditer(output)]
    return max(found)[1] if found else None


def judge(output, status):
    """Counts of a run that ended with `status`: one that failed without saying so, or that counted
    no test at all, is one failure more."""
    counts = counts_in(output)
    if counts is None or (status != 0 and counts.failed == 0) or counts == NOTHING:
        return add(counts or NOTHING, Counts(0, 1, 0))
    return counts


def line(counts):
    skipped = f", {counts.skipped} skipped" if counts.skipped else ""
    return f"{counts.passed} passed, {counts.failed} failed{skipped}"
