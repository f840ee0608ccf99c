/*
 * The last records, for readers that come when they like and read as fast as they can (/events):
 * a ring of some 8 KB, and apart from it the latest `boot`, and `nic` and `ready` of each card,
 * which every reader is told first.  Each is kept in one piece, as the event that /events makes of
 * it (HTML standard, "server-sent events"): "data: {JSON}" and an empty line.  Nothing waits for a
 * reader: what it was too slow for is counted and skipped.
 */
#ifndef KERNEL_RECORD_LOG_H
#define KERNEL_RECORD_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_LOG_BYTES = 8192, RECORD_LOG_KEPT_BYTES = 400 /* of a record told first */ };

/* The sink for record_set_sink(): a record as JSON of `n` bytes, at most RECORD_MAX. */
void record_log_add(const char *json, size_t n);

/* Where a reader stands: the fields are record_log.c's. */
struct record_reader {
    unsigned opening; /* of those told first, so many are done    */
    uint32_t number;  /* else: of the record it stands at, ...    */
    uint32_t at;      /* ... and its place in all that was written */
};

/* From the beginning. */
void record_reader_open(struct record_reader *r);

/* Bytes of the event that `r` stands at, and *event, the event, which stays there until the next
 * record; 0: there is none yet.  Records that are gone are skipped and added to *lost. */
size_t record_reader_look(struct record_reader *r, const char **event, unsigned *lost);

/* Behind the event that the last look has shown. */
void record_reader_advance(struct record_reader *r);

#endif
