/** @file Points of designs into rows: one runner a thread, which keeps what the next point needs too. */
#ifndef KINDS_DESIGN_RUNNER_H
#define KINDS_DESIGN_RUNNER_H

#include "kinds/design/uncertain.h"
#include "study/kind.h"

/** What a study of designs has beside all others: study->own; NULL: nothing is uncertain. */
struct design_own {
    struct uncertain uncertain;
    struct column *columns; /**< owned: of its rows */
    char (*names)[COLUMN_NAME];
};

/** Opaque: studies that were read, work space. */
struct runner;

/** One a thread. ERR_NOMEM; ERR_PARSE: the rule names a column that rows lack. Then *out is NULL. */
int runner_build(struct runner **out, const struct block_job *job, struct err *e);
void runner_free(struct runner *r); /**< NULL is fine */

/**
 * Append the rows of a unit to @p rows (with study_put_columns()), and count. The same rows whatever the
 * runner did before. A point that cannot be read or solved is a row with a status and a message.
 * @return 0, or ERR_NOMEM.
 */
int runner_unit(struct runner *r, const struct order_unit *unit, struct table *rows, struct sweep_counts *n,
                struct err *e);

/** Numbers of a network for `where`, of DESIGN_FACTS: as design_fact_names. */
enum { DESIGN_FACTS = 2 + TOPO_MAX_DIMS };
extern const char *const design_fact_names[DESIGN_FACTS + 1];
void design_facts(double *x, const struct topo_network *net);

#endif
