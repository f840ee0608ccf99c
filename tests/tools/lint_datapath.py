#!/usr/bin/python3
"""lint_datapath.py [ROOT]: net/DATAPATH.md is true.

Each `function` that the page puts before a path must be defined in that file; one that belongs to
lwIP (named on a line or in a chain with "(lwIP)") only has to be no function of ours.
"""
import os
import re
import sys

PAGE = "net/DATAPATH.md"
STEP = re.compile(r"`([a-z_0-9]+)`((?:\s*(?:→|/)\s*`[a-z_0-9]+`)*)\s+(\(lwIP\)|[a-z_0-9/]+\.[chS])")
NAME = re.compile(r"`([a-z_0-9]+)`")


def defines(text, name):
    """A definition: the name at the start of a declaration, not of a call."""
    return re.search(rf"^[a-z_][\w \t*]*\b{name}\([^;]*?\)\s*\{{", text, re.MULTILINE) is not None


def findings(root):
    with open(f"{root}/{PAGE}") as page:
        steps = list(STEP.finditer(page.read()))
    found = [] if steps else [f"{PAGE}: names no function"]
    for step in steps:
        path = step[3]
        if path == "(lwIP)":
            continue
        if not os.path.exists(f"{root}/{path}"):
            found.append(f"{PAGE}: there is no {path}")
            continue
        with open(f"{root}/{path}") as source:
            text = source.read()
        found += [f"{PAGE}: {name} is not defined in {path}"
                  for name in NAME.findall(step[0]) if not defines(text, name)]
    return found


if __name__ == "__main__":
    report = findings(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(report))
    sys.exit(1 if report else 0)
