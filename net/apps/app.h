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
    bool (*turn)(void);   /* once a main loop turn; true if it did work; may be null */
    const unsigned *busy; /* ... but only while this is not 0, which is cheaper; null: always */
    void (*tick)(void);   /* every APP_TICK_MS: time-outs; may be null */
};

enum { APP_TICK_MS = 10 };

#define APP_TICKING(name_, start_, turn_, tick_)                                                   \
    static const struct app app_##name_                                                            \
        __attribute__((used, section("apps"), aligned(sizeof(void *)))) = {                        \
            .name = #name_, .start = (start_), .turn = (turn_), .tick = (tick_)}

#define APP(name_, start_, turn_) APP_TICKING(name_, start_, turn_, NULL)

/* One whose turn is called only while the counter `busy_` is not 0. */
#define APP_WHILE(name_, busy_, turn_)                                                             \
    static const struct app app_##name_                                                            \
        __attribute__((used, section("apps"), aligned(sizeof(void *)))) = {                        \
            .name = #name_, .turn = (turn_), .busy = &(busy_)}

#endif
