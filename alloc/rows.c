/*
 * Constraints of the split as rows a.B <= b, >= b or == b over bandwidths in B/s: those written in a study
 * (names of dimensions, total, what is spent), fixed bandwidths and bounds of the network, and the total.
 * Money is turned into bandwidth by the prices here, so that solver, bound and verifier see linear rows
 * alone. A row keeps its text and unit for messages and shadow prices.
 */
#include "alloc/problem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* 1 GB/s, the unit of bandwidth in constraints. */
#define GBPS 1e9

/* Names a constraint may use after the dimensions' and "total": what is spent. */
static const struct {
    const char *name;
    enum alloc_spent spent;
    const char *unit;
} spent_names[] = {
    { "usd", ALLOC_USD, "USD" },         { "nic_usd", ALLOC_NIC_USD, "USD" },  { "watt", ALLOC_WATT, "W" },
    { "site_MW", ALLOC_OWN_WATT, "MW" }, { "usd_year", ALLOC_OWN_USD, "USD" },
};

enum { N_SPENT_NAMES = sizeof spent_names / sizeof *spent_names };

void alloc_rows_free(struct alloc_rows *r)
{
    free(r->rows);
    *r = (struct alloc_rows){ 0 };
}

static int rows_append(struct alloc_rows *r, const struct alloc_row *row, struct err *e)
{
    if (!vec_reserve(r->rows, r->cap, r->n + 1))
        return err_nomem(e, "constraints");
    r->rows[r->n++] = *row;
    return 0;
}

/* Put the limit on the right with a positive sign: "8 >= pod" and "-pod >= -8" read "pod <= 8". */
static void face_right(struct linexpr *line, int32_t n)
{
    if (!(line->rhs < 0))
        return;
    line->rhs = -line->rhs;
    for (int32_t i = 0; i < n; i++)
        line->coef[i] = -line->coef[i];
    if (line->sense != LINEXPR_EQ)
        line->sense = line->sense == LINEXPR_LE ? LINEXPR_GE : LINEXPR_LE;
}

static double least_nonzero(const double *x, int32_t n)
{
    double least = INFINITY;
    for (int32_t i = 0; i < n; i++)
        if (x[i] != 0)
            least = fmin(least, fabs(x[i]));
    return least;
}

/* Money and power turned into bandwidth, of all names that prices have rates of. What one more on the right
 * is: the unit of them all; NULL where they have several, or one is counted in other pieces. */
static const char *rows_take_spent(struct alloc_row *row, const double *coef,
                                   const struct alloc_prices *prices, int32_t n_dims)
{
    const char *unit = NULL;
    bool mixed = false;
    int32_t n = 0;
    for (int32_t i = 0; i < N_SPENT_NAMES && prices; i++) {
        const enum alloc_spent j = spent_names[i].spent;
        if (!prices->rates[j])
            continue;
        double at = coef[n++];
        if (at == 0)
            continue;
        mixed = mixed || (unit && strcmp(unit, spent_names[i].unit) != 0);
        unit = spent_names[i].unit;
        row->spent_coef[j] = at * (j == ALLOC_OWN_WATT ? prices->site_MW_per_W : 1);
        row->fixed += row->spent_coef[j] * prices->fixed[j];
        for (int32_t d = 0; d < n_dims; d++)
            row->money_coef[d] += row->spent_coef[j] * prices->rates[j][d];
    }
    row->rhs -= row->fixed;
    return mixed || least_nonzero(coef, n) != 1 ? NULL : unit;
}

/* Numbers of a constraint: of what is beyond, B/s and products overflow. */
#define MOST_NUMBER  1e50
#define LEAST_NUMBER 1e-50

static bool is_in_range(double x)
{
    return x == 0 || (fabs(x) >= LEAST_NUMBER && fabs(x) <= MOST_NUMBER);
}

/* Where the first number beyond them stands, from 1; 1 where only a result is. */
static int rows_find_number(const char *text)
{
    for (const char *at = text; *at;) {
        char *end = NULL;
        if (isdigit((unsigned char)*at) || *at == '.') {
            if (!is_in_range(strtod(at, &end)))
                return (int)(at - text) + 1;
            at = end > at ? end : at + 1;
        } else {
            at++;
            while (isalnum((unsigned char)at[-1]) && (isalnum((unsigned char)*at) || *at == '_')) /* a name */
                at++;
        }
    }
    return 1;
}

static int rows_check_numbers(const struct linexpr *line, const char *text, const char *const *names,
                              int32_t n, struct err *e)
{
    for (int32_t i = 0; i < n; i++)
        if (!is_in_range(line->coef[i]))
            return err_set(e, ERR_PARSE, "col %d: holds %g times %s, expected a factor of %g to %g",
                           rows_find_number(text), line->coef[i], names[i], LEAST_NUMBER, MOST_NUMBER);
    if (fabs(line->rhs) <= MOST_NUMBER)
        return 0;
    return err_set(e, ERR_PARSE, "col %d: holds the limit %g, expected at most %g", rows_find_number(text),
                   fabs(line->rhs), MOST_NUMBER);
}

/* Rows over bandwidth alone are scaled to B/s; with money they keep their own unit, so that shadow prices
 * read as the user wrote the row. */
int alloc_add_text(struct alloc_rows *r, const struct topo_network *net, const struct alloc_prices *prices,
                   const char *text, struct err *e)
{
    const char *names[TOPO_MAX_DIMS + 1 + N_SPENT_NAMES];
    double coef[TOPO_MAX_DIMS + 1 + N_SPENT_NAMES];
    int32_t n_spent = 0;
    const int32_t n = net->n_dims, first = n + 1;
    for (int32_t d = 0; d < n; d++)
        names[d] = net->dims[d].name;
    names[n] = "total";
    for (int32_t i = 0; i < N_SPENT_NAMES && prices; i++)
        if (prices->rates[spent_names[i].spent])
            names[first + n_spent++] = spent_names[i].name;

    struct linexpr line = { .coef = coef };
    int rc = linexpr_parse(&line, text, names, first + n_spent, e);
    if (!rc)
        rc = rows_check_numbers(&line, text, names, first + n_spent, e);
    if (rc)
        return rc;
    face_right(&line, first + n_spent);

    double bandwidth = least_nonzero(coef, first);
    bool money = isfinite(least_nonzero(coef + first, n_spent));
    /* Bandwidth alone is scaled to B/s; where money comes in, GB/s and USD stay as written. */
    struct alloc_row row = { .sense = line.sense, .unit = money ? 1 : GBPS };
    row.rhs = line.rhs * row.unit;
    if (!money && bandwidth == 1)
        row.unit_name = "GB/s";
    for (int32_t d = 0; d < n; d++)
        row.coef[d] = (coef[d] + (topo_in_total(&net->dims[d]) ? coef[n] : 0)) * (row.unit / GBPS);
    const char *unit = rows_take_spent(&row, coef + first, prices, n);
    if (money && isinf(bandwidth))
        row.unit_name = unit;
    for (int32_t d = 0; d < n; d++)
        row.coef[d] += row.money_coef[d];
    snprintf(row.name, sizeof row.name, "%s", text);
    return rows_append(r, &row, e);
}

static int rows_add_bound(struct alloc_rows *r, const struct topo_network *net, int32_t d, const char *key,
                          enum linexpr_sense sense, double rhs, struct err *e)
{
    struct alloc_row row = { .sense = sense, .rhs = rhs, .unit = GBPS, .unit_name = "GB/s" };
    row.coef[d] = 1;
    snprintf(row.name, sizeof row.name, "%s.%s", net->dims[d].name, key);
    return rows_append(r, &row, e);
}

/* A bandwidth that is given is an equality; others may have a least and a most. */
/* A level above the first of a fabric: what its taper leaves of the level below, or at most as much. */
static int rows_add_level(struct alloc_rows *r, const struct topo_network *net, int32_t d, struct err *e)
{
    double tie = net->dims[d].tie;
    struct alloc_row row = { .sense = tie > 0 ? LINEXPR_EQ : LINEXPR_LE, .unit = GBPS, .unit_name = "GB/s" };
    row.coef[d] = 1;
    row.coef[d - 1] = tie > 0 ? -tie : -1;
    snprintf(row.name, sizeof row.name, "%s.taper", net->dims[d].name);
    return rows_append(r, &row, e);
}

int alloc_add_nics(struct alloc_rows *r, const struct topo_network *net, int32_t d, double most_Bps,
                   struct err *e)
{
    return rows_add_bound(r, net, d, "nics", LINEXPR_LE, most_Bps, e);
}

int alloc_add_network(struct alloc_rows *r, const struct topo_network *net, struct err *e)
{
    int rc = 0;
    for (int32_t d = 0; d < net->n_dims && !rc; d++) {
        const struct topo_dim *dim = &net->dims[d];
        if (!isnan(dim->bw_Bps)) {
            rc = rows_add_bound(r, net, d, "bw_GBps", LINEXPR_EQ, dim->bw_Bps, e);
            continue;
        }
        if (dim->level > 0)
            rc = rows_add_level(r, net, d, e);
        if (!rc && dim->min_Bps > 0)
            rc = rows_add_bound(r, net, d, "min_GBps", LINEXPR_GE, dim->min_Bps, e);
        if (!rc && isfinite(dim->max_Bps))
            rc = rows_add_bound(r, net, d, "max_GBps", LINEXPR_LE, dim->max_Bps, e);
    }
    return rc;
}

int alloc_add_most(struct alloc_rows *r, const struct topo_network *net, struct err *e)
{
    char key[32];
    int rc = 0;
    snprintf(key, sizeof key, "bw_GBps <= %g", TOPO_MAX_BW_GBps);
    for (int32_t d = 0; d < net->n_dims && !rc; d++)
        if (isnan(net->dims[d].bw_Bps) && net->dims[d].level == 0 && isinf(net->dims[d].max_Bps))
            rc = rows_add_bound(r, net, d, key, LINEXPR_LE, TOPO_MAX_BW_GBps * 1e9, e);
    return rc;
}

/* "Less than a step" with room for rounding, far below any part's bandwidth. */
#define LESS_REL 1e-6

int alloc_add_total(struct alloc_rows *r, const struct topo_network *net, double total_Bps, double step_Bps,
                    struct err *e)
{
    struct alloc_row row = {
        .name = ALLOC_TOTAL_ROW, .sense = LINEXPR_EQ, .rhs = total_Bps, .unit = GBPS, .unit_name = "GB/s"
    };
    for (int32_t d = 0; d < net->n_dims; d++)
        row.coef[d] = topo_in_total(&net->dims[d]) ? 1 : 0;
    if (!(step_Bps > 0))
        return rows_append(r, &row, e);
    row.sense = LINEXPR_LE;
    int rc = rows_append(r, &row, e);
    row.sense = LINEXPR_GE;
    row.rhs = fmax(total_Bps - step_Bps * (1 - LESS_REL), 0);
    return rc ? rc : rows_append(r, &row, e);
}
