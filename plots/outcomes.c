#include "plots/outcomes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tells rows apart beside schedulers and the figure's axes: network, model and the other axes. */
enum { MAX_WORDS = 34 };

struct reader {
    struct outcomes *o;
    const struct outcomes_spec *spec;
    struct rows r;
    int32_t scheduler, status, seeds, cost;
    int32_t metric[OUTCOMES_MAX_METRICS], interval[OUTCOMES_MAX_METRICS];
    int32_t axis[OUTCOMES_MAX_AXES];
    int32_t word[MAX_WORDS], n_words;
    bool varies[MAX_WORDS];
    double least_seeds, most_seeds;
    struct names schedulers; /* owned texts: of the whole table */
};

static bool is_done(const struct rows *r, int32_t status)
{
    return rows_equal(r, status, "done");
}

/* A word in a column of numbers counts too: reading it will say where it is. */
static bool has_value(const struct rows *r, int32_t col)
{
    const struct table_cell *cell = table_cell(r->t, r->row, col);

    return r->t->kinds[col] == TABLE_TEXT ? cell->text && cell->text[0]
                                          : !isnan(table_number(r->t, r->row, col));
}

const char *outcomes_pick(const struct rows *rows, const char *const *columns)
{
    struct rows r = *rows;
    int32_t status = table_find(r.t, "status");

    for (; *columns && status >= 0; columns++) {
        int32_t col = table_find(r.t, *columns);
        for (r.row = 0; col >= 0 && r.row < r.t->n_rows; r.row++)
            if (rows_pass(&r) && is_done(&r, status) && has_value(&r, col))
                return *columns;
    }
    return NULL;
}

void outcomes_put_key(struct text *out, const char *key)
{
    const char *dot = strrchr(key, '.');

    while (dot && dot > key && dot[-1] != '.')
        dot--;
    text_puts(out, dot ? dot : key);
}

/* ---- columns ---- */

static int find_columns(struct reader *x, struct err *e)
{
    const struct rows *r = &x->r;
    char name[64];
    int rc = rows_column(&x->scheduler, r, "scheduler", e);

    if (!rc)
        rc = rows_column(&x->status, r, "status", e);
    x->seeds = table_find(r->t, "seeds");
    x->cost = table_find(r->t, "network_usd");
    for (int32_t m = 0; m < x->spec->n_metrics && !rc; m++) {
        x->metric[m] = table_find(r->t, x->spec->metrics[m]);
        snprintf(name, sizeof name, "%s_ci", x->spec->metrics[m]);
        x->interval[m] = table_find(r->t, name);
        if (m == 0)
            rc = rows_column(&x->metric[m], r, x->spec->metrics[m], e);
    }
    if (!rc && x->spec->by_cost)
        rc = rows_column(&x->cost, r, "network_usd", e);
    return rc;
}

/* The row is done, passes the filters and has what the figure needs. */
static bool is_kept(const struct reader *x)
{
    const struct rows *r = &x->r;

    return rows_pass(r) && is_done(r, x->status) && has_value(r, x->metric[0]) &&
           !(x->spec->by_cost && !has_value(r, x->cost));
}

/* Whether the column differs among the rows kept. */
static int find_varying(bool *varies, struct reader *x, int32_t col, struct err *e)
{
    struct text first = { 0 }, cell = { 0 };
    bool any = false;
    int rc = 0;

    *varies = false;
    for (x->r.row = 0; x->r.row < x->r.t->n_rows && !*varies && !rc; x->r.row++) {
        if (!is_kept(x))
            continue;
        rc = rows_text(any ? &cell : &first, &x->r, col, e);
        *varies = any && strcmp(text_str(&first), text_str(&cell)) != 0;
        any = true;
    }
    text_free(&first);
    text_free(&cell);
    return rc;
}

/* What the network is made of: designs differ in it. */
static bool is_of_network(const char *key)
{
    static const char *const words[] = { "network", "parts", "server", "servers", "graph", "racks", "pool" };
    size_t n = strcspn(key, ".[");

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == n && strncmp(key, words[i], n) == 0)
            return true;
    return false;
}

static int add_word(struct reader *x, int32_t col, struct err *e)
{
    if (col < 0 || x->n_words == MAX_WORDS)
        return 0;
    x->word[x->n_words] = col;
    return find_varying(&x->varies[x->n_words++], x, col, e);
}

/* An axis of schedulers only repeats their column. */
static bool repeats(const char *key)
{
    const char *dot = strrchr(key, '.');

    return strcmp(dot ? dot + 1 : key, "schedulers") == 0;
}

/* The figure's axes leave the words: of those from `first` on that hold numbers, the first that vary; where
 * any will do and too few vary, others. */
static void take_axes(struct reader *x, int32_t first)
{
    bool taken[MAX_WORDS] = { false };
    int32_t n = 0, kept = first;

    for (int pass = 0; pass < (x->spec->any_numbers ? 2 : 1); pass++)
        for (int32_t i = first; i < x->n_words && n < x->spec->n_axes; i++)
            if (!taken[i] && x->r.t->kinds[x->word[i]] != TABLE_TEXT && (x->varies[i] || pass == 1)) {
                taken[i] = true;
                n++;
            }
    for (int32_t i = first; i < x->n_words; i++) {
        if (taken[i]) {
            x->axis[x->o->n_axes] = x->word[i];
            x->o->axes[x->o->n_axes++] = x->r.t->names[x->word[i]];
            continue;
        }
        x->word[kept] = x->word[i];
        x->varies[kept++] = x->varies[i];
    }
    x->n_words = kept;
}

/* Which axes the figure spreads out, and which make panels. */
static int choose_axes(struct reader *x, struct err *e)
{
    const struct table *t = x->r.t;
    int32_t point = table_find(t, "point"), network = table_find(t, "network");
    int rc = add_word(x, network, e);

    if (!rc)
        rc = add_word(x, table_find(t, "model"), e);
    int32_t first = x->n_words;
    for (int32_t col = point + 1; point >= 0 && col < network && !rc; col++)
        if (!repeats(t->names[col]))
            rc = add_word(x, col, e);
    if (!rc)
        take_axes(x, first);
    return rc;
}

/* ---- rows ---- */

/* Which of the things that vary: all that make panels, the first of them, the rest; what makes labels. */
enum part { PART_PANEL, PART_COLUMN, PART_ROW, PART_LABEL, PART_COMMON };

/* Append what the row at hand has in word i of the reader. */
static int put_word(struct text *out, struct reader *x, int32_t i, bool value_alone, struct err *e)
{
    const char *key = x->r.t->names[x->word[i]];
    bool plain = value_alone || strcmp(key, "network") == 0;
    struct text cell = { 0 };
    int rc = rows_text(&cell, &x->r, x->word[i], e);

    if (!rc && cell.n > 0) {
        text_puts(out, out->n ? " · " : "");
        if (!plain)
            outcomes_put_key(out, key);
        text_printf(out, "%s%s", plain ? "" : " ", text_str(&cell));
    }
    text_free(&cell);
    return rc ? rc : text_check(out, e);
}

/* An axis of the network tells designs apart better than the network's name, which follows from it. */
static bool is_label(const struct reader *x, int32_t i)
{
    bool any_axis = false;

    for (int32_t k = 0; k < x->n_words; k++) {
        const char *key = x->r.t->names[x->word[k]];
        any_axis = any_axis || (x->varies[k] && strcmp(key, "network") != 0 && is_of_network(key));
    }
    return is_of_network(x->r.t->names[x->word[i]]) &&
           !(any_axis && strcmp(x->r.t->names[x->word[i]], "network") == 0);
}

static int describe(struct text *out, struct reader *x, enum part part, struct err *e)
{
    int32_t n_panels = 0;
    int rc = 0;

    for (int32_t i = 0; i < x->n_words && !rc; i++) {
        bool labels = x->spec->by_cost && is_of_network(x->r.t->names[x->word[i]]);
        bool wanted = part == PART_COMMON && !x->varies[i];
        if (x->varies[i] && labels)
            wanted = part == PART_LABEL && is_label(x, i);
        else if (x->varies[i]) {
            wanted = part == PART_PANEL || part == (n_panels == 0 ? PART_COLUMN : PART_ROW);
            n_panels++;
        }
        if (wanted)
            rc = put_word(out, x, i, part == PART_LABEL && strcmp(x->r.t->names[x->word[i]], "network") != 0,
                          e);
    }
    return rc;
}

static int name_it(int32_t *at, struct names *names, struct reader *x, enum part part, struct err *e)
{
    struct text name = { 0 };
    int rc = describe(&name, x, part, e);

    if (!rc) {
        *at = names_add_copy(names, text_str(&name));
        rc = *at < 0 ? err_nomem(e, "the figure's names") : 0;
    }
    text_free(&name);
    return rc;
}

static int read_values(struct outcome *out, struct reader *x, struct err *e)
{
    int rc = 0;

    out->cost_usd = (double)NAN;
    for (int32_t m = 0; m < x->spec->n_metrics && !rc; m++) {
        out->value[m] = out->half[m] = (double)NAN;
        if (x->metric[m] >= 0)
            rc = rows_number(&out->value[m], &x->r, x->metric[m], e);
        if (!rc && x->interval[m] >= 0)
            rc = rows_number(&out->half[m], &x->r, x->interval[m], e);
        x->o->any_interval = x->o->any_interval || out->half[m] > 0;
    }
    for (int32_t a = 0; a < x->o->n_axes && !rc; a++)
        rc = rows_number(&out->axis[a], &x->r, x->axis[a], e);
    if (!rc && x->cost >= 0)
        rc = x->spec->by_cost ? rows_above_zero(&out->cost_usd, &x->r, x->cost, e)
                              : rows_number(&out->cost_usd, &x->r, x->cost, e);
    return rc;
}

static int read_row(struct reader *x, struct err *e)
{
    struct outcomes *o = x->o;
    struct outcome *out = &o->list[o->n];
    double seeds = (double)NAN;
    int rc = rows_name(&out->scheduler, &x->schedulers, &x->r, x->scheduler, e);

    out->row = x->r.row;
    if (!rc)
        rc = read_values(out, x, e);
    if (!rc)
        rc = name_it(&out->panel, &o->panels, x, PART_PANEL, e);
    if (!rc)
        rc = name_it(&out->column, &o->columns, x, PART_COLUMN, e);
    if (!rc)
        rc = name_it(&out->row_of_panels, &o->rows, x, PART_ROW, e);
    if (!rc)
        rc = name_it(&out->label, &o->labels, x, PART_LABEL, e);
    if (!rc && x->seeds >= 0)
        rc = rows_number(&seeds, &x->r, x->seeds, e);
    if (rc)
        return rc;
    x->least_seeds = fmin(x->least_seeds, seeds);
    x->most_seeds = fmax(x->most_seeds, seeds);
    for (int32_t a = 0; a < o->n_axes; a++)
        if (isnan(out->axis[a])) {
            o->n_blank++;
            return 0;
        }
    o->n++;
    return 0;
}

static int read_rows(struct reader *x, struct err *e)
{
    struct outcomes *o = x->o;
    int64_t n_passed = 0;
    int rc = 0;

    o->list = calloc((size_t)x->r.t->n_rows + 1, sizeof *o->list);
    if (!o->list)
        return err_nomem(e, "the figure's rows");
    for (x->r.row = 0; x->r.row < x->r.t->n_rows && !rc; x->r.row++) {
        if (!rows_pass(&x->r))
            continue;
        n_passed++;
        if (is_kept(x))
            rc = read_row(x, e);
        else if (!is_done(&x->r, x->status))
            o->n_undone++;
        else
            o->n_blank++;
    }
    if (!rc && o->n == 0)
        rc = rows_none_left(&x->r, n_passed, o->n_undone + o->n_blank, "are not done or ", e);
    return rc;
}

/* ---- what belongs to all rows ---- */

/* All schedulers of the table, of rows that are not done too: so that neither filters nor errors change order
 * and colours. */
static int find_schedulers(struct reader *x, struct err *e)
{
    int32_t at;
    int rc = 0;

    for (x->r.row = 0; x->r.row < x->r.t->n_rows && !rc; x->r.row++)
        if (has_value(&x->r, x->scheduler))
            rc = rows_name(&at, &x->schedulers, &x->r, x->scheduler, e);
    return rc;
}

/* Those that are left, in that order. */
static int keep_schedulers(struct reader *x, struct err *e)
{
    struct outcomes *o = x->o;
    int32_t n = x->schedulers.n;
    int32_t *kept = calloc((size_t)n + 1, sizeof *kept);
    int rc = 0;

    o->styles = calloc((size_t)n + 1, sizeof *o->styles);
    if (!kept || !o->styles)
        rc = err_nomem(e, "the figure's series");
    for (int64_t i = 0; i < o->n && !rc; i++)
        kept[o->list[i].scheduler] = 1;
    for (int32_t k = 0; k < n && !rc; k++) {
        if (!kept[k])
            continue;
        o->styles[o->schedulers.n] = k;
        kept[k] = names_add_copy(&o->schedulers, x->schedulers.list[k]);
        rc = kept[k] < 0 ? err_nomem(e, "the figure's series") : 0;
    }
    for (int64_t i = 0; i < o->n && !rc; i++)
        o->list[i].scheduler = kept[o->list[i].scheduler];
    free(kept);
    return rc;
}

static int put_common(struct reader *x, struct err *e)
{
    struct text *out = &x->o->common, *keys = &x->o->label_keys;

    x->r.row = x->o->list[0].row;
    int rc = describe(out, x, PART_COMMON, e);
    if (x->most_seeds >= 1) {
        text_puts(out, out->n ? " · " : "");
        if (x->least_seeds < x->most_seeds)
            text_printf(out, "%.0f to ", x->least_seeds);
        text_printf(out, "%.0f seed%s", x->most_seeds, x->most_seeds > 1 ? "s" : "");
    }
    for (int32_t i = 0; i < x->n_words; i++)
        if (x->spec->by_cost && x->varies[i] && is_label(x, i)) {
            text_puts(keys, keys->n ? " · " : "");
            outcomes_put_key(keys, x->r.t->names[x->word[i]]);
        }
    if (!rc)
        rc = text_check(keys, e);
    return rc ? rc : text_check(out, e);
}

int outcomes_read(struct outcomes *o, const struct rows *r, const struct outcomes_spec *spec, struct err *e)
{
    struct reader x = { .o = o, .spec = spec, .r = *r, .least_seeds = HUGE_VAL, .most_seeds = -HUGE_VAL };
    int rc = find_columns(&x, e);

    if (!rc)
        rc = choose_axes(&x, e);
    if (!rc)
        rc = find_schedulers(&x, e);
    if (!rc)
        rc = read_rows(&x, e);
    if (!rc)
        rc = keep_schedulers(&x, e);
    names_free_copies(&x.schedulers);
    return rc ? rc : put_common(&x, e);
}

void outcomes_free(struct outcomes *o)
{
    free(o->list);
    free(o->styles);
    names_free_copies(&o->schedulers);
    names_free_copies(&o->panels);
    names_free_copies(&o->columns);
    names_free_copies(&o->rows);
    names_free_copies(&o->labels);
    text_free(&o->common);
    text_free(&o->label_keys);
    *o = (struct outcomes){ 0 };
}

void outcomes_put_notes(struct canvas *c, const struct outcomes *o)
{
    if (o->common.n)
        canvas_note(c, "%s", text_str(&o->common));
    if (o->any_interval)
        canvas_note(c, "whiskers: 95 %% interval over seeds");
    if (o->n_undone > 0)
        canvas_note(c, "%lld rows are not done and are left out", (long long)o->n_undone);
    if (o->n_blank > 0)
        canvas_note(c, "%lld rows lack a value and are left out", (long long)o->n_blank);
}
