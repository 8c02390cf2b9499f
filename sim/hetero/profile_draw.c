#include "sim/hetero/profile_draw.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/rng.h"

const char *const hetero_model_words[] = { "ctrdnn", "matchnet", "2emb", "nce", NULL };

/* ---- the models ---- */

/* Elements and ids in files of training data: fp32, 64-bit hashes. */
#define ELEMENT_B 4.0
#define ID_B      8.0
/* Of a product, forward and both backward, each 2 m n. */
#define PRODUCT_FLOP 6.0
/* Elements are read and written once forward and once backward. */
#define PASSES 2.0

/* What a layer's time follows from. */
enum rule {
    LOOKUP,  /* rows of a table; `out` holds `in` of them */
    STREAM,  /* bound by memory: in read, out written, and back */
    PRODUCT, /* a matrix of in x out weights */
    NOISE,   /* a vector of in against `out` rows of a table, looked up for each example */
};

/* Of one example. */
struct row {
    const char *name;
    enum hetero_kind kind;
    enum rule rule;
    int32_t in, out; /* elements; of a look-up: ids, elements */
    double table;    /* rows to look up in */
};

/* Widths of the products of CTRDNN, and 500 ids in rows of 16, are the generator's; one id in each of 500
 * slots, so that pooling leaves all 8000. */
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

/* A user's tower (ten ids in each of 20 slots), an item's (ten in each of 10), one after the other. */
static const struct row matchnet[] = {
    { "user emb", HETERO_EMBEDDING, LOOKUP, 200, 12800, 1e7 },
    { "user pool", HETERO_POOL, STREAM, 12800, 1280, 0 },
    { "user fc1", HETERO_FC, PRODUCT, 1280, 1024, 0 },
    { "user fc2", HETERO_FC, PRODUCT, 1024, 512, 0 },
    { "user fc3", HETERO_FC, PRODUCT, 512, 256, 0 },
    { "user fc4", HETERO_FC, PRODUCT, 256, 128, 0 },
    { "user fc5", HETERO_FC, PRODUCT, 128, 64, 0 },
    { "item emb", HETERO_EMBEDDING, LOOKUP, 100, 6400, 1e6 },
    { "item pool", HETERO_POOL, STREAM, 6400, 640, 0 },
    { "item fc1", HETERO_FC, PRODUCT, 640, 1024, 0 },
    { "item fc2", HETERO_FC, PRODUCT, 1024, 512, 0 },
    { "item fc3", HETERO_FC, PRODUCT, 512, 256, 0 },
    { "item fc4", HETERO_FC, PRODUCT, 256, 128, 0 },
    { "item fc5", HETERO_FC, PRODUCT, 128, 64, 0 },
    { "cos", HETERO_SIMILARITY, STREAM, 128, 1, 0 },
    { "loss", HETERO_LOSS, STREAM, 1, 1, 0 },
};

static const struct row two_emb[] = {
    { "emb1", HETERO_EMBEDDING, LOOKUP, 300, 4800, 1e7 },
    { "pool1", HETERO_POOL, STREAM, 4800, 2400, 0 },
    { "emb2", HETERO_EMBEDDING, LOOKUP, 100, 1600, 1e6 },
    { "pool2", HETERO_POOL, STREAM, 1600, 800, 0 },
    { "concat", HETERO_CONCAT, STREAM, 3200, 3200, 0 },
    { "fc1", HETERO_FC, PRODUCT, 3200, 1024, 0 },
    { "fc2", HETERO_FC, PRODUCT, 1024, 512, 0 },
    { "fc3", HETERO_FC, PRODUCT, 512, 128, 0 },
    { "fc4", HETERO_FC, PRODUCT, 128, 2, 0 },
    { "softmax", HETERO_LOSS, STREAM, 2, 2, 0 },
};

static const struct row nce[] = {
    { "emb", HETERO_EMBEDDING, LOOKUP, 100, 12800, 1e6 },
    { "pool", HETERO_POOL, STREAM, 12800, 1280, 0 },
    { "fc", HETERO_FC, PRODUCT, 1280, 128, 0 },
    { "nce", HETERO_NCE, NOISE, 128, 65, 1e6 },
    { "loss", HETERO_LOSS, STREAM, 65, 1, 0 },
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

/* Elements of rows that one example looks up. */
static double looked_up(const struct row *r)
{
    return r->rule == LOOKUP ? r->out : r->rule == NOISE ? (double)r->in * r->out : 0;
}

static void fill_layer(struct hetero_layer *l, const struct row *r)
{
    double width = r->rule == LOOKUP ? (double)r->out / r->in : r->in;
    snprintf(l->name, sizeof l->name, "%s", r->name);
    l->kind = r->kind;
    l->in_B = r->in * (r->rule == LOOKUP ? ID_B : ELEMENT_B);
    l->out_B = r->out * ELEMENT_B;
    l->weight_B = ELEMENT_B * (r->rule == PRODUCT ? (double)r->in * r->out : r->table * width);
    l->sparse_B = 2 * ELEMENT_B * looked_up(r);
}

static double compute_s(const struct row *r, const struct hetero_draw_unit *u)
{
    double flop = PRODUCT_FLOP * r->in * r->out;
    double moved_B = PASSES * ELEMENT_B * ((double)r->in + r->out);
    double rows_B = PASSES * ELEMENT_B * 2 * looked_up(r);
    switch (r->rule) {
    case LOOKUP:
        return rows_B / u->memory_Bps;
    case STREAM:
        return moved_B / u->memory_Bps;
    case PRODUCT:
        return flop / u->flops;
    case NOISE:
        return fmax(flop / u->flops, rows_B / u->memory_Bps);
    }
    return 0;
}

static void fill_cells(struct hetero_profile *p, int32_t type, const struct row *rows,
                       const struct hetero_draw_unit *u)
{
    for (int32_t i = 0; i < p->n_layers; i++) {
        const struct hetero_layer *l = &p->layers[i];
        size_t at = (size_t)i * (size_t)p->n_types + (size_t)type;
        p->compute_s[at] = p->batch * compute_s(&rows[i], u);
        p->sync_s[at] = p->batch * l->sparse_B / u->lookup_Bps;
        /* Gradients out, new weights in. */
        if (rows[i].rule == PRODUCT)
            p->sync_s[at] = 2 * l->weight_B / u->net_Bps;
        /* Looking rows up is handing them over: they are not moved twice. */
        if (rows[i].rule != LOOKUP)
            p->handover_s[at] = p->batch * l->out_B / u->net_Bps;
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

/* How GPU @p type differs from the first one: its own stream, so that it is the same with more types beside
 * it. Its servers and their network are the first one's. */
static int draw_gpu(struct hetero_draw_unit *u, uint64_t seed, int32_t type, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, seed, (uint64_t)type, e);
    if (rc)
        return rc;
    double speed = exp2(rng_range(r, -1, 1));
    rng_free(r);
    u->flops *= speed;
    u->memory_Bps *= speed;
    u->usd_per_h *= pow(speed, 0.8);
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
