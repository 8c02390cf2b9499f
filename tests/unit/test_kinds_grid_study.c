/* A study with given bandwidths as a grid: what is kept of its rows, made one by one, is found. */
#include "tests/unit/study_folder.h"
#include "study/keep.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/grid.h"
#include "workloads/step_fn.h"

KEEPS(struct grid, grid_free)

#define GIVEN                                                                                                \
    NET WORK "split: given\nmodel: bandwidth\nobjective: time\n"                                             \
             "constraints: [ 2*node + pod <= 190 ]\n"

enum { N_NODE = 9, N_POD = 12, N = N_NODE * N_POD };

/* The last pods are more than the network's max_GBps. */
static double node_GBps(int64_t i)
{
    return 5 + 10 * (double)i;
}
static double pod_GBps(int64_t i)
{
    return 10 + 10 * (double)i;
}

static int load_point(struct folder *f, struct design_point *s, const char *text, int64_t at, struct err *e)
{
    char node[32], pod[32];
    snprintf(node, sizeof node, "%.0f", node_GBps(at / N_POD));
    snprintf(pod, sizeof pod, "%.0f", pod_GBps(at % N_POD));
    const struct study_override o[] = { { "network.dims.node.bw_GBps", node },
                                        { "network.dims.pod.bw_GBps", pod } };
    return load_with(f, s, text, o, 2, ALL, e);
}

/* What the row of a point shows; false where it is no design. */
static bool row_of(struct folder *f, const char *text, int64_t at, double *value)
{
    struct design_point s;
    struct design d;
    struct err e = { 0 };
    if (load_point(f, &s, text, at, &e)) {
        assert_has(e.msg, "max_GBps 100");
        design_point_free(&s);
        return false;
    }
    assert_ok(design_for_row(&d, &s, &e), &e);
    bool solved = d.answer.status == ALLOC_SOLVED;
    value[GRID_TIME] = d.time_s;
    value[GRID_COST] = d.cost_usd;
    value[GRID_TOTAL] = d.total_Bps / 1e9;
    value[GRID_NIC] = d.nic_Bps / 1e9;
    design_free(&d);
    design_point_free(&s);
    return solved;
}

static bool dominates(const double *a, const double *b)
{
    return a[GRID_TIME] <= b[GRID_TIME] && a[GRID_COST] <= b[GRID_COST] &&
           (a[GRID_TIME] < b[GRID_TIME] || a[GRID_COST] < b[GRID_COST]);
}

static void run_grid(struct folder *f, const char *text, const struct keep_rule *rule,
                     struct grid_found *found)
{
    double node_Bps[N_NODE], pod_Bps[N_POD];
    KEEP(struct grid_ask, a, grid_ask_free);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct grid *, g, grid_free_at);
    MUST(load_point(f, &s, text, 0, e));
    MUST(grid_ask(&a, &s, rule, e));
    assert_true(a.possible);
    for (int i = 0; i < N_NODE; i++)
        node_Bps[i] = node_GBps(i) * 1e9;
    for (int i = 0; i < N_POD; i++)
        pod_Bps[i] = pod_GBps(i) * 1e9;
    a.q.axes[0] = (struct grid_axis){ .dim = 0, .n = N_NODE, .bw_Bps = node_Bps };
    a.q.axes[1] = (struct grid_axis){ .dim = 1, .n = N_POD, .bw_Bps = pod_Bps };
    a.q.n_axes = 2;
    MUST(grid_prepare(&g, &a.q, e));
    assert_int_equal(grid_count(g), N);
    MUST(grid_run(g, 0, N, NULL, found, e));
}

static const struct grid_point *find(const struct grid_found *f, int64_t at)
{
    for (int64_t i = 0; i < f->n; i++)
        if (f->points[i].at == at)
            return &f->points[i];
    return NULL;
}

/* Of all rows, those on the front over time and cost. */
static void check_front(struct folder *f, const char *text)
{
    struct keep_rule rule = { .n_front = 2 };
    KEEP(struct grid_found, found, grid_found_free) = { 0 };
    double value[N][GRID_COLUMNS];
    bool solved[N];
    int n_solved = 0, n_kept = 0;
    strcpy(rule.front[0].name, "time_s");
    strcpy(rule.front[1].name, "cost_usd");
    run_grid(f, text, &rule, &found);
    for (int64_t i = 0; i < N; i++)
        n_solved += solved[i] = row_of(f, text, i, value[i]);
    assert_in_range(n_solved, N / 4, N - 12); /* constraints leave out some */
    for (int64_t i = 0; i < N; i++) {
        bool kept = solved[i];
        for (int64_t k = 0; k < N && kept; k++)
            kept = !(solved[k] && dominates(value[k], value[i]));
        n_kept += kept;
        const struct grid_point *p = find(&found, i);
        assert_true(p || !kept);
        if (!p)
            continue;
        assert_true(solved[i]);
        assert_close(p->value[GRID_TIME], value[i][GRID_TIME], 1e-13);
        for (int c = GRID_COST; c <= GRID_NIC; c++)
            assert_true(p->value[c] == value[i][c]);
    }
    assert_in_range(n_kept, 3, N / 2);
}

TEST_WITH(what_is_kept_of_rows_is_found, make_folder, remove_folder)
{
    check_front(*state, GIVEN "count_npus: true\n");
}

TEST_WITH(several_workloads_are_weighed_as_in_rows, make_folder, remove_folder)
{
    struct folder *f = *state;
    put(f, "wide.yaml",
        "name: wide\ngroups: { wide: { size: 32 } }\n"
        "step: { max: [ { compute_ms: 0.2 }, { all-gather: { size_MB: 3, group: wide } } ] }\n");
    check_front(f, NET "split: given\nworkloads: [ { workload: work.yaml, weight: 0.3 }, wide.yaml ]\n"
                       "constraints: [ 2*node + pod <= 190 ]\n");
}

static bool is_possible(struct folder *f, const char *text, const struct keep_rule *rule)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct grid_ask, a, grid_ask_free);
    MUST(load_point(f, &s, text, 0, e));
    MUST(grid_ask(&a, &s, rule, e));
    return a.possible;
}

TEST_WITH(limits_are_those_of_where, make_folder, remove_folder)
{
    char *where[] = { "cost_usd <= 4e6", "time_s <= 0.002", "150 >= total_GBps", "total_GBps <= 140" };
    struct keep_rule rule = { .n_top = 7, .n_where = COUNT_OF(where) };
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct grid_ask, a, grid_ask_free);
    strcpy(rule.top.name, "time_s");
    memcpy(rule.where, where, sizeof where);
    OK(load_point(*state, &s, GIVEN, 0, e));
    OK(grid_ask(&a, &s, &rule, e));
    assert_true(a.possible && a.q.top == GRID_TIME && a.q.n_top == 7);
    assert_int_equal(a.q.n_rows, 2); /* max_GBps and the constraint */
    /* x - L is at most 1e-9 of both together. */
    assert_close(a.q.most[GRID_COST], 4e6 * (1 + 2e-9), 1e-15);
    assert_close(a.q.most[GRID_TIME], 0.002 * (1 + 2e-9), 1e-15);
    assert_close(a.q.most[GRID_TOTAL], 140 * (1 + 2e-9), 1e-15);
    assert_true(a.q.most[GRID_NIC] == INFINITY && a.q.most[GRID_PRODUCT] == INFINITY);
}

/* Whatever a grid does not know of is left to rows. */
TEST_WITH(what_a_grid_cannot_tell_is_refused, make_folder, remove_folder)
{
    static const struct {
        const char *text, *front, *top;
        bool large;
        const char *per, *where;
    } cases[] = {
        { GIVEN, NULL, NULL, false, NULL, NULL }, /* all rows are kept */
        { NET WORK "split: solve\ntotal_GBps: 100\n", NULL, "time_s", false, NULL, NULL },
        { NET WORK "split: given\nmodel: chunk\n", NULL, "time_s", false, NULL, NULL },
        { GIVEN, NULL, "speedup", true, NULL, NULL },
        { GIVEN, NULL, "time_s", true, NULL, NULL },
        { GIVEN, NULL, "comm_s", false, NULL, NULL },
        { GIVEN, "util1", NULL, false, NULL, NULL },
        { GIVEN "total_GBps: 100\n", NULL, "total_GBps", false, NULL, NULL },
        { GIVEN, NULL, "time_s", false, "nic_GBps", NULL },
        { GIVEN, NULL, NULL, false, NULL, "cost_usd >= 4e6" },
        { GIVEN, NULL, NULL, false, NULL, "cost_usd + time_s <= 4e6" },
        { GIVEN, NULL, NULL, false, NULL, "speedup <= 2" },
    };
    struct keep_rule fine = { .n_top = 1, .n_per = 1 };
    strcpy(fine.top.name, "time_s");
    strcpy(fine.per[0], "workload");
    assert_true(is_possible(*state, GIVEN, &fine));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct keep_rule rule = { .n_front = cases[i].front ? 2 : 0,
                                  .n_top = cases[i].top != NULL,
                                  .n_per = cases[i].per != NULL,
                                  .n_where = cases[i].where != NULL };
        char where[64];
        snprintf(where, sizeof where, "%s", cases[i].where ? cases[i].where : "");
        rule.where[0] = where;
        strcpy(rule.front[0].name, "time_s");
        strcpy(rule.front[1].name, cases[i].front ? cases[i].front : "");
        strcpy(rule.top.name, cases[i].top ? cases[i].top : "");
        rule.top.large = cases[i].large;
        strcpy(rule.per[0], cases[i].per ? cases[i].per : "");
        if (is_possible(*state, cases[i].text, &rule)) {
            print_error("case %zu\n", i);
            fail();
        }
    }
}
