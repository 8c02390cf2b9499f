/** @file Expressions with equal parts kept once, and rows of equal parts made repeats. */
#ifndef WORKLOADS_COMPACT_H
#define WORKLOADS_COMPACT_H

#include "workloads/fold.h"
#include "workloads/step.h"

/** Index into compact.items, -1 = nothing. Equal parts, names apart, have the same. */
typedef int32_t compact_id;

enum compact_kind { COMPACT_LEAF, COMPACT_SUM, COMPACT_MAX, COMPACT_REPEAT };

struct compact_item {
    enum compact_kind kind;
    int32_t first, count; /**< operands: of SUM in order, of MAX ascending, of REPEAT one; of LEAF none */
    int32_t leaf;         /**< LEAF: which; REPEAT: how often */
};

/** `= { 0 }` is empty. Release with compact_free(). */
struct compact {
    struct compact_item *items; /**< shape [n_items], owned; operands come before what is made of them */
    int32_t n_items, cap_items;
    compact_id *operands; /**< shape [n_operands], owned */
    int32_t n_operands, cap_operands;
    struct step_node *leaves; /**< shape [n_leaves], owned; COMPUTE and COLLECTIVE, all different */
    int32_t n_leaves, cap_leaves;
    int32_t *table; /**< shape [n_table], owned: items by hash, -1 = free */
    int32_t n_table;
    struct compact_work { /**< owned: lists under way, one behind the other */
        int32_t *s;
        int32_t n, cap;
    } list, todo, last;
};

/**
 * The item of a leaf: that of an equal one (all but the name and the phase), else a new one.
 * -1 for lack of memory.
 */
compact_id compact_leaf(struct compact *c, const struct step_node *leaf);

/**
 * Bring in @p f. Sums in sums and maxima in maxima become one; in a sum, parts that follow each other several
 * times become a repeat, the longest stretch first where several fit; a period is looked for among
 * the next 32 places that hold the same part.
 *
 * @param leaf_of   item of each task of @p f.
 * @param[out] out  -1 when @p f is empty.
 * @return 0 or ERR_NOMEM. Time O(n log n), recursion as deep as @p f has maxima in one another.
 */
int compact_fold(struct compact *c, compact_id *out, const struct fold *f, const compact_id *leaf_of,
                 struct err *e);

/** Write item @p id below @p parent; step_check() tells about memory. */
void compact_write(const struct compact *c, struct step_tree *t, step_id parent, compact_id id);

void compact_free(struct compact *c);

#endif
