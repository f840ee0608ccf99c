/*
 * See peer_link.h.
 */
#include "tests/bench/peer_link.h"

enum {
    ISN = 0x10000000,
    ACK_EVERY = 2,
};

static struct peer_segment next_of(const struct peer_link *l, unsigned flags, unsigned length)
{
    return (struct peer_segment){
        .from_port = l->our_port,
        .to_port = l->box_port,
        .window = l->window,
        .seq = l->snd_nxt,
        .ack = (flags & FLAG_ACK) != 0 ? l->rcv_nxt : 0,
        .flags = flags,
        .length = length,
    };
}

static void send(struct peer_link *l, const struct peer_segment *s)
{
    l->unacknowledged = 0;
    l->snd_nxt += s->length + ((s->flags & (FLAG_SYN | FLAG_FIN)) != 0);
    peer_send_segment(s);
}

void peer_link_send(struct peer_link *l, unsigned flags, unsigned length)
{
    struct peer_segment s = next_of(l, flags, length);

    send(l, &s);
}

void peer_link_say(struct peer_link *l, const void *data, unsigned n)
{
    struct peer_segment s = next_of(l, FLAG_ACK | FLAG_PSH, n);

    s.data = data;
    send(l, &s);
}

void peer_link_open(struct peer_link *l, uint16_t our_port, uint16_t box_port, uint16_t window)
{
    *l = (struct peer_link){.state = SYN_SENT,
                            .box_port = box_port,
                            .our_port = our_port,
                            .window = window,
                            .snd_nxt = ISN,
                            .snd_una = ISN};
    peer_link_send(l, FLAG_SYN, 0);
}

void peer_link_accept(struct peer_link *l, const struct peer_seen *seen, uint16_t window)
{
    *l = (struct peer_link){.state = OPEN,
                            .box_port = seen->from_port,
                            .our_port = seen->to_port,
                            .window = window,
                            .rcv_nxt = seen->seq + 1,
                            .snd_nxt = ISN,
                            .snd_una = ISN};
    peer_link_send(l, FLAG_SYN | FLAG_ACK, 0);
}

/* Data and FIN.  What is out of order is not kept; the acknowledgement says what was expected. */
static void take_data(struct peer_link *l, const struct peer_seen *seen)
{
    bool fin = (seen->flags & FLAG_FIN) != 0;

    if (seen->length == 0 && !fin) {
        return;
    }
    if (seen->seq != l->rcv_nxt) {
        l->unacknowledged = ACK_EVERY;
    } else {
        l->rcv_nxt += seen->length + fin;
        l->heard += seen->length;
        l->unacknowledged++;
        l->box_finished = fin;
        if (fin && l->state == OPEN) {
            peer_link_send(l, FLAG_FIN | FLAG_ACK, 0);
            l->state = FIN_SENT;
        } else if (fin) {
            l->unacknowledged = ACK_EVERY;
        }
    }
    if (l->unacknowledged >= ACK_EVERY) {
        peer_link_send(l, FLAG_ACK, 0);
    }
}

void peer_link_take(struct peer_link *l, const struct peer_seen *seen)
{
    if (l->state == CLOSED || seen->from_port != l->box_port || seen->to_port != l->our_port) {
        return;
    }
    if ((seen->flags & FLAG_RST) != 0) {
        l->state = CLOSED;
        return;
    }
    if (l->state == SYN_SENT && (seen->flags & FLAG_SYN) != 0) {
        l->rcv_nxt = seen->seq + 1;
        l->snd_una = seen->ack;
        l->snd_wnd = seen->window;
        l->state = OPEN;
        peer_link_send(l, FLAG_ACK, 0);
        return;
    }
    if ((int32_t)(seen->ack - l->snd_una) > 0) {
        l->snd_una = seen->ack;
    }
    l->snd_wnd = seen->window;
    take_data(l, seen);
}

void peer_link_calm(struct peer_link *l)
{
    if (l->unacknowledged != 0 && l->state != CLOSED) {
        peer_link_send(l, FLAG_ACK, 0);
    }
}

bool peer_link_over(const struct peer_link *l)
{
    return l->state == FIN_SENT && l->snd_una == l->snd_nxt && l->box_finished;
}
