"""From the network: iPXE in the card's ROM asks DHCP, and loads the kernel by TFTP as it is."""

import shutil

import pytest

from machine import product
from qemu import GUEST_IP


@pytest.mark.cards("rtl8139", "ne2k_pci")
def test_ipxe_starts_the_kernel(boot, tmp_path):
    """Then the card, which another driver has just used, is found and works."""
    shutil.copy(product("nictest86.elf"), tmp_path)
    box = boot(tftp=str(tmp_path), mem=16, cpu="pentium2")  # QEMU's iPXE needs one
    ready = box.wait_for("ready", 60)
    assert (ready["ip"], ready["how"]) == (GUEST_IP, "dhcp")
    assert box.all("fault") == []
    assert box.command("ping -n 2 10.0.2.2")[0]["status"] == 0
