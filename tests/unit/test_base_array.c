#include "tests/support.h"

#include "base/array.h"

TEST(items_survive_growth_and_capacity_doubles)
{
    KEEP(int64_t *, items, free_at) = NULL;
    int32_t cap = 0;
    for (int32_t n = 0; n < 1000; n++) {
        int32_t before = cap;
        int64_t *grown = array_grow(items, n, &cap, sizeof *grown);
        assert_non_null(grown);
        assert_true(cap == before || cap == 2 * before || before == 0);
        assert_true(cap > n);
        items = grown;
        items[n] = 7 * n;
    }
    for (int32_t n = 0; n < 1000; n++)
        assert_int_equal(items[n], 7 * n);
}

TEST(too_large_is_refused_and_leaves_everything)
{
    KEEP(int64_t *, items, free_at) = malloc(sizeof *items);
    assert_non_null(items);
    int32_t cap = INT32_MAX / 2 + 1;
    assert_null(array_grow(items, cap, &cap, sizeof *items));
    assert_int_equal(cap, INT32_MAX / 2 + 1);
}
