/*
 * The shell: a line editor in front of one command at a time.
 *
 * Commands come from run= first, then from the keys.  Whatever ends a command, its `done` record
 * follows, so that a script on the serial line always knows where it is.
 */
#include "kernel/shell.h"

#include <stddef.h>

#include "kernel/console.h"
#include "kernel/machine.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/string.h"

enum {
    LINE_MAX = 256, /* typed, with the NUL                                     */
    COMMAND_MAX = sizeof(options.run),
    AHEAD_MAX = 256,  /* keys kept while a command runs; a power of two          */
    KEYS_A_TURN = 16, /* the main loop has other work                            */
    KEY_CTRL_C = 3,
    KEY_ESC = 27,
};

static const char prompt[] = "> ";

/* The command under way. */
static const struct shell_command *running;
static bool busy;
static char command_text[COMMAND_MAX]; /* as typed, for `done`      */
static char words[COMMAND_MAX];        /* argv points in here       */

/* run= */
static char queue[COMMAND_MAX];
static const char *queue_at = queue;
static bool exit_after;
static bool any_failed, any_without_card;

/* The edit line, and keys that came while a command ran. */
static char edit[LINE_MAX];
static size_t edit_length;
static char ahead[AHEAD_MAX];
static unsigned ahead_in, ahead_out;

static const struct shell_command *find_command(const char *name)
{
    const struct shell_command *c;

    for (c = __start_shell_commands; c < __stop_shell_commands; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

/* Words into argv, which has room for SHELL_ARGS_MAX and a null; SHELL_ARGS_MAX + 1 if too many. */
static int split_words(const char *line, char *argv[])
{
    char *to = words;
    int argc = 0;

    while (options_next_word(&line, to, (size_t)(words + sizeof(words) - to))) {
        if (argc == SHELL_ARGS_MAX) {
            return SHELL_ARGS_MAX + 1;
        }
        argv[argc++] = to;
        to += strlen(to) + 1;
    }
    argv[argc] = NULL;
    return argc;
}

void shell_done(int status)
{
    if (!busy) {
        return;
    }
    busy = false;
    running = NULL;
    any_without_card = any_without_card || status == SHELL_NO_CARD;
    any_failed = any_failed || (status != SHELL_OK && status != SHELL_NO_CARD);
    console_fresh_line();
    record_begin("done");
    record_str("cmd", command_text);
    record_int("status", status);
    record_end();
}

bool shell_busy(void)
{
    return busy;
}

/* Start what stands in command_text. */
static void start_command(void)
{
    char *argv[SHELL_ARGS_MAX + 1];
    int argc = split_words(command_text, argv);
    int status;

    if (argc == 0) {
        return;
    }
    busy = true;
    if (argc > SHELL_ARGS_MAX) {
        kprintf("more than %d words\n", SHELL_ARGS_MAX);
        shell_done(SHELL_FAILED);
        return;
    }
    running = find_command(argv[0]);
    if (running == NULL) {
        kprintf("unknown command: %s (help lists them)\n", argv[0]);
        shell_done(SHELL_FAILED);
        return;
    }
    status = running->start(argc, argv);
    if (status != SHELL_RUNNING) {
        shell_done(status);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* command_text = the `n` characters at `text` without blanks around them.  False if none is left.
 */
static bool take_command(const char *text, size_t n)
{
    while (n > 0 && is_blank(*text)) {
        text++;
        n--;
    }
    while (n > 0 && is_blank(text[n - 1])) {
        n--;
    }
    if (n >= sizeof(command_text)) {
        n = sizeof(command_text) - 1;
    }
    memcpy(command_text, text, n);
    command_text[n] = '\0';
    return n > 0;
}

/* ---- run= ---- */

void shell_run(const char *commands, bool exit_when_done)
{
    format(queue, sizeof(queue), "%s", commands);
    queue_at = queue;
    exit_after = exit_when_done;
    any_failed = any_without_card = false;
}

/* Characters up to the next ';' that separates, or the end. */
static size_t command_length(const char *text)
{
    bool grouped = false;
    size_t n;

    for (n = 0; text[n] != '\0' && (grouped || text[n] != ';'); n++) {
        if (text[n] == '"') {
            grouped = !grouped;
        } else if (text[n] == '\\' && text[n + 1] != '\0') {
            n++;
        }
    }
    return n;
}

/* Start the next command of run=, or leave when all are done.  False if there is none. */
static bool run_next(void)
{
    while (*queue_at != '\0') {
        size_t n = command_length(queue_at);
        bool found = take_command(queue_at, n);

        queue_at += n + (queue_at[n] == ';');
        if (found) {
            console_fresh_line();
            kprintf("%s%s\n", prompt, command_text);
            start_command();
            return true;
        }
    }
    if (exit_after) {
        machine_quit(any_failed ? SHELL_FAILED : any_without_card ? SHELL_NO_CARD : SHELL_OK);
    }
    return false;
}

/* ---- keys ---- */

static void enter_line(void)
{
    bool found = take_command(edit, edit_length);

    edit_length = 0;
    edit[0] = '\0';
    console_echo("\n");
    if (found) {
        start_command();
    }
}

static void abandon_line(void)
{
    edit_length = 0;
    edit[0] = '\0';
    console_echo("\n");
}

static void edit_key(char key)
{
    char echo[2] = {key, '\0'};

    switch (key) {
    case '\n': enter_line(); break;
    case '\b':
        if (edit_length > 0) {
            edit[--edit_length] = '\0';
            console_echo("\b \b");
        }
        break;
    case KEY_CTRL_C:
    case KEY_ESC: abandon_line(); break;
    default:
        if (key >= ' ' && key < 0x7F && edit_length + 1 < sizeof(edit)) {
            edit[edit_length++] = key;
            edit[edit_length] = '\0';
            console_echo(echo);
        }
    }
}

static void abort_command(void)
{
    ahead_out = ahead_in;
    console_fresh_line();
    kprintf("aborted\n");
    if (running->abort != NULL) {
        running->abort();
    }
}

/* While a command runs a key either aborts it or waits its turn; too many are dropped. */
static void keep_key(char key)
{
    if (key == KEY_CTRL_C || key == KEY_ESC) {
        abort_command();
    } else if (ahead_in - ahead_out < AHEAD_MAX) {
        ahead[ahead_in++ % AHEAD_MAX] = key;
    }
}

static int next_key(void)
{
    if (!busy && ahead_in != ahead_out) {
        return ahead[ahead_out++ % AHEAD_MAX];
    }
    return console_key();
}

/* No command to start, no prompt to print: only a key can make work, or the end of a command. */
static bool nothing_to_do(void)
{
    return busy ||
           (*queue_at == '\0' && !exit_after && ahead_in == ahead_out && !console_prompt_missing());
}

bool shell_turn(void)
{
    bool worked;
    int key;

    if (nothing_to_do() && !console_input_waiting()) {
        return false; /* nearly every turn */
    }
    worked = !busy && run_next();

    for (unsigned n = 0; n < KEYS_A_TURN; n++) {
        if (!busy && (*queue_at != '\0' || exit_after)) {
            return true; /* no prompt between the commands of run=, nor before leaving */
        }
        if (!busy && console_prompt_missing()) {
            console_prompt(prompt, edit);
        }
        key = next_key();
        if (key < 0) {
            break;
        }
        worked = true;
        if (busy) {
            keep_key((char)key);
        } else {
            edit_key((char)key);
        }
    }
    return worked;
}
