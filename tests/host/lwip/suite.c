/*
 * Runs lwIP's own unit tests: its suites, our options, our list of what does not apply.
 *
 * This stands in for upstream's test/unit/lwip_unittests.c, which knows no way to leave one out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lwip/init.h"
#include "lwip/memp.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/stats.h"
#include "lwip_check.h"
#include "net/port/heap.h"

#include "core/test_def.h"
#include "core/test_mem.h"
#include "core/test_netif.h"
#include "core/test_pbuf.h"
#include "core/test_timers.h"
#include "dhcp/test_dhcp.h"
#include "etharp/test_etharp.h"
#include "ip4/test_ip4.h"
#include "tcp/test_tcp.h"
#include "tcp/test_tcp_oos.h"
#include "tcp/test_tcp_state.h"
#include "udp/test_udp.h"

static suite_getter_fn *const suites[] = {
    def_suite, mem_suite, pbuf_suite, timers_suite, netif_suite,   etharp_suite,
    ip4_suite, udp_suite, dhcp_suite, tcp_suite,    tcp_oos_suite, tcp_state_suite,
};

/* Whole suites and single cases that do not apply, and why. */
static const struct {
    const char *name;
    const char *reason;
} not_applicable[] = {
    {"ip6", "no IPv6 in this product"},
    {"test_mem_double_free", "the heap is ours: see test_net_intake.c"},
    {"test_mem_invalid_free", "the heap is ours: see test_net_intake.c"},
    {"dns", "no DNS client in this product"},
    {"ppp", "no PPP in this product"},
    {"sockets", "raw API only, NO_SYS"},
    {"mqtt", "no MQTT in this product"},
    {"mdns", "mDNS is not built yet"},
    {"test_udp_bind", "binds an IPv6 address beside an IPv4 one"},
    {"test_pbuf_split_64k_on_small_pbufs", "only with window scaling"},
    {"test_pbuf_queueing_bigger_than_64k", "only with window scaling"},
};

enum { NOT_APPLICABLE = sizeof not_applicable / sizeof not_applicable[0] };

static bool applies(const char *name)
{
    for (unsigned i = 0; i < NOT_APPLICABLE; i++) {
        if (strcmp(not_applicable[i].name, name) == 0) {
            return false;
        }
    }
    return true;
}

/* Called by every suite of lwIP to make itself. */
Suite *create_suite(const char *name, testfunc *tests, size_t count, SFun setup, SFun teardown)
{
    Suite *suite = suite_create(name);

    for (size_t i = 0; i < count; i++) {
        if (!applies(tests[i]->name)) {
            continue;
        }
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, tests[i]);
        tcase_set_timeout(tcase, 60); /* sanitized, on a busy machine */
        suite_add_tcase(suite, tcase);
    }
    return suite;
}

/* Called by the suites' fixtures: nothing may be left allocated, but in the pools of `skip`. */
void lwip_check_ensure_no_alloc(unsigned int skip)
{
    if ((skip & SKIP_HEAP) == 0) {
        ck_assert_uint_eq(lwip_stats.mem.used, 0);
    }
    for (unsigned pool = 0; pool < MEMP_MAX; pool++) {
        if ((skip & (1u << pool)) == 0) {
            ck_assert_msg(lwip_stats.memp[pool]->used == 0, "pool %u: %u left", pool,
                          (unsigned)lwip_stats.memp[pool]->used);
        }
    }
}

/* ---- what the kernel gives to lwIP ---- */

void kprintf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
}

void panic(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    abort();
}

/* Repeatable, so that a failure can be seen again. */
uint32_t port_random(void)
{
    return (uint32_t)rand();
}

/* ---- what the tests call and our build does not have ---- */

void pbuf_split_64k(struct pbuf *p, struct pbuf **rest);
int tcpip_thread_poll_one(void);

/* Needs window scaling, which our options leave out; its two cases do not apply. */
void pbuf_split_64k(struct pbuf *p, struct pbuf **rest)
{
    (void)p;
    (void)rest;
    ck_abort_msg("pbuf_split_64k called");
}

/* test_ip4 lets the thread of a system with threads do one piece of work: here, what is looped. */
int tcpip_thread_poll_one(void)
{
    netif_poll_all();
    return 0;
}

static _Alignas(16) unsigned char heap[HEAP_MAX];

int main(void)
{
    SRunner *runner = srunner_create(suites[0]());
    int failed, run;

    for (unsigned i = 1; i < sizeof suites / sizeof suites[0]; i++) {
        srunner_add_suite(runner, suites[i]());
    }
    heap_init(heap, sizeof(heap));
    lwip_init();
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    run = srunner_ntests_run(runner);
    srunner_free(runner);
    for (unsigned i = 0; i < NOT_APPLICABLE; i++) {
        printf("does not apply: %s: %s\n", not_applicable[i].name, not_applicable[i].reason);
    }
    printf("%d passed, %d failed, %d skipped\n", run - failed, failed, NOT_APPLICABLE);
    return failed == 0 ? 0 : 1;
}
