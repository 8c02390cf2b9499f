/* YAML: what has no plain meaning is refused at its place, also in files made to break a reader. */
#include "tests/support.h"

#include <time.h>

#include "base/text.h"
#include "base/yaml.h"

static int read_str(struct yaml_doc *doc, const char *text, struct err *e)
{
    return yaml_read_text(doc, "f.yaml", text, strlen(text), e);
}

/* The document of a text, which is sound. */
#define DOC(doc, text)                                                                                       \
    KEEP(struct yaml_doc, doc, yaml_free);                                                                   \
    OK(read_str(&doc, text, e))

static void assert_empty(struct yaml_doc *doc)
{
    assert_true(doc->root == -1 && !doc->nodes && !doc->sources && !doc->chunks);
    yaml_free(doc);
}

/* Each text is refused with this message in full, or where it is not @p whole with this part of it. */
static void assert_refused(const struct refusal *cases, size_t n, bool whole)
{
    for (size_t i = 0; i < n; i++) {
        struct yaml_doc doc;
        struct err e = { 0 };
        assert_fails(read_str(&doc, cases[i].text, &e), &e, cases[i].code, cases[i].message);
        assert_true(!whole || strcmp(e.msg, cases[i].message) == 0);
        assert_empty(&doc);
    }
}

/* n times `part`; the caller frees. */
static char *repeated(const char *part, size_t n)
{
    size_t len = strlen(part);
    char *s = malloc(n * len + 1);
    assert_non_null(s);
    for (size_t i = 0; i < n; i++)
        memcpy(s + i * len, part, len);
    s[n * len] = '\0';
    return s;
}

TEST(what_has_no_plain_meaning_is_refused_with_its_place)
{
    static const struct refusal cases[] = {
        { "a: 1\nb: *x\n", ERR_PARSE, "f.yaml:2:4: alias *x is not supported; write the value out" },
        { "a: &x 1\nb: *x\n", ERR_PARSE, "f.yaml:1:4: anchor &x is not supported; write the value out" },
        { "a:\n  &x b: 1\n", ERR_PARSE, "f.yaml:2:3: anchor &x is not supported; write the value out" },
        { "a: &l [1]\n", ERR_PARSE, "f.yaml:1:4: anchor &l is not supported; write the value out" },
        { "a: &m {b: 1}\n", ERR_PARSE, "f.yaml:1:4: anchor &m is not supported; write the value out" },
        { "*x : 1\n", ERR_PARSE, "f.yaml:1:1: alias *x is not supported; write the value out" },
        { "a: !!str 5\n", ERR_PARSE, "f.yaml:1:4: tag !!str is not supported; write the value without it" },
        { "a: !size [1]\n", ERR_PARSE, "f.yaml:1:4: tag !size is not supported; write the value without it" },
        { "!!map {a: 1}\n", ERR_PARSE, "f.yaml:1:1: tag !!map is not supported; write the value without it" },
        { "a: ! 5\n", ERR_PARSE, "f.yaml:1:4: tag ! is not supported; write the value without it" },
        { "a: ! '5'\n", ERR_PARSE, "f.yaml:1:4: tag ! is not supported; write the value without it" },
        { "a: !\nb: 1\n", ERR_PARSE, "f.yaml:1:4: tag ! is not supported; write the value without it" },
        { "%TAG ! x\n--- a\n", ERR_PARSE, "f.yaml:1:1: directive %TAG is not supported; remove it" },
        { "a: 1\r\n%TAG ! x\n", ERR_PARSE, "f.yaml:2:1: directive %TAG is not supported; remove it" },
        { "a: 1\nb: \"x\\0y\"\n", ERR_PARSE, "f.yaml:2:4: text holds a NUL byte" },
        { "\"x\\0\": 1\n", ERR_PARSE, "f.yaml:1:1: text holds a NUL byte" },
        { "a: 1\n---\nb: 2\n", ERR_PARSE, "f.yaml:2:1: a second document starts here; use one per file" },
        { "--- a\n--- b\n", ERR_PARSE, "f.yaml:2:1: a second document starts here; use one per file" },
        { "? [a]\n: 1\n", ERR_PARSE, "f.yaml:1:3: key is a list, expected a name" },
        { "{{a: b}: 1}\n", ERR_PARSE, "f.yaml:1:2: key is a map, expected a name" },
        { "a:\n  '': 1\n", ERR_PARSE, "f.yaml:2:3: key is empty, expected a name" },
        { "? \n: 1\n", ERR_PARSE, "f.yaml:1:2: key is empty, expected a name" },
        { "a:\n  <<: {b: 1}\n", ERR_PARSE, "f.yaml:2:3: merge key << is not supported; write the keys out" },
    };
    assert_refused(cases, COUNT_OF(cases), true);
}

TEST(what_is_not_yaml_is_refused_with_its_place)
{
    static const struct refusal cases[] = {
        { "a: [1, 2\n", ERR_PARSE,
          "f.yaml:2:1: is not valid YAML (did not find expected ',' or ']' while parsing a flow sequence)" },
        { "a: b: c\n", ERR_PARSE,
          "f.yaml:1:5: is not valid YAML (mapping values are not allowed in this context)" },
        { "a:\n\t- x\n", ERR_PARSE, "f.yaml:2:1: is a tab; YAML is indented with spaces" },
        { "a: 'x\n", ERR_PARSE,
          "is not valid YAML (found unexpected end of stream while scanning a quoted scalar)" },
        { "a: 1\nb: \x01\n", ERR_PARSE,
          "f.yaml:2:4: is not valid YAML (control characters are not allowed)" },
        { "ok: 1\nb: \x80\n", ERR_PARSE, "f.yaml:2:4: is not valid YAML (invalid leading UTF-8 octet)" },
        { "caf\xc3\xa9: \xc3(\n", ERR_PARSE, "f.yaml:1:8: is not valid YAML (invalid trailing UTF-8 octet)" },
        { "\xff\xfe\x61\x01", ERR_PARSE, "f.yaml:1:1: is not valid YAML (invalid leading UTF-8 octet)" },
        { "\x89PNG\r\n\x1a\n", ERR_PARSE, "f.yaml:1:1: is not valid YAML (invalid leading UTF-8 octet)" },
        { "a: \xed\xa0\x80\n", ERR_PARSE, "f.yaml:1:4: is not valid YAML (invalid Unicode character)" },
        { "%YAML 3.0\n--- a\n", ERR_PARSE,
          "f.yaml:1:1: is not valid YAML (found incompatible YAML document)" },
    };
    assert_refused(cases, COUNT_OF(cases), false);
}

TEST(raw_nul_byte_is_refused)
{
    struct yaml_doc doc;
    FAILS(yaml_read_text(&doc, "f.yaml", "a: 1\nb: \0 2\n", 12, e), ERR_PARSE,
          "f.yaml:2:4: is not valid YAML (control characters are not allowed)");
    assert_empty(&doc);
}

TEST(file_without_content_is_refused)
{
    static const char *const texts[] = { "",    "\n\n", "# only\n# comments\n", "---\n",
                                         "~\n", "null", "\xef\xbb\xbf",         "%YAML 1.1\n---\n" };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct yaml_doc doc;
        FAILS(read_str(&doc, texts[i], e), ERR_PARSE, "");
        assert_string_equal(e->msg, "f.yaml:1:1: is empty, expected keys or a value");
        assert_empty(&doc);
    }
}

TEST(key_given_twice_is_refused_with_both_lines)
{
    static const struct refusal cases[] = {
        { "a: 1\nb: 2\na: 3\n", ERR_PARSE, "f.yaml:3:1: a is given twice, first on line 1" },
        { "net:\n  dims:\n    - size: 1\n      lat: 2\n      size: 3\n", ERR_PARSE,
          "f.yaml:5:7: net.dims[0].size is given twice, first on line 3" },
        { "{x: 1, 'x': 2}", ERR_PARSE, "f.yaml:1:8: x is given twice, first on line 1" },
        { "z: 1\ny: 1\nz: 2\ny: 2\nz: 3\n", ERR_PARSE, "f.yaml:3:1: z is given twice, first on line 1" },
    };
    assert_refused(cases, COUNT_OF(cases), true);
}

TEST(one_key_given_twice_among_many_is_found)
{
    enum { MANY = 100000 };
    KEEP(struct text, t, text_free) = { 0 };
    struct yaml_doc doc;
    for (int i = 0; i < MANY; i++)
        text_printf(&t, "key%d: %d\n", i, i);
    OK(yaml_read_text(&doc, "f.yaml", t.s, t.n, e));
    assert_int_equal(doc.nodes[doc.root].n, MANY);
    assert_int_equal(yaml_get(&doc, doc.root, "key99999"), MANY);
    yaml_free(&doc);
    text_puts(&t, "key777: again\n");
    FAILS(yaml_read_text(&doc, "f.yaml", t.s, t.n, e), ERR_PARSE,
          "f.yaml:100001:1: key777 is given twice, first on line 778");
    assert_empty(&doc);
}

TEST(every_value_knows_the_place_of_its_key_and_its_own)
{
    static const char text[] = "# head\n"
                               "name: pod\n"
                               "dims:\n"
                               "  - size:   4\n"
                               "    note: |\n"
                               "      long\n"
                               "  - [7, \xc3\xa9, 8]\n"
                               "npu: {usd: 5,\n"
                               "  watt: }\n"
                               "last:\n";
    static const struct {
        const char *path;
        int line, col, text_line, text_col;
    } cases[] = {
        { "", 2, 1, 2, 1 },
        { "name", 2, 1, 2, 7 },
        { "dims", 3, 1, 4, 3 },
        { "dims[0]", 4, 5, 4, 5 },
        { "dims[0].size", 4, 5, 4, 13 },
        { "dims[0].note", 5, 5, 5, 11 },
        { "dims[1]", 7, 5, 7, 5 },
        { "dims[1][0]", 7, 6, 7, 6 },
        { "dims[1][2]", 7, 12, 7, 12 }, /* columns are characters, not bytes */
        { "npu", 8, 1, 8, 6 },
        { "npu.usd", 8, 7, 8, 12 },
        { "npu.watt", 9, 3, 9, 9 },
        { "last", 10, 1, 10, 6 },
    };
    DOC(doc, text);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        yaml_id id = yaml_find(&doc, cases[i].path);
        assert_true(id >= 0 && doc.nodes[id].line == cases[i].line && doc.nodes[id].col == cases[i].col);
        assert_int_equal(doc.nodes[id].text_line, cases[i].text_line);
        assert_int_equal(doc.nodes[id].text_col, cases[i].text_col);
    }
}

TEST(byte_order_mark_is_no_column)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_str(&doc,
                "\xef\xbb\xbf"
                "a: 1\n",
                e));
    assert_int_equal(doc.nodes[yaml_find(&doc, "a")].col, 1);
}

TEST(scalars_keep_text_and_whether_it_was_quoted)
{
    static const struct {
        const char *text, *want;
        bool quoted;
    } cases[] = {
        { "pod-4k", "pod-4k", false },
        { "  4.5   # note", "4.5", false },
        { "two\n  words", "two words", false },
        { "'it''s'", "it's", true },
        { "\"a\\tb\\u00e9\"", "a\tb\xc3\xa9", true },
        { "|\n  x\n   y\n", "x\n y\n", true },
        { ">-\n  x\n  y\n", "x y", true },
        { "'~'", "~", true },
        { "''", "", true },
        { "~", "", false },
        { "null", "", false },
        { "Null", "", false },
        { "NULL", "", false },
        { "", "", false },
        { "nullable", "nullable", false },
        { "no", "no", false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[128];
        snprintf(text, sizeof text, "a: %s\n", cases[i].text);
        DOC(doc, text);
        const struct yaml_node *node = &doc.nodes[yaml_find(&doc, "a")];
        assert_int_equal(node->kind, YAML_SCALAR);
        assert_string_equal(node->text, cases[i].want);
        assert_int_equal(node->quoted, cases[i].quoted);
    }
}

TEST(children_come_in_the_order_of_the_file)
{
    const char *keys[] = { "c", "a", "b" };
    int n = 0;
    DOC(doc, "{c: 1, a: [], b: {}}");
    yaml_each (id, &doc, doc.root) {
        assert_string_equal(doc.nodes[id].key, keys[n]);
        assert_true(doc.nodes[id].index == n++ && doc.nodes[id].parent == doc.root);
    }
    assert_true(n == 3 && doc.nodes[doc.root].n == 3);
    assert_int_equal(doc.nodes[yaml_find(&doc, "a")].kind, YAML_SEQ);
    assert_int_equal(doc.nodes[yaml_find(&doc, "b")].kind, YAML_MAP);
}

TEST(depth_ends_at_the_cap)
{
    struct yaml_doc doc;
    KEEP(char *, open, free_at) = repeated("[", YAML_MAX_DEPTH);
    KEEP(char *, close, free_at) = repeated("]", YAML_MAX_DEPTH);
    char text[2 * YAML_MAX_DEPTH + 4];
    snprintf(text, sizeof text, "%s7%s", open, close);
    OK(read_str(&doc, text, e));
    yaml_free(&doc);
    snprintf(text, sizeof text, "[%s%s]", open, close);
    FAILS(read_str(&doc, text, e), ERR_RANGE, "f.yaml:1:65: list is at depth 65, expected at most 64");
    assert_empty(&doc);
}

TEST(hostile_files_end_at_once)
{
    static const struct {
        const char *part, *want;
        size_t n;
        enum err_code code;
    } cases[] = {
        { "[", "f.yaml:1:65: list is at depth 65, expected at most 64", 200000, ERR_RANGE },
        { "- ", "f.yaml:1:129: list is at depth 65, expected at most 64", 200000, ERR_RANGE },
        { "{a: ", "f.yaml:1:257: map is at depth 65, expected at most 64", 200000, ERR_RANGE },
        { "{", "f.yaml:1:2: key is a map, expected a name", 200000, ERR_PARSE },
        { "? ", "f.yaml:1:3: key is a map, expected a name", 200000, ERR_PARSE },
        { "%TAG !a! x\n", "f.yaml:1:1: directive %TAG is not supported; remove it", 200000, ERR_PARSE },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct yaml_doc doc;
        KEEP(char *, text, free_at) = repeated(cases[i].part, cases[i].n);
        clock_t start = clock();
        FAILS(read_str(&doc, text, e), cases[i].code, cases[i].want);
        assert_true(clock() - start < CLOCKS_PER_SEC / 2); /* quadratic time is minutes */
        assert_empty(&doc);
    }
}

TEST(number_of_values_ends_at_the_cap)
{
    struct yaml_doc doc;
    char *text;
    if (repeats_all(2)) {
        /* "[1,1,...,]": the list takes the place of the last 1. */
        text = repeated(",1", YAML_MAX_NODES);
        text[0] = '[';
        text[2 * YAML_MAX_NODES - 1] = ']';
        OK(read_str(&doc, text, e));
        assert_int_equal(doc.n_nodes, YAML_MAX_NODES);
        FAILS(yaml_graft_text(&doc, 1, "g.yaml", "x", 1, e), ERR_RANGE,
              "g.yaml:1:1: is value number 4000001, expected at most 4000000");
        assert_true(doc.n_nodes == YAML_MAX_NODES && doc.n_sources == 1);
        yaml_free(&doc);
        free(text);
    }

    text = repeated("1,", YAML_MAX_NODES + 1);
    text[0] = '[';
    text[1] = ' ';
    FAILS(read_str(&doc, text, e), ERR_RANGE,
          "f.yaml:1:8000001: is value number 4000001, expected at most 4000000");
    assert_empty(&doc);
    free(text);
}

TEST(number_of_bytes_ends_at_the_cap)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    /* Refused before a byte of it is looked at. */
    FAILS(yaml_read_text(&doc, "f.yaml", "a: 1", (size_t)YAML_MAX_BYTES + 1, e), ERR_RANGE, "");
    assert_string_equal(
        e->msg, "f.yaml: is 268435457 bytes after 0 of other files, expected at most 268435456 in all");
    assert_empty(&doc);

    OK(read_str(&doc, "a: 1", e));
    assert_int_equal(doc.n_bytes, 4);
    FAILS(yaml_graft_text(&doc, 1, "g.yaml", "b", (size_t)YAML_MAX_BYTES - 3, e), ERR_RANGE,
          "g.yaml: is 268435453 bytes after 4 of other files, expected at most 268435456 in all");
}

TEST(file_is_read_and_named_in_messages)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH], bad[SUPPORT_PATH], want[SUPPORT_PATH + 32];
    struct yaml_doc doc;
    scratch_make(dir);
    scratch_file(path, dir, "good.yaml", "a: {b: 1}\n", 10);
    scratch_file(bad, dir, "bad.yaml", "a: 1\n b: 2\n", 11);

    OK(yaml_read_file(&doc, path, e));
    assert_string_equal(yaml_source(&doc, doc.root), path);
    assert_int_equal(doc.n_bytes, 10);
    OK(yaml_graft_file(&doc, yaml_find(&doc, "a.b"), path, e));
    assert_string_equal(doc.nodes[yaml_find(&doc, "a.b.a.b")].text, "1");
    yaml_free(&doc);

    snprintf(want, sizeof want, "%s:2:3: is not valid YAML (", bad);
    FAILS(yaml_read_file(&doc, bad, e), ERR_PARSE, want);
    assert_empty(&doc);
    scratch_remove(dir);
}

TEST(missing_file_is_said_so)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    FAILS(yaml_read_file(&doc, "no/such.yaml", e), ERR_PARSE, "no/such.yaml");
    assert_empty(&doc);
    OK(read_str(&doc, "a: 1", e));
    FAILS(yaml_graft_file(&doc, 1, "no/such.yaml", e), ERR_PARSE, "no/such.yaml");
    assert_string_equal(doc.nodes[1].text, "1");
}
