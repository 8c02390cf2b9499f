/*
 * A planned training step taken apart: parts of compute, collectives, and which run side by side.
 * Drafted block by block (layer, embedding, head), both passes; a stage's pass is its layers in a row, and
 *    step = (microbatches - 1 + fill / interleave) of the slowest stage + what is exchanged before and after
 * + overhead. The same draft is evaluated three times: as a time with its parts by dimension (plan_cost_time,
 * plan_cost_sum), as shares of compute, bubble and exposed collectives (plan_cost_shares), and as an
 * expression for the solver and the simulators (plan_cost_tree). The three agree; tests hold them together.
 */
#include "workloads/plan_cost.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workloads/block.h"

struct drafting {
    struct plan_cost *c;
    const struct model *m;
    const struct plan *p;
    const struct topo_npu *npu;
    double tp, cp, tokens;
    double width_B;         /**< an activation of one microbatch, over all of TP */
    struct block_cost cost; /**< of the block being drafted */
};

/** Kind of the layer of @p s that is not beside its exchange, or -1. */
static inline int plan_cost_open(const struct plan_cost *c, const struct plan_stage *s)
{
    if (!c->open || s->dense + s->experts == 0)
        return -1;
    return s->experts ? BLOCK_EXPERTS : BLOCK_DENSE;
}

/* How much of one microbatch's way through all stages the step has: none where rho says what is waited for.
 */
static inline double plan_cost_round(const struct plan_cost *c)
{
    return c->drain > 0 ? 0 : 1 / c->interleave;
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

/*
 * Where the time of a step goes. Of parts that run side by side, compute counts whole, and of the collectives
 * beside it what sticks out: their time beyond that of the compute, each in proportion.
 */
struct sharing {
    const struct plan_cost *c;
    const double *once_s; /* shape [n_collectives] */
    bool drain;           /* what other stages wait for, in place of all compute */
};

static void shares_add(struct plan_shares *to, double times, const struct plan_shares *s, int32_t n)
{
    to->time_s += times * s->time_s;
    to->bubble_s += times * s->bubble_s;
    for (int p = 0; p < N_STEP_PHASES; p++)
        to->compute_s[p] += times * s->compute_s[p];
    for (int32_t i = 0; i < n; i++)
        to->exposed_s[i] += times * s->exposed_s[i];
}

static void plan_shares_add_compute(struct plan_shares *to, enum step_phase phase, double seconds)
{
    to->compute_s[phase] += seconds;
    to->time_s += seconds;
}

static double list_time(const struct sharing *x, struct plan_list list)
{
    double sum_s = 0;
    for (int32_t i = list.first; i < list.first + list.n; i++)
        sum_s += x->c->collectives[i].times * x->once_s[i];
    return sum_s;
}

/* Of a list that runs beside something of @p hidden_s, what is longer. */
static void plan_shares_add_list(struct plan_shares *to, const struct sharing *x, struct plan_list list,
                                 double hidden_s)
{
    double all_s = list_time(x, list), out_s = all_s - hidden_s;
    if (!(out_s > 0))
        return;
    for (int32_t i = list.first; i < list.first + list.n; i++)
        to->exposed_s[i] += out_s * (x->c->collectives[i].times * x->once_s[i] / all_s);
    to->time_s += out_s;
}

static struct plan_shares share_parts(const struct sharing *x, const struct plan_pass *pass)
{
    struct plan_shares s = { 0 };
    for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
        const struct plan_part *part = &x->c->parts[i];
        double compute_s = x->drain ? part->drain_s : part->compute_s;
        plan_shares_add_compute(&s, part->phase, compute_s);
        plan_shares_add_list(&s, x, part->sent, part->beside ? compute_s : 0);
    }
    return s;
}

/* A pass of one block; @p open: beside nothing. What the floor adds counts as overhead. Collectives beside a
 * pass take some of its processors: that share of both counts one behind the other. */
static struct plan_shares share_pass(const struct sharing *x, const struct plan_pass *pass, bool open)
{
    struct plan_shares s = share_parts(x, pass);
    double floor_s = x->drain ? pass->drain_floor_s : pass->floor_s;
    if (floor_s > s.time_s)
        plan_shares_add_compute(&s, STEP_OVERHEAD, floor_s - s.time_s);
    double all_s = list_time(x, pass->beside), exposed_s = open ? all_s : fmax(all_s - s.time_s, 0);
    if (pass->taken > 0 && !open)
        exposed_s = pass->taken * all_s + (1 - pass->taken) * exposed_s;
    for (int32_t i = pass->beside.first; i < pass->beside.first + pass->beside.n && exposed_s > 0; i++)
        s.exposed_s[i] += exposed_s * (x->c->collectives[i].times * x->once_s[i] / all_s);
    s.time_s += exposed_s;
    return s;
}

/* All blocks of a stage in one direction, beside what is exchanged once. */
static struct plan_shares share_direction(const struct sharing *x, const struct plan_stage *s, bool forward,
                                          struct plan_list exchanged)
{
    const double count[N_BLOCKS] = { (double)s->dense, (double)s->experts, s->embed,
                                     s->head + (double)s->mtp };
    int open = plan_cost_open(x->c, s);
    struct plan_shares all = { 0 };
    for (int b = 0; b < N_BLOCKS; b++) {
        const struct plan_pass *pass = forward ? &x->c->blocks[b].forward : &x->c->blocks[b].backward;
        struct plan_shares one = share_pass(x, pass, false);
        shares_add(&all, count[b] - (b == open), &one, x->c->n_collectives);
        if (b == open) {
            one = share_pass(x, pass, true);
            shares_add(&all, 1, &one, x->c->n_collectives);
        }
    }
    plan_shares_add_list(&all, x, exchanged, all.time_s);
    return all;
}

static struct plan_shares share_stage(const struct sharing *x, const struct plan_stage *s, bool last)
{
    static const struct plan_list none = { 0, 0 };
    struct plan_shares all = share_direction(x, s, true, last ? x->c->before : none);
    struct plan_shares back = share_direction(x, s, false, last ? x->c->after : none);
    shares_add(&all, 1, &back, x->c->n_collectives);
    plan_shares_add_list(&all, x, x->c->sends, 0);
    return all;
}

/* Others work meanwhile: nothing of this stage. */
static void add_wait(struct plan_shares *to, double seconds)
{
    to->bubble_s += seconds;
    to->time_s += seconds;
}

/* What the stages wait for each other where weight gradients fill most of it. */
static void add_drain(struct plan_shares *out, const struct plan_cost *c, const double *once_s)
{
    const struct sharing x = { c, once_s, true };
    for (int32_t i = 0; i < c->n_stages && c->drain > 0; i++) {
        struct plan_shares rho = share_stage(&x, &c->stages[i], false);
        add_wait(out, c->drain * (double)c->stages[i].count * rho.time_s);
    }
}

/* One microbatch goes through all stages (1/v of them with v chunks a stage); the others wait for the slowest
 * stage each. Waiting counts as bubble. */
static void add_stages(struct plan_shares *out, const struct sharing *x)
{
    const struct plan_cost *c = x->c;
    struct plan_shares most = { 0 }, most_last = { 0 };
    double round = plan_cost_round(c), boundaries = -1;
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        struct plan_shares tau = share_stage(x, s, false), last = share_stage(x, s, i == 0);
        if (tau.time_s > most.time_s)
            most = tau;
        if (last.time_s > most_last.time_s)
            most_last = last;
        if (i == 0)
            shares_add(out, round, &last, c->n_collectives);
        add_wait(out, round * ((double)s->count - (i == 0)) * tau.time_s);
        boundaries += (double)s->count;
    }
    shares_add(out, c->microbatches - 1, &most, c->n_collectives);
    shares_add(out, 1 - round, &most_last, c->n_collectives);
    add_drain(out, c, x->once_s);
    add_wait(out, boundaries * list_time(x, c->hidden_sends));
}

void plan_cost_shares(struct plan_shares *out, const struct plan_cost *c, const double *once_s)
{
    const struct sharing x = { c, once_s, false };
    struct plan_shares all = { 0 };
    plan_shares_add_list(&all, &x, c->first_before, 0);
    add_stages(&all, &x);
    plan_shares_add_list(&all, &x, c->last_after, 0);
    plan_shares_add_compute(&all, STEP_OPTIMIZER, c->optimizer_s);
    plan_shares_add_compute(&all, STEP_OVERHEAD, c->overhead_s);
    *out = (struct plan_shares){ 0 };
    shares_add(out, c->slowest, &all, c->n_collectives);
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

/* With overlap "split" products are cut in pieces, and all but the last piece's exchange hides behind the
 * next piece. */
static void add_forward(struct drafting *x, struct plan_pass *pass, enum step_phase phase, bool experts)
{
    double turns = turns_of(x, experts);
    bool split = x->p->overlap_tp == PLAN_OVERLAP_SPLIT && x->tp > 1;
    double beside_s = experts ? shared_s(x, x->cost.shared_forward_s) : 0;
    struct plan_part *part = draft_part(x, pass, phase, "linear", x->cost.forward_s - beside_s);
    if (split) {
        part->beside = true;
        send_turns(x, part, turns * (SPLIT_PIECES - 1), 1 / SPLIT_PIECES);
        part = draft_part(x, pass, phase, "linear, last piece", 0);
        send_turns(x, part, turns, 1 / SPLIT_PIECES);
    } else {
        send_turns(x, part, turns, 1);
    }
    if (experts)
        send_experts(x, pass, part, beside_s);
    send_context(x, draft_part(x, pass, phase, "attention", x->cost.core_s), 1);
}

/*
 * Beside weight gradients run the sums of input gradients; beside input gradients, with sequence parallelism,
 * the inputs that are gathered again. Gradients of outputs are gathered in the open.
 */
static void add_matrices(struct drafting *x, struct plan_pass *pass, bool experts)
{
    double turns = turns_of(x, experts), input_s = experts ? shared_s(x, x->cost.shared_input_s) : 0,
           weight_s = experts ? shared_s(x, x->cost.shared_weight_s) : 0;
    bool beside = x->p->overlap_tp != PLAN_OVERLAP_NONE && x->tp > 1;
    struct plan_part *part =
        draft_part(x, pass, STEP_INPUT_GRAD, "input gradients", x->cost.input_s - input_s);
    part->beside = beside;
    if (x->p->seq_parallel)
        gather_turns(x, part, "tp gather again", turns, 1);
    part = draft_part(x, pass, STEP_WEIGHT_GRAD, "weight gradients", x->cost.weight_s - weight_s);
    part->beside = beside;
    draft_tp(x, part, x->p->seq_parallel ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
             x->p->seq_parallel ? "tp scatter" : "tp sum", turns, 1);
    part = draft_part(x, pass, STEP_INPUT_GRAD, "output gradients", 0);
    if (x->p->seq_parallel)
        gather_turns(x, part, "tp gather", turns, 1);
    if (experts)
        send_experts(x, pass, part, input_s + weight_s);
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
    struct plan_part *part =
        draft_part(x, pass, STEP_RECOMPUTE, "operators again", x->cost.again_s - beside_s);
    if (x->p->recompute == PLAN_RECOMPUTE_SAC && x->p->seq_parallel)
        gather_turns(x, part, "tp gather", turns_of(x, experts), 1);
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
static void add_floors(struct drafting *x, struct plan_block *b, bool experts)
{
    struct plan_class class = plan_class(x->p, x->m);
    double launch_s = experts ? class.expert_launch_s : class.launch_s, copy_s = 0;
    double again = x->p->recompute == PLAN_RECOMPUTE_FULL ? 1 : 0;
    if (x->p->offload > 0)
        copy_s = x->p->offload * memory_layer_B(x->m, x->p, experts) / x->npu->host_Bps;
    b->forward.floor_s = b->forward.drain_floor_s = fmax(launch_s, copy_s);
    b->backward.floor_s = fmax((BACKWARD_LAUNCHES + again) * launch_s, copy_s);
    /* B - 2 W and 2 B - 3 W grow where W shrinks: at the floor of B they stay what they are of that. */
    b->backward.drain_floor_s = (x->p->schedule > PLAN_ZB1P ? 2 : 1) * b->backward.floor_s;
}

/* A transformer layer, both passes. */
static void draft_layer(struct drafting *x, enum block_kind kind)
{
    struct plan_block *b = &x->c->blocks[kind];
    bool batch = kind == BLOCK_EXPERTS && x->p->ep_overlap == PLAN_EP_OVERLAP_BATCH;
    block_cost(&x->cost, kind, x->m, x->p, x->npu);
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
    add_floors(x, b, kind == BLOCK_EXPERTS);
}

/* ---- ends ---- */

/* Each NPU of a tp group holds a part of the vocabulary; partial rows are summed up, scattered along the
 * sequence where that is parallel. */
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
static void draft_add_head(struct drafting *x)
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
    else if (plan_ops(x->p, x->m) & 1U << PLAN_OP_CORE)
        again = layers * replicas * (x->cost.core_flop + x->cost.again_flop);
    else
        again = layers * replicas * x->cost.again_flop;
    x->c->model_flop += 3 * flop;
    x->c->hardware_flop += 3 * flop + again;
}

/* Every kind of block once, with how often it occurs, and the FLOP of the whole model over all replicas. */
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
        draft_add_tables(x);
        x->c->model_flop += 3 * replicas * x->cost.flop;
        x->c->hardware_flop += 3 * replicas * x->cost.flop;
    }
    if (x->m->family == MODEL_TRANSFORMER)
        draft_add_head(x);
    else
        add_plain_head(x);
    double heads = 1 + (double)x->m->mtp;
    x->c->model_flop += 3 * replicas * heads * x->cost.flop;
    x->c->hardware_flop += 3 * replicas * heads * x->cost.flop;
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

/* Drafts the step: blocks, pipeline, exchange of gradients, the tied embedding, the optimiser. `traffic`
 * scales all bytes at the end. */
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
    c->open = (draft_gathers(p) || draft_scatters(p)) && p->overlap_dp;
    c->drain = plan_drain(p);
    c->sends = c->hidden_sends = c->before = c->after = c->first_before = c->last_after =
        (struct plan_list){ 0 };
    c->model_flop = c->hardware_flop = 0;
    c->microbatches = (double)plan_microbatches(p);
    c->interleave = (double)p->interleave;
    c->overhead_s = p->overhead_s;
    c->slowest = 1;
    if (p->jitter > 0) /* expected largest of N normal draws, to first order */
        c->slowest +=
            p->jitter * sqrt(2 * log(x.tp * x.cp * (double)(p->degree[PLAN_DP] * p->degree[PLAN_PP])));
    c->n_stages = plan_stages(c->stages, p, m);
    add_blocks(&x);
    add_pipeline(&x);
    add_exchange(&x);
    add_tied(&x);
    add_optimizer(&x);
    for (int32_t i = 0; i < c->n_collectives; i++)
        c->collectives[i].bytes *= p->traffic;
}

/*
 * One evaluation for both: a time alone (n = 1) and a time with its parts by dimension. The functions are
 * inlined into the two at the end, where n is known.
 */
struct summing {
    const struct plan_cost *c;
    const double *once; /* shape [n_collectives][stride] */
    int32_t stride, n;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void shares_clear(struct plan_sum *to, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = 0;
}

INLINE void time_add(struct plan_sum *to, double times, const struct plan_sum *s, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] += times * s->v[k];
}

/* Of both, @p share of the second. */
INLINE void shares_mix(struct plan_sum *to, double share, const struct plan_sum *s, const struct summing *x)
{
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = (1 - share) * to->v[k] + share * s->v[k];
}

INLINE void keep_longer(struct plan_sum *to, const struct plan_sum *s, const struct summing *x)
{
    if (!(s->v[0] > to->v[0]))
        return;
    for (int32_t k = 0; k < x->n; k++)
        to->v[k] = s->v[k];
}

INLINE void add_list(struct plan_sum *to, struct plan_list list, const struct summing *x)
{
    for (int32_t i = list.first; i < list.first + list.n; i++)
        for (int32_t k = 0; k < x->n; k++)
            to->v[k] += x->c->collectives[i].times * x->once[i * x->stride + k];
}

/*
 * Time of a pass: its parts in a row, W, beside what runs beside them all, X; @p open: one behind the other.
 * Where X takes a share z of the processors, max(W, X) + z min(W, X) = (1 - z) max(W, X) + z (W + X) which is
 * convex, and never longer than one behind the other.
 */
INLINE void sum_pass(struct plan_sum *out, const struct plan_pass *pass, bool open, bool drain,
                     const struct summing *x)
{
    struct plan_sum sent;
    shares_clear(out, x);
    for (int32_t i = pass->first; i < pass->first + pass->n; i++) {
        const struct plan_part *part = &x->c->parts[i];
        double compute_s = drain ? part->drain_s : part->compute_s;
        shares_clear(&sent, x);
        add_list(&sent, part->sent, x);
        if (!part->beside || sent.v[0] > compute_s)
            time_add(out, 1, &sent, x);
        if (!part->beside || !(sent.v[0] > compute_s))
            out->v[0] += compute_s;
    }
    double floor_s = drain ? pass->drain_floor_s : pass->floor_s;
    if (floor_s > out->v[0]) {
        shares_clear(out, x);
        out->v[0] = floor_s;
    }
    if (pass->beside.n) {
        shares_clear(&sent, x);
        add_list(&sent, pass->beside, x);
        if (open) {
            time_add(out, 1, &sent, x);
        } else {
            struct plan_sum both;
            shares_clear(&both, x);
            time_add(&both, 1, out, x);
            time_add(&both, 1, &sent, x);
            keep_longer(out, &sent, x);
            if (pass->taken > 0)
                shares_mix(out, pass->taken, &both, x);
        }
    }
}

/* Forward and backward pass of every block, of a layer beside nothing, and what a stage sends. */
struct passes {
    struct plan_sum forward[N_BLOCKS], backward[N_BLOCKS], open_forward[N_BLOCKS], open_backward[N_BLOCKS],
        stage;
};

/* Both passes of each block at the given bandwidths, for many points at a time. */
INLINE void sum_passes(struct passes *p, bool drain, const struct summing *x)
{
    for (int b = 0; b < N_BLOCKS; b++) {
        const struct plan_block *block = &x->c->blocks[b];
        sum_pass(&p->forward[b], &block->forward, false, drain, x);
        sum_pass(&p->backward[b], &block->backward, false, drain, x);
        if (x->c->open) {
            sum_pass(&p->open_forward[b], &block->forward, true, drain, x);
            sum_pass(&p->open_backward[b], &block->backward, true, drain, x);
        }
    }
    shares_clear(&p->stage, x);
    add_list(&p->stage, x->c->sends, x);
}

/* One microbatch in a stage; with what is exchanged beside it once per step, or without. */
INLINE void sum_stage(struct plan_sum *out, const struct plan_stage *s, const struct passes *p,
                      const struct plan_list *before, const struct plan_list *after, const struct summing *x)
{
    const double n[N_BLOCKS] = { (double)s->dense, (double)s->experts, s->embed, s->head + (double)s->mtp };
    struct plan_sum forward, backward, sent;
    shares_clear(&forward, x);
    shares_clear(&backward, x);
    for (int b = 0; b < N_BLOCKS; b++) {
        double open = b == plan_cost_open(x->c, s);
        time_add(&forward, n[b] - open, &p->forward[b], x);
        time_add(&backward, n[b] - open, &p->backward[b], x);
        if (open > 0) {
            time_add(&forward, 1, &p->open_forward[b], x);
            time_add(&backward, 1, &p->open_backward[b], x);
        }
    }
    if (before) {
        shares_clear(&sent, x);
        add_list(&sent, *before, x);
        keep_longer(&forward, &sent, x);
        shares_clear(&sent, x);
        add_list(&sent, *after, x);
        keep_longer(&backward, &sent, x);
    }
    shares_clear(out, x);
    time_add(out, 1, &p->stage, x);
    time_add(out, 1, &forward, x);
    time_add(out, 1, &backward, x);
}

/* What stages wait for each other where weight gradients fill most of it; @p p is written over. */
INLINE void sum_drain(struct plan_sum *out, struct passes *p, const struct summing *x)
{
    struct plan_sum rho;
    if (!(x->c->drain > 0))
        return;
    sum_passes(p, true, x);
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        sum_stage(&rho, &x->c->stages[i], p, NULL, NULL, x);
        time_add(out, x->c->drain * (double)x->c->stages[i].count, &rho, x);
    }
}

/* The formula of the file's head, term by term in the order of plan_cost_time(): the two agree to the bit. */
INLINE void sum_step(struct plan_sum *out, const struct summing *x)
{
    const struct plan_cost *c = x->c;
    struct passes p;
    struct plan_sum most, most_last, sum, tau, last;
    double boundaries = -1, round = plan_cost_round(c);
    sum_passes(&p, false, x);
    shares_clear(&most, x);
    shares_clear(&most_last, x);
    shares_clear(&sum, x);
    for (int32_t i = 0; i < c->n_stages; i++) {
        const struct plan_stage *s = &c->stages[i];
        sum_stage(&tau, s, &p, NULL, NULL, x);
        last = tau;
        if (i == 0)
            sum_stage(&last, s, &p, &c->before, &c->after, x);
        keep_longer(&most, &tau, x);
        keep_longer(&most_last, &last, x);
        time_add(&sum, 1, &last, x);
        time_add(&sum, (double)(s->count - 1), &tau, x);
        boundaries += (double)s->count;
    }
    shares_clear(out, x);
    time_add(out, c->microbatches - 1, &most, x);
    time_add(out, 1 - round, &most_last, x);
    time_add(out, round, &sum, x);
    sum_drain(out, &p, x);
    shares_clear(&tau, x);
    add_list(&tau, c->hidden_sends, x);
    time_add(out, boundaries, &tau, x);
    add_list(out, c->first_before, x);
    add_list(out, c->last_after, x);
    out->v[0] += c->optimizer_s + c->overhead_s;
    for (int32_t k = 0; k < x->n; k++)
        out->v[k] *= c->slowest;
}

double plan_cost_time(const struct plan_cost *c, const double *once_s)
{
    const struct summing x = { c, once_s, 1, 1 };
    struct plan_sum out;
    sum_step(&out, &x);
    return out.v[0];
}

void plan_cost_sum(struct plan_sum *out, const struct plan_cost *c, const struct plan_sum *once,
                   int32_t n_dims)
{
    const struct summing x = { c, once[0].v, (int32_t)(sizeof *once / sizeof *once[0].v), 1 + n_dims };
    sum_step(out, &x);
}

struct growing {
    struct step_tree *t;
    const struct plan_cost *c;
    int32_t groups[N_PLAN_GROUPS]; /* of the tree */
    bool idle;                     /* the stage waits for others meanwhile: all below counts as the bubble */
    bool drain;                    /* and of compute only what fill and drain wait for */
};

static step_id tree_add_inner(struct growing *x, step_id parent, enum step_kind kind, const char *name,
                              double times)
{
    struct step_node node = { .kind = kind, .phase = STEP_OTHER, .times = times };
    step_set_name(node.name, name);
    return step_add(x->t, parent, node);
}

static enum step_phase phase_of(const struct growing *x, enum step_phase phase)
{
    return x->idle ? STEP_BUBBLE : phase;
}

static void plan_tree_add_compute(struct growing *x, step_id parent, enum step_phase phase, const char *name,
                                  double seconds)
{
    struct step_node node = { .kind = STEP_COMPUTE, .phase = phase_of(x, phase), .seconds = seconds };
    step_set_name(node.name, name);
    if (seconds > 0)
        step_add(x->t, parent, node);
}

/* `mark` leads from a node of the tree back to its collective in the draft. */
static void plan_tree_add_list(struct growing *x, step_id parent, struct plan_list list)
{
    for (int32_t i = list.first; i < list.first + list.n; i++) {
        const struct plan_collective *from = &x->c->collectives[i];
        struct step_node node = { .kind = STEP_COLLECTIVE,
                                  .phase = phase_of(x, from->phase),
                                  .collective = from->kind,
                                  .bytes = from->bytes,
                                  .group = x->groups[from->group],
                                  .times = from->times,
                                  .mark = i };
        step_set_name(node.name, from->name);
        step_add(x->t, parent, node);
    }
}

static void add_part(struct growing *x, step_id parent, const struct plan_part *part)
{
    double compute_s = x->drain ? part->drain_s : part->compute_s;
    if (!part->beside || part->sent.n == 0 || !(compute_s > 0)) {
        plan_tree_add_compute(x, parent, part->phase, part->name, compute_s);
        plan_tree_add_list(x, parent, part->sent);
        return;
    }
    step_id both = tree_add_inner(x, parent, STEP_MAX, part->name, 1);
    plan_tree_add_compute(x, both, part->phase, part->name, compute_s);
    plan_tree_add_list(x, tree_add_inner(x, both, STEP_SUM, "", 1), part->sent);
}

/* The parts of a pass, or its floor if that is longer. */
static void cost_add_parts(struct growing *x, step_id parent, const struct plan_pass *pass)
{
    double floor_s = x->drain ? pass->drain_floor_s : pass->floor_s;
    if (floor_s > 0) {
        step_id both = tree_add_inner(x, parent, STEP_MAX, "", 1);
        plan_tree_add_compute(x, both, STEP_OVERHEAD, "launches", floor_s);
        parent = tree_add_inner(x, both, STEP_SUM, "", 1);
    }
    for (int32_t i = pass->first; i < pass->first + pass->n; i++)
        add_part(x, parent, &x->c->parts[i]);
}

/* A pass and then what others have beside them. */
static void add_open(struct growing *x, step_id parent, const struct plan_pass *pass)
{
    cost_add_parts(x, parent, pass);
    plan_tree_add_list(x, parent, pass->beside);
}

/* Several equal passes in a row, beside lists of collectives that happen once for each, or once for all. */
static void add_passes(struct growing *x, step_id parent, const struct plan_pass *pass, int64_t times)
{
    if (times == 0 || (pass->n == 0 && pass->beside.n == 0))
        return;
    step_id row = times > 1 ? tree_add_inner(x, parent, STEP_REPEAT, "", (double)times) : parent;
    if (pass->beside.n) {
        if (pass->taken > 0) { /* a share of both one behind the other */
            row = tree_add_inner(x, row, STEP_SUM, "", 1);
            step_id taken = tree_add_inner(x, row, STEP_REPEAT, "", pass->taken);
            add_open(x, tree_add_inner(x, taken, STEP_SUM, "", 1), pass);
            row = tree_add_inner(x, row, STEP_REPEAT, "", 1 - pass->taken);
        }
        step_id both = tree_add_inner(x, row, STEP_MAX, "", 1);
        row = tree_add_inner(x, both, STEP_SUM, "", 1);
        step_id beside = tree_add_inner(x, both, STEP_SUM, "", 1);
        cost_add_parts(x, row, pass);
        plan_tree_add_list(x, beside, pass->beside);
        return;
    }
    if (times > 1)
        row = tree_add_inner(x, row, STEP_SUM, "", 1);
    cost_add_parts(x, row, pass);
}

/* All blocks of a stage in one direction; beside them what is exchanged once. */
static void add_direction(struct growing *x, step_id parent, const struct plan_stage *s, bool forward,
                          struct plan_list exchanged)
{
    static const enum block_kind in_order[] = { BLOCK_EMBED, BLOCK_DENSE, BLOCK_EXPERTS, BLOCK_HEAD };
    const int64_t count[N_BLOCKS] = { s->dense, s->experts, s->embed, s->head + s->mtp };
    if (exchanged.n) {
        step_id both = tree_add_inner(x, parent, STEP_MAX, "", 1);
        parent = tree_add_inner(x, both, STEP_SUM, "", 1);
        plan_tree_add_list(x, tree_add_inner(x, both, STEP_SUM, "", 1), exchanged);
    }
    for (int i = 0; i < N_BLOCKS; i++) {
        enum block_kind b = in_order[forward ? i : N_BLOCKS - 1 - i];
        const struct plan_pass *pass = forward ? &x->c->blocks[b].forward : &x->c->blocks[b].backward;
        bool open = (int)b == plan_cost_open(x->c, s);
        if (open && forward)
            add_open(x, parent, pass);
        add_passes(x, parent, pass, count[b] - open);
        if (open && !forward)
            add_open(x, parent, pass);
    }
}

/* One microbatch in stage i; `last`: with what the first stage exchanges beside it, once per step. */
static void cost_add_stage(struct growing *x, step_id parent, int32_t i, bool last)
{
    static const struct plan_list none = { 0, 0 };
    bool exchanged = last && i == 0;
    step_id stage = tree_add_inner(x, parent, STEP_SUM, "", 1);
    add_direction(x, stage, &x->c->stages[i], true, exchanged ? x->c->before : none);
    add_direction(x, stage, &x->c->stages[i], false, exchanged ? x->c->after : none);
    plan_tree_add_list(x, stage, x->c->sends);
}

/* The slowest stage, so often. */
static void add_slowest(struct growing *x, step_id root, double times, const char *name, bool last)
{
    if (!(times > 0))
        return;
    step_id row = tree_add_inner(x, root, STEP_REPEAT, name, times);
    if (x->c->n_stages > 1) {
        row = tree_add_inner(x, row, STEP_MAX, "slowest stage", 1);
        if (row >= 0)
            x->t->nodes[row].apart = true;
    }
    for (int32_t i = 0; i < x->c->n_stages; i++)
        cost_add_stage(x, row, i, last);
}

/* Every stage once, divided by chunks: the first one works, it waits for the others. Or what stages wait for
 * where weight gradients fill most of it. */
static void add_round(struct growing *x, step_id root)
{
    double round = plan_cost_round(x->c);
    step_id row = -1;
    x->drain = x->c->drain > 0;
    if (!x->drain) {
        row = tree_add_inner(x, root, STEP_REPEAT, "first stage", round);
        cost_add_stage(x, row, 0, true);
    }
    x->idle = true;
    for (int32_t i = 0; i < x->c->n_stages; i++) {
        double count = (double)x->c->stages[i].count;
        double times = x->drain ? x->c->drain * count : round * (count - (i == 0));
        if (!(times > 0))
            continue;
        row = tree_add_inner(x, root, STEP_REPEAT, "bubble", times);
        cost_add_stage(x, row, i, false);
    }
    x->drain = false;
    double boundaries = -1;
    for (int32_t i = 0; i < x->c->n_stages; i++)
        boundaries += (double)x->c->stages[i].count;
    if (boundaries > 0 && x->c->hidden_sends.n) {
        row = tree_add_inner(x, root, STEP_REPEAT, "bubble", boundaries);
        plan_tree_add_list(x, tree_add_inner(x, row, STEP_SUM, "", 1), x->c->hidden_sends);
    }
    x->idle = false;
}

static bool uses_group(const struct plan_cost *c, int g)
{
    for (int32_t i = 0; i < c->n_collectives; i++)
        if ((int)c->collectives[i].group == g)
            return true;
    return false;
}

static void tree_add_groups(struct growing *x, const struct plan_place *place)
{
    for (int g = 0; g < N_PLAN_GROUPS; g++) {
        if (g >= PLAN_GROUP_SHARD && !(g == PLAN_GROUP_MERGED ? uses_group(x->c, g) : place->sharded))
            continue;
        x->groups[g] = step_add_group_after(x->t, plan_group_words[g], place->members[g], place->stride[g]);
        if (x->groups[g] >= 0)
            memcpy(x->t->groups[x->groups[g]].share, place->share[g], sizeof place->share[g]);
    }
}

/* The same step as an expression: what the solver and the simulators are given. */
int plan_cost_tree(struct step_tree *t, const struct plan_cost *c, const struct plan_place *place,
                   const char *name, const struct topo_network *net, struct err *e)
{
    struct growing x = { .t = t, .c = c };
    step_begin(t, name, net);
    tree_add_groups(&x, place);
    step_id root = tree_add_inner(&x, -1, c->slowest > 1 ? STEP_REPEAT : STEP_SUM, name, c->slowest);
    if (c->slowest > 1)
        root = tree_add_inner(&x, root, STEP_SUM, "", 1);
    plan_tree_add_list(&x, root, c->first_before);
    add_slowest(&x, root, c->microbatches - 1, "microbatches", false);
    add_slowest(&x, root, 1 - plan_cost_round(c), "last microbatch", true);
    add_round(&x, root);
    plan_tree_add_list(&x, root, c->last_after);
    plan_tree_add_compute(&x, root, STEP_OPTIMIZER, "optimizer", c->optimizer_s);
    plan_tree_add_compute(&x, root, STEP_OVERHEAD, "overhead", c->overhead_s);
    int rc = step_check(t, e);
    if (rc)
        step_free(t);
    return rc;
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

/* Which constant lets an NPU do more than its peak: that of attention, counted in full, or of products. */
static const char *too_fast(const struct training *x, const struct topo_npu *npu)
{
    struct block_cost c;
    block_cost(&c, x->cost.stages[0].experts ? BLOCK_EXPERTS : BLOCK_DENSE, &x->model, &x->plan, npu);
    double core = 3 * c.core_flop / (c.core_s + c.core_back_s);
    if (plan_is_fused(&x->plan, &x->model) && core > npu->peak_flops)
        return npu->n_kernels ? "network.npu.attention_kernels, forward_TFLOPS and backward_TFLOPS"
                              : "network.npu.flash_efficiency";
    return x->plan.precision == TOPO_BF16 ? "network.npu.matrix_efficiency"
                                          : "network.npu.peak_8bit_TFLOPS and peak_4bit_TFLOPS";
}

/* No step does more than the peak, even where collectives take no time. Causal attention counts in full, so
 * that a rate of more than 7/12 of the peak can: two products forward and four backward are counted, of which
 * half of seven are done. */
static int check_rates(const struct training *x, const struct topo_network *net, struct err *e)
{
    const double free_s[PLAN_MAX_COLLECTIVES] = { 0 };
    double time_s = plan_cost_time(&x->cost, free_s);
    double hfu = training_mfu(x, net, time_s) * x->cost.hardware_flop / x->cost.model_flop;
    if (!(hfu > 1 + 1e-9) || x->model.family != MODEL_TRANSFORMER)
        return 0;
    return err_set(
        e, ERR_RANGE,
        "the plan uses %.4g %% of the NPUs' peak where communication is free, expected at most 100: "
        "look at %s",
        100 * hfu, too_fast(x, &net->npu));
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
