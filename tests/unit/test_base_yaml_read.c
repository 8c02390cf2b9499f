/* Numbers, flags and texts of a document; paths and names in messages; hashes. */
#include "tests/support.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/yaml.h"

static int read_str(struct yaml_doc *doc, const char *text, struct err *e)
{
    return yaml_read_text(doc, "f.yaml", text, strlen(text), e);
}

/* "a: VALUE"; gives the node of VALUE. */
static yaml_id read_value(struct yaml_doc *doc, const char *value)
{
    char text[256];
    snprintf(text, sizeof text, "a: %s\n", value);
    MUST(read_str(doc, text, e));
    return yaml_find(doc, "a");
}

static int real_of(const char *value, double *x, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    yaml_id id = read_value(&doc, value);
    return yaml_real(&doc, id, x, e);
}

static int count_of(const char *value, int64_t *n, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    yaml_id id = read_value(&doc, value);
    return yaml_count(&doc, id, n, e);
}

static int bool_of(const char *value, bool *flag, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    yaml_id id = read_value(&doc, value);
    return yaml_bool(&doc, id, flag, e);
}

TEST(numbers_are_read)
{
    static const struct {
        const char *text;
        double want;
    } cases[] = { { "4", 4 }, { "-2.5", -2.5 }, { "1e9", 1e9 }, { ".5", 0.5 }, { "+3", 3 }, { "0", 0 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double x;
        OK(real_of(cases[i].text, &x, e));
        assert_true(x == cases[i].want);
    }
}

TEST(what_is_no_number_is_quoted_back)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "fast", "f.yaml:1:4: a is fast, expected a number" },
        { "'50'", "f.yaml:1:4: a is the text \"50\", expected a number" },
        { "010", "f.yaml:1:4: a is 010, expected a number without leading zeros" },
        { "-01.5", "f.yaml:1:4: a is -01.5, expected a number without leading zeros" },
        { "0x10", "f.yaml:1:4: a is 0x10, expected a number" },
        { "1_000", "f.yaml:1:4: a is 1_000, expected a number" },
        { ".inf", "f.yaml:1:4: a is .inf, expected a number" },
        { "1e999", "f.yaml:1:4: a is 1e999, expected a number" },
        { "", "f.yaml:1:3: a is empty, expected a number" },
        { "~", "f.yaml:1:4: a is empty, expected a number" },
        { "''", "f.yaml:1:4: a is the text \"\", expected a number" },
        { "[1]", "f.yaml:1:4: a is a list, expected a number" },
        { "{b: 1}", "f.yaml:1:4: a is a map, expected a number" },
        { "\n  two\n  lines", "f.yaml:2:3: a is two lines, expected a number" },
        { "|\n  x\n  y", "f.yaml:1:4: a is the text \"x?y?\", expected a number" },
        { "0123456789012345678901234567890123456789", "expected a number without leading zeros" },
        { "x123456789012345678901234567890123456789y",
          "f.yaml:1:4: a is x123456789012345678901234567890123456789..., expected a number" },
        { "x12345678901234567890123456789012345678\xc3\xa9y",
          "f.yaml:1:4: a is x12345678901234567890123456789012345678..., expected a number" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double x;
        FAILS(real_of(cases[i].text, &x, e), ERR_PARSE, cases[i].want);
    }
}

TEST(counts_are_whole_numbers_in_digits)
{
    static const char *const bad[] = { "-3",   "4e3", "4.0", "+4", "9223372036854775808",
                                       "many", "'4'", "",    "[]" };
    int64_t n;
    OK(count_of("4096", &n, e));
    assert_true(n == 4096);
    OK(count_of("9223372036854775807", &n, e));
    assert_true(n == INT64_MAX);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        FAILS(count_of(bad[i], &n, e), ERR_PARSE, ", expected a whole number, 0 to 9223372036854775807");
    }
    FAILS(count_of("007", &n, e), ERR_PARSE, "f.yaml:1:4: a is 007, expected a number without leading zeros");
}

TEST(only_true_and_false_are_flags)
{
    static const struct {
        const char *text, *want;
    } bad[] = {
        { "yes", "f.yaml:1:4: a is yes, expected true or false" },
        { "True", "f.yaml:1:4: a is True, expected true or false" },
        { "'true'", "f.yaml:1:4: a is the text \"true\", expected true or false" },
        { "1", "f.yaml:1:4: a is 1, expected true or false" },
        { "", "f.yaml:1:3: a is empty, expected true or false" },
        { "{}", "f.yaml:1:4: a is a map, expected true or false" },
    };
    bool flag = false;
    OK(bool_of("true", &flag, e));
    assert_true(flag);
    OK(bool_of("false", &flag, e));
    assert_false(flag);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        FAILS(bool_of(bad[i].text, &flag, e), ERR_PARSE, bad[i].want);
    }
}

TEST(text_is_any_scalar_that_is_there)
{
    static const struct {
        const char *text, *want;
    } good[] = { { "pod", "pod" }, { "50", "50" }, { "no", "no" }, { "''", "" }, { "'~'", "~" } };
    struct yaml_doc doc;
    const char *text;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        OK(yaml_text(&doc, read_value(&doc, good[i].text), &text, e));
        assert_string_equal(text, good[i].want);
        yaml_free(&doc);
    }
    FAILS(yaml_text(&doc, read_value(&doc, "~"), &text, e), ERR_PARSE,
          "f.yaml:1:4: a is empty, expected text");
    yaml_free(&doc);
    FAILS(yaml_text(&doc, read_value(&doc, "[a]"), &text, e), ERR_PARSE,
          "f.yaml:1:4: a is a list, expected text");
    yaml_free(&doc);
}

TEST(wrong_kind_is_named)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_str(&doc, "[1, [2], {k: 3}]", e));
    yaml_id one = yaml_find(&doc, "[0]"), list = yaml_find(&doc, "[1]"), map = yaml_find(&doc, "[2]");
    OK(yaml_need(&doc, one, YAML_SCALAR, e));
    OK(yaml_need(&doc, list, YAML_SEQ, e));
    OK(yaml_need(&doc, map, YAML_MAP, e));
    FAILS(yaml_need(&doc, one, YAML_MAP, e), ERR_PARSE, "f.yaml:1:2: [0] is 1, expected a map");
    FAILS(yaml_need(&doc, list, YAML_SCALAR, e), ERR_PARSE,
          "f.yaml:1:5: [1] is a list, expected a single value");
    FAILS(yaml_need(&doc, map, YAML_SEQ, e), ERR_PARSE, "f.yaml:1:10: [2] is a map, expected a list");
    FAILS(yaml_need(&doc, doc.root, YAML_MAP, e), ERR_PARSE,
          "f.yaml:1:1: document is a list, expected a map");
}

TEST(getting_from_what_is_no_map_gives_none)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_str(&doc, "m: {k: 1}\nl: [x]\n", e));
    yaml_id m = yaml_get(&doc, doc.root, "m");
    assert_string_equal(doc.nodes[yaml_get(&doc, m, "k")].text, "1");
    assert_int_equal(yaml_get(&doc, m, "K"), -1);
    assert_int_equal(yaml_get(&doc, yaml_get(&doc, m, "none"), "k"), -1);
    assert_int_equal(yaml_get(&doc, yaml_get(&doc, doc.root, "l"), "x"), -1);
}

TEST(failing_names_value_or_key)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_str(&doc, "dims:\n  - bw_GBps:   -3\n", e));
    yaml_id bw = yaml_find(&doc, "dims[0].bw_GBps");
    assert_int_equal(yaml_fail(&doc, bw, e, ERR_RANGE, "is %d, expected %g to %g", -3, 0.001, 1e5),
                     ERR_RANGE);
    assert_string_equal(e->msg, "f.yaml:2:16: dims[0].bw_GBps is -3, expected 0.001 to 100000");
    assert_int_equal(yaml_fail_key(&doc, bw, e, ERR_PARSE, "is unknown, expected size"), ERR_PARSE);
    assert_string_equal(e->msg, "f.yaml:2:5: dims[0].bw_GBps is unknown, expected size");
}

TEST(long_paths_are_cut_between_characters)
{
    static const struct {
        size_t room;
        const char *want;
    } cases[] = {
        { 64, "dims[0].caf\xc3\xa9s.x" },
        { 17, "dims[0].caf\xc3\xa9s.x" }, /* it fits to the byte */
        { 16, "dims[0].caf..." },
        { 15, "dims[0].caf..." },
        { 14, "dims[0].ca..." },
        { 8, "dims..." },
        { 4, "..." },
    };
    KEEP(struct yaml_doc, doc, yaml_free);
    char buf[64];
    OK(read_str(&doc, "dims: [{caf\xc3\xa9s: {x: 1}}]", e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        memset(buf, '#', sizeof buf);
        assert_string_equal(yaml_path(&doc, yaml_find(&doc, "dims[0].caf\xc3\xa9s.x"), buf, cases[i].room),
                            cases[i].want);
        assert_true(cases[i].room == sizeof buf || buf[cases[i].room] == '#');
    }
}

TEST(long_names_leave_room_for_the_reason)
{
    struct yaml_doc doc;
    char name[2000], text[910];
    double x;
    memset(name, 'n', sizeof name);
    strcpy(name + sizeof name - 8, "/f.yaml");
    memset(text, 'k', sizeof text);
    strcpy(text + 900, ": bad");
    OK(yaml_read_text(&doc, name, text, strlen(text), e));
    FAILS(yaml_real(&doc, 1, &x, e), ERR_PARSE, "nn/f.yaml:1:903: kkk");
    assert_has(e->msg, "kkk... is bad, expected a number");
    yaml_free(&doc);
    strcpy(text + 900, ": *x");
    FAILS(yaml_read_text(&doc, name, text, strlen(text), e), ERR_PARSE,
          "nn/f.yaml:1:903: alias *x is not supported; write the value out");
}

TEST(hash_sees_content_and_not_its_layout)
{
    static const char *const same[] = {
        "a: 1\nb: [x, y]\nc: {d: ~}\n",
        "# comment\n{a: 1,\n b: [ x,\n y ], c: { d: } }\n",
        "---\na:   1\nb:\n- x\n- y\nc:\n  d: null\n",
    };
    static const char *const other[] = {
        "a: 2\nb: [x, y]\nc: {d: ~}\n",   "a: '1'\nb: [x, y]\nc: {d: ~}\n",
        "b: [x, y]\na: 1\nc: {d: ~}\n",   "a: 1\nb: [xy]\nc: {d: ~}\n",
        "a: 1\nb: [x, y, c]\nd: ~\n",     "a: 1\nb: [x, y]\nc: [d]\n",
        "a: 1\nb: [x, y]\nc: {d: ''}\n",  "a: 1\nb: [[x, y]]\nc: {d: ~}\n",
        "a: 1\nb: [x, [y]]\nc: {d: ~}\n", "a: 1\nb: [x, y]\nc: {d: {}}\n",
        "a: 1\nb: [x, y]\nc: {d: []}\n",  "a: 1\nb: [x, y]\nc: {d: ~, e: ~}\n",
        "a1: ''\nb: [x, y]\nc: {d: ~}\n", "a: 1\nb: [[x], y]\nc: {d: ~}\n",
        "a: 1\nb: [x, y]\nc: {d: sx}\n",  "a: 1\nb: [x, y]\nc: {ds: x}\n",
        "a: 1\nb: [x.sy]\nc: {d: ~}\n",
    };
    unsigned long long hashes[1 + COUNT_OF(other)];
    struct yaml_doc doc;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        OK(read_str(&doc, same[i], e));
        unsigned long long h = yaml_hash(&doc, doc.root);
        if (i)
            assert_true(h == hashes[0]);
        hashes[0] = h;
        yaml_free(&doc);
    }
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        OK(read_str(&doc, other[i], e));
        hashes[i + 1] = yaml_hash(&doc, doc.root);
        for (size_t j = 0; j <= i; j++)
            assert_true(hashes[i + 1] != hashes[j]);
        yaml_free(&doc);
    }
}

TEST(hash_of_a_part_is_that_of_the_part_alone)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    KEEP(struct yaml_doc, part, yaml_free);
    OK(read_str(&doc, "a: 1\nnet: {dims: [{size: 4}]}\n", e));
    OK(read_str(&part, "dims:\n  - size: 4\n", e));
    assert_true(yaml_hash(&doc, yaml_find(&doc, "net")) == yaml_hash(&part, part.root));
}

/* Wherever it stands in memory: keys of all lengths before other texts. */
TEST(the_hash_of_a_node_does_not_see_what_follows_it)
{
    for (int n = 1; n <= 24; n++) {
        unsigned long long hash[2];
        for (int i = 0; i < 2; i++) {
            KEEP(struct yaml_doc, doc, yaml_free) = { 0 };
            char text[96];
            snprintf(text, sizeof text, "x: { %.*s: {} }\n%s: 1\n", n, "abcdefghijklmnopqrstuvwxyz",
                     i ? "zzzzzzzzz" : "other");
            OK(yaml_read_text(&doc, "a.yaml", text, strlen(text), e));
            hash[i] = yaml_hash(&doc, yaml_get(&doc, doc.root, "x"));
        }
        assert_true(hash[0] == hash[1]);
    }
}

/* ---- one line of flow, which is read without libyaml where it holds plain words alone ---- */

static void put_word(struct text *out, struct rng *rng)
{
    static const char *const words[] = { "a", "b1", "4", "-2.5", ".5", "+1e3", "ring:4", "ring:4 full:8@25",
                                         "null", "true", "x/y.yaml", "a-b",
                                         /* what libyaml must be asked about */
                                         "~", "'q'", "\"r\"", "- a", "a  b", "a #b", "&x", "*x", "!t", "..",
                                         "/abs", "-", "\303\244", ":", "a:" };
    const int64_t n = (int64_t)(sizeof words / sizeof *words);
    text_puts(out, words[rng_below(rng, rng_below(rng, 8) ? 12 : n)]);
}

static void put_flow(struct text *out, struct rng *rng, int depth)
{
    static const char *const gaps[] = { "", " ", "  " };
    const char *gap = gaps[rng_below(rng, 3)];
    int64_t kind = depth > 4 ? 2 : rng_below(rng, 4);
    if (kind > 1) {
        put_word(out, rng);
        return;
    }
    text_printf(out, "%s%s", kind ? "{" : "[", gap);
    for (int64_t n = rng_below(rng, 4), i = 0; i < n; i++) {
        text_puts(out, i ? ", " : "");
        if (kind) {
            put_word(out, rng);
            text_puts(out, rng_below(rng, 16) ? ": " : ":");
        }
        put_flow(out, rng, depth + 1);
    }
    text_printf(out, "%s%s%s", rng_below(rng, 16) ? "" : ",", gap, kind ? "}" : "]");
}

static void assert_same_node(const struct yaml_node *a, const struct yaml_node *b)
{
    assert_string_equal(a->key ? a->key : "(none)", b->key ? b->key : "(none)");
    assert_string_equal(a->text ? a->text : "(none)", b->text ? b->text : "(none)");
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->quoted, b->quoted);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->col, b->col);
    assert_int_equal(a->text_line, b->text_line);
    assert_int_equal(a->text_col, b->text_col);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->next, b->next);
    assert_int_equal(a->n, b->n);
}

/* A line break behind it makes libyaml read the whole. */
TEST(a_line_of_flow_is_what_libyaml_makes_of_it)
{
    enum { DRAWS = 20000 };
    struct rng *rng = NULL;
    int read = 0;
    OK(rng_build(&rng, 20261129, 1, e));
    for (int i = 0; i < DRAWS; i++) {
        KEEP(struct text, line, text_free) = { 0 };
        KEEP(struct yaml_doc, a, yaml_free);
        KEEP(struct yaml_doc, b, yaml_free);
        struct err ea = { 0 }, eb = { 0 };
        put_flow(&line, rng, 0);
        int rc = read_str(&a, text_str(&line), &ea);
        text_puts(&line, "\n");
        assert_int_equal(read_str(&b, text_str(&line), &eb), rc);
        if (rc) {
            assert_string_equal(ea.msg, eb.msg);
            continue;
        }
        read++;
        assert_int_equal(a.n_nodes, b.n_nodes);
        assert_int_equal(a.root, b.root);
        for (int32_t k = 0; k < a.n_nodes; k++)
            assert_same_node(&a.nodes[k], &b.nodes[k]);
    }
    assert_in_range(read, DRAWS / 2, DRAWS - 1);
    rng_free(rng);
}
