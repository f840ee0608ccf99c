"""The log of real machines: entries from captures, good, noisy and empty; entries that lie."""
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.abspath("tests/hw"))
import hwlog  # noqa: E402

BOOT = ('@{"ev":"boot","version":"0.1","cpu":"386","mhz":40,"tsc":false,"mem_kb":4096,'
        '"load_ms":5200,"t_us":41000}')
NIC = ('@{"ev":"nic","nic":0,"driver":"ne2000","model":"NE2000 clone","bus":"isa","width":16,'
       '"io":768,"irq":10,"trigger":"edge","irq_proven":true,"mode":"irq","mem":null,"ring_kb":13,'
       '"mac":"00:00:e8:12:34:56","t_us":900000}')
READY = '@{"ev":"ready","nic":0,"ip":"10.0.0.7","how":"dhcp","t_us":1900000}'


def result(direction, kb_s=1000, end="ok"):
    size = kb_s * 1024
    return json.dumps({
        "ev": "result", "nic": 0, "test": "ttcp", "dir": direction, "proto": "tcp",
        "peer": "10.0.0.1:1234", "streams": 1, "bytes": size, "calls": 100, "us": 1000000,
        "kb_s": 0.5, "mbit_s": 0.5, "calls_s": 100.5, "packets": 10, "retrans": 0, "lost": None,
        "dup": None, "ooo": None, "jitter_us": None, "gap_us": 5, "cpu_pct": 80.5, "bound": "wire",
        "end": end, "t_us": 9000000}, separators=(",", ":")).replace(
            '"kb_s":0.5', f'"kb_s":{kb_s:.3f}').replace(
                '"mbit_s":0.5', f'"mbit_s":{size * 8 / 1e6:.3f}').replace(
                    '"calls_s":100.5', '"calls_s":100.000').join(("@", ""))


def done(command, status):
    return f'@{{"ev":"done","cmd":"{command}","status":{status},"t_us":9500000}}'


SESSION = [BOOT, NIC, READY, result("rx"), result("tx", 800), done("selftest", 0),
           done("reboot", 0), BOOT, NIC, READY]


def answers(**changed):
    return {"name": "a-386", "date": "2026-12-01", "machine": "a 386", "medium": "floppy",
            "by": "me", "saw": {"screen": "yes"}, "photos": [], **changed}


def capture(lines, end="\r\n"):
    return end.join(["AMI BIOS (C) 1991", *lines, "> "])


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_everything_went_well(end):
    entry = hwlog.make_entry(capture(SESSION, end), answers())
    assert entry["version"] == "0.1" and entry["noise"] == 0
    assert entry["proven"] == dict.fromkeys(hwlog.PROVEN, True)
    assert [r["ev"] for r in entry["records"]].count("boot") == 2
    assert "| 386, 40 MHz, 4096 KB | NE2000 clone, isa 16 | floppy | 1000 | 800 | all well |" in \
        hwlog.row(entry)
    assert hwlog.row(entry).count("|") == 10


def test_what_was_not_tried_is_not_claimed():
    entry = hwlog.make_entry(capture([BOOT]), answers())
    assert entry["proven"]["card_found"] is False
    assert {entry["proven"][item] for item in hwlog.PROVEN if item != "card_found"} == {None}
    assert "none found" in hwlog.row(entry) and "card_found" in hwlog.row(entry)


def test_what_went_wrong_is_told():
    polled = NIC.replace('"irq_proven":true,"mode":"irq"', '"irq_proven":false,"mode":"poll"')
    entry = hwlog.make_entry(capture([BOOT, polled, READY, result("rx", end="timeout"),
                                      done("selftest", 1), done("reboot", 0)]),
                             answers(saw={"quit": "no: hangs"}))
    assert [item for item, said in entry["proven"].items() if said is False] == [
        "irq_proven", "tcp_in", "selftest", "restarted"]
    assert "irq_proven, tcp_in, selftest, restarted, quit" in hwlog.row(entry)


def test_noise_on_the_line():
    damaged = NIC.replace('"irq":10', '"irq":1\x00')
    lines = ["\x1b[2J" + BOOT, damaged, READY[:30], "garbage @{ more", NIC, READY]
    entry = hwlog.make_entry(capture(lines), answers())
    assert entry["noise"] == 2 and entry["proven"]["card_found"] is True


@pytest.mark.parametrize("text", ["", "nothing of ours", NIC, READY + "\n" + BOOT[:40]])
def test_capture_without_a_start(text):
    with pytest.raises(hwlog.EntryError, match="no boot record"):
        hwlog.make_entry(text, answers())


@pytest.mark.parametrize("changed,why", [
    ({"name": "A 386"}, "small letters"), ({"date": "1.12.2026"}, "YYYY-MM-DD"),
    ({"medium": "tape"}, "one of floppy"), ({"machine": " "}, "machine is missing"),
    ({"saw": {"smell": "yes"}}, "one of screen"), ({"saw": {"screen": "maybe"}}, "yes or no")])
def test_answers_that_cannot_be(changed, why):
    with pytest.raises(hwlog.EntryError, match=why):
        hwlog.make_entry(capture(SESSION), answers(**changed))


def write(folder, entry, name="2026-12-01-a-386.json"):
    (folder / name).write_text(json.dumps(entry))


def test_an_entry_may_not_claim_more_than_its_records(tmp_path):
    good = hwlog.make_entry(capture(SESSION), answers())
    write(tmp_path, good)
    assert [name for name, _ in hwlog.entries(tmp_path)] == ["2026-12-01-a-386.json"]
    without = [r for r in good["records"] if r["ev"] != "result"]
    for lie, why in (({"records": without}, "the records say None"), ({"proven": {}}, "proven"),
                     ({"records": [dict(good["records"][0], cpu="8086")]}, "damaged"),
                     ({"date": "2026-12-02"}, "is called")):
        write(tmp_path, {**good, **lie})
        with pytest.raises(hwlog.EntryError, match=why):
            list(hwlog.entries(tmp_path))


def test_command_line(tmp_path, capsys):
    (tmp_path / "capture.txt").write_bytes(capture(SESSION).encode() + b"\xff\xfe")
    words = ["--folder", str(tmp_path)]
    assert hwlog.main(words + ["entry", str(tmp_path / "capture.txt"), "--name", "a-386",
                               "--machine", "a 386", "--medium", "floppy", "--by", "me",
                               "--date", "2026-12-01", "--saw", "screen=yes"]) == 0
    said = capsys.readouterr().out
    assert "irq_proven: yes" in said and "keyboard: not told" in said
    assert hwlog.main(words + ["check"]) == 0 and hwlog.main(words + ["table"]) == 0
    assert capsys.readouterr().out.count("2026-12-01") == 2
    (tmp_path / "capture.txt").write_text("nothing")
    assert hwlog.main(words + ["entry", str(tmp_path / "capture.txt"), "--name", "a-386",
                               "--machine", "a 386", "--medium", "floppy", "--by", "me"]) == 1
    assert "hwlog: no boot record" in capsys.readouterr().err


def test_the_entries_we_have():
    files = [name for name in os.listdir(hwlog.LOG) if name.endswith(".json")]
    assert [name for name, _ in hwlog.entries(hwlog.LOG)] == sorted(files)
