/* The list of schedulers, and a run of one of them. */
#include <string.h>

#include "base/text.h"
#include "sim/hetero/search.h"

const struct hetero_scheduler hetero_schedulers[] = {
    { "rl-lstm", "LSTM policy, trained by REINFORCE", hetero_rl_lstm, true, false },
    { "rl-rnn", "Elman network instead of the LSTM", hetero_rl_rnn, true, false },
    { "random", "plans drawn at random", hetero_random, true, false },
};
const int32_t n_hetero_schedulers = (int32_t)(sizeof hetero_schedulers / sizeof hetero_schedulers[0]);

/* A stream of random numbers for each name, so that a new row of the list changes no other one's draws. A
 * search with a local search after it is the same search: what follows '+' does not count. */
static uint64_t stream_of(const char *name)
{
    return text_hash(0, name, strcspn(name, "+")) & UINT32_MAX;
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
