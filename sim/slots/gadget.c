#include "sim/slots/gadget.h"

#include <math.h>
#include <stdlib.h>

#include "sim/slots/gadget_round.h"

struct gadget {
    struct elastic_settings settings;
    struct gadget_lp lp;
    struct gadget_round round;
};

static void gadget_free(void *self)
{
    struct gadget *g = self;
    if (!g)
        return;
    gadget_round_free(&g->round);
    gadget_lp_free(&g->lp);
    free(g);
}

static int gadget_build(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                        const struct elastic_settings *settings, struct err *e)
{
    *self = NULL;
    if (settings->samples < 1)
        return err_set(e, ERR_RANGE, "gadget: samples is %d, need 1 or more", (int)settings->samples);
    struct gadget *g = calloc(1, sizeof *g);
    if (!g)
        return err_nomem(e, "gadget");
    g->settings = *settings;
    int rc = gadget_lp_build(&g->lp, c, jobs, n_jobs, settings->rack_pricing, e);
    if (!rc)
        rc = gadget_round_build(&g->round, &g->lp, e);
    if (rc)
        gadget_free(g);
    else
        *self = g;
    return rc;
}

/* The largest loads, and in the paper's mode what it would allow of that resource and of links. */
static void note_load(struct elastic_note *note, struct gadget_round *x, const struct gadget_limits *limits)
{
    double node[CLUSTER_MAX_RESOURCES];
    int32_t worst = 0;
    gadget_round_load(node, &note->link_over, x);
    for (int32_t r = 1; r < x->lp->cluster->n_resources; r++)
        worst = node[r] > node[worst] ? r : worst;
    note->node_over = node[worst];
    if (limits) {
        note->node_beta = limits->node_beta[worst];
        note->link_gamma = limits->link_gamma;
    }
}

static int write_choice(struct elastic_choice *out, const struct gadget_round *x, struct err *e)
{
    const struct gadget_pool *p = &x->lp->pool;
    int rc = 0;
    for (int32_t i = 0; i < x->lp->n_bids && !rc; i++) {
        if (x->best[i] < 0)
            continue;
        const struct gadget_column *k = &p->columns[x->best[i]];
        rc = elastic_choose(out, k->job, p->servers + k->first, p->workers + k->first, k->n, e);
    }
    return rc;
}

static int gadget_choose(struct elastic_choice *out, struct elastic_note *note, void *self,
                         const struct elastic_slot *slot, struct err *e)
{
    struct gadget *g = self;
    struct gadget_limits limits;
    int rc = gadget_lp_open(&g->lp, slot, e);
    if (!rc)
        rc = gadget_lp_solve(&note->bound, &g->lp, e);
    if (rc)
        return rc;
    note->gamma = g->lp.gamma;
    gadget_lp_fix_sizes(&g->lp);
    rc = gadget_lp_solve(&note->fixed_bound, &g->lp, e);
    if (rc)
        return rc;
    /* Fewer rings cannot be worth more, though a search that ended early may say less of them. */
    note->fixed_bound = fmin(note->fixed_bound, note->bound);
    bool paper = g->settings.paper_rounding;
    if (paper)
        gadget_round_limits(&limits, &g->round);
    rc = gadget_round_draw(&g->round, &g->settings, note->fixed_bound, paper ? &limits : NULL, e);
    if (!rc && g->settings.reoffer && !paper)
        rc = gadget_round_reoffer(&g->round, e);
    if (rc)
        return rc;
    note->value = gadget_round_value(&g->round);
    note_load(note, &g->round, paper ? &limits : NULL);
    return write_choice(out, &g->round, e);
}

const struct elastic_scheduler elastic_gadget = {
    .name = "gadget",
    .help = "GADGET (INFOCOM 2022): rings by a linear programme over all placements, rounded",
    .build = gadget_build,
    .choose = gadget_choose,
    .free = gadget_free,
};
