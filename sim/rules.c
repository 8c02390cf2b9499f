#include "sim/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "topo/graph.h"
#include "topo/uses.h"

const char *const sim_model_words[N_SIM_MODELS + 1] = {
    [SIM_BANDWIDTH] = "bandwidth",
    [SIM_ALPHA_BETA] = "alpha-beta",
    [SIM_CHUNK] = "chunk",
    [SIM_FLOW] = "flow",
};
const char *sim_latency_word(enum sim_model model)
{
    return model > SIM_ALPHA_BETA ? "latency, fill and queues" : "latency";
}

const char *const sim_order_words[N_SIM_ORDERS + 1] = {
    [SIM_ORDER_FIXED] = "fixed",   [SIM_ORDER_GIVEN] = "given", [SIM_ORDER_THEMIS] = "themis",
    [SIM_ORDER_MINMAX] = "minmax", [SIM_ORDER_GUARD] = "guard",
};
const char *const sim_queue_words[N_SIM_QUEUES + 1] = {
    [SIM_QUEUE_FIFO] = "fifo",
    [SIM_QUEUE_LIFO] = "lifo",
    [SIM_QUEUE_SMALLEST] = "smallest-first",
};
const char *const sim_semantics_words[N_SIM_SEMANTICS + 1] = {
    [SIM_PHYSICAL] = "physical",
    [SIM_ASTRA2] = "astra-sim-2",
    [SIM_ASTRA2_AWARE] = "astra-sim-2-aware",
};
const char *const sim_route_words[N_SIM_ROUTES + 1] = {
    [SIM_ROUTE_DIMENSION] = "dimension",
    [SIM_ROUTE_SHORTEST] = "shortest",
    [SIM_ROUTE_ECMP] = "ecmp",
};

static const char *const reduction_words[] = { "free", "memory", NULL };

/* The map as written. */
struct rules_conf {
    int64_t chunks, active_chunks;
    double endpoint_s;
    int32_t reduction, order, queue, semantics, route;
    yaml_id algorithms, dims_order, slow, links, graph;
};

struct slow_conf {
    yaml_id at;
    const char *dim;
    double share, late_s;
};

#define ROW(conf, key, field, what, text)                                                                    \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field)
#define COUNT(key, field, least, most, none, use, text)                                                      \
    {                                                                                                        \
        ROW(rules_conf, key, field, KEY_COUNT, text), .unit = "", .scale = 1, .min = least, .max = most,     \
                                                      .dflt = none                                           \
    }
#define WORD(key, field, list, none, use, text)                                                              \
    {                                                                                                        \
        ROW(rules_conf, key, field, KEY_WORD, text), .unit = "", .words = list, .dflt = none, .uses = use    \
    }
#define NODE(conf, key, field, use, text)                                                                    \
    {                                                                                                        \
        ROW(conf, key, field, KEY_NODE, text), .unit = "", .uses = use                                       \
    }

/* Less of a link is none. */
#define SIM_LEAST_SHARE 1e-6

/* preferred-dataset-splits of ASTRA-sim's example systems. Each more pays every latency once more. */
enum { DEFAULT_CHUNKS = 4, MAX_ACTIVE = 1024 };

static const struct key rules_keys[] = {
    COUNT("chunks", chunks, 1, STAGE_MAX_CHUNKS, DEFAULT_CHUNKS, USE_LATENCY,
          "equal pieces of a collective that pass the dimensions one behind the other"),
    NODE(rules_conf, "algorithms", algorithms, USE_LATENCY,
         "list of algorithms, one per dimension, in place of dims.algorithm; words as there"),
    { ROW(rules_conf, "endpoint_ns", endpoint_s, KEY_REAL, "overhead of an NPU per message"), .unit = "ns",
      .scale = 1e-9, .min = 0, .max = 1e9, .dflt = 0, .uses = USE_LATENCY },
    WORD("reduction", reduction, reduction_words, 0, USE_LATENCY,
         "what adding up costs: nothing, or two reads and a write of npu.mem_GBps"),
    WORD("order", order, sim_order_words, SIM_ORDER_GUARD, USE_CHUNK | USE_FLOW,
         "order of the dimensions: of model chunk any, guard simulates fixed, themis and minmax and takes "
         "the best; of model flow fixed or given"),
    NODE(rules_conf, "dims_order", dims_order, USE_CHUNK | USE_FLOW,
         "order given: names of all dimensions, in the order of a reduce-scatter"),
    WORD("queue", queue, sim_queue_words, SIM_QUEUE_SMALLEST, USE_CHUNK,
         "model chunk: which waiting chunk a free dimension takes"),
    COUNT("active_chunks", active_chunks, 1, MAX_ACTIVE, 1, USE_CHUNK | USE_FLOW,
          "chunks that a dimension works on at a time"),
    WORD("semantics", semantics, sim_semantics_words, SIM_PHYSICAL, USE_CHUNK,
         "model chunk: chunks in flight share bandwidth, or the arithmetic of ASTRA-sim 2 to the nanosecond, "
         "without or with (aware) contention"),
    WORD("route", route, sim_route_words, SIM_ROUTE_DIMENSION, USE_FLOW,
         "model flow: how flows find their way; with graph: shortest unless ecmp"),
    NODE(rules_conf, "graph", graph, USE_FLOW,
         "model flow: a GraphML or CSV file of the wires, whose NPUs have the addresses of the network in "
         "their order; "
         "absent: the network's own"),
    NODE(rules_conf, "links", links, USE_FLOW,
         "model flow: list of links that failed or lost bandwidth, see simulation.links"),
    NODE(rules_conf, "slow", slow, USE_CHUNK | USE_FLOW,
         "list of NPUs that are slower than the others, or late; see simulation.slow"),
};

static const struct key slow_keys[] = {
    { ROW(slow_conf, "at", at, KEY_NODE,
          "address, innermost dimension first, counted from 0; \"*\" for every one"),
      .unit = "", .required = true },
    { ROW(slow_conf, "dim", dim, KEY_TEXT, "only in this dimension; absent: in all"), .unit = "" },
    { ROW(slow_conf, "share", share, KEY_REAL, "of the dimension's bandwidth that they have"), .unit = "",
      .scale = 1, .min = 1e-6, .max = 1, .dflt = 1 },
    { ROW(slow_conf, "late_us", late_s, KEY_REAL, "they join every collective so much later"), .unit = "us",
      .scale = 1e-6, .min = 0, .max = 1e9, .dflt = 0 },
};

#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = {                                                                              \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0], STUDY_USES        \
    }

SECTION(sim_rules_section, "simulation", "how models other than bandwidth run collectives", rules_keys);
/* An entry of links as written. */
struct links_conf {
    const char *from, *to, *dim;
    double share;
};

static const struct key links_keys[] = {
    { ROW(links_conf, "from", from, KEY_TEXT,
          "a vertex, as weft topo --graphml names it: npu12, switch-pod-3"),
      .unit = "" },
    { ROW(links_conf, "to", to, KEY_TEXT, "the other end; either direction"), .unit = "" },
    { ROW(links_conf, "dim", dim, KEY_TEXT, "instead of both: all links of this dimension"), .unit = "" },
    { ROW(links_conf, "share", share, KEY_REAL, "of the bandwidth that is left; 0: failed"), .unit = "",
      .scale = 1, .min = 0, .max = 1, .dflt = SCHEMA_NONE, .required = true },
};

SECTION(sim_links_section, "simulation.links", "links that failed or lost bandwidth", links_keys);
SECTION(sim_slow_section, "simulation.slow", "NPUs that are slower than the others, or late", slow_keys);

void sim_rules_default(struct sim_rules *r)
{
    *r = (struct sim_rules){ .stage = { .chunks = DEFAULT_CHUNKS, .mem_Bps = INFINITY },
                             .order = SIM_ORDER_GUARD,
                             .queue = SIM_QUEUE_SMALLEST,
                             .active = 1 };
}

/* A list with an entry per dimension; @p what says so. */
static int need_per_dim(const struct topo_network *net, const struct yaml_doc *doc, yaml_id list,
                        const char *what, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && doc->nodes[list].n != net->n_dims)
        rc = yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need %d, %s", (int)doc->nodes[list].n,
                       (int)net->n_dims, what);
    return rc;
}

static int read_algorithms(struct topo_network *net, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = need_per_dim(net, doc, list, "one per dimension", e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        struct topo_dim *dim = &net->dims[doc->nodes[id].index];
        struct err inner = { 0 };
        const char *word;
        int32_t a = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (topo_algorithm_words[a] && strcmp(topo_algorithm_words[a], word) != 0)
            a++;
        if (a == N_TOPO_ALGORITHMS) {
            const char *near = text_nearest(word, topo_algorithm_words, N_TOPO_ALGORITHMS);
            return yaml_fail(doc, id, e, ERR_PARSE,
                             "is \"%.40s\", need an algorithm as in dims.algorithm%s%s%s", word,
                             near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
        }
        if (topo_check_algorithm(dim, (enum topo_algorithm)a, &inner))
            return yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
        dim->algorithm = (enum topo_algorithm)a;
    }
    return 0;
}

static int read_dims_order(struct sim_rules *r, const struct topo_network *net, const struct yaml_doc *doc,
                           yaml_id list, struct err *e)
{
    bool seen[TOPO_MAX_DIMS] = { false };
    int rc = need_per_dim(net, doc, list, "every dimension once", e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        const char *name;
        if ((rc = yaml_text(doc, id, &name, e)))
            return rc;
        int32_t d = topo_find_dim(net, name);
        if (d < 0 || seen[d])
            return yaml_fail(doc, id, e, ERR_RANGE, "is \"%.48s\", need %s", name,
                             d < 0 ? "the name of a dimension" : "every dimension once");
        seen[d] = true;
        r->dims_order[doc->nodes[id].index] = d;
    }
    return 0;
}

static int read_address(struct sim_slow *s, const struct topo_network *net, const struct yaml_doc *doc,
                        yaml_id list, struct err *e)
{
    int rc = need_per_dim(net, doc, list, "one per dimension", e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        int32_t d = doc->nodes[id].index;
        int64_t a;
        s->at[d] = -1;
        if (doc->nodes[id].kind == YAML_SCALAR && strcmp(doc->nodes[id].text, "*") == 0)
            continue;
        if ((rc = yaml_count(doc, id, &a, e)))
            return rc;
        if (a < 0 || a >= net->dims[d].size)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, need 0 to %d, or \"*\"", (long long)a,
                             (int)net->dims[d].size - 1);
        s->at[d] = (int32_t)a;
    }
    return 0;
}

static int read_slow(struct sim_rules *r, const struct topo_network *net, const struct yaml_doc *doc,
                     yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n > SIM_MAX_SLOW)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need at most %d", (int)doc->nodes[list].n,
                         SIM_MAX_SLOW);
    yaml_each (id, doc, list) {
        struct slow_conf conf;
        struct sim_slow *s = &r->slow[r->n_slow++];
        if ((rc = schema_read(&conf, &sim_slow_section, doc, id, e)) ||
            (rc = read_address(s, net, doc, conf.at, e)))
            return rc;
        s->share = conf.share;
        s->late_s = conf.late_s;
        s->dim = conf.dim ? topo_find_dim(net, conf.dim) : -1;
        if (conf.dim && s->dim < 0)
            return yaml_fail(doc, yaml_get(doc, id, "dim"), e, ERR_RANGE,
                             "is \"%.48s\", need the name of a dimension", conf.dim);
        if (s->share >= 1 && !(s->late_s > 0))
            return yaml_fail(doc, id, e, ERR_RANGE,
                             "is neither slow nor late, need share below 1 or late_us");
    }
    return 0;
}

static int copy_vertex(char out[TOPO_NAME], const char *name, const struct yaml_doc *doc, yaml_id at,
                       struct err *e)
{
    if (strlen(name) >= TOPO_NAME)
        return yaml_fail(doc, at, e, ERR_RANGE, "is %zu bytes long, need at most %d", strlen(name),
                         TOPO_NAME - 1);
    memcpy(out, name, strlen(name) + 1);
    return 0;
}

static int read_link(struct sim_links *l, const struct topo_network *net, const struct yaml_doc *doc,
                     yaml_id id, struct err *e)
{
    struct links_conf conf;
    int rc = schema_read(&conf, &sim_links_section, doc, id, e);
    if (rc)
        return rc;
    *l = (struct sim_links){ .dim = -1, .share = conf.share, .node = id };
    if (!conf.dim != (conf.from && conf.to) || !conf.from != !conf.to)
        return yaml_fail(doc, id, e, ERR_PARSE, "names %s, need from and to, or dim",
                         conf.dim ? "links and a dimension" : "no links");
    if (conf.share > 0 && conf.share < SIM_LEAST_SHARE)
        return yaml_fail(doc, yaml_get(doc, id, "share"), e, ERR_RANGE, "is %g, need 0 or %g to 1",
                         conf.share, SIM_LEAST_SHARE);
    if (conf.dim && (l->dim = topo_find_dim(net, conf.dim)) < 0)
        return yaml_fail(doc, yaml_get(doc, id, "dim"), e, ERR_RANGE,
                         "is \"%.48s\", need the name of a dimension", conf.dim);
    if (conf.from)
        rc = copy_vertex(l->from, conf.from, doc, yaml_get(doc, id, "from"), e);
    if (!rc && conf.to)
        rc = copy_vertex(l->to, conf.to, doc, yaml_get(doc, id, "to"), e);
    return rc;
}

static int read_links(struct sim_rules *r, const struct topo_network *net, const struct yaml_doc *doc,
                      yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    int32_t n = doc->nodes[list].n;
    if (n > SIM_MAX_LINKS)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need at most %d", (int)n, SIM_MAX_LINKS);
    r->links = calloc((size_t)n + 1, sizeof *r->links);
    if (!r->links)
        return err_nomem(e, "links");
    yaml_each (id, doc, list)
        if ((rc = read_link(&r->links[r->n_links++], net, doc, id, e)))
            return rc;
    return 0;
}

/* The file is read when flows are simulated; here it must be there, and its content counts for the study's
 * hash. */
static int read_graph(struct sim_rules *r, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct text path = { 0 }, content = { 0 };
    struct err inner = { 0 };
    const char *name;
    int rc = yaml_text(doc, id, &name, e);
    if (rc)
        return rc;
    yaml_beside(&path, doc, id);
    rc = text_check(&path, e);
    if (!rc && path.n >= sizeof r->graph)
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is a path of %zu bytes, need at most %zu", path.n,
                       sizeof r->graph - 1);
    if (!rc && text_read_file(&content, text_str(&path), TOPO_MAX_GRAPH_BYTES, &inner))
        rc = yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
    if (!rc) {
        memcpy(r->graph, text_str(&path), path.n + 1);
        r->graph_hash = text_hash(TEXT_HASH_SEED, text_str(&content), content.n);
    }
    text_free(&path);
    text_free(&content);
    return rc;
}

void sim_rules_free(struct sim_rules *r)
{
    free(r->links);
    r->links = NULL;
    r->n_links = 0;
}

/* What only makes sense together. */
static int check_conf(const struct rules_conf *conf, const struct topo_network *net,
                      const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (conf->reduction && isnan(net->npu.mem_Bps))
        return yaml_fail(doc, yaml_get(doc, map, "reduction"), e, ERR_RANGE, "is memory, need npu.mem_GBps");
    if ((conf->order == SIM_ORDER_GIVEN) != (conf->dims_order >= 0))
        return yaml_fail(doc, conf->dims_order >= 0 ? conf->dims_order : yaml_get(doc, map, "order"), e,
                         ERR_RANGE, "is given alone, need order: given and dims_order together");
    if (conf->semantics != SIM_PHYSICAL && conf->order != SIM_ORDER_GUARD && conf->order != SIM_ORDER_FIXED)
        return yaml_fail(doc, yaml_get(doc, map, "order"), e, ERR_RANGE,
                         "is %s with the semantics of ASTRA-sim 2, which has the fixed order only",
                         sim_order_words[conf->order]);
    if (conf->graph >= 0 && conf->route == SIM_ROUTE_DIMENSION && yaml_get(doc, map, "route") >= 0)
        return yaml_fail(doc, yaml_get(doc, map, "route"), e, ERR_RANGE,
                         "is dimension on a graph of its own, need shortest or ecmp");
    if (conf->semantics != SIM_PHYSICAL && conf->slow >= 0)
        return yaml_fail_key(doc, conf->slow, e, ERR_RANGE,
                             "is given with the semantics of ASTRA-sim 2, which has no slow NPUs");
    return 0;
}

int sim_rules_read(struct sim_rules *r, struct topo_network *net, const struct yaml_doc *doc, yaml_id map,
                   struct err *e)
{
    struct rules_conf conf;
    sim_rules_default(r);
    int rc = schema_read(&conf, &sim_rules_section, doc, map, e);
    if (!rc)
        rc = check_conf(&conf, net, doc, map, e);
    if (rc)
        return rc;
    r->stage.chunks = (int32_t)conf.chunks;
    r->stage.endpoint_s = conf.endpoint_s;
    r->stage.mem_Bps = conf.reduction ? net->npu.mem_Bps : INFINITY;
    r->order = (enum sim_order)conf.order;
    r->queue = (enum sim_queue)conf.queue;
    r->active = (int32_t)conf.active_chunks;
    r->semantics = (enum sim_semantics)conf.semantics;
    r->route = (enum sim_route)conf.route;
    if (conf.graph >= 0 && r->route == SIM_ROUTE_DIMENSION)
        r->route = SIM_ROUTE_SHORTEST;
    if (conf.algorithms >= 0)
        rc = read_algorithms(net, doc, conf.algorithms, e);
    if (!rc && conf.dims_order >= 0)
        rc = read_dims_order(r, net, doc, conf.dims_order, e);
    if (!rc && conf.slow >= 0)
        rc = read_slow(r, net, doc, conf.slow, e);
    if (!rc && conf.links >= 0)
        rc = read_links(r, net, doc, conf.links, e);
    if (!rc && conf.graph >= 0)
        rc = read_graph(r, doc, conf.graph, e);
    return rc;
}
