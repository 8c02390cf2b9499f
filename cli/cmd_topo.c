#include <string.h>
#include <strings.h>

#include "cli/facts.h"
#include "cli/load.h"
#include "sim/astra/astra_file.h"

static const struct option topo_rows[] = {
    { .name = "bill",
      .help = "the bill alone, a line per item",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, bill) },
    { .name = "igraph",
      .help = "find the metrics by search on the graph instead of by closed forms",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, igraph) },
    { .name = "spec",
      .help = "print the network as one word, and nothing else",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, spec) },
    { .name = "graphml",
      .value = "FILE",
      .help = "write the graph as GraphML",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, graphml),
      .outside = true },
    { .name = "dot",
      .value = "FILE",
      .help = "write the graph for Graphviz; - (also for --graphml) writes it instead of the facts",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, dot),
      .outside = true },
    { .name = "astra",
      .value = "FILE",
      .help = "write the network for ASTRA-sim 2 (YAML); - writes it instead of the facts",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, astra),
      .outside = true },
    { .name = "astra-system",
      .value = "FILE",
      .help = "write the simulation for ASTRA-sim 2 (JSON); - writes it instead of the facts",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, astra_system),
      .outside = true },
};

static const struct option_group topo_options = { "Network", topo_rows,
                                                  sizeof topo_rows / sizeof *topo_rows };

typedef int format_graph(struct text *out, const struct topo_graph *g, struct err *e);

static int export_graph(const struct run *run, const struct topo_graph *g, const char *path,
                        format_graph *format, struct err *e)
{
    struct text out = { 0 };
    if (!path)
        return 0;
    int rc = format(&out, g, e);
    if (!rc)
        rc = text_write_file(&out, path, run->opt.force, e);
    text_free(&out);
    return rc;
}

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int report(const struct run *run, const struct facts *f, struct origin from, struct err *e)
{
    struct text out = { 0 };
    struct table table = { 0 };
    struct json json = { .out = &out };
    enum table_format format = output_format(run);
    int rc = 0;
    if (format == TABLE_AS_TEXT) {
        rc = run->opt.bill ? facts_bill_text(f, &out, e) : facts_text(f, &out, e);
    } else if (format == TABLE_AS_JSON && !run->opt.bill) {
        json_open(&json, NULL, '{');
        output_json_head(&json, run, from);
        facts_json(f, &json);
        json_close(&json, '}');
        text_puts(&out, "\n");
    } else {
        if (run->opt.bill)
            facts_bill_table(f, &table);
        else
            facts_table(f, &table);
        rc = output_table(run, &table, from, e);
        table_free(&table);
        return rc;
    }
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* Files first: if one cannot be written, nothing is reported. */
static int deliver(const struct run *run, const struct facts *f, const struct topo_graph *g,
                   struct origin from, struct err *e)
{
    int rc = export_graph(run, g, run->opt.graphml, topo_format_graphml, e);
    if (!rc)
        rc = export_graph(run, g, run->opt.dot, topo_format_dot, e);
    if (rc || is_stdout(run->opt.graphml) || is_stdout(run->opt.dot) || is_stdout(run->opt.astra) ||
        is_stdout(run->opt.astra_system))
        return rc;
    return report(run, f, from, e);
}

/* Both files, then the warnings: an export that fails has nothing to warn of. */
static int export_astra(struct run *run, const struct study *s, struct err *e)
{
    const char *network = run->opt.astra, *system = run->opt.astra_system;
    struct sim_astra_conf conf;
    struct text out = { 0 }, notes = { 0 };
    int rc = sim_astra_from_network(&conf, &s->net, &notes, e);
    if (!rc && system)
        rc = sim_astra_from_rules(&conf, &s->net, &s->rules, &notes, e);
    if (rc)
        err_wrap(e, "%s", run->opt.operands[0]);
    if (!rc && network) {
        sim_astra_format_network(&out, &conf);
        rc = text_write_file(&out, network, run->opt.force, e);
        text_clear(&out);
    }
    if (!rc && system) {
        sim_astra_format_system(&out, &conf, &notes);
        rc = text_write_file(&out, system, run->opt.force, e);
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

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), n_end = strlen(end);
    return n > n_end && strcasecmp(s + n - n_end, end) == 0;
}

static int custom_graph(const struct run *run, bool edges, struct err *e)
{
    struct topo_graph *g = NULL;
    struct facts f = { .name = run->opt.operands[0] };
    const char *asked = run->opt.spec           ? "spec"
                        : run->opt.bill         ? "bill"
                        : run->opt.set.n        ? "set"
                        : run->opt.parts        ? "parts"
                        : run->opt.astra        ? "astra"
                        : run->opt.astra_system ? "astra-system"
                                                : NULL;
    if (asked)
        return err_set(e, ERR_USAGE, "option --%s is for described networks, need none for a custom graph",
                       asked);
    int rc = edges ? topo_read_edges(&g, f.name, e) : topo_read_graphml(&g, f.name, e);
    if (!rc)
        rc = topo_graph_metrics(&f.metrics, g, e);
    if (!rc)
        rc = deliver(run, &f, g, (struct origin){ .known = false }, e);
    topo_graph_free(g);
    return rc;
}

static int find_metrics(struct facts *f, struct topo_graph **g, const struct run *run, struct err *e)
{
    const struct study *s = f->study;
    double bw_Bps[TOPO_MAX_DIMS], usd_per_Bps[TOPO_MAX_DIMS];
    int rc = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        bw_Bps[d] = s->net.dims[d].bw_Bps;
        usd_per_Bps[d] = s->prices[d].usd_per_Bps;
    }
    if (run->opt.igraph || run->opt.graphml || run->opt.dot)
        rc = topo_build_graph(g, &s->net, s->has_parts ? usd_per_Bps : NULL, e);
    if (rc)
        return rc;
    if (run->opt.igraph)
        rc = topo_graph_metrics(&f->metrics, *g, e);
    else
        topo_metrics(&f->metrics, &s->net, bw_Bps);
    if (!rc && s->has_parts && topo_has_bandwidths(&s->net)) {
        rc = topo_build_bill(&f->bill, &s->net, &s->parts, bw_Bps, e);
        f->has_bill = !rc;
    }
    return rc;
}

static int print_spec(const struct run *run, const struct study *s, struct err *e)
{
    char word[TOPO_SPEC];
    struct text out = { 0 };
    text_printf(&out, "%s\n", topo_format_spec(word, &s->net));
    int rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* Of a study only the network is looked at: that its other keys have no effect here is no news, unless they
 * were given on the command line. */
static void warn_about_network(struct run *run, const struct study *s)
{
    for (const char *line = text_str(&s->notes); *line;) {
        size_t n = strcspn(line, "\n");
        if (s->own_source < 0 || strncmp(line, "--set ", 6) == 0)
            output_warn(run, "%.*s", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static int described(struct run *run, struct err *e)
{
    struct load_overrides o;
    struct study s = { 0 };
    struct topo_graph *g = NULL;
    struct facts f = { .study = &s };
    char word[TOPO_SPEC];
    int rc = load_overrides(&o, run, e);
    if (!rc)
        rc = study_load(&s, run->opt.operands[0], o.list, o.n,
                        (run->opt.bill ? STUDY_NEEDS_PARTS | STUDY_NEEDS_BANDWIDTH : 0) |
                            (wants_astra(run) ? STUDY_NEEDS_BANDWIDTH : 0),
                        e);
    if (rc)
        goto out;
    warn_about_network(run, &s);
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
    study_free(&s);
    load_free(&o);
    return rc;
}

static int run_topo(struct run *run, struct err *e)
{
    const struct options *o = &run->opt;
    const char *path = o->operands[0];
    const char *files[] = { o->graphml, o->dot, o->astra, o->astra_system };
    if (o->spec && (o->bill || o->graphml || o->dot || wants_astra(run)))
        return err_set(e, ERR_USAGE,
                       "option --spec is given with --bill or one that writes a file, need it alone");
    int rc = output_check(run, NULL, e);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !rc; i++)
        if (files[i])
            rc = output_check(run, files[i], e);
    if (rc)
        return rc;
    bool edges = ends_with(path, ".csv");
    return edges || ends_with(path, ".graphml") ? custom_graph(run, edges, e) : described(run, e);
}

const struct command cmd_topo = {
    .group = "One design",
    .name = "topo",
    .help = "size, hops, bisection and bill of a network",
    .about =
        "Print the facts of a network: NPUs, links, switches, hops, bisection, and its bill when it\n"
        "has prices and bandwidths. FILE is a study, a network, a word like \"ring:4@250 switch:32@50\",\n"
        "or a custom graph (.graphml, or .csv with columns src, dst, bw_GBps, latency_ns).\n",
    .scope = SCOPE(1, 1, "FILE", &topo_options, &options_study, &options_format, &options_files),
    .run = run_topo,
};
