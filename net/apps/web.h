/*
 * The box's pages, served by lwIP's httpd: `/`, `/report.txt`, `/events`.
 */
#ifndef NET_APPS_WEB_H
#define NET_APPS_WEB_H

#include <stdbool.h>
#include <stddef.h>

#include "lwip/apps/fs.h"
#include "lwip/tcp.h"

/* ---- texts that are made at once (web_page.c) ---- */

enum { WEB_TEXT_BYTES = 8192 };

struct web_text {
    char at[WEB_TEXT_BYTES];
    size_t length;
    bool full; /* the rest did not fit: the text ends with a line that says so */
};

void web_put(struct web_text *t, const char *fmt, ...);

/* With & < > " replaced (HTML 3.2). */
void web_put_escaped(struct web_text *t, const char *text);

/* The status page, in HTML 3.2; and the report as plain text. */
void web_write_page(struct web_text *t);
void web_write_report(struct web_text *t);

/* ---- a stream of records (web_events.c) ---- */

enum { WEB_STREAMS = 4 };

/* For the connection whose request is being read right now; null if there are enough. */
struct web_stream *web_stream_open(void);
void web_stream_close(struct web_stream *s);

/* Up to `n` bytes; FS_READ_DELAYED: later, wake(arg) will be called; FS_READ_EOF. */
int web_stream_read(struct web_stream *s, char *to, int n, fs_wait_cb wake, void *arg);

/* Every APP_TICK_MS. */
void web_stream_tick(void);

/* The port is being closed: let them all end. */
void web_stream_end_all(void);

#endif
