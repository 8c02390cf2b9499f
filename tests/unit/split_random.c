#include "tests/unit/split_random.h"

#include "alloc/verify.h"
#include "tests/unit/step_oracle.h"

enum { D = TOPO_MAX_DIMS };

static void put_collective(struct random_split *s, struct rng *r, step_id parent)
{
    int32_t members[D], any = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        members[d] = rng_below(r, 3) ? s->net.dims[d].size : 1;
        any |= members[d] > 1;
    }
    if (!any)
        members[0] = s->net.dims[0].size;
    int32_t group = step_add_group(&s->tree, "g", members);
    step_add(&s->tree, parent,
             (struct step_node){ .kind = STEP_COLLECTIVE,
                                 .collective = (enum collective_kind)rng_below(r, COLLECTIVE_ALL_TO_ALL + 1),
                                 .bytes = rng_log_range(r, 1e6, 1e10),
                                 .group = group,
                                 .times = (double)(1 + rng_below(r, 3)) });
}

/* Children of one node: collectives, compute, and inner nodes down to depth 3. */
static void put_children(struct random_split *s, struct rng *r, struct random_kind kind, step_id parent,
                         int32_t *left, int32_t depth)
{
    int32_t n = kind.overlap ? 1 + (int32_t)rng_below(r, 4) : *left;
    for (int32_t i = 0; i<n && * left> 0; i++) {
        if (kind.compute && rng_below(r, 3) == 0)
            step_add(&s->tree, parent,
                     (struct step_node){ .kind = STEP_COMPUTE, .seconds = rng_range(r, 0, 0.01) });
        if (kind.overlap && depth < 3 && rng_below(r, 2)) {
            static const enum step_kind kinds[] = { STEP_SUM, STEP_MAX, STEP_REPEAT };
            enum step_kind inner = kinds[rng_below(r, 3)];
            step_id node = step_add(&s->tree, parent, (struct step_node){ .kind = inner, .times = 3 });
            if (inner == STEP_REPEAT)
                node = step_add(&s->tree, node, (struct step_node){ .kind = STEP_SUM });
            put_children(s, r, kind, node, left, depth + 1);
        } else {
            put_collective(s, r, parent);
            --*left;
        }
    }
}

static void put_rows(struct random_split *s, struct rng *r, struct random_kind kind)
{
    const int32_t n = s->net.n_dims;
    double ones[D] = { 1, 1, 1, 1, 1, 1, 1, 1 }, total = 0;
    for (int32_t d = 0; d < n; d++) {
        s->inside_Bps[d] = rng_log_range(r, 1e9, 1e12);
        total += s->inside_Bps[d];
    }
    random_split_row(s, ones, kind.total, 0)->rhs = total;
    for (int32_t i = kind.n_rows ? (int32_t)rng_below(r, kind.n_rows + 1) : 0; i > 0; i--) {
        static const double choice[] = { 0, 0, 1, 1, 2, 3, -1, -2 };
        double coef[D] = { 0 }, sum = 0;
        for (int32_t d = 0; d < n; d++) {
            coef[d] = choice[rng_below(r, 8)];
            sum += coef[d] * s->inside_Bps[d];
        }
        enum linexpr_sense sense = (enum linexpr_sense)rng_below(r, 3);
        double room = sense == LINEXPR_EQ ? 0 : rng_uniform(r) * fabs(sum);
        random_split_row(s, coef, sense, 0)->rhs = sense == LINEXPR_LE ? sum + room : sum - room;
    }
}

/* Prices the other way round, so that what is dear is not what draws power. */
static void put_factor(struct random_split *s)
{
    const int32_t n = s->net.n_dims;
    s->problem.factor_fixed = 1e4;
    s->problem.factor_unit = 0.01;
    s->problem.factor = ALLOC_OWN_WATT;
    for (int32_t d = 0; d < n; d++)
        s->problem.factor_per_Bps[d] = 1e-3 * s->problem.usd_per_Bps[n - 1 - d];
}

static void finish(struct random_split *s)
{
    MUST(step_check(&s->tree, e));
    MUST(step_compile(&s->fn, &s->tree, &s->net, e));
    s->problem.step = &s->fn;
    s->problem.rows = s->rows;
    s->problem.dim_names = s->names;
}

static void begin(struct random_split *s, int32_t n_dims)
{
    static const int32_t sizes[D] = { 4, 8, 2, 4, 2, 3, 2, 2 };
    *s = (struct random_split){ .net = oracle_network(sizes, n_dims) };
    for (int32_t d = 0; d < n_dims; d++)
        s->names[d] = s->net.dims[d].name;
    step_begin(&s->tree, "random", &s->net);
}

void random_split_open(struct random_split *s, struct rng *r, struct random_kind kind)
{
    begin(s, kind.n_dims ? kind.n_dims : 1 + (int32_t)rng_below(r, D));
    int32_t left = 1 + (int32_t)rng_below(r, kind.n_collectives);
    step_id root = step_add(&s->tree, -1, (struct step_node){ .kind = STEP_SUM });
    put_children(s, r, kind, root, &left, 0);
    put_rows(s, r, kind);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        s->problem.usd_per_Bps[d] = rng_log_range(r, 1e-6, 1e-3);
    put_factor(s);
    finish(s);
}

void plain_split_open(struct random_split *s, int32_t n_dims, const double (*traffic_GB)[D], int32_t n,
                      double compute_s)
{
    begin(s, n_dims);
    step_id root = step_add(&s->tree, -1, (struct step_node){ .kind = STEP_SUM });
    step_add(&s->tree, root, (struct step_node){ .kind = STEP_COMPUTE, .seconds = compute_s });
    finish(s);
    /* Collectives make proportions of their own: write the traffic asked for where it ends up. */
    s->fn.traffic_B = ARENA_TAKE(&s->fn.arena, n * D, *s->fn.traffic_B);
    assert_non_null(s->fn.traffic_B);
    for (int32_t i = 0; i < n; i++)
        for (int32_t d = 0; d < n_dims; d++)
            s->fn.traffic_B[i * D + d] = traffic_GB[i][d] * 1e9;
    s->fn.n_leaves = n;
    s->fn.leaf_begin[1] = n;
}

void hidden_split_open(struct random_split *s, int32_t n_dims, const double (*traffic_GB)[D], int32_t n,
                       double compute_s)
{
    plain_split_open(s, n_dims, traffic_GB, n, 0);
    struct step_fn *f = &s->fn;
    const double const_s[] = { 0, compute_s, 0 };
    const int32_t leaf_begin[] = { 0, 0, 0, n }, max_begin[] = { 0, 1, 1, 1 }, term_begin[] = { 1, 3 };
    f->n_terms = 3;
    f->n_maxima = 1;
    f->const_s = arena_take(&f->arena, 1, sizeof const_s);
    f->leaf_begin = arena_take(&f->arena, 1, sizeof leaf_begin);
    f->max_begin = arena_take(&f->arena, 1, sizeof max_begin);
    f->term_begin = arena_take(&f->arena, 1, sizeof term_begin);
    assert_true(f->const_s && f->leaf_begin && f->max_begin && f->term_begin);
    memcpy(f->const_s, const_s, sizeof const_s);
    memcpy(f->leaf_begin, leaf_begin, sizeof leaf_begin);
    memcpy(f->max_begin, max_begin, sizeof max_begin);
    memcpy(f->term_begin, term_begin, sizeof term_begin);
}

void random_split_close(struct random_split *s)
{
    step_fn_free(&s->fn);
    step_free(&s->tree);
}

struct alloc_row *random_split_row(struct random_split *s, const double *coef, enum linexpr_sense sense,
                                   double rhs_GBps)
{
    assert_true(s->problem.n_rows < RANDOM_MAX_ROWS);
    struct alloc_row *row = &s->rows[s->problem.n_rows];
    *row = (struct alloc_row){ .sense = sense, .rhs = rhs_GBps * 1e9, .unit = 1e9 };
    snprintf(row->name, sizeof row->name, "row %d", (int)s->problem.n_rows++);
    memcpy(row->coef, coef, (size_t)s->net.n_dims * sizeof *coef);
    s->problem.rows = s->rows;
    return row;
}

bool random_split_verify(const struct random_split *s, const struct alloc_answer *a)
{
    const struct step_tree *tree = &s->tree;
    const double scale = 1;
    const struct verify_steps steps = { .trees = &tree, .scale = &scale, .n = 1, .net = &s->net };
    struct verify_report r;
    MUST(alloc_verify(&r, a, &s->problem, &steps, e));
    if (!r.ok)
        print_message("violation %g, value %.17g, bound %.17g\n", r.violation, r.value, r.lower_bound);
    return r.ok;
}

double random_split_value(const struct alloc_problem *p, const double *bw_Bps)
{
    double time_s = step_time(p->step, bw_Bps), total = 0;
    for (int32_t d = 0; d < p->step->n_dims; d++)
        total += bw_Bps[d];
    switch (p->objective) {
    case ALLOC_TIME:
        return time_s;
    case ALLOC_UTILIZATION:
        return time_s * total;
    case ALLOC_COST:
        return alloc_cost_usd(p, bw_Bps);
    case ALLOC_PERF_PER_WATT:
    case ALLOC_TCO_PER_TOKEN:
        total = p->factor_fixed;
        for (int32_t d = 0; d < p->step->n_dims; d++)
            total += p->factor_per_Bps[d] * bw_Bps[d];
        return time_s * total;
    default:
        return time_s * alloc_cost_usd(p, bw_Bps);
    }
}

void solve_well(struct alloc_answer *a, const struct alloc_problem *p)
{
    MUST(alloc_solve(a, p, e));
    if (a->status != ALLOC_SOLVED)
        print_error("%s: %s\n", alloc_status_names[a->status], a->reason);
    assert_int_equal(a->status, ALLOC_SOLVED);
}
