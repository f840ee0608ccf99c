"""RESULTS.md: a text with sections that the bench writes, each between two marks."""

import os
import re
import subprocess

from machine import ROOT

FILE = os.path.join(ROOT, "tests", "bench", "RESULTS.md")


def _pattern(name):
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end of {name} -->)", re.DOTALL)


def text():
    with open(FILE, encoding="utf-8") as file:
        return file.read()


def section(name):
    """What stands between the marks of `name`; "" without them."""
    found = _pattern(name).search(text())
    return found[2] if found else ""


def replace(name, body):
    """Put `body` between the marks of `name`, which must be there."""
    changed, count = _pattern(name).subn(lambda found: found[1] + body + found[3], text())
    if count != 1:
        raise ValueError(f"{FILE}: {count} sections {name}")
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(changed)


def _output(*words):
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit():
    """The commit measured; with a + if the product's sources are not as committed."""
    changed = _output("git", "status", "--porcelain", "--untracked-files=no", "--", "boot",
                      "kernel", "drivers", "net", "Makefile")
    return _output("git", "rev-parse", "--short", "HEAD") + ("+" if changed else "")


def qemu_version():
    return re.search(r"version (\S+)", _output("qemu-system-i386", "--version"))[1]
