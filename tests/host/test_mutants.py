"""The tools that judge the tests: the table of mutants, and the sum of branches."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

import coverage  # noqa: E402  (needs the path above)
import mutants  # noqa: E402

TABLE = """# a comment
drivers/a.c: ring, conform/8139 rx
- x = 1;
-   y = 2;
+ x = 2;

# another
drivers/a.c: ring
- return;
"""
SOURCE = "{\n    x = 1;\n    y = 2;\n    return;\n}\n"


def test_entries():
    first, second = mutants.parse(TABLE)
    assert first.path == "drivers/a.c"
    assert first.suites == (("ring", ""), ("conform", "8139 rx"))
    assert (first.old, first.new) == (("x = 1;", "y = 2;"), ("x = 2;",))
    assert (second.old, second.new, second.line) == (("return;",), (), 8)


def test_lines_are_exchanged():
    first, second = mutants.parse(TABLE)
    assert mutants.mutate(first, SOURCE) == "{\nx = 2;\n    return;\n}\n"
    assert mutants.mutate(second, SOURCE) == "{\n    x = 1;\n    y = 2;\n}\n"


@pytest.mark.parametrize("source", ["", "x = 1;\nz;\ny = 2;\n", SOURCE + SOURCE])
def test_an_entry_that_no_longer_fits_is_named(source):
    with pytest.raises(mutants.StaleEntry, match=r"line 2: in drivers/a\.c .*: x = 1;"):
        mutants.mutate(mutants.parse(TABLE)[0], source)


@pytest.mark.parametrize("entry", [
    "drivers/a.c\n- x;\n", "drivers/a.c:\n- x;\n", "drivers/a.c: ring\n",
    "drivers/a.c: ring\n+ x;\n", "drivers/a.c: ring\n- x;\n+ x;\n",
    "drivers/a.c: ring\n- x;\n* y;\n"])
def test_what_is_no_entry_is_named(entry):
    with pytest.raises(mutants.StaleEntry, match="line 1: no entry"):
        mutants.parse(entry)


def test_a_table_that_has_shrunk_is_no_table(tmp_path):
    table = tmp_path / "mutants.txt"
    table.write_text("tests/host/test_mutants.py: ring\n- SECONDS_" + "HERE = 1\n")
    with pytest.raises(mutants.StaleEntry):
        mutants.load(str(table))


def test_our_table_fits_the_drivers():
    """A changed line takes its entry along: an entry that does not fit breaks nothing."""
    assert len(mutants.load("tests/host/mutants.txt")) >= mutants.AT_LEAST


@pytest.mark.parametrize("part,whole,says", [
    (9, 10, 90), (8999, 10000, 89), (1, 1, 100), (0, 0, 0)])
def test_percent_is_rounded_down(part, whole, says):
    assert coverage.percent(part, whole) == says


def test_last_line_of_the_coverage(capsys):
    whole = coverage.print_report({("drivers/a.c", 1, 0): 3, ("drivers/a.c", 1, 1): 0,
                                   ("drivers/b/c.c", 9, 0): 1, ("drivers/b/c.c", 9, 1): 1}, True)
    assert whole == 75 < coverage.AT_LEAST
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "drivers/ branch coverage: 75 %"
    assert any(line.strip() == "drivers/a.c:1" for line in lines)


@pytest.mark.parametrize("taken,status", [(89, 1), (90, 0)])
def test_too_little_coverage_fails(taken, status, monkeypatch, tmp_path):
    counts = {("drivers/a.c", line, 0): int(line < taken) for line in range(100)}
    monkeypatch.setattr(coverage, "branches", lambda folder: counts)
    assert coverage.main([str(tmp_path)]) == status
