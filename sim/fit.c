#include "sim/fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "sim/pieces.h"
#include "workloads/collective.h"

_Static_assert((int)FIT_MAX_REGIMES == (int)PIECES_MAX, "a piece per regime");
_Static_assert((int)FIT_MIN_POINTS == (int)PIECES_MIN_POINTS, "one regime needs what one piece needs");

void fit_free(struct fit *f)
{
    free(f->model_s);
    *f = (struct fit){ 0 };
}

double fit_time(const struct topo_dim *dim, enum collective_kind kind, int32_t members, double full_B)
{
    struct topo_network net;
    struct stage stages[STAGE_MAX];
    double time_s = 0, bytes = kind == COLLECTIVE_ALL_GATHER ? full_B / members : full_B;
    topo_network_defaults(&net);
    net.n_dims = 1;
    net.dims[0] = *dim;
    net.n_npus = dim->size;
    int32_t n = stage_list(stages, kind, bytes, &members, NULL, &net, &stage_rules_plain, &dim->bw_Bps);
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

static double rounded(double x)
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
    double efficiency = rounded(1 / (piece->s_per_B * bw_Bps));
    return (struct topo_regime){ rounded(piece->lat_s * 1e9) * 1e-9,
                                 fmin(1, fmax(FIT_MIN_EFFICIENCY, efficiency)), INFINITY };
}

static void set_dim(struct topo_dim *dim, const struct pieces *v, const struct pieces_problem *p,
                    double bw_Bps)
{
    struct topo_regime own = regime_of(&v->list[v->n - 1], bw_Bps);
    dim->bw_Bps = bw_Bps;
    dim->lat_s = own.lat_s;
    dim->efficiency = own.efficiency;
    dim->n_regimes = v->n - 1;
    for (int32_t r = 0; r < dim->n_regimes; r++) {
        int32_t next = v->list[r + 1].first;
        dim->regimes[r] = regime_of(&v->list[r], bw_Bps);
        dim->regimes[r].up_to_B = limit_B(p->bytes[next - 1], p->bytes[next]);
    }
}

static void put_regime(struct text *out, const struct topo_regime *r, const char *before)
{
    text_printf(out, "%s{ latency_ns: %.6g, efficiency: %.6g", before, r->lat_s * 1e9, r->efficiency);
    if (isfinite(r->up_to_B))
        text_printf(out, ", up_to_KB: %.*g", LIMIT_DIGITS, r->up_to_B / 1e3);
    text_puts(out, " }");
}

void fit_format_dim(struct text *out, const struct topo_dim *dim)
{
    char bw[NUM_TEXT];
    text_printf(out, "- { name: %s, shape: %s, size: %d, bw_GBps: %s, latency_ns: %.6g, efficiency: %.6g",
                dim->name, topo_shape_name(dim->shape), (int)dim->size, num_format(bw, dim->bw_Bps / 1e9),
                dim->lat_s * 1e9, dim->efficiency);
    if (dim->algorithm != TOPO_ALGORITHM_SHAPE)
        text_printf(out, ", algorithm: %s", topo_algorithm_words[dim->algorithm]);
    if (dim->in_switch != TOPO_IN_SWITCH_NONE)
        text_printf(out, ", in_switch: %s", topo_in_switch_words[dim->in_switch]);
    for (int32_t r = 0; r < dim->n_regimes; r++)
        put_regime(out, &dim->regimes[r], r == 0 ? ",\n    regimes: [ " : ",\n               ");
    text_puts(out, dim->n_regimes > 0 ? " ] }\n" : " }\n");
}

/* ---- the fit ---- */

static int check(const struct topo_dim *dim, const struct curve *c, const struct fit_settings *s,
                 struct err *e)
{
    int rc = topo_check_algorithm(dim, dim->algorithm, e);
    if (rc)
        return err_wrap(e, "algorithm");
    if (c->n < FIT_MIN_POINTS || c->n > FIT_MAX_POINTS)
        return err_set(e, ERR_RANGE, "curve has %d point%s, need %d to %d", (int)c->n, c->n == 1 ? "" : "s",
                       FIT_MIN_POINTS, FIT_MAX_POINTS);
    if (c->ranks > dim->size)
        return err_set(e, ERR_RANGE, "size is %d, need at least the %d ranks of the curve", (int)dim->size,
                       (int)c->ranks);
    if (!isnan(s->bw_Bps) && !(s->bw_Bps >= TOPO_MIN_BW_GBps * 1e9 && s->bw_Bps <= TOPO_MAX_BW_GBps * 1e9))
        return err_set(e, ERR_RANGE, "bandwidth is %g GB/s, need %g to %g", s->bw_Bps / 1e9, TOPO_MIN_BW_GBps,
                       TOPO_MAX_BW_GBps);
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
static int choose(struct fit *f, struct pieces *best, const struct pieces_problem *p, int32_t most,
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
        int rc = choose(f, v, p, s->max_regimes, e);
        if (rc)
            return rc;
        *bw_Bps = rounded(1e-9 / fmin(fastest, v->list[v->n - 1].s_per_B)) * 1e9;
    }
    set_range(p, *bw_Bps);
    return choose(f, v, p, s->max_regimes, e);
}

static void count_error(struct fit_errors *to, double frac)
{
    to->mean_frac = (to->mean_frac * to->n + frac) / (to->n + 1);
    to->max_frac = fmax(to->max_frac, frac);
    to->n++;
}

static void judge(struct fit *f, const struct curve *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        f->model_s[i] = fit_time(&f->dim, c->collective, c->ranks, c->bytes[i]);
        count_error(c->bytes[i] >= FIT_LARGE_B ? &f->large : &f->small,
                    fabs(f->model_s[i] - c->time_s[i]) / c->time_s[i]);
    }
}

int fit_curve(struct fit *f, const struct topo_dim *dim, const struct curve *c, const struct fit_settings *s,
              struct err *e)
{
    *f = (struct fit){ .dim = *dim, .n = c->n };
    assert(s->max_regimes >= 1 && s->max_regimes <= FIT_MAX_REGIMES);
    int rc = check(dim, c, s, e);
    if (rc)
        return rc;
    struct pieces_problem p = { .n = c->n, .bytes = c->bytes, .time_s = c->time_s };
    struct pieces v = { 0 };
    double bw_Bps;
    list_terms(&p, dim, c->collective, c->ranks);
    if (p.n_terms == 0)
        return err_set(e, ERR_RANGE, "%s is not what this dimension can do, need another shape or algorithm",
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
        judge(f, c);
    }
out:
    free(blur);
    if (rc)
        fit_free(f);
    return rc;
}
