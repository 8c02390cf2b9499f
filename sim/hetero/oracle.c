#include "sim/hetero/oracle.h"

#include <math.h>
#include <stdlib.h>

#include "sim/hetero/window.h"

/* What a plan costs and what the paths say it does agree to this share: they round differently. */
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

int hetero_oracle_judge(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e)
{
    struct hetero_work work;
    struct hetero_value v;
    int rc = hetero_work_build(&work, p, e);
    if (!rc) {
        hetero_evaluate(&v, p, o->plan, &work);
        bool same = v.status == HETERO_OK && v.usd <= o->lower_usd * (1 + PROOF_SLACK);
        o->proof = same ? HETERO_OPTIMAL : HETERO_LOWER_BOUND;
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
        rc = hetero_oracle_judge(o, p, e);
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

int hetero_oracle_report(struct hetero_search *s, const struct hetero_oracle *o, struct err *e)
{
    struct hetero_value v;
    double per_s;
    hetero_id fastest[HETERO_MAX_LAYERS] = { 0 };
    s->proof = o->proof;
    s->lower_usd = o->lower_usd;
    int rc = o->plan ? 0 : hetero_reach(&per_s, fastest, s->problem, e);
    if (!rc)
        hetero_try(s, o->plan ? o->plan : fastest, &v);
    return rc;
}

int hetero_oracle_run(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    struct hetero_oracle o;
    (void)settings;
    int rc = hetero_oracle(&o, s->problem, e);
    if (!rc)
        rc = hetero_oracle_report(s, &o, e);
    hetero_oracle_free(&o);
    return rc;
}
