/*
 * Wrong steps in child processes.
 */
#include "tests/host/wrong_step.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int wrong_step_run(void (*step)(void), char said[WRONG_OUTPUT])
{
    int pipes[2];
    size_t used = 0;
    ck_assert_int_eq(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        step();
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t n = 1; n > 0; used += (size_t)n) {
        n = read(pipes[0], said + used, WRONG_OUTPUT - 1 - used);
    }
    said[used] = '\0';
    close(pipes[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* For run_host.py, which wants every abort to be provoked: "file:line" into the file it named. */
static void note_place(const char *message)
{
    const char *file = getenv("WRONG_STEPS"), *from = strrchr(message, '['), *end;
    if (file == NULL || from == NULL || (end = strchr(from, ']')) == NULL) {
        return;
    }
    FILE *places = fopen(file, "a");
    ck_assert_ptr_nonnull(places);
    fprintf(places, "%.*s\n", (int)(end - from - 1), from + 1);
    fclose(places);
}

void wrong_step_expect(const struct wrong_step *m)
{
    char said[WRONG_OUTPUT];
    int status = wrong_step_run(m->step, said);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s was not noticed: %s",
                  m->name, said);
    const char *message = strstr(said, "MISUSE");
    ck_assert_msg(message != NULL && strstr(message, m->words) != NULL, "%s: %s", m->name, said);
    note_place(message);
}
