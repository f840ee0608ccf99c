/*
 * NICTEST.CFG as a line: DESIGN section 3, last bullet of "words".
 */
#include "boot/floppy/config.h"

#include <check.h>
#include <string.h>

#include "tests/host/run_suite.h"

static struct config c;

static const char *flat(const char *text, size_t n)
{
    config_begin(&c);
    for (size_t i = 0; i < n; i++) {
        config_take(&c, text[i]);
    }
    config_end(&c);
    ck_assert_uint_eq(strlen(c.line), c.length);
    return c.line;
}

static void expect(const char *text, const char *line)
{
    ck_assert_str_eq(flat(text, strlen(text)), line);
    ck_assert(!c.cut);
}

START_TEST(lines_and_words)
{
    expect("", "");
    expect("ip=dhcp", "ip=dhcp");
    expect("a b\nc\n", "a b c");
    expect("a b\r\nc\r\n", "a b c");
    expect("\r\n\r\n  a\t b  \r\n\r\nc", "a b c");
    expect("\xEF\xBB\xBF"
           "a\r\n",
           "a");
    ck_assert_str_eq(flat("a\0b", 3), "a b");
}
END_TEST

START_TEST(comments)
{
    expect("# x y\na\n#b\r\n c #d\n", "a c #d");
    expect("#a", "");
    expect("\xEF\xBB\xBF#a\nb", "b");
    expect(" #a", "#a"); /* not at the start of the line */
}
END_TEST

START_TEST(end_of_file)
{
    expect("a\x1a"
           "b\nc",
           "a");
    expect("a\r\n\x1a", "a");
    expect("#a\x1a\nb", "");
    expect("run=\"a\x1a b\"", "run=\"a\"");
}
END_TEST

START_TEST(quotes_and_escapes)
{
    expect("run=\"a;  b\"  c", "run=\"a;  b\" c");
    expect("run=\"a b\nc", "run=\"a b\" c"); /* a group ends with its line */
    expect("a\\ b  c", "a\\ b c");
    expect("a\\\" b", "a\\\" b");
    expect("a\\\nb", "a\\\\ b");
    expect("\"#a\n# b\"", "\"#a\"");
}
END_TEST

START_TEST(length)
{
    char text[3000];

    memset(text, 'a', sizeof text);
    ck_assert_uint_eq(strlen(flat(text, 1023)), 1023);
    ck_assert(!c.cut);
    ck_assert_str_eq(flat(text, 1024), ""); /* a word is dropped whole */
    ck_assert(c.cut);
    for (unsigned i = 9; i < sizeof text; i += 10) {
        text[i] = i % 20 == 9 ? '\n' : ' ';
    }
    ck_assert_uint_eq(strlen(flat(text, sizeof text)), 1019);
    ck_assert(c.cut);
    ck_assert_uint_eq(strlen(flat(text, 1019)), 1019);
    ck_assert(!c.cut);
    text[1019] = '#'; /* a comment that begins beyond is none of the options */
    text[1018] = '\n';
    flat(text, sizeof text);
    ck_assert_uint_eq(c.line[1017], 'a');
}
END_TEST

START_TEST(a_quote_that_would_not_fit)
{
    char text[1024];

    memset(text, 'a', sizeof text);
    text[0] = 'b';
    text[1] = ' ';
    text[2] = '"';
    ck_assert_str_eq(flat(text, 1023), "b"); /* the closing quote is the 1024th */
    ck_assert(c.cut);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *t = tcase_create("text");

    tcase_add_test(t, lines_and_words);
    tcase_add_test(t, comments);
    tcase_add_test(t, end_of_file);
    tcase_add_test(t, quotes_and_escapes);
    tcase_add_test(t, length);
    tcase_add_test(t, a_quote_that_would_not_fit);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
