/* Google's cluster trace of May 2011 (google/cluster-data, version 2): job_events, in up to 500 parts without
 * header. Fields: time [us], missing info, job, event, user, scheduling class, name, logical name. Every
 * SUBMIT is an arrival; nothing else of a job has a meaning for GPUs. Time 0 is "before the trace began",
 * 2^63 - 1 "after it ended": such events have no time and are left out. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/infile.h"
#include "workloads/traces/trace.h"

enum { TIME, JOB = 2, EVENT, N_COLUMNS = 8 };

enum { SUBMIT = 0, LAST_EVENT = 8 };

static const struct trace_column columns[N_COLUMNS] = {
    { "time", true },  { "missing info", false },     { "job ID", true },    { "event type", true },
    { "user", false }, { "scheduling class", false }, { "job name", false }, { "logical job name", false },
};

/* SUBMIT events that have no time, and those that the trace has filled in. */
struct google {
    int64_t n_outside, n_filled;
};

/* One SUBMIT event is one job; all other events only say what became of it. */
static int google_take(struct trace_row *row, struct trace_job *job)
{
    struct google *google = row->context;
    int64_t time_us, event;
    int rc = trace_take_count(row, EVENT, LAST_EVENT, &event);
    if (rc || (rc = trace_take_count(row, TIME, INT64_MAX, &time_us)))
        return rc;
    if (event < 0 || time_us < 0)
        return trace_fail_field(row, ERR_PARSE, event < 0 ? EVENT : TIME, "a whole number");
    if (event != SUBMIT)
        return TRACE_MERGED;
    if (time_us == 0 || time_us == INT64_MAX) {
        google->n_outside++;
        return TRACE_LEFT_OUT;
    }
    google->n_filled += *trace_field(row, 1) != '\0';
    job->submit_s = (double)time_us / 1e6;
    if (!(job->submit_s <= TRACE_MAX_TIME_S))
        return trace_fail_field(row, ERR_RANGE, TIME, "at most 1e17");
    rc = trace_take_text(row, JOB, &job->id);
    return rc ? rc : TRACE_TAKEN;
}

static const struct trace_layout layout = { .columns = columns,
                                            .n_columns = N_COLUMNS,
                                            .header = TRACE_NO_HEADER,
                                            .separator = ',',
                                            .take = google_take };

static int is_part(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 4 && strcmp(entry->d_name + n - 4, ".csv") == 0;
}

/* Names are compared by bytes, whatever the locale: the order of the parts decides the order of the draws. */
static int compare_parts(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Parts in the order of their numbers, as one table. */
static int read_folder(struct trace *t, const char *path, struct google *google,
                       const struct trace_settings *s, struct err *e)
{
    struct dirent **parts = NULL;
    struct text part = { 0 };
    int rc = 0, n = scandir(path, &parts, is_part, compare_parts);
    if (n < 0 && errno == ENOMEM)
        rc = err_nomem(e, path);
    else if (n < 0)
        rc = infile_cannot_read(e, path, errno);
    else if (n == 0)
        rc = err_set(e, ERR_PARSE, "%s:1: folder has no file *.csv; give parts of job_events", path);
    for (int i = 0; i < n; i++) {
        text_clear(&part);
        text_printf(&part, "%s/%s", path, parts[i]->d_name);
        if (!rc && !(rc = text_check(&part, e)))
            rc = trace_read_rows(t, text_str(&part), &layout, google, s, e);
        free(parts[i]);
    }
    free(parts);
    text_free(&part);
    return rc;
}

/* One part or a folder of parts. */
int trace_read_google(struct trace *t, const char *path, const struct trace_settings *s, struct err *e)
{
    struct google google = { 0 };
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int rc = folder ? read_folder(t, path, &google, s, e) : trace_read_rows(t, path, &layout, &google, s, e);
    if (!rc && google.n_outside)
        text_printf(&t->notes, "%s: %lld job%s submitted outside the time of the trace and left out\n", path,
                    (long long)google.n_outside, google.n_outside == 1 ? " was" : "s were");
    if (!rc && google.n_filled)
        text_printf(&t->notes, "%s: %lld submission%s not recorded but filled in by the trace\n", path,
                    (long long)google.n_filled, google.n_filled == 1 ? " was" : "s were");
    return rc;
}
