"""The shell on COM1 and keyboard, run= and exit=on, and the ways out."""

import time

import pytest

from cards import BOTH
from qemu import GUEST_IP, HOST_IP, MAC

STATIC = f"ip={GUEST_IP}/24,{HOST_IP}"
COMMANDS = ("help", "nics", "ip", "counters", "ttcp", "iperf", "ping", "report", "selftest", "set",
            "reboot", "quit")


@pytest.fixture
def box(boot):
    machine = boot(STATIC)
    machine.wait_for("ready", 10)
    return machine


def test_help_lists_the_commands(box):
    done, text = box.command("help")
    assert done["status"] == 0 and done["cmd"] == "help"
    for name in COMMANDS:
        assert any(line.split()[:1] == [name] for line in text.split("\r\n")), name
    assert "soak" not in text, "what is not built yet is not offered"


def test_lines_fit_the_screen(box):
    for line in ("help", "selftest", "nics", "ip", "counters", "ttcp", f"ping -n 2 {HOST_IP}",
                 f"ping --sweep {HOST_IP}", f"ttcp -t -u -l 1400 -n 5000 {HOST_IP}", "counters"):
        box.command(line, 30)
    wide = [line for line in box.text["e9"].split("\n")
            if len(line) > 80 and not line.startswith("@")]
    assert wide == []


@pytest.mark.parametrize("line", ["frobnicate", "HELP", "help2", "soak", "iperf2 10.0.2.2"])
def test_unknown_command(box, line):
    done, text = box.command(line)
    assert done["status"] == 1 and "unknown command" in text
    assert box.command("ip")[0]["status"] == 0


def test_nics_and_ip(box):
    _, text = box.command("nics")
    assert "ne2000" in text and "0x300" in text and "10" in text and MAC in text
    _, text = box.command("ip")
    assert GUEST_IP in text and "static" in text


@pytest.mark.parametrize("line,status", [
    ("ttcp", 1), ("ttcp -t", 1), ("ttcp -x 10.0.2.2", 1), ("ttcp -t -n x 10.0.2.2", 1),
    ("ttcp -t -n 0 10.0.2.2", 1), ("ttcp -t -l 0 10.0.2.2", 1), ("ttcp -t 10.0.2", 1),
    ("ttcp -t -u -l 65508 10.0.2.2", 1), ("ttcp -t -p 70000 10.0.2.2", 1),
    ("ttcp -t host.example", 1), ("ttcp -t -l", 1),
    ("ping", 1), ("ping 10.0.2.999", 1), ("ping -s 99999 10.0.2.2", 1), ("set", 1),
    ("set batch", 1), ("set batch=2", 1), ("set colour=blue", 1), ("counters 9", 1),
    ("quit x", 1)])
def test_malformed_commands_are_refused(box, line, status):
    done, text = box.command(line, 5)
    assert done["status"] == status
    assert [one for one in text.split("\r\n")[1:] if one and one[0] not in "@>"], "says why"


@pytest.mark.cards(*BOTH)
def test_ping_out(box):
    done, text = box.command(f"ping -n 3 {HOST_IP}")
    assert done["status"] == 0 and "3" in text
    done, _ = box.command(f"ping -s 1000 -n 2 {HOST_IP}")
    assert done["status"] == 0


@pytest.mark.cards(*BOTH)
def test_ping_contents_and_sizes(wired, peer):
    machine = wired()
    for size in (0, 1, 56, 1472, 4000):
        since = peer.mark()
        done, text = machine.command(f"ping -s {size} -n 2 {peer.IP}", 15)
        if size <= 1472:
            assert done["status"] == 0, text
            echoes = peer.seen(lambda p: p.proto == 1 and p.data is not None and p.icmp_type == 8,
                               since)
            assert [len(p.data) for p in echoes] == [size, size]


@pytest.mark.cards(*BOTH)
def test_ping_nobody(wired, peer):
    machine = wired()
    peer.answer_ping = False
    done, _ = machine.command(f"ping -n 1 {peer.IP}", 15)
    assert done["status"] == 1


@pytest.mark.parametrize("key", ["\x03", "\x1b"])
@pytest.mark.cards(*BOTH)
def test_abort(box, key):
    since = box.mark()
    box.type("ping -n 1000 10.0.2.99\r")
    time.sleep(0.5)
    assert box.all("done", since) == []
    box.type(key)
    assert box.wait_for("done", 5, since)["status"] != 0
    assert box.command("help")[0]["status"] == 0


@pytest.mark.cards(*BOTH)
def test_set_acts_at_once(wired, peer):
    """Polling and back, seen in the counters.  (slirp answers within the very act of sending, so
    only a neighbour that speaks first makes a halted machine take an interrupt.)"""
    box = wired()
    assert box.command("set batch=off")[0]["status"] == 0

    def frames_by_interrupt():
        before = box.counters()
        for seq in range(5):
            time.sleep(0.05)
            assert peer.ping(b"who wakes you?", seq=seq) == b"who wakes you?"
        after = box.counters()
        assert after["rx_frames"] - before["rx_frames"] == 5
        return after["irqs"] - before["irqs"]

    assert frames_by_interrupt() >= 4
    assert box.command("set irq=poll")[0]["status"] == 0
    assert frames_by_interrupt() == 0
    assert box.command("set irq=auto")[0]["status"] == 0
    assert frames_by_interrupt() >= 4


@pytest.mark.cards(*BOTH)
def test_set_ip(box):
    since = box.mark()
    box.command("set ip=10.0.2.77/24,10.0.2.2")
    ready = box.wait_for("ready", 5, since)
    assert (ready["ip"], ready["how"]) == ("10.0.2.77", "static")
    assert box.command(f"ping -n 1 {HOST_IP}")[0]["status"] == 0
    since = box.mark()
    box.command("set ip=dhcp")
    assert box.wait_for("ready", 10, since)["how"] == "dhcp"


@pytest.mark.parametrize("option", ["nic=auto", "text=40", "exit=on", "console=vga"])
def test_set_of_boot_options(box, option):
    done, text = box.command(f"set {option}")
    assert done["status"] == 1 and "boot option only" in text


def test_backspace_and_long_lines(box):
    since = box.mark()
    box.type("helpx\b\r")
    assert box.wait_for("done", 5, since)["cmd"] == "help"
    since = box.mark()
    box.type("a" * 3000 + "\r")
    assert box.wait_for("done", 10, since)["status"] == 1
    assert box.command("help")[0]["status"] == 0


def test_empty_lines_give_a_prompt_only(box):
    since, offset = box.mark(), len(box.text["serial"])
    box.type("\r\r   \r")
    box.wait_text("> ", 5, since=offset)
    assert box.command("help")[0]["cmd"] == "help"
    assert [r["cmd"] for r in box.all("done", since)] == ["help"]


def test_commands_typed_ahead_run_in_order(box):
    since = box.mark()
    box.type("ip\rnics\rhelp\r")
    done = box.wait_count("done", 3, 10, since)
    assert [r["cmd"] for r in done] == ["ip", "nics", "help"]


def test_keyboard(box):
    box.keys("ping -n 1 10.0.2.2\n")
    assert box.wait_for("done", 10)["cmd"] == "ping -n 1 10.0.2.2"
    box.keys("ping -n 500 10.0.2.99\n")
    time.sleep(0.5)
    box.key("ctrl", "c")
    assert len(box.wait_count("done", 2, 5)) == 2


@pytest.mark.cards(*BOTH)
def test_reboot(box):
    box.type("reboot\r")
    box.wait_count("boot", 2, 15)
    box.wait_count("ready", 2, 15)


# ---- the ways out ----

@pytest.mark.parametrize("run,status,done", [
    ("help", 0, [0]), ("help; ip", 0, [0, 0]), ("nosuch", 1, [1]),
    ("nosuch; help", 1, [1, 0]), ("help;; ;ip", 0, [0, 0]),
    (f"ping -n 1 {HOST_IP}", 0, [0]), ("ttcp -t", 1, [1])])
def test_exit_status(boot, run, status, done):
    machine = boot(f'{STATIC} exit=on run="{run}"')
    assert machine.wait_exit(15) == 2 * status + 1
    assert [r["status"] for r in machine.all("done")] == done
    assert machine.records[-1]["ev"] == "exit" and machine.records[-1]["status"] == status
    ready = machine.all("ready")[0]
    assert all(r["t_us"] >= ready["t_us"] for r in machine.all("done"))
    assert machine.serial_records == machine.records, "COM1 was drained before the end"


def test_exit_status_without_a_card(boot):
    machine = boot('exit=on run="ttcp -t 10.0.2.2"', nic=None)
    assert machine.wait_exit(15) == 2 * 2 + 1


@pytest.mark.cards(*BOTH)
def test_quit(boot):
    for words, status in (("quit", 0), ("quit 7", 7)):
        machine = boot(STATIC)
        machine.wait_for("ready", 10)
        machine.type(words + "\r")
        assert machine.wait_exit(10) == 2 * status + 1
        assert machine.all("exit")[0]["status"] == status


@pytest.mark.cards(*BOTH)
def test_panic(boot):
    """A non-maskable interrupt: the screen, the record, status 3."""
    machine = boot(f"{STATIC} exit=on")
    machine.wait_for("ready", 10)
    machine.monitor("inject-nmi")
    assert machine.wait_exit(10) == 2 * 3 + 1
    panic = machine.all("panic")[0]
    assert "non-maskable" in panic["where"]
    assert machine.records[-1]["ev"] == "exit" and machine.records[-1]["status"] == 3
    serial = machine.text["serial"]
    for part in ("PANIC", "eax ", "eip ", "build ", "last events"):
        assert part in serial, part


def test_panic_stays_on_the_screen(boot):
    machine = boot(STATIC)
    machine.wait_for("ready", 10)
    machine.monitor("inject-nmi")
    machine.wait_for("panic", 5)
    time.sleep(0.5)
    assert machine.alive()
    screen = "\n".join(machine.screen())
    assert "PANIC" in screen and "eip" in screen
