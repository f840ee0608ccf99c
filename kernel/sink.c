/*
 * Columns and line breaks.
 */
#include "kernel/sink.h"

enum { INDENT = 4 }; /* of a line that goes on */

/* CR leaves the column: to a reader of the stream the line is not over, and a record still needs a
 * newline. */
void sink_put(struct sink *s, char c)
{
    if (!s->put(c)) {
        return;
    }
    s->blanks = c == ' ' ? s->blanks + 1 : 0;
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

/* Characters up to two blanks, or a control character: a cell of a table. */
static size_t cell_length(const char *text, size_t n)
{
    size_t length = 0;

    while (length < n && (unsigned char)text[length] >= ' ' &&
           !(text[length] == ' ' && (length + 1 == n || text[length + 1] == ' '))) {
        length++;
    }
    return length;
}

/* Blanks that end a line, or a piece of one, as far as there is room. */
static void put_last_blanks(struct sink *s, size_t blanks)
{
    size_t room = s->column < s->width ? s->width - s->column : 0;

    put_blanks(s, blanks < room ? blanks : room);
    s->blanks += blanks > room ? (unsigned)(blanks - room) : 0;
}

/* `together` characters that begin with a word, behind `blanks` blanks: do they belong below? */
static bool belongs_below(const struct sink *s, size_t blanks, size_t together)
{
    return (blanks != 0 || s->blanks != 0) && s->column > INDENT &&
           s->column + blanks + together > s->width && together + INDENT <= s->width;
}

static void put_word(struct sink *s, const char *word, size_t n)
{
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
        const char *next = text + at + blanks;
        size_t left = n - at - blanks;
        size_t word = word_length(next, left);

        at += blanks + word;
        if (word == 0) {
            put_last_blanks(s, blanks);
            if (left > 0) {
                sink_put(s, text[at++]);
            }
            continue;
        }
        if (belongs_below(s, blanks, word) ||
            (s->blanks + blanks >= 2 && belongs_below(s, blanks, cell_length(next, left)))) {
            go_on_below(s);
        } else {
            put_last_blanks(s, blanks);
        }
        put_word(s, next, word);
    }
}

void sink_fresh_line(struct sink *s)
{
    if (s->column != 0) {
        sink_put(s, '\n');
    }
}
