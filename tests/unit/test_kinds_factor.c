/* Networks of as many NPUs as asked for: as many as combinatorics says, or as trying everything leaves. */
#include "tests/unit/sweep_text.h"
#include "base/yaml.h"
#include "topo/network.h"

/* ---- sweeps of networks alone ---- */

static int read_factor(struct study *w, const char *factor, struct err *e)
{
    TEXT(text, "workload: { name: W, step: { compute_ms: 1 } }\nvary: { network: { factor: %s } }\n", factor);
    return sweep_of(w, text_str(&text), NULL, 0, e);
}

static void read_network(struct topo_network *net, const char *value)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    MUST(yaml_read_text(&doc, "value", value, strlen(value), e));
    MUST(topo_read_network(net, &doc, doc.root, e));
}

/* The networks as spec words, joined by " | ". */
static void specs(struct text *out, const struct study *w)
{
    for (int64_t i = 0; i < w->sweep.axes[0].n; i++) {
        struct topo_network net;
        char spec[TOPO_SPEC];
        read_network(&net, w->sweep.axes[0].values[i]);
        text_printf(out, "%s%s", i ? " | " : "", topo_format_spec(spec, &net));
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void assert_distinct(const struct study *w)
{
    const struct sweep_axis *axis = &w->sweep.axes[0];
    char **sorted = malloc((size_t)axis->n * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, axis->values, (size_t)axis->n * sizeof *sorted);
    qsort(sorted, (size_t)axis->n, sizeof *sorted, by_text);
    for (int64_t i = 1; i < axis->n; i++)
        assert_true(strcmp(sorted[i - 1], sorted[i]) < 0);
    free(sorted);
}

/* ---- counts ---- */

static int64_t choose(int n, int k)
{
    int64_t c = 1;
    for (int i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return c;
}

TEST(powers_of_two_have_as_many_factorings_as_compositions)
{
    for (int k = 1; k <= 12; k++)
        for (int dims = 1; dims <= 4 && dims <= k; dims++)
            for (int shapes = 1; shapes <= 3; shapes += 2) {
                KEEP(struct study, w, study_close);
                char factor[200];
                snprintf(factor, sizeof factor, "{ npus: %d, dims: %d, shapes: [%s] }", 1 << k, dims,
                         shapes == 1 ? "switch" : "ring, full, switch");
                OK(read_factor(&w, factor, e));
                int64_t want = choose(k - 1, dims - 1);
                for (int d = 0; d < dims; d++)
                    want *= shapes;
                assert_int_equal(w.sweep.n_points, want);
                assert_distinct(&w);
            }
}

TEST(the_largest_study_of_the_issue_has_all_its_networks)
{
    KEEP(struct study, w, study_close);
    OK(read_factor(&w, "{ npus: 4096, dims: { from: 2, to: 5 } }", e));
    assert_int_equal(w.sweep.n_points,
                     choose(11, 1) * 9 + choose(11, 2) * 27 + choose(11, 3) * 81 + choose(11, 4) * 243);
    assert_distinct(&w);
    assert_true(w.sweep.axes[0].generated);
}

/* Limits as a test has them: one line of a table for a tier. */
struct tier {
    const char *yaml, *shapes; /* letters r, f, s, l */
    int to, from, min, max, radix, max_npus, sizes[4];
};

struct brute {
    const struct tier *tiers;
    int n_tiers, npus, dims, at[8], size[8];
    char shape[8];
    int64_t n;
};

static bool is_legal(const struct brute *b)
{
    int lies[8] = { 0 }, product = 1;
    for (int d = 0; d < b->dims; d++) {
        const struct tier *t = &b->tiers[b->at[d]];
        int n = b->size[d];
        int ports = b->shape[d] == 's' ? n : b->shape[d] == 'f' ? n - 1 : n == 2 ? 1 : 2;
        bool listed = t->sizes[0] == 0;
        for (int i = 0; i < 4; i++)
            listed = listed || t->sizes[i] == n;
        if (!listed || !strchr(t->shapes, b->shape[d]) || (t->min && n < t->min) || (t->max && n > t->max) ||
            (t->radix && ports > t->radix) || (d && b->at[d] < b->at[d - 1]))
            return false;
        lies[b->at[d]]++;
        product *= n;
    }
    for (int t = 0; t < b->n_tiers; t++) {
        int within = 1;
        for (int d = 0; d < b->dims; d++)
            within *= b->at[d] <= t ? b->size[d] : 1;
        if (lies[t] < b->tiers[t].from || lies[t] > b->tiers[t].to ||
            (b->tiers[t].max_npus && within > b->tiers[t].max_npus))
            return false;
    }
    return product == b->npus;
}

/* Every assignment of tiers, shapes and sizes to dimensions, whatever it is; then those that are legal. */
static void try_all(struct brute *b, int d, int rest)
{
    static const char shapes[] = "rfsl";
    if (d == b->dims) {
        b->n += rest == 1 && is_legal(b);
        return;
    }
    for (b->size[d] = 2; b->size[d] <= rest; b->size[d]++) {
        int size = b->size[d];
        if (rest % size)
            continue;
        for (int t = 0; t < b->n_tiers; t++)
            for (int s = 0; s < 4; s++) {
                b->at[d] = t;
                b->shape[d] = shapes[s];
                b->size[d] = size;
                try_all(b, d + 1, rest / size);
            }
        b->size[d] = size;
    }
}

TEST(limits_of_tiers_leave_what_trying_everything_leaves)
{
    static const struct {
        int npus, dims[2]; /* from, to */
        struct tier tiers[4];
    } cases[] = {
        { 360,
          { 1, 4 },
          { { "name: a, shapes: [ring, full], max: 6", "rf", .to = 1, .max = 6 },
            { "name: b, shapes: [full], radix: 5, dims: 1", "f", .to = 1, .from = 1, .radix = 5 },
            { "name: c, shapes: [switch], dims: { to: 2 }", "s", .to = 2 } } },
        /* 2*3*5*7 */
        { 210,
          { 1, 4 },
          { { "name: a, dims: { from: 1, to: 3 }, max_npus: 30", "rfs", .to = 3, .from = 1, .max_npus = 30 },
            { "name: b, shapes: [line, switch], radix: 16, dims: 2", "ls", .to = 2, .from = 2,
              .radix = 16 } } },
        { 256,
          { 2, 5 },
          { { "name: a, sizes: [2, 4]", "rfs", .to = 1, .sizes = { 2, 4 }, .max_npus = 8 },
            { "name: b, min: 4, max_npus: 16", "rfs", .to = 1, .min = 4, .max_npus = 16 },
            { "name: c, sizes: [8, 16, 3], min: 2, max: 8, dims: { from: 0, to: 2 }", "rfs", .to = 2,
              .min = 2, .max = 8, .sizes = { 8, 16, 3 } },
            { "name: d, shapes: [ring], radix: 2", "r", .to = 1, .radix = 2 } } },
        /* A tier without a dimension limits what lies further in: only 8 NPUs fit in b. */
        { 64,
          { 1, 3 },
          { { "name: a, dims: { to: 2 }", "rfs", .to = 2 },
            { "name: b, max_npus: 8", "rfs", .to = 1, .max_npus = 8 },
            { "name: c, dims: { to: 2 }", "rfs", .to = 2 } } },
        { 13, { 1, 3 }, { { "name: a, radix: 2", "rfs", .to = 1, .radix = 2 } } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        struct brute b = { .tiers = cases[i].tiers, .npus = cases[i].npus };
        while (b.n_tiers < 4 && b.tiers[b.n_tiers].yaml)
            b.n_tiers++;
        TEXT(factor, "{ npus: %d, dims: { from: %d, to: %d }, tiers: [", cases[i].npus, cases[i].dims[0],
             cases[i].dims[1]);
        for (int t = 0; t < b.n_tiers; t++)
            text_printf(&factor, "%s{ %s%s }", t ? ", " : "", cases[i].tiers[t].yaml,
                        i == 2 && t == 0 ? ", max_npus: 8" : "");
        text_puts(&factor, "] }");
        for (b.dims = cases[i].dims[0]; b.dims <= cases[i].dims[1]; b.dims++)
            try_all(&b, 0, b.npus);
        OK(read_factor(&w, text_str(&factor), e));
        assert_true(b.n > 0 && w.sweep.n_points == b.n);
        assert_distinct(&w);
        for (int64_t k = 0; k < w.sweep.n_points; k++) {
            struct topo_network net;
            read_network(&net, w.sweep.axes[0].values[k]);
            assert_int_equal(net.n_npus, cases[i].npus);
        }
    }
}

/* ---- networks ---- */

TEST(networks_come_by_dimensions_and_then_from_the_inside_out)
{
    static const struct {
        const char *factor, *specs;
    } cases[] = {
        { "{ npus: 7 }", "ring:7 | full:7 | switch:7" },
        { "{ npus: 12, shapes: [switch, ring], dims: 2, sizes: [6, 4, 3, 2] }",
          "switch:2 switch:6 | switch:2 ring:6 | switch:3 switch:4 | switch:3 ring:4 | switch:4 switch:3 | "
          "switch:4 ring:3 | switch:6 switch:2 | switch:6 ring:2 | ring:2 switch:6 | ring:2 ring:6 | ring:3 "
          "switch:4 | ring:3 ring:4 | ring:4 switch:3 | ring:4 ring:3 | ring:6 switch:2 | ring:6 ring:2" },
        { "{ npus: 8, shapes: [ring], dims: { from: 1, to: 3 } }",
          "ring:8 | ring:2 ring:4 | ring:4 ring:2 | ring:2 ring:2 ring:2" },
        { "{ npus: 8, dims: { to: 2 }, tiers: [ { name: a, shapes: [full], max_npus: 4 }, { name: b, shapes: "
          "[switch], max: 4 } ] }",
          "full:2 switch:4 | full:4 switch:2" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        KEEP(struct text, got, text_free) = { 0 };
        OK(read_factor(&w, cases[i].factor, e));
        specs(&got, &w);
        assert_string_equal(text_str(&got), cases[i].specs);
    }
}

TEST(keys_of_tiers_and_networks_are_passed_on)
{
    KEEP(struct study, w, study_close);
    struct topo_network net;
    OK(read_factor(
        &w,
        "{ npus: 16, dims: 3, name: \"all of it\", npu: { peak_TFLOPS: 300, usd: 2e4 }, tiers: [ { name: "
        "node, tier: 'Inter Node', dims: { to: 2 }, sizes: [2], shapes: [full], latency_ns: 250, efficiency: "
        "0.9 }, { name: pod, shapes: [switch, ring], sizes: [4], in_switch: sharp, max_GBps: 50 } ] }",
        e));
    assert_int_equal(w.sweep.n_points, 2);
    read_network(&net, w.sweep.axes[0].values[0]);
    assert_string_equal(net.name, "all of it");
    assert_true(net.npu.usd == 2e4 && net.n_dims == 3);
    assert_string_equal(net.dims[0].name, "node1");
    assert_string_equal(net.dims[1].name, "node2");
    assert_string_equal(net.dims[2].name, "pod");
    assert_string_equal(net.dims[1].tier, "Inter Node");
    assert_close(net.dims[1].lat_s, 250e-9, 1e-15);
    assert_true(net.dims[1].efficiency == 0.9 && net.dims[2].efficiency == 1 && net.dims[2].max_Bps == 50e9);
    assert_int_equal(net.dims[2].in_switch, TOPO_IN_SWITCH_SHARP);
    /* A ring has no switch to reduce in. */
    read_network(&net, w.sweep.axes[0].values[1]);
    assert_true(net.dims[2].shape == TOPO_RING && net.dims[2].in_switch == TOPO_IN_SWITCH_NONE);
}

TEST(bad_rules_are_refused_at_their_place)
{
    static const struct refusal cases[] = {
        { "5", ERR_PARSE, "study.yaml:2:28: vary.network.factor is 5, expected a map" },
        { "{}", ERR_PARSE, "vary.network.factor has no npus" },
        { "{ npus: 1 }", ERR_RANGE, "vary.network.factor.npus is 1, expected 2 to 1073741824" },
        { "{ npus: 8, dim: 2 }", ERR_PARSE,
          "unknown key \"vary.network.factor.dim\"; did you mean \"dims\"" },
        { "{ npus: 8, dims: 9 }", ERR_RANGE,
          "vary.network.factor.dims is at most 9, expected 1 to 8 dimensions" },
        { "{ npus: 8, dims: { from: 3, to: 2 } }", ERR_RANGE,
          "dims is from 3 to 2, expected from at most to" },
        { "{ npus: 8, dims: { form: 3 } }", ERR_PARSE,
          "unknown key \"vary.network.factor.dims.form\"; did you mean \"from\"?" },
        { "{ npus: 8, dims: two }", ERR_PARSE, "vary.network.factor.dims is two, expected" },
        { "{ npus: 8, shapes: [rings] }", ERR_PARSE,
          "shapes[0] is rings, expected one of ring, full, switch, line" },
        { "{ npus: 8, shapes: [ring, ring] }", ERR_RANGE, "shapes[1] is ring, which is there already" },
        { "{ npus: 8, shapes: [] }", ERR_RANGE, "shapes has 0 entries, expected 1 to" },
        { "{ npus: 8, sizes: [1] }", ERR_RANGE, "sizes[0] is 1, expected 2 to 16777216" },
        { "{ npus: 8, tiers: [] }", ERR_RANGE, "tiers has 0 entries, expected 1 to 16" },
        { "{ npus: 8, tiers: [ { latency_n: 5 } ] }", ERR_PARSE,
          "unknown key \"vary.network.factor.tiers[0].latency_n\"; did you mean \"latency_ns\"?" },
        { "{ npus: 8, tiers: [ { latency_ns: -5 } ] }", ERR_RANGE,
          "tiers[0].latency_ns is -5, expected 0 to" },
        { "{ npus: 8, tiers: [ { size: 5 } ] }", ERR_PARSE,
          "unknown key \"vary.network.factor.tiers[0].size\"; did you mean \"sizes\"" },
        { "{ npus: 8, tiers: [ { name: 'a b' } ] }", ERR_PARSE,
          "tiers[0].name is \"a b\", expected a letter or _" },
        { "{ npus: 8, tiers: [ { name: a }, { name: a, tier: x } ] }", ERR_RANGE,
          "tiers[1].name is a, as that of tiers[0]; choose another name" },
        { "{ npus: 8, tiers: [ { min: 3 }, { max: 4 } ] }", ERR_RANGE,
          "tiers[1] has nothing to tell its dimensions from those of tiers[0], expected a name" },
        { "{ npus: 13, dims: 2 }", ERR_RANGE,
          "study.yaml:2:28: vary.network.factor makes no network: 13 NPUs have no factors for 2 dimensions "
          "under these limits; expected others" },
        { "{ npus: 64, tiers: [ { name: a, shapes: [full, switch], radix: 7 } ] }", ERR_RANGE,
          "makes no network" },
        { "{ npus: 1073741824, shapes: [ring], dims: 8 }", ERR_RANGE,
          "makes 1560780 networks, expected at most 1000000" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study w;
        FAILS(read_factor(&w, cases[i].text, e), cases[i].code, cases[i].message);
        assert_true(!strchr(e->msg, '\n') && w.sweep.n_axes == 0);
    }
}

TEST(only_networks_are_factored_and_nothing_beside)
{
    struct study w;
    FAILS(sweep_of(&w, SWEEP_BASE "vary: { total_GBps: { factor: { npus: 8 } } }\n", NULL, 0, e), ERR_PARSE,
          "vary.total_GBps.factor gives networks, expected the key network for it");
    FAILS(sweep_of(&w, SWEEP_BASE "vary: { network: { factor: { npus: 8 }, from: 1 } }\n", NULL, 0, e),
          ERR_PARSE, "vary.network.from is given together with factor; give one of them");
}

TEST(networks_may_move_with_other_keys)
{
    KEEP(struct study, w, study_close);
    OK(sweep_of(&w,
                SWEEP_BASE "vary: { zip: { network: { factor: { npus: 8, shapes: [ring], dims: { to: 3 } } "
                           "}, total_GBps: [1, 2, 3, 4] } }\n",
                NULL, 0, e));
    assert_int_equal(w.sweep.n_points, 4);
    assert_string_equal(w.sweep.axes[0].values[2],
                        "{dims: [{shape: ring, size: 2}, {shape: ring, size: 4}]}");
    assert_string_equal(w.sweep.axes[0].values[3], "2");
}
