#include "explore/campaign_merge.h"

#include <stdlib.h>
#include <string.h>

#include "explore/keep.h"

enum { AT_A_TIME = 4096 };

static int64_t point_of(const struct table *rows, int64_t row)
{
    return table_cell(rows, row, 0)->count;
}

/* Rows after number *after, which becomes that of the last. */
static int next_rows(struct store *s, int64_t *after, struct table *rows, struct err *e)
{
    int rc = store_rows_whole(s, *after, AT_A_TIME, rows, e);
    if (!rc && rows->n_rows)
        *after = point_of(rows, rows->n_rows - 1);
    return rc;
}

static int offer_all(struct keep *k, struct store *s, struct err *e)
{
    struct table rows = { 0 };
    int64_t after = -1;
    int rc;
    do {
        rc = next_rows(s, &after, &rows, e);
        if (!rc && rows.n_rows)
            rc = keep_offer(k, &rows, e);
    } while (!rc && rows.n_rows);
    table_free(&rows);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* All points but `kept`, shape [n], ascending. */
static int drop_others(struct store *s, const int64_t *kept, int64_t n, struct err *e)
{
    struct table rows = { 0 };
    int64_t after = -1, at = 0;
    int rc;
    do {
        rc = next_rows(s, &after, &rows, e);
        for (int64_t row = 0; row < rows.n_rows && !rc; row++) {
            while (at < n && kept[at] < point_of(&rows, row))
                at++;
            if (at == n || kept[at] != point_of(&rows, row))
                rc = store_drop(s, point_of(&rows, row), e);
        }
    } while (!rc && rows.n_rows);
    table_free(&rows);
    return rc;
}

static int drop_beaten(struct keep *k, struct store *s, struct err *e)
{
    struct table fresh;
    const int64_t *gone;
    int64_t n_gone;
    int rc = keep_changes(k, &fresh, &gone, &n_gone, e);
    int64_t *kept = rc ? NULL : malloc(((size_t)fresh.n_rows + 1) * sizeof *kept);
    if (!rc && !kept)
        rc = err_nomem(e, "points");
    for (int64_t row = 0; row < fresh.n_rows && !rc; row++)
        kept[row] = point_of(&fresh, row);
    if (!rc) {
        qsort(kept, (size_t)fresh.n_rows, sizeof *kept, ascending);
        rc = drop_others(s, kept, fresh.n_rows, e);
    }
    free(kept);
    table_free(&fresh);
    return rc;
}

/* By the rule that stands in the store. */
static int settle_by(const struct keep_rule *rule, struct store *s, const struct table *columns,
                     struct err *e)
{
    struct keep *k = NULL;
    int rc = keep_build(&k, rule, columns, e);
    if (!rc)
        rc = offer_all(k, s, e);
    if (!rc)
        rc = drop_beaten(k, s, e);
    keep_free(k);
    return rc;
}

/* A store_settle. */
static int settle(void *data, struct store *s, struct err *e)
{
    struct store_head head;
    struct sweep_counts counts;
    struct yaml_doc doc;
    struct keep_rule rule = { 0 };
    struct table columns = { 0 };
    bool complete;
    (void)data;
    store_head_of(s, &head, &counts, &complete);
    if (!head.keep || !*head.keep)
        return 0;
    int rc = store_rows_whole(s, -1, 0, &columns, e);
    if (rc)
        return rc;
    rc = yaml_read_text(&doc, "keep", head.keep, strlen(head.keep), e);
    if (!rc) {
        rc = keep_read(&rule, &doc, doc.root, &columns, e);
        yaml_free(&doc);
    }
    if (!rc)
        rc = settle_by(&rule, s, &columns, e);
    keep_rule_free(&rule);
    table_free(&columns);
    return rc;
}

int campaign_merge(const char *out, const char *const *paths, int32_t n, struct err *e)
{
    return store_merge_settled(out, paths, n, settle, NULL, e);
}
