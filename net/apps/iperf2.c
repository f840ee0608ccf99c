/*
 * The `iperf` command: options as iperf2's client has them.
 */
#include "kernel/console.h"
#include "kernel/error.h"
#include "kernel/shell.h"
#include "kernel/string.h"
#include "net/apps/client.h"
#include "net/apps/iperf2_client.h"
#include "net/apps/iperf2_send_udp.h"
#include "net/apps/ttcp_serve.h"

enum {
    SECONDS = 10, /* if nothing is said */
    SECONDS_MAX = 86400,
    LENGTH_TCP_MAX = 1 << 20,
    RATE_MAX = 1000000000,
    US_PER_S = 1000000,
};

static int usage(void)
{
    kprintf("usage: iperf [-u] [-b RATE] [-t SEC|-n BYTES] [-l LEN] [-P N] [-R] [-p PORT] HOST\n");
    return SHELL_FAILED;
}

struct arguments {
    struct iperf2_job job;
    uint32_t seconds, bytes, length, rate; /* 0: not said */
    const char *host;
};

/* Options that stand alone.  False if `a` is not one. */
static bool take_switch(void *arg, const char *a)
{
    struct arguments *args = arg;

    if (strcmp(a, "-u") == 0) {
        args->job.udp = true;
    } else if (strcmp(a, "-R") == 0) {
        args->job.request.reverse = true;
    } else if (strcmp(a, "-c") != 0) { /* we are always a client: people type it all the same */
        return false;
    }
    return true;
}

/* Options with a number.  False, having said why, if it is not right. */
static bool take_number(void *arg, const char *a, const char *text)
{
    struct arguments *args = arg;
    uint32_t value;

    if (strcmp(a, "-b") == 0) {
        return client_rate("-b", text, RATE_MAX, &args->rate);
    }
    if (strcmp(a, "-t") == 0) {
        return client_number("-t", text, 1, SECONDS_MAX, &args->seconds);
    }
    if (strcmp(a, "-n") == 0) {
        return client_number("-n", text, 1, INT32_MAX, &args->bytes);
    }
    if (strcmp(a, "-l") == 0) {
        return client_number("-l", text, 1, LENGTH_TCP_MAX, &args->length);
    }
    if (strcmp(a, "-P") == 0) {
        return client_number("-P", text, 1, IPERF2_PARALLEL_MAX, &args->job.streams);
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

static bool parse(int argc, char *argv[], struct arguments *args)
{
    if (!client_parse(&syntax, argc, argv, args, &args->host)) {
        return false;
    }
    if (args->host == NULL) {
        usage();
    }
    return args->host != NULL;
}

/* What goes together, and what was not said. */
static bool complete(struct arguments *args)
{
    struct iperf2_request *r = &args->job.request;
    bool udp = args->job.udp;

    if (args->seconds != 0 && args->bytes != 0) {
        kprintf("-t or -n, not both\n");
        return false;
    }
    r->bytes = args->bytes;
    r->us =
        args->bytes != 0 ? 0 : (uint64_t)(args->seconds != 0 ? args->seconds : SECONDS) * US_PER_S;
    r->length = args->length != 0 ? args->length : udp ? IPERF2_UDP_LENGTH : IPERF2_TCP_LENGTH;
    r->rate = args->rate != 0 ? args->rate : udp ? IPERF2_UDP_RATE : 0;
    r->port = args->job.port;
    if (udp && (r->length < IPERF2_UDP_NEW || r->length > IPERF2_UDP_LENGTH_MAX)) {
        kprintf("-l: a datagram holds %u to %u bytes\n", (unsigned)IPERF2_UDP_NEW,
                (unsigned)IPERF2_UDP_LENGTH_MAX);
        return false;
    }
    return true;
}

static int start_iperf(int argc, char *argv[])
{
    struct arguments args = {.job = {.port = TTCP_PORT, .streams = 1}};
    int status;

    if (!parse(argc, argv, &args) || !complete(&args) || !client_host(args.host, &args.job.host)) {
        return SHELL_FAILED;
    }
    args.job.netif = client_route(&args.job.host, &status);
    if (args.job.netif == NULL) {
        return status;
    }
    return iperf2_run(&args.job) == OK ? SHELL_RUNNING : SHELL_FAILED;
}

SHELL_COMMAND(iperf, "[-u] [-b RATE] [-t SEC|-n BYTES] [-l LEN] [-P N] [-R] [-p PORT] HOST",
              "measure towards an iperf2 server", start_iperf, iperf2_abort);
