/*
 * One output of the console: its idea of the cursor's column, and lines no wider than it can show.
 */
#ifndef KERNEL_SINK_H
#define KERNEL_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct sink {
    bool (*put)(char c); /* false: no room, dropped */
    bool on;
    bool prompt; /* the cursor is in the shell's prompt line   */
    unsigned column;
    unsigned blanks; /* just before the cursor                     */
    unsigned width;  /* text for people wraps here; 0: as it comes */
};

/* One character, and what it does to the column. */
void sink_put(struct sink *s, char c);

/*
 * Text for people.  No line begins with '@'.  What would pass `width` goes on in a new line, four
 * blanks in; broken at a blank, unless a word is wider than such a line or comes in pieces.  Behind
 * two blanks and more, as in tables, all up to the next two stays together if it can.
 */
void sink_text(struct sink *s, const char *text, size_t n);

/* The same, but never wrapped: what is being typed, and may be taken back by '\b'. */
void sink_typed(struct sink *s, const char *text, size_t n);

/* End the current line if it is not empty. */
void sink_fresh_line(struct sink *s);

#endif
