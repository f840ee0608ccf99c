/*
 * Fuzz target: the words of nuttcp.
 *
 * Beyond memory errors, what must hold for any line: parameters that are accepted lie within their
 * limits and come to an end; nothing with a control character passes; a refusal is one clean line.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/apps/nuttcp_params.h"
#include "net/apps/nuttcp_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool true_or)
{
    if (!true_or) {
        abort();
    }
}

static bool is_clean(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            return false;
        }
    }
    return true;
}

static void check_params(const struct nuttcp_params *p)
{
    must(p->streams >= 1 && p->streams <= NUTTCP_STREAMS_MAX);
    must(p->port > 5000 && p->port + p->streams - 1 <= UINT16_MAX);
    must(p->len >= (p->udp ? (uint32_t)NUTTCP_UDP_LEN_MIN : 1));
    must(p->len <= (p->udp ? (uint32_t)NUTTCP_UDP_LEN_MAX : (uint32_t)NUTTCP_TCP_LEN_MAX));
    must(p->us != 0 || p->count != 0);
    must(p->us <= 86400000000 && p->interval_us <= 3600000000);
    must(p->bits_s <= UINT32_MAX);
    must(!p->udp || p->connects == p->sends);
    must(!p->udp || !p->sends || p->us <= NUTTCP_UDP_SECONDS_MAX * 1000000ull);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size == 0 ? 1 : size); /* exact, so that a byte read too far is seen */
    struct nuttcp_params params;
    const char *refusal;
    unsigned number;
    uint32_t resent;

    memcpy(text, data, size);
    nuttcp_is_greeting(text, size);
    refusal = nuttcp_read_params(text, size, &params);
    if (refusal == NULL) {
        must(memchr(text, '\r', size) != NULL || is_clean(text, size));
        check_params(&params);
    } else {
        must(is_clean(refusal, strlen(refusal)) && strlen(refusal) < 80);
    }
    if (size >= NUTTCP_MARK && nuttcp_read_mark(data, &number) != NUTTCP_NO_MARK) {
        must(number <= 9);
    }
    if (size >= 8) {
        uint8_t again[8];

        nuttcp_write_sent(again, nuttcp_read_sent(data));
        must(nuttcp_read_sent(again) == nuttcp_read_sent(data));
        nuttcp_read_retrans(data, &resent);
    }
    free(text);
    return 0;
}
