/* Errors: code and one line of text, however long or strange what they quote. */
#include "tests/support.h"

TEST(setting_records_code_and_text)
{
    assert_int_equal(err_set(e, ERR_RANGE, "size: is %d, expected %d", -3, 2), ERR_RANGE);
    assert_int_equal(e->code, ERR_RANGE);
    assert_string_equal(e->msg, "size: is -3, expected 2");
}

TEST(wrapping_prefixes_and_keeps_the_code)
{
    err_set(e, ERR_PARSE, "is empty");
    assert_int_equal(err_wrap(e, "dims[%d]", 1), ERR_PARSE);
    assert_string_equal(e->msg, "dims[1]: is empty");
}

TEST(lack_of_memory_names_what_it_was_for)
{
    assert_int_equal(err_nomem(e, "links"), ERR_NOMEM);
    assert_int_equal(e->code, ERR_NOMEM);
    assert_string_equal(e->msg, "out of memory for links");
}

TEST(message_is_one_line_without_terminal_escapes)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "a\nb\tc", "a?b?c" },
        { "\x1b[31mred\x7f", "?[31mred?" },
        { "\xc2\x9b"
          "31m",
          "?31m" }, /* U+009B begins an escape as ESC [ does */
        { "\x9b"
          "31m",
          "?31m" }, /* the same to a terminal of 8 bits */
        { "a\xe2\x80\xae"
          "b",
          "a?b" },                                    /* U+202E turns the direction of what follows */
        { "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9" }, /* letters stay */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        err_set(e, ERR_PARSE, "%s", cases[i].in);
        assert_string_equal(e->msg, cases[i].want);
    }
}

TEST(too_long_text_is_cut_and_terminated)
{
    char text[4000];
    struct err own = { 0 };
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&own, ERR_IO, "%s", text);
    assert_int_equal(strlen(own.msg), sizeof own.msg - 1);
}

TEST(a_message_that_is_cut_ends_behind_a_word)
{
    char words[2000];
    for (size_t i = 0; i < sizeof words; i++)
        words[i] = i % 7 == 6 ? ' ' : 'x';
    words[sizeof words - 1] = '\0';
    err_set(e, ERR_PARSE, "%s", words);
    size_t n = strlen(e->msg);
    assert_true(n < sizeof e->msg && n > sizeof e->msg - 12);
    assert_string_equal(e->msg + n - 10, " xxxxxx...");
}

TEST(wrapping_in_a_long_path_keeps_the_cause)
{
    char path[4000];
    struct err own = { 0 };
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    err_set(&own, ERR_IO, "no space left on device");
    err_wrap(&own, "%s", path);
    assert_int_equal(strlen(own.msg), sizeof own.msg - 1);
    assert_has(own.msg, "ppp: no space left on device");
    for (int i = 0; i < 5; i++)
        err_wrap(&own, "%s", path); /* now the cause is long as well: each has its half */
    assert_true(strlen(own.msg) == sizeof own.msg - 1 && own.code == ERR_IO);
}

TEST(message_may_quote_itself)
{
    err_set(e, ERR_IO, "inner");
    err_set(e, ERR_PARSE, "outer (%s)", e->msg);
    assert_string_equal(e->msg, "outer (inner)");
    err_wrap(e, "again %s", e->msg);
    assert_string_equal(e->msg, "again outer (inner): outer (inner)");
}
