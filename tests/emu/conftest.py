"""Fixtures of the system tests.  Each machine a test starts is ended with it, and every record
it has sent is checked against DESIGN section 4, whatever the test was about."""

import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bochs import Bochs, Xvfb           # noqa: E402  (needs the path above)
from cards import CARDS, ISA            # noqa: E402
from machine import OUT                 # noqa: E402
from qemu import Qemu                   # noqa: E402
from rawpeer import RawPeer             # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "cards(name, ...): run with each of these (cards.py)")
    config.addinivalue_line("markers", "qemu: boots QEMU")
    config.addinivalue_line("markers", "bochs: boots Bochs")
    config.addinivalue_line("markers", "long: takes minutes; part of make test-long only")


def pytest_generate_tests(metafunc):
    """Every test that boots QEMU has a card: the ISA one unless it is marked with others."""
    if "card" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("cards")
        names = marker.args if marker else (ISA,)
        metafunc.parametrize("card", [CARDS[name] for name in names], ids=names)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """The long ones stay out unless -m names them; everything not for Bochs is for QEMU."""
    for item in items:
        if "bochs" not in item.keywords:
            item.add_marker(pytest.mark.qemu)
    wanted = config.option.markexpr
    if "long" not in wanted:
        config.option.markexpr = f"({wanted}) and not long" if wanted else "not long"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    setattr(item, f"report_{report.when}", report)


@pytest.fixture
def machines(request):
    """The machines of this test; their output is shown if it fails."""
    started = []
    yield started
    failed = getattr(request.node, "report_call", None)
    failed = failed is not None and failed.failed
    try:
        for machine in started:
            if failed:
                print(machine.complaint("output at the end of the failed test"))
                keep_evidence(request.node.name, machine)
            machine.check_records()
    finally:
        for machine in started:
            machine.close()


def keep_evidence(name, machine):
    """Streams and captures of a failed test, in out/failed/."""
    where = os.path.join(OUT, "failed", name.replace("/", "_")[:100])
    os.makedirs(where, exist_ok=True)
    for stream, text in machine.text.items():
        with open(os.path.join(where, f"{machine.label}-{stream}.txt"), "w",
                  encoding="latin-1") as file:
            file.write(text)
    for name in os.listdir(machine.directory) if os.path.isdir(machine.directory) else ():
        if name.endswith(".pcap"):
            shutil.copy(machine.path(name), where)


@pytest.fixture
def boot(machines, card):
    """boot(append, **options): a QEMU machine, with the card of this run unless nic= is given."""
    def start(append="", **options):
        machine = Qemu(append=append, **(options if "nic" in options else card.options | options))
        machines.append(machine)
        return machine
    return start


@pytest.fixture
def peer():
    """A raw Ethernet neighbour; frames that were wrong fail the test."""
    neighbour = RawPeer()
    yield neighbour
    neighbour.close()
    neighbour.check()


@pytest.fixture
def wired(boot, peer):
    """wired(append, **options): a machine with a static address, alone on a wire with `peer`."""
    def start(append="", ready=True, **options):
        machine = boot(f"ip={peer.BOX_IP}/24 {append}", dgram=peer.sockets, **options)
        if ready:
            machine.wait_for("ready", 10)
            peer.find_box()
        return machine
    return start


@pytest.fixture(scope="session")
def display():
    """One X display for all Bochs machines."""
    with Xvfb() as server:
        yield server.name


@pytest.fixture
def boot_bochs(machines, display):
    """boot_bochs(**options): a Bochs machine."""
    def start(**options):
        machine = Bochs(display=display, **options)
        machines.append(machine)
        return machine
    return start
