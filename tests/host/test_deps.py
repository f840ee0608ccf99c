"""`make deps`: quick when nothing is missing, and one clear line for each way to fail.

apt-get, dpkg-query, id and sudo are replaced by scripts in front of the PATH that note how they
were called; nothing here needs the network or root, and nothing is installed.
"""
import os
import stat
import subprocess
import time

import pytest

DEPS = os.path.abspath("tests/tools/deps.sh")
UNPACK = os.path.abspath("tests/tools/deps_lwip.sh")
MIRROR = "http://mirror.invalid/debian/"


class Machine:
    """A machine with faked tools; `installed` is None for everything."""

    def __init__(self, path):
        self.path = path
        self.out = path / "out"
        self.bin = path / "bin"
        self.calls = path / "calls"
        self.bin.mkdir()
        self.calls.write_text("")
        self.everything_installed()
        self.apt_get(f'case "$*" in *indextargets*) echo "Debian|main|{MIRROR}" ;; esac')
        self.fake("id", "echo 0")
        self.fake("sudo", "exit 1")

    def fake(self, name, body):
        file = self.bin / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def apt_get(self, body):
        self.fake("apt-get", body)

    def everything_installed(self):
        self.fake("dpkg-query", 'for p; do echo "installed $p"; done')

    def missing(self, *packages):
        tests = "|".join(packages)
        self.fake("dpkg-query",
                  f'for p; do case $p in {tests}) ;; *) echo "installed $p" ;; esac; done')

    def have_lwip(self):
        (self.out / "lwip").mkdir(parents=True)
        (self.out / "lwip/.sha256").write_text(self.hash() + "\n")

    @staticmethod
    def hash():
        with open(UNPACK, encoding="utf-8") as file:
            return next(line for line in file if line.startswith("SHA256=")).strip().split("=")[1]

    def deps(self, *arguments):
        path = f"{self.bin}:{os.environ['PATH']}"
        return subprocess.run([DEPS, "test", str(self.out), *arguments], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, "PATH": path})

    def called(self, tool):
        return [line for line in self.calls.read_text().splitlines() if line.startswith(tool)]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def assert_one_line(run, *words):
    """It failed, and said why in one line that has these words."""
    assert run.returncode != 0
    lines = run.stderr.strip().split("\n")
    assert len(lines) == 1 and lines[0].startswith("deps: "), run.stderr
    for word in words:
        assert word in lines[0]


def test_quick_and_silent_when_all_is_there(machine):
    machine.have_lwip()
    start = time.monotonic()
    run = machine.deps()
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert time.monotonic() - start < 3  # nothing is fetched, on a busy machine, too
    assert machine.called("apt-get") == []


def test_installs_exactly_what_is_missing(machine):
    machine.have_lwip()
    machine.missing("xorriso", "mtools")
    run = machine.deps()
    assert run.returncode == 0
    assert "xorriso mtools" in run.stdout
    install, = machine.called("apt-get")
    assert install.endswith("--no-install-recommends --no-remove install xorriso mtools")


def test_updates_lists_only_when_the_first_try_fails(machine):
    machine.have_lwip()
    machine.missing("xorriso")
    updated = machine.path / "updated"
    machine.apt_get(f'case "$*" in *update*) touch "{updated}" ;; *) [ -f "{updated}" ] ;; esac')
    assert machine.deps().returncode == 0
    assert len(machine.called("apt-get")) == 3


def test_neither_root_nor_sudo(machine):
    machine.missing("xorriso", "mtools")
    machine.fake("id", "echo 1000")
    assert_one_line(machine.deps(), "needs root or sudo to install: xorriso mtools")
    assert machine.called("apt-get") == []


def test_sudo_is_used_where_it_works(machine):
    machine.have_lwip()
    machine.missing("xorriso")
    machine.fake("id", "echo 1000")
    machine.fake("sudo", "true")
    assert machine.deps().returncode == 0
    assert "install xorriso" in machine.called("sudo")[-1]


def test_no_network_for_packages(machine):
    machine.missing("xorriso")
    machine.apt_get('echo "W: Temporary failure resolving"; exit 100')
    assert_one_line(machine.deps(), "no network", "xorriso")


def test_package_that_does_not_exist(machine):
    machine.missing("xorriso")
    machine.apt_get('echo "E: Unable to locate package xorriso"; exit 100')
    assert_one_line(machine.deps(), "Unable to locate package xorriso")


def lwip_error(machine):
    return (machine.out / "deps/lwip.error").read_text().strip()


def test_no_network_for_lwip(machine):
    machine.apt_get(f'case "$*" in *indextargets*) echo "Debian|main|{MIRROR}" ;;'
                    ' *) echo "Err: Could not connect to mirror"; exit 100 ;; esac')
    assert_one_line(machine.deps(), "no network", "lwIP")
    assert lwip_error(machine) == "network"


def test_suite_no_longer_served(machine):
    machine.apt_get(f'case "$*" in *indextargets*) echo "Debian|main|{MIRROR}" ;;'
                    ' *) echo "E: The repository does not have a Release file."; exit 100 ;; esac')
    assert_one_line(machine.deps(), "no longer served", "LWIP=")
    assert lwip_error(machine) == "unserved"


def test_machine_without_a_debian_mirror(machine):
    machine.apt_get('case "$*" in *indextargets*) echo "Other|main|http://other.invalid/" ;; esac')
    assert_one_line(machine.deps(), "no Debian mirror", "LWIP=")


def test_wrong_hash(machine):
    machine.apt_get(f'case "$*" in *indextargets*) echo "Debian|main|{MIRROR}" ;;'
                    ' *download-only*) echo no lwip >lwip_9.orig.tar.xz ;; esac')
    assert_one_line(machine.deps(), "wrong hash", machine.hash())
    assert lwip_error(machine) == "hash"
    assert not (machine.out / "lwip").exists()


def test_apt_set_up_of_the_machine_is_left_alone(machine):
    machine.deps()
    used = [call for call in machine.called("apt-get") if "indextargets" not in call]
    assert used
    for call in used:
        for directory in ("Etc::SourceList", "State::Lists", "State::status", "Cache"):
            assert f"Dir::{directory}={machine.out}/deps/" in call
    assert MIRROR in (machine.out / "deps/sources.list").read_text()


def test_users_own_tree(machine, tmp_path):
    header = tmp_path / "mine/src/include/lwip/init.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define LWIP_VERSION_MAJOR 2\n#define LWIP_VERSION_MINOR 2\n"
                      "#define LWIP_VERSION_REVISION 1\n")
    assert machine.deps(str(tmp_path / "mine")).returncode == 0
    header.write_text(header.read_text().replace("REVISION 1", "REVISION 0"))
    assert_one_line(machine.deps(str(tmp_path / "mine")), "is not lwIP 2.2.1", "2.2.0")
    assert_one_line(machine.deps(str(tmp_path / "none")), "is not lwIP 2.2.1", "no such file")


def test_not_a_debian_system(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "mkdir", "awk", "tr"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    run = subprocess.run([DEPS, "build", str(tmp_path / "out")], text=True, capture_output=True,
                         env={"PATH": str(tools)})
    assert_one_line(run, "needs a Debian system", "xorriso")
