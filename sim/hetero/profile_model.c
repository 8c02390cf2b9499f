#include "sim/hetero/profile_model.h"

#include <math.h>
#include <stdio.h>

#include "workloads/block.h"
#include "workloads/roofline.h"

/* A token or a row is named by 64 bits. Tables hold fp32, as workloads/memory.c counts them, and what is
 * pooled from them is handed on in it, as workloads/plan_cost.c does. */
#define ID_B  8.0
#define ROW_B 4.0
/* Pulled and pushed; gradients out and sums in, which is also what many members of a ring each send. */
#define BOTH_WAYS 2.0
/* plan.micro is a whole number, exact in a double. */
#define MAX_BATCH 1e9

/* A layer, and the model that consists of it alone: block_cost() counts whole ones. */
struct part {
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

static void add_part(struct writing *w, const struct part *x)
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
    struct part x = { .layer = { .kind = HETERO_FC,
                                 .in_B = ROOFLINE_ELEMENT_B * (double)in + beside_B,
                                 .out_B = ROOFLINE_ELEMENT_B * (double)out + beside_B,
                                 .weight_B = weight_B },
                      .dense_B = weight_B,
                      .alone = &alone,
                      .block = BLOCK_HEAD };
    set_name(x.layer.name, name, number);
    add_part(w, &x);
}

/* ---- transformer ---- */

static void add_transformer(struct writing *w, const struct model *m)
{
    double wide_B = ROOFLINE_ELEMENT_B * (double)m->seq * (double)m->hidden;
    double table_B = ROOFLINE_ELEMENT_B * model_vocab(m, 1) * (double)m->hidden;
    struct part x = { .layer = { .kind = HETERO_EMBEDDING,
                                 .in_B = ID_B * (double)m->seq,
                                 .out_B = wide_B,
                                 .weight_B = ROOFLINE_ELEMENT_B * model_embed_params(m, 1),
                                 .sparse_B = BOTH_WAYS * wide_B },
                      .alone = m,
                      .block = BLOCK_EMBED };
    x.dense_B = x.layer.weight_B - table_B; /* positions */
    set_name(x.layer.name, "embedding", 0);
    add_part(w, &x);
    for (int64_t i = 0; i < m->layers; i++) {
        bool experts = model_has_experts(m, i);
        struct model_share params = model_layer_params(m, experts, 1, 1, 1);
        x.layer = (struct hetero_layer){ .kind = HETERO_BLOCK, .in_B = wide_B, .out_B = wide_B };
        x.dense_B = x.layer.weight_B = ROOFLINE_ELEMENT_B * (params.dense + params.expert);
        x.block = experts ? BLOCK_EXPERTS : BLOCK_DENSE;
        set_name(x.layer.name, "layer", i + 1);
        add_part(w, &x);
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
    add_part(w, &x);
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
    struct part tables = { .layer = { .kind = HETERO_EMBEDDING,
                                      .in_B = ID_B * r->lookups + dense_in_B,
                                      .out_B = pooled_B + dense_in_B,
                                      .weight_B = ROW_B * r->rows * (double)r->dim,
                                      .sparse_B = BOTH_WAYS * ROW_B * r->lookups * (double)r->dim },
                           .alone = &alone,
                           .block = BLOCK_EMBED };
    set_name(tables.layer.name, "tables", 0);
    add_part(w, &tables);
    for (int32_t i = 1; i < r->n_bottom; i++)
        add_linear(w, "bottom", i, r->bottom[i - 1], r->bottom[i], pooled_B);

    double top_in = model_dlrm_top_input(m), cross_B = ROOFLINE_ELEMENT_B * model_dlrm_dense_params(&alone);
    struct part meet = { .layer = { .kind = HETERO_BLOCK,
                                    .in_B = ROOFLINE_ELEMENT_B * (double)r->dim + pooled_B,
                                    .out_B = ROOFLINE_ELEMENT_B * top_in,
                                    .weight_B = cross_B },
                         .dense_B = cross_B,
                         .alone = &alone,
                         .block = BLOCK_HEAD };
    set_name(meet.layer.name, "interaction", 0);
    add_part(w, &meet);
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
        struct part x = { .layer = { .kind = HETERO_BLOCK,
                                     .in_B = ROOFLINE_ELEMENT_B * pixels * (double)v->in,
                                     .out_B = ROOFLINE_ELEMENT_B * pixels * (double)v->out,
                                     .weight_B = weight_B },
                          .dense_B = weight_B,
                          .alone = &alone,
                          .block = BLOCK_HEAD,
                          .without = &linear };
        for (int64_t k = 0; k < v->times; k++) {
            set_name(x.layer.name, "conv", ++number);
            add_part(w, &x);
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

static int check_units(int32_t n_types, const struct hetero_type *types, const struct topo_npu *npus,
                       const double *net_Bps, struct err *e)
{
    for (int32_t t = 0; t < n_types; t++) {
        const struct {
            const char *name;
            double x;
        } rates[] = { { "peak_flops", npus[t].peak_flops },
                      { "mem_Bps", npus[t].mem_Bps },
                      { "net_Bps", net_Bps[t] } };
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
            if (!(rates[i].x > 0))
                return err_set(e, ERR_RANGE, "types[%d] '%s': %s is %g, need > 0", t, types[t].name,
                               rates[i].name, rates[i].x);
    }
    return 0;
}

int hetero_profile_of_model(struct hetero_profile *p, const struct model *m, double batch, int32_t n_types,
                            const struct hetero_type *types, const struct topo_npu *npus,
                            const double *net_Bps, struct err *e)
{
    *p = (struct hetero_profile){ 0 };
    int64_t n_layers = count_layers(m);
    if (!(batch >= 1 && batch <= MAX_BATCH && batch == floor(batch)))
        return err_set(e, ERR_RANGE, "batch: is %g examples, need a whole number from 1 to %g", batch,
                       MAX_BATCH);
    if (n_layers > HETERO_MAX_LAYERS)
        return err_set(e, ERR_RANGE, "model '%s' has %lld layers, need at most %d", m->name,
                       (long long)n_layers, HETERO_MAX_LAYERS);
    int rc = check_units(n_types, types, npus, net_Bps, e);
    if (!rc)
        rc = hetero_profile_build(p, (int32_t)n_layers, n_types, e);
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
