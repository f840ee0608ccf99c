# How good are the host tests of drivers/?  Branch coverage by those that run its code (without
# sanitizers, whose own branches would be counted; DETAILS=1 lists the branches never taken), and
# mutants: lines broken on purpose, each of which the tests must notice.

COVERED := $(foreach name,$(HOST_TESTS),$(if $(filter drivers/%,$(HOST_SRC_$(name))),$(name)))
COVERED_BIN := $(COVERED:%=$(OUT)/coverage/test_%)

# The drivers alone are counted; all else is only to be quick.
$(OUT)/coverage/obj/common/drivers/%.o $(OUT)/coverage/obj/net/drivers/%.o: COUNTED := -O0 --coverage

coverage_folder = $(OUT)/coverage/obj/$(if $(HOST_CFLAGS_$(1)),$(1),common)
coverage_test = $(call host_program,$(OUT)/coverage/test_$(1),$(call coverage_folder,$(1)),\
    $(HOST_SRC_$(1)),$(CC) $(HOST_FLAGS) $$(COUNTED) $(HOST_CFLAGS_$(1)),\
    $(CHECK_LIBS) $(HOST_LIBS_$(1)) --coverage)
$(foreach name,$(COVERED),$(eval $(call coverage_test,$(name))))

coverage: $(COVERED_BIN) | $(OUT)/deps/test ## branch coverage of drivers/ by the host tests
	@$(PYTHON) tests/tools/coverage.py $(OUT)/coverage $(if $(DETAILS),--details) $(COVERED_BIN)

mutants: | $(OUT)/deps/test ## break driver lines one at a time: the host suites must notice each
	@LWIP=$(LWIP) $(PYTHON) tests/tools/mutants.py $(OUT)/mutants tests/host/mutants.txt

.PHONY: coverage mutants
