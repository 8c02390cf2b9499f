/*
 * Layers on types of resources as a kind of study: what the engine asks of it.
 */
#include "kinds/hetero/hetero.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "kinds/hetero/point.h"
#include "sim/hetero/oracle.h"
#include "study/axes.h"

/* ---- points ---- */

static int hetero_kind_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct hetero_point *p = first;
    s->seed = p->seed;
    s->seeds = p->seeds;
    text_printf(&s->name, "%.*s", TOPO_NAME - 1, p->name ? p->name : "");
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p->doc, p->doc.root));
    return sweep_check_seeds(&s->sweep, s->seeds, doc, e);
}

static int hetero_kind_read(void *point, const struct study_source *from, struct err *e)
{
    return hetero_point_read(point, from, e);
}

static void hetero_kind_free(void *point)
{
    hetero_point_free(point);
}

/* Does a scheduler prove what the oracle cannot? Then that need not be done twice. */
static bool lists_exact(const struct hetero_point *p)
{
    for (int32_t i = 0; i < p->n_schedulers; i++)
        if (hetero_schedulers[p->schedulers[i]].run == hetero_labels_run)
            return true;
    return false;
}

/* What every plan of the point is measured by. */
static int find_oracle(struct hetero_oracle *o, const struct hetero_point *p, struct err *e)
{
    bool exact = p->setup.provisioning == HETERO_EXACT && !lists_exact(p);
    *o = (struct hetero_oracle){ 0 };
    return exact ? hetero_exact(o, &p->problem, e) : hetero_oracle(o, &p->problem, e);
}

/* Where limits that stages share leave no plan, the schedulers still say how near they come. */
static int check_reach(const struct hetero_point *p, struct err *e)
{
    struct hetero_oracle o;
    if (!(p->aim.per_s > p->aim.most_per_s))
        return 0;
    int rc = find_oracle(&o, p, e);
    bool none = o.proof == HETERO_NO_PLAN;
    hetero_oracle_free(&o);
    return rc || !none ? rc : hetero_point_unreachable(p, &p->aim, e);
}

/* What all runs of a point share: tables of the problem and the throughput to reach. */
static int hetero_kind_prepare(void *point, void *shared, struct err *e)
{
    struct hetero_point *p = point;
    struct hetero_shared *s = shared;
    hetero_point_close(p);
    s->head.notes = text_str(&p->notes);
    s->model = p->profile.name;
    s->types = p->profile.n_types;
    s->layers = p->profile.n_layers;
    s->listed = p->listed;
    int rc = hetero_build(&p->problem, &p->profile, &p->setup, e);
    if (!rc)
        rc = hetero_point_aim(&p->aim, p, &p->problem, e);
    s->need_per_s = p->aim.per_s > 0 ? p->aim.per_s : (double)NAN;
    s->most_per_s = p->aim.most_per_s > 0 ? p->aim.most_per_s : (double)NAN;
    return rc ? rc : check_reach(p, e);
}

static int32_t hetero_kind_entries(const void *point)
{
    return ((const struct hetero_point *)point)->n_schedulers + 1;
}

static bool hetero_kind_seeded(const void *point, int32_t entry)
{
    const struct hetero_point *p = point;
    return entry < p->n_schedulers && hetero_schedulers[p->schedulers[entry]].seeded;
}

static const char *const fact_names[] = { "types", "layers", NULL };

static void hetero_kind_facts(double *x, const void *point)
{
    const struct hetero_point *p = point;
    x[0] = p->profile.n_types;
    x[1] = p->profile.n_layers;
}

/* ---- runs ---- */

/* The oracle is an entry of its own behind the schedulers: it runs once per point, and rows compare with it.
 */
static int run_oracle(const struct hetero_point *p, struct sink *sink, int32_t entry, struct err *e)
{
    struct hetero_result out;
    struct hetero_oracle o;
    int rc = find_oracle(&o, p, e);
    row_clear(&out, hetero_kind.result);
    out.head = (struct study_result){ .rc = 0 };
    out.proof = o.proof;
    out.usd = o.usd;
    out.lower_usd = o.lower_usd;
    if (!rc)
        sink_result(sink, entry, &out);
    hetero_oracle_free(&o);
    return rc;
}

/* What a search leaves behind. */
static struct hetero_result result_of(const struct hetero_search *s, int32_t scheduler)
{
    struct hetero_result x;
    row_clear(&x, hetero_kind.result);
    x.head = (struct study_result){ .rc = 0 };
    x.scheduler = scheduler;
    x.status = s->value.status;
    x.proof = s->proof;
    x.usd = s->value.usd;
    x.per_s = s->value.per_s;
    x.usd_per_h = s->value.usd_per_h;
    x.reach_per_s = s->value.reach_per_s;
    x.lower_usd = s->lower_usd;
    x.evaluations = s->evaluations;
    if (s->value.status != HETERO_OK)
        return x;
    x.stages = s->work.n_stages;
    x.units = 0;
    for (int32_t t = 0; t < s->problem->profile->n_types; t++)
        x.units += s->work.of_type[t];
    return x;
}

/* One scheduler with one seed. Its failure is a row; only lack of memory ends the study. */
static int hetero_kind_run(const struct study_run *r, struct sink *sink, struct err *e)
{
    const struct hetero_point *p = r->point;
    if (r->entry == p->n_schedulers)
        return run_oracle(p, sink, r->entry, e);
    const int32_t scheduler = p->schedulers[r->entry];
    struct hetero_result out;
    struct hetero_search s = { 0 };
    double start_s = clock_now_s();
    int rc = hetero_schedule(&s, &p->problem, scheduler, &p->settings, (uint64_t)r->seed, e);
    double schedule_s = clock_now_s() - start_s;
    if (!rc) {
        out = result_of(&s, scheduler);
    } else {
        row_clear(&out, hetero_kind.result);
        out.head = (struct study_result){ .rc = -rc, .message = e->msg };
        out.scheduler = scheduler;
    }
    out.schedule_s = schedule_s;
    hetero_put_run(sink, r, &out);
    if (!rc)
        hetero_put_details(sink, r, &s);
    if (rc != ERR_NOMEM)
        sink_result(sink, r->entry, &out);
    hetero_search_free(&s);
    return rc == ERR_NOMEM ? rc : 0;
}

/* ---- rows ---- */

static const char *const result_columns[] = { "status", NULL };

static bool hetero_kind_is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    const char *status = table_text(rows, row, cols[0]);
    return strcmp(status, "done") == 0 || strcmp(status, "partly") == 0;
}

static const char *const own_keys[] = { "draw",    "layers",   "types",        "batch",       "throughput",
                                        "overlap", "handover", "provisioning", "evaluations", "rl",
                                        "genetic", "anneal",   "bayes",        NULL };
static const char *const fixed_axes[] = { "seed", "seeds", NULL };
static const char *const front[] = { "usd", "plans_tried", NULL };
static const char *const work[] = { "model", "draw", "layers", "throughput", NULL };

const struct study_kind hetero_kind = {
    .word = "hetero",
    .what = "layers of a model on types of resources",
    .keys = &hetero_section,
    .own_keys = own_keys,
    .fixed_axes = fixed_axes,
    .tables = hetero_tables,
    .n_tables = N_HETERO_TABLES,
    .open = hetero_kind_open,
    .point_size = sizeof(struct hetero_point),
    .read = hetero_kind_read,
    .free = hetero_kind_free,
    .fact_names = fact_names,
    .facts = hetero_kind_facts,
    .shared = hetero_shared_columns,
    .result = hetero_result_columns,
    .shared_size = sizeof(struct hetero_shared),
    .result_size = sizeof(struct hetero_result),
    .prepare = hetero_kind_prepare,
    .n_entries = hetero_kind_entries,
    .seeded = hetero_kind_seeded,
    .run = hetero_kind_run,
    .reduce = hetero_reduce,
    .notes = NOTES_COMMON,
    .is_result = hetero_kind_is_result,
    .result_columns = result_columns,
    .label = "scheduler",
    .front = front,
    .work = work,
    .unsolved = "rows are not done",
    .say = hetero_say,
    .conclude = hetero_conclude,
    .fail_alone = hetero_fail_alone,
    .list = hetero_list,
    .notes_first = true,
};
