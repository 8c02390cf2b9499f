#include "kinds/gossip/gossip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/gossip/point.h"
#include "sim/gossip/replay.h"
#include "study/notes.h"
#include "study/axes.h"

/* ---- reading ---- */

static int read_point(struct gossip_point *p, const struct sweep *w, int64_t point, struct study_source from,
                      struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    from = sweep_source_at(axes, w, point, from);
    return gossip_point_read(p, &from, e);
}

static int read_first(struct gossip_study *s, const struct yaml_doc *doc, const struct study_source *from,
                      struct err *e)
{
    struct gossip_point p;
    int rc = read_point(&p, &s->sweep, 0, *from, e);
    if (rc)
        return rc;
    s->seed = p.conf.seed;
    s->seeds = p.conf.seeds;
    s->equal_points = p.conf.equal_points;
    snprintf(s->name, sizeof s->name, "%s", p.conf.name ? p.conf.name : "");
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p.doc, p.doc.root));
    if (p.own_data)
        s->hash = text_hash(s->hash, &p.data_hash, sizeof p.data_hash);
    rc = sweep_check_seeds(&s->sweep, s->seeds, doc, e);
    gossip_point_free(&p);
    return rc;
}

int gossip_study_read(struct gossip_study *s, const char *path, const struct study_override *overrides,
                      int32_t n, struct err *e)
{
    const struct study_source from = { .path = path, .overrides = overrides, .n = n };
    struct yaml_doc doc;
    int32_t own_source;
    *s = (struct gossip_study){ .sweep = { .n_points = 1 } };
    int rc = source_open(&doc, &own_source, &from, e);
    if (rc)
        return rc;
    rc = sweep_read_seeded(&s->sweep, &gossip_section, &doc, &from, e);
    if (!rc)
        rc = read_first(s, &doc, &from, e);
    yaml_free(&doc);
    if (rc)
        gossip_study_free(s);
    return rc;
}

void gossip_study_free(struct gossip_study *s)
{
    sweep_free(&s->sweep);
    *s = (struct gossip_study){ 0 };
}

/* ---- points ---- */

static int do_point(void *data, int64_t i, struct err *e)
{
    struct gossip_runs *r = data;
    struct gossip_state *s = &r->states[i];
    int rc = read_point(&s->point, &r->study->sweep, i, r->from, e);
    gossip_point_close(&s->point);
    return pool_keep(&s->run, &s->rc, &s->message, rc, e);
}

/* ---- runs ---- */

/* Number of the point that run @p i is of: the last that begins at or before it. */
static int64_t point_of(const struct gossip_runs *r, int64_t i)
{
    int64_t low = 0, high = r->study->sweep.n_points - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (r->states[middle].first_unit <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

const struct gossip_unit *gossip_unit_at(const struct gossip_runs *r, int64_t point, int32_t entry, int64_t k)
{
    const struct gossip_state *s = &r->states[point];
    return &r->units[s->first_unit + k * s->point.n_entries + entry];
}

/* How much bandwidth the run of @p log needs. That a replay cannot tell is no failure of the run. */
static int find_need(struct gossip_unit *u, const struct gossip_log *log, const struct gossip_setup *setup,
                     double need_pct, struct err *e)
{
    struct gossip_need need;
    int rc = gossip_need(&need, log, setup, need_pct / 100, e);
    if (!rc && isinf(need.share))
        rc = err_set(e, ERR_UNSUP, "need_GBps: a million times the bandwidth is not enough");
    if (!rc)
        u->need_Bps = need.bw_Bps;
    if (rc != ERR_UNSUP)
        return rc;
    u->message = strdup(e->msg);
    return u->message ? 0 : err_nomem(e, "a message");
}

static int train_with(struct gossip_unit *u, const struct gossip_setup *setup,
                      const struct gossip_settings *settings, int64_t seed, struct gossip_wish wish,
                      double need_pct, struct err *e)
{
    struct gossip_log log = { 0 };
    u->need_Bps = NAN;
    wish.log = isnan(need_pct) ? NULL : &log;
    int rc = gossip_run(&u->result, setup, settings, (uint64_t)seed, &wish, e);
    if (!rc && wish.log && u->result.diverged_step < 0)
        rc = find_need(u, &log, setup, need_pct, e);
    gossip_log_free(&log);
    return rc;
}

static int train(struct gossip_unit *u, const struct gossip_runs *r, const struct gossip_state *s,
                 const struct gossip_examples *x, int64_t i, struct err *e)
{
    const struct gossip_point *p = &s->point;
    int64_t k = (i - s->first_unit) / p->n_entries, entry = (i - s->first_unit) % p->n_entries;
    const struct gossip_data *train = p->own_data ? &s->grid.train : &x->train[0];
    const struct gossip_data *test = p->own_data ? &s->grid.test : &x->test[0];
    bool drifts = p->drift_at < 1, curves = r->options->curves != NULL;
    const struct gossip_wish wish = { .curve = curves,
                                      .curve_accuracy = curves,
                                      .arcs = r->options->links && k == 0 };
    struct gossip_fabric fabric = p->fabric;
    struct gossip_setup setup = gossip_point_setup(p);
    fabric.graph = s->grid.graph;
    setup.fabric = &fabric;
    setup.train[0] = train;
    setup.train[1] = drifts ? &x->train[1] : train;
    setup.test[0] = test;
    setup.test[1] = drifts ? &x->test[1] : test;
    setup.shards = &x->shards;
    return train_with(u, &setup, &p->entries[entry].settings, r->study->seed + k, wish, p->conf.need_pct, e);
}

static int do_unit(void *data, int64_t i, struct err *e)
{
    struct gossip_runs *r = data;
    struct gossip_state *s = &r->states[point_of(r, i)];
    int64_t k = (i - s->first_unit) / s->point.n_entries;
    struct gossip_examples *x = &r->examples[s->first_examples + k];
    struct gossip_unit *u = &r->units[i];
    int rc = gossip_grid_take(&s->grid, &s->point, e);
    if (!rc)
        rc = gossip_examples_take(x, &s->grid, &s->point, (uint64_t)(r->study->seed + k), e);
    if (!rc)
        rc = train(u, r, s, x, i, e);
    gossip_examples_leave(x);
    gossip_grid_leave(&s->grid);
    return pool_keep(&u->run, &u->rc, &u->message, rc, e);
}

/* Room for every run of every point that could be read, in the order of points, seeds, entries. */
static int list_units(struct gossip_runs *r, struct err *e)
{
    int64_t seeds = r->study->seeds;
    for (int64_t i = 0; i < r->study->sweep.n_points; i++) {
        struct gossip_state *s = &r->states[i];
        int64_t n = s->run && !s->rc ? s->point.n_entries : 0;
        s->first_unit = r->n_units;
        s->first_examples = r->n_examples;
        r->n_units += n * seeds;
        r->n_examples += n ? seeds : 0;
    }
    r->units = calloc((size_t)r->n_units + 1, sizeof *r->units);
    r->examples = calloc((size_t)r->n_examples + 1, sizeof *r->examples);
    if (!r->units || !r->examples)
        return err_nomem(e, "runs of a study");
    for (int64_t i = 0; i < r->study->sweep.n_points; i++) {
        struct gossip_state *s = &r->states[i];
        gossip_grid_begin(&s->grid, s->point.n_entries * seeds);
        for (int64_t k = 0; k < seeds && s->point.n_entries; k++)
            gossip_examples_begin(&r->examples[s->first_examples + k], s->point.n_entries);
    }
    r->listed = true;
    return 0;
}

static int run_all(struct gossip_runs *r, struct err *e)
{
    const struct gossip_options *o = r->options;
    int64_t n_points = r->study->sweep.n_points;
    struct pool pool = {
        .unit = do_point, .data = r, .progress = o->progress, .context = o->context, .total = n_points
    };
    int rc = pool_run(&pool, n_points, 1, o->threads, e);
    if (!rc)
        rc = list_units(r, e);
    if (rc)
        return rc;
    pool.unit = do_unit;
    pool.total += r->n_units;
    return pool_run(&pool, r->n_units, 1, o->threads, e);
}

/* A period that is never over is most likely not meant. */
static void note_never(struct gossip_state *s, const struct gossip_runs *r)
{
    struct gossip_point *p = &s->point;
    long long steps = p->n_entries ? (long long)gossip_point_steps(p) : 0;
    for (int32_t i = 0; i < p->n_entries; i++) {
        const struct gossip_unit *u = &r->units[s->first_unit + i];
        long long period = (long long)p->entries[i].settings.period;
        bool whole = u->run && !u->rc && u->result.diverged_step < 0;
        if (whole && gossip_has_fixed_period(&p->entries[i].settings) && u->result.exchanges == 0 &&
            period > steps)
            text_printf(&p->notes,
                        "%s: method %s: period %lld is more than the %lld steps of a worker: nothing is "
                        "exchanged\n",
                        r->from.path, p->entries[i].label, period, steps);
    }
}

static const struct text *notes_of(const void *states, int64_t i)
{
    const struct gossip_point *p = &((const struct gossip_state *)states)[i].point;
    return p->n_entries ? &p->notes : NULL;
}

static void free_runs(struct gossip_runs *r)
{
    for (int64_t i = 0; i < r->n_examples && r->listed; i++)
        gossip_examples_free(&r->examples[i]);
    for (int64_t i = 0; i < r->study->sweep.n_points; i++) {
        if (r->listed)
            gossip_grid_free(&r->states[i].grid);
        gossip_point_free(&r->states[i].point);
        free(r->states[i].message);
    }
    for (int64_t i = 0; i < r->n_units && r->listed; i++) {
        free(r->units[i].message);
        gossip_result_free(&r->units[i].result);
    }
    free(r->states);
    free(r->units);
    free(r->examples);
}

int gossip_study_run(struct table *out, const struct gossip_study *s, const char *path,
                     const struct study_override *overrides, int32_t n, const struct gossip_options *options,
                     struct err *e)
{
    struct gossip_runs r = { .study = s,
                             .from = { .path = path, .overrides = overrides, .n = n },
                             .options = options };
    r.states = calloc((size_t)s->sweep.n_points, sizeof *r.states);
    if (!r.states)
        return err_nomem(e, "points of a study");
    int rc = run_all(&r, e);
    if (!rc)
        rc = gossip_make_tables(out, &r, e);
    if (!rc && options->notes) {
        for (int64_t i = 0; i < s->sweep.n_points; i++)
            note_never(&r.states[i], &r);
        notes_gather(options->notes, r.states, s->sweep.n_points, notes_of);
        rc = text_check(options->notes, e);
    }
    free_runs(&r);
    return rc;
}

static void begin(struct gossip_share *s, int64_t n_runs)
{
    omp_init_lock(&s->lock);
    s->n_left = n_runs;
    s->built = false;
}

/* Was that the last one? */
static bool leave(struct gossip_share *s)
{
    omp_set_lock(&s->lock);
    bool last = --s->n_left == 0;
    omp_unset_lock(&s->lock);
    return last;
}

/* ---- of a point ---- */

void gossip_grid_begin(struct gossip_grid *g, int64_t n_runs)
{
    begin(&g->share, n_runs);
}

static void empty_grid(struct gossip_grid *g)
{
#pragma omp critical(igraph)
    topo_graph_free(g->graph);
    g->graph = NULL;
    gossip_data_free(&g->train);
    gossip_data_free(&g->test);
    g->share.built = false;
}

static int build_grid(struct gossip_grid *g, const struct gossip_point *p, struct err *e)
{
    int rc;
#pragma omp critical(igraph)
    rc = topo_build_graph(&g->graph, &p->fabric.net, NULL, e);
    if (!rc && p->own_data)
        rc = gossip_point_own_data(&g->train, &g->test, p, e);
    if (rc)
        empty_grid(g);
    g->share.built = !rc;
    return rc;
}

int gossip_grid_take(struct gossip_grid *g, const struct gossip_point *p, struct err *e)
{
    omp_set_lock(&g->share.lock);
    int rc = g->share.built ? 0 : build_grid(g, p, e);
    omp_unset_lock(&g->share.lock);
    return rc;
}

void gossip_grid_leave(struct gossip_grid *g)
{
    if (leave(&g->share))
        empty_grid(g);
}

void gossip_grid_free(struct gossip_grid *g)
{
    empty_grid(g);
    omp_destroy_lock(&g->share.lock);
}

/* ---- of a point and seed ---- */

void gossip_examples_begin(struct gossip_examples *x, int64_t n_runs)
{
    begin(&x->share, n_runs);
}

static void empty_examples(struct gossip_examples *x)
{
    for (int i = 0; i < 2; i++) {
        gossip_data_free(&x->train[i]);
        gossip_data_free(&x->test[i]);
    }
    gossip_shards_free(&x->shards);
    x->share.built = false;
}

/* The teacher, and after the drift one with other weights. */
static int teach(struct gossip_examples *x, const struct gossip_point *p, uint64_t seed, struct err *e)
{
    struct gossip_teacher t = p->teacher;
    t.seed = seed;
    int rc = gossip_teach(&x->train[0], &x->test[0], &t, e);
    t.version = 1;
    if (!rc && p->drift_at < 1)
        rc = gossip_teach(&x->train[1], &x->test[1], &t, e);
    return rc;
}

static int build_examples(struct gossip_examples *x, const struct gossip_grid *g,
                          const struct gossip_point *p, uint64_t seed, struct err *e)
{
    int rc = p->own_data ? 0 : teach(x, p, seed, e);
    if (!rc)
        rc = gossip_shards_build(&x->shards, p->own_data ? &g->train : &x->train[0], p->fabric.n_workers,
                                 p->sharding, seed, e);
    if (rc)
        empty_examples(x);
    x->share.built = !rc;
    return rc;
}

int gossip_examples_take(struct gossip_examples *x, const struct gossip_grid *g, const struct gossip_point *p,
                         uint64_t seed, struct err *e)
{
    omp_set_lock(&x->share.lock);
    int rc = x->share.built ? 0 : build_examples(x, g, p, seed, e);
    omp_unset_lock(&x->share.lock);
    return rc;
}

void gossip_examples_leave(struct gossip_examples *x)
{
    if (leave(&x->share))
        empty_examples(x);
}

void gossip_examples_free(struct gossip_examples *x)
{
    empty_examples(x);
    omp_destroy_lock(&x->share.lock);
}
