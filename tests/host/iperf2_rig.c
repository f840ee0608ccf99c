/*
 * A client of iperf2's UDP server, by hand: what it sends and what comes back.
 */
#include "tests/host/iperf2_rig.h"

#include <string.h>

#include "tests/host/sim/bus.h"

/* ---- what the client sends ---- */

struct iperf2_client as;

/* What the box has sent back: the last one, and how many. */
struct iperf2_back back;

static void hear(const struct packet *p)
{
    if (p->protocol == PROTO_UDP) {
        back.count++;
        back.to_port = get16(p->data + 2);
        back.length = p->length - UDP_HEADER;
        memcpy(back.bytes, p->data + UDP_HEADER, back.length);
        back.id = (int32_t)get32(back.bytes);
    }
}

void iperf2_set_up(void)
{
    rig_up();
    memset(&as, 0, sizeof(as));
    memset(&back, 0, sizeof(back));
    as.flags = (unsigned)FLAGS_NEW;
    as.size = SIZE;
    as.from = FROM;
    peer_set_packet_hook(hear);
}

void send_from(const struct station *s, int32_t id)
{
    uint8_t d[2048] = {0};
    uint8_t *h = d + (as.old_era ? OLD : NEW);

    put32(d, (uint32_t)id);
    put32(d + 4, 1700000000u + (uint32_t)(sim_now_ns() / 1000000000));
    put32(d + 8, (uint32_t)(sim_now_ns() / 1000 % 1000000));
    if (!as.old_era) {
        put32(d + 12, id < 0 ? UINT32_MAX : 0);
    }
    if (as.bare) {
        memset(h, '5', sizeof(d) - NEW);
    } else {
        put32(h, as.flags);
        put32(h + 4, 1);
        put32(h + 8, as.port != 0 ? as.port : PORT);
        put32(h + 20, as.amount);
        put32(h + 32, as.flags == FLAGS_REVERSE ? 0x04000000 : 0);
        put32(h + 48, as.rate);
    }
    peer_send_udp(s, BOX_IP, as.from, PORT, d, as.size);
    rig_run_ms(id < 0 ? 5 : 1); /* the answer comes back, too */
}

void send_id(int32_t id)
{
    send_from(&peer, id);
}

void send_ids(int32_t from, int32_t to)
{
    for (int32_t id = from; id <= to; id++) {
        send_id(id);
    }
}

/* ---- what is expected ---- */

uint32_t report_word(unsigned offset)
{
    return get32(back.bytes + (as.old_era ? OLD : NEW) + offset);
}

void expect_report(unsigned bytes, unsigned lost, unsigned ooo, unsigned datagrams)
{
    ck_assert_uint_eq(back.length, (as.old_era ? OLD : NEW) + REPORT);
    ck_assert_uint_eq(back.to_port, as.from);
    ck_assert_uint_eq(report_word(0), 0x80000000u);
    ck_assert_uint_eq(report_word(4), 0);
    ck_assert_uint_eq(report_word(8), bytes);
    ck_assert_uint_eq(report_word(20), lost);
    ck_assert_uint_eq(report_word(24), ooo);
    ck_assert_uint_eq(report_word(28), datagrams);
}

const char *expect_result(unsigned packets, int lost, int dup, int ooo, const char *end)
{
    const char *r = rig_record("result", rig_record_count("result") - 1);

    ck_assert_str_eq(rig_value(r, "test"), "\"iperf2\"");
    ck_assert_str_eq(rig_value(r, "proto"), "\"udp\"");
    ck_assert_str_eq(rig_value(r, "end"), end);
    ck_assert_int_eq(rig_number(r, "packets"), packets);
    ck_assert_int_eq(rig_number(r, "bytes"), packets * as.size);
    ck_assert_int_eq(rig_number(r, "lost"), lost);
    ck_assert_int_eq(rig_number(r, "dup"), dup);
    ck_assert_int_eq(rig_number(r, "ooo"), ooo);
    ck_assert_int_ge(rig_number(r, "jitter_us"), 0);
    return r;
}
