/*
 * The shell, typed at over the simulated COM1 and read on port E9h.
 */
#include "kernel/shell.h"

#include <check.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "kernel/console.h"
#include "kernel/machine.h"
#include "kernel/options.h"
#include "tests/host/console_rig.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/pc.h"

/* ---- ways out ---- */

enum { NOT_LEFT = -1, REBOOTED = -2 };

static int left = NOT_LEFT;
static jmp_buf out;

void machine_quit(int status)
{
    left = status;
    longjmp(out, 1);
}

void machine_reboot(void)
{
    left = REBOOTED;
    longjmp(out, 1);
}

/* ---- commands of the test ---- */

static int start_echo(int argc, char *argv[])
{
    for (int i = 1; i < argc; i++) {
        kprintf("[%s]", argv[i]);
    }
    ck_assert_ptr_null(argv[argc]);
    return SHELL_OK;
}
SHELL_COMMAND(echo, "[WORD...]", "show the words", start_echo, NULL);

static int start_fail(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    return SHELL_FAILED;
}
SHELL_COMMAND(fail, "", "fail", start_fail, NULL);

static int start_nocard(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    return SHELL_NO_CARD;
}
SHELL_COMMAND(nocard, "", "miss a card", start_nocard, NULL);

static unsigned aborts;
static bool abort_later;

static int start_long(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    return SHELL_RUNNING;
}

static void abort_long(void)
{
    aborts++;
    if (!abort_later) {
        shell_done(SHELL_FAILED);
    }
}
SHELL_COMMAND(long, "with an argument list that is too long for its column", "run until told",
              start_long, abort_long);

static int start_quick(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    shell_done(SHELL_OK);
    return SHELL_RUNNING;
}
SHELL_COMMAND(quick, "", "be done before start() returns", start_quick, NULL);

/* ---- the machine ---- */

static void up(void)
{
    pc();
    options_default(&options);
    console_start_irq();
}

/* Turns of the main loop until there is nothing more to do. */
static void turn(void)
{
    if (setjmp(out) != 0) {
        return;
    }
    for (unsigned idle = 0; idle < 15;) { /* longer than an Esc takes to be told */
        idle = shell_turn() ? 0 : idle + 1;
        console_drain();
        sim_run_us(2000);
    }
}

static void type(const char *text)
{
    sim_uart_type(text);
    turn();
}

/* What was printed since the last call, without the times of records. */
static const char *seen(void)
{
    static char text[65536];
    char *to = text;
    for (const char *from = sim_debug_text(); *from != '\0';) {
        if (strncmp(from, ",\"t_us\":", 8) == 0) {
            from = strchr(from, '}');
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    sim_debug_forget();
    return text;
}

#define DONE(cmd, status) "@{\"ev\":\"done\",\"cmd\":\"" cmd "\",\"status\":" #status "}\n"

/* ---- tests ---- */

START_TEST(one_command)
{
    up();
    turn();
    ck_assert_str_eq(seen(), "> ");
    type("echo a \"b c\" d\\ e\r");
    ck_assert_str_eq(seen(),
                     "echo a \"b c\" d\\ e\n[a][b c][d e]\n"
                     "@{\"ev\":\"done\",\"cmd\":\"echo a \\\"b c\\\" d\\\\ e\",\"status\":0}\n> ");
    ck_assert_str_eq(sim_vga_row(0), "> echo a \"b c\" d\\ e");
    ck_assert_str_eq(sim_vga_row(1), "[a][b c][d e]");
    ck_assert_str_eq(sim_vga_row(2), ">");
    ck_assert_uint_eq(sim_vga_cursor_column(), 2);
}
END_TEST

START_TEST(editing)
{
    up();
    type("ecxx\b\bho\x7f\x7f\x7f\x7f\x7f\x7f fail \t\r");
    ck_assert_str_eq(seen(), "> ecxx\b \b\b \bho\b \b\b \b\b \b\b \b fail \n" DONE("fail", 1) "> ");
}
END_TEST

START_TEST(blank_lines_are_no_commands)
{
    up();
    type("\r   \r");
    ck_assert_str_eq(seen(), "> \n>    \n> ");
}
END_TEST

START_TEST(abandoned_lines_are_not_run)
{
    up();
    type("fail\x03");
    type("fail\033");
    type("\r");
    ck_assert_str_eq(seen(), "> fail\n> fail\n> \n> ");
}
END_TEST

START_TEST(unknown_command)
{
    up();
    type("bench all\r");
    ck_assert_str_eq(seen(), "> bench all\nunknown command: bench (help lists them)\n" DONE(
                                 "bench all", 1) "> ");
}
END_TEST

START_TEST(many_words)
{
    up();
    type("echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\r");
    ck_assert_ptr_nonnull(strstr(seen(), "[14][15]\n@"));
    type("echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\r");
    ck_assert_ptr_nonnull(strstr(seen(), "more than 16 words\n@{\"ev\":\"done\""));
    ck_assert(!shell_busy());
}
END_TEST

START_TEST(long_lines_stop_growing)
{
    char line[600];
    up();
    memset(line, 'x', sizeof line);
    memcpy(line, "echo ", 5);
    line[sizeof line - 1] = '\0';
    type(line);
    const char *text = seen();
    ck_assert_uint_eq(strlen(text), 2 + 255);
    type("\r");
    ck_assert_ptr_nonnull(strstr(seen(), "x\",\"status\":0}"));
}
END_TEST

START_TEST(other_output_and_the_edit_line)
{
    up();
    type("ech");
    kprintf("nic0: link up\n");
    type("o x");
    ck_assert_str_eq(seen(), "> ech\nnic0: link up\n> echo x");
    ck_assert_str_eq(sim_vga_row(0), "nic0: link up");
    ck_assert_str_eq(sim_vga_row(1), "> echo x");
    type("\r");
    ck_assert_str_eq(seen(), "\n[x]\n" DONE("echo x", 0) "> ");
}
END_TEST

START_TEST(running_commands)
{
    up();
    type("long\r");
    ck_assert(shell_busy());
    ck_assert_str_eq(seen(), "> long\n");
    kprintf("progress\n");
    turn();
    ck_assert_str_eq(seen(), "progress\n"); /* no prompt meanwhile */
    shell_done(SHELL_OK);
    ck_assert(!shell_busy());
    turn();
    ck_assert_str_eq(seen(), DONE("long", 0) "> ");
    shell_done(SHELL_OK); /* nobody runs: nothing */
    turn();
    ck_assert_str_eq(seen(), "");
}
END_TEST

START_TEST(aborting)
{
    static const char *const keys[] = {"\x03", "\033"};
    up();
    for (unsigned i = 0; i < 2; i++) {
        type("long\r");
        seen();
        type(keys[i]);
        ck_assert_uint_eq(aborts, i + 1);
        ck_assert_str_eq(seen(), "aborted\n" DONE("long", 1) "> ");
    }
    abort_later = true;
    type("long\r");
    type("\x03");
    ck_assert(shell_busy());
    shell_done(SHELL_FAILED);
    ck_assert(!shell_busy());
}
END_TEST

START_TEST(keys_wait_for_the_running_command)
{
    up();
    type("long\recho 1\recho 2");
    ck_assert_str_eq(seen(), "> long\n");
    shell_done(SHELL_OK);
    turn();
    ck_assert_str_eq(seen(), DONE("long", 0) "> echo 1\n[1]\n" DONE("echo 1", 0) "> echo 2");
    type("\rlong\rfail\r\x03");
    seen();
    turn();
    ck_assert_str_eq(seen(), ""); /* Ctrl-C dropped what was typed ahead */
}
END_TEST

START_TEST(done_before_start_returns)
{
    up();
    type("quick\r");
    ck_assert(!shell_busy());
    ck_assert_str_eq(seen(), "> quick\n" DONE("quick", 0) "> ");
}
END_TEST

START_TEST(run_one_after_the_other)
{
    up();
    shell_run(" echo \"a;b\" ; fail;; long ;echo c\\;d", false);
    turn();
    ck_assert_str_eq(
        seen(),
        "> echo \"a;b\"\n[a;b]\n@{\"ev\":\"done\",\"cmd\":\"echo \\\"a;b\\\"\",\"status\":0}\n"
        "> fail\n" DONE("fail", 1) "> long\n");
    shell_done(SHELL_OK);
    turn();
    ck_assert_str_eq(
        seen(), DONE("long", 0) "> echo c\\;d\n[c;d]\n"
                                "@{\"ev\":\"done\",\"cmd\":\"echo c\\\\;d\",\"status\":0}\n> ");
    ck_assert_int_eq(left, NOT_LEFT);
}
END_TEST

START_TEST(aborting_one_of_run_goes_on)
{
    up();
    shell_run("long; echo next", true);
    turn();
    type("\x03");
    ck_assert_ptr_nonnull(
        strstr(seen(), DONE("long", 1) "> echo next\n[next]\n" DONE("echo next", 0)));
    ck_assert_int_eq(left, 1);
}
END_TEST

START_TEST(exit_status)
{
    static const struct {
        const char *run;
        int status;
    } cases[] = {
        {"", 0},
        {" ; ", 0},
        {"echo", 0},
        {"echo; fail; echo", 1},
        {"echo; nocard", 2},
        {"nocard; echo", 2},
        {"nocard; fail", 1},
        {"fail; nocard", 1},
        {"unknown", 1},
    };
    up();
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        left = NOT_LEFT;
        shell_run(cases[i].run, true);
        turn();
        ck_assert_msg(left == cases[i].status, "%s: %d", cases[i].run, left);
        ck_assert_uint_eq(console_column(), 0); /* no prompt on the way out */
    }
}
END_TEST

START_TEST(quit_and_reboot)
{
    static const struct {
        const char *line;
        int status;
    } cases[] = {{"quit\r", 0},           {"quit 3\r", 3},        {"quit 255\r", 255},
                 {"reboot\r", REBOOTED},  {"quit x\r", NOT_LEFT}, {"quit 256\r", NOT_LEFT},
                 {"quit 1 2\r", NOT_LEFT}};
    up();
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        left = NOT_LEFT;
        type(cases[i].line);
        ck_assert_msg(left == cases[i].status, "%s: %d", cases[i].line, left);
        ck_assert_ptr_nonnull(strstr(seen(), left == NOT_LEFT ? "\"status\":1}" : "\"status\":0}"));
    }
}
END_TEST

START_TEST(setting_options)
{
    up();
    type("set batch=off\r");
    ck_assert(!options.batch);
    ck_assert_str_eq(seen(), "> set batch=off\n" DONE("set batch=off", 0) "> ");
    type("set text=40\r");
    ck_assert_str_eq(seen(),
                     "set text=40\nset text=40: boot option only\n" DONE("set text=40", 1) "> ");
    type("set batch=2\r");
    ck_assert_str_eq(seen(),
                     "set batch=2\noption batch=2: neither off nor on\n"
                     "@{\"ev\":\"fault\",\"what\":\"option\",\"nic\":null,\"word\":\"batch=2\","
                     "\"why\":\"neither off nor on\"}\n" DONE("set batch=2", 1) "> ");
    type("set\r");
    ck_assert_ptr_nonnull(strstr(seen(), "usage: set OPTION=VALUE\n"));
    options_report("a\x01\xff@", "odd");
    ck_assert_ptr_nonnull(strstr(seen(), "option a??@: odd\n"));
}
END_TEST

START_TEST(help_lists_every_command_in_order)
{
    static const char *const names[] = {"echo [WORD...] ", "fail ",   "help ",
                                        "long with",       "nocard ", "quick ",
                                        "quit [STATUS] ",  "reboot ", "set OPTION=VALUE "};
    up();
    type("help\r");
    const char *at = seen();
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        char start[40];
        snprintf(start, sizeof start, "\n  %s", names[i]);
        at = strstr(at, start);
        ck_assert_msg(at != NULL, "%s", names[i]);
    }
    ck_assert_ptr_nonnull(strstr(at, DONE("help", 0)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shell");
    TCase *cases = tcase_create("shell");
    tcase_add_test(cases, one_command);
    tcase_add_test(cases, editing);
    tcase_add_test(cases, blank_lines_are_no_commands);
    tcase_add_test(cases, abandoned_lines_are_not_run);
    tcase_add_test(cases, unknown_command);
    tcase_add_test(cases, many_words);
    tcase_add_test(cases, long_lines_stop_growing);
    tcase_add_test(cases, other_output_and_the_edit_line);
    tcase_add_test(cases, running_commands);
    tcase_add_test(cases, aborting);
    tcase_add_test(cases, keys_wait_for_the_running_command);
    tcase_add_test(cases, done_before_start_returns);
    tcase_add_test(cases, run_one_after_the_other);
    tcase_add_test(cases, aborting_one_of_run_goes_on);
    tcase_add_test(cases, exit_status);
    tcase_add_test(cases, quit_and_reboot);
    tcase_add_test(cases, setting_options);
    tcase_add_test(cases, help_lists_every_command_in_order);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
