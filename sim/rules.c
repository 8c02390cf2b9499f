/*
 * How collectives are counted and carried out: the keys of `simulation` with their words and
 * defaults, and the checks that need the network (algorithms a shape can run, addresses of slow NPUs, names
 * of dimensions). Rules are read into struct sim_rules; algorithms per dimension go straight into the
 * network, where every model looks for them. What is inconsistent is refused here, so that engines need not
 * check again: order and dims_order together, semantics of ASTRA-sim with the fixed order only, a slow NPU
 * that is neither slow nor late, or slow on links that are not its own.
 */
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
/* "Waiting for" a dimension is what its bytes take at its bandwidth: what slow links add stands here. */
const char *sim_latency_word(enum sim_model model, const struct sim_rules *rules)
{
    if (model <= SIM_ALPHA_BETA)
        return "latency";
    return rules->n_links || rules->n_slow ? "latency, queues, slow links" : "latency, fill and queues";
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
    [SIM_LIBRA] = "libra",
    [SIM_ASTRA2] = "astra-sim-2",
    [SIM_ASTRA2_AWARE] = "astra-sim-2-aware",
};
const char *const sim_route_words[N_SIM_ROUTES + 1] = {
    [SIM_ROUTE_DIMENSION] = "dimension",
    [SIM_ROUTE_SHORTEST] = "shortest",
    [SIM_ROUTE_ECMP] = "ecmp",
    [SIM_ROUTE_DETOUR] = "detour",
};

static const char *const reduction_words[] = { "free", "memory", NULL };

/* Less of a link is none. */
#define SIM_LEAST_SHARE 1e-6

/* preferred-dataset-splits of ASTRA-sim's example systems. Each more pays every latency once more. */
enum { DEFAULT_CHUNKS = 4, MAX_ACTIVE = 1024 };

static const struct key slow_keys[] = {
    K_ELSEWHERE("at", "address, innermost dimension first, counted from 0; \"*\" for every one",
                .required = true, .form = "text or list of counts"),
    K_REMARK("dim", "only in this dimension (default: in all)"),
    K_REAL(struct sim_slow, share, "share", "", 1, 1e-6, 1, 1, "of the dimension's bandwidth that they have"),
    K_REAL(struct sim_slow, late_s, "late_us", "us", 1e-6, 0, 1e9, 0,
           "delay with which they join every collective"),
};
K_SECTION(sim_slow_section, struct sim_slow, "simulation.slow", slow_keys,
          "NPUs that are slower than the others, or late", STUDY_USES);

static const struct key links_keys[] = {
    K_NAME(struct sim_links, from, "from", 0,
           "a vertex, as weft topo --graphml names it: npu12, switch-pod-3"),
    K_NAME(struct sim_links, to, "to", 0, "the other end; either direction"),
    K_REMARK("dim", "instead of both: all links of this dimension"),
    K_REAL_OR(struct sim_links, share, "share", "", 1, 0, 1, NAN,
              "share of the bandwidth that is left; 0: failed", .required = true),
};
K_SECTION(sim_links_section, struct sim_links, "simulation.links", links_keys,
          "links that failed or lost bandwidth", STUDY_USES);

static const struct key rules_keys[] = {
    K_COUNT(struct sim_rules, stage.chunks, "chunks", 1, STAGE_MAX_CHUNKS, DEFAULT_CHUNKS,
            "equal pieces that a collective is cut into; they pass the dimensions one behind the other",
            .uses = USE_LATENCY),
    K_ELSEWHERE("algorithms",
                "list of algorithms, one per dimension, in place of dims.algorithm; words as there",
                .uses = USE_LATENCY, .form = "list of words"),
    K_REAL(struct sim_rules, stage.endpoint_s, "endpoint_ns", "ns", 1e-9, 0, 1e9, 0,
           "overhead of an NPU per message", .uses = USE_LATENCY),
    K_WORD(struct sim_rules, memory_adds, "reduction", reduction_words, 0,
           "cost of adding up: none, or two reads and a write at npu.mem_GBps", .uses = USE_LATENCY),
    K_WORD(struct sim_rules, order, "order", sim_order_words, SIM_ORDER_GUARD,
           "order of the dimensions: of model chunk any, guard simulates fixed, themis and minmax and takes "
           "the best; of model flow fixed or given",
           .uses = USE_CHUNK | USE_FLOW),
    K_ELSEWHERE("dims_order", "order given: names of all dimensions, in the order of a reduce-scatter",
                .uses = USE_CHUNK | USE_FLOW, .form = "list of texts"),
    K_WORD(struct sim_rules, queue, "queue", sim_queue_words, SIM_QUEUE_SMALLEST,
           "model chunk: which waiting chunk a free dimension takes", .uses = USE_CHUNK),
    K_COUNT(struct sim_rules, active, "active_chunks", 1, MAX_ACTIVE, 1,
            "chunks that a dimension works on at a time", .uses = USE_LATENCY),
    K_WORD(
        struct sim_rules, semantics, "semantics", sim_semantics_words, SIM_PHYSICAL,
        "physical: what links carry; libra, of model bandwidth: part of a dimension has all of its bandwidth "
        "and hops do not count; of model chunk the arithmetic of ASTRA-sim 2 to the nanosecond, without or "
        "with (aware) contention",
        .uses = USE_TIME),
    K_WORD(struct sim_rules, route, "route", sim_route_words, SIM_ROUTE_DIMENSION,
           "model flow: how flows find their way; detour: as dimension, but round failed links as ecmp; with "
           "graph: shortest unless ecmp",
           .uses = USE_FLOW),
    K_REAL(struct sim_rules, round, "round", "", 1, 0, 0.1, 0,
           "model flow: a collective alone on links that are not all alike may be timed too long by up to "
           "this share, for speed; 0: exact",
           .uses = USE_FLOW),
    K_ELSEWHERE("graph",
                "model flow: a GraphML or CSV file of the wires, whose NPUs have the addresses of the "
                "network in their order (default: the network's own)",
                .uses = USE_FLOW, .form = "file"),
    K_LIST_OWNED(struct sim_rules, links, n_links, "links", 0, SIM_MAX_LINKS, &sim_links_section,
                 "model flow: list of links that failed or lost bandwidth, see simulation.links",
                 .uses = USE_FLOW),
    K_LIST(struct sim_rules, slow, n_slow, "slow", 0, &sim_slow_section,
           "list of NPUs that are slower than the others, or late; see simulation.slow",
           .uses = USE_CHUNK | USE_FLOW),
};
K_SECTION(sim_rules_section, struct sim_rules, "simulation", rules_keys,
          "how collectives are counted and run", STUDY_USES);

void sim_rules_default(struct sim_rules *r)
{
    *r = (struct sim_rules){ .stage.mem_Bps = INFINITY };
    schema_defaults(r, &sim_rules_section);
}

/* A list with an entry per dimension; @p what says so. */
static int need_per_dim(const struct topo_network *net, const struct yaml_doc *doc, yaml_id list,
                        const char *what, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && doc->nodes[list].n != net->n_dims)
        rc = yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected %d, %s", (int)doc->nodes[list].n,
                       (int)net->n_dims, what);
    return rc;
}

/* An entry replaces dims.algorithm of its dimension; the shape must be able to run it. */
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
            yaml_fail(doc, id, e, ERR_PARSE, "is \"%.40s\", expected an algorithm as in dims.algorithm",
                      word);
            return err_suggest(e, text_nearest(word, topo_algorithm_words, N_TOPO_ALGORITHMS));
        }
        if (topo_check_algorithm(dim, (enum topo_algorithm)a, &inner))
            return yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
        dim->algorithm = (enum topo_algorithm)a;
    }
    return 0;
}

/* A permutation of the dimensions, by name: every one exactly once. */
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
            return yaml_fail(doc, id, e, ERR_RANGE, "is \"%.48s\", expected %s", name,
                             d < 0 ? "the name of a dimension" : "every dimension once");
        seen[d] = true;
        r->dims_order[doc->nodes[id].index] = d;
    }
    return 0;
}

/* Coordinates of the NPUs meant, -1 for "*", which stands for all of that dimension. */
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
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 0 to %d, or \"*\"", (long long)a,
                             (int)net->dims[d].size - 1);
        s->at[d] = (int32_t)a;
    }
    return 0;
}

/* Number of the dimension that `dim` of a map names; -1 without it. */
static int read_dim(int32_t *dim, const struct topo_network *net, const struct yaml_doc *doc, yaml_id map,
                    struct err *e)
{
    yaml_id at = yaml_get(doc, map, "dim");
    *dim = at >= 0 ? topo_find_dim(net, doc->nodes[at].text) : -1;
    if (at >= 0 && *dim < 0)
        return yaml_fail(doc, at, e, ERR_RANGE, "is \"%.48s\", expected the name of a dimension",
                         doc->nodes[at].text);
    return 0;
}

/* The schema has read shares and delays; addresses and dimensions are settled here, as they need the network.
 */
static int settle_slow(struct sim_rules *r, const struct topo_network *net, const struct yaml_doc *doc,
                       yaml_id list, struct err *e)
{
    int rc = 0;
    yaml_each (id, doc, list) {
        struct sim_slow *s = &r->slow[doc->nodes[id].index];
        if ((rc = read_address(s, net, doc, yaml_get(doc, id, "at"), e)) ||
            (rc = read_dim(&s->dim, net, doc, id, e)))
            return rc;
        if (s->dim >= 0 && !topo_in_total(&net->dims[s->dim]))
            return yaml_fail(doc, yaml_get(doc, id, "dim"), e, ERR_RANGE,
                             "is %s, whose links serve several NPUs, expected links of one NPU, such as %s",
                             net->dims[s->dim].name, net->dims[s->dim - net->dims[s->dim].level].name);
        if (s->share >= 1 && !(s->late_s > 0))
            return yaml_fail(doc, id, e, ERR_RANGE,
                             "is neither slow nor late; give share below 1 or late_us");
    }
    return 0;
}

/* Links are named by their two ends or by their dimension, never both. A share below SIM_LEAST_SHARE would
 * make times that are numbers only in name: such a link has failed. */
static int settle_links(struct sim_rules *r, const struct topo_network *net, const struct yaml_doc *doc,
                        yaml_id list, struct err *e)
{
    yaml_each (id, doc, list) {
        struct sim_links *l = &r->links[doc->nodes[id].index];
        bool from = yaml_get(doc, id, "from") >= 0, to = yaml_get(doc, id, "to") >= 0,
             dim = yaml_get(doc, id, "dim") >= 0;
        l->node = id;
        if (!dim != (from && to) || from != to)
            return yaml_fail(doc, id, e, ERR_PARSE, "names %s; give from and to, or dim",
                             dim ? "links and a dimension" : "no links");
        if (l->share > 0 && l->share < SIM_LEAST_SHARE)
            return yaml_fail(doc, yaml_get(doc, id, "share"), e, ERR_RANGE, "is %g, expected 0 or %g to 1",
                             l->share, SIM_LEAST_SHARE);
        int rc = read_dim(&l->dim, net, doc, id, e);
        if (rc)
            return rc;
    }
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
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is a path of %zu bytes, expected at most %zu", path.n,
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
static int check_rules(const struct sim_rules *r, const struct topo_network *net, const struct yaml_doc *doc,
                       yaml_id map, struct err *e)
{
    yaml_id order = yaml_get(doc, map, "order"), dims_order = yaml_get(doc, map, "dims_order");
    yaml_id route = yaml_get(doc, map, "route"), slow = yaml_get(doc, map, "slow");
    if (r->memory_adds && isnan(net->npu.mem_Bps))
        return yaml_fail(doc, yaml_get(doc, map, "reduction"), e, ERR_RANGE, "is memory; give npu.mem_GBps");
    if ((r->order == SIM_ORDER_GIVEN) != (dims_order >= 0))
        return yaml_fail(doc, dims_order >= 0 ? dims_order : order, e, ERR_RANGE,
                         "is given alone; give order: given and dims_order together");
    if (sim_is_astra(r) && r->order != SIM_ORDER_GUARD && r->order != SIM_ORDER_FIXED)
        return yaml_fail(doc, order, e, ERR_RANGE,
                         "is %s with the semantics of ASTRA-sim 2, which has the fixed order only",
                         sim_order_words[r->order]);
    bool ordered = r->route == SIM_ROUTE_DIMENSION || r->route == SIM_ROUTE_DETOUR;
    if (yaml_get(doc, map, "graph") >= 0 && ordered && route >= 0)
        return yaml_fail(doc, route, e, ERR_RANGE, "is %s on a graph of its own, expected shortest or ecmp",
                         sim_route_words[r->route]);
    if (sim_is_astra(r) && slow >= 0)
        return yaml_fail_key(doc, slow, e, ERR_RANGE,
                             "is given with the semantics of ASTRA-sim 2, which has no slow NPUs");
    return 0;
}

/* Keys first, then what only makes sense together, then what needs the network. A graph of its own has no
 * dimensions to route along, so routes default to shortest there. */
int sim_rules_read(struct sim_rules *r, struct topo_network *net, const struct yaml_doc *doc, yaml_id map,
                   struct err *e)
{
    yaml_id algorithms = yaml_get(doc, map, "algorithms"), dims_order = yaml_get(doc, map, "dims_order");
    yaml_id graph = yaml_get(doc, map, "graph");
    sim_rules_default(r);
    int rc = schema_read(r, &sim_rules_section, doc, map, e);
    if (!rc)
        rc = check_rules(r, net, doc, map, e);
    if (rc)
        return rc;
    net->whole_parts = r->semantics == SIM_LIBRA;
    r->stage.mem_Bps = r->memory_adds ? net->npu.mem_Bps : INFINITY;
    if (graph >= 0 && r->route == SIM_ROUTE_DIMENSION)
        r->route = SIM_ROUTE_SHORTEST;
    if (algorithms >= 0)
        rc = read_algorithms(net, doc, algorithms, e);
    if (!rc && dims_order >= 0)
        rc = read_dims_order(r, net, doc, dims_order, e);
    if (!rc && r->n_slow)
        rc = settle_slow(r, net, doc, yaml_get(doc, map, "slow"), e);
    if (!rc && r->n_links)
        rc = settle_links(r, net, doc, yaml_get(doc, map, "links"), e);
    if (!rc && graph >= 0)
        rc = read_graph(r, doc, graph, e);
    return rc;
}
