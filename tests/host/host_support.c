/*
 * Console and panic of the host tests.  kernel/print.c, record.c, options.c are the real ones.
 */
#include "tests/host/host_support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/print.h"
#include "kernel/trap.h"
#include "tests/host/sim/bus.h"

enum { CAPTURE = 1 << 18, LINE = 512 };

static char text[CAPTURE], records[CAPTURE];
static size_t text_used, records_used;
static unsigned column;

/* Kept whole as long as there is room; a long soak does not need its text. */
static void capture(char *to, size_t *used, const char *from, size_t n)
{
    if (*used + n < CAPTURE) {
        memcpy(to + *used, from, n);
        *used += n;
        to[*used] = '\0';
    }
}

void host_capture_clear(void)
{
    text_used = records_used = 0;
    text[0] = records[0] = '\0';
}

const char *host_text(void)
{
    return text;
}

const char *host_records(void)
{
    return records;
}

unsigned host_count(const char *in, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(in, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

void console_write(const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        column = from[i] == '\n' ? 0 : column + 1;
    }
    capture(text, &text_used, from, n);
}

static void print(const char *fmt, va_list args)
{
    char line[LINE];
    int n = vformat(line, sizeof line, fmt, args);
    console_write(line, n < LINE ? (size_t)n : LINE - 1);
}

void kprintf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    print(fmt, args);
    va_end(args);
}

void kprintf_colour(enum colour colour, const char *fmt, ...)
{
    va_list args;
    (void)colour;
    va_start(args, fmt);
    print(fmt, args);
    va_end(args);
}

unsigned console_column(void)
{
    return column;
}

void console_fresh_line(void)
{
    if (column != 0) {
        console_write("\n", 1);
    }
}

bool console_record(const char *line, size_t n)
{
    capture(records, &records_used, line, n);
    capture(records, &records_used, "\n", 1);
    return true;
}

unsigned console_records_lost(void)
{
    return 0;
}

void panic(const char *fmt, ...)
{
    char line[LINE];
    va_list args;
    va_start(args, fmt);
    vformat(line, sizeof line, fmt, args);
    va_end(args);
    sim_print_log();
    fprintf(stderr, "PANIC: %s\n", line);
    fflush(NULL);
    abort();
}
