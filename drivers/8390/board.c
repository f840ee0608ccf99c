/*
 * What boards with an 8390 share beside the chip.
 */
#include "drivers/8390/board.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "kernel/string.h"

enum { AWAIT_US = 20 * 1000, LINK_KBIT = 10000, CASCADE = 2, CASCADE_IS = 9 };

bool dp8390_await(struct ioport port, unsigned reg, unsigned bits)
{
    struct deadline limit;

    if ((io_in8(port, reg) & bits) != 0) {
        return true; /* nearly always: no clock is read */
    }
    limit = deadline_us(AWAIT_US);
    while ((io_in8(port, reg) & bits) == 0) {
        if (expired(&limit)) {
            return false;
        }
    }
    return true;
}

int dp8390_await_reset(const struct dp8390 *d)
{
    return dp8390_await(d->reg, ISR, ISR_RST) ? 0 : E_TIMEOUT;
}

void dp8390_describe(struct dp8390 *d, const char *model, const uint8_t mac[6])
{
    struct nic *nic = d->nic;

    memcpy(nic->mac, mac, sizeof(nic->mac));
    format(nic->model, sizeof(nic->model), "%s", model);
    nic->width = d->word ? 16 : 8;
    nic->place.mem = d->window.base;
    nic->ring_kb = (uint16_t)((unsigned)(d->rx_stop - d->rx_start) * DP8390_PAGE / 1024);
    nic->link_kbit = LINK_KBIT;
    nic->ops = &dp8390_ops;
}

static void provoke(void *arg)
{
    dp8390_ops.irq_provoke(arg);
}

static void quiet(void *arg)
{
    dp8390_ops.irq_disarm(arg);
}

static bool is_heard(struct dp8390 *d, int line, void (*route)(struct dp8390 *d, int line))
{
    if ((irq_lines_in_use() >> line & 1) != 0) {
        return false;
    }
    route(d, line);
    return irq_find((uint16_t)(1U << line), provoke, quiet, d->nic) == line;
}

void dp8390_choose_line(struct dp8390 *d, const uint8_t lines[],
                        void (*route)(struct dp8390 *d, int line))
{
    int *given = &d->nic->place.irq;
    int line = IRQ_NONE;

    *given = *given == CASCADE ? CASCADE_IS : *given;
    for (const uint8_t *l = lines; *l != 0 && line == IRQ_NONE && !options.poll; l++) {
        line = *l == *given && is_heard(d, *l, route) ? *l : IRQ_NONE;
    }
    for (const uint8_t *l = lines; *l != 0 && line == IRQ_NONE && !options.poll; l++) {
        line = *l != *given && is_heard(d, *l, route) ? *l : IRQ_NONE;
    }
    dp8390_stop(d);
    if (line == IRQ_NONE) {
        route(d, IRQ_NONE);
    } else if (*given == IRQ_NONE) {
        *given = line;
    }
}
