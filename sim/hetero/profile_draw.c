#include "sim/hetero/profile_draw.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/rng.h"

const char *const hetero_model_words[] = { "ctrdnn", "matchnet", "2emb", "nce", NULL };

/* ---- the models ---- */

/* fp32; ids are 64-bit hashes. */
#define ELEMENT_B 4.0
#define ID_B      8.0
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
struct row {
    const char *name;
    enum hetero_kind kind;
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
static const struct row ctrdnn[] = {
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
static const struct row matchnet[] = {
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

static const struct row two_emb[] = {
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
static const struct row nce[] = {
    { "emb", HETERO_EMBEDDING, LOOKUP, 200, 3200, 1e6 }, { "pool", HETERO_POOL, STREAM, 3200, 3200, 0 },
    { "fc", HETERO_FC, PRODUCT, 3200, 512, 0 },          { "nce", HETERO_NCE, PRODUCT, 512, 1024, 1e6 },
    { "loss", HETERO_LOSS, STREAM, 1024, 1, 0 },
};

#define N_ROWS(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

static const struct {
    const struct row *rows;
    int32_t n;
} models[N_HETERO_MODELS] = {
    [HETERO_CTRDNN] = { ctrdnn, N_ROWS(ctrdnn) },
    [HETERO_MATCHNET] = { matchnet, N_ROWS(matchnet) },
    [HETERO_2EMB] = { two_emb, N_ROWS(two_emb) },
    [HETERO_NCE5] = { nce, N_ROWS(nce) },
};

struct hetero_draw hetero_draw_default(void)
{
    return (struct hetero_draw){
        .model = HETERO_CTRDNN,
        .n_types = 2,
        .seed = 1,
        .batch = 4096,
        /* Ids lie on the cores' own servers; to a GPU they come over PCIe from others. */
        .cpu = { .flops = 2e10,
                 .memory_Bps = 4e9,
                 .lookup_Bps = 2e9,
                 .net_Bps = 2e9,
                 .usd_per_h = 0.04,
                 .compute_par = 0.97,
                 .comm_par = 0.95,
                 .max_units = 256 },
        .gpu = { .flops = 7e12,
                 .memory_Bps = 4e11,
                 .lookup_Bps = 3e8,
                 .net_Bps = 12.5e9,
                 .usd_per_h = 2.42,
                 .compute_par = 0.995,
                 .comm_par = 0.90,
                 .max_units = 64 },
    };
}

/* ---- filling ---- */

static void fill_layer(struct hetero_layer *l, const struct row *r)
{
    double in = r->in, out = r->out, width = r->rule == LOOKUP ? out / in : in;
    snprintf(l->name, sizeof l->name, "%s", r->name);
    l->kind = r->kind;
    l->in_B = in * (r->rule == LOOKUP ? ID_B : ELEMENT_B);
    l->out_B = out * ELEMENT_B;
    l->weight_B = ELEMENT_B * (r->rule == PRODUCT && !(r->table > 0) ? in * out : r->table * width);
    /* Pulled, and their gradients pushed. */
    l->sparse_B = r->rule == LOOKUP ? 2 * ELEMENT_B * out : 0;
}

static double example_s(const struct row *r, const struct hetero_draw_unit *u)
{
    double in = r->in, out = r->out;
    if (r->rule == PRODUCT)
        return PRODUCT_FLOP * in * out / u->flops;
    /* Of a look-up the rows are what is read and written. */
    return PASSES * ELEMENT_B * (r->rule == LOOKUP ? 2 * out : in + out) / u->memory_Bps;
}

/* Communication of a batch inside a stage. */
static double sync_s(const struct row *r, double batch, const struct hetero_draw_unit *u)
{
    double matrix_B = ELEMENT_B * r->in * r->out, rows_B = ELEMENT_B * r->out;
    if (r->rule == PRODUCT)
        return 2 * matrix_B / u->net_Bps; /* gradients out, sums in */
    return r->rule == LOOKUP ? batch * 2 * rows_B / u->lookup_Bps : 0;
}

static void fill_cells(struct hetero_profile *p, int32_t type, const struct row *rows,
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

static int check_unit(const struct hetero_draw_unit *u, const char *name, struct err *e)
{
    const struct {
        const char *name;
        double x;
    } rates[] = { { "flops", u->flops },
                  { "memory_Bps", u->memory_Bps },
                  { "lookup_Bps", u->lookup_Bps },
                  { "net_Bps", u->net_Bps } };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (!(isfinite(rates[i].x) && rates[i].x > 0))
            return err_set(e, ERR_RANGE, "%s: %s is %g, need > 0", name, rates[i].name, rates[i].x);
    return 0;
}

static int fill(struct hetero_profile *p, const struct hetero_draw *d, struct err *e)
{
    const struct row *rows = models[d->model].rows;
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
            rc = draw_gpu(&u, d->seed, t, e);
        }
        fill_type(type, &u);
        fill_cells(p, t, rows, &u);
    }
    return rc ? rc : hetero_profile_check(p, e);
}

int hetero_draw_profile(struct hetero_profile *p, const struct hetero_draw *d, struct err *e)
{
    assert((unsigned)d->model < N_HETERO_MODELS);
    *p = (struct hetero_profile){ 0 };
    if (d->n_types < 2 || d->n_types > HETERO_MAX_TYPES)
        return err_set(e, ERR_RANGE, "types: are %d, need 2 to %d", d->n_types, HETERO_MAX_TYPES);
    int rc = check_unit(&d->cpu, "cpu", e);
    if (!rc)
        rc = check_unit(&d->gpu, "gpu", e);
    if (!rc)
        rc = hetero_profile_build(p, models[d->model].n, d->n_types, e);
    if (rc)
        return rc;
    rc = fill(p, d, e);
    if (rc)
        hetero_profile_free(p);
    return rc;
}
