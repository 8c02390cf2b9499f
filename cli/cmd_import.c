/*
 * weft import: a network and system of ASTRA-sim 2 as a study, a cluster's job trace as a table that weft
 * place reads, or a training recipe as a workload. Conversions are those of sim/astra, workloads/traces and
 * workloads/readers/recipe.c; here options are checked and warnings said. What a trace lacks is never filled
 * in silently: a column says which cells were drawn, and a warning how many.
 */
#include <string.h>

#include "base/catalogue.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "sim/astra/astra_file.h"
#include "study/source.h"
#include "topo/network.h"
#include "workloads/readers/recipe.h"
#include "workloads/traces/profile.h"
#include "workloads/traces/trace.h"

enum { MOST_JOBS = 2147483647 };

static const struct option trace_rows[] = {
    WORD_OPTION(
        "trace", "FORMAT", trace, trace_format_words,
        "FILE is a job trace: sacct (Slurm), philly, helios, acme, pai, openb, google, gavel, tiresias,\n"
        "                       pollux, swf, csv"),
    TEXT_OPTION("profile", "NAME|FILE", profile,
                "draw what the trace lacks; NAME is one of the catalogue (configs/clusters/profiles)",
                .catalogue = "clusters/profiles"),
    COUNT_OPTION("seed", "N", seed, 1, INT64_MAX, "of the draws and of the window (default: 1)"),
    COUNT_OPTION("window", "N", window, 1, MOST_JOBS, "only this many jobs, consecutive in time"),
    COUNT_OPTION("start", "N", start, 1, MOST_JOBS, "first job of the window, from 1 (default: drawn)"),
    COUNT_OPTION("horizon-s", "S", horizon_s, 1, (int64_t)TRACE_MAX_TIME_S,
                 "scale arrivals to span 0 to S seconds"),
    COUNT_OPTION("max-gpus", "N", max_gpus, 1, TRACE_MAX_GPUS, "leave out jobs that ask for more"),
    LIST_OPTION("status", "WORD", statuses,
                "only jobs that ended so: pass, failed, killed, running, waiting, unknown; may be repeated",
                .words = trace_status_words),
    FLAG_OPTION("skip-bad", skip_bad,
                "skip records that cannot be read (default: the first one is an error)"),
    FLAG_OPTION("cpu-jobs", cpu_jobs, "keep jobs that ask for no GPU"),
};

static const struct option_group trace_options = OPTION_GROUP("Job traces", trace_rows);

static const struct option recipe_rows[] = {
    WORD_OPTION("from", "PROGRAM", from, recipe_format_words,
                "FILE is a model card or recipe: hf (config.json), megatron, nemo, torchtitan"),
    TEXT_OPTION("network", "NAME|WORD", network,
                "print a whole study on this network (default: the workload alone)", .catalogue = "networks"),
};
static const struct option_group recipe_options = OPTION_GROUP("Training recipes", recipe_rows);

/* A bit for each status, the first one for "unknown", which is -1 in the enum. */
static int read_statuses(unsigned *out, const struct option_list *list, struct err *e)
{
    *out = list->n ? 0 : TRACE_ANY_STATUS;
    for (int32_t i = 0; i < list->n; i++) {
        int32_t status = TRACE_STATUS_UNKNOWN;
        while (status < N_TRACE_STATUSES &&
               strcmp(list->items[i], status < 0 ? "unknown" : trace_status_words[status]) != 0)
            status++;
        if (status == N_TRACE_STATUSES)
            return err_set(
                e, ERR_USAGE,
                "option --status is \"%.60s\", expected pass, failed, killed, running, waiting or unknown",
                list->items[i]);
        *out |= 1u << (status + 1);
    }
    return 0;
}

/* 0 is "not given", which the option does not take. One seed for window and draws: a table is reproduced from
 * the command in its head. */
static uint64_t chosen_seed(const struct options *opt)
{
    return opt->seed ? (uint64_t)opt->seed : 1;
}

/* The window asked for; false where none is: a canonical table then keeps its times. */
static bool find_window(struct trace_window *w, const struct options *opt, unsigned statuses)
{
    *w = trace_window_default();
    w->seed = chosen_seed(opt);
    w->n = opt->window;
    w->start = opt->start - 1;
    w->max_gpus = (int32_t)opt->max_gpus;
    w->statuses = statuses;
    if (opt->horizon_s)
        w->horizon_s = (double)opt->horizon_s;
    return opt->window || opt->start || opt->horizon_s || opt->max_gpus || opt->statuses.n;
}

/* Records that were passed over are always told: a workload that is smaller than its file is a result. */
static void note_read(struct run *run, const struct trace *t, const char *path)
{
    if (t->n_skipped || t->n_no_gpu || run->opt.verbose)
        output_warn(run,
                    "%s: %d of %lld records are jobs to place; %lld bad, %lld without GPU, %lld left out",
                    path, (int)t->n, (long long)t->n_records, (long long)t->n_skipped, (long long)t->n_no_gpu,
                    (long long)t->n_left_out);
}

/* "drawn from profile X, seed 1: model in 3 of 9 jobs, ..." */
static void note_drawn(struct run *run, const struct trace *t, const char *profile)
{
    struct text list = { 0 };
    trace_list_synthetic(&list, t);
    if (list.n)
        output_warn(run, "drawn from profile %s, seed %llu, of %d jobs: %s", profile,
                    (unsigned long long)chosen_seed(&run->opt), (int)t->n, text_str(&list));
    text_free(&list);
}

static int read_profile(struct trace_profile *profile, const struct run *run, struct err *e)
{
    struct text path = { 0 };
    catalogue_path(&path, "clusters/profiles", run->opt.profile);
    int rc = text_check(&path, e);
    if (!rc)
        rc = trace_read_profile(profile, text_str(&path), e);
    text_free(&path);
    return rc;
}

static int prepare(struct trace *t, struct run *run, unsigned statuses, struct err *e)
{
    struct trace_window w;
    struct trace_profile profile;
    struct trace_fill_counts counts = { 0 };
    bool cuts = find_window(&w, &run->opt, statuses), fills = run->opt.profile != NULL;
    int rc = fills ? read_profile(&profile, run, e) : 0;
    if (!rc)
        rc = trace_prepare(t, cuts ? &w : NULL, fills ? &profile : NULL, chosen_seed(&run->opt), &counts, e);
    output_notes(run, &t->notes);
    if (rc || !fills)
        return rc;
    note_drawn(run, t, profile.name);
    if (counts.n_unlike)
        output_warn(run, "profile %s lacks the model of %lld job%s: another one stands in for its sizes",
                    profile.name, (long long)counts.n_unlike, counts.n_unlike == 1 ? "" : "s");
    return 0;
}

static int write_jobs(const struct trace *t, struct run *run, struct err *e)
{
    struct table table = { 0 };
    trace_format_csv(&table, t);
    /* A table to be read again: never as text, and CSV unless the name of the file says JSON. */
    if (output_format(run) == TABLE_AS_TEXT)
        run->opt.format = TABLE_AS_CSV;
    int rc = output_table(run, &table, (struct origin){ .known = false }, e);
    table_free(&table);
    return rc;
}

/* Read the trace, cut a window from it, draw what a profile has, write the table. */
static int import_trace(struct run *run, struct err *e)
{
    const char *path = run->opt.operands[0];
    const struct trace_settings s = { .skip_bad = run->opt.skip_bad, .keep_idle = run->opt.cpu_jobs };
    struct trace t = { 0 };
    unsigned statuses;
    if (run->opt.n_operands > 1)
        return err_set(e, ERR_USAGE, "unexpected argument \"%.100s\"; give one FILE", run->opt.operands[1]);
    int rc = read_statuses(&statuses, &run->opt.statuses, e);
    if (!rc)
        rc = trace_read(&t, run->opt.trace, path, &s, e);
    if (!rc) {
        note_read(run, &t, path);
        rc = prepare(&t, run, statuses, e);
    }
    if (!rc)
        rc = write_jobs(&t, run, e);
    trace_free(&t);
    return rc;
}

/* Where the study comes from, as comments. The head is that of any other output, each line behind a "# " that
 * YAML reads over. */
static void put_head(struct text *out, const struct run *run)
{
    struct text head = { 0 };
    output_head(&head, run, (struct origin){ .known = false });
    for (const char *s = text_str(&head); *s; s++) {
        if (s == text_str(&head) || s[-1] == '\n')
            text_puts(out, "# ");
        text_add(out, s, 1);
    }
    out->failed = out->failed || head.failed;
    text_free(&head);
}

/* NPUs of the network asked for; 0: none is. */
static int count_npus(int64_t *n, const char *name, struct err *e)
{
    struct text path = { 0 };
    struct yaml_doc doc = { 0 };
    struct topo_network net;
    int32_t own_source;
    *n = 0;
    if (!name)
        return 0;
    int rc = source_find(&path, name, e);
    struct study_source from = { .path = text_str(&path) };
    rc = rc ? rc : source_read(&doc, &own_source, &from, e);
    rc = rc ? rc : topo_read_network(&net, &doc, yaml_get(&doc, doc.root, "network"), e);
    *n = rc ? 0 : net.n_npus;
    yaml_free(&doc);
    text_free(&path);
    return rc;
}

/* The workload of a recipe: a file that `workload:` names, or a study with the network beside it. */
static int import_recipe(struct run *run, struct err *e)
{
    struct text out = { 0 }, workload = { 0 }, notes = { 0 };
    const char *path = run->opt.operands[0], *network = run->opt.network;
    int64_t npus = 0;
    int rc = 0;
    if (run->opt.n_operands > 1)
        rc = err_set(e, ERR_USAGE, "unexpected argument \"%.100s\"; give one FILE", run->opt.operands[1]);
    rc = rc ? rc : count_npus(&npus, network, e);
    rc = rc ? rc
            : recipe_format_workload(&workload, &notes, (enum recipe_format)run->opt.from, path, npus,
                                     network ? "  " : "", e);
    if (!rc) {
        put_head(&out, run);
        if (network) {
            struct json j = { .out = &out };
            text_puts(&out, "network: ");
            json_text(&j, NULL, network);
            text_puts(&out, "\nmodel: alpha-beta\nworkload:\n");
        }
        text_printf(&out, "%sname: ", network ? "  " : "");
        recipe_put_name(&out, path);
        text_printf(&out, "\n%s", text_str(&workload));
        rc = output_write(run, &out, e);
    }
    if (!rc)
        output_notes(run, &notes);
    text_free(&out);
    text_free(&workload);
    text_free(&notes);
    return rc;
}

static int read_files(struct sim_astra_file *f, const struct run *run, struct err *e)
{
    struct yaml_doc doc;
    /* yaml_free() takes what a failed reading leaves. */
    int rc = yaml_read_file(&doc, run->opt.operands[0], e);
    *f = (struct sim_astra_file){ 0 };
    if (!rc)
        rc = sim_astra_read_network(f, &doc, e);
    yaml_free(&doc);
    if (rc || !run->opt.operands[1])
        return rc;
    rc = yaml_read_file(&doc, run->opt.operands[1], e);
    if (!rc)
        rc = sim_astra_read_system(f, &doc, e);
    yaml_free(&doc);
    return rc;
}

/* The parser knows the options of all forms; one without effect is a mistake. */
static int check_form(const struct run *run, struct err *e)
{
    const struct option *trace = options_given(&run->opt, &trace_options, 1);
    if (run->opt.trace < 0 && trace)
        return err_set(e, ERR_USAGE, "option --%s has no effect here; use --trace", trace->name);
    if (run->opt.trace >= 0 && run->opt.from >= 0)
        return err_set(e, ERR_USAGE, "options --trace and --from exclude each other: a file is one of both");
    if (run->opt.network && run->opt.from < 0)
        return err_set(e, ERR_USAGE, "option --network has no effect here; use --from");
    return 0;
}

static int run_import(struct run *run, struct err *e)
{
    struct sim_astra_file f = { 0 };
    struct text out = { 0 };
    int rc = output_check_as(run, run->opt.trace >= 0 ? ".csv .json .jsonl .txt" : ".yaml .yml", false, e);
    rc = rc ? rc : check_form(run, e);
    if (!rc && run->opt.trace >= 0)
        return import_trace(run, e);
    if (!rc && run->opt.from >= 0)
        return import_recipe(run, e);
    if (!rc)
        rc = read_files(&f, run, e);
    if (!rc) {
        put_head(&out, run);
        sim_astra_format_study(&out, &f);
        rc = output_write(run, &out, e);
    }
    if (!rc)
        /* Warnings last, when there is a study that they are of. */
        output_notes(run, &f.notes);
    text_free(&out);
    sim_astra_file_free(&f);
    return rc;
}

static int put_formats(struct text *out, struct err *e)
{
    for (int i = 0; i < N_TRACE_FORMATS; i++)
        text_printf(out, "%-14s %s\n", trace_formats[i].name, trace_formats[i].help);
    for (int i = 0; i < N_RECIPE_FORMATS; i++)
        text_printf(out, "%-14s %s\n", recipe_format_words[i], recipe_format_help[i]);
    return text_check(out, e);
}

const struct command cmd_import = {
    .group = "Other programs",
    .name = "import",
    .help =
        "a model card or training recipe, or a network of ASTRA-sim 2, as a study; a job trace as a table",
    .about =
        "Print the network that an ASTRA-sim 2 network file (YAML) describes, and how a system file (JSON)\n"
        "runs collectives on it, as a study. Their GB/s are 2^30 B/s of one link, their latency is that of\n"
        "one link; both are converted. What has no counterpart is a warning, and a comment in the study.\n"
        "The other way: weft topo --astra, --astra-system.\n"
        "With --trace, print the jobs of a cluster's trace as one CSV table instead. What the trace lacks "
        "stays\n"
        "blank, or is drawn from a profile and named in column synthetic.\n"
        "With --from, print the workload that a model card or a training recipe describes, or with --network "
        "a\n"
        "study for weft sim. Settings that have no counterpart, and what is assumed, are warnings.\n",
    .scope = SCOPE(1, 2, "NETWORK.yml [SYSTEM.json] | --trace FORMAT FILE | --from PROGRAM FILE",
                   &recipe_options, &trace_options, &options_files),
    .run = run_import,
    .list = put_formats,
};
