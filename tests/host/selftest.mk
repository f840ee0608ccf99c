# The selftest of cards, on simulated ones that are sound and broken; finding an RTL8139.
HOST_SRC_selftest := tests/host/test_selftest.c tests/host/selftest_8390.c \
    tests/host/selftest_8139.c tests/host/rig.c tests/host/rig_card.c $(SIM_NIC) $(HOST_KERNEL) \
    $(DRIVER_NIC)
HOST_SRC_samples := tests/host/test_samples.c tests/host/host_support.c kernel/samples.c \
    kernel/record.c kernel/print.c kernel/math64.c tests/host/sim/bus.c tests/host/sim/irq.c
HOST_SRC_probe_8139 := tests/host/test_probe_8139.c tests/host/pci_rig.c $(SIM_NIC) $(HOST_KERNEL) $(DRIVER_NIC)
