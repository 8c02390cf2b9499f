/* The keys of a study of training with little communication. */
#include <math.h>
#include <stddef.h>

#include "kinds/gossip/gossip_point.h"

#define ROW(conf, key, field, what, text)                                                                    \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field)
#define PLAIN(conf, key, field, what, used, text)                                                            \
    {                                                                                                        \
        ROW(conf, key, field, what, text), .unit = "", .dflt = SCHEMA_NONE, .uses = used                     \
    }
#define WORD(conf, key, field, list, absent, used, text)                                                     \
    {                                                                                                        \
        ROW(conf, key, field, KEY_WORD, text), .unit = "", .words = list, .dflt = absent, .uses = used       \
    }
#define FLAG(conf, key, field, absent, text)                                                                 \
    {                                                                                                        \
        ROW(conf, key, field, KEY_BOOL, text), .unit = "", .dflt = absent                                    \
    }
#define COUNT(conf, key, field, least, most, absent, used, text)                                             \
    {                                                                                                        \
        ROW(conf, key, field, KEY_COUNT, text), .unit = "", .scale = 1, .min = least, .max = most,           \
                                                .dflt = absent, .uses = used                                 \
    }
#define REAL(conf, key, field, in, times, least, most, absent, used, text)                                   \
    {                                                                                                        \
        ROW(conf, key, field, KEY_REAL, text), .unit = in, .scale = times, .min = least, .max = most,        \
                                               .dflt = absent, .uses = used                                  \
    }
const char *const gossip_compare_words[] = { "workers", "averaged", NULL };

/* Ends of ranges that are no values themselves: at 0 a method does nothing, at 1 it forgets nothing. */
#define ABOVE_0 1e-9
#define BELOW_1 0.999999
#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = { where, text, rows, sizeof rows / sizeof rows[0] }

#define STUDY(key, field, what, text) PLAIN(gossip_conf, key, field, what, 0, text)

static const struct key study_keys[] = {
    STUDY("name", name, KEY_TEXT, "what reports call the study"),
    STUDY("source", source, KEY_TEXT, "where the study comes from"),
    { ROW(gossip_conf, "network", network, KEY_NODE,
          "what joins the workers: a network file, a word or a map, with bandwidths"),
      .unit = "", .dflt = SCHEMA_NONE, .required = true },
    COUNT(gossip_conf, "workers", workers, 1, GOSSIP_MAX_WORKERS, SCHEMA_NONE, 0,
          "that train, NPU 0 and those after it; they fill dimensions from the innermost; absent: all NPUs"),
    COUNT(gossip_conf, "server", server, 0, 9e18, SCHEMA_NONE, USE_GOSSIP_SERVER,
          "NPU that holds what has a centre; absent: the first without a worker, else 0"),
    WORD(gossip_conf, "rung", rung, gossip_rung_words, GOSSIP_CLOSED, 0,
         "how exchanges are priced: one after the other on a link, or as flows that share it"),
    COUNT(gossip_conf, "chunks", chunks, 1, STAGE_MAX_CHUNKS, 1, 0,
          "of a collective, that pass the dimensions one behind the other"),
    REAL(gossip_conf, "endpoint_ns", endpoint_s, "ns", 1e-9, 0, 1e9, 0, 0,
         "of a collective: overhead of an NPU per message"),
    REAL(gossip_conf, "model_MB", model_B, "MB", 1e6, 1e-9, 1e12, SCHEMA_NONE, 0,
         "what a model counts as on the wire; absent: that of job, else 4 bytes a parameter of what is "
         "trained"),
    STUDY("job", job, KEY_NODE,
          "the model whose training a worker stands for, in place of model_MB and clock.step_ms; see job of "
          "gossip"),
    STUDY("learner", learner, KEY_NODE, "what is trained and how, see learner"),
    STUDY("data", data, KEY_NODE, "examples: drawn from a teacher, or two CSV files; see data of gossip"),
    WORD(gossip_conf, "shards", shards, gossip_sharding_words, GOSSIP_IID, 0,
         "who holds which examples: dealt out after a shuffle, or sorted by class"),
    REAL(gossip_conf, "drift_at", drift_at, "", 1, 0, 1, SCHEMA_NONE, USE_GOSSIP_TEACHER,
         "share of a worker's steps after which another teacher says what class examples have; absent: "
         "never"),
    STUDY("clock", clock, KEY_NODE, "how long steps take, see clock of gossip"),
    STUDY("methods", methods, KEY_NODE,
          "list of methods, words or maps, see methods of gossip and weft gossip --list; absent: all that "
          "can run"),
    STUDY("baseline", baseline, KEY_TEXT,
          "label of the row that others are compared with; absent: the first pair with period 1, else the "
          "first row"),
    REAL(gossip_conf, "equal_points", equal_points, "%", 1, 0, 100, 0.5, 0,
         "accuracies this near are equal, where the best fixed period is looked for"),
    WORD(gossip_conf, "compare", compare, gossip_compare_words, GOSSIP_COMPARE_WORKERS, 0,
         "whose accuracy counts where methods are compared: the workers' own, or that of the averaged model"),
    REAL(gossip_conf, "need_pct", need_pct, "%", 1, 1e-3, 1e6, SCHEMA_NONE, 0,
         "find the bandwidth at which a run takes so much longer than with endless bandwidth; absent: not "
         "asked"),
    STUDY("need_dim", need_dim, KEY_TEXT,
          "dimension of the network whose bandwidth alone that is; absent: all of them"),
    COUNT(gossip_conf, "seeds", seeds, 1, 100000, 5, 0, "runs of each method; the mean counts"),
    COUNT(gossip_conf, "seed", seed, 0, 9e18, 1, 0,
          "of the first run, its examples and shards; the others follow by one"),
    STUDY("vary", vary, KEY_NODE, "axes: KEY: [values] or KEY: { from, to, ... }, see vary"),
};
SECTION(gossip_section, "gossip study", "training with little communication, for weft gossip", study_keys);

/* ---- what is trained ---- */

#define LEARN(key, field, least, most, absent, used, text)                                                   \
    REAL(gossip_learner_conf, key, field, "", 1, least, most, absent, used, text)

static const struct key learner_keys[] = {
    PLAIN(gossip_learner_conf, "hidden", hidden, KEY_NODE, 0,
          "width of the hidden layer, or a list of widths; []: softmax regression; absent: 64"),
    COUNT(gossip_learner_conf, "batch", batch, 1, 1 << 20, 32, 0,
          "examples a step; a smaller shard is one batch"),
    LEARN("epochs", epochs, 1e-6, 1e9, 20, 0, "of the shards"),
    WORD(gossip_learner_conf, "optimizer", optimizer, gossip_optimizer_words, GOSSIP_SGD, 0,
         "of every worker"),
    LEARN("rate", rate, 1e-12, 1e9, 0.05, 0, "of learning, at first"),
    LEARN("momentum", momentum, 0, BELOW_1, 0.9, 0, "of sgd"),
    LEARN("weight_decay", weight_decay, 0, 1e6, 0, 0, "adamw: decoupled; sgd: added to the gradient"),
    WORD(gossip_learner_conf, "schedule", schedule, gossip_schedule_words, GOSSIP_RATE_STEPS, 0,
         "of the rate: falls at decay_at, stays, or to 0 by a cosine"),
    LEARN("decay", decay, 1e-12, 1, 0.1, USE_GOSSIP_STEPS, "what the rate is multiplied by each time"),
    PLAIN(gossip_learner_conf, "decay_at", decay_at, KEY_NODE, USE_GOSSIP_STEPS,
          "list of shares of the steps, ascending; absent: [0.5, 0.75]"),
};
SECTION(gossip_learner_section, "learner", "what every worker of a gossip study trains, and how",
        learner_keys);

#define DRAWN(key, field, least, most, absent, text)                                                         \
    COUNT(gossip_data_conf, key, field, least, most, absent, USE_GOSSIP_TEACHER, text)
#define FILE_KEY(key, field, text) PLAIN(gossip_data_conf, key, field, KEY_TEXT, 0, text)

static const struct key data_keys[] = {
    DRAWN("train", train, 1, 1e9, 20000, "examples to train on, of all workers"),
    DRAWN("test", test, 1, 1e9, 5000, "examples to test on"),
    DRAWN("features", features, 1, GOSSIP_MAX_FEATURES, 32, "of an example, standard normal"),
    DRAWN("classes", classes, 2, GOSSIP_MAX_CLASSES, 10, "that the teacher tells apart"),
    DRAWN("hidden", hidden, 1, GOSSIP_MAX_WIDTH, 48, "units of the teacher"),
    REAL(gossip_data_conf, "gain", gain, "", 1, 0, 1e6, 1.5, USE_GOSSIP_TEACHER,
         "of the teacher's first layer: deviation of its weights times the root of features"),
    REAL(gossip_data_conf, "noise", noise, "", 1, 0, 1, 0.05, USE_GOSSIP_TEACHER,
         "share of the training examples whose class is drawn at random"),
    FILE_KEY("train_csv", train_csv, "file of examples to train on, in place of the teacher's"),
    FILE_KEY("test_csv", test_csv, "file of examples to test on, with the same columns"),
    FILE_KEY("label", label, "column that holds the class; absent: the last one"),
};
SECTION(gossip_data_section, "data of gossip", "examples of a teacher, or two CSV files", data_keys);

/* ---- the clock ---- */

#define CLOCK(key, field, in, times, least, most, absent, text)                                              \
    REAL(gossip_clock_conf, key, field, in, times, least, most, absent, 0, text)

static const struct key clock_keys[] = {
    CLOCK("step_ms", step_s, "ms", 1e-3, 1e-9, 1e12, 10, "mean time of a step of a worker, without job"),
    CLOCK("jitter", jitter, "", 1, 0, 1, 0.1, "share of it that is exponentially distributed"),
    COUNT(gossip_clock_conf, "slow_workers", slow_workers, 0, GOSSIP_MAX_WORKERS, 0, 0, "the last ones .."),
    CLOCK("slowdown", slowdown, "", 1, 1, 1e9, 1, ".. take so many times as long"),
    CLOCK("pause_prob", pause_prob, "", 1, 0, 1, 0, "of every step, that it takes .."),
    CLOCK("pause_factor", pause_factor, "", 1, 1, 1e9, 1, ".. so many times as long"),
    FLAG(gossip_clock_conf, "overlap", overlap, 0, "true: a worker computes beside one exchange of its own"),
    FLAG(gossip_clock_conf, "stale", stale, 1,
         "true: a step learns from the model as it began, an exchange changes models when it has arrived; "
         "false: what is learned sees no delay"),
};
SECTION(gossip_clock_section, "clock of gossip", "how long steps take, simulated", clock_keys);

/* ---- methods ---- */

#define METHOD_COUNT(key, field, least, most, absent, used, text)                                            \
    COUNT(gossip_method_conf, key, settings.field, least, most, absent, used, text)
#define METHOD(key, field, least, most, absent, used, text)                                                  \
    REAL(gossip_method_conf, key, settings.field, "", 1, least, most, absent, used, text)

/* Defaults are those of gossip_settings_default(); a test holds them equal. Ranges are those of all methods:
 * what one of them can be run with beside other settings it says itself. */
static const struct key method_keys[] = {
    { ROW(gossip_method_conf, "method", method, KEY_TEXT, "which, see weft gossip --list"), .unit = "",
      .dflt = SCHEMA_NONE, .required = true },
    PLAIN(gossip_method_conf, "name", name, KEY_TEXT, 0,
          "label of the row; absent: the method and what it is given"),
    PLAIN(gossip_method_conf, "period", period, KEY_NODE, USE_GOSSIP_PERIOD,
          "steps between exchanges, of one that adapts the first; a list makes a row each; absent: "
          "that of weft gossip --list"),
    WORD(gossip_method_conf, "rule", rule, gossip_rule_words, GOSSIP_RULE_FIXED, USE_GOSSIP_RULE,
         "when a worker exchanges: by period, or by the change of its model"),
    METHOD("theta", theta, 0, 1e300, 0.05, USE_GOSSIP_THETA, "change of the model at which a rule exchanges"),
    METHOD_COUNT(
        "cap", cap, 1, 9e18, 64, USE_GOSSIP_CAP,
        "most steps between exchanges, of a rule or of a period that adapts; absent: the first period "
        "where that is more"),
    METHOD_COUNT("check", check, 1, 9e18, 1, USE_GOSSIP_CHECK, "steps between looks at the change"),
    METHOD("mix", mix, ABOVE_0, 1, 0.5, USE_GOSSIP_MIX, "share of the other's model that is taken"),
    METHOD("prob", prob, 0, 1, 0.1, USE_GOSSIP_PROB, "of sending after a step"),
    METHOD("alpha", alpha, ABOVE_0, 1, SCHEMA_NONE, USE_GOSSIP_ALPHA,
           "pull between a worker and the centre; absent: 0.9 / workers"),
    REAL(gossip_method_conf, "interval_s", settings.interval_s, "s", 1, 1e-12, 1e15, SCHEMA_NONE,
         USE_GOSSIP_INTERVAL,
         "simulated time between changes of the period; absent: 1/20 of the steps' time"),
    METHOD("switch_frac", switch_frac, 0, 1, 0.5, USE_GOSSIP_SWITCH,
           "share of the steps before the switch, or of warm-up"),
    METHOD("power", power, 0, 100, 0.25, USE_GOSSIP_POWER, "period = (first loss / loss)^power * period"),
    METHOD("delta", delta, 0, 1e300, 0.1, USE_GOSSIP_DELTA,
           "bound on the squared distance from the reference"),
    METHOD("lag_xi", lag_xi, 0, 1e300, SCHEMA_NONE, USE_GOSSIP_LAG,
           "of the condition of LAG; 0: always send; absent: 0.1 of lag-wk, 1 of lag-ps"),
    METHOD_COUNT("lag_depth", lag_depth, 1, 1 << 20, 10, USE_GOSSIP_LAG, "differences that LAG remembers"),
    METHOD("lag_smooth", lag_smooth, 0, 1e300, SCHEMA_NONE, USE_GOSSIP_SMOOTH,
           "smoothness of every worker's loss; absent: (1 - momentum) / rate"),
    WORD(gossip_method_conf, "graph", graph, gossip_graph_words, GOSSIP_RING, USE_GOSSIP_GRAPH,
         "who is whose neighbour"),
    METHOD("horizon", horizon, 0, 1e6, 1, USE_GOSSIP_EVENT,
           "what a threshold is multiplied by each step; 0: always send"),
    METHOD_COUNT("warmup", warmup, 0, 9e18, 30, USE_GOSSIP_EVENT, "steps that always send"),
    METHOD("sparq_c", sparq_c, 0, 1e300, 1000, USE_GOSSIP_SPARQ,
           "sends iff |x - estimate|^2 > sparq_c t^sparq_power rate^2"),
    METHOD("sparq_power", sparq_power, 0, BELOW_1, 0, USE_GOSSIP_SPARQ, "how that grows with the step"),
    METHOD("gamma", gamma, ABOVE_0, 1, 0.5, USE_GOSSIP_SPARQ, "step towards the neighbours' estimates"),
    METHOD("keep", keep, ABOVE_0, 1, 1, USE_GOSSIP_SPARQ, "share of the numbers that a message has"),
    METHOD_COUNT("fragments", fragments, 1, GOSSIP_MAX_PARAMS, 1, USE_GOSSIP_DILOCO,
                 "parts of the model that are exchanged in turn"),
    METHOD_COUNT("delay", delay, 0, 9e18, 0, USE_GOSSIP_DILOCO,
                 "steps that an exchange may take beside compute"),
    METHOD("outer_rate", outer_rate, ABOVE_0, 10, 0.7, USE_GOSSIP_DILOCO, "of the outer step"),
    METHOD("outer_momentum", outer_momentum, 0, BELOW_1, 0.9, USE_GOSSIP_DILOCO, "of the outer step"),
    METHOD("outer_mix", outer_mix, 0, BELOW_1, 0, USE_GOSSIP_DILOCO,
           "share of the worker's own model that stays"),
    WORD(gossip_method_conf, "inner", inner, gossip_optimizer_words, SCHEMA_NONE, USE_GOSSIP_DILOCO,
         "optimizer of the steps; absent: that of the learner"),
    METHOD("inner_rate", inner_rate, 1e-12, 1e9, SCHEMA_NONE, USE_GOSSIP_DILOCO,
           "of learning of the steps; absent: that of the learner, of another optimizer 0.05 (sgd), 0.001 "
           "(adamw)"),
};
SECTION(gossip_method_section, "methods of gossip", "a method with its numbers, a row of the table",
        method_keys);
