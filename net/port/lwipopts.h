/*
 * lwIP 2.2.1 as this kernel uses it: no OS, raw API, IPv4 only.  Each choice with its reason.
 */
#ifndef NET_PORT_LWIPOPTS_H
#define NET_PORT_LWIPOPTS_H

#include <stdint.h>

#include "net/port/heap.h"

/* ---- system: one thread, the main loop ---- */
#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0 /* interrupt context never enters lwIP (DESIGN 2) */
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_TIMERS 1
#define LWIP_MPU_COMPATIBLE 0

/* ---- what is left out, for safety and size (DESIGN 8, NEEDS 71) ---- */
#define LWIP_IPV6 0
#define PPP_SUPPORT 0
#define LWIP_SNMP 0
#define LWIP_DNS 0
#define IP_FORWARD 0
#define LWIP_MULTICAST_PING 0 /* no answer to a group: no amplification */
#define LWIP_BROADCAST_PING 0

/* ---- memory: static, sized for several connections in both directions ---- */
#define MEM_ALIGNMENT __SIZEOF_POINTER__
#define MEM_CUSTOM_ALLOCATOR 1 /* copies of small writes, headers: net/port/heap.h */
#define MEM_CUSTOM_MALLOC heap_take
#define MEM_CUSTOM_CALLOC heap_take_zeroed
#define MEM_CUSTOM_FREE heap_give
#define MEMP_NUM_PBUF 192      /* references to constant payload and fragments of queued frames */
#define MEMP_NUM_FRAG_PBUF 128 /* up to two a fragment, for a transmit queue full of them */
#define MEMP_NUM_RAW_PCB 2
#define MEMP_NUM_UDP_PCB 26
#define MEMP_NUM_TCP_PCB 32
#define MEMP_NUM_TCP_PCB_LISTEN 28
#define MEMP_NUM_TCP_SEG 256 /* at least TCP_SND_QUEUELEN (NEEDS 66), for six senders at once */
#define MEMP_NUM_REASSDATA 4
#define MEMP_NUM_IGMP_GROUP 8 /* a card: all hosts, mDNS */
#define MEMP_NUM_SYS_TIMEOUT                                                                       \
    (LWIP_NUM_SYS_TIMEOUT_INTERNAL + 4 * 6 + 4) /* mDNS: six a card, one a truncated question */
#define PBUF_POOL_SIZE 8 /* only DHCP and the like; received frames come from drivers/frame.c */
#define PBUF_POOL_BUFSIZE 1600 /* a full frame: bug 54805 (NEEDS 67) */

/* ---- ARP and IPv4 ---- */
#define ETH_PAD_SIZE 0 /* frames lie 2 mod 4 already (frame.h), so the IP header is aligned */
#define ARP_TABLE_SIZE 16
#define ARP_QUEUEING 1
#define ARP_QUEUE_LEN 3
#define MEMP_NUM_ARP_QUEUE (ARP_TABLE_SIZE * ARP_QUEUE_LEN + 1) /* strangers leave room for us */
#define ETHARP_TABLE_MATCH_NETIF 1                              /* two cards on one subnet */
#define ETHARP_SUPPORT_STATIC_ENTRIES 1
#define IP_OPTIONS_ALLOWED 1
#define IP_REASSEMBLY 1
#define IP_REASS_MAX_PBUFS 24 /* a 32 KB datagram (iperf3 -u through a loopback port), a ping */
#define IP_REASS_MAXAGE 5
#define IP_FRAG 1
#define IP_SOF_BROADCAST 1
#define LWIP_RAW 1 /* ping */
#define LWIP_ICMP 1
#define ICMP_TTL 64
#define IP_DEFAULT_TTL 64

/* ---- addresses: DHCP, then link-local, then still DHCP (DESIGN 3) ---- */
#define LWIP_DHCP 1
#define LWIP_AUTOIP 1
#define LWIP_ACD 1
#define LWIP_DHCP_AUTOIP_COOP 1
#define LWIP_DHCP_AUTOIP_COOP_TRIES 2 /* from the third request on, at 6 s; ready at 10 to 14 s */
#define LWIP_DHCP_DOES_ACD_CHECK 0    /* would hold `ready` back for seconds (DESIGN 9) */
#define LWIP_DHCP_BOOTP_FILE 0
#define LWIP_NETIF_HOSTNAME 1
#define LWIP_NETIF_STATUS_CALLBACK 1
#define LWIP_NETIF_LINK_CALLBACK 1
#define LWIP_NETIF_EXT_STATUS_CALLBACK 1 /* mDNS asks again when link or address changed */
#define LWIP_NUM_NETIF_CLIENT_DATA 1     /* mDNS's state of a card                       */
#define LWIP_NETIF_TX_SINGLE_PBUF 0      /* drivers gather chains; 1 would copy a second time */

/* ---- TCP: window and send buffer are run-time values, from the card's ring and RAM (net/net.c);
 * what is acknowledged when: net/tcp_watch.c; figures: tests/bench/RESULTS.md ---- */
extern uint16_t net_tcp_wnd;
extern uint16_t net_tcp_snd_buf;
struct tcp_pcb;
uint16_t net_ooseq_limit(const struct tcp_pcb *pcb);
#define LWIP_TCP 1
#define TCP_MSS 1460 /* a full frame */
#define TCP_WND net_tcp_wnd
#define TCP_SND_BUF net_tcp_snd_buf
#define TCP_SND_QUEUELEN                                                                           \
    40 /* pbufs: header and data of 16 segments, and some; each write                              \
          walks the list of all that is under way */
#define LWIP_DISABLE_TCP_SANITY_CHECKS 1 /* they are preprocessor tests; net_init() makes them */
#define LWIP_WND_SCALE 0
#define LWIP_TCP_TIMESTAMPS 0
#define LWIP_TCP_SACK_OUT 1 /* a lost frame (full ring) is repaired without a time-out */
#define LWIP_TCP_MAX_SACK_NUM 3
#define TCP_QUEUE_OOSEQ 1
#define TCP_OOSEQ_PBUFS_LIMIT(pcb) net_ooseq_limit(pcb) /* frames parked may not empty the pool */
#define TCP_LISTEN_BACKLOG 0   /* half-open connections are bounded in net/tcp_watch.c */
#define SO_REUSE 1             /* `ttcp -r` again while the last connection is still ending */
#define LWIP_TCP_RTO_TIME 1000 /* RFC 6298 2.1; lwIP's 3 s would make a lost tail a stall */
#define TCP_SYNMAXRTX 12       /* a second apart: the application's own 10 s limit comes first */
#define LWIP_TCP_KEEPALIVE 0
#define TCP_MSL 2000UL              /* a tester reconnects at once; its pcbs are few */
#define LWIP_TCP_PCB_NUM_EXT_ARGS 1 /* the meter's segment counters */

/* ---- UDP ---- */
#define LWIP_UDP 1
#define LWIP_UDPLITE 0

/* ---- groups and names (net/names.h) ---- */
#define LWIP_IGMP 1 /* mDNS's group; the card's filter follows (net/nicif.c) */
#define LWIP_MDNS_RESPONDER 1
#define LWIP_MDNS_SEARCH 0                /* we only answer                                    */
#define LWIP_NETBIOS_RESPOND_NAME_QUERY 0 /* node status is three times as long as its question */

/* ---- httpd (net/apps/web.c) ---- */
#define HTTPD_USE_MEM_POOL 1 /* bounds its connections ... */
#define MEMP_NUM_PARALLEL_HTTPD_CONNS 8
#define LWIP_HTTPD_REQ_QUEUELEN 2      /* ... and the frames that unfinished requests hold */
#define LWIP_HTTPD_MAX_REQ_LENGTH 2047 /* today's browsers send some 700 bytes */
#define LWIP_HTTPD_ABORT_ON_CLOSE_MEM_ERROR 1
#define LWIP_HTTPD_CUSTOM_FILES 1 /* all files are ours, made when they are asked for ... */
#define LWIP_HTTPD_DYNAMIC_FILE_READ 1
#define LWIP_HTTPD_FS_ASYNC_READ 1              /* ... or, /events, as it comes */
#define LWIP_HTTPD_FILE_EXTENSION 1             /* what an open file stands for */
#define LWIP_HTTPD_SUPPORT_EXTSTATUS 1          /* 400 and 501 instead of silence */
#define HTTPD_MAX_WRITE_LEN(pcb) altcp_mss(pcb) /* what a block of lwIP's heap holds */
#define HTTPD_FSDATA_FILE "net/port/httpd_files.h"

/* ---- checksums: in software, by our own loop (net/port/checksum.c); what net/intake.c has checked
 * and net/nicif.c fills in is left out, by switches of the netif ---- */
#define LWIP_CHECKSUM_CTRL_PER_NETIF 1
#define LWIP_INLINE_IP_CHKSUM 1 /* summed up while the header is written */
#define LWIP_CHKSUM port_checksum
uint16_t port_checksum(const void *data, int length);

/* ---- statistics: what was dropped and why (net/drops.c), and the leak checks ---- */
#define LWIP_STATS 1
#define LWIP_STATS_LARGE 1 /* 16 bits overflow within a second of flood */
#define LINK_STATS 1
#define ETHARP_STATS 1
#define IP_STATS 1
#define IPFRAG_STATS 1
#define ICMP_STATS 1
#define UDP_STATS 1
#define TCP_STATS 1
#ifdef LWIP_NOASSERT /* the kernel: only the host tests ask what is still held */
#define MEM_STATS 0
#define MEMP_STATS 0
#else
#define MEM_STATS 1
#define MEMP_STATS 1
#endif
#define SYS_STATS 0
#define LWIP_STATS_DISPLAY 0

#define LWIP_HOOK_FILENAME "net/port/hooks.h"

/* A reply leaves by the card it was asked on: net/route.c.  Here, not among the hooks, because
 * lwip/ip4.h looks whether it is defined. */
struct ip4_addr;
struct netif;
struct netif *route_by_source(const struct ip4_addr *src, const struct ip4_addr *dest);
#define LWIP_HOOK_IP4_ROUTE_SRC(src, dest) route_by_source(src, dest)

#endif
