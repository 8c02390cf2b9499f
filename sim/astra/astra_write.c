#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "sim/astra/astra_file.h"
#include "sim/astra/astra_words.h"

/* Memory whose reductions take no time for any chunk: 1e18 B/s. */
#define ENDLESS_MEM_GBps 1e9

/* Names of files may hold anything, comments of YAML may not. */
static void put_comments(struct text *out, const struct text *notes)
{
    for (const char *s = text_str(notes); *s; s++) {
        bool plain = *s == '\n' || (*s >= ' ' && *s <= '~');
        if (s == text_str(notes) || s[-1] == '\n')
            text_puts(out, "# ");
        text_add(out, plain ? s : "?", 1);
    }
}

static void put_dim(struct text *out, const struct sim_astra_dim *dim, enum topo_algorithm a)
{
    char bw[NUM_TEXT], lat[NUM_TEXT];
    int32_t links = dim->shape == TOPO_SWITCH ? 2 : 1;
    text_printf(out, "    - { shape: %s, size: %d, bw_GBps: %s, latency_ns: %s", topo_shape_name(dim->shape),
                dim->size, num_format(bw, sim_astra_npu_GBps(dim)), num_format(lat, links * dim->lat_ns));
    if (a != TOPO_ALGORITHM_SHAPE)
        text_printf(out, ", algorithm: %s", topo_algorithm_words[a]);
    text_puts(out, " }\n");
}

static void put_simulation(struct text *out, const struct sim_astra_file *f)
{
    const struct sim_astra_conf *conf = &f->conf;
    text_puts(out, "simulation:\n");
    if (f->has_splits)
        text_printf(out, "  chunks: %d\n", conf->splits);
    if (f->has_active)
        text_printf(out, "  active_chunks: %d\n", conf->active_chunks);
    if (f->has_endpoint)
        text_printf(out, "  endpoint_ns: %lld\n", (long long)conf->endpoint_ns);
    if (f->has_mem)
        text_puts(out, "  reduction: memory\n");
    text_puts(out, "  order: fixed\n");
    if (f->has_order)
        text_printf(out, "  queue: %s\n", conf->lifo ? "lifo" : "fifo");
    text_puts(out, "  semantics: physical\n");
}

void sim_astra_format_study(struct text *out, const struct sim_astra_file *f)
{
    const struct sim_astra_conf *conf = &f->conf;
    char mem[NUM_TEXT];
    put_comments(out, &f->notes);
    text_puts(out, "network:\n");
    if (f->has_mem)
        text_printf(out, "  npu: { mem_GBps: %s }\n", num_format(mem, conf->mem_GBps));
    text_puts(out, "  dims:\n");
    for (int32_t d = 0; d < conf->n_dims; d++)
        put_dim(out, &conf->dims[d], conf->n_algorithms ? conf->algorithms[d] : TOPO_ALGORITHM_SHAPE);
    if (f->has_system)
        put_simulation(out, f);
}

void sim_astra_format_network(struct text *out, const struct sim_astra_conf *conf)
{
    char number[NUM_TEXT];
    int32_t n = conf->n_dims;
    text_puts(out, "topology: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %s", d ? "," : "", sim_astra_shape_words[conf->dims[d].shape]);
    text_puts(out, " ]\nnpus_count: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %d", d ? "," : "", conf->dims[d].size);
    text_puts(out, " ]\nbandwidth: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %s", d ? "," : "", num_format(number, conf->dims[d].GiBps));
    text_puts(out, " ]  # 2^30 B/s of a link\nlatency: [");
    for (int32_t d = 0; d < n; d++)
        text_printf(out, "%s %s", d ? "," : "", num_format(number, conf->dims[d].lat_ns));
    text_puts(out, " ]  # ns of a link\n");
}

/* A tree only reduces to all; without one, halving-doubling sends as it does. */
static enum topo_algorithm in_list(enum topo_algorithm a, int list)
{
    if (!sim_astra_list_keys[list + 1])
        return TOPO_ALGORITHM_DIRECT;
    return a == TOPO_ALGORITHM_TREE && list > 0 ? TOPO_ALGORITHM_HALVING : a;
}

void sim_astra_format_system(struct text *out, const struct sim_astra_conf *conf, struct text *notes)
{
    struct json j = { .out = out };
    int64_t endpoint_ns = conf->endpoint_ns;
    if (endpoint_ns == 0) {
        endpoint_ns = 1;
        text_puts(notes, "simulation.endpoint_ns: is 0, which ASTRA-sim refuses, it is 1\n");
    }
    json_open(&j, NULL, '{');
    json_text(&j, "scheduling-policy", conf->lifo ? "LIFO" : "FIFO");
    json_count(&j, "endpoint-delay", endpoint_ns);
    json_count(&j, "active-chunks-per-dimension", conf->active_chunks);
    json_count(&j, "preferred-dataset-splits", conf->splits);
    for (int i = 0; sim_astra_list_keys[i]; i++) {
        json_open(&j, sim_astra_list_keys[i], '[');
        for (int32_t d = 0; d < conf->n_algorithms; d++)
            json_text(&j, NULL, sim_astra_algorithm_words[in_list(conf->algorithms[d], i)]);
        json_close(&j, ']');
    }
    json_text(&j, "collective-optimization", conf->baseline ? "baseline" : "localBWAware");
    json_real(&j, "local-mem-bw", isinf(conf->mem_GBps) ? ENDLESS_MEM_GBps : conf->mem_GBps);
    json_close(&j, '}');
    text_puts(out, "\n");
}
