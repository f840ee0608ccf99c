"""The records of DESIGN section 4: reading them, and what each must hold.

A record is one line, '@' and a JSON object.  check() raises RecordError for any line that breaks
the contract; the tests run it on every record of every machine they boot.
"""

import decimal
import ipaddress
import json
import re

MAX_LINE = 4096


class RecordError(AssertionError):
    """A line that begins with '@' but breaks the contract."""


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_fixed(value):
    """x: a number written with 1 to 3 decimals and no exponent (see _fixed below)."""
    return isinstance(value, decimal.Decimal)


def _is_mac(value):
    return isinstance(value, str) and re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", value)


def _is_ip(value):
    try:
        return isinstance(value, str) and bool(ipaddress.IPv4Address(value))
    except ValueError:
        return False


def _is_peer(value):
    if not isinstance(value, str) or value.count(":") != 1:
        return False
    address, port = value.split(":")
    return _is_ip(address) and port.isdigit() and 0 < int(port) < 65536


def _one_of(*words):
    return lambda value: value in words


def _number_in(low, high):
    return lambda value: _is_int(value) and low <= value <= high


def _string(value):
    return isinstance(value, str)


def _flag(value):
    return isinstance(value, bool)


def _or_null(test):
    return lambda value: value is None or test(value)


def _list_of(test):
    return lambda value: isinstance(value, list) and all(test(one) for one in value)


_count = _number_in(0, 2**63)
_card = _number_in(0, 3)
_status = _number_in(0, 255)

FAULTS = ("option", "nic_missing", "prom", "irq_missing", "irq_lost", "irq_storm", "tx_timeout",
          "ring_resync", "overrun", "link_down", "dhcp_timeout", "addr_conflict", "record_lost",
          "low_memory")

# ev -> key -> test of the value.  t_us is in all of them; further keys may follow.
KEYS = {
    "boot": {
        "version": _string, "cpu": _one_of("386", "486", "586", "686"),
        "mhz": _or_null(_number_in(1, 100000)), "tsc": _flag,
        "mem_kb": _number_in(1, 64 << 20), "load_ms": _or_null(_count)},
    "nic": {
        "nic": _card, "driver": _one_of("ne2000", "wd80x3", "3c503", "rtl8139", "e1000"),
        "model": _string, "bus": _one_of("isa", "pci"), "width": _one_of(8, 16, 32),
        "io": _or_null(_number_in(0, 0xffff)), "irq": _or_null(_number_in(0, 15)),
        "trigger": _or_null(_one_of("edge", "level")), "irq_proven": _flag,
        "mode": _one_of("irq", "poll"), "mem": _or_null(_count), "ring_kb": _or_null(_count),
        "mac": _is_mac},
    "ready": {"nic": _card, "ip": _is_ip, "how": _one_of("dhcp", "static", "linklocal")},
    "result": {
        "nic": _card,
        "test": _one_of("ttcp", "iperf2", "iperf3", "nuttcp", "sink", "source"),
        "dir": _one_of("rx", "tx"), "proto": _one_of("tcp", "udp"), "peer": _is_peer,
        "streams": _number_in(1, 1024), "bytes": _count, "calls": _count, "us": _count,
        "kb_s": _or_null(_is_fixed), "mbit_s": _or_null(_is_fixed),
        "calls_s": _or_null(_is_fixed), "packets": _or_null(_count),
        "retrans": _or_null(_count), "lost": _or_null(_count), "dup": _or_null(_count),
        "ooo": _or_null(_count), "jitter_us": _or_null(_count), "gap_us": _or_null(_count),
        "cpu_pct": _or_null(_is_fixed),
        "bound": _or_null(_one_of("wire", "cpu", "peer", "pacing")),
        "end": _one_of("ok", "timeout", "reset", "refused", "abort")},
    "bench": {
        "name": _string, "nic": _or_null(_card), "unit": _string, "n": _count,
        "min": _is_fixed, "p50": _is_fixed, "mean": _is_fixed, "p99": _is_fixed,
        "max": _is_fixed},
    "table": {
        "name": _string, "nic": _or_null(_card), "columns": _list_of(_string),
        "rows": _list_of(lambda row: isinstance(row, list)), "verdict": _or_null(_string)},
    "fault": {"what": _one_of(*FAULTS), "nic": _or_null(_card)},
    "counters": {
        "nic": _card, "rx_frames": _count, "rx_bytes": _count, "tx_frames": _count,
        "tx_bytes": _count, "irqs": _count, "polls": _count},
    "done": {"cmd": _string, "status": _number_in(-255, 255)},
    "exit": {"status": _status},
    "panic": {"where": _string},
}


def _fixed(text):
    if not re.fullmatch(r"-?(0|[1-9]\d*)\.\d{1,3}", text):
        raise RecordError(f"number {text}: want 1 to 3 decimals and no exponent")
    return decimal.Decimal(text)


def _pairs(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise RecordError(f"a key twice in {keys}")
    return dict(pairs)


def _constant(text):
    raise RecordError(f"{text} is no JSON number")


def parse(line):
    """The dict in a record line ('@' included, line end not)."""
    if not line.startswith("@"):
        raise RecordError(f"no record: {line!r}")
    if len(line) > MAX_LINE:
        raise RecordError(f"{len(line)} bytes, {MAX_LINE} allowed: {line[:80]!r}")
    if not line.isascii() or not line.isprintable():
        raise RecordError(f"not plain ASCII: {line!r}")
    try:
        record = json.loads(line[1:], parse_float=_fixed, parse_constant=_constant,
                            object_pairs_hook=_pairs)
    except json.JSONDecodeError as error:
        raise RecordError(f"{error}: {line!r}") from None
    if not isinstance(record, dict) or next(iter(record), None) != "ev":
        raise RecordError(f"first key is not ev: {line!r}")
    return record


def check(record):
    """Raise RecordError unless all promised keys are there with values of the promised kind."""
    ev = record["ev"]
    if ev not in KEYS:
        raise RecordError(f"unknown record {ev!r}: {record}")
    wanted = dict(KEYS[ev], t_us=_count)
    for key, test in wanted.items():
        if key not in record:
            raise RecordError(f"{ev}: no {key!r} in {record}")
        if not test(record[key]):
            raise RecordError(f"{ev}: {key}={record[key]!r} in {record}")
    if ev == "counters":
        for key, value in record.items():
            if key not in ("ev",) and not _is_int(value) and not _list_of(_count)(value):
                raise RecordError(f"counters: {key}={value!r} is no count")
    if ev == "result":
        _check_result(record)


def _check_result(record):
    """The rates must follow from bytes, calls and us: within 0.2 %, or the last digit shown."""
    for key, units in (("kb_s", record["bytes"] / 1024), ("calls_s", record["calls"]),
                       ("mbit_s", record["bytes"] * 8 / 1e6)):
        if record[key] is None or record["us"] < 10000:
            continue
        rate, want = float(record[key]), units * 1e6 / record["us"]
        if abs(rate - want) > want * 0.002 + 0.11:
            raise RecordError(f"result: {key}={rate}, but bytes and us say {want:.3f}: {record}")
    if record["bound"] is not None and record["us"] < 10000:
        raise RecordError(f"result: bound must be null below 10 ms: {record}")
    if record["cpu_pct"] is not None and not 0 <= record["cpu_pct"] <= 100:
        raise RecordError(f"result: cpu_pct: {record}")


def check_order(records):
    """t_us never goes back, but at a restart."""
    before = 0
    for record in records:
        if record["ev"] == "boot":
            before = 0
        if record["t_us"] < before:
            raise RecordError(f"t_us went back from {before}: {record}")
        before = record["t_us"]
