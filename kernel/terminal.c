/*
 * A terminal's bytes.  Cursor and function keys come as ESC [ ... or ESC O ... (ECMA-48 section
 * 5.4), and an Esc that is none of them aborts a running test: so the two must be told apart.
 */
#include "kernel/terminal.h"

#include "kernel/serial.h"
#include "kernel/time.h"

enum { ESC = 27, DEL = 0x7F, SEQUENCE_GAP_US = 20000 };

static enum { PLAIN, AFTER_RETURN, AFTER_ESC, IN_SEQUENCE } state;
static struct deadline limit; /* of the byte that may come after ESC */
static int aside;             /* the byte behind a true Esc, or -1   */

void terminal_init(void)
{
    state = PLAIN;
    aside = -1;
}

static int next_byte(void)
{
    int byte = aside;

    aside = -1;
    return byte >= 0 ? byte : serial_key();
}

/* Nothing has come: has it been quiet long enough to know what ESC meant? */
static int after_silence(void)
{
    bool was_esc = state == AFTER_ESC;

    if (state < AFTER_ESC || !expired(&limit)) {
        return -1;
    }
    state = PLAIN;
    return was_esc ? ESC : -1;
}

/* A byte outside of sequences; -1 if it is no key by itself. */
static int plain_byte(int byte)
{
    bool second = state == AFTER_RETURN && byte == '\n';

    state = byte == '\r' ? AFTER_RETURN : byte == ESC ? AFTER_ESC : PLAIN;
    if (byte == ESC) {
        limit = deadline_us(SEQUENCE_GAP_US);
        return -1;
    }
    if (byte == '\r') {
        return '\n';
    }
    return second ? -1 : byte == DEL ? '\b' : byte;
}

/* Parameters of a sequence end with a byte from '@' on; a control character breaks it off. */
static bool swallow(int byte)
{
    if (byte < ' ') {
        state = PLAIN;
        return false;
    }
    if (byte >= '@') {
        state = PLAIN;
    }
    return true;
}

int terminal_key(void)
{
    for (int byte = next_byte(); byte >= 0; byte = next_byte()) {
        int key;

        if (state == AFTER_ESC && (byte == '[' || byte == 'O')) {
            state = IN_SEQUENCE;
            limit = deadline_us(SEQUENCE_GAP_US);
            continue;
        }
        if (state == AFTER_ESC) {
            state = PLAIN;
            aside = byte;
            return ESC;
        }
        if (state == IN_SEQUENCE && swallow(byte)) {
            continue;
        }
        key = plain_byte(byte);
        if (key >= 0) {
            return key;
        }
    }
    return after_silence();
}

bool terminal_waiting(void)
{
    return aside >= 0 || state >= AFTER_ESC;
}
