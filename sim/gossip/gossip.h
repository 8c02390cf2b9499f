/**
 * @file Training on N simulated workers that exchange little: the model is really trained, the clock and the
 * network are simulated.
 *
 * Every worker draws batches from its shard and steps by itself; a method (sim/gossip/method.h) says when and
 * with whom models or gradients are exchanged. With clock.stale a step takes the gradient at the parameters
 * as it begins and applies it to those as it ends, whatever exchanges have made of them in between.
 * Exchanges change models alone: what an optimiser remembers (velocity, AdamW's means) stays with its worker,
 * also where models become their mean. This project's choice; sources differ.
 */
#ifndef SIM_GOSSIP_H
#define SIM_GOSSIP_H

#include "sim/gossip/learner.h"
#include "sim/gossip/wire.h"

enum { GOSSIP_MAX_WORKERS = 1 << 16, GOSSIP_MAX_DECAYS = 8 };

struct gossip_log;

enum gossip_schedule {
    GOSSIP_RATE_STEPS, /**< times decay at each of decay_at */
    GOSSIP_RATE_CONSTANT,
    GOSSIP_RATE_COSINE, /**< to 0 at the end: (1 + cos(pi t)) / 2 */
    N_GOSSIP_SCHEDULES,
};
/** "steps", "constant", "cosine"; NULL-terminated. */
extern const char *const gossip_schedule_words[N_GOSSIP_SCHEDULES + 1];

/** How every worker learns. */
struct gossip_learning {
    int32_t batch; /**< examples a step; a smaller shard is one batch */
    double epochs; /**< of the shards; steps of a worker = epochs * (smallest shard / batch), rounded down, at
                      least 1 */
    enum gossip_optimizer optimizer;
    double rate, momentum, weight_decay;
    enum gossip_schedule schedule;
    double decay, decay_at[GOSSIP_MAX_DECAYS]; /**< decay_at: shares of the steps, ascending */
    int32_t n_decays;
};

/** How long steps take. */
struct gossip_clock {
    double step_s;       /**< mean of a step of a worker that is not slow, > 0 */
    double jitter;       /**< share of it that is exponentially distributed, [0, 1] */
    int32_t n_slow;      /**< the last workers.. */
    double slowdown;     /**< ..take so many times as long, >= 1 */
    double pause_prob;   /**< of every step, that it takes.. */
    double pause_factor; /**< ..so many times as long, >= 1 */
    bool stale;   /**< a step learns from the model as the step begins, and an exchange changes models when
                     it ends; false: as the step ends, and when it begins, as if steps and messages took
                     no time for what is learned */
    bool overlap; /**< exchanges beside steps: one may be under way while the next step computes */
};

/** What runs of one point and seed share. Borrowed, read-only: threads may share it. */
struct gossip_setup {
    const struct gossip_net *net;
    const struct gossip_data *train[2], *test[2]; /**< before and after the drift; the same twice without */
    double drift_at; /**< share of a worker's steps after which it sees train[1]; 1: never */
    const struct gossip_shards *shards; /**< of n_workers */
    struct gossip_learning learning;
    struct gossip_clock clock;
    const struct gossip_fabric *fabric; /**< its n_workers are the workers */
    double model_B; /**< that the parameters of one model count as on the wire; 0: 4 bytes each */
};

/** When a worker of pull, push and pair exchanges. s: steps since the last exchange that it began itself;
 * drift: |x - ref| / |ref|, ref its parameters after its last exchange, whoever began it; of B, after the
 * last that it began itself. */
enum gossip_rule {
    GOSSIP_RULE_FIXED,   /**< s >= period */
    GOSSIP_RULE_DRIFT,   /**< A: drift >= theta or s >= cap */
    GOSSIP_RULE_CONTROL, /**< B: s >= tau; at an exchange tau <- tau times theta / drift, cut to 1/2 .. 2,
                            rounded, cut to 1 .. cap */
    GOSSIP_RULE_RATE,    /**< C: drift >= theta * rate / first rate, or s >= cap */
    N_GOSSIP_RULES,
};
/** "fixed", "drift", "control", "rate-drift"; NULL-terminated. */
extern const char *const gossip_rule_words[N_GOSSIP_RULES + 1];

/** Who is whose neighbour, where a method has neighbours. */
enum gossip_graph {
    GOSSIP_RING,        /**< w - 1 and w + 1 */
    GOSSIP_EXPONENTIAL, /**< one a step, in turn: w + 1, w + 2, w + 4, .. */
    N_GOSSIP_GRAPHS,
};
/** "ring", "exponential"; NULL-terminated. */
extern const char *const gossip_graph_words[N_GOSSIP_GRAPHS + 1];

/** What settings are used for: bits, in the order in which notes name them. TEACHER and STEPS are a study's.
 */
enum gossip_use {
    GOSSIP_FOR_PERIOD = 1 << 0,
    GOSSIP_FOR_RULE = 1 << 1,
    GOSSIP_FOR_THETA = 1 << 2,
    GOSSIP_FOR_CAP = 1 << 3,
    GOSSIP_FOR_CHECK = 1 << 4,
    GOSSIP_FOR_MIX = 1 << 5,
    GOSSIP_FOR_PROB = 1 << 6,
    GOSSIP_FOR_ALPHA = 1 << 7,
    GOSSIP_FOR_INTERVAL = 1 << 8,
    GOSSIP_FOR_SWITCH = 1 << 9,
    GOSSIP_FOR_POWER = 1 << 10,
    GOSSIP_FOR_DELTA = 1 << 11,
    GOSSIP_FOR_LAG = 1 << 12,
    GOSSIP_FOR_SMOOTH = 1 << 13,
    GOSSIP_FOR_GRAPH = 1 << 14,
    GOSSIP_FOR_EVENT = 1 << 15,
    GOSSIP_FOR_SPARQ = 1 << 16,
    GOSSIP_FOR_DILOCO = 1 << 17,
    GOSSIP_FOR_TEACHER = 1 << 18,
    GOSSIP_FOR_STEPS = 1 << 19,
    GOSSIP_FOR_SERVER = 1 << 20,
    N_GOSSIP_USES = 21,
};

/** One method with its numbers; which of them it reads is in its table row. The limits of each are those of
 * its key (kinds/gossip/gossip.c). */
struct gossip_settings {
    int32_t method; /**< number in gossip_methods */
    int64_t period; /**< steps between exchanges, >= 1; the first one, where it adapts */
    enum gossip_rule rule;
    double theta;       /**< of a rule, >= 0, INFINITY allowed */
    int64_t cap;        /**< most steps between exchanges of a rule or of an adapted period */
    int64_t check;      /**< steps between looks at a rule or condition, >= 1 */
    double mix;         /**< share of the other's model that is taken, (0, 1] */
    double prob;        /**< gosgd: of sending after a step, [0, 1] */
    double alpha;       /**< elastic: (0, 1]; NaN: 0.9 / workers */
    double interval_s;  /**< adacomm: between changes of the period, simulated seconds; NaN: of 1/20 of the
                           steps */
    double switch_frac; /**< post-local: share of the steps with period 1; gossip-aga, variance: of the
                           warm-up */
    double power;       /**< gossip-aga: period = (first loss / loss)^power * period */
    double delta;       /**< dynamic: bound on |x - reference|^2 */
    double lag_xi;      /**< lag-wk, lag-ps: >= 0; NaN: 0.1 and 1, those of the source */
    int64_t lag_depth;  /**< lag: differences remembered */
    double lag_smooth;  /**< lag-ps: L_m, smoothness of a worker's loss; NaN: (1 - momentum) / rate */
    enum gossip_graph graph;
    double horizon;              /**< eventgrad: a threshold decays by it each step; 0: always send */
    int64_t warmup;              /**< eventgrad: steps that always send */
    double sparq_c, sparq_power; /**< sparq: c_t = c t^power; sends iff |x - estimate|^2 > c_t rate^2 */
    double gamma;                /**< sparq: consensus step, (0, 1] */
    double keep;       /**< sparq: share of the numbers that a message has, (0, 1]; 1: all of them */
    int64_t fragments; /**< diloco: parts of the model that are exchanged in turn, >= 1 */
    int64_t delay;     /**< diloco: steps that an exchange may take beside compute, 0: none */
    double outer_rate, outer_momentum; /**< diloco */
    double
        outer_mix; /**< diloco: share of the worker's own model that stays, [0, 1): 0 takes the global one */
    enum gossip_optimizer inner; /**< diloco: of the steps; N_GOSSIP_OPTIMIZERS: as all */
    double inner_rate; /**< diloco: of learning of the steps; NaN: as all, and where `inner` is another
                          optimizer than theirs 0.05 of sgd, 0.001 of adamw */
};

/** Number of the method called @p name, -1: none. */
int32_t gossip_find_method(const char *name);
extern const int32_t gossip_n_methods;
const char *gossip_method_name(int32_t method);
const char *gossip_method_help(int32_t method);
/** Its period where none is given, >= 1. */
int64_t gossip_method_period(int32_t method);
/** enum gossip_use bits of the settings it reads. */
uint32_t gossip_method_uses(const struct gossip_settings *s);

/** Points of a curve, fewer where all workers together make fewer steps; at how many of them the averaged
 * model is tested. */
enum { GOSSIP_CURVE = 100, GOSSIP_CURVE_TESTS = 20 };

/** A point of time in a run, after so many hundredths of all steps; all numbers are of all workers together.
 * The last is the end of the run. */
struct gossip_curve_point {
    double time_s;
    int64_t steps;
    double loss; /**< mean over batches since the point before, if there are none as there [nats] */
    int64_t exchanges;
    double sent_B;
    double accuracy; /**< of the averaged model, on the test set of the concept that most steps see now; NaN
                          unless asked for, and between the points that are tested */
};

/** What a run came to. Release with gossip_result_free(). */
struct gossip_result {
    int64_t diverged_step;    /**< step of a worker at which the loss was no number; -1: it never was. Then
                                 accuracies and loss are NaN, and the rest is until there. */
    int64_t steps;            /**< of one worker; lag-ps passes over some */
    double time_s;            /**< until the last worker and exchange were done */
    double compute_s, wait_s; /**< mean over workers; what is left of time_s they were done. An exchange that
                                 a worker waits for after its last step is waited for. */
    double accuracy;          /**< mean over workers, of their own models, [0, 1] */
    double average_accuracy;  /**< of the mean of all models */
    double loss;              /**< mean over batches of the last tenth of the steps, rounded up [nats]; NaN:
                                 lag-ps had none */
    int64_t exchanges;        /**< messages, two-way exchanges and collectives */
    double sent_B;            /**< gossip_wire_sent_B() */
    double dim_B[TOPO_MAX_DIMS];
    double average_s,
        average_B; /**< of one more all-reduce at the end, for the averaged model; not in the above */
    int32_t n_curve;
    struct gossip_curve_point *curve; /**< shape [n_curve], owned; NULL unless asked for */
    int32_t n_arcs;
    double *arc_B; /**< shape [n_arcs], owned; NULL unless asked for */
    float *models; /**< shape [n_workers][n_params], owned; NULL unless asked for */
};

/** What is kept besides. */
struct gossip_wish {
    bool curve, curve_accuracy, arcs, models;
    struct gossip_log *log; /**< empty: becomes what was asked of the network (sim/gossip/replay.h), owned by
                               the caller, to be freed also after failure; NULL: not kept */
};

/**
 * Can @p settings be run? Of @p setup only net, drift_at, learning, clock, model_B and fabric without its
 * graph are looked at. ERR_RANGE: "period is 9, expected at most the cap, 8". gossip_run() asks the
 * same.
 */
int gossip_check(const struct gossip_setup *setup, const struct gossip_settings *settings, struct err *e);

/**
 * Train. Same setup, settings and seed, same bytes.
 * @param out  uninitialised; empty after failure.
 * @return 0; ERR_RANGE: settings that no such run can have ("is X, need Y"); ERR_NOMEM; what the wire says.
 * Memory O(workers * parameters).
 */
int gossip_run(struct gossip_result *out, const struct gossip_setup *setup,
               const struct gossip_settings *settings, uint64_t seed, const struct gossip_wish *wish,
               struct err *e);
void gossip_result_free(struct gossip_result *r);

#endif
