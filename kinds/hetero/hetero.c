#include "kinds/hetero/hetero.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "kinds/hetero/point.h"
#include "study/notes.h"
#include "study/axes.h"
#include "sim/hetero/oracle.h"

int32_t hetero_study_n_schedulers(void)
{
    return n_hetero_schedulers;
}

const char *hetero_study_scheduler(int32_t i)
{
    return hetero_schedulers[i].name;
}

const char *hetero_study_scheduler_help(int32_t i)
{
    return hetero_schedulers[i].help;
}

/* ---- reading ---- */

static int read_point(struct hetero_point *p, const struct sweep *w, int64_t point, struct study_source from,
                      struct err *e)
{
    struct study_override axes[SWEEP_MAX_KEYS];
    from = sweep_source_at(axes, w, point, from);
    return hetero_point_read(p, &from, e);
}

static int read_first(struct hetero_study *s, const struct yaml_doc *doc, const struct study_source *from,
                      struct err *e)
{
    struct hetero_point p;
    int rc = read_point(&p, &s->sweep, 0, *from, e);
    if (rc)
        return rc;
    s->seed = p.conf.seed;
    s->seeds = p.conf.seeds;
    snprintf(s->name, sizeof s->name, "%s", p.conf.name ? p.conf.name : "");
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p.doc, p.doc.root));
    rc = sweep_check_seeds(&s->sweep, s->seeds, doc, e);
    hetero_point_free(&p);
    return rc;
}

int hetero_study_read(struct hetero_study *s, const char *path, const struct study_override *overrides,
                      int32_t n, struct err *e)
{
    const struct study_source from = { .path = path, .overrides = overrides, .n = n };
    struct yaml_doc doc;
    int32_t own_source;
    *s = (struct hetero_study){ .sweep = { .n_points = 1 } };
    int rc = source_open(&doc, &own_source, &from, e);
    if (rc)
        return rc;
    rc = sweep_read_seeded(&s->sweep, &hetero_section, &doc, &from, e);
    if (!rc)
        rc = read_first(s, &doc, &from, e);
    yaml_free(&doc);
    if (rc)
        hetero_study_free(s);
    return rc;
}

void hetero_study_free(struct hetero_study *s)
{
    sweep_free(&s->sweep);
    *s = (struct hetero_study){ 0 };
}

/* ---- points ---- */

const struct hetero_scheduler *hetero_unit_scheduler(const struct hetero_runs *r, const struct hetero_unit *u)
{
    return &hetero_schedulers[r->states[u->point].point.schedulers[u->scheduler]];
}

/* Does a scheduler prove what the oracle cannot? Then that need not be done twice. */
static bool lists_exact(const struct hetero_point *p)
{
    for (int32_t i = 0; i < p->n_schedulers; i++)
        if (hetero_schedulers[p->schedulers[i]].run == hetero_labels_run)
            return true;
    return false;
}

/* What every plan of the point is measured by. Where limits that stages share leave no plan, the schedulers
 * still say how near they come. */
static int find_oracle(struct hetero_state *s, const struct hetero_problem *problem, struct err *e)
{
    struct hetero_oracle o = { 0 };
    bool exact = problem->setup.provisioning == HETERO_EXACT && !lists_exact(&s->point);
    int rc = exact ? hetero_exact(&o, problem, e) : hetero_oracle(&o, problem, e);
    s->oracle_proof = o.proof;
    s->oracle_usd = rc ? (double)NAN : o.proof == HETERO_OPTIMAL ? o.usd : o.lower_usd;
    hetero_oracle_free(&o);
    if (rc || s->oracle_proof != HETERO_NO_PLAN)
        return rc;
    s->oracle_usd = NAN;
    return s->aim.per_s > s->aim.most_per_s ? hetero_point_unreachable(&s->point, &s->aim, e) : 0;
}

static int begin_point(struct hetero_state *s, const struct hetero_runs *r, int64_t i, struct err *e)
{
    struct hetero_problem problem = { 0 };
    int rc = read_point(&s->point, &r->study->sweep, i, r->from, e);
    if (rc)
        return rc;
    hetero_point_close(&s->point);
    rc = hetero_build(&problem, &s->point.profile, &s->point.setup, e);
    if (!rc)
        rc = hetero_point_aim(&s->aim, &s->point, &problem, e);
    if (!rc)
        rc = find_oracle(s, &problem, e);
    hetero_free(&problem);
    return rc;
}

static int do_point(void *data, int64_t i, struct err *e)
{
    struct hetero_runs *r = data;
    struct hetero_state *s = &r->states[i];
    return pool_keep(&s->run, &s->rc, &s->message, begin_point(s, r, i, e), e);
}

/* ---- runs ---- */

/* Compute of a stage in k units, seconds per example; what is left of its time without overlap is
 * communication. */
static double compute_s(const struct hetero_profile *f, const struct hetero_span *at, int64_t k)
{
    double sum_s = 0, share = f->types[at->type].compute_par;
    for (int32_t l = at->first; l <= at->last; l++)
        sum_s += f->compute_s[(size_t)l * (size_t)f->n_types + (size_t)at->type];
    return sum_s / f->batch * (1 - share + share / (double)k);
}

static struct hetero_stage_run stage_run(const struct hetero_search *s, int32_t i)
{
    const struct hetero_problem *p = s->problem;
    const struct hetero_stage *x = &s->work.stages[i];
    const struct hetero_time servers = { .shared_s = { x->server_s, 0 } };
    int64_t k = s->work.units[i];
    struct hetero_stage_run out = { .first = x->span.first,
                                    .last = x->span.last,
                                    .type = x->span.type,
                                    .units = k,
                                    .compute_s = compute_s(p->profile, &x->span, k),
                                    .time_s = hetero_time_s(&x->time, k),
                                    .usd_per_h = (double)k * p->unit_usd_per_h[x->span.type] };
    out.comm_s = p->setup.overlap ? x->time.fixed_s[1] + x->time.shared_s[1] / (double)k
                                  : fmax(0, out.time_s - out.compute_s);
    if (x->server_s > 0) {
        out.servers = hetero_least_units(&servers, 1 / s->value.per_s);
        out.server_s = hetero_time_s(&servers, out.servers);
        out.time_s = fmax(out.time_s, out.server_s);
        out.usd_per_h += (double)out.servers * p->unit_usd_per_h[p->setup.server];
    }
    return out;
}

static int keep_stages(struct hetero_unit *u, const struct hetero_search *s, struct err *e)
{
    u->stages = calloc((size_t)s->work.n_stages, sizeof *u->stages);
    if (!u->stages)
        return err_nomem(e, "stages of a plan");
    for (int32_t i = 0; i < s->work.n_stages; i++)
        u->stages[i] = stage_run(s, i);
    return 0;
}

/* What a search leaves behind. */
static int keep(struct hetero_unit *u, struct hetero_search *s, const struct hetero_runs *r, struct err *e)
{
    const struct hetero_options *o = r->options;
    u->value = s->value;
    u->proof = s->proof;
    u->lower_usd = s->lower_usd;
    u->evaluations = s->evaluations;
    if (o->curves) {
        u->curve = s->curve;
        u->n_curve = s->n_curve;
        s->curve = NULL;
    }
    if (s->value.status != HETERO_OK)
        return 0;
    u->n_stages = s->work.n_stages;
    for (int32_t t = 0; t < s->problem->profile->n_types; t++)
        u->units += s->work.of_type[t];
    bool wanted = (o->plans || o->stages) && u->seed == r->study->seed;
    return wanted ? keep_stages(u, s, e) : 0;
}

static int run_unit(struct hetero_unit *u, const struct hetero_runs *r, struct err *e)
{
    const struct hetero_state *state = &r->states[u->point];
    const struct hetero_point *p = &state->point;
    struct hetero_problem problem;
    struct hetero_search s = { 0 };
    int rc = hetero_build(&problem, &p->profile, &p->setup, e);
    if (rc)
        return rc;
    hetero_set_throughput(&problem, state->aim.per_s);
    double start_s = clock_now_s();
    rc = hetero_schedule(&s, &problem, p->schedulers[u->scheduler], &p->settings, (uint64_t)u->seed, e);
    u->schedule_s = clock_now_s() - start_s;
    if (!rc)
        rc = keep(u, &s, r, e);
    hetero_search_free(&s);
    hetero_free(&problem);
    return rc;
}

static int do_unit(void *data, int64_t i, struct err *e)
{
    struct hetero_runs *r = data;
    struct hetero_unit *u = &r->units[i];
    return pool_keep(&u->run, &u->rc, &u->message, run_unit(u, r, e), e);
}

/* Every run of every point that has runs, in the order of rows: those that draw nothing once. */
static int list_units(struct hetero_runs *r, struct err *e)
{
    int64_t seeds = r->study->seeds, most = 0;
    for (int64_t i = 0; i < r->study->sweep.n_points; i++)
        most += r->states[i].rc ? 0 : r->states[i].point.n_schedulers * seeds;
    r->units = calloc((size_t)most + 1, sizeof *r->units);
    if (!r->units)
        return err_nomem(e, "runs of a study");
    for (int64_t i = 0; i < r->study->sweep.n_points; i++) {
        struct hetero_state *s = &r->states[i];
        s->first_unit = r->n_units;
        for (int32_t k = 0; s->run && !s->rc && k < s->point.n_schedulers; k++) {
            int64_t n = hetero_schedulers[s->point.schedulers[k]].seeded ? seeds : 1;
            for (int64_t j = 0; j < n; j++)
                r->units[r->n_units++] =
                    (struct hetero_unit){ .point = i, .scheduler = k, .seed = r->study->seed + j };
        }
        s->n_units = r->n_units - s->first_unit;
    }
    return 0;
}

/* A scheduler may know more than the oracle where a limit binds: the optimum, that there is none, or a
 * greater bound. */
static void take_proof(struct hetero_state *s, const struct hetero_unit *u)
{
    if (u->proof == HETERO_OPTIMAL && u->value.status == HETERO_OK) {
        s->oracle_proof = HETERO_OPTIMAL;
        s->oracle_usd = u->value.usd;
    } else if (u->proof == HETERO_NO_PLAN) {
        s->oracle_proof = HETERO_NO_PLAN;
        s->oracle_usd = NAN;
    } else if (u->lower_usd > s->oracle_usd) {
        s->oracle_usd = u->lower_usd;
    }
}

static void take_proofs(struct hetero_runs *r)
{
    for (int64_t i = 0; i < r->n_units; i++) {
        const struct hetero_unit *u = &r->units[i];
        struct hetero_state *s = &r->states[u->point];
        if (u->run && !u->rc && s->oracle_proof == HETERO_LOWER_BOUND)
            take_proof(s, u);
    }
}

static int run_all(struct hetero_runs *r, struct err *e)
{
    const struct hetero_options *o = r->options;
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
    rc = pool_run(&pool, r->n_units, 1, o->threads, e);
    take_proofs(r);
    return rc;
}

static const struct text *notes_of(const void *states, int64_t i)
{
    const struct hetero_point *p = &((const struct hetero_state *)states)[i].point;
    return p->profile.n_layers ? &p->notes : NULL;
}

static void free_runs(struct hetero_runs *r)
{
    for (int64_t i = 0; i < r->study->sweep.n_points; i++) {
        hetero_point_free(&r->states[i].point);
        free(r->states[i].message);
    }
    for (int64_t i = 0; i < r->n_units; i++) {
        free(r->units[i].message);
        free(r->units[i].stages);
        free(r->units[i].curve);
    }
    free(r->states);
    free(r->units);
}

int hetero_study_run(struct table *out, const struct hetero_study *s, const char *path,
                     const struct study_override *overrides, int32_t n, const struct hetero_options *options,
                     struct err *e)
{
    struct hetero_runs r = { .study = s,
                             .from = { .path = path, .overrides = overrides, .n = n },
                             .options = options };
    r.states = calloc((size_t)s->sweep.n_points, sizeof *r.states);
    if (!r.states)
        return err_nomem(e, "points of a study");
    int rc = run_all(&r, e);
    if (!rc)
        rc = hetero_make_tables(out, &r, e);
    if (!rc && options->notes) {
        notes_gather(options->notes, r.states, s->sweep.n_points, notes_of);
        rc = text_check(options->notes, e);
    }
    free_runs(&r);
    return rc;
}
