/*
 * Parsing with a reporter that remembers.
 */
#include "tests/host/options_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

struct options o;
char words[REPORTS_MAX][64];
static char whys[REPORTS_MAX][64];
unsigned reports;

void report(const char *word, const char *why)
{
    ck_assert_uint_lt(reports, REPORTS_MAX);
    ck_assert_uint_gt(strlen(why), 0);
    snprintf(words[reports], sizeof words[0], "%.63s", word);
    snprintf(whys[reports++], sizeof whys[0], "%s", why);
}

void parse(const char *line)
{
    options_default(&o);
    reports = 0;
    options_parse(&o, line, report);
}

void accept(const char *line)
{
    parse(line);
    ck_assert_msg(reports == 0, "%s: %s: %s", line, words[0], whys[0]);
}

void refuse(const char *line)
{
    struct options defaults;
    memset(&defaults, 0, sizeof defaults);
    options_default(&defaults);
    parse(line);
    ck_assert_msg(reports == 1, "%s: %u reports", line, reports);
    ck_assert_str_eq(words[0], line);
    o.ips = 0; /* a bad ip= keeps its place: own test */
    ck_assert_msg(memcmp(&o, &defaults, sizeof o) == 0, "%s changed something", line);
}

uint32_t ip(unsigned a, unsigned b, unsigned c, unsigned d)
{
    uint8_t byte[4] = {(uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d};
    uint32_t address;
    memcpy(&address, byte, 4);
    return address;
}
