/* What the texts of all kinds share: cells by the names of their columns, so that a report can be made of
 * rows from a run, a store or a CSV file alike, whatever columns were trimmed from them. */
#include "study/say.h"

#include <math.h>
#include <string.h>

#include "base/sheet.h"

double say_number(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    return c < 0 ? (double)NAN : table_number(t, row, c);
}

const char *say_word(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    const char *text = c < 0 || t->kinds[c] != TABLE_TEXT ? NULL : table_text(t, row, c);
    return text ? text : "";
}

bool say_has_status(const struct table *t, int64_t row, const char *status)
{
    return strcmp(say_word(t, row, "status"), status) == 0;
}

/* Rows come by rising point; without a column `point` all are of one. */
int64_t say_end_of_point(const struct table *t, int64_t first)
{
    int64_t end = first;
    while (end < t->n_rows && !(say_number(t, end, "point") > say_number(t, first, "point")))
        end++;
    return end;
}

const char *say_unquote(char buf[SAY_VALUE], const char *value)
{
    size_t n = strlen(value);
    /* A text with quotes or escapes inside stays as it was written. */
    if (n < 2 || n > SAY_VALUE || value[0] != '"' || strcspn(value + 1, "\"\\") != n - 2)
        return value;
    memcpy(buf, value + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}

/* From the left, name by name: the end of a path tells more than its beginning. */
const char *say_axis_title(const char *path)
{
    enum { WIDEST = 20 };
    const char *title = path;
    while (strlen(title) > WIDEST && strchr(title, '.'))
        title = strchr(title, '.') + 1;
    return title;
}

void say_axes(struct text *out, const struct study_report *r, int64_t row)
{
    char value[SAY_VALUE], a[SHOW];
    if (!r->n_axes)
        return;
    text_printf(out, "point %s:", show_count(a, (int64_t)say_number(r->rows, row, "point")));
    for (int32_t k = 0; k < r->n_axes; k++)
        text_printf(out, "%s %s %s", k ? "," : "", say_axis_title(r->axes[k]),
                    /* Values of axes are words as the study gave them, in rows of all kinds. */
                    say_unquote(value, say_word(r->rows, row, r->axes[k])));
    text_puts(out, "\n");
}

int64_t say_errors(struct text *out, const struct table *t)
{
    int64_t wrong = 0, first = -1;
    for (int64_t row = t->n_rows - 1; row >= 0; row--)
        if (say_has_status(t, row, "error")) {
            wrong++;
            first = row;
        }
    if (wrong)
        text_printf(out, "%lld of %lld rows are errors; the first: %s\n", (long long)wrong,
                    (long long)t->n_rows, say_word(t, first, "message"));
    return wrong;
}

int say_columns(struct text *out, const struct column *columns, struct err *e)
{
    struct sheet s = { 0 };
    char name[COLUMN_NAME];
    sheet_column(&s, "column", "", SHEET_LEFT);
    sheet_column(&s, "meaning", "", SHEET_LEFT);
    for (const struct column *c = columns; c->name; c++) {
        if (!c->help)
            continue;
        sheet_put(&s, "%s%s", column_name(name, c, 0), column_count(c) > 1 ? ".." : "");
        sheet_put(&s, "%s", c->help);
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}
