/** @file Who ran where and when, from the CSV of `weft place --places`: stays of jobs on servers, and the
 * GPUs that each is drawn on. */
#ifndef PLOTS_GANTT_H
#define PLOTS_GANTT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/names.h"
#include "plots/rows.h"
#include "plots/runs.h"

struct gantt_server {
    int32_t number;
    int64_t row;      /**< of the table, the first with that number */
    struct text name; /**< owned */
};

/** A job on a server for a while. */
struct gantt_stay {
    int32_t run, server, job, n_gpus; /**< server: position among the servers of struct gantt */
    double from, to;
    bool goes_on; /**< the job has GPUs of that server already */
};

/** A stretch of neighbouring GPUs that a job keeps. */
struct gantt_box {
    int32_t run, server, job;
    int32_t gpu, n_gpus; /**< GPUs gpu..gpu+n_gpus-1 of the server */
    double from, to;
};

/** Zero-initialise; release with gantt_free(). */
struct gantt {
    struct runs runs;
    struct gantt_stay *stays; /**< shape [n_stays], owned; by run, server and start */
    int64_t n_stays;
    struct gantt_box *boxes; /**< shape [n_boxes], owned; in the order of the stays */
    int64_t n_boxes, cap_boxes;
    struct names jobs;            /**< owned texts, in the order of the table */
    struct gantt_server *servers; /**< shape [n_servers], owned; by number */
    int32_t n_servers;
    int32_t *most_gpus; /**< shape [n_runs][n_servers], owned: in use at once */
};

/**
 * Read the rows of @p r that pass its filters, of the first point and seed (plots/runs.h). The table does not
 * say on which GPUs of a server a job runs: a job keeps what it has from one row to the next, a new one takes
 * the lowest free neighbours, else the lowest free ones.
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM.
 * Time O(rows * (log(rows) + GPUs of a server)).
 */
int gantt_read(struct gantt *g, const struct rows *r, struct err *e);
void gantt_free(struct gantt *g);

#endif
