/* The commands that run studies of many points: one path for all kinds. A study is opened, its units are run
 * by the threads of all ranks, rows go to a store, and from there to where they are asked for. */
#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/export.h"
#include "cli/output.h"
#include "cli/points.h"
#include "cli/progress.h"
#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "kinds/place/place.h"
#include "study/campaign.h"
#include "weft.h"

/* ---- options ---- */

#define DRY_RUN                                                                                              \
    {                                                                                                        \
        .name = "dry-run",                                                                                   \
        .help = "count the points, list the axes, measure how long it will take; compute nothing else",      \
        .kind = OPTION_FLAG, .offset = offsetof(struct options, dry_run)                                     \
    }
#define STORE                                                                                                \
    {                                                                                                        \
        .name = "store", .value = "FILE.db",                                                                 \
        .help = "keep rows in this SQLite file as they come; where it exists, go on with what is missing",   \
        .kind = OPTION_TEXT, .offset = offsetof(struct options, store), .outside = true                      \
    }
#define RESUME                                                                                               \
    {                                                                                                        \
        .name = "resume", .help = "go on with --store FILE.db, which must exist", .kind = OPTION_FLAG,       \
        .offset = offsetof(struct options, resume), .outside = true                                          \
    }
#define SHARD                                                                                                \
    {                                                                                                        \
        .name = "shard", .value = "I/N",                                                                     \
        .help = "the I-th of N parts alone, 1 <= I <= N, for job arrays; put together by weft merge",        \
        .kind = OPTION_TEXT, .offset = offsetof(struct options, shard), .outside = true                      \
    }

static const struct option sweep_rows[] = { OPTION_THREADS("points"), DRY_RUN, STORE, RESUME, SHARD };
static const struct option_group sweep_options = { "Sweep", sweep_rows,
                                                   sizeof sweep_rows / sizeof *sweep_rows };

static const struct option store_rows[] = { DRY_RUN, STORE, RESUME, SHARD };
static const struct option_group options_store = { "Store", store_rows,
                                                   sizeof store_rows / sizeof *store_rows };

/* ---- what is asked ---- */

static int read_shard(struct campaign_ask *ask, const char *text, struct err *e)
{
    char first[16];
    int64_t i, n;
    const char *slash = text ? strchr(text, '/') : NULL;
    ask->shard = ask->n_shards = 1;
    if (!text)
        return 0;
    if (!slash || slash - text >= (ptrdiff_t)sizeof first)
        return err_set(e, ERR_RANGE, "--shard is \"%.40s\", need I/N, such as 1/4", text);
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    if (!num_parse_count(first, &i) || !num_parse_count(slash + 1, &n) || n < 1 || n > INT32_MAX)
        return err_set(e, ERR_RANGE, "--shard is \"%.40s\", need I/N, such as 1/4", text);
    if (i < 1 || i > n)
        return err_set(e, ERR_RANGE, "--shard is \"%.40s\", need I/N with I from 1 to %lld", text,
                       (long long)n);
    ask->shard = (int32_t)i;
    ask->n_shards = (int32_t)n;
    return 0;
}

static int check_resume(const struct run *run, struct err *e)
{
    if (!run->opt.resume)
        return 0;
    if (!run->opt.store)
        return err_set(e, ERR_USAGE, "--resume is given without --store, need --store FILE.db");
    if (access(run->opt.store, F_OK) != 0)
        return err_set(e, ERR_PARSE, "%s: is missing, need the store to go on with", run->opt.store);
    return 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) || stat(b, &of_b))
        return strcmp(a, b) == 0;
    return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Rows written over the store would be the end of it, -f or not. */
static int check_out(const struct run *run, const struct extra *extras, int n, struct err *e)
{
    const char *store = run->opt.store;
    if (store && run->opt.out && is_same_file(store, run->opt.out))
        return err_set(e, ERR_USAGE, "-o is %s, which is the store, need another file", run->opt.out);
    for (int i = 0; i < n && store; i++)
        if (extras[i].path && is_same_file(store, extras[i].path))
            return err_set(e, ERR_USAGE, "--%s is %s, which is the store, need another file", extras[i].name,
                           extras[i].path);
    return 0;
}

static int32_t threads_of(const struct run *run)
{
    return run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs();
}

/* ---- progress ---- */

struct watch {
    struct progress progress;
    bool units; /* of kinds with runs a unit, a point with a seed, is what ends */
};

/* A campaign_progress. */
static bool report(void *context, const struct campaign_state *s)
{
    struct watch *w = context;
    struct progress *p = &w->progress;
    char best[SHOW], kept[SHOW];
    if (w->units)
        return progress_report(p, s->n_done, s->n_units);
    p->before = s->before;
    p->note[0] = '\0';
    if (s->best_s > 0)
        snprintf(p->note, sizeof p->note, "best %s s, %s rows", show_real(best, s->best_s, 4),
                 show_count(kept, s->kept));
    return progress_report(p, s->done.seen, s->n_points);
}

/* Where an interrupted study stands, and how to go on. */
static const char *what_is_kept(const struct run *run, const struct campaign *c, char *buf, size_t size)
{
    char seen[SHOW], all[SHOW];
    if (!run->opt.store)
        return NULL;
    bool units = c->runs != NULL;
    snprintf(buf, size, "%s of %s %s are in %s; the same command goes on",
             show_count(seen, units ? c->state.n_done : c->state.done.seen),
             show_count(all, units ? c->state.n_units : c->state.n_points), units ? "runs" : "points",
             run->opt.store);
    return buf;
}

/* ---- what came out of kinds with blocks ---- */

/* Where survivors alone are kept no row tells. */
static void say_failed(struct run *run, const struct campaign *c)
{
    const struct campaign_state *state = &c->state;
    char failed[SHOW], solved[SHOW];
    if (!c->keep || !state->done.failed)
        return;
    struct text line = { 0 };
    text_printf(&line, "%s of %s solved have no design", show_count(failed, state->done.failed),
                show_count(solved, state->done.solved));
    if (state->failed_point >= 0)
        text_printf(&line, "; point %lld: %s", (long long)state->failed_point, text_str(&state->why));
    output_say(run, "%s", text_str(&line));
    text_free(&line);
    /* As where every row says so. */
    if (state->done.failed == state->done.solved)
        run->exit_code = strncmp(text_str(&state->why), "error", 5) == 0 ? EXIT_INPUT : EXIT_NO_DESIGN;
}

/* Designs that no rule can hold against others: a price where there are no parts. */
static void say_blank(struct run *run, const struct campaign *c)
{
    char blank[SHOW];
    int64_t n = c->keep ? keep_counts_of(c->keep).blank : 0;
    if (n)
        output_say(run, "%s designs are not kept: they have no value in a column of keep.front or keep.top",
                   show_count(blank, n));
}

static void say_nothing_left(struct run *run, const struct sweep_counts *n)
{
    if (n->seen && n->filtered == n->seen)
        output_warn(run, "where of the study leaves out every point");
}

/* "2,850,000 points: 1,203 left out, 2,700,000 bounded away, 148,797 solved; 41 kept" */
static void say_counts(const struct run *run, const struct campaign *c)
{
    const struct sweep_counts *n = &c->state.done;
    char seen[SHOW], out[SHOW], bounded[SHOW], solved[SHOW], kept[SHOW];
    struct text line = { 0 };
    text_printf(&line, "%s points:", show_count(seen, n->seen));
    if (n->filtered)
        text_printf(&line, " %s left out,", show_count(out, n->filtered));
    if (n->bounded || c->plan.rule.prune)
        text_printf(&line, " %s bounded away,", show_count(bounded, n->bounded));
    text_printf(&line, " %s solved", show_count(solved, n->solved));
    if (c->keep)
        text_printf(&line, "; %s kept", show_count(kept, c->state.kept));
    if (c->keep || n->filtered || run->opt.store)
        output_say(run, "%s", text_str(&line));
    else
        output_verbose(run, "%s", text_str(&line));
    text_free(&line);
}

/* With a store, rows are written where a form or a file is asked for; else it says where they are. */
static bool is_stored(const struct run *run)
{
    return run->opt.store && !run->opt.out && run->opt.format < 0;
}

static void say_stored(const struct run *run)
{
    output_say(run, "rows are in %s: weft export, weft front and weft plot read it", run->opt.store);
}

static int finish_blocks(struct run *run, const struct campaign *c, struct origin from, struct err *e)
{
    struct export_tally tally = { 0 };
    /* All rows are read again only where some have no design: a rule keeps none of those. */
    bool all_designs = c->keep || !c->state.done.failed;
    int rc = 0;
    say_counts(run, c);
    say_nothing_left(run, &c->state.done);
    say_failed(run, c);
    say_blank(run, c);
    if (!is_stored(run))
        rc = export_rows(run, c->store, NULL, from, &tally, e);
    else if (!all_designs)
        rc = export_count(c->store, &tally, e);
    if (!rc && is_stored(run))
        say_stored(run);
    if (!rc)
        export_say(run, &tally);
    export_tally_free(&tally);
    return rc;
}

/* ---- what came out of kinds with runs ---- */

/* A table that stays empty would look like a run without jobs or links. */
static void warn_empty(struct run *run, const struct export_tables *t, const struct extra *x)
{
    const char *column = t->kind->empty_of;
    int32_t col = column ? table_find(&t->said, column) : -1;
    if (col >= 0)
        output_warn(run, "--%s: %s %s gave no such rows, %s has its head alone", x->name, column,
                    t->said.n_rows ? table_text(&t->said, 0, col) : "", x->path);
}

/* Rows first: where they cannot be written nothing is left behind. */
static int write_tables(struct run *run, const struct export_tables *t, struct store *store,
                        const struct extra *extras, int n, struct origin from, struct err *e)
{
    enum { MOST = STUDY_MAX_TABLES };
    int64_t n_rows[MOST];
    assert(n <= MOST);
    int rc = is_stored(run) ? 0 : export_write(run, t, from, e);
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path)
            rc = export_extra(&n_rows[i], run, store, t->kind, &extras[i], from, e);
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path && n_rows[i] == 0)
            warn_empty(run, t, &extras[i]);
    return rc;
}

static int finish_runs(struct run *run, const struct campaign *c, const struct extra *extras, int n,
                       struct origin from, struct err *e)
{
    const struct study *s = c->ask->study;
    struct export_tables t = { 0 };
    bool alone = s->sweep.n_points == 1 && c->complete && s->kind->fail_alone;
    int rc = export_read(&t, c->store, s->kind, NULL, e);
    if (!rc)
        say_nothing_left(run, &c->state.done);
    if (!rc && s->kind->notes_first)
        output_notes(run, &t.notes);
    if (!rc && alone)
        rc = s->kind->fail_alone(&t.report, e);
    if (!rc && !s->kind->notes_first)
        output_notes(run, &t.notes);
    if (!rc)
        rc = write_tables(run, &t, c->store, extras, n, from, e);
    if (!rc && is_stored(run))
        say_stored(run);
    if (!rc)
        rc = export_conclude(run, &t, e);
    export_tables_free(&t);
    return rc;
}

/* ---- a study ---- */

/* A row takes some 250 bytes of a store: asking for all of a large grid is seldom meant. */
static void warn_size(struct run *run, const struct campaign *c)
{
    enum { MANY = 20000000, ROW_BYTES = 250 };
    char n[SHOW], size[SHOW];
    if (c->keep || c->state.n_points < MANY)
        return;
    output_warn(run, "%s rows take some %s GB; keep in the study says which of them are wanted",
                show_count(n, c->state.n_points),
                show_real(size, (double)c->state.n_points * ROW_BYTES / 1e9, 2));
}

/* What is to be run, and what becomes of it. */
struct job {
    const struct study_kind *kind; /* NULL: told by keys */
    const struct extra *extras;    /* shape [n_extras] */
    int n_extras;
    struct watch watch;
    struct campaign_ask ask;
};

static void say_resumed(const struct run *run, const struct campaign *c)
{
    char before[SHOW];
    if (c->resumed && c->runs)
        output_say(run, "%s: %s runs are there, going on", run->opt.store,
                   show_count(before, c->state.n_done));
    else if (c->resumed)
        output_say(run, "%s: %s points are there, going on", run->opt.store,
                   show_count(before, c->state.before));
}

static int run_campaign(struct run *run, struct campaign *c, struct job *job, struct err *e)
{
    struct progress *p = &job->watch.progress;
    const struct origin from = points_origin(job->ask.study);
    char kept[256];
    job->watch.units = c->runs != NULL;
    progress_begin(p, run, c->runs ? "runs" : "points");
    if (fleet_rank() == 0)
        say_resumed(run, c);
    p->before = c->runs ? c->state.n_done : 0;
    int rc = campaign_run(c, e);
    if (fleet_rank() != 0)
        return rc;
    bool ended = progress_end(p, run, what_is_kept(run, c, kept, sizeof kept));
    if (rc || !ended)
        return rc;
    if (!c->runs)
        output_verbose(run, "%.3f s on %d ranks of %d threads", progress_spent_s(p), (int)fleet_ranks(),
                       (int)job->ask.threads);
    return c->runs ? finish_runs(run, c, job->extras, job->n_extras, from, e)
                   : finish_blocks(run, c, from, e);
}

static int run_all(struct run *run, struct study *s, struct job *job, struct err *e)
{
    struct campaign c = { .ask = NULL };
    for (int i = 0; i < job->n_extras; i++)
        if (job->extras[i].path)
            s->wanted |= UINT32_C(1) << export_find_table(s->kind, job->extras[i].name);
    int rc = study_find_hash(s, e);
    /* The first rank alone opens the store. */
    rc = fleet_agree(rc ? rc : campaign_open(&c, &job->ask, e), e);
    if (!rc && fleet_rank() == 0) {
        output_notes(run, &c.plan.rule.notes);
        warn_size(run, &c);
    }
    if (!rc)
        rc = run_campaign(run, &c, job, e);
    campaign_close(&c);
    return rc;
}

/* ---- before it runs ---- */

/* On standard error: how long it takes is no part of what a study says, and differs from run to run. */
static int say_duration(const struct run *run, const struct campaign_ask *ask, struct err *e)
{
    int32_t threads = ask->threads * fleet_ranks();
    struct campaign_pace pace;
    char each[SHOW], all[SHOW], tried[SHOW];
    int rc = campaign_measure(&pace, ask->study, 1, e);
    if (rc || !pace.n)
        return rc;
    double all_s = pace.point_s * (double)ask->study->sweep.n_points / ask->n_shards / threads;
    output_say(run, "%stakes %s%s on %d threads, by %s points tried: %s us a point",
               ask->n_shards > 1 ? "a shard " : "", pace.at_most && all_s >= 1 ? "at most " : "",
               all_s < 1 ? "less than 1 s" : progress_show_s(all, all_s), (int)threads,
               show_count(tried, pace.n), show_real(each, pace.point_s * 1e6, 2));
    if (pace.n_failed)
        output_say(run, "%s of these have no design; %s", show_count(tried, pace.n_failed), pace.why);
    return 0;
}

/* Runs take from milliseconds to hours: none is tried. */
static void say_runs(const struct run *run, const struct study *s)
{
    char points[SHOW], seeds[SHOW];
    output_say(run, "%s points of %s seeds", show_count(points, s->sweep.n_points),
               show_count(seeds, s->seeds));
}

static int dry_run(const struct run *run, const struct campaign_ask *ask, struct err *e)
{
    if (fleet_rank() > 0)
        return 0;
    int rc = sweep_axes_write(run, &ask->study->sweep, e);
    if (!rc && !ask->study->kind->blocks)
        say_runs(run, ask->study);
    else if (!rc)
        rc = say_duration(run, ask, e);
    return rc;
}

static int check_options(struct job *job, const struct run *run, struct err *e)
{
    int rc = job->kind ? extra_check(run, job->extras, job->n_extras, e) : output_check(run, NULL, e);
    if (!rc)
        rc = read_shard(&job->ask, run->opt.shard, e);
    if (!rc)
        rc = check_resume(run, e);
    return rc ? rc : check_out(run, job->extras, job->n_extras, e);
}

/* By all ranks. */
static int read_and_run(struct run *run, struct job *job, struct err *e)
{
    struct load_overrides o = { 0 };
    struct study s = { 0 };
    int rc = check_options(job, run, e);
    if (!rc)
        rc = load_overrides(&o, run, e);
    const struct study_ask ask = { .kind = job->kind,
                                   .timing = run->opt.timing,
                                   .from = { .path = run->opt.operands[0], .overrides = o.list, .n = o.n } };
    if (!rc)
        rc = study_open(&s, &ask, e);
    rc = fleet_agree(rc, e);
    job->ask.study = &s;
    if (!rc && fleet_rank() == 0)
        output_notes(run, &s.notes);
    if (!rc)
        rc = run->opt.dry_run ? dry_run(run, &job->ask, e) : run_all(run, &s, job, e);
    study_close(&s);
    load_free(&o);
    return rc;
}

static int run_ranks(struct run *run, struct job *job, struct err *e)
{
    int rc = fleet_start(e);
    if (rc)
        return rc;
    run->opt.quiet = run->opt.quiet || fleet_rank() > 0;
    if (!run->opt.dry_run)
        progress_watch();
    rc = read_and_run(run, job, e);
    /* What all ranks have come to is said once; mpirun ends the first where another fails before it. */
    bool silent = fleet_rank() > 0;
    fleet_end(output_exit_code(rc));
    return silent ? 0 : rc;
}

static int write_list(const struct run *run, const struct study_kind *kind, struct err *e)
{
    struct text out = { 0 };
    int rc = kind->list(&out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* Run the study of operand 0 on all ranks, or with --list say what the kind has. Kind NULL: told by the keys
 * of the study. extras, shape [n], are called as tables of the kind. */
static int run_kind(struct run *run, const struct study_kind *kind, const struct extra *extras, int n,
                    struct err *e)
{
    struct job job = { .kind = kind, .extras = extras, .n_extras = n };
    if (run->opt.list)
        return write_list(run, kind, e);
    if (run->opt.n_operands < 1)
        return err_set(e, ERR_USAGE, "argument is missing, need STUDY");
    job.ask = (struct campaign_ask){ .store = run->opt.store,
                                     .threads = threads_of(run),
                                     .command = run->recorded,
                                     .version = WEFT_VERSION,
                                     .progress = report,
                                     .context = &job.watch };
    return run_ranks(run, &job, e);
}

/* ---- the commands ---- */

static int run_sweep(struct run *run, struct err *e)
{
    return run_kind(run, NULL, NULL, 0, e);
}

const struct command cmd_sweep = {
    .group = "Many designs",
    .name = "sweep",
    .help = "split every point of a study, one row each",
    .about =
        "Choose the bandwidths for every point of what varies under `vary` of STUDY and write one row a\n"
        "point. A point without a design is a row with its status. With --store rows are kept as they come,\n"
        "and a sweep that was stopped in whatever way goes on where it was; without it SIGINT writes\n"
        "nothing. Started by mpirun, or by srun with PMIx, all its processes work on one sweep. A study of\n"
        "another kind, told by its keys, runs as by weft place, hetero or gossip.\n",
    .scope = SCOPE(1, 1, "STUDY", &sweep_options, &options_study, &options_search, &options_format,
                   &options_files),
    .run = run_sweep,
};

static const struct option place_rows[] = {
    { .name = "list",
      .help = "list the schedulers and the columns of each model",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    EXTRA_OPTION(place, runs, "CSV of all runs, a row for each point, scheduler and seed"),
    EXTRA_OPTION(place, jobs,
                 "CSV of jobs: arrival, start, end, utility; of the first seed of each point, as all below"),
    EXTRA_OPTION(place, places, "CSV of who ran where and when (plot gantt)"),
    EXTRA_OPTION(place, slots, "CSV of the cluster over time"),
    EXTRA_OPTION(place, links, "CSV of the load of every link over time (plot links)"),
};

static const struct option_group place_options = { "Placement", place_rows,
                                                   sizeof place_rows / sizeof *place_rows };

static int run_place(struct run *run, struct err *e)
{
    const struct extra extras[] = { { .name = "runs", .path = run->opt.place_runs },
                                    { .name = "jobs", .path = run->opt.place_jobs },
                                    { .name = "places", .path = run->opt.place_places },
                                    { .name = "slots", .path = run->opt.place_slots },
                                    { .name = "links", .path = run->opt.place_links } };
    return run_kind(run, &place_kind, extras, sizeof extras / sizeof *extras, e);
}

const struct command cmd_place = {
    .group = "A cluster",
    .name = "place",
    .help = "jobs on the servers of a network, under several schedulers",
    .about =
        "Run the jobs of STUDY on its cluster under each of its schedulers, for every combination of the\n"
        "values under `vary` and for each seed, and write one row for each point and scheduler: means over\n"
        "the seeds with half of their 95 % interval. SIGINT stops it after the runs under way (a second one "
        "at once) and writes nothing.\n",
    .scope =
        SCOPE(0, 1, "STUDY", &place_options, &options_store, &options_study, &options_format, &options_files),
    .run = run_place,
};

static const struct option hetero_rows[] = {
    { .name = "list",
      .help = "list the schedulers and the columns",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    { .name = "timing",
      .help = "add how long each scheduler took, which differs from run to run",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, timing) },
    EXTRA_OPTION(hetero, runs, "CSV of all runs, a row for each point, scheduler and seed"),
    EXTRA_OPTION(hetero, plans, "CSV of the plans of the first seed, a row for each layer"),
    EXTRA_OPTION(hetero, stages, "CSV of the same plans, a row for each stage"),
    EXTRA_OPTION(hetero, curves, "CSV of how cost fell with the plans tried, of all seeds"),
};

static const struct option_group hetero_options = { "Layers", hetero_rows,
                                                    sizeof hetero_rows / sizeof *hetero_rows };

static int run_hetero(struct run *run, struct err *e)
{
    const struct extra extras[] = { { .name = "runs", .path = run->opt.hetero_runs },
                                    { .name = "plans", .path = run->opt.hetero_plans },
                                    { .name = "stages", .path = run->opt.hetero_stages },
                                    { .name = "curves", .path = run->opt.hetero_curves } };
    return run_kind(run, &hetero_kind, extras, sizeof extras / sizeof *extras, e);
}

const struct command cmd_hetero = {
    .group = "A cluster",
    .name = "hetero",
    .help = "layers of a model on types of resources, at least cost for a throughput",
    .about =
        "Give each layer of the model of STUDY a type of resource, CPU cores or one of several GPUs, and "
        "each\n"
        "run of layers of one type its number of units, so that training costs least at the throughput that\n"
        "is asked for: by each of its schedulers, for every combination of the values under `vary`, those\n"
        "that draw for each seed. One row for each point and scheduler: medians over the seeds, and how far\n"
        "from the proved optimum. SIGINT stops it after the runs under way (a second one at once); with\n"
        "--store the same command goes on, without it nothing is written.\n",
    .scope =
        SCOPE(0, 1, "STUDY", &hetero_options, &options_store, &options_set, &options_format, &options_files),
    .run = run_hetero,
};

static const struct option gossip_rows[] = {
    { .name = "list",
      .help = "list the methods and the columns",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    EXTRA_OPTION(gossip, runs, "CSV of all runs, a row for each point, method and seed"),
    EXTRA_OPTION(gossip, curves, "CSV of loss, exchanges and traffic over time, of all runs"),
    EXTRA_OPTION(gossip, links, "CSV of what every link carries, of the first seed"),
};

static const struct option_group gossip_options = { "Training", gossip_rows,
                                                    sizeof gossip_rows / sizeof *gossip_rows };

static int run_gossip(struct run *run, struct err *e)
{
    const struct extra extras[] = { { .name = "runs", .path = run->opt.gossip_runs },
                                    { .name = "curves", .path = run->opt.gossip_curves },
                                    { .name = "links", .path = run->opt.gossip_links } };
    return run_kind(run, &gossip_kind, extras, sizeof extras / sizeof *extras, e);
}

const struct command cmd_gossip = {
    .group = "A cluster",
    .name = "gossip",
    .help = "training with little communication: what it sends, takes and reaches",
    .about =
        "Train the small model of STUDY on simulated workers of a network, by each of its methods (gossip,\n"
        "local SGD, rules that exchange by the change of the model, ..), for every combination of the "
        "values\n"
        "under `vary` and for each seed. The model is really trained; the clock and the network are\n"
        "simulated. One row for each point and method: accuracy, traffic, time, each against the baseline\n"
        "and against the best fixed period of equal accuracy. SIGINT stops it after the runs under way (a\n"
        "second one at once); with --store the same command goes on, without it nothing is written.\n",
    .scope =
        SCOPE(0, 1, "STUDY", &gossip_options, &options_store, &options_set, &options_format, &options_files),
    .run = run_gossip,
};
