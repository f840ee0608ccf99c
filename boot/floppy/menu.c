/*
 * Lines of at most 39 columns.  The count stands between the dots of the tracks, so nothing here
 * needs to know where the cursor is.
 */
#include "boot/floppy/menu.h"

#include <stddef.h>

#include "boot/floppy/editor.h"
#include "boot/floppy/keyboard.h"
#include "boot/floppy/screen.h"

enum { COUNT = 3, TICKS_A_SECOND = 18 };
/* Polls of the keyboard after which the count ends even if the timer stands still. */
enum { POLLS_MAX = 20 * 1000 * 1000 };

static uint32_t began;
static unsigned left; /* of the count */
static bool stopped;  /* by a key */

struct entry {
    const char *says, *words;
    bool edit; /* the words want a value */
};

static const struct entry entries[] = {
    {"start (Enter)", "", false},
    {"without interrupts (irq=poll)", " irq=poll", false},
    {"safe probe: only the card I name", " nic=ne2000:0x300", true},
    {"text for 40 columns (text=40)", " text=40", false},
    {"serial line only (console=com1)", " console=com1", false},
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

void menu_start_count(void)
{
    began = clock_ticks();
    left = COUNT;
    stopped = false;
    say("A key opens the menu. Starting in ");
    say_number(left);
}

void menu_keep_counting(void)
{
    stopped |= keyboard_pressed();
    if (!stopped && left > 0 && clock_since(began) >= (COUNT + 1 - left) * TICKS_A_SECOND) {
        left--;
        if (left > 0) {
            say_number(left);
        }
    }
}

static void show(const struct config *options)
{
    say("\n\n");
    for (unsigned i = 0; i < ENTRIES; i++) {
        say_number(i + 1);
        say("  ");
        say(entries[i].says);
        say("\n");
    }
    say("E  edit the options\nOptions: ");
    say(options->length > 0 ? options->line : "none");
    say("\n1 to 5, E: ");
}

/* Null if the menu is to be shown again. */
static const char *choose(struct config *options)
{
    show(options);
    for (;;) {
        char key = keyboard_wait();
        if (key == 'e' || key == 'E') {
            editor_run(options, "");
            return NULL;
        }
        unsigned number = key == KEY_ENTER ? 0 : (unsigned)(key - '1');
        if (number < ENTRIES) {
            say_number(number + 1);
            say("\n");
            if (!entries[number].edit) {
                return entries[number].words;
            }
            return editor_run(options, entries[number].words) ? "" : NULL;
        }
    }
}

const char *menu_finish(struct config *options)
{
    for (unsigned polls = 0; !stopped && left > 0 && polls < POLLS_MAX; polls++) {
        menu_keep_counting();
    }
    if (!stopped) {
        say("\n");
        return entries[0].words;
    }
    keyboard_wait(); /* the key that has stopped the count */
    for (;;) {
        const char *words = choose(options);
        if (words != NULL) {
            return words;
        }
    }
}
