#include "sim/hetero/oracle.h"

#include <math.h>
#include <stdlib.h>

#include "sim/hetero/window.h"

/* The cheapest of all plans is proved to this share of its cost. */
#define PROOF_SLACK 1e-9

int hetero_reach(double *per_s, hetero_id *plan, const struct hetero_problem *p, struct err *e)
{
    struct hetero_paths x;
    hetero_id own[HETERO_MAX_LAYERS];
    int rc = hetero_paths_build(&x, p, e);
    if (!rc) {
        x.slowest = true;
        hetero_paths_forward(&x, NULL, NULL);
        *per_s = 1 / hetero_paths_least(&x, plan ? plan : own);
    }
    hetero_paths_free(&x);
    return rc;
}

enum hetero_proof hetero_proof_of(const struct hetero_value *v, double lower_usd)
{
    bool same = v->status == HETERO_OK && v->usd <= lower_usd * (1 + PROOF_SLACK);
    return same ? HETERO_OPTIMAL : HETERO_LOWER_BOUND;
}

/* Limits of units that stages share are not seen by the paths. Does the plan cost what they say? */
static int judge(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e)
{
    struct hetero_work work;
    struct hetero_value v;
    int rc = hetero_work_build(&work, p, e);
    if (!rc) {
        hetero_evaluate(&v, p, o->plan, &work);
        o->proof = hetero_proof_of(&v, o->lower_usd);
    }
    hetero_work_free(&work);
    return rc;
}

int hetero_oracle(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e)
{
    struct hetero_windows found;
    double hours = p->setup.epochs * p->setup.examples / 3600;
    *o = (struct hetero_oracle){ .proof = HETERO_NO_PLAN, .usd = NAN, .lower_usd = NAN };
    int rc = hetero_windows(&found, p, NULL, NULL, e);
    o->paths = found.paths;
    if (!rc && found.cost < INFINITY) {
        o->plan = found.plan;
        o->usd = found.cost * hours;
        o->lower_usd = found.lower * hours;
        found.plan = NULL;
        rc = judge(o, p, e);
    }
    hetero_windows_free(&found);
    if (rc)
        hetero_oracle_free(o);
    return rc;
}

void hetero_oracle_free(struct hetero_oracle *o)
{
    free(o->plan);
    *o = (struct hetero_oracle){ 0 };
}

/* Where nothing reaches the throughput, the plan that reaches most is shown. */
static int try_fastest(struct hetero_search *s, struct err *e)
{
    struct hetero_value v;
    double per_s;
    hetero_id plan[HETERO_MAX_LAYERS];
    int rc = hetero_reach(&per_s, plan, s->problem, e);
    if (!rc && per_s > 0)
        hetero_try(s, plan, &v);
    return rc;
}

int hetero_oracle_run(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    struct hetero_oracle o;
    struct hetero_value v;
    (void)settings;
    int rc = hetero_oracle(&o, s->problem, e);
    if (rc)
        return rc;
    s->proof = o.proof;
    s->lower_usd = o.lower_usd;
    if (o.plan)
        hetero_try(s, o.plan, &v);
    else
        rc = try_fastest(s, e);
    hetero_oracle_free(&o);
    return rc;
}
