/*
 * A search times plans in closed form, which knows how long links are busy but not how collectives wait for
 * each other on them. Model chunk does: the best plans are simulated, so that a report can say where the
 * order would be another. What a simulation costs is known before it begins: collectives that run beside
 * others, times chunks, passes and orders of dimensions. Plans above a limit are left out, and counted.
 */
#include "kinds/design/explore/search_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/design/explore/search.h"
#include "sim/step.h"
#include "workloads/plan_cost.h"

/* Times closer than that are the same. */
#define TIED_REL 1e-9

/* What is run beside something else: all collectives below a maximum of which two children send, each as
 * often as it happens there. The rest is timed once. @param sends  set: is there a collective below? */
static double count_below(const struct step_tree *t, step_id id, double *all, bool *sends)
{
    const struct step_node *node = &t->nodes[id];
    double times = node->kind == STEP_REPEAT || node->kind == STEP_COLLECTIVE ? ceil(node->times) : 1;
    double joint = 0;
    int32_t n_send = 0;
    *all = *sends = node->kind == STEP_COLLECTIVE;
    for (step_id c = node->first; c >= 0; c = t->nodes[c].next) {
        double below;
        bool child_sends;
        joint += count_below(t, c, &below, &child_sends);
        *all += below;
        n_send += child_sends;
    }
    *sends = *sends || n_send > 0;
    *all *= times;
    return node->kind == STEP_MAX && !node->apart && n_send > 1 ? *all : joint;
}

/* By the passes of chunks: out and back over each dimension, in each order that is tried. */
static bool is_small(const struct step_tree *t, const struct sim_rules *rules)
{
    double all, orders = rules->order == SIM_ORDER_GUARD ? 3 : 1;
    bool sends;
    double jobs = count_below(t, t->root, &all, &sends);
    return jobs <= TRAIN_MAX_JOBS && jobs * rules->stage.chunks * orders * 2 * t->n_dims <= SEARCH_SIM_EVENTS;
}

/* NaN: the simulation would be too large. */
static int simulate_plan(struct search_found *f, const struct design_point *s, const struct training *base,
                         const struct sim_rules *rules, struct err *e)
{
    struct step_tree tree;
    struct sim_step step;
    f->chunk_s = NAN;
    int rc = search_build_tree(&tree, &f->plan, base, &s->net, e);
    if (!rc && is_small(&tree, rules)) {
        const struct sim_way way = { &s->net, f->bw_Bps, SIM_CHUNK, rules };
        rc = sim_step_build(&step, &tree, &way, e);
        if (!rc) {
            f->chunk_s = step.time_s;
            sim_step_free(&step);
        }
        rc = rc == ERR_RANGE ? 0 : rc; /* too large after all */
    }
    step_free(&tree);
    return rc;
}

/* Several at a time; each has a place of its own to write to. */
static int simulate_all(struct search_result *r, const struct design_point *s, const struct training *base,
                        struct err *e)
{
    int rc = 0;
    struct sim_rules rules = s->rules;
    rules.n_slow = 0; /* which the closed form does not know */
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < r->n_simulated; i++) {
        struct err own = { 0 };
        int failed = simulate_plan(&r->found[i], s, base, &rules, &own);
        if (failed) {
#pragma omp critical
            {
                rc = failed;
                *e = own;
            }
        }
    }
    return rc;
}

/* What the objective would be with the simulated time. A least cost is no less where the step is: the list's
 * own order stands. */
static double simulated_value(const struct search_found *f, bool cost)
{
    return cost ? f->value : f->value * (f->chunk_s / f->time_s);
}

/* Each behind those that are no worse, of equals the earlier in the list. */
static void order_all(struct search_result *r, bool cost)
{
    for (int32_t i = 0; i < r->n_simulated; i++) {
        double value = simulated_value(&r->found[i], cost);
        int32_t at = r->n_ordered;
        if (isnan(r->found[i].chunk_s))
            continue;
        for (; at > 0; at--) {
            const struct search_found *before = &r->found[r->chunk_order[at - 1]];
            if (!(value < simulated_value(before, cost) * (1 - TIED_REL)))
                break;
            r->chunk_order[at] = r->chunk_order[at - 1];
        }
        r->chunk_order[at] = i;
        r->n_ordered++;
    }
}

int search_simulate(struct design_choice *c, struct err *e)
{
    const struct design_point *s = c->point;
    int rc = 0;
    bool physical = !s->net.whole_parts && !s->ideal && !sim_is_astra(&s->rules);
    for (int32_t i = 0; i < s->n_workloads && physical && !rc; i++) {
        struct search_result *r = choice_plans(c, i);
        if (!r || r->n_simulated || r->n_mixes) /* plans at splits that other workloads decide */
            continue;
        r->n_simulated = r->n_found < SEARCH_SIM_PLANS ? r->n_found : SEARCH_SIM_PLANS;
        rc = simulate_all(r, s, s->workloads[i].training, e);
        if (!rc)
            order_all(r, alloc_is_limited(s->objective) && !topo_has_bandwidths(&s->net));
    }
    return rc;
}
