/*
 * The overrun procedure with steps left out and out of turn, at random: the chip is cured by the
 * prescribed order and by nothing else.  Else the model ends the test, or stays deaf.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/host/misuse.h"

enum { STEPS = NORMAL + 1, SEQUENCES = 400, ENOUGH = 25, DEAF = 3 };

static enum step sequence[STEPS];
static unsigned length;

static unsigned random_below(unsigned *state, unsigned n)
{
    *state = *state * 1664525U + 1013904223U; /* Numerical Recipes, ch. 7.1 */
    return (*state >> 8) % n;
}

static void swap(unsigned a, unsigned b)
{
    enum step kept = sequence[a];
    sequence[a] = sequence[b];
    sequence[b] = kept;
}

/* The right order; then up to three neighbours change places, two others do, one is missing. */
static void make_sequence(unsigned *state)
{
    length = STEPS;
    for (unsigned i = 0; i < STEPS; i++) {
        sequence[i] = (enum step)i;
    }
    for (unsigned n = random_below(state, 4); n > 0; n--) {
        unsigned at = random_below(state, STEPS - 1);
        swap(at, at + 1);
    }
    if (random_below(state, 4) == 0) {
        swap(random_below(state, STEPS), random_below(state, STEPS));
    }
    if (random_below(state, 4) == 0) {
        unsigned gone = random_below(state, STEPS);
        memmove(&sequence[gone], &sequence[gone + 1], (STEPS - gone - 1) * sizeof sequence[0]);
        length--;
    }
}

/* Where a step is; far behind if it is missing. */
static unsigned at(enum step wanted)
{
    for (unsigned i = 0; i < length; i++) {
        if (sequence[i] == wanted) {
            return i;
        }
    }
    return STEPS;
}

static bool between(enum step before, enum step one, enum step after)
{
    return at(before) < at(one) && at(one) < at(after);
}

/* What the data sheet asks for (ch. 7), with a frame waiting to be sent.  A packet may have been
 * removed before the halt. */
static bool is_lawful(void)
{
    return length == STEPS && between(NOTED, STOPPED, STARTED) &&
           between(STOPPED, WAITED, STARTED) && between(STOPPED, CLEARED, STARTED) &&
           between(STOPPED, LOOKED, STARTED) && between(STOPPED, LOOPED, STARTED) &&
           between(STARTED, ACKED, NORMAL) && at(REMOVED) < at(ACKED) &&
           (at(REMOVED) < at(STOPPED) || at(STARTED) < at(REMOVED));
}

static void play(void)
{
    online();
    sim_hold_tx(chip);
    transmit(60);
    sim_fill_ring(chip, 60);
    for (unsigned i = 0; i < length; i++) {
        cure_from(sequence[i], sequence[i]);
    }
    unsigned before = chip->stored;
    arrive();
    _exit(chip->stored == before + 1 ? 0 : DEAF);
}

static const char *in_words(void)
{
    static const char *const names[] = {"note", "stop",  "wait",   "clear", "look",
                                        "loop", "start", "remove", "ack",   "normal"};
    static char words[128];
    words[0] = '\0';
    for (unsigned i = 0; i < length; i++) {
        strcat(strcat(words, " "), names[sequence[i]]);
    }
    return words;
}

START_TEST(random_order)
{
    char said[WRONG_OUTPUT];
    unsigned state = 20, cured = 0, punished = 0;
    for (unsigned i = 0; i < SEQUENCES; i++) {
        make_sequence(&state);
        int status = wrong_step_run(play, said);
        bool is_cured = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        bool is_punished = (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) ||
                           (WIFEXITED(status) && WEXITSTATUS(status) == DEAF);
        ck_assert_msg(is_lawful() ? is_cured : is_punished, "%s, and status %x:%s",
                      is_lawful() ? "right" : "wrong", (unsigned)status, in_words());
        cured += is_cured;
        punished += is_punished;
    }
    ck_assert_msg(cured >= ENOUGH && punished >= ENOUGH, "%u cured, %u punished", cured, punished);
}
END_TEST

TCase *misuse_order(void)
{
    TCase *tc = tcase_create("overrun, out of order");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, random_order);
    return tc;
}
