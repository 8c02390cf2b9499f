/* Microsoft's Philly of 2017 (msr-fiddle/philly-traces; ATC '19, arXiv 1901.05758): cluster_job_log, a JSON
 * array of {status, vc, jobid, attempts: [{start_time, end_time, detail: [{ip, gpus: [..]}]}],
 * submitted_time, user}.
 *
 * gpus are those of an attempt, the largest where attempts differ; a job without attempts, or whose attempts
 * name no machine, has them unknown. runtime_s is the sum over attempts; one without start or end makes it
 * unknown. Times are those of the cluster's place without zone, where an hour of 2017-11-05 is there twice:
 * an attempt across it may seem to end before it begins, which is a bad record. */
#include <math.h>
#include <string.h>

#include "base/json_read.h"
#include "workloads/traces/trace.h"

static const struct trace_status_word words[] = {
    { "Pass", TRACE_PASSED },
    { "Killed", TRACE_KILLED },
    { "Failed", TRACE_FAILED },
};

/* The array under way. */
struct philly {
    const char *path;
    int64_t line; /* where the job begins */
    int64_t n_untimed, n_differ, n_odd;
    struct err *e;
};

static int philly_fail(const struct philly *p, enum err_code code, const char *key, const char *text,
                       const char *need)
{
    return err_set(p->e, code, "%s:%lld: %s is \"%.60s\", expected %s", p->path, (long long)p->line, key,
                   text, need);
}

/* Member @p key as text; NULL when it is null, absent or "None". */
static int take_text(const struct philly *p, const struct json_value *object, const char *key,
                     const char **out)
{
    const struct json_value *v = json_value_get(object, key);
    *out = json_value_text(v);
    if (!*out && !json_value_is_null(v))
        return philly_fail(p, ERR_PARSE, key, "not text", "text or null");
    if (*out && (strcmp(*out, "None") == 0 || **out == '\0'))
        *out = NULL;
    return 0;
}

static int take_time(const struct philly *p, const struct json_value *object, const char *key, double *out)
{
    const char *text;
    int rc = take_text(p, object, key, &text);
    *out = NAN;
    if (rc || !text || trace_parse_time(text, out))
        return rc;
    return philly_fail(p, ERR_PARSE, key, text, "a date such as 2017-10-07 01:12:09");
}

/* GPUs of an attempt, -1 if it names no machine. */
static int count_gpus(const struct philly *p, const struct json_value *attempt, int32_t *out)
{
    const struct json_value *detail = json_value_get(attempt, "detail");
    size_t n = 0, n_machines = json_value_count(detail);
    if (!json_value_is_array(detail) && !json_value_is_null(detail))
        return philly_fail(p, ERR_PARSE, "detail", "no list", "a list of machines");
    for (size_t i = 0; i < n_machines; i++) {
        const struct json_value *gpus = json_value_get(json_value_at(detail, i), "gpus");
        if (!json_value_is_array(gpus))
            return philly_fail(p, ERR_PARSE, "gpus", "no list", "a list");
        n += json_value_count(gpus);
    }
    if (n > TRACE_MAX_GPUS)
        return philly_fail(p, ERR_RANGE, "gpus", "more than 1000000", "at most that");
    *out = n_machines > 0 ? (int32_t)n : -1;
    return 0;
}

/* Run times of attempts add up; a missing time makes the sum unknown (NaN). */
static int take_attempt(struct philly *p, const struct json_value *attempt, struct trace_job *job,
                        bool *differ)
{
    double start_s, end_s;
    int32_t gpus = -1;
    int rc = count_gpus(p, attempt, &gpus);
    if (rc || (rc = take_time(p, attempt, "start_time", &start_s)) ||
        (rc = take_time(p, attempt, "end_time", &end_s)))
        return rc;
    if (end_s < start_s)
        return philly_fail(p, ERR_RANGE, "end_time", json_value_text(json_value_get(attempt, "end_time")),
                           "a time after start_time");
    *differ = *differ || (job->gpus >= 0 && gpus >= 0 && gpus != job->gpus);
    job->gpus = gpus > job->gpus ? gpus : job->gpus;
    job->runtime_s += end_s - start_s;
    return 0;
}

/* A job without attempts never ran. */
static int take_attempts(struct philly *p, const struct json_value *object, struct trace_job *job)
{
    const struct json_value *attempts = json_value_get(object, "attempts");
    size_t n = json_value_count(attempts);
    bool differ = false;
    if (!json_value_is_array(attempts))
        return philly_fail(p, ERR_PARSE, "attempts", "no list", "a list");
    job->runtime_s = n > 0 ? 0 : NAN;
    for (size_t i = 0; i < n; i++) {
        int rc = take_attempt(p, json_value_at(attempts, i), job, &differ);
        if (rc)
            return rc;
    }
    p->n_untimed += n > 0 && isnan(job->runtime_s);
    p->n_differ += differ;
    return 0;
}

/* Every field but the time of submission may be missing. */
static int philly_take_job(struct philly *p, const struct json_value *object, struct trace_job *job)
{
    const char *id, *status, *vc;
    int rc;
    if ((rc = take_text(p, object, "jobid", &id)) ||
        (rc = trace_copy_text(&job->id, p->path, p->line, "jobid", id ? id : "", p->e)) ||
        (rc = take_text(p, object, "status", &status)) || (rc = take_text(p, object, "vc", &vc)) ||
        (rc = vc ? trace_copy_text(&job->tenant, p->path, p->line, "vc", vc, p->e) : 0) ||
        (rc = take_time(p, object, "submitted_time", &job->submit_s)) || (rc = take_attempts(p, object, job)))
        return rc;
    if (isnan(job->submit_s))
        return philly_fail(p, ERR_PARSE, "submitted_time", "nothing", "a date such as 2017-10-07 01:12:09");
    job->status = trace_find_status(words, sizeof words / sizeof *words, status ? status : "");
    p->n_odd += status && job->status == TRACE_STATUS_UNKNOWN;
    return 0;
}

static void philly_note(struct trace *t, const char *path, int64_t n, const char *what)
{
    if (n)
        text_printf(&t->notes, "%s: %lld job%s %s\n", path, (long long)n, n == 1 ? "" : "s", what);
}

/* One object at a time: the file is far larger than what is kept of it. */
int trace_read_philly(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    struct philly p = { .path = path, .e = e };
    struct json_reader *reader;
    const struct json_value *object = NULL;
    int rc = json_reader_open(&reader, path, e);
    while (!rc && !(rc = json_reader_next(reader, &object, e)) && object) {
        struct trace_job job = trace_job_unknown(t->n_records++);
        p.line = json_reader_line(reader);
        rc = philly_take_job(&p, object, &job);
        if (!rc) {
            rc = trace_keep(t, s, &job, e);
        } else {
            trace_job_free(&job);
            rc = trace_forgive(t, s, rc, e);
        }
    }
    json_reader_close(reader);
    if (rc)
        return rc;
    philly_note(t, path, p.n_untimed, "with an attempt that has no start or end: runtime_s is left blank");
    philly_note(t, path, p.n_differ, "with attempts on different numbers of GPUs: the largest is taken");
    philly_note(t, path, p.n_odd, "with a status that is not Pass, Killed or Failed: it is left blank");
    return 0;
}
