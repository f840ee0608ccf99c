/*
 * An application: something that answers on the network or drives it.  Collected by the linker.
 */
#ifndef NET_APPS_APP_H
#define NET_APPS_APP_H

#include <stdbool.h>

struct app {
    const char *name;
    void (*start)(void); /* once, after lwIP and the cards are up: open ports; may be null */
    bool (*turn)(void);  /* once a main loop turn; true if it did work; may be null */
};

#define APP(name_, start_, turn_)                                                                  \
    static const struct app app_##name_                                                            \
        __attribute__((used, section("apps"), aligned(sizeof(void *)))) = {                        \
            .name = #name_, .start = (start_), .turn = (turn_)}

#endif
