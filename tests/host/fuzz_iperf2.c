/*
 * Fuzz target: iperf2's headers, datagrams and reports.
 *
 * Beyond memory errors: a decision does not change when more of the stream comes; nothing makes us
 * transmit but a header with plausible words that says so; text never does; and what we write we
 * read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/apps/iperf2_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool what)
{
    if (!what) {
        abort();
    }
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool any_zero(const uint8_t *at, size_t n)
{
    return memchr(at, 0, n) != NULL;
}

static void stream(const uint8_t *data, unsigned n)
{
    enum iperf2_guess guess = IPERF2_UNDECIDED;
    struct iperf2_request request;

    for (unsigned i = 0; i <= n; i++) {
        uint8_t *exact = malloc(i + (i == 0)); /* a byte too far is seen */
        enum iperf2_guess now;

        memcpy(exact, data, i);
        now = iperf2_read_tcp(exact, i, &request);
        must(guess == IPERF2_UNDECIDED || now == guess);
        must(now == IPERF2_YES || (!request.reverse && !request.answer));
        must(now != IPERF2_UNDECIDED || i < IPERF2_HEADER_LONG);
        guess = now;
        free(exact);
    }
    if (request.reverse || request.answer) {
        must(word(data + 4) <= IPERF2_THREADS_MAX && word(data + 8) <= UINT16_MAX);
        must(any_zero(data, IPERF2_HEADER_V1)); /* no text */
        must(!(request.reverse && request.answer));
        must(!request.at_once || request.answer);
        must(request.reverse || request.port != 0);
    }
}

static void datagram(const uint8_t *data, unsigned n)
{
    struct iperf2_datagram first, next;

    if (!iperf2_read_first(data, n, &first)) {
        return;
    }
    must(n >= IPERF2_UDP_OLD && any_zero(data, IPERF2_UDP_OLD)); /* no text */
    must(first.has_request || (!first.request.reverse && !first.request.answer));
    must(iperf2_read_next(data, n, first.old_era, &next));
    must(next.number == first.number && next.final == first.final);
}

/* Microseconds whose seconds have no room in a word; nobody writes them but by mistake. */
static const uint64_t SECONDS_END = 4294967296000000;

static void report(const uint8_t *data, unsigned n)
{
    struct iperf2_report in, out;
    uint8_t bytes[IPERF2_REPORT_MAX];

    if (n >= IPERF2_UDP_NEW && iperf2_read_report(data, n, &in) && in.us < SECONDS_END &&
        in.jitter_us < SECONDS_END) {
        bool old_era = (data[0] & 1) != 0;
        uint8_t start[IPERF2_UDP_NEW] = {0};
        unsigned length = iperf2_write_report(bytes, start, old_era, &in);

        must(length <= sizeof(bytes));
        must(iperf2_read_report(bytes, length, &out));
        must(out.bytes == in.bytes && out.us == in.us && out.lost == in.lost && out.ooo == in.ooo &&
             out.datagrams == in.datagrams && out.jitter_us == in.jitter_us);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned n = size > IPERF2_HEADER_LONG + IPERF2_UDP_NEW ? IPERF2_HEADER_LONG + IPERF2_UDP_NEW
                                                            : (unsigned)size;

    stream(data, n < IPERF2_HEADER_LONG ? n : IPERF2_HEADER_LONG);
    datagram(data, n);
    report(data, n);
    return 0;
}
