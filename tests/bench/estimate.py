"""Nanoseconds on a real 386 and 486, from how often each instruction was executed.

Instruction counts alone decide wrongly: on a 386 a taken call costs as much as six loads.  So each
instruction is charged by its kind: registers, memory read, written or both, taken jumps, calls,
port accesses, string moves.  The prices are measured ones (DESIGN section 10, a cycle-approximate
emulator; ISA bus time charged); what is not in that table is from the clocks of Intel's manuals
(80386 Programmer's Reference, chapter 17; i486, appendix E).  Real boards are slower: caches miss.
"""

import re
import subprocess
from typing import NamedTuple


class Machine(NamedTuple):
    """Prices in ns."""
    name: str
    register: int     # an instruction that stays in registers
    load: int         # one that reads memory
    operate: int      # arithmetic with a memory operand: a load, then the sum
    store: int
    modify: int       # read, changed, written
    taken: int        # jump, beyond what it costs when not taken
    call: int         # half of call + ret
    port: int         # one byte of an ISA card
    port_word: int    # of a string of them
    move: int         # one element of rep movs or stos
    multiply: int
    divide: int
    interrupt: int    # half of int + iret


I386 = Machine("386DX-40", 75, 100, 158, 100, 200, 150, 287, 1050, 850, 104, 500, 950, 800)
I486 = Machine("486DX2-66", 15, 15, 35, 15, 45, 30, 60, 900, 850, 45, 270, 600, 330)
MACHINES = (I386, I486)

_LINE = re.compile(r"^ *([0-9a-f]+):\t(\S+)(?: +(.*?))?(?: *<.*)?$")
_PREFIXES = ("rep", "repz", "repnz", "lock", "cs", "ds", "es", "data16")
_STRINGS = {"movs": "move", "stos": "move", "ins": "port_word", "outs": "port_word"}
_PLAIN_MOVES = ("mov", "movz", "movs", "set", "pop")
_COMPARES = ("cmp", "test", "bt")
_NO_JUMPS = ("jcxz", "jecxz")


def kind_of(mnemonic, operands):
    """The name of an instruction's price."""
    if "%es:(%edi)" in operands or "%ds:(%esi)" in operands:
        return next((kind for name, kind in _STRINGS.items() if mnemonic.startswith(name)),
                    "operate")
    if mnemonic in ("in", "out"):
        return "port"
    if mnemonic.startswith(("call", "ret")):
        return "call"
    if mnemonic.startswith(("iret", "int")):
        return "interrupt"
    if mnemonic.startswith(("mul", "imul")):
        return "multiply"
    if mnemonic.startswith(("div", "idiv")):
        return "divide"
    if mnemonic.startswith("push"):
        return "store"
    if mnemonic.startswith("pop"):
        return "load"
    return _memory_kind(mnemonic, operands)


def _memory_kind(mnemonic, operands):
    parts = re.split(r",(?![^(]*\))", operands)
    memory = ["(" in part or re.fullmatch(r"(%\ws:)?0x[0-9a-f]+", part) is not None
              for part in parts]
    if mnemonic.startswith(("lea", "j", "nop")) or not any(memory):
        return "register"
    if mnemonic.startswith(_COMPARES):
        return "operate"
    if mnemonic.startswith(_PLAIN_MOVES):
        return "store" if memory[-1] else "load"
    if mnemonic.startswith("xchg"):
        return "modify"
    return "modify" if memory[-1] else "operate"


def disassemble(elf):
    """[(address, price's name, is a jump, its target or None)] in order of address."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", elf], check=True,
                             capture_output=True, text=True).stdout
    found = []
    for line in listing.splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        mnemonic, operands = match[2], match[3] or ""
        while mnemonic in _PREFIXES and operands:
            mnemonic, _, operands = operands.partition(" ")
            operands = operands.strip()
        jump = mnemonic.startswith("j") and mnemonic not in _NO_JUMPS
        found.append((int(match[1], 16), mnemonic, kind_of(mnemonic, operands), jump))
    return found


def nanoseconds(counts, image, listing, machine):
    """What the counted instructions cost, the peer's left out."""
    total = 0
    for at, (address, mnemonic, kind, jump) in enumerate(listing):
        offset = address - image.base
        if not 0 <= offset < image.size or not counts[offset]:
            continue
        if any(start <= address < end for start, end in image.peer_ranges):
            continue
        n = counts[offset]
        total += n * getattr(machine, kind)
        if jump:
            total += machine.taken * _taken(n, mnemonic, counts, listing, at, image)
    return total


def _taken(n, mnemonic, counts, listing, at, image):
    """How often a jump was taken: what did not go on behind it (less, where others jump there)."""
    if mnemonic.startswith("jmp") or at + 1 == len(listing):
        return n
    behind = listing[at + 1][0] - image.base
    return max(0, n - counts[behind]) if 0 <= behind < image.size else n
