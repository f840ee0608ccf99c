/*
 * The floppy's stage 2, from the BIOS parameter block to the kernel's entry, on a simulated PC.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/multiboot.h"
#include "tests/host/floppy_rig.h"
#include "tests/host/run_suite.h"
#include "tests/host/sim/firmware.h"

enum { MB = 1 << 20, TEXT = RIG_TEXT, TEXT_OFFSET = RIG_TEXT_OFFSET, FIRST = 10 };

static void boot_usual(const char *options)
{
    rig_usual(options);
    firmware_boot();
}

/* It gave up with this line, and waits for a key. */
static void check_gave_up(const char *why)
{
    ck_assert_int_eq(pc.end, FIRMWARE_WAITS);
    ck_assert_msg(strstr(pc.text, why) != NULL, "%s", pc.text);
    ck_assert(strstr(pc.text, "\nPress a key to boot again. ") != NULL);
}

/* ---- the plain case ---- */

START_TEST(to_the_entry)
{
    boot_usual("ip=dhcp\r\n# no\r\nirq=poll name=\"a b\"\r\n\x1a rubbish");
    rig_check_entered(TEXT);
    ck_assert_uint_eq(rig_info()->flags, 0x247);
    ck_assert_uint_eq(rig_info()->mem_lower, 639);
    ck_assert_uint_eq(rig_info()->mem_upper, 3 * 1024);
    ck_assert_uint_eq(rig_info()->boot_device, 0x00FFFFFF);
    ck_assert_uint_eq(rig_info()->mmap_length, 3 * 24);
    const struct multiboot_region *map = firmware_at(rig_info()->mmap_addr);
    ck_assert_uint_eq(map[1].type, 2);
    ck_assert_uint_eq(map[2].size, 20);
    ck_assert_uint_eq(map[2].length_low, 3 * MB);
    ck_assert_str_eq(strchr(rig_command_line(), ' '), " ip=dhcp irq=poll name=\"a b\"");
    ck_assert_int_eq(strncmp(rig_command_line(), "load_ms=", 8), 0);
    ck_assert_int_ge(atoi(rig_command_line() + 8), 2900);
    ck_assert_int_le(atoi(rig_command_line() + 8), 3500);
}
END_TEST

START_TEST(nothing_is_read_twice)
{
    boot_usual(NULL);
    rig_check_entered(TEXT);
    ck_assert_str_eq(strchr(rig_command_line(), ' '), " ");
    ck_assert_uint_eq(pc.single_reads, 0);
    for (unsigned i = 0; i < FIRMWARE_TRACKS; i++) {
        ck_assert_uint_le(pc.track_reads[i], 1);
    }
    unsigned last = rig_sector(FIRST) + (TEXT + RIG_DATA + TEXT_OFFSET - 1) / 512;
    ck_assert_uint_eq(pc.reads, last / 18); /* from track 1 on: the FAT's */
}
END_TEST

START_TEST(clusters_of_two_sectors_backwards)
{
    rig_format(&format_720);
    size_t bytes = rig_build_kernel(100001);
    rig_add("NICTEST CFG", "irq=poll", 8, 300, 1);
    rig_add("NICTEST ELF", rig_kernel, bytes, 250, -2);
    firmware_boot();
    rig_check_entered(100001);
    ck_assert_str_eq(strchr(rig_command_line(), ' '), " irq=poll");
}
END_TEST

START_TEST(the_right_entry_of_the_directory)
{
    rig_format(&format_1440);
    size_t bytes = rig_build_kernel(TEXT), at;
    at = rig_add("NICTEST ELF", "no", 2, 2, 1);
    pc.disk[at + 11] = 0x08; /* the label */
    at = rig_add("NICTEST ELF", "no", 2, 3, 1);
    pc.disk[at + 11] = 0x10; /* a folder */
    at = rig_add("NICTEST ELF", "no", 2, 4, 1);
    pc.disk[at] = 0xE5; /* deleted */
    for (unsigned i = 0; i < 30; i++) {
        rig_add("FILLER  BIN", "x", 1, 100 + i, 1);
    }
    rig_add("NICTEST ELF", rig_kernel, bytes, 200, 1);
    firmware_boot();
    rig_check_entered(TEXT);
}
END_TEST

START_TEST(over_midnight)
{
    uint32_t late = 0x1800B0 - 20;

    rig_usual("");
    memcpy(pc.memory + 0x46C, &late, sizeof late);
    firmware_boot();
    rig_check_entered(TEXT);
    ck_assert_int_ge(atoi(rig_command_line() + 8), 2900);
    ck_assert_int_le(atoi(rig_command_line() + 8), 3500);
}
END_TEST

START_TEST(a_timer_that_stands_still)
{
    rig_usual("");
    pc.timer_stands = true;
    firmware_boot();
    rig_check_entered(TEXT);
}
END_TEST

/* ---- reading ---- */

START_TEST(failures_in_passing)
{
    for (unsigned times = 1; times <= 9; times++) {
        firmware_reset();
        rig_usual("");
        pc.bad_sector = rig_sector(FIRST) + 40;
        pc.bad_times = times;
        firmware_boot();
        rig_check_entered(TEXT);
        ck_assert_uint_eq(pc.resets, times);
        ck_assert((pc.single_reads == 0) == (times <= 4));
    }
}
END_TEST

START_TEST(a_bad_sector_of_nobody)
{
    rig_usual("");
    pc.bad_sector = rig_sector(2) + 2; /* on the track of the directory and the kernel's start */
    pc.bad_times = ALWAYS;
    firmware_boot();
    rig_check_entered(TEXT);
    ck_assert_uint_gt(pc.single_reads, 0);
}
END_TEST

enum { BPB_RESERVED = 14, BPB_FATS = 16, BPB_FAT_SECTORS = 22 }; /* low bytes */

/* The second FAT has it, too. */
START_TEST(a_bad_sector_of_the_first_fat)
{
    rig_usual("");
    pc.bad_sector = pc.disk[BPB_RESERVED];
    pc.bad_times = ALWAYS;
    firmware_boot();
    rig_check_entered(TEXT);
}
END_TEST

/* The same disk, but its first FAT is told to be no FAT. */
START_TEST(a_bad_sector_of_the_only_fat)
{
    char line[60];
    rig_usual("");
    pc.disk[BPB_RESERVED] = (uint8_t)(pc.disk[BPB_RESERVED] + pc.disk[BPB_FAT_SECTORS]);
    pc.disk[BPB_FATS] = 1;
    pc.bad_sector = pc.disk[BPB_RESERVED];
    pc.bad_times = ALWAYS;
    firmware_boot();
    snprintf(line, sizeof line, "\ndisk read error at track 0, head %u, sector %u\n",
             (unsigned)pc.bad_sector / pc.per_track, (unsigned)pc.bad_sector % pc.per_track + 1);
    check_gave_up(line);
}
END_TEST

START_TEST(a_bad_sector_of_the_kernel)
{
    rig_usual("");
    pc.bad_sector = 5 * 18 + 7;
    pc.bad_times = ALWAYS;
    firmware_boot();
    check_gave_up("\ndisk read error at track 2, head 1, sector 8\n");
}
END_TEST

START_TEST(after_a_failure_a_key_boots_again)
{
    rig_format(&format_1440);
    pc.keys = "\r";
    pc.first_key_tick = 1000000;
    firmware_boot();
    ck_assert_int_eq(pc.end, FIRMWARE_RESTARTED);
    ck_assert(strstr(pc.text, "no NICTEST.ELF on this disk") != NULL);
}
END_TEST

/* ---- a volume or kernel that is damaged ---- */

START_TEST(damaged_parameter_blocks)
{
    static const struct damage {
        unsigned at;
        uint8_t value;
    } damages[] = {{12, 0}, {13, 0}, {14, 0},  {16, 0}, {17, 0}, {20, 0},   {22, 0},
                   {22, 1}, {24, 0}, {24, 64}, {26, 0}, {26, 3}, {14, 255}, {18, 255}};

    for (unsigned i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        firmware_reset();
        rig_usual("");
        pc.disk[damages[i].at] = damages[i].value;
        firmware_boot();
        if (damages[i].at == 20) {
            continue; /* fewer sectors: the kernel may still be within */
        }
        check_gave_up("\n");
    }
}
END_TEST

START_TEST(broken_chains)
{
    static const unsigned values[] = {0, 1, 0xFF7, 0xFFF, 2840 + 2 /* one too far */};

    for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
        firmware_reset();
        rig_usual("");
        rig_set_fat(FIRST + 3, values[i]);
        firmware_boot();
        check_gave_up("\nNICTEST.ELF: its chain of clusters is broken\n");
    }
}
END_TEST

START_TEST(a_chain_in_a_circle_ends)
{
    rig_usual("");
    rig_set_fat(FIRST + 50, FIRST);
    firmware_boot();
    ck_assert_int_eq(pc.end, FIRMWARE_ENTERED); /* bounded by the length; the kernel is wrong */
}
END_TEST

/* The kernel with one number changed: offset in the file, value. */
static void with_kernel(unsigned at, uint32_t value, const char *why)
{
    firmware_reset();
    size_t bytes = rig_build_kernel(TEXT);
    memcpy(rig_kernel + at, &value, sizeof value);
    rig_format(&format_1440);
    rig_add("NICTEST ELF", rig_kernel, bytes, FIRST, 1);
    firmware_boot();
    check_gave_up(why);
}

START_TEST(kernels_that_are_none)
{
    static const char none[] = "\nNICTEST.ELF: not a program for a 386\n";
    static const char damaged[] = "\nNICTEST.ELF: damaged, its segments make no sense\n";

    with_kernel(0, 0x464C4580, none);
    with_kernel(4, 0x00010102, none);         /* 64 bit */
    with_kernel(16, 0x00030001, none);        /* to be linked */
    with_kernel(18, 62, none);                /* another machine */
    with_kernel(24, 0x200000, none);          /* entry outside */
    with_kernel(28, 0xFFFFFFF0, none);        /* headers outside */
    with_kernel(44, 200, none);               /* too many */
    with_kernel(52 + 4, 0xFFFFFF00, damaged); /* offset wraps */
    with_kernel(52 + 12, 0x7C00, damaged);    /* below 1 MB */
    with_kernel(52 + 20, TEXT - 1, damaged);  /* less memory than file */
    with_kernel(52 + 12, 0x7FFFFFFF, "\ntoo little memory, 2 MB are needed\n");
    with_kernel(84 + 20, 0x400000, "\ntoo little memory, 2 MB are needed\n");
    with_kernel(84 + 20, 0xFFFFFFFF, "\ntoo little memory, 2 MB are needed\n");
    with_kernel(84 + 4, 2 * TEXT, "\nNICTEST.ELF: cut off, copy it anew\n");
}
END_TEST

START_TEST(a_file_of_no_length)
{
    rig_format(&format_1440);
    rig_add("NICTEST ELF", "", 0, 2, 1);
    firmware_boot();
    check_gave_up("\nNICTEST.ELF: not a program for a 386\n");
}
END_TEST

START_TEST(a_file_longer_than_the_disk)
{
    rig_usual("");
    pc.disk[(18 + 18) * 512 + 32 + 28 + 3] = 1; /* the kernel's entry is the second */
    firmware_boot();
    check_gave_up("\nNICTEST.ELF: longer than the disk\n");
}
END_TEST

/* ---- A20 ---- */

static void shut(void)
{
    firmware_reset();
    rig_usual("");
    pc.bios_opens = false;
}

START_TEST(every_way_to_open_a20)
{
    for (unsigned way = 0; way < 4; way++) {
        shut();
        pc.a20 = way == 0;
        pc.bios_opens = way == 1;
        pc.has_port92 = true; /* there, but not working, for the third way */
        pc.port92_opens = way == 2;
        pc.has_controller = pc.controller_opens = way == 3;
        pc.a20_lag = way == 0 ? 0 : 1000;
        firmware_boot();
        rig_check_entered(TEXT);
    }
}
END_TEST

/* As some clones of the controller are: command D1h alone is known. */
START_TEST(a20_without_the_output_port_told)
{
    shut();
    pc.has_controller = pc.controller_opens = pc.controller_mute = true;
    firmware_boot();
    rig_check_entered(TEXT);
}
END_TEST

START_TEST(a20_that_stays_shut)
{
    shut();
    firmware_boot();
    check_gave_up("\nA20 cannot be enabled\n");
    ck_assert_uint_eq(pc.pic_mask, FIRMWARE_PIC_MASK);
    shut();
    pc.has_controller = pc.has_port92 = true;
    firmware_boot();
    check_gave_up("\nA20 cannot be enabled\n");
}
END_TEST

/* ---- memory ---- */

static void boot_with_upper(uint32_t upper_kb, unsigned regions)
{
    rig_usual("");
    firmware_boot();
    rig_check_entered(TEXT);
    ck_assert_uint_eq(rig_info()->mem_upper, upper_kb);
    ck_assert_uint_eq(rig_info()->mmap_length, regions * 24);
    ck_assert_uint_eq((rig_info()->flags & MULTIBOOT_MMAP) != 0, regions != 0);
}

START_TEST(without_a_map)
{
    pc.has_e820 = false;
    pc.upper_kb = 1024;
    boot_with_upper(1024, 0);
    pc.upper_with_carry = true;
    boot_with_upper(1024, 0);

    firmware_reset();
    pc.has_e820 = false;
    pc.has_e801 = true;
    pc.below_16mb_kb = 0x3C00;
    pc.above_16mb_64kb = 0x100;
    boot_with_upper(0x3C00 + 0x4000, 2);
    ck_assert_uint_eq(
        ((const struct multiboot_region *)firmware_at(rig_info()->mmap_addr))[1].base_low, MB);
}
END_TEST

/* The words of a PC's BIOS and of an XT's are no sizes. */
START_TEST(no_way_to_ask_for_memory)
{
    static const uint16_t unknown[] = {0x8000, 0x8600};

    for (unsigned i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        firmware_reset();
        rig_usual("");
        pc.has_e820 = false;
        pc.upper_kb = unknown[i];
        pc.upper_with_carry = true;
        firmware_boot();
        check_gave_up("\ntoo little memory, 2 MB are needed\n");
    }
}
END_TEST

START_TEST(a_hole_below_16_mb)
{
    pc.has_e820 = false;
    pc.has_e801 = pc.e801_in_cx_dx = true;
    pc.below_16mb_kb = 0x3800;
    pc.above_16mb_64kb = 0x40;
    boot_with_upper(0x3800, 3);
    const struct multiboot_region *map = firmware_at(rig_info()->mmap_addr);
    ck_assert_uint_eq(map[2].base_low, 16 * MB);
    ck_assert_uint_eq(map[2].length_low, 4 * MB);
}
END_TEST

START_TEST(maps_of_odd_bioses)
{
    pc.e820_answer = 0; /* carry clear, but no map */
    pc.upper_kb = 3072;
    boot_with_upper(3072, 0);

    firmware_reset(); /* longer than our list; in pieces and out of order; empty entries */
    pc.regions = 0;
    pc.region[pc.regions++] =
        (struct multiboot_region){.base_low = 2 * MB, .length_low = MB, .type = 1};
    pc.region[pc.regions++] = (struct multiboot_region){.base_low = 7 * MB, .type = 1};
    pc.region[pc.regions++] =
        (struct multiboot_region){.base_low = MB, .length_low = MB, .type = 1};
    while (pc.regions < 60) {
        pc.region[pc.regions++] =
            (struct multiboot_region){.base_low = 0xFFF00000, .length_low = 16, .type = 2};
    }
    boot_with_upper(2048, 32);
}
END_TEST

START_TEST(maps_that_must_not_be_believed)
{
    pc.e820_bytes = 12; /* it has not filled in all */
    pc.upper_kb = 2048;
    boot_with_upper(2048, 0);

    firmware_reset(); /* taken memory behind the free */
    pc.region[2].length_low = MB;
    pc.region[pc.regions++] =
        (struct multiboot_region){.base_low = 2 * MB, .length_low = MB, .type = 2};
    boot_with_upper(1024, 4);

    firmware_reset(); /* to beyond 4 GB */
    pc.region[2].length_low = 0xFFFFFFFF;
    boot_with_upper((0xFFFFFFFF - MB) / 1024, 3);

    firmware_reset(); /* from 4 GB on, which is not from 0 on */
    pc.region[pc.regions++] =
        (struct multiboot_region){.base_high = 1, .length_low = 64 * MB, .type = 1};
    boot_with_upper(3072, 4);
}
END_TEST

START_TEST(too_little)
{
    pc.has_e820 = false;
    pc.upper_kb = 60;
    boot_usual("");
    check_gave_up("\ntoo little memory, 2 MB are needed\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("floppy");
    TCase *t = tcase_create("loader");

    tcase_add_checked_fixture(t, firmware_reset, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, to_the_entry);
    tcase_add_test(t, nothing_is_read_twice);
    tcase_add_test(t, clusters_of_two_sectors_backwards);
    tcase_add_test(t, the_right_entry_of_the_directory);
    tcase_add_test(t, over_midnight);
    tcase_add_test(t, a_timer_that_stands_still);
    tcase_add_test(t, failures_in_passing);
    tcase_add_test(t, a_bad_sector_of_nobody);
    tcase_add_test(t, a_bad_sector_of_the_first_fat);
    tcase_add_test(t, a_bad_sector_of_the_only_fat);
    tcase_add_test(t, a_bad_sector_of_the_kernel);
    tcase_add_test(t, after_a_failure_a_key_boots_again);
    tcase_add_test(t, damaged_parameter_blocks);
    tcase_add_test(t, broken_chains);
    tcase_add_test(t, a_chain_in_a_circle_ends);
    tcase_add_test(t, kernels_that_are_none);
    tcase_add_test(t, a_file_of_no_length);
    tcase_add_test(t, a_file_longer_than_the_disk);
    tcase_add_test(t, every_way_to_open_a20);
    tcase_add_test(t, a20_without_the_output_port_told);
    tcase_add_test(t, a20_that_stays_shut);
    tcase_add_test(t, without_a_map);
    tcase_add_test(t, no_way_to_ask_for_memory);
    tcase_add_test(t, a_hole_below_16_mb);
    tcase_add_test(t, maps_of_odd_bioses);
    tcase_add_test(t, maps_that_must_not_be_believed);
    tcase_add_test(t, too_little);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
