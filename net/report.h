/*
 * The last results, for the command `report` and whoever else shows them: a table, and a line a
 * card for pasting into a forum.
 */
#ifndef NET_REPORT_H
#define NET_REPORT_H

#include <stddef.h>

#include "net/meter.h"

enum { REPORT_RESULTS = 64, REPORT_LINE = 256 /* bytes of a line, with its NUL */ };

/* For meter.c: keep a finished transfer.  `how` is a constant. */
void report_keep(const struct meter *m, const struct meter_sum *sum, const char *how);

/* What a page shows of a result. */
struct report_result {
    const char *test, *bound; /* bound: null if it was too short to have one */
    bool tx, udp;
    uint32_t kb_s_milli;
    unsigned cpu_permille;
};

/* The `back`-th last result, 0 the newest; false if there are not so many. */
bool report_result(unsigned back, struct report_result *to);

/* Called with each line, without a line end. */
typedef void (*report_put)(void *arg, const char *line);

/* The whole report: at most 64 lines and a few, none longer than REPORT_LINE - 1.  Main context;
 * `put` is called before this returns. */
void report_write(report_put put, void *arg);

/*
 * The most payload a medium of `link_kbit` carries, bytes a second: TCP in segments of 1460 bytes,
 * UDP in datagrams of `length`.  0 if the rate is not known.
 */
uint64_t report_wire_limit(uint32_t link_kbit, bool udp, uint32_t length);

#endif
