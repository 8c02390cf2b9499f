/*
 * What a site holds follows from the network and `system` alone: a machine is read, its bill made and its
 * items added up, at no time of a step.
 */
#include "kinds/design/explore/fill.h"

#include <math.h>
#include <string.h>

#include "base/linexpr.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/answer/columns.h"
#include "study/keep.h"

/* What limits may be about: columns that are known before a step is. */
enum { WATT_SITE, WATT_PEAK, WATT_MEAN, USD_YEAR, RACKS, RACKS_NETWORK, COST_USD, N_SITE };
static const char *const site_names[N_SITE] = {
    [WATT_SITE] = DESIGN_COLUMN_IN(system, watt_site),
    [WATT_PEAK] = DESIGN_COLUMN_IN(system, watt_peak),
    [WATT_MEAN] = DESIGN_COLUMN_IN(system, watt_mean),
    [USD_YEAR] = DESIGN_COLUMN_IN(system, usd_year),
    [RACKS] = DESIGN_COLUMN_IN(system, racks),
    [RACKS_NETWORK] = DESIGN_COLUMN_IN(system, racks_network),
    [COST_USD] = DESIGN_COLUMN(cost_usd),
};

struct site_limit {
    const char *text; /* as written, of the study's document */
    double coef[N_SITE], rhs;
    enum linexpr_sense sense;
};

/* By how much a machine misses the limit that it misses most. */
struct site_miss {
    double frac; /* of the limit; NAN: it misses none, INFINITY: it has no such sum */
    double sum;  /* NAN likewise */
    const struct site_limit *limit;
    struct sweep_point p;
};

struct site {
    const struct study *study;
    struct source_cache cache;
    struct site_limit limits[KEEP_MAX_LIMITS];
    int32_t n;
    bool any;                 /* machine was within */
    struct site_miss nearest; /* of those that were not; limit NULL: none yet */
};

/* Limits on anything else are about designs, not about the site. */
static void fill_read_limits(struct site *site, const struct yaml_doc *doc)
{
    yaml_id list = yaml_get(doc, yaml_get(doc, doc->root, "keep"), "where");
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return;
    yaml_each (id, doc, list) {
        struct site_limit l = { .rhs = 0 };
        struct linexpr line = { .coef = l.coef };
        struct err ignored;
        if (site->n == KEEP_MAX_LIMITS || doc->nodes[id].kind != YAML_SCALAR ||
            linexpr_parse(&line, doc->nodes[id].text, site_names, N_SITE, &ignored))
            continue;
        l.sense = line.sense;
        l.rhs = line.rhs;
        l.text = doc->nodes[id].text;
        site->limits[site->n++] = l;
    }
}

static bool asks_for(const struct site *site, int32_t first, int32_t last)
{
    bool asks = false;
    for (int32_t i = 0; i < site->n; i++)
        for (int32_t k = first; k <= last; k++)
            asks = asks || site->limits[i].coef[k] != 0;
    return asks;
}

/* A sum that leaves something out is a lower bound, which fills nothing. A network that cannot be built has
 * none. */
static int check_known(const struct site *site, const struct design_point *s, const struct system *x,
                       struct err *e)
{
    if (!asks_for(site, WATT_SITE, RACKS_NETWORK))
        return 0;
    if (!s->has_system)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_RANGE,
                         "has no system, by which count: max could fill a site; give system");
    if (isnan(x->racks) || !(x->lacks_network || x->lacks_watts))
        return 0;
    return yaml_fail_key(&s->doc, s->maps.system, e, ERR_RANGE,
                         "cannot fill a site, as count: max asks: left out is %s", x->omits);
}

static int fill_measure(double at[N_SITE], const struct site *site, const struct design_point *s,
                        struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct system x = { .racks = NAN };
    if (!topo_has_bandwidths(&s->net))
        return yaml_fail_key(&s->doc, s->maps.network, e, ERR_RANGE,
                             "leaves bandwidths open; count: max asks for all of them");
    topo_get_bandwidths(bw_Bps, &s->net);
    for (int32_t i = 0; i < N_SITE; i++)
        at[i] = NAN;
    at[COST_USD] = asks_for(site, COST_USD, COST_USD) ? design_point_usd(s, bw_Bps, NULL) : (double)NAN;
    int rc = s->has_system ? system_build(&x, s, (struct system_of){ .bw_Bps = bw_Bps, .time_s = 1 }, e) : 0;
    rc = rc ? rc : check_known(site, s, &x, e);
    if (!rc && s->has_system) {
        at[WATT_PEAK] = x.cost.watt_peak;
        at[WATT_SITE] = x.cost.watt_peak * s->system.terms.pue;
        at[WATT_MEAN] = x.cost.watt_mean;
        at[USD_YEAR] = x.cost.total;
        at[RACKS] = x.racks;
        at[RACKS_NETWORK] = x.racks_network;
    }
    if (s->has_system)
        system_free(&x);
    return rc;
}

static struct site_miss find_miss(const struct site *site, const double at[N_SITE])
{
    struct site_miss most = { .frac = NAN };
    for (int32_t i = 0; i < site->n; i++) {
        const struct site_limit *l = &site->limits[i];
        double sum = 0, size = 0;
        for (int32_t k = 0; k < N_SITE; k++) {
            sum += l->coef[k] == 0 ? 0 : l->coef[k] * at[k];
            size += l->coef[k] == 0 ? 0 : fabs(l->coef[k] * at[k]);
        }
        if (!isnan(sum) && linexpr_holds(l->sense, l->rhs, sum, size))
            continue;
        double frac = isnan(sum) ? INFINITY : fabs(sum - l->rhs) / fmax(fabs(l->rhs), 1e-9);
        if (!(most.frac >= frac))
            most = (struct site_miss){ .frac = frac, .sum = sum, .limit = l };
    }
    return most;
}

/* Is the site of a point within all limits? One that cannot be built is not. */
static int fill_is_within(void *data, const struct sweep_point *p, bool *within, struct err *e)
{
    struct site *site = data;
    struct study_override axes[SWEEP_MAX_KEYS];
    struct study_source from = study_source_at(axes, site->study, p);
    struct design_point s;
    double at[N_SITE];
    from.cache = &site->cache;
    int rc = design_point_read(&s, &from, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e);
    if (rc)
        return rc;
    rc = fill_measure(at, site, &s, e);
    design_point_free(&s);
    if (rc)
        return rc;
    struct site_miss miss = find_miss(site, at);
    *within = !miss.limit;
    site->any = site->any || *within;
    miss.p = *p;
    if (miss.limit && (!site->nearest.limit || miss.frac < site->nearest.frac))
        site->nearest = miss;
    return 0;
}

/* Of a site on which not even the least machine of any combination stands: the one that misses it by least.
 */
static int fail_empty(const struct site *site, const struct sweep_key *key, const struct yaml_doc *doc,
                      struct err *e)
{
    const struct site_miss *x = &site->nearest;
    const struct sweep *w = &site->study->sweep;
    if (isnan(x->sum))
        return yaml_fail_key(doc, key->at, e, ERR_RANGE,
                             "has count: max, and no machine of any size can be had by its parts");
    struct text at = { 0 };
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = sweep_value(w, &x->p, k);
        if (value && strncmp(w->keys[k].path, "network", 7) == 0)
            text_printf(&at, "%s%s %s", at.n ? ", " : "", w->keys[k].path, value);
    }
    int rc = text_check(&at, e);
    if (!rc)
        rc = yaml_fail_key(doc, key->at, e, ERR_RANGE,
                           "has count: max, and nothing is within keep.where: by \"%s\" the nearest machine "
                           "(%s) has %.6g, %.6g beyond the limit; move it, or give smaller counts",
                           x->limit->text, text_str(&at), x->sum, fabs(x->sum - x->limit->rhs));
    text_free(&at);
    return rc;
}

int fill_site(struct study *s, const struct yaml_doc *doc, struct err *e)
{
    /* What no power, rack or price depends on. */
    static const char *const ignored[] = { "workload", "model", "simulation", NULL };
    struct site site = { .study = s };
    const struct sweep_key *key = sweep_filled_key(&s->sweep);
    if (!key)
        return 0;
    fill_read_limits(&site, doc);
    int rc = site.n ? sweep_fill_axes(&s->sweep, ignored, fill_is_within, &site, doc, e)
                    : yaml_fail_key(doc, key->at, e, ERR_RANGE,
                                    "has count: max, and keep.where no limit on the site; give one such as "
                                    "\"%s <= 20e6\"",
                                    site_names[WATT_SITE]);
    if (!rc && !site.any)
        rc = fail_empty(&site, key, doc, e);
    source_cache_free(&site.cache);
    return rc;
}
