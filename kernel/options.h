/*
 * Boot options (DESIGN section 3): words from the multiboot command line, and `set`.
 *
 * options_parse() is pure but for the log lines and `fault` records of bad words, which go through
 * the reporter it is given; it is unit-tested and fuzzed on the host.
 */
#ifndef KERNEL_OPTIONS_H
#define KERNEL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OPTIONS_MAX_LINE = 1023, /* bytes of command line that are looked at           */
    OPTIONS_MAX_CARDS = 4,   /* nic= and ip= entries                               */
    OPTIONS_MAX_NOPROBE = 8,
};

enum http_mode { HTTP_RO, HTTP_RW, HTTP_OFF };
enum elcr_mode { ELCR_KEEP, ELCR_EDGE, ELCR_LEVEL };

/* nic=DRIVER[:0xIO[,IRQ[,0xMEM]]] or nic=pci:BB.D.F */
struct option_nic {
    char driver[12]; /* "pci" for a PCI address                      */
    uint16_t io;     /* 0: not given                                 */
    int irq;         /* IRQ_NONE: not given                          */
    uint32_t mem;    /* 0: not given                                 */
    uint16_t pci;    /* bus << 8 | device << 3 | function            */
};

/* ip=dhcp or ip=A.B.C.D/nn[,GATEWAY]; addresses in network byte order, 0 = not given */
struct option_ip {
    bool dhcp;
    uint32_t address;
    uint32_t netmask;
    uint32_t gateway;
};

struct options {
    struct option_ip ip[OPTIONS_MAX_CARDS];
    unsigned ips;
    struct option_nic nic[OPTIONS_MAX_CARDS];
    unsigned nics; /* 0: detect */
    struct {
        uint16_t first, last;
    } noprobe[OPTIONS_MAX_NOPROBE];
    unsigned noprobes;
    bool poll;      /* irq=poll                                        */
    bool vga, com1; /* console=                                        */
    uint32_t baud;
    bool batch;
    bool pad_stack; /* pad=stack                                       */
    bool bufinit_free;
    bool txirq, txpoll, loopirq, looppoll;
    enum elcr_mode elcr;
    uint16_t rxbudget;
    char name[16];
    enum http_mode http;
    bool trace_io, trace_ring, trace_irq;
    uint8_t text; /* 80 or 40                                        */
    bool soak;
    char run[512]; /* commands, "" if none                            */
    bool exit;
    bool no_cpuid; /* hidden: cpu=nocpuid                             */
};

/* The options in force.  Everybody reads them; only options_parse() and options_set() write. */
extern struct options options;

/* Told of a word that cannot be used: which, and why.  options_report() is the kernel's own: one
 * line and a `fault` record. */
typedef void (*option_reporter)(const char *word, const char *why);

/* Put the defaults into `o`. */
void options_default(struct options *o);

void options_report(const char *word, const char *why);

/*
 * Read a whole command line into `o`; bad words are reported and leave what was there.  A first
 * word that is the image's name is skipped.  A malformed ip= still takes its card's place, with
 * DHCP.  txirq=0 txpoll=0 together are refused at the end: both get their defaults.
 */
void options_parse(struct options *o, const char *line, option_reporter report);

/* The same for one file in NICTEST.CFG form: comments, CRLF, ^Z. */
void options_parse_file(struct options *o, const char *text, size_t n, option_reporter report);

/* `set KEY=VALUE` at run time: OK, E_INVALID (unknown or malformed), E_UNSUPPORTED (boot option
 * only).  On success, whoever registered for the key is called.  `set ip=` is for the first card.
 */
int options_set(const char *word);

/* Why the last options_set() failed, in words; "" if it did not. */
const char *options_why(void);

/* Call `changed` whenever options_set() has changed `key` ("ip", "name").  At most 8. */
void options_on_change(const char *key, void (*changed)(void));

/* Is [first, first + n) free of noprobe= ranges? */
bool options_may_probe(uint16_t first, unsigned n);

/*
 * The next word of `*line` into `word`: words split at blanks, '"' opens or closes a group
 * anywhere,
 * '\c' is c.  False at the end.  Longer words are cut at `size` - 1.  The shell uses it too.
 */
bool options_next_word(const char **line, char *word, size_t size);

#endif
