/* A study that is changed against one read with the same values: the same in all that a design asks. */
#include "kinds/design/ask/load.h"
#include "study/source.h"
#include "tests/unit/folder.h"
#include "kinds/design/explore/solve.h"

enum { NEEDS = DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT };

/* Two dimensions with a second protocol, slow and quick to answer: which one is faster depends on the
 * bandwidth. */
static const char base[] =
    "network:\n"
    "  name: two\n"
    "  dims:\n"
    "    - { name: node, shape: full, size: 8, latency_ns: 20000, max_GBps: 900,\n"
    "        regimes: [ { latency_ns: 100, efficiency: 0.2 } ] }\n"
    "    - { name: pod, shape: switch, size: 16, latency_ns: 50000, max_GBps: 100,\n"
    "        regimes: [ { latency_ns: 100, efficiency: 0.2 } ] }\n"
    "model: alpha-beta\n"
    "constraints: [ pod <= 90, 2*node + pod <= 1500 ]\n"
    "workload: { name: w, step: { sum: [ { all-reduce: { size_MB: 0.3, group: all } },\n"
    "  { all-reduce: { size_MB: 40, group: all } } ] } }\n";

static const struct file files[] = { { "study.yaml", base } };

FOLDER_OF(files)

static void assert_same(const struct design_point *got, const struct design_point *want)
{
    assert_true(got->objective == want->objective);
    assert_true(got->total_Bps == want->total_Bps || (isnan(got->total_Bps) && isnan(want->total_Bps)));
    assert_true(got->time_limit_s == want->time_limit_s ||
                (isnan(got->time_limit_s) && isnan(want->time_limit_s)));
    assert_int_equal(got->net.n_dims, want->net.n_dims);
    assert_int_equal(got->net.whole_parts, want->net.whole_parts);
    for (int32_t d = 0; d < got->net.n_dims; d++) {
        const struct topo_dim *a = &got->net.dims[d], *b = &want->net.dims[d];
        assert_true(a->bw_Bps == b->bw_Bps || (isnan(a->bw_Bps) && isnan(b->bw_Bps)));
        assert_true(a->min_Bps == b->min_Bps && a->max_Bps == b->max_Bps);
        assert_int_equal(a->algorithm, b->algorithm);
    }
    assert_int_equal(got->rows.n, want->rows.n);
    for (int32_t i = 0; i < got->rows.n; i++) {
        const struct alloc_row *a = &got->rows.rows[i], *b = &want->rows.rows[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->rhs == b->rhs && a->sense == b->sense);
        assert_memory_equal(a->coef, b->coef, sizeof a->coef);
    }
    assert_true(design_point_choices(got) == design_point_choices(want) &&
                design_point_hash(got) == design_point_hash(want));
}

enum { KEYS = 3 };

/* One change after another, a split solved between, which leaves the study as it is. */
static void change_and_compare(struct folder *f, const char *const *paths, const char *const (*values)[KEYS],
                               int n)
{
    struct study_override axes[KEYS];
    struct study_source from = { .path = f->path, .axes = axes };
    KEEP(struct design_point, s, design_point_free) = { 0 };
    for (int i = 0; i < n; i++) {
        from.n_axes = 0;
        for (int k = 0; k < KEYS && paths[k]; k++)
            axes[from.n_axes++] = (struct study_override){ paths[k], values[i][k] };
        struct design_point afresh;
        MUST(design_point_read(&afresh, &from, NEEDS, e));
        if (i == 0)
            MUST(design_point_read(&s, &from, NEEDS, e));
        else
            assert_true(design_point_change(&s, &from, NEEDS));
        assert_same(&s, &afresh);
        KEEP(struct design, d, design_free);
        MUST(design_solve(&d, &s, e));
        assert_same(&s, &afresh);
        design_point_free(&afresh);
    }
}

TEST_WITH(a_changed_study_is_as_one_that_was_read, make_folder, remove_folder)
{
    static const struct {
        const char *paths[KEYS], *values[4][KEYS];
    } cases[] = {
        { { "total_GBps", "objective" },
          { { "80", "time" }, { "700.25", "utilization" }, { "1e1", "time" }, { "0.5", "time" } } },
        { { "network.dims.pod.max_GBps", "network.dims.node.min_GBps" },
          { { "50", "1" }, { "0.25", "0" }, { "4", "60" }, { "99", "800" } } },
        { { "network.dims[1].bw_GBps", "network.dims[0].bw_GBps", "time_limit_s" },
          { { "80", "100", "1" }, { "0.1", "100", "2" }, { "80", "0.001", "3" }, { "80", "100", "1" } } },
    };
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        change_and_compare(f, cases[i].paths, cases[i].values, 4);
}

/* What `simulation` writes into the network is there again after its bandwidths were changed. */
TEST_WITH(a_change_of_bandwidths_keeps_what_simulation_says, make_folder, remove_folder)
{
    static const char *const simulations[] = { "{ semantics: libra }", "{ algorithms: [ default, ring ] }" };
    static const char *const paths[KEYS] = { "network.dims.pod.max_GBps" };
    static const char *const values[][KEYS] = { { "50" }, { "0.25" }, { "99" } };
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(simulations); i++)
        for (int model = 0; model < 2; model++) {
            struct text study = { 0 };
            text_puts(&study, base);
            if (model == 0)
                study.s[strstr(study.s, "model:") - study.s] = '#';
            text_printf(&study, "simulation: %s\ntotal_GBps: 100\n", simulations[i]);
            put(f, "study.yaml", text_str(&study));
            text_free(&study);
            change_and_compare(f, paths, values, (int)COUNT_OF(values));
        }
}

/* Choices differ between those studies, or the test above says nothing of them. */
TEST_WITH(another_bandwidth_is_another_choice, make_folder, remove_folder)
{
    static const char *const bw[] = { "0.001", "900" };
    unsigned long long choices[2];
    struct folder *f = *state;
    for (int i = 0; i < 2; i++) {
        const struct study_override axis = { "network.dims.node.bw_GBps", bw[i] };
        KEEP(struct design_point, s, design_point_free);
        OK(design_point_read(&s, &(struct study_source){ .path = f->path, .axes = &axis, .n_axes = 1 }, NEEDS,
                             e));
        choices[i] = design_point_choices(&s);
    }
    assert_true(choices[0] != choices[1]);
}

TEST_WITH(what_a_change_cannot_say_is_left_to_reading, make_folder, remove_folder)
{
    static const struct {
        const char *path, *first, *second;
    } cases[] = {
        { "total_GBps", "80", "0" },
        { "total_GBps", "80", "~" },
        { "total_GBps", "80", "\"80\"" },
        { "total_GBps", "80", "[80]" },
        { "objective", "time", "tim" },
        { "objective", "time", "cost" },          /* without prices */
        { "objective", "time", "perf_per_cost" }, /* the same */
        { "network.dims.pod.min_GBps", "10", "200" },
        { "network.dims.pod.bw_GBps", "10", "nan" },
    };
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study_override axis = { cases[i].path, cases[i].first };
        const struct study_source from = { .path = f->path, .axes = &axis, .n_axes = 1 };
        KEEP(struct design_point, s, design_point_free);
        OK(design_point_read(&s, &from, NEEDS, e));
        axis.value = cases[i].second;
        assert_false(design_point_change(&s, &from, NEEDS));
        axis.value = cases[i].first; /* and it can be changed again */
        assert_true(design_point_change(&s, &from, NEEDS));
    }
}

/* A later axis takes the place of the dimension: the earlier one changes nothing there. */
TEST_WITH(a_value_that_was_replaced_is_not_changed, make_folder, remove_folder)
{
    static const char dims[] = "[{name: pod, shape: switch, size: 4, max_GBps: 7}]";
    struct study_override axes[] = { { "network.dims.pod.max_GBps", "50" }, { "network.dims", dims } };
    struct folder *f = *state;
    const struct study_source from = { .path = f->path, .axes = axes, .n_axes = 2 };
    KEEP(struct design_point, s, design_point_free);
    static const char study[] = "network: { dims: [ { name: pod, shape: ring, size: 4 } ] }\n"
                                "workload: { name: w, step: { compute_ms: 1 } }\n";
    put(f, "study.yaml", study);
    OK(design_point_read(&s, &from, NEEDS, e));
    assert_true(s.net.dims[0].max_Bps == 7e9);
    axes[0].value = "60";
    assert_false(design_point_change(&s, &from, NEEDS));
}
