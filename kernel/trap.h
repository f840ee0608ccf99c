/*
 * Exceptions and the end of the road.
 */
#ifndef KERNEL_TRAP_H
#define KERNEL_TRAP_H

#include <stdint.h>

/* What boot/vectors.S pushes, lowest address first. */
struct trap_frame {
    uint32_t edi, esi, ebp, esp_at_pusha, ebx, edx, ecx, eax;
    uint32_t vector, error;
    uint32_t eip, cs, eflags;
};

/* Called by boot/vectors.S for every vector; interrupts are off. */
void trap_dispatch(struct trap_frame *frame);

/* Screen, COM1, `panic` record, then exit=on behaviour (status 3) or halt.  Never returns. */
_Noreturn void panic(const char *fmt, ...);

/* Promise of the programmer; panics with file and line. */
#define ASSERT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            panic("%s:%d: %s", __FILE__, __LINE__, #condition);                                    \
        }                                                                                          \
    } while (0)

#endif
