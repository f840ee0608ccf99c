/*
 * WD8003, WD8013, SMC Elite and SMC Ultra boards: where their memory can be, and the driver's
 * entry.
 */
#include "drivers/8390/board.h"
#include "drivers/8390/wd80x3.h"
#include "kernel/error.h"
#include "kernel/print.h"

enum {
    MOST_PAGES = 0xFF,
    DCR_BYTES = DCR_FIFO_8 | DCR_LOOPBACK_OFF,
    DCR_WORDS = DCR_FIFO_8 | DCR_LOOPBACK_OFF | DCR_WTS,
};

/* ---- its memory ---- */

static unsigned window_bytes(const struct dp8390 *d, const struct wd *wd,
                             const struct wd_look *look)
{
    return look->chip_bytes << (wd->kind != WD_ULTRA && d->word);
}

/* In force if it is good. */
static enum shmem_state try_memory(struct dp8390 *d, unsigned bytes)
{
    enum shmem_state state;

    wd_set_window(d);
    d->board->enable(d, true);
    state = shmem_test(d, 0, bytes);
    if (state != SHMEM_GOOD) {
        d->board->enable(d, false);
    }
    return state;
}

/* At `base`, as wide as possible.  A place where somebody answers already is left alone. */
static bool memory_at(struct dp8390 *d, struct wd_look *look, uint32_t base)
{
    const bool wide = d->word;
    const unsigned bytes = window_bytes(d, wd_of(d), look);
    enum shmem_state state = SHMEM_TAKEN;

    if (!shmem_base_possible(base, bytes)) {
        return false;
    }
    d->window.base = base;
    if (shmem_is_free(d->window, bytes)) {
        state = try_memory(d, bytes);
    }
    if (state == SHMEM_GOOD) {
        return true;
    }
    d->word = false;
    if (state != SHMEM_TAKEN && wide &&
        try_memory(d, window_bytes(d, wd_of(d), look)) == SHMEM_GOOD) {
        nic_log(d->nic, "its memory at 0x%x fails in 16 bits: using 8; is it deep in the slot?",
                (unsigned)base);
        return true;
    }
    d->word = wide;
    if (look->bad == 0) {
        look->bad = base;
        look->state = state;
    }
    return false;
}

/* The place the user named, or its own, or another one that is free. */
static bool find_memory(struct dp8390 *d, struct wd_look *look)
{
    static const uint32_t usual[] = {0xD0000, 0xCC000, 0xC8000, 0xD8000, 0xDC000};
    const uint32_t given = d->nic->place.mem;

    if (given != 0 || (look->own != 0 && memory_at(d, look, look->own))) {
        return given == 0 || memory_at(d, look, given);
    }
    for (unsigned i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (memory_at(d, look, usual[i])) {
            if (look->own != 0) {
                nic_log(d->nic, "its memory does not work at 0x%x: moved to 0x%x",
                        (unsigned)look->own, (unsigned)usual[i]);
            }
            return true;
        }
    }
    return false;
}

/* ---- probe ---- */

static int no_memory(struct dp8390 *d, const struct wd_look *look, char *why, size_t why_size)
{
    if (look->bad != 0) {
        shmem_explain(look->state, look->bad, why, why_size);
    } else {
        format(why, why_size, "its memory cannot be at 0x%x: use a multiple of 0x%x below 0xf0000",
               (unsigned)d->nic->place.mem, window_bytes(d, wd_of(d), look));
    }
    return E_HARDWARE;
}

/* From "it is one" to a complete struct nic.  Every failure leaves it stopped, off the bus. */
static int set_up(struct dp8390 *d, struct wd_look *look, char *why, size_t why_size)
{
    struct nic *nic = d->nic;
    const bool reset_seen = wd_pulse(d) == 0;
    unsigned pages;
    bool works;

    dp8390_stop(d);
    if (d->board == &wd_pipe_board) {
        wd_of(d)->rar = wd_of(d)->found_rar;
        d->board->enable(d, true);
        works = shmem_test(d, 0, look->chip_bytes) == SHMEM_GOOD;
        d->window.base = 0;
    } else {
        works = find_memory(d, look);
    }
    if (!works) {
        d->board->enable(d, false);
        return no_memory(d, look, why, why_size);
    }
    if (!reset_seen) {
        nic_log(nic, "no reset acknowledge; the rest works, going on");
    }
    d->dcr = d->word || wd_of(d)->kind == WD_ULTRA ? DCR_WORDS : DCR_BYTES;
    pages = window_bytes(d, wd_of(d), look) / DP8390_PAGE;
    d->rx_stop = (uint8_t)(pages > MOST_PAGES ? MOST_PAGES : pages);
    dp8390_stop(d);
    d->board->enable(d, false);
    return 0;
}

static int wd_probe(const struct nic_place *place, struct nic *nic, char *why, size_t why_size)
{
    struct dp8390 *d = dp8390_of(nic);
    struct wd_look look = {0};
    char model[sizeof(nic->model)];
    int error;

    *d = (struct dp8390){
        .reg = {(uint16_t)(place->io.base + WD_NIC)},
        .asic = place->io,
        .board = &wd_board,
        .nic = nic,
        .dcr = DCR_BYTES,
        .rx_start = DP8390_TX_SLOTS * DP8390_TX_PAGES,
    };
    nic->place = *place;
    if (!wd_look_at(d, &look, why, why_size)) {
        return E_NOT_FOUND;
    }
    wd_read_configuration(d, &look);
    nic->ops = &dp8390_ops;
    error = set_up(d, &look, why, why_size);
    if (error != 0) {
        return error;
    }
    format(model, sizeof(model), "%s%s", look.model->name,
           d->board == &wd_pipe_board ? ", I/O pipe" : "");
    dp8390_describe(d, model, look.lan);
    return 0;
}

static const uint16_t candidates[] = {0x280, 0x300, 0x240, 0x380, 0};

/* The one Plug and Play board of the family: smc-ultra.c (Linux). */
static const struct nic_pnp_id pnp_ids[] = {
    {"SMC8416", "SMC EtherEZ (8416)"},
    {"", NULL},
};

NIC_DRIVER(wd80x3_driver) = {
    .name = "wd80x3",
    .isa_candidates = candidates,
    .pnp_ids = pnp_ids,
    .order = NIC_ORDER_MEMORY,
    .probe = wd_probe,
};
