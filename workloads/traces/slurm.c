/* What Slurm tells of its jobs: as two clusters publish it, and as sacct prints it.
 *
 * helios: SenseTime's cluster_log.csv of 2020 (S-Lab-System-Group/HeliosData; SC '21, arXiv 2109.01313).
 * Times have no zone. acme: trace_seren.csv and trace_kalos.csv of 2023 (InternLM/AcmeTrace; NSDI '24, arXiv
 * 2403.07648). Times have a zone. Its `duration` is end - start in Seren and, in Kalos, end - submit,
 * whatever its description says: both tables have the times, so these count.
 *
 * tenant is `vc`, gpus is gpu_num, runtime_s is end_time - start_time, or `duration` where a time is missing.
 *
 * sacct: `sacct --parsable2 -o JobID,State,Submit,Start,End,AllocTRES,Account`, in any order and with other
 * columns among them (sacct(1) of Slurm 23.11). The tenant is Account. GPUs are those of AllocTRES, else of
 * TRES, else of ReqTRES. Lines of steps ("123.batch") repeat their job, and jobs that never started occupied
 * nothing: both are left out. Times have no zone: they are those of the machine that printed them. */
#include <math.h>
#include <string.h>

#include "base/num.h"

#include "workloads/traces/trace.h"

enum { JOB_ID, GPU_NUM, STATE, SUBMIT, START, END, DURATION, VIRTUAL_CLUSTER, N_COLUMNS };

static const struct trace_column columns[N_COLUMNS] = {
    { "job_id", true },     { "gpu_num", true },  { "state", true },     { "submit_time", true },
    { "start_time", true }, { "end_time", true }, { "duration", false }, { "vc", false },
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
        (rc = trace_need_time(row, SUBMIT, &job->submit_s)) || (rc = take_runtime(row, job)) ||
        (rc = trace_take_text(row, VIRTUAL_CLUSTER, &job->tenant)))
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

/* ---- sacct ---- */

enum { ID, SACCT_STATE, SUBMITTED, STARTED, ENDED, ALLOC_TRES, TRES, REQ_TRES, ACCOUNT, N_SACCT };

static const struct trace_column sacct_columns[N_SACCT] = {
    { "JobID", true },      { "State", true }, { "Submit", true },   { "Start", true },    { "End", true },
    { "AllocTRES", false }, { "TRES", false }, { "ReqTRES", false }, { "Account", false },
};

/* Lines that are no job of their own, or whose number of GPUs is a guess. */
struct sacct {
    int64_t n_steps, n_never, n_slices, n_parts;
};

static int sacct_check(struct trace_row *row)
{
    for (int32_t k = ALLOC_TRES; k <= REQ_TRES; k++)
        if (row->at[k] >= 0)
            return 0;
    return err_set(row->e, ERR_PARSE,
                   "%s:%lld: has no column AllocTRES, TRES or ReqTRES, which says how many GPUs a job has%s",
                   row->path, (long long)row->line, row->layout->how);
}

/* sacct's word for a time that there is not. */
static void blank_unknown(struct trace_row *row, int32_t k)
{
    if (strcmp(trace_field(row, k), "Unknown") == 0)
        row->fields[row->at[k]][0] = '\0';
}

/* Where Slurm cancels a waiting job, some of its versions write one time as start and end. */
static bool never_started(const struct trace_row *row)
{
    const char *start = trace_field(row, STARTED);
    int32_t status = trace_find_status(words, sizeof words / sizeof *words, trace_field(row, SACCT_STATE));
    bool nothing = row->at[ALLOC_TRES] >= 0 && !*trace_field(row, ALLOC_TRES);
    return !*start || status == TRACE_WAITING || (nothing && strcmp(start, trace_field(row, ENDED)) == 0);
}

/* "cpu=64,gres/gpu:h100=8,gres/gpu=8" has 8 GPUs: those without a type are all of them. */
static int take_gpus(const struct trace_row *row, int32_t k, int32_t *gpus, bool *slices)
{
    static const char word[] = "gres/gpu";
    double all = -1, typed = 0;
    *slices = false;
    size_t end;
    for (const char *rest = trace_field(row, k), *s; (s = text_next(&rest, ',', &end));) {
        char number[24] = "";
        size_t equals = strcspn(s, "=,");
        char after = strncmp(s, word, sizeof word - 1) == 0 ? s[sizeof word - 1] : '\0';
        double x;
        if (after != '=' && after != ':')
            continue;
        if (equals < end && end - equals <= sizeof number)
            memcpy(number, s + equals + 1, end - equals - 1);
        if (!num_parse_real(number, &x) || x < 0 || x != floor(x) || x > TRACE_MAX_GPUS)
            return trace_fail_field(row, ERR_PARSE, k, "GPUs as gres/gpu=N, a whole number to 1000000");
        /* Slices of a GPU (MIG) are typed "1g.10gb", "a100_2g.20gb". */
        for (const char *g = s + sizeof word; after == ':' && g + 1 < s + equals; g++)
            *slices = *slices || (g[0] == 'g' && g[1] == '.' && g[-1] >= '1' && g[-1] <= '7');
        typed += after == ':' ? x : 0;
        all = after == '=' ? x : all;
    }
    all = all < 0 ? typed : all;
    if (all > TRACE_MAX_GPUS)
        return trace_fail_field(row, ERR_RANGE, k, "at most 1000000 GPUs");
    *gpus = (int32_t)all;
    return 0;
}

static int sacct_take(struct trace_row *row, struct trace_job *job)
{
    struct sacct *sacct = row->context;
    int32_t from = ALLOC_TRES;
    bool slices;
    int rc;
    blank_unknown(row, STARTED);
    blank_unknown(row, ENDED);
    if (strchr(trace_field(row, ID), '.')) {
        sacct->n_steps++;
        return TRACE_LEFT_OUT;
    }
    if (never_started(row)) {
        sacct->n_never++;
        return TRACE_LEFT_OUT;
    }
    while (from < REQ_TRES && !*trace_field(row, from))
        from++;
    if ((rc = trace_take_text(row, ID, &job->id)) || (rc = take_gpus(row, from, &job->gpus, &slices)) ||
        (rc = trace_need_time(row, SUBMITTED, &job->submit_s)) ||
        (rc = trace_take_runtime(row, STARTED, ENDED, &job->runtime_s)) ||
        (rc = trace_take_text(row, ACCOUNT, &job->tenant)))
        return rc;
    sacct->n_slices += slices;
    sacct->n_parts += strchr(job->id, '+') && job->gpus > 0;
    job->status = trace_take_status(row, SACCT_STATE, words, sizeof words / sizeof *words);
    return TRACE_TAKEN;
}

static void note_lines(struct text *notes, const char *path, int64_t n, const char *one, const char *several)
{
    if (n)
        text_printf(notes, "%s: %lld %s\n", path, (long long)n, n == 1 ? one : several);
}

int trace_read_sacct(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    static const struct trace_layout bars = {
        .columns = sacct_columns,
        .n_columns = N_SACCT,
        .header = TRACE_HEADER,
        .separator = '|',
        .how = "; print it with sacct --parsable2 -o JobID,State,Submit,Start,End,AllocTRES,Account",
        .check = sacct_check,
        .take = sacct_take,
    };
    struct sacct sacct = { 0 };
    int rc = trace_read_rows(t, path, &bars, &sacct, s, e);
    if (rc)
        return rc;
    note_lines(&t->notes, path, sacct.n_steps, "line is a step of a job and left out",
               "lines are steps of jobs and left out");
    note_lines(&t->notes, path, sacct.n_never, "job never started and is left out",
               "jobs never started and are left out");
    note_lines(&t->notes, path, sacct.n_slices, "job has slices of GPUs, each counted as a GPU",
               "jobs have slices of GPUs, each counted as a GPU");
    note_lines(&t->notes, path, sacct.n_parts, "part of a heterogeneous job is a job of its own here",
               "parts of heterogeneous jobs are jobs of their own here");
    return 0;
}
