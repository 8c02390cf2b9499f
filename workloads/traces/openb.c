/* Alibaba's GPU cluster of 2023 (alibaba/clusterdata, cluster-trace-gpu-v2023; ATC '23):
 * openb_pod_list_*.csv, a row a pod. Times are seconds. A pod of one GPU may ask for a part of it, gpu_milli
 * / 1000; it gets a whole one here, and the notes say how much that adds up to. runtime_s is deletion_time -
 * scheduled_time; a pod whose phase is Running ran until then too. */
#include "workloads/traces/trace.h"

enum { NAME, NUM_GPU, GPU_MILLI, PHASE, CREATION, DELETION, SCHEDULED, N_COLUMNS };

static const struct trace_column columns[N_COLUMNS] = {
    { "name", true },          { "num_gpu", true },       { "gpu_milli", true },      { "pod_phase", true },
    { "creation_time", true }, { "deletion_time", true }, { "scheduled_time", true },
};

static const struct trace_status_word words[] = {
    { "Succeeded", TRACE_PASSED },
    { "Failed", TRACE_FAILED },
    { "Running", TRACE_RUNNING },
    { "Pending", TRACE_WAITING },
};

/* Jobs that share a GPU, and the GPUs they ask for. */
struct shared {
    int64_t n;
    double gpus;
};

/* A share of a GPU gets a whole one, and is counted. */
static int take_gpus(struct trace_row *row, struct trace_job *job)
{
    struct shared *shared = row->context;
    int64_t milli;
    int rc = trace_take_small(row, NUM_GPU, &job->gpus);
    if (rc || (rc = trace_take_count(row, GPU_MILLI, 1000, &milli)))
        return rc;
    if (job->gpus == 1 && milli > 0 && milli < 1000) {
        shared->n++;
        shared->gpus += (double)milli / 1000;
    }
    return 0;
}

static int openb_take(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, NAME, &job->id)) ||
        (rc = trace_need_time(row, CREATION, &job->submit_s)) ||
        (rc = trace_take_runtime(row, SCHEDULED, DELETION, &job->runtime_s)) || (rc = take_gpus(row, job)))
        return rc;
    job->status = trace_take_status(row, PHASE, words, sizeof words / sizeof *words);
    return TRACE_TAKEN;
}

/* How much rounding up to whole GPUs adds is told in the notes. */
int trace_read_openb(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    static const struct trace_layout layout = { .columns = columns,
                                                .n_columns = N_COLUMNS,
                                                .header = TRACE_HEADER,
                                                .separator = ',',
                                                .take = openb_take };
    struct shared shared = { 0 };
    int rc = trace_read_rows(t, path, &layout, &shared, s, e);
    if (!rc)
        trace_note_shared(t, path, shared.n, shared.gpus, (double)shared.n);
    return rc;
}
