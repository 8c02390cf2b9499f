/** @file Parts of pages that several commands have: the account of a step, a training step, the whole
 * machine. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "base/report.h"
#include "cli/output.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/answer/training.h"

/** One account of a table of several, as for models side by side. */
struct page_account_view {
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
void page_account_table(struct report *r, const struct design_point *s, const char *title,
                        const struct page_account_view *x, int32_t n);

/** Members of the open object in JSON: the parts, exposed_s by class of links. NULL: null, or empty. */
void page_account(struct report *r, const struct account *a, int32_t n_dims);

/** The member "step" of a workload's object in JSON: page_account() with the exposed communication of each
 * axis; of a model in text a table of them. */
void page_step(struct report *r, const struct design_point *s, const struct design *d, int32_t load);

/** Name, weight and time of a workload, as members of JSON. */
void page_load(struct report *r, const struct design_point *s, const struct design *d, int32_t load);

/** If workload @p i trains a model: plan and mapping, memory, throughput, and the other plans that a search
 * found; in JSON as members of the open object, which is the workload's. In text with the account of its step
 * by axis, which in JSON every workload has (cli/page.h). Nothing in CSV. */
void page_training(struct report *r, const struct design_point *s, const struct design *d, int32_t i);
/** In text, that of all workloads. */
void page_training_text(struct report *r, const struct design_point *s, const struct design *d);

/** Say which plans do not fit into memory; the exit code becomes that of no design. */
void page_say_memory(struct run *run, const struct design_point *s);

/**
 * Where the study has `system`: money of a year, power, failures, goodput; in JSON as object "system" of the
 * open object. Nothing in CSV. @p why: items, parts that fail and what each factor does, too. Lack of memory
 * is kept in @p r.
 */
void page_system(struct report *r, const struct design_point *s, const struct design *d, bool why);

#endif
