/*
 * Columns and line breaks.
 */
#include "kernel/sink.h"

enum { INDENT = 2 }; /* of a line that goes on */

/* CR leaves the column: to a reader of the stream the line is not over, and a record still needs a
 * newline. */
void sink_put(struct sink *s, char c)
{
    if (!s->put(c)) {
        return;
    }
    s->blank = c == ' ';
    if (c == '\n') {
        s->column = 0;
        s->prompt = false;
    } else if (c == '\b') {
        s->column -= s->column > 0;
    } else if (c != '\r') {
        s->column++;
    }
}

static void put_text(struct sink *s, char c)
{
    if (s->column == 0 && c == '@') {
        sink_put(s, ' ');
    }
    sink_put(s, c);
}

void sink_typed(struct sink *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_text(s, text[i]);
    }
}

static void put_blanks(struct sink *s, size_t n)
{
    while (n-- > 0) {
        sink_put(s, ' ');
    }
}

/* Characters up to the next blank or control character. */
static size_t word_length(const char *text, size_t n)
{
    size_t length = 0;

    while (length < n && text[length] != ' ' && (unsigned char)text[length] >= ' ') {
        length++;
    }
    return length;
}

static size_t blanks_length(const char *text, size_t n)
{
    size_t length = 0;

    while (length < n && text[length] == ' ') {
        length++;
    }
    return length;
}

static void go_on_below(struct sink *s)
{
    sink_put(s, '\n');
    put_blanks(s, INDENT);
}

/* A word behind `blanks` blanks: on this line if it fits, else on one of its own. */
static void put_word(struct sink *s, size_t blanks, const char *word, size_t n)
{
    bool fits = s->column + blanks + n <= s->width;
    bool apart = (blanks != 0 || s->blank) && s->column > INDENT;

    if (!fits && apart && n + INDENT <= s->width) {
        go_on_below(s);
    } else {
        put_blanks(s, s->column + blanks <= s->width ? blanks : 0);
    }
    for (size_t i = 0; i < n; i++) {
        if (s->column >= s->width) {
            go_on_below(s);
        }
        put_text(s, word[i]);
    }
}

void sink_text(struct sink *s, const char *text, size_t n)
{
    size_t at = 0;

    if (s->width == 0) {
        sink_typed(s, text, n);
        return;
    }
    while (at < n) {
        size_t blanks = blanks_length(text + at, n - at);
        size_t word = word_length(text + at + blanks, n - at - blanks);

        if (word > 0 || at + blanks == n) { /* blanks at the very end may become part of a line */
            put_word(s, blanks, text + at + blanks, word);
        }
        at += blanks + word;
        if (word == 0 && at < n) {
            sink_put(s, text[at++]);
        }
    }
}

void sink_fresh_line(struct sink *s)
{
    if (s->column != 0) {
        sink_put(s, '\n');
    }
}
