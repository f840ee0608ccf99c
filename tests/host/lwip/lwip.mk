# lwIP's own unit suite, from its tree, with our options; sanitized like the host tests.

LWIP_UNIT := $(OUT)/host/lwip_unit
LWIP_UNIT_OBJ := $(OUT)/host/obj/lwip_unit
LWIP_UNIT_TESTS := $(addprefix test/unit/,arch/sys_arch.c core/test_def.c core/test_mem.c \
    core/test_netif.c core/test_pbuf.c core/test_timers.c dhcp/test_dhcp.c etharp/test_etharp.c \
    ip4/test_ip4.c udp/test_udp.c tcp/tcp_helper.c tcp/test_tcp.c tcp/test_tcp_oos.c \
    tcp/test_tcp_state.c)
LWIP_UNIT_UPSTREAM := $(LWIP_UNIT_TESTS) $(LWIP_C:%=src/%)
LWIP_UNIT_OWN := tests/host/lwip/suite.c net/port/checksum.c net/port/heap.c
LWIP_UNIT_OBJS := $(patsubst %.c,$(LWIP_UNIT_OBJ)/%.o,$(LWIP_UNIT_UPSTREAM) $(LWIP_UNIT_OWN))
LWIP_UNIT_FLAGS := $(HOST_FLAGS) $(HOST_SANITIZE) -Itests/host/lwip -Inet/port \
    -isystem $(LWIP)/src/include -isystem $(LWIP)/test/unit

$(LWIP_UNIT_OBJ)/test/unit/core/test_pbuf.o: LWIP_UNIT_EXTRA := -DTEST_PBUF_WND_SCALE

$(addprefix $(LWIP)/,$(LWIP_UNIT_TESTS)): | $(OUT)/deps/build ;

$(LWIP_UNIT_OBJ)/%.o: $(LWIP)/%.c $(OUT)/host/flags | $(OUT)/deps/test
	$(call say,HOSTCC,lwip/$*.c)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(LWIP_UNIT_FLAGS) $(LWIP_UNIT_EXTRA) -w -MD -MP -c $< -o $@

$(LWIP_UNIT_OBJ)/%.o: %.c $(OUT)/host/flags | $(OUT)/deps/test
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(quiet)$(CC) $(LWIP_UNIT_FLAGS) $(HOST_WARNINGS) -MD -MP -c $< -o $@

$(LWIP_UNIT): $(LWIP_UNIT_OBJS)
	$(call say,HOSTLD)
	$(quiet)$(CC) $(LWIP_UNIT_FLAGS) $^ -o $@ $(CHECK_LIBS)

-include $(LWIP_UNIT_OBJS:.o=.d)

lwip-test: $(LWIP_UNIT) | $(OUT)/deps/test ## lwIP's own unit suite with our options
	@$(LWIP_UNIT)
.PHONY: lwip-test
