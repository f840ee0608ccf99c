# Layer 0: what can be seen without running anything.

lint: $(OUT)/nictest86.elf $(LOADER)/boot.sym $(LOADER)/stage2.sym $(OUT)/dos/nictest.sym | $(OUT)/deps/test ## format, layers, 386 opcodes, size, shape of the code
	@$(PYTHON) tests/tools/lint.py $(OUT)

format: | $(OUT)/deps/test ## put our C files into the form that lint asks for
	clang-format -i $$(git ls-files --cached --others --exclude-standard '*.c' '*.h' | grep -v _regs.h)

.PHONY: lint format
