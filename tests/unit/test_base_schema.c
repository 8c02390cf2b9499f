/* Maps of a file into structs: checked, scaled, absent keys at their defaults, faults at their place. */
#include "tests/support.h"
#include "base/json.h"
#include "base/rng.h"
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

enum { TIME = 1, LATENCY = 2, COST = 4, CATALOGUE = 8, SPLIT = 16 };
static const struct use uses[] = {
    { "for training time and the bandwidth split" },
    { "by models other than bandwidth" },
    { "for the price of the network" },
    { "where prices come from a parts catalogue" },
    { "where an allocator chooses bandwidths" },
};

#define DIM struct dim
static const struct key keys[] = {
    K_TEXT(DIM, name, "name", "what it is called"),
    K_WORD_OR(DIM, shape, "shape", shapes, -1, "how members are joined", .required = true),
    K_COUNT_OR(DIM, size, "size", 2, 1048576, -1, "number of members", .required = true),
    K_COUNT_OR(DIM, rails, "rails", 1, INFINITY, -1, "equal networks", .uses = CATALOGUE),
    K_REAL_OR(DIM, bw_Bps, "bw_GBps", "GB/s", 1e9, 0.001, 1e5, NAN, "bandwidth", .uses = TIME),
    K_REAL(DIM, lat_s, "latency_ns", "ns", 1e-9, 0, INFINITY, 500, "latency", .uses = LATENCY),
    K_REAL(DIM, taper, "taper", "", 1, -INFINITY, 8, 1, "down to up", .uses = COST | CATALOGUE),
    K_REAL(DIM, shift, "shift", "", 1, -INFINITY, INFINITY, 0, "anything"),
    K_REAL(DIM, huge, "huge_GB", "GB", 1e9, 0, INFINITY, 0, "anything"),
    K_BOOL(DIM, shared, "shared", true, "by all", .uses = SPLIT),
    K_BOOL(DIM, open, "open", false, "or not"),
    K_WORD(DIM, order, "order", shapes, 2, "which first"),
    K_NODE(DIM, parts, "parts", "a map"),
};

static K_SECTION(section, DIM, "dim", keys, "one dimension", .uses = uses, .n_uses = COUNT_OF(uses));

/* Reads the map at dims[0]. */
static int read_dim(struct dim *d, struct yaml_doc *doc, const char *text, struct err *e)
{
    assert_ok(yaml_read_text(doc, "f.yaml", text, strlen(text), e), e);
    return schema_read(d, &section, doc, yaml_find(doc, "dims[0]"), e);
}

TEST(values_are_checked_scaled_and_stored)
{
    struct dim d;
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_dim(&d, &doc,
                "dims: [{name: pod, shape: full, size: 8, rails: 2, bw_GBps: 50, latency_ns: 25, taper: "
                "-1.5, shift: -7, huge_GB: 3, shared: false, open: true, order: ring, parts: {a: 1}}]",
                e));
    assert_string_equal(d.name, "pod");
    assert_true(d.shape == FULL && d.size == 8 && d.rails == 2 && d.order == RING);
    assert_close(d.bw_Bps, 50e9, 1e-15);
    assert_close(d.lat_s, 25e-9, 1e-15);
    assert_close(d.huge, 3e9, 1e-15);
    assert_true(d.taper == -1.5 && d.shift == -7 && !d.shared && d.open);
    assert_int_equal(d.parts, yaml_find(&doc, "dims[0].parts"));
}

static void assert_optional_defaults(const struct dim *d)
{
    assert_true(!d->name && d->rails == -1 && isnan(d->bw_Bps) && d->taper == 1 && d->shift == 0);
    assert_close(d->lat_s, 500e-9, 1e-15);
    assert_true(d->huge == 0 && d->shared && !d->open && d->order == SWITCH && d->parts == -1);
}

TEST(absent_keys_take_their_defaults)
{
    struct dim d;
    struct yaml_doc doc;
    memset(&d, 0x5a, sizeof d);
    OK(read_dim(&d, &doc, "dims: [{shape: ring, size: 4}]", e));
    assert_true(d.shape == RING && d.size == 4);
    assert_optional_defaults(&d);
    yaml_free(&doc);

    memset(&d, 0x5a, sizeof d);
    schema_defaults(&d, &section);
    assert_true(d.shape == -1 && d.size == -1);
    assert_optional_defaults(&d);
}

TEST(bounds_themselves_are_allowed)
{
    static const char *const texts[] = {
        "dims: [{shape: ring, size: 2, bw_GBps: 0.001, latency_ns: 0}]",
        "dims: [{shape: ring, size: 1048576, bw_GBps: 100000, taper: 8}]",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct dim d;
        KEEP(struct yaml_doc, doc, yaml_free);
        OK(read_dim(&d, &doc, texts[i], e));
    }
}

TEST(wrong_maps_are_refused_with_place_and_remedy)
{
    static const struct refusal cases[] = {
        { "dims:\n  - shape: ring\n    size: 4\n    bwGBps: 3\n", ERR_PARSE,
          "f.yaml:4:5: unknown key \"dims[0].bwGBps\"; did you mean \"bw_GBps\"?" },
        { "dims: [{zzzzzzzzzz: 3}]", ERR_PARSE,
          "f.yaml:1:9: unknown key \"dims[0].zzzzzzzzzz\", expected one of name, shape, size, rails, "
          "bw_GBps, latency_ns, taper, shift, huge_GB, shared, open, order, parts" },
        { "dims: [{shape: ring}]", ERR_PARSE, "f.yaml:1:8: dims[0] has no size (number of members)" },
        { "dims: [{}]", ERR_PARSE, "f.yaml:1:8: dims[0] has no shape (how members are joined)" },
        { "dims: [4]", ERR_PARSE, "f.yaml:1:8: dims[0] is 4, expected a map" },
        { "dims: [[]]", ERR_PARSE, "f.yaml:1:8: dims[0] is a list, expected a map" },
        { "dims: [{bw_GBps: 1e9}]", ERR_RANGE,
          "f.yaml:1:18: dims[0].bw_GBps is 1e9, expected 0.001 to 100000 GB/s" },
        { "dims: [{bw_GBps: -3}]", ERR_RANGE,
          "f.yaml:1:18: dims[0].bw_GBps is -3, expected 0.001 to 100000 GB/s" },
        { "dims: [{bw_GBps: fast}]", ERR_PARSE, "f.yaml:1:18: dims[0].bw_GBps is fast, expected a number" },
        { "dims: [{bw_GBps: }]", ERR_PARSE, "dims[0].bw_GBps is empty, expected a number" },
        { "dims: [{latency_ns: -1}]", ERR_RANGE, "f.yaml:1:21: dims[0].latency_ns is -1, expected >= 0 ns" },
        { "dims: [{taper: 9}]", ERR_RANGE, "f.yaml:1:16: dims[0].taper is 9, expected <= 8" },
        { "dims: [{huge_GB: 1e300}]", ERR_RANGE,
          "f.yaml:1:18: dims[0].huge_GB is 1e300, expected a number below 1e+299" },
        { "dims: [{size: 1}]", ERR_RANGE, "f.yaml:1:15: dims[0].size is 1, expected 2 to 1048576" },
        { "dims: [{size: 1048577}]", ERR_RANGE,
          "f.yaml:1:15: dims[0].size is 1048577, expected 2 to 1048576" },
        { "dims: [{size: -4}]", ERR_RANGE, "f.yaml:1:15: dims[0].size is -4, expected 2 to 1048576" },
        { "dims: [{size: 1e3}]", ERR_PARSE,
          "f.yaml:1:15: dims[0].size is 1e3, expected a whole number in digits, 2 to 1048576" },
        { "dims: [{size: 4.5}]", ERR_PARSE,
          "f.yaml:1:15: dims[0].size is 4.5, expected a whole number, 2 to 1048576" },
        { "dims: [{size: '4'}]", ERR_PARSE,
          "f.yaml:1:15: dims[0].size is the text \"4\", expected a whole number" },
        { "dims: [{rails: 0}]", ERR_RANGE, "f.yaml:1:16: dims[0].rails is 0, expected >= 1" },
        { "dims: [{shape: rng}]", ERR_PARSE,
          "f.yaml:1:16: dims[0].shape is rng, expected one of ring, full, switch; did you mean ring?" },
        { "dims: [{shape: Ring}]", ERR_PARSE,
          "f.yaml:1:16: dims[0].shape is Ring, expected one of ring, full, switch; did you mean ring?" },
        { "dims: [{shape: torus3d-wrapped}]", ERR_PARSE,
          "f.yaml:1:16: dims[0].shape is torus3d-wrapped, expected one of ring, full, switch" },
        { "dims: [{shape: [ring]}]", ERR_PARSE,
          "f.yaml:1:16: dims[0].shape is a list, expected one of ring, full, switch" },
        { "dims: [{shape: ~}]", ERR_PARSE,
          "f.yaml:1:16: dims[0].shape is empty, expected one of ring, full, switch" },
        { "dims: [{shared: yes}]", ERR_PARSE, "f.yaml:1:17: dims[0].shared is yes, expected true or false" },
        { "dims: [{name: {}}]", ERR_PARSE, "f.yaml:1:15: dims[0].name is a map, expected text" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dim d;
        KEEP(struct yaml_doc, doc, yaml_free);
        FAILS(read_dim(&d, &doc, cases[i].text, e), cases[i].code, cases[i].message);
        assert_true(strstr(e->msg, cases[i].message) + strlen(cases[i].message) == e->msg + strlen(e->msg) ||
                    strstr(cases[i].message, "a whole number"));
    }
}

TEST(override_is_named_as_the_place)
{
    struct dim d;
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_dim(&d, &doc, "dims: [{shape: ring, size: 4}]", e));
    OK(yaml_set(&doc, "dims[0].latency_ms", "4", e));
    FAILS(schema_read(&d, &section, &doc, yaml_find(&doc, "dims[0]"), e), ERR_PARSE,
          "--set dims[0].latency_ms=4:1:1: unknown key \"dims[0].latency_ms\"; did you mean \"latency_ns\"?");
}

TEST(keys_without_effect_are_noted_once_each)
{
    KEEP(struct text, notes, text_free) = { 0 };
    KEEP(struct yaml_doc, doc, yaml_free);
    struct dim d;
    OK(read_dim(&d, &doc,
                "dims:\n  - shape: ring\n    size: 4\n    latency_ns: 3\n    bw_GBps: 5\n    taper: 2\n"
                "    rails: 1\n",
                e));
    yaml_id dim = yaml_find(&doc, "dims[0]");
    schema_note_unused(&notes, &section, &doc, dim, 0, TIME | COST);
    assert_string_equal(
        text_str(&notes),
        "f.yaml:4:5: dims[0].latency_ns has no effect here, it is used only by models other than bandwidth\n"
        "f.yaml:7:5: dims[0].rails has no effect here, it is used only where prices come from a parts "
        "catalogue\n");
    text_clear(&notes);
    schema_note_unused(&notes, &section, &doc, dim, 0, TIME | LATENCY);
    assert_string_equal(text_str(&notes),
                        "f.yaml:6:5: dims[0].taper has no effect here, it is used only for the price of the "
                        "network or where prices come from a parts catalogue\n"
                        "f.yaml:7:5: dims[0].rails has no effect here, it is used only where prices come "
                        "from a parts catalogue\n");
    text_clear(&notes);
    schema_note_unused(&notes, &section, &doc, dim, 0, TIME | LATENCY | CATALOGUE);
    assert_string_equal(text_str(&notes), "");
}

TEST(keys_of_other_files_are_noted_only_when_overridden)
{
    static const char study[] = "dims: lib.yaml\nown: {latency_ns: 1}\n";
    static const char lib[] = "- { shape: ring, size: 4, latency_ns: 3 }\n";
    KEEP(struct text, notes, text_free) = { 0 };
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(yaml_read_text(&doc, "study.yaml", study, sizeof study - 1, e));
    OK(yaml_graft_text(&doc, yaml_find(&doc, "dims"), "lib.yaml", lib, sizeof lib - 1, e));
    schema_note_unused(&notes, &section, &doc, yaml_find(&doc, "dims[0]"), 0, TIME);
    assert_string_equal(text_str(&notes), "");
    schema_note_unused(&notes, &section, &doc, yaml_find(&doc, "own"), 0, TIME);
    assert_has(text_str(&notes), "study.yaml:2:7: own.latency_ns has no effect here");
    text_clear(&notes);

    OK(yaml_set(&doc, "dims[0].latency_ns", "9", e));
    OK(yaml_set(&doc, "dims[0].shared", "true", e));
    schema_note_unused(&notes, &section, &doc, yaml_find(&doc, "dims[0]"), 0, TIME);
    assert_string_equal(text_str(&notes), "--set dims[0].latency_ns=9:1:1: dims[0].latency_ns has no effect "
                                          "here, it is used only by models other than bandwidth\n"
                                          "--set dims[0].shared=true:1:1: dims[0].shared has no effect here, "
                                          "it is used only where an allocator chooses bandwidths\n");
}

/* ---- kinds that hold others, and words, names and numbers of any width ---- */

struct inner {
    double from_B;
    int32_t n;
    struct draw_range spread;
};

struct outer {
    char name[4], vertex[4];
    enum shape shape;
    bool paper;
    int32_t n_parts, n_sizes;
    double max_Bps, exact_Bps;
    struct inner best, parts[3];
    double sizes[2];
    int order_checked;
};

static const struct key inner_keys[] = {
    K_REAL_OR(struct inner, from_B, "from_GB", "GB", 1e9, 0, 10, -2, "where it begins"),
    K_COUNT(struct inner, n, "n", 1, 7, 3, "how many"),
    K_RANGE(struct inner, spread, "spread_ms", "ms", 1e-3, 0, 9, 1, 4, true, "to draw from"),
};

/* Parts follow each other. */
static int check_inner(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct inner *x = base;
    bool is_part = doc->nodes[map].index > 0 && !doc->nodes[map].key;
    return is_part && x->n < x[-1].n ? yaml_fail(doc, map, e, ERR_RANGE, "falls") : 0;
}

static K_SECTION(inner_section, struct inner, "inner", inner_keys, "inside", .check = check_inner);

static const char *const roundings[] = { "strict", "paper", NULL };
static const struct key size_key = { .kind = KEY_REAL, .scale = 1e-3, .min = 0, .max = 9 };

static const struct key outer_keys[] = {
    K_NAME(struct outer, name, "name", 1, "as it is called"),
    K_NAME(struct outer, vertex, "vertex", 0, "may be empty"),
    K_WORD(struct outer, shape, "shape", shapes, FULL, "into an enum"),
    K_WORD(struct outer, paper, "rounding", roundings, 0, "into a bool"),
    K_REAL_OR(struct outer, max_Bps, "max_GBps", "GB/s", 1e9, 0, 100, INFINITY, "no limit where absent"),
    K_REAL(struct outer, exact_Bps, "exact_GBps", "GB/s", 1e9, 0, 100, 2, "rounded once", .decimals = 9),
    K_MAP(struct outer, best, "best", &inner_section, "a map"),
    K_LIST(struct outer, parts, n_parts, "parts", 0, &inner_section, "a list of maps", .what = "pieces"),
    K_LIST_OF(struct outer, sizes, n_sizes, "sizes_ms", 1, &size_key, "a list of numbers"),
    K_REMARK("source", "for the reader"),
};

static int check_outer(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct outer *x = base;
    (void)doc, (void)map, (void)e;
    x->order_checked = x->n_parts;
    return 0;
}

static K_SECTION(outer_section, struct outer, "outer", outer_keys, "outside", .check = check_outer);

static int read_outer(struct outer *x, struct yaml_doc *doc, const char *text, struct err *e)
{
    assert_ok(yaml_read_text(doc, "f.yaml", text, strlen(text), e), e);
    memset(x, 0x5a, sizeof *x);
    return schema_read(x, &outer_section, doc, doc->root, e);
}

TEST(nested_maps_lists_and_ranges_are_filled)
{
    struct outer x;
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_outer(&x, &doc,
                  "{name: abc, vertex: \"\", shape: switch, rounding: paper, max_GBps: 3, source: here,\n"
                  " exact_GBps: 47.123, best: {from_GB: 2, n: 5, spread_ms: 7}, sizes_ms: [1, 2],\n"
                  " parts: [{n: 1}, {from_GB: 1, spread_ms: [2, 8]}]}",
                  e));
    assert_string_equal(x.name, "abc");
    assert_string_equal(x.vertex, "");
    assert_true(x.shape == SWITCH && x.paper);
    assert_close(x.max_Bps, 3e9, 0);
    assert_true(x.exact_Bps == 47123000000.0);
    assert_true(x.best.from_B == 2e9 && x.best.n == 5 && x.best.spread.lo == 7e-3 &&
                x.best.spread.hi == 7e-3);
    assert_true(x.n_sizes == 2 && x.sizes[0] == 1e-3 && x.sizes[1] == 2e-3);
    assert_true(x.n_parts == 2 && x.order_checked == 2);
    assert_true(x.parts[0].from_B == -2 && x.parts[0].n == 1 && x.parts[0].spread.lo == 1e-3);
    assert_true(x.parts[0].spread.hi == 4e-3);
    assert_true(x.parts[1].from_B == 1e9 && x.parts[1].n == 3 && x.parts[1].spread.hi == 8e-3);
}

TEST(what_is_absent_is_what_its_row_says)
{
    struct outer x;
    KEEP(struct yaml_doc, doc, yaml_free);
    OK(read_outer(&x, &doc, "{}", e));
    assert_true(x.name[0] == '\0' && x.shape == FULL && !x.paper && isinf(x.max_Bps) && x.exact_Bps == 2e9);
    assert_true(x.best.from_B == -2 && x.best.n == 3 && x.best.spread.lo == 1e-3);
    assert_true(x.n_parts == 0 && x.n_sizes == 0);
}

TEST(nested_faults_have_their_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "name: abcd", "f.yaml:1:7: name is 4 bytes long, expected 1 to 3" },
        { "name: \"\"", "f.yaml:1:7: name is 0 bytes long, expected 1 to 3" },
        { "vertex: abcd", "f.yaml:1:9: vertex is 4 bytes long, expected at most 3" },
        { "best: {n: 8}", "f.yaml:1:11: best.n is 8, expected 1 to 7" },
        { "best: 8", "f.yaml:1:7: best is 8, expected a map" },
        { "parts: {}", "f.yaml:1:8: parts is a map, expected a list" },
        { "parts: [{}, {}, {}, {}]", "f.yaml:1:8: parts has 4 pieces, expected at most 3" },
        { "parts: [{n: 3}, {n: 2}]", "f.yaml:1:17: parts[1] falls" },
        { "parts: [{m: 3}]", "f.yaml:1:10: unknown key \"parts[0].m\"" },
        { "sizes_ms: []", "f.yaml:1:11: sizes_ms has 0 entries, expected 1 to 2" },
        { "sizes_ms: [10]", "f.yaml:1:12: sizes_ms[0] is 10, expected 0 to 9" },
        { "best: {spread_ms: [3, 2]}",
          "f.yaml:1:19: best.spread_ms is from 3 to 2, expected the smaller one first" },
        { "best: {spread_ms: 10}", "f.yaml:1:19: best.spread_ms is 10, expected 0 to 9" },
        { "best: {spread_ms: 1.5}", "f.yaml:1:19: best.spread_ms is 1.5, expected a whole number" },
        { "best: {spread_ms: {}}", "best.spread_ms is a map, expected a number or a list [least, most]" },
        { "source: [1]", "f.yaml:1:9: source is a list, expected" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct outer x;
        KEEP(struct yaml_doc, doc, yaml_free);
        assert_true(read_outer(&x, &doc, cases[i].text, e) != 0);
        assert_has(e->msg, cases[i].message);
    }
}

/* ---- written back ---- */

struct scaled {
    double bytes_B, rate_Bps, time_s, share;
    int64_t n;
    int32_t few;
    bool on;
    int32_t shape;
};

static const struct key scaled_keys[] = {
    K_REAL(struct scaled, bytes_B, "size_KB", "KB", 1e3, 0, INFINITY, 4, "bytes"),
    K_REAL(struct scaled, rate_Bps, "rate_GBps", "GB/s", 1e9, 0, INFINITY, 1, "bandwidth"),
    K_REAL(struct scaled, time_s, "time_ns", "ns", 1e-9, 0, INFINITY, 500, "latency"),
    K_REAL(struct scaled, share, "share_pct", "%", 1e-2, 0, INFINITY, 100, "part"),
    K_COUNT(struct scaled, n, "n", 0, INFINITY, 3, "how many"),
    K_COUNT(struct scaled, few, "few", 0, 1e6, 2, "how few"),
    K_BOOL(struct scaled, on, "on", true, "or not"),
    K_WORD(struct scaled, shape, "shape", shapes, 1, "how members are joined"),
};

static K_SECTION(scaled_section, struct scaled, "scaled", scaled_keys, "with units");

static void read_scaled(struct scaled *x, const struct text *of)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    memset(x, 0, sizeof *x); /* padding too */
    MUST(yaml_read_text(&doc, "f.yaml", text_str(of), of->n, e));
    MUST(schema_read(x, &scaled_section, &doc, doc.root, e));
}

/* What is written is read as the same, to the last bit, in whatever units; what is at its default is absent.
 */
TEST(what_was_read_is_written_so_that_it_reads_the_same)
{
    RNG(rng, 29, 0);
    for (int i = 0; i < 3000; i++) {
        KEEP(struct text, given, text_free) = { 0 };
        KEEP(struct text, out, text_free) = { 0 };
        struct json j = { .out = &out, .plain = i % 2 };
        struct scaled x, again;
        text_puts(&given, "{ shape: ring");
        for (int k = 0; k < 4; k++)
            if (rng_below(rng, 3))
                text_printf(&given, ", %s: %.*g", scaled_keys[k].name, 1 + (int)rng_below(rng, 17),
                            rng_range(rng, 0, 1000));
        text_printf(&given, ", n: %d, on: %s }", (int)rng_below(rng, 5),
                    rng_below(rng, 2) ? "true" : "false");
        read_scaled(&x, &given);
        json_open(&j, NULL, '{');
        schema_write(&j, &scaled_section, &x, false);
        json_close(&j, '}');
        read_scaled(&again, &out);
        assert_memory_equal(&x, &again, sizeof x);
        assert_int_equal(strstr(text_str(&out), "size_KB") != NULL, x.bytes_B != 4e3);
        assert_int_equal(strstr(text_str(&out), "on") != NULL, !x.on);
        assert_null(strstr(text_str(&out), "few"));
    }
}
