/*
 * lwIP's view of the compiler and of this kernel.  Used by the kernel and, unchanged, by the host
 * tests (there with the host's own C library).
 */
#ifndef NET_PORT_ARCH_CC_H
#define NET_PORT_ARCH_CC_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/console.h"
#include "kernel/trap.h"

/* lwIP's port interface asks for these names. */
#define LWIP_NO_INTTYPES_H 1
#define LWIP_NO_LIMITS_H 1
#define LWIP_NO_CTYPE_H 1
#define LWIP_NO_UNISTD_H 1
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#endif
#ifndef SSIZE_MAX
#define SSIZE_MAX __PTRDIFF_MAX__
typedef ptrdiff_t ssize_t;
#endif
#define X8_F "02x"
#define U16_F "u"
#define S16_F "d"
#define X16_F "x"
#define U32_F "u"
#define S32_F "d"
#define X32_F "x"
#define SZT_F "zu"

#define LWIP_PLATFORM_DIAG(x)                                                                      \
    do {                                                                                           \
        kprintf x;                                                                                 \
    } while (0)
#define LWIP_PLATFORM_ASSERT(x) panic("lwIP: %s (%s:%d)", x, __FILE__, __LINE__)

/* net/port/sys.c */
uint32_t port_random(void);
#define LWIP_RAND() port_random()

#endif
