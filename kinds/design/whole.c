/*
 * The lattice of a study's whole designs, entry by entry: what bandwidths its ports give, and what each
 * costs.
 *
 * A plain dimension has the multiples of one link more at every NPU; a fabric with free tapers all
 * combinations of links at NPUs and links up from every subtree. What cannot be built (no Clos so large, a
 * leaf with too many ports) is left out; the price of the rest is the bill's (topo_spend()), so what is
 * optimised is what is bought.
 */
#include "kinds/design/whole.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"

enum { D = TOPO_MAX_DIMS };

/** Choices of one entry as they are found. */
struct menu {
    double *bw_Bps;               /**< shape [n][n_dims] */
    double *spent[N_ALLOC_SPENT]; /**< shape [n] each */
    int64_t n, cap;
};

struct maker {
    const struct design_point *study;
    const struct alloc_problem *problem;
    double most_Bps[D]; /**< no better design has more, but for rounding */
    double bw_Bps[D];   /**< of the entry under way */
    struct menu menus[D];
    struct whole_block blocks[D];
    int32_t n_blocks;
    struct err why; /**< why the last choice cannot be built */
    bool too_many;
};

/* ---- how far bandwidths can go ---- */

/* A design near `factor` times the relaxation's split: every free bandwidth rounded up to what ports give, or
 * down where rows ask for less, a link at least. */
static void round_split(double *bw_Bps, const struct maker *m, const double *relaxed_Bps, double factor)
{
    const struct design_point *s = m->study;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts);
        if (!isnan(dim->bw_Bps) || !(step_Bps > 0)) {
            bw_Bps[d] = isnan(dim->bw_Bps) ? dim->tie * bw_Bps[d - 1] : dim->bw_Bps;
            continue;
        }
        double links = ceil(factor * relaxed_Bps[d] / step_Bps * (1 - 1e-9));
        bw_Bps[d] = step_Bps * fmax(fmin(links, floor(m->most_Bps[d] / step_Bps * (1 + 1e-9))), 1);
    }
}

/* Rounding of rows that hold with equality, such as those of tapers. */
#define KNOWN_REL 1e-13

/* What the objective is there; INFINITY where a row is broken or parts cannot be had. */
static double value_there(const struct design_point *s, const struct alloc_problem *p, const double *bw_Bps)
{
    struct topo_spent spent = { 0 };
    struct err ignored = { 0 };
    if (topo_spend(&spent, &s->net, &s->parts, 0, s->net.n_dims, bw_Bps, &ignored))
        return INFINITY;
    const double is_spent[N_ALLOC_SPENT] = { spent.usd, spent.nic_usd, spent.watt };
    for (int32_t i = 0; i < p->n_rows; i++)
        if (fabs(alloc_outside_spent(&p->rows[i], bw_Bps, is_spent, s->net.n_dims)) > KNOWN_REL)
            return INFINITY;
    double time_s = step_time(p->step, bw_Bps), usd = spent.usd + p->usd_fixed;
    return p->objective == ALLOC_COST ? (time_s <= p->time_limit_s ? usd : (double)INFINITY) : time_s * usd;
}

/* What a row leaves for a bandwidth when all others have what they have at least: @p least_Bps, shape
 * [n_dims]. Whole parts spend no less than the row's linear prices say. */
static void cap_by_rows(struct maker *m, const double *least_Bps)
{
    const struct alloc_problem *p = m->problem;
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        double left = row->rhs;
        bool adds = row->sense != LINEXPR_GE;
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            left -= row->coef[d] * least_Bps[d];
            adds = adds && row->coef[d] >= 0 && row->money_coef[d] >= 0;
        }
        for (int32_t d = 0; d < p->step->n_dims && adds; d++)
            if (row->coef[d] > 0)
                m->most_Bps[d] =
                    fmin(m->most_Bps[d], fmax(left / row->coef[d] + least_Bps[d], 0) * (1 + 1e-9));
    }
}

/* Bandwidths that rows alone limit, and those that a known design limits: what costs more on its own, by the
 * linear price, is no better. */
static void find_most(struct maker *m, const struct alloc_answer *relaxed)
{
    const struct alloc_problem *p = m->problem;
    static const double factors[] = { 1, 0.9, 0.75, 0.5, 0.25, 0.1, 0 };
    double bw_Bps[D], endless[D];
    for (int32_t d = 0; d < D; d++)
        m->most_Bps[d] = endless[d] = INFINITY;
    round_split(bw_Bps, m, relaxed->bw_Bps, 0);
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (isnan(m->study->net.dims[d].bw_Bps) && !alloc_carries_traffic(p->step, d))
            bw_Bps[d] = 0;
    alloc_find_caps(m->most_Bps, p);
    cap_by_rows(m, bw_Bps);
    bool product = p->objective == ALLOC_PERF_PER_COST;
    if (p->objective != ALLOC_COST && !product)
        return;
    double value = INFINITY, least_s = step_time(p->step, endless), least_usd[D], sum_usd = p->usd_fixed;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        round_split(bw_Bps, m, relaxed->bw_Bps, factors[i]);
        value = fmin(value, value_there(m->study, p, bw_Bps));
    }
    /* At least a link in all others, where there is traffic. */
    round_split(bw_Bps, m, relaxed->bw_Bps, 0);
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        least_usd[d] = alloc_carries_traffic(p->step, d) ? p->usd_per_Bps[d] * bw_Bps[d] * (1 - 1e-9) : 0;
        sum_usd += least_usd[d];
    }
    double usd =
        (product ? (least_s > 0 ? value / least_s : (double)INFINITY) : value) * (1 + 1e-9) - sum_usd;
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (p->usd_per_Bps[d] > 0)
            m->most_Bps[d] = fmin(m->most_Bps[d], (usd + least_usd[d]) / p->usd_per_Bps[d]);
}

/* The bandwidth that nothing limits though more of it may help, -1 = none. */
static int32_t find_unlimited(const struct maker *m)
{
    const struct topo_network *net = &m->study->net;
    for (int32_t d = 0; d < net->n_dims; d++)
        if (isnan(net->dims[d].bw_Bps) && net->dims[d].level == 0 && isinf(m->most_Bps[d]) &&
            alloc_carries_traffic(m->problem->step, d))
            return d;
    return -1;
}

/* ---- choices ---- */

static int menu_add(struct maker *m, int32_t first, int32_t n_dims, struct err *e)
{
    struct menu *menu = &m->menus[m->n_blocks];
    struct topo_spent spent = { 0 };
    int rc = topo_spend(&spent, &m->study->net, &m->study->parts, first, n_dims, m->bw_Bps, &m->why);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(e, "a bill") : 0;
    if (menu->n == WHOLE_MAX_CHOICES) {
        m->too_many = true;
        return 0;
    }
    if (menu->n == menu->cap) {
        int64_t cap = menu->cap ? 2 * menu->cap : 64;
        double *grown = realloc(menu->bw_Bps, (size_t)(cap * n_dims) * sizeof *grown);
        menu->bw_Bps = grown ? grown : menu->bw_Bps;
        for (int32_t j = 0; j < N_ALLOC_SPENT && grown; j++) {
            grown = realloc(menu->spent[j], (size_t)cap * sizeof *grown);
            menu->spent[j] = grown ? grown : menu->spent[j];
        }
        if (!grown)
            return err_nomem(e, "whole parts");
        menu->cap = cap;
    }
    memcpy(&menu->bw_Bps[menu->n * n_dims], &m->bw_Bps[first], (size_t)n_dims * sizeof *menu->bw_Bps);
    menu->spent[ALLOC_USD][menu->n] = spent.usd;
    menu->spent[ALLOC_NIC_USD][menu->n] = spent.nic_usd;
    menu->spent[ALLOC_WATT][menu->n++] = spent.watt;
    return 0;
}

/* Bandwidths of level d of the entry that begins at `first`, all lower levels chosen; then those above. */
static int add_levels(struct maker *m, int32_t first, int32_t d, int32_t n_dims, struct err *e)
{
    const struct topo_network *net = &m->study->net;
    const struct topo_dim *dim = &net->dims[d];
    int rc = 0;
    if (d == first + n_dims)
        return menu_add(m, first, n_dims, e);
    double step_Bps = topo_port_step_Bps(net, d, &m->study->parts);
    if (!isnan(dim->bw_Bps) || !(step_Bps > 0)) {
        m->bw_Bps[d] = isnan(dim->bw_Bps) ? dim->tie * m->bw_Bps[d - 1] : dim->bw_Bps;
        return add_levels(m, first, d + 1, n_dims, e);
    }
    /* A link more than is allowed, for the step up; links up at most as many as links down. */
    double most_Bps = fmin(m->most_Bps[d] + step_Bps, TOPO_MAX_BW_GBps * 1e9);
    if (d > first)
        most_Bps = fmin(most_Bps, m->bw_Bps[d - 1]);
    int64_t most = (int64_t)floor(most_Bps / step_Bps * (1 + 1e-9));
    for (int64_t k = alloc_carries_traffic(m->problem->step, d) ? 1 : 0; k <= most && !rc && !m->too_many;
         k++) {
        m->bw_Bps[d] = step_Bps * (double)k;
        rc = add_levels(m, first, d + 1, n_dims, e);
    }
    return rc;
}

static int add_entry(struct maker *m, int32_t first, int32_t n_dims, struct err *e)
{
    struct menu *menu = &m->menus[m->n_blocks];
    int rc = add_levels(m, first, first, n_dims, e);
    m->blocks[m->n_blocks++] =
        (struct whole_block){ .first = first,
                              .n_dims = n_dims,
                              .n = menu->n,
                              .bw_Bps = menu->bw_Bps,
                              .spent = { menu->spent[0], menu->spent[1], menu->spent[2] } };
    return rc;
}

static void give_up(struct whole_answer *out, enum alloc_status status, const char *what, const char *name,
                    const char *why)
{
    *out = (struct whole_answer){ .status = status, .value = NAN };
    snprintf(out->reason, sizeof out->reason, "%s \"%s\"%s%.900s", what, name, *why ? ": " : "", why);
}

static int make(struct maker *m, struct whole_answer *out, const struct alloc_answer *relaxed, struct err *e)
{
    const struct topo_network *net = &m->study->net;
    find_most(m, relaxed);
    int32_t unlimited = find_unlimited(m);
    if (unlimited >= 0) {
        give_up(out, ALLOC_ILL_POSED, "nothing limits", net->dims[unlimited].name,
                "more whole parts may always help; give a total, a maximum or a budget");
        return 0;
    }
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        int rc = add_entry(m, d, topo_after_entry(net->dims, d) - d, e);
        if (rc)
            return rc;
        if (m->too_many)
            give_up(out, ALLOC_STALLED, "too many combinations of parts for", net->dims[d].name,
                    "give max_GBps, fixed tapers or pricing: fraction");
        else if (m->menus[m->n_blocks - 1].n == 0)
            give_up(out, ALLOC_INFEASIBLE, "no whole parts can be had for", net->dims[d].name, m->why.msg);
        if (out->reason[0])
            return 0;
    }
    const struct whole_lattice l = { .blocks = m->blocks, .n_blocks = m->n_blocks };
    return alloc_solve_whole(out, m->problem, &l, relaxed, e);
}

static int solve_lattice(struct whole_answer *out, const struct design_point *s,
                         const struct alloc_problem *p, const struct alloc_answer *relaxed, struct err *e)
{
    struct maker m = { .study = s, .problem = p };
    int rc = make(&m, out, relaxed, e);
    for (int32_t b = 0; b < D; b++) {
        free(m.menus[b].bw_Bps);
        for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
            free(m.menus[b].spent[j]);
    }
    return rc;
}

/* The least that whole parts are: a link in every dimension that carries traffic. */
static int32_t put_floors(struct alloc_row *rows, const struct design_point *s, const struct alloc_problem *p)
{
    int32_t n = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts);
        if (!(step_Bps > 0) || !isnan(s->net.dims[d].bw_Bps) || !alloc_carries_traffic(p->step, d))
            continue;
        struct alloc_row row = { .sense = LINEXPR_GE, .rhs = step_Bps, .unit = 1e9, .unit_name = "GB/s" };
        row.coef[d] = 1;
        snprintf(row.name, sizeof row.name, "a port of %s", s->net.dims[d].name);
        rows[n++] = row;
    }
    return n;
}

/* Where fractions are best at bandwidths of 0, a link everywhere makes them a question with an answer. */
int design_solve_whole(struct whole_answer *out, const struct design_point *s, const struct alloc_problem *p,
                       const struct alloc_answer *relaxed, double *relaxed_bound, struct err *e)
{
    struct alloc_problem floored = *p;
    struct alloc_answer answer;
    *out = (struct whole_answer){ .status = ALLOC_STALLED, .value = NAN };
    *relaxed_bound = relaxed->lower_bound;
    if (relaxed->status != ALLOC_ILL_POSED)
        return solve_lattice(out, s, p, relaxed, e);
    struct alloc_row *rows = calloc((size_t)p->n_rows + D, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    memcpy(rows, p->rows, (size_t)p->n_rows * sizeof *rows);
    floored.rows = rows;
    floored.n_rows += put_floors(rows + p->n_rows, s, p);
    int rc = alloc_solve(&answer, &floored, e);
    if (!rc) {
        *relaxed_bound = alloc_has_split(&answer) ? answer.lower_bound : (double)NAN;
        rc = solve_lattice(out, s, &floored, &answer, e);
        alloc_answer_free(&answer);
    }
    free(rows);
    return rc;
}
