/*
 * The table of a page, the reasons of rows that are no results, and the data of its script: up to
 * WEBPAGE_WHOLE rows are rows of the table, of more some are, and the script draws the others from columns of
 * JSON when they are asked for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cli/html.h"
#include "cli/webpage.h"
#include "study/say.h"

enum { MOST_DRAWN = 150 /* of a larger table those that are drawn at first */, DATA_DIGITS = 5 };

/* ---- reasons ---- */

struct reason {
    int64_t row, n;
};

static int by_count(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : (x->row > y->row) - (x->row < y->row);
}

enum { MOST_REASONS = 20 };

/* Rows that are no results, by status and message. */
int webpage_put_reasons(struct webpage *p, struct err *e)
{
    int32_t status = table_find(&p->t, "status"), message = table_find(&p->t, "message");
    struct reason list[MOST_REASONS];
    int32_t n = 0;
    int64_t rest = 0;
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        int32_t k = 0;
        if (p->is_result[row])
            continue;
        while (k < n && !((status < 0 || webpage_cells_equal(&p->t, list[k].row, row, status)) &&
                          (message < 0 || webpage_cells_equal(&p->t, list[k].row, row, message))))
            k++;
        if (k < n)
            list[k].n++;
        else if (n < MOST_REASONS)
            list[n++] = (struct reason){ row, 1 };
        else
            rest++;
    }
    if (n == 0)
        return text_check(&p->out, e);
    qsort(list, (size_t)n, sizeof *list, by_count);
    text_puts(&p->out, "<section aria-labelledby=\"h-why\"><h2 id=\"h-why\">Rows without a result</h2>\n<div "
                       "class=\"wide\"><table><caption>How "
                       "many, and why</caption><thead><tr><th scope=\"col\">rows</th><th scope=\"col\">the "
                       "first</th><th scope=\"col\" class=\"t\">status</th><th scope=\"col\" "
                       "class=\"t\">message</th></tr></thead><tbody>\n");
    for (int32_t k = 0; k < n; k++) {
        text_printf(&p->out, "<tr><td>%lld</td><td>", (long long)list[k].n);
        webpage_put_link(p, list[k].row);
        text_puts(&p->out, "</td><td class=\"t\">");
        html_put(&p->out, table_text(&p->t, list[k].row, status));
        text_puts(&p->out, "</td><td class=\"t\">");
        html_put(&p->out, table_text(&p->t, list[k].row, message));
        text_puts(&p->out, "</td></tr>\n");
    }
    text_puts(&p->out, "</tbody></table></div>");
    if (rest)
        text_printf(&p->out, "<p>%lld more have other reasons.</p>", (long long)rest);
    text_puts(&p->out, "</section>\n");
    return 0;
}

/* ---- the table ---- */

static void put_row(struct webpage *p, int64_t row)
{
    long long id = (long long)p->ids[row];
    text_printf(&p->out, "<tr id=\"p%lld\"%s><th scope=\"row\"><a href=\"#p%lld\">%lld</a></th>", id,
                p->on_front[row] ? " class=\"f\"" : "", id, id);
    for (int32_t k = 0; k < p->t.n_cols; k++)
        if (p->faces[p->order[k]].shown)
            webpage_put_td(p, row, p->order[k], true);
    text_puts(&p->out, "</tr>\n");
}

/* Of many those first that figures and verdict lead to. */
static void put_rows(struct webpage *p)
{
    int64_t n = 0;
    if (p->whole) {
        for (int64_t row = 0; row < p->t.n_rows; row++)
            put_row(p, row);
        return;
    }
    for (int round = 0; round < 3; round++)
        for (int64_t row = 0; row < p->t.n_rows && n < MOST_DRAWN; row++) {
            int rank = webpage_is_chosen(p, row) ? 0 : p->is_marked[row] ? 1 : 2;
            if (rank == round) {
                put_row(p, row);
                n++;
            }
        }
}

static void put_common(struct webpage *p)
{
    char buf[COLUMN_NAME];
    bool any = false;
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        const struct shown_column *f = &p->faces[col];
        if (!f->tiny && (!f->common || webpage_is_blank(p, 0, col)))
            continue;
        text_puts(&p->out, any ? "; " : "<p>The same in all rows: ");
        html_put(&p->out, webpage_title(f, buf));
        text_puts(&p->out, f->tiny ? " below 1e-9" : " ");
        if (!f->tiny)
            webpage_put_value(p, 0, col);
        any = true;
    }
    text_puts(&p->out, any ? ".</p>\n" : "");
}

/* What each value of a column gives: of each network its dimensions. */
static void put_followers(struct webpage *p, int32_t key)
{
    char buf[COLUMN_NAME];
    int64_t firsts[WEBPAGE_FIRSTS];
    int32_t n = 0;
    for (int32_t col = 0; col < p->t.n_cols && n == 0; col++)
        if (p->faces[col].key == key)
            n = webpage_firsts(firsts, p, key, col);
    if (n == 0)
        return;
    text_puts(&p->out, "<div class=\"wide\"><table><caption>The same in all rows of a ");
    html_put(&p->out, webpage_title(&p->faces[key], buf));
    text_puts(&p->out, "</caption><thead><tr>");
    webpage_put_th(p, key, "");
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (p->faces[col].key == key)
            webpage_put_th(p, col, "");
    text_puts(&p->out, "</tr></thead><tbody>\n");
    for (int32_t k = 0; k < n; k++) {
        text_puts(&p->out, "<tr>");
        webpage_put_td(p, firsts[k], key, false);
        for (int32_t col = 0; col < p->t.n_cols; col++)
            if (p->faces[col].key == key)
                webpage_put_td(p, firsts[k], col, false);
        text_puts(&p->out, "</tr>\n");
    }
    text_puts(&p->out, "</tbody></table></div>\n");
}

/* Of a long table a rule for each column of words is shorter than a class in each cell. */
void webpage_put_word_style(struct webpage *p)
{
    bool any = false;
    int k = 1;
    for (int32_t i = 0; i < p->t.n_cols; i++) {
        int32_t col = p->order[i];
        k += p->faces[col].shown;
        if (!p->faces[col].shown || p->t.kinds[col] != TABLE_TEXT)
            continue;
        text_printf(&p->out, any ? ",:nth-child(%d)" : "#rows td:is(:nth-child(%d)", k);
        any = true;
    }
    text_puts(&p->out, any ? "){text-align:left}" : "");
}

void webpage_put_table(struct webpage *p)
{
    char attribute[40];
    int32_t k = 1;
    text_puts(&p->out, "<section id=\"rows\" aria-labelledby=\"h-rows\"><h2 id=\"h-rows\">All rows</h2>\n");
    put_common(p);
    for (int32_t key = 0; key < p->t.n_cols; key++)
        put_followers(p, key);
    text_puts(&p->out,
              "<div class=\"bar\"><label>Rows with the words <input id=\"word\" type=\"search\"/></label> "
              "<label><input id=\"front\" "
              "type=\"checkbox\"/> front only</label> <a id=\"csv\" href=\"#rows\" download=\"rows.csv\">CSV "
              "of these columns</a></div>\n<p id=\"said\" role=\"status\" class=\"screen\"></p>\n");
    text_printf(
        &p->out,
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" "
        "aria-labelledby=\"h-rows\"><table><caption>%lld row%s, %lld with a result, %lld on a front (bold)",
        (long long)p->t.n_rows, p->t.n_rows == 1 ? "" : "s", (long long)p->n_results, (long long)p->n_front);
    if (!p->whole)
        text_printf(&p->out, "; %d of them without scripts", MOST_DRAWN);
    if (p->left_out)
        text_puts(&p->out, "; some columns of single dimensions are left out");
    text_printf(&p->out,
                "</caption><thead><tr><th scope=\"col\" data-c=\"0\"><button "
                "type=\"button\">%s</button></th>",
                webpage_row_word(p));
    for (int32_t i = 0; i < p->t.n_cols; i++)
        if (p->faces[p->order[i]].shown) {
            snprintf(attribute, sizeof attribute, " data-c=\"%d\"", (int)k++);
            webpage_put_th(p, p->order[i], attribute);
        }
    text_puts(&p->out, "</tr></thead><tbody>\n");
    put_rows(p);
    text_puts(&p->out, "</tbody></table></div></section>\n");
}

/* ---- the data of the script ---- */

static void put_number(struct text *out, const struct webpage *p, int64_t row, int32_t col)
{
    double x = table_number(&p->t, row, col);
    if (!isfinite(x))
        text_puts(out, "null");
    else if (p->t.kinds[col] == TABLE_COUNT)
        text_printf(out, "%lld", (long long)table_count(&p->t, row, col));
    else
        text_printf(out, "%.*g",
                    strncmp(p->faces[col].scale.unit, "USD", 3) == 0 ? DATA_DIGITS + 2 : DATA_DIGITS, x);
}

/* The number of a row's word among the *n of rows[], where it is added if it is new; -1: lack of memory. */
static int32_t number_word(struct hash *words, int64_t *rows, int32_t *n, const struct table *t, int64_t row,
                           int32_t col)
{
    const char *word = table_text(t, row, col);
    uint64_t h = hash_text(word);
    hash_each (k, words, h)
        if (strcmp(table_text(t, rows[k], col), word) == 0)
            return k;
    if (!hash_add(words, h, *n))
        return -1;
    rows[*n] = row;
    return (*n)++;
}

/* Words once, then their numbers; -1 is blank. */
static int put_words(struct webpage *p, int32_t col, struct err *e)
{
    struct hash words = { 0 };
    int64_t *rows = calloc((size_t)p->t.n_rows + 1, sizeof *rows);
    int32_t n = 0, *number = calloc((size_t)p->t.n_rows + 1, sizeof *number);
    bool lacks = !rows || !number;
    char plain[SHOW_VALUE];
    for (int64_t row = 0; row < p->t.n_rows && !lacks; row++) {
        bool blank = !table_text(&p->t, row, col);
        number[row] = blank ? -1 : number_word(&words, rows, &n, &p->t, row, col);
        lacks = !blank && number[row] < 0;
    }
    hash_free(&words);
    if (lacks) {
        free(rows);
        free(number);
        return err_nomem(e, "columns of a page");
    }
    text_puts(&p->out, ",\"w\":[");
    for (int32_t k = 0; k < n; k++) {
        text_puts(&p->out, k ? "," : "");
        html_put_json(&p->out, show_unquoted(plain, table_text(&p->t, rows[k], col)));
    }
    text_puts(&p->out, "],\"v\":[");
    for (int64_t row = 0; row < p->t.n_rows; row++)
        text_printf(&p->out, "%s%d", row ? "," : "", (int)number[row]);
    free(rows);
    free(number);
    return 0;
}

static int put_data_column(struct webpage *p, int32_t col, struct err *e)
{
    char buf[COLUMN_NAME];
    int rc = 0;
    text_puts(&p->out, ",\n{\"n\":");
    html_put_json(&p->out, p->t.names[col]);
    text_puts(&p->out, ",\"t\":");
    html_put_json(&p->out, webpage_title(&p->faces[col], buf));
    text_puts(&p->out, ",\"u\":");
    html_put_json(&p->out, p->faces[col].scale.unit);
    if (p->t.kinds[col] == TABLE_TEXT && p->whole)
        text_puts(&p->out, ",\"w\":[1],\"v\":[");
    else if (p->t.kinds[col] == TABLE_TEXT)
        rc = put_words(p, col, e);
    else {
        text_printf(&p->out, ",\"m\":%.12g,\"v\":[", p->faces[col].scale.times);
        for (int64_t row = 0; row < p->t.n_rows && !p->whole; row++) {
            text_puts(&p->out, row ? "," : "");
            put_number(&p->out, p, row, col);
        }
    }
    text_puts(&p->out, "]}");
    return rc;
}

static void put_ids(struct webpage *p)
{
    for (int64_t row = 0; row < p->t.n_rows && !p->whole; row++)
        text_printf(&p->out, "%s%lld", row ? "," : "", (long long)p->ids[row]);
}

int webpage_put_data(struct webpage *p, struct err *e)
{
    bool first = true;
    int rc = 0;
    text_printf(&p->out, "<script type=\"application/json\" id=\"data\">{\"all\":%s,\"front\":[",
                p->whole ? "true" : "false");
    for (int64_t row = 0; row < p->t.n_rows; row++)
        if (p->on_front[row] && !p->whole) {
            text_printf(&p->out, "%s%lld", first ? "" : ",", (long long)row);
            first = false;
        }
    text_printf(&p->out, "],\"cols\":[{\"n\":\"%s\",\"t\":\"%s\",\"u\":\"\",\"m\":1,\"v\":[",
                webpage_row_word(p), webpage_row_word(p));
    put_ids(p);
    text_puts(&p->out, "]}");
    for (int32_t i = 0; i < p->t.n_cols && !rc; i++)
        if (p->faces[p->order[i]].shown)
            rc = put_data_column(p, p->order[i], e);
    text_puts(&p->out, "]}</script>\n");
    return rc;
}
