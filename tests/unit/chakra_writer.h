/** @file Chakra traces for tests, written byte by byte, apart from the schema that reads them. */
#ifndef TESTS_UNIT_CHAKRA_WRITER_H
#define TESTS_UNIT_CHAKRA_WRITER_H

#include "base/text.h"
#include "tests/support.h"

enum { W_METADATA = 1, W_LOAD, W_STORE, W_COMP, W_SEND, W_RECV, W_COLL };
enum { W_ALL_REDUCE = 0, W_ALL_GATHER = 2, W_BROADCAST = 5, W_ALL_TO_ALL, W_REDUCE_SCATTER, W_BARRIER = 9 };
/** Fields of an attribute. */
enum {
    W_DOUBLE = 3,
    W_FLOAT = 5,
    W_INT32 = 7,
    W_INT64 = 9,
    W_UINT64 = 13,
    W_SINT32 = 15,
    W_FIXED64 = 21,
    W_BOOL = 27,
    W_BOOLS = 28,
    W_STRING = 29
};

static inline void put_varint(struct text *t, uint64_t x)
{
    char byte;
    for (; x >= 0x80; x >>= 7) {
        byte = (char)((x & 0x7f) | 0x80);
        text_add(t, &byte, 1);
    }
    byte = (char)x;
    text_add(t, &byte, 1);
}

static inline void put_count(struct text *t, unsigned field, uint64_t x)
{
    put_varint(t, field << 3);
    put_varint(t, x);
}

static inline void put_fixed64(struct text *t, unsigned field, uint64_t x)
{
    put_varint(t, field << 3 | 1);
    for (int i = 0; i < 8; i++) {
        char byte = (char)(x >> 8 * i & 0xff);
        text_add(t, &byte, 1);
    }
}

static inline void put_bytes(struct text *t, unsigned field, const void *s, size_t n)
{
    put_varint(t, field << 3 | 2);
    put_varint(t, n);
    text_add(t, s, n);
}

/** Close an attribute that was filled into @p value, and put it into the node. */
static inline void put_attribute(struct text *node, const char *name, struct text *value)
{
    KEEP(struct text, a, text_free) = { 0 };
    put_bytes(&a, 1, name, strlen(name));
    text_add(&a, text_str(value), value->n);
    put_bytes(node, 10, text_str(&a), a.n);
    text_free(value);
}

/** An attribute of a whole-number field. */
static inline void put_number(struct text *node, const char *name, unsigned field, uint64_t x)
{
    struct text v = { 0 };
    put_count(&v, field, x);
    put_attribute(node, name, &v);
}

static inline void put_string(struct text *node, const char *name, const char *s)
{
    struct text v = { 0 };
    put_bytes(&v, W_STRING, s, strlen(s));
    put_attribute(node, name, &v);
}

/** involved_dim from a word of '0' and '1', packed. */
static inline void put_dims(struct text *node, const char *bits)
{
    struct text v = { 0 };
    KEEP(struct text, list, text_free) = { 0 };
    KEEP(struct text, packed, text_free) = { 0 };
    for (; *bits; bits++)
        put_varint(&packed, *bits == '1');
    put_bytes(&list, 1, text_str(&packed), packed.n);
    put_bytes(&v, W_BOOLS, text_str(&list), list.n);
    put_attribute(node, "involved_dim", &v);
}

/** Begin a node; data_deps as a list that ends with 0 (ids here start at 1), packed; NULL for none. */
static inline struct text begin_node(uint64_t id, const char *name, int type, const uint64_t *deps)
{
    struct text node = { 0 };
    KEEP(struct text, packed, text_free) = { 0 };
    put_count(&node, 1, id);
    put_bytes(&node, 2, name, strlen(name));
    put_count(&node, 3, (uint64_t)type);
    for (; deps && *deps; deps++)
        put_varint(&packed, *deps);
    if (packed.n)
        put_bytes(&node, 5, text_str(&packed), packed.n);
    return node;
}

/** Append the record @p message to a trace, and release it. */
static inline void put_record(struct text *trace, struct text *message)
{
    put_varint(trace, message->n);
    text_add(trace, text_str(message), message->n);
    text_free(message);
}

static inline void begin_trace(struct text *trace)
{
    struct text metadata = { 0 };
    put_bytes(&metadata, 1, "0.0.4", 5);
    put_record(trace, &metadata);
}

static inline void put_comp(struct text *trace, uint64_t id, const uint64_t *deps, uint64_t duration_us)
{
    struct text node = begin_node(id, "comp", W_COMP, deps);
    put_count(&node, 7, duration_us);
    put_record(trace, &node);
}

static inline struct text begin_collective(uint64_t id, const uint64_t *deps, int type, uint64_t size_B)
{
    struct text node = begin_node(id, "coll", W_COLL, deps);
    put_number(&node, "comm_type", W_INT64, (uint64_t)type);
    put_number(&node, "comm_size", W_INT64, size_B);
    return node;
}

static inline void put_collective(struct text *trace, uint64_t id, const uint64_t *deps, int type,
                                  uint64_t size_B)
{
    struct text node = begin_collective(id, deps, type, size_B);
    put_record(trace, &node);
}

#define DEPS(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

#endif
