/** @file The answer to a question: its plans are searched, then its bandwidths are split or taken as given.
 */
#ifndef KINDS_DESIGN_EXPLORE_SOLVE_H
#define KINDS_DESIGN_EXPLORE_SOLVE_H

#include "kinds/design/answer/design.h"

struct search_shelf;

/** Begin an answer: search the plans that @p s leaves open, at the bandwidths of its network where all are
 * given, else together with the split. Errors of choice_begin() and search_plans(); after failure there is
 * nothing to free. */
int design_choose(struct design_choice *c, const struct design_point *s, struct err *e);

/** The same with books that questions share (kinds/design/explore/book.h); NULL: none. */
int design_choose_with(struct design_choice *c, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e);

/** The same of one thread that keeps what it has split (alloc/problem.h); NULL: nothing. */
int design_choose_kept(struct design_choice *c, const struct design_point *s, struct search_shelf *shelf,
                       struct alloc_kept *kept, struct err *e);

/** design_choose(), answer_split(). */
int design_solve(struct design *d, const struct design_point *s, struct err *e);

/** design_choose(), answer_row(). */
int design_for_row(struct design *d, const struct design_point *s, struct err *e);

/** The design at given bandwidths, NULL: those of the network (weft sim, weft check of a fixed network), at
 * which plans are searched, too: answer_at(). */
int design_evaluate(struct design *d, const struct design_point *s, const double *bw_Bps, struct err *e);

#endif
