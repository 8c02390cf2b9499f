/* Sets of whole numbers as intervals, against one bit for each number. */
#include "study/blocks.h"
#include "tests/support.h"

enum { NUMBERS = 200 };

static void add(struct spans *s, bool *bits, int64_t first, int64_t n)
{
    MUST(spans_add(s, first, n, e));
    for (int64_t i = first; i < first + n; i++)
        bits[i] = true;
}

/* Ascending, disjoint, never touching: the form is the only one that a set has. */
static void check_form(const struct spans *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        assert_true(s->spans[i].n >= 1);
        if (i > 0)
            assert_true(s->spans[i].first > s->spans[i - 1].first + s->spans[i - 1].n);
    }
}

static void check_members(const struct spans *s, const bool *bits)
{
    int64_t count = 0;
    for (int64_t i = 0; i < NUMBERS; i++) {
        assert_true(spans_count(s, i) == count && spans_have(s, i) == bits[i]);
        count += bits[i];
    }
    assert_int_equal(spans_count(s, NUMBERS), count);
}

static void check_gap(const struct spans *s, const bool *bits, int64_t from, int64_t end, int64_t most)
{
    struct span gap = spans_gap(s, from, end, most);
    int64_t first = from, n = 0;
    while (first < end && bits[first])
        first++;
    while (n < most && first + n < end && !bits[first + n])
        n++;
    assert_int_equal(gap.n, n);
    if (n > 0)
        assert_int_equal(gap.first, first);
}

TEST(random_additions_give_the_set_that_bits_give)
{
    RNG(r, 8, 0);
    for (int round = 0; round < 100; round++) {
        KEEP(struct spans, s, spans_free) = { 0 };
        bool bits[NUMBERS] = { false };
        int64_t widest = 1 + rng_below(r, 20);
        for (int k = 0; k < 40; k++) {
            int64_t first = rng_below(r, NUMBERS), n = rng_below(r, widest + 1);
            add(&s, bits, first, first + n > NUMBERS ? NUMBERS - first : n);
            check_form(&s);
            int64_t from = rng_below(r, NUMBERS);
            check_gap(&s, bits, from, from + rng_below(r, NUMBERS + 1 - from), 1 + rng_below(r, 30));
        }
        check_members(&s, bits);
    }
}

TEST(numbers_in_any_order_become_one_interval)
{
    KEEP(struct spans, s, spans_free) = { 0 };
    bool bits[NUMBERS] = { false };
    for (int64_t i = 0; i < NUMBERS; i++)
        add(&s, bits, i * 77 % NUMBERS, 1); /* 77 and 200 have no common factor: each once */
    assert_true(s.n == 1 && s.spans[0].first == 0 && s.spans[0].n == NUMBERS);
}

TEST(an_empty_set_has_one_gap_without_end)
{
    const struct spans s = { 0 };
    struct span gap = spans_gap(&s, 5, INT64_MAX, INT64_MAX);
    assert_true(gap.first == 5 && gap.n == INT64_MAX - 5 && spans_gap(&s, 5, 5, 1).n == 0);
    assert_true(!spans_have(&s, 0) && spans_count(&s, INT64_MAX) == 0);
}

TEST(the_largest_numbers_fit)
{
    KEEP(struct spans, s, spans_free) = { 0 };
    OK(spans_add(&s, INT64_MAX - 10, 10, e));
    OK(spans_add(&s, 0, 3, e));
    assert_true(spans_have(&s, INT64_MAX - 1) && !spans_have(&s, INT64_MAX - 11));
    assert_true(spans_count(&s, INT64_MAX) == 13 && spans_gap(&s, INT64_MAX - 10, INT64_MAX, 5).n == 0);
}
