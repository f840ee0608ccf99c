/*
 * The ring arithmetic of the 8390 core, exhaustively: every ring a board can have, every pair of
 * pages, every length; against the plainest model there is, counting one page or byte at a time.
 */
#include <check.h>
#include <stdlib.h>

#include "drivers/8390/dp8390.h"
#include "drivers/8390/dp8390_regs.h"
#include "tests/host/run_suite.h"

/* First and end page: 16 KB and 8 KB boards, as the driver lays them out, and the extremes. */
static const struct {
    unsigned start, stop;
} rings[] = {{0x4C, 0x80}, {0x46, 0x80},  {0x4C, 0x60}, {0x26, 0x40},
             {0x2C, 0x40}, {0x01, 0x100}, {0x00, 0x02}, {0x40, 0x43}};

enum { RINGS = sizeof rings / sizeof rings[0], LONGEST = 20 * 256, HIGH_BYTES = 256 };

static unsigned start, stop;

/* Check notes every assertion that holds; millions of them take minutes. */
static void want(unsigned got, unsigned right, const char *what)
{
    if (got != right) {
        ck_abort_msg("%s: %u, not %u (ring %02x..%02x)", what, got, right, start, stop);
    }
}

static void pick(int ring)
{
    start = rings[ring].start;
    stop = rings[ring].stop;
}

static unsigned step(unsigned page)
{
    return page + 1 == stop ? start : page + 1;
}

START_TEST(after_and_before)
{
    pick(_i);
    for (unsigned page = start; page < stop; page++) {
        unsigned next = ring_after(page, start, stop);
        want(next, step(page), __func__);
        want(ring_before(next, start, stop), page, __func__);
        ck_assert(next >= start && next < stop);
    }
}
END_TEST

START_TEST(distance)
{
    pick(_i);
    for (unsigned from = start; from < stop; from++) {
        unsigned counted = 0, to = from;
        do {
            want(ring_distance(from, to, start, stop), counted, __func__);
            to = step(to);
            counted++;
        } while (to != from);
    }
}
END_TEST

/* Fill pages byte by byte, the header first. */
START_TEST(pages)
{
    unsigned used = 1, offset = DP8390_HEADER;
    for (unsigned length = 0; length <= LONGEST; length++) {
        want(ring_pages(length), used, __func__);
        if (offset == DP8390_PAGE) {
            used++;
            offset = 0;
        }
        offset++;
    }
}
END_TEST

/* A frame of `count` bytes ends exactly with its page, and one page more is taken: what some chips
 * do.  Only then is the high byte of the count believed. */
static bool skipped_page(unsigned taken, unsigned count)
{
    return (count + DP8390_HEADER) % DP8390_PAGE == 0 && ring_pages(count) + 1 == taken;
}

START_TEST(length_after_a_skipped_page)
{
    pick(_i);
    for (unsigned page = start; page < stop; page++) {
        unsigned next = step(page);
        for (unsigned n = 1; n <= 6 && n + 1 < stop - start; n++) {
            next = step(next);
            unsigned length = n * DP8390_PAGE - DP8390_HEADER;
            want(ring_length(page, next, length, start, stop), length, __func__);
        }
    }
}
END_TEST

/* Every length on every page, with every high byte, and the right one. */
START_TEST(length_of_good_headers)
{
    pick(_i);
    for (unsigned page = start; page < stop; page++) {
        for (unsigned length = 1; length <= 1600; length++) {
            unsigned next = page, n = ring_pages(length);
            if (n >= stop - start) {
                break;
            }
            for (unsigned i = 0; i < n; i++) {
                next = step(next);
            }
            want(ring_length(page, next, length, start, stop), length, __func__);
            unsigned garbled = (length & 0xFF) | (length * 77 + page) % HIGH_BYTES << 8;
            if (!skipped_page(n, garbled)) {
                want(ring_length(page, next, garbled, start, stop), length, __func__);
            }
        }
    }
}
END_TEST

/* The lengths that fill exactly `n` pages, found by trying them all. */
static unsigned only_length(unsigned n, unsigned low)
{
    for (unsigned length = low; length <= LONGEST; length += 256) {
        if (length > 0 && ring_pages(length) == n) {
            return length;
        }
    }
    return 0;
}

/* Every pair of pages with every low byte: the one length that fits, or 0. */
START_TEST(length_of_any_header)
{
    pick(_i);
    for (unsigned page = start; page < stop; page++) {
        unsigned next = page;
        for (unsigned n = 0; n < stop - start && n < 18; n++, next = step(next)) {
            for (unsigned low = 0; low < 256; low++) {
                unsigned count = low | 0x0500;
                unsigned right = n == 0 ? 0 : skipped_page(n, count) ? count : only_length(n, low);
                unsigned got = ring_length(page, next, count, start, stop);
                want(got, right, __func__);
            }
        }
    }
}
END_TEST

START_TEST(next_outside_the_ring)
{
    pick(_i);
    for (unsigned next = 0; next <= 0x100; next++) {
        if (next >= start && next < stop) {
            continue;
        }
        for (unsigned page = start; page < stop; page++) {
            for (unsigned count = 0; count < 1600; count += 13) {
                want(ring_length(page, next, count, start, stop), 0, __func__);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ring");
    TCase *tc = tcase_create("ring");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, after_and_before, 0, RINGS);
    tcase_add_loop_test(tc, distance, 0, RINGS);
    tcase_add_test(tc, pages);
    tcase_add_loop_test(tc, length_of_good_headers, 0, RINGS);
    tcase_add_loop_test(tc, length_after_a_skipped_page, 0, RINGS);
    tcase_add_loop_test(tc, length_of_any_header, 0, RINGS);
    tcase_add_loop_test(tc, next_outside_the_ring, 0, RINGS);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
