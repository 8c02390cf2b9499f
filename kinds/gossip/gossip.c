/*
 * Training with little communication as a kind of study: what the engine asks of it.
 */
#include "kinds/gossip/gossip.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/gossip/point.h"
#include "sim/gossip/replay.h"
#include "study/axes.h"

/* ---- points ---- */

static int gossip_kind_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct gossip_point *p = first;
    s->seed = p->seed;
    s->seeds = p->seeds;
    text_printf(&s->name, "%.*s", TOPO_NAME - 1, p->name ? p->name : "");
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p->doc, p->doc.root));
    if (p->own_data)
        s->hash = text_hash(s->hash, &p->data_hash, sizeof p->data_hash);
    return sweep_check_seeds(&s->sweep, s->seeds, doc, e);
}

static int gossip_kind_read(void *point, const struct study_source *from, struct err *e)
{
    return gossip_point_read(point, from, e);
}

static void gossip_kind_free(void *point)
{
    gossip_point_free(point);
}

/* Where it runs, and the job of a point, in words. */
static void fill_words(struct gossip_point *p)
{
    const struct topo_network *net = &p->fabric.net;
    char spec[TOPO_SPEC];
    const char *name = net->name[0] ? net->name : topo_format_spec(spec, net);
    snprintf(p->on, sizeof p->on, "%d workers on %s, %s rung", p->fabric.n_workers, name,
             gossip_fidelity_words[p->fabric.fidelity]);
    if (p->job.model[0])
        gossip_job_text(p->replica, &p->job);
}

/* What rows of a point need besides the results of its runs. */
static void fill_shared(struct gossip_shared *s, const struct gossip_point *p)
{
    const struct gossip_fabric *x = &p->fabric;
    s->head.notes = text_str(&p->notes);
    s->on = p->on;
    s->steps = gossip_point_steps(p);
    s->n_dims = x->net.n_dims;
    s->baseline = p->baseline;
    s->compare = p->compare;
    s->step_s = p->clock.step_s;
    s->wire_MB = gossip_point_wire_B(p) / 1e6;
    s->need_wait_pct = p->need_pct;
    s->equal_points = p->equal_points;
    if (!isnan(p->need_pct) && x->share_dim > 0)
        s->need_dim = x->net.dims[x->share_dim - 1].name;
    if (!p->job.model[0])
        return;
    s->replica = p->replica;
    s->missing_GB = p->job.missing_B / 1e9;
}

static int gossip_kind_prepare(void *point, void *shared, struct err *e)
{
    struct gossip_point *p = point;
    gossip_point_close(p);
    fill_words(p);
    fill_shared(shared, p);
    int rc;
#pragma omp critical(igraph)
    rc = topo_build_graph(&p->graph, &p->fabric.net, NULL, e);
    p->fabric.graph = p->graph;
    return rc || !p->own_data ? rc : gossip_point_own_data(&p->own_train, &p->own_test, p, e);
}

static int32_t gossip_kind_entries(const void *point)
{
    return ((const struct gossip_point *)point)->n_entries;
}

static const char *const fact_names[] = { "n_workers", NULL };

static void gossip_kind_facts(double *x, const void *point)
{
    x[0] = ((const struct gossip_point *)point)->fabric.n_workers;
}

/* ---- examples ---- */

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

static int gossip_seed_begin(void *state, const void *point, int64_t seed, struct err *e)
{
    struct gossip_examples *x = state;
    const struct gossip_point *p = point;
    int rc = p->own_data ? 0 : teach(x, p, (uint64_t)seed, e);
    return rc ? rc
              : gossip_shards_build(&x->shards, p->own_data ? &p->own_train : &x->train[0],
                                    p->fabric.n_workers, p->sharding, (uint64_t)seed, e);
}

static void gossip_seed_end(void *state)
{
    struct gossip_examples *x = state;
    for (int i = 0; i < 2; i++) {
        gossip_data_free(&x->train[i]);
        gossip_data_free(&x->test[i]);
    }
    gossip_shards_free(&x->shards);
}

/* ---- runs ---- */

/* How much bandwidth the run of @p log needs. That a replay cannot tell is no failure of the run. */
static int find_need(struct gossip_outcome *x, const struct gossip_log *log, const struct gossip_setup *setup,
                     double need_pct, struct err *e)
{
    struct gossip_need need;
    int rc = gossip_need(&need, log, setup, need_pct / 100, e);
    if (!rc && isinf(need.share))
        rc = err_set(e, ERR_UNSUP, "need_GBps: a million times the bandwidth is not enough");
    if (!rc)
        x->need_Bps = need.bw_Bps;
    if (rc != ERR_UNSUP)
        return rc;
    x->head.message = e->msg;
    return 0;
}

static struct gossip_setup setup_of(const struct gossip_point *p, const struct gossip_examples *x)
{
    const struct gossip_data *train = p->own_data ? &p->own_train : &x->train[0];
    const struct gossip_data *test = p->own_data ? &p->own_test : &x->test[0];
    bool drifts = p->drift_at < 1;
    struct gossip_setup setup = gossip_point_setup(p);
    setup.train[0] = train;
    setup.train[1] = drifts ? &x->train[1] : train;
    setup.test[0] = test;
    setup.test[1] = drifts ? &x->test[1] : test;
    setup.shards = &x->shards;
    return setup;
}

/* From the simulator's result to what is stored. */
static void outcome_fill(struct gossip_outcome *x, const struct gossip_result *r)
{
    x->steps = r->steps;
    x->exchanges = r->exchanges;
    x->diverged_step = r->diverged_step;
    x->accuracy = r->accuracy;
    x->average_accuracy = r->average_accuracy;
    x->sent_B = r->sent_B;
    x->time_s = r->time_s;
    x->compute_s = r->compute_s;
    x->wait_s = r->wait_s;
    x->loss = r->loss;
    x->average_B = r->average_B;
    x->average_s = r->average_s;
    memcpy(x->dim_B, r->dim_B, sizeof x->dim_B);
}

/* A period that is never over is most likely not meant. */
static void note_never(struct gossip_outcome *x, const struct study_run *r, struct text *note)
{
    long long steps = gossip_point_steps(r->point);
    if (r->k > 0 || x->diverged_step >= 0 || x->exchanges > 0 || x->period <= steps)
        return;
    text_printf(note,
                "%s: method %s: period %lld is more than the %lld steps of a worker: nothing is exchanged\n",
                r->study->from.path, x->label, (long long)x->period, steps);
    x->note = text_str(note);
}

/* Train, and fill in @p out with what comes of it. */
static int train(struct gossip_outcome *out, struct gossip_result *result, const struct study_run *r,
                 struct err *e)
{
    const struct gossip_point *p = r->point;
    const struct gossip_setup setup = setup_of(p, r->seed_state);
    struct gossip_log log = { 0 };
    bool curve = r->wanted >> GOSSIP_CURVES & 1;
    const struct gossip_wish wish = { .curve = curve,
                                      .curve_accuracy = curve,
                                      .arcs = r->wanted >> GOSSIP_LINKS & 1,
                                      .log = isnan(p->need_pct) ? NULL : &log };
    int rc = gossip_run(result, &setup, &p->entries[r->entry].settings, (uint64_t)r->seed, &wish, e);
    if (!rc && wish.log && result->diverged_step < 0)
        rc = find_need(out, &log, &setup, p->need_pct, e);
    gossip_log_free(&log);
    if (!rc)
        outcome_fill(out, result);
    return rc;
}

static struct gossip_outcome outcome_of(const struct gossip_entry *x)
{
    struct gossip_outcome out;
    row_clear(&out, gossip_outcome_columns);
    out.head.rc = 0;
    out.label = x->label;
    out.method = x->settings.method;
    if (gossip_method_uses(&x->settings) & GOSSIP_FOR_RULE)
        out.rule = x->settings.rule;
    if (gossip_has_fixed_period(&x->settings))
        out.period = x->settings.period;
    return out;
}

/* One method with one seed. Its failure is a row; only lack of memory ends the study. */
static int gossip_kind_run(const struct study_run *r, struct sink *sink, struct err *e)
{
    const struct gossip_point *p = r->point;
    struct gossip_outcome out = outcome_of(&p->entries[r->entry]);
    struct gossip_result result = { 0 };
    struct text note = { 0 };
    int rc = train(&out, &result, r, e);
    if (!rc) {
        note_never(&out, r, &note);
        rc = text_check(&note, e);
    }
    if (rc) {
        out.head.rc = -rc;
        out.head.message = e->msg;
    }
    gossip_put_run(sink, r, &out);
    if (!rc)
        rc = gossip_put_details(sink, r, &result, e);
    if (rc != ERR_NOMEM)
        sink_result(sink, r->entry, &out);
    gossip_result_free(&result);
    text_free(&note);
    return rc == ERR_NOMEM ? rc : 0;
}

/* ---- rows ---- */

static const char *const result_columns[] = { "status", NULL };

static bool gossip_kind_is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    return strcmp(table_text(rows, row, cols[0]), "ok") == 0;
}

static const char *const own_keys[] = { "workers",  "rung",     "chunks",  "learner",      "data",
                                        "shards",   "clock",    "methods", "model_MB",     "endpoint_ns",
                                        "drift_at", "baseline", "compare", "equal_points", "need_pct",
                                        "need_dim", NULL };
static const char *const fixed_axes[] = { "seed", "seeds", NULL };
static const char *const front[] = { "time_s", "traffic_MB", "max:accuracy_pct", NULL };
static const char *const work[] = { "data", "learner", "shards", "drift_at", "workers", NULL };

const struct study_kind gossip_kind = {
    .word = "gossip",
    .what = "training with little communication",
    .keys = &gossip_section,
    .own_keys = own_keys,
    .fixed_axes = fixed_axes,
    .tables = gossip_tables,
    .n_tables = N_GOSSIP_TABLES,
    .open = gossip_kind_open,
    .point_size = sizeof(struct gossip_point),
    .read = gossip_kind_read,
    .free = gossip_kind_free,
    .fact_names = fact_names,
    .facts = gossip_kind_facts,
    .shared = gossip_shared_columns,
    .result = gossip_outcome_columns,
    .shared_size = sizeof(struct gossip_shared),
    .result_size = sizeof(struct gossip_outcome),
    .prepare = gossip_kind_prepare,
    .n_entries = gossip_kind_entries,
    .seed_size = sizeof(struct gossip_examples),
    .seed_begin = gossip_seed_begin,
    .seed_end = gossip_seed_end,
    .run = gossip_kind_run,
    .reduce = gossip_reduce,
    .notes = NOTES_COMMON,
    .is_result = gossip_kind_is_result,
    .result_columns = result_columns,
    .label = "method",
    .front = front,
    .work = work,
    .unsolved = "rows are errors",
    .say = gossip_say,
    .conclude = gossip_conclude,
    .fail_alone = gossip_fail_alone,
    .list = gossip_list,
    .notes_first = true,
};
