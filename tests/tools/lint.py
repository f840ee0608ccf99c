#!/usr/bin/python3
"""lint.py OUT: run every lint, one line each, findings below; ends with the count.

Looks at the sources in the current directory and the linked kernel in OUT.
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source_files import lines_of, own_files  # noqa: E402

TOOLS = os.path.dirname(os.path.abspath(__file__))
KERNEL = ("boot/", "kernel/", "drivers/", "net/")


def is_shell(path):
    return path.endswith(".sh") or lines_of(".", path)[0].endswith(("/sh", "/bash"))


def commands(out):
    """(name, command) of each lint."""
    symbols = f"{out}/nictest86.sym"
    c_files = own_files(".", ".c", ".h")
    sources = [path for path in c_files if path.endswith(".c") and path.startswith(KERNEL)]
    scripts = [path for path in own_files(".", ".sh", "run", "before-stop") if is_shell(path)]

    def ours(name, *arguments):
        return [sys.executable, f"{TOOLS}/lint_{name}.py", *arguments]

    return [
        ("format", ours("format", *(p for p in c_files if not p.endswith("_regs.h")))),
        ("layers", ours("layers")),
        ("shape", ours("shape")),
        ("datapath", ours("datapath")),
        ("hosts", ours("hosts")),
        ("opcodes", ours("opcodes", symbols)),
        ("opcodes in real mode", ours("opcodes", symbols, "realmode_code", "realmode_code_end")),
        ("opcodes of the unpacker", ours("opcodes", f"{out}/nictest86.unpacker")),
        ("size", ours("size", symbols, f"{out}/nictest86.elf")),
        ("opcodes of the loaders", ours("loader", f"{out}/loader", f"{out}/dos/nictest.sym")),
        ("shellcheck", ["shellcheck", *scripts]),
        ("cppcheck", ["cppcheck", "--quiet", "--std=c11", "--enable=warning,portability",
                      # A table that the linker collects begins at one symbol and ends at another.
                      "--suppress=comparePointers", "--inline-suppr", "--error-exitcode=1",
                      "-I.", "-j2", *sources]),
    ]


def main(out):
    failed = 0
    runs = commands(out)
    for name, command in runs:
        start = time.monotonic()
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        bad = run.returncode != 0
        failed += bad
        print(f"{'FAIL' if bad else 'ok  '} {name} ({time.monotonic() - start:.1f} s)")
        if bad:
            print(run.stdout.rstrip())
    print(f"{len(runs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
