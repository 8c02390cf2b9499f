#include "tests/support.h"

static void setting_records_code_and_text(void **state)
{
    struct err e = { 0 };
    (void)state;
    assert_int_equal(err_set(&e, ERR_RANGE, "size: is %d, need %d", -3, 2), ERR_RANGE);
    assert_int_equal(e.code, ERR_RANGE);
    assert_string_equal(e.msg, "size: is -3, need 2");
}

static void wrapping_prefixes_and_keeps_the_code(void **state)
{
    struct err e = { 0 };
    (void)state;
    err_set(&e, ERR_PARSE, "is empty");
    assert_int_equal(err_wrap(&e, "dims[%d]", 1), ERR_PARSE);
    assert_string_equal(e.msg, "dims[1]: is empty");
}

static void lack_of_memory_names_what_it_was_for(void **state)
{
    struct err e = { 0 };
    (void)state;
    assert_int_equal(err_nomem(&e, "links"), ERR_NOMEM);
    assert_int_equal(e.code, ERR_NOMEM);
    assert_string_equal(e.msg, "out of memory for links");
}

static void message_is_one_line_without_terminal_escapes(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "a\nb\tc", "a?b?c" },
        { "\x1b[31mred\x7f", "?[31mred?" },
        { "\xc2\x9b"
          "31m",
          "?\x9b"
          "31m" },                                    /* U+009B begins an escape as ESC [ does */
        { "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9" }, /* letters stay */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err e = { 0 };
        err_set(&e, ERR_PARSE, "%s", cases[i].in);
        assert_string_equal(e.msg, cases[i].want);
    }
}

static void too_long_text_is_cut_and_terminated(void **state)
{
    char text[4000];
    struct err e = { 0 };
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&e, ERR_IO, "%s", text);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
}

static void wrapping_in_a_long_path_keeps_the_cause(void **state)
{
    char path[4000];
    struct err e = { 0 };
    (void)state;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    err_set(&e, ERR_IO, "no space left on device");
    err_wrap(&e, "%s", path);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    assert_has(e.msg, "ppp: no space left on device");
    for (int i = 0; i < 5; i++)
        err_wrap(&e, "%s", path); /* now the cause is long as well: each has its half */
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    assert_int_equal(e.code, ERR_IO);
}

static void message_may_quote_itself(void **state)
{
    struct err e = { 0 };
    (void)state;
    err_set(&e, ERR_IO, "inner");
    err_set(&e, ERR_PARSE, "outer (%s)", e.msg);
    assert_string_equal(e.msg, "outer (inner)");
    err_wrap(&e, "again %s", e.msg);
    assert_string_equal(e.msg, "again outer (inner): outer (inner)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_records_code_and_text),
        cmocka_unit_test(wrapping_prefixes_and_keeps_the_code),
        cmocka_unit_test(lack_of_memory_names_what_it_was_for),
        cmocka_unit_test(message_is_one_line_without_terminal_escapes),
        cmocka_unit_test(too_long_text_is_cut_and_terminated),
        cmocka_unit_test(wrapping_in_a_long_path_keeps_the_cause),
        cmocka_unit_test(message_may_quote_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
