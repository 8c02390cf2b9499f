/*
 * Placement studies as a kind of study: a point is jobs and servers, its entries are schedulers, and one run
 * is all of them with one seed, which draws jobs and servers for all alike. Rows are means over the seeds
 * with half of their 95 % interval (Student's t over seeds, base/stat.c).
 *
 * The columns of a study depend on its first point's model: metrics are put between fixed columns under the
 * names of that model (place_name_metrics()), those of other models under theirs, and what no row has is
 * trimmed at export. So a study may vary `model` itself.
 *
 * A run that fails under one scheduler fails for all of its seed: means over different seeds would not
 * compare. The rows of a point where any seed failed are one row that says why.
 */
#include "kinds/place/place.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "base/text.h"
#include "study/store.h"
#include "study/study.h"

/* ---- one point: its servers, what they cost, its schedulers; what a model has of its own, it reads itself
 * ---- */

#define BUY_WORD(NAME, word, title, unit) #word,
const char *const buy_objective_names[] = { BUY_OBJECTIVES(BUY_WORD) NULL };

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
#define ON_LINKS   (FOR_SLOTS | FOR_EVENTS | FOR_BATCH)
#define ON_SERVERS (ON_LINKS | FOR_INTERVAL)

#define T struct place_study
static const struct key place_keys[] = {
    K_TEXT(T, file.name, "name", "what reports call the study"),
    K_REMARK("source", "where the study comes from"),
    K_WORD(T, model, "model", place_model_words, SCHEMA_NONE,
           "how jobs run: in time slots, as a batch, over time, or admitted to one interval",
           .required = true),
    K_NODE(T, file.network, "network",
           "what joins the servers: a network file, a word or a map, with bandwidths; or graph, or racks",
           .uses = ON_SERVERS, .form = "file or text or <network>"),
    K_NODE(T, file.parts, "parts",
           "prices of the network: a parts file or a map (default: those of the network)", .uses = ON_SERVERS,
           .form = "file or <parts>"),
    K_TEXT(T, file.server, "server",
           "dimension of the network: it and those before it are inside a server; npu: each NPU is one "
           "(default: the innermost, of several)",
           .uses = ON_SERVERS),
    K_TEXT(T, file.graph, "graph", "a GraphML or CSV file of the wires, whose NPUs are the servers",
           .uses = ON_SERVERS),
    K_NODE(T, file.servers, "servers",
           "what each server offers, as { gpu: 8, cpu: 64 }, gpu first (default: its NPUs as gpu)",
           .uses = ON_SERVERS, .form = "map of number"),
    K_LIST(T, servers.npus, servers.n_npus, "npus", 1, &place_npu_section,
           "types of NPU, in the order of their servers (default: network.npu in all)", .uses = FOR_EVENTS,
           .what = "types"),
    K_NODE(T, file.racks, "racks", "servers in racks, drawn anew for each seed, see racks", .uses = ON_LINKS,
           .form = "<racks>"),
    K_NODE(T, file.pool, "pool", "models batch and interval: servers without a network; see pool",
           .uses = FOR_BATCH | FOR_INTERVAL, .form = "<pool of model batch> or <pool of model interval>"),
    K_NODE(T, file.jobs, "jobs", "jobs to run; see the model's jobs",
           .form = "<jobs> or <jobs of model batch> or <jobs of model events> or <jobs of model interval>"),
    K_NODE(T, file.schedulers, "schedulers", "list of schedulers (default: all of the model)",
           .form = "list of words"),
    K_NODE(T, file.gadget, "gadget", "how gadget works, see gadget", .uses = FOR_GADGET, .form = "<gadget>"),
    K_NODE(T, file.las, "las", "how las works, see las", .uses = FOR_LAS, .form = "<las>"),
    K_NODE(T, file.sjf_bco, "sjf_bco", "model batch: how plans are made, see sjf_bco", .uses = FOR_BATCH,
           .form = "<sjf_bco>"),
    K_NODE(T, file.smd, "smd", "model interval: how jobs are sized and admitted, see smd",
           .uses = FOR_INTERVAL, .form = "<smd>"),
    K_NODE(T, file.events, "events", "how jobs run, and how they share links, see events",
           .uses = FOR_EVENTS | FOR_BATCH, .form = "<events>"),
    K_WORD(T, file.objective, "objective", buy_objective_names, BUY_COMPLETION,
           "weft alloc: what the network is chosen for", .uses = FOR_EVENTS),
    K_ELSEWHERE("pricing", "weft alloc: fraction or whole, as in a study of designs", .form = "word"),
    K_ELSEWHERE("total_GBps", "weft alloc: total bandwidth of an NPU, as there", .form = "number"),
    K_ELSEWHERE("constraints", "weft alloc: linear constraints on the network, as there",
                .form = "list of texts"),
    K_ELSEWHERE("count_npus", "weft alloc: true: cost includes the NPUs", .form = "true/false"),
    K_ELSEWHERE("system",
                "the whole machine of a mix: what it costs, draws, and loses to failures, see system",
                .form = "<system>"),
    K_REAL_OR(
        T, file.npu_watt, "npu_watt", "W", 1, 1e-3, 1e9, NAN,
        "power of an NPU that a job holds, for energy without system (default: npu.watt of the network)",
        .uses = ON_LINKS),
    K_REAL_OR(T, file.idle_watt, "idle_watt", "W", 1, 0, 1e9, NAN, "power of an idle NPU (default: npu_watt)",
              .uses = ON_LINKS),
    K_COUNT(T, file.slots, "slots", 1, ELASTIC_MAX_SLOTS, 200, "model slots: number of slots",
            .uses = FOR_SLOTS),
    K_COUNT(T, file.seeds, "seeds", 1, 100000, 1, "runs with different draws; results are their means"),
    K_NODE(T, file.baseline, "baseline",
           "what rows are compared with, seed by seed: scheduler and keys of vary with one of their values; "
           "what is not named is the row's own (default: the first value of each key of vary that is not "
           "about jobs, else the first scheduler)",
           .form = "map of anything"),
    K_REAL_OR(
        T, file.resolve_pct, "resolve_pct", "%", 1, 1e-6, 1e6, NAN,
        "seeds are added, 8, 16, 32 .., until the interval of the difference to the baseline reaches no "
        "further than this to either side, or seeds are used up (default: all seeds)"),
    K_COUNT(T, file.seed, "seed", 0, 9e18, 1, "seed of the first run; the others count up by one"),
    K_ELSEWHERE("vary", "axes: KEY: [values] or KEY: { from, to, ... }, see vary",
                .form = "<vary> or list of <vary>"),
    K_ELSEWHERE("where", "linear constraints on values of axes: points outside are left out",
                .form = "list of texts"),
    K_ELSEWHERE("keep", "which rows are kept, see keep (default: all)", .form = "<keep>"),
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

/* A map of resource: amount; the first one is what workers run on. Names are borrowed from the document,
 * which the study keeps. */
static int place_read_offer(struct place_servers *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    int rc = yaml_need(doc, map, YAML_MAP, e);
    if (!rc && (doc->nodes[map].n < 1 || doc->nodes[map].n > CLUSTER_MAX_RESOURCES))
        rc = yaml_fail(doc, map, e, ERR_RANGE, "has %d resources, expected 1 to %d", (int)doc->nodes[map].n,
                       (int)CLUSTER_MAX_RESOURCES);
    if (rc)
        return rc;
    /* Models count workers by resource 0. */
    if (strcmp(doc->nodes[doc->nodes[map].first].key, "gpu") != 0)
        return yaml_fail_key(doc, doc->nodes[map].first, e, ERR_PARSE,
                             "is the first resource, expected gpu first");
    s->n_resources = 0;
    yaml_each (id, doc, map) {
        double *x = &s->each[s->n_resources];
        s->names[s->n_resources++] = doc->nodes[id].key;
        rc = rc ? rc : yaml_real(doc, id, x, e);
        if (!rc && !(*x >= 0))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected a number >= 0", *x);
    }
    return rc;
}

/* How many dimensions are inside a server. */
static int place_read_level(struct place_servers *s, const char *server, const struct yaml_doc *doc,
                            struct err *e)
{
    /* By default the innermost dimension is a server, where there is another one to join servers. */
    s->level = s->net.n_dims > 1;
    if (!server)
        return 0;
    int32_t d = topo_find_dim(&s->net, server);
    yaml_id at = yaml_get(doc, doc->root, "server");
    if (d < 0 && strcmp(server, "npu") != 0)
        return yaml_fail(doc, at, e, ERR_PARSE, "is %s, expected npu or a dimension of the network", server);
    if (d == s->net.n_dims - 1)
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "is %s, the outermost dimension, expected one with others beyond it between servers",
                         server);
    s->level = d + 1;
    return 0;
}

static int place_need_bandwidths(const struct place_study *s, struct err *e)
{
    if (topo_has_bandwidths(&s->servers.net))
        return 0;
    return yaml_fail(&s->doc, s->file.network, e, ERR_RANGE,
                     "has a dimension without bandwidth; give bw_GBps in each%s",
                     s->trace.n_mix > 0 ? ", or let weft alloc choose it" : "");
}

static int place_read_network(struct place_study *s, struct err *e)
{
    struct place_servers *v = &s->servers;
    static const char *const gpu = "gpu";
    /* Of a mix of models weft alloc may choose them; place_prepare() asks again. */
    bool mix = yaml_get(&s->doc, s->file.jobs, "mix") >= 0;
    int rc = topo_read_network(&v->net, &s->doc, s->file.network, e);
    if (!rc && !mix)
        rc = place_need_bandwidths(s, e);
    if (!rc)
        rc = place_read_level(v, s->file.server, &s->doc, e);
    if (rc)
        return rc;
    v->has_network = true;
    v->n_resources = 1;
    v->names[0] = gpu;
    v->each[0] = 1;
    for (int32_t d = 0; d < v->level; d++)
        /* Each NPU inside is a GPU; `servers` may say otherwise later. */
        v->each[0] *= v->net.dims[d].size;
    return 0;
}

static int place_read_graph(struct place_study *s, struct err *e)
{
    struct text path = { 0 };
    yaml_id at = yaml_get(&s->doc, s->doc.root, "graph");
    if (s->file.servers < 0)
        return yaml_fail(&s->doc, at, e, ERR_PARSE, "has no servers; give servers, such as { gpu: 8 }");
    yaml_beside(&path, &s->doc, at);
    int rc = text_check(&path, e);
    /* Owned; `graph` is the same text as others read it. */
    s->servers.graph_path = path.s;
    s->servers.graph = path.s;
    return rc;
}

static int place_read_servers(struct place_study *s, struct err *e)
{
    /* Three ways to say what joins servers, of which one holds; a pool has nothing between them. */
    int n = (s->file.network >= 0) + (s->file.graph != NULL) + (s->file.racks >= 0), rc;
    bool pool = s->model == PLACE_INTERVAL || s->model == PLACE_BATCH;
    if (n > 1)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE,
                         "has more than one of network, graph and racks; give one of them");
    if (n == 0 && !pool)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "has no cluster; give network, graph or racks");
    if (n == 0 && s->model == PLACE_BATCH && s->file.servers >= 0)
        return yaml_fail_key(&s->doc, s->file.servers, e, ERR_PARSE,
                             "has no network or graph; give one of them, or pool.gpus");
    if (s->file.server && s->file.network < 0)
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, s->doc.root, "server"), e, ERR_PARSE,
                             "has no network; give the one that has the dimension");
    rc = s->file.network >= 0 ? place_read_network(s, e) : s->file.graph ? place_read_graph(s, e) : 0;
    if (!rc && s->file.racks >= 0 && s->file.servers >= 0)
        rc = yaml_fail_key(&s->doc, s->file.servers, e, ERR_PARSE,
                           "is given together with racks; give racks.gpus");
    if (!rc && s->file.racks >= 0) {
        s->servers.drawn = s->model != PLACE_INTERVAL; /* they have GPUs alone */
        rc = draw_read_racks(&s->servers.racks, &s->doc, s->file.racks, e);
    }
    if (!rc && s->file.servers >= 0)
        rc = place_read_offer(&s->servers, &s->doc, s->file.servers, e);
    return rc;
}

bool place_has_servers(const struct place_study *s)
{
    return s->servers.has_network || s->servers.graph || s->servers.drawn;
}

/* Drawn ones by the seed. */
/* For each run anew: it is cheap beside the run, and threads share nothing. */
static int place_build_cluster(struct cluster *c, const struct place_study *s, int64_t seed, struct err *e)
{
    const struct place_servers *v = &s->servers;
    /* Jobs that are models know the links of groups, not paths. */
    bool bare = s->trace.n_mix > 0 && !s->trace.path;
    const struct cluster_offer offer = { v->n_resources, v->names, v->each, false };
    if (v->drawn)
        return draw_racks(c, &v->racks, seed, e);
    if (v->graph)
        return cluster_read(c, v->graph, &offer, e);
    int rc = (bare ? cluster_build_bare : cluster_build)(c, &v->net, v->level, &offer, e);
    int32_t count[CLUSTER_MAX_TYPES];
    for (int32_t t = 0; t < v->n_npus && v->types; t++)
        count[t] = v->npus[t].servers;
    return rc || !v->types ? rc : cluster_set_types(c, count, v->n_npus, e);
}

/* ---- price ---- */

/* The typical price of the whole network; a network without prices has none. */
static int place_read_price(struct place_study *s, struct err *e)
{
    struct topo_parts parts;
    struct topo_bill bill;
    double bw_Bps[TOPO_MAX_DIMS];
    s->network_usd = NAN;
    yaml_id node = s->file.parts >= 0 ? s->file.parts : s->servers.has_network ? s->servers.net.parts : -1;
    if (node < 0)
        return 0;
    if (!s->servers.has_network)
        return yaml_fail_key(&s->doc, node, e, ERR_PARSE, "has no effect without network; give network");
    if (!topo_has_bandwidths(&s->servers.net)) /* each design has a price of its own */
        return 0;
    /* A bill of whole parts: bandwidths are fixed, nothing is split here. */
    int rc = topo_read_parts(&parts, &s->doc, node, e);
    if (rc)
        return rc;
    rc = topo_build_bill(&bill, &s->servers.net, &parts, topo_get_bandwidths(bw_Bps, &s->servers.net), e);
    if (!rc)
        s->network_usd = bill.usd.typ;
    topo_bill_free(&bill);
    topo_parts_free(&parts);
    return rc;
}

/* ---- schedulers ---- */

/* Without a list all of the model, in its order. */
static int place_read_schedulers(struct place_study *s, struct err *e)
{
    const struct place_ops *ops = place_ops_of(s->model);
    const char *names[PLACE_MAX_SCHEDULERS];
    char what[64];
    int32_t n = 0;
    while ((names[n] = ops->scheduler(n)))
        n++;
    for (; s->file.schedulers < 0 && s->n_schedulers < n; s->n_schedulers++)
        s->schedulers[s->n_schedulers] = s->n_schedulers;
    snprintf(what, sizeof what, "a scheduler of model %s:", place_model_words[s->model]);
    return s->file.schedulers < 0
               ? 0
               : yaml_read_words(s->schedulers, &s->n_schedulers, PLACE_MAX_SCHEDULERS, names, (size_t)n,
                                 &s->doc, s->file.schedulers, what, "schedulers", e);
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

yaml_id place_entry(const struct place_study *s, yaml_id list, int32_t i)
{
    yaml_each (id, &s->doc, list)
        if (i-- == 0)
            return id;
    return list;
}

/* ---- a run ---- */

/* Schedulers run one after another on the same jobs and servers, which open() makes once by the seed; what
 * one of them leaves in `own` must not show in the next one's result. */
int place_run_all(struct place_result *out, struct place_run *r, struct err *e)
{
    const struct place_study *s = r->study;
    const struct place_ops *ops = place_ops_of(s->model);
    int rc = 0;
    r->unit = ops->unit;
    r->own = calloc(1, ops->own_size);
    if (!r->own)
        return err_nomem(e, "jobs");
    if (place_has_servers(s)) {
        rc = place_build_cluster(&r->servers, s, r->seed, e);
        r->cluster = &r->servers;
        if (!rc && r->notes && s->servers.graph && topo_graph_lacks_kinds(r->servers.graph))
            text_printf(r->notes, "%s: " TOPO_NO_KINDS "\n", s->servers.graph,
                        (long long)topo_graph_npus(r->servers.graph));
    }
    if (!rc)
        rc = ops->open(r, e);
    for (int32_t i = 0; i < s->n_schedulers && !rc; i++) {
        r->which = s->schedulers[i];
        r->scheduler = ops->scheduler(r->which);
        rc = ops->run(&out[i], r, e);
    }
    /* Also after a failure of open(): it is zero where nothing was made. */
    ops->close(r->own);
    free(r->own);
    cluster_free(&r->servers);
    r->cluster = NULL;
    return rc;
}

/* ---- a point ---- */

/* Servers before the model's own keys, which depend on them. Notes are of this point; the study takes those
 * of its first. */
static int place_read_point(struct place_study *s, struct err *e)
{
    int rc = schema_read(s, &place_section, &s->doc, s->doc.root, e);
    if (rc)
        return rc;
    if ((rc = place_read_servers(s, e)) || (rc = place_read_types(s, e)) || (rc = place_read_price(s, e)) ||
        (rc = place_read_schedulers(s, e)))
        return rc;
    place_note_unused(s, &place_section, s->doc.root, place_find_uses(s));
    if (s->servers.drawn)
        place_note_unused(s, &draw_racks_section, s->file.racks, draw_racks_uses(s->model == PLACE_EVENTS));
    rc = place_read_watts(s, e);
    if (!rc)
        rc = place_ops_of(s->model)->read(s, e);
    return rc ? rc : text_check(&s->notes, e);
}

/* On failure @p s is empty. */
int place_study_read(void *point, const struct study_source *from, struct err *e)
{
    struct place_study *s = point;
    *s = (struct place_study){ .doc = { .root = -1 }, .money = { NAN, NAN, "" } };
    int rc = source_read(&s->doc, &s->own_source, from, e);
    if (!rc)
        rc = place_read_point(s, e);
    if (rc)
        place_study_free(s);
    return rc;
}

void place_study_free(void *point)
{
    struct place_study *s = point;
    free(s->servers.graph_path);
    free(s->servers.types);
    free(s->trace.path);
    free(s->trace.profile);
    place_mix_free(&s->trace);
    text_free(&s->notes);
    yaml_free(&s->doc);
    *s = (struct place_study){ .doc = { .root = -1 } };
}

/* ---- the kind ---- */

/* ---- metrics ---- */

/* Columns by model: slots, batch, events, interval. */
/* clang-format off */
#define METRIC(slots, batch, events, interval, called, sign, share, of)                                      \
    { { slots, batch, events, interval }, .title = called, .better = sign, .percent = share, .help = of }
const struct place_metric_row place_metrics[] = {
    [PLACE_UTILITY] = METRIC("utility", NULL, NULL, "utility", "utility", 1, false,
        "utility summed over jobs"),
    [PLACE_BOUND_FRAC] = METRIC("bound_frac", NULL, NULL, NULL, "of bound", 1, true,
        "gain of a slot over its upper bound, mean over slots"),
    [PLACE_GUARANTEE] = METRIC("guarantee", "guarantee", NULL, "guarantee", "guarantee", 0, false,
        "what theory guarantees: at least this share of the best utility, or at most this multiple of the least makespan"),
    [PLACE_FINISHED] = METRIC("finished", NULL, "finished", NULL, "finished", 1, false,
        "jobs that finished"),
    [PLACE_MAKESPAN] = METRIC("makespan", "makespan_s", "makespan_s", NULL, "makespan", -1, false,
        "from the first arrival to the last end; blank if jobs are unfinished"),
    [PLACE_JCT] = METRIC("jct", "jct_s", "jct_s", "jct_s", "completion", -1, false,
        "mean time from arrival to end, of jobs that finished"),
    [PLACE_JCT_P50] = METRIC(NULL, NULL, "jct_p50_s", NULL, "median", -1, false,
        "median of completion times"),
    [PLACE_JCT_P95] = METRIC(NULL, NULL, "jct_p95_s", NULL, "p95", -1, false,
        "95th percentile of completion times"),
    [PLACE_WAIT] = METRIC(NULL, NULL, "wait_s", NULL, "wait", -1, false,
        "mean time without GPUs, of jobs that finished"),
    [PLACE_STRETCH] = METRIC(NULL, NULL, "stretch", "stretch", "stretch", -1, false,
        "running time over that alone in the same place, mean over jobs on several servers; model interval: over "
        "that in a pool, mean over placed jobs"),
    [PLACE_FAIRNESS] = METRIC(NULL, NULL, "fairness", NULL, "fairness", 1, false,
        "Jain's index over tenants of the mean of time alone over completion time; blank if jobs are unfinished"),
    [PLACE_EMBEDDED] = METRIC("embedded_frac", NULL, NULL, NULL, "embedded", 1, true,
        "share of active jobs that run, mean over slots"),
    [PLACE_ADMITTED] = METRIC(NULL, NULL, NULL, "admitted", "admitted", 1, false,
        "jobs that were admitted"),
    [PLACE_PLACED] = METRIC(NULL, NULL, NULL, "placed", "placed", 1, false,
        "jobs whose tasks all found room on servers"),
    [PLACE_OPTIMUM] = METRIC(NULL, NULL, NULL, "optimum_frac", "of optimum", 1, true,
        "utility over that of the exact optimum"),
    [PLACE_GAP] = METRIC(NULL, NULL, NULL, "gap", "gap", -1, false,
        "how far utility is below an upper bound over all tasks and admissions, relative"),
    [PLACE_USED] = METRIC(NULL, NULL, NULL, "used_frac", "used", 1, true,
        "resources used over resources reserved"),
    [PLACE_GPU] = METRIC("gpu_frac", "gpu_frac", "gpu_frac", "gpu_frac", "GPUs", 1, true,
        "share of GPUs in use over time"),
    [PLACE_LINK] = METRIC("link_frac", "link_frac", "link_frac", NULL, "links", 0, true,
        "mean load of links over time"),
    [PLACE_LINK_PEAK] = METRIC("link_peak_frac", "link_peak_frac", "link_peak_frac", NULL, "hottest link", 0, true,
        "mean load of the most loaded link"),
    [PLACE_NODE_OVER] = METRIC("node_over", NULL, NULL, NULL, "server load", -1, false,
        "largest load of a server over its capacity; above 1 with rounding paper only"),
    [PLACE_GOODPUT] = METRIC(NULL, NULL, "goodput", NULL, "goodput", 1, true,
        "share of running time that failures and checkpoints leave (with system)"),
    [PLACE_USD_PER_JOB] = METRIC(NULL, NULL, "usd_per_job", NULL, "USD a job", -1, false,
        "cost of the whole machine over the makespan, per job"),
    [PLACE_KWH_PER_JOB] = METRIC("kwh_per_job", "kwh_per_job", "kwh_per_job", NULL, "kWh a job", -1, false,
        "energy at the meter per job; without system, energy of all NPUs from npu_watt and idle_watt"),
    [PLACE_JOULE] = METRIC("J_per_iter", "J_per_iter", "J_per_iter", NULL,
        "J an iteration", -1, false, "that energy per iteration, over all jobs"),
    [PLACE_LINK_OVER] = METRIC("link_over", NULL, NULL, NULL, "link load", -1, false,
        "largest load of a link over its capacity; above 1 with rounding paper only"),
};
#undef METRIC
/* clang-format on */

enum place_metric place_model_aim(enum place_model model)
{
    return model == PLACE_BATCH ? PLACE_MAKESPAN : model == PLACE_EVENTS ? PLACE_JCT : PLACE_UTILITY;
}

/* ---- what is kept of a point, of a run, and its rows ---- */

struct place_shared {
    struct study_shared head;
    const char *network, *model;
    double network_usd, resolve_pct;
    const char *base_label, *base_scheduler; /* NULL: none; the row's own */
};

/* Of a scheduler at a point. */
struct place_row {
    const char *network, *model, *scheduler;
    int64_t seeds;
    double jobs;
    double x[N_PLACE_METRICS][2]; /* mean, and half of its interval */
    int64_t beats_next;
    const char *length, *unproved, *base;
    double vs_base_pct, vs_base_pct_ci;
    int64_t wins;
    double network_usd, vs_base_usd;
    const char *status, *message;
};

static const struct column shared_columns[] = {
    STUDY_SHARED_COLUMNS(struct place_shared, head),
    COLUMN_WORD(struct place_shared, network, NULL),
    COLUMN_WORD(struct place_shared, model, NULL),
    COLUMN_REAL(struct place_shared, network_usd, NULL),
    COLUMN_REAL(struct place_shared, resolve_pct, NULL),
    COLUMN_WORD(struct place_shared, base_label, NULL),
    COLUMN_WORD(struct place_shared, base_scheduler, NULL),
    COLUMNS_END,
};

static const struct column result_columns[] = {
    STUDY_RESULT_COLUMNS(struct place_result, head),
    COLUMN_WORD(struct place_result, scheduler, NULL),
    COLUMN_WORD(struct place_result, notes, NULL),
    COLUMN_WORD(struct place_result, length, NULL),
    COLUMN_WORD(struct place_result, unproved, NULL),
    COLUMN_AT(struct place_result, n_jobs, "jobs", TABLE_COUNT, NULL),
    COLUMN_REAL_N(struct place_result, x, "metric#", N_PLACE_METRICS, NULL),
    COLUMNS_END,
};

/* Metrics are called as the study's models call them: place_open() puts their names in. */
#define ROW_BEGIN                                                                                            \
    COLUMN_WORD(struct place_row, network, "network, graph, racks or pool that jobs run on",                 \
                .flags = COLUMN_EMPTY | COLUMN_COMMON | COLUMN_YIELDS),                                      \
        COLUMN_WORD(struct place_row, model, "how time passes: slots, batch, events or interval",            \
                    .in = IN_DATA, .flags = COLUMN_YIELDS),                                                  \
        COLUMN_WORD(struct place_row, scheduler, "scheduler"),                                               \
        COLUMN_COUNT(struct place_row, seeds, "number of runs that the row is the mean of"),                 \
        COLUMN_REAL(struct place_row, jobs, "jobs of a run")
#define ROW_END                                                                                              \
    COLUMN_COUNT(struct place_row, beats_next, "seeds in which this scheduler beats the one listed next",    \
                 .title = "beats next", .as = "seeds", .flags = COLUMN_SEEDS),                               \
        COLUMN_WORD(struct place_row, length,                                                                \
                    "what a job keeps on every network: its iterations or its runtime", .in = IN_DATA,       \
                    .with = "length"),                                                                       \
        COLUMN_WORD(struct place_row, unproved, "why there is no guarantee", .in = IN_DATA,                  \
                    .with = "unproved"),                                                                     \
        COLUMN_WORD(struct place_row, base,                                                                  \
                    "baseline that the row is compared with, where it differs from the row's own",           \
                    .title = "baseline", .flags = COLUMN_COMMON, .with = "vs_base_pct"),                     \
        COLUMN_REAL(struct place_row, vs_base_pct,                                                           \
                    "change of completion, makespan or utility against the baseline, over the same seeds",   \
                    .title = "vs baseline", .digits = 3, .flags = COLUMN_SIGNED, .with = "vs_base_pct"),     \
        COLUMN_REAL(struct place_row, vs_base_pct_ci,                                                        \
                    "half width of the 95 % interval of vs_base_pct over seeds", .flags = COLUMN_HALF,       \
                    .with = "vs_base_pct"),                                                                  \
        COLUMN_COUNT(struct place_row, wins, "seeds in which the row is better than the baseline",           \
                     .title = "better in", .as = "seeds", .flags = COLUMN_SEEDS, .with = "vs_base_pct"),     \
        COLUMN_REAL(struct place_row, network_usd, "typical price of the network", .title = "network cost",  \
                    .better = -1),                                                                           \
        COLUMN_REAL(struct place_row, vs_base_usd, "network_usd minus that of the baseline",                 \
                    .title = "cost vs baseline", .better = -1, .flags = COLUMN_SIGNED,                       \
                    .with = "vs_base_usd"),                                                                  \
        COLUMN_WORD(struct place_row, status, "done; infeasible: a scheduler has no plan; error",            \
                    .in = IN_DATA),                                                                          \
        COLUMN_WORD(struct place_row, message, "what is wrong, or what was left out")
#define RUN_BEGIN                                                                                            \
    COLUMN_WORD(struct place_result, network, "network, graph, racks or pool that jobs run on",              \
                .flags = COLUMN_EMPTY | COLUMN_YIELDS),                                                      \
        COLUMN_WORD(struct place_result, model, "how time passes: slots, batch, events or interval",         \
                    .flags = COLUMN_YIELDS),                                                                 \
        COLUMN_WORD(struct place_result, scheduler, "scheduler of the run"),                                 \
        COLUMN_COUNT(struct place_result, seed, "seed of the run"),                                          \
        COLUMN_AT(struct place_result, n_jobs, "jobs", TABLE_COUNT, "jobs of the run")

static const struct column row_begin[] = { ROW_BEGIN }, row_end[] = { ROW_END }, run_begin[] = { RUN_BEGIN };

static const struct column row_columns[] = {
    ROW_BEGIN,
    COLUMN_REAL_N(struct place_row, x, "metric#", 2 * N_PLACE_METRICS, NULL),
    ROW_END,
    COLUMNS_END,
};

static const struct column run_columns[] = {
    RUN_BEGIN,
    COLUMN_REAL_N(struct place_result, x, "metric#", N_PLACE_METRICS, NULL),
    COLUMNS_END,
};

static const struct table_def place_tables[N_PLACE_TABLES] = {
    [TABLE_ROWS] = { .word = "rows", .columns = row_columns },
    [TABLE_RUNS] = { .word = "runs", .columns = run_columns, .by_seed = true, .as_rows = true },
    [PLACE_TABLE_JOBS] = { .word = "jobs",
                           .columns = place_job_columns,
                           .by_seed = true,
                           .first_seed = true },
    [PLACE_TABLE_PLACES] = { .word = "places",
                             .columns = place_place_columns,
                             .by_seed = true,
                             .first_seed = true },
    [PLACE_TABLE_SLOTS] = { .word = "slots",
                            .columns = place_slot_columns,
                            .by_seed = true,
                            .first_seed = true },
    [PLACE_TABLE_LINKS] = { .word = "links",
                            .columns = place_link_columns,
                            .by_seed = true,
                            .first_seed = true },
    [PLACE_TABLE_TENANTS] = { .word = "tenants", .columns = place_tenant_columns, .by_seed = true },
};

/* ---- columns of a study ---- */

enum { N_BEGIN = sizeof row_begin / sizeof *row_begin, N_END = sizeof row_end / sizeof *row_end };

/* Columns made for this study: its tables of columns point here until place_close(). */
struct place_own {
    struct column rows[N_BEGIN + 2 * N_PLACE_METRICS + N_END + 1], runs[N_BEGIN + N_PLACE_METRICS + 1];
    char halves[N_PLACE_METRICS][48];
    struct place_base base;
};

/* As the model of the first point calls it, else the first that has it. */
static enum place_model place_named_by(enum place_model first, int m)
{
    int k = (int)first;
    for (int i = 0; i < N_PLACE_MODELS && !place_metrics[m].names[k]; i++)
        k = i;
    return (enum place_model)k;
}

/* A metric as a model calls it. Times of slots are counted in slots. */
static struct column place_metric(int m, enum place_model model)
{
    const struct place_metric_row *metric = &place_metrics[m];
    const char *name = metric->names[model];
    size_t n;
    bool slots = (m == PLACE_MAKESPAN || m == PLACE_JCT) && !*table_unit_of_name(name, &n);
    return (struct column){ .name = name,
                            .help = metric->help,
                            .title = metric->title,
                            .kind = TABLE_REAL,
                            .unit = slots ? "slots" : NULL,
                            .times = metric->percent ? 100 : 0,
                            .as = metric->percent ? "%" : NULL,
                            .show = slots ? COLUMN_PLAIN : COLUMN_FITTED,
                            .better = metric->better };
}

/* Metrics by model, a name of several models once, then what follows each of them in rows. */
static bool place_made(struct made_column *out, int32_t i)
{
    for (int m = 0; m < N_PLACE_METRICS; m++)
        for (int k = 0; k < N_PLACE_MODELS; k++) {
            bool known = !place_metrics[m].names[k];
            for (int before = 0; before < k && !known; before++)
                known = place_metrics[m].names[before] &&
                        strcmp(place_metrics[m].names[before], place_metrics[m].names[k]) == 0;
            if (known)
                continue;
            if (i < 2) {
                out->of = place_metric(m, (enum place_model)k);
                if (i == 0)
                    return true;
                snprintf(out->name, sizeof out->name, "%s_ci", out->of.name);
                out->of = (struct column){
                    .name = out->name, .kind = TABLE_REAL, .unit = out->of.unit, .flags = COLUMN_HALF
                };
                return true;
            }
            i -= 2;
        }
    return false;
}

static void place_name_metrics(struct place_own *own, enum place_model first)
{
    struct column *row = own->rows, *run = own->runs;
    memcpy(row, row_begin, sizeof row_begin);
    memcpy(run, run_begin, sizeof run_begin);
    row += N_BEGIN;
    run += N_BEGIN;
    for (int m = 0; m < N_PLACE_METRICS; m++) {
        struct column c = place_metric(m, place_named_by(first, m));
        /* plots/ finds intervals by this name. */
        snprintf(own->halves[m], sizeof own->halves[m], "%s_ci", c.name);
        c.offset = offsetof(struct place_result, x) + (size_t)m * sizeof(double);
        *run++ = c;
        c.offset = offsetof(struct place_row, x) + (size_t)m * sizeof(double[2]);
        *row++ = c;
        *row++ = (struct column){ .name = own->halves[m],
                                  .kind = TABLE_REAL,
                                  .offset = c.offset + sizeof(double),
                                  .unit = c.unit,
                                  .flags = COLUMN_HALF };
    }
    memcpy(row, row_end, sizeof row_end);
}

/* ---- opening ---- */

/* Keys of the jobs of the model in the file; NULL where it has none that is known, or more than one. */
static const struct section *place_jobs_section(const struct sweep *w, const struct yaml_doc *doc)
{
    yaml_id id = yaml_get(doc, doc->root, "model");
    const char *word = id >= 0 ? doc->nodes[id].text : NULL;
    for (int32_t k = 0; k < w->n_keys; k++)
        if (strcmp(w->keys[k].path, "model") == 0)
            return NULL;
    for (int m = 0; m < N_PLACE_MODELS && word; m++)
        if (strcmp(place_model_words[m], word) == 0)
            return place_ops_of((enum place_model)m)->jobs;
    return NULL;
}

/* Axes of the model's jobs are checked here: the tables of keys do not know which model it is. */
static int place_check(const struct study *s, const struct yaml_doc *doc, struct err *e)
{
    const struct sweep *w = &s->sweep;
    const struct section *jobs = place_jobs_section(w, doc);
    int rc = 0;
    for (int32_t k = 0; k < w->n_keys && jobs && !rc; k++) {
        const char *path = w->keys[k].path;
        if (strncmp(path, "jobs.", 5) == 0 && !strpbrk(path + 5, ".["))
            rc = sweep_check_key(jobs, path + 5, doc, w->keys[k].at, e);
    }
    return rc;
}

/* Whether a key has an effect may depend on these: what the first point leaves idle another may use. */
static bool place_axes_decide(const struct sweep *w)
{
    static const char *const deciding[] = { "model",         "schedulers", "jobs.utility",
                                            "jobs.progress", "las.queues", "gadget.rounding" };
    for (int32_t k = 0; k < w->n_keys; k++)
        for (size_t i = 0; i < sizeof deciding / sizeof deciding[0]; i++)
            if (strcmp(w->keys[k].path, deciding[i]) == 0)
                return true;
    return false;
}

static int place_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct place_study *p = first;
    struct place_own *own = calloc(1, sizeof *own);
    s->own = own;
    if (!own)
        return err_nomem(e, "columns of a placement study");
    s->seed = p->file.seed;
    s->seeds = p->file.seeds;
    s->resolves = !isnan(p->file.resolve_pct);
    int rc = place_base_read(&own->base, s, doc, p, e);
    s->base_at = own->base.at;
    if (rc)
        return rc;
    /* The first point's document, with its YAML files put in, and the values of all axes. The engine adds
     * what is in other files (study_find_hash()). */
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p->doc, p->doc.root));
    text_puts(&s->name, p->file.name ? p->file.name : "");
    /* A note that a key has no effect must hold for all points. */
    if (!place_axes_decide(&s->sweep))
        text_puts(&s->notes, text_str(&p->notes));
    place_base_note(&own->base, s, doc, p);
    place_name_metrics(own, p->model);
    rc = study_set_columns(s, TABLE_ROWS, own->rows, e);
    if (!rc)
        rc = study_set_columns(s, TABLE_RUNS, own->runs, e);
    if (!rc)
        rc = text_check(&s->name, e);
    return rc ? rc : text_check(&s->notes, e);
}

static void place_close(struct study *s)
{
    struct place_own *own = s->own;
    if (own)
        place_base_free(&own->base);
    free(own);
}

/* ---- points ---- */

static void place_name_network(char out[128], const struct place_study *s)
{
    char word[TOPO_SPEC];
    const struct place_servers *v = &s->servers;
    if (!place_has_servers(s)) /* there are no links */
        snprintf(out, 128, "pool");
    else if (v->has_network)
        snprintf(out, 128, "%s", v->net.name[0] ? v->net.name : topo_format_spec(word, &v->net));
    else
        snprintf(out, 128, "%s", v->graph ? v->graph : "racks");
}

static int place_prepare(void *point, void *shared, const struct study *study, struct err *e)
{
    struct place_study *s = point;
    struct place_shared *x = shared;
    const struct place_base *base = &((const struct place_own *)study->own)->base;
    const char *first = place_ops_of(s->model)->scheduler(s->schedulers[0]);
    x->base_scheduler = base->scheduler.n ? text_str(&base->scheduler) : base->first ? first : NULL;
    /* With one scheduler there is none to compare it with. */
    x->base_label = base->label.n ? text_str(&base->label) : s->n_schedulers > 1 ? x->base_scheduler : NULL;
    x->resolve_pct = s->file.resolve_pct;
    place_name_network(s->network, s);
    x->network = s->network;
    x->model = place_model_words[s->model];
    x->network_usd = s->network_usd;
    return s->servers.has_network ? place_need_bandwidths(s, e) : 0;
}

static int32_t place_count_entries(const void *point)
{
    return ((const struct place_study *)point)->n_schedulers;
}

/* ---- runs ---- */

/* Nothing is kept of a run that failed, under whichever scheduler, but why, and what its trace has to tell.
 */
static void place_forget(struct place_result *x, int rc, const char *message)
{
    const struct place_result ran = *x;
    row_clear(x, result_columns);
    x->scheduler = ran.scheduler;
    x->notes = ran.notes;
    x->head.rc = -(int64_t)rc;
    x->head.message = message;
}

/* "FILE:LINE: .." or "FILE:LINE:COLUMN: .." */
static bool has_place(const char *message)
{
    const char *end = strstr(message, ": ");
    for (const char *s = message; end && s < end; s++)
        if (*s == ':' && isdigit((unsigned char)s[1]))
            return true;
    return false;
}

static bool is_about(const char *message, const char *path)
{
    return path && strncmp(message, path, strlen(path)) == 0 && message[strlen(path)] == ':';
}

/* What is wrong with a run comes from the key that names the file, or from the jobs. */
static void place_blame(const struct place_study *s, struct err *e)
{
    yaml_id jobs = yaml_get(&s->doc, s->doc.root, "jobs"), id = jobs;
    char place[512];
    if (has_place(e->msg))
        return;
    if (is_about(e->msg, s->servers.graph))
        id = yaml_get(&s->doc, s->doc.root, "graph");
    else if (is_about(e->msg, s->trace.path))
        id = yaml_get(&s->doc, jobs, "trace");
    else if (is_about(e->msg, s->trace.profile))
        id = yaml_get(&s->doc, jobs, "profile");
    id = id >= 0 ? id : jobs;
    if (id >= 0)
        err_wrap(e, "%s", (id == jobs ? yaml_key_place : yaml_place)(&s->doc, id, place, sizeof place));
}

static int place_run_seed(const struct study_run *r, struct sink *sink, struct err *e)
{
    const struct place_study *s = r->point;
    struct text notes = { 0 };
    struct place_run run = {
        .study = s, .seed = r->seed, .sink = sink, .wanted = r->wanted, .notes = r->k == 0 ? &notes : NULL
    };
    struct place_result *out = calloc((size_t)s->n_schedulers + 1, sizeof *out);
    struct err inner = { 0 };
    if (!out)
        return err_nomem(e, "results");
    for (int32_t i = 0; i < s->n_schedulers; i++) {
        row_clear(&out[i], result_columns);
        out[i].head.rc = 0;
        out[i].network = s->network;
        out[i].model = place_model_words[s->model];
        out[i].scheduler = place_ops_of(s->model)->scheduler(s->schedulers[i]);
        out[i].seed = r->seed;
    }
    int rc = place_run_all(out, &run, &inner);
    if (rc && rc != ERR_NO_DESIGN && !err_is_of_machine(rc))
        place_blame(s, &inner);
    /* The machine's failures end the run; any other is of this point and seed, and becomes its results. */
    bool fatal = err_is_of_machine(rc) || notes.failed;
    /* By the first scheduler, as all schedulers of a seed read one trace. */
    out[0].notes = notes.n ? text_str(&notes) : NULL;
    for (int32_t i = 0; i < s->n_schedulers && !fatal; i++) {
        if (rc)
            place_forget(&out[i], rc, inner.msg);
        else
            sink_put(sink, TABLE_RUNS, &out[i]);
        sink_result(sink, i, &out[i]);
    }
    text_free(&notes);
    free(out);
    if (!fatal)
        return 0;
    return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg) : err_nomem(e, "a run");
}

/* ---- rows ---- */

static enum place_model place_model_called(const char *word)
{
    int m = 0;
    while (m < N_PLACE_MODELS - 1 && strcmp(place_model_words[m], word) != 0)
        m++;
    return (enum place_model)m;
}

/* In how many seeds scheduler i is better than the one after it; -1 for the last one. */
static int64_t place_count_better(const struct results *r, int32_t i, enum place_model model)
{
    enum place_metric aim = place_model_aim(model);
    int64_t n = 0;
    if (i + 1 >= results_entries(r))
        return -1;
    for (int64_t k = 0; k < results_seeds(r); k++) {
        const struct place_result *a = results_at(r, i, k), *b = results_at(r, i + 1, k);
        /* False for NaN on either side: a seed without a value is no win. */
        n += place_metrics[aim].better * a->x[aim] > place_metrics[aim].better * b->x[aim];
    }
    return n;
}

/* Means over all seeds, none where a seed has no value: seeds whose jobs take longest would be those left
 * out.
 * @p x has room for all. */
static void place_put_means(struct study_rows *rows, const struct place_row *begin, const struct results *r,
                            int32_t i, double *x)
{
    const struct place_shared *own = results_shared(r);
    enum place_model model = place_model_called(begin->model);
    int64_t seeds = results_seeds(r);
    const struct place_result *first = results_at(r, i, 0);
    struct place_row row = *begin;
    row.scheduler = first->scheduler;
    row.seeds = seeds;
    for (int m = 0; m < N_PLACE_METRICS; m++) {
        for (int64_t k = 0; k < seeds; k++)
            x[k] = ((const struct place_result *)results_at(r, i, k))->x[m];
        struct stat_mean mean = stat_mean(x, seeds, 1);
        bool all = mean.n == seeds;
        row.x[m][0] = all ? mean.mean : (double)NAN;
        row.x[m][1] = all ? mean.half : (double)NAN;
    }
    for (int64_t k = 0; k < seeds; k++)
        x[k] = (double)((const struct place_result *)results_at(r, i, k))->n_jobs;
    row.jobs = stat_mean(x, seeds, 1).mean;
    row.length = first->length;
    row.unproved = first->unproved;
    row.beats_next = place_count_better(r, i, model);
    if (own->base_label) {
        struct place_gap gap = place_compare(r, i, own->base_scheduler, place_model_aim(model), x);
        row.base = own->base_label;
        row.vs_base_pct = gap.pct;
        row.vs_base_pct_ci = gap.half;
        row.wins = gap.wins;
    }
    const struct results *base = results_base(r);
    if (base && base != r)
        row.vs_base_usd = row.network_usd - ((const struct place_shared *)results_shared(base))->network_usd;
    row.status = "done";
    for (int64_t k = 0; k < seeds && !row.message; k++)
        row.message = ((const struct place_result *)results_at(r, i, k))->head.message;
    study_rows_put(rows, &row);
}

/* Of all seeds the first that failed; NULL: none did. */
static const struct study_result *place_find_failed(const struct results *r)
{
    for (int64_t k = 0; k < results_seeds(r); k++) {
        /* A seed that failed did so for all of its schedulers: the first one tells. */
        const struct study_result *head = results_at(r, 0, k);
        if (head->rc)
            return head;
    }
    return NULL;
}

/* A difference that some seed lacks is not resolved by more of them. */
static bool place_resolved(const void *shared, const struct results *r)
{
    const struct place_shared *own = shared;
    double *x = malloc((size_t)results_seeds(r) * sizeof *x);
    bool all = x != NULL; /* without memory more seeds are run, and then it is told */
    for (int32_t i = 0; i < results_entries(r) && all; i++) {
        enum place_metric aim = place_model_aim(place_model_called(own->model));
        all = !(place_compare(r, i, own->base_scheduler, aim, x).half > own->resolve_pct);
    }
    free(x);
    return all;
}

/* A pure function of what the store holds, as all reducing is: no clock, no study file. */
static int place_reduce(struct study_rows *rows, void *shared, const struct results *r, struct err *e)
{
    const struct place_shared *x = shared;
    struct place_row row;
    row_clear(&row, row_columns);
    row.network = x->network;
    row.model = x->model;
    const struct study_result *failed = x->head.rc ? NULL : place_find_failed(r);
    const struct place_result *first = x->head.rc ? NULL : results_at(r, 0, 0);
    if (first && first->notes)
        study_rows_note(rows, first->notes);
    if (x->head.rc || failed) {
        int64_t rc = failed ? failed->rc : x->head.rc;
        row.status = rc == -ERR_NO_DESIGN ? "infeasible" : "error";
        row.message = failed ? failed->message : x->head.message;
        study_rows_put(rows, &row);
        return 0;
    }
    double *values = malloc((size_t)results_seeds(r) * sizeof *values);
    if (!values)
        return err_nomem(e, "means");
    row.network_usd = x->network_usd;
    for (int32_t i = 0; i < results_entries(r); i++)
        place_put_means(rows, &row, r, i, values);
    free(values);
    return 0;
}

/* ---- which columns are shown ---- */

/* Metrics of the first point's model, and of the models of all rows; where the model is an axis and no
 * column, those that have a value. */
static int place_trim(bool *show, const struct table *columns, struct store *s, struct err *e)
{
    bool known[N_PLACE_MODELS] = { false }, told = false;
    for (int m = 0; m < N_PLACE_MODELS; m++) {
        int rc = store_any_word(s, "model", place_model_words[m], &known[m], e);
        if (rc)
            return rc;
        told = told || known[m];
    }
    /* Metrics stand before the columns of ROW_END, two each; what is in front depends on the axes. */
    int32_t first = columns->n_cols - N_END - 2 * N_PLACE_METRICS;
    for (int m = 0; m < N_PLACE_METRICS; m++) {
        bool any = false;
        bool has = true;
        bool stretch = m == PLACE_STRETCH && !known[PLACE_EVENTS];
        int rc = stretch || m == PLACE_PLACED || m == PLACE_GOODPUT || m == PLACE_USD_PER_JOB ||
                         m == PLACE_KWH_PER_JOB || m == PLACE_JOULE
                     ? store_any(s, place_metrics[m].names[place_named_by(PLACE_EVENTS, m)], &has, e)
                     : 0;
        if (rc)
            return rc;
        for (int k = 0; k < N_PLACE_MODELS; k++)
            any = any || (has && known[k] && place_metrics[m].names[k]);
        rc = told ? 0 : store_any(s, columns->names[first + 2 * m], &any, e);
        if (rc)
            return rc;
        show[first + 2 * m] = show[first + 2 * m + 1] = any;
    }
    return 0;
}

static bool place_is_done(const struct table *rows, int64_t row, const int32_t *cols)
{
    const char *status = cols[0] >= 0 ? table_text(rows, row, cols[0]) : NULL;
    return status && strcmp(status, "done") == 0;
}

/* ---- facts for `where` ---- */

enum { FACT_ENTRIES, FACT_NPUS, FACT_DIMS, FACT_SIZES };
static const char *const fact_names[] = { "n_entries", "n_npus", "n_dims", "size1", "size2", "size3",
                                          "size4",     "size5",  "size6",  "size7", "size8", NULL };

static void place_put_facts(double *x, const void *point)
{
    const struct place_study *s = point;
    const struct topo_network *net = s->servers.has_network ? &s->servers.net : NULL;
    x[FACT_ENTRIES] = s->n_schedulers;
    x[FACT_NPUS] = net ? (double)net->n_npus : (double)NAN;
    x[FACT_DIMS] = net ? net->n_dims : (double)NAN;
    for (int d = 0; d < TOPO_MAX_DIMS; d++)
        x[FACT_SIZES + d] = !net ? (double)NAN : d < net->n_dims ? (double)net->dims[d].size : 1;
}

static const char *const own_keys[] = { "jobs", "slots",   "racks", "graph",  "pool", "gadget",
                                        "las",  "sjf_bco", "smd",   "events", NULL };
static const char *const fixed_axes[] = { "seed", "seeds", "baseline", "resolve_pct", NULL };
static const char *const told_by[] = { "status", NULL };
static const char *const front[] = { "utility", "makespan",    "makespan_s", "jct",
                                     "jct_s",   "network_usd", "gpu_frac",   NULL };
static const char *const work[] = { "jobs", "model", "slots", NULL };

const struct study_kind place_kind = {
    .word = "place",
    .what = "jobs on the servers of a network, under several schedulers",
    .keys = &place_section,
    .own_keys = own_keys,
    .fixed_axes = fixed_axes,
    .tables = place_tables,
    .n_tables = N_PLACE_TABLES,
    .check = place_check,
    .open = place_open,
    .close = place_close,
    .point_size = sizeof(struct place_study),
    .read = place_study_read,
    .free = place_study_free,
    .fact_names = fact_names,
    .facts = place_put_facts,
    .shared = shared_columns,
    .result = result_columns,
    .shared_size = sizeof(struct place_shared),
    .result_size = sizeof(struct place_result),
    .prepare = place_prepare,
    .n_entries = place_count_entries,
    .whole_seed = true,
    .run = place_run_seed,
    .reduce = place_reduce,
    .resolved = place_resolved,
    .notes = NOTES_EACH,
    .is_result = place_is_done,
    .result_columns = told_by,
    .label = "scheduler",
    .front = front,
    .made = place_made,
    .work = work,
    .trim = place_trim,
    .say = place_say,
    .conclude = place_conclude,
    .fail_alone = place_fail_alone,
    .list = place_list,
    .empty_of = "model",
};
