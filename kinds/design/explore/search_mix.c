/*
 * The best plans of several workloads that share one network, together with its split.
 *
 * A mix is a plan for each workload. For any split B and cuts T_w(B) >= C_w + sum_d g_wd/B_d (all of it by
 * weight; for regret each workload's time over its own best, times a multiplier; these add up to 1), the sum
 * of cuts is a cut of the mix, and joint.c bounds its best split. What it proves rises with C = sum_w C_w and
 * with the root R = sum_d sqrt(G_d q_d), G_d = sum_w g_wd, q_d the price of dimension d. By Cauchy and
 * Schwarz, with shares of each price, sum_w a_wd^2 = 1, R >= sum_w r_w,   r_w = sum_d a_wd sqrt(g_wd q_d).
 * Each workload is charged a_wd^2 q_d for a dimension. With the shares of the best mix that is known,
 * a_wd^2 = g_wd/G_d, that is an equality there. Bounds that are linear in C and the roots, or their squares,
 * then are sums of one score for each workload's plan:
 *     time      C + R^2/rent >= C + 2 s R - s^2 rent                    s = R/rent of the best mix
 *     cost      F + R^2/(L - C) >= F + s^2 C + 2 s R - s^2 L            s = R/(L - C)
 *     T (F + u.B) >= (sqrt(C F) + R)^2, sqrt(C) >= sum_w a_w0 sqrt(C_w)
 * So the least score of each workload bounds all others' mixes: a plan whose score is too high beside the
 * least of the others is in no mix that is better than what is known. Mixes of those that are left are taken
 * in ascending order of their sums, bounded by the sum of their cuts, sharpened, and split.
 *
 * All of it is ours; the bound of a sum by prices that are shared out is Lagrangian decomposition (M.
 * Guignard, S. Kim, Mathematical Programming 39, 1987).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/explore/joint.h"
#include "kinds/design/explore/search.h"

enum {
    D = TOPO_MAX_DIMS,
    MIX_MOST_SIDES = 8,
    SCOUT_ROUNDS = 3,
    SCOUTS = 3, /* mixes of a round, besides as many as are looked for */
    BLOCK = 32,
    BUILT = 8,                    /* a block in whole parts */
    MOST_GUESSED = 1 << 16,       /* mixes that scouts compare */
    MOST_PLANS = 1 << 16,         /* of one workload */
    MOST_CUTS = 6,                /* that are mixed into one */
    MOST_SEEN = 1 << 26,          /* mixes that are bounded */
    MOST_SEEN_HOPELESS = 1 << 20, /* the same, as long as none has a best split */
    MOST_LISTED = 1 << 17,        /* that are not ruled out */
    MOST_SOLVED = 1 << 13,        /* that are split */
    MOST_BUILT = 1 << 10,         /* in whole parts */
    MOST_HOPELESS = 1 << 10,      /* that are split, likewise */
    MOST_AGAIN = 3,               /* better mixes that bounds start again from */
    STALLED = 1 << 6              /* one that is cut short counts as so many */
};

/* What is better by less than this is as good. */
#define AS_GOOD (0.5 * ALLOC_GAP)
/* What rounding of a bound may come to. */
#define BOUND_REL 1e-7

struct mix_plan {
    struct search_found found;
    struct alloc_cut cut; /* of bounds: with the side's charge */
    double caps_s;        /* no bandwidths that rows allow make a step shorter */
    double score;
};

/* One workload of several. */
struct mix_side {
    struct design_workload own;  /* counted once */
    struct design_point point;   /* asks about it alone */
    const struct training *base; /* NULL: its step is given */
    struct search_space space;
    struct search_book book; /* of a base */
    double scale;            /* of its time in the objective */
    double charge;           /* of its time in bounds */
    double best_s;           /* on a network of its own, for regret */
    struct joint *alone;     /* owned, likewise */
    double share[D], const_share;
    struct alloc_cut cut;   /* of its plan in the best mix, with its charge */
    double least_s, least;  /* no plan takes less, nor scores less */
    struct alloc_cut floor; /* below the cuts of all plans, or what takes least_s; for sums */
    struct mix_plan *plans; /* shape [n], owned; ascending by score */
    int32_t n, cap;
    double dropped;       /* least score of plans that found no room */
    double dropped_value; /* no mix with one of these is worth less */
    int64_t n_dropped;
    bool failed;
};

/* The best few mixes. */
struct mix_best {
    struct search_found *rows; /* shape [n][n_sides], owned */
    int32_t n, most;
    struct incumbent last;
};

struct mix {
    const struct design_point *study;
    struct joint joint;
    struct mix_side *sides; /* shape [n], owned */
    int32_t n;
    bool regret;
    bool guesses;                  /* scores are times at one split, and bound nothing */
    double per_s, per_root, fixed; /* a score; what all scores leave out */
    const double *price;           /* shape [n_dims] */
    struct mix_best best, scouted; /* in whole parts scouted: of fractions */
    bool proved_alone;             /* what each is held against */
    int64_t n_solved;
    double lower_bound; /* of those that were solved */
    int32_t stopped;    /* a workload that has no design of its own; -1: none */
};

/* ---- means of cuts ---- */

/* Cuts of a step whose mean proves most. Two that meet at the best split are found again and again: steps
 * towards the last one alone go to and fro between them (M. Frank, P. Wolfe 1956), so weight moves from the
 * cut that is lowest where the bound is found (S. Lacoste-Julien, M. Jaggi, NIPS 2015: pairwise steps). */
struct cut_pool {
    struct alloc_cut cuts[MOST_CUTS + 1];
    double weight[MOST_CUTS + 1]; /* they add up to 1 */
    int n;
};

static void add_cut(struct alloc_cut *sum, const struct alloc_cut *t)
{
    sum->const_s += t->const_s;
    for (int32_t d = 0; d < D; d++)
        sum->pull_B[d] += t->pull_B[d];
}

static struct alloc_cut scale_cut(struct alloc_cut t, double by)
{
    t.const_s *= by;
    for (int32_t d = 0; d < D; d++)
        t.pull_B[d] *= by;
    return t;
}

/* @p cuts: shape [p->n], every @p stride-th. */
static struct alloc_cut mean_cut(const struct cut_pool *p, const struct alloc_cut *cuts, int32_t stride)
{
    struct alloc_cut mean = { 0 };
    for (int k = 0; k < p->n; k++) {
        const struct alloc_cut part = scale_cut(cuts[(ptrdiff_t)k * stride], p->weight[k]);
        add_cut(&mean, &part);
    }
    return mean;
}

static bool is_same_cut(const struct alloc_cut *a, const struct alloc_cut *b)
{
    bool same = !(a->const_s < b->const_s) && !(a->const_s > b->const_s);
    for (int32_t d = 0; d < D; d++)
        same = same && !(a->pull_B[d] < b->pull_B[d]) && !(a->pull_B[d] > b->pull_B[d]);
    return same;
}

/* Which cut this is; a new one is the last. */
static int find_cut(struct cut_pool *p, const struct alloc_cut *t)
{
    for (int k = 0; k < p->n; k++)
        if (is_same_cut(&p->cuts[k], t))
            return k;
    p->cuts[p->n] = *t;
    p->weight[p->n] = p->n == 0;
    return p->n++;
}

/* Move weight to cut @p to, which touches at @p bw_Bps, from the one that is lowest there. */
static void move_weight(struct cut_pool *p, int to, const double *bw_Bps, const struct joint *j)
{
    int from = -1;
    double low = INFINITY, share;
    for (int k = 0; k < p->n; k++) {
        double at = alloc_cut_at(&p->cuts[k], bw_Bps, j->study->net.n_dims);
        if (k != to && p->weight[k] > 0 && at < low) {
            low = at;
            from = k;
        }
    }
    if (from < 0)
        return;
    struct cut_pool all = *p;
    all.weight[to] += all.weight[from];
    all.weight[from] = 0;
    struct alloc_cut now = mean_cut(p, p->cuts, 1), then = mean_cut(&all, all.cuts, 1);
    joint_mix(&now, &share, &then, j);
    p->weight[to] += share * p->weight[from];
    p->weight[from] *= 1 - share;
}

/* ---- scores ---- */

static double score_of(const struct mix *x, const struct mix_side *side, const struct alloc_cut *t)
{
    double root = 0;
    for (int32_t d = 0; d < x->study->net.n_dims; d++)
        if (t->pull_B[d] > 0 && x->price[d] > 0)
            root += side->share[d] * sqrt(t->pull_B[d] * x->price[d]);
    if (alloc_is_product(x->joint.counted.objective))
        return side->const_share * sqrt(t->const_s * x->joint.counted.usd_fixed) + root;
    return x->per_s * t->const_s + x->per_root * root;
}

/* Of a plan that takes @p time_s at least, whatever it sends. */
static double score_of_time(const struct mix *x, const struct mix_side *side, double time_s)
{
    const struct alloc_cut t = { .const_s = side->charge * time_s };
    return score_of(x, side, &t);
}

/* No mix with these scores is worth less. */
static double value_of_scores(const struct mix *x, double sum)
{
    if (alloc_is_product(x->joint.counted.objective))
        return sum > 0 ? sum * sum : 0;
    return x->fixed + sum;
}

static double add_time(const struct mix *x, double sum_s, const struct mix_side *side, double time_s)
{
    return x->regret ? fmax(sum_s, side->scale * time_s) : sum_s + side->scale * time_s;
}

/* ---- mixes ---- */

/* Workloads of a mix where they lie, to be touched. */
struct mix_laid {
    const struct mix *x;
    struct training *trainings; /* shape [n], owned; of searched plans */
};

static int lay_out(struct mix_laid *l, const struct mix *x, const struct search_found *row)
{
    struct err ignored;
    l->x = x;
    l->trainings = malloc((size_t)x->n * sizeof *l->trainings);
    int rc = l->trainings ? 0 : ERR_NOMEM;
    for (int32_t i = 0; i < x->n && !rc; i++) {
        if (!x->sides[i].base)
            continue;
        l->trainings[i] = *x->sides[i].base;
        l->trainings[i].plan = row[i].plan;
        rc = training_derive(&l->trainings[i], &x->study->net, &ignored);
    }
    return rc;
}

static struct alloc_cut touch_side(const struct mix_laid *l, int32_t i, const double *bw_Bps)
{
    const struct mix_side *side = &l->x->sides[i];
    const struct collective_way way = search_way(&side->point, bw_Bps);
    return side->base ? search_tangent_at(&way, &l->trainings[i].place, &l->trainings[i].cost, 1)
                      : alloc_cut_touching(&side->own.fn, bw_Bps);
}

/* Of the sum, or of the largest ratio, that of the workload which has it. */
static struct alloc_cut touch_mix(const void *with, const double *bw_Bps)
{
    const struct mix_laid *l = with;
    const struct mix *x = l->x;
    struct alloc_cut sum = { 0 };
    double most = -1;
    for (int32_t i = 0; i < x->n; i++) {
        struct alloc_cut t = scale_cut(touch_side(l, i, bw_Bps), x->sides[i].scale);
        double at = x->regret ? alloc_cut_at(&t, bw_Bps, x->study->net.n_dims) : 0;
        if (!x->regret)
            add_cut(&sum, &t);
        else if (at > most) {
            most = at;
            sum = t;
        }
    }
    return sum;
}

/* Does a mean of cuts rule the mix out? @p t: the sum of those that its plans have. */
static bool cuts_rule_out(const struct mix *x, const struct search_found *row, const struct alloc_cut *t)
{
    struct mix_laid l;
    const struct incumbent *last = &x->best.last;
    struct joint_touched touched = { .cut = *t };
    if (lay_out(&l, x, row) == 0)
        joint_sharpen(&touched, &x->joint,
                      (struct joint_goal){ .most = incumbent_limit(last), .most_cuts = MOST_CUTS }, touch_mix,
                      &l);
    free(l.trainings);
    return incumbent_rules_out(last, touched.bound);
}

/* Compiled steps of all workloads, those of searched plans to be freed. */
static int compile_row(struct step_fn *fns, const struct search_found *row, const struct mix *x,
                       struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->n && !rc; i++) {
        const struct mix_side *side = &x->sides[i];
        if (side->base)
            rc = search_compile_plan(&fns[i], &row[i].plan, side->base, &side->point, x->joint.ref_Bps, e);
        else
            fns[i] = side->own.fn;
    }
    return rc;
}

static int join_row(struct step_fn *joined, const struct step_fn *fns, const struct mix *x, struct err *e)
{
    size_t n = (size_t)x->n;
    const struct step_fn **all = calloc(n, sizeof(const struct step_fn *));
    double *scale = calloc(n, sizeof *scale);
    int rc = all && scale ? 0 : err_nomem(e, "workloads");
    for (int32_t i = 0; i < x->n && !rc; i++) {
        all[i] = &fns[i];
        scale[i] = x->sides[i].scale;
    }
    if (!rc)
        rc = step_fn_join(joined, all, scale, x->n, (struct step_join){ .take_max = x->regret }, e);
    free(all);
    free(scale);
    return rc;
}

/* The best split of a mix, or what can be built of it; value INFINITY where there is none. @p row: a plan of
 * each. */
static int solve_row(struct search_found *row, struct alloc_answer *answer, const struct mix *x,
                     struct err *e)
{
    struct step_fn *fns = calloc((size_t)x->n, sizeof *fns), joined = { 0 };
    struct search_found f = { .value = INFINITY, .lower_bound = -INFINITY };
    int rc = fns ? compile_row(fns, row, x, e) : err_nomem(e, "a search");
    rc = rc ? rc : join_row(&joined, fns, x, e);
    rc = rc ? rc : joint_solve(&f, answer, &joined, &x->joint, e);
    for (int32_t i = 0; i < x->n && !rc; i++) {
        row[i].value = f.value;
        row[i].lower_bound = f.lower_bound;
        memcpy(row[i].bw_Bps, f.bw_Bps, sizeof f.bw_Bps);
        row[i].time_s = isfinite(f.value) ? step_time(&fns[i], f.bw_Bps) : (double)INFINITY;
    }
    for (int32_t i = 0; i < x->n && fns; i++)
        if (x->sides[i].base)
            step_fn_free(&fns[i]);
    step_fn_free(&joined);
    free(fns);
    return rc;
}

/* ---- the best few ---- */

static int best_reserve(struct mix_best *b, int32_t most, int32_t n_sides, struct err *e)
{
    *b = (struct mix_best){ .most = most, .last = incumbent_none(-AS_GOOD) };
    b->rows = calloc((size_t)most * (size_t)n_sides, sizeof *b->rows);
    return b->rows ? 0 : err_nomem(e, "a search");
}

static bool is_same_mix(const struct mix *x, const struct search_found *a, const struct search_found *b)
{
    for (int32_t i = 0; i < x->n; i++)
        if (a[i].rank != b[i].rank)
            return false;
    return true;
}

/* Of equal value the earlier one goes first. */
static void best_add(struct mix_best *b, const struct mix *x, const struct search_found *row)
{
    size_t size = (size_t)x->n * sizeof *row;
    int32_t at = b->n;
    if (!isfinite(row->value))
        return;
    for (int32_t i = 0; i < b->n; i++)
        if (is_same_mix(x, &b->rows[(ptrdiff_t)i * x->n], row))
            return;
    while (at > 0 && row->value < b->rows[(ptrdiff_t)(at - 1) * x->n].value)
        at--;
    if (at == b->most)
        return;
    memmove(&b->rows[(ptrdiff_t)(at + 1) * x->n], &b->rows[(ptrdiff_t)at * x->n],
            (size_t)(b->n - at - (b->n == b->most)) * size);
    memcpy(&b->rows[(ptrdiff_t)at * x->n], row, size);
    b->n += b->n < b->most;
    if (b->n == b->most)
        b->last.value = b->rows[(ptrdiff_t)(b->n - 1) * x->n].value;
}

/* ---- mixes of the plans at hand ---- */

struct mix_tuple {
    double bound;
    int32_t picks[MIX_MOST_SIDES]; /* plans of the sides */
};

/* Those that no bound rules out, of too many those with the least bounds. */
struct mix_list {
    const struct mix *x;
    struct mix_tuple *tuples;    /* shape [n], owned */
    int64_t n, cap, most, share; /* share: mixes that are looked at with each plan of the first side */
    double rest[MIX_MOST_SIDES + 1], rest_s[MIX_MOST_SIDES + 1]; /* least scores and times from a side on */
    struct alloc_cut rest_cut[MIX_MOST_SIDES + 1];               /* and floors */
    double dropped;                                              /* least bound of others */
    int64_t n_dropped;
    bool failed;
};

/* A mix as far as it is put together. */
struct mix_part {
    struct alloc_cut cut;
    double score, time_s;
    struct mix_tuple tuple;
};

static int by_bound(const void *a, const void *b)
{
    const struct mix_tuple *x = a, *y = b;
    if (x->bound < y->bound || x->bound > y->bound)
        return x->bound < y->bound ? -1 : 1;
    for (int i = 0; i < MIX_MOST_SIDES; i++)
        if (x->picks[i] != y->picks[i])
            return x->picks[i] < y->picks[i] ? -1 : 1;
    return 0;
}

static void sort_list(struct mix_list *l)
{
    if (l->n)
        qsort(l->tuples, (size_t)l->n, sizeof *l->tuples, by_bound);
    if (l->n <= l->most)
        return;
    l->dropped = fmin(l->dropped, l->tuples[l->most].bound);
    l->n_dropped += l->n - l->most;
    l->n = l->most;
}

static void put_mix(struct mix_list *l, const struct mix_tuple *t)
{
#pragma omp critical(search_mix)
    {
        if (l->n == 2 * l->most)
            sort_list(l);
        l->failed = l->failed || !vec_reserve(l->tuples, l->cap, l->n + 1);
        if (!l->failed)
            l->tuples[l->n++] = *t;
    }
}

static void drop_rest(struct mix_list *l, double bound, int64_t n)
{
#pragma omp critical(search_mix)
    {
        l->dropped = fmin(l->dropped, bound);
        l->n_dropped += n;
    }
}

static double value_from(const struct mix_list *l, double score, int32_t next)
{
    return l->x->guesses ? score : value_of_scores(l->x, score + l->rest[next]);
}

/* What plans of the sides before @p next prove, whatever those of the others are. */
static double bound_part(const struct mix_list *l, const struct mix_part *p, int32_t next)
{
    const struct mix *x = l->x;
    struct alloc_cut t = p->cut;
    double time_s = x->regret ? fmax(p->time_s, l->rest_s[next]) : p->time_s + l->rest_s[next];
    double bound = value_from(l, p->score, next);
    if (x->guesses || incumbent_rules_out(&x->best.last, bound))
        return bound;
    struct alloc_cut u = t;
    t.const_s += x->regret ? 0 : l->rest_s[next];
    bound = fmax(bound, fmax(joint_bound(&x->joint, &t, time_s), joint_timed(&x->joint, time_s)));
    if (x->regret || next == x->n || incumbent_rules_out(&x->best.last, bound))
        return bound;
    add_cut(&u, &l->rest_cut[next]);
    return fmax(bound, joint_bound(&x->joint, &u, time_s));
}

static void extend(struct mix_list *l, const struct mix_part *p, int32_t i, int64_t *left);

/* With plan @p k of side @p i. */
static void extend_with(struct mix_list *l, const struct mix_part *p, int32_t i, int32_t k, int64_t *left)
{
    const struct mix *x = l->x;
    const struct mix_side *side = &x->sides[i];
    struct mix_part next = *p;
    next.score += side->plans[k].score;
    next.time_s = add_time(x, p->time_s, side, side->plans[k].caps_s);
    next.tuple.picks[i] = k;
    add_cut(&next.cut, &side->plans[k].cut);
    next.tuple.bound = bound_part(l, &next, i + 1);
    if (!x->guesses && incumbent_rules_out(&x->best.last, next.tuple.bound))
        return;
    if (i + 1 == x->n)
        put_mix(l, &next.tuple);
    else
        extend(l, &next, i + 1, left);
}

/* Plans ascend by score. NOLINTNEXTLINE(misc-no-recursion): as deep as there are workloads */
static void extend(struct mix_list *l, const struct mix_part *p, int32_t i, int64_t *left)
{
    const struct mix_side *side = &l->x->sides[i];
    for (int32_t k = 0; k < side->n; k++) {
        double bound = value_from(l, p->score + side->plans[k].score, i + 1);
        if (!l->x->guesses && incumbent_rules_out(&l->x->best.last, bound))
            break;
        if ((*left)-- == 0) {
            drop_rest(l, bound, side->n - k);
            *left = 0;
            break;
        }
        extend_with(l, p, i, k, left);
    }
}

/* @p most: the size of the list. */
static int list_mixes(struct mix_list *l, const struct mix *x, int64_t most, struct err *e)
{
    const struct mix_side *first = &x->sides[0];
    const int64_t seen = x->guesses || x->best.n ? MOST_SEEN : MOST_SEEN_HOPELESS;
    *l = (struct mix_list){ .x = x, .most = most, .share = seen / (first->n + 1), .dropped = INFINITY };
    for (int32_t i = x->n; i-- > 0;) {
        const struct mix_side *side = &x->sides[i];
        l->rest[i] = l->rest[i + 1] + side->least;
        l->rest_s[i] = add_time(x, l->rest_s[i + 1], side, side->least_s);
        l->rest_cut[i] = l->rest_cut[i + 1];
        add_cut(&l->rest_cut[i], &side->floor);
        if (!side->n)
            return 0;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t k = 0; k < first->n; k++) {
        const struct mix_part none = { .score = 0 };
        int64_t left = l->share;
        double bound = value_from(l, first->plans[k].score, 1);
        if (x->guesses || !incumbent_rules_out(&x->best.last, bound))
            extend_with(l, &none, 0, k, &left);
    }
    sort_list(l);
    return l->failed ? err_nomem(e, "a search") : work_check(e);
}

struct mix_block {
    struct search_found *rows; /* shape [n][sides], owned or borrowed */
    struct alloc_cut cuts[BLOCK];
    double bounds[BLOCK];
    bool out[BLOCK];
    int32_t n;
};

static void fill_block(struct mix_block *b, const struct mix_list *l, int64_t from, int32_t n)
{
    const struct mix *x = l->x;
    b->n = 0;
    while (b->n < n && from < l->n && !incumbent_rules_out(&x->best.last, l->tuples[from].bound)) {
        struct alloc_cut *t = &b->cuts[b->n];
        *t = (struct alloc_cut){ 0 };
        b->bounds[b->n] = l->tuples[from].bound;
        for (int32_t i = 0; i < x->n; i++) {
            const struct mix_plan *p = &x->sides[i].plans[l->tuples[from].picks[i]];
            add_cut(t, &p->cut);
            b->rows[(ptrdiff_t)b->n * x->n + i] = p->found;
        }
        b->n++;
        from++;
    }
}

/* Split or build what cuts do not rule out; results are taken in order, so threads do not show. Returns how
 * much work that was in *spent. */
static int solve_block(struct mix *x, struct mix_block *b, int64_t *spent, struct err *e)
{
    bool sharp = !x->guesses && joint_is_priced(&x->joint) && !design_point_has_choice(x->study);
    int rc = 0;
    x->joint.most_value = x->joint.most_value > 0 ? incumbent_limit(&x->best.last) : 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t k = 0; k < b->n; k++) {
        struct search_found *row = &b->rows[(ptrdiff_t)k * x->n];
        struct alloc_answer answer = { 0 };
        struct err own = { 0 };
        b->out[k] = sharp && cuts_rule_out(x, row, &b->cuts[k]);
        if (b->out[k])
            continue;
        int failed = solve_row(row, &answer, x, &own);
        alloc_answer_free(&answer);
        if (failed) {
#pragma omp critical(search_mix)
            {
                rc = failed;
                *e = own;
            }
        }
    }
    for (int32_t k = 0; k < b->n && !rc; k++) {
        const struct search_found *row = &b->rows[(ptrdiff_t)k * x->n];
        if (b->out[k])
            continue;
        bool known = row->lower_bound > -INFINITY;
        double looked_for = x->joint.most_value > 0 ? x->joint.most_value : (double)INFINITY;
        *spent += row->lower_bound < fmin(row->value, looked_for) * (1 - ALLOC_GAP) ? STALLED : 1;
        x->n_solved++;
        if (known && !x->guesses)
            x->lower_bound = fmin(x->lower_bound, row->lower_bound);
        else if (!known && !x->guesses)
            incumbent_leave_open(&x->best.last, -INFINITY, 1);
        best_add(&x->best, x, row);
        /* A bound that is above a mix would hide others: it is looked at wherever it can be. */
        if (!x->guesses && !design_point_has_choice(x->study) && row->value < b->bounds[k] * (1 - BOUND_REL))
            rc = err_set(e, ERR_LIB, "a mix of plans is better than its bound; please report it");
    }
    return rc ? rc : work_check(e);
}

/* Mixes of all plans at hand, at most @p most of them, into the best few. What is neither tried nor ruled out
 * is left open. */
static int try_mixes(struct mix *x, int64_t most, struct err *e)
{
    struct mix_list l;
    struct mix_block b = { .rows = calloc((size_t)BLOCK * (size_t)x->n, sizeof *b.rows) };
    int64_t spent = 0, i = 0;
    int rc = list_mixes(&l, x, x->guesses ? most : MOST_LISTED, e);
    rc = rc || b.rows ? rc : err_nomem(e, "a search");
    while (!rc && spent < (x->best.n || most < MOST_HOPELESS ? most : MOST_HOPELESS)) {
        int64_t room = x->guesses && most - spent < BLOCK ? most - spent : BLOCK;
        fill_block(&b, &l, i, (int32_t)(x->joint.most_value > 0 ? BUILT : room));
        if (!b.n)
            break;
        i += b.n;
        rc = solve_block(x, &b, &spent, e);
    }
    if (!rc && !x->guesses && i < l.n && !incumbent_rules_out(&x->best.last, l.tuples[i].bound))
        incumbent_leave_open(&x->best.last, l.tuples[i].bound, l.n - i);
    if (!rc && !x->guesses && l.n_dropped && !incumbent_rules_out(&x->best.last, l.dropped))
        incumbent_leave_open(&x->best.last, l.dropped, l.n_dropped);
    free(l.tuples);
    free(b.rows);
    return rc;
}

/* ---- scouts ---- */

static int add_plan(struct mix_side *side, const struct mix_plan *p)
{
    if (!vec_reserve(side->plans, side->cap, side->n + 1))
        return ERR_NOMEM;
    side->plans[side->n++] = *p;
    return 0;
}

/* The plans that are fastest at the reference split, scored by that. */
static int find_fast(struct mix *x, struct mix_side *side, int32_t most, struct err *e)
{
    struct search_best fast;
    side->n = 0;
    if (!side->base) {
        const struct mix_plan given = { .score = 0 };
        return add_plan(side, &given) ? err_nomem(e, "a search") : 0;
    }
    int rc = search_fastest(&fast, &side->book, x->joint.ref_Bps, most, e);
    for (int32_t i = 0; i < fast.n && !rc; i++) {
        struct mix_plan p = { .found = fast.found[i], .score = side->scale * fast.found[i].time_s };
        rc = add_plan(side, &p) ? err_nomem(e, "a search") : 0;
    }
    search_best_free(&fast);
    return rc;
}

/* Where several paths decide at the best split, a mean of cuts that touch T at several: of all workloads the
 * same mean. */
static void find_cuts(struct mix *x, struct alloc_cut *sum, const struct mix_laid *l)
{
    double bw_Bps[D];
    for (int32_t d = 0; d < x->study->net.n_dims; d++)
        bw_Bps[d] = joint_usable_Bps(&x->joint, d, x->joint.ref_Bps[d]);
    struct cut_pool p = { .n = 0 };
    struct alloc_cut cuts[MOST_CUTS + 1][MIX_MOST_SIDES];
    for (int round = 0; round <= MOST_CUTS; round++) {
        struct alloc_cut add = { 0 }, own[MIX_MOST_SIDES] = { { 0 } };
        for (int32_t i = 0; i < x->n; i++) {
            own[i] = scale_cut(touch_side(l, i, bw_Bps), x->sides[i].charge);
            add_cut(&add, &own[i]);
        }
        int k = find_cut(&p, &add);
        memcpy(cuts[k], own, sizeof own);
        move_weight(&p, k, bw_Bps, &x->joint);
        *sum = mean_cut(&p, p.cuts, 1);
        if (!joint_is_priced(&x->joint))
            break;
        joint_foot(bw_Bps, &x->joint, sum);
    }
    for (int32_t i = 0; i < x->n; i++)
        x->sides[i].cut = mean_cut(&p, &cuts[0][i], MIX_MOST_SIDES);
}

/* What each workload is charged in bounds, from the best mix that is known and its split @p a. */
static int take_shares(struct mix *x, const struct search_found *row, const struct alloc_answer *a,
                       struct err *e)
{
    const struct alloc_bound *b = a->n_bounds ? &a->bounds[a->best_bound] : NULL;
    struct alloc_cut sum = { 0 };
    struct mix_laid l;
    double all = 0;
    int rc = lay_out(&l, x, row);
    /* Of a maximum of workloads term 1 + i is the i-th. */
    for (int32_t i = 0; i < x->n && x->regret; i++)
        all += b ? fmax(b->term_weight[1 + i], 0) : 1;
    for (int32_t i = 0; i < x->n; i++) {
        struct mix_side *side = &x->sides[i];
        side->charge = side->scale;
        if (x->regret)
            side->charge *= b && all > 0 ? fmax(b->term_weight[1 + i], 0) / all : 1.0 / x->n;
    }
    if (!rc)
        find_cuts(x, &sum, &l);
    for (int32_t i = 0; i < x->n && !rc; i++) {
        struct mix_side *side = &x->sides[i];
        side->const_share = sqrt(sum.const_s > 0 ? side->cut.const_s / sum.const_s : 1.0 / x->n);
        for (int32_t d = 0; d < x->study->net.n_dims; d++)
            side->share[d] = sqrt(sum.pull_B[d] > 0 ? side->cut.pull_B[d] / sum.pull_B[d] : 1.0 / x->n);
    }
    free(l.trainings);
    if (rc)
        return err_nomem(e, "a search");
    const struct joint *j = &x->joint;
    const struct alloc_problem *p = &j->counted;
    bool priced = j->has_prices && (!alloc_is_time(p->objective) || j->rent > 0);
    x->price = priced ? j->price : p->usd_per_Bps; /* those are 0 for a time */
    double root = alloc_cut_root(&sum, x->price, x->study->net.n_dims),
           left_s = p->time_limit_s - sum.const_s;
    double s = alloc_is_time(p->objective) ? priced ? root / j->rent : 0 : left_s > 0 ? root / left_s : 0;
    x->per_root = 2 * s;
    x->per_s = alloc_is_time(p->objective) ? 1 : s * s;
    x->fixed = alloc_is_time(p->objective) ? priced ? -s * s * j->rent : 0
                                           : p->usd_fixed - (priced ? j->rent : 0) - s * s * p->time_limit_s;
    return 0;
}

/* Bounds and prices from the best mix that is known. */
static int adopt_best(struct mix *x, struct err *e)
{
    struct alloc_answer answer = { 0 };
    int rc = solve_row(x->best.rows, &answer, x, e);
    if (!rc)
        joint_take_prices(&x->joint, &answer);
    rc = rc ? rc : take_shares(x, x->best.rows, &answer, e);
    alloc_answer_free(&answer);
    x->joint.last = x->best.last;
    return rc;
}

/* Plans of each workload of which all mixes can be compared, at most @p most. */
static int32_t count_each(const struct mix *x, int32_t most)
{
    for (; most > 2; most--) {
        double all = 1;
        for (int32_t i = 0; i < x->n; i++)
            all *= most;
        if (all <= MOST_GUESSED)
            break;
    }
    return most;
}

/* Why the fastest plans of all workloads have no best split together. */
static int note_why(struct mix *x, struct err *e)
{
    struct alloc_answer answer = { 0 };
    struct search_found *row = calloc((size_t)x->n, sizeof *row);
    if (!row)
        return err_nomem(e, "a search");
    for (int32_t i = 0; i < x->n; i++)
        row[i] = x->sides[i].plans[0].found;
    int rc = solve_row(row, &answer, x, e);
    if (!rc)
        joint_note_why(&x->joint, &answer);
    alloc_answer_free(&answer);
    free(row);
    return rc;
}

/* A few good mixes: the fastest plans of each workload at the split that is best so far, put together. */
static int scout(struct mix *x, int32_t top, struct err *e)
{
    const int32_t most = SCOUTS + top, each = count_each(x, most);
    int rc = 0;
    x->guesses = true;
    for (int round = 0; round < SCOUT_ROUNDS && !rc; round++) {
        for (int32_t i = 0; i < x->n && !rc; i++)
            rc = find_fast(x, &x->sides[i], each, e);
        for (int32_t i = 0; i < x->n; i++)
            x->stopped = x->sides[i].n == 0 ? i : x->stopped; /* no plan of it fits */
        rc = rc ? rc : try_mixes(x, most, e);
        if (!rc && !x->best.n && x->stopped < 0)
            rc = note_why(x, e);
        if (rc || !x->best.n)
            break;
        double before = x->joint.last.value;
        rc = adopt_best(x, e);
        if (!rc && before <= x->best.last.value)
            break;
    }
    x->guesses = false;
    return rc;
}

/* In whole parts: the scouts' mixes are built. */
static int build_scouted(struct mix *x, struct err *e)
{
    struct mix_block *b = calloc(1, sizeof *b);
    int64_t spent = 0;
    x->scouted = x->best;
    int rc = best_reserve(&x->best, x->scouted.most, x->n, e);
    rc = rc || b ? rc : err_nomem(e, "a search");
    x->guesses = true;
    x->joint.most_value = INFINITY;
    for (int32_t i = 0; i < x->scouted.n && !rc; i += b->n) {
        b->rows = &x->scouted.rows[(ptrdiff_t)i * x->n];
        b->n = x->scouted.n - i < BUILT ? x->scouted.n - i : BUILT;
        rc = solve_block(x, b, &spent, e);
    }
    x->guesses = false;
    x->joint.last = x->best.last;
    free(b);
    return rc;
}

/* ---- plans that may be in a better mix ---- */

struct mix_pass {
    struct mix *x;
    struct mix_side *side;
    double others, others_s; /* least scores and times of the others */
    struct alloc_cut floors;
};

static struct mix_plan measure(struct alloc_cut *once, const struct mix_pass *p,
                               const struct search_candidate *c)
{
    double at_s;
    struct mix_plan plan = { .caps_s = search_clock_time(&c->clocks[0], c->cost, INFINITY) };
    *once = search_tangent(&at_s, &c->clocks[1], c->cost, 1);
    plan.cut = scale_cut(*once, p->side->charge);
    plan.score = fmax(score_of(p->x, p->side, &plan.cut), score_of_time(p->x, p->side, plan.caps_s));
    return plan;
}

static bool skip_least(void *with, double least_s)
{
    const struct mix_pass *p = with;
    double known_s, known;
#pragma omp critical(search_mix)
    {
        known_s = p->side->least_s;
        known = p->side->least;
    }
    return least_s >= known_s && score_of_time(p->x, p->side, least_s) >= known;
}

static void take_least(void *with, const struct search_candidate *c)
{
    const struct mix_pass *p = with;
    struct alloc_cut once;
    struct mix_plan plan = measure(&once, p, c);
#pragma omp critical(search_mix)
    {
        p->side->least_s = fmin(p->side->least_s, plan.caps_s);
        p->side->least = fmin(p->side->least, plan.score);
    }
}

/* No mix with a plan of this time is worth less; without bounds that need its cut. */
static double bound_time(const struct mix_pass *p, double time_s)
{
    const struct mix *x = p->x;
    double value = joint_timed(&x->joint, add_time(x, p->others_s, p->side, time_s));
    return fmax(value, value_of_scores(x, p->others + score_of_time(x, p->side, time_s)));
}

static bool skip_mixed(void *with, double least_s)
{
    const struct mix_pass *p = with;
    return incumbent_rules_out(&p->x->joint.last, bound_time(p, least_s));
}

static int by_score(const void *a, const void *b)
{
    const struct mix_plan *x = a, *y = b;
    if (x->score < y->score || x->score > y->score)
        return x->score < y->score ? -1 : 1;
    return (x->found.rank > y->found.rank) - (x->found.rank < y->found.rank);
}

static void keep_most(struct mix_side *side)
{
    if (side->n)
        qsort(side->plans, (size_t)side->n, sizeof *side->plans, by_score);
    for (int32_t i = MOST_PLANS; i < side->n; i++, side->n_dropped++)
        side->dropped = fmin(side->dropped, side->plans[i].score);
    side->n = side->n < MOST_PLANS ? side->n : MOST_PLANS;
}

/* Whatever else the mix has: by scores, by all the time that others take at least, and by what the plan makes
 * of the workload alone. */
static double bound_plan(const struct mix_pass *p, const struct mix_plan *plan, const struct alloc_cut *once)
{
    const struct mix *x = p->x;
    struct alloc_cut t = plan->cut;
    double bound = fmax(bound_time(p, plan->caps_s), value_of_scores(x, p->others + plan->score));
    if (x->regret)
        return fmax(bound, joint_bound(p->side->alone, once, plan->caps_s) * p->side->scale);
    struct alloc_cut u = t;
    t.const_s += p->others_s;
    add_cut(&u, &p->floors);
    const struct alloc_cut *const cuts[] = { &t, &u };
    for (int k = 0; k < 2 && !incumbent_rules_out(&x->joint.last, bound); k++)
        bound = fmax(bound, joint_bound(&x->joint, cuts[k], 0));
    return bound;
}

static void take_mixed(void *with, const struct search_candidate *c)
{
    const struct mix_pass *p = with;
    const struct incumbent *last = &p->x->joint.last;
    struct mix_side *side = p->side;
    struct alloc_cut once;
    struct mix_plan plan = measure(&once, p, c);
    if (incumbent_rules_out(last, bound_plan(p, &plan, &once)))
        return;
    plan.found = search_found_of(c);
#pragma omp critical(search_mix)
    {
        if (side->n == 2 * MOST_PLANS)
            keep_most(side);
        side->failed = side->failed || add_plan(side, &plan);
    }
}

static int pass_over(struct mix_pass *p, bool (*skip)(void *, double),
                     void (*take)(void *, const struct search_candidate *), struct err *e)
{
    const struct mix *x = p->x;
    double ref_Bps[D];
    for (int32_t d = 0; d < x->study->net.n_dims; d++)
        ref_Bps[d] = joint_usable_Bps(&x->joint, d, x->joint.ref_Bps[d]);
    const struct search_pass pass = { .ways = { search_way(&p->side->point, x->joint.ranges.cap_Bps),
                                                search_way(&p->side->point, ref_Bps) },
                                      .n_ways = 2,
                                      .skip = skip,
                                      .take = take,
                                      .with = p };
    return search_book_pass(&p->side->book, &pass, e);
}

/* The one plan of a workload whose plan is given. */
static int take_given(struct mix *x, struct mix_side *side, struct err *e)
{
    double ref_Bps[D], caps_Bps[D];
    for (int32_t d = 0; d < x->study->net.n_dims; d++) {
        ref_Bps[d] = joint_usable_Bps(&x->joint, d, x->joint.ref_Bps[d]);
        caps_Bps[d] = x->joint.ranges.cap_Bps[d];
    }
    struct mix_plan p = { .caps_s = step_time(&side->own.fn, caps_Bps),
                          .cut = scale_cut(alloc_cut_touching(&side->own.fn, ref_Bps), side->charge) };
    p.score = fmax(score_of(x, side, &p.cut), score_of_time(x, side, p.caps_s));
    side->least_s = p.caps_s;
    side->least = p.score;
    side->n = 0;
    return add_plan(side, &p) ? err_nomem(e, "a search") : 0;
}

/* The cut of a plan, beside those of the best mix: a mean of cuts that touch its time where the bound is
 * found. */
static void sharpen_plan(struct mix_plan *p, const struct mix *x, const struct mix_side *side,
                         const struct alloc_cut *others)
{
    struct training *t = malloc(sizeof *t);
    struct err ignored;
    double bw_Bps[D] = { 0 };
    struct cut_pool pool = { .n = 0 };
    struct alloc_cut own[MOST_CUTS + 1], add = p->cut, touching = p->cut;
    const struct collective_way way = search_way(&side->point, bw_Bps);
    if (t) {
        *t = *side->base;
        t->plan = p->found.plan;
    }
    if (t && !training_derive(t, &x->study->net, &ignored)) {
        for (int round = 0; round <= MOST_CUTS; round++) {
            add = touching;
            add_cut(&add, others);
            int k = find_cut(&pool, &add);
            own[k] = touching;
            move_weight(&pool, k, bw_Bps, &x->joint);
            add = mean_cut(&pool, pool.cuts, 1);
            joint_foot(bw_Bps, &x->joint, &add);
            touching = search_tangent_at(&way, &t->place, &t->cost, side->charge);
        }
        p->cut = mean_cut(&pool, own, 1);
        p->score = fmax(p->score, score_of(x, side, &p->cut));
    }
    free(t);
}

static void sharpen_plans(struct mix *x, struct mix_side *side)
{
    struct alloc_cut others = { 0 };
    if (!x->best.n || !joint_is_priced(&x->joint) || design_point_has_choice(x->study))
        return;
    for (int32_t i = 0; i < x->n; i++)
        if (&x->sides[i] != side)
            add_cut(&others, &x->sides[i].cut);
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t k = 0; k < side->n; k++)
        sharpen_plan(&side->plans[k], x, side, &others);
    if (side->n)
        qsort(side->plans, (size_t)side->n, sizeof *side->plans, by_score);
}

/* What takes least_s, whatever it sends. */
static void lay_floor(struct mix_side *side)
{
    side->floor = (struct alloc_cut){ .const_s = side->scale * side->least_s };
}

/* A better mix has one of the plans at hand, or one that found no room. */
static void raise_least(struct mix_side *side)
{
    if (!side->n)
        return;
    if (!side->n_dropped)
        side->floor = side->plans[0].cut;
    for (int32_t k = 1; k < side->n && !side->n_dropped; k++) {
        const struct alloc_cut *t = &side->plans[k].cut;
        side->floor.const_s = fmin(side->floor.const_s, t->const_s);
        for (int32_t d = 0; d < D; d++)
            side->floor.pull_B[d] = fmin(side->floor.pull_B[d], t->pull_B[d]);
    }
    double least_s = INFINITY;
    for (int32_t k = 0; k < side->n; k++)
        least_s = fmin(least_s, side->plans[k].caps_s);
    side->least = fmax(side->least, fmin(side->plans[0].score, side->dropped));
    side->least_s = side->n_dropped ? side->least_s : fmax(side->least_s, least_s);
}

/* Plans of a workload that are not too much beside the least of the others. */
static int find_side(struct mix *x, struct mix_side *side, struct err *e)
{
    struct mix_pass p = { .x = x, .side = side };
    for (int32_t k = 0; k < x->n; k++)
        if (&x->sides[k] != side) {
            p.others += x->sides[k].least;
            p.others_s = add_time(x, p.others_s, &x->sides[k], x->sides[k].least_s);
            add_cut(&p.floors, &x->sides[k].floor);
        }
    side->n = 0;
    int rc = pass_over(&p, skip_mixed, take_mixed, e);
    if (!rc && side->failed)
        rc = err_nomem(e, "a search");
    if (rc)
        return rc;
    keep_most(side);
    sharpen_plans(x, side);
    side->dropped_value = value_of_scores(x, p.others + side->dropped);
    raise_least(side);
    return 0;
}

/* The plans that promise most beside the others of the best mix. Returns how many. */
static int32_t pick_first(int32_t picks[SCOUTS], const struct mix *x, const struct mix_side *side)
{
    double values[SCOUTS];
    struct alloc_cut others = { 0 };
    int32_t n = 0;
    for (int32_t i = 0; i < x->n; i++)
        if (&x->sides[i] != side)
            add_cut(&others, &x->sides[i].cut);
    for (int32_t k = 0; k < side->n; k++) {
        struct alloc_cut t = side->plans[k].cut;
        add_cut(&t, &others);
        double value = joint_bound(&x->joint, &t, 0);
        int32_t at = n < SCOUTS ? n++ : SCOUTS;
        for (; at > 0 && value < values[at - 1]; at--)
            if (at < SCOUTS) {
                values[at] = values[at - 1];
                picks[at] = picks[at - 1];
            }
        if (at < SCOUTS) {
            values[at] = value;
            picks[at] = k;
        }
    }
    return n;
}

/* Is a mix of one of these better? */
static int try_first(bool *better, struct mix *x, const struct mix_side *side, struct err *e)
{
    struct mix_block *b = calloc(1, sizeof *b);
    double before = x->best.n ? x->best.rows[0].value : 0;
    int32_t picks[SCOUTS] = { 0 };
    int64_t spent = 0;
    int rc = 0;
    if (b && x->best.n)
        b->n = pick_first(picks, x, side);
    if (b)
        b->rows = calloc((size_t)SCOUTS * (size_t)x->n, sizeof *b->rows);
    if (!b || !b->rows)
        rc = err_nomem(e, "a search");
    for (int32_t k = 0; !rc && k < b->n; k++) {
        memcpy(&b->rows[(ptrdiff_t)k * x->n], x->best.rows, (size_t)x->n * sizeof *b->rows);
        b->rows[(ptrdiff_t)k * x->n + (side - x->sides)] = side->plans[picks[k]].found;
    }
    x->guesses = true;
    if (!rc && b->n)
        rc = solve_block(x, b, &spent, e);
    x->guesses = false;
    *better = !rc && x->best.n && x->best.rows[0].value < before * (1 - AS_GOOD);
    x->joint.last = x->best.last;
    if (b)
        free(b->rows);
    free(b);
    return rc;
}

/* The workload that has the most at stake among those that are not @p done; -1: all are. */
static int32_t find_heaviest(const struct mix *x, const bool *done)
{
    int32_t heaviest = -1;
    for (int32_t i = 0; i < x->n; i++)
        if (!done[i] && (heaviest < 0 || x->sides[i].least > x->sides[heaviest].least))
            heaviest = i;
    return heaviest;
}

/* Two passes over each book: the least of each workload, then what is not too much beside those. *better: a
 * mix was found by which all of this is to be done again; NULL: none is looked for. */
static int find_plans(bool *better, struct mix *x, struct err *e)
{
    bool done[MIX_MOST_SIDES] = { false };
    int rc = 0;
    for (int32_t i = 0; i < x->n && !rc; i++) {
        struct mix_side *side = &x->sides[i];
        struct mix_pass p = { .x = x, .side = side };
        side->least_s = side->least = side->dropped = side->dropped_value = INFINITY;
        side->n_dropped = 0;
        rc = side->base ? pass_over(&p, skip_least, take_least, e) : take_given(x, side, e);
        done[i] = !side->base;
        lay_floor(side);
        if (!rc && done[i])
            raise_least(side);
    }
    for (int32_t i = find_heaviest(x, done); i >= 0 && !rc; i = find_heaviest(x, done)) {
        rc = find_side(x, &x->sides[i], e);
        if (!rc && better)
            rc = try_first(better, x, &x->sides[i], e);
        if (better && *better)
            break;
        done[i] = true;
    }
    return rc;
}

/*
 * Where one workload rules, what its own bound falls short of, or the scouts' mix of the best, is more than
 * all plans of another differ by, and none of these is ruled out. So it goes first, what it has left bounds
 * the plans of the others, and a better mix of it is taken at once.
 */
static int find_mixed(struct mix *x, struct err *e)
{
    bool better = true;
    int rc = 0;
    for (int i = 0; i <= MOST_AGAIN && better && !rc; i++) {
        better = false;
        rc = find_plans(i < MOST_AGAIN ? &better : NULL, x, e);
        if (!rc && better)
            rc = adopt_best(x, e);
    }
    for (int32_t i = 0; i < x->n && !rc; i++)
        if (x->sides[i].n_dropped && !incumbent_rules_out(&x->joint.last, x->sides[i].dropped_value))
            incumbent_leave_open(&x->best.last, x->sides[i].dropped_value, x->sides[i].n_dropped);
    return rc;
}

/* ---- each workload alone, for regret ---- */

static int find_alone(struct search_result *r, struct mix *x, struct mix_side *side, struct err *e)
{
    struct step_fn fn = { 0 };
    struct alloc_answer answer = { 0 };
    struct search_found f = { .value = INFINITY };
    int rc = joint_begin(side->alone, &side->point, e);
    if (rc || !side->base) {
        fn = side->own.fn;
        f.value = 0;
    } else {
        rc = side->point.pricing == DESIGN_WHOLE ? search_whole(r, &side->book, e)
                                                 : search_split(r, &side->book, e);
        x->proved_alone = x->proved_alone && !rc && r->proved;
        bool built = r->whole || side->point.pricing != DESIGN_WHOLE;
        if (!rc && !built && r->n_found)
            snprintf(x->joint.why, sizeof x->joint.why, "%.60s alone: none can be built",
                     side->own.training->name);
        if (!rc && built && r->n_found) {
            f = r->found[0];
            rc = search_compile_plan(&fn, &f.plan, side->base, &side->point, f.bw_Bps, e);
        }
    }
    if (!rc && isfinite(f.value)) {
        double found_s = f.time_s;
        side->alone->most_value = side->base || side->point.pricing != DESIGN_WHOLE ? 0 : INFINITY;
        rc = joint_solve(&f, &answer, &fn, side->alone, e);
        side->best_s = side->base ? found_s : f.time_s;
        if (!rc && alloc_has_split(&answer))
            joint_take_prices(side->alone, &answer);
        if (!rc && !isfinite(f.value))
            snprintf(x->joint.why, sizeof x->joint.why, "%.60s alone: %s: %.200s", side->own.tree.name,
                     alloc_status_names[answer.status], answer.reason);
    }
    alloc_answer_free(&answer);
    if (side->base)
        step_fn_free(&fn);
    return rc;
}

/* What every time is held against. */
static int find_all_alone(struct mix *x, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->n && x->regret && !rc; i++) {
        struct mix_side *side = &x->sides[i];
        struct search_result r = { 0 };
        side->alone = malloc(sizeof *side->alone);
        rc = side->alone ? find_alone(&r, x, side, e) : err_nomem(e, "a search");
        if (!rc && !(side->best_s > 0))
            x->stopped = i;
        if (!rc && !r.n_found && side->base)
            memcpy(x->joint.why, r.why, sizeof r.why);
        side->scale = side->best_s > 0 ? 1 / side->best_s : 1;
        side->charge = side->scale / x->n;
        search_free(&r);
    }
    return rc;
}

/* ---- all of it ---- */

/* Until more is known all are charged the same. */
static int begin_side(struct mix *x, int32_t i, struct search_shelf *shelf, struct err *e)
{
    const struct design_point *s = x->study;
    struct mix_side *side = &x->sides[i];
    *side = (struct mix_side){ .own = s->workloads[i],
                               .point = *s,
                               .scale = s->workloads[i].weight,
                               .charge = s->workloads[i].weight,
                               .const_share = sqrt(1.0 / x->n),
                               .dropped = INFINITY };
    side->own.weight = 1;
    side->point.workloads = &side->own;
    side->point.n_workloads = 1;
    side->point.combine = DESIGN_SUM;
    for (int32_t d = 0; d < D; d++)
        side->share[d] = side->const_share;
    if (!design_point_is_searched(&s->workloads[i]))
        return 0;
    int rc = search_read_space(&side->space, s, s->workloads[i].training->search, false, e);
    if (!rc)
        rc = search_book_open(&side->book, shelf, &side->space, &side->point, side->own.training, e);
    side->base = rc ? NULL : side->own.training;
    return rc;
}

static int begin(struct mix *x, const struct design_point *s, struct search_shelf *shelf, struct err *e)
{
    *x = (struct mix){ .study = s,
                       .n = s->n_workloads,
                       .regret = s->combine == DESIGN_REGRET,
                       .proved_alone = true,
                       .lower_bound = INFINITY,
                       .stopped = -1 };
    int32_t top = 1;
    for (int32_t i = 0; i < x->n && x->n > MIX_MOST_SIDES; i++)
        if (design_point_is_searched(&s->workloads[i]))
            return yaml_fail_key(
                &s->doc, s->workloads[i].training->search, e, ERR_RANGE,
                "is given together with %d other workloads, expected at most %d where "
                "bandwidths are to be chosen; give bw_GBps of every dimension or fewer workloads",
                (int)x->n - 1, MIX_MOST_SIDES - 1);
    x->sides = calloc((size_t)x->n, sizeof *x->sides);
    int rc = x->sides ? joint_begin(&x->joint, s, e) : err_nomem(e, "a search");
    x->price = x->joint.counted.usd_per_Bps;
    x->per_s = alloc_is_time(s->objective);
    x->fixed = alloc_is_time(s->objective) ? 0 : x->joint.least_usd;
    for (int32_t i = 0; i < x->n && !rc; i++) {
        rc = begin_side(x, i, shelf, e);
        top = x->sides[i].base && x->sides[i].space.top > top ? x->sides[i].space.top : top;
    }
    return rc ? rc : best_reserve(&x->best, top, x->n, e);
}

static void end(struct mix *x, struct search_shelf *shelf)
{
    for (int32_t i = 0; i < x->n && x->sides; i++) {
        if (x->sides[i].base)
            search_book_close(&x->sides[i].book, shelf);
        free(x->sides[i].plans);
        free(x->sides[i].alone);
    }
    free(x->sides);
    free(x->best.rows);
    free(x->scouted.rows);
    free(x);
}

/* The k-th plan of a workload is that of the k-th mix. */
static int tell_side(struct search_result *r, const struct mix *x, int32_t i, struct err *e)
{
    const struct mix_side *side = &x->sides[i];
    bool built = x->joint.floors && x->best.n > 0;
    const struct mix_best *best = x->joint.floors && !built ? &x->scouted : &x->best;
    *r = side->book.counts;
    memcpy(r->why, x->joint.why, sizeof r->why);
    r->alone_s = side->best_s;
    r->found = calloc((size_t)best->n + 1, sizeof *r->found);
    if (!r->found)
        return err_nomem(e, "a search");
    r->n_found = best->n;
    for (int32_t k = 0; k < best->n; k++)
        r->found[k] = best->rows[(ptrdiff_t)k * x->n + i];
    r->clash = x->joint.clash;
    r->n_split = side->n;
    r->n_mixes = x->n_solved;
    r->whole = built;
    r->lower_bound = x->lower_bound;
    r->proof = x->best.last;
    r->proof.n_ruled_out = side->book.counted ? r->n_timed - side->n - side->n_dropped : 0;
    search_say_proof(r, x->study);
    if (!x->proved_alone || (x->joint.floors && !built)) {
        r->proved = r->unique = false;
        r->lower_bound = NAN;
    }
    return 0;
}

static int solve_mix(struct mix *x, struct err *e)
{
    int rc = x->joint.clash ? 0 : find_all_alone(x, e);
    if (rc || x->stopped >= 0 || x->joint.clash)
        return rc;
    rc = scout(x, x->best.most, e);
    if (rc || x->stopped >= 0)
        return rc;
    if (!rc && x->joint.floors)
        rc = build_scouted(x, e);
    rc = rc ? rc : find_mixed(x, e);
    return rc ? rc : try_mixes(x, x->joint.floors ? MOST_BUILT : MOST_SOLVED, e);
}

/* Nothing was found: of the workload that is to blame, or the first that is searched. */
static int fail_mix(const struct mix *x, struct search_result *results, struct search_shelf *shelf,
                    struct err *e)
{
    int32_t i = x->stopped >= 0 && x->sides[x->stopped].base ? x->stopped : 0;
    while (!x->sides[i].base)
        i++;
    int rc = search_count_plans(&results[i], &x->sides[i].book, shelf, e);
    return rc ? rc : search_fail(x->study, x->sides[i].base->search, &results[i], e);
}

int search_mix(struct design_choice *c, struct search_shelf *shelf, struct err *e)
{
    const struct design_point *s = c->point;
    struct mix *x = malloc(sizeof *x);
    int rc = x ? begin(x, s, shelf, e) : err_nomem(e, "a search");
    rc = rc ? rc : solve_mix(x, e);
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        if (x->sides[i].base)
            rc = tell_side(&c->plans[i], x, i, e);
    if (!rc && !x->best.n && !x->scouted.n)
        rc = fail_mix(x, c->plans, shelf, e);
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        if (x->sides[i].base)
            rc = choice_take_plan(c, i, &c->plans[i].found[0].plan, e);
    if (x)
        end(x, shelf);
    return rc;
}
