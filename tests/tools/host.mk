# Host tests and fuzzers: the kernel's and drivers' sources unchanged, on the simulated bus.
#
# A test is one line in a tests/host/*.mk file:      HOST_SRC_ring := tests/host/test_ring.c drivers/...
# with, if it needs them,                            HOST_CFLAGS_ring := $(HOST_LWIP)   HOST_LIBS_ring := -lz
# and is built as out/host/test_ring.  HOST_SRC_fuzz_NAME is a libFuzzer target, out/fuzz/NAME.

# What a test of net/ needs besides its own sources: HOST_CFLAGS_x := $(HOST_LWIP), $(LWIP_SRC).
HOST_LWIP := -Inet/port -isystem $(LWIP)/src/include
HOST_FLAGS := -std=gnu11 -g -O1 -fno-omit-frame-pointer -Itests/host/shadow -I. \
    -DTICK_HZ=$(TICK_HZ) -DNICTEST_VERSION='"$(VERSION)"' $(PREFIX_MAP)
HOST_WARNINGS := -Wall -Wextra -Wshadow -Wundef -Wmissing-prototypes -Wvla -Werror
HOST_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
CHECK_LIBS := -lcheck -lsubunit -lrt -lm -lpthread
# noipa (net/meter.c) is gcc's; where nothing is counted it does not matter.
FUZZ_CC := clang -Wno-unknown-attributes

include $(sort $(wildcard tests/host/*.mk))

HOST_ALL := $(patsubst HOST_SRC_%,%,$(filter HOST_SRC_%,$(.VARIABLES)))
FUZZERS := $(patsubst fuzz_%,%,$(filter fuzz_%,$(HOST_ALL)))
HOST_TESTS := $(sort $(filter-out fuzz_%,$(HOST_ALL)))
HOST_BIN := $(HOST_TESTS:%=$(OUT)/host/test_%)
FUZZ_BIN := $(sort $(FUZZERS:%=$(OUT)/fuzz/%))

$(OUT)/host/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(HOST_FLAGS) $(HOST_WARNINGS) $(HOST_LWIP))' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# Object of source $(2) in folder $(1); sources of lwIP lie outside of our tree.
host_obj = $(1)/$(patsubst $(LWIP)/%,lwip/%,$(2:.c=.o))
# Warnings are for our sources.
host_warn = $(if $(filter $(LWIP)/%,$(1)),-w,$(HOST_WARNINGS))

# One compile rule: folder, source, compiler and flags.  Tests without own flags share their objects.
define host_compile
ifndef seen_$(1)_$(2)
seen_$(1)_$(2) := 1
$(call host_obj,$(1),$(2)): $(2) $(OUT)/host/flags | $(OUT)/deps/test
	$$(call say,HOSTCC,$(2))
	@mkdir -p $$(@D)
	$$(quiet)$(3) $(call host_warn,$(2)) -MD -MP -c $(2) -o $$@
-include $(patsubst %.o,%.d,$(call host_obj,$(1),$(2)))
endif
endef

# One program: file, object folder, sources, compiler and flags, libraries.
define host_program
$(foreach source,$(3),$(eval $(call host_compile,$(2),$(source),$(4))))
$(1): $(foreach source,$(3),$(call host_obj,$(2),$(source)))
	$$(call say,HOSTLD)
	$$(quiet)$(4) $$^ -o $$@ $(5)
endef

host_folder = $(OUT)/host/obj/$(if $(HOST_CFLAGS_$(1)),$(1),common)
host_test = $(call host_program,$(OUT)/host/test_$(1),$(call host_folder,$(1)),$(HOST_SRC_$(1)),\
    $(CC) $(HOST_FLAGS) $(HOST_SANITIZE) $(HOST_CFLAGS_$(1)),$(CHECK_LIBS) $(HOST_LIBS_$(1)))
host_fuzzer = $(call host_program,$(OUT)/fuzz/$(1),$(OUT)/fuzz/obj/$(1),$(HOST_SRC_fuzz_$(1)),\
    $(FUZZ_CC) $(HOST_FLAGS) $(HOST_SANITIZE) -fsanitize=fuzzer $(HOST_CFLAGS_fuzz_$(1)),\
    $(HOST_LIBS_fuzz_$(1)))
$(foreach name,$(HOST_TESTS),$(eval $(call host_test,$(name))))
$(foreach name,$(FUZZERS),$(eval $(call host_fuzzer,$(name))))

check: all $(HOST_BIN) | $(OUT)/deps/test ## host tests, sanitized, and the tests of the tools
	@OUT=$(OUT) LWIP=$(LWIP) $(PYTHON) tests/tools/run_host.py $(HOST_BIN)

host-tests: $(HOST_BIN) ## build the host tests, run none

# TIME is seconds for each target.
TIME ?= 60
fuzz: $(FUZZ_BIN) | $(OUT)/deps/test ## fuzz each target for TIME=60 seconds; corpus in out/fuzz
	@$(PYTHON) tests/tools/run_fuzz.py $(OUT)/fuzz $(TIME) $(sort $(FUZZERS))

.PHONY: check host-tests fuzz
