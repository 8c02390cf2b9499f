/*
 * ASTRA-sim's files: networks (YAML) and systems (JSON) read, made from our networks, and written.
 * Its three shapes and their words are a table of this file; other shapes are refused here.
 */
#include "sim/astra/astra_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "sim/astra/astra.h"

#define SIM_ASTRA_GiB 1073741824.0

/* Of sim_astra_shapes. */
static const char *const sim_astra_shape_words[SIM_ASTRA_SHAPES] = { "Ring", "FullyConnected", "Switch" };

static const char *shape_word(enum topo_shape shape)
{
    for (int i = 0; i < SIM_ASTRA_SHAPES; i++)
        if (sim_astra_shapes[i] == shape)
            return sim_astra_shape_words[i];
    return NULL;
}

/* By enum topo_algorithm; NULL where there is none. */
static const char *const sim_astra_algorithm_words[N_TOPO_ALGORITHMS] = {
    [TOPO_ALGORITHM_RING] = "ring",
    [TOPO_ALGORITHM_DIRECT] = "direct",
    [TOPO_ALGORITHM_HALVING] = "halvingDoubling",
    [TOPO_ALGORITHM_TREE] = "doubleBinaryTree",
};
/* Lists of algorithms in a system, the one that decides first; NULL at the end. */
static const char *const sim_astra_list_keys[] = { "all-reduce-implementation",
                                                   "reduce-scatter-implementation",
                                                   "all-gather-implementation", "all-to-all-implementation",
                                                   NULL };

/* Limits of weft's own keys: what is read can be written as a study. */
#define MAX_LAT_ns      1e9
#define MAX_ENDPOINT_ns 1000000000
#define MAX_ACTIVE      1024
#define MIN_MEM_GBps    1e-3
#define MAX_MEM_GBps    1e9

void sim_astra_file_free(struct sim_astra_file *f)
{
    text_free(&f->notes);
}

/* Notes are lines, and become comments: a key may hold line breaks, and what YAML takes for such. */
static void astra_note_key(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, const char *why)
{
    char place[512], path[128];
    yaml_path(doc, id, path, sizeof path);
    for (char *s = path; *s; s++)
        if (*s < ' ' || *s > '~')
            *s = '?';
    text_printf(&f->notes, "%s: %s %s\n", yaml_key_place(doc, id, place, sizeof place), path, why);
}

/* ---- network ---- */

/* ASTRA-sim's words for shapes; a line has none. */
static int astra_read_shape(struct sim_astra_dim *dim, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *word;
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    for (int s = 0; s < SIM_ASTRA_SHAPES; s++)
        if (strcmp(word, sim_astra_shape_words[s]) == 0) {
            dim->shape = sim_astra_shapes[s];
            return 0;
        }
    yaml_fail(doc, id, e, ERR_PARSE, "is \"%.40s\", expected Ring, FullyConnected or Switch", word);
    return err_suggest(e, text_nearest(word, sim_astra_shape_words, SIM_ASTRA_SHAPES));
}

static int astra_read_count(int32_t *out, const struct yaml_doc *doc, yaml_id id, int32_t least, int32_t most,
                            struct err *e)
{
    int64_t n;
    int rc = yaml_count(doc, id, &n, e);
    if (rc)
        return rc;
    if (n < least || n > most)
        return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected %d to %d", (long long)n, least, most);
    *out = (int32_t)n;
    return 0;
}

static int astra_read_real(double *out, const struct yaml_doc *doc, yaml_id id, double least, double most,
                           struct err *e)
{
    int rc = yaml_real(doc, id, out, e);
    if (!rc && !(*out >= least && *out <= most))
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected %g to %g", *out, least, most);
    return rc;
}

/* What one NPU sends into a dimension whose links have dim->GiBps [1e9 B/s]. */
static double sim_astra_npu_GBps(const struct sim_astra_dim *dim)
{
    struct shape_counts c;
    topo_shapes[dim->shape]->counts(&c, &(struct topo_dim){ .size = dim->size });
    return dim->GiBps * SIM_ASTRA_GiB / 1e9 * (double)c.degree_max;
}

/* A list with one entry for each dimension; the first one read says how many those are. */
static int astra_need_list(struct sim_astra_file *f, const struct yaml_doc *doc, const char *key,
                           yaml_id *out, struct err *e)
{
    *out = yaml_get(doc, doc->root, key);
    if (*out < 0)
        return yaml_fail(doc, doc->root, e, ERR_PARSE, "has no key %s, expected a list", key);
    int rc = yaml_need(doc, *out, YAML_SEQ, e);
    int32_t n = doc->nodes[*out].n;
    if (!rc && f->setup.n_dims && n != f->setup.n_dims)
        return yaml_fail(doc, *out, e, ERR_RANGE, "has %d entries, expected %d, one per dimension", n,
                         f->setup.n_dims);
    if (!rc && (n < 1 || n > TOPO_MAX_DIMS))
        return yaml_fail(doc, *out, e, ERR_RANGE, "has %d entries, expected 1 to %d dimensions", n,
                         TOPO_MAX_DIMS);
    f->setup.n_dims = n;
    return rc;
}

static int read_bw(struct sim_astra_dim *dim, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    int rc = yaml_real(doc, id, &dim->GiBps, e);
    double GBps = sim_astra_npu_GBps(dim);
    if (!rc && !(GBps >= TOPO_MIN_BW_GBps && GBps <= TOPO_MAX_BW_GBps))
        rc = yaml_fail(doc, id, e, ERR_RANGE,
                       "is %g GB/s of 2^30 bytes a link, %g GB/s of 1e9 for one NPU, expected %g to %g GB/s",
                       dim->GiBps, GBps, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    return rc;
}

/* Four parallel lists, one entry per dimension, of equal length. */
static int astra_read_dims(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    struct sim_astra_dim *dims = f->setup.dims;
    yaml_id shapes, sizes, bandwidths, latencies;
    int64_t npus = 1;
    int rc;
    if ((rc = astra_need_list(f, doc, "topology", &shapes, e)) ||
        (rc = astra_need_list(f, doc, "npus_count", &sizes, e)) ||
        (rc = astra_need_list(f, doc, "bandwidth", &bandwidths, e)) ||
        (rc = astra_need_list(f, doc, "latency", &latencies, e)))
        return rc;
    yaml_each (id, doc, shapes)
        if ((rc = astra_read_shape(&dims[doc->nodes[id].index], doc, id, e)))
            return rc;
    yaml_each (id, doc, sizes) {
        int32_t *size = &dims[doc->nodes[id].index].size;
        if ((rc = astra_read_count(size, doc, id, TOPO_MIN_SIZE, TOPO_MAX_SIZE, e)))
            return rc;
        npus *= *size;
        if (npus > TOPO_MAX_NPUS)
            return yaml_fail(doc, id, e, ERR_RANGE, "makes %lld NPUs, expected at most %d", (long long)npus,
                             TOPO_MAX_NPUS);
    }
    yaml_each (id, doc, bandwidths)
        if ((rc = read_bw(&dims[doc->nodes[id].index], doc, id, e)))
            return rc;
    yaml_each (id, doc, latencies) {
        struct sim_astra_dim *dim = &dims[doc->nodes[id].index];
        double most = topo_shapes[dim->shape]->hop_share * MAX_LAT_ns;
        if ((rc = astra_read_real(&dim->lat_ns, doc, id, 0, most, e)))
            return rc;
    }
    return 0;
}

/* Keys that weft has no counterpart for become notes, which the command prints as warnings and writes as
 * comments. */
int sim_astra_read_network(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    static const char *const known[] = { "topology", "npus_count", "bandwidth", "latency" };
    *f = (struct sim_astra_file){ 0 };
    sim_astra_defaults(&f->setup);
    int rc = yaml_need(doc, doc->root, YAML_MAP, e);
    if (!rc)
        rc = astra_read_dims(f, doc, e);
    if (rc)
        return rc;
    yaml_each (id, doc, doc->root) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known = is_known || strcmp(doc->nodes[id].key, known[i]) == 0;
        if (!is_known)
            astra_note_key(f, doc, id, "has no counterpart and is left out");
    }
    return text_check(&f->notes, e);
}

/* ---- system ---- */

/* "direct4" is direct to 4 peers at a time. True when there is such a number at the end, which is then cut
 * off. */
static bool cut_window(char *name)
{
    static const char direct[] = "direct";
    char *end = name + sizeof direct - 1;
    if (strncmp(name, direct, sizeof direct - 1) != 0 || !*end || end[strspn(end, "0123456789")])
        return false;
    *end = '\0';
    return true;
}

/* Of one dimension, "oneRing" is "ring". */
static int read_algorithm(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id,
                          enum topo_algorithm *out, struct err *e)
{
    const char *word;
    char name[40];
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    bool one = strncmp(word, "one", 3) == 0 && word[3] >= 'A' && word[3] <= 'Z';
    if (one && f->setup.n_dims > 1)
        return yaml_fail(doc, id, e, ERR_UNSUP,
                         "is \"%.40s\", which takes all dimensions for one, expected an algorithm for each",
                         word);
    snprintf(name, sizeof name, "%s", word + (one ? 3 : 0));
    if (one)
        name[0] = (char)(name[0] - 'A' + 'a');
    if (cut_window(name))
        astra_note_key(f, doc, id, "limits the peers sent to at a time, which has no counterpart");
    for (int a = 0; a < N_TOPO_ALGORITHMS; a++)
        if (sim_astra_algorithm_words[a] && strcmp(name, sim_astra_algorithm_words[a]) == 0) {
            *out = (enum topo_algorithm)a;
            return 0;
        }
    return yaml_fail(doc, id, e, ERR_PARSE,
                     "is \"%.40s\", expected ring, direct, halvingDoubling or doubleBinaryTree", word);
}

/* One word per dimension; words for all dimensions at once exist in ASTRA-sim and are refused with a reason.
 */
static int astra_read_list(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id list,
                           enum topo_algorithm out[TOPO_MAX_DIMS], struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        enum topo_algorithm a = TOPO_ALGORITHM_SHAPE;
        if ((rc = read_algorithm(f, doc, id, &a, e)))
            return rc;
        if (doc->nodes[id].index < f->setup.n_dims)
            out[doc->nodes[id].index] = a;
    }
    if (doc->nodes[list].n != f->setup.n_dims)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected %d, one per dimension",
                         doc->nodes[list].n, f->setup.n_dims);
    return 0;
}

/* What a shape cannot run is refused at the word that asks for it. */
static int check_algorithms(const struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id list,
                            struct err *e)
{
    yaml_each (id, doc, list) {
        struct topo_dim dim;
        struct err inner = { 0 };
        int32_t d = doc->nodes[id].index;
        topo_dim_defaults(&dim, d);
        dim.shape = f->setup.dims[d].shape;
        dim.size = f->setup.dims[d].size;
        if (topo_check_algorithm(&dim, f->setup.algorithms[d], &inner))
            return yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
    }
    return 0;
}

/* A dimension of weft has one algorithm for all collectives, and exchanges all-to-all directly. */
static int read_lists(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    struct sim_astra_setup *setup = &f->setup;
    for (int i = 0; sim_astra_list_keys[i]; i++) {
        enum topo_algorithm a[TOPO_MAX_DIMS];
        yaml_id list = yaml_get(doc, doc->root, sim_astra_list_keys[i]);
        bool all_to_all = !sim_astra_list_keys[i + 1], same = true;
        if (list < 0)
            continue;
        int rc = astra_read_list(f, doc, list, a, e);
        if (rc)
            return rc;
        if (!setup->n_algorithms && !all_to_all) {
            memcpy(setup->algorithms, a, sizeof a);
            setup->n_algorithms = setup->n_dims;
            if ((rc = check_algorithms(f, doc, list, e)))
                return rc;
        }
        for (int32_t d = 0; d < setup->n_dims; d++)
            same = same && a[d] == (all_to_all ? TOPO_ALGORITHM_DIRECT : setup->algorithms[d]);
        if (!same)
            astra_note_key(f, doc, list,
                           all_to_all ? "is left out: an all-to-all is always direct"
                                      : "is left out: a dimension has one algorithm for all collectives");
    }
    return 0;
}

static int astra_fail_word(const struct yaml_doc *doc, yaml_id id, const char *need, struct err *e)
{
    char shown[YAML_SHOWN];
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected %s", yaml_show(doc, id, shown), need);
}

/* FIFO and LIFO become simulation.queue; EXPLICIT is noted and left out. */
static int read_policy(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *word;
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    f->setup.lifo = strcmp(word, "LIFO") == 0;
    f->has_order = f->setup.lifo || strcmp(word, "FIFO") == 0;
    if (strcmp(word, "EXPLICIT") == 0)
        astra_note_key(f, doc, id, "EXPLICIT has no counterpart and is left out");
    else if (!f->has_order)
        rc = astra_fail_word(doc, id, "LIFO, FIFO or EXPLICIT", e);
    return rc;
}

/* baseline runs an all-reduce of full size in each dimension; a study can only say localBWAware. */
static int read_optimization(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *word;
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    f->setup.baseline = strcmp(word, "baseline") == 0;
    if (f->setup.baseline)
        astra_note_key(f, doc, id, "baseline has no counterpart: the study is that of localBWAware");
    else if (strcmp(word, "localBWAware") != 0)
        rc = astra_fail_word(doc, id, "localBWAware or baseline", e);
    return rc;
}

/* Keys of the system file that carry over; lists of algorithms are read by read_lists() beforehand. */
static int astra_read_key(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *key = doc->nodes[id].key;
    int32_t endpoint;
    int rc;
    for (int i = 0; sim_astra_list_keys[i]; i++)
        if (strcmp(key, sim_astra_list_keys[i]) == 0)
            return 0;
    if (strcmp(key, "scheduling-policy") == 0)
        return read_policy(f, doc, id, e);
    if (strcmp(key, "collective-optimization") == 0)
        return read_optimization(f, doc, id, e);
    if (strcmp(key, "preferred-dataset-splits") == 0) {
        f->has_splits = true;
        return astra_read_count(&f->setup.splits, doc, id, 1, STAGE_MAX_CHUNKS, e);
    }
    if (strcmp(key, "active-chunks-per-dimension") == 0) {
        f->has_active = true;
        return astra_read_count(&f->setup.active_chunks, doc, id, 1, MAX_ACTIVE, e);
    }
    if (strcmp(key, "endpoint-delay") == 0) {
        f->has_endpoint = true;
        rc = astra_read_count(&endpoint, doc, id, 0, MAX_ENDPOINT_ns, e);
        f->setup.endpoint_ns = rc ? 0 : endpoint;
        return rc;
    }
    if (strcmp(key, "local-mem-bw") == 0) {
        f->has_mem = true;
        return astra_read_real(&f->setup.mem_GBps, doc, id, MIN_MEM_GBps, MAX_MEM_GBps, e);
    }
    astra_note_key(f, doc, id, "has no counterpart and is left out");
    return 0;
}

/* The lists first, then the keys one by one; what is unknown is noted, never silently dropped. */
int sim_astra_read_system(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    int rc = yaml_need(doc, doc->root, YAML_MAP, e);
    f->has_system = true;
    if (!rc)
        rc = read_lists(f, doc, e);
    if (rc)
        return rc;
    yaml_each (id, doc, doc->root)
        if ((rc = astra_read_key(f, doc, id, e)))
            return rc;
    return text_check(&f->notes, e);
}

/*
 * 50 ns are 5.0000000000000004e-08 s: the way back must end at 50 again, or a time that is rounded down to
 * whole ns is off by one. So what is within rounding of a millionth is that.
 */
static double snap(double x)
{
    double near = round(x * 1e6) / 1e6;
    return fabs(near - x) <= 1e-12 * fabs(x) ? near : x;
}

/* What a described network has and ASTRA-sim's file cannot say. */
static void note_dim(struct text *notes, const struct topo_dim *dim)
{
    char share[32];
    snprintf(share, sizeof share, "%g", dim->efficiency);
    if (dim->efficiency < 1)
        text_printf(notes, "%s: efficiency %s has no counterpart, bandwidth is what remains of it\n",
                    dim->name, share);
    if (dim->latency_per != TOPO_PER_CHUNK)
        text_printf(notes, "%s: latency_per has no counterpart, each chunk pays latency_ns\n", dim->name);
    if (dim->n_regimes)
        text_printf(notes, "%s: regimes have no counterpart and are left out\n", dim->name);
    if (dim->n_curves)
        text_printf(notes, "%s: curves have no counterpart and are left out\n", dim->name);
    if (dim->in_switch != TOPO_IN_SWITCH_NONE)
        text_printf(notes, "%s: in_switch has no counterpart and is left out\n", dim->name);
}

/* Bandwidth and latency of one link in ASTRA-sim's units: 2^30 B/s, ns. snap() removes the digits that the
 * change of unit leaves behind. */
int sim_astra_from_network(struct sim_astra_setup *setup, const struct topo_network *net, struct text *notes,
                           struct err *e)
{
    sim_astra_defaults(setup);
    setup->n_dims = net->n_dims;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        int rc = sim_astra_check_shape(dim->shape, d, " for ASTRA-sim", e);
        if (rc)
            return rc;
        if (isnan(dim->bw_Bps))
            return err_set(e, ERR_RANGE, "dims[%d].bw_GBps: is missing, expected a bandwidth for ASTRA-sim",
                           d);
        setup->dims[d] = (struct sim_astra_dim){
            .shape = dim->shape,
            .size = dim->size,
            .GiBps = snap(topo_ops(dim)->link_Bps(dim, 0, dim->bw_Bps * dim->efficiency) / SIM_ASTRA_GiB),
            .lat_ns = snap(topo_dim_link_s(dim, dim->lat_s) * 1e9),
        };
        note_dim(notes, dim);
    }
    return 0;
}

/* Bruck's steps of 2^k members are those of halving-doubling. */
static int find_algorithm(enum topo_algorithm *out, const struct topo_dim *given, int32_t d, struct err *e)
{
    struct topo_dim dim = *given;
    enum topo_algorithm a = dim.algorithm == TOPO_ALGORITHM_SWITCH ? TOPO_ALGORITHM_SHAPE : dim.algorithm;
    dim.in_switch = TOPO_IN_SWITCH_NONE;
    a = algorithm_resolve(&dim, a, PASS_ALL_REDUCE, dim.size);
    if (a == TOPO_ALGORITHM_BRUCK && (dim.size & (dim.size - 1)) == 0)
        a = TOPO_ALGORITHM_HALVING;
    if (!sim_astra_algorithm_words[a])
        return err_set(
            e, ERR_UNSUP,
            "dims[%d].algorithm: is %s of %d members, which ASTRA-sim has not, expected ring or direct", d,
            topo_algorithm_words[a], dim.size);
    *out = a;
    return 0;
}

static void note_rules(struct text *notes, const struct sim_rules *rules)
{
    if (rules->order != SIM_ORDER_FIXED)
        text_printf(notes, "simulation.order: %s has no counterpart, the order is fixed\n",
                    sim_order_words[rules->order]);
    if (rules->queue == SIM_QUEUE_SMALLEST)
        text_puts(notes, "simulation.queue: smallest-first has no counterpart, it is fifo\n");
    if (rules->n_slow)
        text_puts(notes, "simulation.slow: has no counterpart and is left out\n");
}

/* The rules of `simulation` as a system file; what has no counterpart is noted. */
int sim_astra_from_rules(struct sim_astra_setup *setup, const struct topo_network *net,
                         const struct sim_rules *rules, struct text *notes, struct err *e)
{
    double endpoint_ns = rules->stage.endpoint_s * 1e9;
    for (int32_t d = 0; d < net->n_dims; d++) {
        int rc = find_algorithm(&setup->algorithms[d], &net->dims[d], d, e);
        if (rc)
            return rc;
    }
    setup->n_algorithms = net->n_dims;
    setup->splits = rules->stage.chunks;
    setup->active_chunks = rules->active;
    setup->mem_GBps = isinf(rules->stage.mem_Bps) ? INFINITY : snap(rules->stage.mem_Bps / 1e9);
    setup->lifo = rules->queue == SIM_QUEUE_LIFO;
    setup->endpoint_ns = llround(endpoint_ns);
    if (fabs(endpoint_ns - (double)setup->endpoint_ns) > 1e-6)
        text_printf(notes, "simulation.endpoint_ns: %g is no whole number, it is %lld\n", endpoint_ns,
                    (long long)setup->endpoint_ns);
    note_rules(notes, rules);
    return 0;
}

/* Memory whose reductions take no time for any chunk: 1e18 B/s. */
#define ENDLESS_MEM_GBps 1e9

/* Names of files may hold anything, comments of YAML may not. */
static void astra_put_comments(struct text *out, const struct text *notes)
{
    for (const char *s = text_str(notes); *s; s++) {
        bool plain = *s == '\n' || (*s >= ' ' && *s <= '~');
        if (s == text_str(notes) || s[-1] == '\n')
            text_puts(out, "# ");
        text_add(out, plain ? s : "?", 1);
    }
}

static void astra_put_dim(struct text *out, const struct sim_astra_dim *dim, enum topo_algorithm a)
{
    char bw[NUM_TEXT], lat[NUM_TEXT];
    double links = 1 / topo_shapes[dim->shape]->hop_share;
    text_printf(out, "    - { shape: %s, size: %d, bw_GBps: %s, latency_ns: %s", topo_shape_name(dim->shape),
                dim->size, num_format(bw, sim_astra_npu_GBps(dim)), num_format(lat, links * dim->lat_ns));
    if (a != TOPO_ALGORITHM_SHAPE)
        text_printf(out, ", algorithm: %s", topo_algorithm_words[a]);
    text_puts(out, " }\n");
}

/* Only keys that the system file gave are written: defaults of the two programs differ. */
static void put_simulation(struct text *out, const struct sim_astra_file *f)
{
    const struct sim_astra_setup *setup = &f->setup;
    text_puts(out, "simulation:\n");
    if (f->has_splits)
        text_printf(out, "  chunks: %d\n", setup->splits);
    if (f->has_active)
        text_printf(out, "  active_chunks: %d\n", setup->active_chunks);
    if (f->has_endpoint)
        text_printf(out, "  endpoint_ns: %lld\n", (long long)setup->endpoint_ns);
    if (f->has_mem)
        text_puts(out, "  reduction: memory\n");
    text_puts(out, "  order: fixed\n");
    if (f->has_order)
        text_printf(out, "  queue: %s\n", setup->lifo ? "lifo" : "fifo");
    text_puts(out, "  semantics: physical\n");
}

/* A study in YAML that weft reads back to the same configuration, notes as comments on top. */
void sim_astra_format_study(struct text *out, const struct sim_astra_file *f)
{
    const struct sim_astra_setup *setup = &f->setup;
    char mem[NUM_TEXT];
    astra_put_comments(out, &f->notes);
    text_puts(out, "network:\n");
    if (f->has_mem)
        text_printf(out, "  npu: { mem_GBps: %s }\n", num_format(mem, setup->mem_GBps));
    text_puts(out, "  dims:\n");
    for (int32_t d = 0; d < setup->n_dims; d++)
        astra_put_dim(out, &setup->dims[d],
                      setup->n_algorithms ? setup->algorithms[d] : TOPO_ALGORITHM_SHAPE);
    if (f->has_system)
        put_simulation(out, f);
}

/* The network file of ASTRA-sim 2, one list per property. */
void sim_astra_format_network(struct text *out, const struct sim_astra_setup *setup)
{
    char number[NUM_TEXT];
    int32_t n = setup->n_dims;
    text_puts(out, "topology: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %s", d ? "," : "", shape_word(setup->dims[d].shape));
    text_puts(out, " ]\nnpus_count: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %d", d ? "," : "", setup->dims[d].size);
    text_puts(out, " ]\nbandwidth: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %s", d ? "," : "", num_format(number, setup->dims[d].GiBps));
    text_puts(out, " ]  # 2^30 B/s of a link\nlatency: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %s", d ? "," : "", num_format(number, setup->dims[d].lat_ns));
    text_puts(out, " ]  # ns of a link\n");
}

/* A tree only reduces to all; without one, halving-doubling sends as it does. */
static enum topo_algorithm in_list(enum topo_algorithm a, int list)
{
    if (!sim_astra_list_keys[list + 1])
        return TOPO_ALGORITHM_DIRECT;
    return a == TOPO_ALGORITHM_TREE && list > 0 ? TOPO_ALGORITHM_HALVING : a;
}

/* The system file in JSON. The original stops at an endpoint delay of 0 (an assertion), so 1 ns is written,
 * with a note. */
void sim_astra_format_system(struct text *out, const struct sim_astra_setup *setup, struct text *notes)
{
    struct json j = { .out = out };
    int64_t endpoint_ns = setup->endpoint_ns;
    if (endpoint_ns == 0) {
        endpoint_ns = 1;
        text_puts(notes, "simulation.endpoint_ns: is 0, which ASTRA-sim refuses, it is 1\n");
    }
    json_open(&j, NULL, '{');
    json_text(&j, "scheduling-policy", setup->lifo ? "LIFO" : "FIFO");
    json_count(&j, "endpoint-delay", endpoint_ns);
    json_count(&j, "active-chunks-per-dimension", setup->active_chunks);
    json_count(&j, "preferred-dataset-splits", setup->splits);
    for (int i = 0; sim_astra_list_keys[i]; i++) {
        json_open(&j, sim_astra_list_keys[i], '[');
        for (int32_t d = 0; d < setup->n_algorithms; d++)
            json_text(&j, NULL, sim_astra_algorithm_words[in_list(setup->algorithms[d], i)]);
        json_close(&j, ']');
    }
    json_text(&j, "collective-optimization", setup->baseline ? "baseline" : "localBWAware");
    json_real(&j, "local-mem-bw", isinf(setup->mem_GBps) ? ENDLESS_MEM_GBps : setup->mem_GBps);
    json_close(&j, '}');
    text_puts(out, "\n");
}
