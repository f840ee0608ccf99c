#!/usr/bin/python3
"""The log of real machines: from what COM1 said to an entry, and the entries checked.

    tests/hw/hwlog.py entry capture.txt --name amd386dx40-ne2000 --machine "AMD 386DX-40, ..." \\
        --medium floppy --by "who" --saw screen=yes --saw "quit=no: no APM" [--photo nics.jpg]
    tests/hw/hwlog.py check            every entry in tests/hw/log
    tests/hw/hwlog.py table            ... as rows for README.md

An entry is tests/hw/log/DATE-NAME.json.  What the records prove is taken from them; only what a
person can see is asked.  A capture may hold anything besides records: the BIOS, a menu, noise.
"""

import argparse
import datetime
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "emu"))
import records  # noqa: E402  (needs the path above)

LOG = os.path.join(HERE, "log")
MEDIA = ("floppy", "cd", "dos", "grub", "network")
SEEN = {"screen": "the text is whole and readable",
        "keyboard": "typed commands arrive as typed",
        "ctrl_alt_del": "Ctrl-Alt-Del restarts, and it comes up again",
        "quit": "`quit` switches off, or says that one can"}
PROVEN = ("card_found", "irq_proven", "address", "tcp_in", "tcp_out", "selftest", "restarted")
KEPT = ("boot", "nic", "ready", "result", "fault", "panic")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{2,60}")
SAW = re.compile(r"(yes|no)(: .+)?")


class EntryError(Exception):
    """What is wrong, for the person who wrote it."""


def read_capture(text):
    """(records, lines that begin like a record and are none).  A line may be cut at both ends of
    the capture; noise in the middle is told."""
    found, broken = [], []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        at = line.find('@{"ev":')
        if at < 0:
            continue
        try:
            record = records.parse(line[at:])
            records.check(record)
            found.append(record)
        except records.RecordError as error:
            broken.append(f"line {number}: {error}")
    return found, broken


def plain(record):
    """Decimals as JSON knows them."""
    return json.loads(json.dumps(record, default=float))


def proven(found):
    """What the records say of each of PROVEN: true, false, or null where it was not tried."""
    def of(ev, **fields):
        return [r for r in found if r["ev"] == ev and all(r[k] == v for k, v in fields.items())]

    def went_well(tried, good):
        return bool(good) if tried else None

    tcp = [r for r in of("result") if r["proto"] == "tcp"]
    selftests = [r for r in of("done") if r["cmd"].split()[:1] == ["selftest"]]
    left = [r for r in of("done") if r["cmd"].split()[:1] == ["reboot"]]
    return {
        "card_found": bool(of("nic")),
        "irq_proven": went_well(of("nic"), of("nic", irq_proven=True, mode="irq")),
        "address": went_well(of("nic"), of("ready")),
        "tcp_in": went_well([r for r in tcp if r["dir"] == "rx"],
                            [r for r in tcp if r["dir"] == "rx" and r["end"] == "ok"]),
        "tcp_out": went_well([r for r in tcp if r["dir"] == "tx"],
                             [r for r in tcp if r["dir"] == "tx" and r["end"] == "ok"]),
        "selftest": went_well(selftests, [r for r in selftests if r["status"] == 0]),
        "restarted": went_well(left, len(of("boot")) > 1),
    }


def make_entry(text, answers):
    """The entry of a capture; `answers` holds name, date, machine, medium, by, saw and photos."""
    found, broken = read_capture(text)
    boots = [r for r in found if r["ev"] == "boot"]
    if not boots:
        raise EntryError("no boot record in the capture: was it begun before the machine started?"
                         + "".join(f"\n  {line}" for line in broken[:3]))
    entry = dict(answers, version=boots[0]["version"], proven=proven(found),
                 records=[plain(r) for r in found if r["ev"] in KEPT], noise=len(broken))
    check_entry(entry)
    return entry


def check_entry(entry):
    """Raise EntryError unless the entry is whole and says no more than its records do."""
    for key in ("name", "date", "machine", "medium", "by", "version"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise EntryError(f"{key} is missing")
    if not NAME.fullmatch(entry["name"]):
        raise EntryError(f"name {entry['name']!r}: small letters, digits and -")
    try:
        datetime.date.fromisoformat(entry["date"])
    except ValueError:
        raise EntryError(f"date {entry['date']!r}: write YYYY-MM-DD") from None
    if entry["medium"] not in MEDIA:
        raise EntryError(f"medium {entry['medium']!r}: one of {', '.join(MEDIA)}")
    for item, said in entry.get("saw", {}).items():
        if item not in SEEN:
            raise EntryError(f"saw {item!r}: one of {', '.join(SEEN)}")
        if not isinstance(said, str) or not SAW.fullmatch(said):
            raise EntryError(f"saw {item}={said!r}: yes or no, and after a colon what happened")
    check_evidence(entry)


def check_evidence(entry):
    if set(entry.get("proven", ())) != set(PROVEN):
        raise EntryError("proven does not name " + ", ".join(PROVEN))
    kept = []
    for record in entry.get("records", ()):
        line = "@" + json.dumps(record, separators=(",", ":"))
        try:
            kept.append(records.parse(line))
            records.check(kept[-1])
        except records.RecordError as error:
            raise EntryError(f"a record is damaged: {error}") from None
    said = proven(kept)
    for item in ("card_found", "irq_proven", "address", "tcp_in", "tcp_out"):
        if entry["proven"][item] != said[item]:
            raise EntryError(f"proven {item} is {entry['proven'][item]}, the records say "
                             f"{said[item]}")


def row(entry):
    """One row of the table: what the machine is and how fast it was."""
    def best(direction):
        rates = [r["kb_s"] for r in entry["records"] if r["ev"] == "result" and r["kb_s"]
                 and r["dir"] == direction and r["proto"] == "tcp"]
        return f"{max(rates):.0f}" if rates else "-"

    first = next(r for r in entry["records"] if r["ev"] == "boot")
    cards = [r for r in entry["records"] if r["ev"] == "nic"]
    card = f"{cards[0]['model']}, {cards[0]['bus']} {cards[0]['width']}" if cards else "none found"
    lacking = [item for item, said in entry["proven"].items() if said is False]
    lacking += [item for item, said in entry["saw"].items() if said.startswith("no")]
    return " | ".join(["", entry["date"], entry["machine"],
                       f"{first['cpu']}, {first['mhz']} MHz, {first['mem_kb']} KB", card,
                       entry["medium"], best("rx"), best("tx"), ", ".join(lacking) or "all well",
                       entry["version"], ""]).strip()


def entries(folder):
    """(file name, entry) of each, checked."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            try:
                entry = json.load(file)
                check_entry(entry)
                if name != f"{entry['date']}-{entry['name']}.json":
                    raise EntryError(f"is called {entry['date']}-{entry['name']} inside")
            except (EntryError, ValueError) as error:
                raise EntryError(f"{name}: {error}") from None
        yield name, entry


def write_entry(options):
    saw = dict(one.split("=", 1) if "=" in one else (one, "") for one in options.saw)
    with open(options.capture, encoding="latin-1") as file:
        entry = make_entry(file.read(), {
            "name": options.name, "date": options.date, "machine": options.machine,
            "medium": options.medium, "by": options.by, "saw": saw, "photos": options.photo})
    path = os.path.join(options.folder, f"{entry['date']}-{entry['name']}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(entry, file, indent=1)
        file.write("\n")
    print(path)
    for item, said in entry["proven"].items():
        print(f"  {item}: {'not tried' if said is None else 'yes' if said else 'NO'}")
    for item in SEEN.keys() - saw.keys():
        print(f"  {item}: not told ({SEEN[item]})")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", default=LOG, help="where the entries are")
    commands = parser.add_subparsers(dest="command", required=True)
    entry = commands.add_parser("entry", help="make an entry from a capture of COM1")
    entry.add_argument("capture")
    entry.add_argument("--name", required=True, help="short, for the file: amd386dx40-ne2000")
    entry.add_argument("--machine", required=True, help="CPU, board, chipset, BIOS and its date")
    entry.add_argument("--medium", required=True, choices=MEDIA)
    entry.add_argument("--by", required=True)
    entry.add_argument("--date", default=datetime.date.today().isoformat())
    entry.add_argument("--saw", action="append", default=[], metavar="ITEM=yes|no[: WHAT]",
                       help="; ".join(f"{item}: {what}" for item, what in SEEN.items()))
    entry.add_argument("--photo", action="append", default=[], metavar="FILE NAME")
    commands.add_parser("check", help="check every entry")
    commands.add_parser("table", help="rows for README.md")
    options = parser.parse_args(arguments)
    try:
        if options.command == "entry":
            write_entry(options)
        else:
            for name, one in entries(options.folder):
                print(row(one) if options.command == "table" else f"ok {name}")
    except (EntryError, OSError) as error:
        print(f"hwlog: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
