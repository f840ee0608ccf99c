/*
 * The keyboard behind the 8042.  Source: IBM PS/2 Hardware Interface Technical Reference (1988),
 * "Keyboard and Auxiliary Device Controller" and "Keyboard", scan code set 1.
 *
 * Nothing is sent to the controller: the BIOS has set it up, and a keyboard that never answers must
 * not delay the boot.  One that never ends must not take the CPU: what comes faster than a keyboard
 * can send is not claimed, and irq.c masks a line that nobody claims.
 */
#include "kernel/keyboard.h"

#include <stddef.h>

#include "kernel/error.h"
#include "kernel/io.h"
#include "kernel/irq.h"
#include "kernel/time.h"

enum { I8042_PORT = 0x60, KEYBOARD_IRQ = 1 };

enum i8042_port { I8042_DATA = 0, I8042_STATUS = 4 };
enum i8042_status { STATUS_OUTPUT_FULL = 0x01, STATUS_NOBODY = 0xFF };

enum {
    RING = 64,         /* a power of two                                           */
    STALE_MAX = 16,    /* bytes the controller may still hold; a stuck one is full for ever */
    FLOOD_CODES = 400, /* in FLOOD_US; a code is 11 bits, at most 16.7 a millisecond        */
    FLOOD_US = 100000,
};

enum scan_code {
    SCAN_CTRL = 0x1D,
    SCAN_LEFT_SHIFT = 0x2A,
    SCAN_SLASH = 0x35,
    SCAN_RIGHT_SHIFT = 0x36,
    SCAN_ALT = 0x38,
    SCAN_DELETE = 0x53,
    SCAN_CAPS = 0x3A,
    SCAN_ENTER = 0x1C,
    SCAN_RELEASED = 0x80, /* added to the code when a key goes up */
    SCAN_EXTENDED = 0xE0, /* the next code is of a grey key       */
    SCAN_PAUSE = 0xE1,    /* ... the next two are                 */
};

enum { ESC = 27, CTRL_MASK = 0x1F };

/* By scan code: plain, and with shift.  0: no character.  47h-53h is the number block. */
static const char plain[] = "\0\0331234567890-=\b\tqwertyuiop[]\n\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 "
                            "\0\0\0\0\0\0\0\0\0\0\0\0\0"
                            "789-456+1230.";
static const char shifted[] =
    "\0\033!@#$%^&*()_+\b\tQWERTYUIOP{}\n\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 "
    "\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "789-456+1230.";

_Static_assert(sizeof(plain) == 0x54 + 1 && sizeof(shifted) == sizeof(plain),
               "the tables end with the number block's full stop, 53h");

static const struct ioport i8042 = {I8042_PORT};

/* Filled by the handler, emptied by the main loop: one writer for each index. */
static volatile uint8_t ring[RING];
static volatile unsigned ring_in, ring_out;

static bool shift, ctrl, alt, caps;
static bool reset_asked;
static bool extended; /* the last code was E0h                 */
static unsigned skip; /* codes of a Pause key still to come    */

static uint64_t window_began; /* of FLOOD_US */
static unsigned window_codes;

static bool flooding(void)
{
    uint64_t now = time_recent_us();

    if (now - window_began >= FLOOD_US) {
        window_began = now;
        window_codes = 0;
    }
    if (++window_codes <= FLOOD_CODES) {
        return false;
    }
    window_began = now; /* until it has been quiet for so long */
    return true;
}

static bool handle_irq(void *arg)
{
    uint8_t code;

    (void)arg;
    if ((io_in8(i8042, I8042_STATUS) & STATUS_OUTPUT_FULL) == 0) {
        return false;
    }
    code = io_in8(i8042, I8042_DATA);
    if (flooding()) {
        return false;
    }
    if (ring_in - ring_out < RING) {
        ring[ring_in % RING] = code;
        ring_in = ring_in + 1;
    }
    return true;
}

void keyboard_start_irq(void)
{
    shift = ctrl = alt = caps = extended = reset_asked = false;
    skip = 0;
    ring_in = ring_out = 0;
    window_codes = 0;
    for (unsigned n = 0; n < STALE_MAX; n++) {
        uint8_t status = io_in8(i8042, I8042_STATUS);

        if (status == STATUS_NOBODY) {
            return; /* no controller: line 1 stays masked */
        }
        if ((status & STATUS_OUTPUT_FULL) == 0) {
            break;
        }
        (void)io_in8(i8042, I8042_DATA);
    }
    /* Line 1 has no other user; without its interrupt there are no keys, and COM1 is still there.
     */
    (void)irq_attach(KEYBOARD_IRQ, handle_irq, NULL);
}

/* The character of a key going down, with the modifiers as they are. */
static int character(uint8_t code)
{
    char c;
    bool letter;

    if (code >= sizeof(plain) - 1) {
        return -1;
    }
    letter = plain[code] >= 'a' && plain[code] <= 'z';
    c = shift != (letter && caps) ? shifted[code] : plain[code];
    if (c == '\0') {
        return -1;
    }
    if (ctrl) {
        return letter ? c & CTRL_MASK : -1;
    }
    return c;
}

/* Shift, Ctrl, Alt and Caps Lock: remember them.  True if `key` is one. */
static bool modifier(uint8_t key, bool down)
{
    switch (key) {
    case SCAN_LEFT_SHIFT:
    case SCAN_RIGHT_SHIFT: shift = down; return true;
    case SCAN_CTRL: ctrl = down; return true;
    case SCAN_ALT: alt = down; return true;
    case SCAN_CAPS: caps ^= down; return true;
    default: return false;
    }
}

/* Grey keys: right Ctrl and Alt, and the number block's Enter and slash.  Cursor keys give nothing,
 * and the shift codes that surround them are not the shift keys. */
static int grey_key(uint8_t key, bool down)
{
    if (key == SCAN_CTRL || key == SCAN_ALT) {
        (void)modifier(key, down);
        return -1;
    }
    return down && (key == SCAN_ENTER || key == SCAN_SLASH) ? plain[key] : -1;
}

int keyboard_decode(uint8_t code)
{
    uint8_t key = code & (uint8_t)~SCAN_RELEASED;
    bool down = (code & SCAN_RELEASED) == 0;

    if (skip > 0) {
        skip--;
        return -1;
    }
    if (code == SCAN_EXTENDED || code == SCAN_PAUSE) {
        extended = code == SCAN_EXTENDED;
        skip = code == SCAN_PAUSE ? 2 : 0;
        return -1;
    }
    if (key == SCAN_DELETE && down && ctrl && alt) { /* with or without E0h before it */
        reset_asked = true;
        extended = false;
        return -1;
    }
    if (extended) {
        extended = false;
        return grey_key(key, down);
    }
    if (modifier(key, down) || !down) {
        return -1;
    }
    return character(key);
}

int keyboard_key(void)
{
    while (ring_in != ring_out) {
        int key = keyboard_decode(ring[ring_out % RING]);

        ring_out = ring_out + 1;
        if (key >= 0) {
            return key == '\r' ? '\n' : key;
        }
    }
    return -1;
}

void keyboard_poll(void)
{
    uint8_t status = io_in8(i8042, I8042_STATUS);

    if (status != STATUS_NOBODY && (status & STATUS_OUTPUT_FULL) != 0) {
        (void)keyboard_decode(io_in8(i8042, I8042_DATA));
    }
}

bool keyboard_waiting(void)
{
    return ring_in != ring_out;
}

bool keyboard_reset_asked(void)
{
    return reset_asked;
}
