/*
 * Fuzz target: what is typed at the shell or given to it by run=, through the real line editor and
 * the real records, on a console that only keeps the rules of DESIGN section 4.
 *
 * What must hold: every command that started has its `done`, records are one line of printable
 * ASCII, and nothing but a record begins with '@'.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/machine.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/record.h"
#include "kernel/shell.h"
#include "kernel/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *keys;
static size_t keys_left;
static unsigned started, done;
static jmp_buf out;

static void must(bool what)
{
    if (!what) {
        abort();
    }
}

/* ---- the console ---- */

static unsigned column;

void console_write(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        column = text[i] == '\n' ? 0 : column + 1;
    }
}

void kprintf(const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vformat(text, sizeof text, fmt, args);
    va_end(args);
    must(column != 0 || text[0] != '@');
    console_write(text, strlen(text));
}

void kprintf_colour(enum colour colour, const char *fmt, ...)
{
    (void)colour;
    (void)fmt;
}

bool console_record(const char *line, size_t n)
{
    must(n < RECORD_MAX && strlen(line) == n && line[0] == '@' && line[n - 1] == '}');
    for (size_t i = 0; i < n; i++) {
        must(line[i] >= ' ' && line[i] < 0x7F);
    }
    done += strncmp(line, "@{\"ev\":\"done\"", 13) == 0;
    return true;
}

void console_fresh_line(void)
{
    column = 0;
}

bool console_prompt_missing(void)
{
    return column == 0;
}

void console_prompt(const char *prompt, const char *edit_line)
{
    console_write(prompt, strlen(prompt));
    console_write(edit_line, strlen(edit_line));
}

void console_echo(const char *text)
{
    console_write(text, strlen(text));
}

void console_flush(unsigned us)
{
    (void)us;
}

bool console_input_waiting(void)
{
    return keys_left != 0;
}

int console_key(void)
{
    if (keys_left == 0) {
        return -1;
    }
    keys_left--;
    return *keys++;
}

uint64_t time_us(void)
{
    return 1;
}

void machine_quit(int status)
{
    must(status >= 0 && status <= 255);
    longjmp(out, 1);
}

void machine_reboot(void)
{
    longjmp(out, 1);
}

/* ---- two commands that look at their arguments ---- */

static int take_words(int argc, char *argv[])
{
    started++;
    must(argc >= 1 && argc <= SHELL_ARGS_MAX && argv[argc] == NULL);
    for (int i = 0; i < argc; i++) {
        must(strlen(argv[i]) < sizeof options.run);
    }
    return argc % 3;
}

static int keep_running(int argc, char *argv[])
{
    take_words(argc, argv);
    return SHELL_RUNNING;
}

static void stop_running(void)
{
    shell_done(SHELL_FAILED);
}

SHELL_COMMAND(a, "", "take words", take_words, NULL);
SHELL_COMMAND(b, "", "run on", keep_running, stop_running);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char run[4096];
    size_t n;
    if (size == 0) {
        return 0;
    }
    n = data[0] % 2 == 0 ? 0 : size - 1 < sizeof run ? size - 1 : sizeof run - 1;
    memcpy(run, data + 1, n);
    run[n] = '\0';
    keys = data + 1;
    keys_left = n == 0 ? size - 1 : 0;
    started = done = column = 0;
    options_default(&options);
    shell_run(run, false);
    if (setjmp(out) == 0) {
        for (unsigned idle = 0; idle < 2;) {
            idle = shell_turn() ? 0 : idle + 1;
            if (shell_busy() && idle > 0) { /* a command comes to its end by itself */
                shell_done(SHELL_OK);
                idle = 0;
            }
        }
        must(!shell_busy() && done >= started);
    } else {
        shell_run("", false);
    }
    /* Leave no half line for the next input. */
    static const uint8_t escape[] = {27};
    keys = escape;
    keys_left = sizeof escape;
    shell_turn();
    return 0;
}
