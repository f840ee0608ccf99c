/*
 * Fuzz target: boot options.  The first byte chooses the door, the rest is the text.
 *
 * Beyond memory errors, what must hold for any text: the options end in a state that the boot
 * could have been told to use, and parsing the same text again gives the same.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(const char *word, const char *why)
{
    if (strlen(word) > OPTIONS_MAX_LINE || why == NULL || why[0] == '\0') {
        abort();
    }
}

static void check(const struct options *o)
{
    if (o->ips > OPTIONS_MAX_CARDS || o->nics > OPTIONS_MAX_CARDS ||
        o->noprobes > OPTIONS_MAX_NOPROBE || (!o->txirq && !o->txpoll) || o->rxbudget == 0 ||
        115200 % o->baud != 0 || (!o->vga && !o->com1) || strnlen(o->name, sizeof o->name) == 0 ||
        strnlen(o->name, sizeof o->name) == sizeof o->name ||
        strnlen(o->run, sizeof o->run) == sizeof o->run || (o->text != 80 && o->text != 40)) {
        abort();
    }
    for (unsigned i = 0; i < OPTIONS_MAX_CARDS; i++) {
        if (o->ip[i].dhcp == (o->ip[i].address != 0)) {
            abort();
        }
    }
}

static void parse(struct options *o, unsigned door, const char *text, size_t n)
{
    memset(o, 0, sizeof *o);
    options_default(o);
    if (door % 2 == 0) {
        options_parse(o, text, report);
    } else {
        options_parse_file(o, text, n, report);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct options first, second;
    char *text;
    unsigned door;
    if (size == 0) {
        return 0;
    }
    door = data[0];
    size--;
    text = malloc(size + 1); /* exact, so that a byte read too far is seen */
    memcpy(text, data + 1, size);
    text[size] = '\0';
    if (door % 4 == 2) {
        options_default(&options);
        options_set(text);
        check(&options);
    } else {
        parse(&first, door, text, size);
        check(&first);
        parse(&second, door, text, size);
        if (memcmp(&first, &second, sizeof first) != 0) {
            abort();
        }
    }
    free(text);
    return 0;
}
