/*
 * iperf2's TCP streams.  One struct each, from connecting to the last FIN.
 */
#include "net/apps/iperf2_tcp.h"

#include "kernel/error.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/app.h"
#include "net/clock.h"
#include "net/meter.h"
#include "net/pace.h"

enum {
    CALLS_PER_TURN = 32,
    COPY_BELOW = 256, /* shorter writes are copied together into full segments */
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
    struct iperf2_tcp_job job;
    struct tcp_pcb *pcb;
    struct meter meter;
    struct pace pace;
    uint64_t left;        /* bytes, if the amount is in bytes */
    uint64_t end_us;      /* or when to end                   */
    uint32_t written;     /* of the current call              */
    unsigned header_left; /* bytes of the header              */
    uint64_t taken;       /* acknowledged by the peer         */
    struct deadline limit, patience;
    uint8_t header[IPERF2_HEADER];
} streams[IPERF2_STREAMS];

static unsigned active;

static void let_go(struct stream *s)
{
    if (s->pcb == NULL) {
        return;
    }
    tcp_watch_attach(s->pcb, NULL);
    tcp_arg(s->pcb, NULL);
    tcp_recv(s->pcb, NULL);
    tcp_sent(s->pcb, NULL);
    tcp_err(s->pcb, NULL);
}

static void abort_pcb(struct stream *s)
{
    struct tcp_pcb *pcb = s->pcb;

    if (pcb != NULL) {
        let_go(s);
        s->pcb = NULL;
        tcp_abort(pcb);
    }
}

/* ---- the end ---- */

static void release(struct stream *s)
{
    s->phase = PHASE_FREE;
    active--;
}

static void finish(struct stream *s, const char *how, const char *why)
{
    release(s);
    s->job.done(s->job.arg, how, why, &s->meter);
}

/* What lies in our own buffer has gone nowhere. */
static void end_early(struct stream *s, const char *how)
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

    let_go(s);
    s->pcb = NULL;
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

static bool write_header(struct stream *s)
{
    if (s->header_left != 0) {
        if (tcp_write(s->pcb, s->header, IPERF2_HEADER, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            return false;
        }
        s->header_left = 0;
    }
    return true;
}

/* What is left of the amount, for this call. */
static uint32_t call_length(const struct stream *s)
{
    uint32_t length = s->job.request.length;

    return s->end_us != 0 || s->left >= length - s->written ? length
                                                            : s->written + (uint32_t)s->left;
}

/* One call, or as much of it as fits.  True when it is complete. */
static bool write_call(struct stream *s)
{
    uint32_t length = call_length(s);

    while (s->written < length) {
        uint32_t n = length - s->written;

        n = n < IPERF2_DIGITS ? n : IPERF2_DIGITS;
        n = n < tcp_sndbuf(s->pcb) ? n : tcp_sndbuf(s->pcb);
        if (n == 0 || tcp_write(s->pcb, iperf2_digits(), (u16_t)n,
                                n < COPY_BELOW ? TCP_WRITE_FLAG_COPY : 0) != ERR_OK) {
            return false;
        }
        s->written += n;
        s->left -= s->left < n ? s->left : n;
        s->meter.bytes += n;
    }
    s->written = 0;
    s->meter.calls++;
    return true;
}

static bool all_written(const struct stream *s)
{
    return s->end_us != 0 ? clock_us() >= s->end_us : s->left == 0;
}

static bool pump(struct stream *s)
{
    uint64_t before = s->meter.bytes;

    for (unsigned calls = 0; calls < CALLS_PER_TURN && !all_written(s); calls++) {
        if ((s->written == 0 && !pace_due(&s->pace, &s->meter.held_us)) || !write_call(s)) {
            break;
        }
        pace_sent(&s->pace);
    }
    if (s->meter.bytes == before && !all_written(s)) {
        return false;
    }
    meter_touch(&s->meter);
    tcp_output(s->pcb);
    if (all_written(s)) {
        start_closing(s);
    }
    return true;
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t acknowledged)
{
    struct stream *s = arg;

    (void)pcb;
    s->taken += acknowledged;
    meter_touch(&s->meter); /* progress, also when the last call was made long ago */
    return ERR_OK;
}

/* ---- the beginning ---- */

static void begin(struct stream *s)
{
    const struct iperf2_request *r = &s->job.request;
    enum meter_dir dir = s->job.receive ? METER_RX : METER_TX;
    struct tcp_count so_far = s->meter.tcp; /* a connection's first segments come before us */

    meter_start(&s->meter, "iperf2", dir, false, s->job.netif, &s->job.host, s->job.port);
    s->meter.tcp = so_far;
    s->meter.asked_bit_s = r->rate;
    s->left = r->bytes;
    s->end_us = r->us != 0 ? s->meter.start_us + r->us : 0;
    pace_start(&s->pace, r->rate, r->length);
    if (s->job.receive) {
        s->limit = deadline_us(0);
        s->limit.at_us += r->us != 0 ? r->us + GRACE_US : UINT64_MAX / 2;
    }
    s->phase = s->job.receive ? PHASE_RECEIVING : PHASE_SENDING;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err)
{
    struct stream *s = arg;

    (void)err;
    begin(s);
    if (s->job.header && write_header(s)) {
        if (!s->job.receive) { /* it is part of what the server counts */
            s->meter.bytes += IPERF2_HEADER;
            s->meter.calls++;
            s->left -= s->left < IPERF2_HEADER ? s->left : IPERF2_HEADER;
        }
        tcp_output(pcb);
    }
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

static struct stream *new_stream(const struct iperf2_tcp_job *job)
{
    for (unsigned i = 0; i < IPERF2_STREAMS; i++) {
        struct stream *s = &streams[i];

        if (s->phase == PHASE_FREE) {
            memset(s, 0, sizeof(*s));
            s->job = *job;
            s->patience = deadline_us(PATIENCE_US);
            if (job->header) {
                iperf2_write_header(s->header, &job->request);
                s->header_left = IPERF2_HEADER;
            }
            return s;
        }
    }
    return NULL;
}

int iperf2_tcp_start(const struct iperf2_tcp_job *job)
{
    struct stream *s = new_stream(job);

    if (s == NULL || connect_stream(s) != OK) {
        return E_NO_MEMORY;
    }
    active++;
    return OK;
}

int iperf2_tcp_take_over(const struct iperf2_tcp_job *job, struct tcp_pcb *pcb)
{
    struct stream *s = new_stream(job);

    if (s == NULL) {
        return E_NO_MEMORY;
    }
    active++;
    adopt(s, pcb);
    begin(s);
    return OK;
}

void iperf2_tcp_stop(void *arg)
{
    for (unsigned i = 0; i < IPERF2_STREAMS; i++) {
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

    for (unsigned i = 0; i < IPERF2_STREAMS && active != 0; i++) {
        if (streams[i].phase != PHASE_FREE) {
            worked |= turn_stream(&streams[i]);
        }
    }
    return worked;
}

APP_WHILE(iperf2_tcp, NULL, active, turn);
