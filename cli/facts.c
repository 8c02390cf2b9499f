#include "cli/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/sheet.h"
#include "topo/shape.h"

static double GBps(double x_Bps)
{
    return x_Bps / 1e9;
}

static void put_fact(struct text *out, const char *what, const char *value, const char *unit)
{
    text_printf(out, "  %-18s %s%s%s\n", what, value, *unit ? " " : "", unit);
}

static void put_count(struct text *out, const char *what, int64_t n, const char *unit)
{
    char buf[SHOW];
    put_fact(out, what, show_count(buf, n), unit);
}

static void put_degree(const struct topo_metrics *m, struct text *out)
{
    char least[SHOW], most[SHOW];
    show_count(least, m->npu_degree_min);
    show_count(most, m->npu_degree_max);
    if (m->npu_degree_min == m->npu_degree_max)
        put_fact(out, "links at an NPU", least, "");
    else
        text_printf(out, "  %-18s %s to %s\n", "links at an NPU", least, most);
}

static void put_hops(const struct topo_metrics *m, struct text *out)
{
    char buf[SHOW];
    if (!m->connected) {
        put_fact(out, "connected", "no", "");
        return;
    }
    put_fact(out, "diameter", show_count(buf, m->diameter_hops),
             m->hops_sampled ? "hops at least (from a sample of NPUs)"
                             : "hops (a step through a switch is 2)");
    put_fact(out, "mean distance", show_real(buf, m->mean_hops, 5),
             m->hops_sampled ? "hops (from a sample of NPUs)" : "hops");
}

static void put_bisection(const struct facts *f, struct text *out)
{
    const struct topo_metrics *m = &f->metrics;
    char buf[SHOW], how[96] = "GB/s each way";
    if (isnan(m->bisection_Bps)) {
        put_fact(out, "bisection",
                 f->study ? "not known before every dimension has its bandwidth" : "not computed", "");
        return;
    }
    if (m->bisection_is_bound)
        snprintf(how, sizeof how, "GB/s each way, at most (halves in the order of NPUs)");
    else if (f->study && m->bisection_dim >= 0)
        snprintf(how, sizeof how, "GB/s each way (halving %s)", f->study->net.dims[m->bisection_dim].name);
    put_fact(out, "bisection", show_real(buf, GBps(m->bisection_Bps), 6), how);
}

static int put_dims(const struct topo_network *net, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    int64_t groups = net->n_npus;
    sheet_column(&s, "dimension", "", SHEET_LEFT);
    sheet_column(&s, "shape", "", SHEET_LEFT);
    sheet_column(&s, "members", "", SHEET_POINT);
    sheet_column(&s, "bandwidth", "GB/s", SHEET_POINT);
    sheet_column(&s, "one link", "GB/s", SHEET_POINT);
    sheet_column(&s, "latency", "ns", SHEET_POINT);
    sheet_column(&s, "efficiency", "%", SHEET_POINT);
    sheet_column(&s, "links", "", SHEET_POINT);
    sheet_column(&s, "tier", "", SHEET_LEFT);
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        sheet_put(&s, "%s", dim->name);
        sheet_put(&s, "%s", topo_shape_name(dim->shape));
        sheet_count(&s, dim->size);
        sheet_real(&s, GBps(dim->bw_Bps), 6);
        sheet_real(&s, GBps(topo_shape_link_bw(dim->shape, dim->size, dim->bw_Bps)), 6);
        sheet_real(&s, dim->lat_s > 0 ? dim->lat_s / 1e-9 : NAN, 5);
        sheet_real(&s, dim->efficiency < 1 ? 100 * dim->efficiency : NAN, 4);
        sheet_count(&s, groups / dim->size * topo_shape_links(dim->shape, dim->size));
        sheet_put(&s, "%s", dim->tier);
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

int facts_text(const struct facts *f, struct text *out, struct err *e)
{
    const struct topo_metrics *m = &f->metrics;
    char word[TOPO_SPEC];
    text_printf(out, "%s\n", f->name);
    if (f->study && strcmp(f->name, topo_format_spec(word, &f->study->net)) != 0)
        put_fact(out, "in one word", word, "");
    put_count(out, "NPUs", m->n_npus, "");
    put_count(out, "switches", m->n_switches, "");
    put_count(out, "links", m->n_links, "");
    put_degree(m, out);
    put_hops(m, out);
    put_bisection(f, out);
    if (m->edge_connectivity >= 0)
        put_count(out, "edge connectivity", m->edge_connectivity, "(links whose loss can cut it in two)");
    int rc = text_check(out, e);
    if (!rc && f->study) {
        text_puts(out, "\n");
        rc = put_dims(&f->study->net, out, e);
    }
    if (!rc && f->has_bill) {
        text_puts(out, "\n");
        rc = facts_bill_text(f, out, e);
    }
    return rc;
}

static const char *dim_name(const struct facts *f, int32_t d)
{
    return d >= 0 ? f->study->net.dims[d].name : "";
}

static bool has_band(struct topo_band b)
{
    return b.low < b.typ || b.high > b.typ;
}

static void put_bill_line(const struct facts *f, const struct topo_bill_line *line, struct sheet *s)
{
    sheet_put(s, "%s", dim_name(f, line->dim));
    sheet_put(s, "%s", line->item);
    sheet_real(s, line->count, 6);
    sheet_put(s, "%s", line->count_unit);
    sheet_usd(s, line->usd.typ);
    sheet_usd(s, has_band(line->usd) ? line->usd.low : NAN);
    sheet_usd(s, has_band(line->usd) ? line->usd.high : NAN);
    sheet_real(s, line->watt, 6);
    sheet_put(s, "%s", topo_grade_names[line->grade]);
}

static void put_bill_sum(const struct topo_bill *b, struct sheet *s)
{
    sheet_put(s, "total");
    sheet_put(s, "%s", "");
    sheet_put(s, "%s", "");
    sheet_put(s, "%s", "");
    sheet_usd(s, b->usd.typ);
    sheet_usd(s, has_band(b->usd) ? b->usd.low : NAN);
    sheet_usd(s, has_band(b->usd) ? b->usd.high : NAN);
    sheet_real(s, b->n_watt_unknown < b->n_lines ? b->watt : NAN, 6);
    sheet_put(s, "%s", topo_grade_names[b->grade]);
}

static void put_bill_notes(const struct topo_bill *b, struct text *out)
{
    char a[SHOW], c[SHOW];
    if (b->nics >= 0)
        text_printf(out, "NICs %s, ", show_count(a, b->nics));
    if (b->nic_Bps > 0)
        text_printf(out, "%s%s GB/s per NPU, %s USD\n", b->nics >= 0 ? "" : "NICs ",
                    show_real(a, GBps(b->nic_Bps), 5), show_usd(c, b->nic_usd));
    else if (b->nics >= 0)
        text_puts(out, "no NIC bandwidth\n");
    if (b->npu_usd > 0)
        text_printf(out, "NPUs, not in the total: %s USD\n", show_usd(a, b->npu_usd));
    if (b->n_watt_unknown > 0 && b->n_watt_unknown < b->n_lines)
        text_printf(out, "The power of %d items is not known: the sum is a lower bound.\n",
                    (int)b->n_watt_unknown);
    text_puts(out,
              "grade: V read in its source, D derived from such, V-weak vendor or reseller, R recalled\n");
}

int facts_bill_text(const struct facts *f, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    sheet_column(&s, "for", "", SHEET_LEFT);
    sheet_column(&s, "item", "", SHEET_LEFT);
    sheet_column(&s, "count", "", SHEET_POINT);
    sheet_column(&s, "", "", SHEET_LEFT);
    sheet_column(&s, "price", "USD", SHEET_POINT);
    sheet_column(&s, "low", "USD", SHEET_POINT);
    sheet_column(&s, "high", "USD", SHEET_POINT);
    sheet_column(&s, "power", "W", SHEET_POINT);
    sheet_column(&s, "grade", "", SHEET_LEFT);
    for (int32_t i = 0; i < f->bill.n_lines; i++)
        put_bill_line(f, &f->bill.lines[i], &s);
    put_bill_sum(&f->bill, &s);
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    put_bill_notes(&f->bill, out);
    return rc ? rc : text_check(out, e);
}
