# Tests of what reads and writes text: formatter, records, options, console, shell.

TEXT_OPTIONS := tests/host/options_rig.c tests/host/fake_panic.c kernel/options.c \
    kernel/option_values.c kernel/print.c kernel/math64.c
TEXT_CONSOLE := tests/host/console_rig.c tests/host/fake_panic.c kernel/console.c kernel/sink.c kernel/serial.c \
    kernel/terminal.c kernel/vga.c kernel/keyboard.c kernel/record.c kernel/print.c kernel/math64.c \
    tests/host/sim/bus.c tests/host/sim/irq.c tests/host/sim/uart.c tests/host/sim/pc.c

HOST_SRC_print := tests/host/test_print.c kernel/print.c kernel/math64.c
HOST_SRC_record_log := tests/host/test_record_log.c kernel/record_log.c
HOST_SRC_record := tests/host/test_record.c tests/host/fake_panic.c kernel/record.c kernel/print.c \
    kernel/math64.c
HOST_SRC_options := tests/host/test_options.c $(TEXT_OPTIONS)
HOST_SRC_option_values := tests/host/test_option_values.c $(TEXT_OPTIONS)
HOST_SRC_console := tests/host/test_console.c tests/host/console_display.c $(TEXT_CONSOLE)
HOST_SRC_serial := tests/host/test_serial.c tests/host/wrong_step.c $(TEXT_CONSOLE)
HOST_SRC_shell := tests/host/test_shell.c $(TEXT_CONSOLE) kernel/shell.c kernel/shell_builtin.c \
    kernel/options.c kernel/option_values.c kernel/option_report.c
HOST_SRC_machine := tests/host/test_machine.c kernel/machine.c kernel/bios.c \
    $(filter-out tests/host/console_rig.c tests/host/sim/pc.c tests/host/sim/uart.c,$(TEXT_CONSOLE))
HOST_SRC_fuzz_options := tests/host/fuzz_options.c tests/host/fake_panic.c kernel/options.c \
    kernel/option_values.c kernel/print.c kernel/math64.c
HOST_SRC_fuzz_shell := tests/host/fuzz_shell.c tests/host/fake_panic.c kernel/shell.c \
    kernel/shell_builtin.c kernel/options.c kernel/option_values.c kernel/option_report.c \
    kernel/record.c kernel/print.c kernel/math64.c
# What iperf3 clients say (net/apps).
TEXT_IPERF3 := net/apps/json.c net/apps/iperf3_params.c
HOST_SRC_iperf3_text := tests/host/test_iperf3_text.c $(TEXT_IPERF3)
HOST_SRC_fuzz_iperf3_text := tests/host/fuzz_iperf3_text.c $(TEXT_IPERF3)
# What nuttcp clients say.
HOST_SRC_nuttcp_text := tests/host/test_nuttcp_text.c net/apps/nuttcp_params.c net/apps/nuttcp_wire.c
HOST_SRC_fuzz_nuttcp := tests/host/fuzz_nuttcp.c net/apps/nuttcp_params.c net/apps/nuttcp_wire.c
