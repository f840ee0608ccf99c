/*
 * Which interrupt line does a card drive?  Nothing is believed: a line counts only if it interrupts
 * when the card is made to, every time.
 *
 * First the line that is noted (jumper, configuration space, nic=), then those that other cards
 * have already and that can be shared, then every free one.  Not found: the card is polled, and one
 * line says what to change: also where the card drives a line that somebody has.
 */
#include "drivers/nic_prove.h"
#include "drivers/nic.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/pic.h"
#include "kernel/print.h"
#include "kernel/record.h"

enum {
    PROVE_US = 50000, /* an emulator on a busy host is late */
    PROVE_ROUNDS = 3,
    TAKEN_US = 2000, /* only to say what is wrong: an interrupt takes microseconds */
    OWNER_BYTES = 40,
    LINES_BYTES = 40,
};

/* Lines an ISA card can drive; not timer, keyboard, cascade, floppy, clock, FPU, disk. */
enum {
    ISA_LINES =
        1U << 3 | 1U << 4 | 1U << 5 | 1U << 7 | 1U << 9 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 15,
};

/* What else may sit on a line of an AT (IBM AT Technical Reference, and custom). */
static const struct {
    int line;
    const char *owner;
} customary[] = {
    {1, "the keyboard"},
    {3, "COM2"},
    {4, "COM1"},
    {5, "LPT2 and many sound cards"},
    {7, "LPT1"},
    {12, "a PS/2 mouse"},
    {14, "the disk controller"},
    {15, "the second disk controller"},
};

static const char *customary_owner(int line)
{
    for (unsigned i = 0; i < sizeof(customary) / sizeof(customary[0]); i++) {
        if (customary[i].line == line) {
            return customary[i].owner;
        }
    }
    return NULL;
}

static uint16_t bit(int line)
{
    return (uint16_t)(1U << line);
}

/* ---- making the card interrupt ---- */

static void provoke(void *arg)
{
    struct nic *nic = arg;

    nic->ops->irq_provoke(nic);
}

static void quiet(void *arg)
{
    struct nic *nic = arg;

    nic->ops->irq_disarm(nic);
}

/*
 * Lines that other cards have: ours listens on all of them that are level-triggered while it is
 * searched for.  Also because on one of them nobody else would silence it: a storm.
 */
struct trial {
    struct nic *nic;
    volatile unsigned claims;
};

static struct trial trials[IRQ_LINES];

/* INTERRUPT CONTEXT. */
static bool on_trial(void *arg)
{
    struct trial *trial = arg;

    if (trial->nic->ops->irq_ack(trial->nic) == 0) {
        return false;
    }
    trial->claims++;
    return true;
}

/* Returns the lines that could be joined. */
static uint16_t join(struct nic *nic, uint16_t lines)
{
    uint16_t joined = 0;

    for (int i = 0; i < IRQ_LINES; i++) {
        trials[i] = (struct trial){.nic = nic};
        if ((lines & bit(i)) != 0 && pic_is_level(i) && irq_attach(i, on_trial, &trials[i]) == 0) {
            joined |= bit(i);
        }
    }
    return joined;
}

static void leave(uint16_t joined)
{
    for (int i = 0; i < IRQ_LINES; i++) {
        if ((joined & bit(i)) != 0) {
            irq_detach(i, on_trial, &trials[i]);
        }
    }
}

static unsigned all_claims(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < IRQ_LINES; i++) {
        sum += trials[i].claims;
    }
    return sum;
}

/* The one of the joined lines on which the card is heard each time it is provoked. */
static int find_shared(struct nic *nic, uint16_t joined)
{
    for (unsigned i = 0; i < IRQ_LINES; i++) {
        trials[i].claims = 0;
    }
    for (unsigned round = 0; joined != 0 && round < PROVE_ROUNDS; round++) {
        struct deadline limit = deadline_us(PROVE_US);

        provoke(nic);
        while (all_claims() == round && !expired(&limit)) {
        }
        quiet(nic);
        if (all_claims() == round) {
            return IRQ_NONE;
        }
    }
    for (int i = 0; i < IRQ_LINES; i++) {
        if (trials[i].claims == PROVE_ROUNDS) {
            return i;
        }
    }
    return IRQ_NONE;
}

/*
 * A line of somebody else's on which there is an interrupt nobody takes each time ours is provoked:
 * that is where its jumper is.
 */
static int find_taken(struct nic *nic, uint16_t used)
{
    uint16_t left = used;

    for (unsigned round = 0; left != 0 && round < PROVE_ROUNDS; round++) {
        unsigned before[IRQ_LINES];

        for (int i = 0; i < IRQ_LINES; i++) {
            before[i] = irq_unclaimed(i);
        }
        provoke(nic);
        delay_us(TAKEN_US);
        quiet(nic);
        for (int i = 0; i < IRQ_LINES; i++) {
            left &= irq_unclaimed(i) != before[i] ? 0xFFFF : (uint16_t)~bit(i);
        }
    }
    for (int i = 0; i < IRQ_LINES; i++) {
        if (left == bit(i)) {
            return i;
        }
    }
    return IRQ_NONE;
}

/* What is known of the card's line. */
struct line_search {
    int given;     /* noted by jumper, firmware or user           */
    uint16_t used; /* lines that somebody has                     */
    int taken;     /* the card drives this one, and cannot have it */
};

static int search(struct nic *nic, struct line_search *s)
{
    const uint16_t joined = join(nic, s->used);
    uint16_t lines = ISA_LINES & (uint16_t)~s->used;
    int found = IRQ_NONE;

    if (s->given != IRQ_NONE && (s->used & bit(s->given)) == 0) {
        lines &= (uint16_t)~bit(s->given);
        found = irq_find(bit(s->given), provoke, quiet, nic);
    }
    if (found == IRQ_NONE) {
        found = find_shared(nic, joined);
        if (found != IRQ_NONE && found != s->given && nic->place.bus == NIC_ISA) {
            s->taken = found; /* it drives its line both ways: shared only if the user says so */
            found = IRQ_NONE;
            lines = 0;
        }
    }
    found = found != IRQ_NONE ? found : irq_find(lines, provoke, quiet, nic);
    leave(joined);
    nic->pending = 0;
    if (found == IRQ_NONE && s->taken == IRQ_NONE) {
        s->taken = find_taken(nic, s->used & (uint16_t)~joined);
        if (s->taken == IRQ_NONE && s->given != IRQ_NONE && !pic_is_level(s->given) &&
            (s->used & bit(s->given)) != 0) {
            s->taken = s->given; /* two drivers on one wire: who wins is not for sure */
        }
    }
    return found;
}

/* ---- saying it ---- */

static void fault_missing(const struct nic *nic, int given, int found)
{
    record_fault("irq_missing", (int)nic->index);
    if (given == IRQ_NONE) {
        record_null("given");
    } else {
        record_int("given", given);
    }
    if (found == IRQ_NONE) {
        record_null("found");
    } else {
        record_int("found", found);
    }
    record_end();
}

/* Who has a line that is in use. */
static void owner_of(int line, char *text, size_t size)
{
    const char *custom = customary_owner(line);

    for (unsigned i = 0; i < nic_count; i++) {
        if (nics[i].irq == line) {
            format(text, size, "card %u", i);
            return;
        }
    }
    format(text, size, "%s", custom == NULL ? "another device" : custom);
}

/* "5, 9, 10": what a jumper could be set to. */
static void list_free(uint16_t used, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < IRQ_LINES; i++) {
        if ((ISA_LINES & ~used & bit(i)) != 0 && n < size) {
            n += (size_t)format(text + n, size - n, "%s%d", n == 0 ? "" : ", ", i);
        }
    }
}

static void say_missing(const struct nic *nic, const struct line_search *s)
{
    char owner[OWNER_BYTES], lines[LINES_BYTES];

    list_free(s->used, lines, sizeof(lines));
    if (s->taken != IRQ_NONE) {
        owner_of(s->taken, owner, sizeof(owner));
        nic_log(nic, "irq %d is taken by %s%s: not shared, polling; free: %s", s->taken, owner,
                pic_is_level(s->taken) ? "" : ", and edge-triggered", lines);
    } else if (s->given == IRQ_NONE) {
        nic_log(nic, "no interrupts seen on any line: polling; free: %s", lines);
    } else {
        nic_log(nic, "no interrupts seen on irq %d, nor on any other: polling; free: %s", s->given,
                lines);
    }
}

/* The line the card drives: the one given if it answers, else whichever does.  Says what is
 * wrong. */
static int find_line(struct nic *nic)
{
    const int noted = nic->place.irq == 2 ? 9 : nic->place.irq; /* an AT wires 2 to 9 */
    struct line_search s = {
        .given = noted >= 0 && noted < IRQ_LINES ? noted : IRQ_NONE,
        .used = irq_lines_in_use(),
        .taken = IRQ_NONE,
    };
    const int found = search(nic, &s);

    if (found == IRQ_NONE) {
        say_missing(nic, &s);
    } else if (s.given != IRQ_NONE && found != s.given) {
        nic_log(nic, "no interrupts seen on irq %d; the card drives irq %d, using that", s.given,
                found);
    }
    if (found == IRQ_NONE || (s.given != IRQ_NONE && found != s.given)) {
        fault_missing(nic, s.given, found);
    }
    return found;
}

/* ---- taking it ---- */

/* elcr=: PCI lines only, and only where there is an edge/level register. */
static void set_trigger(const struct nic *nic)
{
    if (nic->place.bus == NIC_PCI && nic->place.irq != IRQ_NONE && options.elcr != ELCR_KEEP &&
        !pic_set_level(nic->place.irq, options.elcr == ELCR_LEVEL)) {
        nic_log(nic, "irq %d: its trigger mode cannot be set on this machine", nic->place.irq);
    }
}

void nic_prove_irq(struct nic *nic)
{
    nic->irq = IRQ_NONE;
    nic->mode = NIC_MODE_POLL;
    nic->irq_proven = false;
    if (options.poll) {
        return;
    }
    set_trigger(nic);
    nic->irq = find_line(nic);
    if (nic->irq == IRQ_NONE) {
        return;
    }
    if (irq_attach(nic->irq, nic_on_interrupt, nic) != 0) {
        nic_log(nic, "irq %d has too many users: polling", nic->irq);
        nic->irq = IRQ_NONE;
        return;
    }
    nic->irq_proven = true;
    nic->mode = NIC_MODE_IRQ;
    if (nic->place.bus == NIC_ISA && customary_owner(nic->irq) != NULL) {
        nic_log(nic, "irq %d is also that of %s: do not use both", nic->irq,
                customary_owner(nic->irq));
    }
}
