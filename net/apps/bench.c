/*
 * The command `bench [NAME|all]`: one bench after the other, a sample a turn.
 */
#include "net/apps/bench.h"

#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/shell.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "net/apps/app.h"

enum { PATIENCE_US = 3000000 /* so long without a sample: something is wrong, say so */ };

static struct {
    unsigned running; /* 0 or 1 */
    bool all;         /* bench_steps one by one, then split */
    bool split;       /* running now; else step `at` is     */
    unsigned at;
    unsigned n;
    struct deadline late; /* for the next sample */
    int status;           /* so far; what `all` cannot run here counts as failed */
    uint32_t values[BENCH_SAMPLES];
} bench;

static void finish(int status)
{
    bench.running = false;
    shell_done(status);
}

static bool start_split(void)
{
    const char *why = bench_split_start();

    bench.split = why == NULL;
    if (why != NULL) {
        kprintf("split: %s\n", why);
        bench.status = SHELL_FAILED;
    }
    return bench.split;
}

/* Begin with step `at`, or the next that can be run here; with all of them, split is the last. */
static bool start_step(unsigned at)
{
    for (; at < bench_step_count; at++) {
        const struct bench *b = &bench_steps[at];
        const char *why = b->prepare == NULL ? NULL : b->prepare();

        if (why == NULL) {
            bench.at = at;
            bench.n = 0;
            bench.late = deadline_us(PATIENCE_US);
            return true;
        }
        kprintf("%s: %s\n", b->name, why);
        bench.status = b->nic != BENCH_NO_CARD && nic_count == 0 ? SHELL_NO_CARD : SHELL_FAILED;
        if (!bench.all) {
            return false;
        }
    }
    return start_split();
}

static void end_step(void)
{
    if (bench_steps[bench.at].finish != NULL) {
        bench_steps[bench.at].finish();
    }
}

static void next(void)
{
    if (!bench.all || !start_step(bench.at + 1)) {
        finish(bench.status);
    }
}

static void take_sample(void)
{
    const struct bench *b = &bench_steps[bench.at];
    uint32_t value = b->sample();

    if (value != 0) {
        bench.values[bench.n++] = value;
        bench.late = deadline_us(PATIENCE_US);
    } else if (expired(&bench.late)) {
        kprintf("%s: nothing can be measured\n", b->name);
        bench.status = SHELL_FAILED;
        end_step();
        next();
        return;
    }
    if (bench.n == BENCH_SAMPLES) {
        end_step();
        bench_report(b->name, b->nic, "ns", bench.values, bench.n, -1);
        next();
    }
}

static bool turn(void)
{
    if (!bench.running) {
        return false;
    }
    if (!bench.split) {
        take_sample();
        return true;
    }
    if (bench_split_turn()) {
        finish(bench.status);
        return true;
    }
    return false; /* while it samples, the machine rests as it always does */
}

static void list(void)
{
    for (unsigned i = 0; i < bench_step_count; i++) {
        kprintf("  %-10s %s\n", bench_steps[i].name, bench_steps[i].what);
    }
    kprintf("  %-10s %s\n", "split", "where the time goes while packets come and go, per packet");
}

static int start_bench(int argc, char *argv[])
{
    const char *name = argc == 2 ? argv[1] : "all";

    memset(&bench, 0, sizeof(bench));
    bench.all = strcmp(name, "all") == 0;
    if (argc > 2) {
        kprintf("usage: bench [NAME|all]\n");
        return SHELL_FAILED;
    }
    if (strcmp(name, "split") == 0) {
        bench.running = start_split();
        return bench.running ? SHELL_RUNNING : bench.status;
    }
    for (unsigned i = 0; i < bench_step_count; i++) {
        if (bench.all || strcmp(name, bench_steps[i].name) == 0) {
            bench.running = start_step(i);
            return bench.running ? SHELL_RUNNING : bench.status;
        }
    }
    kprintf("bench: no bench \"%s\"; there are\n", name);
    list();
    return SHELL_FAILED;
}

static void abort_bench(void)
{
    if (bench.split) {
        bench_split_stop();
    } else {
        end_step();
    }
    finish(SHELL_FAILED);
}

APP_WHILE(bench, NULL, bench.running, turn);
SHELL_COMMAND(bench, "[NAME|all]", "what each step costs on this machine", start_bench,
              abort_bench);
