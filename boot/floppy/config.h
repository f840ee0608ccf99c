/*
 * NICTEST.CFG, a text somebody edits under DOS or Windows, as one line of words.  Pure.
 *
 * Any number of words a line, LF or CR LF, `#` at the start of a line is a comment, ^Z ends the
 * text; a group in quotes ends with its line (DESIGN 3, and what kernel/options.c makes of it).
 */
#ifndef BOOT_FLOPPY_CONFIG_H
#define BOOT_FLOPPY_CONFIG_H

#include <stdbool.h>

enum { CONFIG_MAX = 1023 }; /* what the kernel takes */

struct config {
    char line[CONFIG_MAX + 1]; /* words with a blank between; ends with 0 */
    unsigned length;
    bool cut; /* the rest was dropped, from a whole word on */

    /* of the reading */
    unsigned word_at; /* where the word in hand and the blank before it began */
    unsigned bytes;   /* so far, up to BOM's length */
    bool in_word, quoted, escaped, comment, at_start, ended;
};

void config_begin(struct config *c);
void config_take(struct config *c, char next);
void config_end(struct config *c);

#endif
