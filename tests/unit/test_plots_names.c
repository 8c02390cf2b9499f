#include "tests/support.h"

#include "plots/names.h"

static void names_keep_the_order_of_first_appearance(void **state)
{
    static const char *const added[] = { "b", "a", "b", "c", "a" };
    static const int32_t want[] = { 0, 1, 0, 2, 1 };
    struct names n = { 0 };
    char many[40][12];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(added); i++)
        assert_int_equal(names_add(&n, added[i]), want[i]);
    assert_int_equal(names_find(&n, "c"), 2);
    assert_int_equal(names_find(&n, "d"), -1);
    for (int i = 0; i < 40; i++) {
        snprintf(many[i], sizeof many[i], "%d", i);
        assert_int_equal(names_add(&n, many[i]), 3 + i);
    }
    assert_string_equal(n.list[42], "39");
    names_free(&n);
}

static void copies_outlive_the_text_that_was_added(void **state)
{
    struct names n = { 0 };
    char text[] = "ring";
    (void)state;
    assert_int_equal(names_add_copy(&n, text), 0);
    text[0] = 'k';
    assert_int_equal(names_add_copy(&n, text), 1);
    assert_int_equal(names_add_copy(&n, "ring"), 0);
    assert_string_equal(n.list[0], "ring");
    assert_string_equal(n.list[1], "king");
    names_free_copies(&n);
    assert_int_equal(n.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_the_order_of_first_appearance),
        cmocka_unit_test(copies_outlive_the_text_that_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
