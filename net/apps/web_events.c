/*
 * /events: every record as it comes, as text/event-stream (HTML standard, "server-sent events").
 *
 * A stream reads the record log at its own pace.  No more than a little is handed to TCP before it
 * is acknowledged, so a browser that stops reading holds none of lwIP's heap; what the log has no
 * longer is told as one `fault` record_lost, and httpd ends a stream that acknowledges nothing for
 * 8 s.  A comment every 3 s keeps it from doing that to the others.
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
};

static const char header[] = "HTTP/1.0 200 OK\r\n"
                             "Server: NicTest86\r\n"
                             "Content-Type: text/event-stream\r\n"
                             "Cache-Control: no-cache\r\n"
                             "Connection: close\r\n\r\n";
static const char before[] = "data: ";
static const char after[] = "\n\n";
enum { BEFORE = sizeof(before) - 1, AFTER = sizeof(after) - 1 };

static struct web_stream {
    struct tcp_pcb *pcb; /* null: free; valid while the file is open */
    fs_wait_cb wake;     /* null: nobody waits                       */
    void *arg;
    bool ending;
    uint64_t quiet_us; /* when a comment is due                    */
    struct record_reader reader;
    size_t record, sent; /* its length, 0: none is under way; and how much of its event is out */
    char note[NOTE];     /* header, comment or loss: goes first      */
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

/* Is there anything to begin with?  Between two events only. */
static bool begin(struct web_stream *s)
{
    s->record = record_reader_length(&s->reader, &s->lost);
    s->sent = 0;
    if (s->lost != 0) {
        s->record = 0; /* comes behind that */
        note_loss(s);
        return true;
    }
    if (s->record == 0 && clock_us() >= s->quiet_us) {
        s->quiet_us = clock_us() + COMMENT_US; /* one, not one for every look */
        set_note(s, ":\n\n");
        return true;
    }
    return s->record != 0;
}

/* A part of "data: RECORD\n\n"; 0: the record is gone. */
static size_t copy_event(struct web_stream *s, char *to, size_t n)
{
    if (s->sent < BEFORE) {
        n = smaller(n, BEFORE - s->sent);
        memcpy(to, before + s->sent, n);
    } else if (s->sent < BEFORE + s->record) {
        n = smaller(n, BEFORE + s->record - s->sent);
        if (!record_reader_copy(&s->reader, s->sent - BEFORE, to, n)) {
            return 0;
        }
    } else {
        n = smaller(n, BEFORE + s->record + AFTER - s->sent);
        memcpy(to, after + (s->sent - BEFORE - s->record), n);
    }
    s->sent += n;
    if (s->sent == BEFORE + s->record + AFTER) {
        record_reader_advance(&s->reader);
        s->record = 0;
    }
    return n;
}

/* Events that fit one read go whole, so that waiting between two reads costs none of them. */
static bool fits(const struct web_stream *s, size_t n, size_t room)
{
    return s->sent != 0 || n == 0 || BEFORE + s->record + AFTER <= room - n;
}

/* Half an event cannot be taken back: where its rest is gone the stream ends, and the browser opens
 * another. */
static int fill(struct web_stream *s, char *to, size_t room)
{
    size_t n = 0;

    if (s->sent == 0) {
        s->record = 0; /* looked at a while ago: is it still there? */
    }
    while (n < room) {
        if (s->note_sent < s->note_length) {
            n += copy_note(s, to + n, room - n);
        } else if (s->record != 0 && !fits(s, n, room)) {
            break;
        } else if (s->record != 0) {
            size_t part = copy_event(s, to + n, room - n);

            if (part == 0) {
                s->ending = true;
                break;
            }
            n += part;
        } else if (!begin(s)) {
            break;
        }
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

static bool has_news(struct web_stream *s)
{
    return s->ending || s->record != 0 || s->note_sent < s->note_length ||
           (may_send(s) && begin(s));
}

void web_stream_tick(void)
{
    for (unsigned i = 0; i < WEB_STREAMS; i++) {
        struct web_stream *s = &streams[i];

        if (s->pcb != NULL && s->wake != NULL && (s->ending || may_send(s)) && has_news(s)) {
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
