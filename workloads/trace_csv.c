/* The canonical CSV: what `weft import --trace` writes. */
#include <math.h>
#include <string.h>

#include "workloads/trace_row.h"

static const struct trace_column columns[N_TRACE_COLUMNS] = {
    { "job_id", true },     { "submit_s", true }, { "gpus", true },     { "runtime_s", false },
    { "status", false },    { "model", false },   { "iters", false },   { "grad_bytes", false },
    { "batch", false },     { "ps", false },      { "workers", false }, { "priority", false },
    { "synthetic", false },
};

static int take_status(const struct trace_row *row, int32_t *out)
{
    const char *s = trace_field(row, TRACE_STATUS);
    for (int32_t i = 0; i < N_TRACE_STATUSES; i++)
        if (strcmp(s, trace_status_words[i]) == 0)
            *out = i;
    if (*s == '\0' || *out >= 0)
        return 0;
    return trace_fail_field(row, ERR_PARSE, TRACE_STATUS,
                            "pass, failed, killed, running, waiting or nothing");
}

/* "gpus;batch". */
static int take_synthetic(const struct trace_row *row, unsigned *out)
{
    for (const char *s = trace_field(row, TRACE_SYNTHETIC); *s;) {
        size_t n = strcspn(s, ";");
        int k = 0;
        while (k < N_TRACE_COLUMNS && (strlen(columns[k].name) != n || memcmp(columns[k].name, s, n) != 0))
            k++;
        if (k == N_TRACE_COLUMNS)
            return trace_fail_field(row, ERR_PARSE, TRACE_SYNTHETIC, "names of columns with ; between");
        *out |= 1u << k;
        s += n + (s[n] == ';');
    }
    return 0;
}

static int take(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, TRACE_JOB_ID, &job->id)) ||
        (rc = trace_take_real(row, TRACE_SUBMIT, -TRACE_MAX_TIME_S, TRACE_MAX_TIME_S, &job->submit_s)) ||
        (rc = trace_take_small(row, TRACE_GPUS, &job->gpus)) ||
        (rc = trace_take_real(row, TRACE_RUNTIME, 0, TRACE_MAX_TIME_S, &job->runtime_s)) ||
        (rc = take_status(row, &job->status)) || (rc = trace_take_text(row, TRACE_MODEL, &job->model)) ||
        (rc = trace_take_count(row, TRACE_ITERS, TRACE_MAX_COUNT, &job->iters)) ||
        (rc = trace_take_real(row, TRACE_GRAD, 0, TRACE_MAX_BYTES, &job->grad_bytes)) ||
        (rc = trace_take_count(row, TRACE_BATCH, TRACE_MAX_COUNT, &job->batch)) ||
        (rc = trace_take_small(row, TRACE_PS, &job->ps)) ||
        (rc = trace_take_small(row, TRACE_WORKERS, &job->workers)) ||
        (rc = trace_take_real(row, TRACE_PRIORITY, -1e300, 1e300, &job->priority)) ||
        (rc = take_synthetic(row, &job->synthetic)))
        return rc;
    if (isnan(job->submit_s))
        return trace_fail_field(row, ERR_PARSE, TRACE_SUBMIT, "a number");
    if (job->grad_bytes <= 0)
        return trace_fail_field(row, ERR_RANGE, TRACE_GRAD, "more than 0");
    return job->batch == 0 ? trace_fail_field(row, ERR_RANGE, TRACE_BATCH, "at least 1") : TRACE_TAKEN;
}

int trace_read_canonical(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    static const struct trace_layout layout = { .columns = columns,
                                                .n_columns = N_TRACE_COLUMNS,
                                                .header = TRACE_HEADER,
                                                .separator = ',',
                                                .comment = '#',
                                                .exact = true,
                                                .take = take };
    return trace_read_rows(t, path, &layout, NULL, s, e);
}
