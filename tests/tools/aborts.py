"""Every abort of the simulated machine must have been provoked by a wrong step of some test.

The tests write the place of each abort they provoked, `file:line`, into one file (wrong_step.c);
here it is held against the calls of sim_misuse() in the sources.
"""
import re

from source_files import own_files

SIMULATED = "tests/host/sim/"
CALL = re.compile(r"(?<!define )\bsim_misuse\(")


def calls_in(text):
    """(first line, last line) of each call of sim_misuse()."""
    for call in CALL.finditer(text):
        depth, end = 0, call.end() - 1
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                break
            end += 1
        yield text.count("\n", 0, call.start()) + 1, text.count("\n", 0, end) + 1


def all_calls(root):
    """(path, first line, last line) of each abort there is."""
    for path in own_files(root, ".c", ".h"):
        if path.startswith(SIMULATED):
            with open(f"{root}/{path}", encoding="utf-8") as source:
                for first, last in calls_in(source.read()):
                    yield path, first, last


def never_provoked(calls, places):
    """One line of complaint for each call that is at none of the places."""
    reached = {(path, int(line)) for path, _, line in
               (place.rpartition(":") for place in places if place)}
    return [f"{path}:{first}: no wrong step of a test provokes this abort"
            for path, first, last in calls
            if not any((path, line) in reached for line in range(first, last + 1))]


def judge(root, places_file):
    """(calls, complaints) after a run of the tests that wrote `places_file`."""
    with open(places_file, encoding="utf-8") as file:
        places = file.read().splitlines()
    calls = list(all_calls(root))
    return calls, never_provoked(calls, places)
