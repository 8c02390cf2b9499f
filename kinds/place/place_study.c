/*
 * One point of a placement study, read: its servers, what they cost, its schedulers, and notes of keys
 * without effect. What a model has of its own is read by that model.
 */
#include "kinds/place/place_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- keys ---- */

const char *const place_model_words[] = { "slots", "batch", "events", "interval", NULL };

/* What the study's keys are used for: models in the order of enum place_model, then schedulers of model
 * slots. */
enum {
    FOR_SLOTS = 1 << PLACE_SLOTS,
    FOR_BATCH = 1 << PLACE_BATCH,
    FOR_EVENTS = 1 << PLACE_EVENTS,
    FOR_INTERVAL = 1 << PLACE_INTERVAL,
    FOR_GADGET = 1 << N_PLACE_MODELS,
    FOR_LAS = 2 << N_PLACE_MODELS,
};
static const struct use study_key_uses[] = {
    { "by model slots" },    { "by model batch" },      { "by model events" },
    { "by model interval" }, { "by scheduler gadget" }, { "by scheduler las" },
};

/* Models whose jobs stand on servers that links join. */
#define ON_LINKS (FOR_SLOTS | FOR_EVENTS | FOR_BATCH)

#define T struct place_conf
static const struct key place_keys[] = {
    K_TEXT(T, name, "name", "what reports call the study"),
    K_REMARK("source", "where the study comes from"),
    K_WORD(T, model, "model", place_model_words, SCHEMA_NONE,
           "how jobs run: in time slots, as a batch, over time, or admitted to one interval",
           .required = true),
    K_NODE(T, network, "network",
           "what joins the servers: a network file, a word or a map, with bandwidths; or graph, or racks",
           .uses = ON_LINKS),
    K_NODE(T, parts, "parts", "prices of the network: a parts file or a map; absent: those of the network",
           .uses = ON_LINKS),
    K_TEXT(
        T, server, "server",
        "dimension of the network: it and those before it are inside a server; npu: each NPU is one; absent: "
        "the innermost, of several",
        .uses = ON_LINKS),
    K_TEXT(T, graph, "graph", "a GraphML or CSV file of the wires, whose NPUs are the servers",
           .uses = ON_LINKS),
    K_NODE(T, servers, "servers",
           "what each server offers, as { gpu: 8, cpu: 64 }, gpu first; absent: its NPUs as gpu",
           .uses = ON_LINKS),
    K_NODE(T, racks, "racks", "servers in racks, drawn anew for each seed, see racks", .uses = ON_LINKS),
    K_NODE(T, pool, "pool", "models batch and interval: what there is, without a network; see pool",
           .uses = FOR_BATCH | FOR_INTERVAL),
    K_NODE(T, jobs, "jobs", "what is to run; see the model's jobs"),
    K_NODE(T, schedulers, "schedulers", "list of schedulers; absent: all of the model"),
    K_NODE(T, gadget, "gadget", "how gadget works, see gadget", .uses = FOR_GADGET),
    K_NODE(T, las, "las", "how las works, see las", .uses = FOR_LAS),
    K_NODE(T, sjf_bco, "sjf_bco", "model batch: how plans are made, see sjf_bco", .uses = FOR_BATCH),
    K_NODE(T, smd, "smd", "model interval: how jobs are sized and admitted, see smd", .uses = FOR_INTERVAL),
    K_NODE(T, events, "events", "how jobs run, and how they share links, see events",
           .uses = FOR_EVENTS | FOR_BATCH),
    K_COUNT(T, slots, "slots", 1, ELASTIC_MAX_SLOTS, 200, "model slots: how many", .uses = FOR_SLOTS),
    K_COUNT(T, seeds, "seeds", 1, 100000, 1, "runs with different draws; figures are their means"),
    K_COUNT(T, seed, "seed", 0, 9e18, 1, "of the first run; the others follow by one"),
    K_ELSEWHERE("vary", "axes: KEY: [values] or KEY: { from, to, ... }, see vary"),
    K_ELSEWHERE("where", "linear constraints on values of axes: points outside are left out"),
    K_ELSEWHERE("keep", "which rows are kept; absent: all, see keep"),
};

K_SECTION(place_section, T, "placement study", place_keys,
          "jobs on a cluster under several schedulers, for weft place", K_USES(study_key_uses));
#undef T

static const struct place_ops *const models[N_PLACE_MODELS] = {
    [PLACE_SLOTS] = &place_slots,
    [PLACE_BATCH] = &place_batch,
    [PLACE_EVENTS] = &place_events,
    [PLACE_INTERVAL] = &place_interval,
};

const struct place_ops *place_ops_of(enum place_model model)
{
    return models[model];
}

/* ---- servers ---- */

/* A map of resource: amount; the first one is what workers run on. */
static int place_read_offer(struct place_servers *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    int rc = yaml_need(doc, map, YAML_MAP, e);
    if (!rc && (doc->nodes[map].n < 1 || doc->nodes[map].n > CLUSTER_MAX_RESOURCES))
        rc = yaml_fail(doc, map, e, ERR_RANGE, "has %d resources, need 1 to %d", (int)doc->nodes[map].n,
                       (int)CLUSTER_MAX_RESOURCES);
    if (rc)
        return rc;
    if (strcmp(doc->nodes[doc->nodes[map].first].key, "gpu") != 0)
        return yaml_fail_key(doc, doc->nodes[map].first, e, ERR_PARSE,
                             "is the first resource, need gpu first");
    s->n_resources = 0;
    yaml_each (id, doc, map) {
        double *x = &s->each[s->n_resources];
        s->names[s->n_resources++] = doc->nodes[id].key;
        rc = rc ? rc : yaml_real(doc, id, x, e);
        if (!rc && !(*x >= 0))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, need a number >= 0", *x);
    }
    return rc;
}

/* How many dimensions are inside a server. */
static int place_read_level(struct place_servers *s, const struct place_conf *conf,
                            const struct yaml_doc *doc, struct err *e)
{
    s->level = s->net.n_dims > 1;
    if (!conf->server)
        return 0;
    int32_t d = topo_find_dim(&s->net, conf->server);
    yaml_id at = yaml_get(doc, doc->root, "server");
    if (d < 0 && strcmp(conf->server, "npu") != 0)
        return yaml_fail(doc, at, e, ERR_PARSE, "is %s, need npu or a dimension of the network",
                         conf->server);
    if (d == s->net.n_dims - 1)
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "is %s, the outermost dimension, need one with others beyond it between servers",
                         conf->server);
    s->level = d + 1;
    return 0;
}

static int place_read_network(struct place_study *s, struct err *e)
{
    struct place_servers *v = &s->servers;
    const struct place_conf *conf = &s->conf;
    static const char *const gpu = "gpu";
    int rc = topo_read_network(&v->net, &s->doc, conf->network, e);
    if (!rc && !topo_has_bandwidths(&v->net))
        rc = yaml_fail(&s->doc, conf->network, e, ERR_RANGE,
                       "has a dimension without bandwidth, need bw_GBps in each");
    if (!rc)
        rc = place_read_level(v, conf, &s->doc, e);
    if (rc)
        return rc;
    v->has_network = true;
    v->n_resources = 1;
    v->names[0] = gpu;
    v->each[0] = 1;
    for (int32_t d = 0; d < v->level; d++)
        v->each[0] *= v->net.dims[d].size;
    return 0;
}

static int place_read_graph(struct place_study *s, struct err *e)
{
    struct text path = { 0 };
    yaml_id at = yaml_get(&s->doc, s->doc.root, "graph");
    if (s->conf.servers < 0)
        return yaml_fail(&s->doc, at, e, ERR_PARSE, "is without servers, need servers, such as { gpu: 8 }");
    yaml_beside(&path, &s->doc, at);
    int rc = text_check(&path, e);
    s->servers.graph_path = path.s;
    s->servers.graph = path.s;
    return rc;
}

static int place_read_servers(struct place_study *s, struct err *e)
{
    const struct place_conf *conf = &s->conf;
    int n = (conf->network >= 0) + (conf->graph != NULL) + (conf->racks >= 0), rc;
    bool pool = s->model == PLACE_INTERVAL || s->model == PLACE_BATCH;
    if (n > 1)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE,
                         "has more than one of network, graph and racks, need one");
    if (n == 0 && !pool)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "has no cluster, need network, graph or racks");
    if (n == 0 && s->model == PLACE_BATCH && conf->servers >= 0)
        return yaml_fail_key(&s->doc, conf->servers, e, ERR_PARSE,
                             "is without network and graph, need one of them, or pool.gpus");
    if (conf->server && conf->network < 0)
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, s->doc.root, "server"), e, ERR_PARSE,
                             "is without network, need the network that has the dimension");
    rc = conf->network >= 0 ? place_read_network(s, e) : conf->graph ? place_read_graph(s, e) : 0;
    if (!rc && conf->racks >= 0 && conf->servers >= 0)
        rc = yaml_fail_key(&s->doc, conf->servers, e, ERR_PARSE, "is given besides racks, need racks.gpus");
    if (!rc && conf->racks >= 0) {
        s->servers.drawn = true;
        rc = draw_read_racks(&s->servers.racks, &s->doc, conf->racks, e);
    }
    if (!rc && conf->servers >= 0)
        rc = place_read_offer(&s->servers, &s->doc, conf->servers, e);
    return rc;
}

bool place_has_servers(const struct place_study *s)
{
    return s->servers.has_network || s->servers.graph || s->servers.drawn;
}

/* Drawn ones by the seed. */
static int place_build_cluster(struct cluster *c, const struct place_study *s, int64_t seed, struct err *e)
{
    const struct place_servers *v = &s->servers;
    const struct cluster_offer offer = { v->n_resources, v->names, v->each, false };
    if (v->drawn)
        return draw_racks(c, &v->racks, seed, e);
    if (v->graph)
        return cluster_read(c, v->graph, &offer, e);
    return cluster_build(c, &v->net, v->level, &offer, e);
}

/* ---- price ---- */

/* The typical price of the whole network; a network without prices has none. */
static int place_read_price(struct place_study *s, struct err *e)
{
    struct topo_parts parts;
    struct topo_bill bill;
    double bw_Bps[TOPO_MAX_DIMS];
    s->network_usd = NAN;
    if (s->model == PLACE_INTERVAL) /* whatever it costs, nothing runs on it */
        return 0;
    yaml_id node = s->conf.parts >= 0 ? s->conf.parts : s->servers.has_network ? s->servers.net.parts : -1;
    if (node < 0)
        return 0;
    if (!s->servers.has_network)
        return yaml_fail_key(&s->doc, node, e, ERR_PARSE, "has no effect without network, need network");
    for (int32_t d = 0; d < s->servers.net.n_dims; d++)
        bw_Bps[d] = s->servers.net.dims[d].bw_Bps;
    int rc = topo_read_parts(&parts, &s->doc, node, e);
    if (rc)
        return rc;
    rc = topo_build_bill(&bill, &s->servers.net, &parts, bw_Bps, e);
    if (!rc)
        s->network_usd = bill.usd.typ;
    topo_bill_free(&bill);
    topo_parts_free(&parts);
    return rc;
}

/* ---- schedulers ---- */

static int place_find_scheduler(int32_t *out, const struct place_study *s, yaml_id id, struct err *e)
{
    const struct place_ops *k = place_ops_of(s->model);
    const char *names[PLACE_MAX_SCHEDULERS], *name;
    int32_t n = 0;
    int rc = yaml_text(&s->doc, id, &name, e);
    if (rc)
        return rc;
    for (; (names[n] = k->scheduler(n)) != NULL; n++)
        if (strcmp(names[n], name) == 0) {
            *out = n;
            return 0;
        }
    struct text list = { 0 };
    for (int32_t i = 0; i < n; i++)
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    const char *near = text_nearest(name, names, (size_t)n);
    rc = yaml_fail(&s->doc, id, e, ERR_PARSE, "is %.60s, need a scheduler of model %s: %s%s%s%s", name,
                   place_model_words[s->model], text_str(&list), near ? " (nearest: " : "", near ? near : "",
                   near ? ")" : "");
    text_free(&list);
    return rc;
}

static int place_read_schedulers(struct place_study *s, struct err *e)
{
    yaml_id list = s->conf.schedulers;
    for (; list < 0 && place_ops_of(s->model)->scheduler(s->n_schedulers); s->n_schedulers++)
        s->schedulers[s->n_schedulers] = s->n_schedulers;
    if (list < 0)
        return 0;
    int rc = yaml_need(&s->doc, list, YAML_SEQ, e);
    if (!rc && (s->doc.nodes[list].n < 1 || s->doc.nodes[list].n > PLACE_MAX_SCHEDULERS))
        rc = yaml_fail(&s->doc, list, e, ERR_RANGE, "is a list of %d, need 1 to %d schedulers",
                       (int)s->doc.nodes[list].n, (int)PLACE_MAX_SCHEDULERS);
    if (rc)
        return rc;
    yaml_each (id, &s->doc, list) {
        int32_t found = -1;
        rc = place_find_scheduler(&found, s, id, e);
        for (int32_t i = 0; i < s->n_schedulers && !rc; i++)
            if (s->schedulers[i] == found)
                rc = yaml_fail(&s->doc, id, e, ERR_PARSE, "is in the list twice, need it once");
        if (rc)
            return rc;
        s->schedulers[s->n_schedulers++] = found;
    }
    return 0;
}

/* ---- keys without effect ---- */

bool place_has_scheduler(const struct place_study *s, const char *name)
{
    for (int32_t i = 0; i < s->n_schedulers; i++)
        if (strcmp(place_ops_of(s->model)->scheduler(s->schedulers[i]), name) == 0)
            return true;
    return false;
}

/* Schedulers of other models may have the same names, and keys of their own. */
static uint64_t place_find_uses(const struct place_study *s)
{
    bool slots = s->model == PLACE_SLOTS;
    return 1U << s->model | (slots && place_has_scheduler(s, "gadget") ? FOR_GADGET : 0) |
           (slots && place_has_scheduler(s, "las") ? FOR_LAS : 0);
}

int place_read_section(struct place_study *s, const struct section *section, yaml_id map, struct err *e)
{
    schema_defaults(s, section);
    return map < 0 ? 0 : schema_read(s, section, &s->doc, map, e);
}

void place_note_unused(struct place_study *s, const struct section *section, yaml_id map, uint64_t active)
{
    if (map >= 0)
        schema_note_unused(&s->notes, section, &s->doc, map, s->own_source, active);
}

void place_note_key(struct place_study *s, yaml_id map, const char *key, const char *why)
{
    char place[400], path[256];
    yaml_id id = yaml_get(&s->doc, map, key);
    if (id >= 0)
        text_printf(&s->notes, "%s: %s has no effect here, %s\n",
                    yaml_key_place(&s->doc, id, place, sizeof place),
                    yaml_path(&s->doc, id, path, sizeof path), why);
}

/* ---- a run ---- */

int place_run_all(struct place_result *out, struct place_run *r, struct err *e)
{
    const struct place_study *s = r->study;
    const struct place_ops *ops = place_ops_of(s->model);
    int rc = 0;
    r->unit = ops->unit;
    r->own = calloc(1, ops->own_size);
    if (!r->own)
        return err_nomem(e, "jobs");
    if (s->model != PLACE_INTERVAL && place_has_servers(s)) {
        rc = place_build_cluster(&r->servers, s, r->seed, e);
        r->cluster = &r->servers;
    }
    if (!rc)
        rc = ops->open(r, e);
    for (int32_t i = 0; i < s->n_schedulers && !rc; i++) {
        r->which = s->schedulers[i];
        r->scheduler = ops->scheduler(r->which);
        rc = ops->run(&out[i], r, e);
    }
    ops->close(r->own);
    free(r->own);
    cluster_free(&r->servers);
    r->cluster = NULL;
    return rc;
}

/* ---- a point ---- */

static int place_read_point(struct place_study *s, struct err *e)
{
    int rc = schema_read(&s->conf, &place_section, &s->doc, s->doc.root, e);
    if (rc)
        return rc;
    s->model = (enum place_model)s->conf.model;
    if ((rc = place_read_servers(s, e)) || (rc = place_read_price(s, e)) ||
        (rc = place_read_schedulers(s, e)))
        return rc;
    place_note_unused(s, &place_section, s->doc.root, place_find_uses(s));
    if (s->servers.drawn)
        place_note_unused(s, &draw_racks_section, s->conf.racks, draw_racks_uses(s->model == PLACE_EVENTS));
    rc = place_ops_of(s->model)->read(s, e);
    return rc ? rc : text_check(&s->notes, e);
}

int place_study_read(struct place_study *s, const struct study_source *from, struct err *e)
{
    *s = (struct place_study){ .doc = { .root = -1 } };
    int rc = source_open(&s->doc, &s->own_source, from, e);
    if (rc)
        return rc;
    rc = source_fetch(&s->doc, s->own_source, from, e);
    if (!rc)
        rc = place_read_point(s, e);
    if (rc)
        place_study_free(s);
    return rc;
}

void place_study_free(struct place_study *s)
{
    free(s->servers.graph_path);
    free(s->trace.path);
    free(s->trace.profile);
    text_free(&s->notes);
    yaml_free(&s->doc);
    *s = (struct place_study){ .doc = { .root = -1 } };
}
