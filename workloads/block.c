/*
 * What a block of a model (a layer, the embedding, the logits) costs one NPU, in time and in memory.
 * Time of an operator is the roofline: the longer of FLOP / (peak * efficiency) and bytes / memory bandwidth.
 * A block is a list of matrix products and of elementwise passes (Megatron-LM's kernels); backward is input
 * gradients, weight gradients and what is bound by memory. Memory is weights, gradients, optimiser state and
 * the activations of the microbatches in flight, after recomputation.
 */
#include "workloads/block.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

/* Elementwise kernels (norms, activations, dropout) do a few operations on each element of two bytes or more
 * that passes: this project's choice. No NPU in configs/npus is bound by it. */
#define STREAM_FLOP_PER_B 2.0

double roofline_flop(const struct roofline_product *p)
{
    return 2 * p->m * p->n * p->k * p->batch;
}

static double size_efficiency(const struct topo_npu *npu, double flop)
{
    int32_t i = npu->n_sizes - 1;
    while (i > 0 && flop < npu->sizes[i].from_flop)
        i--;
    return npu->sizes[i].efficiency;
}

double roofline_efficiency(const struct topo_npu *npu, const struct roofline_product *p)
{
    if (npu->n_sizes)
        return size_efficiency(npu, roofline_flop(p));
    /* One division for the three factors: a search asks a million times. */
    return npu->matrix_efficiency * p->m * p->n * p->k /
           ((p->m + npu->half_out) * (p->n + npu->half_out) * (p->k + npu->half_in));
}

/* Products of one precision: peak, share of what a product reaches that these do, bytes of an element that
 * enters, and bytes per element that casting to it moves. */
struct recipe {
    double flops, share, element_B, cast_B;
    enum { PLAIN, GROUPED, GROUPED_INNER } rows; /* of experts: rows are m, or what is summed up over */
};

/* What the matrix units do for it: FLOP of its sizes filled up to whole tiles. */
static double filled_flop(const struct topo_npu *npu, const struct roofline_product *p)
{
    double tile = npu->matrix_tile;
    if (!(tile > 1))
        return roofline_flop(p);
    const struct roofline_product filled = { tile * ceil(p->m / tile), tile * ceil(p->n / tile),
                                             tile * ceil(p->k / tile), p->batch };
    return roofline_flop(&filled);
}

/* Of products at @p flops, whose operands have @p element_B and whose kernel moves @p more_B besides. */
static double kernel_s(const struct topo_npu *npu, const struct roofline_product *p, double flops,
                       double element_B, double more_B)
{
    double bytes = p->batch * (element_B * (p->m * p->k + p->k * p->n) + ROOFLINE_ELEMENT_B * p->m * p->n);
    return fmax(filled_flop(npu, p) / flops, (bytes + more_B) / (npu->mem_Bps * npu->mem_efficiency)) +
           npu->kernel_s;
}

static double product_s(const struct topo_npu *npu, const struct roofline_product *p, const struct recipe *r,
                        double more_B)
{
    double efficiency = r->rows == PLAIN ? roofline_efficiency(npu, p)
                                         : roofline_group_efficiency(npu, p, r->rows == GROUPED_INNER);
    return kernel_s(npu, p, r->flops * efficiency * r->share, r->element_B, more_B);
}

double roofline_product_s(const struct topo_npu *npu, const struct roofline_product *p, double share)
{
    const struct recipe r = { topo_npu_peak(npu, TOPO_BF16), share, ROOFLINE_ELEMENT_B, 0, PLAIN };
    return product_s(npu, p, &r, 0);
}

double roofline_group_efficiency(const struct topo_npu *npu, const struct roofline_product *p,
                                 bool rows_inner)
{
    if (npu->n_sizes)
        return size_efficiency(npu, roofline_flop(p) / p->batch);
    double half_m = rows_inner ? npu->half_out : npu->group_half_out;
    double half_k = rows_inner ? npu->group_half_out : npu->half_in;
    return npu->matrix_efficiency * p->m * p->n * p->k /
           ((p->m + half_m) * (p->n + npu->half_out) * (p->k + half_k));
}

double roofline_precise_s(const struct topo_npu *npu, const struct roofline_product *p, enum topo_precision q,
                          double share, double more_B)
{
    return kernel_s(npu, p, topo_npu_peak(npu, q) * share, topo_precision_B[q], more_B);
}

double roofline_stream_s(const struct topo_npu *npu, double bytes, double kernels)
{
    double mem_s = bytes / (npu->mem_Bps * npu->mem_efficiency);
    return fmax(mem_s, STREAM_FLOP_PER_B * bytes / npu->vector_flops) + kernels * npu->kernel_s;
}

double roofline_flash_s(const struct topo_npu *npu, double flop, double bytes)
{
    double rate = npu->peak_flops * npu->flash * topo_npu_attention_power(npu);
    return fmax(flop / rate, bytes / (npu->mem_Bps * npu->mem_efficiency)) + npu->kernel_s;
}

/*
 * Bytes per token and element of width that elementwise kernels read and write, in 2-byte elements and 1-byte
 * masks. Counted kernel by kernel for Megatron-class fused kernels (NVIDIA/Megatron-LM@d98e8a6).
 */
#define NORM_FORWARD      4.0 /* read and write */
#define NORM_BACK         6.0 /* gradient and input read, gradient written */
#define RESIDUAL_FORWARD  6.0 /* two read, one written */
#define RESIDUAL_BACK     6.0 /* gradients of both ways added */
#define DROPOUT_FORWARD   1.0 /* mask written */
#define DROPOUT_BACK      5.0 /* gradient read and written, mask read */
#define GELU_FORWARD      4.0
#define GELU_BACK         6.0
#define SWIGLU_FORWARD    6.0
#define SWIGLU_BACK       10.0
#define TRANSPOSE_FORWARD 4.0  /* heads first for the attention products */
#define TRANSPOSE_BACK    18.0 /* and bias gradients */
#define ROTARY            4.0  /* of queries and keys, either pass */
#define PERMUTE           8.0  /* tokens to experts and back, either pass */
/* Scores that go through memory, per score. */
#define HEAD_TILE         64.0
#define SOFTMAX_FORWARD   4.0
#define SOFTMAX_BACK      6.0
#define SCORE_DROPOUT     5.0 /* either pass */
#define FLASH_BACK_FLOP   2.5 /* scores are computed again: five products after two */
#define FLASH_BACK_BYTES  2.0
#define EMBED_BYTES       10.0 /* either pass */
#define ACCUMULATE_FP32_B 8.0  /* per weight and microbatch: read and write, in the product's kernel */
#define ACCUMULATE_HALF_B 6.0  /* per weight: two read, one written */
/* Table lookups are random reads: 0.5-0.7 of memory bandwidth against 0.8 for streams; updates write 2-3
 * times what was read (row-wise Adagrad). Middle of both ranges. */
#define LOOKUP_SLOWER 1.33
#define LOOKUP_B      4.0
#define LOOKUP_UPDATE 2.5
/* Normalisation and activation after a convolution, per output element: two passes of read and write. */
#define CONV_FORWARD 8.0
#define CONV_BACK    12.0

/* A ring of cp is many small kernels whose outputs are merged (PyTorch; chosen on eight step times that
 * scatter by 20 %). */
#define RING_RATE 0.68

/* Of sac, which does every second product again: those whose output is not kept, by their FLOP. */
#define SAC_PRODUCTS 0.37

/* What casting an element moves, both passes alike: Transformer Engine's table of a layer on B300, cast less
 * pre-quantised, over the elements cast. fp8 is 5.3 there and 5.8 on Hopper, which keeps a transposed copy
 * (counted: 5 and 6). */
static const double recipe_cast_B[N_TOPO_PRECISIONS] = { 0, 5.5, 4.1, 6.1 };

struct counting {
    struct block_cost *c;
    const struct topo_npu *npu;
    const struct plan *p;
    double accumulate_B;
    bool fold;          /* weight gradients are added up in the product's own kernel, beside its arithmetic */
    bool cast_weights;  /* in each pass: torchao's, that were gathered in 16 bits */
    double elementwise; /* bytes over those of fused kernels */
    double permute;     /* bytes per token that an NPU sends to an expert, and h, either pass */
    double sort;        /* the same per token that comes to it, where it has several experts */
    struct recipe linear, plain; /* at the plan's precision, in 16 bits */
    double products_s;           /* forward, so far */
};

static void counting_begin(struct counting *x, struct block_cost *c, const struct plan *p,
                           const struct topo_npu *npu)
{
    *c = (struct block_cost){ 0 };
    *x = (struct counting){ .c = c,
                            .npu = npu,
                            .p = p,
                            .accumulate_B = p->grad_B == 4 ? ACCUMULATE_FP32_B : ACCUMULATE_HALF_B,
                            .fold = !plan_is_2021(p),
                            .cast_weights = p->software == PLAN_COMPILED && p->gather_bits == 16,
                            .elementwise = 1,
                            .plain = { topo_npu_peak(npu, TOPO_BF16), npu->step_share, ROOFLINE_ELEMENT_B, 0,
                                       PLAIN } };
    x->linear = x->plain;
    if (p->precision != TOPO_BF16)
        x->linear = (struct recipe){ topo_npu_peak(npu, (enum topo_precision)p->precision),
                                     topo_npu_step_share(npu, (enum topo_precision)p->precision),
                                     plan_element_B(p), recipe_cast_B[p->precision], PLAIN };
}

/* A linear layer and its two backward products; the gradient of weights is added to those before. What
 * enters is cast first: the input forward, the gradient of the output backward. */
static void add_products(struct counting *x, const struct recipe *r, double rows, double out, double in,
                         double batch)
{
    const struct roofline_product forward = { rows, out, in, batch };
    const struct roofline_product input = { rows, in, out, batch };
    const struct roofline_product weight = { in, out, rows, batch };
    struct recipe across = *r;
    if (across.rows == GROUPED)
        across.rows = GROUPED_INNER;
    double added_B = x->accumulate_B * in * out * batch, once_s = product_s(x->npu, &forward, r, 0);
    x->c->forward_s += once_s;
    x->c->input_s += product_s(x->npu, &input, r, 0);
    x->c->weight_s += x->fold
                          ? product_s(x->npu, &weight, &across, added_B)
                          : product_s(x->npu, &weight, &across, 0) + roofline_stream_s(x->npu, added_B, 0);
    x->c->flop += roofline_flop(&forward);
    x->products_s += once_s;
    if (r->cast_B > 0) {
        double weights = x->cast_weights ? in * out * batch : 0;
        x->c->forward_s += roofline_stream_s(x->npu, r->cast_B * (rows * in * batch + weights), 0);
        x->c->rest_s += roofline_stream_s(x->npu, r->cast_B * (rows * out * batch + weights), 0);
    }
}

static void add_linear(struct counting *x, double rows, double out, double in, double batch)
{
    add_products(x, &x->linear, rows, out, in, batch);
}

/* One before or behind which tp turns. */
static void add_turn(struct counting *x, enum block_turn turn, double rows, double out, double in)
{
    double before_s = x->products_s;
    add_linear(x, rows, out, in, 1);
    x->c->turn_s[turn] += x->products_s - before_s;
}

/* Routers and logits stay in 16 bits, whatever the recipe. */
static void add_linear_16(struct counting *x, double rows, double out, double in)
{
    add_products(x, &x->plain, rows, out, in, 1);
}

/* Selective recomputation does operators again: what they add between mark_op() and end_op(). */
struct op_mark {
    double forward_s, flop;
};

static struct op_mark mark_op(const struct counting *x)
{
    return (struct op_mark){ x->c->forward_s, x->c->flop };
}

static void end_op(struct counting *x, struct op_mark from, unsigned ops, enum plan_op op)
{
    if (!(ops & 1U << op))
        return;
    x->c->again_s += x->c->forward_s - from.forward_s;
    x->c->again_flop += x->c->flop - from.flop;
}

/* Of a product that several NPUs of TP do alike, what the others count. */
static void count_once(struct counting *x, double rows, double out, double in)
{
    const struct roofline_product copied = { rows, out, in, 1 };
    x->c->flop -= roofline_flop(&copied);
}

static void add_streams(struct counting *x, double forward_B, double back_B, double kernels)
{
    x->c->forward_s += roofline_stream_s(x->npu, forward_B, kernels);
    x->c->rest_s += roofline_stream_s(x->npu, back_B, kernels);
}

/* Elementwise work of a layer, by kernels of the software's class. */
static void add_elementwise(struct counting *x, double forward_B, double back_B, double kernels)
{
    add_streams(x, x->elementwise * forward_B, x->elementwise * back_B, kernels);
}

/* A head of 64 has kernels with tiles of half the width, which it fills: it loses what one of 128 does. One
 * of 96 fills neither. */
static double tiled(double width)
{
    return width > HEAD_TILE ? width : 2 * width;
}

/* A product of attention that is not fused: one of its dimensions is a head's width. */
static double core_product_s(const struct counting *x, const struct roofline_product *p)
{
    const struct roofline_product wide = { tiled(p->m), tiled(p->n), tiled(p->k), p->batch };
    double share = x->npu->attention * roofline_efficiency(x->npu, &wide) / roofline_efficiency(x->npu, p);
    return roofline_product_s(x->npu, p, share);
}

/* Queries of one NPU against all keys, with scores in memory. */
static void add_unfused(struct counting *x, const struct model *m, const struct plan *p, double key_dim,
                        double value_dim)
{
    double batch = (double)p->micro * (double)m->heads / (double)p->degree[PLAN_TP];
    double queries = (double)m->seq / (double)p->degree[PLAN_CP], keys = (double)m->seq;
    double scores = batch * queries * keys, dropped = m->dropout ? scores * SCORE_DROPOUT : 0;
    const struct roofline_product score = { queries, keys, key_dim, batch };
    const struct roofline_product value = { queries, value_dim, keys, batch };
    /* Gradients of scores, queries, keys, values. */
    const struct roofline_product back[] = { { queries, keys, value_dim, batch },
                                             { queries, key_dim, keys, batch },
                                             { keys, key_dim, queries, batch },
                                             { keys, value_dim, queries, batch } };
    double kernels = m->dropout ? 2 : 1;
    x->c->core_s += core_product_s(x, &score) + core_product_s(x, &value) +
                    roofline_stream_s(x->npu, SOFTMAX_FORWARD * scores + dropped, kernels);
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        x->c->core_back_s += core_product_s(x, &back[i]);
    x->c->core_back_s += roofline_stream_s(x->npu, SOFTMAX_BACK * scores + dropped, kernels);
    x->c->core_flop += roofline_flop(&score) + roofline_flop(&value);
    x->c->core_done_flop += roofline_flop(&score) + roofline_flop(&value);
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        x->c->core_back_done_flop += roofline_flop(&back[i]);
}

/* The plan's kernel among the NPU's, or NULL: then flash_efficiency is all that is known. */
static const struct topo_npu_attention *kernel_of(struct topo_npu_attention *room, const struct topo_npu *npu,
                                                  const struct plan *p)
{
    if (npu->n_kernels == 0)
        return NULL;
    if (p->kernel < PLAN_FA1)
        return npu->kernels;
    return topo_npu_find_kernel(room, npu, (enum topo_kernel)(p->kernel - PLAN_FA1)) ? room : NULL;
}

/* A sink that no kernel has is added in a pass over the scores of its own, tile by tile, so that none is kept
 * and none is masked: what softmax reads and writes of them, in the element that attention has. */
static void add_sink(struct counting *x, const struct model *m, const struct plan *p, double share)
{
    double scores = block_tokens(p, m) * (double)m->heads / (double)p->degree[PLAN_TP] * (double)m->seq;
    double narrow = p->attention_fp8 ? 0.5 : 1;
    x->c->core_s += share * roofline_stream_s(x->npu, narrow * SOFTMAX_FORWARD * scores, 1);
    x->c->core_back_s += share * roofline_stream_s(x->npu, narrow * SOFTMAX_BACK * scores, 1);
}

/* @p share of the layers, whose queries look at @p span keys of the sequence; a window of w < s looks at
 * w - w^2/(2 s) of them in the mean, as its first queries have less before them. */
static void add_fused(struct counting *x, const struct model *m, const struct plan *p, double key_dim,
                      double value_dim, double span, double share)
{
    struct topo_npu_attention room;
    const struct topo_npu *npu = x->npu;
    const struct topo_npu_attention *kernel = kernel_of(&room, npu, p);
    double heads = (double)m->heads / (double)p->degree[PLAN_TP], tokens = block_tokens(p, m);
    double kv_heads = m->mla.q_rank ? heads : (double)m->kv_heads / (double)p->degree[PLAN_TP];
    double useful = 2 * tokens * span * heads * (key_dim + value_dim);
    bool apart = plan_sink_is_apart(p, m);
    if (apart) { /* kernels before those with sinks have no windows either */
        span = (double)m->seq;
        add_sink(x, m, p, share);
    }
    double flop = 2 * tokens * span * heads * (key_dim + value_dim);
    double bytes = ROOFLINE_ELEMENT_B * tokens * (heads + kv_heads) * (key_dim + value_dim);
    double done = m->causal ? flop * (1 - span / (2 * (double)m->seq)) : flop;
    double back = FLASH_BACK_FLOP * done;
    double forward_s, back_s;
    if (kernel) {
        const struct topo_npu_heads shape = { tokens * heads, m->causal ? span : INFINITY, key_dim, value_dim,
                                              p->attention_fp8 };
        double mem_Bps = npu->mem_Bps * npu->mem_efficiency;
        forward_s = fmax(done / topo_npu_attention_rate(npu, kernel, TOPO_FORWARD, &shape), bytes / mem_Bps) +
                    npu->kernel_s;
        back_s = fmax(back / topo_npu_attention_rate(npu, kernel, TOPO_BACKWARD, &shape),
                      FLASH_BACK_BYTES * bytes / mem_Bps) +
                 2 * npu->kernel_s;
    } else {
        forward_s = roofline_flash_s(npu, done, bytes);
        back_s = roofline_flash_s(npu, back, FLASH_BACK_BYTES * bytes);
    }
    double ring = plan_is_pytorch(p) && p->degree[PLAN_CP] > 1 && p->context == PLAN_CP_RING ? RING_RATE : 1;
    x->c->core_s += share * forward_s / ring;
    x->c->core_back_s += share * back_s / ring;
    x->c->core_flop += share * useful;
    x->c->core_done_flop += share * done;
    x->c->core_back_done_flop += share * back;
}

/* Low-rank attention (DeepSeek-V2, arXiv 2405.04434): queries and keys/values pass narrow layers first. What
 * tensor parallelism does not divide (the narrow layers) is done by every NPU and counted as useful once. */
static void add_mla(struct counting *x, const struct model *m, double tokens, double tp)
{
    const struct model_mla *a = &m->mla;
    double h = (double)m->hidden, heads = (double)m->heads / tp;
    double key_dim = (double)(a->nope_dim + a->rope_dim);
    unsigned ops = plan_ops(x->p, m);
    add_turn(x, TURN_ATTENTION_IN, tokens, (double)a->q_rank, h);
    struct op_mark up = mark_op(x);
    add_linear(x, tokens, heads * key_dim, (double)a->q_rank, 1);
    end_op(x, up, ops, PLAN_OP_MLA_UP);
    add_turn(x, TURN_ATTENTION_IN, tokens, (double)(a->kv_rank + a->rope_dim), h);
    up = mark_op(x);
    add_linear(x, tokens, heads * (double)(a->nope_dim + a->v_dim), (double)a->kv_rank, 1);
    end_op(x, up, ops, PLAN_OP_MLA_UP);
    add_turn(x, TURN_ATTENTION_OUT, tokens, h, heads * (double)a->v_dim);
    count_once(x, tokens, (1 - 1 / tp) * (double)(a->q_rank + a->kv_rank + a->rope_dim), h);
    double small = tokens * (double)(a->q_rank + a->kv_rank);
    add_elementwise(x, NORM_FORWARD * small, NORM_BACK * small, 2);
    double turned = ROTARY * tokens * 2 * heads * (double)a->rope_dim;
    up = mark_op(x);
    add_elementwise(x, turned, turned, 2);
    end_op(x, up, ops, PLAN_OP_MLA_UP);
}

/* Projections, rotation of positions, and the attention itself, fused or not. With fewer key/value heads than
 * NPUs each keeps a copy, whose work is done again but useful once. */
static void add_attention(struct counting *x, const struct model *m, const struct plan *p)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m), h = (double)m->hidden;
    double d = (double)m->head_dim, a = (double)m->heads / tp, kv = (double)m->kv_heads / tp;
    if (m->mla.q_rank) {
        add_mla(x, m, tokens, tp);
    } else {
        double copied = kv < 1 ? 1 - kv : 0;
        add_turn(x, TURN_ATTENTION_IN, tokens, (a + 2 * (kv + copied)) * d, h);
        count_once(x, tokens, 2 * copied * d, h);
        add_turn(x, TURN_ATTENTION_OUT, tokens, h, a * d);
    }
    if (!m->mla.q_rank && m->positions == MODEL_ROTARY)
        add_elementwise(x, ROTARY * tokens * (a + kv) * d, ROTARY * tokens * (a + kv) * d, 2);
    double value_dim = m->mla.q_rank ? (double)m->mla.v_dim : d;
    if (plan_is_fused(p, m)) {
        double full = model_full_share(m);
        if (full > 0)
            add_fused(x, m, p, d, value_dim, (double)m->seq, full);
        if (full < 1)
            add_fused(x, m, p, d, value_dim, (double)m->window, 1 - full);
        return;
    }
    add_elementwise(x, TRANSPOSE_FORWARD * tokens * a * d, TRANSPOSE_BACK * tokens * a * d, 2);
    add_unfused(x, m, p, d, value_dim);
}

/* @p rows tokens through @p batch equal pairs of linear layers of width @p ffn; @p whole: operators that
 * contain it. */
static void add_mlp(struct counting *x, const struct model *m, double rows, double ffn, double batch,
                    unsigned whole)
{
    unsigned ops = plan_ops(x->p, m);
    bool gated = m->activation == MODEL_SWIGLU;
    double h = (double)m->hidden, width = rows * ffn * batch;
    double before_s = x->products_s;
    add_linear(x, rows, gated ? 2 * ffn : ffn, h, batch);
    double in_s = x->products_s - before_s;
    struct op_mark last = mark_op(x);
    before_s = x->products_s;
    add_linear(x, rows, h, ffn, batch);
    if (whole != 1U << PLAN_OP_EXPERTS) { /* routed ones have an exchange of their own */
        x->c->turn_s[TURN_MLP_IN] = in_s;
        x->c->turn_s[TURN_MLP_OUT] = x->products_s - before_s;
    }
    if (whole == 1U << PLAN_OP_MLP) {
        x->c->last_s = x->c->forward_s - last.forward_s;
        x->c->last_flop = x->c->flop - last.flop;
    }
    struct op_mark activation = mark_op(x);
    add_elementwise(x, (gated ? SWIGLU_FORWARD : GELU_FORWARD) * width,
                    (gated ? SWIGLU_BACK : GELU_BACK) * width, 1);
    if (!(ops & whole)) /* else it is in what is done again as a whole */
        end_op(x, activation, ops, PLAN_OP_ACTIVATION);
}

/*
 * Kernels around the grouped products of routed experts: permutation, filling up, activation, casts.
 * Megatron-Core's separate ones move 12 bytes per routed token and h: half in putting an NPU's own tokens in
 * the order of their experts and back, half in putting those that came in the order of its experts, which one
 * alone does not need. Of all theirs they move twice what is counted; fused into the products
 * (Megatron-Bridge from 26.06) 0.9 of it and half of the casts. Factors: chosen on steps.
 */
#define GROUPED_PERMUTE 6.0
#define GROUPED_SORT    6.0
#define GROUPED_APART   2.0
#define GROUPED_FUSED   0.9

/* Sets @p x for them; what it was is given back. */
static struct counting begin_grouped(struct counting *x, const struct plan *p)
{
    const struct counting layer = *x;
    bool fused = p->ep_fused == PLAN_EP_FUSED;
    /* Not given, it is half_out, and rows are like any. */
    if (x->npu->group_half_out < x->npu->half_out || x->npu->group_half_out > x->npu->half_out)
        x->linear.rows = GROUPED;
    x->permute = PERMUTE;
    x->sort = 0;
    if (p->ep_fused == PLAN_EP_BY_SOFTWARE && plan_is_2021(p))
        return layer;
    x->elementwise = fused ? GROUPED_FUSED : GROUPED_APART;
    x->permute = GROUPED_PERMUTE * x->elementwise;
    x->sort = GROUPED_SORT * x->elementwise;
    if (fused)
        x->linear.cast_B /= 2;
    return layer;
}

/* Router, permutation of tokens, then the local experts as one batched product. Filling up to the capacity
 * costs time but is no useful work. */
static void add_experts(struct counting *x, const struct model *m, const struct plan *p)
{
    const struct model_moe *e = &m->moe;
    double tp = (double)p->degree[PLAN_TP], h = (double)m->hidden, tokens = block_tokens(p, m);
    double own = p->seq_parallel ? tokens / tp : tokens, local = (double)e->experts / (double)p->ep;
    double sent = own * (double)e->top_k * e->capacity;
    /* As many tokens come from the others as go to them; with expert_tp those of all tp. */
    double routed = (p->expert_tp ? tokens : own) * (double)e->top_k * e->capacity;
    unsigned ops = plan_ops(p, m);
    struct op_mark start = mark_op(x);
    add_linear_16(x, own, (double)e->experts, h);
    double before;
    const struct counting layer = begin_grouped(x, p);
    /* Rows of tokens are gathered and scattered, which some memories do far slower than they stream. */
    double slower = x->npu->gather > 0 ? x->npu->mem_efficiency / x->npu->gather : 1;
    double permute = slower * (x->permute * sent + (local > 1 ? x->sort * routed : 0)) * h;
    add_streams(x, permute, permute, 4);
    before = x->c->flop;
    add_mlp(x, m, routed / local, (double)e->ffn / (p->expert_tp ? tp : 1), local, 1U << PLAN_OP_EXPERTS);
    x->linear = layer.linear;
    x->elementwise = layer.elementwise;
    x->c->flop = before + (x->c->flop - before) / e->capacity; /* what fills up is of no use */
    const struct block_cost routed_only = *x->c;
    if (e->shared) {
        struct op_mark shared = mark_op(x);
        add_mlp(x, m, tokens, (double)(e->shared * e->ffn) / tp, 1,
                1U << PLAN_OP_EXPERTS | 1U << PLAN_OP_SHARED);
        if (!(ops & 1U << PLAN_OP_EXPERTS))
            end_op(x, shared, ops, PLAN_OP_SHARED);
    }
    x->c->shared_forward_s = x->c->forward_s - routed_only.forward_s;
    x->c->shared_input_s = x->c->input_s - routed_only.input_s;
    x->c->shared_weight_s = x->c->weight_s - routed_only.weight_s;
    end_op(x, start, ops, PLAN_OP_EXPERTS);
}

/* Two norms, two residual sums, dropout: h wide, so that only sequence parallelism divides them. */
static void add_joints(struct counting *x, const struct model *m, const struct plan *p)
{
    double wide = 2 * block_tokens(p, m) * (double)m->hidden;
    if (p->seq_parallel)
        wide /= (double)p->degree[PLAN_TP];
    struct op_mark norms = mark_op(x);
    add_elementwise(x, NORM_FORWARD * wide, NORM_BACK * wide, 2);
    end_op(x, norms, plan_ops(p, m), PLAN_OP_NORM);
    add_elementwise(x, (RESIDUAL_FORWARD + (m->dropout ? DROPOUT_FORWARD : 0)) * wide,
                    (RESIDUAL_BACK + (m->dropout ? DROPOUT_BACK : 0)) * wide, 2);
}

static void block_add_layer(struct counting *x, const struct model *m, const struct plan *p, bool experts)
{
    double tp = (double)p->degree[PLAN_TP];
    x->elementwise = plan_class(p, m).elementwise;
    add_attention(x, m, p);
    if (experts) {
        add_experts(x, m, p);
    } else {
        struct op_mark mlp = mark_op(x);
        add_mlp(x, m, block_tokens(p, m), (double)m->ffn / tp, 1, 1U << PLAN_OP_MLP);
        end_op(x, mlp, plan_ops(p, m), PLAN_OP_MLP);
    }
    add_joints(x, m, p);
    if (p->recompute != PLAN_RECOMPUTE_SAC)
        return;
    x->c->again_s = SAC_PRODUCTS * x->products_s + (x->c->forward_s - x->products_s);
    x->c->again_flop = SAC_PRODUCTS * x->c->flop;
}

static void block_add_head(struct counting *x, const struct model *m, const struct plan *p)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m), h = (double)m->hidden;
    double words = model_vocab(m, tp) / tp, wide = tokens * h / (p->seq_parallel ? tp : 1);
    double loss_B = plan_class(p, m).loss_B / 2;
    const struct roofline_product pad = { tokens, words - (double)m->vocab / tp, h, 1 };
    add_linear_16(x, tokens, words, h);
    x->c->pad_flop = roofline_flop(&pad);
    x->c->flop -= x->c->pad_flop;
    if (m->mtp) { /* each head but one is that of a predicted token, behind a projection of two vectors */
        double share = (double)m->mtp / (1 + (double)m->mtp);
        add_linear(x, tokens, h / tp, 2 * h, share);
        add_streams(x, 2 * NORM_FORWARD * wide * share, 2 * NORM_BACK * wide * share, 2 * share);
    }
    add_streams(x, loss_B * tokens * words, loss_B * tokens * words, 2);
    add_streams(x, NORM_FORWARD * wide, NORM_BACK * wide, 1);
}

/* ---- other families: data parallel, so that rows are samples ---- */

static void add_widths(struct counting *x, double rows, double in, const int64_t *widths, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        add_linear(x, rows, (double)widths[i], in, 1);
        in = (double)widths[i];
    }
}

/* Tables are shared out: each NPU looks up for all samples what it holds, as much as one sample needs. */
static void block_add_tables(struct counting *x, const struct model *m, double samples)
{
    double bytes = samples * m->dlrm.lookups * (double)m->dlrm.dim * LOOKUP_B * LOOKUP_SLOWER;
    add_streams(x, bytes, LOOKUP_UPDATE * bytes, 1);
    add_widths(x, samples, (double)m->dlrm.bottom[0], m->dlrm.bottom + 1, m->dlrm.n_bottom - 1);
}

/* Layers after the interaction. Dot products are computed for all ordered pairs, and half of them are useful.
 */
static void add_top(struct counting *x, const struct model *m, double samples)
{
    const struct model_dlrm *r = &m->dlrm;
    double in = model_dlrm_top_input(m), vectors = (double)r->n_tables + 1;
    if (r->interaction == MODEL_CROSS) {
        for (int64_t i = 0; i < r->cross_layers; i++) {
            add_linear(x, samples, (double)r->cross_rank, in, 1);
            add_linear(x, samples, in, (double)r->cross_rank, 1);
            add_streams(x, RESIDUAL_FORWARD * samples * in, RESIDUAL_BACK * samples * in, 1);
        }
    } else {
        const struct roofline_product pairs = { vectors, vectors, (double)r->dim, samples };
        double once_s = roofline_product_s(x->npu, &pairs, 1);
        x->c->forward_s += once_s;
        x->c->input_s += 2 * once_s;
        x->c->flop += roofline_flop(&pairs) / 2; /* of each pair one order */
    }
    add_widths(x, samples, in, r->top, r->n_top);
}

/* A convolution is the product of (pixels) x (outputs) x (inputs times kernel), as libraries lower it. */
static void add_convs(struct counting *x, const struct model *m, double samples)
{
    for (int32_t i = 0; i < m->cnn.n_convs; i++) {
        const struct model_conv *v = &m->cnn.convs[i];
        double pixels = samples * (double)(v->size * v->size), out = (double)v->out;
        for (int64_t k = 0; k < v->times; k++) {
            add_linear(x, pixels, out, (double)(v->in * v->kernel * v->kernel), 1);
            add_streams(x, CONV_FORWARD * pixels * out, CONV_BACK * pixels * out, 2);
        }
    }
    add_linear(x, samples, (double)m->cnn.classes, (double)m->cnn.features, 1);
}

double block_tokens(const struct plan *p, const struct model *m)
{
    return (double)p->micro * (double)m->seq / (double)p->degree[PLAN_CP];
}

/* Time and useful FLOP of one block for one microbatch on one NPU, its collectives apart. */
void block_cost(struct block_cost *c, enum block_kind kind, const struct model *m, const struct plan *p,
                const struct topo_npu *npu)
{
    struct counting x;
    double samples = (double)p->micro;
    counting_begin(&x, c, p, npu);
    if (kind == BLOCK_DENSE || kind == BLOCK_EXPERTS)
        block_add_layer(&x, m, p, kind == BLOCK_EXPERTS);
    else if (m->family == MODEL_TRANSFORMER && kind == BLOCK_HEAD)
        block_add_head(&x, m, p);
    else if (m->family == MODEL_TRANSFORMER)
        add_streams(&x, EMBED_BYTES * block_tokens(p, m) * (double)m->hidden,
                    EMBED_BYTES * block_tokens(p, m) * (double)m->hidden, 1);
    else if (m->family == MODEL_DLRM && kind == BLOCK_EMBED)
        block_add_tables(&x, m, samples);
    else if (m->family == MODEL_DLRM)
        add_top(&x, m, samples);
    else if (kind == BLOCK_HEAD)
        add_convs(&x, m, samples);
    c->flop += c->core_flop;
}

const char *const memory_term_words[N_MEMORY_TERMS + 1] = { "weights",     "gradients", "optimizer",
                                                            "activations", "buffers",   "reserved" };

/* A parameter of a linear layer: in 8 bits row and column (with their scales); nvfp4 is kept in bf16 as well,
 * since parameters are not gathered in 4 bits. */
static const double weight_B[N_TOPO_PRECISIONS] = { 2, 2, 2 + 2 / 32.0, 2 + 2 * (0.5 + 1 / 16.0) };

/* Layers whose parameters are gathered at once under ZeRO 3: one runs, one is fetched. */
#define GATHERED 2.0

/* Bytes of an element that a product keeps of its input; PyTorch's (torchao) keep bf16 and cast again:
 * torchtitan's memory is the same with fp8 and without, 76.8 and 77.0 GiB. */
static double input_B(const struct plan *p)
{
    return plan_is_pytorch(p) ? ROOFLINE_ELEMENT_B : plan_element_B(p);
}

/* Kept by attention: input; queries, keys and values; its output, which is the projection's input too. At
 * lower precisions the projection keeps a copy of its own. */
static double attention_B(const struct model *m, const struct plan *p, double tokens, double wide)
{
    double tp = (double)p->degree[PLAN_TP], d = (double)m->head_dim, a = (double)m->heads, e = input_B(p);
    double kv = fmax((double)m->kv_heads, tp), copy = e < ROOFLINE_ELEMENT_B ? e : 0;
    double mask = m->dropout ? wide : 0, input = plan_ops(p, m) & 1U << PLAN_OP_NORM ? 0 : e * wide;
    if (m->mla.q_rank) {
        const struct model_mla *x = &m->mla;
        double key = (double)(x->nope_dim + x->rope_dim), v = (double)x->v_dim;
        double low = (double)(x->q_rank + x->kv_rank + x->rope_dim);
        double heads = plan_ops(p, m) & 1U << PLAN_OP_MLA_UP ? v : 2 * key + 2 * v;
        return input + mask + e * tokens * low + tokens * a * (2 * heads + copy * v) / tp;
    }
    return input + mask + 2 * tokens * (2 * a * d + 2 * kv * d) / tp + copy * tokens * a * d / tp;
}

/* Softmax's output, dropout's output and mask; nothing of fused attention but a log-sum-exp per row. */
static double scores_B(const struct model *m, const struct plan *p, double tokens)
{
    double a = (double)m->heads / (double)p->degree[PLAN_TP];
    if (plan_ops(p, m) & 1U << PLAN_OP_CORE)
        return 0;
    if (plan_is_fused(p, m))
        return 4 * a * tokens;
    return (m->dropout ? 5.0 : 2.0) * a * tokens * (double)m->seq;
}

/* Inputs of the activation, and its output, the second layer's input. */
static double mlp_B(const struct model *m, const struct plan *p, double rows, double ffn)
{
    double output = plan_ops(p, m) & 1U << PLAN_OP_ACTIVATION ? 0 : input_B(p);
    return rows * ffn * ((m->activation == MODEL_SWIGLU ? 4.0 : 2.0) + output);
}

/* What comes to the experts, passes them and goes back; the router's fp32 scores. */
static double experts_B(const struct model *m, const struct plan *p, double tokens)
{
    double tp = (double)p->degree[PLAN_TP], own = p->seq_parallel ? tokens / tp : tokens;
    double split = p->expert_tp ? tp : 1;
    double routed = own * split * (double)m->moe.top_k * m->moe.capacity, h = (double)m->hidden;
    unsigned ops = plan_ops(p, m);
    if (ops & 1U << PLAN_OP_EXPERTS)
        return 0;
    double shared =
        ops & 1U << PLAN_OP_SHARED ? 0 : mlp_B(m, p, tokens, (double)(m->moe.shared * m->moe.ffn) / tp);
    return (2 + input_B(p)) * routed * h + mlp_B(m, p, routed, (double)m->moe.ffn / split) +
           4 * own * (double)m->moe.experts + shared;
}

/* What PyTorch's selective checkpointing keeps of a layer (torchtitan): the input, attention's output, and of
 * the seven products every second one's: queries, values, the first and the last of the MLP. No gradient
 * needs the last, which goes into a sum: torch.compile keeps what gradients need alone. */
static double sac_B(const struct model *m, const struct plan *p, double tokens)
{
    double tp = (double)p->degree[PLAN_TP], kv = fmax((double)m->kv_heads, tp) * (double)m->head_dim;
    double wide = p->software == PLAN_COMPILED ? 6 : 8;
    return tokens * (wide * (double)m->hidden + 2 * kv + 2 * (double)m->ffn) / tp;
}

/* Activations that one layer keeps per microbatch, term by term as in arXiv 2205.05198 section 4. Full
 * recomputation keeps the layer's input alone. */
double memory_layer_B(const struct model *m, const struct plan *p, bool experts)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m);
    /* One byte per token and hidden element, where only sequence parallelism shares them. */
    double wide = tokens * (double)m->hidden / (p->seq_parallel ? tp : 1);
    if (p->recompute == PLAN_RECOMPUTE_FULL)
        return 2 * wide;
    if (p->recompute == PLAN_RECOMPUTE_SAC && !experts)
        return sac_B(m, p, tokens);
    unsigned ops = plan_ops(p, m);
    double bytes = attention_B(m, p, tokens, wide) + 4 * wide; /* inputs of two norms */
    if (plan_is_pytorch(p)) /* keeps the inputs of products that tp gathered */
        bytes += (experts && !m->moe.shared ? 1 : 2) * input_B(p) * (tokens * (double)m->hidden - wide);
    bytes += scores_B(m, p, tokens);
    bytes += (ops & 1U << PLAN_OP_NORM ? 0 : input_B(p) * wide) + (m->dropout ? wide : 0);
    if (experts)
        return bytes + experts_B(m, p, tokens);
    return bytes + (ops & 1U << PLAN_OP_MLP ? 0 : mlp_B(m, p, tokens, (double)m->ffn / tp));
}

double memory_in_flight(const struct plan *p, int64_t stage)
{
    double pp = (double)p->degree[PLAN_PP], v = (double)p->interleave, i = (double)stage;
    double m = (double)plan_microbatches(p);
    if (p->schedule == PLAN_GPIPE)
        return m;
    if (p->schedule == PLAN_ZB1P)
        return fmin(m, pp);
    if (p->schedule == PLAN_DUALPIPE)
        return fmin(m, pp + 1);
    if (p->schedule == PLAN_DUALPIPEV) /* of 2 p stages of half the layers */
        return fmin(m, (2 * pp + 1) / 2);
    if (p->interleave == 1)
        return fmin(m, pp - i);
    /* Chunks of its warm-up and the one under way. */
    return fmin(m * v, v * pp + pp - 2 * i - 1) / v;
}

/* Beyond the layers: the embedding's dropout mask; the last norm, the logits and what the loss holds of
 * them. */
static double ends_B(const struct model *m, const struct plan *p, const struct plan_stage *s)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m), bytes = 0;
    double wide = tokens * (double)m->hidden / (p->seq_parallel ? tp : 1);
    if (s->embed && m->dropout)
        bytes += wide * memory_in_flight(p, s->at);
    if (s->head)
        bytes += (1 + (double)s->mtp) *
                 (4 * wide + plan_class(p, m).loss_peak_B * tokens * model_vocab(m, tp) / tp);
    return bytes;
}

void memory_layers(struct memory_layers *out, const struct model *m, const struct plan *p)
{
    const struct plan once = plan_once(p);
    double tp = (double)p->degree[PLAN_TP], etp = p->expert_tp ? tp : 1;
    *out = (struct memory_layers){ .embed_params = model_embed_params(m, tp),
                                   .head_params = model_head_params(m, tp) };
    for (int experts = 0; experts < (m->moe.experts ? 2 : 1); experts++) {
        out->kept_B[experts] = memory_layer_B(m, p, experts);
        out->once_B[experts] = memory_layer_B(m, &once, experts);
        out->params[experts] = model_layer_params(m, experts, tp, (double)p->ep, etp);
    }
    if (m->tied || m->mtp)
        out->copy_params = model_vocab(m, tp) / tp * (double)m->hidden;
}

/* What a stage is weighed by. */
struct weighing {
    const struct model *m;
    const struct plan *p;
    struct memory_layers of;
};

/* Parameters of one NPU in the layers of a stage. */
static struct model_share stage_layer_params(const struct weighing *w, const struct plan_stage *s)
{
    struct model_share sum = { (double)s->dense * w->of.params[0].dense, 0 };
    if (s->experts) {
        sum.dense += (double)s->experts * w->of.params[1].dense;
        sum.expert += (double)s->experts * w->of.params[1].expert;
    }
    return sum;
}

/* Parameters of one NPU before and behind them. */
static double stage_end_params(const struct weighing *w, const struct plan_stage *s)
{
    double sum = 0;
    if (s->embed)
        sum += w->of.embed_params;
    if (s->head)
        sum += w->of.head_params;
    if (s->head && !s->embed)
        sum += w->of.copy_params;
    return sum;
}

/* NPUs that share parameters out: those of experts, and all others. */
static struct model_share sharers(const struct plan *p)
{
    double cp_dp = (double)p->degree[PLAN_CP] * (double)p->degree[PLAN_DP];
    return (struct model_share){ p->shard ? (double)p->shard : cp_dp,
                                 cp_dp * (p->expert_tp ? 1 : (double)p->degree[PLAN_TP]) / (double)p->ep };
}

/* What data parallelism leaves of it. */
static double shared_out(const struct plan *p, struct model_share params)
{
    struct model_share n = sharers(p);
    return params.dense / n.dense + params.expert / n.expert;
}

/* Weights that ZeRO 3 gathers for a while: of two layers, unless they stay gathered. PyTorch's FSDP2 holds
 * one layer's gradient besides, and gathers embedding and head. */
static double gathered_B(const struct weighing *w, const struct plan_stage *s)
{
    const struct plan *p = w->p;
    struct model_share layer = w->of.params[s->experts > 0], n = sharers(p);
    double ends = n.dense > 1 ? stage_end_params(w, s) : 0;
    double one = (n.dense > 1 ? layer.dense : 0) + (n.expert > 1 ? layer.expert : 0);
    double bytes = plan_is_pytorch(p) ? ROOFLINE_ELEMENT_B * one : 0;
    if (!p->reshard)
        return bytes;
    bytes += fmin(GATHERED, (double)(s->dense + s->experts)) * ROOFLINE_ELEMENT_B * one;
    return plan_is_pytorch(p) ? bytes + ROOFLINE_ELEMENT_B * ends : bytes;
}

/* Beside a layer's activations its backward pass holds gradients, most of them around the activation; under
 * sequence parallelism also one input and one gradient that were gathered. Counted where software is named.
 */
static double transient_B(const struct model *m, const struct plan *p, bool experts)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m);
    double ffn = (double)m->ffn / tp, gradients = m->activation == MODEL_SWIGLU ? 3 : 2;
    if (experts)
        ffn = (double)(m->moe.ffn * m->moe.top_k) / tp;
    double gathered = p->seq_parallel && tp > 1 ? 2 * input_B(p) * tokens * (double)m->hidden : 0;
    return gathered + ROOFLINE_ELEMENT_B * gradients * tokens * ffn;
}

/* What a stage's layers keep of one microbatch. */
static double stage_kept_B(const struct weighing *w, const struct plan_stage *s)
{
    const struct plan *p = w->p;
    int64_t dense = s->dense, experts = s->experts; /* done again */
    double bytes = 0;
    if (plan_is_partly_again(p)) {
        bytes += (double)(s->dense - s->dense_again) * w->of.once_B[0];
        bytes += (double)(s->experts - s->experts_again) * w->of.once_B[1];
        dense = s->dense_again;
        experts = s->experts_again;
    }
    if (p->recompute == PLAN_RECOMPUTE_FULL && p->recompute_unit > 1) {
        double inputs = ceil((double)(dense + experts) / (double)p->recompute_unit);
        return bytes + inputs * w->of.kept_B[0];
    }
    if (dense)
        bytes += (double)dense * w->of.kept_B[0];
    if (experts)
        bytes += (double)experts * w->of.kept_B[1];
    return bytes;
}

/* Beside what is kept, what the layers hold that are being done again at once: less where others of the
 * chunk, which come after them, have freed theirs by then. */
static double again_B(const struct weighing *w, const struct plan_stage *s)
{
    const struct plan *p = w->p;
    double one = w->of.once_B[s->experts > 0], unit = 1, freed = 0;
    if (p->recompute == PLAN_RECOMPUTE_FULL)
        unit = fmin((double)p->recompute_unit, (double)(s->dense + s->experts));
    if (plan_is_partly_again(p))
        freed = (double)(s->dense + s->experts - s->dense_again - s->experts_again) / (double)p->interleave;
    return fmax(0, (unit - freed) * one - w->of.kept_B[s->experts > 0]); /* its input is kept */
}

/* What is needed for a while only: gathered weights of ZeRO 3, the activations of the layer that is being
 * recomputed, and messages of the pipeline in both directions. */
static double buffers_B(const struct weighing *w, const struct plan_stage *s)
{
    const struct model *m = w->m;
    const struct plan *p = w->p;
    double tp = (double)p->degree[PLAN_TP], bytes = p->zero == 3 ? gathered_B(w, s) : 0;
    if (p->recompute == PLAN_RECOMPUTE_FULL || p->recompute == PLAN_RECOMPUTE_SAC)
        bytes += again_B(w, s);
    if (!plan_is_2021(p))
        bytes += transient_B(m, p, s->experts > 0);
    if (p->degree[PLAN_PP] > 1)
        bytes += 2 * ROOFLINE_ELEMENT_B * block_tokens(p, m) * (double)m->hidden / (p->seq_parallel ? tp : 1);
    return bytes;
}

/* DualPipe holds two stages a NPU; what is not shared out over data parallelism is there twice. @p ends of
 * the parameters are not in the layers, and in 16 bits whatever the precision. FSDP2 of PyTorch shares out
 * the master weight itself, and has no copy in 16 bits but what is gathered. */
static void add_state(struct memory *out, const struct plan *p, struct model_share params, double ends)
{
    double twice = p->schedule == PLAN_DUALPIPE ? 2 : 1;
    double all = (params.dense + params.expert) * twice, part = shared_out(p, params);
    double end_part = shared_out(p, (struct model_share){ ends, 0 });
    bool fsdp = plan_is_pytorch(p) && p->zero == 3;
    double own = fsdp ? 0 : p->master_B,
           kept = plan_is_pytorch(p) ? ROOFLINE_ELEMENT_B : weight_B[p->precision];
    bool shared = p->zero >= 3 && p->reshard;
    out->term_B[MEMORY_WEIGHTS] =
        ROOFLINE_ELEMENT_B * (shared ? part : all) +
        (kept - ROOFLINE_ELEMENT_B) * (shared ? part - end_part : all - twice * ends);
    if (fsdp)
        out->term_B[MEMORY_WEIGHTS] = p->master_B * part + (p->reshard ? 0 : ROOFLINE_ELEMENT_B * all);
    out->term_B[MEMORY_GRADIENTS] = (double)p->grad_B * (p->zero >= 2 && !p->no_sync ? part : all);
    out->term_B[MEMORY_OPTIMIZER] = (own + p->moments_B) * (p->zero >= 1 ? part : all);
}

/* What the allocator and the driver hold beyond the terms. */
static void add_total(struct memory *out, const struct plan *p)
{
    for (int i = 0; i < MEMORY_RESERVED; i++)
        out->total_B += out->term_B[i];
    out->term_B[MEMORY_RESERVED] = (isnan(p->mem_margin) ? 0 : p->mem_margin) * out->total_B + p->context_B;
    out->total_B += out->term_B[MEMORY_RESERVED];
}

/* State of the stage's parameters, activations of all microbatches in flight, and buffers. */
static struct memory of_stage(const struct weighing *w, const struct plan_stage *s)
{
    const struct plan *p = w->p;
    struct memory out = { .stage = s->at };
    struct model_share params = stage_layer_params(w, s);
    double kept = stage_kept_B(w, s) * memory_in_flight(p, s->at), ends = stage_end_params(w, s);
    params.dense += ends;
    add_state(&out, p, params, ends);
    out.term_B[MEMORY_ACTIVATIONS] = kept * (1 - p->offload) + ends_B(w->m, p, s);
    out.term_B[MEMORY_BUFFERS] = buffers_B(w, s);
    if (p->offload > 0) /* two layers on their way to the host or back */
        out.term_B[MEMORY_BUFFERS] += p->offload * fmin(kept, 2 * w->of.kept_B[s->experts > 0]);
    add_total(&out, p);
    return out;
}

/* ---- other families ---- */

/* Widths that a chain of layers keeps of a sample, their input included. */
static double widths(const int64_t *list, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)list[i];
    return sum;
}

/* Tables (fp32, one optimiser state per row) are shared out over all NPUs. */
static struct memory of_dlrm(const struct model *m, const struct plan *p)
{
    const struct model_dlrm *r = &m->dlrm;
    struct memory out = { 0 };
    double npus = (double)p->degree[PLAN_DP], samples = (double)p->micro;
    double kept = widths(r->bottom, r->n_bottom) + widths(r->top, r->n_top) +
                  (double)(r->cross_layers + 1) * model_dlrm_top_input(m);
    add_state(&out, p, (struct model_share){ model_dlrm_dense_params(m), 0 }, 0);
    out.term_B[MEMORY_WEIGHTS] += 4 * r->rows * (double)r->dim / npus;
    out.term_B[MEMORY_OPTIMIZER] += 4 * r->rows / npus;
    out.term_B[MEMORY_ACTIVATIONS] = ROOFLINE_ELEMENT_B * samples * kept;
    out.term_B[MEMORY_BUFFERS] = 2 * 4 * samples * (double)(r->n_tables * r->dim);
    add_total(&out, p);
    return out;
}

/* Each convolution keeps its input's copy and what the normalisation needs: two copies of its output. */
static struct memory of_cnn(const struct model *m, const struct plan *p)
{
    struct memory out = { 0 };
    double pixels = 0;
    for (int32_t i = 0; i < m->cnn.n_convs; i++) {
        const struct model_conv *c = &m->cnn.convs[i];
        pixels += (double)(c->times * c->out) * (double)(c->size * c->size);
    }
    add_state(&out, p, (struct model_share){ model_params(m), 0 }, 0);
    out.term_B[MEMORY_ACTIVATIONS] = 2 * ROOFLINE_ELEMENT_B * pixels * (double)p->micro;
    add_total(&out, p);
    return out;
}

/* ---- what is kept of other plans: two small tables, in which a key has one seat ---- */

static struct plan_memo_blocks *find_blocks(struct plan_memo *memo, const struct plan *p)
{
    const struct plan_memo_key key = { .tp = p->degree[PLAN_TP],
                                       .cp = p->degree[PLAN_CP],
                                       .ep = p->ep,
                                       .micro = p->micro,
                                       .recompute = p->recompute,
                                       .recompute_ops = p->recompute_ops,
                                       .gather_bits = p->gather_bits,
                                       .context = p->context,
                                       .precision = p->precision,
                                       .seq_parallel = p->seq_parallel };
    /* Degrees and microbatch change seldom; what changes often gets seats of its own. */
    uint64_t often =
        (((uint64_t)key.recompute_ops * 8 + (uint64_t)key.recompute) * 8 + (uint64_t)key.precision) * 32 +
        (uint64_t)key.gather_bits;
    struct plan_memo_blocks *b = &memo->blocks[hash_mix(often) % PLAN_MEMO_BLOCKS];
    if (memcmp(&b->key, &key, sizeof key) != 0) {
        b->key = key;
        memset(b->known, 0, sizeof b->known);
        b->weighed = false;
    }
    return b;
}

void plan_memo_cost(struct block_cost *c, struct plan_memo *memo, enum block_kind kind, const struct model *m,
                    const struct plan *p, const struct topo_npu *npu)
{
    if (!memo) {
        block_cost(c, kind, m, p, npu);
        return;
    }
    struct plan_memo_blocks *b = find_blocks(memo, p);
    if (!b->known[kind])
        block_cost(&b->costs[kind], kind, m, p, npu);
    b->known[kind] = true;
    *c = b->costs[kind];
}

void plan_memo_layers(struct memory_layers *out, struct plan_memo *memo, const struct model *m,
                      const struct plan *p)
{
    if (!memo) {
        memory_layers(out, m, p);
        return;
    }
    struct plan_memo_blocks *b = find_blocks(memo, p);
    if (!b->weighed)
        memory_layers(&b->layers, m, p);
    b->weighed = true;
    *out = b->layers;
}

int32_t plan_memo_stages(struct plan_stage out[PLAN_MAX_STAGES], struct plan_memo *memo, const struct plan *p,
                         const struct model *m)
{
    if (!memo)
        return plan_stages(out, p, m);
    int64_t pp = p->degree[PLAN_PP], again = plan_is_partly_again(p);
    struct plan_memo_stages *s = &memo->stages[(uint64_t)(2 * p->interleave + again) % PLAN_MEMO_STAGES];
    if (!s->n || s->pp != pp || s->interleave != p->interleave || s->ends != p->ends || s->again != again)
        *s = (struct plan_memo_stages){
            .pp = pp, .interleave = p->interleave, .ends = p->ends, .again = again
        };
    if (!s->n)
        s->n = plan_stages(s->stages, p, m);
    memcpy(out, s->stages, (size_t)s->n * sizeof *out);
    return s->n;
}

/* The stage that needs most decides whether a plan fits; earlier stages hold more microbatches in flight, the
 * last one the logits. */
void memory_plan_kept(struct memory *out, struct plan_memo *memo, const struct model *m, const struct plan *p)
{
    struct plan_stage stages[PLAN_MAX_STAGES];
    struct weighing w = { .m = m, .p = p };
    *out = (struct memory){ 0 };
    if (m->family != MODEL_TRANSFORMER) {
        *out = m->family == MODEL_DLRM ? of_dlrm(m, p) : of_cnn(m, p);
        return;
    }
    plan_memo_layers(&w.of, memo, m, p);
    int32_t n = plan_memo_stages(stages, memo, p, m);
    for (int32_t i = 0; i < n; i++) {
        struct memory one = of_stage(&w, &stages[i]);
        if (one.total_B > out->total_B)
            *out = one;
    }
}

void memory_plan(struct memory *out, const struct model *m, const struct plan *p)
{
    memory_plan_kept(out, NULL, m, p);
}
