/*
 * kernel/cpu_class.c shown CPUs of all ages.  A CPU without cpuid fails the test if it is asked.
 */
#include <check.h>

#include "kernel/cpu_class.h"
#include "tests/host/run_suite.h"

static struct {
    uint32_t flags; /* that can be changed */
    uint32_t max_leaf, leaf1_eax, leaf1_edx;
    unsigned asked;
} fake;

static bool fake_flag_changes(uint32_t flag)
{
    return (fake.flags & flag) != 0;
}

static struct cpuid_regs fake_cpuid(uint32_t leaf)
{
    ck_assert_msg((fake.flags & EFLAGS_ID) != 0, "cpuid on a CPU without it: invalid opcode");
    ck_assert_uint_le(leaf, fake.max_leaf);
    fake.asked++;
    if (leaf == 0) { /* "GenuineIntel", in the order ebx, edx, ecx */
        return (struct cpuid_regs){fake.max_leaf, 0x756E6547, 0x6C65746E, 0x49656E69};
    }
    return (struct cpuid_regs){fake.leaf1_eax, 0, 0, fake.leaf1_edx};
}

static const struct cpu_access access = {fake_flag_changes, fake_cpuid};

START_TEST(a_386_is_never_asked)
{
    struct cpu_info info = cpu_identify(&access, false);
    ck_assert_int_eq(info.class, CPU_386);
    ck_assert(!info.has_cpuid && !info.has_tsc);
    ck_assert_str_eq(info.vendor, "");
    ck_assert_uint_eq(fake.asked, 0);
}
END_TEST

START_TEST(an_early_486_is_never_asked)
{
    fake.flags = EFLAGS_AC;
    struct cpu_info info = cpu_identify(&access, false);
    ck_assert_int_eq(info.class, CPU_486);
    ck_assert(!info.has_cpuid && !info.has_tsc);
    ck_assert_uint_eq(fake.asked, 0);
}
END_TEST

START_TEST(a_486_with_cpuid_has_no_cycle_counter)
{
    fake.flags = EFLAGS_AC | EFLAGS_ID;
    fake.max_leaf = 1;
    fake.leaf1_eax = 0x435;
    fake.leaf1_edx = 0x9; /* QEMU's -cpu 486 */
    struct cpu_info info = cpu_identify(&access, false);
    ck_assert_int_eq(info.class, CPU_486);
    ck_assert(info.has_cpuid && !info.has_tsc);
    ck_assert_str_eq(info.vendor, "GenuineIntel");
}
END_TEST

START_TEST(a_pentium)
{
    fake.flags = EFLAGS_AC | EFLAGS_ID;
    fake.max_leaf = 1;
    fake.leaf1_eax = 0x52C;
    fake.leaf1_edx = 0x1BF;
    struct cpu_info info = cpu_identify(&access, false);
    ck_assert_int_eq(info.class, CPU_586);
    ck_assert(info.has_cpuid && info.has_tsc);
}
END_TEST

START_TEST(nocpuid_makes_it_an_early_486)
{
    fake.flags = EFLAGS_AC | EFLAGS_ID;
    fake.max_leaf = 1;
    fake.leaf1_eax = 0x52C;
    fake.leaf1_edx = 0x1BF;
    struct cpu_info info = cpu_identify(&access, true);
    ck_assert_int_eq(info.class, CPU_486);
    ck_assert(!info.has_cpuid && !info.has_tsc);
    ck_assert_uint_eq(fake.asked, 0);
}
END_TEST

START_TEST(leaf_1_only_where_there_is_one)
{
    fake.flags = EFLAGS_AC | EFLAGS_ID;
    fake.max_leaf = 0;
    struct cpu_info info = cpu_identify(&access, false);
    ck_assert_int_eq(info.class, CPU_486);
    ck_assert(info.has_cpuid && !info.has_tsc);
    ck_assert_uint_eq(fake.asked, 1);
}
END_TEST

START_TEST(classes)
{
    ck_assert_int_eq(cpu_classify(false, false, 0), CPU_386);
    ck_assert_int_eq(cpu_classify(true, false, 0x52C), CPU_486);
    ck_assert_int_eq(cpu_classify(true, true, 0x480), CPU_486);
    ck_assert_int_eq(cpu_classify(false, true, 0x510), CPU_586); /* NexGen Nx586 has no AC flag */
    ck_assert_int_eq(cpu_classify(true, true, 0x633), CPU_686);
    ck_assert_int_eq(cpu_classify(true, true, 0x00000F29), CPU_686);
    ck_assert_int_eq(cpu_classify(true, true, 0x00A20F10), CPU_686);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu");
    TCase *tests = tcase_create("cpu");
    tcase_add_test(tests, a_386_is_never_asked);
    tcase_add_test(tests, an_early_486_is_never_asked);
    tcase_add_test(tests, a_486_with_cpuid_has_no_cycle_counter);
    tcase_add_test(tests, a_pentium);
    tcase_add_test(tests, nocpuid_makes_it_an_early_486);
    tcase_add_test(tests, leaf_1_only_where_there_is_one);
    tcase_add_test(tests, classes);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
