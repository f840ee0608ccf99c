/*
 * A ring of records, each behind two bytes of length; places are counted on for ever, and taken
 * modulo the ring where it is touched.
 */
#include "kernel/record_log.h"

#include "kernel/string.h"

enum {
    HEAD = 2,
    CARDS = 4,
    BOOT = 0, /* what is told first, in this order */
    NIC = 1,
    READY = NIC + CARDS,
    KEPT = READY + CARDS,
    BYTE_BITS = 8,
};

static char ring[RECORD_LOG_BYTES];
static uint32_t head, tail;               /* places: of the next record, of the oldest one      */
static uint32_t head_number, tail_number; /* and their numbers                                  */

static struct kept {
    uint32_t version; /* changes with the text */
    uint16_t length;  /* 0: none yet           */
    char text[RECORD_LOG_KEPT_BYTES];
} kept[KEPT];

/* ---- the ring ---- */

static void put(uint32_t at, const char *from, size_t n)
{
    size_t first = RECORD_LOG_BYTES - at % RECORD_LOG_BYTES;

    first = first < n ? first : n;
    memcpy(ring + at % RECORD_LOG_BYTES, from, first);
    memcpy(ring, from + first, n - first);
}

static void get(uint32_t at, char *to, size_t n)
{
    size_t first = RECORD_LOG_BYTES - at % RECORD_LOG_BYTES;

    first = first < n ? first : n;
    memcpy(to, ring + at % RECORD_LOG_BYTES, first);
    memcpy(to + first, ring, n - first);
}

static uint32_t length_at(uint32_t at)
{
    unsigned char bytes[HEAD];

    get(at, (char *)bytes, HEAD);
    return bytes[0] | (uint32_t)bytes[1] << BYTE_BITS;
}

static void drop_oldest(void)
{
    tail += HEAD + length_at(tail);
    tail_number++;
}

/* ---- what is told first ---- */

static bool begins(const char **json, const char *with)
{
    size_t n = strlen(with);

    if (strncmp(*json, with, n) != 0) {
        return false;
    }
    *json += n;
    return true;
}

/* Its place among those, or KEPT. */
static unsigned place_of(const char *json)
{
    unsigned first;

    if (begins(&json, "{\"ev\":\"boot\"")) {
        return BOOT;
    }
    if (begins(&json, "{\"ev\":\"nic\",\"nic\":")) {
        first = NIC;
    } else if (begins(&json, "{\"ev\":\"ready\",\"nic\":")) {
        first = READY;
    } else {
        return KEPT;
    }
    return *json >= '0' && *json < '0' + CARDS ? first + (unsigned)(*json - '0') : KEPT;
}

static void keep(const char *json, size_t n)
{
    unsigned place = place_of(json);

    if (place < KEPT && n <= RECORD_LOG_KEPT_BYTES) {
        memcpy(kept[place].text, json, n);
        kept[place].length = (uint16_t)n;
        kept[place].version++;
    }
}

void record_log_add(const char *json, size_t n)
{
    const char bytes[HEAD] = {(char)n, (char)(n >> BYTE_BITS)};

    if (n == 0 || n > RECORD_LOG_BYTES - HEAD) {
        return;
    }
    keep(json, n);
    while (head + HEAD + n - tail > RECORD_LOG_BYTES) {
        drop_oldest();
    }
    put(head, bytes, HEAD);
    put(head + HEAD, json, n);
    head += (uint32_t)(HEAD + n);
    head_number++;
}

/* ---- readers ---- */

void record_reader_open(struct record_reader *r)
{
    *r = (struct record_reader){.number = head_number, .at = head};
}

size_t record_reader_length(struct record_reader *r, unsigned *lost)
{
    while (r->opening < KEPT && kept[r->opening].length == 0) {
        r->opening++;
    }
    if (r->opening < KEPT) {
        r->version = kept[r->opening].version;
        return kept[r->opening].length;
    }
    if ((int32_t)(tail_number - r->number) > 0) {
        *lost += tail_number - r->number;
        r->number = tail_number;
        r->at = tail;
    }
    return r->number == head_number ? 0 : length_at(r->at);
}

bool record_reader_copy(const struct record_reader *r, size_t offset, char *to, size_t n)
{
    if (r->opening < KEPT) {
        const struct kept *k = &kept[r->opening];

        if (k->version != r->version) {
            return false;
        }
        memcpy(to, k->text + offset, n);
        return true;
    }
    if ((int32_t)(tail_number - r->number) > 0) {
        return false;
    }
    get(r->at + HEAD + (uint32_t)offset, to, n);
    return true;
}

void record_reader_advance(struct record_reader *r)
{
    if (r->opening < KEPT) {
        r->opening++;
    } else if ((int32_t)(tail_number - r->number) <= 0 && r->number != head_number) {
        r->at += HEAD + length_at(r->at);
        r->number++;
    }
}
