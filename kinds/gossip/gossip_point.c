#include "kinds/gossip/gossip_point.h"

#include <math.h>
#include <stdlib.h>

#include "workloads/group.h"

int gossip_read_section(void *out, const struct section *s, const struct gossip_point *p, yaml_id map,
                        struct err *e)
{
    schema_defaults(out, s);
    return map < 0 ? 0 : schema_read(out, s, &p->doc, map, e);
}

/* ---- network ---- */

static int check_bandwidths(const struct gossip_point *p, struct err *e)
{
    const struct topo_network *net = &p->fabric.net;
    for (int32_t d = 0; d < net->n_dims; d++)
        if (isnan(net->dims[d].bw_Bps))
            return yaml_fail(&p->doc, p->conf.network, e, ERR_RANGE,
                             "has no bandwidth in dimension %s, need bw_GBps", net->dims[d].name);
    return 0;
}

/* Workers are the first NPUs, and a box of them. */
static int place_workers(struct gossip_point *p, struct err *e)
{
    struct gossip_fabric *f = &p->fabric;
    yaml_id at = yaml_get(&p->doc, p->doc.root, "workers");
    int64_t n = p->conf.workers < 0 ? f->net.n_npus : p->conf.workers;
    int32_t sizes[TOPO_MAX_DIMS];
    char place[400];
    if (n > f->net.n_npus)
        return yaml_fail(&p->doc, at, e, ERR_RANGE, "is %lld, need at most %lld, the NPUs of the network",
                         (long long)n, (long long)f->net.n_npus);
    if (n > GOSSIP_MAX_WORKERS)
        return yaml_fail(&p->doc, p->conf.network, e, ERR_RANGE,
                         "has %lld NPUs, need workers, at most %d of them", (long long)n, GOSSIP_MAX_WORKERS);
    for (int32_t d = 0; d < f->net.n_dims; d++)
        sizes[d] = f->net.dims[d].size;
    f->n_workers = (int32_t)n;
    int rc = group_fill(f->members, sizes, f->net.n_dims, n, e);
    return rc ? err_wrap(e, "%s: workers", yaml_place(&p->doc, at, place, sizeof place)) : 0;
}

static int place_server(struct gossip_point *p, struct err *e)
{
    struct gossip_fabric *f = &p->fabric;
    yaml_id at = yaml_get(&p->doc, p->doc.root, "server");
    f->server = p->conf.server >= 0 ? p->conf.server : f->n_workers < f->net.n_npus ? f->n_workers : 0;
    if (f->server < f->net.n_npus)
        return 0;
    return yaml_fail(&p->doc, at, e, ERR_RANGE, "is %lld, need an NPU of the network, 0 to %lld",
                     (long long)f->server, (long long)f->net.n_npus - 1);
}

static int read_fabric(struct gossip_point *p, struct err *e)
{
    struct gossip_fabric *f = &p->fabric;
    int rc = topo_read_network(&f->net, &p->doc, p->conf.network, e);
    if (!rc)
        rc = check_bandwidths(p, e);
    if (!rc)
        rc = place_workers(p, e);
    if (!rc)
        rc = place_server(p, e);
    f->rules = stage_rules_plain;
    f->rules.chunks = (int32_t)p->conf.chunks;
    f->rules.endpoint_s = p->conf.endpoint_s;
    f->rung = (enum gossip_rung)p->conf.rung;
    f->share = 1;
    return rc;
}

/* A dimension that need_pct asks for alone. A run has all of every bandwidth, whosever share is asked for. */
static int read_need(struct gossip_point *p, struct err *e)
{
    struct topo_network *net = &p->fabric.net;
    const char *name = p->conf.need_dim, *names[TOPO_MAX_DIMS];
    if (!name)
        return 0;
    p->fabric.share_dim = topo_find_dim(net, name) + 1;
    if (p->fabric.share_dim > 0)
        return 0;
    for (int32_t d = 0; d < net->n_dims; d++)
        names[d] = net->dims[d].name;
    const char *near = text_nearest(name, names, (size_t)net->n_dims);
    return yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "need_dim"), e, ERR_PARSE,
                     "is %.60s, need a dimension of the network%s%s", name,
                     near ? ", such as " : ", the first is ", near ? near : names[0]);
}

/* ---- the clock ---- */

static int read_clock(struct gossip_point *p, struct err *e)
{
    struct gossip_clock_conf x;
    int rc = gossip_read_section(&x, &gossip_clock_section, p, p->conf.clock, e);
    if (!rc && x.slow_workers > p->fabric.n_workers)
        rc = yaml_fail(&p->doc, yaml_get(&p->doc, p->conf.clock, "slow_workers"), e, ERR_RANGE,
                       "is %lld, need at most %d, the workers", (long long)x.slow_workers,
                       p->fabric.n_workers);
    p->clock = (struct gossip_clock){ .step_s = x.step_s,
                                      .jitter = x.jitter,
                                      .n_slow = (int32_t)x.slow_workers,
                                      .slowdown = x.slowdown,
                                      .pause_prob = x.pause_prob,
                                      .pause_factor = x.pause_factor,
                                      .stale = x.stale,
                                      .overlap = x.overlap };
    return rc;
}

/* ---- what a worker stands for ---- */

static int refuse_beside_job(const struct gossip_point *p, yaml_id map, const char *key, struct err *e)
{
    yaml_id at = yaml_get(&p->doc, map, key);
    if (at < 0 || yaml_is_null(&p->doc, at))
        return 0;
    return yaml_fail_key(&p->doc, at, e, ERR_PARSE, "is given with job, need one of them");
}

/* As `weft alloc` tells that a plan does not fit, and goes on. */
static void note_memory(struct gossip_point *p)
{
    char place[400];
    if (p->job.missing_B > 0)
        text_printf(&p->notes, "%s: job does not fit: it lacks %.3g GB of memory on one NPU\n",
                    yaml_key_place(&p->doc, p->conf.job, place, sizeof place), p->job.missing_B / 1e9);
}

static int read_job(struct gossip_point *p, struct err *e)
{
    if (p->conf.job < 0)
        return 0;
    int rc = refuse_beside_job(p, p->doc.root, "model_MB", e);
    if (!rc)
        rc = refuse_beside_job(p, p->conf.clock, "step_ms", e);
    if (!rc)
        rc = gossip_job_read(&p->job, &p->doc, p->conf.job, &p->fabric.net.npu, e);
    if (rc)
        return rc;
    p->clock.step_s = p->job.step_s;
    p->model_B = p->job.model_B;
    note_memory(p);
    return 0;
}

double gossip_point_wire_B(const struct gossip_point *p)
{
    return p->model_B > 0 ? p->model_B : 4.0 * p->net.n_params;
}

/* ---- keys without effect ---- */

static void note_idle(struct gossip_point *p, yaml_id map, const char *key, bool idle, const char *only)
{
    yaml_id at = yaml_get(&p->doc, map, key);
    char place[400], path[200];
    if (at >= 0 && idle)
        text_printf(&p->notes, "%s: %s has no effect here, it is used only %s\n",
                    yaml_key_place(&p->doc, at, place, sizeof place),
                    yaml_path(&p->doc, at, path, sizeof path), only);
}

static void note_unused(struct gossip_point *p, const struct section *s, yaml_id map)
{
    if (map >= 0)
        schema_note_unused(&p->notes, s, &p->doc, map, p->own_source, p->uses);
}

static void note_all(struct gossip_point *p)
{
    const struct gossip_conf *c = &p->conf;
    note_unused(p, &gossip_section, p->doc.root);
    note_unused(p, &gossip_learner_section, c->learner);
    note_unused(p, &gossip_data_section, c->data);
    note_idle(p, c->learner, "momentum", p->learning.optimizer != GOSSIP_SGD, "by optimizer sgd");
    note_idle(p, p->doc.root, "need_dim", isnan(c->need_pct), "with need_pct");
    note_idle(p, c->clock, "slowdown", p->clock.n_slow == 0, "with slow_workers");
    note_idle(p, c->clock, "pause_factor", !(p->clock.pause_prob > 0), "with pause_prob");
}

/* ---- a point ---- */

struct gossip_setup gossip_point_setup(const struct gossip_point *p)
{
    return (struct gossip_setup){ .net = &p->net,
                                  .drift_at = p->drift_at,
                                  .learning = p->learning,
                                  .clock = p->clock,
                                  .fabric = &p->fabric,
                                  .model_B = p->model_B };
}

static int read_point(struct gossip_point *p, struct err *e)
{
    const struct gossip_conf *c = &p->conf;
    int rc = schema_read(&p->conf, &gossip_section, &p->doc, p->doc.root, e);
    if (rc)
        return rc;
    p->drift_at = isnan(c->drift_at) ? 1 : c->drift_at;
    p->model_B = isnan(c->model_B) ? 0 : c->model_B;
    p->sharding = (enum gossip_sharding)c->shards;
    p->equal_frac = c->equal_points / 100;
    if ((rc = read_fabric(p, e)) || (rc = read_need(p, e)) || (rc = gossip_point_learner(p, e)) ||
        (rc = read_clock(p, e)) || (rc = read_job(p, e)) || (rc = gossip_point_methods(p, e)))
        return rc;
    note_all(p);
    return text_check(&p->notes, e);
}

int gossip_point_read(struct gossip_point *p, const struct study_source *from, struct err *e)
{
    *p = (struct gossip_point){ .doc = { .root = -1 } };
    int rc = study_open(&p->doc, &p->own_source, from, e);
    if (rc)
        return rc;
    rc = study_fetch(&p->doc, p->own_source, from, e);
    if (!rc)
        rc = read_point(p, e);
    if (rc)
        gossip_point_free(p);
    return rc;
}

void gossip_point_close(struct gossip_point *p)
{
    yaml_free(&p->doc);
}

void gossip_point_free(struct gossip_point *p)
{
    for (int32_t i = 0; i < p->n_entries; i++)
        free(p->entries[i].label);
    free(p->entries);
    free(p->train_csv);
    free(p->test_csv);
    free(p->label);
    text_free(&p->notes);
    yaml_free(&p->doc);
    *p = (struct gossip_point){ .doc = { .root = -1 } };
}
