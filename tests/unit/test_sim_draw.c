#include "sim/cluster/job.h"
#include "tests/support.h"

/* ---- numbers ---- */

static struct rng *rng(void)
{
    struct rng *r;
    MUST(rng_build(&r, 12, 0, e));
    return r;
}

/* Chi-square of 6 numbers in 12000 draws: 5 degrees of freedom, above 25.7 once in 10000 seeds. */
TEST(whole_numbers_are_equally_likely_ends_included)
{
    KEEP(struct rng *, r, rng_free_at) = rng();
    int n[6] = { 0 };
    double chi = 0;
    for (int i = 0; i < 12000; i++) {
        double x = draw_whole(r, (struct draw_range){ -2, 3 });
        assert_true(x == floor(x) && x >= -2 && x <= 3);
        n[(int)x + 2]++;
    }
    for (int k = 0; k < 6; k++)
        chi += (n[k] - 2000.) * (n[k] - 2000.) / 2000;
    assert_true(chi < 25.7);
}

/* 0.1 GB/s is 800 Mbps, but 0.3 * 8 is 2.4000000000000004 and 0.7 * 10 / 7 is below 1. */
TEST(an_end_that_rounding_moved_still_counts)
{
    KEEP(struct rng *, r, rng_free_at) = rng();
    for (int i = 0; i < 100; i++) {
        assert_true(draw_whole(r, (struct draw_range){ 3 * (1 + 1e-15), 3 * (1 + 1e-15) }) == 3);
        assert_true(draw_whole(r, (struct draw_range){ 3 * (1 - 1e-15), 3 * (1 - 1e-15) }) == 3);
    }
}

/* 10.4 is 10.4 and not 11; between 10.2 and 10.8 anything is drawn. */
TEST(a_range_without_a_whole_number_is_drawn_from_as_it_is)
{
    KEEP(struct rng *, r, rng_free_at) = rng();
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        assert_true(draw_whole(r, (struct draw_range){ 10.4, 10.4 }) == 10.4);
        double x = draw_whole(r, (struct draw_range){ 10.2, 10.8 });
        assert_true(x >= 10.2 && x < 10.8);
        sum += x / 1000;
    }
    assert_near(sum, 10.5, 0.03); /* deviation of a mean of 1000: .6 / sqrt(12000) = .0055 */
}

/* ---- files ---- */

static int read_text(struct draw_range *range, const char *text, const struct draw_limits *l, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    assert_ok(yaml_read_text(&doc, "f", text, strlen(text), e), e);
    return draw_read_range(range, &doc, yaml_get(&doc, doc.root, "x"), l, e);
}

TEST(a_range_is_a_number_or_a_list_of_two)
{
    const struct draw_limits l = { 1e9, 0, 100, false };
    struct draw_range x = { 5, 7 };
    OK(read_text(&x, "y: 1\n", &l, e));
    assert_true(x.lo == 5 && x.hi == 7); /* absent */
    OK(read_text(&x, "x: 2.5\n", &l, e));
    assert_true(x.lo == 2.5e9 && x.hi == 2.5e9);
    OK(read_text(&x, "x: [0, 100]\n", &l, e));
    assert_true(x.lo == 0 && x.hi == 100e9);
}

TEST(what_is_no_range_is_an_error_with_its_place)
{
    CASES(const char *text; int code; const char *message) = {
        { "x: -1\n", ERR_RANGE, "f:1:4: x is -1, need 0 to 100" },
        { "x: [1, 101]\n", ERR_RANGE, "f:1:8: x[1] is 101, need 0 to 100" },
        { "x: [3, 2]\n", ERR_RANGE, "f:1:4: x is from 3 to 2, need the smaller one first" },
        { "x: [1, 2, 3]\n", ERR_PARSE, "x is a list of another length, need a number or a list" },
        { "x: {a: 1}\n", ERR_PARSE, "x is a map, need a number or a list [least, most]" },
        { "x: [1, b]\n", ERR_PARSE, "x[1] is b, need a number" },
        { "x: 1.5\n", ERR_RANGE, "x is 1.5, need a whole number" },
    };
    const struct draw_limits l = { 2, 0, 100, true };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct draw_range x = { 0, 0 };
        FAILS(read_text(&x, cases[i].text, &l, e), cases[i].code, cases[i].message);
    }
}

TEST(choices_are_a_list_of_whole_numbers)
{
    CASES(const char *text; int code; const char *message) = {
        { "x: []\n", ERR_RANGE, "x is a list of 0, need 1 to 16 numbers" },
        { "x: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n", ERR_RANGE, "x is a list of 17" },
        { "x: [0]\n", ERR_RANGE, "x[0] is 0, need 1 to 1024" },
        { "x: [1, 1025]\n", ERR_RANGE, "x[1] is 1025, need 1 to 1024" },
        { "x: 8\n", ERR_PARSE, "need a list" },
    };
    double out[DRAW_MAX_CHOICES];
    int32_t n;
    for (size_t i = 0; i <= COUNT_OF(cases); i++) {
        const char *text = i < COUNT_OF(cases) ? cases[i].text : "x: [4, 8]\n";
        KEEP(struct yaml_doc, doc, yaml_free);
        OK(yaml_read_text(&doc, "f", text, strlen(text), e));
        yaml_id x = yaml_get(&doc, doc.root, "x");
        if (i < COUNT_OF(cases))
            FAILS(draw_read_choices(out, &n, &doc, x, e), cases[i].code, cases[i].message);
        else
            OK(draw_read_choices(out, &n, &doc, x, e));
    }
    assert_true(n == 2 && out[0] == 4 && out[1] == 8);
}
