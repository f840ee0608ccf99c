/*
 * An application: something that answers on the network or drives it.  Collected by the linker.
 */
#ifndef NET_APPS_APP_H
#define NET_APPS_APP_H

#include <stdbool.h>
#include <stddef.h>

struct app {
    const char *name;
    void (*start)(void);  /* once, after lwIP and the cards are up: open ports; may be null */
    bool (*turn)(void);   /* once a main loop turn; true if it did work; may be null ...    */
    const unsigned *busy; /* ... only while this is not 0, from the next tick or net_wake() */
    void (*tick)(void);   /* every APP_TICK_MS: time-outs; may be null                      */
};

enum { APP_TICK_MS = 10, APPS_MAX = 24 };

#define APP_ENTRY(name_, ...)                                                                      \
    static const struct app app_##name_                                                            \
        __attribute__((used, section("apps"), aligned(sizeof(void *)))) = {.name = #name_,         \
                                                                           __VA_ARGS__}

/* One that only answers, with time-outs. */
#define APP_TICKING(name_, start_, tick_) APP_ENTRY(name_, .start = (start_), .tick = (tick_))

/* One whose turn is called while `busy_` (an unsigned, or an enum whose 0 is idleness) is not 0. */
#define APP_WHILE(name_, start_, busy_, turn_)                                                     \
    APP_ENTRY(name_, .start = (start_), .turn = (turn_),                                           \
              .busy = (const unsigned *)(const void *)&(busy_) +                                   \
                      0 * sizeof(char[sizeof(busy_) == sizeof(unsigned) ? 1 : -1]))

#endif
