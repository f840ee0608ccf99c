/*
 * Runs the part of the conformance suite that is about interrupt lines; on its own, because it
 * takes long.
 */
#include "tests/host/conform.h"

int main(void)
{
    static TCase *(*const parts[])(void) = {conform_lines, conform_shared, NULL};
    return conform_run("conformance: lines", parts);
}
