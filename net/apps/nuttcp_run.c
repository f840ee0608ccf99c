/*
 * A nuttcp test under way.
 */
#include "kernel/math64.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/nuttcp.h"
#include "net/clock.h"

enum {
    SILENT_US = 30000000, /* nothing has moved for so long: it is dead */
    FIRST_NUMBER = 1,
};

/* ---- rate and amount ---- */

uint32_t nuttcp_may_send(void)
{
    return pace_room(&nuttcp.pace, &nuttcp.meter.held_us);
}

bool nuttcp_may_begin(void)
{
    return nuttcp.left != 0 && clock_us() < nuttcp.end_us;
}

/* ---- begin ---- */

static uint64_t last_moment(const struct nuttcp_params *p)
{
    uint64_t most = p->udp ? NUTTCP_UDP_SECONDS_MAX * 1000000ull : UINT64_MAX / 2;

    return clock_us() + (p->us != 0 ? p->us : most);
}

static void start_clock(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    meter_start(&nuttcp.meter, "nuttcp", p->sends ? METER_TX : METER_RX, p->udp,
                nuttcp.control.netif, &nuttcp.control.peer, nuttcp.control.pcb->remote_port);
    nuttcp.meter.streams = p->streams;
    nuttcp.meter.asked_bit_s = p->bits_s;
    nuttcp.shown_us = nuttcp.meter.start_us;
    nuttcp.interval_us = nuttcp.meter.start_us + p->interval_us;
    nuttcp.end_us = last_moment(p);
    pace_start(&nuttcp.pace, p->bits_s, p->udp ? p->len : pace_part(p->len));
}

void nuttcp_run(void)
{
    const struct nuttcp_params *p = &nuttcp.params;

    nuttcp.left = p->count != 0 ? p->count : UINT64_MAX;
    nuttcp.stirred = true;
    sequence_start(&nuttcp.sequence, FIRST_NUMBER);
    start_clock();
    if (!p->udp) {
        nuttcp_tcp_begin();
        nuttcp.begun = true;
    }
}

/* ---- receiving ---- */

void nuttcp_begin_count(void)
{
    if (!nuttcp.begun) {
        meter_drop(&nuttcp.meter);
        start_clock();
        nuttcp.begun = true;
    }
}

void nuttcp_received(uint32_t bytes)
{
    nuttcp_begin_count();
    meter_add(&nuttcp.meter, bytes);
}

void nuttcp_verdict(const char *how, uint64_t at_us)
{
    if (nuttcp.verdict == NULL) {
        nuttcp.verdict = how;
        nuttcp.verdict_us = at_us;
    }
}

static void intervals(void)
{
    uint64_t now = clock_us();

    if (nuttcp.params.sends || nuttcp.params.interval_us == 0 || !nuttcp.begun ||
        nuttcp.final_us != 0 ||
        !clock_due(&nuttcp.interval_us, (uint32_t)nuttcp.params.interval_us)) {
        return;
    }
    nuttcp_say_interval(now);
    nuttcp.shown_us = now;
    nuttcp.shown_bytes = nuttcp.meter.bytes;
    nuttcp.shown_sent = nuttcp.sent;
    nuttcp.shown_resent = nuttcp.resent;
}

/* ---- end ---- */

void nuttcp_stop(const char *how, uint64_t end_us)
{
    struct meter *m = &nuttcp.meter;
    struct meter_sum sum;

    if (!m->open) {
        return;
    }
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        meter_add_tcp(m, &nuttcp.streams[i].data.tcp);
    }
    if (nuttcp.sequence.distinct != 0) {
        meter_add_sequence(m, &nuttcp.sequence);
    }
    meter_stop(m); /* one figure for the record and the report */
    sum = meter_sum_at(m, end_us);
    nuttcp.us = sum.us;
    nuttcp.cpu_permille = sum.cpu_permille;
    nuttcp.busy_us = div64(sum.us * sum.cpu_permille, 1000, NULL);
    meter_end_at(m, how, end_us);
}

static void end_of_sending(void)
{
    nuttcp.phase = NUTTCP_CLOSING;
    if (!nuttcp.params.udp) {
        nuttcp_tcp_close();
    }
}

static bool closing_turn(void)
{
    if (nuttcp.params.udp ? !nuttcp_udp_closed() : !nuttcp_tcp_closed()) {
        return false;
    }
    nuttcp_stop("ok", time_us());
    nuttcp_tell();
    return true;
}

/* It has ended, well or not. */
static void conclude(void)
{
    nuttcp_stop(nuttcp.verdict, nuttcp.verdict_us);
    nuttcp_tcp_leave(strcmp(nuttcp.verdict, "ok") != 0);
    nuttcp_tell();
}

static bool all_begun(void)
{
    if (nuttcp_may_begin()) {
        return false;
    }
    if (clock_us() >= nuttcp.end_us || nuttcp.params.udp) {
        return true;
    }
    for (unsigned i = 0; i < nuttcp.params.streams; i++) {
        if (nuttcp.streams[i].writing) {
            return false;
        }
    }
    return true;
}

static bool sending_turn(void)
{
    bool sent = nuttcp.params.udp ? nuttcp_udp_pump() : nuttcp_tcp_pump();

    if (all_begun()) {
        end_of_sending();
        return true;
    }
    return sent;
}

bool nuttcp_run_turn(void)
{
    if (nuttcp.meter.open && meter_idle_us(&nuttcp.meter) > SILENT_US) {
        nuttcp_verdict("timeout", nuttcp.meter.last_us);
    }
    if (nuttcp.verdict != NULL) {
        conclude();
        return true;
    }
    if (nuttcp.phase == NUTTCP_CLOSING) {
        return closing_turn();
    }
    intervals();
    return nuttcp.params.sends && sending_turn();
}
