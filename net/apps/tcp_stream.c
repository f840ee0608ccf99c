/*
 * TCP streams.  One struct each, from connecting to the last FIN.
 */
#include "net/apps/tcp_stream.h"

#include "kernel/error.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/app.h"
#include "net/apps/connection.h"
#include "net/clock.h"
#include "net/meter.h"
#include "net/net.h"
#include "net/pace.h"

enum {
    CALLS_PER_TURN = 64, /* then the cards get their turn                           */
    FLYING_FRAMES = 32,  /* of all streams: half the transmit queue of a card (net/nicif.c)  */
    FLYING_LEAST = 4,    /* of one: three duplicate acknowledgements need four segments      */
    COPY_BELOW = 256,    /* shorter writes are copied together into full segments */
    CONNECT_US = 10000000,
    PATIENCE_US = 5000000, /* for a client that listens only once its own test is over */
    RETRY_US = 200000,
    STALL_US = 30000000,
    CLOSE_US = 5000000,  /* for the peer's FIN after ours was acknowledged    */
    GRACE_US = 10000000, /* a server may send longer than asked by that much  */
};

enum phase {
    PHASE_FREE,
    PHASE_WAITING, /* to connect again                             */
    PHASE_CONNECTING,
    PHASE_SENDING,
    PHASE_RECEIVING,
    PHASE_CLOSING,  /* our FIN is on its way                        */
    PHASE_WAIT_FIN, /* reported, waiting for the peer's FIN         */
};

static struct stream {
    enum phase phase;
    struct tcp_stream_job job;
    struct tcp_pcb *pcb;
    struct meter meter;
    struct pace pace;
    uint64_t left;    /* bytes to be written */
    uint64_t end_us;  /* when to end, if the amount is a time; else 0 */
    uint32_t written; /* of the call under way */
    uint64_t taken;   /* acknowledged by the peer         */
    struct deadline limit, patience;
} streams[TCP_STREAMS];

static unsigned active;

static void abort_pcb(struct stream *s)
{
    struct tcp_pcb *pcb = s->pcb;

    if (pcb != NULL) {
        s->pcb = NULL;
        tcp_let_go(pcb);
        tcp_abort(pcb);
    }
}

/* ---- the end ---- */

static void release(struct stream *s)
{
    s->phase = PHASE_FREE;
    active--;
}

static __attribute__((cold)) void finish(struct stream *s, const char *how, const char *why)
{
    release(s);
    s->job.done(s->job.arg, how, why, &s->meter);
}

/* What lies in our own buffer has gone nowhere. */
static __attribute__((cold)) void end_early(struct stream *s, const char *how)
{
    if (s->meter.dir == METER_TX && s->meter.bytes > s->taken) {
        s->meter.bytes = s->taken;
    }
    meter_end(&s->meter, how);
}

static void fail(struct stream *s, const char *how, const char *why)
{
    abort_pcb(s);
    end_early(s, how);
    finish(s, how, why);
}

/* lwIP has freed the pcb already. */
static void on_error(void *arg, err_t err)
{
    struct stream *s = arg;

    s->pcb = NULL;
    if (s->phase == PHASE_CLOSING && err == ERR_CLSD) { /* both FINs acknowledged, ours last */
        meter_end(&s->meter, "ok");
        finish(s, "ok", NULL);
    } else if (s->phase == PHASE_WAIT_FIN) { /* reported: how the peer leaves is its affair */
        finish(s, "ok", NULL);
    } else if (s->phase != PHASE_CONNECTING) {
        fail(s, "reset", "connection reset by the peer");
    } else if (s->job.patient && !expired(&s->patience)) {
        s->phase = PHASE_WAITING;
        s->limit = deadline_us(RETRY_US);
    } else if (err == ERR_RST) {
        fail(s, "refused", "connection refused");
    } else {
        fail(s, "timeout", "no answer (connect timed out)");
    }
}

static bool fin_acknowledged(const struct stream *s)
{
    return s->pcb->state == FIN_WAIT_2 || s->pcb->state == TIME_WAIT;
}

static void close_measured(struct stream *s)
{
    meter_end(&s->meter, "ok");
    s->phase = PHASE_WAIT_FIN;
    s->limit = deadline_us(CLOSE_US);
}

/* Close what is still open; ERR_ABRT if it had to be aborted. */
static err_t leave(struct stream *s)
{
    struct tcp_pcb *pcb = s->pcb;
    err_t err = ERR_OK;

    s->pcb = NULL;
    tcp_let_go(pcb);
    if (tcp_close(pcb) != ERR_OK) {
        tcp_abort(pcb);
        err = ERR_ABRT;
    }
    finish(s, "ok", NULL);
    return err;
}

static void start_closing(struct stream *s)
{
    s->phase = PHASE_CLOSING;
    tcp_shutdown(s->pcb, 0, 1);
}

/* ---- receiving ---- */

static err_t on_receive(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err)
{
    struct stream *s = arg;

    (void)err;
    if (p != NULL) {
        if (s->phase == PHASE_RECEIVING) {
            meter_add(&s->meter, p->tot_len);
        }
        tcp_recved(pcb, p->tot_len);
        pbuf_free(p);
        return ERR_OK;
    }
    if (s->phase == PHASE_RECEIVING) {
        meter_end(&s->meter, "ok");
        return leave(s);
    }
    if (s->phase == PHASE_CLOSING && fin_acknowledged(s)) {
        close_measured(s);
    }
    return s->phase == PHASE_WAIT_FIN ? leave(s) : ERR_OK;
}

/* ---- sending ---- */

/*
 * Of its send buffer a stream leaves so much free: all streams together have a part of the transmit
 * queue and of lwIP's segments, so that those whose peers take nothing do not hold up the rest.
 */
static uint32_t not_used(void)
{
    uint32_t part = FLYING_FRAMES / active;
    uint32_t used = (part < FLYING_LEAST ? FLYING_LEAST : part) * TCP_MSS;

    return used < TCP_SND_BUF ? TCP_SND_BUF - used : 0;
}

/* As much of a call as fits, of `quota` bytes.  True when it is complete, or no quota is left. */
static inline bool write_call(struct stream *s, uint32_t keep_free, uint32_t *quota)
{
    const struct tcp_payload *payload = &s->job.payload;
    uint32_t length = s->job.length;
    uint8_t flags = length < COPY_BELOW ? TCP_WRITE_FLAG_COPY : 0;

    do {
        uint32_t n = length - s->written, room = tcp_sndbuf(s->pcb);
        uint32_t from = s->written == 0 ? 0 : s->written % payload->period;

        n = n < *quota ? n : *quota;
        n = n < payload->bytes ? n : payload->bytes;
        room = room > keep_free ? room - keep_free : 0;
        n = n < room ? n : room;
        if (n == 0 || tcp_write(s->pcb, payload->at + from, (u16_t)n, flags) != ERR_OK) {
            return false;
        }
        s->written += n;
        *quota -= n;
    } while (s->written != length && *quota != 0);
    s->written = 0;
    return true;
}

/* Calls until the amount, the buffer or the turn is over: how many bytes were written. */
static uint32_t write_calls(struct stream *s)
{
    bool paced = s->job.rate != 0, nodelay = s->job.nodelay;
    uint32_t most = CALLS_PER_TURN * s->job.length - s->written;
    uint32_t all = s->left < most ? (uint32_t)s->left : most;
    uint32_t quota = all, keep_free = not_used();

    while (quota != 0) {
        if ((paced && s->written == 0 && !pace_due(&s->pace, &s->meter.held_us)) ||
            !write_call(s, keep_free, &quota)) {
            break;
        }
        s->meter.calls++;
        if (paced) {
            pace_sent(&s->pace);
        }
        if (nodelay) {
            tcp_output(s->pcb);
        }
    }
    return all - quota;
}

static bool pump(struct stream *s)
{
    uint32_t n;

    if (s->end_us != 0 && clock_us() >= s->end_us) {
        start_closing(s);
        return true;
    }
    n = write_calls(s);
    if (n == 0) {
        return false;
    }
    s->left -= n;
    s->meter.bytes += n;
    tcp_output(s->pcb);
    if (s->left == 0) {
        start_closing(s);
    }
    return true;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t acknowledged)
{
    struct stream *s = arg;

    (void)pcb;
    s->taken += acknowledged;
    meter_touch(&s->meter); /* this is progress; what was only written has gone nowhere */
    return ERR_OK;
}

/* ---- the beginning ---- */

static void begin(struct stream *s)
{
    const struct tcp_stream_job *job = &s->job;
    enum meter_dir dir = job->receive ? METER_RX : METER_TX;
    struct tcp_count so_far = s->meter.tcp; /* a connection's first segments come before us */

    meter_start(&s->meter, job->test, dir, false, job->netif, &job->host, job->port);
    s->meter.tcp = so_far;
    s->meter.asked_bit_s = job->rate;
    s->left = job->bytes != 0 ? job->bytes : UINT64_MAX;
    s->end_us = job->bytes == 0 ? s->meter.start_us + job->us : 0;
    pace_start(&s->pace, job->rate, job->length);
    if (job->receive) {
        s->limit = deadline_us(0);
        s->limit.at_us += job->bytes == 0 ? job->us + GRACE_US : UINT64_MAX / 2;
    }
    if (job->nodelay) {
        tcp_nagle_disable(s->pcb);
    }
    s->phase = job->receive ? PHASE_RECEIVING : PHASE_SENDING;
}

/* A fresh connection has room for it. */
static void send_header(struct stream *s)
{
    unsigned n = s->job.header_bytes;

    if (n == 0 || tcp_write(s->pcb, s->job.header, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        return;
    }
    if (!s->job.receive) {
        s->meter.bytes += n;
        s->meter.calls++;
        s->left -= s->left < n ? s->left : n;
    }
    tcp_output(s->pcb);
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    struct stream *s = arg;

    (void)pcb;
    (void)err;
    if (s->job.connected != NULL) {
        s->job.connected(s->job.arg);
    }
    begin(s);
    send_header(s);
    return ERR_OK;
}

static void adopt(struct stream *s, struct tcp_pcb *pcb)
{
    s->pcb = pcb;
    tcp_arg(pcb, s);
    tcp_recv(pcb, on_receive);
    tcp_sent(pcb, on_sent);
    tcp_err(pcb, on_error);
    tcp_watch_attach(pcb, &s->meter.tcp);
}

static int connect_stream(struct stream *s)
{
    struct tcp_pcb *pcb = tcp_new();

    if (pcb == NULL) {
        return E_NO_MEMORY;
    }
    memset(&s->meter, 0, sizeof(s->meter));
    adopt(s, pcb);
    if (tcp_connect(pcb, &s->job.host, s->job.port, on_connected) != ERR_OK) {
        abort_pcb(s);
        return E_NO_MEMORY;
    }
    s->limit = deadline_us(CONNECT_US);
    s->phase = PHASE_CONNECTING;
    return OK;
}

static struct stream *new_stream(const struct tcp_stream_job *job)
{
    unsigned most = job->console ? TCP_STREAMS : TCP_STREAMS - TCP_STREAMS_KEPT;

    for (unsigned i = 0; i < most; i++) {
        struct stream *s = &streams[i];

        if (s->phase == PHASE_FREE) {
            memset(s, 0, sizeof(*s));
            s->job = *job;
            s->patience = deadline_us(PATIENCE_US);
            return s;
        }
    }
    return NULL;
}

__attribute__((cold)) int tcp_stream_start(const struct tcp_stream_job *job)
{
    struct stream *s = new_stream(job);

    if (s == NULL || connect_stream(s) != OK) {
        return E_NO_MEMORY;
    }
    active++;
    net_wake();
    return OK;
}

__attribute__((cold)) int tcp_stream_take_over(const struct tcp_stream_job *job,
                                               struct tcp_pcb *pcb)
{
    struct stream *s = new_stream(job);

    if (s == NULL) {
        return E_NO_MEMORY;
    }
    active++;
    net_wake();
    adopt(s, pcb);
    begin(s);
    return OK;
}

void tcp_stream_stop(void *arg)
{
    for (unsigned i = 0; i < TCP_STREAMS; i++) {
        struct stream *s = &streams[i];

        if (s->phase != PHASE_FREE && s->job.arg == arg) {
            abort_pcb(s);
            end_early(s, "abort");
            release(s);
        }
    }
}

/* ---- turn ---- */

static bool turn_closing(struct stream *s)
{
    if (fin_acknowledged(s)) {
        close_measured(s);
        if (s->pcb->state == TIME_WAIT) {
            leave(s);
        }
        return true;
    }
    return false;
}

static bool turn_limited(struct stream *s)
{
    if (!expired(&s->limit)) {
        return false;
    }
    switch (s->phase) {
    case PHASE_WAITING:
        if (connect_stream(s) != OK) {
            finish(s, "abort", "out of memory");
        }
        break;
    case PHASE_CONNECTING: fail(s, "timeout", "no answer (connect timed out after 10 s)"); break;
    case PHASE_WAIT_FIN:
        abort_pcb(s);
        finish(s, "ok", NULL);
        break;
    default: fail(s, "timeout", "the server does not end its test"); break;
    }
    return true;
}

static bool turn_stream(struct stream *s)
{
    if (s->phase == PHASE_SENDING && pump(s)) {
        return true;
    }
    if (s->phase == PHASE_CLOSING && turn_closing(s)) {
        return true;
    }
    if (s->phase != PHASE_SENDING && s->phase != PHASE_CLOSING) {
        if (turn_limited(s)) {
            return true;
        }
    }
    if (s->meter.open && meter_idle_us(&s->meter) > STALL_US) {
        fail(s, "timeout", "nothing has moved for 30 s");
        return true;
    }
    return false;
}

static bool turn(void)
{
    bool worked = false;
    unsigned left = active;

    for (struct stream *s = streams; left != 0 && s != streams + TCP_STREAMS; s++) {
        if (s->phase != PHASE_FREE) {
            left--;
            worked |= turn_stream(s);
        }
    }
    return worked;
}

APP_WHILE(tcp_stream, NULL, active, turn);
