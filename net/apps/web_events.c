/*
 * /events: every record as it comes, as text/event-stream (HTML standard, "server-sent events").
 *
 * A stream reads the record log at its own pace.  No more than a little is handed to TCP before it
 * is acknowledged, so a browser that stops reading holds little of lwIP's heap; what the log has no
 * longer is told as one `fault` record_lost, and httpd ends a stream that acknowledges nothing for
 * 8 s.  A comment every 3 s keeps it from doing that to the others.
 *
 * An event goes to TCP whole or not at all: its rest may be gone from the log when there is room
 * for it.  httpd asks for a segment at a time; what is longer than that is handed to TCP behind its
 * back.
 */
#include "kernel/print.h"
#include "kernel/record_log.h"
#include "kernel/string.h"
#include "lwip/priv/tcp_priv.h"
#include "net/apps/web.h"
#include "net/clock.h"

enum {
    COMMENT_US = 3000000,
    UNACKED_MAX = 2 * TCP_MSS,
    NOTE = 160,
    ROOM = TCP_MSS, /* what httpd asks for at once (HTTPD_MAX_WRITE_LEN) */
};

static const char header[] = "HTTP/1.0 200 OK\r\n"
                             "Server: NicTest86\r\n"
                             "Content-Type: text/event-stream\r\n"
                             "Cache-Control: no-cache\r\n"
                             "Connection: close\r\n\r\n";
static struct web_stream {
    struct tcp_pcb *pcb; /* null: free; valid while the file is open */
    fs_wait_cb wake;     /* null: nobody waits                       */
    void *arg;
    bool ending;
    uint64_t quiet_us; /* when a comment is due                    */
    struct record_reader reader;
    char note[NOTE]; /* header, comment or loss: goes first      */
    size_t note_length, note_sent;
    unsigned lost;
} streams[WEB_STREAMS];

_Static_assert(sizeof(header) <= NOTE, "the header fits a note");

/* ---- what goes out next ---- */

static void set_note(struct web_stream *s, const char *text)
{
    s->note_length = strlen(text);
    s->note_sent = 0;
    memcpy(s->note, text, s->note_length);
}

static void note_loss(struct web_stream *s)
{
    char text[NOTE];

    format(text, sizeof(text),
           "data: {\"ev\":\"fault\",\"what\":\"record_lost\",\"nic\":null,\"lost\":%u,"
           "\"t_us\":%llu}\n\n",
           s->lost, (unsigned long long)clock_us());
    s->lost = 0;
    set_note(s, text);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t copy_note(struct web_stream *s, char *to, size_t n)
{
    n = smaller(n, s->note_length - s->note_sent);
    memcpy(to, s->note + s->note_sent, n);
    s->note_sent += n;
    return n;
}

/* The event that is next, behind a note if there is one: a loss that was noticed becomes one. */
static size_t next_event(struct web_stream *s, const char **event)
{
    size_t n = record_reader_look(&s->reader, event, &s->lost);

    if (s->lost != 0) {
        note_loss(s);
    }
    return n;
}

/* Nothing else is to be said, for long. */
static bool comment_is_due(const struct web_stream *s)
{
    return clock_us() >= s->quiet_us;
}

static int fill(struct web_stream *s, char *to, size_t room)
{
    size_t n = 0;

    while (n < room) {
        const char *event;
        size_t length;

        if (s->note_sent < s->note_length) {
            n += copy_note(s, to + n, room - n);
            continue;
        }
        length = next_event(s, &event);
        if (s->note_sent < s->note_length) {
            continue;
        }
        if (length == 0 || length > room - n) {
            break;
        }
        memcpy(to + n, event, length);
        n += length;
        record_reader_advance(&s->reader);
    }
    return (int)n;
}

static bool may_send(const struct web_stream *s)
{
    return TCP_SND_BUF - tcp_sndbuf(s->pcb) <= UNACKED_MAX;
}

/* ---- for web.c ---- */

struct web_stream *web_stream_open(void)
{
    for (unsigned i = 0; i < WEB_STREAMS && tcp_input_pcb != NULL; i++) {
        struct web_stream *s = &streams[i];

        if (s->pcb == NULL) {
            *s = (struct web_stream){.pcb = tcp_input_pcb, .quiet_us = clock_us() + COMMENT_US};
            record_reader_open(&s->reader);
            set_note(s, header);
            return s;
        }
    }
    return NULL;
}

void web_stream_close(struct web_stream *s)
{
    s->pcb = NULL;
}

int web_stream_read(struct web_stream *s, char *to, int n, fs_wait_cb wake, void *arg)
{
    int got = 0;

    s->wake = NULL;
    if (!s->ending && may_send(s)) {
        got = fill(s, to, (size_t)n);
    }
    if (got > 0) {
        s->quiet_us = clock_us() + COMMENT_US;
        return got;
    }
    if (s->ending) {
        return FS_READ_EOF;
    }
    s->wake = wake;
    s->arg = arg;
    return FS_READ_DELAYED;
}

/* Long events go now; is there anything for httpd to ask for? */
static bool has_news(struct web_stream *s)
{
    const char *event;
    size_t n;

    while (s->note_sent == s->note_length && may_send(s) && (n = next_event(s, &event)) != 0 &&
           s->note_sent == s->note_length) {
        if (n <= ROOM) {
            return true;
        }
        if (tcp_write(s->pcb, event, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            break; /* no room or no memory: later, or it is lost and told */
        }
        record_reader_advance(&s->reader);
        s->quiet_us = clock_us() + COMMENT_US;
        tcp_output(s->pcb);
    }
    if (s->note_sent == s->note_length && comment_is_due(s)) {
        s->quiet_us = clock_us() + COMMENT_US;
        set_note(s, ":\n\n");
    }
    return s->note_sent < s->note_length;
}

void web_stream_tick(void)
{
    for (unsigned i = 0; i < WEB_STREAMS; i++) {
        struct web_stream *s = &streams[i];

        if (s->pcb != NULL && s->wake != NULL && (s->ending || (may_send(s) && has_news(s)))) {
            fs_wait_cb wake = s->wake;

            s->wake = NULL;
            wake(s->arg);
        }
    }
}

void web_stream_end_all(void)
{
    for (unsigned i = 0; i < WEB_STREAMS; i++) {
        streams[i].ending = true;
    }
}
