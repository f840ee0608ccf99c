/*
 * One character after the other, so the file may be of any length.
 */
#include "boot/floppy/config.h"

enum { END_OF_FILE = 0x1A }; /* ^Z: how CP/M and DOS end a text */

/* What Windows' Notepad may write in front of a text. */
static const char utf8_mark[] = "\xEF\xBB\xBF";
enum { MARK_BYTES = sizeof utf8_mark - 1 };

static void put(struct config *c, char next)
{
    if (c->ended) {
        return;
    }
    if (c->length == CONFIG_MAX) {
        c->length = c->word_at;
        c->cut = c->ended = true;
        return;
    }
    c->line[c->length++] = next;
}

static void begin_word(struct config *c)
{
    if (!c->in_word) {
        c->in_word = true;
        c->word_at = c->length;
        if (c->length > 0) {
            put(c, ' ');
        }
    }
}

static void end_line(struct config *c)
{
    if (c->escaped) {
        put(c, '\\'); /* the last of a line stands for itself */
    }
    if (c->quoted) {
        put(c, '"');
    }
    c->in_word = c->quoted = c->escaped = c->comment = false;
    c->at_start = true;
}

void config_begin(struct config *c)
{
    *c = (struct config){.at_start = true};
}

static bool is_line_end(char c)
{
    return c == '\r' || c == '\n';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\0';
}

void config_take(struct config *c, char next)
{
    if (c->bytes < MARK_BYTES && next == utf8_mark[c->bytes]) {
        c->bytes++;
        return;
    }
    c->bytes = MARK_BYTES;
    if (c->ended) {
        return;
    }
    if (next == END_OF_FILE) {
        config_end(c);
    } else if (is_line_end(next)) {
        end_line(c);
    } else if (c->comment || (c->at_start && next == '#')) {
        c->comment = true;
    } else if (is_blank(next) && !c->quoted && !c->escaped) {
        c->in_word = c->at_start = false;
    } else {
        c->at_start = false;
        begin_word(c);
        put(c, next != '\0' ? next : ' ');
        c->quoted ^= next == '"' && !c->escaped;
        c->escaped = next == '\\' && !c->escaped;
    }
}

void config_end(struct config *c)
{
    if (!c->ended) {
        end_line(c);
    }
    c->ended = true;
    c->line[c->length] = '\0';
}
