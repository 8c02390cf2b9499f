#include "explore/sweep_axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "explore/gossip.h"
#include "explore/hetero.h"
#include "explore/place_study.h"
#include "explore/search.h"
#include "explore/study_keys.h"

/* ---- values as YAML text ---- */

/* Text that means the same with and without what stands around it in a list. */
static bool is_simple(const char *s)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    return *s && s[strspn(s, safe)] == '\0';
}

static void put_quoted(struct text *out, const char *s)
{
    struct json j = { .out = out };
    json_text(&j, NULL, s);
}

static void put_value(struct text *out, const struct yaml_doc *doc, yaml_id id, bool inside)
{
    const struct yaml_node *node = &doc->nodes[id];
    if (node->kind == YAML_SCALAR) {
        if (yaml_is_null(doc, id))
            text_puts(out, "~");
        else if (!node->quoted && (!inside || is_simple(node->text)))
            text_puts(out, node->text);
        else
            put_quoted(out, node->text);
        return;
    }
    text_puts(out, node->kind == YAML_MAP ? "{" : "[");
    yaml_each (child, doc, id) {
        if (doc->nodes[child].index)
            text_puts(out, ", ");
        if (node->kind == YAML_MAP) {
            put_quoted(out, doc->nodes[child].key);
            text_puts(out, ": ");
        }
        put_value(out, doc, child, true);
    }
    text_puts(out, node->kind == YAML_MAP ? "}" : "]");
}

static int reserve(struct sweep_axis *axis, int64_t n, struct err *e)
{
    axis->values = calloc((size_t)n, sizeof *axis->values);
    return axis->values ? 0 : err_nomem(e, "an axis");
}

static int add_value(struct sweep_axis *axis, const char *text, struct err *e)
{
    axis->values[axis->n] = strdup(text);
    if (!axis->values[axis->n])
        return err_nomem(e, "an axis");
    axis->n++;
    return 0;
}

static int read_list(struct sweep_axis *axis, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    if (doc->nodes[list].n == 0)
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, need at least one value");
    struct text text = { 0 };
    int rc = reserve(axis, doc->nodes[list].n, e);
    yaml_each (id, doc, list) {
        if (rc)
            break;
        text_clear(&text);
        put_value(&text, doc, id, false);
        rc = text_check(&text, e);
        if (!rc)
            rc = add_value(axis, text_str(&text), e);
    }
    text_free(&text);
    return rc;
}

/* ---- ranges ---- */

/*
 * Sums and products of decimals miss the decimal they mean by a few units in the
 * last place: 3 * 0.1 is 0.30000000000000004. Rounded to the 15th digit of the
 * range's largest value it is 0.3.
 */
static double clean(double x, double largest)
{
    char text[512];
    int decimals = 14 - (int)floor(log10(largest));
    snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, x);
    return strtod(text, NULL) + 0.0; /* -0 becomes 0 */
}

static double range_value(const struct axis_conf *r, int64_t i)
{
    double largest = fmax(fabs(r->from), fabs(r->to)), share = (double)i / (double)(r->points - 1);
    char text[NUM_TEXT];
    if (!isnan(r->step))
        return clean(r->from + (double)i * r->step, fmax(largest, r->step));
    if (i == 0 || i == r->points - 1)
        return i ? r->to : r->from;
    if (r->scale != AXIS_LOG)
        return clean(r->from + (r->to - r->from) * share, largest);
    /* The functions of another C library may differ in the last digits. */
    snprintf(text, sizeof text, "%.12g", r->from * exp(log(r->to / r->from) * share));
    return strtod(text, NULL);
}

static int check_range(const struct axis_conf *r, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (isnan(r->step) == (r->points < 0))
        return yaml_fail(doc, map, e, ERR_PARSE, "has %s, need one of step and points",
                         isnan(r->step) ? "neither" : "both");
    if (!(r->to > r->from))
        return yaml_fail(doc, yaml_get(doc, map, "to"), e, ERR_RANGE, "is %g, need more than from, %g", r->to,
                         r->from);
    if (!isnan(r->step) && r->scale >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "scale"), e, ERR_PARSE,
                             "has no effect on step, need points");
    if (r->scale == AXIS_LOG && !(r->from > 0))
        return yaml_fail(doc, yaml_get(doc, map, "from"), e, ERR_RANGE,
                         "is %g, need more than 0 with scale log", r->from);
    return 0;
}

static int read_range(struct sweep_axis *axis, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct axis_conf r;
    char text[NUM_TEXT];
    int rc = schema_read(&r, &study_axis_section, doc, map, e);
    if (!rc)
        rc = check_range(&r, doc, map, e);
    if (rc)
        return rc;
    /* The last step may miss `to` by rounding. */
    double n = isnan(r.step) ? (double)r.points : floor((r.to - r.from) / r.step + 1e-9) + 1;
    if (n > SWEEP_MAX_POINTS)
        return yaml_fail(doc, map, e, ERR_RANGE, "has %.0f values, need at most %d", n, SWEEP_MAX_POINTS);
    rc = reserve(axis, (int64_t)n, e);
    for (int64_t i = 0; i < (int64_t)n && !rc; i++)
        rc = add_value(axis, num_format(text, range_value(&r, i)), e);
    return rc;
}

/* ---- keys ---- */

/* Which table a map below a key has; NULL = checked where it is read. */
static const struct section *section_below(const struct section *s, const char *key, bool *is_list)
{
    static const struct {
        const struct section *above;
        const char *key;
        const struct section *below;
        bool is_list;
    } rows[] = {
        { &study_section, "network", &topo_network_section, false },
        { &study_section, "workloads", &study_mix_section, true },
        { &study_section, "budget", &study_budget_section, false },
        { &study_section, "workload", &step_workload_section, false },
        { &study_mix_section, "workload", &step_workload_section, false },
        { &step_workload_section, "model", &model_section, false },
        { &step_workload_section, "parallel", &plan_section, false },
        { &step_workload_section, "search", &search_section, false },
        { &topo_network_section, "npu", &topo_npu_section, false },
        { &topo_network_section, "dims", &topo_dim_section, true },
        { &place_section, "network", &topo_network_section, false },
        { &place_section, "racks", &draw_racks_section, false },
        { &place_section, "gadget", &place_gadget_section, false },
        { &place_section, "las", &place_las_section, false },
        { &place_section, "sjf_bco", &place_sjf_bco_section, false },
        { &place_section, "smd", &place_smd_section, false },
        { &hetero_section, "draw", &hetero_draw_section, false },
        { &hetero_section, "types", &hetero_type_section, true },
        { &hetero_section, "layers", &hetero_layer_section, true },
        { &hetero_section, "throughput", &hetero_throughput_section, false },
        { &hetero_section, "job", &hetero_job_section, false },
        { &hetero_section, "network", &topo_network_section, false },
        { &hetero_section, "servers", &hetero_server_section, false },
        { &hetero_section, "rl", &hetero_rl_section, false },
        { &hetero_section, "genetic", &hetero_genetic_section, false },
        { &hetero_section, "anneal", &hetero_anneal_section, false },
        { &hetero_section, "bayes", &hetero_bayes_section, false },
        { &hetero_draw_section, "cpu", &hetero_draw_cpu_section, false },
        { &hetero_draw_section, "gpu", &hetero_draw_gpu_section, false },
        { &hetero_type_section, "probe", &hetero_probe_section, false },
        { &hetero_type_section, "npu", &topo_npu_section, false },
        { &gossip_section, "network", &topo_network_section, false },
        { &gossip_section, "job", &gossip_job_section, false },
        { &gossip_job_section, "model", &model_section, false },
        { &gossip_job_section, "npu", &topo_npu_section, false },
        { &gossip_job_section, "parallel", &plan_section, false },
        { &gossip_section, "learner", &gossip_learner_section, false },
        { &gossip_section, "data", &gossip_data_section, false },
        { &gossip_section, "clock", &gossip_clock_section, false },
        { &gossip_section, "methods", &gossip_method_section, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].above == s && strcmp(rows[i].key, key) == 0) {
            *is_list = rows[i].is_list;
            return rows[i].below;
        }
    return NULL;
}

int sweep_check_key(const struct section *s, const char *key, const struct yaml_doc *doc, yaml_id id,
                    struct err *e)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = s->n_keys < MOST ? s->n_keys : MOST;
    for (size_t i = 0; i < n; i++) {
        names[i] = s->keys[i].name;
        if (strcmp(names[i], key) == 0)
            return 0;
    }
    const char *near = text_nearest(key, names, n);
    return yaml_fail_key(doc, id, e, ERR_PARSE,
                         "is unknown (\"%.60s\" is no key of %s), need a known key%s%s%s", key, s->name,
                         near ? " such as " : "", near ? near : "", near ? " (nearest)" : "");
}

/* One name off the front of the path, with the indices after it. */
static const char *take_name(char out[64], const char *path)
{
    size_t n = strcspn(path, ".[");
    snprintf(out, 64, "%.*s", n < 64 ? (int)n : 63, path);
    path += n;
    while (*path == '[')
        path += strcspn(path, "]") + (path[strcspn(path, "]")] == ']');
    return path + (*path == '.');
}

/* A misspelled key would make every point an error; better one now. */
static int check_path(const struct section *root, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    static const char *const fixed[] = { "vary", "name", "source" };
    const char *path = doc->nodes[id].key;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(path, fixed[i]) == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "cannot vary, need another key");
    const struct section *s = root;
    while (s && *path) {
        char key[64];
        bool is_list = false, indexed;
        const char *rest = take_name(key, path);
        int rc = sweep_check_key(s, key, doc, id, e);
        if (rc)
            return rc;
        indexed = path[strcspn(path, ".[")] == '[';
        s = section_below(s, key, &is_list);
        path = rest;
        if (is_list && !indexed)
            path = take_name(key, path); /* the name of a member */
    }
    return 0;
}

int sweep_axis_read(struct sweep_axis *axis, const struct section *root, const struct yaml_doc *doc,
                    yaml_id id, struct err *e)
{
    char shown[YAML_SHOWN];
    *axis = (struct sweep_axis){ .n_keys = 1 };
    int rc = check_path(root, doc, id, e);
    if (rc)
        return rc;
    if (doc->nodes[id].kind == YAML_SEQ)
        return read_list(axis, doc, id, e);
    if (doc->nodes[id].kind == YAML_MAP)
        return read_range(axis, doc, id, e);
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, need a list of values or a range { from, to, step }",
                     yaml_show(doc, id, shown));
}

void sweep_axis_free(struct sweep_axis *axis)
{
    for (int64_t i = 0; i < axis->n * axis->n_keys; i++)
        free(axis->values[i]);
    free(axis->values);
    *axis = (struct sweep_axis){ 0 };
}
