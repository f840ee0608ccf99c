/*
 * Command lines for the tests of boot options, and what was said about their words.
 */
#ifndef TESTS_HOST_OPTIONS_RIG_H
#define TESTS_HOST_OPTIONS_RIG_H

#include "kernel/options.h"

enum { REPORTS_MAX = 16 };

/* What the last line made of the defaults; the words it could not use, and why. */
extern struct options o;
extern unsigned reports;
extern char words[REPORTS_MAX][64];

void report(const char *word, const char *why);

void parse(const char *line);

/* Every word of the line is fine. */
void accept(const char *line);

/* The line is one word, which is not, and nothing has changed. */
void refuse(const char *line);

/* An address in network byte order. */
uint32_t ip(unsigned a, unsigned b, unsigned c, unsigned d);

#endif
