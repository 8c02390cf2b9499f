#include "workloads/plan_draft.h"

#include "workloads/roofline.h"

/* Pieces that a product is split into so that its collective overlaps; one is exposed. Megatron-LM. */
#define SPLIT_PIECES 4.0

/* ---- tensor parallelism ---- */

/* What makes an activation whole before and after a block: all-reduces, or a gather and a scatter. */
static void send_turns(struct drafting *x, struct plan_part *part, double times, double share)
{
    if (x->p->seq_parallel) {
        draft_tp(x, part, COLLECTIVE_ALL_GATHER, "tp gather", times, share);
        draft_tp(x, part, COLLECTIVE_REDUCE_SCATTER, "tp scatter", times, share);
    } else {
        draft_tp(x, part, COLLECTIVE_ALL_REDUCE, "tp sum", times, share);
    }
}

/* Pairs of turns in one pass of a layer: attention and MLP; experts turn only where they are split or shared.
 */
static double turns_of(const struct drafting *x, bool experts)
{
    if (!experts)
        return 2;
    return x->m->moe.shared ? 2 : 1;
}

/* ---- experts ---- */

static void send_experts(struct drafting *x, struct plan_part *part)
{
    const struct model_moe *e = &x->m->moe;
    double own_B = x->width_B / (x->p->seq_parallel ? x->tp : 1) * (double)e->top_k * e->capacity;
    if (x->p->ep > 1)
        draft_collective(x, &part->sent,
                         (struct plan_collective){ PLAN_GROUP_EP, COLLECTIVE_ALL_TO_ALL, part->phase,
                                                   "tokens to experts and back", own_B, 2 });
    if (!x->p->expert_tp || !(x->tp > 1))
        return;
    draft_collective(x, &part->sent,
                     (struct plan_collective){ PLAN_GROUP_TP, COLLECTIVE_ALL_GATHER, part->phase,
                                               "experts' gather", own_B, 1 });
    draft_collective(x, &part->sent,
                     (struct plan_collective){ PLAN_GROUP_TP, COLLECTIVE_REDUCE_SCATTER, part->phase,
                                               "experts' scatter", own_B * x->tp, 1 });
}

/* ---- context parallelism ---- */

/* Keys and values of one NPU [B]. */
static double context_B(const struct drafting *x)
{
    const struct model *m = x->m;
    double kv = (double)m->kv_heads / x->tp;
    if (m->mla.q_rank)
        return ROOFLINE_ELEMENT_B * x->tokens * (double)(m->mla.kv_rank + m->mla.rope_dim);
    return 2 * ROOFLINE_ELEMENT_B * x->tokens * (kv < 1 ? 1 : kv) * (double)m->head_dim;
}

/* The ring hides behind the attention of the part that is there; @p ways 2: gradients travel too. */
static void send_context(struct drafting *x, struct plan_part *part, double ways)
{
    double bytes = context_B(x), d = (double)x->m->head_dim;
    struct plan_collective add = { PLAN_GROUP_CP,     COLLECTIVE_SEND, part->phase,
                                   "keys and values", bytes,           ways * (x->cp - 1) };
    if (!(x->cp > 1))
        return;
    part->beside = x->p->context == PLAN_CP_RING;
    if (x->p->context == PLAN_CP_GATHER) {
        add.kind = COLLECTIVE_ALL_GATHER;
        add.times = 1;
        if (ways > 1) {
            add.kind = COLLECTIVE_REDUCE_SCATTER;
            add.bytes = bytes * x->cp;
        }
    }
    if (x->p->context == PLAN_CP_ULYSSES) {
        /* Queries, keys, values and output, each an exchange of heads for tokens. */
        double queries = ROOFLINE_ELEMENT_B * x->tokens * (double)x->m->heads * d / x->tp;
        if (x->m->mla.q_rank) /* compressed keys and values belong to all heads: they go as heads */
            bytes = queries * (1 + (double)x->m->mla.v_dim / d);
        add.kind = COLLECTIVE_ALL_TO_ALL;
        add.bytes = (2 * queries + bytes) / 4;
        add.times = 4;
        add.name = "heads for tokens";
    }
    draft_collective(x, &part->sent, add);
}

/* ---- a layer ---- */

static void add_forward(struct drafting *x, struct plan_pass *pass, enum step_phase phase, bool experts)
{
    double turns = turns_of(x, experts);
    bool split = x->p->overlap_tp == PLAN_OVERLAP_SPLIT && x->tp > 1;
    struct plan_part *part = draft_part(x, pass, phase, "linear", x->cost.forward_s);
    if (split) {
        part->beside = true;
        send_turns(x, part, turns * (SPLIT_PIECES - 1), 1 / SPLIT_PIECES);
        part = draft_part(x, pass, phase, "linear, last piece", 0);
        send_turns(x, part, turns, 1 / SPLIT_PIECES);
    } else {
        send_turns(x, part, turns, 1);
    }
    if (experts)
        send_experts(x, part);
    send_context(x, draft_part(x, pass, phase, "attention", x->cost.core_s), 1);
}

/*
 * Beside weight gradients run the sums of input gradients; beside input gradients, with sequence parallelism,
 * the inputs that are gathered again. Gradients of outputs are gathered in the open.
 */
static void add_matrices(struct drafting *x, struct plan_pass *pass, bool experts)
{
    double turns = turns_of(x, experts);
    bool beside = x->p->overlap_tp != PLAN_OVERLAP_NONE && x->tp > 1;
    struct plan_part *part = draft_part(x, pass, STEP_INPUT_GRAD, "input gradients", x->cost.input_s);
    part->beside = beside;
    if (x->p->seq_parallel)
        draft_tp(x, part, COLLECTIVE_ALL_GATHER, "tp gather again", turns, 1);
    part = draft_part(x, pass, STEP_WEIGHT_GRAD, "weight gradients", x->cost.weight_s);
    part->beside = beside;
    draft_tp(x, part, x->p->seq_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
             x->p->seq_parallel ? "tp scatter" : "tp sum", turns, 1);
    part = draft_part(x, pass, STEP_INPUT_GRAD, "output gradients", 0);
    if (x->p->seq_parallel)
        draft_tp(x, part, COLLECTIVE_ALL_GATHER, "tp gather", turns, 1);
    if (experts)
        send_experts(x, part);
}

static void add_backward(struct drafting *x, struct plan_pass *pass, bool experts)
{
    if (x->p->recompute == PLAN_RECOMPUTE_FULL)
        add_forward(x, pass, STEP_RECOMPUTE, experts);
    else if (x->p->recompute == PLAN_RECOMPUTE_SELECTIVE && x->m->attention == MODEL_UNFUSED)
        send_context(x, draft_part(x, pass, STEP_RECOMPUTE, "attention", x->cost.core_s), 1);
    draft_part(x, pass, STEP_INPUT_GRAD, "elementwise", x->cost.rest_s);
    send_context(x, draft_part(x, pass, STEP_INPUT_GRAD, "attention", x->cost.core_back_s), 2);
    add_matrices(x, pass, experts);
}

void draft_layer(struct drafting *x, enum block_kind kind)
{
    struct plan_block *b = &x->c->blocks[kind];
    block_cost(&x->cost, kind, x->m, x->p, x->npu);
    add_forward(x, &b->forward, STEP_FORWARD, kind == BLOCK_EXPERTS);
    draft_shares(x, kind, &b->forward, true);
    add_backward(x, &b->backward, kind == BLOCK_EXPERTS);
    draft_shares(x, kind, &b->backward, false);
}
