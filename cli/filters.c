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
            return err_set(e, ERR_USAGE, "option --where is \"%.100s\", need COLUMN=VALUE", item);
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
        const char *near = text_nearest(name, (const char *const *)columns->names, (size_t)columns->n_cols);
        return err_set(e, ERR_USAGE, "option --where is on column \"%s\", need one of the table%s%s", name,
                       near ? ", nearest is " : "", near ? near : "");
    }
    return 0;
}

void filters_keep(const struct filters *f, struct table *rows)
{
    const struct plot_options opt = { .where = f->where, .n_where = f->n };
    struct rows r = { .t = rows, .opt = &opt };
    int64_t n = 0;
    for (r.row = 0; r.row < rows->n_rows; r.row++) {
        struct table_cell *from = rows->cells + r.row * rows->n_cols;
        bool pass = rows_pass(&r);
        for (int32_t i = 0; i < rows->n_cols && !pass; i++)
            free(from[i].text);
        if (pass)
            memmove(rows->cells + n++ * rows->n_cols, from, (size_t)rows->n_cols * sizeof *from);
    }
    rows->n_rows = n;
}

void filters_free(struct filters *f)
{
    for (int32_t i = 0; i < f->n; i++)
        free((char *)f->where[i].column); /* ours; figures see it as borrowed */
    free(f->where);
    *f = (struct filters){ 0 };
}
