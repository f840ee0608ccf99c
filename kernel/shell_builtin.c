/*
 * The commands that belong to no other part: help, set, reboot, quit.
 */
#include <stddef.h>

#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/machine.h"
#include "kernel/option_values.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/shell.h"
#include "kernel/string.h"

enum {
    SYNOPSIS_MAX = 96,
    HELP_COLUMN = 18,
    NARROW = 40, /* text= */
    REBOOT_FLUSH_US = 1000000,
    STATUS_MAX = 255, /* one byte to port F4h */
};

/* The first command whose name comes after `name`; the linker's order is no order. */
static const struct shell_command *next_by_name(const char *name)
{
    const struct shell_command *best = NULL, *c;

    for (c = __start_shell_commands; c < __stop_shell_commands; c++) {
        if (strcmp(c->name, name) > 0 && (best == NULL || strcmp(c->name, best->name) < 0)) {
            best = c;
        }
    }
    return best;
}

static int start_help(int argc, char *argv[])
{
    const struct shell_command *c;
    char synopsis[SYNOPSIS_MAX];
    int column = options.text == NARROW ? 0 : HELP_COLUMN; /* no room for two columns */

    (void)argv;
    if (argc != 1) {
        kprintf("usage: help\n");
        return SHELL_FAILED;
    }
    for (c = next_by_name(""); c != NULL; c = next_by_name(c->name)) {
        int n = format(synopsis, sizeof(synopsis), "%s %s", c->name, c->usage);

        if (n > column) {
            kprintf("  %s\n  %*s  %s\n", synopsis, column, "", c->help);
        } else {
            kprintf("  %-*s  %s\n", column, synopsis, c->help);
        }
    }
    return SHELL_OK;
}

SHELL_COMMAND(help, "", "list the commands", start_help, NULL);

static int start_set(int argc, char *argv[])
{
    if (argc != 2) {
        kprintf("usage: set OPTION=VALUE\n");
        return SHELL_FAILED;
    }
    switch (options_set(argv[1])) {
    case OK: return SHELL_OK;
    case E_UNSUPPORTED: kprintf("set %s: boot option only\n", argv[1]); return SHELL_FAILED;
    default: options_report(argv[1], options_why()); return SHELL_FAILED;
    }
}

SHELL_COMMAND(set, "OPTION=VALUE", "change an option now", start_set, NULL);

static int start_reboot(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    shell_done(SHELL_OK);
    console_flush(REBOOT_FLUSH_US);
    machine_reboot();
}

SHELL_COMMAND(reboot, "", "restart the machine", start_reboot, NULL);

static int start_quit(int argc, char *argv[])
{
    uint32_t status = 0;

    if (argc > 2 || (argc == 2 && value_number(argv[1], 0, STATUS_MAX, &status) != NULL)) {
        kprintf("usage: quit [STATUS], 0 to 255\n");
        return SHELL_FAILED;
    }
    shell_done(SHELL_OK);
    machine_quit((int)status);
}

SHELL_COMMAND(quit, "[STATUS]", "leave: tell an emulator STATUS, switch off", start_quit, NULL);
