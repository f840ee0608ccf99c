/*
 * Runs the conformance suite, but for lines, on the boards whose memory the host sees; on its own,
 * because it takes long.
 */
#include "tests/host/conform.h"

int main(void)
{
    static TCase *(*const parts[])(void) = {conform_rx,  conform_overrun, conform_tx,
                                            conform_irq, conform_soak,    NULL};
    return conform_run("conformance: memory", CARDS_MEMORY, parts);
}
