/** @file Studies of designs: the split of bandwidth at every point. The first of the kinds (study/kind.h). */
#ifndef KINDS_DESIGN_EXPLORE_RUNNER_H
#define KINDS_DESIGN_EXPLORE_RUNNER_H

#include "kinds/design/ask/point.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/explore/uncertain.h"
#include "study/kind.h"
#include "study/study.h"
#include "study/axes.h"

extern const struct study_kind design_kind;

/** The design's study at a point of @p s. Errors as
 * design_point_read().
 */
int design_load(struct design_point *out, const struct study *s, const struct sweep_point *p, struct err *e);

/** Does `where` leave point @p p in, whose network is @p net? NULL: as far as is known without it. */
bool design_passes(const struct study *s, const struct sweep_point *p, const struct topo_network *net);

/*
 * One point as a row of its table.
 */

/** Words of a study that a row begins with; the same for all points that differ in quick keys alone, but for
 * the word of a network without a name. Zero-initialise; release with design_words_free(). */
struct design_words {
    struct text network, dims, workload;
};

/** ERR_NOMEM. */
int design_words_take(struct design_words *words, const struct design_point *s, struct err *e);
/** After design_point_change(). */
int design_words_change(struct design_words *words, const struct design_point *s, struct err *e);
void design_words_free(struct design_words *words);

/** All columns of a study with @p u: those of percentiles come after exposed#_s. @p out of
 * DESIGN_MAX_COLUMNS, @p made of uncertain_n_columns(), which @p out points into. */
enum { DESIGN_MAX_COLUMNS = 80 + UNCERTAIN_MAX_COLUMNS };
void design_make_columns(struct column *out, struct made_column *made, const struct uncertain *u);

/** What is known of the point before it is solved. */
void design_row_ask(struct design_row *row, const struct design_point *s, const struct design_words *words);
/** That and what @p d says of itself, with what is uncertain, as a row of @p rows, which has
 * study_put_columns(). ERR_NOMEM. */
int design_put_row(struct table *rows, const struct study *study, const struct design_point *s,
                   const struct design_words *words, const struct sweep_point *p, int64_t point,
                   const struct design *d, struct err *e);
/** A point that cannot be read is told by the values of its axes, as they are written. */
void design_row_axes(struct design_row *row, const struct sweep *w, const struct sweep_point *p);

/*
 * Points of designs into rows: one runner a thread, which keeps what the next point needs too.
 */

/** Opaque: studies that were read, work space. */
struct runner;

/** One a thread. ERR_NOMEM; ERR_PARSE: the rule names a column that rows lack. Then *out is NULL. */
int runner_build(struct runner **out, const struct block_job *job, struct err *e);
void runner_free(void *hand); /**< NULL is fine */

/**
 * Append the rows of a unit to @p rows (with study_put_columns()), and count. The same rows whatever the
 * runner did before. A point that cannot be read or solved is a row with a status and a message.
 * @return 0, or ERR_NOMEM.
 */
int runner_unit(void *hand, const struct sweep_unit *unit, struct table *rows, struct sweep_counts *n,
                struct err *e);

/** The study at the first point of a unit, whatever `where` says of it: borrowed until the runner is asked
 * again; NULL: it cannot be read. Only lack of memory and the like are failures. */
int runner_read(const struct design_point **out, void *hand, const struct sweep_unit *unit, struct err *e);

/** Numbers of a network for `where`, of DESIGN_FACTS: as design_fact_names. */
enum { DESIGN_FACTS = 2 + TOPO_MAX_DIMS };
extern const char *const design_fact_names[DESIGN_FACTS + 1];
void design_facts(double *x, const struct topo_network *net);

#endif
