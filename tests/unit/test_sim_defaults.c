/* What the settings of every model are when nothing is said: the numbers of the manual (weft keys; the
 * figures of HeterPS: docs/hetero.md), written down once more. */
#include "sim/batch/batch.h"
#include "sim/cluster/pace.h"
#include "sim/events/events.h"
#include "sim/gossip/run.h"
#include "sim/hetero/search.h"
#include "sim/interval/interval.h"
#include "sim/slots/slots.h"
#include "tests/settings.h"
#include "tests/support.h"

/* All fields of these settings, in order; what is left out is 0. */
#define IS(field, want) assert_true(s.field == (want))

TEST(schedulers_begin_with_what_the_manual_says)
{
    {
        const struct elastic_settings s = elastic_settings_default();
        IS(n_slots, 200), IS(seed, 1), IS(samples, 100), IS(las_queues, 3), IS(las_step, 40);
        assert_true(s.reoffer);
    }
    {
        const struct events_settings s = events_settings_default();
        IS(order, EVENTS_FIFO), IS(pack, PACK_PACKED), IS(seed, 1), IS(horizon_s, INFINITY),
            IS(overhead_s, 0);
        IS(las_queues, 3), IS(las_at[0], 3600), IS(las_at[1], 36000), IS(round_s, 300);
        assert_false(s.backfill || s.keep_spans || s.keep_points || s.keep_bins);
    }
    {
        const struct batch_settings s = batch_settings_default();
        IS(theta_max, 0), IS(more_limits, 16), IS(kappa, 0), IS(lambda, 1), IS(under, 1.15), IS(over, 1);
        IS(ff_limit, 2.25), IS(slot_s, 0), IS(seed, 1);
        assert_false(s.literal_pack || s.literal_load || s.literal_bisect || s.whole_iterations);
    }
    {
        const struct smd_settings s = smd_settings_default();
        IS(inner, SMD_INNER_GRID), IS(eps, 0.05), IS(rounding.scale, SMD_SCALE_ONE);
        IS(rounding.keep, SMD_KEEP_BEST), IS(rounding.delta, 0.5), IS(rounding.tries, 100);
        IS(knapsack.method, KNAPSACK_EXACT), IS(knapsack.subset, 2), IS(knapsack.max_nodes, 200000);
        IS(baselines, SMD_ADMIT_KNAPSACK), IS(esw, SMD_ESW_LARGEST), IS(seed, 1);
    }
    {
        const struct pace_graph_settings s = pace_graph_settings_default();
        IS(contention, PACE_CONTENTION_SHARED), IS(inner_Bps, INFINITY), IS(reduce_Bps, INFINITY);
        IS(duty, PACE_DUTY_ALWAYS);
    }
}

TEST(searches_for_plans_begin_with_what_the_manual_says)
{
    {
        const struct hetero_settings s = hetero_settings_default();
        IS(evaluations, 25600), IS(rl.hidden, 32), IS(rl.plans, 64), IS(rl.rounds, 200), IS(rl.patience, 50);
        IS(rl.rate, 0.01), IS(rl.entropy, 0.2), IS(rl.gamma, 0.2), IS(rl.best_frac, 0.1), IS(rl.clip, 5);
        IS(genetic.population, 32), IS(genetic.tournament, 3), IS(genetic.elite, 2),
            IS(genetic.crossover, 0.9);
        IS(genetic.mutation, 1), IS(anneal.hot, 1), IS(anneal.cold, 1e-3), IS(bayes.initial, 16);
        IS(bayes.evaluations, 80), IS(bayes.candidates, 256), IS(bayes.length, 0.25), IS(bayes.noise, 1e-6);
        assert_true(s.rl.copy_logit);
    }
    {
        const struct hetero_draw s = hetero_draw_default();
        IS(model, HETERO_CTRDNN), IS(n_types, 2), IS(seed, 1), IS(batch, 4096);
        IS(cpu.flops, 2e10), IS(cpu.memory_Bps, 4e9), IS(cpu.lookup_Bps, 2e9), IS(cpu.net_Bps, 2e9);
        IS(cpu.usd_per_h, 0.04), IS(cpu.compute_par, 0.97), IS(cpu.comm_par, 0.95), IS(cpu.max_units, 256);
        IS(gpu.flops, 7e12), IS(gpu.memory_Bps, 4e11), IS(gpu.lookup_Bps, 3e8), IS(gpu.net_Bps, 12.5e9);
        IS(gpu.usd_per_h, 2.42), IS(gpu.compute_par, 0.995), IS(gpu.comm_par, 0.9), IS(gpu.max_units, 64);
    }
}

TEST(training_begins_with_what_the_manual_says)
{
    {
        const struct gossip_learning s = gossip_learning_default();
        IS(batch, 32), IS(epochs, 20), IS(optimizer, GOSSIP_SGD), IS(rate, 0.05), IS(momentum, 0.9);
        IS(weight_decay, 0), IS(schedule, GOSSIP_RATE_STEPS), IS(decay, 0.1), IS(n_decays, 2);
        IS(decay_at[0], 0.5), IS(decay_at[1], 0.75);
    }
    {
        const struct gossip_settings s = gossip_settings_default();
        IS(period, 1), IS(rule, GOSSIP_RULE_FIXED), IS(theta, 0.05), IS(cap, 64), IS(check, 1), IS(mix, 0.5);
        IS(prob, 0.1), IS(switch_frac, 0.5), IS(power, 0.25), IS(delta, 0.1), IS(lag_depth, 10);
        IS(graph, GOSSIP_RING), IS(horizon, 1), IS(warmup, 30), IS(sparq_c, 1000), IS(sparq_power, 0);
        IS(gamma, 0.5), IS(keep, 1), IS(fragments, 1), IS(delay, 0), IS(outer_rate, 0.7);
        IS(outer_momentum, 0.9), IS(inner, N_GOSSIP_OPTIMIZERS);
        assert_true(isnan(s.alpha) && isnan(s.interval_s) && isnan(s.lag_xi) && isnan(s.lag_smooth));
        assert_true(isnan(s.inner_rate));
    }
}
