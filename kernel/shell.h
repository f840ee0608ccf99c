/*
 * The shell (DESIGN section 5): one command a line, from keyboard, COM1 or run=.
 *
 * Commands are collected by the linker: each lives with what it commands.
 *
 *     static int start_ping(int argc, char *argv[]) { ... return SHELL_RUNNING; }
 *     SHELL_COMMAND(ping, "[-s N] HOST", "measure round trips", start_ping, abort_ping);
 */
#ifndef KERNEL_SHELL_H
#define KERNEL_SHELL_H

#include <stdbool.h>

enum {
    SHELL_OK = 0,
    SHELL_FAILED = 1,
    SHELL_NO_CARD = 2,    /* the command needed a card and there was none */
    SHELL_RUNNING = -100, /* from start(): shell_done() will be called later */
    SHELL_ARGS_MAX = 16,
};

struct shell_command {
    const char *name;
    const char *usage; /* arguments, "" if none */
    const char *help;  /* one line */
    /* argv[0] is the name; strings are valid until the command is done. */
    int (*start)(int argc, char *argv[]);
    /* Ctrl-C or Esc: must lead to shell_done(), at once or later; null if start() never returns
     * SHELL_RUNNING. */
    void (*abort)(void);
};

#define SHELL_COMMAND(name_, usage_, help_, start_, abort_)                                        \
    static const struct shell_command shell_command_##name_ __attribute__((                        \
        used, section("shell_commands"), aligned(sizeof(void *)))) = {                             \
        .name = #name_, .usage = (usage_), .help = (help_), .start = (start_), .abort = (abort_)}

/* Made by the linker: every SHELL_COMMAND() of the image, in no particular order. */
extern const struct shell_command __start_shell_commands[], __stop_shell_commands[];

/* The running command has ended.  Emits `done` and goes on with the queue. */
void shell_done(int status);

/* Is a command running? */
bool shell_busy(void);

/*
 * Queue the commands of run= ("cmd; cmd"; a ';' in a '"' group or behind '\' is none); at most 511
 * bytes.  With `exit_after`, leave with their combined status when the last is done (exit=on):
 * SHELL_FAILED if any failed, else SHELL_NO_CARD if any found no card, else SHELL_OK.
 */
void shell_run(const char *commands, bool exit_after);

/* Read keys, start the next command.  Once a main loop turn; true if it did anything.  Keys typed
 * while a command runs are kept for later, but for Ctrl-C and Esc, which abort it and drop them. */
bool shell_turn(void);

#endif
