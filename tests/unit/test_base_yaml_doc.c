#include "tests/support.h"

#include "base/yaml.h"

static int read_str(struct yaml_doc *doc, const char *text, struct err *e)
{
    return yaml_read_text(doc, "f.yaml", text, strlen(text), e);
}

static int graft(struct yaml_doc *doc, const char *path, const char *text, struct err *e)
{
    return yaml_graft_text(doc, yaml_find(doc, path), "g.yaml", text, strlen(text), e);
}

/* The node at path, which is there. */
static const struct yaml_node *at(const struct yaml_doc *doc, const char *path)
{
    yaml_id id = yaml_find(doc, path);
    if (id < 0)
        fail_msg("no node at %s", path);
    return &doc->nodes[id];
}

static void grafted_map_keeps_its_key_and_names_the_new_file(void **state)
{
    struct yaml_doc doc;
    struct err e = { 0 };
    char place[64];
    (void)state;
    assert_ok(read_str(&doc, "a: 1\nnet: pod.yaml\nz: 2\n", &e), &e);
    assert_ok(graft(&doc, "net", "# pod\nname: pod\ndims:\n  - size: 4\n", &e), &e);

    yaml_id net = yaml_find(&doc, "net");
    assert_int_equal(doc.nodes[net].kind, YAML_MAP);
    assert_null(doc.nodes[net].text);
    assert_int_equal(doc.nodes[net].index, 1);
    assert_string_equal(doc.nodes[doc.nodes[net].next].key, "z");
    assert_string_equal(yaml_place(&doc, net, place, sizeof place), "g.yaml:2:1");
    assert_string_equal(yaml_key_place(&doc, net, place, sizeof place), "f.yaml:2:1");

    yaml_id size = yaml_find(&doc, "net.dims[0].size");
    assert_string_equal(doc.nodes[size].text, "4");
    assert_string_equal(yaml_source(&doc, size), "g.yaml");
    assert_string_equal(yaml_place(&doc, size, place, sizeof place), "g.yaml:4:11");
    assert_int_equal(yaml_fail(&doc, size, &e, ERR_RANGE, "is 4, need 8"), ERR_RANGE);
    assert_string_equal(e.msg, "g.yaml:4:11: net.dims[0].size is 4, need 8");
    yaml_free(&doc);
}

static void scalar_list_item_and_root_can_be_grafted(void **state)
{
    struct yaml_doc doc;
    struct err e = { 0 };
    char place[64];
    (void)state;
    assert_ok(read_str(&doc, "[x, y, {k: v}]", &e), &e);
    assert_ok(graft(&doc, "[1]", "\n\n 'text'\n", &e), &e);
    const struct yaml_node *item = at(&doc, "[1]");
    assert_string_equal(item->text, "text");
    assert_true(item->quoted);
    assert_int_equal(item->line, 3);
    assert_int_equal(item->col, 2);
    assert_string_equal(yaml_key_place(&doc, yaml_find(&doc, "[1]"), place, sizeof place), "g.yaml:3:2");
    assert_string_equal(at(&doc, "[2].k")->text, "v");

    assert_ok(graft(&doc, "[2].k", "{m: [1]}", &e), &e);
    assert_string_equal(at(&doc, "[2].k.m[0]")->text, "1");
    assert_ok(graft(&doc, "", "b: 2", &e), &e);
    assert_int_equal(doc.nodes[doc.root].n, 1);
    assert_string_equal(at(&doc, "b")->text, "2");
    assert_int_equal(yaml_find(&doc, "[0]"), -1);
    yaml_free(&doc);
}

static void failed_graft_changes_nothing(void **state)
{
    static const struct {
        const char *text, *want;
        enum err_code code;
    } cases[] = {
        { "", "g.yaml:1:1: is empty, need keys or a value", ERR_PARSE },
        { "a: &x 1", "g.yaml:1:4: anchor &x is used, need the value written out", ERR_PARSE },
        { "p: 1\nq: {r: 1, s: [{t: 1, t: 2}]}\n",
          "g.yaml:2:22: net.list[1].q.s[0].t is given again, first on line 2, need it once", ERR_PARSE },
        { "p: [1, 2, 3\n", "g.yaml:2:1: is not YAML (did not find expected ',' or ']'", ERR_PARSE },
    };
    struct yaml_doc doc;
    struct err e = { 0 };
    (void)state;
    assert_ok(read_str(&doc, "net: {list: [1, {k: old}], z: 1}", &e), &e);
    unsigned long long before = yaml_hash(&doc, doc.root);
    int32_t n_nodes = doc.n_nodes;
    size_t n_bytes = doc.n_bytes;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails(graft(&doc, "net.list[1]", cases[i].text, &e), &e, cases[i].code, cases[i].want);
        assert_true(yaml_hash(&doc, doc.root) == before);
        assert_int_equal(doc.n_nodes, n_nodes);
        assert_int_equal(doc.n_sources, 1);
        assert_int_equal(doc.n_bytes, n_bytes);
    }
    yaml_free(&doc);
}

static void depth_counts_through_grafts(void **state)
{
    struct yaml_doc doc;
    struct err e = { 0 };
    char path[256] = "";
    (void)state;
    assert_ok(read_str(&doc, "[x]", &e), &e);
    for (int depth = 2; depth <= YAML_MAX_DEPTH; depth++) {
        strcat(path, "[0]");
        assert_ok(graft(&doc, path, "[x]", &e), &e);
    }
    strcat(path, "[0]");
    assert_ok(graft(&doc, path, "x", &e), &e);
    assert_fails(graft(&doc, path, "[x]", &e), &e, ERR_RANGE,
                 "g.yaml:1:1: list is at depth 65, need at most 64");
    assert_string_equal(at(&doc, path)->text, "x");
    yaml_free(&doc);
}

static void texts_stay_where_they_are(void **state)
{
    struct yaml_doc doc;
    struct err e = { 0 };
    (void)state;
    assert_ok(read_str(&doc, "{key: value, more: 1}", &e), &e);
    const char *key = at(&doc, "key")->key, *text = at(&doc, "key")->text, *source = yaml_source(&doc, 0);
    for (int i = 0; i < 5000; i++)
        assert_ok(graft(&doc, "more", "[some, words, {to: keep}]", &e), &e);
    assert_ptr_equal(at(&doc, "key")->text, text);
    assert_string_equal(key, "key");
    assert_string_equal(text, "value");
    assert_string_equal(source, "f.yaml");
    yaml_free(&doc);
}

static void copy_and_original_change_apart(void **state)
{
    struct yaml_doc doc, copy, second;
    struct err e = { 0 };
    (void)state;
    assert_ok(read_str(&doc, "a: 1\nlist: [x, {y: 2}]\n", &e), &e);
    unsigned long long before = yaml_hash(&doc, doc.root);
    assert_ok(yaml_copy(&copy, &doc, &e), &e);
    assert_true(yaml_hash(&copy, copy.root) == before);

    assert_ok(yaml_set(&copy, "list[1].y", "7", &e), &e);
    assert_ok(yaml_set(&copy, "new.key", "[8]", &e), &e);
    assert_true(yaml_hash(&doc, doc.root) == before);
    assert_int_equal(yaml_find(&doc, "new"), -1);
    assert_int_equal(doc.n_sources, 1);
    assert_string_equal(at(&copy, "list[1].y")->text, "7");

    assert_ok(yaml_copy(&second, &copy, &e), &e);
    assert_ok(yaml_set(&doc, "a", "5", &e), &e);
    assert_string_equal(at(&copy, "a")->text, "1");
    assert_string_equal(at(&second, "new.key[0]")->text, "8");
    assert_string_equal(yaml_source(&second, yaml_find(&second, "new.key")), "--set new.key=[8]");
    yaml_free(&second);
    yaml_free(&copy);
    assert_string_equal(at(&doc, "a")->text, "5");
    assert_string_equal(at(&doc, "list[1].y")->text, "2");
    yaml_free(&doc);
}

static void freed_document_may_be_freed_again(void **state)
{
    struct yaml_doc doc, copy;
    struct err e = { 0 };
    (void)state;
    assert_ok(read_str(&doc, "a: 1", &e), &e);
    yaml_free(&doc);
    assert_int_equal(doc.root, -1);
    assert_int_equal(yaml_find(&doc, "a"), -1);
    assert_ok(yaml_copy(&copy, &doc, &e), &e);
    assert_int_equal(copy.root, -1);
    yaml_free(&copy);
    yaml_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grafted_map_keeps_its_key_and_names_the_new_file),
        cmocka_unit_test(scalar_list_item_and_root_can_be_grafted),
        cmocka_unit_test(failed_graft_changes_nothing),
        cmocka_unit_test(depth_counts_through_grafts),
        cmocka_unit_test(texts_stay_where_they_are),
        cmocka_unit_test(copy_and_original_change_apart),
        cmocka_unit_test(freed_document_may_be_freed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
