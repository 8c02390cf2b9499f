/* Documents put into each other, copied, changed apart and pruned. */
#include "tests/support.h"
#include "base/yaml.h"

static int read_str(struct yaml_doc *doc, const char *text, struct err *e)
{
    return yaml_read_text(doc, "f.yaml", text, strlen(text), e);
}

/* The document of a text, which is sound. */
#define DOC(doc, text)                                                                                       \
    KEEP(struct yaml_doc, doc, yaml_free);                                                                   \
    OK(read_str(&doc, text, e))

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

TEST(grafted_map_keeps_its_key_and_names_the_new_file)
{
    char place[64];
    DOC(doc, "a: 1\nnet: pod.yaml\nz: 2\n");
    OK(graft(&doc, "net", "# pod\nname: pod\ndims:\n  - size: 4\n", e));

    yaml_id net = yaml_find(&doc, "net");
    assert_true(doc.nodes[net].kind == YAML_MAP && !doc.nodes[net].text && doc.nodes[net].index == 1);
    assert_string_equal(doc.nodes[doc.nodes[net].next].key, "z");
    assert_string_equal(yaml_place(&doc, net, place, sizeof place), "g.yaml:2:1");
    assert_string_equal(yaml_key_place(&doc, net, place, sizeof place), "f.yaml:2:1");

    yaml_id size = yaml_find(&doc, "net.dims[0].size");
    assert_string_equal(doc.nodes[size].text, "4");
    assert_string_equal(yaml_source(&doc, size), "g.yaml");
    assert_string_equal(yaml_place(&doc, size, place, sizeof place), "g.yaml:4:11");
    assert_int_equal(yaml_fail(&doc, size, e, ERR_RANGE, "is 4, expected 8"), ERR_RANGE);
    assert_string_equal(e->msg, "g.yaml:4:11: net.dims[0].size is 4, expected 8");
}

TEST(scalar_list_item_and_root_can_be_grafted)
{
    char place[64];
    DOC(doc, "[x, y, {k: v}]");
    OK(graft(&doc, "[1]", "\n\n 'text'\n", e));
    const struct yaml_node *item = at(&doc, "[1]");
    assert_string_equal(item->text, "text");
    assert_true(item->quoted && item->line == 3 && item->col == 2);
    assert_string_equal(yaml_key_place(&doc, yaml_find(&doc, "[1]"), place, sizeof place), "g.yaml:3:2");
    assert_string_equal(at(&doc, "[2].k")->text, "v");

    OK(graft(&doc, "[2].k", "{m: [1]}", e));
    assert_string_equal(at(&doc, "[2].k.m[0]")->text, "1");
    OK(graft(&doc, "", "b: 2", e));
    assert_int_equal(doc.nodes[doc.root].n, 1);
    assert_string_equal(at(&doc, "b")->text, "2");
    assert_int_equal(yaml_find(&doc, "[0]"), -1);
}

TEST(failed_graft_changes_nothing)
{
    static const struct refusal cases[] = {
        { "", ERR_PARSE, "g.yaml:1:1: is empty, expected keys or a value" },
        { "a: &x 1", ERR_PARSE, "g.yaml:1:4: anchor &x is not supported; write the value out" },
        { "p: 1\nq: {r: 1, s: [{t: 1, t: 2}]}\n", ERR_PARSE,
          "g.yaml:2:22: net.list[1].q.s[0].t is given twice, first on line 2" },
        { "p: [1, 2, 3\n", ERR_PARSE, "g.yaml:2:1: is not valid YAML (did not find expected ',' or ']'" },
    };
    DOC(doc, "net: {list: [1, {k: old}], z: 1}");
    unsigned long long before = yaml_hash(&doc, doc.root);
    int32_t n_nodes = doc.n_nodes;
    size_t n_bytes = doc.n_bytes;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FAILS(graft(&doc, "net.list[1]", cases[i].text, e), cases[i].code, cases[i].message);
        assert_true(yaml_hash(&doc, doc.root) == before && doc.n_nodes == n_nodes && doc.n_sources == 1);
        assert_int_equal(doc.n_bytes, n_bytes);
    }
}

TEST(depth_counts_through_grafts)
{
    char path[256] = "";
    DOC(doc, "[x]");
    for (int depth = 2; depth <= YAML_MAX_DEPTH; depth++) {
        strcat(path, "[0]");
        OK(graft(&doc, path, "[x]", e));
    }
    strcat(path, "[0]");
    OK(graft(&doc, path, "x", e));
    FAILS(graft(&doc, path, "[x]", e), ERR_RANGE, "g.yaml:1:1: list is at depth 65, expected at most 64");
    assert_string_equal(at(&doc, path)->text, "x");
}

TEST(texts_stay_where_they_are)
{
    DOC(doc, "{key: value, more: 1}");
    const char *key = at(&doc, "key")->key, *text = at(&doc, "key")->text, *source = yaml_source(&doc, 0);
    for (int i = 0; i < 5000; i++)
        OK(graft(&doc, "more", "[some, words, {to: keep}]", e));
    assert_ptr_equal(at(&doc, "key")->text, text);
    assert_string_equal(key, "key");
    assert_string_equal(text, "value");
    assert_string_equal(source, "f.yaml");
}

TEST(copy_and_original_change_apart)
{
    struct yaml_doc copy, second;
    DOC(doc, "a: 1\nlist: [x, {y: 2}]\n");
    unsigned long long before = yaml_hash(&doc, doc.root);
    OK(yaml_copy(&copy, &doc, e));
    assert_true(yaml_hash(&copy, copy.root) == before);

    OK(yaml_set(&copy, "list[1].y", "7", e));
    OK(yaml_set(&copy, "new.key", "[8]", e));
    assert_true(yaml_hash(&doc, doc.root) == before);
    assert_int_equal(yaml_find(&doc, "new"), -1);
    assert_int_equal(doc.n_sources, 1);
    assert_string_equal(at(&copy, "list[1].y")->text, "7");

    OK(yaml_copy(&second, &copy, e));
    OK(yaml_set(&doc, "a", "5", e));
    assert_string_equal(at(&copy, "a")->text, "1");
    assert_string_equal(at(&second, "new.key[0]")->text, "8");
    assert_string_equal(yaml_source(&second, yaml_find(&second, "new.key")), "--set new.key=[8]");
    yaml_free(&second);
    yaml_free(&copy);
    assert_string_equal(at(&doc, "a")->text, "5");
    assert_string_equal(at(&doc, "list[1].y")->text, "2");
}

/* All that can be seen of a tree: content with the places of keys and values. */
static void show(struct text *out, const struct yaml_doc *doc, yaml_id id)
{
    char path[256], place[400], key_place[400], shown[YAML_SHOWN];
    text_printf(out, "%s at %s, key at %s: %s of %d, child %d\n", yaml_path(doc, id, path, sizeof path),
                yaml_place(doc, id, place, sizeof place),
                yaml_key_place(doc, id, key_place, sizeof key_place), yaml_show(doc, id, shown),
                (int)doc->nodes[id].n, (int)doc->nodes[id].index);
    yaml_each (child, doc, id) {
        assert_int_equal(doc->nodes[child].parent, id);
        show(out, doc, child);
    }
}

static void assert_same_tree(const struct yaml_doc *got, const struct yaml_doc *want)
{
    KEEP(struct text, a, text_free) = { 0 };
    KEEP(struct text, b, text_free) = { 0 };
    show(&a, got, got->root);
    show(&b, want, want->root);
    assert_string_equal(text_str(&a), text_str(&b));
}

static const char house[] =
    "name: house\nrooms:\n  - { name: hall, size: 4 }\n  - { size: 5, doors: [ 1, 2 ] }\n";

TEST(a_copy_put_in_is_as_the_text_put_in)
{
    static const char *const places[] = { "name", "rooms", "rooms[0]", "rooms.hall.size",
                                          "rooms[1].doors[1]" };
    static const char text[] = "{a: [x, 'y'],\n b: {c: ~, d: 7}}";
    KEEP(struct yaml_doc, part, yaml_free);
    OK(yaml_read_text(&part, "part.yaml", text, sizeof text - 1, e));
    OK(yaml_set(&part, "b.d", "[8]", e));
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        DOC(got, house);
        DOC(want, house);
        yaml_id at = yaml_find(&want, places[i]);
        OK(yaml_graft_text(&want, at, "part.yaml", text, sizeof text - 1, e));
        char path[64];
        snprintf(path, sizeof path, "%s.b.d", places[i]);
        OK(yaml_set(&want, path, "[8]", e));
        OK(yaml_graft_copy(&got, yaml_find(&got, places[i]), &part, e));
        got.sources[got.n_sources - 1] =
            want.sources[want.n_sources - 1]; /* the name has another path in it */
        assert_same_tree(&got, &want);
    }
}

TEST(a_copy_that_is_too_much_is_refused)
{
    KEEP(struct yaml_doc, part, yaml_free);
    DOC(doc, house);
    OK(yaml_read_text(&part, "part.yaml", "[1, 2]", 6, e));
    size_t n_bytes = part.n_bytes;
    part.n_bytes = YAML_MAX_BYTES;
    unsigned long long before = yaml_hash(&doc, doc.root);
    FAILS(yaml_graft_copy(&doc, yaml_find(&doc, "name"), &part, e), ERR_RANGE,
          "part.yaml: is too much after other files");
    assert_true(yaml_hash(&doc, doc.root) == before);
    part.n_bytes = n_bytes;
    OK(yaml_graft_copy(&doc, yaml_find(&doc, "name"), &part, e));
}

TEST(a_value_set_by_copy_is_as_one_that_is_set_and_put_in)
{
    static const struct {
        const char *path, *value;
    } cases[] = {
        { "name", "cottage" },
        { "rooms.hall.size", "{w: 1, h: [2, 3]}" },
        { "rooms.hall.name", "den" },
        { "rooms.hall", "{name: den, size: 6}" },
        { "rooms.hall", "{name: hall, size: 6}" },
        { "rooms[1]", "{name: den}" },
        { "garden.trees.n", "[5]" },
        { "rooms[1].name", "loft" },
        { "rooms[1].doors", "'none'" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path = cases[i].path, *value = cases[i].value;
        KEEP(struct yaml_doc, part, yaml_free);
        DOC(got, house);
        DOC(want, house);
        OK(yaml_read_text(&part, "part.yaml", value, strlen(value), e));
        OK(yaml_set(&want, path, value, e));
        yaml_id at = yaml_find(&want, path); /* none where it went by another name */
        if (at >= 0)
            OK(yaml_graft_text(&want, at, "part.yaml", value, strlen(value), e));
        OK(yaml_set_copy(&got, path, value, &part, e));
        assert_same_tree(&got, &want);
    }
}

TEST(a_path_that_leads_nowhere_is_refused_as_by_set)
{
    static const char *const paths[] = {
        "", "rooms[2]", "rooms.attic.size", "name.first", "rooms[", "new[0]"
    };
    KEEP(struct yaml_doc, part, yaml_free);
    OK(yaml_read_text(&part, "part.yaml", "7", 1, e));
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct err want = { 0 };
        DOC(doc, house);
        int code = yaml_set(&doc, paths[i], "7", &want);
        assert_int_not_equal(code, 0);
        FAILS(yaml_set_copy(&doc, paths[i], "7", &part, e), code, want.msg);
    }
}

TEST(pruning_leaves_what_the_root_leads_to)
{
    DOC(got, house);
    DOC(want, house);
    OK(yaml_set(&got, "rooms[0].size", "[1, 2, 3]", e));
    OK(yaml_set(&want, "rooms[0].size", "[1, 2, 3]", e));
    yaml_id cut = yaml_find(&want, "rooms[1].doors");
    OK(yaml_prune(&got, yaml_find(&got, "rooms[1].doors"), e));
    want.nodes[cut].kind = YAML_MAP;
    want.nodes[cut].first = want.nodes[cut].last = -1;
    want.nodes[cut].n = 0;
    assert_same_tree(&got, &want);
    /* name, rooms, two rooms, their name and sizes, three sizes, doors, and the root */
    assert_int_equal(got.n_nodes, 12);
    OK(yaml_set(&got, "rooms[1].doors.front", "open", e));
    assert_string_equal(at(&got, "rooms[1].doors.front")->text, "open");
}

TEST(keep_leaves_members_by_key_in_order)
{
    static const char *const keys[] = { "c", "a", "none", NULL };
    static const char text[] = "{ a: 1, b: { x: 2 }, c: [3], d: 4 }";
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(yaml_read_text(&doc, "text", text, strlen(text), e));
    yaml_keep(&doc, doc.root, keys);
    assert_int_equal(doc.nodes[doc.root].n, 2);
    yaml_id a = doc.nodes[doc.root].first, c = doc.nodes[a].next;
    assert_string_equal(doc.nodes[a].key, "a");
    assert_string_equal(doc.nodes[c].key, "c");
    assert_int_equal(doc.nodes[c].index, 1);
    assert_int_equal(doc.nodes[c].next, -1);
    assert_int_equal(doc.nodes[doc.root].last, c);
    assert_int_equal(yaml_get(&doc, doc.root, "b"), -1);
    yaml_keep(&doc, doc.root, keys + 2);
    assert_int_equal(doc.nodes[doc.root].n, 0);
    assert_int_equal(doc.nodes[doc.root].first, -1);
}

TEST(freed_document_may_be_freed_again)
{
    struct yaml_doc doc;
    KEEP(struct yaml_doc, copy, yaml_free);
    OK(read_str(&doc, "a: 1", e));
    yaml_free(&doc);
    assert_int_equal(doc.root, -1);
    assert_int_equal(yaml_find(&doc, "a"), -1);
    OK(yaml_copy(&copy, &doc, e));
    assert_int_equal(copy.root, -1);
    yaml_free(&doc);
}
