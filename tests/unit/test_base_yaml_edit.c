/* Paths into a document, and what overrides on the command line do to it. */
#include "tests/support.h"
#include "base/yaml.h"

static const char pod[] = "name: pod\n"
                          "dims:\n"
                          "  - { name: node, size: 8 }\n"
                          "  - { name: pod, size: 4, lat: [1, 2] }\n"
                          "  - { name: twin }\n"
                          "  - { name: twin }\n"
                          "  - plain\n"
                          "none: []\n"
                          "blank:\n";

static void read_pod(struct yaml_doc *doc)
{
    MUST(yaml_read_text(doc, "pod.yaml", pod, sizeof pod - 1, e));
}

#define POD(doc)                                                                                             \
    KEEP(struct yaml_doc, doc, yaml_free);                                                                   \
    read_pod(&doc)

TEST(paths_lead_to_nodes)
{
    static const struct {
        const char *path, *text; /* NULL: no such node */
    } cases[] = {
        { "name", "pod" },        { "dims[0].size", "8" },   { "dims.node.size", "8" },
        { "dims.pod.size", "4" }, { "dims[1].lat[1]", "2" }, { "dims.pod.lat[0]", "1" },
        { "dims[4]", "plain" },   { "dims[00].size", "8" },  { "nam", NULL },
        { "names", NULL },        { "dims[5]", NULL },       { "dims.twin", NULL },
        { "dims.plain", NULL },   { "dims.none", NULL },     { "name.x", NULL },
        { "name[0]", NULL },      { "none[0]", NULL },       { "dims[-1]", NULL },
        { "dims[]", NULL },       { "dims[1", NULL },        { "dims[1]x", NULL },
        { "dims.[1]", NULL },     { ".name", NULL },         { "name.", NULL },
        { "name]", NULL },        { "dims..pod", NULL },     { "dims[9999999999]", NULL },
        { "[0]", NULL },          { "dims[ 1]", NULL },
    };
    POD(doc);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        yaml_id id = yaml_find(&doc, cases[i].path);
        if (!cases[i].text != (id < 0))
            fail_msg("%s gives node %d", cases[i].path, (int)id);
        if (id >= 0)
            assert_string_equal(doc.nodes[id].text, cases[i].text);
    }
    assert_int_equal(yaml_find(&doc, ""), doc.root);
}

TEST(every_path_shown_is_found_again)
{
    char path[64];
    POD(doc);
    for (yaml_id id = 0; id < doc.n_nodes; id++)
        assert_int_equal(yaml_find(&doc, yaml_path(&doc, id, path, sizeof path)), id);
}

TEST(overriding_replaces_or_creates_keys)
{
    static const struct {
        const char *path, *value, *look, *want;
    } cases[] = {
        { "name", "rack", "name", "rack" },
        { "dims[0].size", "16", "dims.node.size", "16" },
        { "dims.pod.size", "'32'", "dims[1].size", "32" },
        { "dims.pod.lat", "3", "dims[1].lat", "3" },
        { "dims[4]", "{name: last, size: 2}", "dims.last.size", "2" },
        { "dims", "[{size: 5}]", "dims[0].size", "5" },
        { "new", "1", "new", "1" },
        { "npu.mem.size_GB", "80", "npu.mem.size_GB", "80" },
        { "dims.node.tier.name", "[x, y]", "dims[0].tier.name[1]", "y" },
        { "blank", "{a: b}", "blank.a", "b" },
        { "none", "7", "none", "7" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char source[64];
        POD(doc);
        OK(yaml_set(&doc, cases[i].path, cases[i].value, e));
        yaml_id id = yaml_find(&doc, cases[i].look);
        assert_true(id >= 0);
        assert_string_equal(doc.nodes[id].text, cases[i].want);
        snprintf(source, sizeof source, "--set %s=%s", cases[i].path, cases[i].value);
        assert_string_equal(yaml_source(&doc, id), source);
    }
}

TEST(overridden_key_keeps_its_place_among_siblings)
{
    char place[64];
    POD(doc);
    int32_t n = doc.nodes[doc.root].n;
    OK(yaml_set(&doc, "dims", "5", e));
    OK(yaml_set(&doc, "a.b", "6", e));
    yaml_id dims = yaml_find(&doc, "dims"), a = yaml_find(&doc, "a"), b = yaml_find(&doc, "a.b");
    assert_true(doc.nodes[dims].index == 1 && doc.nodes[dims].n == 0 && doc.nodes[dims].first == -1);
    assert_true(doc.nodes[a].index == n && doc.nodes[doc.root].n == n + 1 && doc.nodes[doc.root].last == a);
    assert_string_equal(yaml_key_place(&doc, dims, place, sizeof place), "--set dims=5:1:1");
    assert_string_equal(yaml_place(&doc, a, place, sizeof place), "--set a.b=6:1:1");
    assert_string_equal(yaml_key_place(&doc, b, place, sizeof place), "--set a.b=6:1:1");
    yaml_fail(&doc, b, e, ERR_RANGE, "is 6, expected 7");
    assert_string_equal(e->msg, "--set a.b=6:1:1: a.b is 6, expected 7");
}

TEST(overrides_build_on_each_other)
{
    int32_t n = 0;
    POD(doc);
    OK(yaml_set(&doc, "dims", "{x: 1, y: 2}", e));
    OK(yaml_set(&doc, "dims.z", "3", e));
    OK(yaml_set(&doc, "dims.y", "5", e));
    yaml_id dims = yaml_find(&doc, "dims");
    const char *const keys[] = { "x", "y", "z" }, *const texts[] = { "1", "5", "3" };
    yaml_each (id, &doc, dims) {
        assert_in_range(n, 0, 2);
        assert_string_equal(doc.nodes[id].key, keys[n]);
        assert_string_equal(doc.nodes[id].text, texts[n++]);
    }
    assert_true(n == 3 && doc.nodes[dims].n == 3);
}

TEST(override_that_does_not_fit_is_refused_and_changes_nothing)
{
    static const struct {
        const char *path, *value, *want;
        enum err_code code;
    } cases[] = {
        { "dims[9].size", "4",
          "--set dims[9].size=4:1:1: dims[9] is past the end, expected 0 to 4 (the list has 5 entries)",
          ERR_RANGE },
        { "dims[1].lat[2]", "4",
          "--set dims[1].lat[2]=4:1:1: dims[1].lat[2] is past the end, expected 0 to 1 (the list has 2 "
          "entries)",
          ERR_RANGE },
        { "none[0]", "4",
          "--set none[0]=4:1:1: none[0] is an entry of an empty list, expected a list with entries",
          ERR_RANGE },
        { "new.list[0].x", "4",
          "--set new.list[0].x=4:1:1: new.list[0] is an entry of a list that is not there, expected a list",
          ERR_RANGE },
        { "dims.rack.size", "4",
          "--set dims.rack.size=4:1:1: dims.rack is no entry's name, expected a name or an index (the list "
          "has 5 entries)",
          ERR_PARSE },
        { "dims.0.size", "4",
          "--set dims.0.size=4:1:1: dims.0 is no entry's name, expected a name or an index as in dims[0] "
          "(the list has 5 entries)",
          ERR_PARSE },
        { "dims.twin.size", "4",
          "--set dims.twin.size=4:1:1: dims.twin is the name of 2 entries, expected an index", ERR_PARSE },
        { "name.x", "4", "--set name.x=4:1:1: name is pod, expected a map to reach \"name.x\"", ERR_PARSE },
        { "dims[4][0]", "4",
          "--set dims[4][0]=4:1:1: dims[4] is plain, expected a list to reach \"dims[4][0]\"", ERR_PARSE },
        { "blank.x", "4", "--set blank.x=4:1:1: blank is empty, expected a map to reach \"blank.x\"",
          ERR_PARSE },
        { "dims[0][1]", "4",
          "--set dims[0][1]=4:1:1: dims[0] is a map, expected a list to reach \"dims[0][1]\"", ERR_PARSE },
        { "[0]", "4", "--set [0]=4:1:1: document is a map, expected a list to reach \"[0]\"", ERR_PARSE },
        { "", "4", "--set =4:1:1: path is \"\", expected keys and indices such as network.dims[0].size",
          ERR_PARSE },
        { "dims[x]", "4", "--set dims[x]=4:1:1: path is \"dims[x]\", expected keys and indices", ERR_PARSE },
        { "a..b", "4", "--set a..b=4:1:1: path is \"a..b\", expected keys and indices", ERR_PARSE },
        { "a.b.", "4", "--set a.b.=4:1:1: path is \"a.b.\", expected keys and indices", ERR_PARSE },
        { "name", "", "--set name=:1:1: is empty, expected keys or a value", ERR_PARSE },
        { "name", "[1, 2", "--set name=[1, 2:2:1: is not valid YAML (did not find expected ',' or ']'",
          ERR_PARSE },
        { "name", "*x", "--set name=*x:1:1: alias *x is not supported; write the value out", ERR_PARSE },
        { "new.map", "{a: 1, a: 2}",
          "--set new.map={a: 1, a: 2}:1:8: new.map.a is given twice, first on line 1", ERR_PARSE },
    };
    POD(doc);
    unsigned long long before = yaml_hash(&doc, doc.root);
    int32_t n_nodes = doc.n_nodes;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FAILS(yaml_set(&doc, cases[i].path, cases[i].value, e), cases[i].code, cases[i].want);
        assert_true(yaml_hash(&doc, doc.root) == before && doc.n_nodes == n_nodes && doc.n_sources == 1);
    }
}

TEST(depth_of_an_override_ends_at_the_cap)
{
    struct yaml_doc doc;
    char path[256] = "k";
    OK(yaml_read_text(&doc, "f", "{}", 2, e));
    for (int i = 1; i < YAML_MAX_DEPTH; i++)
        strcat(path, ".k");
    FAILS(yaml_set(&doc, path, "[1]", e), ERR_RANGE, "list is at depth 65, expected at most 64");
    assert_int_equal(doc.nodes[doc.root].n, 0);
    OK(yaml_set(&doc, path, "1", e));
    assert_string_equal(doc.nodes[yaml_find(&doc, path)].text, "1");
    yaml_free(&doc);

    OK(yaml_read_text(&doc, "f", "{}", 2, e));
    strcat(path, ".k");
    FAILS(yaml_set(&doc, path, "1", e), ERR_RANGE, "path is at depth 66, expected at most 65");
    yaml_free(&doc);
}

TEST(long_path_and_value_leave_room_for_the_reason)
{
    char path[3000];
    POD(doc);
    memset(path, 'x', sizeof path);
    memcpy(path, "dims.", 5);
    path[sizeof path - 1] = '\0';
    FAILS(yaml_set(&doc, path, path, e), ERR_PARSE, "xxx...:1:1: dims.xxx");
    assert_has(e->msg, "is no entry's name, expected a name or an index (the list has 5 entries)");
    path[sizeof path - 2] = '.';
    FAILS(yaml_set(&doc, path + 5, path, e), ERR_PARSE, "expected keys and indices such as");
    path[0] = '[';
    FAILS(yaml_set(&doc, "name", path, e), ERR_PARSE, "xxx...:2:1: is not valid YAML (");
}
