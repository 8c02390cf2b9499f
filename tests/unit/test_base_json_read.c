/* Arrays of objects read one by one, and where what is none is refused. */
#include "tests/unit/folder.h"
#include "base/json_read.h"

KEEPS(struct json_reader, json_reader_close)

TEST(objects_come_one_by_one_with_their_lines)
{
    FOLDER(f);
    KEEP(struct json_reader *, r, json_reader_close_at);
    const struct json_value *v;
    put(&f, "list.json",
        "\xef\xbb\xbf [ {\"a\": \"x\"},\n"
        "{\n \"a\": null,\n \"list\": [1.5, {\"b\": \"\\u00e4\"}, []]}\n,\r\n {} ] \n");
    OK(json_reader_open(&r, f.path, e));
    OK(json_reader_next(r, &v, e));
    assert_string_equal(json_value_text(json_value_get(v, "a")), "x");
    assert_null(json_value_get(v, "b"));
    assert_int_equal(json_reader_line(r), 1);
    OK(json_reader_next(r, &v, e));
    assert_int_equal(json_reader_line(r), 2);
    assert_true(json_value_is_null(json_value_get(v, "a")));
    assert_null(json_value_text(json_value_get(v, "a")));
    const struct json_value *list = json_value_get(v, "list");
    assert_true(json_value_is_array(list) && json_value_count(list) == 3);
    assert_null(json_value_text(json_value_at(list, 0)));
    assert_string_equal(json_value_text(json_value_get(json_value_at(list, 1), "b")), "\xc3\xa4");
    assert_int_equal(json_value_count(json_value_at(list, 1)), 0);
    OK(json_reader_next(r, &v, e));
    assert_true(v && json_reader_line(r) == 6);
    for (int i = 0; i < 2; i++) {
        OK(json_reader_next(r, &v, e));
        assert_null(v);
    }
    assert_true(json_value_is_null(NULL));
    assert_null(json_value_get(NULL, "a"));
    json_reader_close(NULL);
}

/* Read all objects; the first failure. */
static int read_all(const char *text, struct err *e)
{
    FOLDER(f);
    KEEP(struct json_reader *, r, json_reader_close_at);
    const struct json_value *v = NULL;
    int rc = json_reader_open(&r, put(&f, "list.json", text), e);
    if (!rc)
        while (!(rc = json_reader_next(r, &v, e)) && v)
            ;
    return rc;
}

TEST(what_is_no_array_of_objects_is_refused_with_its_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "list.json:1: file is empty, expected an array of objects" },
        { " \n ", "list.json:2: file is empty" },
        { "{}", "list.json:1: expected an array of objects" },
        { "[", "list.json:1: array is not closed: ] is missing" },
        { "[ {} ", "list.json:1: array is not closed: ] is missing" },
        { "[ {}\n {} ]", "list.json:2: expected a comma or ] after an object" },
        { "[ {},\n 7 ]", "list.json:2: entry is not an object: { expected" },
        { "[ {}, ]", "list.json:1: entry is not an object: { expected" },
        { "[ {} ]\nx", "list.json:2: text after the end of the array" },
        { "[\n{ \"a\": 1,\n \"b\" 2 } ]", "list.json:3: is not JSON: " },
        { "[\n{ \"a\": 1,\n\n", "list.json:" },
        { "[ { \"a\": 1, \"a\": 2 } ]", "duplicate" },
        { "[ { \"a\": \"\\u0000\" } ]", "is not JSON" },
        { "[ { \"a\": \"\xff\" } ]", "is not JSON" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FAILS(read_all(cases[i].text, e), ERR_PARSE, cases[i].message);
    }
}

TEST(hostile_depth_ends_with_a_message)
{
    TEXT(t, "[{\"a\":");
    for (int i = 0; i < 100000; i++)
        text_puts(&t, "[");
    FAILS(read_all(text_str(&t), e), ERR_PARSE, "is not JSON");
}

TEST(what_cannot_be_opened_is_told)
{
    struct json_reader *r;
    FAILS(json_reader_open(&r, "tests/none.json", e), ERR_PARSE, "tests/none.json: no such file");
    assert_null(r);
    assert_int_not_equal(json_reader_open(&r, "tests", e), 0);
    assert_null(r);
}
