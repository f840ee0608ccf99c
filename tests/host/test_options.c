/*
 * Boot options: DESIGN section 3, sentence by sentence.
 */
#include "kernel/options.h"

#include <check.h>
#include <string.h>

#include "kernel/error.h"
#include "tests/host/options_rig.h"
#include "tests/host/run_suite.h"

START_TEST(what_holds_if_nothing_is_said)
{
    accept("");
    ck_assert(o.ip[0].dhcp && o.ip[OPTIONS_MAX_CARDS - 1].dhcp);
    ck_assert_uint_eq(o.ips, 0);
    ck_assert_uint_eq(o.nics, 0);
    ck_assert_uint_eq(o.noprobes, 0);
    ck_assert(!o.poll && o.vga && o.com1 && o.batch && !o.pad_stack && !o.bufinit_free);
    ck_assert_uint_eq(o.baud, 115200);
    ck_assert(!o.txirq && o.txpoll && !o.loopirq && !o.looppoll);
    ck_assert_int_eq(o.elcr, ELCR_KEEP);
    ck_assert_int_eq(o.http, HTTP_RO);
    ck_assert_uint_eq(o.rxbudget, 16);
    ck_assert_str_eq(o.name, "nictest86");
    ck_assert_uint_eq(o.text, 80);
    ck_assert(!o.soak && !o.exit && !o.no_cpuid && !o.trace_io && !o.trace_ring && !o.trace_irq);
    ck_assert_str_eq(o.run, "");
}
END_TEST

START_TEST(every_option_spelt_out_as_default)
{
    struct options defaults;
    memset(&defaults, 0, sizeof defaults);
    options_default(&defaults);
    accept(
        "ip=dhcp nic=auto irq=auto console=vga,com1:115200 batch=on pad=driver "
        "bufinit=alloc txirq=0 "
        "txpoll=1 loopirq=0 looppoll=0 elcr=keep http=ro name=nictest86 text=80 soak=off exit=off");
    ck_assert_uint_eq(o.ips, 1);
    o.ips = 0;
    ck_assert(memcmp(&o, &defaults, sizeof o) == 0);
}
END_TEST

START_TEST(every_option_changed)
{
    accept(
        "irq=poll console=com1:9600 batch=off pad=stack bufinit=free txirq=1 txpoll=0 loopirq=1 "
        "looppoll=1 elcr=level rxbudget=4 name=Box-2 http=rw trace=io,irq text=40 soak=on exit=on "
        "cpu=nocpuid");
    ck_assert(o.poll && !o.vga && o.com1 && !o.batch && o.pad_stack && o.bufinit_free);
    ck_assert_uint_eq(o.baud, 9600);
    ck_assert(o.txirq && !o.txpoll && o.loopirq && o.looppoll);
    ck_assert_int_eq(o.elcr, ELCR_LEVEL);
    ck_assert_int_eq(o.http, HTTP_RW);
    ck_assert_uint_eq(o.rxbudget, 4);
    ck_assert_str_eq(o.name, "Box-2");
    ck_assert(o.trace_io && !o.trace_ring && o.trace_irq);
    ck_assert_uint_eq(o.text, 40);
    ck_assert(o.soak && o.exit && o.no_cpuid);
    accept("elcr=edge http=off trace=ring console=vga");
    ck_assert_int_eq(o.elcr, ELCR_EDGE);
    ck_assert_int_eq(o.http, HTTP_OFF);
    ck_assert(o.trace_ring && !o.trace_io && o.vga && !o.com1);
}
END_TEST

START_TEST(last_key_wins)
{
    accept("batch=off batch=on name=a name=b trace=io trace=ring");
    ck_assert(o.batch && !o.trace_io && o.trace_ring);
    ck_assert_str_eq(o.name, "b");
}
END_TEST

START_TEST(bad_words_do_not_stop_the_rest)
{
    parse("batch=maybe nonsense irq=poll");
    ck_assert_uint_eq(reports, 2);
    ck_assert_str_eq(words[0], "batch=maybe");
    ck_assert_str_eq(words[1], "nonsense");
    ck_assert(o.batch && o.poll);
}
END_TEST

START_TEST(lists_are_bounded)
{
    parse("nic=ne2000 nic=ne2000 nic=ne2000 nic=ne2000 nic=ne2000");
    ck_assert_uint_eq(reports, 1);
    ck_assert_uint_eq(o.nics, OPTIONS_MAX_CARDS);
    parse("ip=dhcp ip=dhcp ip=dhcp ip=dhcp ip=dhcp");
    ck_assert_uint_eq(reports, 1);
    ck_assert_uint_eq(o.ips, OPTIONS_MAX_CARDS);
    parse("noprobe=0x1-0x2 noprobe=0x1-0x2 noprobe=0x1-0x2 noprobe=0x1-0x2 noprobe=0x1-0x2 "
          "noprobe=0x1-0x2 "
          "noprobe=0x1-0x2 noprobe=0x1-0x2 noprobe=0x1-0x2");
    ck_assert_uint_eq(reports, 1);
    ck_assert_uint_eq(o.noprobes, OPTIONS_MAX_NOPROBE);
}
END_TEST

START_TEST(nobody_to_notice_sent_frames)
{
    parse("txirq=0 txpoll=0");
    ck_assert_uint_eq(reports, 1);
    ck_assert(!o.txirq && o.txpoll);
    accept("txpoll=0 txirq=1"); /* only the end counts */
    ck_assert(o.txirq && !o.txpoll);
}
END_TEST

START_TEST(quoting)
{
    accept("run=\"ttcp -t 10.0.2.2; ping -n 3 10.0.2.2\"");
    ck_assert_str_eq(o.run, "ttcp -t 10.0.2.2; ping -n 3 10.0.2.2");
    accept("\"run=a; b\"");
    ck_assert_str_eq(o.run, "a; b");
    accept("ru\"n=a; \"b");
    ck_assert_str_eq(o.run, "a; b");
    accept("run=a\\ \\\"b\\\\");
    ck_assert_str_eq(o.run, "a \"b\\");
    accept("run=\"say \\\"x y\\\"\" irq=poll");
    ck_assert_str_eq(o.run, "say \"x y\"");
    ck_assert(o.poll);
    accept("run=\"open end");
    ck_assert_str_eq(o.run, "open end");
    accept("run=end\\");
    ck_assert_str_eq(o.run, "end\\");
    accept("  \tirq=poll\t ");
    ck_assert(o.poll);
}
END_TEST

START_TEST(image_name)
{
    accept("/boot/nictest86.elf irq=poll");
    ck_assert(o.poll);
    accept("nictest86.elf irq=poll");
    ck_assert(o.poll);
    accept("out/kernel irq=poll");
    accept("out/a=b irq=poll");
    parse("irq=poll /boot/nictest86.elf"); /* only the first word */
    ck_assert_uint_eq(reports, 1);
    parse("nictest86 irq=poll");
    ck_assert_uint_eq(reports, 1);
    ck_assert(o.poll);
    accept("ip=10.0.0.1/8"); /* a slash behind '=' is no path */
    ck_assert_uint_eq(o.ips, 1);
}
END_TEST

/* `n` bytes: blanks, then `last`. */
static const char *line_of(size_t n, const char *last)
{
    static char line[4096];
    memset(line, ' ', n);
    strcpy(line + n - strlen(last), last);
    return line;
}

START_TEST(length_limit)
{
    accept(line_of(OPTIONS_MAX_LINE, "irq=poll"));
    ck_assert(o.poll);
    parse(line_of(OPTIONS_MAX_LINE + 1, "rxbudget=12")); /* cut it would read rxbudget=1 */
    ck_assert_uint_eq(reports, 1);
    ck_assert_uint_eq(o.rxbudget, 16);
    parse(line_of(OPTIONS_MAX_LINE + 2, "irq=poll x"));
    ck_assert_uint_eq(reports, 1);
    ck_assert(o.poll);
    parse(line_of(OPTIONS_MAX_LINE + 2, "run=\"irq=poll x\""));
    ck_assert_uint_eq(reports, 1);
    ck_assert_str_eq(o.run, "");
    parse(line_of(3000, "irq=poll"));
    ck_assert_uint_eq(reports, 1);
    ck_assert(!o.poll);
}
END_TEST

static void parse_file(const char *text, size_t n)
{
    options_default(&o);
    reports = 0;
    options_parse_file(&o, text, n, report);
}

START_TEST(config_file)
{
    static const char text[] = "# comment irq=poll\r\nbatch=off name=floppy\r\n\r\n  pad=stack\n"
                               "run=\"a; b\" # no comment here\nsoak=on\x1Agarbage exit=on\n";
    parse_file(text, sizeof text - 1);
    ck_assert(!o.poll && !o.batch && o.pad_stack && o.soak && !o.exit);
    ck_assert_str_eq(o.name, "floppy");
    ck_assert_str_eq(o.run, "a; b");
    ck_assert_uint_eq(reports, 4); /* '#' is a comment at the start of a line only */
}
END_TEST

START_TEST(config_file_ends_anywhere)
{
    static const char text[] = "irq=poll\n#\nname=ab";
    for (size_t n = 0; n < sizeof text; n++) {
        char exact[sizeof text];
        memcpy(exact, text, n);
        parse_file(exact, n);
    }
    parse_file(text, sizeof text - 1);
    ck_assert_str_eq(o.name, "ab");
    ck_assert_uint_eq(reports, 0);
    parse_file("txirq=1\ntxpoll=0\n", 17);
    ck_assert_uint_eq(reports, 0);
    parse_file("dir/x.elf\n", 10); /* no image name here */
    ck_assert_uint_eq(reports, 1);
    parse_file("irq=poll\0batch=off", 18);
    ck_assert(o.poll && !o.batch);
}
END_TEST

static unsigned ip_changes, name_changes;

static void ip_changed(void)
{
    ip_changes++;
}

static void name_changed(void)
{
    name_changes++;
}

START_TEST(set_at_run_time)
{
    static const char *const now[] = {"ip=dhcp",      "irq=poll",  "batch=off",  "pad=stack",
                                      "bufinit=free", "txirq=1",   "txpoll=0",   "loopirq=1",
                                      "looppoll=1",   "elcr=edge", "rxbudget=8", "name=x",
                                      "http=rw",      "trace=io",  "trace="};
    static const char *const later[] = {
        "nic=ne2000", "noprobe=0x300-0x31f", "console=vga",  "text=40", "soak=on", "run=help",
        "exit=on",    "cpu=nocpuid",         "text=nonsense"};
    options_default(&options);
    for (unsigned i = 0; i < sizeof now / sizeof now[0]; i++) {
        ck_assert_msg(options_set(now[i]) == OK, "%s: %s", now[i], options_why());
        ck_assert_str_eq(options_why(), "");
    }
    for (unsigned i = 0; i < sizeof later / sizeof later[0]; i++) {
        ck_assert_int_eq(options_set(later[i]), E_UNSUPPORTED);
        ck_assert_str_eq(options_why(), "boot option only");
    }
    ck_assert(options.poll && !options.batch && options.txirq && !options.txpoll &&
              !options.trace_io);
    ck_assert_uint_eq(options.text, 80);
    ck_assert_uint_eq(options.nics, 0);
}
END_TEST

START_TEST(set_refuses_and_changes_nothing)
{
    static const char *const bad[] = {"",           "batch",    "batch=",     "batch=2",
                                      "nonsense=1", "txpoll=0", "ip=1.2.3.4", "name=-"};
    struct options before;
    options_default(&options);
    options_on_change("ip", ip_changed);
    memcpy(&before, &options, sizeof before);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(options_set(bad[i]) == E_INVALID, "%s", bad[i]);
        ck_assert_str_ne(options_why(), "");
    }
    ck_assert(memcmp(&before, &options, sizeof before) == 0);
    ck_assert_uint_eq(ip_changes, 0);
}
END_TEST

START_TEST(listeners_hear_of_their_key_only)
{
    options_default(&options);
    options_on_change("ip", ip_changed);
    options_on_change("name", name_changed);
    ck_assert_int_eq(options_set("ip=10.0.0.1/8"), OK);
    ck_assert_int_eq(options_set("ip=10.0.0.2/8"), OK);
    ck_assert_int_eq(options_set("name=x"), OK);
    ck_assert_int_eq(options_set("batch=off"), OK);
    ck_assert_uint_eq(ip_changes, 2);
    ck_assert_uint_eq(name_changes, 1);
    ck_assert_uint_eq(options.ips, 1); /* replaced, not added */
    ck_assert_uint_eq(options.ip[0].address, ip(10, 0, 0, 2));
}
END_TEST

START_TEST(noprobe_ends_are_inclusive)
{
    options_default(&options);
    options_parse(&options, "noprobe=0x300-0x31f noprobe=0xffff-0xffff", report);
    ck_assert(options_may_probe(0x2E0, 32));
    ck_assert(!options_may_probe(0x2E1, 32));
    ck_assert(!options_may_probe(0x310, 1));
    ck_assert(!options_may_probe(0x31F, 32));
    ck_assert(options_may_probe(0x320, 32));
    ck_assert(!options_may_probe(0xFFF0, 16));
}
END_TEST

START_TEST(words_are_cut_not_overrun)
{
    const char *line = "abcdef \"\" x";
    char word[4];
    ck_assert(options_next_word(&line, word, sizeof word));
    ck_assert_str_eq(word, "abc");
    ck_assert(options_next_word(&line, word, sizeof word));
    ck_assert_str_eq(word, "");
    ck_assert(options_next_word(&line, word, sizeof word));
    ck_assert_str_eq(word, "x");
    ck_assert(!options_next_word(&line, word, sizeof word));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *cases = tcase_create("options");
    tcase_add_test(cases, what_holds_if_nothing_is_said);
    tcase_add_test(cases, every_option_spelt_out_as_default);
    tcase_add_test(cases, every_option_changed);
    tcase_add_test(cases, last_key_wins);
    tcase_add_test(cases, bad_words_do_not_stop_the_rest);
    tcase_add_test(cases, lists_are_bounded);
    tcase_add_test(cases, nobody_to_notice_sent_frames);
    tcase_add_test(cases, quoting);
    tcase_add_test(cases, image_name);
    tcase_add_test(cases, length_limit);
    tcase_add_test(cases, config_file);
    tcase_add_test(cases, config_file_ends_anywhere);
    tcase_add_test(cases, set_at_run_time);
    tcase_add_test(cases, set_refuses_and_changes_nothing);
    tcase_add_test(cases, listeners_hear_of_their_key_only);
    tcase_add_test(cases, noprobe_ends_are_inclusive);
    tcase_add_test(cases, words_are_cut_not_overrun);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
