#include "workloads/trace_row.h"

#include <string.h>

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

static int fail(const struct trace_row *row, enum err_code code, const char *what)
{
    return err_set(row->e, code, "%s:%lld: %s", row->path, (long long)row->line, what);
}

static int split_at(struct trace_row *row, char *s, char separator)
{
    const char stop[2] = { separator, '\0' };
    row->n_fields = 0;
    for (;;) {
        if (row->n_fields == TRACE_MAX_FIELDS)
            return fail(row, ERR_PARSE, "has more than 64 fields, need at most 64");
        row->fields[row->n_fields++] = s;
        char *end;
        if (separator == ',' && *s == '"') {
            end = text_unquote(s);
            if (!end)
                return fail(row, ERR_PARSE, "quote is not closed, need the closing one in the same line");
            if (*end != ',' && *end != '\0')
                return fail(row, ERR_PARSE,
                            "text behind a closing quote, need a comma or the end of the line");
        } else {
            end = s + strcspn(s, stop);
        }
        bool more = *end == separator;
        *end = '\0';
        if (!more)
            return 0;
        s = end + 1;
    }
}

static int split_at_blanks(struct trace_row *row, char *s)
{
    static const char blanks[] = " \t";
    row->n_fields = 0;
    for (s += strspn(s, blanks); *s; s += strspn(s, blanks)) {
        if (row->n_fields == TRACE_MAX_FIELDS)
            return fail(row, ERR_PARSE, "has more than 64 fields, need at most 64");
        row->fields[row->n_fields++] = s;
        s += strcspn(s, blanks);
        if (*s)
            *s++ = '\0';
    }
    return 0;
}

static int split(struct trace_row *row, char *s)
{
    char separator = row->layout->separator;
    return separator == ' ' ? split_at_blanks(row, s) : split_at(row, s, separator);
}

/* ---- the header ---- */

static int fail_column(const struct trace_row *row, const char *name)
{
    const char *near = text_nearest(name, (const char *const *)row->fields, (size_t)row->n_fields);
    return err_set(row->e, ERR_PARSE, "%s:%lld: has no column %s, need it%s%s", row->path,
                   (long long)row->line, name, near ? "; nearest is " : "", near ? near : "");
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
            text_printf(&row->t->notes, "%s:%lld: column \"%.60s\" is not known and left out%s%s\n",
                        row->path, (long long)row->line, row->fields[i], near ? "; nearest is " : "",
                        near ? near : "");
    }
}

static int read_names(struct trace_row *row)
{
    const struct trace_layout *layout = row->layout;
    row->n_names = row->n_fields;
    for (int32_t k = 0; k < layout->n_columns; k++) {
        row->at[k] = -1;
        for (int32_t i = 0; i < row->n_fields; i++) {
            if (strcmp(row->fields[i], layout->columns[k].name) != 0)
                continue;
            if (row->at[k] >= 0)
                return err_set(row->e, ERR_PARSE, "%s:%lld: column %s is there twice, need it once",
                               row->path, (long long)row->line, layout->columns[k].name);
            row->at[k] = i;
        }
        if (row->at[k] < 0 && layout->columns[k].needed)
            return fail_column(row, layout->columns[k].name);
    }
    if (layout->exact)
        note_unknown(row);
    return 0;
}

/* The first row that is no comment: true in @p used when it names the columns. */
static int begin_rows(struct trace_row *row, bool *used)
{
    const struct trace_layout *layout = row->layout;
    *used = layout->header == TRACE_HEADER || (layout->header == TRACE_HEADER_IF && row->n_fields > 0 &&
                                               strcmp(row->fields[0], layout->columns[0].name) == 0);
    if (*used)
        return read_names(row);
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

static int take_row(struct trace_row *row)
{
    struct trace_job job = trace_job_unknown(row->t->n_records++);
    int rc = 0, taken = TRACE_MERGED;
    if (!row->layout->any_width && row->n_fields != row->n_names)
        rc = err_set(row->e, ERR_PARSE, "%s:%lld: has %d field%s, need %d", row->path, (long long)row->line,
                     (int)row->n_fields, row->n_fields == 1 ? "" : "s", (int)row->n_names);
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

static int take_line(struct trace_row *row, char *s)
{
    bool used = false;
    if (row->line == 1 && strncmp(s, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        s += 3;
    if (is_passed_over(row, s))
        return 0;
    int rc = split(row, s);
    if (rc)
        return forgive_line(row, rc);
    if (!row->begun) {
        rc = begin_rows(row, &used);
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
            rc = take_line(&row, lines.s);
    }
    lines_close(&lines);
    if (!rc && layout->header == TRACE_HEADER && !row.begun)
        rc = err_set(e, ERR_PARSE, "%s:1: file is empty, need a line of column names", path);
    if (!rc)
        note_odd(&row);
    return rc;
}
