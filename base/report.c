/*
 * One set of calls for three forms. Each call asks whether its form is at hand (report_is()) and does nothing
 * otherwise, so that a command is written once, in the order that people read.
 *
 * Text goes out as it comes, tables when they end (widths are known then). JSON goes out as it comes. CSV has
 * one header, so it waits: rows go to `table`; facts, whose number is not known before the end, to `facts`,
 * and lay_facts() makes one row of them where no table came. In CSV no table may begin after the one marked
 * IN_CSV (assert).
 *
 * Memory that is short is noted in `failed` of the part that met it, and told once by report_end().
 */

#include "base/report.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the table that keeps the facts of CSV until all are known. */
enum { FACT_KEY, FACT_KIND, FACT_VALUE /* that of TABLE_TEXT; the other kinds follow */ };

static unsigned form_of(const struct report *r)
{
    static const unsigned forms[] = {
        [TABLE_AS_TEXT] = IN_TEXT, [TABLE_AS_CSV] = IN_CSV, [TABLE_AS_JSON] = IN_JSON
    };
    /* JSON of rows is the table of CSV in other brackets. */
    return r->format == TABLE_AS_JSON && r->rows ? (unsigned)IN_CSV : forms[r->format];
}

bool report_is(const struct report *r, unsigned in)
{
    return (in & form_of(r)) != 0;
}

/* ---- facts ---- */

static void put_label(struct report *r, const char *label, const char *value, const char *unit)
{
    report_line(r, "%s%-*s%s%s%s\n", r->indent ? r->indent : "", r->width, label, value,
                unit && *unit ? " " : "", unit ? unit : "");
}

void report_json_word(struct report *r, const char *key, const char *s)
{
    if (report_is(r, IN_JSON))
        json_text(&r->json, key, s);
}

void report_json_count(struct report *r, const char *key, int64_t n)
{
    if (report_is(r, IN_JSON) && n >= 0)
        json_count(&r->json, key, n);
    else
        report_json_word(r, key, NULL);
}

void report_json_real(struct report *r, const char *key, double x)
{
    if (report_is(r, IN_JSON))
        json_real(&r->json, key, x);
}

void report_json_flag(struct report *r, const char *key, bool b)
{
    if (report_is(r, IN_JSON))
        json_bool(&r->json, key, b);
}

void report_shown(struct report *r, const char *label, const char *fmt, ...)
{
    char value[512];
    va_list ap;
    if (!report_is(r, IN_TEXT))
        return;
    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    put_label(r, label, value, NULL);
}

void report_reals(struct report *r, const char *key, const double *x, int32_t n, double unit)
{
    report_open(r, key, '[');
    for (int32_t i = 0; i < n && report_is(r, IN_JSON); i++)
        json_real(&r->json, NULL, x[i] / unit);
    report_close(r, ']');
}

/* A line of prose, folded to the width of tables: below its first word, or the value behind its label. */
static void put_folded(struct text *out, const char *line)
{
    enum { LONGEST_LABEL = 24 };
    size_t lead = strspn(line, " ");
    const char *gap = strstr(line + lead, "  ");
    size_t value = gap ? (size_t)(gap - line) + strspn(gap, " ") : lead;
    size_t hang = value <= LONGEST_LABEL ? value : lead;
    if (out->wide || sheet_width(line, SIZE_MAX) <= SHEET_WIDTH)
        hang = strlen(line);
    text_add(out, line, hang);
    for (const char *at = line + hang; *at;) {
        size_t n = sheet_fold(at, SHEET_WIDTH - hang);
        text_add(out, at, n);
        at += n + strspn(at + n, " ");
        if (*at)
            text_printf(out, "\n%*s", (int)hang, "");
    }
}

/* Lines that end in what was written from @p from on; that of the first began before it. */
static void fold_lines(struct report *r, size_t from)
{
    struct text *out = &r->out;
    while (from > 0 && out->s[from - 1] != '\n')
        from--;
    char *lines = out->n - from > SHEET_WIDTH ? strdup(out->s + from) : NULL, *at = lines;
    r->failed = r->failed || (!lines && out->n - from > SHEET_WIDTH);
    if (!lines)
        return;
    out->n = from;
    for (char *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        put_folded(out, at);
        text_puts(out, "\n");
    }
    text_puts(out, at);
    free(lines);
}

void report_line(struct report *r, const char *fmt, ...)
{
    size_t from = r->out.n;
    va_list ap;
    if (!report_is(r, IN_TEXT))
        return;
    /* Of any length: names of studies have no limit. */
    va_start(ap, fmt);
    text_vprintf(&r->out, fmt, ap);
    va_end(ap);
    if (r->out.n > from && r->out.s[r->out.n - 1] == '\n')
        fold_lines(r, from);
}

void report_open(struct report *r, const char *key, char bracket)
{
    if (report_is(r, IN_JSON))
        json_open(&r->json, key, bracket);
}

void report_close(struct report *r, char bracket)
{
    if (report_is(r, IN_JSON))
        json_close(&r->json, bracket);
}

/* ---- what lists of columns describe ---- */

/* The map that holds a column of JSON opens before its first member and closes behind its last. "usd.low" is
 * member low of map usd; members of one map must stand together. */
static const char *enter_map(struct report *r, const char *key)
{
    const char *dot = strchr(key, '.');
    size_t n = dot ? (size_t)(dot - key) : 0;
    if (*r->prefix && (strlen(r->prefix) != n || strncmp(r->prefix, key, n) != 0)) {
        json_close(&r->json, '}');
        *r->prefix = '\0';
    }
    if (n > 0 && !*r->prefix) {
        assert(n < sizeof r->prefix);
        memcpy(r->prefix, key, n);
        r->prefix[n] = '\0';
        json_open(&r->json, r->prefix, '{');
    }
    return dot ? dot + 1 : key;
}

static bool is_blank(enum table_kind kind, struct table_cell cell)
{
    if (kind == TABLE_REAL)
        return !isfinite(cell.real);
    return kind == TABLE_TEXT ? !cell.text : cell.count == INT64_MIN;
}

/* A value, a member of an object where @p key is not NULL. */
static void json_cell(struct json *j, const char *key, const struct column *c, struct table_cell cell)
{
    if (is_blank(column_kind(c), cell))
        json_text(j, key, NULL);
    else if (c->show == COLUMN_YES_NO)
        json_bool(j, key, strcmp(cell.text, "yes") == 0);
    else if (column_kind(c) == TABLE_TEXT)
        json_text(j, key, cell.text);
    else if (c->kind == TABLE_REAL)
        json_real(j, key, cell.real);
    else
        json_count(j, key, cell.count);
}

/* A list has one key for all of its values. */
static bool is_list(const struct column *c)
{
    return c->repeat > 1 && !strchr(c->name, '#');
}

static void json_members(struct report *r, const struct column *list, const void *row)
{
    char name[COLUMN_NAME];
    for (const struct column *c = list; c->name; c++) {
        int32_t n = column_n(list, c, row);
        if (!column_is_in(c, IN_JSON))
            continue;
        if (is_list(c))
            json_open(&r->json, enter_map(r, c->name), '[');
        for (int32_t i = 0; i < n; i++) {
            struct table_cell cell = column_cell(c, row, i);
            if (!(c->flags & COLUMN_IF_ANY) || !is_blank(column_kind(c), cell))
                json_cell(&r->json, is_list(c) ? NULL : enter_map(r, column_name(name, c, i)), c, cell);
        }
        if (is_list(c))
            json_close(&r->json, ']');
    }
    if (*r->prefix)
        json_close(&r->json, '}');
    *r->prefix = '\0';
}

/* A row of the facts of CSV, its value in the column of its kind. */
static void add_fact(struct report *r, const char *key, enum table_kind kind, struct table_cell cell)
{
    if (r->facts.n_cols == 0) {
        table_column(&r->facts, "key", TABLE_TEXT);
        table_column(&r->facts, "kind", TABLE_COUNT);
        table_column(&r->facts, "text", TABLE_TEXT);
        table_column(&r->facts, "real", TABLE_REAL);
        table_column(&r->facts, "count", TABLE_COUNT);
    }
    table_row(&r->facts);
    table_put_text(&r->facts, key);
    table_put_count(&r->facts, (int64_t)kind);
    table_put_text(&r->facts, kind == TABLE_TEXT ? cell.text : NULL);
    table_put_real(&r->facts, kind == TABLE_REAL ? cell.real : (double)NAN);
    table_put_count(&r->facts, kind == TABLE_COUNT ? cell.count : INT64_MIN);
}

/* In text or CSV. */
static void put_fact(struct report *r, const struct column *c, const void *row, int32_t i)
{
    char name[COLUMN_NAME], buf[SHOW];
    enum table_kind kind = column_kind(c);
    struct table_cell cell = column_cell(c, row, i);
    bool blank = is_blank(kind, cell);
    if (blank && (c->flags & COLUMN_IF_ANY))
        return;
    if (report_is(r, IN_CSV)) {
        add_fact(r, column_name(name, c, i), kind, cell);
        return;
    }
    double size = kind == TABLE_REAL && !blank ? fabs(cell.real) : 0;
    struct column_scale scale = column_scale(c, size);
    put_label(r, column_title(name, c, i), column_shown(buf, c, kind, cell, scale),
              kind == TABLE_TEXT || blank ? NULL : scale.unit);
}

void report_facts(struct report *r, const struct column *list, const void *row)
{
    if (report_is(r, IN_JSON)) {
        json_members(r, list, row);
        return;
    }
    for (const struct column *c = list; c->name; c++)
        for (int32_t i = 0, n = column_n(list, c, row); i < n; i++)
            if (column_is_in(c, form_of(r)) && !is_list(c))
                put_fact(r, c, row, i);
}

void report_map(struct report *r, const char *key, const struct column *list, const void *row)
{
    report_open(r, key, '{');
    report_facts(r, list, row);
    report_close(r, '}');
}

/* The columns of the open list that this form has as columns of a table. */
static void choose_shown(struct report *r)
{
    const struct column_choice all = { .timing = true, .hidden = true, .in = form_of(r) };
    struct err e = { 0 };
    int32_t n = 0;
    r->failed = column_choose(&r->shown, r->list, &all, &e) != 0 || r->failed;
    for (int32_t k = 0; k < r->shown.n; k++)
        if (!is_list(r->shown.of[k]))
            r->shown.of[n++] = r->shown.of[k];
    r->shown.n = n;
}

void report_list(struct report *r, const char *key, const struct column *list)
{
    assert(!r->list);
    r->list = list;
    r->open = false;
    for (const struct column *c = list; c->name; c++)
        r->open = r->open || column_is_in(c, form_of(r));
    r->listed = r->open && key && report_is(r, IN_JSON);
    if (r->listed)
        json_open(&r->json, key, '[');
    if (!r->open || report_is(r, IN_JSON))
        return;
    choose_shown(r);
    /* One table to a CSV. */
    assert(!report_is(r, IN_CSV) || r->table.n_cols == 0);
    columns_put(report_is(r, IN_CSV) ? &r->table : &r->body, &r->shown);
}

void report_row(struct report *r, const void *row)
{
    assert(r->list);
    if (r->open && report_is(r, IN_JSON)) {
        json_open(&r->json, NULL, '{');
        json_members(r, r->list, row);
        json_close(&r->json, '}');
    } else if (r->shown.n > 0) {
        struct table *t = report_is(r, IN_CSV) ? &r->table : &r->body;
        table_row(t);
        row_put(t, &r->shown, row);
    }
}

static void write_body(struct report *r)
{
    struct column_place places[SHEET_MAX_COLUMNS];
    struct err e = { 0 };
    int32_t n = 0;
    for (int32_t k = 0; k < r->shown.n; k++)
        for (int32_t i = 0; i < column_count(r->shown.of[k]); i++, n++) {
            assert(n < SHEET_MAX_COLUMNS);
            places[n] = (struct column_place){ .column = r->shown.of[k], .number = i, .at = n };
        }
    r->failed = column_write(&r->out, &r->body, 0, r->body.n_rows, places, n, &e) != 0 || r->failed;
    table_free(&r->body);
}

void report_list_end(struct report *r)
{
    assert(r->list);
    if (r->listed)
        json_close(&r->json, ']');
    if (report_is(r, IN_TEXT) && r->shown.n > 0)
        write_body(r);
    columns_free(&r->shown);
    r->list = NULL;
}

void report_array(struct report *r, const char *key, const struct column *list, const void *rows, int64_t n,
                  size_t size)
{
    report_list(r, key, list);
    for (int64_t i = 0; i < n; i++)
        report_row(r, (const char *)rows + (size_t)i * size);
    report_list_end(r);
}

/* ---- pages and the end ---- */

void report_page(struct report *r)
{
    r->json.out = &r->out;
    if (report_is(r, IN_TEXT) && r->out.n)
        text_puts(&r->out, "\n");
    report_open(r, NULL, '{');
}

void report_page_end(struct report *r)
{
    report_close(r, '}');
    if (report_is(r, IN_JSON)) {
        text_puts(&r->out, "\n");
        /* The next page is a document of its own, with no comma before it. */
        r->json.filled[0] = false;
    }
}

/* The facts of CSV as one row. Their columns are in the order in which they were reported, and each has the
 * kind of its fact. */
static void lay_facts(struct report *r)
{
    struct table *facts = &r->facts;
    for (int64_t i = 0; i < facts->n_rows; i++)
        table_column(&r->table, table_text(facts, i, FACT_KEY),
                     (enum table_kind)table_count(facts, i, FACT_KIND));
    if (facts->n_rows == 0 || r->table.failed)
        return;
    table_row(&r->table);
    for (int64_t i = 0; i < facts->n_rows; i++)
        table_put_cell(&r->table, facts, i, FACT_VALUE + (int32_t)table_count(facts, i, FACT_KIND));
}

int report_end(struct report *r, const char *head, struct err *e)
{
    if (r->failed || r->facts.failed)
        return err_nomem(e, "report");
    if (r->table.n_cols == 0)
        lay_facts(r);
    if (r->table.failed)
        return err_nomem(e, "report");
    if (report_is(r, IN_CSV) && r->table.n_cols > 0)
        return table_write(&r->table, r->format, head, &r->out, e);
    return report_is(r, IN_TEXT) ? text_show(&r->out, e) : text_check(&r->out, e);
}

void report_free(struct report *r)
{
    text_free(&r->out);
    table_free(&r->table);
    table_free(&r->facts);
    table_free(&r->body);
    columns_free(&r->shown);
    *r = (struct report){ 0 };
}
