/* JSON by the letter of RFC 8259, whatever bytes a text has. */
#include "tests/support.h"
#include "base/json.h"
#include "base/num.h"

TEST(nested_values_stand_on_one_line)
{
    KEEP(struct text, t, text_free) = { 0 };
    struct json j = { .out = &t };
    json_open(&j, NULL, '{');
    json_text(&j, "name", "pod");
    json_count(&j, "size", 4096);
    json_real(&j, "bw_GBps", 12.5);
    json_bool(&j, "solved", true);
    json_bool(&j, "bound", false);
    json_text(&j, "missing", NULL);
    json_open(&j, "dims", '[');
    json_open(&j, NULL, '{');
    json_close(&j, '}');
    json_open(&j, NULL, '[');
    json_close(&j, ']');
    json_count(&j, NULL, -1);
    json_close(&j, ']');
    json_open(&j, "split", '[');
    for (int i = 0; i < 3; i++)
        json_real(&j, NULL, (const double[]){ 1, 0.1, NAN }[i]);
    json_close(&j, ']');
    json_open(&j, "none", '[');
    json_close(&j, ']');
    json_close(&j, '}');
    assert_string_equal(
        text_str(&t),
        "{\"name\": \"pod\", \"size\": 4096, \"bw_GBps\": 12.5, \"solved\": true, \"bound\": false, "
        "\"missing\": null, \"dims\": [{}, [], -1], \"split\": [1, 0.1, null], \"none\": []}");
    assert_int_equal(j.depth, 0);
}

TEST(deepest_allowed_nesting_is_written)
{
    KEEP(struct text, t, text_free) = { 0 };
    struct json j = { .out = &t };
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        json_open(&j, NULL, '[');
    json_count(&j, NULL, 1);
    json_count(&j, NULL, 2);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        json_close(&j, ']');
    assert_string_equal(text_str(&t), "[[[[[[[[[[[[[[[[1, 2]]]]]]]]]]]]]]]]");
}

/* JSON: RFC 8259, section 7. UTF-8: RFC 3629, section 4, and the Unicode standard's table 3-7. */
TEST(strings_are_escaped_and_valid_utf8)
{
#define BAD "\xef\xbf\xbd" /* U+FFFD */
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "", "\"\"" },
        { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
        { "\x01\n\t\x1f\x7f", "\"\\u0001\\u000a\\u0009\\u001f\x7f\"" },
        { "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80\"" },
        { "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"" },
        { "\x80", "\"" BAD "\"" },                         /* continuation alone */
        { "a\xffz", "\"a" BAD "z\"" },                     /* never in UTF-8 */
        { "\xc0\xaf", "\"" BAD BAD "\"" },                 /* overlong */
        { "\xe0\x9f\xbf", "\"" BAD BAD BAD "\"" },         /* overlong */
        { "\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\"" }, /* overlong */
        { "\xed\xa0\x80", "\"" BAD BAD BAD "\"" },         /* surrogate */
        { "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"" }, /* above U+10FFFF */
        { "\xe2\x82", "\"" BAD BAD "\"" },                 /* cut at the end */
        { "\xc3\"", "\"" BAD "\\\"\"" },                   /* a broken start swallows no quote */
        { "\xf0\x9f\x9a\n", "\"" BAD BAD BAD "\\u000a\"" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, t, text_free) = { 0 };
        struct json j = { .out = &t };
        json_text(&j, NULL, cases[i].in);
        assert_string_equal(text_str(&t), cases[i].want);
    }
#undef BAD
}

TEST(keys_are_escaped_too)
{
    KEEP(struct text, t, text_free) = { 0 };
    struct json j = { .out = &t };
    json_open(&j, NULL, '{');
    json_count(&j, "a\"b", 1);
    json_close(&j, '}');
    assert_string_equal(text_str(&t), "{\"a\\\"b\": 1}");
}

TEST(numbers_round_trip_and_are_never_nan)
{
    static const double finite[] = { 0.1, 1.0 / 3, 1e300, 5e-324, 123456789012345678.0, -2.5e-7 };
    static const double other[] = { NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < COUNT_OF(finite); i++) {
        struct text t = { 0 };
        struct json j = { .out = &t };
        double back = NAN;
        json_real(&j, NULL, finite[i]);
        assert_true(num_parse_real(text_str(&t), &back) && back == finite[i]);
        text_free(&t);
    }
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        struct text t = { 0 };
        struct json j = { .out = &t };
        json_real(&j, NULL, other[i]);
        assert_string_equal(text_str(&t), "null");
        text_free(&t);
    }
}

TEST(counts_have_all_their_digits)
{
    KEEP(struct text, t, text_free) = { 0 };
    struct json j = { .out = &t };
    json_open(&j, NULL, '[');
    json_count(&j, NULL, INT64_MAX);
    json_count(&j, NULL, INT64_MIN);
    json_close(&j, ']');
    assert_string_equal(text_str(&t), "[9223372036854775807, -9223372036854775808]");
}
