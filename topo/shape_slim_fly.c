/*
 * Slim Fly: routers as the graph of McKay, Miller and Siran over the field GF(q), q = 4 w + d a power of a
 * prime, d one of -1, 0, 1. Level 0 has the p members of a router, level 1 the 2 q^2 routers; a third level
 * of one member brings the second class of links between routers. Router (s, x, y), s in {0, 1}, x and y in
 * GF(q), is number s q^2 + x q + y of its network.
 *
 *     (0, x, y) - (0, x, y')  if y - y' in X      column: k = (q-d)/2 links of a router, B_column = B k/p
 *     (1, m, c) - (1, m, c')  if c - c' in X'
 *     (0, x, y) - (1, m, c)   if y = m x + c      cross: q links of a router, B_cross = B q/p
 *
 * With xi a primitive element, X has the even powers of xi and X' the odd ones (d = 0, 1); for d = -1 X = {1,
 * xi^2 .. xi^(2w-2), xi^(2w-1), xi^(2w+1) .. xi^(4w-3)}, X' = xi X. Any two routers are one or two links
 * apart. Messages are counted as spread evenly over all shortest ways; in flows each takes one, by who sends
 * and who receives.
 *
 * Loads, all groups of members at work: a direct exchange of all takes (3q-2)/(2q) of S on cross links, all
 * of which are alike, and (q^2+2q-2-k')/(2q^2), k' = q + k, on column links in the mean; the busiest of these
 * decides. Groups of a column or of all with one s in closed form too, other groups of routers by counting
 * (above q = 64 by a bound: two routers are ends of all that a link between them carries).
 *
 * Elements of GF(p^m) are numbers whose m digits to base p are coefficients of a polynomial, modulo one of
 * which x is a primitive element: x^m = fabric.field, the least number for which that holds.
 *
 * M. Besta, T. Hoefler, SC 2014; B. McKay, M. Miller, J. Siran, J. Combinatorial Theory B 74(1), 1998; R.
 * Hafner, Discrete Mathematics 277(1-3), 2004 (the sets for d = -1 and 0); loads by counting, ours.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "topo/bill.h"
#include "topo/shape.h"

enum { COLUMN = 1, CROSS = 2, SLIM_MAX_Q = 1024, SLIM_MAX_COUNTED_Q = 64 };

/* Links on the way along a level, each of half the latency. */
static const double slim_reach[] = { 1, 2, 2 };

struct slim_field {
    int32_t q, p, m, d;
    int32_t column;                           /* column links of a router */
    int16_t exp[SLIM_MAX_Q], log[SLIM_MAX_Q]; /* powers of xi; log of 0 is not set */
    int16_t rank[2][SLIM_MAX_Q];              /* of xi^i in X and X', by i; -1: not there */
};

static int32_t slim_q(const struct topo_dim *dim)
{
    return (int32_t)lround(sqrt(dim[1].size / 2.0));
}

static int32_t slim_d(int32_t q)
{
    return q % 4 == 3 ? -1 : q % 4;
}

/* q = p^m; false: it is no such power. */
static bool slim_split(int32_t q, int32_t *p, int32_t *m)
{
    *p = 2;
    while (q % *p)
        (*p)++;
    for (*m = 0; q % *p == 0; (*m)++)
        q /= *p;
    return q == 1;
}

/* a + times b, digit by digit. */
static int32_t slim_add(const struct slim_field *f, int32_t a, int32_t b, int32_t times)
{
    int32_t sum = 0;
    for (int32_t place = 1; place < f->q; place *= f->p)
        sum += (a / place + b / place % f->p * times) % f->p * place;
    return sum;
}

static int32_t slim_minus(const struct slim_field *f, int32_t a, int32_t b)
{
    return slim_add(f, a, b, f->p - 1);
}

static int32_t slim_times(const struct slim_field *f, int32_t a, int32_t b)
{
    return a && b ? f->exp[(f->log[a] + f->log[b]) % (f->q - 1)] : 0;
}

static int32_t slim_over(const struct slim_field *f, int32_t a, int32_t b)
{
    return a ? f->exp[(f->log[a] + f->q - 1 - f->log[b]) % (f->q - 1)] : 0;
}

/* x times a, where x^m = field. */
static int32_t slim_times_x(const struct slim_field *f, int32_t a, int32_t field)
{
    int32_t high = f->q / f->p;
    return slim_add(f, a % high * f->p, field, a / high);
}

/* The least x^m with which the powers of x are all elements but 0. */
static int32_t slim_find_field(int32_t q)
{
    struct slim_field f = { .q = q };
    if (!slim_split(q, &f.p, &f.m))
        return -1;
    for (int32_t field = 1; field < q; field++) {
        int32_t a = 1, order = 0;
        do {
            a = slim_times_x(&f, a, field);
            order++;
        } while (a != 1 && order < q);
        if (order == q - 1)
            return field;
    }
    return -1;
}

/* Is xi^i in X (s = 0) or X' (s = 1)? */
static bool slim_is_in(const struct slim_field *f, int32_t s, int32_t i)
{
    int32_t half = (f->q - 1) / 2;
    if (f->d == 1)
        return i % 2 == s;
    if (f->d == 0)
        return i == 0 || i % 2 == s;
    if (s == 0)
        return i % 2 ? i >= half : i < half;
    return i % 2 ? i <= half : i > half || i == 0;
}

static void slim_open(struct slim_field *f, const struct topo_dim *dim)
{
    int32_t q = slim_q(dim), a = 1, n[2] = { 0 };
    f->q = q;
    f->d = slim_d(q);
    f->column = (q - f->d) / 2;
    slim_split(q, &f->p, &f->m);
    for (int32_t i = 0; i < q - 1; i++) {
        f->exp[i] = (int16_t)a;
        f->log[a] = (int16_t)i;
        for (int32_t s = 0; s < 2; s++)
            f->rank[s][i] = (int16_t)(slim_is_in(f, s, i) ? n[s]++ : -1);
        a = slim_times_x(f, a, dim->fabric.field);
    }
}

static int32_t slim_router(const struct slim_field *f, int32_t s, int32_t x, int32_t y)
{
    return (s * f->q + x) * f->q + y;
}

/* Are two of a column joined that differ by delta? */
static bool slim_joined(const struct slim_field *f, int32_t s, int32_t delta)
{
    return delta != 0 && f->rank[s][f->log[delta]] >= 0;
}

/* In between on each shortest way from router @p a to another one, @p b; b itself where they are joined. @p
 * via has room for SLIM_MAX_Q. How many. */
static int32_t slim_ways(int32_t *via, const struct slim_field *f, int32_t a, int32_t b)
{
    int32_t q = f->q, s = a / q / q, x = a / q % q, y = a % q, u = b / q % q, v = b % q, n = 0;
    if (s == b / q / q && x == u) {
        int32_t delta = slim_minus(f, v, y);
        for (int32_t i = 0; i < q - 1 && !slim_joined(f, s, delta); i++) {
            int32_t mid = slim_add(f, y, f->exp[i], 1);
            if (f->rank[s][i] >= 0 && slim_joined(f, s, slim_minus(f, v, mid)))
                via[n++] = slim_router(f, s, x, mid);
        }
        if (n == 0)
            via[n++] = b;
    } else if (s == b / q / q && s == 0) {
        int32_t m = slim_over(f, slim_minus(f, y, v), slim_minus(f, x, u));
        via[n++] = slim_router(f, 1, m, slim_minus(f, y, slim_times(f, m, x)));
    } else if (s == b / q / q) { /* (1, m, c), (1, m', c'): the x with m x + c = m' x + c' */
        int32_t at = slim_over(f, slim_minus(f, v, y), slim_minus(f, x, u));
        via[n++] = slim_router(f, 0, at, slim_add(f, slim_times(f, x, at), y, 1));
    } else {
        int32_t zero = s == 0 ? a : b, one = s == 0 ? b : a;
        int32_t at = slim_add(f, slim_times(f, zero / q % q, one / q % q), one % q, 1);
        int32_t delta = slim_minus(f, at, zero % q);
        if (slim_joined(f, 0, delta))
            via[n++] = slim_router(f, 0, zero / q % q, at);
        if (slim_joined(f, 1, delta))
            via[n++] = slim_router(f, 1, one / q % q, slim_minus(f, one % q, delta));
        if (n == 0)
            via[n++] = b;
    }
    return n;
}

/* ---- as a shape ---- */

static int slim_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const classes[] = { "", "column", "cross" };
    const struct topo_fabric f = dim->fabric;
    int64_t p = f.sizes[0], routers = f.sizes[1];
    if (f.n_sizes != 2 || p < 1 || routers < 1)
        return err_set(e, ERR_RANGE,
                       "is a slim-fly; give 2 sizes, NPUs of a router and routers, or hosts and q");
    int32_t q = (int32_t)lround(sqrt((double)routers / 2)), d = slim_d(q);
    if ((int64_t)2 * q * q != routers || q < 3 || q % 4 == 2)
        return err_set(e, ERR_RANGE,
                       "has %lld routers, expected 2 q^2 with q = 4 w - 1, 4 w or 4 w + 1 (q %d: %d)",
                       (long long)routers,
                       q < 3        ? 3
                       : q % 4 == 2 ? q + 1
                                    : q,
                       q < 3        ? 18
                       : q % 4 == 2 ? 2 * (q + 1) * (q + 1)
                                    : 2 * q * q);
    int64_t ports = p + (3 * q - d) / 2;
    if (ports > SHAPE_MAX_GATES)
        return err_set(e, ERR_RANGE, "has routers of %lld ports, expected at most %d", (long long)ports,
                       SHAPE_MAX_GATES);
    int rc = topo_levels_init(dim, room, 3, classes, (const int32_t[]){ f.sizes[0], f.sizes[1], 1 }, e);
    if (rc)
        return rc;
    for (int32_t k = 1; k < 3; k++)
        dim[k].lat_s = slim_reach[k] * dim->lat_s;
    dim[COLUMN].tie = (q - d) / (2.0 * (double)p);
    dim[CROSS].tie = 2.0 * q / (q - d);
    dim->fabric.field = slim_find_field(q);
    return 0;
}

static int slim_check_graph(const struct topo_dim *dim, struct err *e)
{
    int32_t q = slim_q(dim);
    return dim->fabric.field > 0
               ? 0
               : err_set(e, ERR_RANGE,
                         "q is %d, no power of a prime: there is no field to build a slim-fly "
                         "from; its counts and rates are those of a formula",
                         (int)q);
}

static int slim_check_loads(const struct topo_dim *dim, struct err *e)
{
    int32_t q = slim_q(dim);
    return q <= SLIM_MAX_COUNTED_Q
               ? 0
               : err_set(
                     e, ERR_RANGE,
                     "q is %d, above the %d up to which links are counted one by one: rings, and groups of "
                     "some of its routers, load them at most so much, so their times are upper bounds",
                     (int)q, SLIM_MAX_COUNTED_Q);
}

static void slim_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t p = dim[0].size, q = slim_q(dim), k = (q - slim_d((int32_t)q)) / 2;
    *c = (struct shape_counts){
        .n_classes = 3,
        .links = { 2 * p * q * q, q * q * k, q * q * q },
        .hubs = 2 * q * q,
        .hub_degree_min = p + k + q,
        .degree_max = 1,
        .degree_min = 1,
        .connectivity = 1,
        .ports = p + k + q,
    };
    /* Routers with s = 0 and 1, which only cross links join; or the NPUs of half of them cut off. */
    c->cut[p < q ? 0 : CROSS] = q * q * (p < q ? p : q);
}

/* Of the 2 q^2 - 1 others k' routers are one link away, the rest two. NPUs are two more. */
static void slim_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double p = dim[0].size, q = slim_q(dim), near = (3 * q - slim_d(slim_q(dim))) / 2;
    *sum = 2 * q * q * p * (2 * (p - 1) + p * (3 * near + 4 * (2 * q * q - 1 - near)));
    *longest = 4;
}

static double slim_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    double p = dim[0].size, q = slim_q(dim);
    if (cls == COLUMN)
        return bw_Bps * 2 * p / (q - slim_d((int32_t)q));
    return cls == CROSS ? bw_Bps * p / q : bw_Bps;
}

/* Column links of (s, x): for every element of X or X', of a and -a once, those from y to y + a, y rising;
 * where a = -a those that rise by it. Then cross links by x, y, m. */
static void slim_edges(const struct topo_dim *dim, void *to, void (*link)(void *x, int64_t a, int64_t b))
{
    struct slim_field f;
    slim_open(&f, dim);
    int64_t n = topo_group_size(dim);
    int32_t q = f.q, half = f.d ? (q - 1) / 2 : q - 1;
    for (int64_t i = 0; i < n; i++)
        link(to, i, n + i / dim->size);
    for (int32_t s = 0; s < 2; s++)
        for (int32_t x = 0; x < q; x++)
            for (int32_t i = 0; i < half; i++)
                for (int32_t y = 0; y < q && f.rank[s][i] >= 0; y++) {
                    int32_t next = slim_add(&f, y, f.exp[i], 1);
                    if (f.d || next > y)
                        link(to, n + slim_router(&f, s, x, y), n + slim_router(&f, s, x, next));
                }
    for (int32_t x = 0; x < q; x++)
        for (int32_t y = 0; y < q; y++)
            for (int32_t m = 0; m < q; m++)
                link(to, n + slim_router(&f, 0, x, y),
                     n + slim_router(&f, 1, m, slim_minus(&f, y, slim_times(&f, m, x))));
}

/* Number of the link between routers that are joined. */
static int64_t slim_link(const struct slim_field *f, const struct topo_dim *dim, int32_t a, int32_t b)
{
    int64_t q = f->q, n = topo_group_size(dim);
    if (a / f->q / f->q != b / f->q / f->q) {
        int32_t zero = a < b ? a : b, one = a < b ? b : a;
        return n + q * q * f->column + zero * q + one / q % q;
    }
    int32_t y = a % f->q, v = b % f->q, delta = slim_minus(f, v, y), half = (f->q - 1) / 2;
    int64_t column = n + a / q * (q * f->column / 2), s = a / q / q;
    if (f->d) {
        int32_t i = f->log[delta];
        return column + f->rank[s][i % half] * q + (i < half ? y : v);
    }
    /* Of those that rise by delta, which has a 0 at its highest bit: in their order, that bit left out. */
    int32_t bit = 1, low = y < v ? y : v;
    while (2 * bit <= delta)
        bit *= 2;
    int32_t place = low / (2 * bit) * bit + low % bit;
    return column + (int64_t)f->rank[s][f->log[delta]] * (q / 2) + place;
}

static int slim_way(const struct topo_dim *dim, int64_t from, int64_t to, int32_t other, void *x,
                    int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    struct slim_field f;
    int64_t p = dim->size, n = topo_group_size(dim);
    int32_t a = (int32_t)(from / p), b = (int32_t)(to / p), via[SLIM_MAX_Q];
    (void)other;
    if (from == to)
        return 0;
    int rc = step(x, from, false, e);
    if (!rc && a != b) {
        slim_open(&f, dim);
        int32_t ways = slim_ways(via, &f, a, b), mid = via[shape_spread(ways, n, from, to)];
        /* Arcs lead from the lower number to the higher. */
        rc = step(x, slim_link(&f, dim, a, mid), a > mid, e);
        if (!rc && mid != b)
            rc = step(x, slim_link(&f, dim, mid, b), mid > b, e);
    }
    return rc ? rc : step(x, to, true, e);
}

/* ---- loads: messages over a link between routers, of one between each two routers ---- */

/* The busiest column link when all of a column exchange; @p all: all routers do, and q of the other kind are
 * reached by it from either end. */
static double slim_column_most(const struct slim_field *f, bool all)
{
    double most = 0;
    for (int32_t s = 0; s < 2; s++) {
        int32_t ways[SLIM_MAX_Q] = { 0 };
        for (int32_t i = 0; i < f->q - 1; i++)
            for (int32_t j = 0; j < f->q - 1; j++)
                if (f->rank[s][i] >= 0 && f->rank[s][j] >= 0)
                    ways[slim_add(f, f->exp[i], f->exp[j], 1)]++;
        for (int32_t i = 0; i < f->q - 1; i++) {
            double load = 1;
            for (int32_t j = 0; j < f->q - 1; j++) {
                int32_t delta = slim_add(f, f->exp[i], f->exp[j], 1);
                if (f->rank[s][j] >= 0 && delta && !slim_joined(f, s, delta))
                    load += 2.0 / ways[delta];
            }
            if (all) /* half of them where the other kind's columns have such a link too */
                load += 2.0 * f->q / (f->rank[1 - s][i] >= 0 ? 2 : 1);
            if (f->rank[s][i] >= 0)
                most = fmax(most, load);
        }
    }
    return most;
}

/* Whom a router sends to: `members` routers, `stride` apart, of which it is one. */
struct slim_group {
    enum shape_pattern pattern;
    int32_t members, stride;
};

/* Member @p k after router @p a (-1: the one before it); itself: there is none. */
static int32_t slim_other(const struct slim_group *g, int32_t a, int32_t k)
{
    int32_t place = a / g->stride % g->members, to = place + k;
    if ((to < 0 || to >= g->members) && (g->pattern == SHAPE_SEND || g->pattern == SHAPE_PASS))
        return a;
    return a + ((to + g->members) % g->members - place) * g->stride;
}

/* First links of all that routers send to those @p first to @p last after them: share[router][link], where a
 * router's column links come first. */
static void slim_first_links(double *share, const struct slim_field *f, const struct slim_group *g,
                             int32_t first, int32_t last)
{
    int32_t q = f->q, via[SLIM_MAX_Q], degree = f->column + q;
    for (int32_t a = 0; a < 2 * q * q; a++)
        for (int32_t k = first; k <= last; k++) {
            int32_t b = slim_other(g, a, k), n = a == b ? 0 : slim_ways(via, f, a, b), s = a / q / q;
            for (int32_t i = 0; i < n; i++) {
                int32_t to = via[i], same = to / q / q == s;
                int32_t link =
                    same ? f->rank[s][f->log[slim_minus(f, to % q, a % q)]] : f->column + to / q % q;
                share[a * degree + link] += 1.0 / n;
            }
        }
}

/*
 * Most that a link of each class carries, by counting. From router a to b it has what a sends by it first,
 * and what comes to b by it last: what b would send back to those. A message from a to b itself is both.
 */
static bool slim_count_most(double most[3], const struct slim_field *f, const struct slim_group *g)
{
    int32_t q = f->q, degree = f->column + q, last = g->pattern == SHAPE_DIRECT ? g->members - 1 : 1;
    int32_t back_first = g->pattern == SHAPE_DIRECT ? 1 : -1,
            back_last = g->pattern == SHAPE_DIRECT ? last : -1;
    size_t n = (size_t)2 * (size_t)q * (size_t)q * (size_t)degree;
    double *share = q <= SLIM_MAX_COUNTED_Q ? calloc(2 * n, sizeof *share) : NULL;
    if (!share)
        return false;
    double *back = share + n;
    slim_first_links(share, f, g, 1, last);
    slim_first_links(back, f, g, back_first, back_last);
    for (int32_t a = 0; a < 2 * q * q; a++)
        for (int32_t link = 0; link < degree; link++) {
            int32_t s = a / q / q, x = a / q % q, y = a % q, b, opposite,
                    cls = link < f->column ? COLUMN : CROSS;
            if (cls == COLUMN) {
                int32_t i = 0;
                while (f->rank[s][i] != link)
                    i++;
                b = slim_router(f, s, x, slim_add(f, y, f->exp[i], 1));
                opposite = f->rank[s][f->log[slim_minus(f, y, b % q)]];
            } else {
                int32_t m = link - f->column, times = slim_times(f, m, x);
                b = slim_router(f, 1 - s, m, s == 0 ? slim_minus(f, y, times) : slim_add(f, y, times, 1));
                opposite = f->column + x;
            }
            bool own = false; /* a sends to b */
            for (int32_t k = 1; k <= last && !own; k++)
                own = slim_other(g, a, k) == b;
            most[cls] = fmax(most[cls], share[a * degree + link] + back[b * degree + opposite] - own);
        }
    free(share);
    return true;
}

static void slim_direct(struct shape_load *out, const struct topo_dim *dim, const struct slim_field *f,
                        int32_t q_members, const struct slim_group *g)
{
    double q = f->q, k = f->column, n = (double)q_members * g->members;
    double most[3] = { 0 };
    bool known = dim->fabric.field > 0, in_order = g->stride == 1, all = g->members == 2 * f->q * f->q;
    bool column = in_order && g->members == f->q, half = in_order && g->members == f->q * f->q;
    if (all || column || half) {
        double mean = (2 * (q - 1) - k) / k + (all ? (q * q - q) / k : 0);
        most[COLUMN] = known ? slim_column_most(f, all) : mean;
        most[CROSS] = all ? 3 * q - 2 : half ? 2 * (q - 1) : 0;
        out->mean[COLUMN] = q_members / n * k * mean;
    } else if (g->members > 1 && !(known && slim_count_most(most, f, g))) {
        most[COLUMN] = most[CROSS] = 2.0 * g->members - 3;
    }
    out->load[COLUMN] = q_members / n * k * most[COLUMN];
    out->load[CROSS] = q_members / n * q * most[CROSS];
}

static void slim_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                      const struct shape_group *group)
{
    struct slim_field f = { .q = slim_q(dim), .d = slim_d(slim_q(dim)) };
    struct slim_group g = { pattern, group->flat || group->level == 1 ? group->members[1] : 1,
                            shape_stride(group, 1) };
    int32_t q_members = group->flat || group->level == 0 ? group->members[0] : 1;
    f.column = (f.q - f.d) / 2;
    shape_port_load(out, pattern, group->n);
    if (group->flat) /* in units of the latency of a router's members */
        out->hops *= slim_reach[g.members > 1];
    if (g.members == 1)
        return;
    if (dim->fabric.field > 0)
        slim_open(&f, dim);
    if (pattern == SHAPE_DIRECT) {
        slim_direct(out, dim, &f, q_members, &g);
        return;
    }
    double most[3] = { 0 }, passed = shape_passed(pattern, group->n) / q_members;
    if (!(dim->fabric.field > 0 && slim_count_most(most, &f, &g)))
        most[COLUMN] = most[CROSS] = 2;
    out->load[COLUMN] = passed * f.column * most[COLUMN];
    out->load[CROSS] = passed * f.q * most[CROSS];
}

const struct shape_ops shape_slim_fly = {
    .algorithms = 1u << TOPO_ALGORITHM_RING | 1u << TOPO_ALGORITHM_DIRECT,
    .switched = true,
    .one_port = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_HOSTS | SHAPE_KEY_Q | SHAPE_KEY_ROUTING,
    .settle = slim_settle,
    .check_graph = slim_check_graph,
    .check_loads = slim_check_loads,
    .counts = slim_counts,
    .distances = slim_distances,
    .link_Bps = slim_link_Bps,
    .edges = slim_edges,
    .way = slim_way,
    .usual = TOPO_ALGORITHM_DIRECT,
    .load = slim_load,
    .parts = topo_router_parts,
    .links = { "end link", "column link", "cross link" },
};
