/*
 * Marks and counts in nuttcp's data.
 */
#include "net/apps/nuttcp_wire.h"

#include "kernel/string.h"

static const char mark_text[][NUTTCP_MARK] = {[NUTTCP_BEGIN] = "BOD", [NUTTCP_END] = "EOD"};

enum nuttcp_mark nuttcp_read_mark(const uint8_t mark[NUTTCP_MARK], unsigned *number)
{
    if (mark[3] < '0' || mark[3] > '9') {
        return NUTTCP_NO_MARK;
    }
    *number = mark[3] - '0';
    for (enum nuttcp_mark kind = NUTTCP_BEGIN; kind <= NUTTCP_END; kind++) {
        if (memcmp(mark, mark_text[kind], 3) == 0) {
            return kind;
        }
    }
    return NUTTCP_NO_MARK;
}

void nuttcp_write_mark(uint8_t mark[NUTTCP_MARK], enum nuttcp_mark kind, unsigned number)
{
    memcpy(mark, mark_text[kind], 3);
    mark[3] = (uint8_t)('0' + number);
}

static void put_little(uint8_t *at, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t get_bytes(const uint8_t *at, unsigned n, bool big)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < n; i++) {
        value = value << 8 | at[big ? i : n - 1 - i];
    }
    return value;
}

void nuttcp_write_sent(uint8_t info[8], uint64_t bytes)
{
    put_little(info, bytes, 8);
}

uint64_t nuttcp_read_sent(const uint8_t info[8])
{
    uint64_t little = get_bytes(info, 8, false), big = get_bytes(info, 8, true);

    return little <= big ? little : big;
}

static const char retrans_little[] = "NRTR", retrans_big[] = "RTRN";

void nuttcp_write_retrans(uint8_t info[8], uint32_t resent)
{
    put_little(info, resent, 4);
    memcpy(info + 4, retrans_little, 4);
}

bool nuttcp_read_retrans(const uint8_t info[8], uint32_t *resent)
{
    bool big = memcmp(info + 4, retrans_big, 4) == 0;
    uint32_t value = (uint32_t)get_bytes(info, 4, big);

    if ((!big && memcmp(info + 4, retrans_little, 4) != 0) || value == UINT32_MAX) {
        return false;
    }
    *resent = value;
    return true;
}
