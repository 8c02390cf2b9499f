/* Any bytes as a job trace, of the format that the first one says ('a' is the first): refused with a message,
 * or jobs within their limits that are written and read back, and whose unknown fields can be drawn. For
 * libFuzzer. */
#include "tests/fuzz/memory_file.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "workloads/traces/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_jobs(const struct trace *t)
{
    assert(t->n >= 1 && t->n_records >= t->n);
    for (int32_t i = 0; i < t->n; i++) {
        const struct trace_job *job = &t->jobs[i];
        assert(job->id && strlen(job->id) >= 1 && strlen(job->id) <= TRACE_MAX_TEXT);
        assert(!job->model || (*job->model && strlen(job->model) <= TRACE_MAX_TEXT));
        assert(isfinite(job->submit_s) && (i == 0 || job->submit_s >= t->jobs[i - 1].submit_s));
        assert(job->gpus >= -1 && job->gpus <= TRACE_MAX_GPUS);
        assert(isnan(job->runtime_s) || (job->runtime_s >= 0 && job->runtime_s <= 2e16));
        assert(job->status >= -1 && job->status < N_TRACE_STATUSES);
        assert(job->iters >= -1 && job->batch >= -1 && job->batch != 0 && job->ps >= -1 &&
               job->workers >= -1);
        assert(isnan(job->grad_bytes) || job->grad_bytes > 0);
        assert(job->index >= 0 && job->index < t->n_records);
    }
}

static void try_round_trip(const struct trace *t)
{
    struct table table = { 0 };
    struct text csv = { 0 };
    struct trace back;
    struct trace_settings s = { .keep_idle = true };
    struct err e = { 0 };
    char path[MEMORY_PATH];
    trace_format_csv(&table, t);
    assert(table_write(&table, TABLE_AS_CSV, NULL, &csv, &e) == 0);
    int fd = memory_file(path, csv.s, csv.n);
    int rc = trace_read(&back, N_TRACE_FORMATS - 1, path, &s, &e);
    /* Sums over attempts may go beyond what a single field may say. */
    assert(rc == 0 ? back.n == t->n : rc == ERR_RANGE);
    close(fd);
    trace_free(&back);
    text_free(&csv);
    table_free(&table);
}

static void try_fill(struct trace *t)
{
    static struct trace_profile p;
    struct trace_fill_counts counts;
    struct err e = { 0 };
    p.gpus_per_worker = 3;
    p.gpus = (struct trace_draw){ .kind = TRACE_DRAW_RANGE, .whole = true, .from = 1, .to = 8 };
    p.iter_s = (struct trace_draw){ .kind = TRACE_DRAW_RANGE, .log = true, .from = 1e-3, .to = 1 };
    assert(trace_fill(t, &p, 1, &counts, &e) == 0);
    for (int32_t i = 0; i < t->n; i++)
        assert(t->jobs[i].gpus >= 0 && t->jobs[i].workers >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    char path[MEMORY_PATH];
    int fd = memory_file(path, data + 1, size - 1),
        format = (data[0] + N_TRACE_FORMATS - 'a' % N_TRACE_FORMATS) % N_TRACE_FORMATS;
    for (int lenient = 0; lenient < 2; lenient++) {
        struct trace_settings s = { .skip_bad = lenient, .keep_idle = lenient };
        struct trace t;
        struct err e = { 0 };
        int rc = trace_read(&t, format, path, &s, &e);
        assert(rc == 0 ? e.code == 0 || lenient : e.code == (enum err_code)rc && e.msg[0] && !t.jobs);
        if (rc == 0) {
            check_jobs(&t);
            try_round_trip(&t);
            try_fill(&t);
        }
        trace_free(&t);
    }
    close(fd);
    return 0;
}
