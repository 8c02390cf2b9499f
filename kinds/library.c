/* The library's public functions (include/weft.h) over the engine of studies: a split and a simulated step
 * are studies of one point, so that all results are rows under the names that CSV has. */
#include "kinds/design/ask/load.h"
#include "weft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/vec.h"
#include "kinds/design/answer/lists.h"
#include "kinds/design/ask/point.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/solve.h"
#include "study/campaign.h"
#include "study/source.h"
#include "study/study.h"
#include "topo/graph.h"

struct weft_study {
    char *path;                 /* owned */
    struct study_override *set; /* shape [n], owned with its texts */
    int32_t n, cap;
    struct text notes;
};

/* One list of a row; its rows are rows of its table. */
struct row_list {
    const char *name;
    struct table table;
    struct weft_row *rows; /* shape [table.n_rows], owned */
};

/* A row of a table: its own, that of a list, or one that a callback sees. */
struct weft_row {
    const struct table *table;
    int64_t at;
    struct table own;
    struct row_list *lists; /* shape [n_lists], owned */
    int32_t n_lists;
};

enum { ROWS_AT_A_TIME = 4096, MOST_THREADS = 1024 };

const char *weft_version(void)
{
    return WEFT_VERSION;
}

void weft_use_data(const char *folder)
{
    catalogue_use(folder);
}

/* Codes of weft.h are those of base/err.h without their sign. */
_Static_assert(WEFT_NOMEM == -ERR_NOMEM && WEFT_IO == -ERR_IO && WEFT_PARSE == -ERR_PARSE &&
                   WEFT_RANGE == -ERR_RANGE && WEFT_UNSUPPORTED == -ERR_UNSUP && WEFT_LIBRARY == -ERR_LIB &&
                   WEFT_USAGE == -ERR_USAGE && WEFT_NO_DESIGN == -ERR_NO_DESIGN &&
                   WEFT_STOPPED == -ERR_STOPPED,
               "codes of the library are those of the program");
_Static_assert(sizeof((weft_error *)0)->text == sizeof((struct err *)0)->msg, "messages fit");

static int tell(weft_error *error, int rc, const struct err *e)
{
    if (rc && error) {
        error->code = -rc;
        memcpy(error->text, e->msg, sizeof error->text);
    }
    return -rc;
}

/* ---- studies ---- */

/* A word is checked at once; a file is read by whatever uses it, as a study, a network or a workload have
 * different keys. */
int weft_load(weft_study **study, const char *path_or_word, weft_error *error)
{
    struct err e = { 0 };
    struct design_point probe = { 0 };
    *study = NULL;
    topo_graph_init();
    /* A file is read when it is used, for only then is it known what for; a word is a network or nothing. */
    struct text found = { 0 };
    int rc = source_find(&found, path_or_word, &e);
    if (!rc && access(text_str(&found), F_OK) != 0)
        rc = design_point_load(&probe, path_or_word, NULL, 0, DESIGN_NEEDS_NETWORK, &e);
    design_point_free(&probe);
    char *path = rc ? NULL : strdup(text_str(&found));
    text_free(&found);
    if (rc)
        return tell(error, rc, &e);
    weft_study *s = calloc(1, sizeof *s);
    if (!s || !path) {
        free(s);
        free(path);
        return tell(error, err_nomem(&e, "study"), &e);
    }
    s->path = path;
    *study = s;
    return 0;
}

int weft_set(weft_study *study, const char *key, const char *value, weft_error *error)
{
    struct err e = { 0 };
    char *path = strdup(key), *text = strdup(value);
    if (!path || !text || !vec_reserve(study->set, study->cap, study->n + 1)) {
        free(path);
        free(text);
        return tell(error, err_nomem(&e, "key"), &e);
    }
    study->set[study->n++] = (struct study_override){ path, text };
    /* cppcheck-suppress memleak ; the study has both */
    return 0;
}

const char *weft_notes(const weft_study *study)
{
    return text_str(&study->notes);
}

void weft_free_study(weft_study *study)
{
    if (!study)
        return;
    for (int32_t i = 0; i < study->n; i++) {
        free((char *)study->set[i].path);
        free((char *)study->set[i].value);
    }
    free(study->set);
    free(study->path);
    text_free(&study->notes);
    free(study);
}

/* ---- one design ---- */

/* The study of one point, with @p n keys more than its own; the caller frees *set. */
static int open_point(struct study *s, const weft_study *study, const struct study_override *more, int32_t n,
                      struct study_override **set, struct err *e)
{
    *set = calloc((size_t)(study->n + n) + 1, sizeof **set);
    if (!*set)
        return err_nomem(e, "keys");
    for (int32_t i = 0; i < study->n + n; i++)
        (*set)[i] = i < study->n ? study->set[i] : more[i - study->n];
    struct study_ask ask = { .from = { .path = study->path, .overrides = *set, .n = study->n + n },
                             .kind = &design_kind };
    return study_open_point(s, &ask, e);
}

/* What the study that used it last had to say. */
static void keep_notes(const weft_study *study, const struct text *notes)
{
    struct text *out = (struct text *)&study->notes;
    text_clear(out);
    text_puts(out, text_str(notes));
}

/* ---- lists ---- */

/* Items look at the table once it is complete. */
static int make_items(struct row_list *list, struct err *e)
{
    list->rows = calloc((size_t)list->table.n_rows + 1, sizeof *list->rows);
    if (list->table.failed || !list->rows)
        return err_nomem(e, list->name);
    for (int64_t i = 0; i < list->table.n_rows; i++)
        list->rows[i] = (struct weft_row){ .table = &list->table, .at = i };
    return 0;
}

static void put_warnings(struct table *t, const char *notes)
{
    table_column(t, "warning", TABLE_TEXT);
    size_t n;
    for (const char *line; (line = text_next(&notes, '\n', &n));) {
        char text[sizeof((struct err *)0)->msg];
        snprintf(text, sizeof text, "%.*s", (int)n, line);
        table_row(t);
        table_put_text(t, text);
    }
}

/* Of a design without bandwidths all but the warnings are empty. */
static int put_lists(weft_row *row, const struct design_view *v, struct err *e)
{
    size_t n = 1;
    int rc = 0;
    for (const struct design_list *of = design_lists; of->name; of++)
        n++;
    row->lists = calloc(n, sizeof *row->lists);
    if (!row->lists)
        return err_nomem(e, "lists");
    for (const struct design_list *of = design_lists; of->name && !rc; of++) {
        struct row_list *list = &row->lists[row->n_lists];
        if (of->explains && !v->explain)
            continue;
        row->n_lists++;
        list->name = of->name;
        rc = alloc_has_split(&v->design->answer) ? design_list_build(&list->table, of, v, e) : 0;
        rc = rc ? rc : make_items(list, e);
    }
    if (rc)
        return rc;
    struct row_list *last = &row->lists[row->n_lists++];
    last->name = "warnings";
    put_warnings(&last->table, text_str(&v->study->notes));
    return make_items(last, e);
}

static int make_lists(weft_row *row, struct design *d, bool explains, struct err *e)
{
    struct design_shown shown;
    int rc = design_shown_build(&shown, d, explains, e);
    rc = rc ? rc : put_lists(row, &shown.view, e);
    design_shown_free(&shown);
    return rc;
}

/* The row of a sweep's only point, made by its own functions, and what the row consists of. */
static int make_row(weft_row *row, struct study *study, const struct design_point *s, bool explains,
                    struct err *e)
{
    const struct sweep_point p = { 0 };
    struct design_words words = { 0 };
    struct design d;
    int rc = design_for_row(&d, s, e);
    if (rc)
        return rc;
    text_puts(&study->notes, text_str(&d.chosen.notes));
    study_put_columns(&row->own, study, TABLE_ROWS);
    rc = design_words_take(&words, s, e);
    if (!rc)
        rc = design_put_row(&row->own, study, s, &words, &p, 0, &d, e);
    if (!rc && row->own.failed)
        rc = err_nomem(e, "row");
    if (!rc)
        rc = study_trim(&row->own, design_columns, e);
    if (!rc)
        rc = make_lists(row, &d, explains, e);
    design_words_free(&words);
    design_free(&d);
    return rc;
}

/* With the engine's own code, so that the row is that of the program. */
static int run_point(weft_row **row, const weft_study *study, const struct study_override *more, int32_t n,
                     bool explains, struct err *e)
{
    struct study s = { 0 };
    struct study_override *set = NULL;
    struct design_point point = { 0 };
    *row = calloc(1, sizeof **row);
    if (!*row)
        return err_nomem(e, "row");
    (*row)->table = &(*row)->own;
    int rc = open_point(&s, study, more, n, &set, e);
    if (!rc) {
        rc = design_load(&point, &s, &(struct sweep_point){ 0 }, e);
        text_puts(&s.notes, text_str(&point.notes));
        if (!rc)
            rc = make_row(*row, &s, &point, explains, e);
        /* What is wrong with a point is one thing, whatever it is. */
        if (rc && !err_is_of_machine(rc))
            rc = e->code = ERR_RANGE;
    }
    keep_notes(study, &s.notes);
    design_point_free(&point);
    study_close(&s);
    free(set);
    if (rc) {
        weft_free_row(*row);
        *row = NULL;
    }
    return rc;
}

int weft_split(weft_row **row, const weft_study *study, weft_error *error)
{
    struct err e = { 0 };
    return tell(error, run_point(row, study, NULL, 0, false, &e), &e);
}

int weft_simulate(weft_row **row, const weft_study *study, const char *model, weft_error *error)
{
    struct err e = { 0 };
    const struct study_override more[] = { { "split", "given" }, { "model", model } };
    return tell(error, run_point(row, study, more, model ? 2 : 1, false, &e), &e);
}

/* Bandwidths are those of the network; where one is missing, those of the split. */
int weft_explain(weft_row **row, const weft_study *study, weft_error *error)
{
    struct err e = { 0 };
    struct design_point probe = { 0 };
    const struct study_override given = { "split", "given" };
    *row = NULL;
    int rc = design_point_load(&probe, study->path, study->set, study->n, DESIGN_NEEDS_NETWORK, &e);
    bool has = !rc && topo_has_bandwidths(&probe.net);
    design_point_free(&probe);
    if (!rc)
        rc = run_point(row, study, &given, has ? 1 : 0, true, &e);
    return tell(error, rc, &e);
}

/* ---- studies of many points ---- */

void weft_run_defaults(weft_run_options *options)
{
    *options = (weft_run_options){ .size = sizeof *options, .threads = 1 };
}

/* Called by the engine a few times a second. */
struct library_watch {
    const weft_run_options *options;
    bool stopped;
};

static bool watch_progress(void *context, const struct campaign_state *state)
{
    struct library_watch *w = context;
    if (w->options->progress &&
        w->options->progress(w->options->data, (long long)state->done.seen, (long long)state->n_points))
        w->stopped = true;
    return !w->stopped;
}

/* All rows to the callback, some at a time. */
static int hand_rows(struct library_watch *w, struct store *store, const struct study_kind *kind,
                     struct err *e)
{
    struct table rows = { 0 };
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    int rc = study_trim_store(store, kind, false, e);
    while (!rc && !w->stopped) {
        rc = store_next(store, &walk, ROWS_AT_A_TIME, &rows, e);
        if (rc || rows.n_rows == 0)
            break;
        for (int64_t i = 0; i < rows.n_rows && !w->stopped; i++) {
            const struct weft_row row = { .table = &rows, .at = i };
            w->stopped = w->options->row(w->options->data, &row) != 0;
        }
    }
    table_free(&rows);
    return rc;
}

/* The same campaign as the command line runs, with a callback in place of progress. */
static int run_study(const weft_study *study, struct library_watch *w, struct err *e)
{
    const struct study_ask ask = { .from = { .path = study->path, .overrides = study->set, .n = study->n } };
    const weft_run_options *o = w->options;
    struct study s;
    struct campaign c = { 0 };
    int rc = study_open(&s, &ask, e);
    if (!rc)
        rc = study_find_hash(&s, e);
    const struct campaign_ask run = { .study = &s,
                                      .all = true,
                                      .store = o->store,
                                      .shard = 1,
                                      .n_shards = 1,
                                      .threads = o->threads,
                                      .command = "weft.h",
                                      .version = WEFT_VERSION,
                                      .progress = watch_progress,
                                      .context = w };
    if (!rc)
        rc = campaign_open(&c, &run, e);
    if (!rc)
        rc = campaign_run(&c, e);
    if (!rc && o->row && !w->stopped)
        rc = hand_rows(w, c.store, s.kind, e);
    keep_notes(study, &s.notes);
    campaign_close(&c);
    study_close(&s);
    return rc;
}

/* `size` tells an options struct of an older header from one that was never initialised. */
int weft_run(const weft_study *study, const weft_run_options *options, weft_error *error)
{
    struct err e = { 0 };
    struct library_watch w = { .options = options };
    if (options->size < sizeof *options || options->threads < 1 || options->threads > MOST_THREADS)
        return tell(error,
                    err_set(&e, ERR_USAGE,
                            "options: threads is %d, expected 1 to %d, and weft_run_defaults() first",
                            options->threads, MOST_THREADS),
                    &e);
    int rc = run_study(study, &w, &e);
    if (rc || !w.stopped)
        return tell(error, rc, &e);
    if (error) {
        error->code = WEFT_STOPPED;
        snprintf(error->text, sizeof error->text, "the run was stopped");
    }
    return WEFT_STOPPED;
}

/* ---- rows ---- */

const char *weft_column(const weft_row *row, int i)
{
    return i >= 0 && i < row->table->n_cols ? row->table->names[i] : NULL;
}

int weft_kind(const weft_row *row, const char *column)
{
    const struct table *t = row->table;
    int32_t at = table_find(t, column);
    if (at < 0)
        return WEFT_MISSING;
    if (t->kinds[at] == TABLE_TEXT)
        return table_text(t, row->at, at) ? WEFT_WORD : WEFT_MISSING;
    if (!isfinite(table_number(t, row->at, at)))
        return WEFT_MISSING;
    return t->kinds[at] == TABLE_COUNT ? WEFT_INTEGER : WEFT_NUMBER;
}

const char *weft_unit(const weft_row *row, const char *column)
{
    size_t n;
    int32_t at = table_find(row->table, column);
    return at >= 0 ? table_unit(row->table, at, &n) : NULL;
}

double weft_number(const weft_row *row, const char *column)
{
    int32_t at = table_find(row->table, column);
    return at >= 0 ? table_number(row->table, row->at, at) : (double)NAN;
}

const char *weft_text(const weft_row *row, const char *column)
{
    int32_t at = table_find(row->table, column);
    return at >= 0 && row->table->kinds[at] == TABLE_TEXT ? table_text(row->table, row->at, at) : NULL;
}

static const struct row_list *find_list(const weft_row *row, const char *name)
{
    for (int32_t i = 0; i < row->n_lists; i++)
        if (strcmp(row->lists[i].name, name) == 0)
            return &row->lists[i];
    return NULL;
}

const char *weft_list(const weft_row *row, int i)
{
    return i >= 0 && i < row->n_lists ? row->lists[i].name : NULL;
}

int weft_count(const weft_row *row, const char *list)
{
    const struct row_list *x = find_list(row, list);
    return x ? (int)x->table.n_rows : -1;
}

const weft_row *weft_item(const weft_row *row, const char *list, int i)
{
    const struct row_list *x = find_list(row, list);
    return x && i >= 0 && i < x->table.n_rows ? &x->rows[i] : NULL;
}

void weft_free_row(weft_row *row)
{
    if (!row)
        return;
    for (int32_t i = 0; i < row->n_lists; i++) {
        table_free(&row->lists[i].table);
        free(row->lists[i].rows);
    }
    free(row->lists);
    table_free(&row->own);
    free(row);
}
