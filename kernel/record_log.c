/*
 * A ring of events, each behind two bytes of length; places are counted on for ever, and taken
 * modulo the ring where an event begins.  It does not wrap: behind the ring is room for the rest of
 * the last one.
 */
#include "kernel/record_log.h"

#include "kernel/record.h"
#include "kernel/string.h"

static const char before[] = "data: ";
static const char after[] = "\n\n";

enum {
    HEAD = 2,
    CARDS = 4,
    BOOT = 0, /* what is told first, in this order */
    NIC = 1,
    READY = NIC + CARDS,
    KEPT = READY + CARDS,
    BYTE_BITS = 8,
    BEFORE = sizeof(before) - 1,
    FRAME = BEFORE + sizeof(after) - 1,
};

static unsigned char ring[RECORD_LOG_BYTES + HEAD + RECORD_MAX + FRAME];
static uint32_t head, tail;               /* places: of the next record, of the oldest one      */
static uint32_t head_number, tail_number; /* and their numbers                                  */

static struct kept {
    uint16_t length; /* 0: none yet */
    char event[RECORD_LOG_KEPT_BYTES + FRAME];
} kept[KEPT];

static unsigned char *place(uint32_t at)
{
    return ring + at % RECORD_LOG_BYTES;
}

static uint32_t length_at(uint32_t at)
{
    return place(at)[0] | (uint32_t)place(at)[1] << BYTE_BITS;
}

static void drop_oldest(void)
{
    tail += HEAD + length_at(tail);
    tail_number++;
}

static void write_event(char *to, const char *json, size_t n)
{
    memcpy(to, before, BEFORE);
    memcpy(to + BEFORE, json, n);
    memcpy(to + BEFORE + n, after, FRAME - BEFORE);
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
    unsigned which = place_of(json);

    if (which < KEPT && n <= RECORD_LOG_KEPT_BYTES) {
        write_event(kept[which].event, json, n);
        kept[which].length = (uint16_t)(n + FRAME);
    }
}

void record_log_add(const char *json, size_t n)
{
    size_t bytes = n + FRAME;

    if (n == 0 || n > RECORD_MAX) {
        return;
    }
    keep(json, n);
    while (head + HEAD + bytes - tail > RECORD_LOG_BYTES) {
        drop_oldest();
    }
    place(head)[0] = (unsigned char)bytes;
    place(head)[1] = (unsigned char)(bytes >> BYTE_BITS);
    write_event((char *)place(head) + HEAD, json, n);
    head += (uint32_t)(HEAD + bytes);
    head_number++;
}

/* ---- readers ---- */

void record_reader_open(struct record_reader *r)
{
    *r = (struct record_reader){.number = head_number, .at = head};
}

size_t record_reader_look(struct record_reader *r, const char **event, unsigned *lost)
{
    while (r->opening < KEPT && kept[r->opening].length == 0) {
        r->opening++;
    }
    if (r->opening < KEPT) {
        *event = kept[r->opening].event;
        return kept[r->opening].length;
    }
    if ((int32_t)(tail_number - r->number) > 0) {
        *lost += tail_number - r->number;
        r->number = tail_number;
        r->at = tail;
    }
    *event = (const char *)place(r->at) + HEAD;
    return r->number == head_number ? 0 : length_at(r->at);
}

void record_reader_advance(struct record_reader *r)
{
    if (r->opening < KEPT) {
        r->opening++;
    } else {
        r->at += HEAD + length_at(r->at);
        r->number++;
    }
}
