#include <stdio.h>
#include <string.h>

#include "sim/astra/astra_file.h"
#include "sim/astra/astra_words.h"
#include "topo/shape.h"

const char *const sim_astra_shape_words[] = {
    [TOPO_RING] = "Ring", [TOPO_FULL] = "FullyConnected", [TOPO_SWITCH] = "Switch", [TOPO_LINE] = NULL
};
const char *const sim_astra_algorithm_words[N_TOPO_ALGORITHMS] = {
    [TOPO_ALGORITHM_RING] = "ring",
    [TOPO_ALGORITHM_DIRECT] = "direct",
    [TOPO_ALGORITHM_HALVING] = "halvingDoubling",
    [TOPO_ALGORITHM_TREE] = "doubleBinaryTree",
};
const char *const sim_astra_list_keys[] = { "all-reduce-implementation", "reduce-scatter-implementation",
                                            "all-gather-implementation", "all-to-all-implementation", NULL };

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
static void note_key(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, const char *why)
{
    char place[512], path[128];
    yaml_path(doc, id, path, sizeof path);
    for (char *s = path; *s; s++)
        if (*s < ' ' || *s > '~')
            *s = '?';
    text_printf(&f->notes, "%s: %s %s\n", yaml_key_place(doc, id, place, sizeof place), path, why);
}

/* ---- network ---- */

static int read_shape(struct sim_astra_dim *dim, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *word;
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    for (int s = 0; s < TOPO_LINE; s++)
        if (strcmp(word, sim_astra_shape_words[s]) == 0) {
            dim->shape = (enum topo_shape)s;
            return 0;
        }
    const char *near = text_nearest(word, sim_astra_shape_words, TOPO_LINE);
    return yaml_fail(doc, id, e, ERR_PARSE, "is \"%.40s\", need Ring, FullyConnected or Switch%s%s%s", word,
                     near ? " (nearest: " : "", near ? near : "", near ? ")" : "");
}

static int read_count(int32_t *out, const struct yaml_doc *doc, yaml_id id, int32_t least, int32_t most,
                      struct err *e)
{
    int64_t n;
    int rc = yaml_count(doc, id, &n, e);
    if (rc)
        return rc;
    if (n < least || n > most)
        return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, need %d to %d", (long long)n, least, most);
    *out = (int32_t)n;
    return 0;
}

static int read_real(double *out, const struct yaml_doc *doc, yaml_id id, double least, double most,
                     struct err *e)
{
    int rc = yaml_real(doc, id, out, e);
    if (!rc && !(*out >= least && *out <= most))
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, need %g to %g", *out, least, most);
    return rc;
}

double sim_astra_npu_GBps(const struct sim_astra_dim *dim)
{
    return dim->GiBps * SIM_ASTRA_GiB / 1e9 * (double)topo_shape_degree_max(dim->shape, dim->size);
}

/* A list with one entry for each dimension; the first one read says how many those are. */
static int need_list(struct sim_astra_file *f, const struct yaml_doc *doc, const char *key, yaml_id *out,
                     struct err *e)
{
    *out = yaml_get(doc, doc->root, key);
    if (*out < 0)
        return yaml_fail(doc, doc->root, e, ERR_PARSE, "has no key %s, need a list", key);
    int rc = yaml_need(doc, *out, YAML_SEQ, e);
    int32_t n = doc->nodes[*out].n;
    if (!rc && f->conf.n_dims && n != f->conf.n_dims)
        return yaml_fail(doc, *out, e, ERR_RANGE, "has %d entries, need %d, one per dimension", n,
                         f->conf.n_dims);
    if (!rc && (n < 1 || n > TOPO_MAX_DIMS))
        return yaml_fail(doc, *out, e, ERR_RANGE, "has %d entries, need 1 to %d dimensions", n,
                         TOPO_MAX_DIMS);
    f->conf.n_dims = n;
    return rc;
}

static int read_bw(struct sim_astra_dim *dim, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    int rc = yaml_real(doc, id, &dim->GiBps, e);
    double GBps = sim_astra_npu_GBps(dim);
    if (!rc && !(GBps >= TOPO_MIN_BW_GBps && GBps <= TOPO_MAX_BW_GBps))
        rc = yaml_fail(doc, id, e, ERR_RANGE,
                       "is %g GB/s of 2^30 bytes a link, %g GB/s of 1e9 for one NPU, need %g to %g GB/s",
                       dim->GiBps, GBps, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    return rc;
}

static int read_dims(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    struct sim_astra_dim *dims = f->conf.dims;
    yaml_id shapes, sizes, bandwidths, latencies;
    int64_t npus = 1;
    int rc;
    if ((rc = need_list(f, doc, "topology", &shapes, e)) ||
        (rc = need_list(f, doc, "npus_count", &sizes, e)) ||
        (rc = need_list(f, doc, "bandwidth", &bandwidths, e)) ||
        (rc = need_list(f, doc, "latency", &latencies, e)))
        return rc;
    yaml_each (id, doc, shapes)
        if ((rc = read_shape(&dims[doc->nodes[id].index], doc, id, e)))
            return rc;
    yaml_each (id, doc, sizes) {
        int32_t *size = &dims[doc->nodes[id].index].size;
        if ((rc = read_count(size, doc, id, TOPO_MIN_SIZE, TOPO_MAX_SIZE, e)))
            return rc;
        npus *= *size;
        if (npus > TOPO_MAX_NPUS)
            return yaml_fail(doc, id, e, ERR_RANGE, "makes %lld NPUs, need at most %d", (long long)npus,
                             TOPO_MAX_NPUS);
    }
    yaml_each (id, doc, bandwidths)
        if ((rc = read_bw(&dims[doc->nodes[id].index], doc, id, e)))
            return rc;
    yaml_each (id, doc, latencies) {
        struct sim_astra_dim *dim = &dims[doc->nodes[id].index];
        double most = dim->shape == TOPO_SWITCH ? MAX_LAT_ns / 2 : MAX_LAT_ns;
        if ((rc = read_real(&dim->lat_ns, doc, id, 0, most, e)))
            return rc;
    }
    return 0;
}

int sim_astra_read_network(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    static const char *const known[] = { "topology", "npus_count", "bandwidth", "latency" };
    *f = (struct sim_astra_file){ 0 };
    sim_astra_defaults(&f->conf);
    int rc = yaml_need(doc, doc->root, YAML_MAP, e);
    if (!rc)
        rc = read_dims(f, doc, e);
    if (rc)
        return rc;
    yaml_each (id, doc, doc->root) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known = is_known || strcmp(doc->nodes[id].key, known[i]) == 0;
        if (!is_known)
            note_key(f, doc, id, "has no counterpart and is left out");
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
    if (one && f->conf.n_dims > 1)
        return yaml_fail(doc, id, e, ERR_UNSUP,
                         "is \"%.40s\", which takes all dimensions for one, need an algorithm for each",
                         word);
    snprintf(name, sizeof name, "%s", word + (one ? 3 : 0));
    if (one)
        name[0] = (char)(name[0] - 'A' + 'a');
    if (cut_window(name))
        note_key(f, doc, id, "limits the peers sent to at a time, which has no counterpart");
    for (int a = 0; a < N_TOPO_ALGORITHMS; a++)
        if (sim_astra_algorithm_words[a] && strcmp(name, sim_astra_algorithm_words[a]) == 0) {
            *out = (enum topo_algorithm)a;
            return 0;
        }
    return yaml_fail(doc, id, e, ERR_PARSE,
                     "is \"%.40s\", need ring, direct, halvingDoubling or doubleBinaryTree", word);
}

static int read_list(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id list,
                     enum topo_algorithm out[TOPO_MAX_DIMS], struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        enum topo_algorithm a = TOPO_ALGORITHM_SHAPE;
        if ((rc = read_algorithm(f, doc, id, &a, e)))
            return rc;
        if (doc->nodes[id].index < f->conf.n_dims)
            out[doc->nodes[id].index] = a;
    }
    if (doc->nodes[list].n != f->conf.n_dims)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need %d, one per dimension",
                         doc->nodes[list].n, f->conf.n_dims);
    return 0;
}

static int check_algorithms(const struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id list,
                            struct err *e)
{
    yaml_each (id, doc, list) {
        struct topo_dim dim;
        struct err inner = { 0 };
        int32_t d = doc->nodes[id].index;
        topo_dim_defaults(&dim, d);
        dim.shape = f->conf.dims[d].shape;
        dim.size = f->conf.dims[d].size;
        if (topo_check_algorithm(&dim, f->conf.algorithms[d], &inner))
            return yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
    }
    return 0;
}

/* A dimension of weft has one algorithm for all collectives, and exchanges all-to-all directly. */
static int read_lists(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    struct sim_astra_conf *conf = &f->conf;
    for (int i = 0; sim_astra_list_keys[i]; i++) {
        enum topo_algorithm a[TOPO_MAX_DIMS];
        yaml_id list = yaml_get(doc, doc->root, sim_astra_list_keys[i]);
        bool all_to_all = !sim_astra_list_keys[i + 1], same = true;
        if (list < 0)
            continue;
        int rc = read_list(f, doc, list, a, e);
        if (rc)
            return rc;
        if (!conf->n_algorithms && !all_to_all) {
            memcpy(conf->algorithms, a, sizeof a);
            conf->n_algorithms = conf->n_dims;
            if ((rc = check_algorithms(f, doc, list, e)))
                return rc;
        }
        for (int32_t d = 0; d < conf->n_dims; d++)
            same = same && a[d] == (all_to_all ? TOPO_ALGORITHM_DIRECT : conf->algorithms[d]);
        if (!same)
            note_key(f, doc, list,
                     all_to_all ? "is left out: an all-to-all is always direct"
                                : "is left out: a dimension has one algorithm for all collectives");
    }
    return 0;
}

static int fail_word(const struct yaml_doc *doc, yaml_id id, const char *need, struct err *e)
{
    char shown[YAML_SHOWN];
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, need %s", yaml_show(doc, id, shown), need);
}

static int read_policy(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *word;
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    f->conf.lifo = strcmp(word, "LIFO") == 0;
    f->has_order = f->conf.lifo || strcmp(word, "FIFO") == 0;
    if (strcmp(word, "EXPLICIT") == 0)
        note_key(f, doc, id, "EXPLICIT has no counterpart and is left out");
    else if (!f->has_order)
        rc = fail_word(doc, id, "LIFO, FIFO or EXPLICIT", e);
    return rc;
}

static int read_optimization(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const char *word;
    int rc = yaml_text(doc, id, &word, e);
    if (rc)
        return rc;
    f->conf.baseline = strcmp(word, "baseline") == 0;
    if (f->conf.baseline)
        note_key(f, doc, id, "baseline has no counterpart: the study is that of localBWAware");
    else if (strcmp(word, "localBWAware") != 0)
        rc = fail_word(doc, id, "localBWAware or baseline", e);
    return rc;
}

static int read_key(struct sim_astra_file *f, const struct yaml_doc *doc, yaml_id id, struct err *e)
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
        return read_count(&f->conf.splits, doc, id, 1, STAGE_MAX_CHUNKS, e);
    }
    if (strcmp(key, "active-chunks-per-dimension") == 0) {
        f->has_active = true;
        return read_count(&f->conf.active_chunks, doc, id, 1, MAX_ACTIVE, e);
    }
    if (strcmp(key, "endpoint-delay") == 0) {
        f->has_endpoint = true;
        rc = read_count(&endpoint, doc, id, 0, MAX_ENDPOINT_ns, e);
        f->conf.endpoint_ns = rc ? 0 : endpoint;
        return rc;
    }
    if (strcmp(key, "local-mem-bw") == 0) {
        f->has_mem = true;
        return read_real(&f->conf.mem_GBps, doc, id, MIN_MEM_GBps, MAX_MEM_GBps, e);
    }
    note_key(f, doc, id, "has no counterpart and is left out");
    return 0;
}

int sim_astra_read_system(struct sim_astra_file *f, const struct yaml_doc *doc, struct err *e)
{
    int rc = yaml_need(doc, doc->root, YAML_MAP, e);
    f->has_system = true;
    if (!rc)
        rc = read_lists(f, doc, e);
    if (rc)
        return rc;
    yaml_each (id, doc, doc->root)
        if ((rc = read_key(f, doc, id, e)))
            return rc;
    return text_check(&f->notes, e);
}
