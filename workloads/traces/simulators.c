/* Workloads of three simulators of schedulers: what was generated to be run, so nobody knows how it ended.
 *
 * gavel (stanford-futuredata/gavel; OSDI '20, arXiv 2008.09213): fields with tabs between, no header, more of
 * them from version to version; arrival in seconds. model is the job type; " (batch size 64)" in it is batch.
 * scale_factor is the number of workers, a GPU each. Jobs are numbered from 0, as Gavel does.
 * tiresias (SymbioticLab/Tiresias, simulator; NSDI '19): duration is the time the job runs by itself.
 * pollux (petuum/adaptdl, simulator; OSDI '21, arXiv 2008.12260): batch is that of all replicas. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "workloads/traces/trace.h"

/* ---- gavel ---- */

enum { TYPE, STEPS, GPUS, PRIORITY, ARRIVAL, N_GAVEL };

static const struct trace_column gavel_columns[N_GAVEL] = {
    { "job_type", true },         { "total_steps", true },  { "scale_factor", true },
    { "priority_weight", false }, { "arrival_time", true },
};

/* Where the columns stand in rows of a width; -1: nowhere. */
static const struct {
    int32_t n_fields, at[N_GAVEL];
} gavel_widths[] = {
    /* job_type, command, num_steps_arg, total_steps, arrival_time, scale_factor */
    { 6, { 0, 3, 5, -1, 4 } },
    /* needs_data_dir behind num_steps_arg */
    { 7, { 0, 4, 6, -1, 5 } },
    /* job_type, command, num_steps_arg, needs_data_dir, total_steps, scale_factor, priority_weight, SLO,
     * arrival_time */
    { 9, { 0, 4, 5, 6, 8 } },
    /* working_directory behind command */
    { 10, { 0, 5, 6, 7, 9 } },
};

static int find_width(struct trace_row *row)
{
    for (size_t i = 0; i < sizeof gavel_widths / sizeof *gavel_widths; i++) {
        if (gavel_widths[i].n_fields != row->n_fields)
            continue;
        memcpy(row->at, gavel_widths[i].at, sizeof gavel_widths[i].at);
        return 0;
    }
    return err_set(row->e, ERR_PARSE, "%s:%lld: has %d field%s, expected 6, 7, 9 or 10, with tabs between",
                   row->path, (long long)row->line, (int)row->n_fields, row->n_fields == 1 ? "" : "s");
}

/* "ResNet-50 (batch size 64)" without what is in brackets, which is the batch. */
static int split_type(const struct trace_row *row, struct trace_job *job)
{
    static const char mark[] = " (batch size ";
    char *at = strstr(job->model, mark);
    if (!at)
        return 0;
    char *digits = at + sizeof mark - 1, *end = digits + strspn(digits, "0123456789");
    bool closed = strcmp(end, ")") == 0;
    *end = '\0';
    if (!closed || !num_parse_count(digits, &job->batch) || job->batch < 1 || job->batch > TRACE_MAX_COUNT)
        return trace_fail_field(row, ERR_PARSE, TYPE, "NAME or NAME (batch size N)");
    *at = '\0';
    return 0;
}

/* Jobs have no names; they are numbered. */
static int take_gavel(struct trace_row *row, struct trace_job *job)
{
    char id[24];
    int rc = find_width(row);
    snprintf(id, sizeof id, "%lld", (long long)job->index);
    if (rc || (rc = trace_copy_text(&job->id, row->path, row->line, "job", id, row->e)) ||
        (rc = trace_take_text(row, TYPE, &job->model)) || (rc = split_type(row, job)) ||
        (rc = trace_take_count(row, STEPS, TRACE_MAX_COUNT, &job->iters)) ||
        (rc = trace_take_small(row, GPUS, &job->gpus)) ||
        (rc = trace_take_real(row, PRIORITY, 0, 1e300, &job->priority)) ||
        (rc = trace_need_time(row, ARRIVAL, &job->submit_s)))
        return rc;
    job->workers = job->gpus;
    return TRACE_TAKEN;
}

const struct trace_layout trace_gavel = { .columns = gavel_columns,
                                          .n_columns = N_GAVEL,
                                          .header = TRACE_NO_HEADER,
                                          .separator = '\t',
                                          .any_width = true,
                                          .take = take_gavel };

/* ---- tiresias ---- */

enum { T_ID, T_GPUS, T_SUBMIT, T_ITERS, T_MODEL, T_DURATION, N_TIRESIAS };

static const struct trace_column tiresias_columns[N_TIRESIAS] = {
    { "job_id", true },      { "num_gpu", true },     { "submit_time", true },
    { "iterations", false }, { "model_name", false }, { "duration", true },
};

static int take_tiresias(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, T_ID, &job->id)) || (rc = trace_take_small(row, T_GPUS, &job->gpus)) ||
        (rc = trace_need_time(row, T_SUBMIT, &job->submit_s)) ||
        (rc = trace_take_count(row, T_ITERS, TRACE_MAX_COUNT, &job->iters)) ||
        (rc = trace_take_text(row, T_MODEL, &job->model)) ||
        (rc = trace_take_real(row, T_DURATION, 0, TRACE_MAX_TIME_S, &job->runtime_s)))
        return rc;
    return TRACE_TAKEN;
}

const struct trace_layout trace_tiresias = { .columns = tiresias_columns,
                                             .n_columns = N_TIRESIAS,
                                             .header = TRACE_HEADER,
                                             .separator = ',',
                                             .take = take_tiresias };

/* ---- pollux ---- */

enum { P_NAME, P_TIME, P_APPLICATION, P_REPLICAS, P_BATCH, N_POLLUX };

static const struct trace_column pollux_columns[N_POLLUX] = {
    { "name", true },         { "time", true },        { "application", true },
    { "num_replicas", true }, { "batch_size", false },
};

/* Replicas are workers of a GPU each. */
static int take_pollux(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, P_NAME, &job->id)) ||
        (rc = trace_need_time(row, P_TIME, &job->submit_s)) ||
        (rc = trace_take_text(row, P_APPLICATION, &job->model)) ||
        (rc = trace_take_small(row, P_REPLICAS, &job->gpus)) ||
        (rc = trace_take_count(row, P_BATCH, TRACE_MAX_COUNT, &job->batch)))
        return rc;
    if (job->batch == 0)
        return trace_fail_field(row, ERR_RANGE, P_BATCH, "at least 1");
    job->workers = job->gpus;
    return TRACE_TAKEN;
}

const struct trace_layout trace_pollux = { .columns = pollux_columns,
                                           .n_columns = N_POLLUX,
                                           .header = TRACE_HEADER,
                                           .separator = ',',
                                           .take = take_pollux };
