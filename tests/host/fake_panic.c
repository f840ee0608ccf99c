/*
 * panic() on the host, where a test does not bring its own: says why and aborts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/print.h"
#include "kernel/trap.h"

_Noreturn void panic(const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vformat(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "panic: %s\n", text);
    abort();
}
