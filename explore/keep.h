/** @file What rows of a sweep are kept: all, or a front, the best few, those within a budget. */
#ifndef EXPLORE_KEEP_H
#define EXPLORE_KEEP_H

#include "base/schema.h"
#include "base/table.h"
#include "explore/front.h"

enum { KEEP_MAX_LIMITS = 16 };

/** A column that is to be small, or large. */
struct keep_column {
    char name[64];
    bool large;
};

/** The study's `keep`. All zero: all rows are kept. */
struct keep_rule {
    struct keep_column front[FRONT_MAX_COLUMNS]; /**< shape [n_front]; 0 = no front */
    int32_t n_front;
    struct keep_column top; /**< name "" = no best few */
    int64_t n_top;
    char per[4][64]; /**< shape [n_per]: columns; rows with other values there are held apart */
    int32_t n_per;
    char *where[KEEP_MAX_LIMITS]; /**< shape [n_where], owned: "cost_usd <= 2e6" over columns of results */
    int32_t n_where;
    bool prune; /**< points proved worse than the front are not solved */
};

extern const struct section keep_section;

/** Read `keep` at node @p id (-1 = none) against the columns that rows have. ERR_PARSE, ERR_RANGE with the
 * place. */
int keep_read(struct keep_rule *k, const struct yaml_doc *doc, yaml_id id, const struct table *columns,
              struct err *e);
void keep_rule_free(struct keep_rule *k);
/** Are all rows kept? */
bool keep_all(const struct keep_rule *k);

/** The survivors so far. Opaque. */
struct keep;

int keep_build(struct keep **out, const struct keep_rule *rule, const struct table *columns, struct err *e);
void keep_free(struct keep *k);

/** Offer the rows of a batch; those that are not solved are kept by no rule but "all". */
int keep_offer(struct keep *k, const struct table *rows, struct err *e);
/** Survivors since the last call that are new, as rows (point, and all else, as they were offered), and the
 * points that are survivors no more, shape [*n_gone], borrowed. */
int keep_changes(struct keep *k, struct table *fresh, const int64_t **gone, int64_t *n_gone, struct err *e);
/** The fronts so far, for pruning; borrowed. */
const struct front_set *keep_fronts(const struct keep *k);

#endif
