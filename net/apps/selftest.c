/*
 * The `selftest` command: every card, or one, tested without a cable or a peer.
 */
#include "drivers/selftest.h"

#include <stddef.h>

#include "kernel/console.h"
#include "kernel/shell.h"
#include "net/apps/app.h"

static struct {
    unsigned running;    /* 0 or 1 */
    unsigned next, stop; /* cards still to be tested: [next, stop) */
    bool faulty;
} run;

/* Begin with the next card that can be tested.  False if there is none. */
static bool begin_next(void)
{
    while (run.next < run.stop) {
        struct nic *nic = &nics[run.next++];

        if (selftest_begin(nic) == 0) {
            return true;
        }
        kprintf("card %u: its driver (%s) has no selftest\n", nic->index, nic->driver->name);
    }
    return false;
}

static bool turn(void)
{
    if (!run.running || console_drain()) {
        return false; /* what was found so far goes out first: COM1 is slower than any step */
    }
    if (selftest_turn()) {
        return true;
    }
    run.faulty = run.faulty || selftest_faults() != 0;
    if (!begin_next()) {
        run.running = false;
        shell_done(run.faulty ? SHELL_FAILED : SHELL_OK);
    }
    return true;
}

static int start_selftest(int argc, char *argv[])
{
    if (nic_count == 0) {
        kprintf("no network card found\n");
        return SHELL_NO_CARD;
    }
    run.next = 0;
    run.stop = nic_count;
    run.faulty = false;
    if (argc == 2 && argv[1][0] >= '0' && argv[1][0] <= '9' && argv[1][1] == '\0') {
        run.next = (unsigned)(argv[1][0] - '0');
        run.stop = run.next + 1;
    } else if (argc > 1) {
        kprintf("usage: selftest [CARD]\n");
        return SHELL_FAILED;
    }
    if (run.stop > nic_count) {
        kprintf("there is no card %u (nics lists them)\n", run.next);
        return SHELL_FAILED;
    }
    run.running = begin_next();
    return run.running ? SHELL_RUNNING : SHELL_FAILED;
}

static void abort_selftest(void)
{
    selftest_abort();
    run.running = false;
    shell_done(SHELL_FAILED);
}

APP_WHILE(selftest, NULL, run.running, turn);
SHELL_COMMAND(selftest, "[CARD]", "test the card itself, without cable or peer", start_selftest,
              abort_selftest);
