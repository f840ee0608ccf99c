#!/usr/bin/python3
"""lint_format.py FILE...: is each file as clang-format leaves it?  `make format` puts it right."""
import re
import subprocess
import sys


def findings(paths):
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths],
                         stderr=subprocess.PIPE, text=True)
    places = {}
    for match in re.finditer(r"^([^ :]+):(\d+):\d+: error", run.stderr, re.MULTILINE):
        places.setdefault(match[1], []).append(match[2])
    if run.returncode != 0 and not places:
        return [run.stderr]
    return [f"{path}:{lines[0]}: not as `make format` leaves it ({len(lines)} places)"
            for path, lines in sorted(places.items())]


if __name__ == "__main__":
    report = findings(sys.argv[1:])
    print("\n".join(report))
    sys.exit(1 if report else 0)
