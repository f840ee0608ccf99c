# Instructions per packet, against Linux's (PEERS): the product's own objects, and the bench's peer.

BENCH := $(OUT)/bench
BENCH_SRC := $(wildcard tests/bench/peer*.c)
BENCH_OBJ := $(BENCH_SRC:%.c=$(OBJ)/%.o)
# The peer is told from the product by its object files: never part of link-time optimisation.
$(BENCH_OBJ): OWN_FLAGS += -fno-lto

$(BENCH)/nictest86.elf: linker.ld $(KERNEL_OBJ) $(LWIP_OBJ) $(BENCH_OBJ) $(OBJ)/objects
	$(call say,LD)
	@mkdir -p $(@D)
	$(quiet)$(LINK) -Wl,--defsym=no_budget=1 -Wl,-Map=$(BENCH)/nictest86.map $(KERNEL_OBJ) $(LWIP_OBJ) $(BENCH_OBJ) -o $@
	$(quiet)$(if $(NO_LAYER_MAP),,$(PYTHON) tests/bench/layer_map.py $@)

$(BENCH)/count.so: tests/bench/count.c
	@mkdir -p $(@D)
	$(quiet)$(CC) -std=gnu11 -O2 -fPIC -shared $(WARNINGS) -Werror $< -o $@

-include $(BENCH_OBJ:.o=.d)

bench-build: $(BENCH)/nictest86.elf $(BENCH)/count.so

# ROWS and CARDS choose by name; RUNS=3; JOBS=2 machines at a time; UPDATE=1 writes the figures
# into RESULTS.md; OPTIONS='batch=off' boots with them and compares nothing.
bench_words = $(if $(ROWS),--rows '$(ROWS)') $(if $(CARDS),--cards '$(CARDS)') \
    $(if $(RUNS),--runs $(RUNS)) $(if $(JOBS),--jobs $(JOBS)) \
    $(if $(OPTIONS),--options '$(OPTIONS)') $(if $(UPDATE),--update)

bench: bench-build | $(OUT)/deps/test ## instructions per packet: ours, Linux's, the ratio; fails if we got worse
	@OUT=$(OUT) $(PYTHON) tests/bench/bench.py $(bench_words) $(if $(PROFILE),--profile)

bench-profile: bench-build | $(OUT)/deps/test ## where the instructions of each row go (ROWS='udp_rx_18 ...')
	@OUT=$(OUT) $(PYTHON) tests/bench/bench.py --runs 1 --profile $(bench_words)

bench-keepup: bench-build | $(OUT)/deps/test ## the fastest rate of frames without loss, per card; into RESULTS.md
	@OUT=$(OUT) $(PYTHON) tests/bench/keepup.py $(if $(CARDS),--cards '$(CARDS)') \
	    $(if $(JOBS),--jobs $(JOBS))

bench-latency: $(OUT)/nictest86.elf | $(OUT)/deps/test ## a lone ping with batching and without; into RESULTS.md
	@OUT=$(OUT) $(PYTHON) tests/bench/latency.py $(if $(CARDS),--cards '$(CARDS)') \
	    $(if $(JOBS),--jobs $(JOBS))

bench-left: bench-build | $(OUT)/deps/test ## what the instructions of each cell do; into RESULTS.md
	@OUT=$(OUT) $(PYTHON) tests/bench/left.py $(if $(CARDS),--cards '$(CARDS)') \
	    $(if $(JOBS),--jobs $(JOBS))

bench-batch: bench-build | $(OUT)/deps/test ## what batching gains in each row; fails where it loses
	@OUT=$(OUT) $(PYTHON) tests/bench/batch.py $(if $(ROWS),--rows '$(ROWS)') \
	    $(if $(CARDS),--cards '$(CARDS)') $(if $(JOBS),--jobs $(JOBS))

# FLAGS='-O2 -flto; -O3 -flto' names other sets of options.
bench-compilers: bench-build | $(OUT)/deps/test ## compiler options compared: instructions, and time on a 386 and 486
	@OUT=$(OUT) LWIP=$(LWIP) $(PYTHON) tests/bench/compilers.py $(if $(FLAGS),--flags '$(FLAGS)') \
	    $(if $(ROWS),--rows '$(ROWS)') $(if $(CARDS),--cards '$(CARDS)') $(if $(UPDATE),--write)

bench-flags:
	@echo '$(KERNEL_FLAGS)'

.PHONY: bench-left bench-latency bench-batch bench-compilers bench-flags bench bench-build bench-profile bench-keepup
