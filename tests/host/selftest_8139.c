/*
 * The selftest on RTL8139s with something broken.
 */
#include "tests/host/selftest.h"

START_TEST(register_stuck)
{
    st_up(st_first_8139());
    st.rtl.fault.mar_low = 0x00400000;
    st_run();
    st_says("register 08h does not hold what is written (bits 00400000)");
    st_blames("registers");
    st.rtl.fault.mar_low = 0;
    st_works();
}
END_TEST

START_TEST(eeprom_empty)
{
    st_up(st_first_8139());
    memset(st.rtl.eeprom.word, 0xFF, sizeof st.rtl.eeprom.word);
    st_run();
    st_says(
        "EEPROM     BAD  ffff ffff ffff ffff ffff ffff ffff ffff ffff ffff: does not begin with "
        "8129");
    st_blames("EEPROM");
    st_works();
}
END_TEST

START_TEST(eeprom_of_another)
{
    st_up(st_first_8139());
    st.rtl.eeprom.word[8] ^= 0x0100;
    st_run();
    st_says("says 00:20:af:13:34:56, but the chip's registers 00:20:af:12:34:56");
    st_blames("EEPROM");
    st_works();
}
END_TEST

/* Both lengths of address are found out. */
START_TEST(eeprom_says)
{
    for (unsigned i = 0; i < sim_rtl_count; i++) {
        st_up(st_first_8139() + i);
        st_run();
        st_says("8129 10ec 8139 ffff ffff ffff ffff 2000 12af 5634");
        st_says("00:20:af:12:34:56, board 10ec:8139");
        rig_down(&st);
    }
}
END_TEST

START_TEST(loop_damaged)
{
    st_up(st_first_8139());
    st.rtl.fault.loop_damage = 0x80;
    st_run();
    st_says("loopback   BAD  within the chip: frame 1 of 60 bytes came back damaged");
    st_blames("loopback");
    st_works();
}
END_TEST

START_TEST(loop_lost)
{
    st_up(st_first_8139());
    st.rtl.fault.loop_lost = true;
    st_run();
    st_says("frame 1 of 60 bytes did not come back");
    st_blames("loopback");
    st_works();
}
END_TEST

/* A card that may not master the bus any more. */
START_TEST(never_fetches)
{
    st_up(st_first_8139());
    st.rtl.fault.never_fetches = true;
    st_run();
    st_says("speed      BAD  a frame was not fetched in 20 ms");
    st_blames("loopback, speed");
    st.rtl.fault.never_fetches = false;
    st_works();
}
END_TEST

/* Pulled out of its slot, or asleep. */
START_TEST(gone)
{
    st_up(st_first_8139());
    st.rtl.cfg.all_ones = true;
    st_run();
    st_says("registers  BAD  does not come out of reset (CR ff)");
    st_says("afterwards BAD  the card does not come back (timed out)");
    ck_assert_uint_gt(selftest_faults(), 1);
    st.side->unplug(&st);
}
END_TEST

TCase *selftest_8139(void)
{
    TCase *tc = tcase_create("broken RTL8139");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, register_stuck);
    tcase_add_test(tc, eeprom_empty);
    tcase_add_test(tc, eeprom_of_another);
    tcase_add_test(tc, eeprom_says);
    tcase_add_test(tc, loop_damaged);
    tcase_add_test(tc, loop_lost);
    tcase_add_test(tc, never_fetches);
    tcase_add_test(tc, gone);
    return tc;
}
