/* Reading of --where, and rows that pass. The comparison itself belongs to plots/data.c, so that a figure of
 * a table and an export of it choose the same rows. */
#include "cli/filters.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int filters_read(struct filters *f, const struct option_list *list, struct err *e)
{
    *f = (struct filters){ .where = calloc((size_t)list->n + 1, sizeof *f->where) };
    if (!f->where)
        return err_nomem(e, "filters");
    for (; f->n < list->n; f->n++) {
        const char *item = list->items[f->n], *equals = strchr(item, '=');
        if (!equals || equals == item)
            return err_set(e, ERR_USAGE, "option --where is \"%.100s\", expected COLUMN=VALUE", item);
        char *column = strndup(item, (size_t)(equals - item));
        if (!column)
            return err_nomem(e, "filters");
        f->where[f->n] = (struct plot_where){ .column = column, .value = equals + 1 };
    }
    return 0;
}

int filters_check(const struct filters *f, const struct table *columns, struct err *e)
{
    for (int32_t i = 0; i < f->n; i++) {
        const char *name = f->where[i].column;
        if (table_find(columns, name) >= 0)
            continue;
        err_set(e, ERR_USAGE, "option --where is on column \"%s\", expected one of the table", name);
        return err_suggest(e,
                           text_nearest(name, (const char *const *)columns->names, (size_t)columns->n_cols));
    }
    return 0;
}

bool filters_pass_row(const struct filters *f, const struct table *t, int64_t row)
{
    const struct plot_options opt = { .where = f->where, .n_where = f->n };
    return rows_pass(&(struct rows){ .t = t, .row = row, .opt = &opt });
}

static bool filters_pass(const void *data, const struct table *t, int64_t row)
{
    return filters_pass_row(data, t, row);
}

void filters_keep(const struct filters *f, struct table *rows)
{
    table_keep_rows(rows, filters_pass, f);
}

void filters_free(struct filters *f)
{
    for (int32_t i = 0; i < f->n; i++)
        free((char *)f->where[i].column); /* ours; figures see it as borrowed */
    free(f->where);
    *f = (struct filters){ 0 };
}
