/*
 * The sum of idle time; the main loop is its only writer.
 */
#include "kernel/load.h"

static uint64_t idle_us;

uint64_t load_idle_us(void)
{
    return idle_us;
}

void load_add_idle(uint64_t us)
{
    idle_us += us;
}
