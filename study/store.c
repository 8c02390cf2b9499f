#include "study/store_inner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

/* ---- opening ---- */

static int new_store(struct store **out, const char *path, bool reads, struct err *e)
{
    struct store *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return err_nomem(e, "a store");
    s->lock = -1;
    s->reads = reads;
    s->temporary = !path;
    s->path = strdup(path ? path : "temporary store");
    return s->path ? 0 : err_nomem(e, "a store");
}

/* Which of the small tables have rows, and what texts are numbered. */
static int read_rest(struct store *s, struct err *e)
{
    int rc = store_read_texts(s, e);
    for (int part = 0; part < STORE_N_PARTS && !rc; part++) {
        char sql[100];
        int64_t any;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT 1 FROM %s LIMIT 1)", store_part_names[part]);
        rc = store_number(s, sql, &any, e);
        s->parts[part].any = any > 0;
    }
    return rc;
}

/* An existing store: all that is known of it. */
static int read_all(struct store *s, struct err *e)
{
    struct table columns = { 0 };
    int rc = store_read_head(s, e);
    if (!rc)
        rc = store_read_columns(&columns, s, e);
    if (!rc)
        rc = store_sort_columns(s, &columns, e);
    if (!rc)
        rc = read_rest(s, e);
    table_free(&columns);
    return rc;
}

static int copy_text(const char **out, const char *text, struct err *e)
{
    *out = strdup(text);
    return *out ? 0 : err_nomem(e, "a store");
}

static int copy_head(struct store *s, const struct store_head *head, struct err *e)
{
    s->head = *head;
    s->head.command = s->head.version = s->head.study = s->head.keep = NULL;
    int rc = copy_text(&s->head.command, head->command, e);
    if (!rc)
        rc = copy_text(&s->head.version, head->version, e);
    if (!rc && head->keep)
        rc = copy_text(&s->head.keep, head->keep, e);
    return rc ? rc : copy_text(&s->head.study, head->study, e);
}

/* In one transaction: a process that is killed here leaves an empty file, which is as good as none. */
static int make(struct store *s, const struct store_head *head, const struct table *columns, struct err *e)
{
    int rc = copy_head(s, head, e);
    if (!rc)
        rc = store_sort_columns(s, columns, e);
    if (!rc)
        rc = store_begin(s, e);
    if (!rc)
        rc = store_create(s, e);
    if (!rc)
        rc = store_write_head(s, head, e);
    if (!rc)
        rc = store_write_counts(s, &s->counts, head->n_units == 0, e);
    if (!rc)
        rc = store_exec(s, "COMMIT", e);
    s->begun = false;
    return rc;
}

/* A file that is no store is not touched: what it is comes first. */
static int open_file(struct store *s, const struct store_head *head, const struct table *columns,
                     struct err *e)
{
    bool is_new = true;
    int rc = store_check_kind(s, &is_new, e);
    if (!rc && !is_new)
        rc = read_all(s, e);
    if (!rc && !is_new)
        rc = store_check_head(s, head, columns, e);
    if (!rc && !s->temporary)
        rc = store_exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", e);
    if (!rc && is_new)
        rc = make(s, head, columns, e);
    return rc;
}

static int copy_spans(struct spans *out, const struct spans *from, struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < from->n && !rc; i++)
        rc = spans_add(out, from->spans[i].first, from->spans[i].n, e);
    return rc;
}

int store_open(struct store **out, const char *path, const struct store_head *head,
               const struct table *columns, struct spans *done, struct sweep_counts *counts, struct err *e)
{
    *done = (struct spans){ 0 };
    *counts = (struct sweep_counts){ 0 };
    int rc = new_store(out, path, false, e);
    if (!rc)
        rc = store_connect(*out, e);
    if (!rc)
        rc = open_file(*out, head, columns, e);
    if (!rc)
        rc = copy_spans(done, &(*out)->done, e);
    if (rc) {
        spans_free(done);
        store_close(*out);
        *out = NULL;
        return rc;
    }
    *counts = (*out)->counts;
    return 0;
}

int store_read(struct store **out, const char *path, struct err *e)
{
    bool is_new;
    int rc = new_store(out, path, true, e);
    if (!rc)
        rc = store_connect(*out, e);
    /* All that is read is of one instant, while a sweep may be writing. */
    if (!rc)
        rc = store_exec(*out, "BEGIN", e);
    if (!rc)
        rc = store_check_kind(*out, &is_new, e);
    if (!rc)
        rc = read_all(*out, e);
    if (rc) {
        store_close(*out);
        *out = NULL;
    }
    return rc;
}

/* ---- writing ---- */

int store_give_up(struct store *s, int rc)
{
    if (s->begun)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->begun = false;
    s->failed = true;
    return rc;
}

static int run_span(struct store *s, struct sqlite3_stmt **stmt, const char *sql, struct span span,
                    struct err *e)
{
    int rc = *stmt ? 0 : store_prepare(s, stmt, sql, e);
    if (rc)
        return rc;
    sqlite3_bind_int64(*stmt, 1, span.first);
    if (sqlite3_bind_parameter_count(*stmt) > 1)
        sqlite3_bind_int64(*stmt, 2, span.n);
    return store_run(s, *stmt, e);
}

/* What changed since the last commit; both lists ascend. */
static int write_spans(struct store *s, const struct spans *done, struct err *e)
{
    int64_t i = 0, k = 0;
    int rc = 0;
    while ((i < s->done.n || k < done->n) && !rc) {
        const struct span *was = i < s->done.n ? &s->done.spans[i] : NULL;
        const struct span *is = k < done->n ? &done->spans[k] : NULL;
        if (was && (!is || was->first < is->first)) {
            rc = run_span(s, &s->remove_span, "DELETE FROM done WHERE first = ?1", *was, e);
            i++;
            continue;
        }
        bool same = was && was->first == is->first;
        if (!same || was->n != is->n)
            rc = run_span(s, &s->put_span, "INSERT OR REPLACE INTO done VALUES(?1, ?2)", *is, e);
        i += same;
        k++;
    }
    return rc;
}

static bool same_counts(const struct sweep_counts *a, const struct sweep_counts *b)
{
    return a->seen == b->seen && a->filtered == b->filtered && a->bounded == b->bounded &&
           a->solved == b->solved && a->failed == b->failed;
}

static bool same_spans(const struct spans *a, const struct spans *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->spans, b->spans, (size_t)a->n * sizeof *a->spans) == 0);
}

static bool is_complete(const struct store_head *head, const struct spans *done)
{
    return spans_count(done, head->n_units) == head->n_units;
}

int store_commit(struct store *s, const struct spans *done, const struct sweep_counts *counts, struct err *e)
{
    struct spans copy = { 0 };
    bool same = same_spans(&s->done, done) && same_counts(&s->counts, counts);
    if (!s->begun && !s->failed && same)
        return 0;
    int rc = store_begin(s, e);
    if (!rc)
        rc = copy_spans(&copy, done, e);
    if (!rc)
        rc = write_spans(s, done, e);
    if (!rc)
        rc = store_write_counts(s, counts, is_complete(&s->head, done), e);
    if (!rc)
        rc = store_exec(s, "COMMIT", e);
    if (rc) {
        spans_free(&copy);
        return store_give_up(s, rc);
    }
    spans_free(&s->done);
    s->done = copy;
    s->counts = *counts;
    s->begun = false;
    return 0;
}

/* A store at rest is one file: it can be copied as it is, and read where nothing can be written. While
 * somebody reads it, it stays as it is; so it does on a full disk. */
static void settle(struct store *s)
{
    if (s->begun)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_busy_timeout(s->db, 0);
    if (!s->temporary && !s->reads && s->head.command)
        sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    if (s->db)
        settle(s);
    store_disconnect(s);
    for (int part = 0; part < STORE_N_PARTS; part++)
        free(s->parts[part].cols);
    free(s->n_texts);
    free(s->shown);
    store_texts_free(&s->texts);
    store_head_free(&s->head);
    spans_free(&s->done);
    table_free(&s->columns);
    free(s->path);
    free(s);
}

/* ---- what it says of itself ---- */

void store_head_of(const struct store *s, struct store_head *head, struct sweep_counts *counts,
                   bool *complete)
{
    *head = s->head;
    *counts = s->counts;
    *complete = is_complete(&s->head, &s->done);
}

bool store_is(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char begins[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    /* pread: nothing is taken out of a pipe. */
    bool is = pread(fd, begins, sizeof begins, 0) == (ssize_t)sizeof begins &&
              memcmp(begins, magic, sizeof magic) == 0;
    close(fd);
    return is;
}
