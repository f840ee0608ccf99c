"""Each lint and each runner must be able to fail: bad input goes in, a finding must come out."""
import glob
import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.abspath("tests/tools"))
import aborts  # noqa: E402
import closing  # noqa: E402
import lint_datapath  # noqa: E402
import lint_format  # noqa: E402
import lint_hosts  # noqa: E402
import lint_layers  # noqa: E402
import lint_opcodes  # noqa: E402
import lint_shape  # noqa: E402
import lint_size  # noqa: E402
import run_fuzz  # noqa: E402
import run_host  # noqa: E402

NEWER = """
    cmovne %eax,%ebx; bswap %eax; cmpxchg %eax,(%ebx); lock xadd %eax,(%ebx); invlpg (%eax)
    wbinvd; invd; cpuid; rdtsc; rdmsr; wrmsr; sysenter; cmpxchg8b (%eax); mov %cr4,%eax
    mov %eax,%cr4; nopl (%eax); nopw 0(%eax,%eax); pause; popcnt %eax,%ebx; tzcnt %eax,%ebx
    endbr32; fld1; fwait; fninit; fxsave (%eax); emms; movd %mm0,%eax; paddb %mm0,%mm1
    movaps %xmm0,%xmm1; ldmxcsr (%eax); mfence; prefetchnta (%eax); rdrand %eax; crc32 %al,%eax
    vaddps %ymm0,%ymm1,%ymm2; movbe (%eax),%eax; vmcall; monitor; getsec
""".replace("\n", ";").split(";")
NEWER = [text.strip() for text in NEWER if text.strip()]

OLD = """
    mov %eax,%ebx; movzbl %al,%eax; movswl %ax,%eax; lea 4(%eax,%ebx,8),%ecx; shld $3,%eax,%ebx
    rep movsl; rep insw; repne scasb; lock incl (%eax); bts %eax,(%ebx); bsr %eax,%ebx; setne %al
    imul $3,%eax,%ebx; pushal; popal; iret; int $3; in %dx,%al; outw %ax,%dx; xchg %bx,%bx
    mov %cr0,%eax; mov %eax,%cr3; mov %eax,%dr7; lgdt (%eax); lidt (%eax); ltr %ax; hlt; nop
    mov %fs:(%eax),%ebx; adcl 4(%esi),%eax; div %ecx; enter $8,$0; leave; pushfl; popfl; sti; ud2
    jmp *%eax; call *(%eax); lcall $8,$0; ret; ret $4; loop .; jecxz .; bt $21,%eax; sgdt (%eax)
""".replace("\n", ";")


def link(tmp_path, assembly):
    (tmp_path / "code.s").write_text(".globl f\nf:\n" + assembly.replace(";", "\n") + "\n")
    subprocess.run(["as", "--32", "code.s", "-o", "code.o"], cwd=tmp_path, check=True)
    subprocess.run(["ld", "-m", "elf_i386", "-e", "f", "code.o", "-o", "code.elf"], cwd=tmp_path,
                   check=True)
    return str(tmp_path / "code.elf")


@pytest.mark.parametrize("instruction", NEWER)
def test_newer_instruction_is_found(tmp_path, instruction):
    found = lint_opcodes.findings(link(tmp_path, f"nop\n{instruction}\nret"))
    assert len(found) == 1 and " f: " in found[0], found


def test_386_instructions_pass(tmp_path):
    assert lint_opcodes.findings(link(tmp_path, OLD)) == []


def test_empty_kernel_is_no_success(tmp_path):
    assert lint_opcodes.findings(link(tmp_path, ".data\n.long 1"))


@pytest.mark.parametrize("source, allowed", [("kernel/cpu.c", True), ("kernel/time.c", False),
                                             ("net/kernel_cpu.c", False)])
def test_probe_instructions_only_in_cpu_c(tmp_path, source, allowed):
    file = tmp_path / source
    file.parent.mkdir()
    file.write_text('void f(void);\nvoid f(void)\n{\n    __asm__ volatile("cpuid; rdtsc");\n}\n')
    subprocess.run(["gcc", "-m32", "-g", "-ffreestanding", "-fno-pic", "-c", source, "-o", "f.o"],
                   cwd=tmp_path, check=True)
    subprocess.run(["ld", "-m", "elf_i386", "-e", "f", "f.o", "-o", "f.elf"], cwd=tmp_path,
                   check=True)
    found = lint_opcodes.findings(str(tmp_path / "f.elf"))
    assert found == [] if allowed else len(found) == 2


def test_size_budget(tmp_path):
    elf = link(tmp_path, "ret\n.data\n.skip 4096")
    assert lint_size.findings(elf) == []
    assert lint_size.findings(elf, budget=4096)
    size = os.path.getsize(elf)
    assert lint_size.findings_on_disk(elf, budget=size) == []
    assert lint_size.findings_on_disk(elf, budget=size - 1)


@pytest.fixture
def tree(tmp_path):
    """A function that writes files and gives the root of a repository with them."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    def write(files):
        for name, text in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return str(tmp_path)
    return write


def header(path, body=""):
    guard = path.replace("/", "_").replace(".", "_").upper()
    return f"#ifndef {guard}\n#define {guard}\n{body}#endif\n"


GOOD_TREE = {
    "kernel/a.h": header("kernel/a.h"),
    "drivers/b.h": header("drivers/b.h", '#include "kernel/a.h"\n'),
    "net/c.c": '#include "drivers/b.h"\n#include "lwip/pbuf.h"\n#include <stdint.h>\n',
    "kernel/kmain.c": '#include "drivers/b.h"\n',
}


def test_good_layers_pass(tree):
    assert lint_layers.findings(tree(GOOD_TREE)) == []


@pytest.mark.parametrize("path, text, words", [
    ("kernel/x.c", '#include "drivers/b.h"\n', "kernel/ may not include drivers/"),
    ("kernel/a.h", header("kernel/a.h", '#include "drivers/b.h"\n'), "kernel/ may not include"),
    ("boot/x.S", '#include "kernel/a.h"\n', "boot/ may not include kernel/"),
    ("drivers/x.c", '#include "lwip/pbuf.h"\n', "only net/ may include lwIP"),
    ("drivers/x.c", '#include "b.h"\n', "not a path from the root"),
    ("drivers/x.c", '#include "../kernel/a.h"\n', "not a path from the root"),
    ("drivers/x.c", "#include <stdio.h>\n", "not freestanding"),
    ("drivers/x.c", "#ifdef FAST\n#endif\n", "conditional compilation"),
    ("drivers/x.c", "  #  if FAST\n#endif\n", "conditional compilation"),
    ("drivers/b.h", header("drivers/c.h"), "include guard should be DRIVERS_B_H"),
    ("drivers/b.h", "enum { X };\n", "include guard should be DRIVERS_B_H"),
])
def test_bad_layers_are_found(tree, path, text, words):
    found = lint_layers.findings(tree({**GOOD_TREE, path: text}))
    assert any(line.startswith(path) and words in line for line in found), found


def function(lines):
    return "int f(void)\n{\n" + "    g();\n" * lines + "}\n"


@pytest.mark.parametrize("path, text, words", [
    ("a.c", function(61), "function of 61 lines"),
    ("a.c", "int x;\n" * 500, "500 lines"),
    ("a.c", f"/* {'x' * 100} */\n", "columns"),
    ("a.c", "int x; \n", "blanks"),
    ("a.c", "\tint x;\n", "tab"),
    ("a.py", "# TO" "DO: later\n", "note to oneself"),
])
def test_bad_shape_is_found(tree, path, text, words):
    found = lint_shape.findings(tree({path: text}))
    assert len(found) in (1, 2) and words in found[0], found


def test_good_shape_passes(tree):
    assert lint_shape.findings(tree({"a.c": function(60) + "int x;\n" * 400})) == []


def test_registry_hosts_are_found(tree):
    name = ".".join(["deb", "debian", "org"])
    assert lint_hosts.findings(tree({"README.md": "https://lwip.example/ and Debian\n"})) == []
    found = lint_hosts.findings(tree({"a.list": f"\ndeb http://{name}/x\n"}))
    assert found == ["a.list:2: names a package registry's host"]


def test_format_is_ours(tree):
    root = tree({".clang-format": open(".clang-format", encoding="utf-8").read(),
                 "good.c": "int f(int x)\n{\n    return x;\n}\n",
                 "bad.c": "int f(int x) {\n  return x;\n}\n"})
    assert lint_format.findings([f"{root}/good.c"]) == []
    found = lint_format.findings([f"{root}/good.c", f"{root}/bad.c"])
    assert len(found) == 1 and found[0].startswith(f"{root}/bad.c:1:")
    assert lint_format.findings([f"{root}/none.c"])


@pytest.mark.parametrize("output, status, counts", [
    ("ok a\n12 passed, 0 failed\n", 0, (12, 0, 0)),
    ("12 passed, 1 failed, 3 skipped\n", 1, (12, 1, 3)),
    ("93%: Checks: 30, Failures: 1, Errors: 1\nx.c:1: bad\n", 1, (28, 2, 0)),
    ("== 3 failed, 5 passed, 1 skipped, 2 errors in 3.20s ==\n", 1, (5, 5, 1)),
    ("7 passed in 0.10s\n", 0, (7, 0, 0)),
    ("1 passed, 2 deselected, 1 warning in 61.00s (0:01:01)\n", 0, (1, 0, 0)),
    ("no tests ran in 0.01s\n", 5, (0, 1, 0)),
    ("Segmentation fault\n", 139, (0, 1, 0)),
    ("100%: Checks: 4, Failures: 0, Errors: 0\nERROR: LeakSanitizer\n", 23, (4, 1, 0)),
    ("0 passed, 0 failed\n", 0, (0, 1, 0)),
    ("3 passed in 0.10s\nx\n9 passed, 0 failed\n", 0, (9, 0, 0)),
])
def test_closing_lines_are_read(output, status, counts):
    assert closing.judge(output, status) == counts


def script(path, body):
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_host_runner_sees_failures(tmp_path):
    good = script(tmp_path / "good", "echo 3 passed, 0 failed")
    silent = script(tmp_path / "silent", "true")
    leak = script(tmp_path / "leak", "echo 3 passed, 0 failed; exit 23")
    slow = script(tmp_path / "slow", "echo 3 passed, 0 failed; sleep 9")
    assert run_host.run("good", [good], 5)[1] == (3, 0, 0)
    assert run_host.run("silent", [silent], 5)[1] == (0, 1, 0)
    assert run_host.run("leak", [leak], 5)[1] == (3, 1, 0)
    assert run_host.run("slow", [slow], 1)[1] == (3, 1, 0)


def test_aborts_nobody_provokes_are_seen():
    source = 'a;\nif (x) {\n    sim_misuse("%s", f(1),\n               y);\n}\nsim_misuse("b");\n' \
             '#define sim_misuse(...) c()\n'
    calls = [("sim/a.c", first, last) for first, last in aborts.calls_in(source)]
    assert calls == [("sim/a.c", 3, 4), ("sim/a.c", 6, 6)]
    assert aborts.never_provoked(calls, ["sim/a.c:4", "sim/a.c:6"]) == []
    assert len(aborts.never_provoked(calls, ["sim/a.c:4", "sim/b.c:6"])) == 1
    assert len(aborts.never_provoked(calls, [])) == 2
    assert len(list(aborts.all_calls("."))) > 100


def test_fuzz_runner_sees_findings(tmp_path, capsys):
    script(tmp_path / "good", "echo stat::number_of_executed_units: 5")
    script(tmp_path / "bad", "echo crash; exit 77")
    assert run_fuzz.main(str(tmp_path), 1, ["good"]) == 0
    assert run_fuzz.main(str(tmp_path), 1, ["good", "bad"]) == 1
    assert "1 passed, 1 failed" in capsys.readouterr().out
    assert run_fuzz.main(str(tmp_path), 1, []) == 1


def test_datapath_names_what_exists(tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net/a.c").write_text("static int there(void)\n{\n    return gone();\n}\n")
    page = tmp_path / "net/DATAPATH.md"
    page.write_text("| step | `there` net/a.c → `tcp_input` (lwIP) |\n")
    assert lint_datapath.findings(tmp_path) == []
    page.write_text("| step | `gone` net/a.c → `there` net/b.c |\n")
    assert len(lint_datapath.findings(tmp_path)) == 2
    page.write_text("nothing here\n")
    assert len(lint_datapath.findings(tmp_path)) == 1


@pytest.mark.parametrize("page", ["README.md", "HACKING.md"])
def test_links_lead_somewhere(page):
    with open(page, encoding="utf-8") as text:
        links = re.findall(r"\]\(([^)#:]+)\)", text.read())
    assert [one for one in links if not os.path.exists(one)] == []


def test_the_worked_example_is_one_short_file():
    """HACKING.md shows how little a board takes: the number there is true, and under 250."""
    with open("HACKING.md", encoding="utf-8") as text:
        told = re.search(r"`(drivers/8390/3c503\.c)` \((\d+) lines", text.read())
    with open(told[1], encoding="utf-8") as source:
        lines = len(source.readlines())
    assert lines == int(told[2])
    assert lines < 250


def test_every_quirk_names_tests_that_exist():
    sources = [path for pattern in ("*.[ch]", "*.py") for path in
               glob.glob(f"tests/**/{pattern}", recursive=True)]
    words = set()
    for path in sources:
        with open(path, encoding="utf-8") as source:
            words |= set(re.findall(r"[\w-]+", source.read()))
    rows = 0
    with open("drivers/QUIRKS.md", encoding="utf-8") as text:
        for line in text:
            test = line.strip().strip("|").split("|")[-1].strip()
            if not line.startswith("| ") or test == "test":
                continue
            rows += 1
            named = [name for name in re.findall(r"`([^`]+)`", test) if "*" not in name]
            assert named or "`" in test or test.startswith(("every case", "QEMU boot")), line
            assert [name for name in named if name not in words] == [], line
    assert rows > 100
