# net/ on the host: everything but the console and the hardware is the kernel's own source.

NET_BOX := $(wildcard net/*.c net/port/*.c net/apps/*.c drivers/*.c drivers/*/*.c) \
    $(addprefix kernel/,arena.c isapnp.c isapnp_resources.c load.c math64.c option_report.c \
    option_values.c options.c pci.c print.c record.c record_log.c samples.c shell.c shell_builtin.c)
NET_RIG := $(addprefix tests/host/,net_rig.c fake_profile.c net_lender.c net_console.c \
    net_peer.c net_peer_tcp.c) \
    $(addprefix tests/host/sim/,board.c bus.c dma.c dp8390.c dp8390_power.c irq.c loopback.c ne2000.c \
    pci.c remote.c wire.c)

HOST_SRC_net := $(sort $(wildcard tests/host/test_net*.c)) tests/host/iperf2_rig.c tests/host/iperf3_rig.c \
    tests/host/nuttcp_rig.c tests/host/names_rig.c tests/host/web_rig.c \
    $(NET_BOX) $(NET_RIG) $(LWIP_SRC)
HOST_CFLAGS_net := $(HOST_LWIP)

HOST_SRC_sequence := tests/host/test_sequence.c net/sequence.c

HOST_SRC_fuzz_frames := tests/host/fuzz_frames.c $(NET_BOX) $(NET_RIG) $(LWIP_SRC)
HOST_CFLAGS_fuzz_frames := $(HOST_LWIP)

HOST_SRC_fuzz_iperf2 := tests/host/fuzz_iperf2.c net/apps/iperf2_wire.c kernel/math64.c
