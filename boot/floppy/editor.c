/*
 * Typing and deleting at the end of the line, by teletype alone.  A deleted character that stood
 * in the row above is taken away by showing the line anew.
 */
#include "boot/floppy/editor.h"

#include "boot/floppy/keyboard.h"
#include "boot/floppy/machine.h"
#include "boot/floppy/screen.h"

enum { VIDEO = 0x10, GET_CURSOR = 0x0300 };

static char text[CONFIG_MAX + 1];
static unsigned length;

static void append(const char *more)
{
    while (*more != '\0' && length < CONFIG_MAX) {
        text[length++] = *more++;
    }
    text[length] = '\0';
}

static void show(void)
{
    say("\nEnter: done. Esc: as before. Ctrl-U: clear\n> ");
    say(text);
}

static bool at_first_column(void)
{
    struct bios_regs r = {.eax = GET_CURSOR};

    bios_call(&r, VIDEO);
    return (uint8_t)r.edx == 0;
}

static void delete_last(void)
{
    if (length == 0) {
        return;
    }
    text[--length] = '\0';
    if (at_first_column()) {
        show();
    } else {
        say("\b \b");
    }
}

static void type(char key)
{
    char typed[] = {key, '\0'};

    if (key >= ' ' && key <= '~' && length < CONFIG_MAX) {
        append(typed);
        say(typed);
    }
}

bool editor_run(struct config *options, const char *more)
{
    length = 0;
    append(options->line);
    append(length == 0 && *more == ' ' ? more + 1 : more);
    show();
    for (;;) {
        char key = keyboard_wait();
        if (key == KEY_ESCAPE) {
            return false;
        }
        if (key == KEY_ENTER) {
            config_begin(options);
            for (unsigned i = 0; i < length; i++) {
                config_take(options, text[i]);
            }
            config_end(options);
            say("\n");
            return true;
        }
        if (key == KEY_BACKSPACE) {
            delete_last();
        } else if (key == KEY_CTRL_U) {
            length = 0;
            append("");
            show();
        } else {
            type(key);
        }
    }
}
