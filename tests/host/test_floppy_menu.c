/*
 * The floppy's start screen: the count, the menu and the line editor.
 */
#include <check.h>
#include <string.h>

#include "tests/host/floppy_rig.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/firmware.h"

static void boot_with_keys(const char *options, const char *keys)
{
    firmware_reset();
    rig_usual(options);
    pc.keys = keys;
    pc.first_key_tick = 20;
    firmware_boot();
    rig_check_entered(RIG_TEXT);
}

/* Behind the loader's own. */
static const char *words(void)
{
    return strchr(rig_command_line(), ' ') + 1;
}

START_TEST(entries)
{
    static const struct {
        const char *keys, *words;
    } cases[] = {
        {" \r", "ip=dhcp"},
        {"x1", "ip=dhcp"},
        {" 2", "ip=dhcp irq=poll"},
        {" z64", "ip=dhcp text=40"},
        {" 5", "ip=dhcp console=com1"},
        {" 3,10\r", "ip=dhcp nic=ne2000:0x300,10"},
        {" 3\x1b"
         "1",
         "ip=dhcp"},
        {" e\b\b\b\b1.2.3.4/8\r\r", "ip=1.2.3.4/8"},
        {" e\x15\r\r", ""},
        {" E\x15\b\b\x01\xff"
         "a \"b  c\r\r",
         "a \"b  c\""},
        {" exyz\x1b\r", "ip=dhcp"},
        {" e\x15\r3\b\b\b\r", "nic=ne2000:0x"},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        boot_with_keys("ip=dhcp\r\n", cases[i].keys);
        ck_assert_str_eq(words(), cases[i].words);
        ck_assert_uint_eq(*pc.keys, 0);
    }
}
END_TEST

START_TEST(a_line_over_several_rows)
{
    char keys[2300] = " e", *at = keys + 2;

    memset(at, 'a', 1200); /* more than fit: the rest is not taken */
    at += 1200;
    memset(at, '\b', 1000); /* back over every row */
    memcpy(at + 1000, "b\r\r", 4);
    boot_with_keys("", keys);
    ck_assert_uint_eq(strlen(words()), 1023 - 1000 + 1);
    ck_assert_str_eq(words() + 20, "aaab");
}
END_TEST

START_TEST(a_key_at_any_time_of_the_count)
{
    rig_usual("");
    pc.keys = "q";
    pc.first_key_tick = 53; /* the kernel has long been read */
    firmware_boot();
    ck_assert_int_eq(pc.end, FIRMWARE_WAITS);
    ck_assert(strstr(pc.text, "\n1 to 5, E: ") != NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("floppy_menu");
    TCase *t = tcase_create("menu");

    tcase_add_checked_fixture(t, firmware_reset, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, entries);
    tcase_add_test(t, a_line_over_several_rows);
    tcase_add_test(t, a_key_at_any_time_of_the_count);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
