#!/usr/bin/python3
"""lint_shape.py [ROOT]: files under 500 lines, functions of at most 60, lines of at most 100
columns, no tabs or trailing blanks, no words that promise something for later.

A function is what stands between a `{` and a `}` in column 0, as clang-format leaves it.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source_files import lines_of, own_files  # noqa: E402

FILE_MAX, FUNCTION_MAX, COLUMNS = 500, 60, 100
PROMISE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


def long_functions(lines):
    """(line, length) of every function that is too long."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            length = number - start - 1
            if length > FUNCTION_MAX:
                yield start, length
            start = None


def line_faults(line):
    if len(line) > COLUMNS:
        yield f"{len(line)} columns, at most {COLUMNS}"
    if line != line.rstrip():
        yield "blanks at the end of the line"
    if PROMISE.search(line):
        yield "a note to oneself belongs into an issue"


def file_faults(path, lines):
    if len(lines) - 1 >= FILE_MAX:
        yield f"{path}:{len(lines)}: {len(lines) - 1} lines, must be under {FILE_MAX}"
    if path.endswith((".c", ".h")):
        for number, length in long_functions(lines):
            yield f"{path}:{number}: function of {length} lines, at most {FUNCTION_MAX}"
    for number, line in enumerate(lines, 1):
        for fault in line_faults(line):
            yield f"{path}:{number}: {fault}"
        if "\t" in line and path.endswith((".c", ".h", ".py", ".sh")):
            yield f"{path}:{number}: tab"


def findings(root):
    return [fault for path in own_files(root, ".c", ".h", ".S", ".py", ".sh", ".ld")
            for fault in file_faults(path, lines_of(root, path))]


if __name__ == "__main__":
    report = findings(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(report))
    sys.exit(1 if report else 0)
