/* The profile of a study: drawn, measured layer by layer, or of a model on NPUs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/hetero/hetero_point.h"
#include "sim/hetero/profile.h"

/* Who finds fault with a profile does not know where it is written. */
static int wrap(const struct hetero_point *p, int rc, struct err *e)
{
    char place[400];
    yaml_id at = p->conf.layers >= 0 ? p->conf.layers : p->conf.model;
    return rc ? err_wrap(e, "%s", yaml_place(&p->doc, at, place, sizeof place)) : 0;
}

/* ---- drawn ---- */

static int read_unit(struct hetero_draw_unit *u, const struct section *s, const struct yaml_doc *doc,
                     yaml_id map, struct err *e)
{
    schema_defaults(u, s);
    return map < 0 ? 0 : schema_read(u, s, doc, map, e);
}

static int draw_profile(struct hetero_point *p, struct err *e)
{
    struct hetero_draw_conf x;
    schema_defaults(&x, &hetero_draw_section);
    int rc = p->conf.draw < 0 ? 0 : schema_read(&x, &hetero_draw_section, &p->doc, p->conf.draw, e);
    struct hetero_draw d = { .model = (enum hetero_model)p->drawn,
                             .n_types = (int32_t)x.types,
                             .seed = (uint64_t)x.seed,
                             .batch = isnan(p->conf.batch) ? hetero_draw_default().batch : p->conf.batch };
    if (!rc)
        rc = read_unit(&d.cpu, &hetero_draw_cpu_section, &p->doc, x.cpu, e);
    if (!rc)
        rc = read_unit(&d.gpu, &hetero_draw_gpu_section, &p->doc, x.gpu, e);
    if (!rc)
        rc = wrap(p, hetero_draw_profile(&p->profile, &d, e), e);
    for (int32_t t = 0; t < HETERO_MAX_TYPES; t++)
        p->dims[t] = -1;
    return rc;
}

/* ---- measured ---- */

/* A map of type: milliseconds that has every type; @p cells: the layer's row, shape [n_types], seconds. */
static int read_times(double *cells, const struct hetero_point *p, yaml_id map, struct err *e)
{
    const struct hetero_profile *f = &p->profile;
    int rc = yaml_need(&p->doc, map, YAML_MAP, e);
    if (rc)
        return rc;
    yaml_each (id, &p->doc, map) {
        int32_t t = 0;
        double ms = 0;
        rc = hetero_find_type(&t, f->types, f->n_types, &p->doc, id, p->doc.nodes[id].key, e);
        if (!rc)
            rc = yaml_real(&p->doc, id, &ms, e);
        if (!rc && !(ms >= 0 && ms <= 1e12))
            rc = yaml_fail(&p->doc, id, e, ERR_RANGE, "is %g ms, need 0 to 1e12", ms);
        if (rc)
            return rc;
        cells[t] = ms * 1e-3;
    }
    for (int32_t t = 0; t < f->n_types; t++)
        if (yaml_get(&p->doc, map, f->types[t].name) < 0)
            return yaml_fail(&p->doc, map, e, ERR_PARSE, "is without type %s, need a time for each type",
                             f->types[t].name);
    return 0;
}

static int read_layer(struct hetero_point *p, int32_t i, yaml_id map, struct err *e)
{
    struct hetero_layer_conf x;
    struct hetero_layer *l = &p->profile.layers[i];
    size_t at = (size_t)i * (size_t)p->profile.n_types;
    int rc = schema_read(&x, &hetero_layer_section, &p->doc, map, e);
    if (rc)
        return rc;
    hetero_note_unused(p, &hetero_layer_section, map);
    snprintf(l->name, sizeof l->name, "layer%d", (int)i + 1);
    l->kind = (enum hetero_kind)x.kind;
    l->in_B = x.in_B;
    l->out_B = x.out_B;
    l->weight_B = x.weight_B;
    l->sparse_B = x.sparse_B;
    rc = x.name ? hetero_copy_name(l->name, p, map, x.name, e) : 0;
    if (!rc)
        rc = read_times(p->profile.compute_s + at, p, x.compute_s, e);
    if (!rc && x.comm_s >= 0)
        rc = read_times(p->profile.sync_s + at, p, x.comm_s, e);
    if (!rc && x.handover_s >= 0)
        rc = read_times(p->profile.handover_s + at, p, x.handover_s, e);
    return rc;
}

static int read_layers(struct hetero_point *p, const struct hetero_types *types, struct err *e)
{
    int rc = hetero_need_list(p, p->conf.layers, "layers", HETERO_MAX_LAYERS, e);
    if (!rc)
        rc = hetero_profile_build(&p->profile, p->doc.nodes[p->conf.layers].n, types->n, e);
    if (rc)
        return rc;
    memcpy(p->profile.types, types->of, (size_t)types->n * sizeof *types->of);
    p->profile.batch = p->conf.batch;
    snprintf(p->profile.name, sizeof p->profile.name, "%.47s", p->conf.name ? p->conf.name : "layers");
    int32_t i = 0;
    yaml_each (map, &p->doc, p->conf.layers)
        if (!rc)
            rc = read_layer(p, i++, map, e);
    return rc;
}

/* ---- a model on NPUs ---- */

static int read_npu(struct topo_npu *npu, const struct hetero_types *types, int32_t i,
                    const struct hetero_point *p, struct err *e)
{
    const struct hetero_type_conf *x = &types->conf[i];
    if (x->npu < 0 || isnan(x->net_Bps))
        return yaml_fail(&p->doc, types->maps[i], e, ERR_PARSE,
                         "is without %s, need npu and net_GBps for a model of a file",
                         x->npu < 0 ? "npu" : "net_GBps");
    int rc = topo_read_npu(npu, &p->doc, x->npu, e);
    if (!rc && !(npu->peak_flops > 0 && npu->mem_Bps > 0))
        rc = yaml_fail_key(&p->doc, x->npu, e, ERR_PARSE,
                           "is without %s, need peak_TFLOPS and mem_GBps for a model of a file",
                           npu->peak_flops > 0 ? "mem_GBps" : "peak_TFLOPS");
    return rc;
}

static int derive_profile(struct hetero_point *p, struct hetero_types *types, struct err *e)
{
    struct model m;
    struct topo_npu npus[HETERO_MAX_TYPES];
    double net_Bps[HETERO_MAX_TYPES];
    int rc = model_read(&m, &p->doc, p->conf.model, e);
    for (int32_t t = 0; t < types->n && !rc; t++) {
        net_Bps[t] = types->conf[t].net_Bps;
        rc = read_npu(&npus[t], types, t, p, e);
        if (!rc && isnan(types->conf[t].mem_B) && npus[t].mem_B > 0)
            types->of[t].mem_B = npus[t].mem_B;
    }
    if (rc)
        return rc;
    rc = hetero_profile_of_model(&p->profile, &m, p->conf.batch, types->n, types->of, npus, net_Bps, e);
    return wrap(p, rc, e);
}

/* ---- any ---- */

/* Of profiles with types of their own. */
static int read_given(struct hetero_point *p, struct err *e)
{
    struct hetero_types types;
    if (p->conf.types < 0)
        return yaml_fail(&p->doc, p->doc.root, e, ERR_PARSE, "is without types, need the types of resources");
    if (isnan(p->conf.batch))
        return yaml_fail(&p->doc, p->doc.root, e, ERR_PARSE,
                         "is without batch, need the examples that a profile's times are for");
    int rc = hetero_read_types(&types, p, e);
    if (!rc)
        rc = p->origin == HETERO_MEASURED ? read_layers(p, &types, e) : derive_profile(p, &types, e);
    for (int32_t t = 0; t < types.n && !rc; t++)
        p->dims[t] = types.conf[t].dim ? yaml_get(&p->doc, types.maps[t], "dim") : -1;
    return rc;
}

int hetero_point_profile(struct hetero_point *p, struct err *e)
{
    int rc = p->origin == HETERO_DRAWN ? draw_profile(p, e) : read_given(p, e);
    return rc ? rc : wrap(p, hetero_profile_check(&p->profile, e), e);
}
