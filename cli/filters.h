/**
 * @file --where COLUMN=VALUE: which rows of a table a command looks at.
 *
 * One rule for export, front and plot, which is that of figures (rows_pass(), plots/data.h): values are
 * compared as the table shows them.
 */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include "cli/options.h"
#include "plots/data.h"

/** Row of --where. */
#define OPTION_WHERE                                                                                         \
    LIST_OPTION("where", "COLUMN=VALUE", where,                                                              \
                "only rows with this value; a column given twice means either value, two columns mean both")

/** Release with filters_free(). */
struct filters {
    struct plot_where *where; /**< shape [n], owned; columns owned, values borrowed */
    int32_t n;
};

/** ERR_USAGE: no COLUMN=VALUE; ERR_NOMEM. Safe to free after failure. */
int filters_read(struct filters *f, const struct option_list *list, struct err *e);
/** ERR_USAGE: a column that @p columns has not, with the nearest. */
int filters_check(const struct filters *f, const struct table *columns, struct err *e);
/** Does it pass? */
bool filters_pass_row(const struct filters *f, const struct table *t, int64_t row);
/** Rows that do not pass go; the others stay in their order. */
void filters_keep(const struct filters *f, struct table *rows);
void filters_free(struct filters *f);

#endif
