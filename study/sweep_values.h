/** @file Private to explore/: the values that a study gives to one key, as YAML text. */
#ifndef STUDY_SWEEP_VALUES_H
#define STUDY_SWEEP_VALUES_H

#include "base/num.h"
#include "base/text.h"
#include "study/sweep.h"
#include "study/sweep_keys.h"

/** Zero-initialise; release with sweep_column_free(). */
struct sweep_column {
    struct text text; /**< the values one after another, a NUL after each */
    int64_t n;
    bool generated; /**< as of struct sweep_axis */
};

/** Append a value. Lack of memory shows in text_check(). */
void sweep_column_put(struct sweep_column *c, const char *value);
void sweep_column_free(struct sweep_column *c);

/** Append the value of node @p id as text that means the same where it stands alone or, with @p inside, in a
 * list or map in brackets. */
void sweep_put_yaml(struct text *out, const struct yaml_doc *doc, yaml_id id, bool inside);

/**
 * The values of the key at node @p id: a list, a range, or networks by `factor`.
 * @param c  empty; the caller frees it, also after failure.
 * @return 0; ERR_PARSE, ERR_RANGE with the place; ERR_NOMEM.
 */
int sweep_column_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e);

/** Is it a range without step and points, of which numbers between the ends are samples? Then @p r is filled
 * and checked. */
int sweep_read_between(struct range_conf *r, bool *is_between, const struct yaml_doc *doc, yaml_id id,
                       struct err *e);
/** The sample of @p r at @p share, 0 to 1, as text of 12 digits. */
const char *sweep_between(char buf[NUM_TEXT], const struct range_conf *r, double share);

/** Networks by the map at node @p id; see docs/sweep.md. */
int sweep_factor_read(struct sweep_column *c, const struct yaml_doc *doc, yaml_id id, struct err *e);

#endif
