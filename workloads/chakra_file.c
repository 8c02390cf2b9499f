#include "workloads/chakra_file.h"

#include <ctype.h>
#include <protobuf-c/protobuf-c.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "workloads/chakra.pb-c.h"

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

int chakra_fail(const struct chakra_trace *t, const char *name, int32_t node, struct err *e,
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

struct reader {
    const char *name;
    const uint8_t *bytes;
    size_t n, pos;
    struct chakra_trace *trace;
};

static int refuse(const struct reader *r, const pb_attribute *a, const char *need, struct err *e)
{
    return chakra_fail(r->trace, r->name, r->trace->n_nodes - 1, e, ERR_PARSE, "%s is %s, need %s", a->name,
                       kind_of(a), need);
}

static int take_count(const struct reader *r, enum chakra_count k, const pb_attribute *a, struct err *e)
{
    int32_t at = r->trace->n_nodes - 1;
    int64_t x;
    if (!whole_number(a, &x))
        return refuse(r, a, "a whole number", e);
    if (x < 0)
        return chakra_fail(r->trace, r->name, at, e, ERR_RANGE, "%s is %lld, need at least 0", a->name,
                           (long long)x);
    r->trace->nodes[at].counts[k] = x;
    r->trace->nodes[at].has |= 1U << k;
    return 0;
}

static int take_dims(const struct reader *r, const pb_attribute *a, struct err *e)
{
    struct chakra_node *node = &r->trace->nodes[r->trace->n_nodes - 1];
    if (a->value_case != CHAKRA_PB__ATTRIBUTE__VALUE_BOOL_LIST)
        return refuse(r, a, "a list of true and false", e);
    if (a->bool_list->n_values > CHAKRA_MAX_DIMS)
        return chakra_fail(r->trace, r->name, r->trace->n_nodes - 1, e, ERR_RANGE,
                           "involved_dim has %zu entries, need at most %d", a->bool_list->n_values,
                           CHAKRA_MAX_DIMS);
    node->n_involved = (int32_t)a->bool_list->n_values;
    node->involved = 0;
    for (int32_t d = 0; d < node->n_involved; d++)
        node->involved |= (uint32_t)(a->bool_list->values[d] != 0) << d;
    return 0;
}

static int take_attribute(const struct reader *r, const pb_attribute *a, struct err *e)
{
    struct chakra_node *node = &r->trace->nodes[r->trace->n_nodes - 1];
    int64_t flag;
    for (int k = 0; k < N_CHAKRA_COUNTS; k++)
        if (strcmp(a->name, chakra_count_names[k]) == 0)
            return take_count(r, (enum chakra_count)k, a, e);
    if (strcmp(a->name, "involved_dim") == 0)
        return take_dims(r, a, e);
    if (strcmp(a->name, "is_cpu_op") == 0) {
        if (a->value_case == CHAKRA_PB__ATTRIBUTE__VALUE_BOOL_VAL)
            node->is_cpu_op = a->bool_val;
        else if (whole_number(a, &flag))
            node->is_cpu_op = flag != 0;
        else
            return refuse(r, a, "true or false", e);
    }
    if (strcmp(a->name, "pg_name") == 0) {
        if (a->value_case != CHAKRA_PB__ATTRIBUTE__VALUE_STRING_VAL)
            return refuse(r, a, "a text", e);
        if (strlen(a->string_val) >= CHAKRA_NAME)
            return chakra_fail(r->trace, r->name, r->trace->n_nodes - 1, e, ERR_RANGE,
                               "pg_name has %zu bytes, need at most %d", strlen(a->string_val),
                               CHAKRA_NAME - 1);
        snprintf(node->pg_name, sizeof node->pg_name, "%s", a->string_val);
    }
    return 0;
}

/* ---- nodes ---- */

static int keep_deps(struct chakra_trace *t, const uint64_t *ids, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t *grown = array_grow(t->deps, t->n_deps, &t->cap_deps, sizeof *grown);
        if (!grown)
            return err_nomem(e, "dependencies");
        t->deps = grown;
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

static int add_node(const struct reader *r, const pb_node *m, size_t offset, struct err *e)
{
    struct chakra_trace *t = r->trace;
    struct chakra_node node = { .id = m->id, .duration_us = m->duration_micros, .n_involved = -1 };
    int rc;
    if (t->n_nodes >= CHAKRA_MAX_NODES || m->n_ctrl_deps + m->n_data_deps > CHAKRA_MAX_EDGES ||
        (size_t)t->n_deps + m->n_ctrl_deps + m->n_data_deps > CHAKRA_MAX_EDGES)
        return err_set(e, ERR_RANGE, "%s: offset %zu: has more than %d nodes or %d dependencies, need fewer",
                       r->name, offset, CHAKRA_MAX_NODES, CHAKRA_MAX_EDGES);
    struct chakra_node *grown = array_grow(t->nodes, t->n_nodes, &t->cap_nodes, sizeof *grown);
    if (!grown)
        return err_nomem(e, "nodes");
    t->nodes = grown;
    node.name = keep_name(t, m->name);
    node.first_dep = t->n_deps;
    if ((rc = keep_deps(t, m->ctrl_deps, m->n_ctrl_deps, e)) ||
        (rc = keep_deps(t, m->data_deps, m->n_data_deps, e)) || (rc = text_check(&t->names, e)))
        return rc;
    node.n_deps = t->n_deps - node.first_dep;
    t->nodes[t->n_nodes++] = node;
    if (m->type <= CHAKRA_INVALID || m->type >= N_CHAKRA_TYPES)
        return chakra_fail(t, r->name, t->n_nodes - 1, e, ERR_PARSE, "type is %d, need %d to %d", m->type,
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

static int take_length(struct reader *r, size_t *length, struct err *e)
{
    size_t start = r->pos;
    uint64_t n;
    if (!take_varint(r->bytes, r->n, &r->pos, 5, &n) || n > UINT32_MAX)
        return err_set(e, ERR_PARSE, "%s: offset %zu: record length is not a 32-bit varint", r->name, start);
    if (n > r->n - r->pos)
        return err_set(e, ERR_PARSE, "%s: offset %zu: record needs %llu bytes, file has %zu left", r->name,
                       start, (unsigned long long)n, r->n - r->pos);
    if (n > CHAKRA_MAX_RECORD)
        return err_set(e, ERR_RANGE, "%s: offset %zu: record has %llu bytes, need at most %d", r->name, start,
                       (unsigned long long)n, CHAKRA_MAX_RECORD);
    *length = (size_t)n;
    return 0;
}

static int refuse_record(const struct reader *r, const uint8_t *record, size_t n, size_t start,
                         const char *what, struct err *e)
{
    if (has_field_11(record, n))
        return err_set(e, ERR_PARSE,
                       "%s: offset %zu: pre-2023-10 Chakra schema (field 11), need one of 2023-10 or later",
                       r->name, start);
    return err_set(e, ERR_PARSE, "%s: offset %zu: record is not %s", r->name, start, what);
}

static int read_metadata(struct reader *r, struct err *e)
{
    size_t start = r->pos, n;
    int rc = take_length(r, &n, e);
    if (rc)
        return rc;
    const uint8_t *record = r->bytes + r->pos;
    r->pos += n;
    pb_metadata *m = chakra_pb__metadata__unpack(NULL, n, record);
    if (!m)
        return refuse_record(r, record, n, start, "metadata", e);
    chakra_pb__metadata__free_unpacked(m, NULL);
    return 0;
}

static int read_node(struct reader *r, struct err *e)
{
    size_t start = r->pos, n;
    int rc = take_length(r, &n, e);
    if (rc)
        return rc;
    const uint8_t *record = r->bytes + r->pos;
    r->pos += n;
    if (has_field_11(record, n))
        return refuse_record(r, record, n, start, "a node", e);
    pb_node *m = chakra_pb__node__unpack(NULL, n, record);
    if (!m)
        return refuse_record(r, record, n, start, "a node", e);
    rc = add_node(r, m, start, e);
    chakra_pb__node__free_unpacked(m, NULL);
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

int chakra_read_trace(struct chakra_trace *t, const char *name, const char *bytes, size_t n, struct err *e)
{
    struct reader r = { .name = name, .bytes = (const uint8_t *)bytes, .n = n, .trace = t };
    *t = (struct chakra_trace){ 0 };
    if (n >= 2 && r.bytes[0] == 0x1f && r.bytes[1] == 0x8b)
        return err_set(e, ERR_UNSUP, "%s: gzip-compressed trace, need it unpacked", name);
    if (is_json(bytes, n))
        return err_set(e, ERR_UNSUP, "%s: trace in JSON, need the binary form (.et)", name);
    if (n > CHAKRA_MAX_BYTES)
        return err_set(e, ERR_RANGE, "%s: is %zu bytes, need at most %d", name, n, CHAKRA_MAX_BYTES);
    if (n == 0)
        return err_set(e, ERR_PARSE, "%s: is empty, need metadata and nodes", name);
    int rc = read_metadata(&r, e);
    while (!rc && r.pos < n)
        rc = read_node(&r, e);
    if (!rc && t->n_nodes == 0)
        rc = err_set(e, ERR_PARSE, "%s: has no nodes, need at least one", name);
    if (rc)
        chakra_trace_free(t);
    return rc;
}
