/* What the texts of all kinds share: cells by the names of their columns, so that a report can be made of
 * rows from a run, a store or a CSV file alike, whatever columns were trimmed from them. */
#include "study/say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "study/study.h"

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

void say_axes(struct text *out, const struct study_report *r, int64_t row)
{
    char value[SHOW_VALUE], title[SHOW_VALUE], a[SHOW];
    if (!r->n_axes)
        return;
    text_printf(out, "point %s:", show_count(a, (int64_t)say_number(r->rows, row, "point")));
    for (int32_t k = 0; k < r->n_axes; k++)
        text_printf(out, "%s %s %s", k ? "," : "", show_path(title, r->axes[k], strlen(r->axes[k])),
                    /* Values of axes are words as the study gave them, in rows of all kinds. */
                    show_unquoted(value, say_word(r->rows, row, r->axes[k])));
    text_puts(out, "\n");
}

/* Some rows may have needed fewer than all. */
static bool say_seeds_vary(const struct study_report *r)
{
    int32_t col = table_find(r->rows, "seeds");
    for (int64_t row = 0; row < r->rows->n_rows && col >= 0; row++)
        if (table_number(r->rows, row, col) < (double)r->seeds)
            return true;
    return false;
}

void say_seeds(struct text *out, const struct study_report *r)
{
    char a[SHOW];
    const char *most = say_seeds_vary(r) ? "up to " : "";
    if (r->seeds > 1)
        text_printf(out, "means of %s%s seeds, %lld to %lld, \302\261 half of the 95 %% interval\n", most,
                    show_count(a, r->seeds), (long long)r->seed, (long long)(r->seed + r->seeds - 1));
    else
        text_printf(out, "seed: %lld\n", (long long)r->seed);
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

/* ---- rows ---- */

/* Columns of a sheet, and what they are described by. */
struct say_layout {
    struct made_column made[SHEET_MAX_COLUMNS];
    struct column_place places[SHEET_MAX_COLUMNS];
    int32_t n;
};

/* Rows are of fewer seeds than the study has where nothing is drawn. */
static bool has_seeds(const struct table *t)
{
    bool several = false;
    for (int64_t row = 0; row < t->n_rows && !several; row++)
        several = say_number(t, row, "seeds") > 1;
    return several;
}

static bool is_sought(const struct study_report *r, const struct column *c)
{
    for (int32_t i = 0; i < STUDY_MAX_SOUGHT; i++)
        if (r->sought[i] && strcmp(r->sought[i], c->name) == 0)
            return true;
    return false;
}

/* Is it for people? */
static bool say_is_shown(const struct study_report *r, const struct column *c)
{
    return is_sought(r, c) || (column_is_in(c, IN_TEXT) && !(c->flags & COLUMN_HIDDEN) &&
                               (!(c->flags & COLUMN_SEEDS) || has_seeds(r->rows)));
}

/* By what people would read: values that are shown alike are alike here. */
static bool is_common(const struct table *t, const struct column *c, int32_t col)
{
    char a[SHOW], b[SHOW];
    const struct column_scale scale = column_scale(c, 0);
    if (!(c->flags & COLUMN_COMMON))
        return false;
    for (int64_t row = 1; row < t->n_rows; row++)
        if (strcmp(column_shown(a, c, t->kinds[col], *table_cell(t, row, col), scale),
                   column_shown(b, c, t->kinds[col], *table_cell(t, 0, col), scale)) != 0)
            return false;
    return t->n_rows > 0;
}

void say_common(struct text *out, const struct study_report *r)
{
    const struct table *t = r->rows;
    struct made_column made;
    char title[COLUMN_NAME], buf[SHOW];
    for (int32_t col = 0; col < t->n_cols; col++) {
        const struct column *c = &made.of;
        if (!study_describe(&made, r->kind, TABLE_ROWS, t->names[col]) || !say_is_shown(r, c) ||
            !is_common(t, c, col))
            continue;
        const struct column_scale scale = column_scale(c, 0);
        const char *value = column_shown(buf, c, t->kinds[col], *table_cell(t, 0, col), scale);
        bool unit = t->kinds[col] != TABLE_TEXT && *scale.unit;
        if (*value && strcmp(value, "-") != 0)
            text_printf(out, "%s: %s%s%s\n", column_title(title, c, 0), value, unit ? " " : "",
                        unit ? scale.unit : "");
    }
}

/* The word of all rows that have one; NULL: they differ. */
static const char *word_of_all(const struct table *t, int32_t col)
{
    const char *word = NULL;
    for (int64_t row = 0; row < t->n_rows; row++) {
        const char *text = table_text(t, row, col);
        if (text && word && strcmp(text, word) != 0)
            return NULL;
        word = text ? text : word;
    }
    return word;
}

bool say_word_title(char title[COLUMN_NAME], const struct table *t, const struct column *c, const char *name)
{
    int32_t col = c->titles ? table_find(t, c->titles) : -1;
    const char *words = col < 0 ? NULL : word_of_all(t, col);
    for (long i = strtol(name + strcspn(name, "0123456789"), NULL, 10); i > 1 && words; i--) {
        words = strchr(words, '|');
        words += words != NULL;
    }
    if (words)
        snprintf(title, COLUMN_NAME, "%.*s", (int)strcspn(words, "|"), words);
    return words && *words;
}

/* Describe column @p col in @p out; false: it is not shown. What nothing describes is an axis. */
static bool describe_shown(struct made_column *out, const struct study_report *r, const struct say_look *look,
                           int32_t col)
{
    const struct table *t = r->rows;
    const char *name = t->names[col];
    bool point = strcmp(name, "point") == 0;
    if (look->skips && look->skips(t, col))
        return false;
    if (!point && study_describe(out, r->kind, TABLE_ROWS, name)) {
        if (say_word_title(out->title, t, &out->of, name))
            out->of.title = out->title;
        return say_is_shown(r, &out->of) && !is_common(t, &out->of, col);
    }
    char title[SHOW_VALUE];
    snprintf(out->title, sizeof out->title, "%s", show_path(title, name, strlen(name)));
    out->of = (struct column){
        .name = name, .title = out->title, .unit = "", .flags = point ? 0U : (unsigned)COLUMN_AXIS
    };
    return point ? look->point : look->axes;
}

int say_rows(struct text *out, const struct study_report *r, int64_t first, int64_t end,
             const struct say_look *look, struct err *e)
{
    struct say_layout l = { .n = 0 };
    for (int32_t col = 0; col < r->rows->n_cols && l.n < SHEET_MAX_COLUMNS; col++) {
        struct column_place *place = &l.places[l.n];
        if (!describe_shown(&l.made[l.n], r, look, col))
            continue;
        if (!(l.made[l.n].of.flags & COLUMN_HALF))
            *place = (struct column_place){ .column = &l.made[l.n++].of, .at = col };
        else if (l.n > 0 && place[-1].at == col - 1)
            place[-1].half = col;
    }
    return column_write(out, r->rows, first, end, l.places, l.n, e);
}

/* ---- what columns there are ---- */

struct said_column {
    const char *table, *name, *unit, *best, *meaning;
};

static const struct column said_columns[] = {
    COLUMN_WORD(struct said_column, table, "whose column it is", .in = IN_DATA),
    COLUMN_WORD(struct said_column, name, "as in CSV; '#': a number", .title = "column"),
    COLUMN_WORD(struct said_column, unit, "of its values", .unit = ""),
    COLUMN_WORD(struct said_column, best, "min, max; blank: neither"),
    COLUMN_WORD(struct said_column, meaning, "what it holds"),
    COLUMNS_END,
};

static void put_said(struct report *r, const struct study_kind *kind, int32_t table, const struct column *c)
{
    static const char *const best[] = { "min", NULL, "max" };
    const char *unit = c->kind == TABLE_TEXT ? "" : column_unit(c);
    if (c->help)
        report_row(r, &(struct said_column){ .table = kind->tables[table].word,
                                             .name = c->name,
                                             .unit = *unit ? unit : NULL,
                                             .best = best[c->better + 1],
                                             .meaning = c->help });
}

/* In text a sheet for each table, in data one for all. */
void say_columns(struct report *r, const struct study_kind *kind)
{
    struct made_column made;
    bool apart = report_is(r, IN_TEXT);
    for (int32_t t = 0; t < kind->n_tables; t++) {
        if (kind->n_tables > 1)
            report_line(r, "%s%s:\n", t ? "\n" : "", kind->tables[t].word);
        if (apart || t == 0)
            report_list(r, "columns", said_columns);
        for (const struct column *c = kind->tables[t].columns; c->name; c++)
            put_said(r, kind, t, c);
        for (int32_t i = 0; t == TABLE_ROWS && kind->made && kind->made(&made, i); i++)
            put_said(r, kind, t, &made.of);
        if (apart || t == kind->n_tables - 1)
            report_list_end(r);
    }
}
