#include "workloads/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "workloads/trace_row.h"

const char *const trace_column_names[N_TRACE_COLUMNS] = {
    "job_id",     "submit_s", "gpus", "runtime_s", "status",   "model",     "iters",
    "grad_bytes", "batch",    "ps",   "workers",   "priority", "synthetic",
};

const char *const trace_status_words[N_TRACE_STATUSES + 1] = {
    "pass", "failed", "killed", "running", "waiting", NULL,
};

const struct trace_format trace_formats[N_TRACE_FORMATS] = {
    { "philly", "Microsoft Philly 2017: cluster_job_log (JSON)", trace_read_philly, false },
    { "helios", "SenseTime Helios 2020: cluster_log.csv", trace_read_helios, false },
    { "acme", "Shanghai AI Lab Acme 2023: trace_seren.csv, trace_kalos.csv", trace_read_acme, false },
    { "pai", "Alibaba PAI 2020: pai_task_table.csv, or the folder with it and pai_job_table.csv",
      trace_read_pai, false },
    { "openb", "Alibaba 2023: openb_pod_list_*.csv", trace_read_openb, false },
    { "google", "Google 2011: job_events part-*.csv, or their folder; arrivals only", trace_read_google,
      false },
    { "gavel", "Gavel: *.trace of 6, 7, 9 or 10 columns", trace_read_gavel, false },
    { "tiresias", "Tiresias simulator: job CSV", trace_read_tiresias, false },
    { "pollux", "Pollux simulator: workload-*.csv", trace_read_pollux, false },
    { "swf", "Standard Workload Format of the Parallel Workloads Archive; processors stand for GPUs",
      trace_read_swf, false },
    { "csv", "the table that this command writes", trace_read_canonical, true },
};

const char *const trace_format_words[N_TRACE_FORMATS + 1] = {
    "philly", "helios", "acme", "pai", "openb", "google", "gavel", "tiresias", "pollux", "swf", "csv", NULL,
};

struct trace_job trace_job_unknown(int64_t index)
{
    return (struct trace_job){ .submit_s = NAN,
                               .gpus = -1,
                               .runtime_s = NAN,
                               .status = TRACE_STATUS_UNKNOWN,
                               .iters = -1,
                               .grad_bytes = NAN,
                               .batch = -1,
                               .ps = -1,
                               .workers = -1,
                               .priority = NAN,
                               .index = index };
}

void trace_job_free(struct trace_job *job)
{
    free(job->id);
    free(job->model);
    *job = trace_job_unknown(job->index);
}

int trace_add(struct trace *t, struct trace_job *job, struct err *e)
{
    struct trace_job *grown = array_grow(t->jobs, t->n, &t->cap, sizeof *grown);
    if (!grown) {
        trace_job_free(job);
        return err_nomem(e, "jobs of a trace");
    }
    t->jobs = grown;
    t->jobs[t->n++] = *job;
    return 0;
}

void trace_free(struct trace *t)
{
    for (int32_t i = 0; i < t->n; i++)
        trace_job_free(&t->jobs[i]);
    free(t->jobs);
    text_free(&t->notes);
    *t = (struct trace){ 0 };
}

/* No two jobs are equal, so that the order does not depend on how qsort() goes about it. */
static int compare_jobs(const void *a, const void *b)
{
    const struct trace_job *x = a, *y = b;
    if (x->submit_s < y->submit_s || x->submit_s > y->submit_s)
        return x->submit_s < y->submit_s ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void trace_sort(struct trace *t, bool shift)
{
    if (t->n == 0)
        return;
    qsort(t->jobs, (size_t)t->n, sizeof *t->jobs, compare_jobs);
    if (!shift)
        return;
    double first_s = t->jobs[0].submit_s;
    t->origin_s += first_s;
    for (int32_t i = 0; i < t->n; i++)
        t->jobs[i].submit_s -= first_s;
}

static int check_not_empty(const struct trace *t, const char *path, struct err *e)
{
    if (t->n > 0)
        return 0;
    return err_set(
        e, ERR_RANGE,
        "%s:1: no job is left of %lld records (%lld bad, %lld without GPU, %lld left out), need one", path,
        (long long)t->n_records, (long long)t->n_skipped, (long long)t->n_no_gpu, (long long)t->n_left_out);
}

int trace_read(struct trace *t, int format, const char *path, const struct trace_settings *s, struct err *e)
{
    const struct trace_format *f = &trace_formats[format];
    *t = (struct trace){ 0 };
    int rc = f->read(t, path, s, e);
    if (!rc)
        rc = check_not_empty(t, path, e);
    if (!rc)
        rc = text_check(&t->notes, e);
    if (rc) {
        trace_free(t);
        return rc;
    }
    trace_sort(t, !f->as_given);
    return 0;
}

int trace_read_csv(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    return trace_read(t, N_TRACE_FORMATS - 1, path, s, e);
}

/* ---- the table ---- */

static void put_count(struct table *table, int64_t n)
{
    if (n < 0)
        table_put_none(table);
    else
        table_put_count(table, n);
}

void trace_name_synthetic(struct text *list, unsigned synthetic)
{
    text_clear(list);
    for (int k = 0; k < N_TRACE_COLUMNS; k++)
        if (synthetic & (1u << k))
            text_printf(list, "%s%s", list->n ? ";" : "", trace_column_names[k]);
}

static void put_synthetic(struct table *table, unsigned synthetic, struct text *list)
{
    trace_name_synthetic(list, synthetic);
    table_put_text(table, list->n ? text_str(list) : NULL);
    table->failed = table->failed || list->failed;
}

void trace_format_csv(struct table *table, const struct trace *t)
{
    static const enum table_kind kinds[N_TRACE_COLUMNS] = {
        TABLE_TEXT, TABLE_REAL,  TABLE_COUNT, TABLE_REAL,  TABLE_TEXT, TABLE_TEXT, TABLE_COUNT,
        TABLE_REAL, TABLE_COUNT, TABLE_COUNT, TABLE_COUNT, TABLE_REAL, TABLE_TEXT,
    };
    struct text list = { 0 };
    for (int k = 0; k < N_TRACE_COLUMNS; k++)
        table_column(table, trace_column_names[k], kinds[k]);
    for (int32_t i = 0; i < t->n; i++) {
        const struct trace_job *job = &t->jobs[i];
        table_row(table);
        table_put_text(table, job->id);
        table_put_real(table, job->submit_s);
        put_count(table, job->gpus);
        table_put_real(table, job->runtime_s);
        table_put_text(table, job->status >= 0 ? trace_status_words[job->status] : NULL);
        table_put_text(table, job->model);
        put_count(table, job->iters);
        table_put_real(table, job->grad_bytes);
        put_count(table, job->batch);
        put_count(table, job->ps);
        put_count(table, job->workers);
        table_put_real(table, job->priority);
        put_synthetic(table, job->synthetic, &list);
    }
    text_free(&list);
}

void trace_count_synthetic(const struct trace *t, int64_t counts[N_TRACE_COLUMNS])
{
    memset(counts, 0, N_TRACE_COLUMNS * sizeof *counts);
    for (int32_t i = 0; i < t->n; i++)
        for (int k = 0; k < N_TRACE_COLUMNS; k++)
            counts[k] += (t->jobs[i].synthetic >> k) & 1;
}
