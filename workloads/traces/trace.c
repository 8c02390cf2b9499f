/*
 * Job traces of clusters: one list of jobs from any of the formats in `trace_formats` (a reader a file in
 * this folder), that list written as and read from the canonical CSV, and a part of it: a window in time or
 * number, scaled arrivals, or arrivals made up. Bad records are errors, or counted and noted where settings
 * forgive them.
 */
#include "workloads/traces/trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "base/num.h"
#include "base/rng.h"

const char *const trace_column_names[N_TRACE_COLUMNS] = {
    "job_id",     "submit_s", "gpus", "runtime_s", "status",   "model",  "iters",
    "grad_bytes", "batch",    "ps",   "workers",   "priority", "tenant", "synthetic",
};

const char *const trace_status_words[N_TRACE_STATUSES + 1] = {
    "pass", "failed", "killed", "running", "waiting", NULL,
};

const struct trace_format trace_formats[N_TRACE_FORMATS] = {
    { "philly", "Microsoft Philly 2017: cluster_job_log (JSON)", .read = trace_read_philly },
    { "helios", "SenseTime Helios 2020: cluster_log.csv", .read = trace_read_helios },
    { "acme", "Shanghai AI Lab Acme 2023: trace_seren.csv, trace_kalos.csv", .read = trace_read_helios },
    { "pai",
      "Alibaba PAI 2020: pai_task_table.csv, or the folder with it, pai_job_table.csv and "
      "pai_group_tag_table.csv",
      .read = trace_read_pai },
    { "openb", "Alibaba 2023: openb_pod_list_*.csv", .read = trace_read_openb },
    { "google", "Google 2011: job_events part-*.csv, or their folder; arrivals only",
      .read = trace_read_google },
    { "gavel", "Gavel: *.trace of 6, 7, 9 or 10 columns", .layout = &trace_gavel },
    { "tiresias", "Tiresias simulator: job CSV", .layout = &trace_tiresias },
    { "pollux", "Pollux simulator: workload-*.csv", .layout = &trace_pollux },
    { "swf", "Standard Workload Format of the Parallel Workloads Archive; processors stand for GPUs",
      .read = trace_read_swf },
    { "sacct", "Slurm's accounts: sacct --parsable2 with JobID, State, Submit, Start, End, AllocTRES",
      .read = trace_read_sacct },
    { "csv", "the table that this command writes", .layout = &trace_canonical, .as_given = true },
};

const char *const trace_format_words[N_TRACE_FORMATS + 1] = {
    "philly",   "helios", "acme", "pai",   "openb", "google", "gavel",
    "tiresias", "pollux", "swf",  "sacct", "csv",   NULL,
};

/* NaN and -1 are "not known" in every reader. */
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
    free(job->tenant);
    *job = trace_job_unknown(job->index);
}

int trace_add(struct trace *t, struct trace_job *job, struct err *e)
{
    if (!vec_reserve(t->jobs, t->cap, t->n + 1)) {
        trace_job_free(job);
        return err_nomem(e, "jobs of a trace");
    }
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

/* By time of submission, then as in the trace; with @p shift the first job comes at 0. */
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
    return err_set(e, ERR_RANGE,
                   "%s:1: no job is left of %lld records (%lld bad, %lld without GPU, %lld left out)", path,
                   (long long)t->n_records, (long long)t->n_skipped, (long long)t->n_no_gpu,
                   (long long)t->n_left_out);
}

/* A reader fills the list; what holds for all formats (something left, sorted, noted) is done here. */
int trace_read(struct trace *t, int format, const char *path, const struct trace_settings *s, struct err *e)
{
    const struct trace_format *f = &trace_formats[format];
    *t = (struct trace){ 0 };
    int rc = f->read ? f->read(t, path, s, e) : trace_read_rows(t, path, f->layout, NULL, s, e);
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

/* ---- the table ---- */

static void trace_put_count(struct table *table, int64_t n)
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

/* The canonical table, which trace_read() reads back to the same jobs. */
void trace_format_csv(struct table *table, const struct trace *t)
{
    static const enum table_kind kinds[N_TRACE_COLUMNS] = {
        TABLE_TEXT, TABLE_REAL,  TABLE_COUNT, TABLE_REAL,  TABLE_TEXT, TABLE_TEXT, TABLE_COUNT,
        TABLE_REAL, TABLE_COUNT, TABLE_COUNT, TABLE_COUNT, TABLE_REAL, TABLE_TEXT, TABLE_TEXT,
    };
    struct text list = { 0 };
    for (int k = 0; k < N_TRACE_COLUMNS; k++)
        table_column(table, trace_column_names[k], kinds[k]);
    for (int32_t i = 0; i < t->n; i++) {
        const struct trace_job *job = &t->jobs[i];
        table_row(table);
        table_put_text(table, job->id);
        table_put_real(table, job->submit_s);
        trace_put_count(table, job->gpus);
        table_put_real(table, job->runtime_s);
        table_put_text(table, job->status >= 0 ? trace_status_words[job->status] : NULL);
        table_put_text(table, job->model);
        trace_put_count(table, job->iters);
        table_put_real(table, job->grad_bytes);
        trace_put_count(table, job->batch);
        trace_put_count(table, job->ps);
        trace_put_count(table, job->workers);
        table_put_real(table, job->priority);
        table_put_text(table, job->tenant);
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

/* ---- bad records, jobs kept ---- */

int trace_forgive(struct trace *t, const struct trace_settings *s, int rc, const struct err *e)
{
    if (!s->skip_bad || (rc != ERR_PARSE && rc != ERR_RANGE))
        return rc;
    if (t->n_skipped++ < TRACE_NOTED)
        text_printf(&t->notes, "%s; it is left out\n", e->msg);
    return 0;
}

int trace_keep(struct trace *t, const struct trace_settings *s, struct trace_job *job, struct err *e)
{
    if (job->gpus == 0 && !s->keep_idle) {
        t->n_no_gpu++;
        trace_job_free(job);
        return 0;
    }
    return trace_add(t, job, e);
}

void trace_note_shared(struct trace *t, const char *path, int64_t n, double asked, double given)
{
    if (n)
        text_printf(&t->notes, "%s: %lld job%s for parts of GPUs, rounded up: %.6g asked for, %.6g given\n",
                    path, (long long)n, n == 1 ? " asks" : "s ask", asked, given);
}

/* ---- a line into fields ---- */

static int trace_fail(const struct trace_row *row, const char *what)
{
    return err_set(row->e, ERR_PARSE, "%s:%lld: %s", row->path, (long long)row->line, what);
}

/* Cuts a line in place. Quotes are honoured for commas only, as the other formats have none. */
static int split_at(struct trace_row *row, char *s, char separator)
{
    const char stop[2] = { separator, '\0' };
    row->n_fields = 0;
    for (;;) {
        if (row->n_fields == TRACE_MAX_FIELDS)
            return trace_fail(row, "has more than 64 fields, expected at most 64");
        row->fields[row->n_fields++] = s;
        char *end;
        if (separator == ',' && *s == '"') {
            end = text_unquote(s);
            if (!end)
                return trace_fail(row, "quote is not closed on its line");
            if (*end != ',' && *end != '\0')
                return trace_fail(row, "text after a closing quote, expected a comma or the end of the line");
        } else {
            end = s + strcspn(s, stop);
        }
        bool more = *end == separator;
        *end = '\0';
        if (separator == ',')
            row->fields[row->n_fields - 1] = text_unguard(row->fields[row->n_fields - 1]);
        if (!more)
            return 0;
        s = end + 1;
    }
}

/* Runs of blanks separate fields; an empty field cannot be told from none. */
static int split_at_blanks(struct trace_row *row, char *s)
{
    static const char blanks[] = " \t";
    row->n_fields = 0;
    for (s += strspn(s, blanks); *s; s += strspn(s, blanks)) {
        if (row->n_fields == TRACE_MAX_FIELDS)
            return trace_fail(row, "has more than 64 fields, expected at most 64");
        row->fields[row->n_fields++] = s;
        s += strcspn(s, blanks);
        if (*s)
            *s++ = '\0';
    }
    return 0;
}

static int row_split(struct trace_row *row, char *s)
{
    char separator = row->layout->separator;
    return separator == ' ' ? split_at_blanks(row, s) : split_at(row, s, separator);
}

/* ---- the header ---- */

static int fail_column(const struct trace_row *row, const char *name)
{
    const char *near = text_nearest(name, (const char *const *)row->fields, (size_t)row->n_fields);
    const char *how = row->layout->how && !near ? row->layout->how : "";
    return err_set(row->e, ERR_PARSE, "%s:%lld: has no column %s%s%s%s%s", row->path, (long long)row->line,
                   name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "", how);
}

static void use_listed_order(struct trace_row *row)
{
    row->n_names = row->layout->n_columns;
    for (int32_t k = 0; k < row->n_names; k++)
        row->at[k] = k;
}

/* In a table that is ours, a column that we do not know is likely one misspelled. */
static void note_unknown(struct trace_row *row)
{
    const struct trace_layout *layout = row->layout;
    const char *names[TRACE_MAX_FIELDS];
    for (int32_t k = 0; k < layout->n_columns; k++)
        names[k] = layout->columns[k].name;
    for (int32_t i = 0; i < row->n_fields; i++) {
        int32_t k = 0;
        while (k < layout->n_columns && row->at[k] != i)
            k++;
        const char *near = text_nearest(row->fields[i], names, (size_t)layout->n_columns);
        if (k == layout->n_columns)
            text_printf(&row->t->notes, "%s:%lld: column \"%.60s\" is not known and left out%s%s%s\n",
                        row->path, (long long)row->line, row->fields[i], near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
    }
}

/* Columns are found by name; extra ones are ignored or, for the canonical format, noted. */
static int row_read_names(struct trace_row *row)
{
    const struct trace_layout *layout = row->layout;
    row->n_names = row->n_fields;
    for (int32_t k = 0; k < layout->n_columns; k++) {
        row->at[k] = -1;
        for (int32_t i = 0; i < row->n_fields; i++) {
            if (strcmp(row->fields[i], layout->columns[k].name) != 0)
                continue;
            if (row->at[k] >= 0)
                return err_set(row->e, ERR_PARSE, "%s:%lld: column %s is there twice", row->path,
                               (long long)row->line, layout->columns[k].name);
            row->at[k] = i;
        }
        if (row->at[k] < 0 && layout->columns[k].needed)
            return fail_column(row, layout->columns[k].name);
    }
    if (layout->exact)
        note_unknown(row);
    return layout->check ? layout->check(row) : 0;
}

/* The first row that is no comment: true in @p used when it names the columns. */
static int trace_begin_rows(struct trace_row *row, bool *used)
{
    const struct trace_layout *layout = row->layout;
    *used = layout->header == TRACE_HEADER || (layout->header == TRACE_HEADER_IF && row->n_fields > 0 &&
                                               strcmp(row->fields[0], layout->columns[0].name) == 0);
    if (*used)
        return row_read_names(row);
    use_listed_order(row);
    return 0;
}

/* What ails the first row ails the file when that row is the header. */
static int forgive_line(struct trace_row *row, int rc)
{
    if (!row->begun && row->layout->header != TRACE_NO_HEADER)
        return rc;
    rc = trace_forgive(row->t, row->s, rc, row->e);
    row->t->n_records += rc == 0;
    return rc;
}

/* ---- rows ---- */

/* A reader returns what became of the row: taken, merged into another job, or left out. */
static int take_row(struct trace_row *row)
{
    struct trace_job job = trace_job_unknown(row->t->n_records++);
    int rc = 0, taken = TRACE_MERGED;
    if (!row->layout->any_width && row->n_fields != row->n_names)
        rc = err_set(row->e, ERR_PARSE, "%s:%lld: has %d field%s, expected %d", row->path,
                     (long long)row->line, (int)row->n_fields, row->n_fields == 1 ? "" : "s",
                     (int)row->n_names);
    if (!rc) {
        taken = row->layout->take(row, &job);
        rc = taken < 0 ? taken : 0;
    }
    if (!rc && taken == TRACE_TAKEN)
        return trace_keep(row->t, row->s, &job, row->e);
    row->t->n_left_out += !rc && taken == TRACE_LEFT_OUT;
    trace_job_free(&job);
    return rc ? trace_forgive(row->t, row->s, rc, row->e) : 0;
}

/* A comment or nothing; a '#' may begin a job's name below the header. */
static bool is_passed_over(const struct trace_row *row, const char *s)
{
    char comment = row->layout->comment;
    bool begins = comment && *s == comment && (comment != '#' || !row->begun);
    return begins || s[strspn(s, " \t")] == '\0';
}

/* The first line that is not passed over may be the header. */
static int row_take_line(struct trace_row *row, char *s)
{
    bool used = false;
    if (row->line == 1 && strncmp(s, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        s += 3;
    if (is_passed_over(row, s))
        return 0;
    int rc = row_split(row, s);
    if (rc)
        return forgive_line(row, rc);
    if (!row->begun) {
        rc = trace_begin_rows(row, &used);
        row->begun = rc == 0;
    }
    return rc || used ? rc : take_row(row);
}

static void note_odd(struct trace_row *row)
{
    if (row->n_odd)
        text_printf(&row->t->notes,
                    "%s: %lld job%s a status that is not known, such as \"%s\"; it is left blank\n",
                    row->path, (long long)row->n_odd, row->n_odd == 1 ? " has" : "s have", row->odd);
}

/* The common loop of all formats made of lines; errors in a line are forgiven if the settings say so. */
int trace_read_rows(struct trace *t, const char *path, const struct trace_layout *layout, void *context,
                    const struct trace_settings *s, struct err *e)
{
    struct lines lines;
    struct trace_row row = { .layout = layout, .t = t, .s = s, .context = context, .path = path, .e = e };
    bool more = true;
    int rc = lines_open(&lines, path, TRACE_MAX_LINE, e);
    if (layout->header == TRACE_NO_HEADER)
        use_listed_order(&row);
    while (!rc && more) {
        rc = lines_next(&lines, &more, e);
        row.line = lines.line;
        if (rc == ERR_PARSE)
            rc = forgive_line(&row, rc);
        else if (!rc && more)
            rc = row_take_line(&row, lines.s);
    }
    lines_close(&lines);
    if (!rc && layout->header == TRACE_HEADER && !row.begun)
        rc = err_set(e, ERR_PARSE, "%s:1: file is empty, expected a line of column names", path);
    if (!rc)
        note_odd(&row);
    return rc;
}

/* ---- text ---- */

/* How the traces write that there is nothing: pandas, R, Python, SQL. */
static bool is_nothing(const char *s)
{
    static const char *const words[] = { "NA", "N/A", "None", "NaN", "nan", "null", "NULL", "\\N" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(s, words[i]) == 0)
            return true;
    return *s == '\0';
}

/* "" where the column or the field is missing; blanks around it are dropped. */
const char *trace_field(const struct trace_row *row, int32_t k)
{
    if (row->at[k] < 0 || row->at[k] >= row->n_fields)
        return "";
    char *s = row->fields[row->at[k]];
    if (row->layout->exact)
        return s;
    s += strspn(s, " \t");
    for (size_t n = strlen(s); n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'); n--)
        s[n - 1] = '\0';
    return is_nothing(s) ? "" : s;
}

int trace_fail_field(const struct trace_row *row, enum err_code code, int32_t k, const char *need)
{
    return err_set(row->e, code, "%s:%lld: %s is \"%.60s\", expected %s", row->path, (long long)row->line,
                   row->layout->columns[k].name, trace_field(row, k), need);
}

/* Text goes into tables and terminals, so control characters are refused. */
int trace_copy_text(char **out, const char *path, int64_t line, const char *what, const char *s,
                    struct err *e)
{
    size_t n = 0;
    for (; s[n]; n++)
        if (iscntrl((unsigned char)s[n]))
            return err_set(e, ERR_PARSE, "%s:%lld: %s is \"%.60s\", expected text without control characters",
                           path, (long long)line, what, s);
    if (n == 0 || n > TRACE_MAX_TEXT)
        return err_set(e, ERR_PARSE, "%s:%lld: %s has %zu bytes, expected 1 to %d", path, (long long)line,
                       what, n, TRACE_MAX_TEXT);
    *out = strdup(s);
    return *out ? 0 : err_nomem(e, path);
}

int trace_take_text(const struct trace_row *row, int32_t k, char **out)
{
    const char *s = trace_field(row, k), *what = row->layout->columns[k].name;
    if (*s == '\0' && !row->layout->columns[k].needed)
        return 0;
    return trace_copy_text(out, row->path, row->line, what, s, row->e);
}

/* ---- numbers ---- */

/* Blank is NaN, anything outside the range an error. */
int trace_take_real(const struct trace_row *row, int32_t k, double min, double max, double *out)
{
    char need[96], lo[NUM_TEXT], hi[NUM_TEXT];
    const char *s = trace_field(row, k);
    double x;
    *out = NAN;
    if (*s == '\0')
        return 0;
    bool number = num_parse_real(s, &x);
    if (number && x >= min && x <= max) {
        *out = x;
        return 0;
    }
    snprintf(need, sizeof need, "a number from %s to %s", num_format(lo, min), num_format(hi, max));
    return trace_fail_field(row, number ? ERR_RANGE : ERR_PARSE, k, need);
}

/* Blank is -1. */
int trace_take_count(const struct trace_row *row, int32_t k, int64_t max, int64_t *out)
{
    char need[64];
    const char *s = trace_field(row, k);
    double x = NAN;
    *out = -1;
    if (*s == '\0' || (num_parse_count(s, out) && *out <= max))
        return 0;
    *out = -1;
    /* Tables that went through floating point have "8.0"; beyond 2^53 that would be no count any more. */
    bool number = num_parse_real(s, &x), inside = x >= 0 && x <= fmin((double)max, 0x1p53);
    if (number && inside && trunc(x) == x) {
        *out = (int64_t)x;
        return 0;
    }
    snprintf(need, sizeof need, "a whole number from 0 to %lld", (long long)max);
    return trace_fail_field(row, number && !inside ? ERR_RANGE : ERR_PARSE, k, need);
}

int trace_take_small(const struct trace_row *row, int32_t k, int32_t *out)
{
    int64_t n;
    int rc = trace_take_count(row, k, TRACE_MAX_GPUS, &n);
    *out = (int32_t)n;
    return rc;
}

/* ---- times ---- */

/* Days from 1970-01-01 to the first of the month, Gregorian: years begin in March, so that the leap day is
 * the last of one. */
static int64_t count_days(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
    int64_t leap_days = y / 4 - y / 100 + y / 400;
    return 365 * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Exactly @p n digits at *s; moves behind them. */
static bool take_digits(const char **s, int n, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < n; i++, (*s)++) {
        if (!isdigit((unsigned char)**s))
            return false;
        *out = 10 * *out + (**s - '0');
    }
    return true;
}

static bool take_sign(const char **s, char sign)
{
    bool there = **s == sign;
    *s += there;
    return there;
}

/* "+08:00", "-0730", "+08", "Z", " UTC" or nothing: seconds east of Greenwich. */
static bool take_zone(const char *s, int64_t *zone_s)
{
    int64_t hours, minutes = 0;
    *zone_s = 0;
    s += *s == ' ';
    if (*s == '\0' || strcmp(s, "Z") == 0 || strcmp(s, "UTC") == 0)
        return true;
    bool east = *s == '+';
    if (!east && *s != '-')
        return false;
    s++;
    if (!take_digits(&s, 2, &hours))
        return false;
    take_sign(&s, ':');
    if (*s && !take_digits(&s, 2, &minutes))
        return false;
    if (*s || hours > 15 || minutes > 59)
        return false;
    *zone_s = (east ? 1 : -1) * (3600 * hours + 60 * minutes);
    return true;
}

/* ISO 8601 with a space or T, fractions and zones; without a zone as UTC. Days are counted by arithmetic, not
 * by the C library, whose zones differ between machines. */
bool trace_parse_time(const char *text, double *out)
{
    const char *s = text;
    int64_t year, month, day, hour, minute, second, zone_s;
    double fraction_s = 0;
    if (!take_digits(&s, 4, &year) || !take_sign(&s, '-') || !take_digits(&s, 2, &month) ||
        !take_sign(&s, '-') || !take_digits(&s, 2, &day) || !(take_sign(&s, ' ') || take_sign(&s, 'T')) ||
        !take_digits(&s, 2, &hour) || !take_sign(&s, ':') || !take_digits(&s, 2, &minute) ||
        !take_sign(&s, ':') || !take_digits(&s, 2, &second))
        return false;
    if (*s == '.') {
        int64_t digits = 0, unit = 1;
        for (s++; isdigit((unsigned char)*s) && unit < 1000000000; s++, unit *= 10)
            digits = 10 * digits + (*s - '0');
        fraction_s = (double)digits / (double)unit;
    }
    if (year < 1900 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 ||
        minute > 59 || second > 60 || !take_zone(s, &zone_s))
        return false;
    int64_t whole_s = 86400 * count_days(year, month, day) + 3600 * hour + 60 * minute + second - zone_s;
    *out = (double)whole_s + fraction_s;
    return true;
}

int trace_take_time(const struct trace_row *row, int32_t k, double *out)
{
    const char *s = trace_field(row, k);
    *out = NAN;
    if (*s == '\0' || trace_parse_time(s, out))
        return 0;
    if (num_parse_real(s, out) && fabs(*out) <= TRACE_MAX_TIME_S)
        return 0;
    *out = NAN;
    return trace_fail_field(row, ERR_PARSE, k, "a date such as 2020-06-09 18:41:01+08:00, or seconds");
}

int trace_need_time(const struct trace_row *row, int32_t k, double *out)
{
    int rc = trace_take_time(row, k, out);
    if (!rc && isnan(*out))
        rc = trace_fail_field(row, ERR_PARSE, k, "a date such as 2020-06-09 18:41:01+08:00, or seconds");
    return rc;
}

/* NaN unless both ends are known. */
int trace_take_runtime(const struct trace_row *row, int32_t start, int32_t end, double *out)
{
    double start_s, end_s;
    int rc = trace_take_time(row, start, &start_s);
    if (rc || (rc = trace_take_time(row, end, &end_s)))
        return rc;
    *out = end_s - start_s;
    if (!(*out < 0))
        return 0;
    *out = NAN;
    return err_set(row->e, ERR_RANGE,
                   "%s:%lld: %s is \"%.40s\" and %s is \"%.40s\"; the end must come after the start",
                   row->path, (long long)row->line, row->layout->columns[start].name, trace_field(row, start),
                   row->layout->columns[end].name, trace_field(row, end));
}

/* ---- status ---- */

int32_t trace_find_status(const struct trace_status_word *words, size_t n, const char *text)
{
    size_t length = strcspn(text, " ");
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i].word) == length && strncasecmp(words[i].word, text, length) == 0)
            return (int32_t)words[i].status;
    return TRACE_STATUS_UNKNOWN;
}

int32_t trace_take_status(struct trace_row *row, int32_t k, const struct trace_status_word *words, size_t n)
{
    const char *s = trace_field(row, k);
    int32_t status = trace_find_status(words, n, s);
    if (status == TRACE_STATUS_UNKNOWN && *s && row->n_odd++ == 0)
        snprintf(row->odd, sizeof row->odd, "%s", s);
    return status;
}

/* ---- the canonical CSV ---- */

static const struct trace_column columns[N_TRACE_COLUMNS] = {
    { "job_id", true },  { "submit_s", true },   { "gpus", true },     { "runtime_s", false },
    { "status", false }, { "model", false },     { "iters", false },   { "grad_bytes", false },
    { "batch", false },  { "ps", false },        { "workers", false }, { "priority", false },
    { "tenant", false }, { "synthetic", false },
};

static int canonical_take_status(const struct trace_row *row, int32_t *out)
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
    size_t n;
    for (const char *rest = trace_field(row, TRACE_SYNTHETIC), *s; (s = text_next(&rest, ';', &n));) {
        int k = 0;
        while (k < N_TRACE_COLUMNS && (strlen(columns[k].name) != n || memcmp(columns[k].name, s, n) != 0))
            k++;
        if (k == N_TRACE_COLUMNS)
            return trace_fail_field(row, ERR_PARSE, TRACE_SYNTHETIC, "names of columns with ; between");
        *out |= 1u << k;
    }
    return 0;
}

/* The format that trace_format_csv() writes: the only one with all columns. */
static int canonical_take(struct trace_row *row, struct trace_job *job)
{
    int rc;
    if ((rc = trace_take_text(row, TRACE_JOB_ID, &job->id)) ||
        (rc = trace_take_real(row, TRACE_SUBMIT, -TRACE_MAX_TIME_S, TRACE_MAX_TIME_S, &job->submit_s)) ||
        (rc = trace_take_small(row, TRACE_GPUS, &job->gpus)) ||
        (rc = trace_take_real(row, TRACE_RUNTIME, 0, TRACE_MAX_TIME_S, &job->runtime_s)) ||
        (rc = canonical_take_status(row, &job->status)) ||
        (rc = trace_take_text(row, TRACE_MODEL, &job->model)) ||
        (rc = trace_take_count(row, TRACE_ITERS, TRACE_MAX_COUNT, &job->iters)) ||
        (rc = trace_take_real(row, TRACE_GRAD, 0, TRACE_MAX_BYTES, &job->grad_bytes)) ||
        (rc = trace_take_count(row, TRACE_BATCH, TRACE_MAX_COUNT, &job->batch)) ||
        (rc = trace_take_small(row, TRACE_PS, &job->ps)) ||
        (rc = trace_take_small(row, TRACE_WORKERS, &job->workers)) ||
        (rc = trace_take_real(row, TRACE_PRIORITY, -1e300, 1e300, &job->priority)) ||
        (rc = trace_take_text(row, TRACE_TENANT, &job->tenant)) ||
        (rc = take_synthetic(row, &job->synthetic)))
        return rc;
    if (isnan(job->submit_s))
        return trace_fail_field(row, ERR_PARSE, TRACE_SUBMIT, "a number");
    if (job->grad_bytes <= 0)
        return trace_fail_field(row, ERR_RANGE, TRACE_GRAD, "more than 0");
    return job->batch == 0 ? trace_fail_field(row, ERR_RANGE, TRACE_BATCH, "at least 1") : TRACE_TAKEN;
}

const struct trace_layout trace_canonical = { .columns = columns,
                                              .n_columns = N_TRACE_COLUMNS,
                                              .header = TRACE_HEADER,
                                              .separator = ',',
                                              .comment = '#',
                                              .exact = true,
                                              .take = canonical_take };

/* Streams of one seed, times 2^32: what jobs draw comes after them (workloads/traces/profile.c). */
enum { WINDOW = 1, ARRIVALS = 2 };

static int build_rng(struct rng **r, uint64_t seed, int what, struct err *e)
{
    return rng_build(r, seed, (uint64_t)what << 32, e);
}

struct trace_window trace_window_default(void)
{
    return (struct trace_window){
        .start = -1, .seed = 1, .statuses = TRACE_ANY_STATUS, .horizon_s = NAN, .rate = 1
    };
}

/* Keep jobs @p from to @p to - 1. */
static void keep_range(struct trace *t, int32_t from, int32_t to)
{
    for (int32_t i = 0; i < t->n; i++)
        if (i < from || i >= to)
            trace_job_free(&t->jobs[i]);
    if (to > from && from > 0)
        memmove(t->jobs, t->jobs + from, (size_t)(to - from) * sizeof *t->jobs);
    t->n = to - from;
}

static void note_dropped(struct trace *t, int64_t n, const char *why)
{
    if (n)
        text_printf(&t->notes, "%lld job%s left out: %s\n", (long long)n, n == 1 ? " is" : "s are", why);
}

/* Each dropped job is counted under one reason, the first that applies. */
static void keep_fitting(struct trace *t, const struct trace_window *w)
{
    int64_t n_large = 0, n_status = 0, n_idle = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < t->n; i++) {
        struct trace_job *job = &t->jobs[i];
        bool large = w->max_gpus > 0 && job->gpus > w->max_gpus;
        bool status = !((w->statuses >> (job->status + 1)) & 1);
        bool idle = w->with_work && (job->runtime_s == 0 || job->iters == 0);
        n_status += status;
        n_idle += !status && idle;
        n_large += !status && !idle && large;
        if (large || status || idle)
            trace_job_free(job);
        else
            t->jobs[n++] = *job;
    }
    t->n = n;
    note_dropped(t, n_status, "of another status than asked for");
    note_dropped(t, n_idle, "no run time or no iterations");
    note_dropped(t, n_large, "more GPUs than allowed");
}

/* A drawn window begins at any job that leaves enough behind it. */
static int choose_start(int32_t *start, const struct trace *t, const struct trace_window *w, int32_t n,
                        struct err *e)
{
    struct rng *r;
    int rc;
    *start = (int32_t)(w->start < 0 ? 0 : w->start);
    if (w->start >= 0 || n == t->n)
        return 0;
    if ((rc = build_rng(&r, w->seed, WINDOW, e)))
        return rc;
    *start = (int32_t)rng_below(r, (int64_t)t->n - n + 1);
    rng_free(r);
    return 0;
}

/* From the first arrival on, scaled by rate, or stretched onto the horizon. */
static void move_arrivals(struct trace *t, const struct trace_window *w)
{
    double first_s = t->jobs[0].submit_s, span_s = t->jobs[t->n - 1].submit_s - first_s;
    for (int32_t i = 0; i < t->n; i++) {
        double after_s = t->jobs[i].submit_s - first_s;
        /* Divided first, so that the last one comes at the horizon itself. */
        if (isnan(w->horizon_s))
            t->jobs[i].submit_s = after_s / w->rate;
        else
            t->jobs[i].submit_s = span_s > 0 ? after_s / span_s * w->horizon_s : 0;
    }
    t->origin_s += first_s;
}

/* Filters first, so that a window of N jobs has N jobs that fit. */
int trace_cut(struct trace *t, const struct trace_window *w, struct err *e)
{
    int32_t start;
    keep_fitting(t, w);
    int64_t from = w->start < 0 ? 0 : w->start, least = w->n > 0 ? w->n : 1;
    if (t->n == 0)
        return err_set(e, ERR_RANGE, "no job fits what is asked for, expected at least one");
    if (from > t->n || least > t->n - from)
        return err_set(e, ERR_RANGE,
                       "window is %lld job%s from job %llu on, expected at most the %d that fit",
                       (long long)least, least == 1 ? "" : "s", (unsigned long long)from + 1, (int)t->n);
    int32_t n = (int32_t)(w->n > 0 ? w->n : t->n - from);
    int rc = choose_start(&start, t, w, n, e);
    if (rc)
        return rc;
    if (n < t->n)
        text_printf(&t->notes, "jobs %d to %d of %d that fit are kept\n", (int)start + 1, (int)(start + n),
                    (int)t->n);
    keep_range(t, start, start + n);
    move_arrivals(t, w);
    return text_check(&t->notes, e);
}

/* A Poisson process: exponential gaps by inversion. */
int trace_draw_arrivals(struct trace *t, int32_t n, double rate_per_s, uint64_t seed, struct err *e)
{
    struct rng *r = NULL;
    double time_s = 0;
    char id[16];
    *t = (struct trace){ 0 };
    if (n < 1 || !(rate_per_s > 0))
        return err_set(e, ERR_RANGE, "arrivals: %d jobs at %g /s, expected 1 or more at a rate above 0",
                       (int)n, rate_per_s);
    int rc = build_rng(&r, seed, ARRIVALS, e);
    for (int32_t i = 0; i < n && !rc; i++) {
        struct trace_job job = trace_job_unknown(t->n_records++);
        time_s -= log1p(-rng_uniform(r)) / rate_per_s;
        job.submit_s = time_s;
        job.synthetic = 1u << TRACE_SUBMIT;
        snprintf(id, sizeof id, "%d", (int)i);
        job.id = strdup(id);
        rc = job.id ? trace_add(t, &job, e) : err_nomem(e, "jobs of a trace");
    }
    rng_free(r);
    if (rc)
        trace_free(t);
    return rc;
}
