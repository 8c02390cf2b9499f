/* Exchanges on links that they hold, against times by hand. */
#include "tests/unit/wire_yard.h"

/* Two exchanges of S asked for at once on the closed form: does the second wait? */
TEST(exchanges_wait_for_the_ports_they_share)
{
    CASES(const char *word; int64_t a, b, c, d;
          /* first between a and b, then between c and d */ bool one_way, waits) = {
        { "switch:4@60", 0, 1, 2, 3, false, false },
        { "switch:4@60", 0, 1, 0, 2, false, true },
        { "switch:4@60", 0, 1, 2, 1, false, true },
        /* One port each way: who sends may receive, but not send or receive twice. */
        { "switch:4@60", 0, 1, 1, 0, true, false },
        { "switch:4@60", 0, 1, 2, 0, true, false },
        { "switch:4@60", 0, 1, 1, 2, true, false },
        { "switch:4@60", 0, 1, 0, 2, true, true },
        { "switch:4@60", 0, 1, 2, 1, true, true },
        /* A link to each. */
        { "full:4@60", 0, 1, 0, 2, false, false },
        { "full:4@60", 0, 1, 1, 0, false, true },
        /* Both sides of a ring; what passes between takes the link. */
        { "ring:6@60", 0, 1, 0, 5, false, false },
        { "ring:6@60", 0, 2, 1, 2, false, true },
        { "ring:6@60", 0, 2, 1, 2, true, true },
        { "ring:6@60", 0, 2, 2, 1, true, false },
        { "ring:6@60", 0, 2, 3, 4, false, false },
        { "line:4@60", 0, 1, 1, 2, false, false },
        { "line:4@60", 0, 3, 1, 2, false, true },
        /* NPU 0 is (0, 0), 3 is (1, 1): each dimension has its own port. */
        { "switch:2@60 switch:2@60", 0, 1, 0, 2, false, false },
        { "switch:2@60 switch:2@60", 0, 3, 0, 1, false, true },
        /* There over 1, back over 2: the ways from 0 to 3 and from 3 to 0 differ. */
        { "switch:2@60 switch:2@60", 0, 3, 0, 2, true, false },
        { "switch:2@60 switch:2@60", 0, 3, 1, 3, true, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        YARD(y, cases[i].word, GOSSIP_CLOSED);
        double back_B = cases[i].one_way ? 0 : S_B;
        assert_true(send(&y, cases[i].a, cases[i].b, S_B, back_B, 0));
        if (send(&y, cases[i].c, cases[i].d, S_B, back_B, 1) == cases[i].waits) {
            print_error("case %zu\n", i);
            fail();
        }
        const struct gossip_signal *s;
        assert_int_equal(turn(&y, &s), 2);
        double alone_s = y.now_s;
        assert_true(s[0].tag == 0 && s[0].ends && s[1].tag == 1);
        assert_int_equal(s[1].ends, !cases[i].waits);
        if (cases[i].waits)
            assert_next(&y, 1, true, 2 * alone_s);
        assert_idle(&y);
    }
}

TEST(each_way_holds_its_links_for_its_own_bytes)
{
    YARD(y, "switch:4@50", GOSSIP_CLOSED);
    yard_play(&y, "0>1 1/5 0>2 1! 1>3 1! = .02 +1 = .04 -1 = .1 -0 +2 = .12 -2");
}

/* A box of two, two boxes: NPU 0 is (0, 0), 3 is (1, 1), the way between them is 0, 1, 3. One link within a
 * box is held for 7 ms of latency and overhead and 1 / (200 * 0.5) s, one between them for 7 ms and 1 s. */
static void open_boxes(struct yard *y)
{
    yard_word(y, "switch:2@200 switch:2@2");
    y->fabric.rules.endpoint_s = 4e-3;
    for (int32_t d = 0; d < 2; d++) {
        y->fabric.net.dims[d].efficiency = 0.5;
        y->fabric.net.dims[d].lat_s = 1e-3 * (d + 1);
    }
    yard_open(y);
}

#define BOXES(y)                                                                                             \
    KEEP(struct yard, y, yard_close);                                                                        \
    open_boxes(&y)

/* 3 to 2 is in the other box. */
TEST(a_wide_link_is_free_before_a_narrow_one_of_the_same_way)
{
    BOXES(y);
    yard_play(&y, "0>3 1 0>1 1! 1>3 1! 3>2 1 = .015 -3 = .017 +1 = .032 -1 = 1.007 -0 +2 = 2.013 -2");
}

/* Half of it back: 3, 2, 0. */
TEST(of_an_exchange_too_each_link_for_the_bytes_of_its_direction)
{
    BOXES(y);
    yard_play(&y, "0>3 1/.5 3>2 1! 2>0 1! = .012 +1 = .027 -1 = .507 +2 = 1.007 -0 = 1.513 -2");
}

TEST(who_waits_for_a_narrow_link_keeps_others_from_a_wide_one)
{
    BOXES(y);
    yard_play(&y, "1>3 1 0>3 1! 0>1 1! = 1.006 -0 +1 = 1.023 +2");
}

/* All links but the narrow ones have long been free. */
TEST(a_collective_waits_until_messages_are_there)
{
    BOXES(y);
    yard_play(&y, "0>3 1 0>1 1! all 1! = .017 +1 = .032 -1 = 1.007 -0 +2");
}

/* Both 2 and 3 are idle, but 2 is promised. */
TEST(who_waits_keeps_those_who_come_later_from_his_links)
{
    YARD(y, "switch:6@50", GOSSIP_CLOSED);
    yard_play(&y, "0>1 1/1 1>2 1/1! 2>3 1/1! 4>5 .5 = .01 -3 = .02 -0 +1 = .04 -1 +2 = .06 -2");
}

TEST(ends_come_before_beginnings_and_each_as_asked_for)
{
    static const struct gossip_signal want[] = { { 2, true },  { 1, true },  { 0, true },
                                                 { 5, false }, { 4, false }, { 3, false } };
    const struct gossip_signal *s;
    YARD(y, "switch:6@50", GOSSIP_CLOSED);
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(send(&y, i % 3, 3 + i % 3, S_B, S_B, i < 3 ? 2 - i : 8 - i), i < 3);
    assert_int_equal(turn(&y, &s), 6);
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_int_equal(s[i].tag, want[i].tag);
        assert_int_equal(s[i].ends, want[i].ends);
    }
    /* A tag is free again at its end, while other signals are still to be read. */
    assert_true(!send(&y, 0, 3, S_B, S_B, 2) && !send(&y, 0, 3, S_B, S_B, 1000) && s[5].tag == 3);
    assert_true(turn(&y, &s) == 4 && s[0].tag == 5 && s[3].tag == 2);
    assert_false(s[3].ends);
    assert_close(y.now_s, 0.04, 1e-12);
}
