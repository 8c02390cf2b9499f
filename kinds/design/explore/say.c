/*
 * Rows of designs in words: what differs between points, and the results; what is the same in every row
 * stands above. Columns that only scripts read are left out.
 */
#include <stdio.h>
#include <string.h>

#include "base/sheet.h"
#include "kinds/design/explore/runner.h"
#include "study/say.h"

/* Results in the order of reading; '#' stands for each dimension's number. */
static const struct shown {
    const char *column, *title, *unit;
} shown[] = {
    { "network", "network", "" },
    { "workload", "workload", "" },
    { "objective", "objective", "" },
    { "total_GBps", "total", "GB/s" },
    { "semantics", "semantics", "" },
    { "status", "status", "" },
    { "time_s", "step", "s" },
    { "cost_usd", "cost", "USD" },
    { "speedup", "speedup", "" },
    { "perf_per_cost_gain", "perf/cost", "" },
    { "usd_npu_h", "owned", "USD/NPU/h" },
    { "usd_per_Mtoken", "tokens", "USD/M" },
    { "watt_peak", "nameplate", "W" },
    { "goodput", "goodput", "" },
    { "nic_GBps", "NIC", "GB/s" },
    { "bw#_GBps", "", "GB/s" },
    { "message", "message", "" },
};

enum { N_SHOWN = sizeof shown / sizeof shown[0], N_COMMON = 5 /* of them may be the same in every row */ };

/* Columns to write, by index into the table. */
struct layout {
    int32_t columns[SHEET_MAX_COLUMNS];
    char titles[SHEET_MAX_COLUMNS][24];
    int32_t n;
};

/* A value for people; borrowed from buf or the table. */
static const char *show_cell(char buf[SHOW], const struct table *t, int64_t row, int32_t column)
{
    if (t->kinds[column] == TABLE_TEXT) {
        const char *text = table_text(t, row, column);
        return text ? text : "-";
    }
    double x = table_number(t, row, column);
    return strncmp(t->names[column], "cost_", 5) == 0 ? show_usd(buf, x) : show_real(buf, x, 5);
}

static bool is_common(const struct table *t, int32_t column)
{
    char a[SHOW], b[SHOW];
    for (int64_t row = 1; row < t->n_rows; row++)
        if (strcmp(show_cell(a, t, row, column), show_cell(b, t, 0, column)) != 0)
            return false;
    return t->n_rows > 1;
}

static void add_column(struct layout *l, struct sheet *s, const struct table *t, int32_t column,
                       const char *title, const char *unit)
{
    if (column < 0 || l->n == SHEET_MAX_COLUMNS)
        return;
    snprintf(l->titles[l->n], sizeof l->titles[l->n], "%s", title);
    bool number = t->kinds[column] != TABLE_TEXT;
    sheet_column(s, l->titles[l->n], unit, number ? SHEET_POINT : SHEET_LEFT);
    l->columns[l->n++] = column;
}

static void add_dims(struct layout *l, struct sheet *s, const struct table *t)
{
    char column[24], title[24];
    for (int32_t d = 1; d <= TOPO_MAX_DIMS; d++) {
        snprintf(column, sizeof column, "bw%d_GBps", (int)d);
        snprintf(title, sizeof title, "dim %d", (int)d);
        add_column(l, s, t, table_find(t, column), title, "GB/s");
    }
}

/* What is uncertain: "time_p10_s", "usd_per_Mtoken_p90", as many as the study asks for. */
static void add_percentiles(struct layout *l, struct sheet *s, const struct table *t)
{
    static const struct shown of[] = { { "time_p", "step", "s" },
                                       { "cost_p", "cost", "USD" },
                                       { "usd_npu_h_p", "owned", "USD/NPU/h" },
                                       { "usd_per_Mtoken_p", "tokens", "USD/M" } };
    char title[24];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int32_t col = 0; col < t->n_cols; col++) {
            const char *name = t->names[col];
            size_t n = strlen(of[i].column);
            if (strncmp(name, of[i].column, n) != 0 || !strchr("0123456789", name[n]))
                continue;
            snprintf(title, sizeof title, "%s p%.*s", of[i].title, (int)strcspn(name + n, "_"), name + n);
            add_column(l, s, t, col, title, of[i].unit);
        }
}

static void say_choose_columns(struct layout *l, struct sheet *s, const struct table *t, struct text *out)
{
    char value[SHOW];
    int32_t point = table_find(t, "point"), network = table_find(t, "network");
    add_column(l, s, t, point, "point", "");
    /* Keys that vary stand between these two. */
    for (int32_t column = point + 1; column < network; column++)
        add_column(l, s, t, column, say_axis_title(t->names[column]), "");
    for (int32_t i = 0; i < N_SHOWN; i++) {
        int32_t column = table_find(t, shown[i].column);
        if (strcmp(shown[i].column, "nic_GBps") == 0)
            add_percentiles(l, s, t);
        if (strchr(shown[i].column, '#'))
            add_dims(l, s, t);
        else if (i < N_COMMON && column >= 0 && is_common(t, column))
            text_printf(out, "%s: %s%s%s\n", shown[i].title, show_cell(value, t, 0, column),
                        *shown[i].unit ? " " : "", shown[i].unit);
        else
            add_column(l, s, t, column, shown[i].title, shown[i].unit);
    }
}

int design_say(struct text *out, const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    struct layout l = { .n = 0 };
    struct sheet s = { 0 };
    char value[SHOW];
    if (t->n_rows == 0)
        return 0;
    say_choose_columns(&l, &s, t, out);
    if (out->n > 0)
        text_puts(out, "\n");
    for (int64_t row = 0; row < t->n_rows; row++)
        for (int32_t i = 0; i < l.n; i++)
            sheet_put(&s, "%s", show_cell(value, t, row, l.columns[i]));
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}
