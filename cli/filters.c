#include "cli/filters.h"

#include <stdlib.h>
#include <string.h>

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

void filters_free(struct filters *f)
{
    for (int32_t i = 0; i < f->n; i++)
        free((char *)f->where[i].column); /* ours; figures see it as borrowed */
    free(f->where);
    *f = (struct filters){ 0 };
}
