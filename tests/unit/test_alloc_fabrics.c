/*
 * Splits over classes of links: random networks of plain dimensions and fabrics, fixed and free tapers,
 * groups over all or part of them, constraints over their classes. Each answer is proved again by
 * alloc_verify(), which shares no code with the solvers, and no split near it that satisfies the rows is
 * better: as time is convex in bandwidths, one that is better anywhere would have better ones nearby.
 */
#include "alloc/lp.h"
#include "alloc/verify.h"
#include "tests/support.h"
#include "workloads/step.h"

enum { D = TOPO_MAX_DIMS, TRIES = 24 };

struct fabric_split {
    struct topo_network net;
    struct step_tree tree;
    struct step_fn fn;
    struct alloc_rows rows;
    const char *names[D];
    struct alloc_problem problem;
};

static void fabric_split_close(struct fabric_split *s)
{
    alloc_rows_free(&s->rows);
    step_fn_free(&s->fn);
    step_free(&s->tree);
}

/* One to three entries, of eight levels at most. */
static void draw_network(struct topo_network *net, struct rng *r)
{
    static const char *const entries[] = {
        "ring:4",
        "ring:5",
        "full:8",
        "switch:16",
        "line:3",
        "fat-tree:8x4/2",
        "fat-tree:8x4/free",
        "fat-tree:8x4/free+hash",
        "fat-tree:4x2x4/2/1.5",
        "fat-tree:4x4x4/free",
        "fat-tree:8x4*2",
        "dragonfly:2x4x9^2",
        "dragonfly:3x3x4^2",
        "torus:4x4x8",
        "torus:4x8+twist",
        "dragonfly+:2x2x5^2^2",
        "slim-fly:2x18",
        "hyperx:4x6^2",
        "hyperx:2x6x4",
        "hammingmesh:2x2x2x4",
    };
    for (;;) {
        char word[128] = "";
        for (int32_t i = 1 + (int32_t)rng_below(r, 3); i > 0; i--)
            snprintf(word + strlen(word), sizeof word - strlen(word), "%s%s", word[0] ? " " : "",
                     entries[rng_below(r, COUNT_OF(entries))]);
        struct err e = { 0 };
        if (topo_parse_spec(net, word, &e) == 0)
            return;
        assert_int_equal(e.code, ERR_RANGE); /* more than eight levels */
    }
}

/* Of an entry all members, none, or of its innermost level those that divide it. */
static int32_t draw_group(struct fabric_split *s, struct rng *r)
{
    int32_t members[D], any = 0;
    for (int32_t d = 0, next; d < s->net.n_dims; d = next) {
        next = topo_after_entry(s->net.dims, d);
        int64_t what = rng_below(r, 4);
        for (int32_t k = d; k < next; k++)
            members[k] = what < 2 ? s->net.dims[k].size : 1;
        if (what == 2)
            members[d] = s->net.dims[d].size % 2 ? s->net.dims[d].size : s->net.dims[d].size / 2;
        for (int32_t k = d; k < next; k++)
            any |= members[k] > 1;
    }
    return any ? step_add_group(&s->tree, "g", members) : 0;
}

static void put_collectives(struct fabric_split *s, struct rng *r, step_id parent, int32_t depth)
{
    for (int32_t i = 1 + (int32_t)rng_below(r, 5); i > 0; i--) {
        if (depth < 2 && rng_below(r, 4) == 0) {
            put_collectives(s, r, step_add(&s->tree, parent, (struct step_node){ .kind = STEP_MAX }),
                            depth + 1);
            continue;
        }
        struct step_node leaf = { .kind = STEP_COLLECTIVE,
                                  .collective = (enum collective_kind)rng_below(r, COLLECTIVE_ALL_TO_ALL + 1),
                                  .bytes = rng_log_range(r, 1e6, 1e10),
                                  .group = draw_group(s, r),
                                  .times = 1 };
        step_add(&s->tree, parent, leaf);
    }
}

/* A total, and half of the time each a cap and a ratio of classes that leave room. */
static void put_constraints(struct fabric_split *s, struct rng *r)
{
    const struct alloc_prices prices = { .rates = { s->problem.usd_per_Bps, s->problem.usd_per_Bps } };
    char text[128];
    double total = rng_log_range(r, 10, 1000);
    MUST(alloc_add_network(&s->rows, &s->net, e));
    /* Performance per cost has no optimum without a floor. */
    bool floor = s->problem.objective == ALLOC_PERF_PER_COST;
    snprintf(text, sizeof text, "total %s %.9g", floor ? "==" : "<=", total);
    MUST(alloc_add_text(&s->rows, &s->net, &prices, text, e));
    if (!floor && rng_below(r, 2)) {
        int32_t d = (int32_t)rng_below(r, s->net.n_dims);
        snprintf(text, sizeof text, "%s <= %.9g", s->net.dims[d].name, total * rng_range(r, 0.05, 0.5));
        MUST(alloc_add_text(&s->rows, &s->net, &prices, text, e));
    }
    if (topo_after_entry(s->net.dims, 0) < s->net.n_dims && rng_below(r, 2)) { /* classes that are not tied */
        snprintf(text, sizeof text, "%s >= %.9g*%s", s->net.dims[0].name, rng_range(r, 0.1, 1),
                 s->net.dims[s->net.n_dims - 1].name);
        MUST(alloc_add_text(&s->rows, &s->net, &prices, text, e));
    }
    s->problem.rows = s->rows.rows;
    s->problem.n_rows = s->rows.n;
}

static void fabric_split_open(struct fabric_split *s, struct rng *r, enum alloc_objective objective)
{
    *s =
        (struct fabric_split){ .problem = { .step = &s->fn, .objective = objective, .dim_names = s->names } };
    draw_network(&s->net, r);
    step_begin(&s->tree, "random", &s->net);
    put_collectives(s, r, step_add(&s->tree, -1, (struct step_node){ .kind = STEP_SUM }), 0);
    MUST(step_check(&s->tree, e));
    MUST(step_compile(&s->fn, &s->tree, &s->net, e));
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        s->names[d] = s->net.dims[d].name;
        s->problem.usd_per_Bps[d] = rng_log_range(r, 1e-6, 1e-3);
    }
    put_constraints(s, r);
}

static double value_at(const struct alloc_problem *p, const double *bw_Bps)
{
    double time_s = step_time(p->step, bw_Bps);
    return p->objective == ALLOC_TIME ? time_s : time_s * alloc_cost_usd(p, bw_Bps);
}

/* A split nearby that satisfies the rows has no better value. */
static void search_nearby(const struct alloc_problem *p, const struct alloc_answer *a, struct rng *r, int i)
{
    int32_t n = p->step->n_dims;
    for (int k = 0; k < TRIES; k++) {
        double bw_Bps[D], far = pow(10, -1 - k % 6), outside = 0;
        for (int32_t d = 0; d < n; d++)
            bw_Bps[d] = a->bw_Bps[d] * exp(far * rng_range(r, -1, 1));
        alloc_repair(p, bw_Bps);
        for (int32_t j = 0; j < p->n_rows; j++)
            outside = fmax(outside, alloc_outside(&p->rows[j], bw_Bps, n));
        if (outside <= 1e-12 && value_at(p, bw_Bps) < a->value * (1 - 2e-9))
            fail_msg("problem %d: %.17g near %.17g", i, value_at(p, bw_Bps), a->value);
    }
}

TEST(splits_over_classes_of_links_are_proved)
{
    int n = repeats(10000);
    RNG(r, 20261122, 0);
    for (int i = 0; i < n; i++) {
        KEEP(struct fabric_split, s, fabric_split_close);
        fabric_split_open(&s, r, i % 4 ? ALLOC_TIME : ALLOC_PERF_PER_COST);
        KEEP(struct alloc_answer, a, alloc_answer_free);
        OK(alloc_solve(&a, &s.problem, e));
        if (a.status != ALLOC_SOLVED)
            fail_msg("problem %d: %s, gap %g: %s", i, alloc_status_names[a.status], a.gap, a.reason);
        const struct step_tree *tree = &s.tree;
        const double scale = 1;
        const struct verify_steps steps = { .trees = &tree, .scale = &scale, .n = 1, .net = &s.net };
        struct verify_report report;
        OK(alloc_verify(&report, &a, &s.problem, &steps, e));
        if (!report.ok)
            fail_msg("problem %d: violation %g, gap %g", i, report.violation, report.gap);
        search_nearby(&s.problem, &a, r, i);
    }
}
