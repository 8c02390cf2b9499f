/* Alibaba PAI, July and August of 2020 (alibaba/clusterdata, cluster-trace-gpu-v2020; NSDI '22). Its tables
 * are CSV with the header in a file of its own; a header in the table itself is taken too.
 *
 * pai_task_table: the tasks of a job ("worker", "ps", "evaluator", "tensorflow", ..). gpus is the sum over
 * tasks of inst_num * plan_gpu / 100, rounded up once for the job; ps and workers are the inst_num of tasks
 * of these names; runtime_s is from the first start to the last end. pai_job_table, if it lies in the same
 * folder and the folder was named: when a job was submitted (its start_time) and how it ended. Without it, a
 * job was submitted when its first task started, and ended as its tasks did. pai_group_tag_table, beside
 * these: the tenant is `group` of the job's inst_id. The table of instances adds
 * machines, which nothing here asks for. Times are seconds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/vec.h"
#include "workloads/traces/trace.h"

enum { JOB, TASK, INSTANCES, STATUS, START, END, PLAN_CPU, PLAN_MEM, PLAN_GPU, GPU_TYPE, N_TASK_COLUMNS };

static const struct trace_column task_columns[N_TASK_COLUMNS] = {
    { "job_name", true },   { "task_name", true }, { "inst_num", true },  { "status", true },
    { "start_time", true }, { "end_time", true },  { "plan_cpu", false }, { "plan_mem", false },
    { "plan_gpu", true },   { "gpu_type", false },
};

enum { J_JOB, J_INSTANCE, J_USER, J_STATUS, J_START, J_END, N_JOB_COLUMNS };

static const struct trace_column job_columns[N_JOB_COLUMNS] = {
    { "job_name", true }, { "inst_id", false },   { "user", false },
    { "status", true },   { "start_time", true }, { "end_time", true },
};

enum { G_INSTANCE, G_USER, G_TYPE, G_GROUP, G_WORKLOAD, N_GROUP_COLUMNS };

static const struct trace_column group_columns[N_GROUP_COLUMNS] = {
    { "inst_id", true }, { "user", false },     { "gpu_type_spec", false },
    { "group", true },   { "workload", false },
};

static const struct trace_status_word words[] = {
    { "Terminated", TRACE_PASSED },
    { "Failed", TRACE_FAILED },
    { "Running", TRACE_RUNNING },
    { "Waiting", TRACE_WAITING },
};

enum { N_WORDS = sizeof words / sizeof *words };

/* A job under way: its tasks so far. */
struct pai_job {
    struct trace_job job;
    char *instance; /* owned; NULL: not known */
    double gpus, start_s, end_s;
    bool open; /* a task has no end, or no number of instances with GPUs: what follows from it is unknown */
    bool vague;
};

/* Jobs by first mention, and where to find them by name. */
struct pai {
    struct pai_job *jobs; /* shape [n], owned */
    int32_t n, cap;
    struct hash names, instances; /* by job_name, by inst_id */
};

static void pai_free(struct pai *p)
{
    for (int32_t i = 0; i < p->n; i++) {
        trace_job_free(&p->jobs[i].job);
        free(p->jobs[i].instance);
    }
    free(p->jobs);
    hash_free(&p->names);
    hash_free(&p->instances);
}

/* The index of the job with this name; -1: none. */
static int32_t pai_find(const struct pai *p, const char *name)
{
    hash_each (id, &p->names, hash_text(name))
        if (strcmp(p->jobs[id].job.id, name) == 0)
            return id;
    return -1;
}

/* The job that the row belongs to, a new one if need be; NULL with an error. */
static struct pai_job *find_job(struct pai *p, struct trace_row *row)
{
    const char *name = trace_field(row, JOB);
    int32_t at = pai_find(p, name);
    if (at >= 0)
        return &p->jobs[at];
    if (!vec_reserve(p->jobs, p->cap, p->n + 1)) {
        err_nomem(row->e, "jobs of a trace");
        return NULL;
    }
    p->jobs[p->n] = (struct pai_job){ .job = trace_job_unknown(p->n), .start_s = NAN, .end_s = NAN };
    if (trace_take_text(row, JOB, &p->jobs[p->n].job.id))
        return NULL;
    if (!hash_add(&p->names, hash_text(name), p->n)) {
        trace_job_free(&p->jobs[p->n].job);
        err_nomem(row->e, "names of jobs");
        return NULL;
    }
    return &p->jobs[p->n++];
}

/* Of tasks that ended differently the worst, as the states are listed from good to bad here. */
static int32_t pai_worse(int32_t a, int32_t b)
{
    static const int8_t rank[N_TRACE_STATUSES] = {
        [TRACE_PASSED] = 1, [TRACE_WAITING] = 2, [TRACE_RUNNING] = 3, [TRACE_KILLED] = 4, [TRACE_FAILED] = 5
    };
    int rank_a = a >= 0 ? rank[a] : 0, rank_b = b >= 0 ? rank[b] : 0;
    return rank_a >= rank_b ? a : b;
}

struct pai_task {
    int64_t n; /* instances, -1 unknown */
    double gpu_percent, start_s, end_s;
    int32_t status;
};

/* A task has instances with a share of a GPU in percent each. */
static int take_task(struct trace_row *row, struct pai_task *task)
{
    double runtime_s;
    int rc;
    if ((rc = trace_take_count(row, INSTANCES, TRACE_MAX_GPUS, &task->n)) ||
        (rc = trace_take_real(row, PLAN_GPU, 0, 100.0 * TRACE_MAX_GPUS, &task->gpu_percent)) ||
        (rc = trace_take_runtime(row, START, END, &runtime_s)) ||
        (rc = trace_take_time(row, START, &task->start_s)) || (rc = trace_take_time(row, END, &task->end_s)))
        return rc;
    task->status = trace_take_status(row, STATUS, words, N_WORDS);
    return 0;
}

static void add_instances(int32_t *count, int64_t n)
{
    if (n >= 0)
        *count = (int32_t)fmin((double)(*count > 0 ? *count : 0) + (double)n, TRACE_MAX_GPUS);
}

/* Tasks of one job may come in any order: sums, extremes and the worst status need none. */
static void merge_task(struct pai_job *job, const struct pai_task *task, const char *name)
{
    bool some_gpu = task->gpu_percent > 0;
    job->vague = job->vague || (some_gpu && task->n < 0);
    job->gpus += some_gpu ? (double)task->n * task->gpu_percent / 100 : 0; /* of a vague job no matter what */
    job->start_s = fmin(job->start_s, task->start_s); /* of NaN and a number the number */
    job->end_s = fmax(job->end_s, task->end_s);
    job->open = job->open || isnan(task->end_s);
    job->job.status = pai_worse(job->job.status, task->status);
    if (strcasecmp(name, "ps") == 0)
        add_instances(&job->job.ps, task->n);
    if (strcasecmp(name, "worker") == 0)
        add_instances(&job->job.workers, task->n);
}

static int take_task_row(struct trace_row *row, struct trace_job *unused)
{
    struct pai_task task;
    int rc = take_task(row, &task);
    (void)unused;
    struct pai_job *job = rc ? NULL : find_job(row->context, row);
    if (!job)
        return rc ? rc : (int)row->e->code;
    merge_task(job, &task, trace_field(row, TASK));
    return TRACE_MERGED;
}

/* Only jobs that the table of tasks knows are completed. */
static int take_job_row(struct trace_row *row, struct trace_job *unused)
{
    struct pai *p = row->context;
    double submit_s;
    (void)unused;
    int rc = trace_take_time(row, J_START, &submit_s);
    if (rc)
        return rc;
    int32_t at = pai_find(p, trace_field(row, J_JOB));
    if (at < 0)
        return TRACE_LEFT_OUT;
    p->jobs[at].job.submit_s = submit_s;
    p->jobs[at].job.status = trace_take_status(row, J_STATUS, words, N_WORDS);
    struct pai_job *job = &p->jobs[at];
    if (job->instance || (rc = trace_take_text(row, J_INSTANCE, &job->instance)) || !job->instance)
        return rc ? rc : TRACE_MERGED;
    return hash_add(&p->instances, hash_text(job->instance), at) ? TRACE_MERGED
                                                                 : err_nomem(row->e, "instances of jobs");
}

/* Several jobs may be of one instance. */
static int take_group_row(struct trace_row *row, struct trace_job *unused)
{
    struct pai *p = row->context;
    const char *instance = trace_field(row, G_INSTANCE);
    int rc = 0;
    (void)unused;
    hash_each (id, &p->instances, hash_text(instance))
        if (!rc && strcmp(p->jobs[id].instance, instance) == 0 && !p->jobs[id].job.tenant)
            rc = trace_take_text(row, G_GROUP, &p->jobs[id].job.tenant);
    return rc ? rc : TRACE_MERGED;
}

/* What is shared among the jobs kept. */
struct pai_counts {
    int64_t n_shared, n_vague, n_unsubmitted;
    double asked, given;
};

/* GPUs are rounded up for the whole job, not per task, or small tasks would count several times. */
static void finish_job(struct pai_job *job, struct pai_counts *counts)
{
    double whole = ceil(job->gpus - 1e-9); /* sums of 33.3 % may miss a whole number by their last digits */
    job->job.gpus = job->vague || whole > TRACE_MAX_GPUS ? -1 : (int32_t)whole;
    job->job.runtime_s = job->open ? NAN : job->end_s - job->start_s;
    if (isnan(job->job.submit_s))
        job->job.submit_s = job->start_s;
    counts->n_vague += job->vague;
    if (!job->vague && whole > job->gpus + 1e-9) {
        counts->n_shared++;
        counts->asked += job->gpus;
        counts->given += whole;
    }
}

/* A job without any time cannot be placed in time and is left out. */
static int keep_jobs(struct pai *p, struct trace *t, struct pai_counts *counts,
                     const struct trace_settings *s, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < p->n && !rc; i++) {
        struct trace_job *job = &p->jobs[i].job;
        finish_job(&p->jobs[i], counts);
        if (isnan(job->submit_s)) {
            counts->n_unsubmitted++;
            t->n_left_out++;
            continue;
        }
        rc = trace_keep(t, s, job, e);
        job->id = job->tenant = NULL; /* the trace's now */
    }
    return rc;
}

/* "FOLDER/NAME" if it is there. */
static bool find_table(struct text *out, const char *folder, const char *name)
{
    struct stat st;
    text_clear(out);
    text_printf(out, "%s/%s", folder, name);
    return !out->failed && stat(text_str(out), &st) == 0;
}

/* Tasks first, jobs second: the second table only adds to the first. */
static int read_tables(struct pai *p, struct trace *t, const char *path, const struct trace_settings *s,
                       struct err *e)
{
    static const struct trace_layout tasks = { .columns = task_columns,
                                               .n_columns = N_TASK_COLUMNS,
                                               .header = TRACE_HEADER_IF,
                                               .separator = ',',
                                               .take = take_task_row };
    static const struct trace_layout jobs = { .columns = job_columns,
                                              .n_columns = N_JOB_COLUMNS,
                                              .header = TRACE_HEADER_IF,
                                              .separator = ',',
                                              .take = take_job_row };
    static const struct trace_layout groups = { .columns = group_columns,
                                                .n_columns = N_GROUP_COLUMNS,
                                                .header = TRACE_HEADER_IF,
                                                .separator = ',',
                                                .take = take_group_row };
    struct text file = { 0 };
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (folder)
        find_table(&file, path, "pai_task_table.csv");
    int rc = text_check(&file, e);
    if (!rc)
        rc = trace_read_rows(t, folder ? text_str(&file) : path, &tasks, p, s, e);
    if (!rc && folder && find_table(&file, path, "pai_job_table.csv"))
        rc = trace_read_rows(t, text_str(&file), &jobs, p, s, e);
    else if (!rc)
        text_printf(&t->notes, "%s: without pai_job_table.csv; a job is taken as submitted when it starts\n",
                    path);
    if (!rc && folder && find_table(&file, path, "pai_group_tag_table.csv"))
        rc = trace_read_rows(t, text_str(&file), &groups, p, s, e);
    text_free(&file);
    return rc;
}

/* Everything that was guessed or left out is told in the notes. */
int trace_read_pai(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    struct pai p = { 0 };
    struct pai_counts counts = { 0 };
    int rc = read_tables(&p, t, path, s, e);
    if (!rc)
        rc = keep_jobs(&p, t, &counts, s, e);
    t->n_records = p.n + t->n_skipped;
    if (!rc)
        trace_note_shared(t, path, counts.n_shared, counts.asked, counts.given);
    if (!rc && counts.n_vague)
        text_printf(&t->notes, "%s: %lld job%s a task with GPUs but no inst_num; gpus is left blank\n", path,
                    (long long)counts.n_vague, counts.n_vague == 1 ? " has" : "s have");
    if (!rc && counts.n_unsubmitted)
        text_printf(&t->notes, "%s: %lld job%s no time at all: left out\n", path,
                    (long long)counts.n_unsubmitted, counts.n_unsubmitted == 1 ? " has" : "s have");
    pai_free(&p);
    return rc;
}
