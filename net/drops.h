/*
 * What lwIP dropped, per layer and cause, as further `counters`.
 */
#ifndef NET_DROPS_H
#define NET_DROPS_H

/* Join the `counters` command and record.  Once. */
void drops_init(void);

#endif
