"""The lint of the floppy's loader finds what an 8086 or a 386 does not have."""
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.abspath("tests/tools"))
import lint_loader  # noqa: E402

OUT = os.environ.get("OUT", "out")
NOT_8086 = ["pushw $5", "pusha", "shlw $4, %ax", "movl %eax, %ebx", "movw %fs, %ax", "enter $2, $0",
            "imulw $3, %ax, %bx", "movzbw %al, %ax", "rep insw", "lgdtl (%bx)", "pushl $0", "leave"]
NOT_386 = ["bswap %eax", "cpuid", "movl %cr4, %eax", "cmovzl %eax, %ebx", "xaddl %eax, (%bx)"]


def assemble(folder, sections):
    """An ELF with these sections; the section .text from `begin` to `message` is the boot code."""
    text = ".code16\n"
    for name, code in sections.items():
        text += f'.section {name}, "ax"\n{code}\n'
    (folder / "code.s").write_text(text)
    subprocess.run(["as", "--32", "code.s", "-o", "code.elf"], cwd=folder, check=True)
    return str(folder / "code.elf")


def boot(folder, code):
    return lint_loader.boot_findings(
        assemble(folder, {".text": f"begin: nop\n{code}\nret\nmessage: .ascii \"go\""}))


def stage2(folder, old="nop", main="nop", flat=".code32\nnop"):
    return lint_loader.stage2_findings(
        assemble(folder, {".text.8086": old, ".text": main, ".text.32": flat}))


@pytest.mark.parametrize("code", NOT_8086)
def test_newer_than_the_8086(tmp_path, code):
    assert len(boot(tmp_path, code)) == 1
    assert len(stage2(tmp_path, old=code)) == 1


def test_the_8086_itself(tmp_path):
    code = ("cli; lds 4(%bx), %si; rep movsb; int $0x13; jb 1f; divw 8; stc\n1: shlw %cl, %ax; "
            "pushw %cs; ljmp $0, $4; cs lodsb; adcw $3, %es:(%di)")
    assert boot(tmp_path, code) == []
    assert stage2(tmp_path, old=code) == []


@pytest.mark.parametrize("code", NOT_386)
def test_newer_than_the_386(tmp_path, code):
    assert len(stage2(tmp_path, main=code)) == 1
    assert len(stage2(tmp_path, flat=".code32\n" + code.replace("(%bx)", "(%ebx)"))) == 1


def test_the_386_itself(tmp_path):
    code = "movl %cr0, %eax; lgdtl 8; addr32 rep movsl; movw %ax, %fs; ljmpl $8, $4; pushl $0"
    assert stage2(tmp_path, main=code) == []


def test_nothing_to_look_at_is_no_success(tmp_path):
    assert lint_loader.judge("boot", [], None, "8086") == ["boot: no instructions found"]
    assert len(stage2(tmp_path, old="", main="", flat="")) == 3


def test_our_own(tmp_path):
    assert lint_loader.boot_findings(f"{OUT}/loader/boot.sym") == []
    assert lint_loader.stage2_findings(f"{OUT}/loader/stage2.sym") == []
