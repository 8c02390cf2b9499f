/* What Slurm tells of its jobs, as two clusters publish it.
 *
 * helios: SenseTime's cluster_log.csv of 2020 (S-Lab-System-Group/HeliosData; SC '21, arXiv 2109.01313).
 * Times have no zone. acme: trace_seren.csv and trace_kalos.csv of 2023 (InternLM/AcmeTrace; NSDI '24, arXiv
 * 2403.07648). Times have a zone. Its `duration` is end - start in Seren and, in Kalos, end - submit,
 * whatever its description says: both tables have the times, so these count.
 *
 * gpus is gpu_num, runtime_s is end_time - start_time, or `duration` where a time is missing. */
#include <math.h>

#include "workloads/traces/trace.h"

enum { JOB_ID, GPU_NUM, STATE, SUBMIT, START, END, DURATION, N_COLUMNS };

static const struct trace_column columns[N_COLUMNS] = {
    { "job_id", true },     { "gpu_num", true },  { "state", true },     { "submit_time", true },
    { "start_time", true }, { "end_time", true }, { "duration", false },
};

/* Slurm's job states; out of time, memory or nodes is a failure, as both papers count it. */
static const struct trace_status_word words[] = {
    { "COMPLETED", TRACE_PASSED }, { "FAILED", TRACE_FAILED },      { "TIMEOUT", TRACE_FAILED },
    { "NODE_FAIL", TRACE_FAILED }, { "BOOT_FAIL", TRACE_FAILED },   { "OUT_OF_MEMORY", TRACE_FAILED },
    { "DEADLINE", TRACE_FAILED },  { "CANCELLED", TRACE_KILLED },   { "PREEMPTED", TRACE_KILLED },
    { "RUNNING", TRACE_RUNNING },  { "COMPLETING", TRACE_RUNNING }, { "SUSPENDED", TRACE_RUNNING },
    { "PENDING", TRACE_WAITING },
};

/* Rows whose duration is not end - start. */
struct slurm {
    int64_t n_differ, first_line;
};

/* The two times count; `duration` stands in where one is missing, and disagreement is noted once. */
static int take_runtime(struct trace_row *row, struct trace_job *job)
{
    struct slurm *slurm = row->context;
    double duration_s;
    int rc = trace_take_runtime(row, START, END, &job->runtime_s);
    if (rc || (rc = trace_take_real(row, DURATION, 0, TRACE_MAX_TIME_S, &duration_s)))
        return rc;
    if (isnan(job->runtime_s))
        job->runtime_s = duration_s;
    else if (fabs(job->runtime_s - duration_s) > 1 && slurm->n_differ++ == 0)
        slurm->first_line = row->line;
    return 0;
}

static int slurm_take(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, JOB_ID, &job->id)) || (rc = trace_take_small(row, GPU_NUM, &job->gpus)) ||
        (rc = trace_need_time(row, SUBMIT, &job->submit_s)) || (rc = take_runtime(row, job)))
        return rc;
    job->status = trace_take_status(row, STATE, words, sizeof words / sizeof *words);
    return TRACE_TAKEN;
}

static const struct trace_layout layout = {
    .columns = columns, .n_columns = N_COLUMNS, .header = TRACE_HEADER, .separator = ',', .take = slurm_take
};

/* Where the first disagreement stands is told, so that it can be looked at. */
int trace_read_helios(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    struct slurm slurm = { 0 };
    int rc = trace_read_rows(t, path, &layout, &slurm, s, e);
    if (!rc && slurm.n_differ)
        text_printf(&t->notes,
                    "%s: duration is not end_time - start_time in %lld row%s, first in line %lld; the times "
                    "are taken\n",
                    path, (long long)slurm.n_differ, slurm.n_differ == 1 ? "" : "s",
                    (long long)slurm.first_line);
    return rc;
}

int trace_read_acme(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    return trace_read_helios(t, path, s, e);
}
