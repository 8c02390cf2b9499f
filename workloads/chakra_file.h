/** @file The records of a Chakra execution trace (.et), checked one by one, as plain arrays. */
#ifndef WORKLOADS_CHAKRA_FILE_H
#define WORKLOADS_CHAKRA_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/** Caps: far above any trace, low enough that hostile input ends at once. */
enum {
    CHAKRA_MAX_BYTES = 256 << 20,
    CHAKRA_MAX_RECORD = 16 << 20,
    CHAKRA_MAX_NODES = 4000000, /**< of one trace */
    CHAKRA_MAX_EDGES = 32000000,
    CHAKRA_MAX_DIMS = 16, /**< entries of involved_dim */
    CHAKRA_NAME = 32,     /**< of a process group, terminator included */
};

enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_MEM_LOAD,
    CHAKRA_MEM_STORE,
    CHAKRA_COMP,
    CHAKRA_SEND,
    CHAKRA_RECV,
    CHAKRA_COLL,
    N_CHAKRA_TYPES,
};

/** Whole-number attributes of a node; has & (1 << k) says which were given. */
enum chakra_count {
    CHAKRA_NUM_OPS,
    CHAKRA_TENSOR_SIZE,
    CHAKRA_COMM_TYPE,
    CHAKRA_COMM_SIZE,
    CHAKRA_COMM_PRIORITY,
    CHAKRA_COMM_SRC,
    CHAKRA_COMM_DST,
    N_CHAKRA_COUNTS,
};

extern const char *const chakra_count_names[N_CHAKRA_COUNTS];

struct chakra_node {
    uint64_t id, duration_us;
    enum chakra_type type;
    int32_t name;              /**< offset into names */
    int32_t first_dep, n_deps; /**< in deps; both kinds */
    unsigned has;
    int64_t counts[N_CHAKRA_COUNTS]; /**< >= 0 */
    bool is_cpu_op;
    char pg_name[CHAKRA_NAME]; /**< "" or "0": every rank */
    int32_t n_involved;        /**< -1: not given */
    uint32_t involved;         /**< bit d: dimension d, innermost first */
};

/** `= { 0 }` is empty. Release with chakra_trace_free(). */
struct chakra_trace {
    struct chakra_node *nodes; /**< shape [n_nodes], owned; in the order of the file */
    int32_t n_nodes, cap_nodes;
    uint64_t *deps; /**< shape [n_deps], owned; ids, not checked yet */
    int32_t n_deps, cap_deps;
    struct text names; /**< owned; terminated names, without control characters */
};

/**
 * Read the @p n bytes of a trace: records of a 32-bit varint length and that many bytes, the first
 * one metadata, all others nodes. A record of length 0 is an empty message; the file may end between
 * records only. Of an attribute that is given twice the last one counts.
 *
 * Attributes: any whole-number kind is taken for a count, never a real number, a text or a list;
 * is_cpu_op is true or false, or a whole number; involved_dim is a list of true and false. Attributes that
 * no training step needs are ignored.
 *
 * @param name  for messages, which start with "name: offset N: " or "name: node ID "NAME": ".
 * @return 0; ERR_PARSE: not this grammar, with the schemas before 2023-10 named; ERR_RANGE: a
 *         negative count, beyond a cap; ERR_UNSUP: compressed by gzip, or JSON; ERR_NOMEM.
 *         On failure @p t is empty. Time O(n).
 * Source: mlcommons/chakra@21585d8 et_def.proto, restated in chakra.proto.
 */
int chakra_read_trace(struct chakra_trace *t, const char *name, const char *bytes, size_t n, struct err *e);
void chakra_trace_free(struct chakra_trace *t);

/** Record "name: node ID "NAME": " and the message; returns @p code. */
int chakra_fail(const struct chakra_trace *t, const char *name, int32_t node, struct err *e,
                enum err_code code, const char *fmt, ...) ERR_PRINTF(6, 7);

#endif
