/*
 * weft topo: facts of a network in closed form (or by search on its graph: --igraph), its bill, and its graph
 * as a file for other programs. A custom graph (edges, GraphML) has metrics by search alone. Files are
 * written before the facts: if one cannot be written, nothing is reported.
 *
 * A fact that is not known is left out of text and is null or blank in data: columns are the same for each
 * network. NaN and negative counts stand for "not known" throughout.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/load.h"
#include "cli/output.h"
#include "kinds/design/answer/lists.h"
#include "kinds/design/ask/load.h"
#include "sim/astra/astra_file.h"
#include "topo/graph.h"
#include "topo/theta.h"
#include "workloads/collective.h"

static const struct option topo_rows[] = {
    FLAG_OPTION("bill", bill, "print only the bill, one line per item"),
    FLAG_OPTION("igraph", igraph, "find the metrics by search on the graph instead of by closed forms"),
    FLAG_OPTION("spec", spec, "print only the network, as one word"),
    TEXT_OPTION("graphml", "FILE", graphml, "write the graph as GraphML", .outside = true),
    TEXT_OPTION("dot", "FILE", dot,
                "write the graph for Graphviz; - (also for --graphml) writes it instead of the facts",
                .outside = true),
    TEXT_OPTION("astra", "FILE", astra,
                "write the network for ASTRA-sim 2 (YAML); - writes it instead of the facts",
                .outside = true),
    TEXT_OPTION("astra-system", "FILE", astra_system,
                "write the simulation for ASTRA-sim 2 (JSON); - writes it instead of the facts",
                .outside = true),
};

static const struct option_group topo_options = OPTION_GROUP("Network", topo_rows);

typedef int format_graph(struct text *out, const struct topo_graph *g, struct err *e);

static int export_graph(const struct run *run, const struct topo_graph *g, const char *path,
                        format_graph *format, struct err *e)
{
    struct text out = { 0 };
    if (!path)
        return 0;
    int rc = format(&out, g, e);
    if (!rc)
        rc = output_file(run, path, &out, e);
    text_free(&out);
    return rc;
}

/* What is known about a network. */
struct facts {
    const char *name;
    const struct design_point *study;   /* NULL for a custom graph */
    const struct design_point *classes; /* the study of a custom graph */
    struct topo_metrics metrics;
    struct topo_bill bill; /* empty unless has_bill */
    bool has_bill;
    bool unpriced_switches; /* of a custom graph whose links have prices */
    double uniform_Bps;     /* of a custom graph: all-to-all by any paths; NaN */
};

struct dim_row {
    const char *name, *shape, *tier;
    int64_t size, links;
    double bw_GBps, link_GBps, latency_ns, efficiency, usd_per_GBps_per_npu;
};

static const struct column dim_columns[] = {
    COLUMN_WORD(struct dim_row, name, "of the dimension", .title = "dimension"),
    COLUMN_WORD(struct dim_row, shape, "of its groups"),
    COLUMN_COUNT(struct dim_row, size, "of a group", .title = "members"),
    COLUMN_REAL(struct dim_row, bw_GBps, "of an NPU", .title = "bandwidth", .digits = 6),
    COLUMN_REAL(struct dim_row, link_GBps, "of a link", .title = "one link", .digits = 6),
    COLUMN_REAL(struct dim_row, latency_ns, "of a step", .zero = "-"),
    COLUMN_REAL(struct dim_row, efficiency, "share of the bandwidth that collectives get", .times = 100,
                .as = "%", .digits = 4),
    COLUMN_COUNT(struct dim_row, links, "of all groups"),
    COLUMN_WORD(struct dim_row, tier, "whose parts it is made of", .in = IN_TEXT, .flags = COLUMN_EMPTY),
    COLUMN_WORD(struct dim_row, tier, "likewise", .in = IN_JSON),
    COLUMN_REAL(struct dim_row, usd_per_GBps_per_npu, "price of bandwidth", .in = IN_JSON),
    COLUMNS_END,
};

/* With @p classes a row is a class of links of a custom graph, with the rate of its fastest link. */
static void report_dims(struct report *r, const struct design_point *s, bool classes)
{
    const struct topo_network *net = &s->net;
    report_line(r, "\n");
    report_list(r, "dims", dim_columns);
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        const struct topo_wire_class *kind = classes ? &net->wires->kinds[d] : NULL;
        double link_Bps =
            kind ? kind->link_share * dim->bw_Bps : topo_link_Bps(dim - dim->level, dim->level, dim->bw_Bps);
        double usd_per_Bps = s->has_parts ? s->prices[d].usd_per_Bps : (double)NAN;
        /* In text what is not given is a blank: no loss is none. */
        bool blank = report_is(r, IN_TEXT) && !(dim->efficiency < 1);
        report_row(r, &(struct dim_row){ .name = dim->name,
                                         .shape = kind ? "links" : topo_shape_name(dim->shape),
                                         .size = dim->size,
                                         .bw_GBps = dim->bw_Bps / 1e9,
                                         .link_GBps = link_Bps / 1e9,
                                         .latency_ns = kind ? (double)NAN : dim->lat_s / 1e-9,
                                         .efficiency = blank ? (double)NAN : dim->efficiency,
                                         .links = kind ? kind->n_links : topo_class_links(net, d),
                                         .tier = *dim->tier ? dim->tier : NULL,
                                         .usd_per_GBps_per_npu = usd_per_Bps * 1e9 / (double)net->n_npus });
    }
    report_list_end(r);
}

/* ---- bill ---- */

/* Its sums: in JSON beside the lines, in CSV the end of the row of facts. */
struct bill_facts {
    struct topo_bill of;
    double whole_watt; /* NaN: not of all lines */
};

#define BILL(kind, field, called, ...)                                                                       \
    COLUMN_AT(struct bill_facts, field, called, TABLE_##kind, NULL, .in = __VA_ARGS__)
static const struct column bill_columns[] = {
    BILL(REAL, of.usd.low, "usd.low", IN_JSON),
    BILL(REAL, of.usd.typ, "usd.typ", IN_JSON),
    BILL(REAL, of.usd.high, "usd.high", IN_JSON),
    BILL(REAL, of.usd.typ, "usd", IN_CSV),
    BILL(REAL, of.usd.low, "usd_low", IN_CSV),
    BILL(REAL, of.usd.high, "usd_high", IN_CSV),
    BILL(REAL, of.watt, "watt", IN_JSON),
    BILL(REAL, whole_watt, "watt", IN_CSV),
    BILL(COUNT, of.n_watt_unknown, "watt_is_lower_bound", IN_JSON, .show = COLUMN_YES_NO),
    BILL(COUNT, of.nics, "nics", IN_DATA),
    BILL(REAL, of.nic_Bps, "nic_GBps", IN_DATA, .per = 1e9),
    BILL(REAL, of.nic_usd, "nic_usd", IN_JSON),
    BILL(COUNT, of.switches, "switches", IN_JSON),
    BILL(COUNT, of.grade, "grade", IN_JSON, .words = topo_grade_names),
    BILL(COUNT, of.band_grade, "band_grade", IN_JSON, .words = topo_grade_names),
    BILL(COUNT, of.watt_grade, "watt_grade", IN_JSON, .words = topo_grade_names),
    BILL(REAL, of.npu_usd, "npu_usd", IN_JSON),
    BILL(REAL, of.npu_watt, "npu_watt", IN_JSON),
    COLUMNS_END,
};
#undef BILL

/* NaN: of no line. */
static double known_watt(const struct topo_bill *b)
{
    return b->n_watt_unknown < b->n_lines ? b->watt : (double)NAN;
}

/* The sum is a row of text; data has it beside the lines. */
static void report_bill_lines(struct report *r, const struct facts *f)
{
    const struct topo_bill *b = &f->bill;
    report_list(r, "lines", design_bill_columns);
    for (int32_t i = 0; i < b->n_lines; i++) {
        const struct topo_bill_line *line = &b->lines[i];
        const struct design_bill_line row =
            design_bill_line(f->study ? f->study->net.dims[line->dim].name : line->tier, line);
        report_row(r, &row);
    }
    if (report_is(r, IN_TEXT)) {
        const struct design_bill_line sum =
            design_bill_line("total", &(struct topo_bill_line){ .usd = b->usd,
                                                                .watt = known_watt(b),
                                                                .grade = b->grade,
                                                                .band_grade = b->band_grade,
                                                                .watt_grade = b->watt_grade });
        report_row(r, &sum);
    }
    report_list_end(r);
}

/* NPUs are no part of the network's bill, so they are named apart. */
static void say_bill(struct report *r, const struct topo_bill *b)
{
    char a[SHOW], c[SHOW];
    if (b->nics >= 0)
        report_line(r, "NICs %s, ", show_count(a, b->nics));
    if (b->nic_Bps > 0)
        report_line(r, "%s%s GB/s per NPU, %s USD\n", b->nics >= 0 ? "" : "NICs ",
                    show_real(a, b->nic_Bps / 1e9, 5), show_usd(c, b->nic_usd));
    else if (b->nics >= 0)
        report_line(r, "no NIC bandwidth\n");
    if (b->npu_usd > 0)
        report_line(r, "NPUs, not in the total: %s USD\n", show_usd(a, b->npu_usd));
    if (b->n_watt_unknown > 0 && b->n_watt_unknown < b->n_lines)
        report_line(r, "The power of %d item%s not known: the sum is a lower bound.\n",
                    (int)b->n_watt_unknown, b->n_watt_unknown == 1 ? " is" : "s is");
    report_line(r, "grades of prices, bands and power: V read in its source, D derived from such, "
                   "V-weak vendor or reseller, R recalled\n");
}

/* The bill alone (a row a line in data), or behind the facts as a map. */
static void report_bill(struct report *r, const struct facts *f)
{
    const struct topo_bill *b = &f->bill;
    struct bill_facts sums = { *b, b->watt };
    sums.of.watt = known_watt(b);
    report_open(r, "bill", '{');
    if (report_is(r, IN_JSON))
        report_facts(r, bill_columns, &sums);
    if (!report_is(r, IN_CSV) || r->rows)
        report_bill_lines(r, f);
    report_close(r, '}');
    if (f->unpriced_switches)
        report_line(r, "Switches have no price of their own in the graph.\n");
    say_bill(r, b);
}

/* ---- facts ---- */

/* With the words that text has beside the numbers. */
struct fact_row {
    const char *name, *spec, *bisection_dim, *uniform_dim, *uneven_dim, *no_bisection;
    struct topo_metrics m;
    struct collective_uniform uniform;
    double injection_Bps; /* all links of an NPU; NaN: some have no bandwidth yet */
    char degrees[2 * SHOW + 4], cut[96], shared[160], load[160];
};

static const char *dim_name(const struct facts *f, int32_t dim)
{
    return f->study && dim >= 0 ? f->study->net.dims[dim].name : NULL;
}

static void word_metrics(struct fact_row *row, const struct facts *f)
{
    const struct topo_metrics *m = &f->metrics;
    const char *dim = row->bisection_dim = dim_name(f, m->bisection_dim);
    char least[SHOW], most[SHOW];
    bool one = m->npu_degree_min == m->npu_degree_max;
    snprintf(row->degrees, sizeof row->degrees, "%s%s%s", show_count(least, m->npu_degree_min),
             one ? "" : " to ", one ? "" : show_count(most, m->npu_degree_max));
    row->no_bisection = f->study ? "not known before every dimension has its bandwidth" : "not computed";
    if (m->bisection_is_bound)
        snprintf(row->cut, sizeof row->cut, "GB/s each way, at most (%s%s)",
                 dim ? "halving " : "halves in the order of NPUs", dim ? dim : "");
    else
        snprintf(row->cut, sizeof row->cut, "GB/s each way%s%s%s", dim ? " (halving " : "", dim ? dim : "",
                 dim ? ")" : "");
}

static void word_uniform(struct fact_row *row, const struct facts *f)
{
    const struct topo_dim *dims = f->study ? f->study->net.dims : NULL;
    struct collective_uniform *u = &row->uniform;
    char more[SHOW];
    if (f->study)
        collective_find_uniform(u, &f->study->net);
    bool behind = !isnan(u->rate_Bps) && u->dim >= 0 && dims && topo_is_fabric(&dims[u->dim]) &&
                  topo_ops(&dims[u->dim])->one_port && isfinite(u->fabric_Bps);
    row->uniform_dim = dim_name(f, u->dim);
    row->uneven_dim = dim_name(f, u->uneven_dim);
    if (!row->uneven_dim)
        u->uneven = NAN;
    snprintf(row->shared, sizeof row->shared, "GB/s of each NPU to all others (%s%s%s%s%s)",
             row->uniform_dim ? row->uniform_dim : "", dims ? " decides" : "by any paths",
             behind ? "; the links behind it carry " : "",
             behind ? show_real(more, u->fabric_Bps / 1e9, 6) : "", behind ? " GB/s" : "");
    snprintf(row->load, sizeof row->load,
             "times the mean of its links on the busiest one of %s, which times count",
             row->uneven_dim ? row->uneven_dim : "");
}

static struct fact_row fact_row(const struct facts *f, const char *spec)
{
    struct fact_row row = {
        .name = f->name, .spec = spec, .m = f->metrics, .uniform = { f->uniform_Bps, -1, NAN, 1, -1 }
    };
    row.injection_Bps = f->study ? 0 : NAN;
    for (int32_t d = 0; f->study && d < f->study->net.n_dims; d++)
        row.injection_Bps += topo_in_total(&f->study->net.dims[d]) ? f->study->net.dims[d].bw_Bps : 0;
    word_metrics(&row, f);
    word_uniform(&row, f);
    return row;
}

#define FACT(kind, field, name, ...)                                                                         \
    COLUMN_AT(struct fact_row, field, name, TABLE_##kind, NULL, .in = __VA_ARGS__)
#define FACT_FLAG(field, name, forms) FACT(COUNT, field, name, forms, .show = COLUMN_YES_NO)

/* Text has what is known, data each fact. Of a graph in pieces distances mean nothing: text says that it is
 * one, data has them as null. */
static void report_metrics(struct report *r, const struct fact_row *row)
{
    const struct topo_metrics *m = &row->m;
    bool named = row->spec && strcmp(row->name, row->spec) != 0, cut = !isnan(m->bisection_Bps);
    unsigned hops = m->connected ? IN_ALL : IN_DATA;
    const struct column columns[] = {
        FACT(TEXT, name, "network", IN_DATA),
        FACT(TEXT, spec, "spec", named ? IN_ALL : IN_DATA, .title = "in one word"),
        FACT(COUNT, m.n_npus, "npus", IN_ALL, .title = "NPUs"),
        FACT(COUNT, m.n_switches, "switches", IN_ALL),
        FACT(COUNT, m.n_links, "links", IN_ALL),
        FACT(COUNT, m.n_spare_ports, "ports to spare", m->n_spare_ports > 0 ? IN_TEXT : IN_NONE,
             .as =
                 "(for links between groups, which do not share them out; some published counts have them)"),
        FACT(TEXT, degrees, "links at an NPU", IN_TEXT, .flags = COLUMN_CHARS),
        FACT(REAL, injection_Bps, "injection_GBps", isnan(row->injection_Bps) ? IN_DATA : IN_ALL, .per = 1e9,
             .digits = 6, .title = "injection", .as = "GB/s of an NPU, all its links, one direction"),
        FACT(COUNT, m.npu_degree_min, "degree_min", IN_DATA),
        FACT(COUNT, m.npu_degree_max, "degree_max", IN_DATA),
        FACT_FLAG(m.connected, "connected", m->connected ? IN_JSON : IN_JSON | IN_TEXT),
        FACT(COUNT, m.diameter_hops, "diameter_hops", hops, .title = "diameter",
             .as = m->hops_sampled ? "hops at least (from a sample of NPUs)"
                                   : "hops (a step through a switch is 2)"),
        FACT(REAL, m.mean_hops, "mean_hops", hops, .title = "mean distance",
             .as = m->hops_sampled ? "hops (from a sample of NPUs)" : "hops"),
        FACT_FLAG(m.hops_sampled, "hops_sampled", IN_JSON),
        FACT(TEXT, no_bisection, "bisection", cut ? IN_NONE : IN_TEXT),
        FACT(REAL, m.bisection_Bps, "bisection_GBps", cut ? IN_ALL : IN_DATA, .per = 1e9, .digits = 6,
             .title = "bisection", .as = row->cut),
        FACT_FLAG(m.bisection_is_bound, "bisection_is_bound", IN_DATA),
        FACT(TEXT, bisection_dim, "bisection_dim", IN_DATA),
        COLUMNS_END,
    };
    report_facts(r, columns, row);
}

/* What the network carries. */
static void report_traffic(struct report *r, const struct fact_row *row)
{
    const struct column columns[] = {
        FACT(REAL, uniform.rate_Bps, "uniform_GBps", isnan(row->uniform.rate_Bps) ? IN_DATA : IN_ALL,
             .per = 1e9, .digits = 6, .title = "uniform traffic", .as = row->shared),
        FACT(TEXT, uniform_dim, "uniform_dim", IN_DATA),
        FACT(REAL, uniform.fabric_Bps, "uniform_fabric_GBps", IN_DATA, .per = 1e9),
        FACT(REAL, uniform.uneven, "uneven", row->uneven_dim ? IN_ALL : IN_DATA, .as = row->load),
        FACT(TEXT, uneven_dim, "uneven_dim", IN_DATA),
        FACT(COUNT, m.edge_connectivity, "edge_connectivity",
             row->m.edge_connectivity >= 0 ? IN_ALL : IN_DATA, .as = "(links whose loss can cut it in two)"),
        COLUMNS_END,
    };
    report_facts(r, columns, row);
}
#undef FACT
#undef FACT_FLAG

static void put_facts(struct report *r, const struct facts *f)
{
    char word[TOPO_SPEC];
    const struct fact_row row = fact_row(f, f->study ? topo_format_spec(word, &f->study->net) : NULL);
    report_line(r, "%s\n", f->name);
    report_metrics(r, &row);
    report_traffic(r, &row);
    if (report_is(r, IN_CSV)) {
        /* Its row ends with the sums of the bill. */
        struct bill_facts sums = { f->bill, f->bill.n_watt_unknown > 0 ? (double)NAN : f->bill.watt };
        if (!f->has_bill)
            row_clear(&sums, bill_columns);
        report_facts(r, bill_columns, &sums);
        return;
    }
    if (f->study)
        report_dims(r, f->study, false);
    if (f->classes)
        report_dims(r, f->classes, true);
    if (f->has_bill) {
        report_line(r, "\n");
        report_bill(r, f);
    }
}

static int write_facts(const struct run *run, const struct facts *f, struct origin from, struct err *e)
{
    struct report r = { .rows = run->opt.bill, .indent = "  ", .width = 19 };
    output_begin(&r, run, from);
    if (run->opt.bill)
        report_bill(&r, f);
    else
        put_facts(&r, f);
    return output_report(&r, run, from, e);
}

/* Files first: if one cannot be written, nothing is reported. */
static int deliver(const struct run *run, const struct facts *f, const struct topo_graph *g,
                   struct origin from, struct err *e)
{
    int rc = export_graph(run, g, run->opt.graphml, topo_format_graphml, e);
    if (!rc)
        rc = export_graph(run, g, run->opt.dot, topo_format_dot, e);
    /* A graph on standard output stands alone, for a pipe. */
    bool alone = outfile_is_stdout(run->opt.graphml) || outfile_is_stdout(run->opt.dot) ||
                 outfile_is_stdout(run->opt.astra) || outfile_is_stdout(run->opt.astra_system);
    if (rc || (alone && !run->opt.out))
        return rc;
    return write_facts(run, f, from, e);
}

/* Both files, then the warnings: an export that fails has nothing to warn of. */
static int export_astra(struct run *run, const struct design_point *s, struct err *e)
{
    const char *network = run->opt.astra, *system = run->opt.astra_system;
    struct sim_astra_setup setup;
    struct text out = { 0 }, notes = { 0 };
    int rc = sim_astra_from_network(&setup, &s->net, &notes, e);
    if (!rc && system)
        rc = sim_astra_from_rules(&setup, &s->net, &s->rules, &notes, e);
    if (rc)
        err_wrap(e, "%s", run->opt.operands[0]);
    if (!rc && network) {
        sim_astra_format_network(&out, &setup);
        rc = output_file(run, network, &out, e);
        text_clear(&out);
    }
    if (!rc && system) {
        sim_astra_format_system(&out, &setup, &notes);
        rc = output_file(run, system, &out, e);
    }
    if (!rc)
        output_notes(run, &notes);
    text_free(&out);
    text_free(&notes);
    return rc;
}

static bool wants_astra(const struct run *run)
{
    return run->opt.astra || run->opt.astra_system;
}

/* What its own attributes make of it; without prices only where a bill is asked for an error. */
static int custom_bill(struct facts *f, struct topo_wires *w, const struct topo_graph *g, bool asked,
                       struct err *e)
{
    int rc = topo_wires_build(w, g, e);
    if (!rc && (asked || topo_wires_priced(w))) {
        rc = topo_bill_wires(&f->bill, w, f->name, e);
        f->has_bill = !rc;
        f->unpriced_switches = w->unpriced_switches;
    }
    return rc ? err_wrap(e, "%s", f->name) : 0;
}

static int custom_metrics(struct facts *f, const struct topo_wires *w, const struct topo_graph *g,
                          struct err *e)
{
    int rc = topo_graph_metrics(&f->metrics, g, e);
    if (!rc)
        rc = theta_uniform(&f->uniform_Bps, w, e);
    if (!rc && theta_proves_bisection(f->uniform_Bps, f->metrics.n_npus, f->metrics.bisection_Bps))
        f->metrics.bisection_is_bound = false;
    return rc;
}

/* A study's graph at the bandwidths of its classes, the study's bill. */
static int graph_of_study(struct run *run, struct design_point *s, struct err *e)
{
    char word[TOPO_SPEC];
    double bw_Bps[TOPO_MAX_DIMS];
    struct topo_graph *g = NULL;
    struct topo_wires w = { 0 };
    struct facts f = { .name = load_network_name(word, &s->net), .classes = s, .uniform_Bps = NAN };
    if (run->opt.spec || wants_astra(run))
        return err_set(e, ERR_UNSUP, "%s: its network is a graph, which %s", run->opt.operands[0],
                       run->opt.spec ? "no word describes" : "ASTRA-sim has no file for");
    for (int32_t d = 0; d < s->net.n_dims; d++) /* others are to be chosen */
        if (isnan(s->net.dims[d].bw_Bps))
            s->net.dims[d].bw_Bps = s->net.wires->kinds[d].file_Bps;
    int rc = design_point_open_graph(&g, s, e);
    if (!rc)
        rc = topo_wires_build(&w, g, e);
    if (!rc && !run->opt.bill)
        rc = custom_metrics(&f, &w, g, e);
    if (!rc && s->has_parts) {
        rc = design_point_build_bill(&f.bill, s, topo_get_bandwidths(bw_Bps, &s->net), e);
        f.has_bill = !rc;
        f.unpriced_switches = s->net.wires->own_prices && s->net.wires->unpriced_switches;
    }
    if (!rc)
        rc = deliver(run, &f, g, output_origin(s), e);
    topo_bill_free(&f.bill);
    topo_wires_free(&w);
    topo_graph_free(g);
    return rc;
}

/* Bandwidths to choose and words belong to dimensions, which a custom graph has not. */
static int custom_graph(struct run *run, struct err *e)
{
    struct topo_graph *g = NULL;
    struct facts f = { .name = run->opt.operands[0], .uniform_Bps = NAN };
    const char *asked = run->opt.spec           ? "spec"
                        : run->opt.set.n        ? "set"
                        : run->opt.parts        ? "parts"
                        : run->opt.astra        ? "astra"
                        : run->opt.astra_system ? "astra-system"
                                                : NULL;
    if (asked)
        return err_set(e, ERR_USAGE, "option --%s works for described networks only, not for a custom graph",
                       asked);
    struct topo_wires w = { 0 };
    int rc = topo_read_graph(&g, f.name, e);
    if (!rc && topo_graph_lacks_kinds(g))
        output_warn(run, "%s: " TOPO_NO_KINDS, f.name, (long long)topo_graph_npus(g));
    if (!rc)
        rc = custom_bill(&f, &w, g, run->opt.bill, e);
    if (!rc && !run->opt.bill)
        rc = custom_metrics(&f, &w, g, e);
    if (!rc)
        rc = deliver(run, &f, g, (struct origin){ .known = false }, e);
    topo_bill_free(&f.bill);
    topo_wires_free(&w);
    topo_graph_free(g);
    return rc;
}

/* The graph is built only where somebody asks for it: closed forms serve networks far too large for one. A
 * bill needs all bandwidths; without one of them facts are reported all the same. */
static int find_metrics(struct facts *f, struct topo_graph **g, const struct run *run, struct err *e)
{
    const struct design_point *s = f->study;
    double bw_Bps[TOPO_MAX_DIMS], usd_per_Bps[TOPO_MAX_DIMS];
    int rc = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        usd_per_Bps[d] = s->prices[d].usd_per_Bps;
    if (run->opt.igraph || run->opt.graphml || run->opt.dot)
        rc = topo_build_graph(g, &s->net, s->has_parts ? usd_per_Bps : NULL, e);
    if (rc)
        return rc;
    if (run->opt.igraph)
        rc = topo_graph_metrics(&f->metrics, *g, e);
    else
        topo_metrics(&f->metrics, &s->net);
    f->metrics.n_spare_ports = topo_spare_ports(&s->net);
    if (!rc && s->has_parts && topo_has_bandwidths(&s->net)) {
        rc = design_point_build_bill(&f->bill, s, topo_get_bandwidths(bw_Bps, &s->net), e);
        f->has_bill = !rc;
    }
    return rc;
}

static int print_spec(const struct run *run, const struct design_point *s, struct err *e)
{
    char word[TOPO_SPEC];
    struct text out = { 0 };
    text_printf(&out, "%s\n", topo_format_spec(word, &s->net));
    int rc = output_text(run, &out, e);
    text_free(&out);
    return rc;
}

/* Of a study only the network is looked at: that its other keys have no effect here is no news, unless they
 * were given on the command line. */
static void warn_about_network(struct run *run, const struct design_point *s)
{
    size_t n;
    for (const char *rest = text_str(&s->notes), *line; (line = text_next(&rest, '\n', &n));)
        if (s->own_source < 0 || strncmp(line, "--set ", 6) == 0 || strncmp(line, "dimension ", 10) == 0)
            output_warn(run, "%.*s", (int)n, line);
}

static int described(struct run *run, struct err *e)
{
    struct overrides o;
    struct design_point s = { 0 };
    struct topo_graph *g = NULL;
    struct facts f = { .study = &s, .uniform_Bps = NAN };
    char word[TOPO_SPEC];
    int rc = overrides_read(&o, run, e);
    if (!rc)
        rc = design_point_load(&s, run->opt.operands[0], o.list, o.n,
                               (run->opt.bill ? DESIGN_NEEDS_PARTS | DESIGN_NEEDS_BANDWIDTH : 0) |
                                   (wants_astra(run) ? DESIGN_NEEDS_BANDWIDTH : 0),
                               e);
    if (rc)
        goto out;
    warn_about_network(run, &s);
    if (s.ideal) {
        rc = graph_of_study(run, &s, e);
        goto out;
    }
    if (run->opt.spec) {
        rc = print_spec(run, &s, e);
        goto out;
    }
    f.name = load_network_name(word, &s.net);
    rc = find_metrics(&f, &g, run, e);
    if (!rc && wants_astra(run))
        rc = export_astra(run, &s, e);
    if (!rc)
        rc = deliver(run, &f, g, output_origin(&s), e);
out:
    topo_bill_free(&f.bill);
    topo_graph_free(g);
    design_point_free(&s);
    overrides_free(&o);
    return rc;
}

static int run_topo(struct run *run, struct err *e)
{
    const struct options *o = &run->opt;
    const char *path = o->operands[0];
    const struct extra files[] = { { "graphml", o->graphml, true, ".graphml .xml" },
                                   { "dot", o->dot, true, ".dot .gv" },
                                   { "astra", o->astra, true, ".yml .yaml" },
                                   { "astra-system", o->astra_system, true, ".json" } };
    if (o->spec && (o->bill || o->graphml || o->dot || wants_astra(run)))
        return err_set(e, ERR_USAGE,
                       "option --spec is given with --bill or one that writes a file; use it alone");
    /* Before anything is read: a name that is taken fails at once. */
    int rc = extra_check(run, files, sizeof files / sizeof files[0], e);
    if (rc)
        return rc;
    return output_ends_with(path, ".csv") || output_ends_with(path, ".graphml") ? custom_graph(run, e)
                                                                                : described(run, e);
}

const struct command cmd_topo = {
    .group = "One design",
    .name = "topo",
    .help = "size, hops, bisection and bill of a network",
    .about =
        "Print the facts of a network: NPUs, links, switches, hops, bisection, and its bill when it\n"
        "has prices and bandwidths. FILE is a study, a network, a word like \"ring:4@250 switch:32@50\",\n"
        "or a custom graph (.graphml, or .csv with columns src, dst, bw_GBps, latency_ns), whose bill\n"
        "is the sum of usd and watt over its edges (of GraphML its nodes too).\n",
    .scope = SCOPE(1, 1, "FILE", &topo_options, &options_study, &options_format, &options_files),
    .run = run_topo,
};
