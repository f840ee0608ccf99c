/*
 * Fuzz target: the JSON reader and the parameters of iperf3.
 *
 * Beyond memory errors, what must hold for any text: a walk visits values that lie inside their
 * container, in order, and are JSON by themselves; parameters that are accepted lie within their
 * limits; and nothing that JSON forbids in all cases (control characters, an open bracket) passes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/apps/iperf3_params.h"
#include "net/apps/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool true_or)
{
    if (!true_or) {
        abort();
    }
}

static void walk_through(const struct json *container, unsigned depth)
{
    struct json_walk walk = json_walk(container);
    struct json key, value, again;
    const char *behind = container->at;
    int64_t n;

    must(depth <= JSON_DEPTH);
    while (json_next(&walk, &key, &value)) {
        must(value.at > behind && value.end > value.at && value.end < container->end);
        must(json_open(value.at, (size_t)(value.end - value.at), &again));
        must(again.type == value.type && again.at == value.at && again.end == value.end);
        if (container->type == JSON_OBJECT) {
            must(key.type == JSON_STRING && key.at > behind && key.end < value.at);
        }
        must(json_number(&value, 3, &n) == (value.type == JSON_NUMBER));
        json_flag(&value);
        walk_through(&value, depth + 1);
        behind = value.end;
    }
}

static void check_params(const struct iperf3_params *p)
{
    must(p->parallel >= 1 && p->parallel <= IPERF3_PARALLEL_MAX);
    must(p->sends || p->receives);
    must(p->len >= (p->udp ? p->counters_64bit ? 16u : 12u : 1u));
    must(p->len <= (p->udp ? (uint32_t)IPERF3_UDP_LEN_MAX : 1u << 20));
    must(p->burst >= 1 && p->time_s <= 86400 && p->omit_s <= 600);
    must(iperf3_streams(p) <= IPERF3_STREAMS_MAX);
}

static bool has_control_character(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] < ' ' && strchr("\t\n\r", data[i]) == NULL) {
            return true;
        }
    }
    return memchr(data, 0, size) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size == 0 ? 1 : size); /* exact, so that a byte read too far is seen */
    struct iperf3_params params;
    struct json root;

    memcpy(text, data, size);
    if (json_open(text, size, &root)) {
        must(!has_control_character(data, size));
        walk_through(&root, 0);
    }
    if (iperf3_read_params(text, size, &params) == IPERF3_OK) {
        check_params(&params);
    }
    free(text);
    return 0;
}
