"""The host's iperf3 client, and what must agree between its report and the box's records."""

import json
import re
import subprocess

from machine import spawn

SENT, RECEIVED = "sum_sent", "sum_received"


class Client:
    """iperf3 -c towards a port of loopback; starts at once.  As JSON, or with text=True as people
    see it."""

    def __init__(self, port, words, text=False):
        self.argv = ["iperf3", "-c", "127.0.0.1", "-p", str(port), *words]
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


def run(port, *words, timeout=60):
    """A test that must succeed; the client's report."""
    status, report = Client(port, words).finish(timeout)
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


def _check_udp(record, sent, received, omit):
    if record["dir"] == "rx":
        # The client takes off the datagrams that it has omitted itself: each end has its moment.
        edge = 5 if omit else 0
        assert record["lost"] == received["lost_packets"]
        assert abs(record["packets"] - (received["packets"] - received["lost_packets"])) <= edge
        assert abs(record["jitter_us"] - received["jitter_ms"] * 1000) <= 1
    else:
        assert record["packets"] == sent["packets"]


def check(box, report, since):
    """Both ends' figures agree; returns the records by direction."""
    records = results(box, report, since)
    setup = report["start"]["test_start"]
    for direction, record in records.items():
        sent, received = _sums(report, direction, len(records) == 2)
        ours = received if direction == "rx" else sent
        assert record["bytes"] == ours["bytes"]
        assert record["streams"] == setup["num_streams"]
        assert (record["proto"], record["end"]) == (setup["protocol"].lower(), "ok")
        if len(records) == 1:  # with --bidir the client prints one time for both, its own
            assert abs(record["us"] - ours["seconds"] * 1e6) <= 2
        busy = report["end"]["cpu_utilization_percent"]
        edge = 0.11 if len(records) == 1 else 2  # two meters, a moment apart, but one figure
        assert abs(float(record["cpu_pct"]) - busy["remote_total"]) <= edge
        assert abs(busy["remote_user"] + busy["remote_system"] - busy["remote_total"]) <= 0.01
        if record["proto"] == "udp":
            _check_udp(record, sent, received, setup["omit"])
        elif direction == "tx":
            assert record["retrans"] == sent["retransmits"]
            if setup["omit"] == 0:
                assert received["bytes"] <= sent["bytes"] <= received["bytes"] + (1 << 20)
    return records


def shape(text):
    """A report without its figures: what is left are the columns and who they are of."""
    text = re.sub(r"port \d+|\[ *\d+\]", "#", text)
    text = re.sub(r"\d+(\.\d+)?([eE]-?\d+)?", "0", text)
    text = re.sub(r"\b[KMGT]?(Bytes|bits/sec)\b", r"\1", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
