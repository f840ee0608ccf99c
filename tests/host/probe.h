/*
 * What the two halves of the probing tests share.
 */
#ifndef TESTS_HOST_PROBE_H
#define TESTS_HOST_PROBE_H

#include "tests/host/quick_check.h"
#include <string.h>

#include "drivers/nic.h"
#include "kernel/error.h"
#include "kernel/irq.h"
#include "kernel/options.h"
#include "kernel/print.h"
#include "tests/host/host_support.h"
#include "tests/host/sim/bus.h"
#include "tests/host/sim/irq.h"
#include "tests/host/sim/ne2000.h"
#include "tests/host/sim/pci.h"
#include "tests/host/sim/wire.h"

enum { PROBE_ADDRESSES = 5 };

/* Where we look by ourselves, in order. */
extern const unsigned probe_addresses[PROBE_ADDRESSES];

/* A machine without cards, boot options at their defaults; then `words` of them. */
void machine(void);
void boot_options(const char *words);

/* nics_init() with the clock watched. */
void find(void);

/* Assert on what was found, and on the records of it; `why` must be among the words printed. */
void found_one(void);
void found_none(const char *why);

/* What the command `probe` says; forgets what was printed before. */
const char *probe_words(void);

TCase *probe_strangers(void);
TCase *probe_pnp(void);
TCase *probe_decoys(void);
TCase *probe_lines(void);
TCase *probe_boards(void);
TCase *probe_mix(void);

#endif
