/*
 * Runs the conformance suite, but for lines.
 */
#include "tests/host/conform.h"

/* Driver and kernel never call malloc(), and rig_down() counts the frames: looking for lost heap
 * blocks at the end of each of some 400 children would find only the chip model's own, and takes
 * twice as long as all the cases. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

int main(void)
{
    static TCase *(*const parts[])(void) = {
        conform_rx,      conform_overrun, conform_tx,   conform_irq,
        conform_8139_rx, conform_8139,    conform_soak, NULL};
    return conform_run("conformance", parts);
}
