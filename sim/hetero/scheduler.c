/* The list of schedulers, and a run of one of them. */
#include <string.h>

#include "base/text.h"
#include "sim/hetero/search.h"

const struct hetero_scheduler hetero_schedulers[] = {
    { "oracle", "the cheapest plan, proved where limits of units do not bind", hetero_oracle_run, false,
      false },
    { "exact", "the cheapest plan, proved within the limits of units", hetero_labels_run, false, false },
    { "brute-force", "all plans, at most 2^22", hetero_brute, false, false },
    { "rl-lstm", "an LSTM that learns by REINFORCE", hetero_rl_lstm, true, false },
    { "rl-rnn", "the same with an Elman network", hetero_rl_rnn, true, false },
    { "greedy", "layer by layer, the type that makes the plan cheapest", hetero_greedy, false, false },
    { "genetic", "a genetic algorithm", hetero_genetic, true, false },
    { "bayes", "Bayesian optimisation: few evaluations", hetero_bayes, true, false },
    { "anneal", "simulated annealing", hetero_anneal, true, false },
    { "random", "the type of each layer drawn by itself", hetero_random, true, false },
    { "random-stages", "plans of longer stages drawn", hetero_random_stages, true, false },
    { "heuristic", "look-ups and pooling on CPUs, all else on GPUs", hetero_heuristic, false, false },
    { "gpu-only", "all on one type of GPU", hetero_gpu_only, false, false },
    { "cpu-only", "all on one type of CPU", hetero_cpu_only, false, false },
    { "random+local", "then one stage or layer recoloured at a time", hetero_random, true, true },
    { "rl-lstm+local", "rl-lstm, then one stage or layer recoloured at a time", hetero_rl_lstm, true, true },
};
const int32_t n_hetero_schedulers = (int32_t)(sizeof hetero_schedulers / sizeof hetero_schedulers[0]);

/* A stream of random numbers for each name, so that a new row of the list changes no other one's draws. A
 * search with a local search after it is the same search: what follows '+' does not count. */
static uint64_t stream_of(const char *name)
{
    return text_hash(TEXT_HASH_SEED, name, strcspn(name, "+")) & UINT32_MAX;
}

int hetero_schedule(struct hetero_search *s, const struct hetero_problem *p, int32_t which,
                    const struct hetero_settings *settings, uint64_t seed, struct err *e)
{
    const struct hetero_scheduler *x = &hetero_schedulers[which];
    struct hetero_value again;
    int rc = hetero_search_build(s, p, seed, stream_of(x->name), settings->evaluations, e);
    if (!rc)
        rc = x->run(s, settings, e);
    if (!rc && x->local)
        rc = hetero_local(s, e);
    if (!rc && s->failed)
        rc = err_nomem(e, "a learning curve");
    if (!rc)
        hetero_evaluate(&again, p, s->best, &s->work);
    return rc;
}
