/*
 * Latency and efficiency fitted to measured times of collectives.
 * A curve over bytes becomes 1, 2, .. pieces, each a line time = min over algorithms of hops * latency + load
 * * bytes * s_per_B, with the least sum of relative errors: dynamic programming over where pieces meet, a
 * weighted median and a golden section within one. From the pieces come a dimension's latency, efficiency and
 * regimes.
 */
#include "sim/fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/stat.h"
#include "workloads/collective.h"

/* Time over s_per_B, which is all that the ratio of the two numbers decides. */
static double shape_B(const struct pieces_problem *p, double ratio_B, double bytes)
{
    double least_B = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++)
        least_B = fmin(least_B, p->terms[j].hops * ratio_B + p->terms[j].load * bytes);
    return least_B;
}

double pieces_time(const struct piece *piece, const struct pieces_problem *p, double bytes)
{
    double least_s = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++)
        least_s = fmin(least_s, p->terms[j].hops * piece->lat_s + p->terms[j].load * bytes * piece->s_per_B);
    return least_s;
}

/* ---- one line ---- */

/* The search for the line of points first .. first + n - 1. */
struct search {
    const struct pieces_problem *p;
    struct stat_weighted
        *votes; /* shape [p->n]: what each point asks of the scale, and how much it matters */
    struct piece best;
};

/* Loss of the best line with this ratio; it is kept when it is the best so far. */
static double try_ratio(struct search *x, double ratio_B)
{
    const struct pieces_problem *p = x->p;
    struct piece line = x->best;
    for (int32_t k = 0; k < line.n; k++) {
        int32_t i = line.first + k;
        double shape = shape_B(p, ratio_B, p->bytes[i]);
        /* |s shape - t| / t / blur is |s - t/shape| times shape/t/blur. */
        x->votes[k] = (struct stat_weighted){ p->time_s[i] / shape, shape / p->time_s[i] / p->blur[i] };
    }
    line.s_per_B = fmax(p->least_s_per_B, fmin(p->most_s_per_B, stat_weighted_median(x->votes, line.n)));
    line.lat_s = ratio_B * line.s_per_B;
    line.loss = 0;
    for (int32_t k = 0; k < line.n; k++)
        line.loss += fabs(line.s_per_B - x->votes[k].value) * x->votes[k].weight;
    if (line.loss < x->best.loss)
        x->best = line;
    return line.loss;
}

/* Ratios worth a look, as logarithms: from a latency that is a millionth of the fastest transfer to one that
 * is the whole of the longest time. */
static void find_range(double *lo, double *hi, const struct search *x)
{
    const struct pieces_problem *p = x->p;
    double hops[2] = { INFINITY, 0 }, load = INFINITY, longest_s = 0;
    for (int32_t j = 0; j < p->n_terms; j++) {
        hops[0] = fmin(hops[0], p->terms[j].hops);
        hops[1] = fmax(hops[1], p->terms[j].hops);
        load = fmin(load, p->terms[j].load);
    }
    for (int32_t i = x->best.first; i < x->best.first + x->best.n; i++)
        longest_s = fmax(longest_s, p->time_s[i]);
    *lo = log(1e-6 * load * p->bytes[x->best.first] / hops[1]);
    *hi = fmax(*lo + 1, log(longest_s / p->least_s_per_B / hops[0]));
}

/* The loss falls and rises once in the ratio with one term: sets of lines that are no worse than some loss
 * are convex, and rays through the origin meet such a set at ratios without a gap. */
static struct piece fit_line(const struct pieces_problem *p, struct stat_weighted *votes, int32_t first,
                             int32_t n)
{
    enum { GRID = 40, ROUNDS = 55 };
    const double golden = 0.6180339887498949;
    struct search x = { p, votes, { .first = first, .n = n, .loss = INFINITY } };
    double lo, hi, least = INFINITY, at;
    find_range(&lo, &hi, &x);
    double step = (hi - lo) / GRID;
    at = lo;
    for (int k = 0; k <= GRID; k++) {
        double loss = try_ratio(&x, exp(lo + k * step));
        if (loss < least) {
            least = loss;
            at = lo + k * step;
        }
    }
    lo = at - step;
    hi = at + step;
    double left = hi - golden * (hi - lo), right = lo + golden * (hi - lo);
    double at_left = try_ratio(&x, exp(left)), at_right = try_ratio(&x, exp(right));
    for (int k = 0; k < ROUNDS; k++) {
        if (at_left <= at_right) {
            hi = right;
            right = left;
            at_right = at_left;
            left = hi - golden * (hi - lo);
            at_left = try_ratio(&x, exp(left));
        } else {
            lo = left;
            left = right;
            at_left = at_right;
            right = lo + golden * (hi - lo);
            at_right = try_ratio(&x, exp(right));
        }
    }
    try_ratio(&x, 0);
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
    struct stat_weighted *votes = malloc((size_t)p->n * sizeof *votes);
    t->lines = calloc(n * n, sizeof *t->lines);
    if (!votes || !t->lines) {
        free(votes);
        return err_nomem(e, "a fit");
    }
    for (int32_t a = 0; a < t->n_cuts; a++)
        for (int32_t b = a + 1; b < t->n_cuts; b++)
            if (t->cuts[b] - t->cuts[a] >= PIECES_MIN_POINTS)
                t->lines[a * t->n_cuts + b] = fit_line(p, votes, t->cuts[a], t->cuts[b] - t->cuts[a]);
    free(votes);
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
    int32_t n =
        stage_list(stages, kind, bytes, &members, NULL, NULL, NULL, &net, &stage_rules_plain, &dim->bw_Bps);
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

/* As an entry of `dims`, ready to be pasted into a network file. */
void fit_format_dim(struct text *out, const struct topo_dim *dim)
{
    char bw[NUM_TEXT];
    text_printf(out, "- { name: %s, shape: %s, size: %d, bw_GBps: %s, latency_ns: %.6g, efficiency: %.6g",
                dim->name, topo_shape_name(dim->shape), (int)dim->size, num_format(bw, dim->bw_Bps / 1e9),
                dim->lat_s * 1e9, dim->efficiency);
    if (dim->latency_per != TOPO_PER_CHUNK)
        text_printf(out, ", latency_per: %s", topo_latency_words[dim->latency_per]);
    if (dim->algorithm != TOPO_ALGORITHM_SHAPE)
        text_printf(out, ", algorithm: %s", topo_algorithm_words[dim->algorithm]);
    if (dim->in_switch != TOPO_IN_SWITCH_NONE)
        text_printf(out, ", in_switch: %s", topo_in_switch_words[dim->in_switch]);
    for (int32_t r = 0; r < dim->n_regimes; r++)
        fit_format_regime(out, &dim->regimes[r], r == 0 ? ",\n    regimes: [ { " : ",\n               { ");
    text_puts(out, dim->n_regimes > 0 ? " ] }\n" : " }\n");
}

/* ---- the fit ---- */

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

/* The number of regimes with the least score. */
static int fit_choose(struct fit *f, struct pieces *best, const struct pieces_problem *p, int32_t most,
                      struct err *e)
{
    struct pieces all[PIECES_MAX];
    double least = INFINITY;
    int32_t n = most * FIT_MIN_POINTS <= p->n ? most : p->n / FIT_MIN_POINTS;
    int rc = pieces_fit(all, p, n, e);
    for (int32_t k = 0; k < FIT_MAX_REGIMES; k++)
        f->score[k] = NAN;
    for (int32_t k = 1; k <= n && !rc; k++) {
        f->score[k - 1] = 2 * all[k - 1].loss / FIT_SCATTER + 3 * log(p->n) * k;
        if (f->score[k - 1] < least) {
            least = f->score[k - 1];
            *best = all[k - 1];
        }
    }
    return rc;
}

/*
 * With the bandwidth stated that is all. Else it is the rate of the last regime, which large sizes approach,
 * or that of the fastest point, and nothing is faster than it: a stretch where larger buffers take no more
 * time is no sign of faster links. That rate is first sought up to twice that of the fastest point: latency
 * hides at most half of a time of three points that grow with size.
 */
static int find_pieces(struct fit *f, struct pieces *v, double *bw_Bps, struct pieces_problem *p,
                       const struct fit_settings *s, struct err *e)
{
    double fastest = fastest_s_per_B(p);
    *bw_Bps = s->bw_Bps;
    f->at_limit = 1 / fastest > s->bw_Bps;
    if (isnan(s->bw_Bps)) {
        set_range(p, 2 / fastest);
        int rc = fit_choose(f, v, p, s->max_regimes, e);
        if (rc)
            return rc;
        *bw_Bps = fit_rounded(1e-9 / fmin(fastest, v->list[v->n - 1].s_per_B)) * 1e9;
    }
    set_range(p, *bw_Bps);
    return fit_choose(f, v, p, s->max_regimes, e);
}

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

/* Pieces of latency plus size over bandwidth, as many as the measurements tell apart (Bayesian information
 * criterion in fit_choose()), written into the dimension. */
int fit_curve(struct fit *f, const struct topo_dim *dim, const struct curve *c, const struct fit_settings *s,
              struct err *e)
{
    *f = (struct fit){ .dim = *dim, .n = c->n };
    assert(s->max_regimes >= 1 && s->max_regimes <= FIT_MAX_REGIMES);
    int rc = fit_check(dim, c, s, e);
    if (rc)
        return rc;
    struct pieces_problem p = { .n = c->n, .bytes = c->bytes, .time_s = c->time_s };
    struct pieces v = { 0 };
    double bw_Bps;
    list_terms(&p, dim, c->collective, c->ranks);
    if (p.n_terms == 0)
        return err_set(e, ERR_RANGE,
                       "%s is not what this dimension can do; choose another shape or algorithm",
                       collective_names[c->collective]);
    double *blur = malloc((size_t)c->n * sizeof *blur);
    f->model_s = malloc((size_t)c->n * sizeof *f->model_s);
    if (!blur || !f->model_s) {
        rc = err_nomem(e, "a fit");
        goto out;
    }
    /* A digit that is lost by printing adds to the scatter. */
    for (int32_t i = 0; i < c->n; i++)
        blur[i] = hypot(1, c->blur[i] / FIT_SCATTER);
    p.blur = blur;
    rc = find_pieces(f, &v, &bw_Bps, &p, s, e);
    if (!rc) {
        f->n_regimes = v.n;
        set_dim(&f->dim, &v, &p, bw_Bps);
        fit_judge(f, c);
    }
out:
    free(blur);
    if (rc)
        fit_free(f);
    return rc;
}
