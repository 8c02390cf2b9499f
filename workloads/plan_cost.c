#include "workloads/plan_draft.h"
#include "workloads/roofline.h"

/* Adam in mixed precision reads and writes master weight, two moments, gradient and weight, clips and zeroes:
 * 38 to 50 bytes per parameter, by the kernels that are fused. */
#define OPTIMIZER_BYTES 44.0

/* ---- ends ---- */

static void add_embed(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_EMBED];
    block_cost(&x->cost, BLOCK_EMBED, x->m, x->p, x->npu);
    struct plan_part *part = draft_part(x, &b->forward, STEP_FORWARD, "embedding", x->cost.forward_s);
    bool scatter = x->p->seq_parallel;
    draft_tp(x, part, scatter ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE, "embedding", 1, 1);
    draft_shares(x, BLOCK_EMBED, &b->forward, true);
    part = draft_part(x, &b->backward, STEP_WEIGHT_GRAD, "embedding", x->cost.rest_s);
    if (scatter)
        draft_tp(x, part, COLLECTIVE_ALL_GATHER, "embedding", 1, 1);
    draft_shares(x, BLOCK_EMBED, &b->backward, false);
}

/* Logits are split over the vocabulary: the loss needs largest, sum and target of each token in fp32. */
static void add_head(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_HEAD];
    block_cost(&x->cost, BLOCK_HEAD, x->m, x->p, x->npu);
    struct plan_part *part = draft_part(x, &b->forward, STEP_FORWARD, "logits", x->cost.forward_s);
    if (x->p->seq_parallel)
        draft_tp(x, part, COLLECTIVE_ALL_GATHER, "logits", 1, 1);
    if (x->tp > 1)
        draft_collective(x, &part->sent,
                         (struct plan_collective){ PLAN_GROUP_TP, COLLECTIVE_ALL_REDUCE, STEP_FORWARD, "loss",
                                                   4 * x->tokens, 3 });
    draft_shares(x, BLOCK_HEAD, &b->forward, true);
    part = draft_part(x, &b->backward, STEP_INPUT_GRAD, "logits",
                      x->cost.input_s + x->cost.weight_s + x->cost.rest_s);
    draft_tp(x, part, x->p->seq_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE, "logits", 1, 1);
    draft_shares(x, BLOCK_HEAD, &b->backward, false);
}

/* ---- pipeline ---- */

/* With scatter-gather each of a TP group sends its part, and the next stage puts them together. */
static void add_message(struct drafting *x, struct plan_list *list, double times)
{
    bool parts = x->tp > 1 && (x->p->scatter_gather || x->p->seq_parallel);
    double bytes = x->width_B / (parts ? x->tp : 1);
    if (x->p->degree[PLAN_PP] == 1 || !(times > 0))
        return;
    draft_collective(x, list,
                     (struct plan_collective){ PLAN_GROUP_PP, COLLECTIVE_SEND, STEP_OTHER,
                                               "to the next stage", bytes, times });
    if (parts && !x->p->seq_parallel)
        draft_collective(x, list,
                         (struct plan_collective){ PLAN_GROUP_TP, COLLECTIVE_ALL_GATHER, STEP_OTHER,
                                                   "from the stage before", bytes, times });
}

static void add_pipeline(struct drafting *x)
{
    double sends = (double)x->p->sends;
    if (x->p->overlap_pp)
        add_message(x, &x->c->hidden_sends, sends);
    else
        add_message(x, &x->c->sends, sends * x->c->interleave);
}

/* ---- once per step ---- */

/* Parameters that one NPU of a stage holds. */
static struct model_share stage_params(const struct drafting *x, const struct plan_stage *s)
{
    const int64_t count[N_BLOCKS] = { s->dense, s->experts, s->embed, s->head };
    struct model_share sum = { 0, 0 };
    for (int b = 0; b < N_BLOCKS; b++) {
        struct model_share one =
            count[b] ? draft_params(x, (enum block_kind)b) : (struct model_share){ 0, 0 };
        sum.dense += (double)count[b] * one.dense;
        sum.expert += (double)count[b] * one.expert;
    }
    return sum;
}

/* Layers whose gradients are ready one after the other. */
static double layers_of(const struct model *m, const struct plan_stage *s)
{
    int64_t layers = s->dense + s->experts;
    for (int32_t i = 0; i < m->cnn.n_convs; i++)
        layers += m->cnn.convs[i].times;
    if (m->family == MODEL_DLRM)
        layers = m->dlrm.n_bottom - 1 + m->dlrm.n_top;
    return layers > 1 ? (double)layers : 1;
}

/* Of the first stage, whose backward pass ends last: those of the others are done by then. */
static void add_exchange(struct drafting *x)
{
    const struct plan_stage *s = &x->c->stages[0];
    struct model_share params = stage_params(x, s);
    /* Overlapped, the layer whose gradients come last, and whose parameters are needed first, is exposed. */
    double open = 1 / layers_of(x->m, s);
    double hidden = x->p->overlap_dp ? 1 - open : 0, rest = 1 - hidden;
    struct model_share grads = draft_scaled(params, (double)x->p->grad_B),
                       weights = draft_scaled(params, ROOFLINE_ELEMENT_B);
    static const char *const name = "gradients";
    if (x->p->zero == 1 || x->p->zero == 2) {
        draft_exchange(x, &x->c->before, COLLECTIVE_ALL_GATHER, STEP_FORWARD, "parameters", weights, hidden);
        draft_exchange(x, &x->c->first_before, COLLECTIVE_ALL_GATHER, STEP_FORWARD, "parameters", weights,
                       rest);
    }
    if (x->p->zero > 1)
        return;
    enum collective_kind kind = x->p->zero ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    draft_exchange(x, &x->c->after, kind, STEP_WEIGHT_GRAD, name, grads, hidden);
    draft_exchange(x, &x->c->last_after, kind, STEP_WEIGHT_GRAD, name, grads, rest);
}

/* An embedding at both ends of a pipeline is kept equal: an all-reduce of two, in which each sends once what
 * it has. */
static void add_tied(struct drafting *x)
{
    const struct model *m = x->m;
    if (!m->tied || x->p->degree[PLAN_PP] == 1 || m->family != MODEL_TRANSFORMER)
        return;
    double bytes = (double)x->p->grad_B * model_vocab(m, x->tp) / x->tp * (double)m->hidden;
    draft_collective(x, &x->c->last_after,
                     (struct plan_collective){ PLAN_GROUP_PP, COLLECTIVE_SEND, STEP_WEIGHT_GRAD,
                                               "tied embedding", bytes, 1 });
}

/* Every stage updates at once, after the norm of all gradients is known: the one that holds most. */
static void add_optimizer(struct drafting *x)
{
    double cp_dp = x->cp * (double)x->p->degree[PLAN_DP], most = 0;
    double experts = cp_dp * (x->p->expert_tp ? 1 : x->tp) / (double)x->p->ep;
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        struct model_share params = stage_params(x, &x->c->stages[i]);
        double own = params.dense + params.expert;
        if (x->p->zero)
            own = params.dense / cp_dp + params.expert / experts;
        most = own > most ? own : most;
    }
    x->c->optimizer_s = roofline_stream_s(x->npu, OPTIMIZER_BYTES * most, 0);
}

/* ---- other families ---- */

/* Every NPU looks up for all samples what its tables hold; the pooled vectors go to who has the sample. */
static void add_tables(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_EMBED];
    block_cost(&x->cost, BLOCK_EMBED, x->m, x->p, x->npu);
    double bytes = 4 * (double)x->p->micro * (double)(x->m->dlrm.n_tables * x->m->dlrm.dim);
    const struct plan_collective pooled = { PLAN_GROUP_DP, COLLECTIVE_ALL_TO_ALL,
                                            STEP_FORWARD,  "pooled vectors",
                                            bytes,         1 };
    struct plan_collective back = pooled, index = pooled;
    struct plan_part *part = draft_part(x, &b->forward, STEP_FORWARD, "tables and bottom", x->cost.forward_s);
    index.name = "indices";
    index.bytes = 8 * (double)x->p->micro * x->m->dlrm.lookups; /* 64-bit row numbers */
    if (x->p->degree[PLAN_DP] > 1) {
        draft_collective(x, &part->sent, index);
        draft_collective(x, &part->sent, pooled);
    }
    part = draft_part(x, &b->backward, STEP_WEIGHT_GRAD, "tables and bottom",
                      x->cost.input_s + x->cost.weight_s + x->cost.rest_s);
    back.phase = STEP_WEIGHT_GRAD;
    if (x->p->degree[PLAN_DP] > 1)
        draft_collective(x, &part->sent, back);
}

static void add_plain_head(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_HEAD];
    block_cost(&x->cost, BLOCK_HEAD, x->m, x->p, x->npu);
    draft_part(x, &b->forward, STEP_FORWARD, "forward", x->cost.forward_s);
    draft_shares(x, BLOCK_HEAD, &b->forward, true);
    draft_part(x, &b->backward, STEP_INPUT_GRAD, "input gradients", x->cost.input_s + x->cost.rest_s);
    draft_part(x, &b->backward, STEP_WEIGHT_GRAD, "weight gradients", x->cost.weight_s);
    draft_shares(x, BLOCK_HEAD, &b->backward, false);
}

/* ---- all of it ---- */

/* Matrix products of all NPUs; those of a block once per microbatch and replica. */
static void add_flop(struct drafting *x, double layers, double replicas)
{
    double flop = layers * replicas * x->cost.flop, again = 0;
    if (x->p->recompute == PLAN_RECOMPUTE_FULL)
        again = flop;
    else if (x->p->recompute == PLAN_RECOMPUTE_SELECTIVE && x->m->attention == MODEL_UNFUSED)
        again = layers * replicas * x->cost.core_flop;
    x->c->model_flop += 3 * flop;
    x->c->hardware_flop += 3 * flop + again;
}

static void add_blocks(struct drafting *x)
{
    double replicas = x->tp * x->cp * (double)x->p->degree[PLAN_DP] * x->c->microbatches;
    int64_t dense = 0, experts = 0;
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        dense += x->c->stages[i].count * x->c->stages[i].dense;
        experts += x->c->stages[i].count * x->c->stages[i].experts;
    }
    if (dense) {
        draft_layer(x, BLOCK_DENSE);
        add_flop(x, (double)dense, replicas);
    }
    if (experts) {
        draft_layer(x, BLOCK_EXPERTS);
        add_flop(x, (double)experts, replicas);
    }
    if (x->m->family == MODEL_TRANSFORMER)
        add_embed(x);
    else if (x->m->family == MODEL_DLRM) {
        add_tables(x);
        x->c->model_flop += 3 * replicas * x->cost.flop;
        x->c->hardware_flop += 3 * replicas * x->cost.flop;
    }
    if (x->m->family == MODEL_TRANSFORMER)
        add_head(x);
    else
        add_plain_head(x);
    x->c->model_flop += 3 * replicas * x->cost.flop;
    x->c->hardware_flop += 3 * replicas * x->cost.flop;
}

void plan_cost(struct plan_cost *c, const struct model *m, const struct plan *p, const struct topo_npu *npu)
{
    struct drafting x = { .c = c, .m = m, .p = p, .npu = npu };
    x.tp = (double)p->degree[PLAN_TP];
    x.cp = (double)p->degree[PLAN_CP];
    x.tokens = block_tokens(p, m);
    x.width_B = ROOFLINE_ELEMENT_B * x.tokens * (double)m->hidden;
    c->n_collectives = c->n_parts = 0;
    for (int b = 0; b < N_BLOCKS; b++)
        c->blocks[b] = (struct plan_block){ 0 };
    /* The first gather and the last scatter of a stage have nothing to hide behind. */
    c->open = p->zero >= 2 && p->overlap_dp;
    c->sends = c->hidden_sends = c->before = c->after = c->first_before = c->last_after =
        (struct plan_list){ 0 };
    c->model_flop = c->hardware_flop = 0;
    c->microbatches = (double)plan_microbatches(p);
    c->interleave = (double)p->interleave;
    c->overhead_s = p->overhead_s;
    c->n_stages = plan_stages(c->stages, p, m);
    add_blocks(&x);
    add_pipeline(&x);
    add_exchange(&x);
    add_tied(&x);
    add_optimizer(&x);
    for (int32_t i = 0; i < c->n_collectives; i++)
        c->collectives[i].bytes *= p->traffic;
}
