#include "tests/support.h"

#include "base/schema.h"

enum shape { RING, FULL, SWITCH };

struct dim {
    double bw_Bps, lat_s, taper, shift, huge;
    int64_t size, rails;
    bool shared, open;
    const char *name;
    int32_t shape, order;
    yaml_id parts;
};

static const char *const shapes[] = { "ring", "full", "switch", NULL };

#define AT(field) offsetof(struct dim, field)

static const struct key keys[] = {
    { "name", "what it is called", KEY_TEXT, false, AT(name), "", 1, 0, 0, 0, NULL, 0 },
    { "shape", "how members are joined", KEY_WORD, true, AT(shape), "", 1, 0, 0, 0, shapes, 0 },
    { "size", "number of members", KEY_COUNT, true, AT(size), "", 1, 2, 1048576, 0, NULL, 0 },
    { "rails", "equal networks", KEY_COUNT, false, AT(rails), "", 1, 1, INFINITY, SCHEMA_NONE, NULL,
      USE_CATALOGUE },
    { "bw_GBps", "bandwidth", KEY_REAL, false, AT(bw_Bps), "GB/s", 1e9, 0.001, 1e5, SCHEMA_NONE, NULL,
      USE_TIME },
    { "latency_ns", "latency", KEY_REAL, false, AT(lat_s), "ns", 1e-9, 0, INFINITY, 500, NULL, USE_LATENCY },
    { "taper", "down to up", KEY_REAL, false, AT(taper), "", 1, -INFINITY, 8, 1, NULL,
      USE_COST | USE_CATALOGUE },
    { "shift", "anything", KEY_REAL, false, AT(shift), "", 1, -INFINITY, INFINITY, 0, NULL, 0 },
    { "huge_GB", "anything", KEY_REAL, false, AT(huge), "GB", 1e9, 0, INFINITY, 0, NULL, 0 },
    { "shared", "by all", KEY_BOOL, false, AT(shared), "", 1, 0, 0, 1, NULL, USE_SPLIT },
    { "open", "or not", KEY_BOOL, false, AT(open), "", 1, 0, 0, SCHEMA_NONE, NULL, 0 },
    { "order", "which first", KEY_WORD, false, AT(order), "", 1, 0, 0, 2, shapes, 0 },
    { "parts", "a map", KEY_NODE, false, AT(parts), "", 1, 0, 0, 0, NULL, 0 },
};

static const struct section section = { "dim", "one dimension", keys, COUNT_OF(keys) };

/* Reads the map at dims[0]. */
static int read_dim(struct dim *d, struct yaml_doc *doc, const char *text, struct err *e)
{
    assert_ok(yaml_read_text(doc, "f.yaml", text, strlen(text), e), e);
    return schema_read(d, &section, doc, yaml_find(doc, "dims[0]"), e);
}

static void values_are_checked_scaled_and_stored(void **state)
{
    struct dim d;
    struct yaml_doc doc;
    struct err e = { 0 };
    (void)state;
    assert_ok(read_dim(&d, &doc,
                       "dims: [{name: pod, shape: full, size: 8, rails: 2, bw_GBps: 50, latency_ns: 25,"
                       " taper: -1.5, shift: -7, huge_GB: 3, shared: false, open: true, order: ring,"
                       " parts: {a: 1}}]",
                       &e),
              &e);
    assert_string_equal(d.name, "pod");
    assert_int_equal(d.shape, FULL);
    assert_int_equal(d.size, 8);
    assert_int_equal(d.rails, 2);
    assert_close(d.bw_Bps, 50e9, 1e-15);
    assert_close(d.lat_s, 25e-9, 1e-15);
    assert_close(d.taper, -1.5, 0);
    assert_close(d.shift, -7.0, 0);
    assert_close(d.huge, 3e9, 1e-15);
    assert_false(d.shared);
    assert_true(d.open);
    assert_int_equal(d.order, RING);
    assert_int_equal(d.parts, yaml_find(&doc, "dims[0].parts"));
    yaml_free(&doc);
}

static void assert_optional_defaults(const struct dim *d)
{
    assert_null(d->name);
    assert_int_equal(d->rails, -1);
    assert_true(isnan(d->bw_Bps));
    assert_close(d->lat_s, 500e-9, 1e-15);
    assert_close(d->taper, 1.0, 0);
    assert_true(d->shift == 0 && d->huge == 0);
    assert_true(d->shared);
    assert_false(d->open);
    assert_int_equal(d->order, SWITCH);
    assert_int_equal(d->parts, -1);
}

static void absent_keys_take_their_defaults(void **state)
{
    struct dim d;
    struct yaml_doc doc;
    struct err e = { 0 };
    (void)state;
    memset(&d, 0x5a, sizeof d);
    assert_ok(read_dim(&d, &doc, "dims: [{shape: ring, size: 4}]", &e), &e);
    assert_int_equal(d.shape, RING);
    assert_int_equal(d.size, 4);
    assert_optional_defaults(&d);
    yaml_free(&doc);

    memset(&d, 0x5a, sizeof d);
    schema_defaults(&d, &section);
    assert_int_equal(d.shape, -1);
    assert_int_equal(d.size, -1);
    assert_optional_defaults(&d);
}

static void bounds_themselves_are_allowed(void **state)
{
    static const char *const texts[] = {
        "dims: [{shape: ring, size: 2, bw_GBps: 0.001, latency_ns: 0}]",
        "dims: [{shape: ring, size: 1048576, bw_GBps: 100000, taper: 8}]",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct dim d;
        struct yaml_doc doc;
        struct err e = { 0 };
        assert_ok(read_dim(&d, &doc, texts[i], &e), &e);
        yaml_free(&doc);
    }
}

static void wrong_maps_are_refused_with_place_and_remedy(void **state)
{
    static const struct {
        const char *text, *want;
        enum err_code code;
    } cases[] = {
        { "dims:\n  - shape: ring\n    size: 4\n    bwGBps: 3\n",
          "f.yaml:4:5: dims[0].bwGBps is unknown, need a known key such as bw_GBps (nearest)", ERR_PARSE },
        { "dims: [{zzzzzzzzzz: 3}]",
          "f.yaml:1:9: dims[0].zzzzzzzzzz is unknown, need one of name, shape, size, rails, bw_GBps, "
          "latency_ns, "
          "taper, shift, huge_GB, shared, open, order, parts",
          ERR_PARSE },
        { "dims: [{shape: ring}]", "f.yaml:1:8: dims[0] is without size, need size (number of members)",
          ERR_PARSE },
        { "dims: [{}]", "f.yaml:1:8: dims[0] is without shape, need shape (how members are joined)",
          ERR_PARSE },
        { "dims: [4]", "f.yaml:1:8: dims[0] is 4, need a map", ERR_PARSE },
        { "dims: [[]]", "f.yaml:1:8: dims[0] is a list, need a map", ERR_PARSE },
        { "dims: [{bw_GBps: 1e9}]", "f.yaml:1:18: dims[0].bw_GBps is 1e9, need 0.001 to 100000 GB/s",
          ERR_RANGE },
        { "dims: [{bw_GBps: -3}]", "f.yaml:1:18: dims[0].bw_GBps is -3, need 0.001 to 100000 GB/s",
          ERR_RANGE },
        { "dims: [{bw_GBps: fast}]", "f.yaml:1:18: dims[0].bw_GBps is fast, need a number", ERR_PARSE },
        { "dims: [{bw_GBps: }]", "dims[0].bw_GBps is empty, need a number", ERR_PARSE },
        { "dims: [{latency_ns: -1}]", "f.yaml:1:21: dims[0].latency_ns is -1, need >= 0 ns", ERR_RANGE },
        { "dims: [{taper: 9}]", "f.yaml:1:16: dims[0].taper is 9, need <= 8", ERR_RANGE },
        { "dims: [{huge_GB: 1e300}]", "f.yaml:1:18: dims[0].huge_GB is 1e300, need a number below 1e+299",
          ERR_RANGE },
        { "dims: [{size: 1}]", "f.yaml:1:15: dims[0].size is 1, need 2 to 1048576", ERR_RANGE },
        { "dims: [{size: 1048577}]", "f.yaml:1:15: dims[0].size is 1048577, need 2 to 1048576", ERR_RANGE },
        { "dims: [{size: -4}]", "f.yaml:1:15: dims[0].size is -4, need 2 to 1048576", ERR_RANGE },
        { "dims: [{size: 1e3}]",
          "f.yaml:1:15: dims[0].size is 1e3, need a whole number in digits, 2 to 1048576", ERR_PARSE },
        { "dims: [{size: 4.5}]", "f.yaml:1:15: dims[0].size is 4.5, need a whole number, 2 to 1048576",
          ERR_PARSE },
        { "dims: [{size: '4'}]", "f.yaml:1:15: dims[0].size is the text \"4\", need a whole number",
          ERR_PARSE },
        { "dims: [{rails: 0}]", "f.yaml:1:16: dims[0].rails is 0, need >= 1", ERR_RANGE },
        { "dims: [{shape: rng}]",
          "f.yaml:1:16: dims[0].shape is rng, need one of ring, full, switch (nearest: ring)", ERR_PARSE },
        { "dims: [{shape: Ring}]",
          "f.yaml:1:16: dims[0].shape is Ring, need one of ring, full, switch (nearest: ring)", ERR_PARSE },
        { "dims: [{shape: torus3d-wrapped}]",
          "f.yaml:1:16: dims[0].shape is torus3d-wrapped, need one of ring, full, switch", ERR_PARSE },
        { "dims: [{shape: [ring]}]", "f.yaml:1:16: dims[0].shape is a list, need one of ring, full, switch",
          ERR_PARSE },
        { "dims: [{shape: ~}]", "f.yaml:1:16: dims[0].shape is empty, need one of ring, full, switch",
          ERR_PARSE },
        { "dims: [{shared: yes}]", "f.yaml:1:17: dims[0].shared is yes, need true or false", ERR_PARSE },
        { "dims: [{name: {}}]", "f.yaml:1:15: dims[0].name is a map, need text", ERR_PARSE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dim d;
        struct yaml_doc doc;
        struct err e = { 0 };
        assert_fails(read_dim(&d, &doc, cases[i].text, &e), &e, cases[i].code, cases[i].want);
        assert_true(strstr(e.msg, cases[i].want) + strlen(cases[i].want) == e.msg + strlen(e.msg) ||
                    strstr(cases[i].want, "a whole number"));
        yaml_free(&doc);
    }
}

static void override_is_named_as_the_place(void **state)
{
    struct dim d;
    struct yaml_doc doc;
    struct err e = { 0 };
    (void)state;
    assert_ok(read_dim(&d, &doc, "dims: [{shape: ring, size: 4}]", &e), &e);
    assert_ok(yaml_set(&doc, "dims[0].latency_ms", "4", &e), &e);
    assert_fails(schema_read(&d, &section, &doc, yaml_find(&doc, "dims[0]"), &e), &e, ERR_PARSE,
                 "--set dims[0].latency_ms=4:1:1: dims[0].latency_ms is unknown, need a known key such as "
                 "latency_ns (nearest)");
    yaml_free(&doc);
}

static void keys_without_effect_are_noted_once_each(void **state)
{
    struct text notes = { 0 };
    struct yaml_doc doc;
    struct dim d;
    struct err e = { 0 };
    (void)state;
    assert_ok(
        read_dim(&d, &doc,
                 "dims:\n  - shape: ring\n    size: 4\n    latency_ns: 3\n    bw_GBps: 5\n    taper: 2\n"
                 "    rails: 1\n",
                 &e),
        &e);
    yaml_id dim = yaml_find(&doc, "dims[0]");
    schema_note_unused(&notes, &section, &doc, dim, 0, USE_TIME | USE_COST);
    assert_string_equal(
        text_str(&notes),
        "f.yaml:4:5: dims[0].latency_ns has no effect here, it is used only by models other than bandwidth\n"
        "f.yaml:7:5: dims[0].rails has no effect here, it is used only where prices come from a parts "
        "catalogue\n");
    text_clear(&notes);
    schema_note_unused(&notes, &section, &doc, dim, 0, USE_TIME | USE_LATENCY);
    assert_string_equal(
        text_str(&notes),
        "f.yaml:6:5: dims[0].taper has no effect here, it is used only for the price of the network or where "
        "prices come from a parts catalogue\n"
        "f.yaml:7:5: dims[0].rails has no effect here, it is used only where prices come from a parts "
        "catalogue\n");
    text_clear(&notes);
    schema_note_unused(&notes, &section, &doc, dim, 0, USE_TIME | USE_LATENCY | USE_CATALOGUE);
    assert_string_equal(text_str(&notes), "");
    text_free(&notes);
    yaml_free(&doc);
}

static void keys_of_other_files_are_noted_only_when_overridden(void **state)
{
    static const char study[] = "dims: lib.yaml\nown: {latency_ns: 1}\n";
    static const char lib[] = "- { shape: ring, size: 4, latency_ns: 3 }\n";
    struct text notes = { 0 };
    struct yaml_doc doc;
    struct err e = { 0 };
    (void)state;
    assert_ok(yaml_read_text(&doc, "study.yaml", study, sizeof study - 1, &e), &e);
    assert_ok(yaml_graft_text(&doc, yaml_find(&doc, "dims"), "lib.yaml", lib, sizeof lib - 1, &e), &e);
    schema_note_unused(&notes, &section, &doc, yaml_find(&doc, "dims[0]"), 0, USE_TIME);
    assert_string_equal(text_str(&notes), "");
    schema_note_unused(&notes, &section, &doc, yaml_find(&doc, "own"), 0, USE_TIME);
    assert_has(text_str(&notes), "study.yaml:2:7: own.latency_ns has no effect here");
    text_clear(&notes);

    assert_ok(yaml_set(&doc, "dims[0].latency_ns", "9", &e), &e);
    assert_ok(yaml_set(&doc, "dims[0].shared", "true", &e), &e);
    schema_note_unused(&notes, &section, &doc, yaml_find(&doc, "dims[0]"), 0, USE_TIME);
    assert_string_equal(
        text_str(&notes),
        "--set dims[0].latency_ns=9:1:1: dims[0].latency_ns has no effect here, it is used only "
        "by models other than bandwidth\n"
        "--set dims[0].shared=true:1:1: dims[0].shared has no effect here, it is used only where "
        "an allocator chooses bandwidths\n");
    text_free(&notes);
    yaml_free(&doc);
}

static void every_use_has_a_phrase(void **state)
{
    (void)state;
    for (uint64_t use = USE_TIME; use <= USE_BAYES; use <<= 1) {
        const struct key key = { .name = "k", .uses = use };
        const struct section one = { "s", "", &key, 1 };
        struct text notes = { 0 };
        struct yaml_doc doc;
        struct err e = { 0 };
        assert_ok(yaml_read_text(&doc, "f.yaml", "k: 1", 4, &e), &e);
        schema_note_unused(&notes, &one, &doc, doc.root, 0, 0);
        assert_has(text_str(&notes), "f.yaml:1:1: k has no effect here, it is used only ");
        assert_true(notes.n > strlen("f.yaml:1:1: k has no effect here, it is used only \n") + 8);
        text_free(&notes);
        yaml_free(&doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_checked_scaled_and_stored),
        cmocka_unit_test(absent_keys_take_their_defaults),
        cmocka_unit_test(bounds_themselves_are_allowed),
        cmocka_unit_test(wrong_maps_are_refused_with_place_and_remedy),
        cmocka_unit_test(override_is_named_as_the_place),
        cmocka_unit_test(keys_without_effect_are_noted_once_each),
        cmocka_unit_test(keys_of_other_files_are_noted_only_when_overridden),
        cmocka_unit_test(every_use_has_a_phrase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
