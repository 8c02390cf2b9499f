/* The types of resources of a study: prices, limits, shares that units divide. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/hetero/hetero_point.h"

int hetero_copy_name(char out[HETERO_NAME], const struct hetero_point *p, yaml_id map, const char *name,
                     struct err *e)
{
    yaml_id at = yaml_get(&p->doc, map, "name");
    if (strlen(name) >= HETERO_NAME)
        return yaml_fail(&p->doc, at, e, ERR_RANGE, "is %.60s.., need at most %d bytes", name,
                         HETERO_NAME - 1);
    snprintf(out, HETERO_NAME, "%s", name);
    return 0;
}

int hetero_find_type(int32_t *out, const struct hetero_type *types, int32_t n, const struct yaml_doc *doc,
                     yaml_id id, const char *name, struct err *e)
{
    const char *names[HETERO_MAX_TYPES];
    struct text list = { 0 };
    for (int32_t t = 0; t < n; t++) {
        names[t] = types[t].name;
        if (strcmp(names[t], name) == 0) {
            text_free(&list);
            *out = t;
            return 0;
        }
        text_printf(&list, "%s%s", t ? ", " : "", names[t]);
    }
    const char *near = text_nearest(name, names, (size_t)n);
    int rc = yaml_fail(doc, id, e, ERR_PARSE, "is %.60s, need one of the types: %.400s%s%s%s", name,
                       text_str(&list), near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
    text_free(&list);
    return rc;
}

/* A share that is given, or one from the ratio of a probe; one of them, exactly. */
static int read_share(double *share, struct hetero_point *p, yaml_id map, const char *name, double given,
                      const struct hetero_probe_conf *probe, double ratio, struct err *e)
{
    char place[400];
    if (isnan(given) == isnan(ratio))
        return yaml_fail(&p->doc, map, e, ERR_PARSE,
                         "has %s for %s, need the share that units divide or a probe",
                         isnan(given) ? "nothing" : "both a share and a probe", name);
    *share = given;
    if (!isnan(given))
        return 0;
    *share = hetero_parallel_frac(1, ratio, probe->units);
    /* What no share can tell: units that are faster together than alone, or slower than one of them. */
    if (ratio < 1 / (double)probe->units || ratio > 1)
        text_printf(&p->notes,
                    "%s: a probe of %lld units with ratio %g for %s is beyond what a share can be, it is "
                    "taken as %g\n",
                    yaml_place(&p->doc, map, place, sizeof place), (long long)probe->units, ratio, name,
                    *share);
    return 0;
}

static int read_shares(struct hetero_type *t, struct hetero_point *p, yaml_id map,
                       const struct hetero_type_conf *x, struct err *e)
{
    struct hetero_probe_conf probe;
    schema_defaults(&probe, &hetero_probe_section);
    int rc = x->probe < 0 ? 0 : schema_read(&probe, &hetero_probe_section, &p->doc, x->probe, e);
    if (!rc)
        rc = read_share(&t->compute_par, p, map, "compute", x->compute_par, &probe, probe.compute_ratio, e);
    if (!rc)
        rc = read_share(&t->comm_par, p, map, "communication", x->comm_par, &probe, probe.comm_ratio, e);
    return rc;
}

static int read_type(struct hetero_types *all, struct hetero_point *p, yaml_id map, struct err *e)
{
    struct hetero_type *t = &all->of[all->n];
    struct hetero_type_conf *x = &all->conf[all->n];
    *t = (struct hetero_type){ .host = -1, .nic_Bps = INFINITY };
    int rc = schema_read(x, &hetero_type_section, &p->doc, map, e);
    if (!rc)
        rc = hetero_copy_name(t->name, p, map, x->name, e);
    for (int32_t k = 0; k < all->n && !rc; k++)
        if (strcmp(all->of[k].name, t->name) == 0)
            rc = yaml_fail(&p->doc, yaml_get(&p->doc, map, "name"), e, ERR_PARSE,
                           "is %s, the name of a type before it, need another", t->name);
    if (!rc && (x->host != NULL) != (x->host_units > 0))
        rc = yaml_fail(&p->doc, map, e, ERR_PARSE, "has %s, need both host and host_units, or neither",
                       x->host ? "host alone" : "host_units alone");
    if (rc)
        return rc;
    t->cpu = x->cpu;
    t->usd_per_h = x->usd_per_h;
    t->mem_B = isnan(x->mem_B) ? 0 : x->mem_B;
    t->max_units = x->max_units;
    t->host_units = x->host ? x->host_units : 0;
    if (!isnan(x->nic_Bps))
        t->nic_Bps = x->nic_Bps;
    return read_shares(t, p, map, x, e);
}

/* Once all names are known. */
static int find_host(struct hetero_types *all, const struct hetero_point *p, int32_t i, struct err *e)
{
    const char *host = all->conf[i].host;
    yaml_id at = yaml_get(&p->doc, all->maps[i], "host");
    if (!host)
        return 0;
    int rc = hetero_find_type(&all->of[i].host, all->of, all->n, &p->doc, at, host, e);
    if (!rc && all->of[i].host == i)
        rc = yaml_fail(&p->doc, at, e, ERR_RANGE, "is %s itself, need another type", host);
    /* What a host's host costs would not be counted. */
    if (!rc && all->conf[all->of[i].host].host)
        rc = yaml_fail(&p->doc, at, e, ERR_RANGE, "is %s, which has a host itself, need a type without one",
                       host);
    return rc;
}

int hetero_read_types(struct hetero_types *all, struct hetero_point *p, struct err *e)
{
    all->n = 0;
    int rc = hetero_need_list(p, p->conf.types, "types", HETERO_MAX_TYPES, e);
    if (rc)
        return rc;
    yaml_each (map, &p->doc, p->conf.types) {
        all->maps[all->n] = map;
        rc = read_type(all, p, map, e);
        if (rc)
            return rc;
        hetero_note_unused(p, &hetero_type_section, map);
        all->n++;
    }
    for (int32_t i = 0; i < all->n && !rc; i++)
        rc = find_host(all, p, i, e);
    return rc;
}
