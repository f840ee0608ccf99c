"""From entry to `ready`, the boot options, and a machine that is not as it should be."""

import subprocess
import time

import pytest

import records
from cards import BOTH, EVERY
from machine import product, version
from qemu import GUEST_IP
from rawpeer import ETH_ARP, dhcp_options, ip_bytes
from wire import send_tcp

STATIC = f"ip={GUEST_IP}/24,10.0.2.2"


def unpacked(folder):
    """The kernel without its packing and symbols."""
    copy = folder / "unpacked.elf"
    subprocess.run(["objcopy", "--strip-all", product("nictest86.sym"), str(copy)], check=True)
    return copy


def one(found, what):
    assert len(found) == 1, f"{what}: {found}"
    return found[0]


# ---- the plain case ----

@pytest.mark.cards(*EVERY)
def test_boot_dhcp(boot, card):
    box = boot(forward={"tcp": [5001]})
    ready = box.wait_for("ready", 10)
    assert [r["ev"] for r in box.records[:3]] == ["boot", "nic", "ready"]
    said, nic = box.records[0], box.records[1]
    assert said["version"] and card.boot.items() <= said.items()
    assert 3000 <= said["mem_kb"] <= 4096
    assert {**nic, **card.nic} == nic
    assert nic["io"] and nic["irq"] and nic["model"] and nic["ring_kb"]
    assert (ready["nic"], ready["ip"], ready["how"]) == (0, GUEST_IP, "dhcp")
    assert box.all("fault") == []


@pytest.mark.cards(*BOTH)
def test_records_on_com1_are_those_on_e9(boot):
    box = boot()
    box.wait_for("ready", 10)
    box.command("counters")
    box.command("help")
    assert box.serial_records == box.records
    for line in box.text["e9"].split("\n") + box.text["serial"].split("\r\n"):
        assert "@" not in line[1:] or line[0] != "@" or line.endswith("}"), line
    assert "\r" not in box.text["e9"]
    assert "\n" not in box.text["serial"].replace("\r\n", ""), "COM1 lines end in CR LF"


def test_version_is_shown(boot):
    box = boot()
    box.wait_for("ready", 10)
    assert box.all("boot")[0]["version"] == version()
    assert any(line.startswith(f"NicTest86 {version()}: ") for line in box.screen())


def test_vga_shows_no_record(boot):
    box = boot()
    box.wait_for("ready", 10)
    box.command("ip")
    screen = box.screen()
    assert any("NicTest86" in line for line in screen), screen
    assert any(GUEST_IP in line for line in screen), screen
    assert not any('{"ev"' in line or line.startswith("@") for line in screen), screen


@pytest.mark.cards(*BOTH)
def test_entry_to_ready_under_half_a_second(boot):
    box = boot(STATIC, icount=True)
    ready = box.wait_for("ready", 20)
    assert ready["how"] == "static"
    assert ready["t_us"] < 500_000


@pytest.mark.cards(*BOTH)
def test_static_address(boot):
    box = boot(f"ip={GUEST_IP}/24,10.0.2.2")
    ready = box.wait_for("ready", 5)
    assert (ready["ip"], ready["how"]) == (GUEST_IP, "static")
    _, text = box.command("ip")
    assert GUEST_IP in text and "255.255.255.0" in text and "10.0.2.2" in text
    done, _ = box.command("ping -n 2 10.0.2.2")
    assert done["status"] == 0


def test_console_without_com1(boot):
    box = boot("console=vga")
    box.wait_for("ready", 10)
    box.keys("help\n")
    box.wait_for("done", 5, cmd="help")
    assert "ready" not in box.text["serial"] and "@" not in box.text["serial"]


def test_no_serial_port(boot):
    box = boot(serial=False)
    ready = box.wait_for("ready", 10)
    assert ready["t_us"] < 5_000_000
    box.keys("ip\n")
    assert box.wait_for("done", 5)["status"] == 0


def test_no_cpuid_path(boot):
    box = boot("cpu=nocpuid")
    box.wait_for("ready", 10)
    assert box.records[0]["cpu"] in ("386", "486")
    assert box.all("fault") == []


def test_pentium_has_its_cycle_counter(boot):
    box = boot("", cpu="pentium")
    box.wait_for("ready", 10)
    assert box.records[0]["cpu"] == "586" and box.records[0]["tsc"] is True


# ---- addresses ----

@pytest.mark.cards(*BOTH)
def test_no_dhcp_server_leads_to_link_local(boot, peer):
    box = boot("ip=dhcp", dgram=peer.sockets, icount=True)
    ready = box.wait_for("ready", 60)
    assert ready["how"] == "linklocal"
    first, second, third, fourth = map(int, ready["ip"].split("."))
    assert (first, second) == (169, 254) and 1 <= third <= 254 and 0 <= fourth <= 255
    opened = one(box.all("nic"), "nic")["t_us"]
    assert 10e6 <= ready["t_us"] - opened <= 20e6
    assert one(box.all("fault"), "fault")["what"] == "dhcp_timeout"
    discovers = peer.seen(lambda p: p.dport == 67)
    assert len(discovers) >= 3
    assert dhcp_options(discovers[0].data)[12] == b"nictest86", "the host name"
    assert "......." in box.text["e9"], "a dot a second"
    # It keeps asking, and takes what a server that comes up later gives.
    peer.serve_dhcp()
    ready = box.wait_for("ready", 60, how="dhcp")
    assert ready["ip"] == peer.BOX_IP
    assert peer.ping(b"here") == b"here"


@pytest.mark.cards(*BOTH)
def test_lease_that_is_not_renewed(boot, peer):
    """The server falls silent: the address is given back when the lease ends (guest time)."""
    peer.serve_dhcp(lease_seconds=240)
    box = boot("ip=dhcp", dgram=peer.sockets, icount=True)
    first = box.wait_for("ready", 30, how="dhcp")
    peer.hook = None
    later = box.wait_for("ready", 90, how="linklocal")
    assert 230e6 <= later["t_us"] - first["t_us"] <= 330e6  # lwIP counts leases in minutes
    asked = peer.seen(lambda p: p.dport == 67 and dhcp_options(p.data).get(53) == b"\x03")
    assert len(asked) >= 2, "it has asked for its lease again before"


@pytest.mark.cards(*BOTH)
def test_address_in_use_is_told(boot, peer):
    box = boot(STATIC, dgram=peer.sockets)
    peer.arp_for.add(ip_bytes(GUEST_IP))
    box.wait_for("ready", 5, how="static")
    peer.wait(lambda p: p.type == ETH_ARP and p.ip_dst == ip_bytes(GUEST_IP), 10, what="ARP probe")
    assert box.wait_for("fault", 10, what="addr_conflict")["nic"] == 0
    assert box.command("help")[0]["status"] == 0


# ---- where the card is ----

@pytest.mark.parametrize("io,irq", [(0x280, 3), (0x320, 5), (0x340, 11), (0x360, 9)])
def test_card_is_found_at(boot, io, irq):
    box = boot(STATIC, nic_options={"iobase": hex(io), "irq": irq})
    box.wait_for("ready", 5)
    nic = one(box.all("nic"), "nic")
    assert (nic["io"], nic["irq"], nic["irq_proven"], nic["mode"]) == (io, irq, True, "irq")
    assert box.command("ping -n 2 10.0.2.2")[0]["status"] == 0


def test_card_named_by_option(boot):
    box = boot(f"{STATIC} nic=ne2000:0x240,7", nic_options={"iobase": "0x240", "irq": 7})
    box.wait_for("ready", 5)
    nic = one(box.all("nic"), "nic")
    assert (nic["io"], nic["irq"], nic["mode"]) == (0x240, 7, "irq")
    assert box.command("ping -n 2 10.0.2.2")[0]["status"] == 0


def test_wrong_port_in_option(boot):
    box = boot(f"{STATIC} nic=ne2000:0x340")
    assert box.wait_for("fault", 5)["what"] == "nic_missing"
    assert box.all("nic") == []
    assert "0x340" in box.text["e9"]
    assert box.command("help")[0]["status"] == 0
    assert box.command("ttcp -t 10.0.2.2")[0]["status"] == 2


def test_wrong_irq_in_option(boot):
    """It says so, and uses the line that the card really drives."""
    box = boot(f"{STATIC} nic=ne2000:0x300,5", forward={"tcp": [5001]})
    box.wait_for("ready", 5)
    fault = one(box.all("fault"), "fault")
    assert (fault["what"], fault["nic"]) == ("irq_missing", 0)
    assert "no interrupts seen on irq 5" in box.text["e9"]
    nic = one(box.all("nic"), "nic")
    assert (nic["irq"], nic["irq_proven"], nic["mode"]) == (10, True, "irq")
    for number in range(1, 4):
        time.sleep(0.3)  # COM1 has told everything, the machine halts
        send_tcp(box.port("tcp", 5001), b"i" * 10_000)
        box.wait_count("result", number, 5)
    assert box.counters()["irqs"] >= 3


def test_no_interrupt_at_all_falls_back_to_polling(boot):
    """A card on a line that the timer has taken: none of the lines tried is the card's."""
    box = boot(f"{STATIC}", nic_options={"irq": 0}, forward={"tcp": [5001]})
    box.wait_for("ready", 5)
    nic = one(box.all("nic"), "nic")
    assert (nic["irq_proven"], nic["mode"]) == (False, "poll")
    assert one(box.all("fault"), "fault")["what"] == "irq_missing"
    assert "no interrupts seen" in box.text["e9"]
    assert box.command("ping -n 2 10.0.2.2")[0]["status"] == 0


@pytest.mark.cards(*BOTH)
def test_polling_by_option(boot):
    box = boot(f"{STATIC} irq=poll")
    box.wait_for("ready", 5)
    assert one(box.all("nic"), "nic")["mode"] == "poll"
    assert box.command("ping -n 3 10.0.2.2")[0]["status"] == 0
    counters = box.counters()
    assert counters["irqs"] == 0 and counters["polls"] > 0


def test_no_card(boot):
    box = boot("", nic=None)
    fault = box.wait_for("fault", 5)
    assert (fault["what"], fault["nic"]) == ("nic_missing", None)
    assert box.all("ready") == []
    for command, status in (("help", 0), ("ip", 2), ("ttcp -t 10.0.2.2", 2), ("ping 10.0.2.2", 2)):
        assert box.command(command)[0]["status"] == status, command


def test_noprobe_keeps_hands_off(boot):
    box = boot("noprobe=0x300-0x31f")
    assert box.wait_for("fault", 5)["what"] == "nic_missing"
    assert box.all("nic") == []


@pytest.mark.parametrize("end", ["0x2e0-0x300", "0x31f-0x330"])
def test_noprobe_ends_are_inclusive(boot, end):
    box = boot(f"noprobe={end}")
    assert box.wait_for("fault", 5)["what"] == "nic_missing"


@pytest.mark.cards(*BOTH)
def test_garbage_prom(boot):
    """A PROM of all FF: the card is named as faulty, and not run under a broadcast address."""
    box = boot(STATIC, nic_options={"mac": "ff:ff:ff:ff:ff:ff"})
    fault = box.wait_for("fault", 5, what="prom")
    assert fault["t_us"] > 0
    assert all(nic["mac"] != "ff:ff:ff:ff:ff:ff" for nic in box.all("nic"))
    assert box.command("help")[0]["status"] == 0


# ---- options ----

BAD_OPTIONS = ["colour=blue", "ip=1.2.3", "ip=10.0.2.300/24", "ip=10.0.2.15/33", "ip=10.0.2.15",
               "nic=ne2000:300,10,", "nic=", "nic=pci:1", "noprobe=0x300", "irq=maybe",
               "console=lp0", "console=com1:12", "batch=maybe", "batch", "=on", "rxbudget=x",
               "rxbudget=0", "text=60", "exit=perhaps", "http=yes", "trace=everything",
               "name=", "elcr=both", "\"unclosed"]


@pytest.mark.parametrize("word", BAD_OPTIONS)
def test_bad_option(boot, word):
    """One line, one record, the default kept, and the boot goes on."""
    box = boot(word)
    box.wait_for("ready", 10, how="dhcp")
    fault = one(box.all("fault"), "fault")
    assert (fault["what"], fault["nic"]) == ("option", None)
    assert one(box.all("nic"), "nic")["mode"] == "irq"


def test_transmit_needs_a_way_to_notice(boot):
    box = boot("txirq=0 txpoll=0")
    box.wait_for("ready", 10)
    assert one(box.all("fault"), "fault")["what"] == "option"


def test_good_options_raise_no_complaint(boot):
    box = boot("ip=dhcp nic=auto irq=auto console=vga,com1:115200 batch=on pad=driver "
               "bufinit=alloc txirq=0 txpoll=1 loopirq=0 looppoll=0 elcr=keep http=ro "
               "name=nictest86 text=80 soak=off exit=off rxbudget=16 noprobe=0x100-0x1ff")
    box.wait_for("ready", 10)
    assert box.all("fault") == []


def test_overlong_line_is_cut_with_one_line(boot):
    box = boot(f"{STATIC} " + "name=" + "a" * 8 + " " * 1100 + "colour=blue")
    box.wait_for("ready", 5, how="static")
    fault = one(box.all("fault"), "fault")
    assert fault["what"] == "option"


@pytest.mark.parametrize("words", ['run="help; ip"', '"run=help; ip"', 'run=help\\;\\ ip'])
def test_run_quoting(boot, words):
    box = boot(f"{words} {STATIC}")
    box.wait_count("done", 2, 10)
    assert [r["cmd"].split()[0] for r in box.all("done")] == ["help", "ip"]
    assert box.all("done")[0]["t_us"] >= box.all("ready")[0]["t_us"]


# ---- machines that are too small, or badly started ----

def test_wrong_multiboot_magic(boot, tmp_path):
    """A kernel that expects another magic stands in for a loader that gives a wrong one."""
    image = unpacked(tmp_path).read_bytes()
    magic = (0x2badb002).to_bytes(4, "little")
    assert image.count(magic) == 1, "the one comparison of the magic"
    copy = tmp_path / "wrong-magic.elf"
    copy.write_bytes(image.replace(magic, (0x2badb003).to_bytes(4, "little")))
    box = boot(STATIC, kernel=str(copy))
    box.wait_text("cannot run: not started by a multiboot loader", 5)
    assert box.all("boot") == [] and box.all("nic") == []
    assert any("multiboot" in line for line in box.screen())


def test_too_little_memory(boot, tmp_path):
    """1.6 MB leave too little beside the kernel: one clear line and the record.

    Unpacked, as the packed one would not fit there: that loaders tell (test_floppy.py)."""
    box = boot(STATIC, kernel=str(unpacked(tmp_path)), extra=["-m", "1632K"])
    assert box.wait_for("fault", 5)["what"] == "low_memory"
    box.wait_text("too little memory", 5)
    assert box.all("nic") == []


@pytest.mark.parametrize("mem", [2, 4, 16, 64])
@pytest.mark.cards(*BOTH)
def test_memory_sizes(boot, mem):
    box = boot(f"{STATIC} exit=on run=\"ping -n 2 10.0.2.2\"", mem=mem)
    assert box.wait_exit(15) == 1, box.complaint("exit status")
    assert abs(box.records[0]["mem_kb"] - mem * 1024) <= 1024


# ---- the schema is no formality ----

def test_schema_refuses_what_breaks_it():
    """The checks that every other test relies on can fail."""
    good = '@{"ev":"ready","nic":0,"ip":"10.0.2.15","how":"dhcp","t_us":1}'
    records.check(records.parse(good))
    for old, new in (('"nic":0', '"nic":"0"'), ('"dhcp"', '"DHCP"'), ('"t_us":1', '"t_us":1.0'),
                     (',"t_us":1', ""), ('"10.0.2.15"', '"10.0.2.256"'), ('"ev":"ready",', ""),
                     ('"ready"', '"steady"'), ("}", ""), ('"nic":0', '"nic":0,"nic":0')):
        with pytest.raises(records.RecordError):
            records.check(records.parse(good.replace(old, new)))
    for number in ("1e3", "1.2345", "1"):
        with pytest.raises(records.RecordError):
            bench = ('@{"ev":"bench","name":"x","nic":0,"unit":"us","n":1,"min":%s,"p50":1.0,'
                     '"mean":1.0,"p99":1.0,"max":1.0,"t_us":1}' % number)
            records.check(records.parse(bench))
