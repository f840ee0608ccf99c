/*
 * Runs the parts of the conformance suite that are about interrupt lines and leaving; on its own,
 * because it takes long.
 */
#include "tests/host/conform.h"

int main(void)
{
    static TCase *(*const parts[])(void) = {conform_lines, conform_shared, conform_leave,
                                            conform_dos, NULL};
    return conform_run("conformance: lines", CARDS_ALL, parts);
}
