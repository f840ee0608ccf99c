"""A plugin of pytest: --failed-tests=FILE lists there which tests failed, one name a line."""
import os


def pytest_addoption(parser):
    parser.addoption("--failed-tests", metavar="FILE", help="write the names of failed tests there")


def pytest_terminal_summary(terminalreporter, config):
    path = config.option.failed_tests
    if path is None:
        return
    names = {report.nodeid for kind in ("failed", "error")
             for report in terminalreporter.getreports(kind)}
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in sorted(names))
