/*
 * What the kernel does about an option it cannot use: one line, one record, and the boot goes on.
 */
#include "kernel/console.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/record.h"

enum { SHOWN_MAX = 64 };

void options_report(const char *word, const char *why)
{
    char shown[SHOWN_MAX];

    format(shown, sizeof(shown), "%s", word);
    for (char *c = shown; *c != '\0'; c++) {
        *c = *c >= ' ' && *c < 0x7F ? *c : '?';
    }
    console_fresh_line();
    kprintf_colour(COLOUR_WARN, "option %s: %s\n", shown, why);
    record_fault("option", -1);
    record_str("word", shown);
    record_str("why", why);
    record_end();
}
