#include "workloads/plan_draft.h"

#include <assert.h>

#include "workloads/roofline.h"

void draft_collective(struct drafting *x, struct plan_list *list, struct plan_collective add)
{
    assert(x->c->n_collectives < PLAN_MAX_COLLECTIVES);
    if (list->n == 0)
        list->first = x->c->n_collectives;
    assert(list->first + list->n == x->c->n_collectives);
    x->c->collectives[x->c->n_collectives++] = add;
    list->n++;
}

struct plan_part *draft_part(struct drafting *x, struct plan_pass *pass, enum step_phase phase,
                             const char *name, double compute_s)
{
    assert(x->c->n_parts < PLAN_MAX_PARTS);
    if (pass->n == 0)
        pass->first = x->c->n_parts;
    assert(pass->first + pass->n == x->c->n_parts);
    struct plan_part *part = &x->c->parts[x->c->n_parts++];
    *part = (struct plan_part){ .phase = phase, .name = name, .compute_s = compute_s };
    pass->n++;
    return part;
}

void draft_tp(struct drafting *x, struct plan_part *part, enum collective_kind kind, const char *name,
              double times, double share)
{
    double bytes = x->width_B * share;
    if (x->tp > 1 && times > 0)
        draft_collective(x, &part->sent,
                         (struct plan_collective){ PLAN_GROUP_TP, kind, part->phase, name,
                                                   kind == COLLECTIVE_ALL_GATHER ? bytes / x->tp : bytes,
                                                   times });
}

/* ---- gradients and parameters ---- */

void draft_exchange(struct drafting *x, struct plan_list *list, enum collective_kind kind,
                    enum step_phase phase, const char *name, struct model_share bytes, double share)
{
    double tp = x->p->expert_tp ? 1 : x->tp, dp = (double)x->p->degree[PLAN_DP];
    const struct {
        enum plan_group group;
        double bytes, members;
    } rows[] = { { PLAN_GROUP_DP, bytes.dense, x->cp * dp },
                 { PLAN_GROUP_EXPERTS, bytes.expert, tp * x->cp * dp / (double)x->p->ep } };
    for (int i = 0; i < 2; i++)
        if (rows[i].bytes * share > 0 && rows[i].members > 1)
            draft_collective(
                x, list,
                (struct plan_collective){
                    rows[i].group, kind, phase, name,
                    rows[i].bytes * share / (kind == COLLECTIVE_ALL_GATHER ? rows[i].members : 1), 1 });
}

struct model_share draft_scaled(struct model_share s, double factor)
{
    return (struct model_share){ s.dense * factor, s.expert * factor };
}

struct model_share draft_params(const struct drafting *x, enum block_kind kind)
{
    double etp = x->p->expert_tp ? x->tp : 1;
    switch (kind) {
    case BLOCK_EMBED:
        return (struct model_share){ x->m->family == MODEL_TRANSFORMER ? model_embed_params(x->m, x->tp) : 0,
                                     0 };
    case BLOCK_HEAD:
        if (x->m->family == MODEL_DLRM)
            return (struct model_share){ model_dlrm_dense_params(x->m), 0 };
        if (x->m->family == MODEL_CNN)
            return (struct model_share){ model_params(x->m), 0 };
        return (struct model_share){ model_head_params(x->m, x->tp), 0 };
    case BLOCK_DENSE:
    case BLOCK_EXPERTS:
        return model_layer_params(x->m, kind == BLOCK_EXPERTS, x->tp, (double)x->p->ep, etp);
    case N_BLOCKS:
        break;
    }
    return (struct model_share){ 0, 0 };
}

/* ZeRO 2 scatters gradients after each microbatch, ZeRO 3 gathers parameters for each pass as well. */
void draft_shares(struct drafting *x, enum block_kind kind, struct plan_pass *pass, bool forward)
{
    struct model_share params = draft_params(x, kind);
    struct model_share weights = draft_scaled(params, ROOFLINE_ELEMENT_B),
                       grads = draft_scaled(params, (double)x->p->grad_B);
    bool beside = x->p->overlap_dp && (kind == BLOCK_DENSE || kind == BLOCK_EXPERTS);
    if (x->p->zero < (forward ? 3 : 2))
        return;
    struct plan_list *list = &pass->beside;
    if (!beside)
        list = &draft_part(x, pass, forward ? STEP_FORWARD : STEP_WEIGHT_GRAD,
                           forward ? "parameters" : "gradients", 0)
                    ->sent;
    if (x->p->zero == 3)
        draft_exchange(x, list, COLLECTIVE_ALL_GATHER, forward ? STEP_FORWARD : STEP_INPUT_GRAD, "parameters",
                       weights, 1);
    if (!forward)
        draft_exchange(x, list, COLLECTIVE_REDUCE_SCATTER, STEP_WEIGHT_GRAD, "gradients", grads, 1);
}
