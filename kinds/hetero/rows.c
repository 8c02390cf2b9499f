/*
 * The tables of a study of layers on types of resources: a row for each point and scheduler, made of the
 * results of its runs; and beside them runs, plans by layer and by stage, and how searches went, as runs put
 * them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "kinds/hetero/hetero.h"

/* ---- columns ---- */

const struct column hetero_shared_columns[] = {
    STUDY_SHARED_COLUMNS(struct hetero_shared, head),
    COLUMN_WORD(struct hetero_shared, model, NULL),
    COLUMN_COUNT(struct hetero_shared, types, NULL),
    COLUMN_COUNT(struct hetero_shared, layers, NULL),
    COLUMN_COUNT(struct hetero_shared, listed, NULL),
    COLUMN_COUNT(struct hetero_shared, oracle_proof, NULL),
    COLUMN_REAL(struct hetero_shared, need_per_s, NULL),
    COLUMN_REAL(struct hetero_shared, most_per_s, NULL),
    COLUMN_REAL(struct hetero_shared, oracle_usd, NULL),
    COLUMNS_END,
};

const struct column hetero_result_columns[] = {
    STUDY_RESULT_COLUMNS(struct hetero_result, head),
    COLUMN_COUNT(struct hetero_result, scheduler, NULL),
    COLUMN_COUNT(struct hetero_result, status, NULL),
    COLUMN_COUNT(struct hetero_result, proof, NULL),
    COLUMN_COUNT(struct hetero_result, evaluations, NULL),
    COLUMN_COUNT(struct hetero_result, stages, NULL),
    COLUMN_COUNT(struct hetero_result, units, NULL),
    COLUMN_REAL(struct hetero_result, usd, NULL),
    COLUMN_REAL(struct hetero_result, per_s, NULL),
    COLUMN_REAL(struct hetero_result, usd_per_h, NULL),
    COLUMN_REAL(struct hetero_result, network_usd_per_h, NULL),
    COLUMN_REAL(struct hetero_result, reach_per_s, NULL),
    COLUMN_REAL(struct hetero_result, lower_usd, NULL),
    COLUMN_REAL(struct hetero_result, schedule_s, NULL),
    COLUMNS_END,
};

struct hetero_row {
    const char *model, *scheduler, *proof, *oracle_proof, *status, *message;
    int64_t types, layers, seeds, feasible, stages, units, plans_tried;
    double usd, usd_worst, over_oracle, over_oracle_worst, over_best, over_rl, oracle_usd;
    double need_per_s, most_per_s, examples_per_s, reach_per_s, usd_per_h, network_usd_per_h, schedule_s;
};

/* An axis of such a name has the same values. */
#define WORD(key, ...)  COLUMN_WORD(struct hetero_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS)
#define COUNT(key, ...) COLUMN_COUNT(struct hetero_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS)
#define REAL(key, ...)  COLUMN_REAL(struct hetero_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS)
#define MORE(key, ...)  COLUMN_REAL(struct hetero_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS | COLUMN_SEEDS)

static const struct column row_columns[] = {
    WORD(model, "model that is trained", .in = IN_DATA),
    COUNT(types, "number of types of resources", .in = IN_DATA),
    COUNT(layers, "number of layers of the model", .in = IN_DATA),
    WORD(scheduler, "scheduler that made the plan"),
    COUNT(seeds, "number of runs; 1 for a scheduler that draws nothing at random", .in = IN_DATA),
    REAL(usd, "cost of the training: the median over seeds; a seed without a plan has infinite cost",
         .better = -1, .title = "cost", .unit = "USD"),
    MORE(usd_worst, "cost of the most expensive seed; blank if a seed has no plan", .title = "worst",
         .unit = "USD", .better = -1),
    REAL(over_oracle, "usd over oracle_usd", .better = -1, .title = "over bound", .digits = 4),
    MORE(over_oracle_worst, "usd_worst over oracle_usd", .title = "worst", .digits = 4, .better = -1),
    REAL(over_best, "usd over that of the cheapest scheduler at this point", .better = -1,
         .title = "over best", .digits = 4),
    REAL(over_rl, "usd over that of rl-lstm", .better = -1, .title = "over rl-lstm", .digits = 4),
    COLUMN_COUNT(struct hetero_row, feasible,
                 "seeds with a plan that reaches the throughput within the limits", .better = 1,
                 .flags = COLUMN_YIELDS | COLUMN_SEEDS, .title = "with a plan", .as = "seeds"),
    REAL(need_per_s, "required throughput, examples/s", .in = IN_DATA),
    REAL(examples_per_s,
         "throughput of the plan; this, usd_per_h, stages, units, plans_tried and proof are "
         "of the seed in the middle",
         .better = 1, .title = "throughput"),
    REAL(reach_per_s, "where no seed has a plan: the most that one tried reaches within the limits",
         .better = 1, .in = IN_DATA),
    REAL(usd_per_h, "price of all units of the plan", .better = -1, .title = "price", .unit = "USD/h"),
    REAL(network_usd_per_h,
         "part of usd_per_h that the network takes, with parts: ports, switches and cables", .better = -1,
         .title = "network", .unit = "USD/h"),
    COUNT(stages, "stages of the pipeline"),
    COUNT(units, "units paid for: of stages, hosts and parameter servers", .better = -1),
    COUNT(plans_tried, "plans that were evaluated", .better = -1, .title = "plans tried"),
    WORD(proof,
         "what the scheduler says of its plan: optimal; not proved: limits of units that stages share bind, "
         "another provisioning than exact, or it gave up; no plan: there is none",
         .title = "it says"),
    REAL(oracle_usd, "cost of the cheapest plan, or a bound that no plan is below", .better = -1,
         .in = IN_DATA),
    WORD(oracle_proof, "what oracle_usd is: optimal, or a lower bound; no plan: proved that none exists",
         .in = IN_DATA),
    REAL(most_per_s, "throughput that no plan exceeds", .in = IN_DATA),
    COLUMN_REAL(struct hetero_row, schedule_s, "with --timing: wall clock, median over seeds",
                .flags = COLUMN_TIMING, .title = "took", .digits = 3, .better = -1),
    WORD(status, "done; partly: some seeds have no plan; infeasible: none has; error", .usual = "done"),
    WORD(message, "why the status is not done"),
    COLUMNS_END,
};

/* A row of any table but that of the study's rows; the columns of a table are the fields that it uses. */
struct hetero_run_row {
    const char *model, *scheduler, *proof, *status, *message;
    const char *name, *kind, *type;             /* of a layer */
    const char *first_name, *last_name, *limit; /* of a stage */
    int64_t seed, stages, units, plans_tried;   /* units: of the plan, or of a stage */
    int64_t layer, stage, first, last, servers, evaluations;
    double usd, over_oracle, examples_per_s, reach_per_s, usd_per_h, schedule_s;
    double unit_usd_per_h, compute_us, comm_us, weight_GB, memory_GB;
};

/* Besides the rows an axis that has the name of a result (evaluations, servers) is called vary.NAME: who
 * reads the table looks for the result. */
#define LESS_WORD(key, ...)  COLUMN_WORD(struct hetero_run_row, key, __VA_ARGS__, .flags = COLUMN_RENAMES)
#define LESS_COUNT(key, ...) COLUMN_COUNT(struct hetero_run_row, key, __VA_ARGS__, .flags = COLUMN_RENAMES)
#define LESS_REAL(key, ...)  COLUMN_REAL(struct hetero_run_row, key, __VA_ARGS__, .flags = COLUMN_RENAMES)
#define OF_RUN                                                                                               \
    COLUMN_WORD(struct hetero_run_row, model, "model that is trained", .flags = COLUMN_YIELDS),              \
        COLUMN_WORD(struct hetero_run_row, scheduler, "scheduler that made the plan"),                       \
        COLUMN_COUNT(struct hetero_run_row, seed,                                                            \
                     "seed of the run; blank for a scheduler that draws nothing at random")

static const struct column run_columns[] = {
    OF_RUN,
    LESS_REAL(usd, "cost of the training; blank without a plan", .unit = "USD", .better = -1),
    LESS_REAL(over_oracle, "usd over that of the cheapest plan, or a bound that no plan is below",
              .better = -1),
    LESS_REAL(examples_per_s, "throughput of the plan", .better = 1),
    LESS_REAL(reach_per_s, "without a plan: the most that one tried reaches within the limits", .better = 1),
    LESS_REAL(usd_per_h, "price of all units of the plan", .unit = "USD/h", .better = -1),
    LESS_COUNT(stages, "stages of the pipeline"),
    LESS_COUNT(units, "units paid for: of stages, hosts and parameter servers", .better = -1),
    LESS_COUNT(plans_tried, "plans that were evaluated", .better = -1),
    LESS_WORD(proof, "what the scheduler says about its plan"),
    COLUMN_REAL(struct hetero_run_row, schedule_s, "with --timing: wall clock", .flags = COLUMN_TIMING,
                .better = -1),
    LESS_WORD(status, "done; error; or why there is no plan"),
    LESS_WORD(message, "what is wrong"),
    COLUMNS_END,
};

static const struct column plan_columns[] = {
    OF_RUN,
    LESS_COUNT(layer, "number of the layer, from 1"),
    LESS_WORD(name, "name of the layer"),
    LESS_WORD(kind, "kind of the layer"),
    LESS_WORD(type, "type of the units that compute it"),
    LESS_COUNT(stage, "stage that it belongs to, from 1"),
    LESS_COUNT(units, "units of that stage", .better = -1),
    LESS_REAL(unit_usd_per_h, "price of one unit, with its host and, with parts, its port", .unit = "USD/h",
              .better = -1),
    COLUMNS_END,
};

static const struct column stage_columns[] = {
    OF_RUN,
    LESS_REAL(usd, "cost of the whole plan", .unit = "USD", .better = -1),
    LESS_COUNT(stage, "number of the stage, from 1"),
    LESS_COUNT(first, "number of its first layer"),
    LESS_COUNT(last, "number of its last layer"),
    LESS_WORD(first_name, "name of its first layer"),
    LESS_WORD(last_name, "name of its last layer"),
    LESS_WORD(type, "type of its units"),
    LESS_COUNT(units, "units that share its work", .better = -1),
    LESS_COUNT(servers, "parameter servers that serve this stage"),
    LESS_REAL(compute_us, "compute time per example", .better = -1),
    LESS_REAL(comm_us, "communication time per example", .better = -1),
    LESS_WORD(limit, "bottleneck of the stage: compute, communication or servers"),
    LESS_REAL(examples_per_s, "throughput of the stage", .better = 1),
    LESS_REAL(usd_per_h, "price of its units and servers", .unit = "USD/h", .better = -1),
    LESS_REAL(weight_GB, "size of the parameters of its layers", .better = -1),
    LESS_REAL(memory_GB, "memory of its units together; blank where unknown", .better = -1),
    COLUMNS_END,
};

static const struct column curve_columns[] = {
    OF_RUN,
    LESS_COUNT(evaluations, "plans tried so far", .better = -1),
    LESS_REAL(usd, "cost of the cheapest plan so far", .unit = "USD", .better = -1),
    LESS_REAL(over_oracle, "usd over the cost of the cheapest plan of all, or over its lower bound",
              .better = -1),
    COLUMNS_END,
};

/* ---- what tables share ---- */

/* What a scheduler says of its plan: of one that only a bound belongs to, that nothing is proved of it. */
static const char *proof_word(enum hetero_proof proof)
{
    static const char *const words[] = { [HETERO_UNPROVED] = NULL,
                                         [HETERO_OPTIMAL] = "optimal",
                                         [HETERO_LOWER_BOUND] = "not proved",
                                         [HETERO_NO_PLAN] = "no plan" };
    return words[proof];
}

/* What oracle_usd is. */
static const char *oracle_word(enum hetero_proof proof)
{
    return proof == HETERO_LOWER_BOUND ? "lower bound" : proof_word(proof);
}

/* Costs of one plan that are summed in another order differ in their last bits. */
#define SAME_COST 1e-9

/* @p usd over @p base_usd, which may not be below it where @p proved; NaN over a cost without a plan. */
static double ratio(double usd, double base_usd, bool proved)
{
    double over = isinf(base_usd) ? (double)NAN : usd / base_usd;
    return proved && fabs(over - 1) <= SAME_COST ? 1 : over;
}

/* @p usd over that of the oracle or its bound; NaN without one. */
static double over_oracle(const struct hetero_shared *s, double usd)
{
    return s->oracle_usd > 0 ? ratio(usd, s->oracle_usd, s->oracle_proof == HETERO_OPTIMAL) : (double)NAN;
}

static bool has_plan(const struct hetero_result *x)
{
    return !x->head.rc && x->status == HETERO_OK;
}

static double cost_of(const struct hetero_result *x)
{
    return has_plan(x) ? x->usd : (double)INFINITY;
}

/* ---- runs, as they end ---- */

static struct hetero_run_row row_of_run(const struct study_run *r)
{
    const struct hetero_point *p = r->point;
    const struct hetero_scheduler *x = &hetero_schedulers[p->schedulers[r->entry]];
    return (struct hetero_run_row){ .model = p->profile.name,
                                    .scheduler = x->name,
                                    .seed = x->seeded ? r->seed : -1,
                                    .over_oracle = NAN /* see derive_ratio() */ };
}

/* A row of table runs; ratios to the oracle are filled in when it is known. */
void hetero_study_put_run(struct sink *sink, const struct study_run *r, const struct hetero_result *x)
{
    const struct hetero_point *p = r->point;
    bool failed = x->head.rc != 0;
    struct hetero_run_row row = row_of_run(r);
    /* Nobody asked for a scheduler that cannot run here. */
    if (x->head.rc == -ERR_RANGE && !p->listed)
        return;
    row.usd = has_plan(x) ? x->usd : (double)NAN;
    row.examples_per_s = has_plan(x) ? x->per_s : (double)NAN;
    row.reach_per_s = has_plan(x) || failed ? (double)NAN : x->reach_per_s;
    row.usd_per_h = has_plan(x) ? x->usd_per_h : (double)NAN;
    row.stages = has_plan(x) ? x->stages : -1;
    row.units = has_plan(x) ? x->units : -1;
    row.plans_tried = failed ? -1 : x->evaluations;
    row.proof = failed ? NULL : proof_word((enum hetero_proof)x->proof);
    row.schedule_s = x->schedule_s;
    row.status = failed ? "error" : has_plan(x) ? "done" : hetero_status_words[x->status];
    row.message = x->head.message;
    sink_put(sink, TABLE_RUNS, &row);
}

/* Layers `first` to `last`, from 0, on units of one type; seconds are of one example. */
struct stage_run {
    int32_t first, last, type;
    int64_t units, servers;
    double compute_s, comm_s, server_s; /* server_s: of its parameter servers, 0 without */
    double time_s, usd_per_h;           /* time_s: what the stage lets through, servers included */
};

/* Compute of a stage in k units, seconds per example; what is left of its time without overlap is
 * communication. */
static double compute_s(const struct hetero_profile *f, const struct hetero_span *at, int64_t k)
{
    double sum_s = 0, share = f->types[at->type].compute_par;
    for (int32_t l = at->first; l <= at->last; l++)
        sum_s += f->compute_s[(size_t)l * (size_t)f->n_types + (size_t)at->type];
    return sum_s / f->batch * (1 - share + share / (double)k);
}

/* A stage as the extra tables show it, with the parameter servers it needs. */
static struct stage_run stage_run(const struct hetero_search *s, int32_t i)
{
    const struct hetero_problem *p = s->problem;
    const struct hetero_stage *x = &s->work.stages[i];
    const struct hetero_time servers = { .shared_s = { x->server_s, 0 } };
    int64_t k = s->work.units[i];
    struct stage_run out = { .first = x->span.first,
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

double hetero_study_network_usd_per_h(const struct hetero_search *s)
{
    const struct hetero_profile *f = s->problem->profile;
    int32_t server = s->problem->setup.server;
    double sum = 0;
    for (int32_t i = 0; i < s->work.n_stages; i++) {
        const struct stage_run x = stage_run(s, i);
        sum += (double)x.units * f->types[x.type].port_usd_per_h;
        sum += server >= 0 ? (double)x.servers * f->types[server].port_usd_per_h : 0;
    }
    return sum;
}

/* Table plans: a row per layer. */
static void put_layers(struct sink *sink, const struct study_run *r, const struct stage_run *x, int32_t stage)
{
    const struct hetero_profile *f = &((const struct hetero_point *)r->point)->profile;
    struct hetero_run_row row = row_of_run(r);
    row.type = f->types[x->type].name;
    row.stage = stage + 1;
    row.units = x->units;
    row.unit_usd_per_h = hetero_unit_usd_per_h(f, x->type);
    for (int32_t l = x->first; l <= x->last; l++) {
        row.layer = l + 1;
        row.name = f->layers[l].name;
        row.kind = hetero_kind_words[f->layers[l].kind];
        sink_put(sink, HETERO_PLANS, &row);
    }
}

/* Parameters of the layers of a stage [B]. */
static double weight_B(const struct hetero_profile *f, const struct stage_run *x)
{
    double sum_B = 0;
    for (int32_t l = x->first; l <= x->last; l++)
        sum_B += f->layers[l].weight_B;
    return sum_B;
}

/* What takes longest of what a stage does. */
static const char *limit_of(const struct stage_run *x)
{
    if (x->server_s > x->compute_s && x->server_s > x->comm_s)
        return "servers";
    return x->compute_s >= x->comm_s ? "compute" : "communication";
}

/* Table stages: a row per stage. */
static void put_stage_row(struct sink *sink, const struct study_run *r, const struct stage_run *x,
                          int32_t stage, double usd)
{
    const struct hetero_profile *f = &((const struct hetero_point *)r->point)->profile;
    const double mem_B = f->types[x->type].mem_B;
    struct hetero_run_row row = row_of_run(r);
    row.usd = usd;
    row.stage = stage + 1;
    row.first = x->first + 1;
    row.last = x->last + 1;
    row.first_name = f->layers[x->first].name;
    row.last_name = f->layers[x->last].name;
    row.type = f->types[x->type].name;
    row.units = x->units;
    row.servers = x->servers;
    row.compute_us = x->compute_s * 1e6;
    row.comm_us = x->comm_s * 1e6;
    row.limit = limit_of(x);
    row.examples_per_s = 1 / x->time_s;
    row.usd_per_h = x->usd_per_h;
    row.weight_GB = weight_B(f, x) / 1e9;
    row.memory_GB = mem_B > 0 ? (double)x->units * mem_B / 1e9 : (double)NAN;
    sink_put(sink, HETERO_STAGES, &row);
}

static void hetero_put_curve_point(struct sink *sink, const struct study_run *r, int64_t evaluations,
                                   double usd)
{
    struct hetero_run_row row = row_of_run(r);
    row.evaluations = evaluations;
    row.usd = usd;
    sink_put(sink, HETERO_CURVES, &row);
}

/* Each improvement, and where the run ended. */
static void put_curve_rows(struct sink *sink, const struct study_run *r, const struct hetero_search *s)
{
    for (int32_t i = 0; i < s->n_curve; i++)
        hetero_put_curve_point(sink, r, s->curve[i].evaluations, s->curve[i].usd);
    if (!s->n_curve || s->curve[s->n_curve - 1].evaluations < s->evaluations)
        hetero_put_curve_point(sink, r, s->evaluations, s->value.usd);
}

void hetero_study_put_details(struct sink *sink, const struct study_run *r, const struct hetero_search *s)
{
    if (r->wanted & 1U << HETERO_CURVES)
        put_curve_rows(sink, r, s);
    if (!(r->wanted & (1U << HETERO_PLANS | 1U << HETERO_STAGES)) || s->value.status != HETERO_OK)
        return;
    for (int32_t i = 0; i < s->work.n_stages; i++) {
        const struct stage_run x = stage_run(s, i);
        if (r->wanted & 1U << HETERO_PLANS)
            put_layers(sink, r, &x, i);
        if (r->wanted & 1U << HETERO_STAGES)
            put_stage_row(sink, r, &x, i, s->value.usd);
    }
}

static void derive_ratio(void *row, const void *shared)
{
    struct hetero_run_row *x = row;
    x->over_oracle = over_oracle(shared, x->usd);
}

const struct table_def hetero_tables[N_HETERO_TABLES] = {
    { .word = "rows", .columns = row_columns },
    { .word = "runs", .columns = run_columns, .derive = derive_ratio },
    { .word = "plans", .columns = plan_columns, .first_seed = true },
    /* The text of one point shows its cheapest plan. */
    { .word = "stages", .columns = stage_columns, .first_seed = true, .always = true },
    { .word = "curves", .columns = curve_columns, .derive = derive_ratio },
};

/* ---- rows ---- */

/* A run of a scheduler, to be put in order. */
struct hetero_ranked {
    const struct hetero_result *x;
    int64_t k;
};

/* Cheapest first; of those without a plan the one that reaches most. Equals as they were: by seed. */
static int compare_runs(const void *a, const void *b)
{
    const struct hetero_ranked *x = a, *y = b;
    double dx = cost_of(x->x), dy = cost_of(y->x), rx = x->x->reach_per_s, ry = y->x->reach_per_s;
    if (dx < dy || dx > dy)
        return dx < dy ? -1 : 1;
    if (isinf(dx) && (rx > ry || rx < ry))
        return rx > ry ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

/* The runs of one scheduler at one point. */
struct hetero_group {
    const struct hetero_result *first, *best, *middle, *last; /* by cost; middle: the cheaper of two */
    int64_t n, feasible;
    double usd, worst_usd, schedule_s; /* medians but for the worst; INFINITY without a plan */
};

/* Runs of one scheduler sorted by cost: the median is the mean of the two in the middle, a run without a plan
 * counts as infinite. */
static int group_sum_up(struct hetero_group *g, const struct results *r, int32_t entry, struct err *e)
{
    int64_t seeds = results_seeds(r);
    struct hetero_ranked *sorted = malloc((size_t)seeds * sizeof *sorted);
    double *took_s = malloc((size_t)seeds * sizeof *took_s);
    *g = (struct hetero_group){ .first = results_at(r, entry, 0) };
    for (int64_t k = 0; sorted && took_s && k < seeds; k++) {
        const struct hetero_result *x = results_at(r, entry, k);
        if (!x)
            continue;
        took_s[g->n] = x->schedule_s;
        sorted[g->n++] = (struct hetero_ranked){ x, k };
        g->feasible += has_plan(x);
    }
    int rc = sorted && took_s ? 0 : err_nomem(e, "rows of a study");
    if (!rc) {
        qsort(sorted, (size_t)g->n, sizeof *sorted, compare_runs);
        stat_sort(took_s, g->n);
        g->best = sorted[0].x;
        g->middle = sorted[(g->n - 1) / 2].x;
        g->last = sorted[g->n - 1].x;
        g->usd = (cost_of(g->middle) + cost_of(sorted[g->n / 2].x)) / 2;
        g->worst_usd = cost_of(g->last);
        g->schedule_s = stat_quantile(took_s, g->n, 0.5);
    }
    free(sorted);
    free(took_s);
    return rc;
}

static struct hetero_row row_of(const struct hetero_shared *s)
{
    struct hetero_row row;
    row_clear(&row, row_columns);
    row.model = s->model;
    row.types = s->types;
    row.layers = s->layers;
    row.need_per_s = s->need_per_s;
    row.most_per_s = s->most_per_s;
    return row;
}

/* Of the run in the middle. */
static void fill_middle(struct hetero_row *row, const struct hetero_result *x)
{
    row->plans_tried = x->head.rc ? -1 : x->evaluations;
    row->proof = x->head.rc ? NULL : proof_word((enum hetero_proof)x->proof);
    if (!has_plan(x))
        return;
    row->examples_per_s = x->per_s;
    row->usd_per_h = x->usd_per_h;
    row->network_usd_per_h = x->network_usd_per_h;
    row->stages = x->stages;
    row->units = x->units;
}

/* @p text: room for the message. */
static void fill_status(struct hetero_row *row, const struct hetero_group *g, struct text *text)
{
    row->status = g->feasible == g->n ? "done" : g->feasible ? "partly" : "infeasible";
    if (g->last->head.rc) {
        row->status = "error";
        text_puts(text, g->last->head.message);
    } else if (g->feasible == 0) {
        text_printf(text, "%s: reaches at most %.6g examples/s", hetero_status_words[g->best->status],
                    g->best->reach_per_s);
    } else if (g->feasible < g->n) {
        text_printf(text, "%lld of %lld seeds have no plan", (long long)(g->n - g->feasible),
                    (long long)g->n);
    }
    row->message = text->n ? text_str(text) : NULL;
}

/* One row of the study: a scheduler at a point. @p best_usd, @p rl_usd: the cheapest median of the point, and
 * that of rl-lstm. */
static int put_scheduler(struct study_rows *rows, const struct hetero_shared *s, const struct hetero_group *g,
                         double best_usd, double rl_usd, struct err *e)
{
    struct hetero_row row = row_of(s);
    struct text text = { 0 };
    bool proved = s->oracle_proof == HETERO_OPTIMAL;
    row.seeds = g->n;
    row.feasible = g->feasible;
    row.scheduler = hetero_schedulers[g->first->scheduler].name;
    row.usd = g->usd;
    row.usd_worst = g->worst_usd;
    row.over_oracle = over_oracle(s, row.usd);
    row.over_oracle_worst = over_oracle(s, row.usd_worst);
    row.over_best = ratio(row.usd, best_usd, proved);
    row.over_rl = ratio(row.usd, rl_usd, proved);
    row.oracle_usd = s->oracle_usd;
    row.oracle_proof = oracle_word((enum hetero_proof)s->oracle_proof);
    row.schedule_s = g->schedule_s;
    if (g->feasible == 0 && !g->best->head.rc)
        row.reach_per_s = g->best->reach_per_s;
    fill_middle(&row, g->middle);
    fill_status(&row, g, &text);
    study_rows_put(rows, &row);
    int rc = text_check(&text, e);
    text_free(&text);
    return rc;
}

/* A scheduler may know more than the oracle where a limit binds: the optimum, that there is none, or a
 * greater bound. */
static void take_proof(struct hetero_shared *s, const struct hetero_result *x)
{
    if (x->head.rc || s->oracle_proof != HETERO_LOWER_BOUND)
        return;
    if (x->proof == HETERO_OPTIMAL && x->status == HETERO_OK) {
        s->oracle_proof = HETERO_OPTIMAL;
        s->oracle_usd = x->usd;
    } else if (x->proof == HETERO_NO_PLAN) {
        s->oracle_proof = HETERO_NO_PLAN;
        s->oracle_usd = NAN;
    } else if (x->lower_usd > s->oracle_usd) {
        s->oracle_usd = x->lower_usd;
    }
}

/* What the oracle, the last entry, says of the point, and what schedulers know better. */
static void find_proof(struct hetero_shared *s, const struct results *r, int32_t n)
{
    const struct hetero_result *o = results_at(r, n, 0);
    s->oracle_proof = o->proof;
    s->oracle_usd = o->proof == HETERO_OPTIMAL   ? o->usd
                    : o->proof == HETERO_NO_PLAN ? (double)NAN
                                                 : o->lower_usd;
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = 0; k < results_seeds(r); k++)
            if (results_at(r, i, k))
                take_proof(s, results_at(r, i, k));
}

static void hetero_put_failed(struct study_rows *rows, const struct hetero_shared *s,
                              const struct study_result *why)
{
    struct hetero_row row = row_of(s);
    row.status = why->rc == -ERR_NO_DESIGN ? "infeasible" : "error";
    row.message = why->message;
    study_rows_put(rows, &row);
}

/* Rows of a point from its stored results alone, so that a resumed or merged study gives the same bytes. */
int hetero_study_reduce(struct study_rows *rows, void *shared, const struct results *r, struct err *e)
{
    struct hetero_shared *s = shared;
    struct hetero_group groups[HETERO_MAX_SCHEDULERS];
    double best_usd = INFINITY, rl_usd = NAN;
    int32_t n = results_entries(r) - 1;
    int rc = 0;
    if (s->head.rc) {
        hetero_put_failed(rows, s, &(struct study_result){ s->head.rc, s->head.message });
        return 0;
    }
    const struct hetero_result *oracle = results_at(r, n, 0);
    if (oracle->head.rc) {
        hetero_put_failed(rows, s, &oracle->head);
        return 0;
    }
    find_proof(s, r, n);
    for (int32_t i = 0; i < n && !rc; i++)
        rc = group_sum_up(&groups[i], r, i, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < n; i++) {
        best_usd = fmin(best_usd, groups[i].usd);
        if (strcmp(hetero_schedulers[groups[i].first->scheduler].name, "rl-lstm") == 0)
            rl_usd = groups[i].usd;
    }
    for (int32_t i = 0; i < n && !rc; i++)
        if (groups[i].first->head.rc != -ERR_RANGE || s->listed)
            rc = put_scheduler(rows, s, &groups[i], best_usd, rl_usd, e);
    return rc;
}
