/*
 * A planned training step taken apart: parts of compute, collectives, and which run side by side.
 * Drafted block by block (layer, embedding, head), both passes; a stage's pass is its layers in a row, and
 *    step = (microbatches - 1 + fill / interleave) of the slowest stage + what is exchanged before and after
 * + overhead. plan_time.c evaluates the draft.
 */
#include "workloads/plan_cost.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "workloads/block.h"

struct drafting {
    struct plan_cost *c;
    const struct model *m;
    const struct plan *p;
    const struct topo_npu *npu;
    struct plan_memo *memo; /* NULL: none */
    double tp, cp, tokens;
    double width_B;              /**< an activation of one microbatch, over all of TP */
    struct memory_layers layers; /**< of a transformer */
    struct block_cost cost;      /**< of the block being drafted */
};

static void draft_cost(struct drafting *x, enum block_kind kind)
{
    plan_memo_cost(&x->cost, x->memo, kind, x->m, x->p, x->npu);
}

/* Append to the end of list, which is the last that was appended to. */
static void draft_collective(struct drafting *x, struct plan_list *list, struct plan_collective add)
{
    assert(x->c->n_collectives < PLAN_MAX_COLLECTIVES);
    if (list->n == 0)
        list->first = x->c->n_collectives;
    assert(list->first + list->n == x->c->n_collectives);
    x->c->collectives[x->c->n_collectives++] = add;
    list->n++;
}

/* Append a part to the end of pass, which is the last that was appended to; valid as long as x->c. */
static struct plan_part *draft_part(struct drafting *x, struct plan_pass *pass, enum step_phase phase,
                                    const char *name, double compute_s)
{
    assert(x->c->n_parts < PLAN_MAX_PARTS);
    if (pass->n == 0)
        pass->first = x->c->n_parts;
    assert(pass->first + pass->n == x->c->n_parts);
    struct plan_part *part = &x->c->parts[x->c->n_parts++];
    *part = (struct plan_part){ .phase = phase, .name = name, .compute_s = compute_s, .drain_s = compute_s };
    pass->n++;
    return part;
}

/* A collective of TP over share of an activation. Nothing without TP. */
static void draft_tp(struct drafting *x, struct plan_part *part, enum collective_kind kind, const char *name,
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

/* One collective over @p members NPUs of share of so many bytes per NPU; nothing of nothing. */
static void draft_over(struct drafting *x, struct plan_list *list, struct plan_collective add, double members)
{
    if (!(add.bytes > 0) || !(members > 1))
        return;
    if (add.kind == COLLECTIVE_ALL_GATHER)
        add.bytes /= members;
    draft_collective(x, list, add);
}

/*
 * share of so many bytes per NPU, over those who share them; experts' over theirs. Where a part of DP shares
 * parameters out (hybrid sharding), it gathers and scatters, and its copies sum up the shards.
 */
static void draft_exchange(struct drafting *x, struct plan_list *list, enum collective_kind kind,
                           enum step_phase phase, const char *name, struct model_share bytes, double share)
{
    double tp = x->p->expert_tp ? 1 : x->tp, all = x->cp * (double)x->p->degree[PLAN_DP];
    double shard = (double)x->p->shard;
    struct plan_collective add = { PLAN_GROUP_DP, kind, phase, name, bytes.dense * share, 1 };
    if (shard > 0 && kind != COLLECTIVE_ALL_REDUCE) {
        add.group = PLAN_GROUP_SHARD;
        draft_over(x, list, add, shard);
        add = (struct plan_collective){
            PLAN_GROUP_COPIES, COLLECTIVE_ALL_REDUCE, phase, name, add.bytes / shard, 1
        };
        if (kind == COLLECTIVE_REDUCE_SCATTER)
            draft_over(x, list, add, all / shard);
    } else {
        draft_over(x, list, add, all);
    }
    add = (struct plan_collective){ PLAN_GROUP_EXPERTS, kind, phase, name, bytes.expert * share, 1 };
    draft_over(x, list, add, tp * all / (double)x->p->ep);
}

static struct model_share draft_scaled(struct model_share s, double factor)
{
    return (struct model_share){ s.dense * factor, s.expert * factor };
}

/* Parameters of a block that one NPU holds, before data parallelism shares them out. */
static struct model_share draft_params(const struct drafting *x, enum block_kind kind)
{
    switch (kind) {
    case BLOCK_EMBED:
        return (struct model_share){ x->m->family == MODEL_TRANSFORMER ? x->layers.embed_params : 0, 0 };
    case BLOCK_HEAD:
        if (x->m->family == MODEL_DLRM)
            return (struct model_share){ model_dlrm_dense_params(x->m), 0 };
        if (x->m->family == MODEL_CNN)
            return (struct model_share){ model_params(x->m), 0 };
        return (struct model_share){ x->layers.head_params, 0 };
    case BLOCK_DENSE:
    case BLOCK_EXPERTS:
        return x->layers.params[kind == BLOCK_EXPERTS];
    case BLOCK_DENSE_AGAIN: /* among the layers */
    case BLOCK_EXPERTS_AGAIN:
    case N_BLOCKS:
        break;
    }
    return (struct model_share){ 0, 0 };
}

/* Are parameters gathered for each pass of each microbatch? */
static bool draft_gathers(const struct plan *p)
{
    return p->zero == 3 && p->reshard;
}

/* Are gradients scattered after each microbatch? */
static bool draft_scatters(const struct plan *p)
{
    return p->zero >= 2 && !p->no_sync;
}

/* What ZeRO 2 and 3 exchange for each microbatch of a block in one pass, whose last part was appended last.
 * ZeRO 2 scatters gradients after each microbatch, ZeRO 3 gathers parameters for each pass as well. */
static void draft_shares(struct drafting *x, enum block_kind kind, struct plan_pass *pass, bool forward)
{
    struct model_share params = draft_params(x, kind);
    bool layer = kind == BLOCK_DENSE || kind == BLOCK_EXPERTS;
    struct model_share weights = draft_scaled(params, layer ? plan_gather_B(x->p) : ROOFLINE_ELEMENT_B),
                       grads = draft_scaled(params, (double)x->p->grad_B);
    bool beside = x->p->overlap_dp && layer;
    bool gathers = draft_gathers(x->p), scatters = draft_scatters(x->p) && !forward;
    if (!gathers && !scatters)
        return;
    struct plan_list *list = &pass->beside;
    if (!beside)
        list = &draft_part(x, pass, forward ? STEP_FORWARD : STEP_WEIGHT_GRAD,
                           forward ? "parameters" : "gradients", 0)
                    ->sent;
    if (gathers)
        draft_exchange(x, list, COLLECTIVE_ALL_GATHER, forward ? STEP_FORWARD : STEP_INPUT_GRAD, "parameters",
                       weights, 1);
    if (scatters)
        draft_exchange(x, list, COLLECTIVE_REDUCE_SCATTER, STEP_WEIGHT_GRAD, "gradients", grads, 1);
}

/* Pieces that a product is split into so that its collective overlaps; one is exposed. Megatron-LM. */
#define SPLIT_PIECES 4.0

/* ---- tensor parallelism ---- */

/* What enters the products of a layer, or the gradient of what leaves them, is cast first and gathered then
 * (Transformer Engine, torchao); sums and scatters are in 16 bits. */
static void gather_turns(struct drafting *x, struct plan_part *part, const char *name, double times,
                         double share)
{
    draft_tp(x, part, COLLECTIVE_ALL_GATHER, name, times, share * plan_element_B(x->p) / ROOFLINE_ELEMENT_B);
}

/* What makes an activation whole before and after a block: all-reduces, or a gather and a scatter. */
static void send_turns(struct drafting *x, struct plan_part *part, double times, double share)
{
    if (x->p->seq_parallel) {
        gather_turns(x, part, "tp gather", times, share);
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

/*
 * PyTorch's tp (DTensor). Gathered inputs are kept or done again, never gathered once more for their weight
 * gradients, and without asynchronous tp nothing runs beside a collective. It gathers and scatters the
 * sequence, which is not the first dimension: what is whole is copied once, unless there is one sequence.
 * Asynchronous tp (symmetric memory) cuts a product and its gather or scatter into tp pieces, one for each
 * NPU: the first piece is in the open, the others hide what they send. A shard is copied to where others read
 * it, partial sums are read and summed up at the end. The gradients of queries, keys and values, and of both
 * halves of SwiGLU, are sums of products, which are scattered in the open. Counted from pytorch/pytorch,
 * torch/distributed/_symmetric_memory and torch/_inductor/fx_passes/micro_pipeline_tp.py.
 */
static bool is_dtensor(const struct drafting *x)
{
    return plan_is_pytorch(x->p) && x->p->seq_parallel && x->tp > 1;
}

static bool is_async(const struct drafting *x)
{
    return is_dtensor(x) && x->p->overlap_tp == PLAN_OVERLAP_SPLIT;
}

/* Reading and writing once the whole of so many gathers and scatters. */
static double dtensor_copies_s(const struct drafting *x, double gathers, double scatters)
{
    double bytes = 2 * x->width_B * (gathers * plan_element_B(x->p) / ROOFLINE_ELEMENT_B + scatters);
    return x->p->micro > 1 ? roofline_stream_s(x->npu, bytes, gathers + scatters) : 0;
}

/* Summing up the gradients that queries, keys and values, and both halves of SwiGLU give their input, which
 * is whole here; it comes out in the order that the scatter wants. */
static double dtensor_sums_s(const struct drafting *x, double turns)
{
    bool gated = x->m->activation == MODEL_SWIGLU;
    double mlp = gated ? 3 : x->p->micro > 1 ? 2 : 0;
    return roofline_stream_s(x->npu, x->width_B * (4 + (turns > 1 ? mlp : 0)), turns);
}

/* What asynchronous tp moves in the NPU's own memory for one turn. */
static double async_own_s(const struct drafting *x, bool gathers)
{
    double share = gathers ? 2 / x->tp * plan_element_B(x->p) / ROOFLINE_ELEMENT_B : 1 + 1 / x->tp;
    return roofline_stream_s(x->npu, share * x->width_B, 1);
}

/* All pieces but the first of @p share of the products at @p turn, beside what they send; returns what that
 * adds to the others' time. */
static double add_pieces(struct drafting *x, struct plan_pass *pass, enum step_phase phase,
                         enum block_turn turn, bool gathers, double share)
{
    double hiding_s = share * x->cost.turn_s[turn] * (1 - 1 / x->tp);
    struct plan_part *part = draft_part(x, pass, phase, "linear in pieces", hiding_s);
    part->beside = true;
    if (gathers)
        gather_turns(x, part, "tp gather", 1, 1);
    else
        draft_tp(x, part, COLLECTIVE_REDUCE_SCATTER, "tp scatter", 1, 1);
    return async_own_s(x, gathers) - hiding_s;
}

/* ---- experts ---- */

/* Copies of 8 bits travel with a scale of four bytes for each 128 elements (DeepEP). */
#define DISPATCH_8BIT_B (1 + 4.0 / 128)

/* What leaves an NPU if each expert of its tokens gets a copy. */
static double routed_B(const struct drafting *x)
{
    const struct model_moe *e = &x->m->moe;
    return x->width_B / (x->p->seq_parallel ? x->tp : 1) * (double)e->top_k * e->capacity;
}

/* Tokens go to their experts and come back, so often: in a forward pass, or gradients, in 16 bits both ways.
 */
static void draft_tokens(struct drafting *x, struct plan_list *list, enum step_phase phase, bool forward,
                         double times)
{
    bool less = x->p->dispatch_bits == 8 && forward;
    struct plan_collective add = { x->p->dispatcher == PLAN_MERGED ? PLAN_GROUP_MERGED : PLAN_GROUP_EP,
                                   COLLECTIVE_ALL_TO_ALL,
                                   phase,
                                   "tokens to experts and back",
                                   routed_B(x),
                                   2 * times };
    if (x->p->ep == 1 || !(times > 0))
        return;
    if (less) {
        add.name = "tokens back";
        add.times = times;
        draft_collective(x, list, add);
        add.name = "tokens to experts";
        add.bytes *= DISPATCH_8BIT_B / ROOFLINE_ELEMENT_B;
    }
    draft_collective(x, list, add);
}

/* Dispatch takes 16 of 132 processors (Hopper), 20 to 32 of 148 (Blackwell) from the products beside it. */
#define PROCESSORS_LENT 0.12

/* The exchange beside a layer's compute of another microbatch: its parts of both passes together, each beside
 * its share of the compute, so that the two passes hide as much as one of both. */
static void draft_batch(struct drafting *x, struct plan_pass *pass, enum step_phase phase)
{
    const struct block_cost *c = &x->cost;
    double once_s = c->forward_s + c->core_s, all_s;
    double again =
        x->p->recompute == PLAN_RECOMPUTE_FULL || plan_ops(x->p, x->m) & 1U << PLAN_OP_EXPERTS ? 1 : 0;
    all_s = (1 + again) * once_s + c->input_s + c->weight_s + c->rest_s + c->core_back_s;
    double share = phase == STEP_FORWARD ? once_s / all_s : 1 - once_s / all_s;
    draft_tokens(x, &pass->beside, phase, true, (1 + again) * share);
    draft_tokens(x, &pass->beside, phase, false, share);
    pass->taken = PROCESSORS_LENT;
}

/* Compute of the shared experts that the exchange runs beside; else 0, and it is in no part of its own. */
static double shared_s(const struct drafting *x, double seconds)
{
    return x->p->ep_overlap == PLAN_EP_OVERLAP_SHARED ? seconds : 0;
}

/* Two all-to-alls, behind the last of @p pass, @p part, or beside @p beside_s of shared experts; those that
 * are split over tp gather and scatter besides. */
static void send_experts(struct drafting *x, struct plan_pass *pass, struct plan_part *part, double beside_s)
{
    double own_B = routed_B(x);
    bool forward = part->phase == STEP_FORWARD || part->phase == STEP_RECOMPUTE;
    if (x->p->ep_overlap == PLAN_EP_OVERLAP_NONE)
        draft_tokens(x, &part->sent, part->phase, forward, 1);
    if (x->p->ep_overlap == PLAN_EP_OVERLAP_SHARED) {
        part = draft_part(x, pass, part->phase, "shared experts", beside_s);
        part->beside = true;
        draft_tokens(x, &part->sent, part->phase, forward, 1);
        part = draft_part(x, pass, part->phase, "experts", 0);
    }
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
        double queries = ROOFLINE_ELEMENT_B * x->tokens * (double)x->m->heads * d / x->tp, output = queries;
        if (x->m->mla.q_rank) { /* compressed keys and values belong to all heads: they go as heads */
            output *= (double)x->m->mla.v_dim / d;
            bytes = queries + output;
        }
        add.kind = COLLECTIVE_ALL_TO_ALL;
        add.bytes = (queries + output + bytes) / 4;
        add.times = 4;
        add.name = "heads for tokens";
    }
    draft_collective(x, &part->sent, add);
}

/* ---- a layer ---- */

/* Forward pass of the linear layers under PyTorch's tp; @p early: without the last product. */
static struct plan_part *forward_dtensor(struct drafting *x, struct plan_pass *pass, enum step_phase phase,
                                         double turns, double linear_s, bool early)
{
    double scatters = early ? turns - 1 : turns;
    if (is_async(x)) {
        for (int turn = 0; turn < (int)(turns + scatters); turn++)
            linear_s += add_pieces(x, pass, phase, (enum block_turn)turn, turn % 2 == 0, 1);
        return draft_part(x, pass, phase, "linear", linear_s);
    }
    struct plan_part *part =
        draft_part(x, pass, phase, "linear", linear_s + dtensor_copies_s(x, turns, scatters));
    gather_turns(x, part, "tp gather", turns, 1);
    draft_tp(x, part, COLLECTIVE_REDUCE_SCATTER, "tp scatter", scatters, 1);
    return part;
}

/* With overlap "split" products are cut in pieces, and all but the last piece's exchange hides behind the
 * next piece. */
static void add_forward(struct drafting *x, struct plan_pass *pass, enum step_phase phase, bool experts)
{
    double turns = turns_of(x, experts);
    bool split = x->p->overlap_tp == PLAN_OVERLAP_SPLIT && x->tp > 1;
    bool early = phase == STEP_RECOMPUTE && !experts && plan_ends_early(x->p);
    double beside_s = experts ? shared_s(x, x->cost.shared_forward_s) : 0;
    double linear_s = x->cost.forward_s - beside_s - (early ? x->cost.last_s : 0);
    struct plan_part *part;
    if (is_dtensor(x)) {
        part = forward_dtensor(x, pass, phase, turns, linear_s, early);
    } else if (split) {
        part = draft_part(x, pass, phase, "linear", linear_s);
        part->beside = true;
        send_turns(x, part, turns * (SPLIT_PIECES - 1), 1 / SPLIT_PIECES);
        part = draft_part(x, pass, phase, "linear, last piece", 0);
        send_turns(x, part, turns, 1 / SPLIT_PIECES);
    } else {
        part = draft_part(x, pass, phase, "linear", linear_s);
        send_turns(x, part, turns, 1);
    }
    if (experts)
        send_experts(x, pass, part, beside_s);
    send_context(x, draft_part(x, pass, phase, "attention", x->cost.core_s), 1);
}

/* Backward pass of the linear layers under PyTorch's tp: gradients of outputs are gathered, of inputs
 * scattered. */
static void matrices_dtensor(struct drafting *x, struct plan_pass *pass, double turns, double input_s,
                             double weight_s)
{
    struct plan_part *part;
    double open = turns;
    if (is_async(x)) {
        for (int turn = TURN_ATTENTION_OUT; turn < 2 * (int)turns; turn += 2)
            input_s += add_pieces(x, pass, STEP_INPUT_GRAD, (enum block_turn)turn, true, 1);
        open = 0;
    }
    part = draft_part(x, pass, STEP_INPUT_GRAD, "input gradients",
                      input_s + dtensor_copies_s(x, open, 0) + dtensor_sums_s(x, turns));
    gather_turns(x, part, "tp gather", open, 1);
    part = draft_part(x, pass, STEP_WEIGHT_GRAD, "weight gradients", weight_s);
    draft_tp(x, part, COLLECTIVE_REDUCE_SCATTER, "tp scatter", turns, 1);
}

/*
 * Beside weight gradients run the sums of input gradients; beside input gradients, with sequence parallelism,
 * the inputs that are gathered again. Gradients of outputs are gathered in the open.
 */
static void add_matrices(struct drafting *x, struct plan_pass *pass, bool experts)
{
    double turns = turns_of(x, experts), beside_input_s = experts ? shared_s(x, x->cost.shared_input_s) : 0,
           beside_weight_s = experts ? shared_s(x, x->cost.shared_weight_s) : 0;
    double input_s = x->cost.input_s - beside_input_s, weight_s = x->cost.weight_s - beside_weight_s;
    bool beside = x->p->overlap_tp != PLAN_OVERLAP_NONE && x->tp > 1;
    struct plan_part *part;
    if (is_dtensor(x)) {
        matrices_dtensor(x, pass, turns, input_s, weight_s);
    } else {
        part = draft_part(x, pass, STEP_INPUT_GRAD, "input gradients", input_s);
        part->beside = beside;
        if (x->p->seq_parallel)
            gather_turns(x, part, "tp gather again", turns, 1);
        part = draft_part(x, pass, STEP_WEIGHT_GRAD, "weight gradients", weight_s);
        part->beside = beside;
        draft_tp(x, part, x->p->seq_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
                 x->p->seq_parallel ? "tp scatter" : "tp sum", turns, 1);
    }
    part = draft_part(x, pass, STEP_INPUT_GRAD, "output gradients", 0);
    if (x->p->seq_parallel && !is_dtensor(x))
        gather_turns(x, part, "tp gather", turns, 1);
    if (experts)
        send_experts(x, pass, part, beside_input_s + beside_weight_s);
}

/* Operators that selective recomputation does again, with what they exchange. */
static void add_again(struct drafting *x, struct plan_pass *pass, bool experts)
{
    unsigned ops = plan_ops(x->p, x->m);
    if (ops & 1U << PLAN_OP_CORE)
        send_context(x, draft_part(x, pass, STEP_RECOMPUTE, "attention", x->cost.core_s), 1);
    if (!(x->cost.again_s > 0))
        return;
    bool whole = experts && ops & 1U << PLAN_OP_EXPERTS;
    double beside_s = whole ? shared_s(x, x->cost.shared_forward_s) : 0;
    double again_s = x->cost.again_s - beside_s, gathers = 0;
    if (x->p->recompute == PLAN_RECOMPUTE_SAC && x->p->seq_parallel)
        gathers = turns_of(x, experts);
    /* Every second product that a gather feeds is done again. */
    for (int turn = TURN_ATTENTION_IN; is_async(x) && turn < 2 * (int)gathers; turn += 2)
        again_s += add_pieces(x, pass, STEP_RECOMPUTE, (enum block_turn)turn, true, 0.5);
    if (is_dtensor(x) && gathers > 0 && !is_async(x))
        again_s += dtensor_copies_s(x, gathers, 0);
    struct plan_part *part = draft_part(x, pass, STEP_RECOMPUTE, "operators again", again_s);
    if (gathers > 0 && !is_async(x))
        gather_turns(x, part, "tp gather", gathers, 1);
    if (!experts && ops & 1U << PLAN_OP_MLP)
        send_turns(x, part, 1, 1);
    if (whole)
        send_experts(x, pass, part, beside_s);
}

static void add_backward(struct drafting *x, struct plan_pass *pass, bool experts)
{
    if (x->p->recompute == PLAN_RECOMPUTE_FULL)
        add_forward(x, pass, STEP_RECOMPUTE, experts);
    else
        add_again(x, pass, experts);
    draft_part(x, pass, STEP_INPUT_GRAD, "elementwise", x->cost.rest_s);
    send_context(x, draft_part(x, pass, STEP_INPUT_GRAD, "attention", x->cost.core_back_s), 2);
    add_matrices(x, pass, experts);
}

/*
 * What fill and drain wait for in the backward pass of a block: B - 2 W of zb1p, 2 B - 3 W of DualPipe (its
 * forward pass is counted whole), taken from weight gradients first. Not below nothing.
 */
static void draft_drain(struct drafting *x, struct plan_pass *pass)
{
    bool dual = x->p->schedule != PLAN_ZB1P;
    double left_s = (dual ? 3 : 2) * x->cost.weight_s;
    if (!(x->c->drain > 0))
        return;
    for (int turn = 0; turn < 2; turn++)
        for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
            struct plan_part *part = &x->c->parts[i];
            if ((part->phase == STEP_WEIGHT_GRAD) != (turn == 0))
                continue;
            double all_s = (dual ? 2 : 1) * part->compute_s, taken_s = fmin(all_s, left_s);
            part->drain_s = all_s - taken_s;
            left_s -= taken_s;
        }
}

/* The host starts more kernels backward than forward. */
#define BACKWARD_LAUNCHES 1.3

/*
 * A pass lasts at least as long as the host takes to start its kernels, its collectives' among them, and as
 * what is offloaded takes to the host and back. Chosen: launches by class (plan_class()), 1.3.
 */
static void add_floors(const struct drafting *x, struct plan_block *b, bool experts, const struct plan *p)
{
    struct plan_class class = plan_class(p, x->m);
    double launch_s = experts ? class.expert_launch_s : class.launch_s, copy_s = 0;
    double again = p->recompute == PLAN_RECOMPUTE_FULL ? 1 : 0;
    if (p->offload > 0)
        copy_s = p->offload * memory_layer_B(x->m, p, experts) / x->npu->host_Bps;
    b->forward.floor_s = b->forward.drain_floor_s = fmax(launch_s, copy_s);
    b->backward.floor_s = fmax((BACKWARD_LAUNCHES + again) * launch_s, copy_s);
    /* B - 2 W and 2 B - 3 W grow where W shrinks: at the floor of B they stay what they are of that. */
    b->backward.drain_floor_s = (p->schedule > PLAN_ZB1P ? 2 : 1) * b->backward.floor_s;
}

/* A transformer layer, both passes. */
static void draft_layer(struct drafting *x, enum block_kind kind)
{
    struct plan_block *b = &x->c->blocks[kind];
    bool batch = kind == BLOCK_EXPERTS && x->p->ep_overlap == PLAN_EP_OVERLAP_BATCH;
    draft_cost(x, kind);
    if (kind == BLOCK_EXPERTS && x->p->ep_overlap == PLAN_EP_OVERLAP_SHARED) /* they hide tokens, not tp */
        x->cost.turn_s[TURN_MLP_IN] = x->cost.turn_s[TURN_MLP_OUT] = 0;
    b->forward.taken = b->backward.taken = x->p->beside_share;
    add_forward(x, &b->forward, STEP_FORWARD, kind == BLOCK_EXPERTS);
    if (batch)
        draft_batch(x, &b->forward, STEP_FORWARD);
    draft_shares(x, kind, &b->forward, true);
    add_backward(x, &b->backward, kind == BLOCK_EXPERTS);
    if (batch)
        draft_batch(x, &b->backward, STEP_INPUT_GRAD);
    draft_shares(x, kind, &b->backward, false);
    draft_drain(x, &b->backward);
    add_floors(x, b, kind == BLOCK_EXPERTS, x->p);
}

/* Where only some layers are done again those have a kind of block of their own. The others' passes are its
 * passes without the parts that do it again, which come first. */
static void draft_part_again(struct drafting *x, enum block_kind kind)
{
    struct plan_block *b = &x->c->blocks[kind];
    const struct plan once = plan_once(x->p);
    x->c->blocks[kind == BLOCK_EXPERTS ? BLOCK_EXPERTS_AGAIN : BLOCK_DENSE_AGAIN] = *b;
    for (; x->c->parts[b->backward.first].phase == STEP_RECOMPUTE; b->backward.n--)
        b->backward.first++;
    add_floors(x, b, kind == BLOCK_EXPERTS, &once);
}

/* ---- ends ---- */

/* Each NPU of a tp group holds a part of the vocabulary; partial rows are summed up, scattered along the
 * sequence where that is parallel. */
static void add_embed(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_EMBED];
    draft_cost(x, BLOCK_EMBED);
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
static void draft_add_head(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_HEAD];
    draft_cost(x, BLOCK_HEAD);
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
    draft_drain(x, &b->backward);
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

/* Parameters that one NPU of a stage holds, those of the first @p n kinds of blocks (N_BLOCKS: all; before
 * BLOCK_EMBED: of layers). */
static struct model_share cost_stage_params(const struct drafting *x, const struct plan_stage *s, int n)
{
    const int64_t count[N_BLOCKS] = { s->dense, s->experts, s->embed, s->head };
    struct model_share sum = { 0, 0 };
    for (int b = 0; b < n; b++) {
        struct model_share one =
            count[b] ? draft_params(x, (enum block_kind)b) : (struct model_share){ 0, 0 };
        sum.dense += (double)count[b] * one.dense;
        sum.expert += (double)count[b] * one.expert;
    }
    return sum;
}

/* Layers whose gradients are ready one after the other. */
static double cost_layers_of(const struct model *m, const struct plan_stage *s)
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
    struct model_share params = cost_stage_params(x, s, N_BLOCKS);
    /* Overlapped, the layer whose gradients come last, and whose parameters are needed first, is exposed. */
    double open = 1 / cost_layers_of(x->m, s);
    double hidden = x->p->overlap_dp ? 1 - open : 0, rest = 1 - hidden;
    struct model_share grads = draft_scaled(params, (double)x->p->grad_B),
                       weights = draft_scaled(params, ROOFLINE_ELEMENT_B);
    static const char *const name = "gradients";
    double less_B = ROOFLINE_ELEMENT_B - plan_gather_B(x->p);
    if (less_B > 0) { /* of layers: embedding and head are gathered in 16 bits */
        struct model_share layers = cost_stage_params(x, s, BLOCK_EMBED);
        weights.dense -= less_B * layers.dense;
        weights.expert -= less_B * layers.expert;
    }
    if (x->p->zero && !draft_gathers(x->p)) {
        draft_exchange(x, &x->c->before, COLLECTIVE_ALL_GATHER, STEP_FORWARD, "parameters", weights, hidden);
        draft_exchange(x, &x->c->first_before, COLLECTIVE_ALL_GATHER, STEP_FORWARD, "parameters", weights,
                       rest);
    }
    if (draft_scatters(x->p))
        return;
    enum collective_kind kind = x->p->zero ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    draft_exchange(x, &x->c->after, kind, STEP_WEIGHT_GRAD, name, grads, hidden);
    draft_exchange(x, &x->c->last_after, kind, STEP_WEIGHT_GRAD, name, grads, rest);
}

/* An embedding at both ends of a pipeline (tied, or for multi-token prediction) is kept equal: an all-reduce
 * of two, in which each sends once what it has. */
static void add_tied(struct drafting *x)
{
    const struct model *m = x->m;
    if (!(m->tied || m->mtp) || x->p->degree[PLAN_PP] == 1 || m->family != MODEL_TRANSFORMER)
        return;
    double bytes = (double)x->p->grad_B * model_vocab(m, x->tp) / x->tp * (double)m->hidden;
    draft_collective(x, &x->c->last_after,
                     (struct plan_collective){ PLAN_GROUP_PP, COLLECTIVE_SEND, STEP_WEIGHT_GRAD,
                                               "tied embedding", bytes, 1 });
}

/* Every stage updates at once, after the norm of all gradients is known: the one that holds most. */
static void add_optimizer(struct drafting *x)
{
    double cp_dp = x->cp * (double)x->p->degree[PLAN_DP], most_B = 0;
    double dense = x->p->shard ? (double)x->p->shard : cp_dp,
           experts = cp_dp * (x->p->expert_tp ? 1 : x->tp) / (double)x->p->ep;
    struct plan_class class = plan_class(x->p, x->m);
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        struct model_share params = cost_stage_params(x, &x->c->stages[i], N_BLOCKS);
        double all = params.dense + params.expert, own = all;
        if (x->p->zero)
            own = params.dense / dense + params.expert / experts;
        double bytes = class.shared_B * own + class.local_B * (x->p->zero == 3 ? own : all);
        most_B = bytes > most_B ? bytes : most_B;
    }
    x->c->optimizer_s = roofline_stream_s(x->npu, most_B, 0);
}

/* ---- other families ---- */

/* Every NPU looks up for all samples what its tables hold; the pooled vectors go to who has the sample. */
static void draft_add_tables(struct drafting *x)
{
    struct plan_block *b = &x->c->blocks[BLOCK_EMBED];
    draft_cost(x, BLOCK_EMBED);
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
    draft_cost(x, BLOCK_HEAD);
    draft_part(x, &b->forward, STEP_FORWARD, "forward", x->cost.forward_s);
    draft_shares(x, BLOCK_HEAD, &b->forward, true);
    draft_part(x, &b->backward, STEP_INPUT_GRAD, "input gradients", x->cost.input_s + x->cost.rest_s);
    draft_part(x, &b->backward, STEP_WEIGHT_GRAD, "weight gradients", x->cost.weight_s);
    draft_shares(x, BLOCK_HEAD, &b->backward, false);
}

/* ---- all of it ---- */

/* Matrix products of all NPUs; those of a block @p times: once per layer, microbatch and replica. @p again:
 * by full recomputation. */
static void add_flop(struct drafting *x, double times, bool again)
{
    const struct block_cost *b = &x->cost;
    bool core_again = again || plan_ops(x->p, x->m) & 1U << PLAN_OP_CORE;
    double others = b->flop - b->core_flop, others_again = again ? others : b->again_flop;
    if (again && plan_ends_early(x->p))
        others_again -= b->last_flop;
    x->c->model_flop += times * 3 * b->flop;
    x->c->hardware_flop += times * (3 * b->flop + others_again + (core_again ? b->core_flop : 0));
    x->c->done_flop += times * (3 * others + others_again + (core_again ? 2 : 1) * b->core_done_flop +
                                b->core_back_done_flop);
}

/* Of blocks that nothing does again, of which all is done. */
static void add_flop_once(struct drafting *x, double times)
{
    x->c->model_flop += times * 3 * x->cost.flop;
    x->c->hardware_flop += times * 3 * x->cost.flop;
    x->c->done_flop += times * 3 * (x->cost.flop + x->cost.pad_flop);
}

/* Layers of a kind, of which so many are done again. */
static void add_layers(struct drafting *x, enum block_kind kind, int64_t layers, int64_t again,
                       double replicas)
{
    bool full = x->p->recompute == PLAN_RECOMPUTE_FULL;
    if (!layers)
        return;
    draft_layer(x, kind);
    if (plan_is_partly_again(x->p)) {
        draft_part_again(x, kind);
        add_flop(x, (double)again * replicas, true);
        layers -= again;
        full = false;
    }
    add_flop(x, (double)layers * replicas, full);
}

/* Every kind of block once, with how often it occurs, and the FLOP of the whole model over all replicas. */
static void add_blocks(struct drafting *x)
{
    double replicas = x->tp * x->cp * (double)x->p->degree[PLAN_DP] * x->c->microbatches;
    struct plan_stage all = { 0 };
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        const struct plan_stage *s = &x->c->stages[i];
        all.dense += s->count * s->dense;
        all.experts += s->count * s->experts;
        all.dense_again += s->count * s->dense_again;
        all.experts_again += s->count * s->experts_again;
    }
    add_layers(x, BLOCK_DENSE, all.dense, all.dense_again, replicas);
    add_layers(x, BLOCK_EXPERTS, all.experts, all.experts_again, replicas);
    if (x->m->family == MODEL_TRANSFORMER)
        add_embed(x);
    else if (x->m->family == MODEL_DLRM) {
        draft_add_tables(x);
        add_flop_once(x, replicas);
    }
    if (x->m->family == MODEL_TRANSFORMER)
        draft_add_head(x);
    else
        add_plain_head(x);
    add_flop_once(x, replicas * (1 + (double)x->m->mtp));
}

/* Weight of rho: how often the bubble of the schedule has it for each stage. */
static double plan_drain(const struct plan *p)
{
    double pp = (double)p->degree[PLAN_PP];
    if (p->schedule == PLAN_ZB1P)
        return (pp - 1) / pp;
    if (p->schedule == PLAN_DUALPIPE)
        return (pp / 2 - 1) / pp;
    return p->schedule == PLAN_DUALPIPEV ? (pp - 1) / (2 * pp) : 0;
}

/* Do collectives run beside collectives in a pass: its parts, what is beside them, what is exchanged beside
 * all passes of the kind, and sends beside all that? */
static bool pass_shares(const struct plan_cost *c, const struct plan_pass *pass, struct plan_list exchanged)
{
    int32_t n_beside = 0; /* of which two share */
    for (int32_t i = pass->first; i < pass->first + pass->n && !n_beside; i++)
        n_beside = c->parts[i].sent.n > 0;
    n_beside += (pass->beside.n > 0) + (exchanged.n > 0) + (c->hidden_sends.n > 0);
    return n_beside > 1;
}

static bool shares_links(const struct plan_cost *c)
{
    bool shared = false;
    for (int b = 0; b < c->n_blocks; b++)
        shared = shared || pass_shares(c, &c->blocks[b].forward, c->before) ||
                 pass_shares(c, &c->blocks[b].backward, c->after);
    return shared;
}

/* Drafts the step: blocks, pipeline, exchange of gradients, the tied embedding, the optimiser. `traffic`
 * scales all bytes at the end. */
/* The largest of N normal draws, to first order. */
double plan_slowest_times(const struct model *m, const struct plan *p, double n_npus)
{
    return 1 + plan_class(p, m).jitter * sqrt(2 * log(n_npus));
}

/* What the network carries stays. */
static void wait_for_slowest(struct plan_cost *c, double times)
{
    if (!(times > 1))
        return;
    for (int32_t i = 0; i < c->n_parts; i++) {
        c->parts[i].compute_s *= times;
        c->parts[i].drain_s *= times;
    }
    for (int b = 0; b < N_BLOCKS; b++)
        for (int way = 0; way < 2; way++) {
            struct plan_pass *pass = way ? &c->blocks[b].backward : &c->blocks[b].forward;
            pass->floor_s *= times;
            pass->drain_floor_s *= times;
        }
    c->optimizer_s *= times;
}

void plan_cost_kept(struct plan_cost *c, struct plan_memo *memo, const struct model *m, const struct plan *p,
                    const struct topo_npu *npu)
{
    struct drafting x = { .c = c, .m = m, .p = p, .npu = npu, .memo = memo };
    x.tp = (double)p->degree[PLAN_TP];
    x.cp = (double)p->degree[PLAN_CP];
    x.tokens = block_tokens(p, m);
    x.width_B = ROOFLINE_ELEMENT_B * x.tokens * (double)m->hidden;
    c->n_collectives = c->n_parts = 0;
    c->n_blocks = plan_is_partly_again(p) ? N_BLOCKS : BLOCK_HEAD + 1;
    for (int b = 0; b < N_BLOCKS; b++)
        c->blocks[b] = (struct plan_block){ 0 };
    /* The first gather and the last scatter of a stage have nothing to hide behind. */
    c->open = (draft_gathers(p) || draft_scatters(p)) && p->overlap_dp;
    c->drain = plan_drain(p);
    c->sends = c->hidden_sends = c->before = c->after = c->first_before = c->last_after =
        (struct plan_list){ 0 };
    c->model_flop = c->hardware_flop = c->done_flop = 0;
    c->microbatches = (double)plan_microbatches(p);
    c->interleave = (double)p->interleave;
    c->overhead_s = p->overhead_s;
    c->n_stages = plan_memo_stages(c->stages, memo, p, m);
    if (m->family == MODEL_TRANSFORMER)
        plan_memo_layers(&x.layers, memo, m, p);
    add_blocks(&x);
    add_pipeline(&x);
    add_exchange(&x);
    add_tied(&x);
    add_optimizer(&x);
    wait_for_slowest(
        c, plan_slowest_times(m, p, x.tp * x.cp * (double)(p->degree[PLAN_DP] * p->degree[PLAN_PP])));
    c->shared = shares_links(c);
    for (int32_t i = 0; i < c->n_collectives; i++)
        c->collectives[i].bytes *= p->traffic;
}

void plan_cost(struct plan_cost *c, const struct model *m, const struct plan *p, const struct topo_npu *npu)
{
    plan_cost_kept(c, NULL, m, p, npu);
}

/* Of a layer: what add_backward() does again; nothing where there are others. */
static double again_s(const struct block_cost *c, const struct model *m, const struct plan *p)
{
    if (p->recompute == PLAN_RECOMPUTE_FULL)
        return plan_is_partly_again(p) ? 0 : c->forward_s - (plan_ends_early(p) ? c->last_s : 0) + c->core_s;
    return c->again_s + (plan_ops(p, m) & 1U << PLAN_OP_CORE ? c->core_s : 0);
}

double plan_work_s(const struct model *m, const struct plan *p, const struct topo_npu *npu)
{
    int64_t experts = model_experts_before(m, m->layers);
    double sum_s = 0;
    int64_t count[BLOCK_HEAD + 1] = { m->layers - experts, experts, 1, 1 + m->mtp };
    count[m->moe.experts ? BLOCK_EXPERTS : BLOCK_DENSE] += m->mtp;
    for (int b = 0; b <= BLOCK_HEAD; b++) {
        struct block_cost c;
        bool layer = b == BLOCK_DENSE || b == BLOCK_EXPERTS;
        if (!count[b])
            continue;
        block_cost(&c, (enum block_kind)b, m, p, npu);
        sum_s += (double)count[b] * (c.forward_s + c.core_s + c.core_back_s + c.input_s + c.weight_s +
                                     c.rest_s + (layer ? again_s(&c, m, p) : 0));
    }
    return sum_s;
}

static int training_need_npu(const struct topo_network *net, const struct yaml_doc *doc, yaml_id at,
                             struct err *e)
{
    const char *missing = NULL;
    if (isnan(net->npu.peak_flops))
        missing = "peak_TFLOPS";
    else if (isnan(net->npu.mem_Bps))
        missing = "mem_GBps";
    if (!missing)
        return 0;
    return yaml_fail_key(doc, at, e, ERR_RANGE, "needs network.npu.%s, which is not given", missing);
}

/* The most that an NPU could do: attention whose queries and keys are in 8 bits has another peak. */
static double highest_peak(const struct training *x, const struct topo_npu *npu)
{
    double peak = plan_peak(&x->plan, npu);
    return x->plan.attention_fp8 && npu->peak_8bit_flops > peak ? npu->peak_8bit_flops : peak;
}

/* Which constant lets an NPU do more than its peak: that of attention or of products. */
static const char *too_fast(const struct training *x, const struct topo_npu *npu)
{
    struct block_cost c;
    block_cost(&c, x->cost.stages[0].experts ? BLOCK_EXPERTS : BLOCK_DENSE, &x->model, &x->plan, npu);
    double core = (c.core_done_flop + c.core_back_done_flop) / (c.core_s + c.core_back_s);
    if (plan_is_fused(&x->plan, &x->model) && core > highest_peak(x, npu))
        return npu->n_kernels ? "network.npu.attention_kernels, forward_TFLOPS and backward_TFLOPS"
                              : "network.npu.flash_efficiency";
    return x->plan.precision == TOPO_BF16 ? "network.npu.matrix_efficiency"
                                          : "network.npu.peak_8bit_TFLOPS and peak_4bit_TFLOPS";
}

/* No step does more than the peak, even where collectives take no time. Of causal attention what is done
 * counts, which MFU and HFU count in full: these may be above 1. */
static int check_rates(const struct training *x, const struct topo_network *net, struct err *e)
{
    const double free_s[PLAN_MAX_COLLECTIVES] = { 0 };
    double time_s = plan_cost_time(&x->cost, free_s, NULL);
    double rate = x->cost.done_flop / ((double)net->n_npus * highest_peak(x, &net->npu) * time_s);
    if (!(rate > 1 + 1e-9) || x->model.family != MODEL_TRANSFORMER)
        return 0;
    return err_set(
        e, ERR_RANGE,
        "the plan uses %.4g %% of the NPUs' peak where communication is free, expected at most 100: "
        "look at %s",
        100 * rate, too_fast(x, &net->npu));
}

int training_derive(struct training *x, const struct topo_network *net, struct err *e)
{
    int rc = plan_map(&x->place, &x->plan, net, e);
    if (rc)
        return rc;
    plan_merge(&x->place, &x->plan, &x->model, net);
    plan_cost(&x->cost, &x->model, &x->plan, &net->npu);
    memory_plan(&x->memory, &x->model, &x->plan);
    return check_rates(x, net, e);
}

/* With a search the plan is a pattern and no step is derived yet. */
int training_read(struct training *x, const struct yaml_doc *doc, yaml_id map, const struct topo_network *net,
                  struct err *e)
{
    yaml_id model = yaml_get(doc, map, "model"), parallel = yaml_get(doc, map, "parallel");
    yaml_id name = yaml_get(doc, map, "name"), traffic = yaml_get(doc, map, "traffic");
    *x = (struct training){ .search = yaml_get(doc, map, "search") };
    int rc = yaml_need(doc, model, YAML_MAP, e);
    if (!rc)
        rc = model_read(&x->model, doc, model, e);
    if (!rc)
        rc = training_need_npu(net, doc, model, e);
    if (!rc)
        rc = plan_read(&x->plan, &x->model, net, x->search < 0, doc, parallel, e);
    if (!rc && traffic >= 0)
        rc = yaml_real(doc, traffic, &x->plan.traffic, e);
    if (rc)
        return rc;
    snprintf(x->name, sizeof x->name, "%s", name >= 0 ? doc->nodes[name].text : x->model.name);
    return x->search < 0 ? training_derive(x, net, e) : 0;
}

int training_build(struct step_tree *t, const struct training *x, const struct topo_network *net,
                   struct err *e)
{
    int rc = plan_cost_tree(t, &x->cost, &x->place, x->name, net, e);
    t->uses_npu = true;
    return rc;
}

double training_missing_B(const struct training *x, const struct topo_network *net)
{
    return x->memory.total_B - net->npu.mem_B;
}

double training_tokens(const struct training *x)
{
    return (double)x->plan.batch * (x->model.family == MODEL_TRANSFORMER ? (double)x->model.seq : 1);
}

double training_mfu(const struct training *x, const struct topo_network *net, double time_s)
{
    return x->cost.model_flop / ((double)net->n_npus * plan_peak(&x->plan, &net->npu) * time_s);
}
