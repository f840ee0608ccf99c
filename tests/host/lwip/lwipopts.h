/*
 * lwIP's own unit suite with our options.  Everything is as in the kernel, except what is listed
 * here, each with the reason.
 */
#ifndef TESTS_HOST_LWIP_LWIPOPTS_H
#define TESTS_HOST_LWIP_LWIPOPTS_H

#include "net/port/lwipopts.h"

/* Opens the few internals that the tests look at. */
#define LWIP_TESTMODE 1

/* Constants where we have variables: the tests size arrays and choose cases by them. */
#undef TCP_WND
#define TCP_WND (10 * TCP_MSS)
#undef TCP_SND_BUF
#define TCP_SND_BUF (12 * TCP_MSS)

/* Ours changes during a receive burst; the tests expect lwIP's own. */
#undef TCP_WND_UPDATE_THRESHOLD

/* Our hooks need a card; net/tcp_watch.c and net/route.c have tests of their own. */
#undef LWIP_HOOK_FILENAME
#undef LWIP_HOOK_IP4_ROUTE_SRC

/* The limit looks at our frame pool, which this suite does not have. */
#undef TCP_OOSEQ_PBUFS_LIMIT

/* What the tests assert on. */
#define MIB2_STATS 1

/* test_ip4 sends to the loopback interface and looks at its queue. */
#define LWIP_HAVE_LOOPIF 1

/* test_pbuf refuses to build without window scaling, of which it uses nothing; the lwip.mk beside
 * this file defines it for that source alone. */
#ifdef TEST_PBUF_WND_SCALE
#undef LWIP_WND_SCALE
#define LWIP_WND_SCALE 1
#endif

/* test_netif is about nothing but this. */
#define LWIP_NETIF_EXT_STATUS_CALLBACK 1

/* test_mem frees wrong pointers and looks at the count instead of stopping. */
#define LWIP_MEM_ILLEGAL_FREE(msg)

/* The tests keep whole windows in pool pbufs, where ours come from drivers/frame.c, and want 1024
 * bytes to be a chain. */
#undef PBUF_POOL_SIZE
#define PBUF_POOL_SIZE 400
#undef PBUF_POOL_BUFSIZE
#define PBUF_POOL_BUFSIZE 592

/* test_dhcp_nak is a conflict found by it. */
#undef LWIP_DHCP_DOES_ACD_CHECK
#define LWIP_DHCP_DOES_ACD_CHECK 1

/* test_tcp counts the ticks until lwIP's own first time-out. */
#undef LWIP_TCP_RTO_TIME
#define LWIP_TCP_RTO_TIME 3000

/* Room for the timers of test_timers. */
#define MEMP_NUM_SYS_TIMEOUT (LWIP_NUM_SYS_TIMEOUT_INTERNAL + 8)

#endif
