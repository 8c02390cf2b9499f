/*
 * Chakra execution traces (.et): protobuf records of nodes with dependencies, one file an NPU.
 * Records are read and checked one by one into plain arrays; a node becomes a leaf of the step (seconds of
 * compute, or a collective over a group of NPUs found from its process group); the graph of dependencies is
 * folded into sums and maxima (chakra_fold.c). Of several traces the step is the slowest.
 */
#include "workloads/readers/readers.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <protobuf-c/protobuf-c.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "base/vec.h"
#include "base/num.h"
#include "workloads/readers/chakra.pb-c.h"
#include "workloads/step.h"

typedef ChakraPb__Metadata pb_metadata;
typedef ChakraPb__Node pb_node;
typedef ChakraPb__Attribute pb_attribute;

const char *const chakra_count_names[N_CHAKRA_COUNTS] = {
    "num_ops", "tensor_size", "comm_type", "comm_size", "comm_priority", "comm_src", "comm_dst",
};

void chakra_trace_free(struct chakra_trace *t)
{
    free(t->nodes);
    free(t->deps);
    text_free(&t->names);
    *t = (struct chakra_trace){ 0 };
}

/* Record "name: node ID "NAME": " and the message; returns code. */
static int chakra_fail(const struct chakra_trace *t, const char *name, int32_t node, struct err *e,
                       enum err_code code, const char *fmt, ...)
{
    char message[512];
    const struct chakra_node *at = &t->nodes[node];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return err_set(e, code, "%s: node %llu \"%.64s\": %s", name, (unsigned long long)at->id,
                   text_str(&t->names) + at->name, message);
}

/* ---- attributes ---- */

/* Attributes of lists have even numbers; but for that of booleans the schema leaves them out. */
static bool is_list(const pb_attribute *a)
{
    for (unsigned i = 0; i < a->base.n_unknown_fields; i++)
        if (a->base.unknown_fields[i].tag >= 4 && a->base.unknown_fields[i].tag <= 32)
            return true;
    return a->value_case == CHAKRA_PB__ATTRIBUTE__VALUE_BOOL_LIST;
}

/* False when the value is no whole number, or one above the 63 bits that sizes have here. */
static bool whole_number(const pb_attribute *a, int64_t *out)
{
    uint64_t wide = 0;
    *out = 0;
    switch (a->value_case) {
    case CHAKRA_PB__ATTRIBUTE__VALUE_INT32_VAL:
        *out = a->int32_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_INT64_VAL:
        *out = a->int64_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_UINT32_VAL:
        *out = a->uint32_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_UINT64_VAL:
        wide = a->uint64_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_SINT32_VAL:
        *out = a->sint32_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_SINT64_VAL:
        *out = a->sint64_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_FIXED32_VAL:
        *out = a->fixed32_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_FIXED64_VAL:
        wide = a->fixed64_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_SFIXED32_VAL:
        *out = a->sfixed32_val;
        break;
    case CHAKRA_PB__ATTRIBUTE__VALUE_SFIXED64_VAL:
        *out = a->sfixed64_val;
        break;
    default:
        return false;
    }
    if (wide)
        *out = wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
    return true;
}

/* For messages only. */
static const char *kind_of(const pb_attribute *a)
{
    int64_t ignored;
    if (whole_number(a, &ignored))
        return "a whole number";
    switch (a->value_case) {
    case CHAKRA_PB__ATTRIBUTE__VALUE_DOUBLE_VAL:
    case CHAKRA_PB__ATTRIBUTE__VALUE_FLOAT_VAL:
        return "a real number";
    case CHAKRA_PB__ATTRIBUTE__VALUE_BOOL_VAL:
        return "true or false";
    case CHAKRA_PB__ATTRIBUTE__VALUE_STRING_VAL:
        return "a text";
    default:
        return is_list(a) ? "a list" : "empty";
    }
}

struct chakra_file_reader {
    const char *name;
    const uint8_t *bytes;
    size_t n, pos;
    struct chakra_trace *trace;
    bool lacks; /* memory, for a record */
};

static int chakra_file_refuse(const struct chakra_file_reader *r, const pb_attribute *a, const char *need,
                              struct err *e)
{
    return chakra_fail(r->trace, r->name, r->trace->n_nodes - 1, e, ERR_PARSE, "%s is %s, expected %s",
                       a->name, kind_of(a), need);
}

/* Counts may come as any integer type of protobuf. */
static int take_count(const struct chakra_file_reader *r, enum chakra_count k, const pb_attribute *a,
                      struct err *e)
{
    int32_t at = r->trace->n_nodes - 1;
    int64_t x;
    if (!whole_number(a, &x))
        return chakra_file_refuse(r, a, "a whole number", e);
    if (x < 0)
        return chakra_fail(r->trace, r->name, at, e, ERR_RANGE, "%s is %lld, expected at least 0", a->name,
                           (long long)x);
    r->trace->nodes[at].counts[k] = x;
    r->trace->nodes[at].has |= 1U << k;
    return 0;
}

/* Which dimensions take part, as bits. */
static int chakra_file_take_dims(const struct chakra_file_reader *r, const pb_attribute *a, struct err *e)
{
    struct chakra_node *node = &r->trace->nodes[r->trace->n_nodes - 1];
    if (a->value_case != CHAKRA_PB__ATTRIBUTE__VALUE_BOOL_LIST)
        return chakra_file_refuse(r, a, "a list of true and false", e);
    if (a->bool_list->n_values > CHAKRA_MAX_DIMS)
        return chakra_fail(r->trace, r->name, r->trace->n_nodes - 1, e, ERR_RANGE,
                           "involved_dim has %zu entries, expected at most %d", a->bool_list->n_values,
                           CHAKRA_MAX_DIMS);
    node->n_involved = (int32_t)a->bool_list->n_values;
    node->involved = 0;
    for (int32_t d = 0; d < node->n_involved; d++)
        node->involved |= (uint32_t)(a->bool_list->values[d] != 0) << d;
    return 0;
}

/* Attributes that weft does not use are passed over: traces carry many. */
static int take_attribute(const struct chakra_file_reader *r, const pb_attribute *a, struct err *e)
{
    struct chakra_node *node = &r->trace->nodes[r->trace->n_nodes - 1];
    int64_t flag;
    for (int k = 0; k < N_CHAKRA_COUNTS; k++)
        if (strcmp(a->name, chakra_count_names[k]) == 0)
            return take_count(r, (enum chakra_count)k, a, e);
    if (strcmp(a->name, "involved_dim") == 0)
        return chakra_file_take_dims(r, a, e);
    if (strcmp(a->name, "is_cpu_op") == 0) {
        if (a->value_case == CHAKRA_PB__ATTRIBUTE__VALUE_BOOL_VAL)
            node->is_cpu_op = a->bool_val;
        else if (whole_number(a, &flag))
            node->is_cpu_op = flag != 0;
        else
            return chakra_file_refuse(r, a, "true or false", e);
    }
    if (strcmp(a->name, "pg_name") == 0) {
        if (a->value_case != CHAKRA_PB__ATTRIBUTE__VALUE_STRING_VAL)
            return chakra_file_refuse(r, a, "a text", e);
        if (strlen(a->string_val) >= CHAKRA_NAME)
            return chakra_fail(r->trace, r->name, r->trace->n_nodes - 1, e, ERR_RANGE,
                               "pg_name has %zu bytes, expected at most %d", strlen(a->string_val),
                               CHAKRA_NAME - 1);
        snprintf(node->pg_name, sizeof node->pg_name, "%s", a->string_val);
    }
    return 0;
}

/* ---- nodes ---- */

static int keep_deps(struct chakra_trace *t, const uint64_t *ids, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (!vec_reserve(t->deps, t->cap_deps, t->n_deps + 1))
            return err_nomem(e, "dependencies");
        t->deps[t->n_deps++] = ids[i];
    }
    return 0;
}

static int32_t keep_name(struct chakra_trace *t, const char *name)
{
    int32_t at = (int32_t)t->names.n;
    text_add(&t->names, name, strlen(name) + 1);
    for (char *c = t->names.failed ? NULL : t->names.s + at; c && *c; c++)
        *c = (char)(iscntrl((unsigned char)*c) ? '?' : *c);
    return at;
}

/* The node is stored before it is checked, so that messages can name it. */
static int chakra_add_node(const struct chakra_file_reader *r, const pb_node *m, size_t offset, struct err *e)
{
    struct chakra_trace *t = r->trace;
    struct chakra_node node = { .id = m->id, .duration_us = m->duration_micros, .n_involved = -1 };
    int rc;
    if (t->n_nodes >= CHAKRA_MAX_NODES || m->n_ctrl_deps + m->n_data_deps > CHAKRA_MAX_EDGES ||
        (size_t)t->n_deps + m->n_ctrl_deps + m->n_data_deps > CHAKRA_MAX_EDGES)
        return err_set(e, ERR_RANGE, "%s: offset %zu: has more than %d nodes or %d dependencies", r->name,
                       offset, CHAKRA_MAX_NODES, CHAKRA_MAX_EDGES);
    if (!vec_reserve(t->nodes, t->cap_nodes, t->n_nodes + 1))
        return err_nomem(e, "nodes");
    node.name = keep_name(t, m->name);
    node.first_dep = t->n_deps;
    if ((rc = keep_deps(t, m->ctrl_deps, m->n_ctrl_deps, e)) ||
        (rc = keep_deps(t, m->data_deps, m->n_data_deps, e)) || (rc = text_check(&t->names, e)))
        return rc;
    node.n_deps = t->n_deps - node.first_dep;
    t->nodes[t->n_nodes++] = node;
    if (m->type <= CHAKRA_INVALID || m->type >= N_CHAKRA_TYPES)
        return chakra_fail(t, r->name, t->n_nodes - 1, e, ERR_PARSE, "type is %d, expected %d to %d", m->type,
                           CHAKRA_METADATA, N_CHAKRA_TYPES - 1);
    t->nodes[t->n_nodes - 1].type = (enum chakra_type)m->type;
    for (size_t i = 0; i < m->n_attr && !rc; i++)
        rc = take_attribute(r, m->attr[i], e);
    return rc;
}

/* ---- records ---- */

/* Low seven bits first, at most `most` bytes; false when it does not end in them or in the file. */
static bool take_varint(const uint8_t *bytes, size_t n, size_t *pos, int most, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < most && *pos < n; i++) {
        uint8_t byte = bytes[(*pos)++];
        *out |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Skip the value of a field; false where the record is no message. */
static bool skip_value(const uint8_t *bytes, size_t n, size_t *pos, unsigned wire)
{
    uint64_t size = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0)
        return take_varint(bytes, n, pos, 10, &size);
    if (wire == 2 && !take_varint(bytes, n, pos, 10, &size))
        return false;
    if ((wire != 1 && wire != 2 && wire != 5) || size > n - *pos)
        return false;
    *pos += (size_t)size;
    return true;
}

/* The schemas before 2023-10 kept attributes in field 11 of a node, which the present one does not have. */
static bool has_field_11(const uint8_t *bytes, size_t n)
{
    uint64_t tag;
    for (size_t pos = 0; pos < n && take_varint(bytes, n, &pos, 5, &tag);) {
        if (tag >> 3 == 11)
            return true;
        if (!skip_value(bytes, n, &pos, (unsigned)(tag & 7)))
            return false;
    }
    return false;
}

/* Records are prefixed by their length; all limits are checked before memory is taken. The next one is
 * behind it. */
static int take_record(const uint8_t **record, size_t *length, struct chakra_file_reader *r, struct err *e)
{
    size_t start = r->pos;
    uint64_t n;
    if (!take_varint(r->bytes, r->n, &r->pos, 5, &n) || n > UINT32_MAX)
        return err_set(e, ERR_PARSE, "%s: offset %zu: record length is not a 32-bit varint", r->name, start);
    if (n > r->n - r->pos)
        return err_set(e, ERR_PARSE, "%s: offset %zu: record needs %llu bytes, file has %zu left", r->name,
                       start, (unsigned long long)n, r->n - r->pos);
    if (n > CHAKRA_MAX_RECORD)
        return err_set(e, ERR_RANGE, "%s: offset %zu: record has %llu bytes, expected at most %d", r->name,
                       start, (unsigned long long)n, CHAKRA_MAX_RECORD);
    *length = (size_t)n;
    *record = r->bytes + r->pos;
    r->pos += *length;
    return 0;
}

/* protobuf-c answers NULL to a bad record and to lack of memory alike: its allocator, which is ours, knows.
 */
static void *record_alloc(void *lacks, size_t n)
{
    void *p = malloc(n);
    if (!p)
        *(bool *)lacks = true;
    return p;
}

static void record_release(void *lacks, void *p)
{
    (void)lacks;
    free(p);
}

static int refuse_record(const struct chakra_file_reader *r, const uint8_t *record, size_t n, size_t start,
                         const char *what, struct err *e)
{
    if (r->lacks)
        return err_nomem(e, r->name);
    if (has_field_11(record, n))
        return err_set(
            e, ERR_PARSE,
            "%s: offset %zu: pre-2023-10 Chakra schema (field 11), expected one of 2023-10 or later", r->name,
            start);
    return err_set(e, ERR_PARSE, "%s: offset %zu: record is not %s", r->name, start, what);
}

/* The first record; only its form is checked. */
static int read_metadata(struct chakra_file_reader *r, struct err *e)
{
    size_t start = r->pos, n;
    const uint8_t *record;
    int rc = take_record(&record, &n, r, e);
    if (rc)
        return rc;
    ProtobufCAllocator memory = { record_alloc, record_release, &r->lacks };
    pb_metadata *m = chakra_pb__metadata__unpack(&memory, n, record);
    if (!m)
        return refuse_record(r, record, n, start, "metadata", e);
    chakra_pb__metadata__free_unpacked(m, &memory);
    return 0;
}

/* Field 11 existed only in the schema before October 2023, whose numbers mean other things. */
static int read_node(struct chakra_file_reader *r, struct err *e)
{
    size_t start = r->pos, n;
    const uint8_t *record;
    int rc = take_record(&record, &n, r, e);
    if (rc)
        return rc;
    if (has_field_11(record, n))
        return refuse_record(r, record, n, start, "a node", e);
    ProtobufCAllocator memory = { record_alloc, record_release, &r->lacks };
    pb_node *m = chakra_pb__node__unpack(&memory, n, record);
    if (!m)
        return refuse_record(r, record, n, start, "a node", e);
    rc = chakra_add_node(r, m, start, e);
    chakra_pb__node__free_unpacked(m, &memory);
    return rc;
}

/* A brace, blanks and a quotation mark: as a record it would start with a version that nobody writes. */
static bool is_json(const char *bytes, size_t n)
{
    size_t i = 1;
    while (i < n && isspace((unsigned char)bytes[i]))
        i++;
    return i < n && bytes[0] == '{' && bytes[i] == '"';
}

/* Compressed and JSON traces are recognised, to say what to do instead of "not a record". */
int chakra_read_trace(struct chakra_trace *t, const char *name, const char *bytes, size_t n, struct err *e)
{
    struct chakra_file_reader r = { .name = name, .bytes = (const uint8_t *)bytes, .n = n, .trace = t };
    *t = (struct chakra_trace){ 0 };
    if (n >= 2 && r.bytes[0] == 0x1f && r.bytes[1] == 0x8b)
        return err_set(e, ERR_UNSUP, "%s: is compressed with gzip; unpack it", name);
    if (is_json(bytes, n))
        return err_set(e, ERR_UNSUP, "%s: is a trace in JSON; use the binary form (.et)", name);
    if (n > CHAKRA_MAX_BYTES)
        return err_set(e, ERR_RANGE, "%s: is %zu bytes, expected at most %d", name, n, CHAKRA_MAX_BYTES);
    if (n == 0)
        return err_set(e, ERR_PARSE, "%s: is empty, expected metadata and nodes", name);
    int rc = read_metadata(&r, e);
    while (!rc && r.pos < n)
        rc = read_node(&r, e);
    if (!rc && t->n_nodes == 0)
        rc = err_set(e, ERR_PARSE, "%s: has no nodes, expected at least one", name);
    if (rc)
        chakra_trace_free(t);
    return rc;
}

/* Groups that are equal are kept once: a step has at most GROUP_MAX. */
int chakra_take_group(int32_t *group, struct step_tree *t, const char *name, const int32_t *members,
                      const int32_t *stride, struct err *e)
{
    size_t n = (size_t)t->n_dims * sizeof *members;
    for (int32_t g = 0; g < t->n_groups; g++)
        if (memcmp(t->groups[g].members, members, n) == 0 && memcmp(t->groups[g].stride, stride, n) == 0) {
            *group = g;
            return 0;
        }
    if (t->n_groups >= GROUP_MAX)
        return err_set(e, ERR_RANGE, "%s: group \"%s\" is one too many, expected at most %d different ones",
                       t->name, name, GROUP_MAX);
    *group = step_add_group_after(t, name, members, stride);
    return step_check(t, e);
}

/* ---- ranks of a process group ---- */

/* Which NPU along dimension d; NPUs are counted with the innermost dimension fastest. */
static int32_t coordinate(const struct topo_network *net, int32_t rank, int32_t d)
{
    for (int32_t k = 0; k < d; k++)
        rank /= net->dims[k].size;
    return rank % net->dims[d].size;
}

/* Do two ranks differ along no dimension but d? */
static bool only_along(const struct topo_network *net, int32_t a, int32_t b, int32_t d)
{
    for (int32_t k = 0; k < net->n_dims; k++)
        if (k != d && coordinate(net, a, k) != coordinate(net, b, k))
            return false;
    return true;
}

/*
 * Of ranks that are a rectangle, in ascending order, the first m_1 differ along dimension 1 only, every
 * m_1-th of the first m_1 m_2 along dimension 2 only, and so on. False when they are none.
 */
static bool find_rectangle(int32_t *members, int32_t *stride, const struct topo_network *net,
                           const int32_t *ranks, int32_t n)
{
    int64_t block = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        int32_t m = 1, first = coordinate(net, ranks[0], d);
        while (block * m < n && only_along(net, ranks[0], ranks[block * m], d))
            m++;
        members[d] = m;
        stride[d] = m > 1 ? coordinate(net, ranks[block], d) - first : 1;
        block *= m;
        int64_t period = (int64_t)stride[d] * m;
        if (m > 1 && (net->dims[d].size % period || first % period >= stride[d]))
            return false;
    }
    return block == n;
}

/* Whether the ranks are exactly those of the box with these members and strides. */
static bool is_rectangle(const int32_t *members, const int32_t *stride, const struct topo_network *net,
                         const int32_t *ranks, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        int64_t rank = ranks[0], weight = 1;
        int32_t rest = k;
        for (int32_t d = 0; d < net->n_dims; d++) {
            rank += weight * stride[d] * (rest % members[d]);
            rest /= members[d];
            weight *= net->dims[d].size;
        }
        if (rank != ranks[k])
            return false;
    }
    return true;
}

/* The ranks of a list, sorted, each once. */
static int read_ranks(int32_t *ranks, const struct yaml_doc *doc, yaml_id list,
                      const struct topo_network *net, struct err *e)
{
    int32_t n = 0;
    yaml_each (id, doc, list) {
        int64_t rank;
        int rc = yaml_count(doc, id, &rank, e);
        if (rc)
            return rc;
        if (rank >= net->n_npus)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 0 to %lld", (long long)rank,
                             (long long)net->n_npus - 1);
        ranks[n++] = (int32_t)rank;
    }
    stat_sort_numbers(ranks, n);
    for (int32_t k = 1; k < n; k++)
        if (ranks[k] == ranks[k - 1])
            return yaml_fail(doc, list, e, ERR_RANGE, "has rank %d twice", ranks[k]);
    return 0;
}

/* weft's groups are boxes; any other list of ranks has no closed form. */
static int refuse_shape(const struct yaml_doc *doc, yaml_id list, const char *id,
                        const struct topo_network *net, struct err *e)
{
    struct text dims = { 0 };
    char place[400];
    for (int32_t d = 0; d < net->n_dims; d++)
        text_printf(&dims, "%s%d", d ? ", " : "[", net->dims[d].size);
    err_set(
        e, ERR_RANGE,
        "%s: communicator group \"%s\" is not a box in the dimensions %s]; steps along each must be equal",
        yaml_place(doc, list, place, sizeof place), id, text_str(&dims));
    text_free(&dims);
    return e->code;
}

/* Ranks are sorted first, so that the order in the file does not matter. */
static int shape_of(int32_t *group, struct step_tree *t, const struct topo_network *net,
                    const struct yaml_doc *doc, yaml_id list, const char *id, int32_t rank, int32_t *ranks,
                    struct err *e)
{
    int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS], n = doc->nodes[list].n;
    char name[TOPO_NAME];
    int rc = read_ranks(ranks, doc, list, net, e);
    if (rc)
        return rc;
    bool there = false;
    for (int32_t k = 0; k < n; k++)
        there = there || ranks[k] == rank;
    if (!there)
        return yaml_fail(doc, list, e, ERR_RANGE, "does not have rank %d, whose trace names it", rank);
    if (!find_rectangle(members, stride, net, ranks, n) || !is_rectangle(members, stride, net, ranks, n))
        return refuse_shape(doc, list, id, net, e);
    snprintf(name, sizeof name, "group %s", id);
    return chakra_take_group(group, t, name, members, stride, e);
}

/* Looks the group up by its name in comm_groups and turns its ranks into a box. */
int chakra_process_group(int32_t *group, struct step_tree *t, const struct topo_network *net,
                         const struct yaml_doc *groups, const char *id, int32_t rank, struct err *e)
{
    yaml_id list = yaml_get(groups, groups->root, id);
    if (list < 0)
        return yaml_fail(groups, groups->root, e, ERR_PARSE, "has no communicator group \"%s\"", id);
    int rc = yaml_need_list(groups, list, INT32_MAX, "one rank", e);
    if (rc)
        return rc;
    int32_t n = groups->nodes[list].n;
    int32_t *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks)
        return err_nomem(e, "ranks");
    rc = shape_of(group, t, net, groups, list, id, rank, ranks, e);
    free(ranks);
    return rc;
}

/* ---- point to point ---- */

/* Sender to receiver: along each dimension in which they differ, by steps of their distance where that
 * divides the dimension, else of one. src and dst differ and are NPUs of net. 0, ERR_RANGE,
 * ERR_NOMEM. */
static int chakra_send_group(int32_t *group, struct step_tree *t, const struct topo_network *net, int32_t src,
                             int32_t dst, struct err *e)
{
    int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
    struct text name = { 0 };
    text_puts(&name, "send");
    for (int32_t d = 0; d < net->n_dims; d++) {
        int32_t size = net->dims[d].size;
        int32_t far = abs(coordinate(net, dst, d) - coordinate(net, src, d));
        members[d] = far == 0 ? 1 : size % far == 0 ? size / far : size;
        stride[d] = far > 0 && size % far == 0 ? far : 1;
        if (far > 0)
            text_printf(&name, " %s:%d", net->dims[d].name, stride[d]);
    }
    int rc = text_check(&name, e);
    if (!rc)
        rc = chakra_take_group(group, t, text_str(&name), members, stride, e);
    text_free(&name);
    return rc;
}

#define DURATION_MAX_us (COMPUTE_MAX_NS / 1e3)

static int chakra_leaf_refuse(const struct chakra_context *x, int32_t i, struct err *e, enum err_code code,
                              const char *what)
{
    return chakra_fail(x->trace, x->name, i, e, code, "%s", what);
}

static bool has(const struct chakra_node *node, enum chakra_count k)
{
    return (node->has >> k & 1U) != 0;
}

static int chakra_need(const struct chakra_context *x, int32_t i, enum chakra_count k, struct err *e)
{
    if (has(&x->trace->nodes[i], k))
        return 0;
    return chakra_fail(x->trace, x->name, i, e, ERR_PARSE, "has no %s", chakra_count_names[k]);
}

/* ---- compute ---- */

static int chakra_need_npu(struct chakra_context *x, int32_t i, double value, const char *key, const char *of,
                           struct err *e)
{
    x->tree->uses_npu = true;
    if (value > 0)
        return 0;
    return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                       "has %s but no duration; give network.npu.%s to make a time of it", of, key);
}

/* Without a duration: the longer of compute at peak and tensor traffic at full memory bandwidth, as ASTRA-sim
 * has it. */
static int roofline(double *out, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    const struct topo_npu *npu = &x->net->npu;
    int rc;
    *out = 0;
    if ((rc = chakra_need(x, i, CHAKRA_TENSOR_SIZE, e)) || (rc = chakra_need(x, i, CHAKRA_NUM_OPS, e)))
        return rc;
    if (node->counts[CHAKRA_TENSOR_SIZE] == 0)
        return 0;
    if ((rc = chakra_need_npu(x, i, npu->peak_flops, "peak_TFLOPS", "num_ops", e)) ||
        (rc = chakra_need_npu(x, i, npu->mem_Bps, "mem_GBps", "tensor_size", e)))
        return rc;
    *out = fmax((double)node->counts[CHAKRA_NUM_OPS] / npu->peak_flops,
                (double)node->counts[CHAKRA_TENSOR_SIZE] / npu->mem_Bps);
    return 0;
}

/* A duration counts as it is; without one the roofline, or for memory nodes the bytes. */
static int compute_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    bool memory = node->type != CHAKRA_COMP, sized = has(node, CHAKRA_TENSOR_SIZE);
    int rc = 0;
    if ((double)node->duration_us > DURATION_MAX_us)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "duration is %" PRIu64 " us, expected at most %g", node->duration_us,
                           DURATION_MAX_us);
    /* A quotient is the nearest double; ASTRA-sim counts 1 ns where the trace says 0. */
    out->seconds = node->duration_us ? (double)node->duration_us / 1e6 : 1e-9;
    if (node->duration_us == 0 && memory && !(rc = chakra_need(x, i, CHAKRA_TENSOR_SIZE, e)) &&
        !(rc = chakra_need_npu(x, i, x->net->npu.mem_Bps, "mem_GBps", "tensor_size", e)))
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

/* Collectives that weft has no model of are refused by name. */
static int take_kind(struct step_node *out, const struct chakra_context *x, int32_t i, struct err *e)
{
    int rc = chakra_need(x, i, CHAKRA_COMM_TYPE, e);
    if (rc)
        return rc;
    int64_t type = x->trace->nodes[i].counts[CHAKRA_COMM_TYPE];
    if (type >= N_COMM_TYPES)
        return chakra_fail(x->trace, x->name, i, e, ERR_PARSE, "comm_type is %" PRId64 ", expected 0 to %d",
                           type, N_COMM_TYPES - 1);
    if (comm_types[type].kind < 0)
        return chakra_fail(x->trace, x->name, i, e, ERR_UNSUP, "collective %s not supported",
                           comm_types[type].name);
    out->collective = (enum collective_kind)comm_types[type].kind;
    return 0;
}

/* Communication on the CPU does not use the network that is modelled here. */
static int take_size(struct step_node *out, const struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    int rc = chakra_need(x, i, CHAKRA_COMM_SIZE, e);
    if (rc)
        return rc;
    if (node->is_cpu_op)
        return chakra_leaf_refuse(x, i, e, ERR_UNSUP, "communication with is_cpu_op true, expected false");
    if ((double)node->counts[CHAKRA_COMM_SIZE] > BYTES_MAX_B)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "comm_size is %" PRId64 ", expected at most %g", node->counts[CHAKRA_COMM_SIZE],
                           BYTES_MAX_B);
    int64_t priority = node->counts[CHAKRA_COMM_PRIORITY];
    if (priority > PRIORITY_MAX)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "comm_priority is %" PRId64 ", expected 0 to %d", priority, PRIORITY_MAX);
    out->bytes = (double)node->counts[CHAKRA_COMM_SIZE];
    out->priority = (int32_t)priority;
    return 0;
}

/* Whole dimensions. Entries beyond the network's must be false, or all true: the way "all" is written. */
static int chakra_leaf_take_dims(int32_t *group, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS], n_dims = x->net->n_dims;
    char name[TOPO_NAME] = "";
    bool all = node->involved == (1U << node->n_involved) - 1, surplus = node->involved >> n_dims != 0;
    if (node->n_involved < n_dims || (surplus && !all))
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "involved_dim has %d entries, expected %d, one per dimension", node->n_involved,
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

/* Names of groups are looked up once: traces name the same few thousands of times. */
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
    if (!vec_reserve(x->known, x->cap_known, x->n_known + 1))
        return err_nomem(e, "process groups");
    x->known[x->n_known].group = *group;
    snprintf(x->known[x->n_known++].name, CHAKRA_NAME, "%s", id);
    return 0;
}

/* pg_name "0" or none: all NPUs, or the dimensions that involved_dim says. */
static int take_group(int32_t *group, struct chakra_context *x, int32_t i, struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    if (node->pg_name[0] && strcmp(node->pg_name, "0") != 0) {
        if (!x->groups)
            return chakra_fail(x->trace, x->name, i, e, ERR_PARSE,
                               "pg_name is \"%s\"; give comm_groups, the file that says who is in it",
                               node->pg_name);
        return known_group(group, x, node->pg_name, e);
    }
    *group = 0;
    return node->n_involved < 0 ? 0 : chakra_leaf_take_dims(group, x, i, e);
}

/* Nothing to send, or a group of one, leaves an empty node, which takes no time. */
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

/* Source or destination of a message: the trace's own rank on one side, another on the other. */
static int check_rank(const struct chakra_context *x, int32_t i, enum chakra_count k, bool self,
                      struct err *e)
{
    const struct chakra_node *node = &x->trace->nodes[i];
    if (!has(node, k))
        return self ? 0 : chakra_need(x, i, k, e);
    if (self && node->counts[k] != x->rank)
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "%s is %" PRId64 ", expected %d, the rank of the trace", chakra_count_names[k],
                           node->counts[k], x->rank);
    if (node->counts[k] >= x->net->n_npus || (!self && node->counts[k] == x->rank))
        return chakra_fail(x->trace, x->name, i, e, ERR_RANGE,
                           "%s is %" PRId64 "; choose another rank, 0 to %" PRId64, chakra_count_names[k],
                           node->counts[k], x->net->n_npus - 1);
    return 0;
}

/* A send is a collective of two; its receive costs nothing by itself. */
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

/* One node as a leaf of the step; kinds without cost become empty sums. */
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

/* What all ranks share. */
struct chakra_reader {
    struct step_tree *tree;
    const struct topo_network *net;
    const struct yaml_doc *groups;
    struct compact compact;
    compact_id *roots; /* shape [n_roots], owned: the ranks' different expressions */
    int32_t n_roots, cap_roots;
    int64_t n_joins, n_receives;
};

static const struct key chakra_keys[] = {
    K_REMARK("prefix", "files are PREFIX.RANK.et; path from the folder of the YAML file", .required = true),
    K_ELSEWHERE("ranks", "how many traces, from rank 0 on, or a list of ranks (default: 1)",
                .form = "count or list of counts"),
    K_REMARK("comm_groups", "JSON file {\"id\": [ranks]} of the process groups that pg_name names"),
};

K_SECTION(step_chakra_section, struct chakra_reader, "chakra", chakra_keys,
          "Chakra execution traces, one file per NPU");

/* ---- from ids to numbers ---- */

struct numbered {
    uint64_t id;
    int32_t node;
};

static int by_id(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Nodes by ascending id: their numbers from here on. */
static int sort_nodes(struct numbered *order, const struct chakra_trace *trace, const char *name,
                      struct err *e)
{
    for (int32_t i = 0; i < trace->n_nodes; i++)
        order[i] = (struct numbered){ trace->nodes[i].id, i };
    qsort(order, (size_t)trace->n_nodes, sizeof *order, by_id);
    for (int32_t i = 1; i < trace->n_nodes; i++)
        if (order[i].id == order[i - 1].id)
            return err_set(e, ERR_RANGE, "%s: duplicate node id %" PRIu64, name, order[i].id);
    return 0;
}

/* What each number waits for. begin: shape [n_nodes + 1], waits: shape [n_deps]. */
static int number_waits(int32_t *begin, int32_t *waits, const struct numbered *order,
                        const struct chakra_trace *trace, const char *name, struct err *e)
{
    begin[0] = 0;
    for (int32_t i = 0; i < trace->n_nodes; i++) {
        const struct chakra_node *node = &trace->nodes[order[i].node];
        begin[i + 1] = begin[i] + node->n_deps;
        for (int32_t k = 0; k < node->n_deps; k++) {
            struct numbered wanted = { .id = trace->deps[node->first_dep + k] };
            const struct numbered *found =
                bsearch(&wanted, order, (size_t)trace->n_nodes, sizeof *order, by_id);
            if (!found)
                return err_set(e, ERR_RANGE,
                               "%s: node %" PRIu64 " \"%.64s\" depends on node %" PRIu64 ", not in this file",
                               name, node->id, text_str(&trace->names) + node->name, wanted.id);
            waits[begin[i] + k] = (int32_t)(found - order);
        }
    }
    return 0;
}

static signed char lane_of(const struct chakra_node *node)
{
    if (node->type != CHAKRA_COMP)
        return DAG_NO_LANE;
    return node->is_cpu_op ? 1 : 0;
}

/* The nodes of a trace in the order of issue; g->task are places in the file. */
static int order_nodes(struct dag *g, const struct chakra_trace *trace, const char *name, struct err *e)
{
    size_t n = (size_t)trace->n_nodes;
    int32_t cycle = 0;
    struct arena own = { 0 };
    struct numbered *order = ARENA_TAKE(&own, n, *order);
    int32_t *begin = ARENA_TAKE(&own, n + 1, *begin), *waits = ARENA_TAKE(&own, trace->n_deps, *waits);
    signed char *lane = ARENA_TAKE(&own, n, *lane);
    int rc = arena_check(&own, "nodes", e);
    if (!rc && !(rc = sort_nodes(order, trace, name, e)) &&
        !(rc = number_waits(begin, waits, order, trace, name, e))) {
        for (size_t i = 0; i < n; i++)
            lane[i] = lane_of(&trace->nodes[order[i].node]);
        rc = dag_build(g, trace->n_nodes, begin, waits, lane, &cycle, e);
        if (rc == ERR_RANGE)
            rc = chakra_fail(trace, name, order[cycle].node, e, ERR_RANGE,
                             "waits for itself through others: a cycle of dependencies");
        for (int32_t i = 0; i < g->n && !rc; i++)
            g->task[i] = order[g->task[i]].node;
    }
    arena_free(&own);
    return rc;
}

/* ---- from nodes to an expression ---- */

/* The leaf of each task in the order of issue; -1 and false for what takes no time. */
static int make_leaves(compact_id *leaf_of, bool *takes_time, struct chakra_reader *r,
                       struct chakra_context *x, const struct dag *g, struct err *e)
{
    for (int32_t i = 0; i < g->n; i++) {
        struct step_node leaf;
        int rc = chakra_leaf(&leaf, x, g->task[i], e);
        if (rc)
            return rc;
        takes_time[i] = leaf.kind != STEP_SUM;
        leaf_of[i] = takes_time[i] ? compact_leaf(&r->compact, &leaf) : -1;
        if (takes_time[i] && leaf_of[i] < 0)
            return err_nomem(e, "the training step");
        r->n_receives += x->trace->nodes[g->task[i]].type == CHAKRA_RECV;
    }
    return 0;
}

/* Leaves first, then the graph is folded (chakra_fold.c) and put into the common store of equal parts. */
static int fold_trace(compact_id *root, struct chakra_reader *r, struct chakra_context *x,
                      const struct dag *g, struct err *e)
{
    struct fold f = { .root = -1 };
    struct arena own = { 0 };
    compact_id *leaf_of = ARENA_TAKE(&own, g->n, *leaf_of);
    bool *takes_time = ARENA_TAKE(&own, g->n, *takes_time);
    int rc = arena_check(&own, "nodes", e);
    if (!rc && !(rc = make_leaves(leaf_of, takes_time, r, x, g, e)) && !(rc = fold_dag(&f, g, takes_time, e)))
        rc = compact_fold(&r->compact, root, &f, leaf_of, e);
    r->n_joins += f.n_joins;
    fold_free(&f);
    arena_free(&own);
    return rc;
}

/* Ranks that do the same count once. */
static int keep_root(struct chakra_reader *r, compact_id root, struct err *e)
{
    for (int32_t i = 0; i < r->n_roots; i++)
        if (r->roots[i] == root)
            return 0;
    if (!vec_reserve(r->roots, r->cap_roots, r->n_roots + 1))
        return err_nomem(e, "traces");
    if (root >= 0)
        r->roots[r->n_roots++] = root;
    return 0;
}

/* One file: read, order, fold. */
static int add_trace(struct chakra_reader *r, const char *name, const char *bytes, size_t n, int32_t rank,
                     struct err *e)
{
    struct chakra_trace trace = { 0 };
    struct dag g = { 0 };
    struct chakra_context x = {
        .tree = r->tree,
        .net = r->net,
        .trace = &trace,
        .name = name,
        .rank = rank,
        .groups = r->groups,
    };
    compact_id root = -1;
    int rc = chakra_read_trace(&trace, name, bytes, n, e);
    if (!rc && !(rc = order_nodes(&g, &trace, name, e)) && !(rc = fold_trace(&root, r, &x, &g, e)))
        rc = keep_root(r, root, e);
    free(x.known);
    dag_free(&g);
    chakra_trace_free(&trace);
    return rc;
}

/* The step is the slowest of its ranks. Waits that had to be added or left out are told, with the direction
 * of the error. */
static int write_step(struct chakra_reader *r, struct err *e)
{
    struct step_tree *t = r->tree;
    step_id step =
        step_add(t, -1, (struct step_node){ .kind = STEP_SUM, .phase = STEP_OTHER, .name = "step" });
    if (r->n_roots > 1)
        step = step_add(
            t, step,
            (struct step_node){ .kind = STEP_MAX, .phase = STEP_OTHER, .name = "ranks", .apart = true });
    for (int32_t i = 0; i < r->n_roots; i++)
        compact_write(&r->compact, t, step, r->roots[i]);
    int32_t stage = 0;
    for (step_id c = r->n_roots > 1 && step >= 0 ? t->nodes[step].first : -1; c >= 0; c = t->nodes[c].next)
        t->nodes[c].stage = ++stage;
    if (r->n_joins > 0)
        text_printf(&t->notes,
                    "%s: waits added to write the trace in sums and maxima: %" PRId64
                    "; its time may be too long\n",
                    t->name, r->n_joins);
    if (r->n_receives > 0)
        text_printf(&t->notes,
                    "%s: receives that do not wait for their senders: %" PRId64
                    "; its time may be too short\n",
                    t->name, r->n_receives);
    int rc = step_check(t, e);
    return rc ? rc : text_check(&t->notes, e);
}

static int end_read(struct chakra_reader *r, int rc, struct err *e)
{
    if (!rc)
        rc = write_step(r, e);
    compact_free(&r->compact);
    free(r->roots);
    if (rc)
        step_free(r->tree);
    return rc;
}

int chakra_read_bytes(struct step_tree *t, const char *name, const char *bytes, size_t n, int32_t rank,
                      const struct yaml_doc *groups, const struct topo_network *net, struct err *e)
{
    struct chakra_reader r = { .tree = t, .net = net, .groups = groups };
    assert(rank >= 0 && rank < net->n_npus);
    step_begin(t, name, net);
    int rc = step_check(t, e);
    if (!rc)
        rc = add_trace(&r, name, bytes, n, rank, e);
    return end_read(&r, rc, e);
}

/* ---- the files that YAML names ---- */

/*  */
static int add_file(struct chakra_reader *r, const struct yaml_doc *doc, yaml_id id, const char *path,
                    int64_t rank, struct err *e)
{
    struct text content = { 0 };
    struct err inner = { 0 };
    int rc = 0;
    if (rank >= r->net->n_npus)
        return yaml_fail(doc, id, e, ERR_RANGE,
                         "names rank %lld, expected 0 to %lld, the NPUs of the network", (long long)rank,
                         (long long)r->net->n_npus - 1);
    if (text_read_file(&content, path, CHAKRA_MAX_BYTES, &inner))
        rc = yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
    if (!rc)
        rc = add_trace(r, path, text_str(&content), content.n, (int32_t)rank, e);
    text_free(&content);
    return rc;
}

/* RANK of "PREFIX.RANK.et"; 0 when the name is another. */
static int64_t rank_of_path(const char *path)
{
    char digits[16];
    size_t n = strlen(path), end = n > 3 ? n - 3 : 0, begin = end;
    int64_t rank = 0;
    while (begin > 0 && path[begin - 1] >= '0' && path[begin - 1] <= '9')
        begin--;
    if (end == 0 || strcmp(path + end, ".et") != 0 || begin == 0 || path[begin - 1] != '.' ||
        end - begin >= sizeof digits)
        return 0;
    memcpy(digits, path + begin, end - begin);
    digits[end - begin] = '\0';
    return num_parse_count(digits, &rank) ? rank : 0;
}

static int add_rank(struct chakra_reader *r, const struct yaml_doc *doc, yaml_id at, const char *prefix,
                    int64_t rank, struct err *e)
{
    struct text path = { 0 };
    text_printf(&path, "%s.%lld.et", prefix, (long long)rank);
    int rc = text_check(&path, e);
    if (!rc)
        rc = add_file(r, doc, at, text_str(&path), rank, e);
    text_free(&path);
    return rc;
}

/* The first N ranks, or those of a list. */
static int add_ranks(struct chakra_reader *r, const struct yaml_doc *doc, yaml_id at, yaml_id ranks,
                     const char *prefix, struct err *e)
{
    int64_t n = 1, rank;
    int rc = 0;
    bool list = ranks >= 0 && doc->nodes[ranks].kind == YAML_SEQ;
    if (list)
        n = doc->nodes[ranks].n;
    else if (ranks >= 0 && (rc = yaml_count(doc, ranks, &n, e)))
        return rc;
    if (n < 1 || n > CHAKRA_MAX_RANKS)
        return yaml_fail(doc, ranks, e, ERR_RANGE, "is %lld, expected 1 to %d traces", (long long)n,
                         CHAKRA_MAX_RANKS);
    for (int64_t i = 0; !list && i < n && !rc; i++)
        rc = add_rank(r, doc, ranks >= 0 ? ranks : at, prefix, i, e);
    if (list)
        yaml_each (id, doc, ranks)
            if (!rc && !(rc = yaml_count(doc, id, &rank, e)))
                rc = add_rank(r, doc, id, prefix, rank, e);
    return rc;
}

/* A JSON file, which the YAML reader reads as well. */
static int read_groups(struct yaml_doc *groups, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct text path = { 0 };
    yaml_beside(&path, doc, id);
    int rc = text_check(&path, e);
    if (!rc)
        rc = yaml_read_file(groups, text_str(&path), e);
    if (!rc)
        rc = yaml_need(groups, groups->root, YAML_MAP, e);
    text_free(&path);
    return rc;
}

/* A prefix and ranks, in place of one file. */
static int read_map(struct chakra_reader *r, const struct yaml_doc *doc, yaml_id node, struct text *path,
                    struct err *e)
{
    struct yaml_doc groups = { .root = -1 };
    yaml_id at = yaml_get(doc, node, "prefix"), named = yaml_get(doc, node, "comm_groups");
    int rc = schema_read(r, &step_chakra_section, doc, node, e);
    if (!rc && named >= 0)
        rc = read_groups(&groups, doc, named, e);
    if (!rc) {
        r->groups = named >= 0 ? &groups : NULL;
        yaml_beside(path, doc, at);
        step_begin(r->tree, text_str(path), r->net);
        rc = text_check(path, e);
        if (!rc)
            rc = add_ranks(r, doc, at, yaml_get(doc, node, "ranks"), text_str(path), e);
    }
    yaml_free(&groups);
    return rc;
}

/* A file name alone is one trace; its rank is taken from its name. */
int chakra_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
                struct err *e)
{
    struct chakra_reader r = { .tree = t, .net = net };
    struct text path = { 0 };
    int rc = 0;
    *t = (struct step_tree){ .root = -1 };
    if (doc->nodes[node].kind == YAML_MAP) {
        rc = read_map(&r, doc, node, &path, e);
    } else {
        const char *file;
        rc = yaml_text(doc, node, &file, e);
        if (!rc) {
            yaml_beside(&path, doc, node);
            step_begin(t, text_str(&path), net);
            rc = text_check(&path, e);
        }
        if (!rc)
            rc = add_file(&r, doc, node, text_str(&path), rank_of_path(text_str(&path)), e);
    }
    text_free(&path);
    return end_read(&r, rc, e);
}
