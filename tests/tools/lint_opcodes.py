#!/usr/bin/python3
"""lint_opcodes.py ELF [FROM TO]: nothing newer than a 386, no FPU, MMX or SSE in the linked kernel;
or in the 16-bit code between two of its symbols.

Every disassembled instruction must be in the list below (Intel 80386 Programmer's Reference
Manual, 1986, chapter 17); what is not in the list is refused, so a new kind of instruction cannot
slip through.  cpuid and rdtsc are allowed where the debug information says kernel/cpu.c.
"""
import re
import subprocess
import sys

CONDITIONS = "a ae b be c e g ge l le na nae nb nbe nc ne ng nge nl nle no np ns nz o p pe po s z"
I386 = set("""
    aaa aad aam aas adc add and arpl bound bsf bsr bt btc btr bts call cbw cdq clc cld cli clts cmc
    cmp cmps cwd cwde daa das dec div enter hlt idiv imul in inc ins int int3 into iret iretd iretw
    jcxz jecxz jmp lahf lar lcall lds lea leave les lfs lgdt lgdtd lgdtw lgs lidt lidtd lidtw ljmp
    lldt lmsw lods loop loope loopne lret lsl lss ltr mov movs movsx movzx mul neg nop not or out
    outs pop popa popad popaw popf popfd popfw push pusha pushad pushaw pushf pushfd pushfw rcl rcr
    ret retf retw rol ror sahf sal sar sbb scas sgdt sgdtd shl shld shr shrd sidt sidtd sldt smsw
    stc std sti stos str sub test verr verw xchg xlat xor
""".split()) | {f"j{c}" for c in CONDITIONS.split()} | {f"set{c}" for c in CONDITIONS.split()}

# 0F 0B is invalid on every processor, which is what gcc uses it for.
I386.add("ud2")

PREFIXES = {"lock", "rep", "repz", "repnz", "repe", "repne", "cs", "ds", "es", "fs", "gs", "ss",
            "data16", "addr16"}
PROBES = {"cpuid", "rdtsc"}
PROBE_SOURCE = "kernel/cpu.c"

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t([^\t<#]+)")
NEW_REGISTERS = re.compile(r"\b(cr[14-9]|dr[45]|st(\(\d\))?|[xyz]?mm\d+)\b")


def symbol(elf, name):
    listing = subprocess.run(["nm", elf], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(f"0x{line.split()[0]}" for line in listing.splitlines()
                if line.split()[-1] == name)


def instructions(elf, ends=()):
    """(address, text) of every instruction, as Intel writes it."""
    words = ["-d", "-M", "i386,intel"] if not ends else [
        "-D", "-m", "i8086", "-M", "intel", "-j", ".rodata",
        "--start-address", symbol(elf, ends[0]), "--stop-address", symbol(elf, ends[1])]
    listing = subprocess.run(["objdump", "--no-show-raw-insn", *words, elf],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in listing.splitlines():
        match = INSTRUCTION.match(line)
        if match:
            yield match[1], match[2].strip()


def mnemonic(text):
    words = text.split()
    while len(words) > 1 and words[0] in PREFIXES:
        words.pop(0)
    return words[0]


def is_386(text):
    name = mnemonic(text)
    if name == "nop":
        return text.split()[-1] == "nop"  # the long forms came with the Pentium Pro
    return (name in I386 or name in PREFIXES) and not NEW_REGISTERS.search(text)


def places(elf, addresses):
    """Function, source file and line of each address."""
    out = subprocess.run(["addr2line", "-f", "-e", elf, *addresses],
                         check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return list(zip(out[0::2], out[1::2]))


def from_probe(place):
    return re.sub(r":.*", "", place).removeprefix("./").endswith(PROBE_SOURCE)


def findings(elf, ends=()):
    seen = 0
    suspects = []
    for address, text in instructions(elf, ends):
        seen += 1
        if not is_386(text):
            suspects.append((address, text))
    if seen == 0:
        return [f"{elf}: no instructions found"]
    if not suspects:
        return []
    located = places(elf, [address for address, _ in suspects])
    return [f"{where}: {function}: {text} (at {address}) is not a 386 instruction"
            for (address, text), (function, where) in zip(suspects, located)
            if not (mnemonic(text) in PROBES and from_probe(where))]


if __name__ == "__main__":
    found = findings(sys.argv[1], sys.argv[2:])
    print("\n".join(found))
    sys.exit(1 if found else 0)
