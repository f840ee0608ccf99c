"""What is measured, and Linux's figures for the same (PEERS; instructions, QEMU 7.2, see there)."""

from typing import NamedTuple

ISA, PCI, RTL8139 = "ne2k_isa", "ne2k_pci", "rtl8139"
CARDS = (ISA, PCI, RTL8139)

PEER = "10.0.2.2"
# What the peer's card holds in 16 full frames; our send buffer is as large.
SINK = "peer sink 23360"
# As many as the smallest ring takes: 8 full frames (QEMU drops without a word), or 32 short ones.
FULL_FLIGHT, SHORT_FLIGHT = 8, 32
# A full frame, its preamble and gap take 1230 us of a 10 Mbit/s wire.
PACED_US = 1230


class Row(NamedTuple):
    """One line of the table.  Counts are the fewest with which the figure is within 0.3 % of that
    of a long run: the opening of a connection is in it, and is paid once."""
    name: str
    title: str
    run: str            # shell commands; the last moves the data
    per: str            # what a cost is divided by: "packets", "mss" (1460 bytes), "calls"
    count: int          # how many of these are expected
    linux: dict         # card -> instructions
    paced_us: int = 0   # QEMU lets what the peer sends go once in so long, by a timer
    options: str = ""   # boot options


def _segments(count):
    return count * 8192 // 1460


ROWS = (
    Row("udp_tx_18", "UDP transmit, 18 bytes",
        f"{SINK}; ttcp -t -u -l 18 -n 4096 {PEER}", "packets", 4096,
        {ISA: 4533, PCI: 4288, RTL8139: 3939}),
    Row("udp_tx_1472", "UDP transmit, 1472 bytes",
        f"{SINK}; ttcp -t -u -l 1472 -n 2048 {PEER}", "packets", 2048,
        {ISA: 6512, PCI: 5911, RTL8139: 5565}),
    Row("udp_rx_18", "UDP receive, 18 bytes",
        f"peer udp 18 4096 {SHORT_FLIGHT}", "packets", 4096,
        {ISA: 4964, PCI: 4664, RTL8139: 4458}),
    Row("udp_rx_1472", "UDP receive, 1472 bytes",
        f"peer udp 1472 2048 {FULL_FLIGHT}", "packets", 2048,
        {ISA: 6635, PCI: 5985, RTL8139: 5917}),
    Row("tcp_tx", "TCP transmit, bulk",
        f"{SINK}; ttcp -t -l 8192 -n 512 {PEER}", "mss", _segments(512),
        {ISA: 8450, PCI: 7570, RTL8139: 6730}),
    Row("tcp_rx", "TCP receive, bulk, CPU-bound",
        f"peer tcp 2048 {FULL_FLIGHT} 0", "mss", 2048,
        {ISA: 6350, PCI: 5720, RTL8139: 5580}),
    Row("tcp_rx_paced", "TCP receive, paced at 10 Mbit/s",
        f"peer tcp 1024 {FULL_FLIGHT} 1", "mss", 1024,
        {ISA: 9850, PCI: 9260, RTL8139: 9360}, paced_us=PACED_US),
    Row("tcp_tx_1_nagle", "TCP write of 1 byte, Nagle on",
        f"{SINK}; ttcp -t -l 1 -n 16384 {PEER}", "calls", 16384,
        {ISA: 1602, RTL8139: 1592}),
    Row("tcp_tx_1_nodelay", "TCP write of 1 byte, TCP_NODELAY",
        f"{SINK}; ttcp -t -D -l 1 -n 4096 {PEER}", "calls", 4096,
        {ISA: 8800, RTL8139: 6950}),
    Row("tcp_tx_100_nodelay", "TCP write of 100 bytes, TCP_NODELAY",
        f"{SINK}; ttcp -t -D -l 100 -n 4096 {PEER}", "calls", 4096,
        {ISA: 8850, RTL8139: 7170}),
)

# The same transfer one packet at a time; no cell of PEERS, but a rule (goals.py).
OFF = next(row for row in ROWS if row.name == "tcp_rx")._replace(
    name="tcp_rx_batch_off", title="TCP receive, bulk, batch=off", options="batch=off")

# What else answers the same transfer, and costs something of its own.  PEERS has no figures of
# Linux for these.
RESPONDERS = (
    Row("tcp_rx_sink", "TCP receive, bulk, port 7001",
        f"peer tcp 1024 {FULL_FLIGHT} 0 7001", "mss", 1024, {}),
    Row("tcp_rx_iperf2", "TCP receive, bulk, iperf2's client",
        f"peer 2iperf 1024 {FULL_FLIGHT}", "mss", 1024, {}),
    Row("tcp_rx_iperf3", "TCP receive, bulk, iperf3's client",
        f"peer 3iperf 1024 {FULL_FLIGHT}", "mss", 1024, {}),
    Row("tcp_rx_nuttcp", "TCP receive, bulk, nuttcp's client",
        f"peer nuttcp 1024 {FULL_FLIGHT}", "mss", 1024, {}),
)
ALL_ROWS = ROWS + (OFF,) + RESPONDERS
