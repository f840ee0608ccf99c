/*
 * Proof of an abort: a deliberately wrong step, in a child process that must die with the right
 * words.
 */
#ifndef TESTS_HOST_WRONG_STEP_H
#define TESTS_HOST_WRONG_STEP_H

enum { WRONG_OUTPUT = 16384 };

struct wrong_step {
    const char *name;
    void (*step)(void);
    const char *words; /* in the message of sim_misuse() */
};

#define WRONG_STEP(step, words)                                                                    \
    {                                                                                              \
#step, step, words                                                                         \
    }

/* Run `step` in a child with its standard error in `said`; returns the wait status. */
int wrong_step_run(void (*step)(void), char said[WRONG_OUTPUT]);

/* Assert: it dies of that misuse. */
void wrong_step_expect(const struct wrong_step *m);

#endif
