/*
 * Records: built in one static line, sent whole.  The grammar is DESIGN section 4.
 */
#include "kernel/record.h"

#include <stddef.h>

#include "kernel/console.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/trap.h"

enum {
    LINE_END = 2,                     /* CRLF on COM1                                     */
    TEXT_MAX = RECORD_MAX - LINE_END, /* what may stand in `line`                         */
    EV_MAX = 16,                      /* longest record name kept for the report below    */
};

static char line[TEXT_MAX + 1];
static size_t length;
static bool building;
static bool overflow;
static char name[EV_MAX];
static unsigned too_long;
static void (*sink)(const char *json, size_t n);

static void put(const char *text)
{
    size_t n = strlen(text);

    if (n > TEXT_MAX - length) {
        overflow = true;
        return;
    }
    memcpy(line + length, text, n + 1);
    length += n;
}

/* JSON (RFC 8259 section 7): quote, backslash and controls escaped.  DEL too, it is no use to a
 * reader; what is not ASCII has no agreed meaning here and becomes '?'. */
static void put_quoted(const char *text)
{
    char piece[8];

    put("\"");
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            format(piece, sizeof(piece), "\\%c", c);
        } else if (c < ' ' || c == 0x7F) {
            format(piece, sizeof(piece), "\\u%04x", c);
        } else {
            format(piece, sizeof(piece), "%c", c < 0x80 ? c : '?');
        }
        put(piece);
    }
    put("\"");
}

static void put_key(const char *key)
{
    put(",\"");
    put(key);
    put("\":");
}

void record_begin(const char *ev)
{
    building = true;
    overflow = false;
    length = 0;
    format(name, sizeof(name), "%s", ev);
    put("@{\"ev\":");
    put_quoted(ev);
}

void record_str(const char *key, const char *value)
{
    if (value == NULL) {
        record_null(key);
        return;
    }
    put_key(key);
    put_quoted(value);
}

void record_int(const char *key, int64_t value)
{
    char text[24];

    format(text, sizeof(text), "%lld", (long long)value);
    put_key(key);
    put(text);
}

void record_bool(const char *key, bool value)
{
    put_key(key);
    put(value ? "true" : "false");
}

void record_null(const char *key)
{
    put_key(key);
    put("null");
}

void record_fixed(const char *key, uint64_t value, unsigned decimals)
{
    char text[24];

    ASSERT(decimals >= 1 && decimals <= 3);
    put_key(key);
    put(format_fixed(text, value, decimals));
}

/* A comma before every element but the first. */
static void put_comma(void)
{
    if (line[length - 1] != '[') {
        put(",");
    }
}

void record_open(const char *key)
{
    if (key != NULL) {
        put_key(key);
    } else {
        put_comma();
    }
    put("[");
}

void record_item(const char *value)
{
    put_comma();
    put_quoted(value);
}

void record_close(void)
{
    put("]");
}

void record_fault(const char *what, int nic)
{
    record_begin("fault");
    record_str("what", what);
    if (nic < 0) {
        record_null("nic");
    } else {
        record_int("nic", nic);
    }
}

/* Say which record was never sent.  Cannot overflow itself: its own parts are short. */
static void report_too_long(void)
{
    char culprit[EV_MAX];

    memcpy(culprit, name, sizeof(culprit));
    too_long++;
    record_fault("record_lost", -1);
    record_int("lost", 1);
    record_str("too_long", culprit);
    record_end();
}

void record_end(void)
{
    record_int("t_us", (int64_t)time_us());
    put("}");
    building = false;
    if (overflow) {
        report_too_long();
        return;
    }
    /* A full COM1 queue is counted there and reported once there is room: record_report_lost(). */
    (void)console_record(line, length);
    if (sink != NULL) {
        sink(line + 1, length - 1);
    }
}

void record_set_sink(void (*to)(const char *json, size_t n))
{
    sink = to;
}

const char *record_last(void)
{
    return building || length == 0 ? "" : line + 1;
}

unsigned record_too_long(void)
{
    return too_long;
}

bool record_report_lost(unsigned lost)
{
    if (building) {
        return false;
    }
    record_fault("record_lost", -1);
    record_int("lost", lost);
    record_end();
    return true;
}
