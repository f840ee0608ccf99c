/*
 * One word.
 */
#include "kernel/loader.h"

#include "kernel/string.h"

static const char key[] = "load_ms=";
enum { KEY_LENGTH = sizeof key - 1, DIGITS_MAX = 9 };

static bool said;
static uint32_t load_ms;

/* In .data: .bss is cleared at entry.  Found by its name, which therefore must stay. */
__attribute__((section(".data"), externally_visible, used)) volatile uint32_t loader_unpack_ms = 0;

const char *loader_take(const char *line)
{
    uint32_t n = 0;
    unsigned digits = 0;

    said = false;
    if (strlen(line) < KEY_LENGTH || memcmp(line, key, KEY_LENGTH) != 0) {
        return line;
    }
    const char *at = line + KEY_LENGTH;
    for (; *at >= '0' && *at <= '9' && digits < DIGITS_MAX; at++, digits++) {
        n = n * 10 + (uint32_t)(*at - '0');
    }
    if (digits == 0 || (*at != ' ' && *at != '\0')) {
        return line; /* no loader of ours writes such a word */
    }
    said = true;
    load_ms = n;
    return *at == ' ' ? at + 1 : at;
}

bool loader_load_ms(uint32_t *ms)
{
    *ms = load_ms + loader_unpack_ms;
    return said;
}
