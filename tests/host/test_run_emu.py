"""The runner of the system tests: a second run, alone, for a handful that failed."""

import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNNER = os.path.join(ROOT, "tests", "tools", "run_emu.py")

STEADY = "def test_good():\n    pass\n"
UNSTEADY = """
import os
def test_only_the_second_time(tmp_path_factory):
    first = not os.path.exists("tried")
    open("tried", "w").close()
    assert not first
"""
BAD = "def test_bad_{}():\n    assert False\n"
LATE = """
import pytest
@pytest.fixture
def machine():
    yield
    assert False
def test_wrong_at_the_end(machine):
    pass
"""


@pytest.fixture
def run(tmp_path):
    """run(text of a file of tests, ...): (exit status, output)."""
    def start(*files):
        folder = tmp_path / "tests" / "emu"
        folder.mkdir(parents=True)
        for number, text in enumerate(files):
            (folder / f"test_{number}.py").write_text(text)
        done = subprocess.run([sys.executable, RUNNER, "not long"], cwd=tmp_path, timeout=300,
                              env={**os.environ, "OUT": "out"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout
    return start


def closing_line(output):
    return output.rstrip().splitlines()[-1]


def test_all_pass(run):
    status, output = run(STEADY, STEADY)
    assert status == 0 and closing_line(output) == "2 passed, 0 failed"
    assert "once more" not in output


def test_what_passes_alone_is_named(run):
    status, output = run(STEADY, UNSTEADY)
    assert status == 0 and closing_line(output) == "2 passed, 0 failed"
    assert "passed only when run alone: tests/emu/test_1.py::test_only_the_second_time" in output


@pytest.mark.parametrize("wrong", [BAD.format(0), LATE])
def test_what_fails_twice_has_failed(run, wrong):
    status, output = run(STEADY, wrong)
    assert status == 1 and ", 1 failed" in closing_line(output)
    assert "once more" in output and "passed only" not in output


def test_no_second_run_for_many(run):
    status, output = run(STEADY, "".join(BAD.format(n) for n in range(6)))
    assert status == 1 and closing_line(output) == "1 passed, 6 failed"
    assert "once more" not in output


def test_a_file_that_is_no_python(run):
    status, output = run(STEADY, "def (")
    assert status == 1 and ", 1 failed" in closing_line(output)
