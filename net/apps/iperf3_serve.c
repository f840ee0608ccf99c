/*
 * The control connection of an iperf3 session: who may come in, the states in their order, and a
 * time limit for each, so that a client that dies frees the server.
 */
#include "kernel/console.h"
#include "kernel/string.h"
#include "lwip/tcp.h"
#include "net/apps/app.h"
#include "net/apps/iperf3.h"
#include "net/clock.h"

/* What the two sides say to each other in one byte (iperf_api.h, 3.12). */
enum state_byte {
    TEST_START = 1,
    TEST_RUNNING = 2,
    TEST_END = 4,
    PARAM_EXCHANGE = 9,
    CREATE_STREAMS = 10,
    CLIENT_TERMINATE = 12,
    EXCHANGE_RESULTS = 13,
    DISPLAY_RESULTS = 14,
    IPERF_DONE = 16,
    SERVER_ERROR = 0xFE,
    ACCESS_DENIED = 0xFF,
};

enum {
    LENGTH_BYTES = 4,
    STREAMS_US = 8000000, /* from one stream to the next                             */
    GRACE_US = 30000000,  /* beyond the time the client asked for; its clock rules   */
    SAY_MAX = 4,
};

struct iperf3_session iperf3;

/* What has come in of the item that is expected, and what is still to be said. */
static struct {
    unsigned have; /* bytes of the cookie, or of length and document */
    uint8_t length[LENGTH_BYTES];
    char text[IPERF3_TEXT_MAX + 8]; /* the client's document, then ours with what goes around it */
    uint8_t say[SAY_MAX];
    unsigned say_bytes;
    unsigned text_bytes; /* of ours, behind `say`; 0: none                       */
} talk;

static void set_phase(enum iperf3_phase phase, uint64_t limit_us)
{
    iperf3.phase = phase;
    control_limit(&iperf3.control, limit_us);
    talk.have = 0;
}

/* ---- saying ---- */

static bool put(const void *data, unsigned n)
{
    return tcp_write(iperf3.control.pcb, data, (u16_t)n, TCP_WRITE_FLAG_COPY) == ERR_OK;
}

/* Whatever waits to be said, as far as memory allows; the rest next turn. */
static void speak(void)
{
    if (talk.say_bytes == 0 && talk.text_bytes == 0) {
        return;
    }
    if (talk.say_bytes != 0 && put(talk.say, talk.say_bytes)) {
        talk.say_bytes = 0;
    }
    if (talk.say_bytes == 0 && talk.text_bytes != 0 && put(talk.text, talk.text_bytes)) {
        talk.text_bytes = 0;
    }
    tcp_output(iperf3.control.pcb);
}

static void say(enum state_byte state)
{
    if (talk.say_bytes < SAY_MAX) {
        talk.say[talk.say_bytes++] = (uint8_t)state;
    }
    speak();
}

/* ---- the end of a session ---- */

static void over(const char *how)
{
    if (iperf3.phase == IPERF3_RUNNING || iperf3.phase == IPERF3_DRAINING) {
        iperf3_stop(how);
    }
    iperf3_drop_streams();
    iperf3.phase = IPERF3_FREE;
    talk.say_bytes = 0;
    talk.text_bytes = 0;
}

/* The client prints the reason that goes with `error`. */
static void refuse(enum iperf3_error error)
{
    uint8_t text[1 + 4 + 4] = {SERVER_ERROR};
    uint32_t number = lwip_htonl((uint32_t)error);

    memcpy(text + 1, &number, sizeof(number)); /* and no errno of ours */
    console_fresh_line();
    kprintf("iperf3: %I refused (error %u)\n", ip4_addr_get_u32(ip_2_ip4(&iperf3.control.peer)),
            (unsigned)error);
    put(text, sizeof(text));
    control_linger(&iperf3_protocol, "abort");
}

/* ---- the states ---- */

static void announce(void)
{
    const struct iperf3_params *p = &iperf3.params;

    console_fresh_line();
    kprintf("iperf3: %I, %s, %u stream%s %s\n", ip4_addr_get_u32(ip_2_ip4(&iperf3.control.peer)),
            p->udp ? "UDP" : "TCP", p->parallel, p->parallel == 1 ? "" : "s",
            !p->sends      ? "to us"
            : !p->receives ? "from us"
                           : "each way");
}

static void on_params(unsigned n)
{
    enum iperf3_error error = iperf3_read_params(talk.text, n, &iperf3.params);

    if (error != IPERF3_OK) {
        refuse(error);
        return;
    }
    announce();
    set_phase(IPERF3_CREATING, STREAMS_US);
    say(CREATE_STREAMS);
}

static bool is_complete(void)
{
    unsigned ready = 0;

    for (unsigned i = 0; i < IPERF3_STREAMS_MAX; i++) {
        const struct iperf3_stream *s = &iperf3.streams[i];

        ready += s->used && (iperf3.params.udp || s->cookie_bytes == IPERF3_COOKIE);
    }
    return ready == iperf3_streams(&iperf3.params);
}

/* How long it may last.  Without a time, until the client has had enough, or is gone. */
static uint64_t run_us(void)
{
    const struct iperf3_params *p = &iperf3.params;

    return p->time_s == 0 ? UINT64_MAX / 2 : (p->omit_s + p->time_s) * 1000000ull + GRACE_US;
}

void iperf3_stream_ready(void)
{
    control_limit(&iperf3.control, STREAMS_US);
    if (is_complete()) {
        set_phase(IPERF3_RUNNING, run_us());
        say(TEST_START);
        say(TEST_RUNNING);
        iperf3_run();
    }
}

/* Ours are the document with its length in front, then the state that follows it. */
static void on_results(unsigned n)
{
    uint32_t length;

    if (!iperf3_results_ok(talk.text, n)) {
        refuse(IPERF3_RECV_RESULTS);
        return;
    }
    set_phase(IPERF3_DISPLAY, CONTROL_ANSWER_US);
    n = iperf3_write_results(talk.text + LENGTH_BYTES);
    length = lwip_htonl(n);
    memcpy(talk.text, &length, LENGTH_BYTES);
    talk.text[LENGTH_BYTES + n] = DISPLAY_RESULTS;
    talk.text_bytes = LENGTH_BYTES + n + 1;
    speak();
}

/* What the client has sent is all here, or will not come: on to the results. */
static bool drain(void)
{
    if (!iperf3_is_drained()) {
        return false;
    }
    iperf3_stop("ok");
    set_phase(IPERF3_RESULTS, CONTROL_ANSWER_US);
    say(EXCHANGE_RESULTS);
    return true;
}

/* Only what must be waited for ends the time with its last byte; else the client's word does. */
static void end_run(void)
{
    if (!drain()) {
        set_phase(IPERF3_DRAINING, GRACE_US);
    }
}

/* One byte from the client where states are expected.  What callbacks return. */
static err_t on_state(uint8_t state)
{
    if (state == CLIENT_TERMINATE) {
        return control_close(&iperf3_protocol, "abort");
    }
    if (state == TEST_END && iperf3.phase == IPERF3_RUNNING) {
        end_run();
        return ERR_OK;
    }
    if (state == IPERF_DONE && iperf3.phase == IPERF3_DISPLAY) {
        return control_close(&iperf3_protocol, "ok");
    }
    return control_abort(&iperf3_protocol,
                         "abort"); /* out of step: no more to be had from this one */
}

/* ---- hearing ---- */

/* Take up to `want` bytes in all of an item into `to`; true when it is complete. */
static bool collect(const struct pbuf *p, unsigned *at, void *to, unsigned have, unsigned want)
{
    unsigned n = p->tot_len - *at;

    n = n < want - have ? n : want - have;
    pbuf_copy_partial(p, (uint8_t *)to + have, (u16_t)n, (u16_t)*at);
    *at += n;
    talk.have += n;
    return have + n == want;
}

static void hear_cookie(const struct pbuf *p, unsigned *at)
{
    if (collect(p, at, iperf3.cookie, talk.have, IPERF3_COOKIE)) {
        set_phase(IPERF3_PARAMS, CONTROL_ANSWER_US);
        say(PARAM_EXCHANGE);
    }
}

static void hear_document(const struct pbuf *p, unsigned *at)
{
    bool params = iperf3.phase == IPERF3_PARAMS;
    uint32_t length;

    if (talk.have < LENGTH_BYTES && !collect(p, at, talk.length, talk.have, LENGTH_BYTES)) {
        return;
    }
    memcpy(&length, talk.length, sizeof(length));
    length = lwip_ntohl(length);
    if (length == 0 || length > IPERF3_TEXT_MAX) {
        refuse(params ? IPERF3_RECV_PARAMS : IPERF3_RECV_RESULTS);
    } else if (collect(p, at, talk.text, talk.have - LENGTH_BYTES, length)) {
        if (params) {
            on_params(length);
        } else {
            on_results(length);
        }
    }
}

/* All of `p`, or as much as concerns this session. */
static err_t hear(const struct pbuf *p)
{
    unsigned at = 0;

    while (at < p->tot_len && iperf3.phase != IPERF3_FREE) {
        switch (iperf3.phase) {
        case IPERF3_COOKIE_PHASE: hear_cookie(p, &at); break;
        case IPERF3_PARAMS:
        case IPERF3_RESULTS: hear_document(p, &at); break;
        default: {
            err_t err = on_state(pbuf_get_at(p, (u16_t)at++));

            if (err != ERR_OK) {
                return err;
            }
        }
        }
    }
    return ERR_OK;
}

static err_t hung_up(void)
{
    return control_close(&iperf3_protocol, iperf3.phase == IPERF3_DISPLAY ? "ok" : "reset");
}

/* ---- coming in ---- */

static void begin(void)
{
    iperf3.phase = IPERF3_COOKIE_PHASE;
    iperf3.arrivals = 0;
    talk.have = 0;
}

static bool claim(struct tcp_pcb *pcb)
{
    return iperf3.phase == IPERF3_CREATING && iperf3_tcp_accept(pcb);
}

static const uint8_t busy = ACCESS_DENIED;

const struct control_protocol iperf3_protocol = {
    "iperf3", IPERF3_PORT, &iperf3.control, &busy, sizeof(busy), begin, claim, hear, hung_up, over,
};

static void start(void)
{
    control_listen(&iperf3_protocol);
    iperf3_udp_start();
}

static bool turn(void)
{
    if (iperf3.phase == IPERF3_FREE) {
        return false;
    }
    if (clock_us() >= iperf3.control.limit_us) {
        control_abort(&iperf3_protocol, "timeout");
        return true;
    }
    speak();
    if (iperf3.phase == IPERF3_DRAINING) {
        return drain();
    }
    return iperf3.phase == IPERF3_RUNNING && iperf3_run_turn();
}

APP_WHILE(iperf3, start, iperf3.phase, turn);
