/*
 * NetBIOS names (RFC 1001 section 15, RFC 1002 section 4.2) by lwIP's responder; before it, the
 * question whether the name is free, and a guard: lwIP decodes a name until it meets a character
 * that cannot be one, answers before the name is ours, for every service of the name, and always
 * with the address of the default card.
 */
#include "kernel/string.h"
#include "lwip/apps/netbiosns.h"
#include "lwip/ip.h"
#include "lwip/prot/iana.h"
#include "net/clock.h"
#include "net/names.h"
#include "net/names_parts.h"
#include "net/nicif.h"

enum {
    ASKS = 3,        /* BCAST_REQ_RETRY_COUNT, RFC 1002 section 6 */
    ASK_US = 250000, /* BCAST_REQ_RETRY_TIMEOUT                   */
    FLAGS_AT = 2,
    COUNTS_AT = 4,
    ANSWERS_AT = 6,
    NAME_AT = 12,
    ENCODED = 32, /* two characters a byte, 'A' + its half */
    TYPE_AT = NAME_AT + 1 + ENCODED + 1,
    QUESTION = TYPE_AT + 4,
    SUFFIX_AT = NAME_AT + 1 + ENCODED - 2,
    RESPONSE = 0x80,  /* of the first byte of the flags           */
    OPCODE = 0x78,    /* ... 0: name query                        */
    ERROR = 0x0F,     /* of the second                            */
    ASK_ALL = 0x0110, /* recursion desired, broadcast             */
    TYPE_NB = 0x20,
    CLASS_IN = 1,
    HALF_BITS = 4,
    CASE_BIT = 'a' - 'A',
};

/* The 16th byte of a name tells the service: these are what a file client asks for. */
enum { WORKSTATION = 0x00, SERVER = 0x20 };

static struct asking {
    unsigned left; /* questions still to be sent, and then one pause */
    uint64_t next_us;
    uint16_t id;
} askings[NIC_MAX];

static struct udp_pcb *socket;
static udp_recv_fn lwip_receive;
static uint8_t encoded[ENCODED]; /* our name, as a workstation */

static struct asking *asking_of(const struct netif *netif)
{
    return &askings[nicif_nic(netif)->index];
}

/* ---- names on the wire ---- */

static void encode_byte(uint8_t *to, uint8_t byte)
{
    to[0] = (uint8_t)('A' + (byte >> HALF_BITS));
    to[1] = (uint8_t)('A' + (byte & 0x0F));
}

/* Upper case, blanks to 15 bytes, then the service. */
static void encode(const char *name)
{
    for (unsigned i = 0; i < ENCODED / 2 - 1; i++) {
        char c = *name == '\0' ? ' ' : *name++;

        encode_byte(encoded + 2 * i, (uint8_t)(c >= 'a' && c <= 'z' ? c - CASE_BIT : c));
    }
    encode_byte(encoded + ENCODED - 2, WORKSTATION);
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* The same name in whatever service's version. */
static bool is_our_name(const uint8_t *message)
{
    return message[NAME_AT] == ENCODED &&
           memcmp(message + NAME_AT + 1, encoded, ENCODED - 2) == 0 &&
           message[NAME_AT + 1 + ENCODED] == 0;
}

/* A question for our name that lwIP's responder can be trusted with. */
static bool is_for_us(const uint8_t *message)
{
    uint8_t server[2], workstation[2];

    encode_byte(server, SERVER);
    encode_byte(workstation, WORKSTATION);
    return (message[FLAGS_AT] & OPCODE) == 0 && get16(message + COUNTS_AT) == 1 &&
           is_our_name(message) && get16(message + TYPE_AT) == TYPE_NB &&
           (memcmp(message + SUFFIX_AT, server, 2) == 0 ||
            memcmp(message + SUFFIX_AT, workstation, 2) == 0);
}

/* ---- asking ---- */

static void send_question(struct netif *netif, const struct asking *a)
{
    struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, QUESTION, PBUF_RAM);
    uint8_t *message;
    ip_addr_t all;

    if (p == NULL) {
        return; /* there are two more */
    }
    message = p->payload;
    memset(message, 0, QUESTION);
    put16(message, a->id);
    put16(message + FLAGS_AT, ASK_ALL);
    put16(message + COUNTS_AT, 1);
    message[NAME_AT] = ENCODED;
    memcpy(message + NAME_AT + 1, encoded, ENCODED);
    put16(message + TYPE_AT, TYPE_NB);
    put16(message + TYPE_AT + 2, CLASS_IN);
    ip_addr_set_ip4_u32(&all, netif_ip4_addr(netif)->addr | ~netif_ip4_netmask(netif)->addr);
    udp_sendto_if(socket, p, &all, LWIP_IANA_PORT_NETBIOS, netif);
    pbuf_free(p);
}

void netbios_ask(const struct netif *netif)
{
    *asking_of(netif) = (struct asking){
        .left = ASKS + 1,
        .next_us = clock_us(),
        .id = (uint16_t)LWIP_RAND(),
    };
}

static void go_on(struct netif *netif, struct asking *a)
{
    a->next_us = clock_us() + ASK_US;
    if (--a->left == 0) {
        names_netbios_free(netif);
    } else {
        send_question(netif, a);
    }
}

void netbios_tick(void)
{
    for (unsigned i = 0; i < nic_count; i++) {
        if (askings[i].left != 0 && clock_us() >= askings[i].next_us) {
            go_on(nicif_netif(&nics[i]), &askings[i]);
        }
    }
}

/* ---- the guard ---- */

/* Does somebody say that the name we ask about is theirs? */
static void hear_answer(const uint8_t *message, const ip_addr_t *from)
{
    struct asking *a = asking_of(ip_current_input_netif());

    if (a->left != 0 && get16(message) == a->id && (message[FLAGS_AT] & OPCODE) == 0 &&
        (message[FLAGS_AT + 1] & ERROR) == 0 && get16(message + ANSWERS_AT) != 0 &&
        is_our_name(message)) {
        a->left = 0;
        names_conflict(from);
    }
}

/* From the card and with the address of the card that was asked. */
static void answer(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                   u16_t port)
{
    struct netif *usual = netif_default;

    netif_default = ip_current_input_netif();
    ip_addr_copy_from_ip4(pcb->local_ip, *netif_ip4_addr(netif_default));
    lwip_receive(arg, pcb, p, from, port);
    ip_addr_set_any_val(false, pcb->local_ip);
    netif_default = usual;
}

static void receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
                    u16_t port)
{
    const struct netif *netif = ip_current_input_netif();
    uint8_t message[QUESTION];

    (void)arg;
    if (p->len < QUESTION || names_own_address(from)) { /* lwIP wants it in one piece */
        pbuf_free(p);
        return;
    }
    memcpy(message, p->payload, QUESTION);
    if ((message[FLAGS_AT] & RESPONSE) != 0) {
        hear_answer(message, from);
        pbuf_free(p);
    } else if (is_for_us(message) && names_ours(nicif_nic(netif)->index)) {
        hold_until_proven(pcb, p, from, port, answer);
    } else {
        pbuf_free(p);
    }
}

/* ---- lwIP ---- */

void netbios_rename(const char *name)
{
    netbiosns_set_name(name);
    encode(name);
}

/* lwIP keeps its socket to itself: the one that has just been bound is the first of the list. */
void netbios_start(void)
{
    netbiosns_init();
    socket = udp_pcbs;
    lwip_receive = socket->recv;
    udp_recv(socket, receive, NULL);
}
