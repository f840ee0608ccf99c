/*
 * Boot options: a table of keys, each with the function that stores its value; and the reading of
 * lines and words around it.  The contract is DESIGN section 3.
 */
#include "kernel/options.h"

#include "kernel/error.h"
#include "kernel/option_values.h"
#include "kernel/string.h"
#include "kernel/trap.h"

enum {
    BAUD_DEFAULT = 115200,
    RXBUDGET_DEFAULT = 16,
    RXBUDGET_MAX = 256,
    LISTENERS_MAX = 8,
    END_OF_FILE = 0x1A, /* ^Z: how CP/M and DOS end a text */
};

struct options options;

struct option {
    const char *key;
    bool at_run_time; /* `set` may change it */
    /* Null if stored, else why not; then `o` is as before. */
    const char *(*store)(struct options *o, const char *value);
};

/* ---- one function a key ---- */

/* A malformed ip= keeps its place, or the ones behind it would go to the wrong cards. */
static const char *store_ip(struct options *o, const char *value)
{
    if (o->ips == OPTIONS_MAX_CARDS) {
        return "more ip= than cards";
    }
    return value_ip(value, &o->ip[o->ips++]);
}

static const char *store_nic(struct options *o, const char *value)
{
    const char *why;

    if (strcmp(value, "auto") == 0) {
        return NULL;
    }
    if (o->nics == OPTIONS_MAX_CARDS) {
        return "more nic= than cards";
    }
    why = value_nic(value, &o->nic[o->nics]);
    o->nics += why == NULL;
    return why;
}

static const char *store_noprobe(struct options *o, const char *value)
{
    const char *why;

    if (o->noprobes == OPTIONS_MAX_NOPROBE) {
        return "too many noprobe=";
    }
    why = value_range(value, &o->noprobe[o->noprobes].first, &o->noprobe[o->noprobes].last);
    o->noprobes += why == NULL;
    return why;
}

static const char *store_irq(struct options *o, const char *value)
{
    return value_choice(value, "auto", "poll", &o->poll);
}

static const char *store_console(struct options *o, const char *value)
{
    return value_console(value, &o->vga, &o->com1, &o->baud);
}

static const char *store_batch(struct options *o, const char *value)
{
    return value_choice(value, "off", "on", &o->batch);
}

static const char *store_pad(struct options *o, const char *value)
{
    return value_choice(value, "driver", "stack", &o->pad_stack);
}

static const char *store_bufinit(struct options *o, const char *value)
{
    return value_choice(value, "alloc", "free", &o->bufinit_free);
}

static const char *store_txirq(struct options *o, const char *value)
{
    return value_choice(value, "0", "1", &o->txirq);
}

static const char *store_txpoll(struct options *o, const char *value)
{
    return value_choice(value, "0", "1", &o->txpoll);
}

static const char *store_loopirq(struct options *o, const char *value)
{
    return value_choice(value, "0", "1", &o->loopirq);
}

static const char *store_looppoll(struct options *o, const char *value)
{
    return value_choice(value, "0", "1", &o->looppoll);
}

static const char *store_elcr(struct options *o, const char *value)
{
    bool level = false;

    if (strcmp(value, "keep") == 0) {
        o->elcr = ELCR_KEEP;
        return NULL;
    }
    if (value_choice(value, "edge", "level", &level) != NULL) {
        return "not keep, edge or level";
    }
    o->elcr = level ? ELCR_LEVEL : ELCR_EDGE;
    return NULL;
}

static const char *store_rxbudget(struct options *o, const char *value)
{
    uint32_t budget;
    const char *why = value_number(value, 1, RXBUDGET_MAX, &budget);

    if (why != NULL) {
        return "not a number from 1 to 256";
    }
    o->rxbudget = (uint16_t)budget;
    return NULL;
}

static const char *store_name(struct options *o, const char *value)
{
    return value_host_name(value, o->name, sizeof(o->name));
}

static const char *store_http(struct options *o, const char *value)
{
    bool writable = false;

    if (strcmp(value, "off") == 0) {
        o->http = HTTP_OFF;
        return NULL;
    }
    if (value_choice(value, "ro", "rw", &writable) != NULL) {
        return "not ro, rw or off";
    }
    o->http = writable ? HTTP_RW : HTTP_RO;
    return NULL;
}

static const char *store_trace(struct options *o, const char *value)
{
    return value_trace(value, &o->trace_io, &o->trace_ring, &o->trace_irq);
}

static const char *store_text(struct options *o, const char *value)
{
    bool wide = false;
    const char *why = value_choice(value, "40", "80", &wide);

    if (why == NULL) {
        o->text = wide ? 80 : 40;
    }
    return why;
}

static const char *store_soak(struct options *o, const char *value)
{
    return value_choice(value, "off", "on", &o->soak);
}

static const char *store_run(struct options *o, const char *value)
{
    size_t n = strlen(value);

    if (n >= sizeof(o->run)) {
        return "commands are longer than 511 bytes";
    }
    memcpy(o->run, value, n + 1);
    return NULL;
}

static const char *store_exit(struct options *o, const char *value)
{
    return value_choice(value, "off", "on", &o->exit);
}

/* Hidden: the path of a CPU without cpuid, on one that has it. */
static const char *store_cpu(struct options *o, const char *value)
{
    return value_choice(value, "auto", "nocpuid", &o->no_cpuid);
}

static const struct option table[] = {
    {"ip", true, store_ip},
    {"nic", false, store_nic},
    {"noprobe", false, store_noprobe},
    {"irq", true, store_irq},
    {"console", false, store_console},
    {"batch", true, store_batch},
    {"pad", true, store_pad},
    {"bufinit", true, store_bufinit},
    {"txirq", true, store_txirq},
    {"txpoll", true, store_txpoll},
    {"loopirq", true, store_loopirq},
    {"looppoll", true, store_looppoll},
    {"elcr", true, store_elcr},
    {"rxbudget", true, store_rxbudget},
    {"name", true, store_name},
    {"http", true, store_http},
    {"trace", true, store_trace},
    {"text", false, store_text},
    {"soak", false, store_soak},
    {"run", false, store_run},
    {"exit", false, store_exit},
    {"cpu", false, store_cpu},
};

/* The option a word KEY=VALUE is for, and its value; null with the reason. */
static const struct option *find(const char *word, const char **value, const char **why)
{
    const char *equals = strchr(word, '=');
    size_t n = equals != NULL ? (size_t)(equals - word) : strlen(word);

    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strlen(table[i].key) != n || memcmp(table[i].key, word, n) != 0) {
            continue;
        }
        if (equals == NULL) {
            *why = "needs =VALUE";
            return NULL;
        }
        *value = equals + 1;
        return &table[i];
    }
    *why = "unknown option";
    return NULL;
}

/* ---- words and lines ---- */

void options_default(struct options *o)
{
    memset(o, 0, sizeof(*o));
    for (unsigned i = 0; i < OPTIONS_MAX_CARDS; i++) {
        o->ip[i].dhcp = true;
    }
    o->vga = o->com1 = true;
    o->baud = BAUD_DEFAULT;
    o->batch = true;
    o->txpoll = true;
    o->rxbudget = RXBUDGET_DEFAULT;
    memcpy(o->name, "nictest86", sizeof("nictest86"));
    o->text = 80;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool options_next_word(const char **line, char *word, size_t size)
{
    const char *at = *line;
    size_t n = 0;
    bool grouped = false;

    while (is_blank(*at)) {
        at++;
    }
    if (*at == '\0') {
        *line = at;
        return false;
    }
    for (; *at != '\0' && (grouped || !is_blank(*at)); at++) {
        if (*at == '"') {
            grouped = !grouped;
            continue;
        }
        if (*at == '\\' && at[1] != '\0') {
            at++;
        }
        if (n + 1 < size) {
            word[n++] = *at;
        }
    }
    if (size > 0) {
        word[n] = '\0';
    }
    *line = at;
    return true;
}

static void parse_word(struct options *o, const char *word, option_reporter report)
{
    const char *value, *why = NULL;
    const struct option *option = find(word, &value, &why);

    if (option != NULL) {
        why = option->store(o, value);
    }
    if (why != NULL) {
        report(word, why);
    }
}

static bool is_image_name(const char *word)
{
    const char *slash = strchr(word, '/');
    const char *equals = strchr(word, '=');
    size_t n = strlen(word);

    return (slash != NULL && (equals == NULL || slash < equals)) ||
           (n >= 4 && strcmp(word + n - 4, ".elf") == 0);
}

static bool deaf_transmitter(const struct options *o)
{
    return !o->txirq && !o->txpoll;
}

static const char deaf_transmitter_why[] = "with txirq=0 nobody would notice a sent frame";

/* Only at the end of a text: until then a later word may put it right. */
static void check_together(struct options *o, option_reporter report)
{
    if (deaf_transmitter(o)) {
        report("txpoll=0", deaf_transmitter_why);
        o->txpoll = true;
    }
}

/*
 * The words of the first `n` bytes of `text`, at most OPTIONS_MAX_LINE.  A word that would be cut
 * there is dropped whole: half a word may mean something else.
 */
static void parse_line(struct options *o, const char *text, size_t n, bool skip_image,
                       option_reporter report)
{
    static char line[OPTIONS_MAX_LINE + 2]; /* one more byte tells whether a word ends in time */
    static char word[OPTIONS_MAX_LINE + 1];
    const char *at = line;
    bool cut = n > OPTIONS_MAX_LINE;

    n = cut ? OPTIONS_MAX_LINE + 1 : n;
    for (size_t i = 0; i < n; i++) {
        line[i] = text[i] != '\0' ? text[i] : ' ';
    }
    line[n] = '\0';
    for (bool first = true; options_next_word(&at, word, sizeof(word)); first = false) {
        if (at - line > OPTIONS_MAX_LINE) {
            break;
        }
        if (!(first && skip_image && is_image_name(word))) {
            parse_word(o, word, report);
        }
    }
    if (cut) {
        report("command line", "longer than 1023 bytes, the rest is dropped");
    }
}

void options_parse(struct options *o, const char *line, option_reporter report)
{
    parse_line(o, line, strlen(line), true, report);
    check_together(o, report);
}

void options_parse_file(struct options *o, const char *text, size_t n, option_reporter report)
{
    size_t begin = 0, end;

    for (end = 0; end < n && text[end] != END_OF_FILE; end++) {
        if (text[end] != '\n') {
            continue;
        }
        if (text[begin] != '#') {
            parse_line(o, text + begin, end - begin, false, report);
        }
        begin = end + 1;
    }
    if (begin < end && text[begin] != '#') {
        parse_line(o, text + begin, end - begin, false, report);
    }
    check_together(o, report);
}

bool options_may_probe(uint16_t first, unsigned n)
{
    for (unsigned i = 0; i < options.noprobes; i++) {
        if (first <= options.noprobe[i].last && options.noprobe[i].first < first + n) {
            return false;
        }
    }
    return true;
}

/* ---- at run time ---- */

static struct listener {
    const char *key;
    void (*changed)(void);
} listeners[LISTENERS_MAX];
static unsigned listener_count;
static const char *set_why = "";

void options_on_change(const char *key, void (*changed)(void))
{
    ASSERT(listener_count < LISTENERS_MAX);
    listeners[listener_count++] = (struct listener){key, changed};
}

/* The first card's address: `set` replaces it, at boot ip= add up. */
static const char *set_ip(struct options *o, const char *value)
{
    const char *why = value_ip(value, &o->ip[0]);

    if (why == NULL && o->ips == 0) {
        o->ips = 1;
    }
    return why;
}

int options_set(const char *word)
{
    static struct options next; /* changed aside: options is never half right */
    const char *value;
    const struct option *option = find(word, &value, &set_why);

    if (option == NULL) {
        return E_INVALID;
    }
    if (!option->at_run_time) {
        set_why = "boot option only";
        return E_UNSUPPORTED;
    }
    next = options;
    set_why = option->store == store_ip ? set_ip(&next, value) : option->store(&next, value);
    if (set_why == NULL && deaf_transmitter(&next)) {
        set_why = deaf_transmitter_why;
    }
    if (set_why != NULL) {
        return E_INVALID;
    }
    set_why = "";
    options = next;
    for (unsigned i = 0; i < listener_count; i++) {
        if (strcmp(listeners[i].key, option->key) == 0) {
            listeners[i].changed();
        }
    }
    return OK;
}

const char *options_why(void)
{
    return set_why;
}
