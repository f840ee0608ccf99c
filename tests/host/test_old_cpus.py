"""Whether this is a 386: the loaders' first instructions, run here on an 8086, a 286 and a 386.

No emulator here has the older two.  What follows knows as much of the 8086 as those instructions
need and refuses all else; the flags behave as Intel's AP-485 (section 4) says of each processor.
"""
import os
import subprocess

import pytest

OUT = os.environ.get("OUT", "out")
MEMORY, STACK, STEPS = 1 << 16, 0xFE00, 100_000
CARRY, ZERO, SIGN, ALWAYS = 1 << 0, 1 << 6, 1 << 7, 1 << 1

# Of flags popped: which bits stay as they come, and which are one whatever comes.
CPUS = {"8086": (0x0FD5, 0xF002), "286": (0x0FD5, 0x0002), "386": (0x7FD5, 0x0002)}
AX, CX, DX, BX, SP, BP, SI, DI = range(8)


class Cpu:
    """Registers, memory of one segment, and how it ended."""

    def __init__(self, kind, image, start):
        self.kept, self.stuck = CPUS[kind]
        self.memory = bytearray(MEMORY)
        self.memory[start:start + len(image)] = image
        self.r = [0] * 8
        self.r[SP] = STACK
        self.ip = start
        self.flags = self.stuck
        self.text, self.keys, self.end = "", 0, None

    def fetch(self):
        self.ip += 1
        return self.memory[self.ip - 1]

    def word(self, at):
        return self.memory[at] | self.memory[at + 1] << 8

    def fetch_word(self):
        self.ip += 2
        return self.word(self.ip - 2)

    def push(self, value):
        self.r[SP] -= 2
        self.memory[self.r[SP]:self.r[SP] + 2] = value.to_bytes(2, "little")

    def pop(self):
        self.r[SP] += 2
        return self.word(self.r[SP] - 2)

    def byte(self, number):
        return self.r[number & 3] >> (8 if number & 4 else 0) & 0xFF

    def set_byte(self, number, value):
        shift = 8 if number & 4 else 0
        self.r[number & 3] = self.r[number & 3] & ~(0xFF << shift) | value << shift

    def judge(self, result, bits, carry=False):
        self.flags &= ~(CARRY | ZERO | SIGN)
        self.flags |= (carry * CARRY | (result & (1 << bits) - 1 == 0) * ZERO
                       | (result >> bits - 1 & 1) * SIGN)

    def jump_if(self, condition):
        distance = self.fetch()
        if condition:
            self.ip += distance - (distance & 0x80) * 2

    def arithmetic(self, modrm, bits):
        """80h and 81h with a register: and, cmp."""
        assert modrm >= 0xC0
        operation, number = modrm >> 3 & 7, modrm & 7
        value = self.byte(number) if bits == 8 else self.r[number]
        operand = self.fetch() if bits == 8 else self.fetch_word()
        if operation == 4 and bits == 8:
            self.set_byte(number, value & operand)
            self.judge(value & operand, bits)
        else:
            assert operation == 7, f"operation {operation} at {self.ip:#x}"
            self.judge(value - operand, bits, value < operand)

    def interrupt(self, number):
        function = self.byte(4)
        if (number, function) == (0x10, 0x0E):
            self.text += chr(self.byte(0))
            for register in (AX, SI, DI, BP):  # what an old BIOS may destroy
                self.r[register] = 0xDEAD
        elif (number, function) == (0x16, 0):
            self.keys += 1
        elif (number, function) == (0x21, 9):
            self.text += self.memory[self.r[DX]:].split(b"$")[0].decode("ascii")
        else:
            self.end = f"int {number:x}h, ah={function:x}h"

    def step(self):
        code = self.fetch()
        if 0x50 <= code <= 0x57:
            self.push(self.r[code - 0x50])
        elif 0x58 <= code <= 0x5F:
            self.r[code - 0x58] = self.pop()
        elif 0xB0 <= code <= 0xB7:
            self.set_byte(code - 0xB0, self.fetch())
        elif 0xB8 <= code <= 0xBF:
            self.r[code - 0xB8] = self.fetch_word()
        elif code == 0x9C:
            self.push(self.flags)
        elif code == 0x9D:
            self.flags = self.pop() & self.kept | self.stuck
        elif code in (0x72, 0x74, 0x75):
            self.jump_if({0x72: self.flags & CARRY, 0x74: self.flags & ZERO,
                          0x75: not self.flags & ZERO}[code])
        elif code == 0xEB:
            self.jump_if(True)
        elif code == 0xE9:
            self.ip = self.fetch_word() + self.ip & 0xFFFF
        elif code in (0x80, 0x81):
            self.arithmetic(self.fetch(), 8 if code == 0x80 else 16)
        elif code == 0xF6:                              # test
            modrm = self.fetch()
            assert modrm >> 3 == 0xC0 >> 3
            self.judge(self.byte(modrm & 7) & self.fetch(), 8)
        elif code in (0x84, 0x31, 0x33):                # test al, al; xor ax, ax
            assert self.fetch() == 0xC0
            self.r[AX] &= 0xFFFF if code == 0x84 else 0
            self.judge(self.byte(0), 8)
        elif code == 0xAC:
            self.set_byte(0, self.memory[self.r[SI]])
            self.r[SI] += 1
        elif code == 0xA5:
            self.memory[self.r[DI]:self.r[DI] + 2] = self.word(self.r[SI]).to_bytes(2, "little")
            self.r[SI], self.r[DI] = self.r[SI] + 2, self.r[DI] + 2
        elif code == 0xCD:
            self.interrupt(self.fetch())
        else:
            raise AssertionError(f"opcode {code:02x} at {self.ip - 1:#x}")

    def run_to(self, address):
        """True if it comes there, false if it ends before."""
        for _ in range(STEPS):
            if self.ip == address:
                return True
            if self.end is not None:
                return False
            self.step()
        raise AssertionError(f"for ever at {self.ip:#x}")


def symbol(elf, name):
    listing = subprocess.run(["nm", elf], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(int(line.split()[0], 16) for line in listing.splitlines()
                if line.split()[-1] == name)


def cpu(kind, binary, elf, begin):
    with open(f"{OUT}/{binary}", "rb") as file:
        return Cpu(kind, file.read(), symbol(f"{OUT}/{elf}", begin))


def stage2(kind):
    box = cpu(kind, "loader/stage2.bin", "loader/stage2.sym", "stage2_start")
    box.memory[0x7BF8:0x7BFC] = b"\x12\x34\x56\x78"     # the disk table's vector as it was
    return box, symbol(f"{OUT}/loader/stage2.sym", "go_on")


def program(kind):
    return (cpu(kind, "nictest.com", "dos/nictest.sym", "dos_start"),
            symbol(f"{OUT}/dos/nictest.sym", "is_386"))


@pytest.mark.parametrize("kind", ["8086", "286"])
def test_floppy_on_what_is_too_old(kind):
    """It says so, waits for a key, puts the disk table back, and the BIOS boots again."""
    box, further = stage2(kind)
    assert not box.run_to(further)
    assert box.text == "\r\nNicTest86 needs a 386 or later. Another disk, then a key: "
    assert box.keys == 1 and box.end.startswith("int 19h")
    assert box.memory[0x78:0x7C] == b"\x12\x34\x56\x78"


@pytest.mark.parametrize("kind", ["8086", "286"])
def test_dos_program_on_what_is_too_old(kind):
    box, further = program(kind)
    assert not box.run_to(further)
    assert box.text == "NicTest86 needs a 386 or later.\r\n"
    assert (box.end, box.byte(0)) == ("int 21h, ah=4ch", 1), "back to DOS, error level 1"


@pytest.mark.parametrize("loader", [stage2, program])
def test_a_386_goes_on(loader):
    box, further = loader("386")
    assert box.run_to(further) and box.text == ""


def test_dos_program_without_room():
    box, further = program("386")
    box.r[SP] = 0x1000
    assert not box.run_to(further)
    assert "too little memory for NICTEST.COM" in box.text
