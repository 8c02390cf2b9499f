#include "kinds/design/bound_cut.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = TOPO_MAX_DIMS };

/* Of one workload: where its multipliers are in bound.split. */
struct part {
    const struct step_fn *fn;
    double weight;
    double *leaf;  /* shape [n_leaves][n_dims]: a leaf's sum to 1 */
    double *share; /* shape [n_terms]: of the terms of a maximum sum to 1 */
    double *value; /* shape [n_terms]: time, then weight */
};

static size_t part_room(const struct step_fn *f)
{
    return (size_t)f->n_leaves * (size_t)f->n_dims + 2 * (size_t)f->n_terms;
}

static struct part part_at(double *at, const struct study_workload *w)
{
    struct part p = { .fn = &w->fn, .weight = w->weight, .leaf = at };
    p.share = at + (size_t)w->fn.n_leaves * (size_t)w->fn.n_dims;
    p.value = p.share + w->fn.n_terms;
    return p;
}

/* Times of all terms at 1/B = inverse. Children come after parents. */
static void time_terms(const struct part *p, const double *inverse)
{
    const struct step_fn *f = p->fn;
    for (int32_t k = f->n_terms; k-- > 0;) {
        p->value[k] = f->const_s[k];
        for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
            double longest = 0;
            for (int32_t d = 0; d < f->n_dims; d++)
                longest = fmax(longest, f->traffic_B[(ptrdiff_t)l * D + d] * inverse[d]);
            p->value[k] += longest;
        }
        for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
            double longest = 0;
            for (int32_t i = f->term_begin[j]; i < f->term_begin[j + 1]; i++)
                longest = fmax(longest, p->value[i]);
            p->value[k] += longest;
        }
    }
}

/* x times what it is to grow by, made to sum to 1 again; left as it is where all would be gone. The product
 * first: it is no more than the sum, so nothing overflows. */
static void grow(double *x, const double *by, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += x[i] * by[i];
    if (!(sum > DBL_MIN && isfinite(sum)))
        return;
    double scale = 1 / sum;
    for (int32_t i = 0; i < n; i++)
        x[i] = x[i] * by[i] * scale;
}

/* Terms of a maximum that take long get more of its weight. By squares: a time falls with the root of its
 * weight, so that lands near the balance at once. */
static void move_terms(const struct part *p, const double *inverse)
{
    const struct step_fn *f = p->fn;
    time_terms(p, inverse);
    for (int32_t j = 0; j < f->n_maxima; j++) {
        int32_t first = f->term_begin[j], n = f->term_begin[j + 1] - first;
        for (int32_t i = first; i < first + n; i++)
            p->value[i] *= p->value[i];
        grow(p->share + first, p->value + first, n);
    }
}

/* The same for the dimensions of each leaf. */
static void move_leaves(const struct part *p, const double *inverse)
{
    const struct step_fn *f = p->fn;
    double by[D];
    for (int32_t l = 0; l < f->n_leaves; l++) {
        for (int32_t d = 0; d < f->n_dims; d++)
            by[d] = f->traffic_B[(ptrdiff_t)l * D + d] * inverse[d];
        grow(p->leaf + (ptrdiff_t)l * f->n_dims, by, f->n_dims);
    }
}

/* All equal: of a leaf price times traffic, which is best where it is alone. */
static void begin_part(const struct part *p, const double *price)
{
    const struct step_fn *f = p->fn;
    for (int32_t l = 0; l < f->n_leaves; l++) {
        double *leaf = p->leaf + (ptrdiff_t)l * f->n_dims;
        for (int32_t d = 0; d < f->n_dims; d++)
            leaf[d] = 1.0 / f->n_dims;
        double by[D];
        for (int32_t d = 0; d < f->n_dims; d++)
            by[d] = price[d] * f->traffic_B[(ptrdiff_t)l * D + d];
        grow(leaf, by, f->n_dims);
    }
    for (int32_t j = 0; j < f->n_maxima; j++)
        for (int32_t i = f->term_begin[j]; i < f->term_begin[j + 1]; i++)
            p->share[i] = 1.0 / (f->term_begin[j + 1] - f->term_begin[j]);
}

/* Constant and pulls of the multipliers. */
static void add_pulls(struct bound_cut *cut, const struct part *p)
{
    const struct step_fn *f = p->fn;
    double *weight = p->value;
    weight[0] = p->weight;
    for (int32_t k = 0; k < f->n_terms; k++) {
        cut->const_s += weight[k] * f->const_s[k];
        for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
            for (int32_t d = 0; d < f->n_dims; d++)
                cut->pull_B[d] +=
                    weight[k] * p->leaf[(ptrdiff_t)l * f->n_dims + d] * f->traffic_B[(ptrdiff_t)l * D + d];
        for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++)
            for (int32_t i = f->term_begin[j]; i < f->term_begin[j + 1]; i++)
                weight[i] = weight[k] * p->share[i];
    }
}

static void pull(struct bound_cut *cut, const struct bound *b, const struct design_point *s)
{
    double *at = b->split;
    cut->const_s = 0;
    memset(cut->pull_B, 0, sizeof cut->pull_B);
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct part p = part_at(at, &s->workloads[i]);
        add_pulls(cut, &p);
        at += part_room(p.fn);
    }
}

/* The split that is best for the pulls, B_d = sqrt(a_d/p_d), as shares; what that makes of R. */
static void split_by(struct bound_cut *cut, const double *price, int32_t n_dims)
{
    double root = 0, sum = 0;
    for (int32_t d = 0; d < n_dims; d++) {
        double r = sqrt(cut->pull_B[d] * price[d]);
        root += r;
        cut->share[d] = price[d] > 0 ? r / price[d] : 0;
        sum += cut->share[d];
    }
    for (int32_t d = 0; d < n_dims && sum > 0; d++)
        cut->share[d] /= sum;
    cut->root2 = root * root;
}

static void round_up(struct bound_cut *cut, const struct bound *b, const struct design_point *s,
                     const double *price)
{
    double inverse[D], *at = b->split;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        inverse[d] = cut->share[d] > 0 ? 1 / (cut->share[d] * b->total_Bps) : 0;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct part p = part_at(at, &s->workloads[i]);
        if (p.fn->n_maxima)
            move_terms(&p, inverse);
        move_leaves(&p, inverse);
        at += part_room(p.fn);
    }
    pull(cut, b, s);
    split_by(cut, price, s->net.n_dims);
}

void bound_begin_cuts(const struct bound *b, const struct design_point *s, const double *price)
{
    double *at = b->split;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct part p = part_at(at, &s->workloads[i]);
        begin_part(&p, price);
        at += part_room(p.fn);
    }
}

void bound_find_cut(struct bound_cut *cut, const struct bound *b, const struct design_point *s,
                    const double *price, int rounds)
{
    pull(cut, b, s);
    split_by(cut, price, s->net.n_dims);
    for (int i = 0; i < rounds; i++)
        round_up(cut, b, s, price);
}

int bound_reserve(struct bound *b, const struct design_point *s, struct err *e)
{
    size_t room = 0;
    for (int32_t i = 0; i < s->n_workloads; i++)
        room += part_room(&s->workloads[i].fn);
    if (room <= b->room)
        return 0;
    double *grown = realloc(b->split, room * sizeof *grown);
    if (!grown)
        return err_nomem(e, "lower bounds");
    b->split = grown;
    b->room = room;
    return 0;
}
