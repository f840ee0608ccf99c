# Stage 2 of the floppy's loader, all but its assembler, on a simulated PC.

LOADER_ON_HOST := $(wildcard boot/floppy/*.c) tests/host/sim/firmware.c tests/host/floppy_rig.c
HOST_SRC_floppy := tests/host/test_floppy.c $(LOADER_ON_HOST)
HOST_SRC_floppy_menu := tests/host/test_floppy_menu.c $(LOADER_ON_HOST)
HOST_SRC_config := tests/host/test_config.c boot/floppy/config.c
HOST_SRC_fuzz_floppy := tests/host/fuzz_floppy.c tests/host/fake_panic.c $(LOADER_ON_HOST) \
    kernel/options.c kernel/option_values.c kernel/print.c kernel/math64.c
HOST_LIBS_fuzz_floppy := $(CHECK_LIBS)
