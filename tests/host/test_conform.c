/*
 * Runs the conformance suite, but for lines, on the cards that have ports only.
 */
#include "tests/host/conform.h"

int main(void)
{
    static TCase *(*const parts[])(void) = {
        conform_rx,      conform_overrun, conform_tx,   conform_irq,
        conform_8139_rx, conform_8139,    conform_soak, NULL};
    return conform_run("conformance", CARDS_PORTS, parts);
}
