/*
 * Machine-readable records (DESIGN section 4): '@' and one JSON object a line.
 *
 *     record_begin("ready");
 *     record_int("nic", 0);
 *     record_str("ip", "10.0.2.15");
 *     record_end();                     adds t_us and sends the line
 *
 * One record is under construction at a time.  Main context only (or a panic, which may begin its
 * own over a half-made one).  Strings are escaped and reduced to ASCII.  Keys are constants and go
 * out as they are.  A record that would exceed 4096 bytes is a programming error: it is not sent,
 * counted, and a `fault` record_lost names it instead.
 */
#ifndef KERNEL_RECORD_H
#define KERNEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_MAX = 4096 /* with '@' and the line end */ };

void record_begin(const char *ev);
void record_str(const char *key, const char *value); /* null pointer: null */
void record_int(const char *key, int64_t value);
void record_bool(const char *key, bool value);
void record_null(const char *key);

/* value / 10^decimals, 1 to 3 decimals: a number, never quoted. */
void record_fixed(const char *key, uint64_t value, unsigned decimals);

/* A list: record_open(key), its strings, record_close(); a list within a list has no key (null). */
void record_open(const char *key);
void record_item(const char *value);
void record_close(void);

/* Adds "t_us" and sends. */
void record_end(void);

/* The commonest record: begin "fault" with its cause and card (nic < 0: null).  Add keys, then
 * record_end(). */
void record_fault(const char *what, int nic);

/* From now on every record goes to `sink` as well, as JSON of `n` bytes without the '@', once it is
 * on its way to the consoles.  One sink; it does not wait. */
void record_set_sink(void (*sink)(const char *json, size_t n));

/* The record just ended, as JSON without the '@', for history and HTTP; valid until the next one
 * begins.  "" if there was none yet. */
const char *record_last(void);

/* Records that were longer than RECORD_MAX. */
unsigned record_too_long(void);

/*
 * Tell of records that COM1 had no room for, with a `fault` record_lost and their number ("lost").
 * console_drain() calls it once the queue has room again.  False if a record is being made just
 * now: ask again later.
 */
bool record_report_lost(unsigned lost);

#endif
