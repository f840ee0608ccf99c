# Running the thing, and everything that tests it.

NIC ?= ne2k_isa

run: all $(OUT)/host/ttcp | $(OUT)/deps/run ## boot the ISO in Bochs and drive ttcp through it (RUN_ONCE=1 ends by itself)
	@OUT=$(OUT) $(PYTHON) tests/emu/run.py

bochs: all | $(OUT)/deps/run ## boot the ISO in Bochs and leave it running
	@OUT=$(OUT) $(PYTHON) tests/emu/bochs.py

bochs-debug: all | $(OUT)/deps/run ## the same, with Bochs' debugger on the terminal; breakpoint() stops it
	@OUT=$(OUT) $(PYTHON) tests/emu/bochs.py --debug

qemu: all | $(OUT)/deps/test ## boot the kernel in QEMU, NIC=ne2k_isa or ne2k_pci
	@OUT=$(OUT) $(PYTHON) tests/emu/qemu.py $(NIC)

debug: all | $(OUT)/deps/test ## QEMU paused at its gdb stub; prints the gdb line
	@OUT=$(OUT) $(PYTHON) tests/emu/qemu.py --debug $(NIC)

# The classic ttcp, against which ours is run.
$(OUT)/host/ttcp: tests/tools/ttcp.c | $(OUT)/deps/run
	@mkdir -p $(@D)
	$(quiet)$(CC) -std=gnu11 -O2 $(WARNINGS) -Werror $(PREFIX_MAP) $< -o $@

PYTEST := OUT=$(OUT) $(PYTHON) -m pytest -q -p no:cacheprovider

check-emu: all $(OUT)/host/ttcp | $(OUT)/deps/test ## system tests in QEMU and Bochs
	$(PYTEST) tests/emu

test: all $(OUT)/host/ttcp | $(OUT)/deps/test ## every test, by layer
	@MAKE='$(MAKE)' OUT=$(OUT) LWIP=$(LWIP) $(PYTHON) tests/tools/layers.py

LONG_FUZZ := 600
test-long: all $(OUT)/host/ttcp $(OUT)/host/test_flood | $(OUT)/deps/test ## what takes long: long system tests, every row without batching, ten minutes of each fuzzer
	$(PYTEST) tests/emu -m long
	FLOOD_SECONDS=3600 $(OUT)/host/test_flood
	@$(MAKE) --no-print-directory bench-batch
	@$(MAKE) --no-print-directory mutants
	@$(MAKE) --no-print-directory coverage
	@$(MAKE) --no-print-directory fuzz TIME=$(LONG_FUZZ)

.PHONY: run bochs bochs-debug qemu debug check-emu test test-long

include tests/bench/bench.mk
