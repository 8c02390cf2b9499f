#include "alloc/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* 1 GB/s, the unit of bandwidth in constraints. */
#define GBPS 1e9

/* Names a constraint may use after the dimensions'. */
enum { NAME_TOTAL, NAME_USD, NAME_NIC_USD, N_EXTRA };

void alloc_rows_free(struct alloc_rows *r)
{
    free(r->rows);
    *r = (struct alloc_rows){ 0 };
}

static int add_row(struct alloc_rows *r, const struct alloc_row *row, struct err *e)
{
    if (r->n == r->cap) {
        int32_t cap = r->cap ? 2 * r->cap : 8;
        struct alloc_row *rows = realloc(r->rows, (size_t)cap * sizeof *rows);
        if (!rows)
            return err_nomem(e, "constraints");
        r->rows = rows;
        r->cap = cap;
    }
    r->rows[r->n++] = *row;
    return 0;
}

int alloc_add_text(struct alloc_rows *r, const struct topo_network *net, const struct alloc_prices *prices,
                   const char *text, struct err *e)
{
    const char *names[TOPO_MAX_DIMS + N_EXTRA];
    double coef[TOPO_MAX_DIMS + N_EXTRA];
    const int32_t n = net->n_dims;
    for (int32_t d = 0; d < n; d++)
        names[d] = net->dims[d].name;
    names[n + NAME_TOTAL] = "total";
    names[n + NAME_USD] = "usd";
    names[n + NAME_NIC_USD] = "nic_usd";

    struct linexpr line = { .coef = coef };
    int rc = linexpr_parse(&line, text, names, n + (prices ? N_EXTRA : NAME_USD), e);
    if (rc)
        return rc;

    double usd = prices ? coef[n + NAME_USD] : 0, nic_usd = prices ? coef[n + NAME_NIC_USD] : 0;
    bool money = usd != 0 || nic_usd != 0, bandwidth = coef[n + NAME_TOTAL] != 0;
    for (int32_t d = 0; d < n; d++)
        bandwidth = bandwidth || coef[d] != 0;

    /* Bandwidth alone is scaled to B/s; where money comes in, GB/s and USD stay as written. */
    struct alloc_row row = { .sense = line.sense, .unit = bandwidth && !money ? GBPS : 1 };
    row.rhs = line.rhs * row.unit;
    for (int32_t d = 0; d < n; d++)
        row.coef[d] = (coef[d] + coef[n + NAME_TOTAL]) * (row.unit / GBPS);
    if (money) {
        row.rhs -= usd * prices->usd_fixed;
        for (int32_t d = 0; d < n; d++)
            row.coef[d] += usd * prices->usd_per_Bps[d] + nic_usd * prices->nic_usd_per_Bps[d];
    }
    snprintf(row.name, sizeof row.name, "%s", text);
    return add_row(r, &row, e);
}

static int add_bound(struct alloc_rows *r, const struct topo_network *net, int32_t d, const char *key,
                     enum linexpr_sense sense, double rhs, struct err *e)
{
    struct alloc_row row = { .sense = sense, .rhs = rhs, .unit = GBPS };
    row.coef[d] = 1;
    snprintf(row.name, sizeof row.name, "%s.%s", net->dims[d].name, key);
    return add_row(r, &row, e);
}

int alloc_add_network(struct alloc_rows *r, const struct topo_network *net, struct err *e)
{
    int rc = 0;
    for (int32_t d = 0; d < net->n_dims && !rc; d++) {
        const struct topo_dim *dim = &net->dims[d];
        if (!isnan(dim->bw_Bps)) {
            rc = add_bound(r, net, d, "bw_GBps", LINEXPR_EQ, dim->bw_Bps, e);
            continue;
        }
        if (dim->min_Bps > 0)
            rc = add_bound(r, net, d, "min_GBps", LINEXPR_GE, dim->min_Bps, e);
        if (!rc && isfinite(dim->max_Bps))
            rc = add_bound(r, net, d, "max_GBps", LINEXPR_LE, dim->max_Bps, e);
    }
    return rc;
}

int alloc_add_total(struct alloc_rows *r, const struct topo_network *net, double total_Bps, struct err *e)
{
    struct alloc_row row = { .name = "total_GBps", .sense = LINEXPR_EQ, .rhs = total_Bps, .unit = GBPS };
    for (int32_t d = 0; d < net->n_dims; d++)
        row.coef[d] = 1;
    return add_row(r, &row, e);
}
