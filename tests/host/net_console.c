/*
 * Console, way out and end of the road for the box of net_rig.h: everything said is kept, and a
 * panic ends the program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/machine.h"
#include "kernel/print.h"
#include "kernel/trap.h"
#include "tests/host/net_rig.h"
#include "tests/host/sim/bus.h"

enum {
    TEXT_MAX = 1 << 18,
    RECORDS_MAX = 512,
    KEYS_MAX = 1 << 15 /* an input of the fuzzer typed at once */,
    PRINT_MAX = 1024,
    VALUE_MAX = 256
};

static char text[TEXT_MAX];
static size_t text_length;
static char *records[RECORDS_MAX];
static unsigned record_count;
static char keys[KEYS_MAX];
static size_t key_in, key_out;

/* ---- test side ---- */

void rig_forget(void)
{
    text_length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < record_count; i++) {
        free(records[i]);
    }
    record_count = 0;
}

const char *rig_text(void)
{
    return text;
}

unsigned rig_said_times(const char *part)
{
    unsigned n = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

bool rig_said(const char *part)
{
    return strstr(text, part) != NULL;
}

static bool has_name(const char *record, const char *ev)
{
    char start[64];

    snprintf(start, sizeof(start), "{\"ev\":\"%s\",", ev);
    return strncmp(record, start, strlen(start)) == 0;
}

const char *rig_record(const char *ev, unsigned index)
{
    for (unsigned i = 0; i < record_count; i++) {
        if (has_name(records[i], ev) && index-- == 0) {
            return records[i];
        }
    }
    return NULL;
}

unsigned rig_record_count(const char *ev)
{
    unsigned n = 0;

    while (rig_record(ev, n) != NULL) {
        n++;
    }
    return n;
}

const char *rig_value(const char *record, const char *key)
{
    static char value[VALUE_MAX];
    char quoted[64];
    const char *at;
    size_t n;

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = record == NULL ? NULL : strstr(record, quoted);
    if (at == NULL) {
        return "";
    }
    at += strlen(quoted);
    n = *at == '"' ? strcspn(at + 1, "\"") + 2 : strcspn(at, ",}");
    snprintf(value, sizeof(value), "%.*s", (int)n, at);
    return value;
}

int64_t rig_number(const char *record, const char *key)
{
    return strtoll(rig_value(record, key), NULL, 10);
}

bool rig_is(const char *record, const char *key, const char *written)
{
    return strcmp(rig_value(record, key), written) == 0;
}

void rig_type(const char *typed)
{
    for (; *typed != '\0' && key_in < sizeof(keys); typed++) {
        keys[key_in++] = *typed;
    }
}

/* ---- kernel/console.h ---- */

static void say(const char *s, size_t n)
{
    if (text_length + n >= sizeof(text)) { /* a fuzzer's box talks for hours */
        text_length = 0;
    }
    memcpy(text + text_length, s, n);
    text_length += n;
    text[text_length] = '\0';
}

static void vsay(const char *fmt, va_list args)
{
    char line[PRINT_MAX];
    int n = vformat(line, sizeof(line), fmt, args);

    say(line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void kprintf(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsay(fmt, args);
    va_end(args);
}

void kprintf_colour(enum colour colour, const char *fmt, ...)
{
    va_list args;

    (void)colour;
    va_start(args, fmt);
    vsay(fmt, args);
    va_end(args);
}

void console_fresh_line(void)
{
    if (text_length != 0 && text[text_length - 1] != '\n') {
        say("\n", 1);
    }
}

bool console_record(const char *line, size_t n)
{
    if (record_count == RECORDS_MAX) {
        rig_forget();
    }
    records[record_count] = malloc(n); /* without the '@' */
    memcpy(records[record_count], line + 1, n - 1);
    records[record_count++][n - 1] = '\0';
    return true;
}

/* The edit line is the kernel's affair; what is typed is not repeated here. */
bool console_prompt_missing(void)
{
    return false;
}

void console_prompt(const char *prompt, const char *edit_line)
{
    (void)prompt;
    (void)edit_line;
}

void console_echo(const char *echoed)
{
    (void)echoed;
}

bool console_input_waiting(void)
{
    return key_out != key_in;
}

int console_key(void)
{
    if (key_out == key_in) {
        key_in = key_out = 0;
        return -1;
    }
    return keys[key_out++];
}

bool console_drain(void)
{
    return false; /* all is out at once */
}

void console_flush(unsigned us)
{
    (void)us;
}

/* ---- ways out: none of them may be taken ---- */

static _Noreturn void leave(const char *how)
{
    sim_print_log();
    fprintf(stderr, "%s\nwhat it said:\n%s\n", how, text);
    abort();
}

void panic(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsay(fmt, args);
    va_end(args);
    leave("the box panics");
}

void machine_quit(int status)
{
    (void)status;
    leave("the box quits");
}

void machine_reboot(void)
{
    leave("the box reboots");
}

bool machine_is_emulator(void)
{
    return false;
}
