#include "sim/hetero/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hetero_kind_words[] = { "embedding",  "pool", "concat", "fc", "nce",
                                          "similarity", "loss", "block",  NULL };

int hetero_profile_build(struct hetero_profile *p, int32_t n_layers, int32_t n_types, struct err *e)
{
    *p = (struct hetero_profile){ .n_layers = n_layers, .n_types = n_types, .batch = 1 };
    if (n_layers < 1 || n_layers > HETERO_MAX_LAYERS)
        return err_set(e, ERR_RANGE, "layers: are %d, need 1 to %d", n_layers, HETERO_MAX_LAYERS);
    if (n_types < 1 || n_types > HETERO_MAX_TYPES)
        return err_set(e, ERR_RANGE, "types: are %d, need 1 to %d", n_types, HETERO_MAX_TYPES);
    size_t cells = (size_t)n_layers * (size_t)n_types;
    p->layers = calloc((size_t)n_layers, sizeof *p->layers);
    p->types = calloc((size_t)n_types, sizeof *p->types);
    p->compute_s = calloc(cells, sizeof *p->compute_s);
    p->sync_s = calloc(cells, sizeof *p->sync_s);
    p->handover_s = calloc(cells, sizeof *p->handover_s);
    if (!p->layers || !p->types || !p->compute_s || !p->sync_s || !p->handover_s) {
        hetero_profile_free(p);
        return err_nomem(e, "a profile of layers");
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
    free(p->layers);
    free(p->types);
    free(p->compute_s);
    free(p->sync_s);
    free(p->handover_s);
    *p = (struct hetero_profile){ 0 };
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1;
}

static int check_host(const struct hetero_profile *p, int32_t t, struct err *e)
{
    const struct hetero_type *x = &p->types[t];
    if (x->host < -1 || x->host >= p->n_types || x->host == t)
        return err_set(e, ERR_RANGE, "types[%d] '%s': its host is %lld units of type %d, need another type",
                       t, x->name, (long long)x->host_units, x->host);
    if (x->host_units < 0 || x->host_units > HETERO_MAX_UNITS)
        return err_set(e, ERR_RANGE, "types[%d] '%s': its host is %lld units of type %d, need 0 to %d", t,
                       x->name, (long long)x->host_units, x->host, HETERO_MAX_UNITS);
    if (x->host >= 0 && p->types[x->host].host >= 0)
        return err_set(e, ERR_RANGE, "types[%d] '%s': its host '%s' has a host itself, need one without", t,
                       x->name, p->types[x->host].name);
    return 0;
}

static int check_type(const struct hetero_profile *p, int32_t t, struct err *e)
{
    const struct hetero_type *x = &p->types[t];
    if (!(isfinite(x->usd_per_h) && x->usd_per_h >= 0))
        return err_set(e, ERR_RANGE, "types[%d] '%s': price is %g USD/h, need >= 0", t, x->name,
                       x->usd_per_h);
    if (!is_share(x->compute_par) || !is_share(x->comm_par))
        return err_set(e, ERR_RANGE, "types[%d] '%s': parallel share is %g, need 0 to 1", t, x->name,
                       is_share(x->compute_par) ? x->comm_par : x->compute_par);
    if (x->max_units < 1 || x->max_units > HETERO_MAX_UNITS)
        return err_set(e, ERR_RANGE, "types[%d] '%s': units are %lld, need 1 to %d", t, x->name,
                       (long long)x->max_units, HETERO_MAX_UNITS);
    if (!(x->nic_Bps > 0))
        return err_set(e, ERR_RANGE, "types[%d] '%s': bandwidth is %g B/s, need > 0", t, x->name, x->nic_Bps);
    return check_host(p, t, e);
}

static int check_cell(const struct hetero_profile *p, int32_t layer, int32_t t, struct err *e)
{
    size_t at = (size_t)layer * (size_t)p->n_types + (size_t)t;
    const double seconds[] = { p->compute_s[at], p->sync_s[at], p->handover_s[at] };
    static const char *const what[] = { "compute", "synchronisation", "handover" };
    for (int i = 0; i < 3; i++)
        if (!(isfinite(seconds[i]) && seconds[i] >= 0))
            return err_set(e, ERR_RANGE, "layers[%d] '%s' on '%s': %s is %g s, need >= 0", layer,
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

int hetero_profile_check(const struct hetero_profile *p, struct err *e)
{
    int rc = 0;
    bool work = false;
    if (!(isfinite(p->batch) && p->batch > 0))
        return err_set(e, ERR_RANGE, "batch: is %g examples, need > 0", p->batch);
    for (int32_t t = 0; t < p->n_types && !rc; t++)
        rc = check_type(p, t, e);
    for (int32_t l = 0; l < p->n_layers && !rc; l++) {
        for (int32_t t = 0; t < p->n_types && !rc; t++)
            rc = check_cell(p, l, t, e);
        work = work || is_work(p, l);
    }
    /* Else a plan might take no time at all. */
    if (!rc && !work)
        rc = err_set(e, ERR_RANGE, "layers: each takes no time on some type, need one that does on all");
    return rc;
}

double hetero_parallel_frac(double one_s, double k_s, int64_t k)
{
    double share = (1 - k_s / one_s) / (1 - 1 / (double)k);
    return fmin(1, fmax(0, share));
}
