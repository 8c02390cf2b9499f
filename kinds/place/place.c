#include "kinds/place/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "kinds/place/place_study.h"

/* ---- reading ---- */

/* Keys of the jobs of the model in the file; NULL where it has none that is known, or more than one. */
static const struct section *jobs_section(const struct place *p, const struct yaml_doc *doc)
{
    yaml_id id = yaml_get(doc, doc->root, "model");
    const char *word = id >= 0 ? doc->nodes[id].text : NULL;
    for (int32_t k = 0; k < p->sweep.n_keys; k++)
        if (strcmp(p->sweep.keys[k].path, "model") == 0)
            return NULL;
    for (int m = 0; m < N_PLACE_MODELS && word; m++)
        if (strcmp(place_model_words[m], word) == 0)
            return place_kind_of((enum place_model)m)->jobs;
    return NULL;
}

/* Axes of the model's jobs are checked here: the tables of keys do not know which model it is. */
static int check_job_axes(const struct place *p, const struct yaml_doc *doc, struct err *e)
{
    const struct section *jobs = jobs_section(p, doc);
    int rc = 0;
    for (int32_t k = 0; k < p->sweep.n_keys && jobs && !rc; k++) {
        const char *path = p->sweep.keys[k].path;
        if (strncmp(path, "jobs.", 5) == 0 && !strpbrk(path + 5, ".["))
            rc = sweep_check_key(jobs, path + 5, doc, p->sweep.keys[k].at, e);
    }
    return rc;
}

/* Whether a key has an effect may depend on these: what the first point leaves idle another may use. */
static bool axes_decide(const struct place *p)
{
    static const char *const deciding[] = { "model",         "schedulers", "jobs.utility",
                                            "jobs.progress", "las.queues", "gadget.rounding" };
    for (int32_t k = 0; k < p->sweep.n_keys; k++)
        for (size_t i = 0; i < sizeof deciding / sizeof deciding[0]; i++)
            if (strcmp(p->sweep.keys[k].path, deciding[i]) == 0)
                return true;
    return false;
}

static void hash_point(struct place *p, const struct place_study *first)
{
    p->hash = yaml_hash(&first->doc, first->doc.root);
    p->hash = sweep_hash(&p->sweep, p->hash);
}

static int read_point(struct place_study *s, const struct place *p, int64_t point, struct study_source from,
                      struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    from = sweep_source_at(axes, &p->sweep, point, from);
    return place_study_read(s, &from, e);
}

/* What all points share is that of the first one. */
static int read_first(struct place *p, const struct yaml_doc *doc, const struct study_source *from,
                      struct err *e)
{
    struct place_study s;
    int rc = read_point(&s, p, 0, *from, e);
    if (rc)
        return rc;
    p->model = s.model;
    p->seed = s.conf.seed;
    p->seeds = s.conf.seeds;
    snprintf(p->name, sizeof p->name, "%s", s.conf.name ? s.conf.name : "");
    hash_point(p, &s);
    if (!axes_decide(p))
        text_puts(&p->notes, text_str(&s.notes));
    rc = sweep_check_seeds(&p->sweep, p->seeds, doc, e);
    place_study_free(&s);
    return rc ? rc : text_check(&p->notes, e);
}

int place_read(struct place *p, const char *path, const struct study_override *overrides, int32_t n,
               struct err *e)
{
    const struct study_source from = { .path = path, .overrides = overrides, .n = n };
    struct yaml_doc doc;
    int32_t own_source;
    *p = (struct place){ .sweep = { .n_points = 1 } };
    int rc = source_open(&doc, &own_source, &from, e);
    if (rc)
        return rc;
    rc = sweep_read_seeded(&p->sweep, &place_section, &doc, &from, e);
    if (!rc)
        rc = check_job_axes(p, &doc, e);
    if (!rc)
        rc = read_first(p, &doc, &from, e);
    yaml_free(&doc);
    if (rc)
        place_free(p);
    return rc;
}

void place_free(struct place *p)
{
    sweep_free(&p->sweep);
    text_free(&p->notes);
    *p = (struct place){ 0 };
}

/* ---- runs ---- */

/* One point with one seed. */
struct unit {
    bool run;
    int rc;
    struct place_outcome *outcomes; /* shape [n], owned; NULL after failure */
    int32_t schedulers[PLACE_MAX_SCHEDULERS], n;
    enum place_model model;
    char network[128];
    double network_usd;
    char *message;     /* owned; NULL unless it failed */
    struct text notes; /* of the first seed of a point */
};

struct runs {
    const struct place *place;
    struct study_source from;
    const struct place_options *options;
    struct unit *units; /* shape [n_points][seeds] */
    int64_t n_units;
};

static void name_network(struct unit *u, const struct place_study *s)
{
    char word[TOPO_SPEC];
    const struct place_servers *v = &s->servers;
    if (s->model == PLACE_INTERVAL || !place_has_servers(s)) /* there are no links */
        snprintf(u->network, sizeof u->network, "pool");
    else if (v->has_network)
        snprintf(u->network, sizeof u->network, "%s",
                 v->net.name[0] ? v->net.name : topo_format_spec(word, &v->net));
    else
        snprintf(u->network, sizeof u->network, "%s", v->graph ? v->graph : "racks");
}

static int run_unit(struct unit *u, const struct runs *r, int64_t i, struct err *e)
{
    const struct place *p = r->place;
    const struct place_details *details = &r->options->details;
    bool wanted = details->jobs || details->places || details->slots || details->links;
    struct place_study s;
    struct place_task task = { .study = &s,
                               .seed = p->seed + i % p->seeds,
                               .details = wanted && i % p->seeds == 0 ? details : NULL,
                               .notes = i % p->seeds == 0 ? &u->notes : NULL,
                               .sweep = &p->sweep,
                               .point = i / p->seeds };
    int rc = read_point(&s, p, task.point, r->from, e);
    if (rc)
        return rc;
    name_network(u, &s);
    u->model = s.model;
    u->network_usd = s.network_usd;
    u->n = s.n_schedulers;
    memcpy(u->schedulers, s.schedulers, sizeof u->schedulers);
    u->outcomes = calloc((size_t)u->n + 1, sizeof *u->outcomes);
    rc = u->outcomes ? place_kind_of(s.model)->run(u->outcomes, &task, e) : err_nomem(e, "outcomes");
    place_study_free(&s);
    return rc;
}

/* A run that fails is a row; only lack of memory ends all. */
static int finish_unit(struct unit *u, int rc, struct err *e)
{
    u->run = true;
    u->rc = rc;
    if (!rc)
        return 0;
    free(u->outcomes);
    u->outcomes = NULL;
    u->message = strdup(e->msg);
    if (!u->message)
        return err_nomem(e, "a message");
    return rc == ERR_NOMEM ? rc : 0;
}

static int do_unit(void *data, int64_t i, struct err *e)
{
    struct runs *r = data;
    if (r->units[i].run)
        return POOL_SKIPPED;
    return finish_unit(&r->units[i], run_unit(&r->units[i], r, i, e), e);
}

static int run_units(struct runs *r, struct err *e)
{
    const struct place_options *o = r->options;
    const struct place_details *d = &o->details;
    struct pool pool = {
        .unit = do_unit, .data = r, .progress = o->progress, .context = o->context, .total = r->n_units
    };
    int rc = 0;
    /* Rows of details come in order: the runs that have them go one by one. */
    if (d->jobs || d->places || d->slots || d->links) {
        place_tables_begin(d, &r->place->sweep);
        rc = pool_run(&pool, r->n_units, r->place->seeds, 1, e);
    }
    return rc ? rc : pool_run(&pool, r->n_units, 1, o->threads, e);
}

/* ---- rows ---- */

/* Of a point's units the first one that failed; NULL: none did. */
static const struct unit *find_failed(const struct unit *u, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (u[i].rc)
            return &u[i];
    return NULL;
}

static bool has_metric(const struct runs *r, int m)
{
    if (place_metrics[m].names[r->place->model])
        return true;
    for (int64_t i = 0; i < r->n_units; i++)
        if (r->units[i].n > 0 && place_metrics[m].names[r->units[i].model])
            return true;
    return false;
}

static const char *metric_name(const struct runs *r, int m)
{
    const char *name = place_metrics[m].names[r->place->model];
    for (int k = 0; k < N_PLACE_MODELS && !name; k++)
        name = place_metrics[m].names[k];
    return name;
}

static void head_columns(struct table *t, const struct place *p)
{
    sweep_put_columns(t, &p->sweep);
    table_column(t, "network", TABLE_TEXT);
    table_column(t, "model", TABLE_TEXT);
    table_column(t, "scheduler", TABLE_TEXT);
}

static void put_head(struct table *t, const struct place *p, int64_t point, const struct unit *u, int32_t i)
{
    sweep_put_point(t, &p->sweep, point);
    table_put_text(t, u->network);
    table_put_text(t, u->n ? place_model_words[u->model] : NULL);
    table_put_text(t, i >= 0 ? place_kind_of(u->model)->scheduler(u->schedulers[i]) : NULL);
}

static void columns(struct table *t, const struct runs *r)
{
    char name[64];
    head_columns(t, r->place);
    table_column(t, "seeds", TABLE_COUNT);
    table_column(t, "jobs", TABLE_REAL);
    for (int m = 0; m < N_PLACE_METRICS; m++)
        if (has_metric(r, m)) {
            table_column(t, metric_name(r, m), TABLE_REAL);
            snprintf(name, sizeof name, "%s_ci", metric_name(r, m));
            table_column(t, name, TABLE_REAL);
        }
    table_column(t, "beats_next", TABLE_COUNT);
    table_column(t, "network_usd", TABLE_REAL);
    table_column(t, "status", TABLE_TEXT);
    table_column(t, "message", TABLE_TEXT);
}

static void put_error(struct table *t, const struct runs *r, int64_t point, const struct unit *failed)
{
    put_head(t, r->place, point, failed, -1);
    for (int32_t k = r->place->sweep.n_keys + 4; k < t->n_cols - 2; k++)
        table_put_none(t);
    table_put_text(t, failed->rc == ERR_NO_DESIGN ? "infeasible" : "error");
    table_put_text(t, failed->message);
}

/* Scheduler i of a point: the metrics of all seeds, one after the other. */
static int gather(double **out, const struct unit *u, int64_t seeds, int32_t i, struct err *e)
{
    *out = malloc((size_t)seeds * (N_PLACE_METRICS + 1) * sizeof **out);
    if (!*out)
        return err_nomem(e, "means");
    for (int64_t s = 0; s < seeds; s++) {
        memcpy(*out + s * (N_PLACE_METRICS + 1), u[s].outcomes[i].x, sizeof u[s].outcomes[i].x);
        (*out)[s * (N_PLACE_METRICS + 1) + N_PLACE_METRICS] = (double)u[s].outcomes[i].n_jobs;
    }
    return 0;
}

/* In how many seeds scheduler i is better than the one after it; -1 for the last one. */
static int64_t count_better(const struct unit *u, int64_t seeds, int32_t i)
{
    enum place_metric aim = place_model_aim(u->model);
    int64_t n = 0;
    if (i + 1 >= u->n)
        return -1;
    for (int64_t s = 0; s < seeds; s++)
        n += place_metrics[aim].better * u[s].outcomes[i].x[aim] >
             place_metrics[aim].better * u[s].outcomes[i + 1].x[aim];
    return n;
}

static int put_scheduler(struct table *t, const struct runs *r, int64_t point, const struct unit *u,
                         int32_t i, struct err *e)
{
    int64_t seeds = r->place->seeds, better = count_better(u, seeds, i);
    double *x;
    int rc = gather(&x, u, seeds, i, e);
    if (rc)
        return rc;
    put_head(t, r->place, point, u, i);
    table_put_count(t, seeds);
    table_put_real(t, stat_mean(x + N_PLACE_METRICS, seeds, N_PLACE_METRICS + 1).mean);
    for (int m = 0; m < N_PLACE_METRICS; m++)
        if (has_metric(r, m)) {
            struct stat_mean mean = stat_mean(x + m, seeds, N_PLACE_METRICS + 1);
            table_put_real(t, mean.mean);
            table_put_real(t, mean.half);
        }
    table_put_count(t, better < 0 ? INT64_MIN : better);
    table_put_real(t, u->network_usd);
    table_put_text(t, "done");
    table_put_text(t, NULL);
    free(x);
    return 0;
}

static int make_table(struct table *t, const struct runs *r, struct err *e)
{
    int64_t seeds = r->place->seeds;
    int rc = 0;
    columns(t, r);
    for (int64_t point = 0; point < r->place->sweep.n_points && !rc; point++) {
        const struct unit *u = &r->units[point * seeds], *failed = find_failed(u, seeds);
        bool all = true;
        for (int64_t s = 0; s < seeds; s++)
            all = all && u[s].run;
        if (failed)
            put_error(t, r, point, failed);
        for (int32_t i = 0; i < u->n && all && !failed && !rc; i++)
            rc = put_scheduler(t, r, point, u, i, e);
    }
    return rc ? rc : t->failed ? err_nomem(e, "rows of a placement study") : 0;
}

/* A row for each point, scheduler and seed. */
static int make_runs(struct table *t, const struct runs *r, struct err *e)
{
    head_columns(t, r->place);
    table_column(t, "seed", TABLE_COUNT);
    table_column(t, "jobs", TABLE_COUNT);
    for (int m = 0; m < N_PLACE_METRICS; m++)
        if (has_metric(r, m))
            table_column(t, metric_name(r, m), TABLE_REAL);
    for (int64_t k = 0; k < r->n_units; k++)
        for (int32_t i = 0; i < r->units[k].n && r->units[k].outcomes; i++) {
            const struct place_outcome *o = &r->units[k].outcomes[i];
            put_head(t, r->place, k / r->place->seeds, &r->units[k], i);
            table_put_count(t, r->place->seed + k % r->place->seeds);
            table_put_count(t, o->n_jobs);
            for (int m = 0; m < N_PLACE_METRICS; m++)
                if (has_metric(r, m))
                    table_put_real(t, o->x[m]);
        }
    return t->failed ? err_nomem(e, "rows of runs") : 0;
}

int place_run(struct table *out, const struct place *p, const char *path,
              const struct study_override *overrides, int32_t n, const struct place_options *options,
              struct err *e)
{
    struct runs r = { .place = p,
                      .from = { .path = path, .overrides = overrides, .n = n },
                      .options = options,
                      .n_units = p->sweep.n_points * p->seeds };
    r.units = calloc((size_t)r.n_units, sizeof *r.units);
    if (!r.units)
        return err_nomem(e, "runs of a placement study");
    int rc = run_units(&r, e);
    if (!rc)
        rc = make_table(out, &r, e);
    if (!rc && options->runs)
        rc = make_runs(options->runs, &r, e);
    if (!rc && options->notes) {
        for (int64_t i = 0; i < r.n_units; i++) /* each line once, in the order of points */
            text_add_new_lines(options->notes, text_str(&r.units[i].notes));
        rc = text_check(options->notes, e);
    }
    for (int64_t i = 0; i < r.n_units; i++) {
        free(r.units[i].outcomes);
        free(r.units[i].message);
        text_free(&r.units[i].notes);
    }
    free(r.units);
    return rc;
}
