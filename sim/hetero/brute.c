/* Every plan. */
#include "sim/hetero/search.h"

/* Plans at most: a minute or so. */
enum { MOST_PLANS = 1 << 22 };

static int count_plans(int64_t *n, const struct hetero_profile *f, struct err *e)
{
    *n = 1;
    for (int32_t l = 0; l < f->n_layers; l++) {
        *n *= f->n_types;
        if (*n > MOST_PLANS)
            return err_set(e, ERR_RANGE, "brute-force: plans are %d^%d, need at most %d", f->n_types,
                           f->n_layers, MOST_PLANS);
    }
    return 0;
}

/* The next plan: the last layer turns fastest. */
static void turn(hetero_id *plan, const struct hetero_profile *f)
{
    for (int32_t l = f->n_layers - 1; l >= 0; l--) {
        if (++plan[l] < f->n_types)
            return;
        plan[l] = 0;
    }
}

int hetero_brute(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    const struct hetero_profile *f = s->problem->profile;
    hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
    struct hetero_value v;
    int64_t n;
    (void)settings;
    int rc = count_plans(&n, f, e);
    if (rc)
        return rc;
    for (int64_t i = 0; i < n; i++, turn(plan, f))
        hetero_try(s, plan, &v);
    s->proof = s->value.status == HETERO_OK ? HETERO_OPTIMAL : HETERO_NO_PLAN;
    s->lower_usd = s->value.usd;
    return 0;
}
