"""The host's iperf3 client, and what must agree between its report and the box's records."""

import json
import re
import subprocess

from machine import spawn

SENT, RECEIVED = "sum_sent", "sum_received"


class Client:
    """iperf3 -c towards a port, of loopback if no host is given; starts at once, by the command
    `prefix`.  As JSON, or with text=True as people see it."""

    def __init__(self, port, words, text=False, host="127.0.0.1", prefix=()):
        self.argv = [*prefix, "iperf3", "-c", host, "-p", str(port), *words]
        if not text:
            self.argv.append("-J")
        self.text = text
        self.process = spawn(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, universal_newlines=True)

    def finish(self, timeout=60):
        """(status, report): a dict, or the text of both streams."""
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"{self.argv} hangs:\n{out}{err}") from None
        return self.process.returncode, out + err if self.text else json.loads(out)


def run(port, *words, timeout=60, **where):
    """A test that must succeed; the client's report."""
    status, report = Client(port, words, **where).finish(timeout)
    assert status == 0 and "error" not in report, report.get("error")
    return report


def results(box, report, since):
    """The records of that session, by direction: as many as it had directions."""
    setup = report["start"]["test_start"]
    bidir = "bidir" in setup and setup["bidir"] or SENT + "_bidir_reverse" in report["end"]
    wanted = {"rx", "tx"} if bidir else {"tx"} if setup["reverse"] else {"rx"}
    records = box.wait_count("result", len(wanted), 10, since, test="iperf3")
    assert {r["dir"] for r in records} == wanted
    assert len(box.all("result", since, test="iperf3")) == len(wanted)
    return {r["dir"]: r for r in records}


def _sums(report, direction, bidir):
    suffix = "_bidir_reverse" if direction == "tx" and bidir else ""
    return report["end"][SENT + suffix], report["end"][RECEIVED + suffix]


def _check_udp(record, sent, received, setup):
    assert record["bytes"] == record["packets"] * setup["blksize"]
    if setup["omit"]:
        return  # the client takes off what it has omitted itself: each end has its moment
    if record["dir"] == "rx":
        assert record["lost"] == received["lost_packets"]
        assert record["packets"] - record["dup"] == received["packets"] - record["lost"]
        assert abs(record["jitter_us"] - received["jitter_ms"] * 1000) <= 1
    else:
        assert record["packets"] == sent["packets"]


def _check_busy(records, busy):
    """We tell one figure of processor time: that of the direction that was stopped last."""
    assert any(abs(float(record["cpu_pct"]) - busy["remote_total"]) <= 0.11
               for record in records.values()), (records, busy)
    assert abs(busy["remote_user"] + busy["remote_system"] - busy["remote_total"]) <= 0.01


def check(box, report, since):
    """Both ends' figures agree; returns the records by direction."""
    records = results(box, report, since)
    setup = report["start"]["test_start"]
    for direction, record in records.items():
        sent, received = _sums(report, direction, len(records) == 2)
        ours = received if direction == "rx" else sent
        assert record["bytes"] == ours["bytes"], (record, ours)
        assert record["streams"] == setup["num_streams"]
        assert (record["proto"], record["end"]) == (setup["protocol"].lower(), "ok")
        if len(records) == 1:  # with --bidir the client prints one time for both, its own
            assert abs(record["us"] - ours["seconds"] * 1e6) <= 2
        if record["proto"] == "udp":
            _check_udp(record, sent, received, setup)
        elif direction == "tx":
            assert record["retrans"] == sent["retransmits"]
            # Of what we have sent the client has read a part: the rest is in its own buffers.
            assert setup["omit"] or received["bytes"] <= sent["bytes"], (received, sent)
    _check_busy(records, report["end"]["cpu_utilization_percent"])
    return records


def shape(text):
    """A report without its figures: what is left are the columns and who they are of."""
    text = re.sub(r"port \d+|\[ *\d+\]", "#", text)
    text = re.sub(r"\d+(\.\d+)?([eE]-?\d+)?", "0", text)
    text = re.sub(r"\b[KMGT]?(Bytes|bits/sec)\b", r"\1", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
