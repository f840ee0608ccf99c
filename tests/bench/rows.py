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
    """One line of the table."""
    name: str
    title: str
    run: str            # shell commands; the last moves the data
    per: str            # what a cost is divided by: "packets", "mss" (1460 bytes), "calls"
    count: int          # how many of these are expected
    linux: dict         # card -> instructions
    paced: bool = False


def _segments(count):
    return count * 8192 // 1460


ROWS = (
    Row("udp_tx_18", "UDP transmit, 18 bytes",
        f"{SINK}; ttcp -t -u -l 18 -n 16384 {PEER}", "packets", 16384,
        {ISA: 4533, PCI: 4288, RTL8139: 3939}),
    Row("udp_tx_1472", "UDP transmit, 1472 bytes",
        f"{SINK}; ttcp -t -u -l 1472 -n 4096 {PEER}", "packets", 4096,
        {ISA: 6512, PCI: 5911, RTL8139: 5565}),
    Row("udp_rx_18", "UDP receive, 18 bytes",
        f"peer udp 18 16384 {SHORT_FLIGHT}", "packets", 16384,
        {ISA: 4964, PCI: 4664, RTL8139: 4458}),
    Row("udp_rx_1472", "UDP receive, 1472 bytes",
        f"peer udp 1472 4096 {FULL_FLIGHT}", "packets", 4096,
        {ISA: 6635, PCI: 5985, RTL8139: 5917}),
    Row("tcp_tx", "TCP transmit, bulk",
        f"{SINK}; ttcp -t -l 8192 -n 1024 {PEER}", "mss", _segments(1024),
        {ISA: 8450, PCI: 7570, RTL8139: 6730}),
    Row("tcp_rx", "TCP receive, bulk, CPU-bound",
        f"peer tcp 4096 {FULL_FLIGHT} 0", "mss", 4096,
        {ISA: 6350, PCI: 5720, RTL8139: 5580}),
    Row("tcp_rx_paced", "TCP receive, paced at 10 Mbit/s",
        f"peer tcp 2048 {FULL_FLIGHT} 1", "mss", 2048,
        {ISA: 9850, PCI: 9260, RTL8139: 9360}, paced=True),
    Row("tcp_tx_1_nagle", "TCP write of 1 byte, Nagle on",
        f"{SINK}; ttcp -t -l 1 -n 32768 {PEER}", "calls", 32768,
        {ISA: 1602, RTL8139: 1592}),
    Row("tcp_tx_1_nodelay", "TCP write of 1 byte, TCP_NODELAY",
        f"{SINK}; ttcp -t -D -l 1 -n 8192 {PEER}", "calls", 8192,
        {ISA: 8800, RTL8139: 6950}),
    Row("tcp_tx_100_nodelay", "TCP write of 100 bytes, TCP_NODELAY",
        f"{SINK}; ttcp -t -D -l 100 -n 8192 {PEER}", "calls", 8192,
        {ISA: 8850, RTL8139: 7170}),
)
