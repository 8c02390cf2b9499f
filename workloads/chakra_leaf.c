#include "workloads/chakra_leaf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "workloads/chakra_group.h"
#include "workloads/step_keys.h"

#define DURATION_MAX_us (COMPUTE_MAX_NS / 1e3)

static int refuse(const struct chakra_context *x, int32_t i, struct err *e, enum err_code code,
                  const char *what)
{
    return chakra_fail(x->trace, x->name, i, e, code, "%s", what);
}

static bool has(const struct chakra_node *node, enum chakra_count k)
{
    return (node->has >> k & 1U) != 0;
}

static int need(const struct chakra_context *x, int32_t i, enum chakra_count k, struct err *e)
{
    if (has(&x->trace->nodes[i], k))
        return 0;
    return chakra_fail(x->trace, x->name, i, e, ERR_PARSE, "has no %s, need it", chakra_count_names[k]);
}

/* ---- compute ---- */

static int need_npu(struct chakra_context *x, int32_t i, double value, const char *key, const char *of,
                    struct err *e)
{
    x->tree->uses_npu = true;
    if (value > 0)
        return 0;
    return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                       "has %s but no duration, need network.npu.%s to make a time of it", of, key);
}

static int roofline(double *out, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    const struct topo_npu *npu = &x->net->npu;
    int rc;
    *out = 0;
    if ((rc = need(x, i, CHAKRA_TENSOR_SIZE, e)) || (rc = need(x, i, CHAKRA_NUM_OPS, e)))
        return rc;
    if (node->counts[CHAKRA_TENSOR_SIZE] == 0)
        return 0;
    if ((rc = need_npu(x, i, npu->peak_flops, "peak_TFLOPS", "num_ops", e)) ||
        (rc = need_npu(x, i, npu->mem_Bps, "mem_GBps", "tensor_size", e)))
        return rc;
    *out = fmax((double)node->counts[CHAKRA_NUM_OPS] / npu->peak_flops,
                (double)node->counts[CHAKRA_TENSOR_SIZE] / npu->mem_Bps);
    return 0;
}

static int compute_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    bool memory = node->type != CHAKRA_COMP, sized = has(node, CHAKRA_TENSOR_SIZE);
    int rc = 0;
    if ((double)node->duration_us > DURATION_MAX_us)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE, "duration is %" PRIu64 " us, need at most %g",
                           node->duration_us, DURATION_MAX_us);
    /* A quotient is the nearest double; ASTRA-sim counts 1 ns where the trace says 0. */
    out->seconds = node->duration_us ? (double)node->duration_us / 1e6 : 1e-9;
    if (node->duration_us == 0 && memory && !(rc = need(x, i, CHAKRA_TENSOR_SIZE, e)) &&
        !(rc = need_npu(x, i, x->net->npu.mem_Bps, "mem_GBps", "tensor_size", e)))
        out->seconds = (double)node->counts[CHAKRA_TENSOR_SIZE] / x->net->npu.mem_Bps;
    else if (node->duration_us == 0 && !memory && (sized || has(node, CHAKRA_NUM_OPS)))
        rc = roofline(&out->seconds, x, i, e);
    if (out->seconds > 0)
        out->kind = STEP_COMPUTE;
    return rc;
}

/* ---- communication ---- */

static const struct comm_type {
    const char *name;
    int kind; /* enum collective_kind, -1: a step does not have it */
} comm_types[] = {
    { "ALL_REDUCE", COLLECTIVE_ALL_REDUCE },
    { "REDUCE", -1 },
    { "ALL_GATHER", COLLECTIVE_ALL_GATHER },
    { "GATHER", -1 },
    { "SCATTER", -1 },
    { "BROADCAST", COLLECTIVE_BROADCAST },
    { "ALL_TO_ALL", COLLECTIVE_ALL_TO_ALL },
    { "REDUCE_SCATTER", COLLECTIVE_REDUCE_SCATTER },
    { "REDUCE_SCATTER_BLOCK", -1 },
    { "BARRIER", -1 },
};

enum { N_COMM_TYPES = sizeof comm_types / sizeof comm_types[0], PRIORITY_MAX = 1000000 };

static int take_kind(struct step_node *out, const struct chakra_context *x, int32_t i, struct err *e)
{
    int rc = need(x, i, CHAKRA_COMM_TYPE, e);
    if (rc)
        return rc;
    int64_t type = x->trace->nodes[i].counts[CHAKRA_COMM_TYPE];
    if (type >= N_COMM_TYPES)
        return chakra_fail(x->trace, x->name, i, e, ERR_PARSE, "comm_type is %" PRId64 ", need 0 to %d", type,
                           N_COMM_TYPES - 1);
    if (comm_types[type].kind < 0)
        return chakra_fail(x->trace, x->name, i, e, ERR_UNSUP, "collective %s not supported",
                           comm_types[type].name);
    out->collective = (enum collective_kind)comm_types[type].kind;
    return 0;
}

static int take_size(struct step_node *out, const struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    int rc = need(x, i, CHAKRA_COMM_SIZE, e);
    if (rc)
        return rc;
    if (node->is_cpu_op)
        return refuse(x, i, e, ERR_UNSUP, "communication with is_cpu_op true, need false");
    if ((double)node->counts[CHAKRA_COMM_SIZE] > BYTES_MAX_B)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE, "comm_size is %" PRId64 ", need at most %g",
                           node->counts[CHAKRA_COMM_SIZE], BYTES_MAX_B);
    int64_t priority = node->counts[CHAKRA_COMM_PRIORITY];
    if (priority > PRIORITY_MAX)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE, "comm_priority is %" PRId64 ", need 0 to %d",
                           priority, PRIORITY_MAX);
    out->bytes = (double)node->counts[CHAKRA_COMM_SIZE];
    out->priority = (int32_t)priority;
    return 0;
}

/* Whole dimensions. Entries beyond the network's must be false, or all true: the way "all" is written. */
static int take_dims(int32_t *group, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS], n_dims = x->net->n_dims;
    char name[TOPO_NAME] = "";
    bool all = node->involved == (1U << node->n_involved) - 1, surplus = node->involved >> n_dims != 0;
    if (node->n_involved < n_dims || (surplus && !all))
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "involved_dim has %d entries, need %d, one per dimension", node->n_involved,
                           n_dims);
    for (int32_t d = 0; d < n_dims; d++) {
        bool used = (node->involved >> d & 1U) != 0;
        members[d] = used ? x->net->dims[d].size : 1;
        stride[d] = 1;
        size_t n = strlen(name);
        if (used)
            snprintf(name + n, sizeof name - n, "%s%s", n ? "+" : "", x->net->dims[d].name);
    }
    return chakra_take_group(group, x->tree, name, members, stride, e);
}

static int known_group(int32_t *group, struct chakra_context *x, const char *id, struct err *e)
{
    for (int32_t k = 0; k < x->n_known; k++)
        if (strcmp(x->known[k].name, id) == 0) {
            *group = x->known[k].group;
            return 0;
        }
    int rc = chakra_process_group(group, x->tree, x->net, x->groups, id, x->rank, e);
    if (rc)
        return rc;
    struct chakra_known *grown = array_grow(x->known, x->n_known, &x->cap_known, sizeof *grown);
    if (!grown)
        return err_nomem(e, "process groups");
    x->known = grown;
    x->known[x->n_known].group = *group;
    snprintf(x->known[x->n_known++].name, CHAKRA_NAME, "%s", id);
    return 0;
}

static int take_group(int32_t *group, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    if (node->pg_name[0] && strcmp(node->pg_name, "0") != 0) {
        if (!x->groups)
            return chakra_fail(x->trace, x->name, i, e, ERR_PARSE,
                               "pg_name is \"%s\", need comm_groups, the file that says who is in it",
                               node->pg_name);
        return known_group(group, x, node->pg_name, e);
    }
    *group = 0;
    return node->n_involved < 0 ? 0 : take_dims(group, x, i, e);
}

static int collective_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e)
{
    int rc;
    if ((rc = take_kind(out, x, i, e)) || (rc = take_size(out, x, i, e)) ||
        (rc = take_group(&out->group, x, i, e)))
        return rc;
    int64_t n = 1;
    for (int32_t d = 0; d < x->net->n_dims; d++)
        n *= x->tree->groups[out->group].members[d];
    if (out->bytes > 0 && n > 1)
        out->kind = STEP_COLLECTIVE;
    return 0;
}

static int check_rank(const struct chakra_context *x, int32_t i, enum chakra_count k, bool self,
                      struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    if (!has(node, k))
        return self ? 0 : need(x, i, k, e);
    if (self && node->counts[k] != x->rank)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "%s is %" PRId64 ", need %d, the rank of the "
                           "trace",
                           chakra_count_names[k], node->counts[k], x->rank);
    if (node->counts[k] >= x->net->n_npus || (!self && node->counts[k] == x->rank))
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "%s is %" PRId64 ", need another rank, 0 to %" PRId64, chakra_count_names[k],
                           node->counts[k], x->net->n_npus - 1);
    return 0;
}

static int send_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    int rc;
    if ((rc = check_rank(x, i, CHAKRA_COMM_SRC, true, e)) ||
        (rc = check_rank(x, i, CHAKRA_COMM_DST, false, e)) || (rc = take_size(out, x, i, e)))
        return rc;
    out->collective = COLLECTIVE_SEND;
    if (out->bytes > 0)
        out->kind = STEP_COLLECTIVE;
    return chakra_send_group(&out->group, x->tree, x->net, x->rank, (int32_t)node->counts[CHAKRA_COMM_DST],
                             e);
}

int chakra_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e)
{
    *out = (struct step_node){ .kind = STEP_SUM, .phase = STEP_OTHER, .times = 1 };
    step_set_name(out->name, text_str(&x->trace->names) + x->trace->nodes[i].name);
    switch (x->trace->nodes[i].type) {
    case CHAKRA_MEM_LOAD:
    case CHAKRA_MEM_STORE:
    case CHAKRA_COMP:
        return compute_leaf(out, x, i, e);
    case CHAKRA_COLL:
        return collective_leaf(out, x, i, e);
    case CHAKRA_SEND:
        return send_leaf(out, x, i, e);
    case CHAKRA_RECV:
        return check_rank(x, i, CHAKRA_COMM_DST, true, e);
    default:
        return 0;
    }
}
