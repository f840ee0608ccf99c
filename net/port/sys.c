/*
 * lwIP's port functions: clock and random numbers.
 */
#include "kernel/time.h"
#include "lwip/sys.h"
#include "net/clock.h"

u32_t sys_now(void)
{
    return clock_ms();
}

/*
 * Port numbers, initial sequence numbers and DHCP ids: xorshift32 (Marsaglia 2003), stirred with
 * the clock at every call, since the moment of a call depends on the network.
 */
uint32_t port_random(void)
{
    static uint32_t state = 2463534242u;

    state ^= (uint32_t)time_us() * 2654435761u;
    if (state == 0) {
        state = 1;
    }
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}
