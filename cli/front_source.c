#include "cli/front_source.h"

#include <string.h>

enum { BATCH = 4096 /* rows of a store at a time: a few MB */ };

static int read_batch(struct front_source *s, struct err *e)
{
    return store_next(s->store, &s->walk, BATCH, &s->rows, e);
}

static int open_store(struct front_source *s, const char *path, struct err *e)
{
    struct store_head head;
    struct sweep_counts counts;
    int rc = store_read(&s->store, path, e);
    if (rc)
        return rc;
    store_head_of(s->store, &head, &counts, &s->complete);
    s->survivors = head.keep && *head.keep;
    s->from = (struct origin){ .known = true, .study_hash = head.study_hash, .seed = head.seed };
    s->kind = study_kind_of_store(s->store);
    rc = study_trim_store(s->store, s->kind, false, e);
    return rc ? rc : read_batch(s, e);
}

static int open_csv(struct front_source *s, const char *path, struct err *e)
{
    int rc = table_read_csv(&s->rows, path, e);
    s->kind = study_kind_of_columns(&s->rows);
    return rc;
}

int front_source_open(struct front_source *s, const char *path, struct err *e)
{
    *s = (struct front_source){ .walk = store_walk_all(STORE_RESULTS, false),
                                .complete = true,
                                .from = { .known = false } };
    if (strcmp(path, "-") == 0)
        return open_csv(s, "/dev/stdin", e);
    return store_is(path) ? open_store(s, path, e) : open_csv(s, path, e);
}

int front_source_next(struct front_source *s, struct table **rows, struct err *e)
{
    int rc = 0;
    *rows = NULL;
    if (s->begun && s->store)
        rc = read_batch(s, e);
    else if (s->begun)
        return 0;
    s->begun = true;
    if (!rc && (!s->store || s->rows.n_rows > 0))
        *rows = &s->rows;
    return rc;
}

void front_source_close(struct front_source *s)
{
    table_free(&s->rows);
    store_close(s->store);
    *s = (struct front_source){ .from = { .known = false } };
}
