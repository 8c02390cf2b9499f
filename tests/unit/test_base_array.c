#include "tests/support.h"

#include "base/array.h"

static void items_survive_growth_and_capacity_doubles(void **state)
{
    (void)state;
    int64_t *items = NULL;
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
    free(items);
}

static void too_large_is_refused_and_leaves_everything(void **state)
{
    (void)state;
    int64_t *items = malloc(sizeof *items);
    assert_non_null(items);
    int32_t cap = INT32_MAX / 2 + 1;
    assert_null(array_grow(items, cap, &cap, sizeof *items));
    assert_int_equal(cap, INT32_MAX / 2 + 1);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_survive_growth_and_capacity_doubles),
        cmocka_unit_test(too_large_is_refused_and_leaves_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
