/*
 * Latency and efficiency fitted to measured times of collectives.
 * A curve over bytes becomes 1, 2, .. pieces, each a line time = min over algorithms of hops * latency + load
 * * bytes * s_per_B, with the least sum of Huber's losses of relative errors: dynamic programming over where
 * pieces meet, least squares with weights within one. Scatter and number of pieces are those of the
 * least score; how sure the numbers are is found by fitting redrawn curves. From the pieces come a
 * dimension's latency, efficiency and regimes.
 */
#include "sim/fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/rng.h"
#include "base/stat.h"
#include "workloads/collective.h"

double pieces_time(const struct piece *piece, const struct pieces_problem *p, double bytes)
{
    double least_s = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++)
        least_s = fmin(least_s, p->terms[j].hops * piece->lat_s + p->terms[j].load * bytes * piece->s_per_B);
    return least_s;
}

/* ---- one line ---- */

/* Huber's loss of a residual in scatters: z^2, from FIT_HUBER on straight; over FIT_NORMAL, so that its mean
 * share of normal scatter is that of z^2. */
static double huber(double z)
{
    z = fabs(z);
    return (z <= FIT_HUBER ? z * z : FIT_HUBER * (2 * z - FIT_HUBER)) / FIT_NORMAL;
}

/* The search for the line of points first .. first + n - 1. */
struct fit_search {
    const struct pieces_problem *p;
    struct piece now, best;
};

/* The term that decides at point @p i. */
static const struct pieces_term *fastest_term(const struct fit_search *x, int32_t i)
{
    const struct pieces_problem *p = x->p;
    const struct pieces_term *least = p->terms;
    double least_s = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++) {
        double time_s = p->terms[j].hops * x->now.lat_s + p->terms[j].load * p->bytes[i] * x->now.s_per_B;
        if (time_s < least_s) {
            least_s = time_s;
            least = &p->terms[j];
        }
    }
    return least;
}

/* Least squares of points with weights: those of the latency, of the rate, of both, and what they ask for. */
struct squares {
    double aa, ab, bb, a, b;
};

static double within(double x, double lo, double hi)
{
    return fmax(lo, fmin(hi, x));
}

static double squares_at(const struct squares *q, double lat_s, double s_per_B)
{
    return lat_s * (q->aa * lat_s + 2 * q->ab * s_per_B - 2 * q->a) + s_per_B * (q->bb * s_per_B - 2 * q->b);
}

/* The least within the bounds: the free one, or the best of their edges. */
static void solve_squares(struct piece *line, const struct squares *q, const struct pieces_problem *p)
{
    double determinant = q->aa * q->bb - q->ab * q->ab, lo = p->least_s_per_B, hi = p->most_s_per_B;
    const double at[][2] = {
        { (q->a * q->bb - q->b * q->ab) / determinant, (q->b * q->aa - q->a * q->ab) / determinant },
        { 0, within(q->b / q->bb, lo, hi) },
        { fmax(0, (q->a - q->ab * lo) / q->aa), lo },
        { fmax(0, (q->a - q->ab * hi) / q->aa), hi },
    };
    bool inside = determinant > 0 && at[0][0] >= 0 && at[0][1] >= lo && at[0][1] <= hi;
    int best = inside ? 0 : 1;
    for (int k = 2; k < 4 && !inside; k++)
        if (squares_at(q, at[k][0], at[k][1]) < squares_at(q, at[best][0], at[best][1]))
            best = k;
    line->lat_s = at[best][0];
    line->s_per_B = at[best][1];
}

/* Loss of the line at hand, which is kept when it is the best so far, and the sums that make the next one: a
 * point beyond FIT_HUBER weighs as much less as it is further off. */
static double weigh_line(struct fit_search *x, struct squares *q)
{
    const struct pieces_problem *p = x->p;
    *q = (struct squares){ 0 };
    x->now.loss = 0;
    for (int32_t i = x->now.first; i < x->now.first + x->now.n; i++) {
        const struct pieces_term *term = fastest_term(x, i);
        double a = term->hops / p->time_s[i], b = term->load * p->bytes[i] / p->time_s[i];
        double z = (a * x->now.lat_s + b * x->now.s_per_B - 1) / p->scatter[i];
        double weight = 1 / (p->scatter[i] * p->scatter[i]) / fmax(1, fabs(z) / FIT_HUBER);
        q->aa += weight * a * a;
        q->ab += weight * a * b;
        q->bb += weight * b * b;
        q->a += weight * a;
        q->b += weight * b;
        x->now.loss += huber(z);
    }
    if (x->now.loss < x->best.loss)
        x->best = x->now;
    return x->now.loss;
}

/* From the line at hand by least squares with new weights, and terms, until they stay. */
static void improve_line(struct fit_search *x)
{
    enum { MOST_STEPS = 1000 };
    const double least_gain = 1e-13;
    struct squares q;
    double before = INFINITY;
    for (int step = 0; step < MOST_STEPS; step++) {
        double loss = weigh_line(x, &q);
        if (!(loss < before * (1 - least_gain)))
            break;
        before = loss;
        solve_squares(&x->now, &q, x->p);
    }
}

static void start_line(struct fit_search *x, double lat_s, double s_per_B)
{
    x->now.lat_s = lat_s;
    x->now.s_per_B = within(s_per_B, x->p->least_s_per_B, x->p->most_s_per_B);
    improve_line(x);
}

/* The loss is convex with one term, and one start will do. With several it is not: latency is nothing, part
 * or all of the first time, in few hops or in many. */
static struct piece fit_line(const struct pieces_problem *p, int32_t first, int32_t n)
{
    const double starts[] = { 1e-3, 0.03, 0.1, 0.3, 0.6, 1 };
    struct fit_search x = { p, { .first = first, .n = n }, { .loss = INFINITY } };
    double hops[2] = { INFINITY, 0 }, load = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++) {
        hops[0] = fmin(hops[0], p->terms[j].hops);
        hops[1] = fmax(hops[1], p->terms[j].hops);
        load = fmin(load, p->terms[j].load);
    }
    double rate = p->time_s[first + n - 1] / (load * p->bytes[first + n - 1]);
    start_line(&x, 0, rate);
    for (size_t k = 0; k < sizeof starts / sizeof *starts && p->n_terms > 1; k++)
        for (int many = 0; many < 2; many++)
            start_line(&x, starts[k] * p->time_s[first] / hops[many], rate);
    return x.best;
}

/* The same of times that are nearly those of a line. */
static struct piece fit_line_near(const struct pieces_problem *p, const struct piece *near)
{
    struct fit_search x = { p, { .first = near->first, .n = near->n }, { .loss = INFINITY } };
    start_line(&x, near->lat_s, near->s_per_B);
    return x.best;
}

/* ---- where ranges meet ---- */

/* Ranges from cut a to cut b, and the least loss of k of them that end at cut b. */
struct pieces_table {
    int32_t n_cuts, cuts[PIECES_MAX_CUTS + 1]; /* points before each cut: 0 first, all of them last */
    struct piece *lines;                       /* shape [n_cuts][n_cuts], owned; n 0 where there is none */
    double loss[PIECES_MAX][PIECES_MAX_CUTS + 1];
    int32_t from[PIECES_MAX][PIECES_MAX_CUTS + 1];
};

/* The best line of every stretch between two cuts, found once: O(cuts^2) lines. Long curves are cut at every
 * few points only, so that there are at most PIECES_MAX_CUTS stretches to start from. */
static int build_table(struct pieces_table *t, const struct pieces_problem *p, struct err *e)
{
    int32_t step = (p->n + PIECES_MAX_CUTS - 1) / PIECES_MAX_CUTS;
    for (int32_t at = 0; at < p->n; at += step)
        t->cuts[t->n_cuts++] = at;
    t->cuts[t->n_cuts++] = p->n;
    size_t n = (size_t)t->n_cuts;
    t->lines = calloc(n * n, sizeof *t->lines);
    if (!t->lines)
        return err_nomem(e, "a fit");
    for (int32_t a = 0; a < t->n_cuts; a++)
        for (int32_t b = a + 1; b < t->n_cuts; b++)
            if (t->cuts[b] - t->cuts[a] >= PIECES_MIN_POINTS)
                t->lines[a * t->n_cuts + b] = fit_line(p, t->cuts[a], t->cuts[b] - t->cuts[a]);
    return 0;
}

/* Least loss of k + 1 lines over the points before cut b: the last line covers a to b, those before it are
 * optimal up to a (Bellman's principle; from[] remembers a for trace()). */
static void sum_losses(struct pieces_table *t, int32_t most)
{
    for (int32_t k = 0; k < most; k++)
        for (int32_t b = 0; b < t->n_cuts; b++) {
            t->loss[k][b] = INFINITY;
            for (int32_t a = 0; a < (k == 0 ? 1 : b); a++) {
                const struct piece *line = &t->lines[a * t->n_cuts + b];
                double loss = line->n == 0 ? INFINITY : line->loss + (k == 0 ? 0 : t->loss[k - 1][a]);
                if (loss < t->loss[k][b]) {
                    t->loss[k][b] = loss;
                    t->from[k][b] = a;
                }
            }
        }
}

static void trace(struct pieces *v, const struct pieces_table *t, int32_t n)
{
    int32_t b = t->n_cuts - 1;
    *v = (struct pieces){ .n = n, .loss = t->loss[n - 1][b] };
    for (int32_t k = n; k-- > 0;) {
        int32_t a = t->from[k][b];
        v->list[k] = t->lines[a * t->n_cuts + b];
        b = a;
    }
}

/* All numbers of pieces at once: the table for the most pieces holds the optima of fewer. */
int pieces_fit(struct pieces all[PIECES_MAX], const struct pieces_problem *p, int32_t most, struct err *e)
{
    struct pieces_table t = { 0 };
    assert(most >= 1 && most <= PIECES_MAX && most * PIECES_MIN_POINTS <= p->n && p->n_terms >= 1);
    int rc = build_table(&t, p, e);
    if (!rc) {
        sum_losses(&t, most);
        for (int32_t k = 0; k < most; k++)
            trace(&all[k], &t, k + 1);
    }
    free(t.lines);
    return rc;
}

_Static_assert((int)FIT_MAX_REGIMES == (int)PIECES_MAX, "a piece per regime");
_Static_assert((int)FIT_MIN_POINTS == (int)PIECES_MIN_POINTS, "one regime needs what one piece needs");

void fit_free(struct fit *f)
{
    free(f->model_s);
    *f = (struct fit){ 0 };
}

/* What the closed form says a collective among @p members takes: the curve's times are fitted to this. An
 * all-gather is given by its full result; stage_list() takes the shard. */
double fit_time(const struct topo_dim *dim, enum collective_kind kind, int32_t members, double full_B)
{
    struct topo_network net;
    struct stage stages[STAGE_MAX];
    double time_s = 0, bytes = kind == COLLECTIVE_ALL_GATHER ? full_B / members : full_B;
    topo_network_defaults(&net);
    net.n_dims = 1;
    net.dims[0] = *dim;
    net.n_npus = dim->size;
    int32_t n = stage_list(stages, kind, bytes, &members, NULL, NULL, NULL,
                           &(struct collective_way){ &net, &stage_rules_plain, &dim->bw_Bps });
    for (int32_t i = 0; i < n; i++)
        time_s += stages[i].const_s + stages[i].load_B / dim->bw_Bps;
    return time_s;
}

/* Of a size limit: what a double holds without a rest. */
enum { LIMIT_DIGITS = 12 };

/* ---- hops and loads ---- */

static enum pass first_pass(enum collective_kind kind)
{
    static const enum pass passes[N_COLLECTIVES] = {
        [COLLECTIVE_ALL_REDUCE] = PASS_ALL_REDUCE, [COLLECTIVE_REDUCE_SCATTER] = PASS_REDUCE_SCATTER,
        [COLLECTIVE_ALL_GATHER] = PASS_ALL_GATHER, [COLLECTIVE_ALL_TO_ALL] = PASS_ALL_TO_ALL,
        [COLLECTIVE_BROADCAST] = PASS_BROADCAST,   [COLLECTIVE_SEND] = PASS_SEND,
    };
    return passes[kind];
}

/* Ways of one algorithm; @p times passes of the same cost one after the other. */
static void add_terms(struct pieces_problem *p, enum topo_algorithm a, enum pass pass, int32_t times,
                      const struct topo_dim *dim, int32_t members)
{
    struct algorithm_cost cost;
    int32_t most = algorithm_has_segments(a, pass) ? STAGE_MAX_SEGMENTS : 1;
    for (int32_t k = 1; k <= most && p->n_terms < PIECES_MAX_TERMS; k *= 2)
        if (algorithm_cost(&cost, a, pass, dim, members, k))
            p->terms[p->n_terms++] =
                (struct pieces_term){ times * cost.hops, times * cost.load / collective_reach(dim) };
}

static void add_pass(struct pieces_problem *p, enum pass pass, int32_t times, const struct topo_dim *dim,
                     int32_t members)
{
    enum topo_algorithm a = algorithm_resolve(dim, dim->algorithm, pass, members);
    if (a != TOPO_ALGORITHM_AUTO)
        add_terms(p, a, pass, times, dim, members);
    else
        for (a = TOPO_ALGORITHM_RING; a < N_TOPO_ALGORITHMS; a++)
            add_terms(p, a, pass, times, dim, members);
}

/* As stage_list() has it: an all-reduce in one go where there is that, else (or if that is to be chosen) its
 * two halves, which cost the same. */
static void list_terms(struct pieces_problem *p, const struct topo_dim *dim, enum collective_kind kind,
                       int32_t members)
{
    p->n_terms = 0;
    add_pass(p, first_pass(kind), 1, dim, members);
    if (kind == COLLECTIVE_ALL_REDUCE && (p->n_terms == 0 || dim->algorithm == TOPO_ALGORITHM_AUTO))
        add_pass(p, PASS_REDUCE_SCATTER, 2, dim, members);
}

/* ---- from lines to keys ---- */

/* To @p digits significant digits, as the file will have it. */
static double rounded_to(double x, int digits)
{
    char text[32];
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return strtod(text, NULL);
}

static double fit_rounded(double x)
{
    return rounded_to(x, 6);
}

/* Between two sizes: near their geometric mean, with as few digits, from three, as still tell them apart. */
static double limit_B(double below_B, double above_B)
{
    double middle_kB = sqrt(below_B) * sqrt(above_B) / 1e3, limit_kB = middle_kB;
    for (int digits = 3; digits <= LIMIT_DIGITS; digits++) {
        limit_kB = rounded_to(middle_kB, digits);
        if (limit_kB * 1e3 >= below_B && limit_kB * 1e3 < above_B)
            break;
    }
    return limit_kB * 1e3;
}

static struct topo_regime regime_of(const struct piece *piece, double bw_Bps)
{
    double efficiency = fit_rounded(1 / (piece->s_per_B * bw_Bps));
    return (struct topo_regime){ fit_rounded(piece->lat_s * 1e9) * 1e-9,
                                 fmin(1, fmax(FIT_MIN_EFFICIENCY, efficiency)), INFINITY };
}

/* The last piece, which large sizes approach, becomes the dimension's own latency and efficiency; each
 * earlier one a regime that ends between its last point and the next piece's first. */
static void set_dim(struct topo_dim *dim, const struct pieces *v, const struct pieces_problem *p,
                    double bw_Bps)
{
    struct topo_regime own = regime_of(&v->list[v->n - 1], bw_Bps);
    dim->bw_Bps = bw_Bps;
    dim->latency_per = TOPO_PER_COLLECTIVE;
    dim->lat_s = own.lat_s;
    dim->efficiency = own.efficiency;
    dim->n_regimes = v->n - 1;
    for (int32_t r = 0; r < dim->n_regimes; r++) {
        int32_t next = v->list[r + 1].first;
        dim->regimes[r] = regime_of(&v->list[r], bw_Bps);
        dim->regimes[r].up_to_B = limit_B(p->bytes[next - 1], p->bytes[next]);
    }
}

void fit_format_regime(struct text *out, const struct topo_regime *r, const char *before)
{
    text_printf(out, "%slatency_ns: %.6g, efficiency: %.6g", before, r->lat_s * 1e9, r->efficiency);
    if (isfinite(r->up_to_B))
        text_printf(out, ", up_to_KB: %.*g", LIMIT_DIGITS, r->up_to_B / 1e3);
    text_puts(out, " }");
}

void fit_format_sure(struct text *out, const struct fit_sure *sure)
{
    if (sure && !isnan(sure->lat_s[0]))
        text_printf(out, "  # %g %%: latency_ns %.5g to %.5g, efficiency %.4g to %.4g", 100 * FIT_SURE,
                    sure->lat_s[0] * 1e9, sure->lat_s[1] * 1e9, sure->efficiency[0], sure->efficiency[1]);
    text_puts(out, "\n");
}

/* As an entry of `dims`, ready to be pasted into a network file. */
void fit_format_dim(struct text *out, const struct topo_dim *dim, const struct fit_sure *sure)
{
    char bw[NUM_TEXT];
    text_printf(out, "- { name: %s, shape: %s, size: %d, bw_GBps: %s", dim->name, topo_shape_name(dim->shape),
                (int)dim->size, num_format(bw, dim->bw_Bps / 1e9));
    if (dim->algorithm != TOPO_ALGORITHM_SHAPE)
        text_printf(out, ", algorithm: %s", topo_algorithm_words[dim->algorithm]);
    if (dim->in_switch != TOPO_IN_SWITCH_NONE)
        text_printf(out, ", in_switch: %s", topo_in_switch_words[dim->in_switch]);
    if (dim->latency_per != TOPO_PER_CHUNK)
        text_printf(out, ", latency_per: %s", topo_latency_words[dim->latency_per]);
    text_printf(out, ",\n    latency_ns: %.6g, efficiency: %.6g%s", dim->lat_s * 1e9, dim->efficiency,
                dim->n_regimes ? "," : " }");
    fit_format_sure(out, sure);
    for (int32_t r = 0; r < dim->n_regimes; r++) {
        fit_format_regime(out, &dim->regimes[r], r == 0 ? "    regimes: [ { " : "               { ");
        text_puts(out, r + 1 < dim->n_regimes ? "," : " ] }");
        fit_format_sure(out, sure ? &sure[r + 1] : NULL);
    }
}

/* ---- what is fitted ---- */

/* What must hold before anything is fitted; a shape that cannot run the algorithm would fit garbage. */
static int fit_check(const struct topo_dim *dim, const struct curve *c, const struct fit_settings *s,
                     struct err *e)
{
    int rc = topo_check_algorithm(dim, dim->algorithm, e);
    if (rc)
        return err_wrap(e, "algorithm");
    if (c->n < FIT_MIN_POINTS || c->n > FIT_MAX_POINTS)
        return err_set(e, ERR_RANGE, "curve has %d point%s, expected %d to %d", (int)c->n,
                       c->n == 1 ? "" : "s", FIT_MIN_POINTS, FIT_MAX_POINTS);
    if (c->ranks > dim->size)
        return err_set(e, ERR_RANGE, "size is %d, expected at least the %d ranks of the curve",
                       (int)dim->size, (int)c->ranks);
    if (!isnan(s->bw_Bps) && !(s->bw_Bps >= TOPO_MIN_BW_GBps * 1e9 && s->bw_Bps <= TOPO_MAX_BW_GBps * 1e9))
        return err_set(e, ERR_RANGE, "bandwidth is %g GB/s, expected %g to %g", s->bw_Bps / 1e9,
                       TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    return 0;
}

/* Time per byte that no point is faster than. */
static double fastest_s_per_B(const struct pieces_problem *p)
{
    double load = INFINITY, least = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++)
        load = fmin(load, p->terms[j].load);
    for (int32_t i = 0; i < p->n; i++)
        least = fmin(least, p->time_s[i] / (load * p->bytes[i]));
    return least;
}

static void set_range(struct pieces_problem *p, double bw_Bps)
{
    p->least_s_per_B = 1 / bw_Bps;
    p->most_s_per_B = 0.99 * p->least_s_per_B / FIT_MIN_EFFICIENCY;
}

/* ---- how many regimes, and how much times scatter ---- */

/* A fit under way. */
struct fitting {
    struct fit *f;
    const struct curve *c;
    const struct fit_settings *s;
    struct pieces_problem p;
    struct pieces v; /* chosen */
    double bw_Bps;
    double *scatter, *off, *time_s; /* shape [n], in one allocation, owned */
};

static int fitting_open(struct fitting *x, struct fit *f, const struct curve *c, const struct fit_settings *s,
                        struct err *e)
{
    double *room = malloc(3 * (size_t)c->n * sizeof *room);
    *x = (struct fitting){ .f = f, .c = c, .s = s, .scatter = room };
    if (!room)
        return err_nomem(e, "a fit");
    x->off = room + c->n;
    x->time_s = x->off + c->n;
    x->p = (struct pieces_problem){ .n = c->n, .bytes = c->bytes, .time_s = c->time_s, .scatter = room };
    return 0;
}

static void fitting_close(struct fitting *x)
{
    free(x->scatter);
}

/* Scatters to try: FIT_SCATTER, or what is stated, times powers of 2^(1/8), from a quarter to 64. */
enum { SCATTERS = 65, SCATTER_FIRST = 16 };

static double scatter_at(const struct fitting *x, int at)
{
    return (isnan(x->s->scatter) ? FIT_SCATTER : x->s->scatter) * exp2((at - SCATTER_FIRST) / 8.0);
}

/* Of a point: a digit that is lost by printing adds to the scatter of repeated measurements. */
static double point_scatter(const struct fitting *x, int at, int32_t i)
{
    return hypot(scatter_at(x, at), x->c->blur[i]);
}

/* What a regime costs. Few points say little of a scatter that is not stated: the factor is that of C. M.
 * Hurvich and C.-L. Tsai (Biometrika 76(2), 1989) for its three numbers. */
static double regime_cost(const struct fitting *x)
{
    double n = x->p.n;
    return FIT_PENALTY * log(n) * (isnan(x->s->scatter) && n > 5 ? n / (n - 4) : 1);
}

/* Twice the negative logarithm of how likely is what pieces leave, and the scatter itself (FIT_TRUST), but
 * for what is the same for all. A point counts at most what a regime costs, so that one alone makes none. */
static double unlikely(const struct fitting *x, int at)
{
    double first = scatter_at(x, SCATTER_FIRST) / scatter_at(x, at);
    double sum = FIT_TRUST * (first * first - 2 * log(first)), most = regime_cost(x);
    for (int32_t i = 0; i < x->p.n; i++) {
        double scatter = point_scatter(x, at, i);
        sum += fmin(huber(x->off[i] / scatter), most) + 2 * log(scatter / FIT_SCATTER);
    }
    return sum;
}

/* The least of it over all scatters, or at the one stated. */
static double least_unlikely(int *at, struct fitting *x, const struct pieces *v)
{
    const struct pieces_problem *p = &x->p;
    double least = INFINITY;
    for (int32_t k = 0; k < v->n; k++)
        for (int32_t i = v->list[k].first; i < v->list[k].first + v->list[k].n; i++)
            x->off[i] = pieces_time(&v->list[k], p, p->bytes[i]) / p->time_s[i] - 1;
    *at = SCATTER_FIRST;
    if (!isnan(x->s->scatter))
        return unlikely(x, *at);
    for (int t = 0; t < SCATTERS; t++) {
        double now = unlikely(x, t);
        if (now < least) {
            least = now;
            *at = t;
        }
    }
    return least;
}

/* The number of regimes, and the scatter, with the least score. Scatter decides which points are outliers, so
 * all is fitted again with the one found, until it stays. */
static int fit_choose(struct fitting *x, struct err *e)
{
    enum { ROUNDS = 8 };
    struct pieces all[PIECES_MAX];
    double *score = x->f->score;
    int32_t most = x->s->max_regimes, n = most * FIT_MIN_POINTS <= x->p.n ? most : x->p.n / FIT_MIN_POINTS;
    int at = SCATTER_FIRST, before = -1;
    for (int round = 0; round < ROUNDS && at != before; round++) {
        double least = INFINITY;
        before = at;
        for (int32_t i = 0; i < x->p.n; i++)
            x->scatter[i] = point_scatter(x, at, i);
        int rc = pieces_fit(all, &x->p, n, e);
        if (rc)
            return rc;
        for (int32_t k = 0; k < FIT_MAX_REGIMES; k++) {
            int now = before;
            score[k] = k < n ? least_unlikely(&now, x, &all[k]) + regime_cost(x) * (k + 1) : NAN;
            if (score[k] < least) {
                least = score[k];
                x->v = all[k];
                at = now;
            }
        }
    }
    x->f->scatter = scatter_at(x, before);
    return 0;
}

/*
 * With the bandwidth stated that is all. Else it is the rate of the last regime, which large sizes approach,
 * or that of the fastest point, and nothing is faster than it: a stretch where larger buffers take no more
 * time is no sign of faster links. That rate is first sought up to twice that of the fastest point: latency
 * hides at most half of a time of three points that grow with size.
 */
static int find_pieces(struct fitting *x, struct err *e)
{
    double fastest = fastest_s_per_B(&x->p);
    x->bw_Bps = x->s->bw_Bps;
    x->f->at_limit = 1 / fastest > x->bw_Bps;
    if (isnan(x->bw_Bps)) {
        set_range(&x->p, 2 / fastest);
        int rc = fit_choose(x, e);
        if (rc)
            return rc;
        x->bw_Bps = fit_rounded(1e-9 / fmin(fastest, x->v.list[x->v.n - 1].s_per_B)) * 1e9;
    }
    set_range(&x->p, x->bw_Bps);
    return fit_choose(x, e);
}

/* ---- how sure the numbers are ---- */

/* Another curve that could have been measured: the model's times, each off by what some point of the curve
 * is, in scatters. What is off was made small by the fit, which took two numbers a regime: @p grow. */
static void redraw(struct fitting *x, double grow, struct rng *r)
{
    for (int32_t i = 0; i < x->p.n; i++) {
        int32_t from = (int32_t)rng_below(r, x->p.n);
        double off = log(x->c->time_s[from] / x->f->model_s[from]) / x->scatter[from];
        x->time_s[i] = x->f->model_s[i] * exp(grow * off * x->scatter[i]);
    }
}

/* Latency and efficiency of piece @p k in each of the draws, sorted, into the range that holds FIT_SURE. */
static void take_range(struct fit_sure *to, double *lat_s, double *efficiency)
{
    stat_sort(lat_s, FIT_DRAWS);
    stat_sort(efficiency, FIT_DRAWS);
    for (int end = 0; end < 2; end++) {
        double q = end ? (1 + FIT_SURE) / 2 : (1 - FIT_SURE) / 2;
        to->lat_s[end] = stat_quantile(lat_s, FIT_DRAWS, q);
        to->efficiency[end] = stat_quantile(efficiency, FIT_DRAWS, q);
    }
}

/* Regimes and their limits stay as they were chosen. Where no bandwidth is stated a rate may be beyond the
 * one that was found. */
static int draw_sure(struct fitting *x, struct err *e)
{
    struct pieces_problem q = x->p;
    int32_t n = x->v.n;
    double grow = sqrt((double)q.n / (q.n - 2 * n));
    double *drawn = malloc((size_t)n * 2 * FIT_DRAWS * sizeof *drawn);
    struct rng *r = NULL;
    int rc = drawn ? rng_build(&r, (uint64_t)x->s->seed, 0, e) : err_nomem(e, "a fit");
    q.time_s = x->time_s;
    for (int32_t draw = 0; draw < FIT_DRAWS && !rc; draw++) {
        redraw(x, grow, r);
        if (isnan(x->s->bw_Bps))
            set_range(&q, 2 / fastest_s_per_B(&q));
        for (int32_t k = 0; k < n; k++) {
            struct piece line = fit_line_near(&q, &x->v.list[k]);
            drawn[2 * k * FIT_DRAWS + draw] = line.lat_s;
            drawn[(2 * k + 1) * FIT_DRAWS + draw] = 1 / (line.s_per_B * x->bw_Bps);
        }
    }
    for (int32_t k = 0; k < n && !rc; k++) /* the last is the dimension's own, number 0 */
        take_range(&x->f->sure[(k + 1) % n], drawn + (ptrdiff_t)(2 * k) * FIT_DRAWS,
                   drawn + (ptrdiff_t)(2 * k + 1) * FIT_DRAWS);
    rng_free(r);
    free(drawn);
    return rc;
}

/* What a model is off that cannot follow is no scatter: draws of it would lie beside its numbers. */
static int find_sure(struct fitting *x, struct err *e)
{
    const struct fit_sure none = { { NAN, NAN }, { NAN, NAN } };
    for (int32_t k = 0; k < x->v.n; k++)
        x->f->sure[k] = none;
    return x->f->at_limit ? 0 : draw_sure(x, e);
}

/* ---- the fit ---- */

static void count_error(struct fit_errors *to, double frac)
{
    to->mean_frac = (to->mean_frac * to->n + frac) / (to->n + 1);
    to->max_frac = fmax(to->max_frac, frac);
    to->n++;
}

static void fit_judge(struct fit *f, const struct curve *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        f->model_s[i] = fit_time(&f->dim, c->collective, c->ranks, c->bytes[i]);
        count_error(c->bytes[i] >= FIT_LARGE_B ? &f->large : &f->small,
                    fabs(f->model_s[i] - c->time_s[i]) / c->time_s[i]);
    }
}

/* Pieces of latency plus size over bandwidth, as many as the measurements tell apart, written into the
 * dimension. */
int fit_curve(struct fit *f, const struct topo_dim *dim, const struct curve *c, const struct fit_settings *s,
              struct err *e)
{
    struct fitting x;
    *f = (struct fit){ .dim = *dim, .n = c->n };
    assert(s->max_regimes >= 1 && s->max_regimes <= FIT_MAX_REGIMES);
    int rc = fit_check(dim, c, s, e);
    if (rc || (rc = fitting_open(&x, f, c, s, e)))
        return rc;
    list_terms(&x.p, dim, c->collective, c->ranks);
    f->model_s = malloc((size_t)c->n * sizeof *f->model_s);
    if (!f->model_s)
        rc = err_nomem(e, "a fit");
    else if (x.p.n_terms == 0)
        rc = err_set(e, ERR_RANGE, "%s is not what this dimension can do; choose another shape or algorithm",
                     collective_names[c->collective]);
    else
        rc = find_pieces(&x, e);
    if (!rc) {
        f->n_regimes = x.v.n;
        set_dim(&f->dim, &x.v, &x.p, x.bw_Bps);
        fit_judge(f, c);
        rc = find_sure(&x, e);
    }
    fitting_close(&x);
    if (rc)
        fit_free(f);
    return rc;
}
