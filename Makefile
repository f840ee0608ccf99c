# NicTest86.  `make help` prints the targets; HACKING.md tells how to work on it.

OUT := out
LWIP ?= $(OUT)/lwip
VERSION := 0.1
# Timer interrupts a second; no result may depend on it (tests build with others).
TICK_HZ ?= 100
PYTHON := /usr/bin/python3

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

all: $(OUT)/nictest86.elf $(OUT)/nictest86.iso floppy $(OUT)/nictest86-grub.img $(OUT)/nictest.com ## build kernel, ISO and floppies (the default)

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sort | \
	    awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'
	@echo 'Variables: LWIP=/path/to/lwip-2.2.1  TICK_HZ=100  OUT=out  V=1 (show commands)'

clean: ## remove everything built; lwIP's source stays
	find $(OUT) -mindepth 1 -maxdepth 1 ! -name lwip -exec rm -rf {} + 2>/dev/null || true

# V=1 shows commands, else one word and the file.
say = $(if $(V),,@echo "  $(1)	$(or $(2),$@)")
quiet = $(if $(V),,@)

# ---- dependencies --------------------------------------------------------------------------------
# deps.sh looks at the machine; the stamps keep a plain `make` from asking again.

deps: $(OUT)/deps/test ## install missing Debian packages and fetch lwIP (root or sudo only here)

ifneq ($(filter deps run test check host-tests lwip-test test-long bochs bench,$(MAKECMDGOALS)),)
ask_again := FORCE
endif
lwip_given := $(filter-out $(OUT)/lwip,$(LWIP))

$(OUT)/deps/build: tests/tools/packages.txt $(if $(lwip_given),FORCE) $(ask_again)
$(OUT)/deps/run: $(OUT)/deps/build
$(OUT)/deps/test: $(OUT)/deps/run
$(OUT)/deps/%:
	@tests/tools/deps.sh $* $(OUT) $(lwip_given)
	@touch $@

FORCE:
.PHONY: all help clean deps FORCE

# ---- kernel --------------------------------------------------------------------------------------

CC := gcc
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wundef -Wmissing-prototypes -Wvla
GCC_INCLUDE := $(shell $(CC) -print-file-name=include 2>/dev/null)
# No absolute path, time or user may get into the product: two builds anywhere are equal.
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)/=  -ffile-prefix-map=$(CURDIR)=. \
    -ffile-prefix-map=$(abspath $(LWIP))=lwip -ffile-prefix-map=$(LWIP)=lwip \
    -ffile-prefix-map=$(GCC_INCLUDE)=gcc
# Nothing here needs a stack aligned to more than a word; saving registers around calls costs more
# than it gains where there are as few as on a 386 (RESULTS.md).
CALLS := -mpreferred-stack-boundary=2 -fno-caller-saves -mregparm=3
KERNEL_FLAGS := -m32 -march=i386 -mgeneral-regs-only -ffreestanding -nostdinc -isystem $(GCC_INCLUDE) \
    -std=gnu11 -flto -g -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables \
    -ffunction-sections -fdata-sections $(PREFIX_MAP) $(CALLS)
OWN_FLAGS := $(WARNINGS) -Wstack-usage=512 -Werror -I. \
    -DTICK_HZ=$(TICK_HZ) -DNICTEST_VERSION='"$(VERSION)"'
# lwIP's headers come as system headers: our warnings are for our code.  Hence -MD, not -MMD, which
# would leave out whatever they include, our lwipopts.h first of all.
# lwIP's assertions are for the host tests, where they stay on.
LWIP_INCLUDE := -DLWIP_NOASSERT -I. -Inet/port -isystem net/port/libc -isystem $(LWIP)/src/include

LWIP_C := $(addprefix core/,init.c def.c inet_chksum.c ip.c mem.c memp.c netif.c pbuf.c raw.c \
    stats.c sys.c tcp.c tcp_in.c tcp_out.c timeouts.c udp.c) \
    $(addprefix core/ipv4/,acd.c autoip.c dhcp.c etharp.c icmp.c igmp.c ip4.c ip4_addr.c ip4_frag.c) \
    netif/ethernet.c
# Its applications; they want what net/names.c and the like give them, so its unit suite has none.
LWIP_APPS_C := $(addprefix apps/,mdns/mdns.c mdns/mdns_domain.c mdns/mdns_out.c netbiosns/netbiosns.c \
    http/httpd.c http/fs.c)
LWIP_SRC := $(addprefix $(LWIP)/src/,$(LWIP_C) $(LWIP_APPS_C))

KERNEL_SRC := $(sort $(wildcard boot/*.S kernel/*.c drivers/*.c drivers/*/*.c net/*.c net/port/*.c \
    net/apps/*.c))
OBJ := $(OUT)/obj
KERNEL_OBJ := $(patsubst %,$(OBJ)/%.o,$(basename $(KERNEL_SRC)))
LWIP_OBJ := $(patsubst %.c,$(OBJ)/lwip/%.o,$(LWIP_C) $(LWIP_APPS_C))

# Text and data have a budget (linker.ld), so all is optimised for size but what a packet's
# instructions go through (RESULTS.md has the figures): that for speed.
HOT_C := $(addprefix net/,clock.c frames.c intake.c meter.c neighbour.c net.c nicif.c packet_sum.c \
    tcp_watch.c port/checksum.c port/heap.c apps/tcp_stream.c apps/ttcp_send.c apps/ttcp_serve.c \
    apps/ttcp_udp.c) \
    $(addprefix drivers/,frame.c nic_irq.c 8390/dp8390.c 8390/dp8390_rx.c 8390/dp8390_tx.c \
    8390/ne2000_data.c 8390/ring.c 8390/shmem.c rtl8139/rtl8139_rx.c rtl8139/rtl8139_tx.c) \
    $(addprefix kernel/,irq.c kmain.c pic.c time.c timebase.c)
HOT := $(HOT_C:%.c=$(OBJ)/%.o) $(addprefix $(OBJ)/lwip/core/,mem.o memp.o pbuf.o tcp.o tcp_in.o \
    tcp_out.o udp.o ipv4/ip4.o ipv4/ip4_addr.o)
SMALL := -Os
WARM := $(SMALL)
FAST := -O3
# Much of these is no packet's business; inlining more of them gains nothing there (RESULTS.md).
MILD := $(addprefix $(OBJ)/,lwip/core/tcp.o lwip/core/memp.o net/meter.o net/apps/tcp_stream.o \
    net/apps/ttcp_serve.o)
OPTIMISE := $(SMALL)
$(filter-out $(HOT),$(filter $(OBJ)/net/%,$(KERNEL_OBJ)) $(LWIP_OBJ)): OPTIMISE := $(WARM)
$(filter-out $(MILD),$(HOT)): OPTIMISE := $(FAST)
$(MILD): OPTIMISE := -O2

# Rewritten only when the options change; everything depends on it.
FLAGS_NOW := $(KERNEL_FLAGS) $(OWN_FLAGS) $(LWIP_INCLUDE) $(SMALL) $(WARM) $(FAST) $(HOT) $(MILD)
$(OBJ)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || echo '$(subst ','\'',$(FLAGS_NOW))' >$@

$(LWIP_SRC): | $(OUT)/deps/build ;

$(OBJ)/net/%.o: net/%.c $(OBJ)/flags | $(OUT)/deps/build
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(KERNEL_FLAGS) $(OPTIMISE) $(OWN_FLAGS) $(LWIP_INCLUDE) -MD -MP -c $< -o $@

$(OBJ)/lwip/%.o: $(LWIP)/src/%.c $(OBJ)/flags | $(OUT)/deps/build
	$(call say,CC,lwip/$*.c)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(KERNEL_FLAGS) $(OPTIMISE) -w $(LWIP_INCLUDE) -MD -MP -c $< -o $@

$(OBJ)/%.o: %.c $(OBJ)/flags | $(OUT)/deps/build
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(KERNEL_FLAGS) $(OPTIMISE) $(OWN_FLAGS) -MD -MP -c $< -o $@

$(OBJ)/%.o: %.S $(OBJ)/flags | $(OUT)/deps/build
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(KERNEL_FLAGS) -I. -MD -MP -c $< -o $@

# A source that was added or removed changes this list, and so relinks.
$(OBJ)/objects: FORCE
	@mkdir -p $(@D)
	@echo '$(KERNEL_OBJ) $(LWIP_OBJ)' | cmp -s - $@ || echo '$(KERNEL_OBJ) $(LWIP_OBJ)' >$@

# Optimised as one program: most of a packet's cost is calls between small functions of lwIP, netif
# and driver.  The compiler itself calls memcpy and its like, so those stay as they are.
LINK := $(CC) $(KERNEL_FLAGS) -flto-partition=one -nostdlib -static -Wl,--gc-sections \
    -Wl,--build-id=sha1 -Wl,-z,noexecstack -T linker.ld
$(OBJ)/kernel/string.o: OWN_FLAGS += -fno-lto

# The linked kernel keeps its symbols; the product holds it packed, and without them.  What nobody
# calls is left out: lwIP has a good deal of that, some of it calling libc.
$(OUT)/nictest86.sym: linker.ld $(KERNEL_OBJ) $(LWIP_OBJ) $(OBJ)/objects
	$(call say,LD)
	$(quiet)$(LINK) -Wl,-Map=$(OUT)/nictest86.map $(KERNEL_OBJ) $(LWIP_OBJ) -o $@
	$(quiet)$(PYTHON) tests/bench/layer_map.py $@

-include $(KERNEL_OBJ:.o=.d) $(LWIP_OBJ:.o=.d)

size: $(OUT)/nictest86.elf | $(OUT)/deps/test ## where memory goes: by layer, the largest symbols, pools at run time
	@OUT=$(OUT) $(PYTHON) tests/tools/size.py $(OUT)

.PHONY: size

include boot/unpack/unpack.mk

# ---- the rest ------------------------------------------------------------------------------------

include iso/images.mk
include boot/floppy/floppy.mk
include boot/dos/dos.mk
include iso/dist.mk
include tests/tools/host.mk
include tests/host/lwip/lwip.mk
include tests/tools/coverage.mk
include tests/tools/lint.mk
include tests/tools/run.mk
