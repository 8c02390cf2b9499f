#include <math.h>
#include <string.h>

#include "cli/facts.h"
#include "topo/shape.h"

static void json_maybe_count(struct json *j, const char *key, int64_t n)
{
    if (n >= 0)
        json_count(j, key, n);
    else
        json_text(j, key, NULL);
}

static void put_dim(const struct topo_network *net, int32_t d, const struct study *s, struct json *j)
{
    const struct topo_dim *dim = &net->dims[d];
    json_open(j, NULL, '{');
    json_text(j, "name", dim->name);
    json_text(j, "shape", topo_shape_name(dim->shape));
    json_count(j, "size", dim->size);
    json_real(j, "bw_GBps", dim->bw_Bps / 1e9);
    json_real(j, "link_GBps", topo_shape_link_bw(dim->shape, dim->size, dim->bw_Bps) / 1e9);
    json_real(j, "latency_ns", dim->lat_s / 1e-9);
    json_real(j, "efficiency", dim->efficiency);
    json_count(j, "links", net->n_npus / dim->size * topo_shape_links(dim->shape, dim->size));
    json_text(j, "tier", *dim->tier ? dim->tier : NULL);
    json_real(j, "usd_per_GBps_per_npu",
              s->has_parts ? s->prices[d].usd_per_Bps * 1e9 / (double)net->n_npus : NAN);
    json_close(j, '}');
}

static void put_band(struct json *j, const char *key, struct topo_band band)
{
    json_open(j, key, '{');
    json_real(j, "low", band.low);
    json_real(j, "typ", band.typ);
    json_real(j, "high", band.high);
    json_close(j, '}');
}

static void put_bill(const struct facts *f, struct json *j)
{
    const struct topo_bill *b = &f->bill;
    json_open(j, "bill", '{');
    put_band(j, "usd", b->usd);
    json_real(j, "watt", b->n_watt_unknown < b->n_lines ? b->watt : NAN);
    json_bool(j, "watt_is_lower_bound", b->n_watt_unknown > 0);
    json_maybe_count(j, "nics", b->nics);
    json_real(j, "nic_GBps", b->nic_Bps / 1e9);
    json_real(j, "nic_usd", b->nic_usd);
    json_maybe_count(j, "switches", b->switches);
    json_text(j, "grade", topo_grade_names[b->grade]);
    json_real(j, "npu_usd", b->npu_usd);
    json_real(j, "npu_watt", b->npu_watt);
    json_open(j, "lines", '[');
    for (int32_t i = 0; i < b->n_lines; i++) {
        const struct topo_bill_line *line = &b->lines[i];
        json_open(j, NULL, '{');
        json_text(j, "dimension", f->study->net.dims[line->dim].name);
        json_text(j, "tier", line->tier);
        json_text(j, "item", line->item);
        json_real(j, "count", line->count);
        json_text(j, "unit", line->count_unit);
        put_band(j, "usd", line->usd);
        json_real(j, "watt", line->watt);
        json_text(j, "grade", topo_grade_names[line->grade]);
        json_text(j, "source", line->source);
        json_text(j, "date", line->date);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void facts_json(const struct facts *f, struct json *j)
{
    const struct topo_metrics *m = &f->metrics;
    char word[TOPO_SPEC];
    json_text(j, "network", f->name);
    json_text(j, "spec", f->study ? topo_format_spec(word, &f->study->net) : NULL);
    json_count(j, "npus", m->n_npus);
    json_count(j, "switches", m->n_switches);
    json_count(j, "links", m->n_links);
    json_count(j, "degree_min", m->npu_degree_min);
    json_count(j, "degree_max", m->npu_degree_max);
    json_bool(j, "connected", m->connected);
    json_maybe_count(j, "diameter_hops", m->diameter_hops);
    json_real(j, "mean_hops", m->mean_hops);
    json_bool(j, "hops_sampled", m->hops_sampled);
    json_real(j, "bisection_GBps", m->bisection_Bps / 1e9);
    json_bool(j, "bisection_is_bound", m->bisection_is_bound);
    json_text(j, "bisection_dim",
              f->study && m->bisection_dim >= 0 ? f->study->net.dims[m->bisection_dim].name : NULL);
    json_maybe_count(j, "edge_connectivity", m->edge_connectivity);
    if (f->study) {
        json_open(j, "dims", '[');
        for (int32_t d = 0; d < f->study->net.n_dims; d++)
            put_dim(&f->study->net, d, f->study, j);
        json_close(j, ']');
    }
    if (f->has_bill)
        put_bill(f, j);
}

static void put_maybe_count(struct table *t, int64_t n)
{
    if (n >= 0)
        table_put_count(t, n);
    else
        table_put_none(t);
}

static void fact_columns(struct table *t)
{
    static const struct {
        const char *name;
        enum table_kind kind;
    } columns[] = {
        { "network", TABLE_TEXT },       { "spec", TABLE_TEXT },
        { "npus", TABLE_COUNT },         { "switches", TABLE_COUNT },
        { "links", TABLE_COUNT },        { "degree_min", TABLE_COUNT },
        { "degree_max", TABLE_COUNT },   { "diameter_hops", TABLE_COUNT },
        { "mean_hops", TABLE_REAL },     { "bisection_GBps", TABLE_REAL },
        { "bisection_dim", TABLE_TEXT }, { "edge_connectivity", TABLE_COUNT },
        { "usd", TABLE_REAL },           { "watt", TABLE_REAL },
        { "nics", TABLE_COUNT },         { "nic_GBps", TABLE_REAL },
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i].name, columns[i].kind);
}

void facts_table(const struct facts *f, struct table *t)
{
    const struct topo_metrics *m = &f->metrics;
    char word[TOPO_SPEC];
    fact_columns(t);
    table_row(t);
    table_put_text(t, f->name);
    table_put_text(t, f->study ? topo_format_spec(word, &f->study->net) : NULL);
    table_put_count(t, m->n_npus);
    table_put_count(t, m->n_switches);
    table_put_count(t, m->n_links);
    table_put_count(t, m->npu_degree_min);
    table_put_count(t, m->npu_degree_max);
    put_maybe_count(t, m->diameter_hops);
    table_put_real(t, m->mean_hops);
    table_put_real(t, m->bisection_Bps / 1e9);
    table_put_text(t, f->study && m->bisection_dim >= 0 ? f->study->net.dims[m->bisection_dim].name : NULL);
    put_maybe_count(t, m->edge_connectivity);
    table_put_real(t, f->has_bill ? f->bill.usd.typ : NAN);
    table_put_real(t, f->has_bill && f->bill.n_watt_unknown == 0 ? f->bill.watt : NAN);
    put_maybe_count(t, f->has_bill ? f->bill.nics : -1);
    table_put_real(t, f->has_bill ? f->bill.nic_Bps / 1e9 : NAN);
}

void facts_bill_table(const struct facts *f, struct table *t)
{
    static const char *const columns[] = { "dimension", "tier",  "item", "unit",    "grade",    "source",
                                           "date",      "count", "usd",  "usd_low", "usd_high", "watt" };
    enum { N_TEXTS = 7 };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i], i < N_TEXTS ? TABLE_TEXT : TABLE_REAL);
    for (int32_t i = 0; i < f->bill.n_lines; i++) {
        const struct topo_bill_line *line = &f->bill.lines[i];
        table_row(t);
        table_put_text(t, f->study->net.dims[line->dim].name);
        table_put_text(t, line->tier);
        table_put_text(t, line->item);
        table_put_text(t, line->count_unit);
        table_put_text(t, topo_grade_names[line->grade]);
        table_put_text(t, line->source);
        table_put_text(t, line->date);
        table_put_real(t, line->count);
        table_put_real(t, line->usd.typ);
        table_put_real(t, line->usd.low);
        table_put_real(t, line->usd.high);
        table_put_real(t, line->watt);
    }
}
