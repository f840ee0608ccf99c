/*
 * The browser of web_rig.h.
 */
#include "tests/host/web_rig.h"

#include <string.h>

enum { PORT = 80, FROM = 41000, KEPT_FOR_GET = 8, GETS = WEB_BROWSERS - KEPT_FOR_GET };

struct browser browsers[WEB_BROWSERS];

bool web_dial(struct browser *b)
{
    static unsigned port = FROM;

    memset(b, 0, sizeof(*b));
    if (!peer_tcp_connect(&b->tcp, &peer, port++, BOX_IP, PORT)) {
        return false;
    }
    b->tcp.keeps = (uint8_t *)b->reply;
    b->tcp.keeps_room = WEB_ROOM - 1;
    b->tcp.close_back = true;
    return true;
}

void web_ask(struct browser *b, const char *request)
{
    b->tcp.says = (const uint8_t *)request;
    b->tcp.says_bytes = (unsigned)strlen(request);
    ck_assert(peer_tcp_send(&b->tcp, (unsigned)strlen(request)));
}

bool web_call(struct browser *b, const char *request)
{
    bool open = web_dial(b);

    if (open) {
        web_ask(b, request);
    }
    return open;
}

bool web_ended(void *arg)
{
    const struct peer_tcp *c = arg;

    return c->fin_seen || c->reset_seen;
}

const char *web_get(const char *request)
{
    static unsigned next;
    struct browser *b = &browsers[KEPT_FOR_GET + next++ % GETS];

    peer_tcp_forget(&b->tcp);
    ck_assert(web_call(b, request));
    ck_assert(rig_until(web_ended, &b->tcp, 9000));
    rig_run_ms(50);
    peer_tcp_forget(&b->tcp);
    return b->reply;
}

bool web_refused(struct browser *b)
{
    bool open = web_dial(b);

    rig_run_ms(20);
    peer_tcp_forget(&b->tcp);
    return !open || b->tcp.reset_seen;
}

void web_hang_up(struct browser *b)
{
    peer_tcp_flags(&b->tcp, T_RST | T_ACK);
    rig_run_ms(20);
    peer_tcp_forget(&b->tcp);
}

bool web_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

unsigned web_times(const char *text, const char *part)
{
    unsigned n = 0;

    while ((text = strstr(text, part)) != NULL) {
        n++;
        text++;
    }
    return n;
}
