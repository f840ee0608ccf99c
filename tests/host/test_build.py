"""The build: the same product from anywhere, and everything rebuilt that depends on a change."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

sys.path.insert(0, os.path.abspath("tests/tools"))
from source_files import own_files  # noqa: E402

OUT = os.environ.get("OUT", "out")
LWIP = os.path.abspath(os.environ.get("LWIP", f"{OUT}/lwip"))


def make(folder, *arguments):
    clean = {key: value for key, value in os.environ.items()
             if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "OUT", "LWIP")}
    return subprocess.run(["make", "-C", str(folder), f"LWIP={LWIP}", *arguments], check=True,
                          text=True, stdout=subprocess.PIPE, env=clean).stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Our tree, built in another folder with another OUT."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for path in own_files("."):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    make(folder, "-j2", "OUT=built", "all", "dist")
    return folder


def read(path):
    with open(path, "rb") as file:
        return file.read()


def version():
    with open("Makefile", encoding="utf-8") as makefile:
        return re.search(r"^VERSION := (.*)$", makefile.read(), re.MULTILINE)[1]


ARCHIVE = f"nictest86-{version()}.zip"


@pytest.mark.parametrize("product", ["nictest86.elf", "nictest86.img", "nictest86.iso",
                                     "nictest86-grub.img", "nictest.com"])
def test_clean_builds_are_equal(copy, product):
    assert read(f"{OUT}/{product}") == read(copy / "built" / product)


def test_clean_archives_are_equal(copy, tmp_path):
    """Made in different folders, at different times."""
    make(".", f"OUT={OUT}", "dist")
    assert read(f"{OUT}/{ARCHIVE}") == read(copy / "built" / ARCHIVE)


def test_archive_holds_it_all(copy):
    with zipfile.ZipFile(copy / "built" / ARCHIVE) as archive:
        names = {name.split("/", 1)[1]: name for name in archive.namelist()}
        assert {name.split("/")[0] for name in archive.namelist()} == {ARCHIVE[:-len(".zip")]}
        sums = archive.read(names.pop("SHA256SUMS")).decode().splitlines()
        assert dict(line.split("  ")[::-1] for line in sums) == {
            name: hashlib.sha256(archive.read(path)).hexdigest() for name, path in names.items()}
        for product in ("nictest86.img", "nictest86-1200.img", "nictest86-720.img",
                        "nictest86-360.img", "nictest86-grub.img", "nictest86.iso",
                        "nictest86.elf"):
            assert archive.read(names[product]) == read(copy / "built" / product)
        assert archive.read(names["dos/NICTEST.ELF"]) == archive.read(names["nictest86.elf"])
        assert archive.read(names["dos/NICTEST.COM"]) == read(copy / "built/nictest.com")
        for text in ("README.md", "LICENSE", "LICENSE.lwip", "iso/BOOTING.md", "iso/NOTICES.md"):
            assert archive.read(names[text]).strip()
        assert f"\n## {version()}\n" in archive.read(names["iso/CHANGELOG.md"]).decode()
        assert {info.date_time for info in archive.infolist()} == {(2001, 9, 9, 1, 46, 40)}


def test_change_log_names_what_there_is():
    """Every command, by the table it puts itself into; every floppy."""
    with open("iso/CHANGELOG.md", encoding="utf-8") as file:
        log = file.read()
    commands = set()
    for path in own_files(".", ".c"):
        if path.startswith(("kernel/", "drivers/", "net/")):
            with open(path, encoding="utf-8") as file:
                commands |= set(re.findall(r"^SHELL_COMMAND\((\w+)", file.read(), re.MULTILINE))
    assert len(commands) > 10 and {name for name in commands if f"`{name}`" not in log} == set()
    for size in ("1.44 MB", "1.2 MB", "720 KB", "360 KB"):
        assert size in log


def dist(folder, epoch):
    return subprocess.run([sys.executable, "iso/dist.py", folder / "x.zip", "LICENSE=LICENSE"],
                          env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}, check=False,
                          stderr=subprocess.PIPE, text=True)


def test_archive_has_the_date_it_is_told(tmp_path):
    assert dist(tmp_path, 1700000000).returncode == 0
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.infolist()[0].date_time == (2023, 11, 14, 22, 13, 20)
    run = dist(tmp_path, 0)
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1 and "1980" in run.stderr


def test_product_is_stripped_and_names_no_folder(copy):
    elf = read(copy / "built/nictest86.elf")
    assert str(copy).encode() not in elf and os.getcwd().encode() not in elf
    assert ".symtab" not in subprocess.run(["readelf", "-SW", f"{OUT}/nictest86.elf"], check=True,
                                           text=True, stdout=subprocess.PIPE).stdout


def test_nothing_is_built_twice(copy):
    again = make(copy, "OUT=built", "all", "dist")
    assert not any(word in again for word in ("CC", "LD", "PACK", "FLOPPY", "ISO", "ZIP")), again


def rebuilt(copy):
    """Sources compiled by a build now."""
    out = make(copy, "-j2", "OUT=built", "built/nictest86.elf")
    return {line.split("\t")[-1] for line in out.splitlines() if line.startswith("  CC\t")}


def test_a_touched_header_rebuilds_its_users_only(copy):
    os.utime(copy / "drivers/8390/dp8390_regs.h")
    sources = rebuilt(copy)
    assert "drivers/8390/dp8390.c" in sources
    assert not any(source.startswith(("kernel/", "net/", "lwip/")) for source in sources)


def test_touched_lwip_options_rebuild_lwip(copy):
    os.utime(copy / "net/port/lwipopts.h")
    sources = rebuilt(copy)
    assert "lwip/core/tcp.c" in sources and "net/nicif.c" in sources
    assert not any(source.startswith(("kernel/", "drivers/")) for source in sources)


def test_other_options_rebuild_all(copy):
    before = os.stat(copy / "built/obj/kernel/time.o").st_mtime_ns
    make(copy, "OUT=built", "TICK_HZ=50", "built/obj/kernel/time.o")
    assert os.stat(copy / "built/obj/kernel/time.o").st_mtime_ns > before


def test_help_names_only_targets_that_exist():
    listed = [line.split()[1] for line in make(".", "help").splitlines()
              if line.startswith("  make ")]
    assert {"all", "deps", "run", "test", "check", "clean"} <= set(listed)
    database = subprocess.run(["make", "-pnq", "help"], text=True, stdout=subprocess.PIPE).stdout
    for target in listed:
        assert f"\n{target}:" in database
