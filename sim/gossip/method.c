/*
 * The list of methods, the settings they share, and checks of these.
 */
#include "sim/gossip/method.h"

#include <math.h>
#include <string.h>

const char *const gossip_schedule_words[] = { "steps", "constant", "cosine", NULL };
const char *const gossip_rule_words[] = { "fixed", "drift", "control", "rate-drift", NULL };
const char *const gossip_graph_words[] = { "ring", "exponential", NULL };

/* Each in the file of its family. */
extern const struct gossip_method gossip_all_reduce; /* sync.c */
extern const struct gossip_method gossip_local;
extern const struct gossip_method gossip_post_local;
extern const struct gossip_method gossip_pair; /* pair.c */
extern const struct gossip_method gossip_pull;
extern const struct gossip_method gossip_push;
extern const struct gossip_method gossip_gosgd;   /* gosgd.c */
extern const struct gossip_method gossip_elastic; /* elastic.c */
extern const struct gossip_method gossip_pga;     /* pga.c */
extern const struct gossip_method gossip_aga;
extern const struct gossip_method gossip_eventgrad; /* eventgrad.c */
extern const struct gossip_method gossip_sparq;     /* sparq.c */
extern const struct gossip_method gossip_diloco;    /* diloco.c */
extern const struct gossip_method gossip_adacomm;   /* adapt.c */
extern const struct gossip_method gossip_variance;
extern const struct gossip_method gossip_dynamic; /* dynamic.c */
extern const struct gossip_method gossip_lag_wk;  /* lag.c */
extern const struct gossip_method gossip_lag_ps;

const struct gossip_method *const gossip_methods[] = {
    &gossip_all_reduce, &gossip_local,  &gossip_post_local, &gossip_pair,    &gossip_pull,
    &gossip_push,       &gossip_gosgd,  &gossip_elastic,    &gossip_pga,     &gossip_aga,
    &gossip_eventgrad,  &gossip_sparq,  &gossip_diloco,     &gossip_adacomm, &gossip_variance,
    &gossip_dynamic,    &gossip_lag_wk, &gossip_lag_ps,
};
const int32_t gossip_n_methods = sizeof gossip_methods / sizeof gossip_methods[0];

int32_t gossip_find_method(const char *name)
{
    for (int32_t i = 0; i < gossip_n_methods; i++)
        if (strcmp(gossip_methods[i]->name, name) == 0)
            return i;
    return -1;
}

const char *gossip_method_name(int32_t method)
{
    return gossip_methods[method]->name;
}

const char *gossip_method_help(int32_t method)
{
    return gossip_methods[method]->help;
}

int64_t gossip_method_period(int32_t method)
{
    return gossip_methods[method]->period > 0 ? gossip_methods[method]->period : 1;
}

uint32_t gossip_method_uses(const struct gossip_settings *s)
{
    uint32_t uses = gossip_methods[s->method]->uses;
    if (!(uses & GOSSIP_FOR_RULE))
        return uses;
    if (s->rule == GOSSIP_RULE_FIXED)
        return uses | GOSSIP_FOR_PERIOD;
    return uses | GOSSIP_FOR_THETA | GOSSIP_FOR_CAP | (s->rule == GOSSIP_RULE_CONTROL ? 0 : GOSSIP_FOR_CHECK);
}

int gossip_check_cap(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e)
{
    (void)setup;
    if (s->period <= s->cap)
        return 0;
    return err_set(e, ERR_RANGE, "period is %lld, expected at most the cap, %lld", (long long)s->period,
                   (long long)s->cap);
}
