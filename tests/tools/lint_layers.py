#!/usr/bin/python3
"""lint_layers.py [ROOT]: boot < kernel < drivers < net, and what an include line may say.

Nobody includes upward, except kernel/kmain.c.  Only net/ includes lwIP.  Our headers are named by
their full path from the root.  No conditional compilation in .c files; a header has exactly its
include guard's, named after its path.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source_files import lines_of, own_files  # noqa: E402

LAYERS = ["boot", "kernel", "drivers", "net"]
STORY = "kernel/kmain.c"  # shows the whole order of things, so it sees all layers
FREESTANDING = {"stdalign.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "limits.h"}
LWIP = re.compile(r"^(lwip|netif|arch)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b")
# What lwIP itself includes: its names are not ours to choose.
LWIP_PORT = "net/port/"


def include_fault(root, path, kind, target):
    """Why `path` may not include `target`, or None."""
    layer = path.split("/")[0]
    if kind == "<":
        return None if target in FREESTANDING else f"<{target}> is not freestanding"
    if LWIP.match(target):
        return None if layer == "net" else "only net/ may include lwIP"
    target_layer = target.split("/")[0]
    if target_layer not in LAYERS or not os.path.isfile(f"{root}/{target}"):
        return f'"{target}" is not a path from the root'
    if LAYERS.index(target_layer) > LAYERS.index(layer) and path != STORY:
        return f"{layer}/ may not include {target_layer}/"
    return None


def conditional_faults(path, lines):
    """Conditional compilation where there should be none."""
    found = [(number, line.split("//")[0].strip()) for number, line in enumerate(lines, 1)
             if CONDITIONAL.match(line)]
    if path.endswith(".c"):
        return [f"{path}:{number}: conditional compilation in a .c file" for number, _ in found]
    guard = re.sub(r"\W", "_", path).upper()
    if not found or found[0][1] != f"#ifndef {guard}":
        return [f"{path}:1: include guard should be {guard}"]
    return []


def findings(root):
    found = []
    for path in own_files(root, ".c", ".h", ".S"):
        lines = lines_of(root, path)
        if path.split("/")[0] not in LAYERS or path.startswith(LWIP_PORT + "libc/"):
            continue
        if not path.endswith(".S"):
            found += conditional_faults(path, lines)
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            fault = match and include_fault(root, path, match[1], match[2])
            if fault:
                found.append(f"{path}:{number}: {fault}")
    return found


if __name__ == "__main__":
    report = findings(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("\n".join(report))
    sys.exit(1 if report else 0)
