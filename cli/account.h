/** @file The account of a step (kinds/design/answer/account.h) for people and as data: what every command
 * shows of where its time goes. */
#ifndef CLI_ACCOUNT_H
#define CLI_ACCOUNT_H

#include "base/report.h"
#include "kinds/design/answer/design.h"

/** One account of a table of several, as for models side by side. */
struct account_view {
    const char *title; /**< of its column */
    const struct account *account;
    double time_s;
    const struct design *design; /**< of whose workloads times are told as well; NULL: none */
};

/**
 * A table in text: parts of the step, communication by class of links, and the time. First the name, below
 * @p title, then the seconds of each of @p x, shape [n]; of one alone its share of the time too. A part that
 * is nothing in all of them is left out, but for compute and classes of links.
 */
void account_table(struct report *r, const struct design_point *s, const char *title,
                   const struct account_view *x, int32_t n);

/** Members of the open object in JSON: the parts, exposed_s by class of links. NULL: null, or empty. */
void account_report(struct report *r, const struct account *a, int32_t n_dims);

/** The member "step" of a workload's object in JSON: account_report() with the exposed communication of each
 * axis; of a model in text a table of them. */
void account_report_step(struct report *r, const struct design_point *s, const struct design *d,
                         int32_t load);

/** Name, weight and time of a workload, as members of JSON. */
void account_report_load(struct report *r, const struct design_point *s, const struct design *d,
                         int32_t load);

#endif
