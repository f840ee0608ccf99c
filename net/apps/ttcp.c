/*
 * The `ttcp` command: -t sends COUNT buffers of LEN bytes to HOST; -r waits for the next test.
 * Options as in classic ttcp (NEEDS.md 3.1); sending itself is in ttcp_send.c.
 */
#include "drivers/nic.h"
#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/shell.h"
#include "kernel/string.h"
#include "net/apps/client.h"
#include "net/apps/ttcp_send.h"
#include "net/apps/ttcp_serve.h"

enum {
    LEN_DEFAULT = 8192,
    COUNT_DEFAULT = 2048,
    LEN_UDP_MIN = 5,       /* 4 bytes and less are sentinels           */
    LEN_TCP_MAX = 1 << 20, /* any would do; people ask for 64 KB at most */
};

static bool transmitting; /* which of the two the running command is */

static int usage(void)
{
    kprintf("usage: ttcp -t [-u] [-l LEN] [-n COUNT] [-p PORT] [-D] HOST | -r [-u] [-p PORT]\n");
    return SHELL_FAILED;
}

/* ---- arguments ---- */

struct arguments {
    bool transmit, receive;
    bool for_sending; /* something that -r has no use for */
    struct ttcp_job job;
    const char *host;
};

/* Options that stand alone.  False if `a` is not one. */
static bool take_switch(void *arg, const char *a)
{
    struct arguments *args = arg;

    if (strcmp(a, "-t") == 0) {
        args->transmit = true;
    } else if (strcmp(a, "-r") == 0) {
        args->receive = true;
    } else if (strcmp(a, "-u") == 0) {
        args->job.udp = true;
    } else if (strcmp(a, "-D") == 0) {
        args->job.nodelay = args->for_sending = true;
    } else if (strcmp(a, "-s") != 0) { /* source and sink a pattern: we always do */
        return false;
    }
    return true;
}

/* Options with a number.  False, having said why, if it is not right. */
static bool take_number(void *arg, const char *a, const char *text)
{
    struct arguments *args = arg;
    uint32_t value;

    args->for_sending = args->for_sending || strcmp(a, "-p") != 0;
    if (strcmp(a, "-l") == 0) {
        return client_number("-l", text, 1, LEN_TCP_MAX, &args->job.length);
    }
    if (strcmp(a, "-n") == 0) {
        return client_number("-n", text, 1, INT32_MAX, &args->job.count);
    }
    if (strcmp(a, "-p") == 0 && client_number("-p", text, 1, UINT16_MAX, &value)) {
        args->job.port = (uint16_t)value;
        return true;
    }
    if (strcmp(a, "-p") != 0) {
        usage();
    }
    return false;
}

static const struct client_syntax syntax = {take_switch, take_number, usage};

/* ---- the two halves ---- */

static int start_transmit(struct arguments *args)
{
    int status;

    if (args->host == NULL) {
        return usage();
    }
    if (!client_host(args->host, &args->job.host)) {
        return SHELL_FAILED;
    }
    if (args->job.udp && args->job.length < LEN_UDP_MIN) {
        args->job.length = LEN_UDP_MIN; /* as classic ttcp does */
    }
    if (args->job.udp && args->job.length > TTCP_LEN_MAX) {
        kprintf("-l: a datagram holds at most %u bytes\n", (unsigned)TTCP_LEN_MAX);
        return SHELL_FAILED;
    }
    args->job.netif = client_route(&args->job.host, &status);
    if (args->job.netif == NULL) {
        return status;
    }
    transmitting = true;
    return ttcp_send(&args->job) == OK ? SHELL_RUNNING : SHELL_FAILED;
}

static void on_test_ended(bool ok)
{
    shell_done(ok ? SHELL_OK : SHELL_FAILED);
}

static int start_receive(const struct arguments *args)
{
    if (args->host != NULL || args->for_sending) {
        return usage();
    }
    if (nic_count == 0) {
        kprintf("no network card\n");
        return SHELL_NO_CARD;
    }
    if (ttcp_watch(args->job.port, args->job.udp, on_test_ended) != OK) {
        kprintf("cannot listen on port %u\n", args->job.port);
        return SHELL_FAILED;
    }
    transmitting = false;
    kprintf("ttcp-r: waiting on %s port %u\n", args->job.udp ? "UDP" : "TCP", args->job.port);
    return SHELL_RUNNING;
}

static int start_ttcp(int argc, char *argv[])
{
    struct arguments args = {
        .job = {.length = LEN_DEFAULT, .count = COUNT_DEFAULT, .port = TTCP_PORT}};

    if (!client_parse(&syntax, argc, argv, &args, &args.host)) {
        return SHELL_FAILED;
    }
    if (args.transmit == args.receive) {
        return usage();
    }
    return args.transmit ? start_transmit(&args) : start_receive(&args);
}

static void abort_ttcp(void)
{
    if (transmitting) {
        ttcp_send_abort();
    } else {
        ttcp_unwatch();
        shell_done(SHELL_FAILED);
    }
}

SHELL_COMMAND(ttcp, "-t [-u] [-l LEN] [-n COUNT] [-p PORT] [-D] HOST | -r [-u] [-p PORT]",
              "send to a ttcp receiver, or wait for the next test", start_ttcp, abort_ttcp);
