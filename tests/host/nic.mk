# Card drivers on simulated chips.

SIM_NIC := tests/host/sim/bus.c tests/host/sim/irq.c tests/host/sim/dp8390.c \
    tests/host/sim/dp8390_power.c tests/host/sim/dma.c tests/host/sim/pci.c tests/host/sim/rtl8139.c \
    tests/host/sim/rtl8139_wire.c tests/host/sim/rtl8139_tx.c tests/host/sim/rtl8139_card.c \
    tests/host/sim/remote.c tests/host/sim/loopback.c tests/host/sim/wire.c tests/host/sim/ne2000.c \
    tests/host/sim/eeprom.c tests/host/sim/board.c tests/host/sim/wd80x3.c tests/host/sim/3c503.c
SIM_PNP := tests/host/sim/isapnp.c tests/host/sim/isapnp_data.c
HOST_KERNEL := tests/host/host_support.c kernel/print.c kernel/math64.c kernel/record.c \
    kernel/options.c kernel/option_values.c kernel/samples.c
DRIVER_NIC := kernel/pci.c kernel/isapnp.c kernel/isapnp_resources.c kernel/arena.c \
    $(filter-out %_commands.c,$(wildcard drivers/*.c)) $(wildcard drivers/*/*.c)

HOST_SRC_misuse := tests/host/test_misuse.c tests/host/misuse_kit.c tests/host/misuse_dma.c \
    tests/host/misuse_chip.c tests/host/misuse_overrun.c tests/host/misuse_order.c tests/host/wrong_step.c $(SIM_NIC)
CONFORM := tests/host/conform.c tests/host/rig.c tests/host/rig_card.c $(SIM_NIC) $(HOST_KERNEL) \
    $(DRIVER_NIC)
CONFORM_CASES := tests/host/conform_rx.c tests/host/conform_overrun.c tests/host/conform_tx.c \
    tests/host/conform_irq.c tests/host/conform_soak.c $(CONFORM)
HOST_SRC_conform := tests/host/test_conform.c tests/host/conform_8139.c \
    tests/host/conform_8139_rx.c $(CONFORM_CASES)
HOST_SRC_conform_memory := tests/host/test_conform_memory.c $(CONFORM_CASES)
HOST_SRC_conform_lines := tests/host/test_conform_lines.c tests/host/conform_lines.c \
    tests/host/conform_shared.c tests/host/conform_leave.c tests/host/conform_dos.c $(CONFORM)
PROBE_KIT := tests/host/probe_kit.c $(SIM_NIC) $(HOST_KERNEL) $(DRIVER_NIC)
HOST_SRC_flood := tests/host/test_flood.c $(CONFORM)
# A minute of the wire, an hour in test-long: fast.  The conformance suite is the sanitized one.
HOST_CFLAGS_flood := -O2 -fno-sanitize=all
HOST_SRC_probe := tests/host/test_probe.c tests/host/probe_strangers.c tests/host/probe_pnp.c \
    tests/host/probe_boards.c tests/host/probe_mix.c tests/host/probe_decoys.c \
    tests/host/probe_lines.c tests/host/wrong_step.c tests/host/sim/decoys.c $(SIM_PNP) $(PROBE_KIT)
HOST_SRC_wd80x3 := tests/host/test_wd80x3.c tests/host/misuse_wd80x3.c tests/host/wrong_step.c \
    $(PROBE_KIT)
HOST_SRC_3c503 := tests/host/test_3c503.c tests/host/misuse_3c503.c tests/host/wrong_step.c \
    $(PROBE_KIT)
HOST_SRC_ring := tests/host/test_ring.c drivers/8390/ring.c
HOST_SRC_frame := tests/host/test_frame.c drivers/frame.c tests/host/host_support.c \
    kernel/print.c kernel/math64.c tests/host/sim/bus.c tests/host/sim/irq.c
HOST_SRC_pci := tests/host/test_pci.c tests/host/pci_rig.c $(SIM_NIC) $(HOST_KERNEL) $(DRIVER_NIC)
HOST_SRC_misuse_8139 := tests/host/test_misuse_8139.c tests/host/wrong_step.c tests/host/rtl_steps.c \
    $(SIM_NIC)
HOST_SRC_sim_8139 := tests/host/test_sim_8139.c tests/host/wrong_step.c tests/host/rtl_steps.c $(SIM_NIC)
HOST_SRC_isapnp := tests/host/test_isapnp.c kernel/isapnp.c kernel/isapnp_resources.c $(SIM_PNP) \
    tests/host/sim/bus.c tests/host/sim/irq.c
HOST_SRC_misuse_isapnp := tests/host/test_misuse_isapnp.c tests/host/wrong_step.c kernel/isapnp.c \
    kernel/isapnp_resources.c $(SIM_PNP) tests/host/sim/bus.c tests/host/sim/irq.c
# Without the drivers: these have their own.
NO_DRIVER := tests/host/sim/bus.c tests/host/sim/irq.c tests/host/sim/pci.c $(HOST_KERNEL) \
    kernel/pci.c kernel/isapnp.c kernel/isapnp_resources.c $(wildcard drivers/*.c)
HOST_SRC_search := tests/host/test_search.c $(NO_DRIVER)
HOST_SRC_nic_commands := tests/host/test_nic_commands.c $(NO_DRIVER)
