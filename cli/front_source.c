/* Rows for weft front, a batch at a time; of a CSV all of them are one. Where points have several rows each
 * gets a number of its own. */
#include "cli/front_source.h"

#include <string.h>

#include "study/keep.h"
#include "study/study.h"

enum { BATCH = 4096 /* rows of a store at a time: a few MB */ };

/* Rows of `read`, each with a number of its own: the point, and which of its rows it is. */
static int number_rows(struct front_source *s, struct err *e)
{
    const struct table *from = &s->read;
    int32_t point = table_find(from, "point");
    table_clear(&s->rows);
    table_columns_of(&s->rows, from);
    if (s->rows.n_cols == from->n_cols)
        table_column(&s->rows, KEEP_ROW, TABLE_COUNT);
    for (int64_t row = 0; row < from->n_rows; row++) {
        int64_t now = point < 0 ? row : table_count(from, row, point);
        s->n = now == s->point ? s->n + 1 : 0;
        s->point = now;
        table_copy_row(&s->rows, from, row);
        table_put_count(&s->rows, now < 0 ? -1 : store_row_id(now, s->n));
    }
    return s->rows.failed ? err_nomem(e, "rows") : 0;
}

int cmd_front_read(struct front_source *s, struct err *e)
{
    bool many = s->kind && s->kind->label;
    int rc = store_next(s->store, &s->walk, BATCH, many ? &s->read : &s->rows, e);
    return rc || !many ? rc : number_rows(s, e);
}

static int open_store(struct front_source *s, const struct run *run, struct err *e)
{
    int rc = output_read_stores(&s->store, run, 0, e);
    if (rc)
        return rc;
    const struct store_head *head = store_head_of(s->store);
    s->complete = store_is_complete(s->store);
    s->survivors = head->keep && *head->keep;
    s->from = (struct origin){ .known = true, .study_hash = head->study_hash, .seed = head->seed };
    rc = study_kind_of_store(&s->kind, s->store, e);
    if (!rc)
        rc = study_trim_store(s->store, s->kind, false, e);
    return rc ? rc : cmd_front_read(s, e);
}

static int open_csv(struct front_source *s, const char *path, struct err *e)
{
    int rc = table_read_csv(&s->read, path, e);
    if (rc)
        return rc;
    s->kind = study_kind_of_columns(&s->read);
    study_find_better(&s->read, s->kind, TABLE_ROWS);
    if (s->kind->label && table_find(&s->read, "point") >= 0)
        return number_rows(s, e);
    s->rows = s->read;
    s->read = (struct table){ 0 };
    return 0;
}

int cmd_front_open(struct front_source *s, const struct run *run, struct err *e)
{
    const char *path = run->opt.operands[0];
    *s = (struct front_source){ .walk = store_walk_all(STORE_RESULTS, false),
                                .complete = true,
                                .point = -1,
                                .from = { .known = false } };
    if (strcmp(path, "-") == 0)
        return open_csv(s, "/dev/stdin", e);
    bool stores;
    int rc = output_names_stores(&stores, run, 0, e);
    return rc ? rc : stores ? open_store(s, run, e) : open_csv(s, path, e);
}

int cmd_front_next(struct front_source *s, struct table **rows, struct err *e)
{
    int rc = 0;
    *rows = NULL;
    if (s->begun && s->store)
        rc = cmd_front_read(s, e);
    else if (s->begun)
        return 0;
    s->begun = true;
    if (!rc && (!s->store || s->rows.n_rows > 0))
        *rows = &s->rows;
    return rc;
}

void cmd_front_close(struct front_source *s)
{
    table_free(&s->rows);
    table_free(&s->read);
    store_close(s->store);
    *s = (struct front_source){ .from = { .known = false } };
}
