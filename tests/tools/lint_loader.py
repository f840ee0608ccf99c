#!/usr/bin/python3
"""lint_loader.py FOLDER PROGRAM: our loaders run on what they say they run on.

The boot sector (FOLDER/boot.sym, from `begin` to `message`) and the start of stage 2 (section
.text.8086 of FOLDER/stage2.sym), which looks for a 386, hold nothing newer than the 8086; the rest
of stage 2 nothing newer than the 386.  PROGRAM, the one for DOS, is made like stage 2.
"""
import re
import subprocess
import sys

from lint_opcodes import is_386

PREFIXES_8086 = {0x26, 0x2E, 0x36, 0x3E, 0xF0, 0xF2, 0xF3}
# First bytes that the 8086 does not have, or has for something else (Intel iAPX 86/88 User's
# Manual, 1981, table 4-14): 0F, 60-6F, shifts by a number, enter and leave.
NOT_8086 = {0x0F, *range(0x60, 0x70), 0xC0, 0xC1, 0xC8, 0xC9, 0xD6, 0xF1}
NEW_SEGMENTS = re.compile(r"\b[fg]s\b")
# What a 16-bit listing calls the 32-bit forms.
SIZED = re.compile(r"^(call|ret|leave|push|pop|jmp|enter)d\b")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*([^\t<#]*)")


def disassemble(elf, *words):
    """(address, bytes, text) of every instruction."""
    listing = subprocess.run(["objdump", "-d", "-w", *words, elf], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    for line in listing.splitlines():
        match = INSTRUCTION.match(line)
        if match:
            yield match[1], bytes.fromhex(match[2]), match[3].strip()


def is_8086(code, text):
    at = 0
    while at < len(code) - 1 and code[at] in PREFIXES_8086:
        at += 1
    return code[at] not in NOT_8086 and not NEW_SEGMENTS.search(text)


def symbol(elf, name):
    listing = subprocess.run(["nm", elf], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(f"0x{line.split()[0]}" for line in listing.splitlines()
                if line.split()[-1] == name)


def judge(what, instructions, allowed, machine):
    """Findings; also if there was nothing to look at."""
    found, seen = [], 0
    for address, code, text in instructions:
        seen += 1
        if not allowed(code, text):
            found.append(f"{what}: {text} at {address} is not an instruction of the {machine}")
    return found or ([] if seen else [f"{what}: no instructions found"])


def boot_findings(elf):
    code = disassemble(elf, "-m", "i8086", "-M", "intel", "--start-address", symbol(elf, "begin"),
                       "--stop-address", symbol(elf, "message"))
    return judge(elf, code, is_8086, "8086")


def stage2_findings(elf):
    sixteen = ("-m", "i8086", "-M", "intel", "-j")
    found = judge(f"{elf} .text.8086", disassemble(elf, *sixteen, ".text.8086"),
                  is_8086, "8086")
    for section, words in ((".text", sixteen), (".text.32", ("-M", "i386,intel", "-j"))):
        found += judge(f"{elf} {section}", disassemble(elf, *words, section),
                       lambda _, text: is_386(SIZED.sub(r"\1", text)), "386")
    return found


if __name__ == "__main__":
    report = boot_findings(f"{sys.argv[1]}/boot.sym")
    report += stage2_findings(f"{sys.argv[1]}/stage2.sym") + stage2_findings(sys.argv[2])
    print("\n".join(report))
    sys.exit(1 if report else 0)
