/* The Standard Workload Format 2.2 of the Parallel Workloads Archive
 * (www.cs.huji.ac.il/labs/parallel/workload/ swf.html): 18 fields with blanks between, ';' comments, -1 for
 * what is not known. Its processors are taken for GPUs, those allocated or, if not known, those asked for. A
 * job that was stopped and went on has a line of its own and lines of status 2, 3 and 4 for its parts: these
 * are left out. */
#include <math.h>

#include "workloads/traces/trace.h"

/* Of 18; the others have names only so that the number of fields is right. */
enum { JOB, SUBMIT, WAIT, RUN, ALLOCATED, ASKED = 7, STATUS = 10, N_COLUMNS = 18 };

static const struct trace_column columns[N_COLUMNS] = {
    { "job number", true },
    { "submit time", true },
    { "wait time", false },
    { "run time", false },
    { "allocated processors", false },
    { "cpu time", false },
    { "memory used", false },
    { "requested processors", false },
    { "requested time", false },
    { "requested memory", false },
    { "status", false },
    { "user", false },
    { "group", false },
    { "executable", false },
    { "queue", false },
    { "partition", false },
    { "preceding job", false },
    { "think time", false },
};

/* A number; -1 stands for nothing. */
static int take_number(const struct trace_row *row, int32_t k, double max, double *out)
{
    int rc = trace_take_real(row, k, -1, max, out);
    if (!rc && *out < 0)
        *out = NAN;
    return rc;
}

static int take_processors(const struct trace_row *row, int32_t k, int32_t *out)
{
    double x;
    int rc = take_number(row, k, TRACE_MAX_GPUS, &x);
    if (rc || isnan(x))
        return rc;
    if (x != trunc(x))
        return trace_fail_field(row, ERR_PARSE, k, "a whole number");
    *out = (int32_t)x;
    return 0;
}

/* Status 2 to 4 are parts of jobs that have a line of their own. */
static int swf_take_status(const struct trace_row *row, struct trace_job *job)
{
    double status;
    int rc = take_number(row, STATUS, 5, &status);
    if (rc)
        return rc;
    if (status >= 2 && status <= 4)
        return TRACE_LEFT_OUT;
    if (status == 0)
        job->status = TRACE_FAILED;
    else if (status == 1)
        job->status = TRACE_PASSED;
    else if (status == 5)
        job->status = TRACE_KILLED;
    return TRACE_TAKEN;
}

/* Processors allocated, else those asked for; -1 is unknown. */
static int swf_take(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, JOB, &job->id)) ||
        (rc = trace_take_real(row, SUBMIT, 0, TRACE_MAX_TIME_S, &job->submit_s)) ||
        (rc = take_number(row, RUN, TRACE_MAX_TIME_S, &job->runtime_s)) ||
        (rc = take_processors(row, ALLOCATED, &job->gpus)))
        return rc;
    if (isnan(job->submit_s))
        return trace_fail_field(row, ERR_PARSE, SUBMIT, "a number");
    if (job->gpus < 0 && (rc = take_processors(row, ASKED, &job->gpus)))
        return rc;
    return swf_take_status(row, job);
}

/* The format has no GPUs: that processors stand for them is always noted. */
int trace_read_swf(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    static const struct trace_layout layout = { .columns = columns,
                                                .n_columns = N_COLUMNS,
                                                .header = TRACE_NO_HEADER,
                                                .separator = ' ',
                                                .comment = ';',
                                                .take = swf_take };
    int rc = trace_read_rows(t, path, &layout, NULL, s, e);
    if (!rc)
        text_printf(&t->notes, "%s: processors of the trace are taken for GPUs\n", path);
    if (!rc && t->n_left_out)
        text_printf(&t->notes, "%s: %lld line%s left out, of parts of jobs\n", path, (long long)t->n_left_out,
                    t->n_left_out == 1 ? " is" : "s are");
    return rc;
}
