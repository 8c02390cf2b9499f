/*
 * Least congestion over known paths p of flows k, as a linear programme in shares x, slacks w and theta:
 *
 *     min theta:   sum_(p of k) x_p = d_k,   sum_p u_lp x_p + w_l = theta c_l,      x, w >= 0
 *     dual:        z_p = u_p . y - pi_k,     c . y = 1,                             z, y >= 0
 *
 * solved by a primal-dual interior-point method with predictor and corrector (S. Mehrotra, SIAM J.
 * Optimization 2, 1992). With D_p = x_p / z_p a flow is eliminated by itself, and what is left is one matrix
 * over links, W/Y + sum_k U_k (D - D e e' D / sum D) U_k', that is factored once a step. The bracket has no
 * effect on what all paths of a flow share, so it is summed as differences from the path with the greatest D:
 * a flow of one path adds nothing, and nothing large is subtracted from its like.
 *
 * Paths join while it runs (J. Gondzio, P. Gonzalez-Brevis, P. Munari, New developments in the primal-dual
 * column generation technique, EJOR 224, 2013): a new one takes at most JOIN of its flow from the others, the
 * less the farther its length is from pi_k (the products of one that begins with little are far from the
 * centre of the others once it grows, and hold up the steps); its z is that of the centre and misses by rho,
 * which steps reduce as they do any infeasibility. A path whose share fell below FORGET of what it may carry
 * is dropped, if it is no shorter than pi_k; it would be found again. Invariants between steps: x, w, y, z >
 * 0 of flows with two paths or more; sum of x of a flow its demand; c . y = 1. The capacity rows need not
 * hold: congestion_loads() counts anew.
 */
#include "topo/congestion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/matrix.h"
#include "base/vec.h"

/** Products to begin with: slack of all links times their lengths, over theta. */
#define BEGIN 0.005

/** Share of its flow that a new path begins with. */
#define JOIN 0.3

/** Share of a link's capacity that a new path may begin with. */
#define CROWD 0.3

/** A path with less than this share of what it may carry is dropped. */
#define FORGET 1e-6

/** How far a step goes to where the first variable would be zero. */
#define STEP 0.98

/** Least target over the present mean of products: more haste leaves the centre. */
#define LEAST_SIGMA 1e-5

struct path {
    int32_t first, n; /* its links are hops[first .. first + n) */
    int32_t next;     /* path of the same flow, -1 = none */
    double x, z;      /* share of the demand; reduced length, which misses u . y - pi by rho */
    double rho;
    double most;    /* its demand, or less where a link cannot carry that */
    double dx, dz;  /* step */
    double d;       /* x / z */
    double g;       /* what dx would be at dz = 0 */
    double product; /* dx dz of the predictor */
};

struct congestion {
    struct arena arena; /* of all arrays but paths and hops */
    int32_t n_links, n_flows, n_paths, cap_paths, n_hops, cap_hops;
    struct path *paths;  /* shape [n_paths], owned */
    int32_t *hops;       /* shape [n_hops], owned */
    int32_t n_packed;    /* paths that stand flow by flow, as they are read */
    int32_t *head, *n;   /* shape [n_flows]: first path, how many */
    double *demand, *pi; /* shape [n_flows] */
    /* shape [n_links] */
    double *c, *y, *w, *load;
    double *dy, *dw, *product;
    double *b;     /* right-hand side, then its solution */
    double *along; /* matrix^-1 c */
    double *sum;   /* over the links listed in touched, each once */
    double *value; /* of those, where not 0 */
    int32_t *touched;
    bool *is_touched;
    int32_t n_touched;
    double *matrix; /* shape [n_links][n_links] */
    int32_t n_open; /* links with capacity; others have w = y = 1, no path and no step */
    double theta, d_theta;
    double mu; /* mean of the products x z and w y */
    bool begun;
};

#define each_path(p, x, k)                                                                                   \
    struct path *p = (x)->head[k] < 0 ? NULL : &(x)->paths[(x)->head[k]];                                    \
    p;                                                                                                       \
    p = p->next < 0 ? NULL : &(x)->paths[p->next]

int congestion_build(struct congestion **out, int32_t n_links, int32_t n_flows, const double *demand,
                     struct err *e)
{
    struct congestion *x = *out = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "flows on a graph");
    double **of_links[] = { &x->c,       &x->y, &x->w,     &x->load, &x->dy,   &x->dw,
                            &x->product, &x->b, &x->along, &x->sum,  &x->value };
    for (size_t i = 0; i < sizeof of_links / sizeof *of_links; i++)
        *of_links[i] = ARENA_TAKE(&x->arena, n_links, double);
    x->touched = ARENA_TAKE(&x->arena, n_links, *x->touched);
    x->is_touched = ARENA_TAKE(&x->arena, n_links, *x->is_touched);
    x->matrix = ARENA_TAKE(&x->arena, (size_t)n_links * (size_t)n_links, *x->matrix);
    x->demand = ARENA_TAKE(&x->arena, n_flows, *x->demand);
    x->pi = ARENA_TAKE(&x->arena, n_flows, *x->pi);
    x->head = ARENA_TAKE(&x->arena, n_flows, *x->head);
    x->n = ARENA_TAKE(&x->arena, n_flows, *x->n);
    int rc = arena_check(&x->arena, "flows on a graph", e);
    if (rc) {
        congestion_free(x);
        *out = NULL;
        return rc;
    }
    x->n_links = n_links;
    x->n_flows = n_flows;
    for (int32_t k = 0; k < n_flows; k++) {
        x->demand[k] = demand[k];
        x->head[k] = -1;
    }
    return 0;
}

void congestion_free(struct congestion *x)
{
    if (!x)
        return;
    arena_free(&x->arena);
    free(x->paths);
    free(x->hops);
    free(x);
}

static double length_of(const struct congestion *x, const struct path *p, const double *y)
{
    double sum = 0;
    for (int32_t i = p->first; i < p->first + p->n; i++)
        sum += y[x->hops[i]];
    return sum;
}

double congestion_shortest(const struct congestion *x, int32_t flow, const double *y)
{
    double least = INFINITY;
    for (each_path(p, x, flow))
        least = fmin(least, length_of(x, p, y));
    return least;
}

const double *congestion_lengths(const struct congestion *x)
{
    return x->y;
}

const double *congestion_loads(double *worst, struct congestion *x)
{
    memset(x->load, 0, (size_t)x->n_links * sizeof *x->load);
    for (int32_t k = 0; k < x->n_flows; k++)
        for (each_path(p, x, k))
            for (int32_t i = p->first; i < p->first + p->n; i++)
                x->load[x->hops[i]] += p->x;
    *worst = 0;
    for (int32_t l = 0; l < x->n_links; l++)
        *worst = fmax(*worst, x->load[l] / x->c[l]);
    return x->load;
}

/* ---- paths ---- */

/* What path p of flow k may carry at the present theta. */
static double limit_path(const struct congestion *x, struct path *p, int32_t k)
{
    p->most = x->demand[k];
    for (int32_t i = p->first; i < p->first + p->n; i++)
        p->most = fmin(p->most, x->theta * x->c[x->hops[i]]);
    return p->most;
}

/* The new first path of flow k gets its share. Where the flow had one path only, that one gets a z now. */
static void join_flow(struct congestion *x, int32_t k)
{
    struct path *new = &x->paths[x->head[k]], *old = new->next < 0 ? new : &x->paths[new->next];
    if (x->n[k] == 2) {
        old->z = x->mu / old->x;
        old->rho = 0;
        x->pi[k] = length_of(x, old, x->y) - old->z;
    }
    double above = length_of(x, new, x->y) - x->pi[k],
           share = fmin(JOIN * x->demand[k], CROWD * limit_path(x, new, k));
    new->x = fmin(share, x->mu / fabs(above));
    new->z = x->mu / new->x;
    new->rho = above - new->z;
    for (each_path(p, x, k))
        p->x *= p == new ? 1 : 1 - new->x / x->demand[k];
}

int congestion_add(struct congestion *x, int32_t flow, int32_t n, const int32_t *links, struct err *e)
{
    if (x->n_hops > INT32_MAX - n)
        return err_set(e, ERR_RANGE, "has more paths than can be kept");
    if (!vec_reserve(x->paths, x->cap_paths, x->n_paths + 1) ||
        !vec_reserve(x->hops, x->cap_hops, x->n_hops + n))
        return err_nomem(e, "flows on a graph");
    x->paths[x->n_paths] = (struct path){ .first = x->n_hops, .n = n, .next = x->head[flow] };
    memcpy(x->hops + x->n_hops, links, (size_t)n * sizeof *links);
    x->n_hops += n;
    x->head[flow] = x->n_paths++;
    x->n[flow]++;
    if (x->begun)
        join_flow(x, flow);
    return 0;
}

/* Drop paths of next to no share, but for those that joined with little and are wanted: shorter than pi. What
 * is left carries the demand. */
static void forget_paths(struct congestion *x, int32_t k)
{
    double sum = 0;
    for (int32_t *at = &x->head[k]; *at >= 0;) {
        struct path *p = &x->paths[*at];
        if (p->x < 0 || (p->x < FORGET * p->most && p->z + p->rho > 0)) {
            *at = p->next;
            x->n[k]--;
        } else {
            sum += p->x;
            at = &p->next;
        }
    }
    for (each_path(p, x, k))
        p->x *= x->demand[k] / sum;
}

/*
 * Every pass reads all paths flow by flow: at thousands of flows it waits for memory unless they stand in
 * that order, those that were dropped left out. Worth it where a quarter does not. Without memory all stays.
 */
static void pack_paths(struct congestion *x)
{
    int32_t n_live = 0, n = 0, n_hops = 0;
    for (int32_t k = 0; k < x->n_flows; k++)
        n_live += x->n[k];
    if (x->n_paths - x->n_packed <= n_live / 4 && x->n_paths - n_live <= n_live / 4)
        return;
    struct path *paths = malloc(((size_t)n_live + 1) * sizeof *paths);
    int32_t *hops = malloc(((size_t)x->n_hops + 1) * sizeof *hops);
    if (!paths || !hops) {
        free(paths);
        free(hops);
        return;
    }
    for (int32_t k = 0; k < x->n_flows; k++) {
        int32_t head = n;
        for (each_path(p, x, k)) {
            paths[n] = *p;
            paths[n].first = n_hops;
            paths[n].next = p->next < 0 ? -1 : n + 1;
            memcpy(hops + n_hops, x->hops + p->first, (size_t)p->n * sizeof *hops);
            n_hops += p->n;
            n++;
        }
        x->head[k] = n > head ? head : -1;
    }
    free(x->paths);
    free(x->hops);
    x->paths = paths;
    x->hops = hops;
    x->n_paths = x->n_packed = n;
    x->cap_paths = n_live + 1;
    x->cap_hops = x->n_hops + 1;
    x->n_hops = n_hops;
}

/* ---- where it begins ---- */

/* Shares at which all products of a flow are mu: sum of mu / (length - pi) is the demand. The sum falls in
 * s = least length - pi and is convex, so Newton's method from below does not overshoot. */
static void center_flow(struct congestion *x, int32_t k)
{
    double least = congestion_shortest(x, k, x->y), s = x->mu / x->demand[k];
    for (int round = 0; round < 100; round++) {
        double sum = 0, slope = 0;
        for (each_path(p, x, k)) {
            p->z = length_of(x, p, x->y) - least + s;
            p->x = x->mu / p->z;
            sum += p->x;
            slope += p->x / p->z;
        }
        if (sum - x->demand[k] <= 1e-12 * x->demand[k])
            break;
        s += (sum - x->demand[k]) / slope;
    }
    x->pi[k] = least - s;
    for (each_path(p, x, k)) {
        p->rho = 0;
        limit_path(x, p, k);
    }
    forget_paths(x, k);
}

/* Drop the paths of a flow that lead over a closed link. */
static void drop_closed(struct congestion *x, int32_t k)
{
    for (each_path(p, x, k))
        p->x = limit_path(x, p, k) > 0 ? 1 : -1;
    forget_paths(x, k);
}

void congestion_begin(struct congestion *x, const double *capacity, const double *y)
{
    double sum = 0;
    x->n_open = 0;
    for (int32_t l = 0; l < x->n_links; l++) {
        x->c[l] = capacity[l];
        sum += capacity[l] > 0 ? capacity[l] * y[l] : 0;
        x->n_open += capacity[l] > 0;
    }
    for (int32_t l = 0; l < x->n_links; l++)
        x->y[l] = x->c[l] > 0 ? y[l] / sum : 1;
    x->theta = 1;
    for (int32_t k = 0; k < x->n_flows; k++)
        drop_closed(x, k);
    x->theta = 0; /* at least what lengths say */
    for (int32_t k = 0; k < x->n_flows; k++)
        x->theta += x->demand[k] * congestion_shortest(x, k, x->y);
    x->mu = BEGIN * x->theta / x->n_open;
    for (int32_t k = 0; k < x->n_flows; k++)
        center_flow(x, k);
    congestion_loads(&x->theta, x);
    for (int32_t l = 0; l < x->n_links; l++)
        x->w[l] = x->c[l] > 0 ? fmax(x->theta * x->c[l] - x->load[l], x->mu / x->y[l]) : 1;
    x->begun = true;
}

/* ---- the matrix ---- */

static void touch_path(struct congestion *x, const struct path *p, double times)
{
    for (int32_t i = p->first; i < p->first + p->n; i++) {
        int32_t l = x->hops[i];
        if (!x->is_touched[l]) {
            x->is_touched[l] = true;
            x->touched[x->n_touched++] = l;
            x->sum[l] = 0;
        }
        x->sum[l] += times;
    }
}

/* Add times * sum sum' to one of both places of each pair of links, and begin a new sum. */
static void add_touched(struct congestion *x, double times)
{
    int32_t n = 0;
    double *value = x->value;
    for (int32_t i = 0; i < x->n_touched; i++) {
        int32_t l = x->touched[i];
        x->is_touched[l] = false;
        if (x->sum[l] != 0) {
            value[n] = x->sum[l];
            x->touched[n++] = l;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        double *row = x->matrix + (size_t)x->touched[i] * (size_t)x->n_links;
        double factor = times * value[i];
        for (int32_t j = 0; j <= i; j++)
            row[x->touched[j]] += factor * value[j];
    }
    x->n_touched = 0;
}

static void add_flow(struct congestion *x, int32_t k)
{
    struct path *most = &x->paths[x->head[k]];
    double all = 0, others = 0;
    for (each_path(p, x, k)) {
        p->d = p->x / p->z;
        all += p->d;
        most = p->d > most->d ? p : most;
    }
    for (each_path(p, x, k)) {
        if (p == most)
            continue;
        touch_path(x, p, 1);
        touch_path(x, most, -1);
        /* With two paths both terms are one: d - d d / all = d most / all. */
        add_touched(x, x->n[k] == 2 ? p->d * (most->d / all) : p->d);
    }
    if (x->n[k] == 2)
        return;
    for (each_path(p, x, k)) {
        if (p == most)
            continue;
        touch_path(x, p, p->d);
        others += p->d;
    }
    touch_path(x, most, -others);
    add_touched(x, -1 / all);
}

/* What stands above the diagonal goes below it. */
static void fold_matrix(double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] += matrix[j * n + i];
}

/* Factor it; a matrix that rounding makes singular is shifted a little. */
static bool factor_matrix(struct congestion *x)
{
    static const double shifts[] = { 0, 1e-15, 1e-13, 1e-11, 1e-9 };
    size_t n = (size_t)x->n_links;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        memset(x->matrix, 0, n * n * sizeof *x->matrix);
        for (size_t l = 0; l < n; l++)
            x->matrix[l * n + l] = x->w[l] / x->y[l];
        for (int32_t k = 0; k < x->n_flows; k++)
            if (x->n[k] > 1)
                add_flow(x, k);
        fold_matrix(x->matrix, n);
        for (size_t l = 0; l < n; l++)
            x->matrix[l * n + l] *= 1 + shifts[i];
        if (matrix_cholesky(x->matrix, x->n_links))
            return true;
    }
    return false;
}

/* ---- steps ---- */

/* dz of paths from dy, and dx. */
static void step_flow(struct congestion *x, int32_t k)
{
    double sum = 0, all = 0;
    for (each_path(p, x, k)) {
        p->dz = length_of(x, p, x->dy);
        sum += p->d * p->dz - p->g;
        all += p->d;
    }
    for (each_path(p, x, k)) {
        p->dz -= sum / all;
        p->dx = p->g - p->d * p->dz;
        p->dz += p->rho;
    }
}

/* Step to where products are @p target, less those of the last step where @p corrects. */
static void congestion_find_step(struct congestion *x, double target, bool corrects)
{
    double by_b = 0, by_along = 0;
    for (int32_t l = 0; l < x->n_links; l++) {
        double missing = target - x->w[l] * x->y[l] - (corrects ? x->product[l] : 0);
        x->dw[l] = missing / x->y[l];
        x->b[l] = x->dw[l] + x->load[l] + x->w[l] - x->theta * x->c[l];
        if (!(x->c[l] > 0))
            x->dw[l] = x->b[l] = 0;
    }
    for (int32_t k = 0; k < x->n_flows; k++) {
        double sum = 0, all = 0;
        if (x->n[k] < 2)
            continue;
        for (each_path(p, x, k)) {
            p->g = (target - p->x * p->z - (corrects ? p->product : 0)) / p->z - p->d * p->rho;
            sum += p->g;
            all += p->d;
        }
        for (each_path(p, x, k))
            for (int32_t i = p->first; i < p->first + p->n; i++)
                x->b[x->hops[i]] += p->g - p->d * (sum / all);
    }
    matrix_cholesky_solve(x->matrix, x->b, x->n_links);
    for (int32_t l = 0; l < x->n_links; l++) {
        by_b += x->c[l] * x->b[l];
        by_along += x->c[l] * x->along[l];
    }
    x->d_theta = by_b / by_along;
    for (int32_t l = 0; l < x->n_links; l++) {
        x->dy[l] = x->b[l] - x->along[l] * x->d_theta;
        x->dw[l] -= x->w[l] / x->y[l] * x->dy[l];
    }
    for (int32_t k = 0; k < x->n_flows; k++)
        if (x->n[k] > 1)
            step_flow(x, k);
}

/* How much of the step keeps all positive, at most 1: of x and w, and of z and y. */
static void find_room(double room[2], const struct congestion *x, double share)
{
    double least[2] = { -share, -share }; /* of step over value */
    for (int32_t l = 0; l < x->n_links; l++) {
        least[0] = fmin(least[0], x->dw[l] / x->w[l]);
        least[1] = fmin(least[1], x->dy[l] / x->y[l]);
    }
    for (int32_t k = 0; k < x->n_flows; k++)
        if (x->n[k] > 1)
            for (each_path(p, x, k)) {
                least[0] = fmin(least[0], p->dx / p->x);
                least[1] = fmin(least[1], p->dz / p->z);
            }
    room[0] = -share / least[0];
    room[1] = -share / least[1];
}

/* Mean of the products after so much of the step. */
static double mean_product(const struct congestion *x, const double room[2])
{
    double sum = 0, n = x->n_open;
    for (int32_t l = 0; l < x->n_links; l++)
        sum += !(x->c[l] > 0) ? 0 : (x->w[l] + room[0] * x->dw[l]) * (x->y[l] + room[1] * x->dy[l]);
    for (int32_t k = 0; k < x->n_flows; k++)
        if (x->n[k] > 1)
            for (each_path(p, x, k)) {
                sum += (p->x + room[0] * p->dx) * (p->z + room[1] * p->dz);
                n++;
            }
    return sum / n;
}

static void keep_products(struct congestion *x)
{
    for (int32_t l = 0; l < x->n_links; l++)
        x->product[l] = x->dw[l] * x->dy[l];
    for (int32_t k = 0; k < x->n_flows; k++)
        if (x->n[k] > 1)
            for (each_path(p, x, k))
                p->product = p->dx * p->dz;
}

static void take_step(struct congestion *x, const double room[2])
{
    double sum = 0;
    for (int32_t l = 0; l < x->n_links; l++) {
        x->w[l] += room[0] * x->dw[l];
        x->y[l] += room[1] * x->dy[l];
        sum += x->c[l] * x->y[l];
    }
    x->theta += room[0] * x->d_theta;
    for (int32_t k = 0; k < x->n_flows; k++) {
        if (x->n[k] < 2)
            continue;
        for (each_path(p, x, k)) {
            p->x += room[0] * p->dx;
            p->z += room[1] * p->dz;
            p->rho *= 1 - room[1];
        }
        struct path *p = &x->paths[x->head[k]];
        x->pi[k] = length_of(x, p, x->y) - p->z - p->rho;
        forget_paths(x, k);
    }
    /* Rounding alone: the step keeps c . y. */
    for (int32_t l = 0; l < x->n_links; l++)
        x->y[l] /= x->c[l] > 0 ? sum : 1;
}

bool congestion_step(struct congestion *x)
{
    static const double none[2] = { 0, 0 };
    double room[2], worst;
    pack_paths(x);
    congestion_loads(&worst, x);
    if (!factor_matrix(x))
        return false;
    memcpy(x->along, x->c, (size_t)x->n_links * sizeof *x->c);
    matrix_cholesky_solve(x->matrix, x->along, x->n_links);
    congestion_find_step(x, 0, false);
    find_room(room, x, 1);
    x->mu = mean_product(x, none);
    double sigma = pow(mean_product(x, room) / x->mu, 3);
    keep_products(x);
    congestion_find_step(x, fmin(fmax(sigma, LEAST_SIGMA), 1) * x->mu, true);
    find_room(room, x, STEP);
    if (!(room[0] > 0 && room[1] > 0))
        return false;
    take_step(x, room);
    x->mu = mean_product(x, none);
    return true;
}
