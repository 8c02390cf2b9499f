/*
 * Jobs of model events that are models: `jobs.mix`, what is trained on how many GPUs and for how long, and
 * how the jobs of a run are drawn from it. A plan that is searched is the best one on the place that a job
 * gets of an empty cluster, in its first servers; it keeps that plan wherever it runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/design/explore/search.h"
#include "kinds/place/place.h"
#include "sim/cluster/footprint.h"

#define T struct place_mix
static const struct key mix_keys[] = {
    K_TEXT(T, name, "name", "what reports, and column model of a trace, call it (default: the model's name)"),
    K_TEXT(T, tenant, "tenant",
           "tenant that owns these jobs: for drf, fairness and table tenants (default: nobody's)"),
    K_NODE(T, model_node, "model", "a model file or a map, with parallel", .form = "file or <model>"),
    K_NODE(T, parallel, "parallel", "how the model is spread over the GPUs", .form = "<parallel>"),
    K_ELSEWHERE("search", "plans to try instead, on the place that an empty cluster gives",
                .form = "<search>"),
    K_ELSEWHERE("traffic", "factor of all bytes that a model sends", .form = "number"),
    K_NODE(T, workload, "workload", "a workload file or a map, instead of model",
           .form = "file or <workload>"),
    K_COUNT_OR(T, gpus, "gpus", 1, JOB_MAX_GPUS, 0, "GPUs of each of these jobs", .required = true),
    K_REAL_OR(T, steps, "steps", "", 1, 1e-9, 1e15, NAN, "steps of a job"),
    K_REAL_OR(T, tokens, "tokens", "", 1, 1e-9, 1e18, NAN, "tokens of a job, instead of steps"),
    K_COUNT(T, period, "period", 1, 1000000, 1,
            "steps between two exchanges of replicas (DiLoCo, local SGD); bytes are counted, not what steps "
            "learn"),
    K_COUNT(
        T, fragments, "fragments", 1, 1000000, 1,
        "parts that are exchanged apart, beside the steps (streaming DiLoCo); 1: all at once, after a step"),
    K_REAL(T, keep, "keep", "", 1, 1e-6, 1, 1, "share of the bytes of an exchange that are sent"),
    K_REAL(T, share, "share", "", 1, 0, 1e12, 1, "share of the jobs, relative to the shares of the others"),
    K_REAL_OR(T, jobs_per_s, "jobs_per_h", "1/h", 1.0 / 3600, 1e-6, 1e9, NAN,
              "jobs of this kind that arrive per hour, in place of share and jobs_per_h of all"),
};
K_SECTION(place_mix_section, T, "mix[]", mix_keys, "jobs that train a model");
#undef T

/* Draws of the place in the mix, apart from those of arrivals and profiles. */
enum { MIX_STREAM = 0x6d6978 };

/* Entry @p i of the list, for messages. */
static yaml_id mix_node(const struct place_study *s, int32_t i)
{
    return place_entry(s, yaml_get(&s->doc, s->file.jobs, "mix"), i);
}

/* ---- the plan and the step of one entry ---- */

/* One workload on the network of a place, as a question about designs asks it; borrows all. */
static void ask_alone(struct design_point *q, struct design_workload *w, const struct place_study *s,
                      struct training *training, const struct topo_network *net)
{
    *w = (struct design_workload){ .weight = 1, .training = training, .tree = { .root = -1 } };
    *q = (struct design_point){ .doc = s->doc,
                                .own_source = s->own_source,
                                .name = "",
                                .net = *net,
                                .workloads = w,
                                .n_workloads = 1,
                                .split = DESIGN_GIVEN,
                                .model = SIM_BANDWIDTH,
                                .total_Bps = NAN,
                                .time_limit_s = NAN,
                                .budget = { .node = -1 } };
    sim_rules_default(&q->rules);
}

static int mix_search(struct place_mix *x, const struct place_study *s, const struct topo_network *net,
                      struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct design_point q;
    struct design_workload w;
    struct design_choice c;
    ask_alone(&q, &w, s, x->job.training, net);
    int rc = choice_begin(&c, &q, e);
    if (!rc)
        rc = search_plans(&c, topo_get_bandwidths(bw_Bps, &q.net), NULL, e);
    if (!rc) {
        x->job.training->plan = c.point->workloads[0].training->plan;
        x->job.training->search = -1;
        x->searched = true;
        rc = training_derive(x->job.training, net, e);
    }
    choice_free(&c);
    sim_rules_free(&q.rules);
    return rc;
}

/* A plan that is searched before bandwidths are chosen is that of the most that they may be. */
static int mix_open_bandwidths(struct topo_network *net, const struct place_study *s, yaml_id map,
                               struct err *e)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        struct topo_dim *dim = &net->dims[d];
        bool search = yaml_get(&s->doc, map, "search") >= 0;
        if (isnan(dim->bw_Bps) && dim->level > 0) /* what its taper leaves */
            dim->bw_Bps = dim[-1].bw_Bps * (dim->tie > 0 ? dim->tie : 1);
        else if (isnan(dim->bw_Bps) && search && isinf(dim->max_Bps))
            return yaml_fail(&s->doc, map, e, ERR_RANGE,
                             "searches a plan, but dimension %s has no bandwidth; give its max_GBps",
                             dim->name);
        else if (isnan(dim->bw_Bps))
            dim->bw_Bps = isfinite(dim->max_Bps) ? dim->max_Bps : 1;
    }
    return 0;
}

/* On the place's own network, or the first simpler one along which the plan lies. */
static int mix_read_training(struct place_mix *x, const struct place_study *s,
                             const struct topo_network *cluster, yaml_id map, int32_t *size, struct err *e)
{
    struct topo_network net, open = *cluster;
    struct err first = { 0 };
    int rc = mix_open_bandwidths(&open, s, map, e);
    if (rc)
        return rc;
    do {
        struct err inner = { 0 };
        footprint_network(&net, &open, size);
        rc = (x->workload >= 0 ? step_read_training : training_read)(x->job.training, &s->doc, map, &net,
                                                                     &inner);
        if (rc && !first.code)
            first = inner;
    } while (rc == ERR_RANGE && footprint_simplify(size, net.n_dims, s->servers.level));
    if (rc)
        return err_set(e, first.code, "%s", first.msg);
    return x->job.training->search >= 0 ? mix_search(x, s, &net, e) : 0;
}

/* Replicas that go on alone must hold all that a step changes, and there must be several. */
static int mix_take_method(struct place_mix *x, const struct place_study *s, yaml_id at, struct err *e)
{
    struct training *t = x->job.training;
    static const char *const keys[] = { "period", "fragments", "keep", NULL };
    yaml_id key = yaml_get_any(&s->doc, at, keys);
    if (key < 0)
        return 0;
    if (!t)
        return yaml_fail_key(&s->doc, key, e, ERR_PARSE, "has no effect on a workload, only with model");
    if (t->plan.degree[PLAN_DP] < 2)
        return yaml_fail_key(&s->doc, key, e, ERR_RANGE,
                             "is of replicas that exchange gradients, expected dp of 2 or more");
    if (t->plan.zero > 0)
        return yaml_fail_key(&s->doc, key, e, ERR_RANGE,
                             "is of replicas that hold the whole optimizer, expected zero 0, not %d",
                             (int)t->plan.zero);
    if (x->fragments > x->period)
        return yaml_fail(&s->doc, yaml_get(&s->doc, at, "fragments"), e, ERR_RANGE,
                         "is %lld, expected at most the period, %lld", (long long)x->fragments,
                         (long long)x->period);
    t->plan.overlap_dp = x->fragments > 1 || (x->period == 1 && t->plan.overlap_dp);
    x->job.exchange = x->keep / (double)x->period;
    return 0;
}

static int mix_check_memory(const struct place_mix *x, const struct place_study *s,
                            const struct topo_network *net, yaml_id at, struct err *e)
{
    double missing_B = training_missing_B(x->job.training, net);
    if (!(missing_B > 0))
        return 0;
    return yaml_fail(&s->doc, at, e, ERR_RANGE,
                     "needs %.1f GB of memory in an NPU, which has %.1f; give more GPUs or another plan",
                     x->job.training->memory.total_B / 1e9, net->npu.mem_B / 1e9);
}

static int mix_check_length(struct place_mix *x, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    if (isnan(x->steps) == isnan(x->tokens))
        return yaml_fail(doc, at, e, ERR_PARSE, "has %s of steps and tokens; give one of them",
                         isnan(x->steps) ? "none" : "both");
    if (isnan(x->tokens))
        return 0;
    if (!x->job.training)
        return yaml_fail_key(doc, yaml_get(doc, at, "tokens"), e, ERR_PARSE,
                             "has no effect on a workload without a model; give steps");
    x->steps = x->tokens / training_tokens(x->job.training);
    return 0;
}

/* A workload that is no model must be readable on the place that it has at best. */
static int mix_check_tree(const struct place_mix *x, const struct place_study *s, const int32_t *size,
                          struct err *e)
{
    struct topo_network net;
    struct step_tree tree;
    footprint_network(&net, &s->servers.net, size);
    int rc = job_steps_tree(&tree, &x->job, &net, e);
    if (!rc)
        step_free(&tree);
    return rc;
}

/* On the network of the cluster, or of one type of its NPUs. */
static int mix_read_work(struct place_mix *x, const struct place_study *s, const struct topo_network *net,
                         yaml_id at, struct err *e)
{
    const struct yaml_doc *doc = &s->doc;
    const struct place_servers *v = &s->servers;
    yaml_id map = x->workload >= 0 ? x->workload : at;
    int32_t size[TOPO_MAX_DIMS];
    int rc = x->workload >= 0 ? yaml_need(doc, x->workload, YAML_MAP, e) : 0;
    if (rc)
        return rc;
    footprint_ideal(size, net, v->level, (int64_t)v->each[0], x->gpus);
    x->job = (struct job_model){ .name = x->name, .kept = 1, .exchange = 1, .doc = doc, .workload = map };
    if (yaml_get(doc, map, "model") < 0) {
        rc = mix_take_method(x, s, at, e);
        return rc ? rc : mix_check_tree(x, s, size, e);
    }
    x->job.training = malloc(sizeof *x->job.training);
    if (!x->job.training)
        return err_nomem(e, "a model");
    rc = mix_read_training(x, s, net, map, size, e);
    rc = rc ? rc : mix_take_method(x, s, at, e);
    if (!rc && !x->name)
        x->name = x->job.name = x->job.training->name;
    return rc ? rc : mix_check_memory(x, s, net, at, e);
}

/* On one type; *lacks says what keeps it from there: ERR_RANGE, ERR_NO_DESIGN; 0: it fits. */
static int mix_read_type(int *lacks, struct place_mix *x, struct place_study *s, yaml_id at, int32_t t,
                         struct err *e)
{
    const struct place_servers *v = &s->servers;
    struct err inner = { 0 };
    int rc;
    if (x->gpus > v->npus[t].servers * v->each[0])
        rc = yaml_fail(&s->doc, yaml_get(&s->doc, at, "gpus"), &inner, ERR_RANGE,
                       "is %d, expected at most %g", (int)x->gpus, v->npus[t].servers * v->each[0]);
    else
        rc = mix_read_work(x, s, &v->types[t], at, &inner);
    x->by_type[t] = x->job;
    x->job = (struct job_model){ .training = NULL };
    *lacks = rc;
    if (rc && rc != ERR_RANGE && rc != ERR_NO_DESIGN)
        return err_set(e, inner.code, "%s", inner.msg);
    if (rc)
        text_printf(&s->notes, "%s; it does not run on %s of npus\n", inner.msg, v->npus[t].name);
    return 0;
}

/* A model is read for each type of NPU: what does not fit one may fit another. */
static int mix_read_types(struct place_mix *x, struct place_study *s, yaml_id at, struct err *e)
{
    int32_t first = -1;
    int rc = 0, code = 0;
    if (x->workload >= 0 && yaml_get(&s->doc, x->workload, "model") < 0)
        return yaml_fail_key(&s->doc, x->workload, e, ERR_RANGE,
                             "says its own times, expected a model, which has them for each type of npus");
    x->by_type = calloc(CLUSTER_MAX_TYPES, sizeof *x->by_type);
    if (!x->by_type)
        return err_nomem(e, "a model");
    size_t begin = s->notes.n;
    for (int32_t t = 0; t < s->servers.n_npus && !rc; t++) {
        int lacks = 0;
        rc = mix_read_type(&lacks, x, s, at, t, e);
        x->speed[t] = !lacks;
        first = first < 0 && !lacks ? t : first;
        code = code ? code : lacks;
    }
    if (first >= 0)
        x->job = x->by_type[first];
    if (rc || first >= 0)
        return rc;
    const char *why = text_str(&s->notes) + begin;
    return err_set(e, (enum err_code)code, "%.*s", (int)strcspn(why, "\n"), why);
}

/* ---- the list ---- */

static int mix_check_keys(const struct place_mix *x, const struct place_study *s, yaml_id at, struct err *e)
{
    const struct yaml_doc *doc = &s->doc;
    double most = (double)s->servers.net.n_npus;
    for (int32_t d = 0; d < s->servers.level; d++)
        most /= s->servers.net.dims[d].size;
    most *= s->servers.each[0];
    if ((x->model_node >= 0) == (x->workload >= 0))
        return yaml_fail(doc, at, e, ERR_PARSE, "has %s of model and workload; give one of them",
                         x->workload >= 0 ? "both" : "none");
    if (x->model_node >= 0 && x->parallel < 0)
        return yaml_fail(doc, at, e, ERR_PARSE,
                         "has no parallel, required for a model; with search { batch: N } is enough");
    if (x->workload >= 0 && x->parallel >= 0)
        return yaml_fail_key(doc, x->parallel, e, ERR_PARSE, "has no effect on a workload, only with model");
    if (x->gpus > most)
        return yaml_fail(doc, yaml_get(doc, at, "gpus"), e, ERR_RANGE,
                         "is %d, expected at most the %g of the cluster", (int)x->gpus, most);
    return 0;
}

/* Shares of the jobs, or rates of their own: all entries alike. */
static int mix_check_shares(struct place_trace *t, const struct place_study *s, struct err *e)
{
    double sum = 0, per_s = 0;
    int32_t n_rates = 0;
    yaml_id list = yaml_get(&s->doc, s->file.jobs, "mix");
    for (int32_t i = 0; i < t->n_mix; i++) {
        n_rates += !isnan(t->mix[i].jobs_per_s);
        per_s += t->mix[i].jobs_per_s;
        sum += t->mix[i].share;
    }
    if (n_rates > 0 && n_rates < t->n_mix)
        return yaml_fail(&s->doc, list, e, ERR_PARSE,
                         "has jobs_per_h in %d of %d entries, expected all or none", (int)n_rates,
                         (int)t->n_mix);
    if (n_rates > 0 && (t->path || !isnan(t->jobs_per_s)))
        return yaml_fail(&s->doc, list, e, ERR_PARSE, "has jobs_per_h beside %s; give one of them",
                         t->path ? "a trace" : "that of all jobs");
    if (!t->path && !(sum > 0))
        return yaml_fail(&s->doc, list, e, ERR_RANGE, "has shares that add up to 0, expected more");
    for (int32_t i = 0; i < t->n_mix && n_rates > 0; i++)
        t->mix[i].share = t->mix[i].jobs_per_s;
    if (n_rates > 0)
        t->jobs_per_s = per_s;
    return 0;
}

/* A tenant of whom no job can come is most likely not meant. */
static int mix_check_tenants(const struct place_trace *t, const struct place_study *s, struct err *e)
{
    for (int32_t i = 0; i < t->n_mix && !t->path; i++) {
        const char *tenant = t->mix[i].tenant;
        double share = 0;
        for (int32_t k = 0; k < t->n_mix && tenant; k++)
            share += t->mix[k].tenant && strcmp(t->mix[k].tenant, tenant) == 0 ? t->mix[k].share : 0;
        if (tenant && !(share > 0))
            return yaml_fail(&s->doc, yaml_get(&s->doc, mix_node(s, i), "tenant"), e, ERR_RANGE,
                             "is %.60s, whose jobs have shares that add up to 0, expected more", tenant);
    }
    return 0;
}

/* Keys that say of jobs what models say themselves, and of a mix what its trace says. */
static void mix_note_keys(struct place_study *s)
{
    static const char *const own[] = { "length", "overlap_frac" };
    static const char *const links[] = { "reduce_GBps", "inner_GBps" };
    int n_links = s->servers.level > 0 ? 1 : 2; /* place_read_pace() tells the other one */
    for (int i = 0; i < 2 && !s->trace.path; i++)
        place_note_key(s, s->file.jobs, own[i], "all jobs are models");
    for (int i = 0; i < n_links && !s->trace.path; i++)
        place_note_key(s, s->file.events, links[i], "all jobs are models");
    for (int32_t i = 0; i < s->trace.n_mix && s->trace.path; i++)
        place_note_key(s, mix_node(s, i), "share", "the trace says which jobs there are");
    for (int32_t i = 0; i < s->trace.n_mix; i++)
        if (!isnan(s->trace.mix[i].jobs_per_s))
            place_note_key(s, mix_node(s, i), "share", "jobs_per_h is given");
}

int place_read_mix(struct place_study *s, struct err *e)
{
    struct place_trace *t = &s->trace;
    yaml_id list = yaml_get(&s->doc, s->file.jobs, "mix");
    int rc = 0;
    if (t->n_mix == 0)
        return 0;
    if (!s->servers.has_network)
        return yaml_fail_key(&s->doc, list, e, ERR_PARSE,
                             "needs servers of a network, not of graph or racks");
    if (footprint_check(&s->servers.net, e))
        return err_wrap(e, "%s", yaml_place(&s->doc, s->file.network, (char[400]){ 0 }, 400));
    for (int32_t i = 0; i < t->n_mix && !rc; i++) {
        yaml_id at = mix_node(s, i);
        rc = mix_check_keys(&t->mix[i], s, at, e);
        if (!rc && s->servers.types)
            rc = mix_read_types(&t->mix[i], s, at, e);
        else if (!rc)
            rc = mix_read_work(&t->mix[i], s, &s->servers.net, at, e);
        rc = rc ? rc : mix_check_length(&t->mix[i], &s->doc, at, e);
    }
    rc = rc ? rc : mix_check_shares(t, s, e);
    rc = rc ? rc : mix_check_tenants(t, s, e);
    if (!rc)
        mix_note_keys(s);
    return rc;
}

void place_mix_free(struct place_trace *t)
{
    for (int32_t i = 0; i < t->n_mix; i++) {
        struct place_mix *x = &t->mix[i];
        for (int32_t k = 0; k < CLUSTER_MAX_TYPES && x->by_type; k++)
            free(x->by_type[k].training);
        if (!x->by_type)
            free(x->job.training);
        free(x->by_type);
    }
    free(t->mix);
    t->mix = NULL;
    t->n_mix = 0;
}

/* ---- jobs of a run ---- */

int place_draw_mix(int32_t *of, const struct place_trace *t, int32_t n, int64_t seed, struct err *e)
{
    struct rng *rng;
    double sum = 0;
    int rc = rng_build(&rng, (uint64_t)seed, MIX_STREAM, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < t->n_mix; i++)
        sum += t->mix[i].share;
    for (int32_t i = 0; i < n; i++) {
        double at = rng_uniform(rng) * sum;
        of[i] = 0;
        while (of[i] < t->n_mix - 1 && at >= t->mix[of[i]].share)
            at -= t->mix[of[i]++].share;
    }
    rng_free(rng);
    return 0;
}

int32_t place_find_mix(const struct place_trace *t, const char *model)
{
    for (int32_t i = 0; i < t->n_mix && model; i++)
        if (t->mix[i].name && strcmp(t->mix[i].name, model) == 0)
            return i;
    return -1;
}
