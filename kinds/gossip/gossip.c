/*
 * One point of a study of training with little communication, read: keys, network and clock, what a worker
 * stands for, what it learns from which examples, and the methods with their rows.
 * Then the kind: what the runs of a point and of a seed share, one run, and its result.
 */
#include "kinds/gossip/gossip.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "sim/gossip/data.h"
#include "sim/gossip/replay.h"
#include "study/axes.h"
#include "workloads/step.h"

/* ---- keys ---- */

/* What keys are used for, by enum gossip_use. */
static const struct use gossip_uses[N_GOSSIP_USES] = {
    { "by methods with a period" },
    { "by methods pull, push and pair" },
    { "by rules other than fixed" },
    { "by rules other than fixed and periods that adapt" },
    { "by rules other than fixed and by dynamic" },
    { "by methods pull, push, pair and gossip-pga" },
    { "by method gosgd" },
    { "by method elastic" },
    { "by method adacomm" },
    { "by methods post-local, gossip-aga and variance" },
    { "by method gossip-aga" },
    { "by method dynamic" },
    { "by methods lag-wk and lag-ps" },
    { "by method lag-ps" },
    { "by methods with neighbours" },
    { "by method eventgrad" },
    { "by method sparq" },
    { "by method diloco" },
    { "with examples of the teacher" },
    { "with a rate that falls in steps" },
    { "by methods with a server" },
};
#define GOSSIP_USES .uses = gossip_uses, .n_uses = N_GOSSIP_USES

/* Ends of ranges that are no values themselves: at 0 a method does nothing, at 1 it forgets nothing, or its
 * threshold grows as fast as the steps. */
#define ABOVE_0 1e-9
#define BELOW_1 0.999999

const char *const gossip_compare_words[] = { "workers", "averaged", NULL };

/* ---- keys of what is trained ---- */

#define LEARN(f, least, most, usual, ...)                                                                    \
    K_REAL(struct gossip_learning, f, #f, "", 1, least, most, usual, __VA_ARGS__)

static const struct key learner_keys[] = {
    K_ELSEWHERE("hidden",
                "width of the hidden layer, or a list of widths; []: softmax regression (default: 64)",
                .form = "count or list of counts"),
    K_COUNT(struct gossip_learning, batch, "batch", 1, 1 << 20, 32,
            "examples a step; a smaller shard is one batch"),
    LEARN(epochs, 1e-6, 1e9, 20, "passes over the shards"),
    K_WORD(struct gossip_learning, optimizer, "optimizer", gossip_optimizer_words, GOSSIP_SGD,
           "optimizer of every worker"),
    LEARN(rate, 1e-12, 1e9, 0.05, "learning rate at the start"),
    LEARN(momentum, 0, BELOW_1, 0.9, "momentum of sgd"),
    LEARN(weight_decay, 0, 1e6, 0, "adamw: decoupled; sgd: added to the gradient"),
    K_WORD(struct gossip_learning, schedule, "schedule", gossip_schedule_words, GOSSIP_RATE_STEPS,
           "schedule of the rate: falls at decay_at, stays, or falls to 0 by a cosine"),
    LEARN(decay, 1e-12, 1, 0.1, "what the rate is multiplied by each time", .uses = GOSSIP_FOR_STEPS),
    K_ELSEWHERE("decay_at", "list of shares of the steps, ascending (default: [0.5, 0.75])",
                .uses = GOSSIP_FOR_STEPS, .form = "list of numbers"),
};
K_SECTION(gossip_learner_section, struct gossip_learning, "learner", learner_keys,
          "what every worker of a gossip study trains, and how", GOSSIP_USES);

#define DRAWN(f, key, least, most, usual, ...)                                                               \
    K_COUNT(struct gossip_teacher, f, key, least, most, usual, __VA_ARGS__, .uses = GOSSIP_FOR_TEACHER)

static const struct key data_keys[] = {
    DRAWN(n_train, "train", 1, 1e9, 20000, "examples to train on, of all workers"),
    DRAWN(n_test, "test", 1, 1e9, 5000, "examples to test on"),
    DRAWN(n_features, "features", 1, GOSSIP_MAX_FEATURES, 32, "features of an example, standard normal"),
    DRAWN(n_classes, "classes", 2, GOSSIP_MAX_CLASSES, 10, "number of classes"),
    DRAWN(hidden, "hidden", 1, GOSSIP_MAX_WIDTH, 48, "hidden units of the teacher"),
    K_REAL(struct gossip_teacher, gain, "gain", "", 1, 0, 1e6, 1.5,
           "gain of the teacher's first layer: deviation of its weights times the root of features",
           .uses = GOSSIP_FOR_TEACHER),
    K_REAL(struct gossip_teacher, noise, "noise", "", 1, 0, 1, 0.05,
           "share of the training examples whose class is drawn at random", .uses = GOSSIP_FOR_TEACHER),
    K_REMARK("train_csv", "file of examples to train on, in place of the teacher's"),
    K_REMARK("test_csv", "file of examples to test on, with the same columns"),
    K_REMARK("label", "column that holds the class (default: the last one)"),
};
K_SECTION(gossip_data_section, struct gossip_teacher, "data of gossip", data_keys,
          "examples of a teacher, or two CSV files", GOSSIP_USES);

/* ---- keys of the clock ---- */

#define CLOCK(f, least, most, usual, ...)                                                                    \
    K_REAL(struct gossip_clock, f, #f, "", 1, least, most, usual, __VA_ARGS__)

static const struct key clock_keys[] = {
    K_REAL(struct gossip_clock, step_s, "step_ms", "ms", 1e-3, 1e-9, 1e12, 10,
           "mean time of a step of a worker, without job"),
    CLOCK(jitter, 0, 1, 0.1, "share of it that is exponentially distributed"),
    K_COUNT(struct gossip_clock, n_slow, "slow_workers", 0, GOSSIP_MAX_WORKERS, 0,
            "number of slow workers, the last ones"),
    CLOCK(slowdown, 1, 1e9, 1, "time of a slow worker's step over that of others"),
    CLOCK(pause_prob, 0, 1, 0, "probability that a step pauses"),
    CLOCK(pause_factor, 1, 1e9, 1, "time of a step with a pause over that without"),
    K_BOOL(struct gossip_clock, overlap, "overlap", 0,
           "true: a worker computes beside one exchange of its own"),
    K_BOOL(struct gossip_clock, stale, "stale", 1,
           "true: a step learns from the model as it began, an exchange changes models when it has arrived; "
           "false: what is learned sees no delay"),
};
K_SECTION(gossip_clock_section, struct gossip_clock, "clock of gossip", clock_keys,
          "how long steps take, simulated");

/* ---- keys of methods ---- */

/* Of one setting, or of one that has no default of its own. */
#define M_REAL(f, least, most, usual, used, ...)                                                             \
    K_REAL(struct gossip_settings, f, #f, "", 1, least, most, usual, __VA_ARGS__, .uses = GOSSIP_FOR_##used)
#define M_REAL_OR(f, least, most, used, ...)                                                                 \
    K_REAL_OR(struct gossip_settings, f, #f, "", 1, least, most, NAN, __VA_ARGS__, .uses = GOSSIP_FOR_##used)
#define M_COUNT(f, least, most, usual, used, ...)                                                            \
    K_COUNT(struct gossip_settings, f, #f, least, most, usual, __VA_ARGS__, .uses = GOSSIP_FOR_##used)

/* Defaults are facts of each method where it has been published; chosen here otherwise, see docs/gossip.md.
 * delta: at 1 workers settle apart under label skew; chosen on seeds 11 to 15. Ranges are those of all
 * methods: what one of them can be run with beside other settings it says itself. */
static const struct key method_keys[] = {
    K_REMARK("method", "name of the method, see weft gossip --list", .required = true),
    K_REMARK("name", "label of the row (default: the method and what it is given)"),
    K_ELSEWHERE("period",
                "steps between exchanges, of one that adapts the first; a list makes a row each (default: "
                "that of weft gossip --list)",
                .uses = GOSSIP_FOR_PERIOD, .form = "count or list of counts"),
    K_WORD(struct gossip_settings, rule, "rule", gossip_rule_words, GOSSIP_RULE_FIXED,
           "when a worker exchanges: by period, or by the change of its model", .uses = GOSSIP_FOR_RULE),
    M_REAL(theta, 0, 1e300, 0.05, THETA, "change of the model at which a rule exchanges"),
    M_COUNT(cap, 1, 9e18, 64, CAP,
            "most steps between exchanges, for a rule or an adaptive period (default: the first period where "
            "that is more)"),
    M_COUNT(check, 1, 9e18, 1, CHECK, "steps between looks at the change"),
    M_REAL(mix, ABOVE_0, 1, 0.5, MIX, "share of the other worker's model that is taken"),
    M_REAL(prob, 0, 1, 0.1, PROB, "probability of sending after a step"),
    M_REAL_OR(alpha, ABOVE_0, 1, ALPHA, "pull between a worker and the centre (default: 0.9 / workers)"),
    K_REAL_OR(struct gossip_settings, interval_s, "interval_s", "s", 1, 1e-12, 1e15, NAN,
              "simulated time between changes of the period (default: 1/20 of the steps' time)",
              .uses = GOSSIP_FOR_INTERVAL),
    M_REAL(switch_frac, 0, 1, 0.5, SWITCH, "share of the steps before the switch, or of warm-up"),
    M_REAL(power, 0, 100, 0.25, POWER, "period = (first loss / loss)^power * period"),
    M_REAL(delta, 0, 1e300, 0.1, DELTA, "bound on the squared distance from the reference"),
    M_REAL_OR(lag_xi, 0, 1e300, LAG,
              "factor in the condition of LAG; 0: always send (default: 0.1 of lag-wk, 1 of lag-ps)"),
    M_COUNT(lag_depth, 1, 1 << 20, 10, LAG, "differences that LAG remembers"),
    M_REAL_OR(lag_smooth, 0, 1e300, SMOOTH,
              "smoothness of every worker's loss (default: (1 - momentum) / rate)"),
    K_WORD(struct gossip_settings, graph, "graph", gossip_graph_words, GOSSIP_RING, "graph of neighbours",
           .uses = GOSSIP_FOR_GRAPH),
    M_REAL(horizon, 0, 1e6, 1, EVENT, "what a threshold is multiplied by each step; 0: always send"),
    M_COUNT(warmup, 0, 9e18, 30, EVENT, "steps that always send"),
    M_REAL(sparq_c, 0, 1e300, 1000, SPARQ, "sends iff |x - estimate|^2 > sparq_c t^sparq_power rate^2"),
    M_REAL(sparq_power, 0, BELOW_1, 0, SPARQ, "power of the step in that threshold"),
    M_REAL(gamma, ABOVE_0, 1, 0.5, SPARQ, "step towards the neighbours' estimates"),
    M_REAL(keep, ABOVE_0, 1, 1, SPARQ, "share of the numbers that a message has"),
    M_COUNT(fragments, 1, GOSSIP_MAX_PARAMS, 1, DILOCO, "parts of the model that are exchanged in turn"),
    M_COUNT(delay, 0, 9e18, 0, DILOCO, "steps that an exchange may take beside compute"),
    M_REAL(outer_rate, ABOVE_0, 10, 0.7, DILOCO, "rate of the outer step"),
    M_REAL(outer_momentum, 0, BELOW_1, 0.9, DILOCO, "momentum of the outer step"),
    M_REAL(outer_mix, 0, BELOW_1, 0, DILOCO, "share of the worker's own model that stays"),
    K_WORD_OR(struct gossip_settings, inner, "inner", gossip_optimizer_words, N_GOSSIP_OPTIMIZERS,
              "optimizer of the steps (default: that of the learner)", .uses = GOSSIP_FOR_DILOCO),
    M_REAL_OR(inner_rate, 1e-12, 1e9, DILOCO,
              "learning rate of the steps (default: that of the learner, of another optimizer 0.05 (sgd), "
              "0.001 (adamw))"),
};
K_SECTION(gossip_method_section, struct gossip_settings, "methods of gossip", method_keys,
          "a method with its numbers, a row of the table", GOSSIP_USES);

/* ---- keys of a study ---- */

static const struct key design_keys[] = {
    K_TEXT(struct gossip_point, name, "name", "what reports call the study"),
    K_REMARK("source", "where the study comes from"),
    K_NODE(struct gossip_point, at.network, "network",
           "what joins the workers: a network file, a word or a map, with bandwidths", .required = true,
           .form = "file or text or <network>"),
    K_NODE(
        struct gossip_point, at.parts, "parts",
        "with need_pct: what the cheapest whole design of the network's tiers costs that has the bandwidth; "
        "a parts file or a map (default: those of the network)",
        .form = "file or <parts>"),
    K_COUNT_OR(struct gossip_point, workers, "workers", 1, GOSSIP_MAX_WORKERS, -1,
               "number of workers that train, from NPU 0 on; they fill dimensions from the innermost "
               "(default: all NPUs)"),
    K_COUNT_OR(
        struct gossip_point, fabric.server, "server", 0, 9e18, -1,
        "NPU that holds the centre of methods that have one (default: the first without a worker, else 0)",
        .uses = GOSSIP_FOR_SERVER),
    K_WORD(struct gossip_point, fabric.fidelity, "rung", gossip_fidelity_words, GOSSIP_CLOSED,
           "how exchanges are priced: one after the other on a link, or as flows that share it"),
    K_COUNT(struct gossip_point, fabric.rules.chunks, "chunks", 1, STAGE_MAX_CHUNKS, 1,
            "chunks of a collective; they pass the dimensions one behind the other"),
    K_REAL(struct gossip_point, fabric.rules.endpoint_s, "endpoint_ns", "ns", 1e-9, 0, 1e9, 0,
           "overhead of an NPU per message of a collective"),
    K_REAL_OR(
        struct gossip_point, model_B, "model_MB", "MB", 1e6, 1e-9, 1e12, 0,
        "size of a model on the wire (default: that of job, else 4 bytes a parameter of what is trained)"),
    K_NODE(struct gossip_point, at.job, "job",
           "the model whose training a worker stands for, in place of model_MB and clock.step_ms; see job of "
           "gossip",
           .form = "<job of gossip>"),
    K_MAP(struct gossip_point, learning, "learner", &gossip_learner_section,
          "what is trained and how, see learner"),
    K_MAP(struct gossip_point, teacher, "data", &gossip_data_section,
          "examples: drawn from a teacher, or two CSV files; see data of gossip"),
    K_WORD(struct gossip_point, sharding, "shards", gossip_sharding_words, GOSSIP_IID,
           "how examples are dealt out to workers: after a shuffle, or sorted by class"),
    K_REAL_OR(
        struct gossip_point, drift_at, "drift_at", "", 1, 0, 1, 1,
        "share of a worker's steps after which another teacher classifies the examples (default: never)",
        .uses = GOSSIP_FOR_TEACHER),
    K_MAP(struct gossip_point, clock, "clock", &gossip_clock_section,
          "how long steps take, see clock of gossip"),
    K_NODE(struct gossip_point, at.methods, "methods",
           "list of methods, words or maps, see methods of gossip and weft gossip --list (default: all that "
           "can run)",
           .form = "list of (word or <methods of gossip>)"),
    K_NODE(struct gossip_point, at.where, "where",
           "linear constraints on values of axes: points outside are left out", .form = "list of texts"),
    K_NODE(struct gossip_point, at.keep, "keep", "which rows are kept, see keep (default: all)",
           .form = "<keep>"),
    K_TEXT(struct gossip_point, base_label, "baseline",
           "label of the row that others are compared with (default: the first pair with period 1, else the "
           "first row)"),
    K_REAL(struct gossip_point, equal_points, "equal_points", "%", 1, 0, 100, 0.5,
           "accuracies that differ by less are equal, in the search for the best fixed period"),
    K_WORD(struct gossip_point, compare, "compare", gossip_compare_words, GOSSIP_COMPARE_WORKERS,
           "whose accuracy counts where methods are compared: the workers' own, or that of the averaged "
           "model"),
    K_REAL_OR(struct gossip_point, need_pct, "need_pct", "%", 1, 1e-3, 1e6, NAN,
              "find the bandwidth at which a run takes this much longer than with unlimited bandwidth "
              "(default: not asked)"),
    K_TEXT(struct gossip_point, need_dim, "need_dim",
           "dimension whose bandwidth alone need_pct asks for (default: all of them)"),
    K_COUNT(struct gossip_point, seeds, "seeds", 1, 100000, 5, "runs of each method; the mean counts"),
    K_COUNT(struct gossip_point, seed, "seed", 0, 9e18, 1,
            "seed of the first run, its examples and shards; the others count up by one"),
    K_ELSEWHERE("vary", "axes: KEY: [values] or KEY: { from, to, ... }, see vary",
                .form = "<vary> or list of <vary>"),
};
K_SECTION(gossip_section, struct gossip_point, "gossip study", design_keys,
          "training with little communication, for weft gossip", GOSSIP_USES);

/* A node of map `section` of the study; -1: either is absent. */
static yaml_id node_of(const struct gossip_point *p, const char *section, const char *key)
{
    yaml_id map = yaml_get(&p->doc, p->doc.root, section);
    return map < 0 ? -1 : yaml_get(&p->doc, map, key);
}

/* ---- network ---- */

static int check_bandwidths(const struct gossip_point *p, struct err *e)
{
    const struct topo_network *net = &p->fabric.net;
    for (int32_t d = 0; d < net->n_dims; d++)
        if (isnan(net->dims[d].bw_Bps))
            return yaml_fail(&p->doc, p->at.network, e, ERR_RANGE,
                             "has no bandwidth in dimension %s; give bw_GBps", net->dims[d].name);
    return 0;
}

/* Workers are the first NPUs, and a box of them. */
static int place_workers(struct gossip_point *p, struct err *e)
{
    struct gossip_fabric *f = &p->fabric;
    yaml_id at = yaml_get(&p->doc, p->doc.root, "workers");
    int64_t n = p->workers < 0 ? f->net.n_npus : p->workers;
    int32_t sizes[TOPO_MAX_DIMS];
    char place[400];
    if (n > f->net.n_npus)
        return yaml_fail(&p->doc, at, e, ERR_RANGE, "is %lld, expected at most %lld, the NPUs of the network",
                         (long long)n, (long long)f->net.n_npus);
    if (n > GOSSIP_MAX_WORKERS)
        return yaml_fail(&p->doc, p->at.network, e, ERR_RANGE,
                         "has %lld NPUs, expected workers, at most %d of them", (long long)n,
                         GOSSIP_MAX_WORKERS);
    for (int32_t d = 0; d < f->net.n_dims; d++)
        sizes[d] = f->net.dims[d].size;
    f->n_workers = (int32_t)n;
    int rc = group_fill(f->members, sizes, f->net.n_dims, n, e);
    return rc ? err_wrap(e, "%s: workers", yaml_place(&p->doc, at, place, sizeof place)) : 0;
}

static int place_server(struct gossip_point *p, struct err *e)
{
    struct gossip_fabric *f = &p->fabric;
    yaml_id at = yaml_get(&p->doc, p->doc.root, "server");
    if (f->server < 0)
        f->server = f->n_workers < f->net.n_npus ? f->n_workers : 0;
    if (f->server < f->net.n_npus)
        return 0;
    return yaml_fail(&p->doc, at, e, ERR_RANGE, "is %lld, expected an NPU of the network, 0 to %lld",
                     (long long)f->server, (long long)f->net.n_npus - 1);
}

static int read_fabric(struct gossip_point *p, struct err *e)
{
    struct gossip_fabric *f = &p->fabric;
    int rc = topo_read_network(&f->net, &p->doc, p->at.network, e);
    if (!rc)
        rc = check_bandwidths(p, e);
    if (!rc)
        rc = place_workers(p, e);
    if (!rc)
        rc = place_server(p, e);
    return rc;
}

/* A dimension that need_pct asks for alone. A run has all of every bandwidth, whosever share is asked for. */
static int read_need(struct gossip_point *p, struct err *e)
{
    struct topo_network *net = &p->fabric.net;
    const char *name = p->need_dim, *names[TOPO_MAX_DIMS];
    if (!name)
        return 0;
    p->fabric.share_dim = topo_find_dim(net, name) + 1;
    if (p->fabric.share_dim > 0)
        return 0;
    for (int32_t d = 0; d < net->n_dims; d++)
        names[d] = net->dims[d].name;
    const char *near = text_nearest(name, names, (size_t)net->n_dims);
    return yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "need_dim"), e, ERR_PARSE,
                     "is %.60s, expected a dimension of the network%s%s", name,
                     near ? ", such as " : ", the first is ", near ? near : names[0]);
}

/* Prices for what need_pct finds. */
static int read_ports(struct gossip_point *p, struct err *e)
{
    if (isnan(p->need_pct) || (p->at.parts < 0 && p->fabric.net.parts < 0))
        return 0;
    int rc = ports_ask(&p->asked, &p->doc, p->own_source, e);
    p->has_parts = !rc;
    return rc;
}

/* ---- the clock ---- */

static int check_clock(const struct gossip_point *p, struct err *e)
{
    if (p->clock.n_slow <= p->fabric.n_workers)
        return 0;
    return yaml_fail(&p->doc, node_of(p, "clock", "slow_workers"), e, ERR_RANGE,
                     "is %d, expected at most %d, the workers", p->clock.n_slow, p->fabric.n_workers);
}

/* ---- what a worker stands for ---- */

static const struct key job_keys[] = {
    K_REMARK("name", "what reports call it (default: the model's name)"),
    K_ELSEWHERE("model", "a model file or a map, see model", .required = true, .form = "file or <model>"),
    K_ELSEWHERE("npu",
                "that every worker has one of: an NPU file or a map, see npu (default: that of the network)",
                .form = "file or <npu>"),
    K_ELSEWHERE("parallel",
                "how it is trained on one NPU, see parallel: batch is that of a worker; no tp, cp, pp, ep",
                .required = true, .form = "<parallel>"),
};
const struct section gossip_job_section = {
    .name = "job of gossip",
    .help = "a model of which each worker of a gossip study trains a replica on one NPU",
    .keys = job_keys,
    .n_keys = sizeof job_keys / sizeof job_keys[0],
};

/* The job's own NPU, with what a step needs to know of it. */
static int gossip_read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    int rc = topo_read_npu(npu, doc, map, e);
    if (!rc && !(npu->peak_flops > 0 && npu->mem_Bps > 0))
        rc = yaml_fail(doc, map, e, ERR_RANGE, "has no %s; give peak_TFLOPS and mem_GBps",
                       npu->peak_flops > 0 ? "mem_GBps" : "peak_TFLOPS");
    return rc;
}

static int train_alone(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                       const struct topo_network *alone, struct err *e)
{
    const double nothing_s[PLAN_MAX_COLLECTIVES] = { 0 };
    struct training x;
    int rc = training_read(&x, doc, map, alone, e);
    if (rc)
        return rc;
    memcpy(out->model, x.name, sizeof out->model);
    out->step_s = plan_cost_time(&x.cost, nothing_s, NULL);
    out->model_B = model_params(&x.model) * (double)x.plan.grad_B;
    out->missing_B = training_missing_B(&x, alone);
    return 0;
}

/* The model that a worker stands for, trained on one NPU without any network. */
int gossip_point_read_job(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                          const struct topo_npu *npu, struct err *e)
{
    struct topo_network alone;
    *out = (struct gossip_job){ 0 };
    topo_network_defaults(&alone);
    alone.npu = *npu;
    int rc = schema_read(out, &gossip_job_section, doc, map, e);
    yaml_id own = yaml_get(doc, map, "npu");
    if (!rc && own >= 0)
        rc = gossip_read_npu(&alone.npu, doc, own, e);
    if (!rc)
        rc = train_alone(out, doc, map, &alone, e);
    if (rc)
        return rc;
    yaml_id shared = yaml_get(doc, yaml_get(doc, doc->root, "network"), "npu");
    yaml_id name = yaml_get(doc, own >= 0 ? own : shared, "name");
    if (name >= 0)
        snprintf(out->npu, sizeof out->npu, "%s", doc->nodes[name].text);
    return 0;
}

const char *gossip_point_job_text(char buf[GOSSIP_JOB_TEXT], const struct gossip_job *job)
{
    snprintf(buf, GOSSIP_JOB_TEXT, "%s%s%s", job->model, job->npu[0] ? " on " : "", job->npu);
    return buf;
}

static int refuse_beside_job(const struct gossip_point *p, yaml_id at, struct err *e)
{
    if (at < 0 || yaml_is_null(&p->doc, at))
        return 0;
    return yaml_fail_key(&p->doc, at, e, ERR_PARSE, "is given with job; give one of them");
}

/* As `weft alloc` tells that a plan does not fit, and goes on. */
static void note_memory(struct gossip_point *p)
{
    char place[400];
    if (p->job.missing_B > 0)
        text_printf(&p->notes, "%s: job does not fit: it lacks %.3g GB of memory on one NPU\n",
                    yaml_key_place(&p->doc, p->at.job, place, sizeof place), p->job.missing_B / 1e9);
}

/* A job gives step time and bytes, so keys that give them as well are refused. */
static int read_job(struct gossip_point *p, struct err *e)
{
    if (p->at.job < 0)
        return 0;
    int rc = refuse_beside_job(p, yaml_get(&p->doc, p->doc.root, "model_MB"), e);
    if (!rc)
        rc = refuse_beside_job(p, node_of(p, "clock", "step_ms"), e);
    if (!rc)
        rc = gossip_point_read_job(&p->job, &p->doc, p->at.job, &p->fabric.net.npu, e);
    if (rc)
        return rc;
    p->clock.step_s = p->job.step_s;
    p->model_B = p->job.model_B;
    note_memory(p);
    return 0;
}

double gossip_point_wire_B(const struct gossip_point *p)
{
    return p->model_B > 0 ? p->model_B : 4.0 * p->net.n_params;
}

/* ---- keys without effect ---- */

static void note_idle(struct gossip_point *p, yaml_id at, bool idle, const char *only)
{
    char place[400], path[200];
    if (at >= 0 && idle)
        text_printf(&p->notes, "%s: %s has no effect here, it is used only %s\n",
                    yaml_key_place(&p->doc, at, place, sizeof place),
                    yaml_path(&p->doc, at, path, sizeof path), only);
}

static void gossip_note_unused(struct gossip_point *p, const struct section *s, yaml_id map)
{
    if (map >= 0)
        schema_note_unused(&p->notes, s, &p->doc, map, p->own_source, p->uses);
}

static void note_all(struct gossip_point *p)
{
    const yaml_id root = p->doc.root;
    gossip_note_unused(p, &gossip_section, root);
    gossip_note_unused(p, &gossip_learner_section, yaml_get(&p->doc, root, "learner"));
    gossip_note_unused(p, &gossip_data_section, yaml_get(&p->doc, root, "data"));
    note_idle(p, node_of(p, "learner", "momentum"), p->learning.optimizer != GOSSIP_SGD, "by optimizer sgd");
    note_idle(p, yaml_get(&p->doc, root, "need_dim"), isnan(p->need_pct), "with need_pct");
    note_idle(p, p->at.parts, isnan(p->need_pct), "with need_pct");
    note_idle(p, node_of(p, "clock", "slowdown"), p->clock.n_slow == 0, "with slow_workers");
    note_idle(p, node_of(p, "clock", "pause_factor"), !(p->clock.pause_prob > 0), "with pause_prob");
}

/* ---- what runs are made of ---- */

struct gossip_setup gossip_point_setup(const struct gossip_point *p)
{
    return (struct gossip_setup){ .net = &p->net,
                                  .drift_at = p->drift_at,
                                  .learning = p->learning,
                                  .clock = p->clock,
                                  .fabric = &p->fabric,
                                  .model_B = p->model_B };
}

/* ---- what is learned, and from which examples ---- */

/* ---- learner ---- */

static int read_width(int32_t *out, const struct gossip_point *p, yaml_id id, struct err *e)
{
    int64_t n;
    char shown[YAML_SHOWN];
    *out = 0;
    if (yaml_count(&p->doc, id, &n, e))
        return yaml_fail(&p->doc, id, e, ERR_PARSE, "is %s, expected a whole number, 1 to %d units",
                         yaml_show(&p->doc, id, shown), GOSSIP_MAX_WIDTH);
    if (n < 1 || n > GOSSIP_MAX_WIDTH)
        return yaml_fail(&p->doc, id, e, ERR_RANGE, "is %lld, expected 1 to %d units", (long long)n,
                         GOSSIP_MAX_WIDTH);
    *out = (int32_t)n;
    return 0;
}

/* A width, a list of them, or nothing: one layer of 64. */
static int read_hidden(int32_t width[GOSSIP_MAX_LAYERS], int32_t *n, const struct gossip_point *p, yaml_id id,
                       struct err *e)
{
    int rc = 0;
    *n = 1;
    width[0] = 64;
    if (id < 0)
        return 0;
    if (p->doc.nodes[id].kind != YAML_SEQ)
        return read_width(&width[0], p, id, e);
    *n = p->doc.nodes[id].n;
    if (*n >= GOSSIP_MAX_LAYERS)
        return yaml_fail(&p->doc, id, e, ERR_RANGE, "is a list of %d, expected at most %d layers", *n,
                         GOSSIP_MAX_LAYERS - 1);
    yaml_each (at, &p->doc, id)
        if (!rc)
            rc = read_width(&width[p->doc.nodes[at].index], p, at, e);
    return rc;
}

/* Ascending shares of the run at which the rate falls. */
static int read_decays(struct gossip_learning *l, const struct gossip_point *p, yaml_id list, struct err *e)
{
    l->decay_at[0] = 0.5;
    l->decay_at[1] = 0.75;
    l->n_decays = 2;
    if (list < 0)
        return 0;
    int rc = yaml_need(&p->doc, list, YAML_SEQ, e);
    l->n_decays = 0;
    if (!rc && p->doc.nodes[list].n > GOSSIP_MAX_DECAYS)
        rc = yaml_fail(&p->doc, list, e, ERR_RANGE, "is a list of %d, expected at most %d shares",
                       (int)p->doc.nodes[list].n, GOSSIP_MAX_DECAYS);
    if (rc)
        return rc;
    yaml_each (id, &p->doc, list) {
        double last = l->n_decays ? l->decay_at[l->n_decays - 1] : 0, share;
        rc = yaml_real(&p->doc, id, &share, e);
        if (rc)
            return rc;
        if (!(share > last && share < 1))
            return yaml_fail(&p->doc, id, e, ERR_RANGE, "is %g, expected more than %g and less than 1", share,
                             last);
        l->decay_at[l->n_decays++] = share;
    }
    return 0;
}

/* ---- examples ---- */

/* Checked now, as the file is read only when the first run begins. Standard input cannot be read twice. */
static int copy_path(char **out, const struct gossip_point *p, const char *key, struct err *e)
{
    yaml_id at = node_of(p, "data", key);
    struct text path = { 0 };
    yaml_beside(&path, &p->doc, at);
    int rc = text_check(&path, e);
    if (!rc && strcmp(text_str(&path), "-") == 0)
        rc = yaml_fail(&p->doc, at, e, ERR_PARSE, "is -; use a file that can be read more than once");
    else if (!rc && access(text_str(&path), R_OK) != 0)
        rc = yaml_fail(&p->doc, at, e, ERR_PARSE, "is %.200s, which cannot be read (%s)", text_str(&path),
                       strerror(errno));
    *out = rc ? NULL : strdup(text_str(&path));
    text_free(&path);
    return rc ? rc : *out ? 0 : err_nomem(e, "the name of a file");
}

int gossip_point_own_data(struct gossip_data *train, struct gossip_data *test, const struct gossip_point *p,
                          struct err *e)
{
    struct gossip_labels labels = { 0 };
    *test = (struct gossip_data){ 0 };
    int rc = gossip_data_read_csv(train, &labels, p->train_csv, p->label, e);
    if (!rc)
        rc = gossip_data_read_csv(test, &labels, p->test_csv, NULL, e);
    if (rc)
        gossip_data_free(train);
    gossip_labels_free(&labels);
    return rc;
}

/* The files are read to know what they hold, and let go of: a run reads them again. */
static int read_own_data(struct gossip_point *p, yaml_id train_csv, yaml_id test_csv, struct err *e)
{
    struct gossip_data train, test;
    yaml_id label = node_of(p, "data", "label"), drift = yaml_get(&p->doc, p->doc.root, "drift_at");
    if (train_csv < 0 || test_csv < 0)
        return yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "data"), e, ERR_PARSE,
                         "has %s alone; give train_csv and test_csv",
                         train_csv >= 0 ? "train_csv" : "test_csv");
    p->own_data = true;
    p->label = label >= 0 ? strdup(p->doc.nodes[label].text) : NULL;
    if (label >= 0 && !p->label)
        return err_nomem(e, "the name of a column");
    int rc = copy_path(&p->train_csv, p, "train_csv", e);
    if (!rc)
        rc = copy_path(&p->test_csv, p, "test_csv", e);
    if (!rc)
        rc = gossip_point_own_data(&train, &test, p, e);
    if (rc)
        return rc;
    p->n_train = train.n;
    p->teacher.n_features = train.n_features;
    p->teacher.n_classes = train.n_classes;
    gossip_data_free(&train);
    gossip_data_free(&test);
    if (drift < 0)
        return 0;
    return yaml_fail_key(&p->doc, drift, e, ERR_PARSE,
                         "is given with data.train_csv, expected examples of a teacher");
}

static int read_data(struct gossip_point *p, struct err *e)
{
    yaml_id train_csv = node_of(p, "data", "train_csv"), test_csv = node_of(p, "data", "test_csv");
    yaml_id label = node_of(p, "data", "label");
    if (train_csv >= 0 || test_csv >= 0)
        return read_own_data(p, train_csv, test_csv, e);
    if (label >= 0)
        return yaml_fail_key(&p->doc, label, e, ERR_PARSE, "is given without train_csv; give files");
    p->uses |= GOSSIP_FOR_TEACHER;
    p->n_train = p->teacher.n_train;
    return 0;
}

/* Each worker needs an example: of workers and examples, what the study says is at fault. */
static int check_shards(const struct gossip_point *p, struct err *e)
{
    yaml_id workers = yaml_get(&p->doc, p->doc.root, "workers");
    yaml_id at = node_of(p, "data", p->own_data ? "train_csv" : "train");
    int32_t n = p->fabric.n_workers;
    if (n <= p->n_train)
        return 0;
    if (workers >= 0)
        return yaml_fail(&p->doc, workers, e, ERR_RANGE,
                         "is %d, expected at most %lld, the examples to train on", n, (long long)p->n_train);
    return yaml_fail(&p->doc, at >= 0 ? at : p->at.network, e, ERR_RANGE,
                     "makes %lld examples to train on, expected at least %d, one for each worker",
                     (long long)p->n_train, n);
}

/* Learner, examples, and the network that learns. */
static int read_learner(struct gossip_point *p, struct err *e)
{
    struct gossip_learning *l = &p->learning;
    int32_t width[GOSSIP_MAX_LAYERS], n;
    char place[400];
    p->uses |= l->schedule == GOSSIP_RATE_STEPS ? GOSSIP_FOR_STEPS : 0;
    int rc = read_hidden(width, &n, p, node_of(p, "learner", "hidden"), e);
    if (!rc)
        rc = read_decays(l, p, node_of(p, "learner", "decay_at"), e);
    if (!rc)
        rc = read_data(p, e);
    if (!rc)
        rc = check_shards(p, e);
    if (rc)
        return rc;
    rc = gossip_net_build(&p->net, p->teacher.n_features, width, n, p->teacher.n_classes, e);
    yaml_id at = yaml_get(&p->doc, p->doc.root, "learner");
    return rc ? err_wrap(e, "%s: learner",
                         yaml_place(&p->doc, at >= 0 ? at : p->doc.root, place, sizeof place))
              : 0;
}

int64_t gossip_point_epoch_steps(const struct gossip_point *p)
{
    int64_t shard = p->n_train / p->fabric.n_workers;
    return shard / (p->learning.batch < shard ? p->learning.batch : shard);
}

int64_t gossip_point_steps(const struct gossip_point *p)
{
    double n = p->learning.epochs * (double)gossip_point_epoch_steps(p);
    return n < 1 ? 1 : (int64_t)n;
}

/* ---- methods: settings of each, and what its row is called ---- */

bool gossip_point_has_fixed_period(const struct gossip_settings *s)
{
    uint32_t uses = gossip_method_uses(s);
    return (uses & GOSSIP_FOR_PERIOD) && !(uses & GOSSIP_FOR_CAP);
}

/* ---- labels ---- */

/* Is the key's value part of the label by itself? */
static bool is_named_apart(const char *key, uint32_t uses)
{
    bool ruled = (uses & GOSSIP_FOR_RULE) && (uses & GOSSIP_FOR_THETA);
    return strcmp(key, "method") == 0 || strcmp(key, "name") == 0 || strcmp(key, "period") == 0 ||
           strcmp(key, "rule") == 0 || (ruled && (strcmp(key, "theta") == 0 || strcmp(key, "cap") == 0));
}

/* What else is written and has an effect: "fragments 4". */
static void add_others(struct text *label, const struct gossip_point *p, yaml_id map, uint32_t uses)
{
    for (size_t i = 0; i < gossip_method_section.n_keys; i++) {
        const struct key *k = &gossip_method_section.keys[i];
        yaml_id at = yaml_get(&p->doc, map, k->name);
        if (at >= 0 && p->doc.nodes[at].text && (k->uses & uses) && !is_named_apart(k->name, uses))
            text_printf(label, " %s %s", k->name, p->doc.nodes[at].text);
    }
}

/* "pair 16", "pair drift 0.05/64", "diloco 50 fragments 4"; a name that is given, and the period where a list
 * makes several rows of it. */
static void make_label(struct text *label, const struct gossip_point *p, yaml_id map, const char *name,
                       const struct gossip_settings *s)
{
    uint32_t uses = gossip_method_uses(s);
    yaml_id period = yaml_get(&p->doc, map, "period");
    bool many = period >= 0 && p->doc.nodes[period].kind == YAML_SEQ && p->doc.nodes[period].n > 1;
    text_puts(label, name ? name : gossip_method_name(s->method));
    if ((!name || many) && (uses & GOSSIP_FOR_PERIOD))
        text_printf(label, " %lld", (long long)s->period);
    if (name)
        return;
    if ((uses & GOSSIP_FOR_RULE) && (uses & GOSSIP_FOR_THETA))
        text_printf(label, " %s %g/%lld", gossip_rule_words[s->rule], s->theta, (long long)s->cap);
    add_others(label, p, map, uses);
}

/* ---- rows ---- */

/* Can it be run? What is wrong has the place of the method. */
static int check_entry(const struct gossip_point *p, yaml_id id, const char *label,
                       const struct gossip_settings *s, struct err *e)
{
    struct gossip_setup setup = gossip_point_setup(p);
    char place[400], path[200];
    int rc = gossip_check(&setup, s, e);
    if (rc)
        return err_wrap(e, "%s: %s", yaml_place(&p->doc, id, place, sizeof place),
                        yaml_path(&p->doc, id, path, sizeof path));
    for (int32_t i = 0; i < p->n_entries; i++)
        if (strcmp(p->entries[i].label, label) == 0)
            return yaml_fail(&p->doc, id, e, ERR_PARSE,
                             "makes row %d, called \"%.100s\" as row %d is; choose another name",
                             p->n_entries + 1, label, i + 1);
    return 0;
}

/* One row of the table of methods; labels must differ, as rows are told apart by them. */
static int add_entry(struct gossip_point *p, yaml_id id, const char *name, const struct gossip_settings *s,
                     struct err *e)
{
    struct text label = { 0 };
    if (p->n_entries == GOSSIP_MAX_METHODS)
        return yaml_fail(&p->doc, p->at.methods, e, ERR_RANGE, "makes more than %d rows", GOSSIP_MAX_METHODS);
    if (!vec_reserve(p->entries, p->cap_entries, p->n_entries + 1))
        return err_nomem(e, "methods");
    make_label(&label, p, id, name, s);
    int rc = text_check(&label, e);
    if (!rc)
        rc = check_entry(p, id, text_str(&label), s, e);
    char *copy = rc ? NULL : strdup(text_str(&label));
    text_free(&label);
    if (rc)
        return rc;
    if (!copy)
        return err_nomem(e, "methods");
    p->uses |= gossip_method_uses(s);
    p->entries[p->n_entries++] = (struct gossip_entry){ .label = copy, .settings = *s };
    return 0;
}

/* ---- reading ---- */

static int find_method(int32_t *out, const struct gossip_point *p, yaml_id id, const char *name,
                       struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST];
    assert(gossip_n_methods <= MOST);
    *out = gossip_find_method(name);
    if (*out >= 0)
        return 0;
    for (int32_t i = 0; i < gossip_n_methods; i++)
        names[i] = gossip_method_name(i);
    yaml_fail(&p->doc, id, e, ERR_PARSE, "is %.60s, expected a method of weft gossip --list", name);
    return err_suggest(e, text_nearest(name, names, (size_t)gossip_n_methods));
}

/* A period that adapts may not begin above the cap: the default makes room for it. That a list of periods can
 * go beyond 64 without more words is this project's choice. */
static void raise_cap(struct gossip_settings *s, const struct gossip_point *p, yaml_id id)
{
    uint32_t both = GOSSIP_FOR_PERIOD | GOSSIP_FOR_CAP;
    if ((gossip_method_uses(s) & both) == both && yaml_get(&p->doc, id, "cap") < 0 && s->cap < s->period)
        s->cap = s->period;
}

/* A row with the period of @p s. */
static int add_period(struct gossip_point *p, yaml_id id, const char *name, struct gossip_settings s,
                      struct err *e)
{
    raise_cap(&s, p, id);
    return add_entry(p, id, name, &s, e);
}

static int read_period(int64_t *out, const struct gossip_point *p, yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    if (yaml_count(&p->doc, id, out, e))
        return yaml_fail(&p->doc, id, e, ERR_PARSE, "is %s, expected a whole number, at least 1 step",
                         yaml_show(&p->doc, id, shown));
    if (*out < 1)
        return yaml_fail(&p->doc, id, e, ERR_RANGE, "is %lld, expected at least 1 step", (long long)*out);
    return 0;
}

/* Rows of one method: one, or one for each period. */
static int add_periods(struct gossip_point *p, yaml_id id, const char *name, struct gossip_settings *s,
                       struct err *e)
{
    yaml_id at = p->doc.nodes[id].kind == YAML_MAP ? yaml_get(&p->doc, id, "period") : -1;
    bool list = at >= 0 && p->doc.nodes[at].kind == YAML_SEQ;
    yaml_id first = list ? p->doc.nodes[at].first : at;
    int rc = 0;
    if (list && first < 0)
        return yaml_fail(&p->doc, at, e, ERR_PARSE, "is empty, expected at least one period");
    if (first < 0)
        return add_period(p, id, name, *s, e);
    for (yaml_id one = first; one >= 0 && !rc; one = list ? p->doc.nodes[one].next : -1) {
        rc = read_period(&s->period, p, one, e);
        if (!rc)
            rc = add_period(p, id, name, *s, e);
    }
    return rc;
}

/* A label stands in tables, legends and `baseline`. That it is at most 40 bytes is this project's choice. */
static int gossip_check_label(const struct gossip_point *p, yaml_id map, const char *name, struct err *e)
{
    enum { MOST = 40 };
    size_t n = name ? strlen(name) : 1;
    yaml_id at = yaml_get(&p->doc, map, "name");
    if (n < 1 || n > MOST)
        return yaml_fail(&p->doc, at, e, ERR_RANGE, "has %zu bytes, expected 1 to %d", n, MOST);
    for (const char *c = name; c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return yaml_fail(&p->doc, at, e, ERR_PARSE, "has a control character, expected printable text");
    return 0;
}

/* A word, or a map with its numbers. */
static int read_method(struct gossip_point *p, yaml_id id, struct err *e)
{
    struct gossip_settings s = { .period = 1 };
    bool word = p->doc.nodes[id].kind == YAML_SCALAR;
    const char *method = NULL, *name = NULL;
    schema_defaults(&s, &gossip_method_section);
    int rc =
        word ? yaml_text(&p->doc, id, &method, e) : schema_read(&s, &gossip_method_section, &p->doc, id, e);
    yaml_id named = word || rc ? -1 : yaml_get(&p->doc, id, "name");
    yaml_id at = word || rc ? id : yaml_get(&p->doc, id, "method");
    if (!rc) {
        method = p->doc.nodes[at].text;
        name = named < 0 ? NULL : p->doc.nodes[named].text;
        rc = gossip_check_label(p, id, name, e);
    }
    if (!rc)
        rc = find_method(&s.method, p, at, method, e);
    if (rc)
        return rc;
    s.period = gossip_method_period(s.method);
    rc = add_periods(p, id, name, &s, e);
    if (!rc && !word)
        schema_note_unused(&p->notes, &gossip_method_section, &p->doc, id, p->own_source,
                           gossip_method_uses(&s));
    return rc;
}

/* Nobody asked for a method that cannot be run here: it is left out, and that is told. */
static int add_all(struct gossip_point *p, struct err *e)
{
    struct gossip_settings s = { .period = 1 };
    struct gossip_setup setup = gossip_point_setup(p);
    int rc = 0;
    schema_defaults(&s, &gossip_method_section);
    for (s.method = 0; s.method < gossip_n_methods && !rc; s.method++) {
        struct err why = { 0 };
        s.period = gossip_method_period(s.method);
        if (gossip_check(&setup, &s, &why))
            text_printf(&p->notes, "%s: method %s is left out: %s\n",
                        p->doc.sources[p->doc.nodes[p->doc.root].source], gossip_method_name(s.method),
                        why.msg);
        else
            rc = add_entry(p, p->doc.root, NULL, &s, e);
    }
    return rc;
}

/* The named row, else the first pair with period 1, else the first row. */
static int find_baseline(struct gossip_point *p, struct err *e)
{
    const char *label = p->base_label, *names[GOSSIP_MAX_METHODS] = { NULL };
    int32_t pair = gossip_find_method("pair");
    p->baseline = 0;
    for (int32_t i = p->n_entries - 1; i >= 0; i--) {
        const struct gossip_settings *s = &p->entries[i].settings;
        names[i] = p->entries[i].label;
        if (label ? strcmp(label, names[i]) == 0
                  : s->method == pair && gossip_point_has_fixed_period(s) && s->period == 1)
            p->baseline = i;
    }
    if (!label || strcmp(label, p->entries[p->baseline].label) == 0)
        return 0;
    const char *near = text_nearest(label, names, (size_t)p->n_entries);
    return yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "baseline"), e, ERR_PARSE,
                     "is %.100s, expected the label of a row, such as \"%.100s\"", label,
                     near ? near : p->entries[0].label);
}

/* The list of methods, or all at their defaults; needs all else. Notes of keys without effect among them. */
static int read_methods(struct gossip_point *p, struct err *e)
{
    yaml_id list = p->at.methods;
    int rc = list < 0 ? add_all(p, e) : yaml_need_list(&p->doc, list, INT32_MAX, "one method", e);
    if (rc)
        return rc;
    if (list >= 0)
        yaml_each (id, &p->doc, list)
            if (!rc)
                rc = read_method(p, id, e);
    return rc ? rc : find_baseline(p, e);
}

/* ---- a point ---- */

static int gossip_read_keys(struct gossip_point *p, struct err *e)
{
    p->fabric = (struct gossip_fabric){ .rules = stage_rules_plain, .share = 1 };
    int rc = schema_read(p, &gossip_section, &p->doc, p->doc.root, e);
    if (rc)
        return rc;
    if ((rc = read_fabric(p, e)) || (rc = read_need(p, e)) || (rc = read_ports(p, e)) ||
        (rc = read_learner(p, e)) || (rc = check_clock(p, e)) || (rc = read_job(p, e)) ||
        (rc = read_methods(p, e)))
        return rc;
    note_all(p);
    return text_check(&p->notes, e);
}

int gossip_point_read(void *point, const struct study_source *from, struct err *e)
{
    struct gossip_point *p = point;
    *p = (struct gossip_point){ .doc = { .root = -1 } };
    int rc = source_read(&p->doc, &p->own_source, from, e);
    if (!rc)
        rc = gossip_read_keys(p, e);
    if (rc)
        gossip_point_free(p);
    return rc;
}

void gossip_point_close(struct gossip_point *p)
{
    if (!p->has_parts) /* whose names are the document's */
        yaml_free(&p->doc);
}

/* igraph is not safe for threads. */
void gossip_point_free(void *point)
{
    struct gossip_point *p = point;
    for (int32_t i = 0; i < p->n_entries; i++)
        free(p->entries[i].label);
    free(p->entries);
    free(p->train_csv);
    free(p->test_csv);
    free(p->label);
    text_free(&p->notes);
    yaml_free(&p->doc);
    if (p->has_parts)
        design_point_free(&p->asked);
#pragma omp critical(igraph)
    topo_graph_free(p->graph);
    gossip_data_free(&p->own_train);
    gossip_data_free(&p->own_test);
    *p = (struct gossip_point){ .doc = { .root = -1 } };
}

/* ---- the kind: what the engine asks of it ---- */

/* ---- points ---- */

static int gossip_kind_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct gossip_point *p = first;
    s->seed = p->seed;
    s->seeds = p->seeds;
    text_printf(&s->name, "%.*s", TOPO_NAME - 1, p->name ? p->name : "");
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p->doc, p->doc.root));
    return sweep_check_seeds(&s->sweep, s->seeds, doc, e);
}

/* Where it runs, and the job of a point, in words. */
static void fill_words(struct gossip_point *p)
{
    const struct topo_network *net = &p->fabric.net;
    char spec[TOPO_SPEC];
    const char *name = net->name[0] ? net->name : topo_format_spec(spec, net);
    snprintf(p->on, sizeof p->on, "%d workers on %s, fidelity %s", p->fabric.n_workers, name,
             gossip_fidelity_words[p->fabric.fidelity]);
    if (p->job.model[0])
        gossip_point_job_text(p->replica, &p->job);
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

static int gossip_kind_prepare(void *point, void *shared, const struct study *study, struct err *e)
{
    (void)study;
    struct gossip_point *p = point;
    gossip_point_close(p);
    fill_words(p);
    fill_shared(shared, p);
    int rc;
    topo_merge_planes(&p->fabric.net);
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

/* The share of the bandwidths in whole parts: where any is enough there still is a link. */
static int price_need(struct gossip_outcome *x, const struct gossip_point *p, double share, struct err *e)
{
    const double LEAST = 1e-6;
    double need_Bps[TOPO_MAX_DIMS];
    int32_t only = p->fabric.share_dim;
    for (int32_t d = 0; d < p->asked.net.n_dims; d++)
        need_Bps[d] = p->asked.net.dims[d].bw_Bps * (only > 0 && d != only - 1 ? 1 : fmax(share, LEAST));
    int rc = ports_price(&x->ports, NULL, &p->asked, need_Bps, e);
    if (rc != ERR_RANGE)
        return rc;
    x->head.message = e->msg;
    return 0;
}

/* How much bandwidth the run of @p log needs. That a replay cannot tell, or that no parts have as much, is no
 * failure of the run. */
static int find_need(struct gossip_outcome *x, const struct gossip_log *log, const struct gossip_setup *setup,
                     const struct gossip_point *p, struct err *e)
{
    struct gossip_need need;
    int rc = gossip_need(&need, log, setup, p->need_pct / 100, e);
    if (!rc && isinf(need.share))
        rc = err_set(e, ERR_UNSUP, "need_GBps: a million times the bandwidth is not enough");
    if (!rc)
        x->need_Bps = need.bw_Bps;
    if (!rc && p->has_parts)
        return price_need(x, p, need.share, e);
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

/* A period that is never over is most likely not meant. */
static void note_never(struct gossip_outcome *x, const struct study_run *r, struct text *note)
{
    long long steps = gossip_point_steps(r->point);
    if (r->k > 0 || x->of.diverged_step >= 0 || x->of.exchanges > 0 || x->period <= steps)
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
        rc = find_need(out, &log, &setup, p, e);
    gossip_log_free(&log);
    if (!rc)
        out->of = *result;
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
    if (gossip_point_has_fixed_period(&x->settings))
        out.period = x->settings.period;
    return out;
}

/* One method with one seed. Its failure is a row; the machine's, or an interrupt, ends the study. */
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
    bool fatal = err_is_of_machine(rc);
    if (rc) {
        out.head.rc = -rc;
        out.head.message = e->msg;
    }
    if (!fatal)
        gossip_study_put_run(sink, r, &out);
    if (!rc) {
        rc = gossip_study_put_details(sink, r, &result, e);
        fatal = rc != 0;
    }
    if (!fatal)
        sink_result(sink, r->entry, &out);
    gossip_result_free(&result);
    text_free(&note);
    return fatal ? rc : 0;
}

/* ---- rows ---- */

static const char *const result_columns[] = { "status", NULL };

static bool gossip_kind_is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    return strcmp(table_text(rows, row, cols[0]), "ok") == 0;
}

/* `baseline` is a key of clusters, too. */
static const char *const own_keys[] = { "workers",      "rung",        "chunks",   "learner",
                                        "data",         "shards",      "clock",    "methods",
                                        "model_MB",     "endpoint_ns", "drift_at", "compare",
                                        "equal_points", "need_pct",    "need_dim", NULL };
static const char *const fixed_axes[] = { "seed", "seeds", NULL };
static const char *const front[] = { "time_s", "traffic_MB", "accuracy_pct", NULL };
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
    .read = gossip_point_read,
    .free = gossip_point_free,
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
    .reduce = gossip_study_reduce,
    .notes = NOTES_COMMON,
    .is_result = gossip_kind_is_result,
    .result_columns = result_columns,
    .label = "method",
    .front = front,
    .time = "time_s",
    .work = work,
    .say = gossip_study_say,
    .conclude = gossip_study_conclude,
    .fail_alone = gossip_study_fail_alone,
    .list = gossip_study_list,
    .notes_first = true,
};
