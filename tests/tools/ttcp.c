/*
 * ttcp for the host: a small one of the classic kind, so that a fresh machine has something to
 * talk to NicTest86 with.  It keeps the classic rules on the wire:
 *
 *   TCP  no header, no handshake; the end of the stream is the end of the test.
 *   UDP  a 4-byte datagram starts the test, another one ends it; the sender repeats the last one
 *        four times, in case one is lost.
 *
 * It differs in two points.  Data is always made and thrown away here (the classic -s).  And the
 * TCP sender stops its clock when the receiver has closed as well, not when the last byte went
 * into a local buffer: through an emulator's network most of a test fits into buffers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    SENTINEL = 4,            /* bytes; every UDP datagram up to this length is one     */
    UDP_MIN = 5,             /* so data has to be longer                               */
    LAST_SENTINELS = 5,      /* how often a sender says that it is done                */
    IDLE_SECONDS = 5,        /* silence after which a UDP receiver gives up            */
    NO_BUFFER_NS = 18000000, /* 18 ms, as in the classic program                  */
    CLOSE_SECONDS = 30,      /* how long a TCP sender waits for the receiver's close   */
    RECEIVE_MAX = 65536,     /* a datagram cannot be longer                           */
};

struct test {
    bool transmit, udp, no_delay, check;
    size_t length;       /* of one buffer                     */
    unsigned long count; /* buffers to send                   */
    unsigned pause_us;   /* between datagrams                 */
    const char *port, *host;
    char *buffer, *pattern;
    unsigned long long bytes, calls, wrong;
    bool timed_out;
    struct timespec begin, end;
};

static const char *name = "ttcp";

static void die(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", name, what, strerror(errno));
    exit(1);
}

static void usage(void)
{
    fputs("usage: ttcp -t [-options] host      send\n"
          "       ttcp -r [-options] [address] receive, on one of our addresses or on all\n"
          "  -l N  length of a buffer (8192)   -n N  buffers to send (2048)\n"
          "  -p N  port (5001)                 -u    UDP instead of TCP\n"
          "  -D    no delay (TCP_NODELAY)      -s    source or sink a pattern (always so)\n"
          "  -w N  microseconds between datagrams of -t -u\n"
          "  -c    check received TCP data against the pattern of buffers of length -l\n",
          stderr);
    exit(2);
}

/* The printable characters over and over, from the start in each buffer. */
static void fill_pattern(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (char)(' ' + i % ('~' - ' ' + 1));
    }
}

static double seconds(const struct test *t)
{
    double s = (double)(t->end.tv_sec - t->begin.tv_sec) +
               (double)(t->end.tv_nsec - t->begin.tv_nsec) / 1e9;
    return s > 1e-6 ? s : 1e-6;
}

static void now(struct timespec *t)
{
    clock_gettime(CLOCK_MONOTONIC, t);
}

static void receive_timeout(int s, int after_seconds)
{
    struct timeval limit = {.tv_sec = after_seconds};
    if (setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0) {
        die("setsockopt");
    }
}

/* A connected (-t) or bound (-r) socket. */
static int open_socket(const struct test *t)
{
    struct addrinfo want = {
        .ai_family = AF_INET,
        .ai_socktype = t->udp ? SOCK_DGRAM : SOCK_STREAM,
        .ai_flags = t->transmit ? 0 : AI_PASSIVE,
    };
    struct addrinfo *found;
    int error = getaddrinfo(t->host, t->port, &want, &found);
    if (error != 0) {
        fprintf(stderr, "%s: %s: %s\n", name, t->host ? t->host : t->port, gai_strerror(error));
        exit(1);
    }
    int s = socket(AF_INET, want.ai_socktype, 0);
    if (s < 0) {
        die("socket");
    }
    fprintf(stderr, "%s: socket\n", name);
    int on = 1;
    if (t->no_delay && !t->udp && setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) {
        die("TCP_NODELAY");
    }
    if (t->transmit) {
        if (connect(s, found->ai_addr, found->ai_addrlen) < 0) {
            die("connect");
        }
        fprintf(stderr, "%s: connect\n", name);
    } else {
        if (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
            bind(s, found->ai_addr, found->ai_addrlen) < 0) {
            die("bind");
        }
    }
    freeaddrinfo(found);
    return s;
}

/* Wait for the sender. */
static int accept_one(int listener)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    if (listen(listener, 1) < 0) {
        die("listen");
    }
    int s = accept(listener, (struct sockaddr *)&peer, &size);
    if (s < 0) {
        die("accept");
    }
    close(listener);
    fprintf(stderr, "%s: accept from %s\n", name, inet_ntoa(peer.sin_addr));
    return s;
}

static void send_tcp(struct test *t, int s)
{
    now(&t->begin);
    for (unsigned long i = 0; i < t->count; i++) {
        for (size_t done = 0; done < t->length;) {
            ssize_t n = send(s, t->pattern + done, t->length - done, MSG_NOSIGNAL);
            if (n < 0) {
                die("send");
            }
            done += (size_t)n;
            t->bytes += (size_t)n;
            t->calls++;
        }
    }
    if (shutdown(s, SHUT_WR) < 0) {
        die("shutdown");
    }
    receive_timeout(s, CLOSE_SECONDS);
    ssize_t n;
    while ((n = recv(s, t->buffer, t->length, 0)) > 0) {
    }
    now(&t->end);
    t->timed_out = n < 0;
}

static void check_data(struct test *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (t->buffer[i] != t->pattern[(t->bytes + i) % t->length]) {
            t->wrong++;
        }
    }
}

static void receive_tcp(struct test *t, int s)
{
    ssize_t n;
    now(&t->begin);
    while ((n = recv(s, t->buffer, t->length, 0)) > 0) {
        if (t->check) {
            check_data(t, (size_t)n);
        }
        t->bytes += (size_t)n;
        t->calls++;
    }
    now(&t->end);
    if (n < 0) {
        die("recv");
    }
}

/* One datagram.  "No buffer space" means that the network card is behind: try again. */
static void send_datagram(const struct test *t, int s, size_t n)
{
    struct timespec pause = {.tv_nsec = (long)t->pause_us * 1000};
    while (send(s, t->pattern, n, 0) < 0) {
        if (errno != ENOBUFS) {
            die("send");
        }
        nanosleep(&(struct timespec){.tv_nsec = NO_BUFFER_NS}, NULL);
    }
    if (t->pause_us != 0) {
        nanosleep(&pause, NULL);
    }
}

static void send_udp(struct test *t, int s)
{
    now(&t->begin);
    send_datagram(t, s, SENTINEL);
    for (unsigned long i = 0; i < t->count; i++) {
        send_datagram(t, s, t->length);
        t->bytes += t->length;
        t->calls++;
    }
    send_datagram(t, s, SENTINEL);
    now(&t->end);
    /* The receiver may be gone by now, which is its right: errors do not matter here. */
    for (int i = 1; i < LAST_SENTINELS; i++) {
        usleep(t->pause_us);
        (void)send(s, t->pattern, SENTINEL, 0);
    }
}

/* Data may come before the start sentinel, or without it, when that was lost. */
static void receive_udp(struct test *t, int s)
{
    bool started = false;
    for (;;) {
        ssize_t n = recv(s, t->buffer, RECEIVE_MAX, 0);
        if (n < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                die("recv");
            }
            t->timed_out = true;
            return;
        }
        bool sentinel = n <= SENTINEL;
        if (!started) {
            started = true;
            now(&t->begin);
            receive_timeout(s, IDLE_SECONDS);
        } else if (sentinel) {
            now(&t->end);
            return;
        }
        if (!sentinel) {
            t->bytes += (size_t)n;
            t->calls++;
        }
        now(&t->end);
    }
}

static int report(const struct test *t)
{
    double s = seconds(t);
    double calls = t->calls != 0 ? (double)t->calls : 1;
    printf("%s: %llu bytes in %.2f real seconds = %.2f KB/sec +++\n", name, t->bytes, s,
           (double)t->bytes / 1024 / s);
    printf("%s: %llu I/O calls, msec/call = %.2f, calls/sec = %.2f\n", name, t->calls,
           s * 1000 / calls, (double)t->calls / s);
    if (t->timed_out) {
        printf("%s: the other end did not finish\n", name);
    }
    if (t->check && !t->udp) {
        printf("%s: %llu wrong bytes\n", name, t->wrong);
    }
    return t->wrong != 0 || t->timed_out;
}

static unsigned long number(const char *text, unsigned long low, unsigned long high)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *text == '-' || *end != '\0' || errno != 0 || value < low ||
        value > high) {
        fprintf(stderr, "%s: %s: want a number from %lu to %lu\n", name, text, low, high);
        exit(2);
    }
    return value;
}

static void parse(struct test *t, int argc, char *argv[])
{
    bool receive = false;
    int option;
    while ((option = getopt(argc, argv, "trusDcl:n:p:w:")) != -1) {
        switch (option) {
        case 't': t->transmit = true; break;
        case 'r': receive = true; break;
        case 'u': t->udp = true; break;
        case 's': break;
        case 'D': t->no_delay = true; break;
        case 'c': t->check = true; break;
        case 'l': t->length = number(optarg, 1, 1 << 20); break;
        case 'n': t->count = number(optarg, 1, 1000000000); break;
        case 'p':
            number(optarg, 1, 65535);
            t->port = optarg;
            break;
        case 'w': t->pause_us = (unsigned)number(optarg, 0, 999999); break;
        default: usage();
        }
    }
    if (t->transmit == receive || argc - optind > 1 || (t->transmit && argc == optind)) {
        usage();
    }
    t->host = argv[optind];
    if (t->udp && t->length < UDP_MIN) {
        t->length = UDP_MIN;
    }
}

int main(int argc, char *argv[])
{
    struct test t = {.length = 8192, .count = 2048, .port = "5001"};
    parse(&t, argc, argv);
    name = t.transmit ? "ttcp-t" : "ttcp-r";
    t.buffer = malloc(t.length > RECEIVE_MAX ? t.length : RECEIVE_MAX);
    t.pattern = malloc(t.length < SENTINEL ? SENTINEL : t.length);
    if (t.buffer == NULL || t.pattern == NULL) {
        die("malloc");
    }
    fill_pattern(t.pattern, t.length < SENTINEL ? SENTINEL : t.length);
    setvbuf(stdout, NULL, _IOLBF, 0);
    fprintf(stderr, "%s: buflen=%zu, nbuf=%lu, port=%s  %s  %s %s\n", name, t.length, t.count,
            t.port, t.udp ? "udp" : "tcp", t.transmit ? "->" : "<-", t.host ? t.host : "any");
    int s = open_socket(&t);
    if (!t.udp && !t.transmit) {
        s = accept_one(s);
    }
    if (t.transmit) {
        (t.udp ? send_udp : send_tcp)(&t, s);
    } else {
        (t.udp ? receive_udp : receive_tcp)(&t, s);
    }
    close(s);
    free(t.buffer);
    free(t.pattern);
    return report(&t);
}
