/*
 * Profiles of layers on types: given, of a model by its hyperparameters, and drawn.
 */
#include "sim/hetero/profile.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "workloads/block.h"

const char *const hetero_kind_words[] = { "embedding",  "pool", "concat", "fc", "nce",
                                          "similarity", "loss", "block",  NULL };

/* Defaults that limit nothing: units up to the maximum, an endless NIC, no host. */
int hetero_profile_build(struct hetero_profile *p, int32_t n_layers, int32_t n_types, struct err *e)
{
    *p = (struct hetero_profile){ .n_layers = n_layers, .n_types = n_types, .batch = 1 };
    size_t cells = (size_t)n_layers * (size_t)n_types;
    p->layers = ARENA_TAKE(&p->arena, n_layers, *p->layers);
    p->types = ARENA_TAKE(&p->arena, n_types, *p->types);
    p->compute_s = ARENA_TAKE(&p->arena, cells, *p->compute_s);
    p->sync_s = ARENA_TAKE(&p->arena, cells, *p->sync_s);
    p->handover_s = ARENA_TAKE(&p->arena, cells, *p->handover_s);
    int rc = arena_check(&p->arena, "a profile of layers", e);
    if (rc) {
        hetero_profile_free(p);
        return rc;
    }
    for (int32_t t = 0; t < n_types; t++) {
        p->types[t].max_units = HETERO_MAX_UNITS;
        p->types[t].nic_Bps = INFINITY;
        p->types[t].host = -1;
    }
    return 0;
}

void hetero_profile_free(struct hetero_profile *p)
{
    arena_free(&p->arena);
    *p = (struct hetero_profile){ 0 };
}

static int check_cell(const struct hetero_profile *p, int32_t layer, int32_t t, struct err *e)
{
    size_t at = (size_t)layer * (size_t)p->n_types + (size_t)t;
    const double seconds[] = { p->compute_s[at], p->sync_s[at], p->handover_s[at] };
    static const char *const what[] = { "compute", "synchronisation", "handover" };
    for (int i = 0; i < 3; i++)
        if (!(isfinite(seconds[i]) && seconds[i] >= 0))
            return err_set(e, ERR_RANGE, "layers[%d] '%s' on '%s': %s is %g s, expected >= 0", layer,
                           p->layers[layer].name, p->types[t].name, what[i], seconds[i]);
    return 0;
}

/* Does every type take time for this layer, whoever pays for handing it over? */
static bool is_work(const struct hetero_profile *p, int32_t layer)
{
    const size_t row = (size_t)layer * (size_t)p->n_types;
    for (size_t at = row; at < row + (size_t)p->n_types; at++)
        if (!(p->compute_s[at] + p->sync_s[at] > 0))
            return false;
    return true;
}

/* Times may be measured or follow from a model; all profiles pass here before any search starts. */
int hetero_profile_check(const struct hetero_profile *p, struct err *e)
{
    int rc = 0;
    bool work = false;
    for (int32_t l = 0; l < p->n_layers && !rc; l++) {
        for (int32_t t = 0; t < p->n_types && !rc; t++)
            rc = check_cell(p, l, t, e);
        work = work || is_work(p, l);
    }
    /* Else a plan might take no time at all. */
    if (!rc && !work)
        rc = err_set(e, ERR_RANGE, "layers: each takes no time on some type, expected one that does on all");
    return rc;
}

double hetero_parallel_frac(double one_s, double k_s, int64_t k)
{
    double share = (1 - k_s / one_s) / (1 - 1 / (double)k);
    return fmin(1, fmax(0, share));
}

/* A token or a row is named by 64 bits. Tables hold fp32, as workloads/block.c counts them, and what is
 * pooled from them is handed on in it, as workloads/plan_cost.c does. */
#define PROFILE_MODEL_ID_B 8.0
#define ROW_B              4.0
/* Pulled and pushed; gradients out and sums in, which is also what many members of a ring each send. */
#define BOTH_WAYS 2.0
/* plan.micro is a whole number, exact in a double. */
#define MAX_BATCH 1e9

/* A layer, and the model that consists of it alone: block_cost() counts whole ones. */
struct profile_part {
    struct hetero_layer layer;
    double dense_B;              /* of the weights, what is exchanged whole: all but looked-up rows */
    const struct model *alone;   /* borrowed */
    enum block_kind block;       /* of that model */
    const struct model *without; /* what that block counts besides, as a model of its own; NULL: nothing */
};

/* A profile being written, layer after layer. */
struct writing {
    struct hetero_profile *p;
    const struct topo_npu *npus;
    const double *net_Bps;
    int32_t n;
};

static void set_name(char name[HETERO_NAME], const char *what, int64_t number)
{
    if (number)
        snprintf(name, HETERO_NAME, "%s%lld", what, (long long)number);
    else
        snprintf(name, HETERO_NAME, "%s", what);
}

/* Forward and backward. */
static double block_s(const struct model *m, enum block_kind block, double batch, const struct topo_npu *npu)
{
    struct plan plan;
    struct block_cost c;
    plan_defaults(&plan);
    plan.batch = plan.micro = (int64_t)batch;
    block_cost(&c, block, m, &plan, npu);
    return c.forward_s + c.core_s + c.core_back_s + c.input_s + c.weight_s + c.rest_s;
}

/* Times of one layer on every type: compute by the roofline of a block with and without the part, gradients
 * and embedding rows both ways over the network, and handing over its output. */
static void add_layer_part(struct writing *w, const struct profile_part *x)
{
    struct hetero_profile *p = w->p;
    p->layers[w->n] = x->layer;
    for (int32_t t = 0; t < p->n_types; t++) {
        size_t at = (size_t)w->n * (size_t)p->n_types + (size_t)t;
        p->compute_s[at] = block_s(x->alone, x->block, p->batch, &w->npus[t]);
        if (x->without)
            p->compute_s[at] -= block_s(x->without, x->block, p->batch, &w->npus[t]);
        p->sync_s[at] = (p->batch * x->layer.sparse_B + BOTH_WAYS * x->dense_B) / w->net_Bps[t];
        p->handover_s[at] = p->batch * x->layer.out_B / w->net_Bps[t];
    }
    w->n++;
}

/* A linear layer is a convolutional model without convolutions. */
static struct model linear_model(int64_t in, int64_t out)
{
    return (struct model){ .family = MODEL_CNN, .cnn = { .features = in, .classes = out } };
}

/* @p beside_B: what passes it on the way to a later layer. */
static void add_linear(struct writing *w, const char *name, int64_t number, int64_t in, int64_t out,
                       double beside_B)
{
    const struct model alone = linear_model(in, out);
    double weight_B = ROOFLINE_ELEMENT_B * model_params(&alone);
    struct profile_part x = { .layer = { .kind = HETERO_FC,
                                         .in_B = ROOFLINE_ELEMENT_B * (double)in + beside_B,
                                         .out_B = ROOFLINE_ELEMENT_B * (double)out + beside_B,
                                         .weight_B = weight_B },
                              .dense_B = weight_B,
                              .alone = &alone,
                              .block = BLOCK_HEAD };
    set_name(x.layer.name, name, number);
    add_layer_part(w, &x);
}

/* ---- transformer ---- */

/* Embedding, then blocks (dense or with experts), then the head; bytes as weights in bf16. */
static void add_transformer(struct writing *w, const struct model *m)
{
    double wide_B = ROOFLINE_ELEMENT_B * (double)m->seq * (double)m->hidden;
    double table_B = ROOFLINE_ELEMENT_B * model_vocab(m, 1) * (double)m->hidden;
    struct profile_part x = { .layer = { .kind = HETERO_EMBEDDING,
                                         .in_B = PROFILE_MODEL_ID_B * (double)m->seq,
                                         .out_B = wide_B,
                                         .weight_B = ROOFLINE_ELEMENT_B * model_embed_params(m, 1),
                                         .sparse_B = BOTH_WAYS * wide_B },
                              .alone = m,
                              .block = BLOCK_EMBED };
    x.dense_B = x.layer.weight_B - table_B; /* positions */
    set_name(x.layer.name, "embedding", 0);
    add_layer_part(w, &x);
    for (int64_t i = 0; i < m->layers; i++) {
        bool experts = model_has_experts(m, i);
        struct model_share params = model_layer_params(m, experts, 1, 1, 1);
        x.layer = (struct hetero_layer){ .kind = HETERO_BLOCK, .in_B = wide_B, .out_B = wide_B };
        x.dense_B = x.layer.weight_B = ROOFLINE_ELEMENT_B * (params.dense + params.expert);
        x.block = experts ? BLOCK_EXPERTS : BLOCK_DENSE;
        set_name(x.layer.name, "layer", i + 1);
        add_layer_part(w, &x);
    }
    /* Out comes the loss of each token. A tied table is held here a second time, and every row has a
     * gradient.
     */
    x.layer = (struct hetero_layer){ .kind = HETERO_FC,
                                     .in_B = wide_B,
                                     .out_B = ROOFLINE_ELEMENT_B * (double)m->seq,
                                     .weight_B = ROOFLINE_ELEMENT_B * model_head_params(m, 1) +
                                                 (m->tied ? table_B : 0) };
    x.dense_B = x.layer.weight_B;
    x.block = BLOCK_HEAD;
    set_name(x.layer.name, "head", 0);
    add_layer_part(w, &x);
}

/* ---- DLRM ---- */

/* Tables come first: pooled, they are little, and pass the bottom layers on their way to the interaction. */
static void add_dlrm(struct writing *w, const struct model *m)
{
    const struct model_dlrm *r = &m->dlrm;
    double dense_in_B = ROOFLINE_ELEMENT_B * (double)r->bottom[0];
    double pooled_B = ROW_B * (double)(r->n_tables * r->dim);
    struct model alone = *m;
    alone.dlrm.n_bottom = 1;
    alone.dlrm.n_top = 0;
    struct profile_part tables = { .layer = { .kind = HETERO_EMBEDDING,
                                              .in_B = PROFILE_MODEL_ID_B * r->lookups + dense_in_B,
                                              .out_B = pooled_B + dense_in_B,
                                              .weight_B = ROW_B * r->rows * (double)r->dim,
                                              .sparse_B = BOTH_WAYS * ROW_B * r->lookups * (double)r->dim },
                                   .alone = &alone,
                                   .block = BLOCK_EMBED };
    set_name(tables.layer.name, "tables", 0);
    add_layer_part(w, &tables);
    for (int32_t i = 1; i < r->n_bottom; i++)
        add_linear(w, "bottom", i, r->bottom[i - 1], r->bottom[i], pooled_B);

    double top_in = model_dlrm_top_input(m), cross_B = ROOFLINE_ELEMENT_B * model_dlrm_dense_params(&alone);
    struct profile_part meet = { .layer = { .kind = HETERO_BLOCK,
                                            .in_B = ROOFLINE_ELEMENT_B * (double)r->dim + pooled_B,
                                            .out_B = ROOFLINE_ELEMENT_B * top_in,
                                            .weight_B = cross_B },
                                 .dense_B = cross_B,
                                 .alone = &alone,
                                 .block = BLOCK_HEAD };
    set_name(meet.layer.name, "interaction", 0);
    add_layer_part(w, &meet);
    for (int32_t i = 0; i < r->n_top; i++)
        add_linear(w, "top", i + 1, i ? r->top[i - 1] : (int64_t)top_in, r->top[i], 0);
}

/* ---- CNN ---- */

/* In the order of the model's list, where equal ones stand together. */
static void add_cnn(struct writing *w, const struct model *m)
{
    const struct model linear = linear_model(1, 1);
    int64_t number = 0;
    for (int32_t i = 0; i < m->cnn.n_convs; i++) {
        const struct model_conv *v = &m->cnn.convs[i];
        struct model alone = linear;
        alone.cnn.n_convs = 1;
        alone.cnn.convs[0] = *v;
        alone.cnn.convs[0].times = 1;
        double pixels = (double)(v->size * v->size), weight_B = ROOFLINE_ELEMENT_B * model_conv_params(v);
        /* The stride is not known: in_B is as if it were 1. */
        struct profile_part x = { .layer = { .kind = HETERO_BLOCK,
                                             .in_B = ROOFLINE_ELEMENT_B * pixels * (double)v->in,
                                             .out_B = ROOFLINE_ELEMENT_B * pixels * (double)v->out,
                                             .weight_B = weight_B },
                                  .dense_B = weight_B,
                                  .alone = &alone,
                                  .block = BLOCK_HEAD,
                                  .without = &linear };
        for (int64_t k = 0; k < v->times; k++) {
            set_name(x.layer.name, "conv", ++number);
            add_layer_part(w, &x);
        }
    }
    add_linear(w, "linear", 0, m->cnn.features, m->cnn.classes, 0);
}

/* ---- all of it ---- */

static int64_t count_layers(const struct model *m)
{
    int64_t n = 1;
    if (m->family == MODEL_TRANSFORMER)
        return m->layers + 2;
    if (m->family == MODEL_DLRM)
        return m->dlrm.n_bottom - 1 + m->dlrm.n_top + 2;
    for (int32_t i = 0; i < m->cnn.n_convs; i++)
        n += m->cnn.convs[i].times;
    return n;
}

/* Layers follow the family; all times come from the same roofline as training steps (workloads/block). */
int hetero_profile_of_model(struct hetero_profile *p, const struct model *m, double batch, int32_t n_types,
                            const struct hetero_type *types, const struct topo_npu *npus,
                            const double *net_Bps, struct err *e)
{
    *p = (struct hetero_profile){ 0 };
    int64_t n_layers = count_layers(m);
    if (!(batch >= 1 && batch <= MAX_BATCH && batch == floor(batch)))
        return err_set(e, ERR_RANGE, "batch: is %g examples, expected a whole number from 1 to %g", batch,
                       MAX_BATCH);
    if (n_layers > HETERO_MAX_LAYERS)
        return err_set(e, ERR_RANGE, "model '%s' has %lld layers, expected at most %d", m->name,
                       (long long)n_layers, HETERO_MAX_LAYERS);
    int rc = hetero_profile_build(p, (int32_t)n_layers, n_types, e);
    if (rc)
        return rc;
    struct writing w = { .p = p, .npus = npus, .net_Bps = net_Bps };
    p->batch = batch;
    snprintf(p->name, sizeof p->name, "%.*s", HETERO_NAME - 1, m->name);
    for (int32_t t = 0; t < n_types; t++)
        p->types[t] = types[t];
    if (m->family == MODEL_TRANSFORMER)
        add_transformer(&w, m);
    else if (m->family == MODEL_DLRM)
        add_dlrm(&w, m);
    else
        add_cnn(&w, m);
    rc = hetero_profile_check(p, e);
    if (rc)
        hetero_profile_free(p);
    return rc;
}

const char *const hetero_model_words[] = { "ctrdnn", "matchnet", "2emb", "nce", NULL };

/* ---- the models ---- */

/* fp32; ids are 64-bit hashes. */
#define ELEMENT_B         4.0
#define PROFILE_DRAW_ID_B 8.0
/* Of a product, forward and both backward, each 2 m n. */
#define PRODUCT_FLOP 6.0
/* Elements are read and written once forward and once backward. */
#define PASSES 2.0
/* A GPU of twice the speed costs 2^0.8 of the price. */
#define PRICE_POWER 0.8

/* What a layer's time follows from. */
enum rule {
    LOOKUP,  /* `in` ids, a row of a table each; `out` elements of those rows */
    STREAM,  /* bound by memory: `in` elements read and `out` written, and their gradients back */
    PRODUCT, /* by a matrix of in x out */
};

/* Of one example. What an earlier branch keeps for a later join does not pass the layers between. */
struct profile_row {
    const char *name;
    enum hetero_layer_kind kind;
    enum rule rule;
    int32_t in, out;
    double table; /* rows that are stored; 0: the layer's weights are its matrix */
};

/*
 * Sizes. Of CTRDNN the 500 ids, rows of 16 and widths of the products are the generator's: with one id in
 * each of 500 slots pooling leaves 8000 elements. The other models keep rows of 16, an id in a slot, and
 * widths that fall from layer to layer. They are the second choice, made so that scheduling matters: with
 * several ids in a slot, summed by pooling, and noise that each example of NCE looks up for itself, cores
 * alone served NCE at half of the largest throughput, and the heuristic came within 12 % of the cheapest plan
 * on MATCHNET and 2EMB.
 */
static const struct profile_row ctrdnn[] = {
    { "emb", HETERO_EMBEDDING, LOOKUP, 500, 8000, 1e7 },
    { "pool", HETERO_POOL, STREAM, 8000, 8000, 0 },
    { "concat", HETERO_CONCAT, STREAM, 8000, 8000, 0 },
    { "fc1", HETERO_FC, PRODUCT, 8000, 1024, 0 },
    { "fc2", HETERO_FC, PRODUCT, 1024, 1024, 0 },
    { "fc3", HETERO_FC, PRODUCT, 1024, 512, 0 },
    { "fc4", HETERO_FC, PRODUCT, 512, 512, 0 },
    { "fc5", HETERO_FC, PRODUCT, 512, 256, 0 },
    { "fc6", HETERO_FC, PRODUCT, 256, 256, 0 },
    { "fc7", HETERO_FC, PRODUCT, 256, 128, 0 },
    { "fc8", HETERO_FC, PRODUCT, 128, 128, 0 },
    { "fc9", HETERO_FC, PRODUCT, 128, 64, 0 },
    { "fc10", HETERO_FC, PRODUCT, 64, 64, 0 },
    { "fc11", HETERO_FC, PRODUCT, 64, 32, 0 },
    { "fc12", HETERO_FC, PRODUCT, 32, 2, 0 },
    { "softmax", HETERO_LOSS, STREAM, 2, 2, 0 },
};

/* A user's tower, then an item's. */
static const struct profile_row matchnet[] = {
    { "user emb", HETERO_EMBEDDING, LOOKUP, 200, 3200, 1e7 },
    { "user pool", HETERO_POOL, STREAM, 3200, 3200, 0 },
    { "user fc1", HETERO_FC, PRODUCT, 3200, 1024, 0 },
    { "user fc2", HETERO_FC, PRODUCT, 1024, 512, 0 },
    { "user fc3", HETERO_FC, PRODUCT, 512, 256, 0 },
    { "user fc4", HETERO_FC, PRODUCT, 256, 128, 0 },
    { "user fc5", HETERO_FC, PRODUCT, 128, 64, 0 },
    { "item emb", HETERO_EMBEDDING, LOOKUP, 100, 1600, 1e6 },
    { "item pool", HETERO_POOL, STREAM, 1600, 1600, 0 },
    { "item fc1", HETERO_FC, PRODUCT, 1600, 1024, 0 },
    { "item fc2", HETERO_FC, PRODUCT, 1024, 512, 0 },
    { "item fc3", HETERO_FC, PRODUCT, 512, 256, 0 },
    { "item fc4", HETERO_FC, PRODUCT, 256, 128, 0 },
    { "item fc5", HETERO_FC, PRODUCT, 128, 64, 0 },
    { "cos", HETERO_SIMILARITY, STREAM, 128, 1, 0 },
    { "loss", HETERO_LOSS, STREAM, 1, 1, 0 },
};

static const struct profile_row two_emb[] = {
    { "emb1", HETERO_EMBEDDING, LOOKUP, 300, 4800, 1e7 },
    { "pool1", HETERO_POOL, STREAM, 4800, 4800, 0 },
    { "emb2", HETERO_EMBEDDING, LOOKUP, 100, 1600, 1e6 },
    { "pool2", HETERO_POOL, STREAM, 1600, 1600, 0 },
    { "concat", HETERO_CONCAT, STREAM, 6400, 6400, 0 },
    { "fc1", HETERO_FC, PRODUCT, 6400, 512, 0 },
    { "fc2", HETERO_FC, PRODUCT, 512, 256, 0 },
    { "fc3", HETERO_FC, PRODUCT, 256, 64, 0 },
    { "fc4", HETERO_FC, PRODUCT, 64, 2, 0 },
    { "softmax", HETERO_LOSS, STREAM, 2, 2, 0 },
};

/* Noise is drawn once for a batch: 1024 rows of the words' table, a matrix for that batch. */
static const struct profile_row nce[] = {
    { "emb", HETERO_EMBEDDING, LOOKUP, 200, 3200, 1e6 }, { "pool", HETERO_POOL, STREAM, 3200, 3200, 0 },
    { "fc", HETERO_FC, PRODUCT, 3200, 512, 0 },          { "nce", HETERO_NCE, PRODUCT, 512, 1024, 1e6 },
    { "loss", HETERO_LOSS, STREAM, 1024, 1, 0 },
};

#define N_ROWS(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

static const struct {
    const struct profile_row *rows;
    int32_t n;
} models[N_HETERO_MODELS] = {
    [HETERO_CTRDNN] = { ctrdnn, N_ROWS(ctrdnn) },
    [HETERO_MATCHNET] = { matchnet, N_ROWS(matchnet) },
    [HETERO_2EMB] = { two_emb, N_ROWS(two_emb) },
    [HETERO_NCE5] = { nce, N_ROWS(nce) },
};

/* ---- filling ---- */

static void fill_layer(struct hetero_layer *l, const struct profile_row *r)
{
    double in = r->in, out = r->out, width = r->rule == LOOKUP ? out / in : in;
    snprintf(l->name, sizeof l->name, "%s", r->name);
    l->kind = r->kind;
    l->in_B = in * (r->rule == LOOKUP ? PROFILE_DRAW_ID_B : ELEMENT_B);
    l->out_B = out * ELEMENT_B;
    l->weight_B = ELEMENT_B * (r->rule == PRODUCT && !(r->table > 0) ? in * out : r->table * width);
    /* Pulled, and their gradients pushed. */
    l->sparse_B = r->rule == LOOKUP ? 2 * ELEMENT_B * out : 0;
}

static double example_s(const struct profile_row *r, const struct hetero_draw_unit *u)
{
    double in = r->in, out = r->out;
    if (r->rule == PRODUCT)
        return PRODUCT_FLOP * in * out / u->flops;
    /* Of a look-up the rows are what is read and written. */
    return PASSES * ELEMENT_B * (r->rule == LOOKUP ? 2 * out : in + out) / u->memory_Bps;
}

/* Communication of a batch inside a stage. */
static double sync_s(const struct profile_row *r, double batch, const struct hetero_draw_unit *u)
{
    double matrix_B = ELEMENT_B * r->in * r->out, rows_B = ELEMENT_B * r->out;
    if (r->rule == PRODUCT)
        return 2 * matrix_B / u->net_Bps; /* gradients out, sums in */
    return r->rule == LOOKUP ? batch * 2 * rows_B / u->lookup_Bps : 0;
}

static void fill_cells(struct hetero_profile *p, int32_t type, const struct profile_row *rows,
                       const struct hetero_draw_unit *u)
{
    for (int32_t i = 0; i < p->n_layers; i++) {
        size_t at = (size_t)i * (size_t)p->n_types + (size_t)type;
        p->compute_s[at] = p->batch * example_s(&rows[i], u);
        p->sync_s[at] = sync_s(&rows[i], p->batch, u);
        /* To look rows up is to hand them over: they are not moved once more. */
        if (rows[i].rule != LOOKUP)
            p->handover_s[at] = p->batch * p->layers[i].out_B / u->net_Bps;
    }
}

static void fill_type(struct hetero_type *t, const struct hetero_draw_unit *u)
{
    t->usd_per_h = u->usd_per_h;
    t->max_units = u->max_units;
    t->compute_par = u->compute_par;
    t->comm_par = u->comm_par;
    t->nic_Bps = u->net_Bps;
}

/* From the first GPU to GPU @p type. Each has its own stream, so that it is the same whatever is beside it.
 * Arithmetic and memory are faster or slower; servers, and so the network and limits, are alike. */
static int draw_gpu(struct hetero_draw_unit *u, uint64_t seed, int32_t type, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, seed, (uint64_t)type, e);
    if (rc)
        return rc;
    double speed = exp2(rng_range(r, -1, 1)), price = pow(speed, PRICE_POWER);
    rng_free(r);
    u->flops *= speed;
    u->memory_Bps *= speed;
    u->usd_per_h *= price;
    return 0;
}

/* Type 0 is the CPU core, type 1 the first GPU; further GPUs are drawn around it, each by its own stream, so
 * that more types leave the first ones as they were. */
static int draw_fill(struct hetero_profile *p, const struct hetero_draw *d, struct err *e)
{
    const struct profile_row *rows = models[d->model].rows;
    int rc = 0;
    p->batch = d->batch;
    snprintf(p->name, sizeof p->name, "%s", hetero_model_words[d->model]);
    for (int32_t i = 0; i < p->n_layers; i++)
        fill_layer(&p->layers[i], &rows[i]);
    for (int32_t t = 0; t < p->n_types && !rc; t++) {
        struct hetero_type *type = &p->types[t];
        struct hetero_draw_unit u = t ? d->gpu : d->cpu;
        type->cpu = t == 0;
        if (t < 2)
            snprintf(type->name, sizeof type->name, "%s", t ? "gpu" : "cpu");
        else {
            snprintf(type->name, sizeof type->name, "gpu%d", (int)t);
            rc = draw_gpu(&u, (uint64_t)d->seed, t, e);
        }
        fill_type(type, &u);
        fill_cells(p, t, rows, &u);
    }
    return rc ? rc : hetero_profile_check(p, e);
}

/* The four models of HeterPS's experiments with assumed sizes and speeds. */
int hetero_draw_profile(struct hetero_profile *p, const struct hetero_draw *d, struct err *e)
{
    assert((unsigned)d->model < N_HETERO_MODELS);
    *p = (struct hetero_profile){ 0 };
    int rc = hetero_profile_build(p, models[d->model].n, d->n_types, e);
    if (rc)
        return rc;
    rc = draw_fill(p, d, e);
    if (rc)
        hetero_profile_free(p);
    return rc;
}
