#include "plots/fig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/runs.h"
#include "plots/strips.h"

enum {
    MAX_LINKS = 40,   /* of all panels together */
    LEAST_LINKS = 12, /* of one */
    ROW_PX = 15,
    LEAST_ROW_PX = 4,
    END_TEXT = 16,
};

struct link_span {
    int32_t run, link;
    double from, to, load;
};

struct links_fig {
    struct canvas *c;
    struct runs runs;
    struct names links;      /* owned texts */
    struct link_span *spans; /* shape [n], owned */
    int64_t n;
    double *carried; /* shape [n_runs][links.n], owned: load times time */
    double *peak;    /* shape [links.n], owned: of all runs */
    int32_t *order,
        *rank; /* shape [links.n], owned: links by mean load, and where one stands; -1 = not drawn */
    int32_t n_used, n_rows;          /* links that ever have a load, and those drawn */
    struct lanes_span *lanes;        /* shape [n], owned: in runs, rows and time */
    struct strips_row *rows;         /* shape [n_panels * n_rows], owned */
    int64_t first_row[RUNS_MAX + 1]; /* of a panel among `rows` */
    char (*end_texts)[END_TEXT];     /* shape [n_panels][n_rows], owned */
    const char **ends, **labels;     /* owned */
    struct axis x;
    struct unit unit;
};

/* ---- reading ---- */

static int read_spans(struct links_fig *f, const struct rows *rows, struct err *e)
{
    int32_t link = table_find(rows->t, "link"), load = table_find(rows->t, "load_frac");
    struct rows r = *rows;
    struct runs_span at;
    int rc = runs_begin(&f->runs, rows, e);

    f->spans = calloc((size_t)r.t->n_rows + 1, sizeof *f->spans);
    if (!rc && !f->spans)
        rc = err_nomem(e, "the figure's rows");
    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++) {
        struct link_span *s = &f->spans[f->n];
        if (!rows_pass(&r))
            continue;
        rc = runs_read(&at, &f->runs, &r, e);
        if (rc || at.run < 0)
            continue;
        rc = rows_number(&s->load, &r, load, e);
        if (!rc && isnan(s->load))
            f->runs.n_blank++;
        if (rc || isnan(s->load))
            continue;
        s->run = at.run;
        s->from = at.from;
        s->to = at.to;
        rc = rows_name(&s->link, &f->links, &r, link, e);
        f->n += !rc;
    }
    if (!rc && f->n == 0)
        rc = rows_none_left(&r, f->runs.n_passed, f->runs.n_blank, "", e);
    return rc;
}

/* ---- which links, and in which order ---- */

static double mean_load(const struct links_fig *f, int32_t run, int32_t link)
{
    return f->runs.end[run] > 0 ? f->carried[(int64_t)run * f->links.n + link] / f->runs.end[run] : 0;
}

/* Mean over the runs, so that panels have the same rows. */
static double mean_of_runs(const struct links_fig *f, int32_t link)
{
    double sum = 0;

    for (int32_t k = 0; k < f->runs.n; k++)
        sum += mean_load(f, k, link);
    return sum / f->runs.n;
}

/* What goes first of two links. */
struct link_order {
    double mean, peak;
    int32_t link;
};

static int compare_links(const void *a, const void *b)
{
    const struct link_order *x = a, *y = b;

    if (x->mean != y->mean)
        return x->mean > y->mean ? -1 : 1;
    if (x->peak != y->peak)
        return x->peak > y->peak ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

static int rank_links(struct links_fig *f, struct err *e)
{
    int32_t n = f->links.n, most = MAX_LINKS / f->runs.n;
    struct link_order *sorted = calloc((size_t)n, sizeof *sorted);

    if (!sorted)
        return err_nomem(e, "the figure's links");
    for (int32_t i = 0; i < n; i++)
        sorted[i] = (struct link_order){ mean_of_runs(f, i), f->peak[i], i };
    qsort(sorted, (size_t)n, sizeof *sorted, compare_links);
    most = most > LEAST_LINKS ? most : LEAST_LINKS;
    for (int32_t i = 0; i < n; i++) {
        f->order[i] = sorted[i].link;
        f->n_used += sorted[i].peak > 0;
        f->rank[sorted[i].link] = i;
    }
    f->n_rows = f->n_used < most ? f->n_used : most;
    /* A cluster without traffic still has a figure. */
    f->n_rows = f->n_rows > 0 ? f->n_rows : 1;
    for (int32_t i = f->n_rows; i < n; i++)
        f->rank[f->order[i]] = -1;
    free(sorted);
    return 0;
}

static int survey(struct links_fig *f, struct err *e)
{
    size_t n = (size_t)f->links.n + 1;

    f->carried = calloc(n * RUNS_MAX, sizeof *f->carried);
    f->peak = calloc(n, sizeof *f->peak);
    f->order = calloc(n, sizeof *f->order);
    f->rank = calloc(n, sizeof *f->rank);
    if (!f->carried || !f->peak || !f->order || !f->rank)
        return err_nomem(e, "the figure's links");
    for (int64_t i = 0; i < f->n; i++) {
        const struct link_span *s = &f->spans[i];
        f->carried[(int64_t)s->run * f->links.n + s->link] += s->load * (s->to - s->from);
        f->peak[s->link] = fmax(f->peak[s->link], s->load);
    }
    return rank_links(f, e);
}

/* ---- rows ---- */

static int compare_spans(const void *a, const void *b)
{
    const struct link_span *x = a, *y = b;

    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static int gather_rows(struct links_fig *f, struct err *e)
{
    int64_t n_rows = 0, n = 0;

    f->lanes = calloc((size_t)f->n + 1, sizeof *f->lanes);
    f->rows = calloc((size_t)f->runs.n * (size_t)f->n_rows + 1, sizeof *f->rows);
    if (!f->lanes || !f->rows)
        return err_nomem(e, "the figure's rows");
    qsort(f->spans, (size_t)f->n, sizeof *f->spans, compare_spans);
    for (int64_t i = 0; i < f->n; i++) {
        const struct link_span *s = &f->spans[i];
        if (f->rank[s->link] < 0)
            continue;
        bool first = n_rows == 0 || s->run != s[-1].run || s->link != s[-1].link;
        if (first) {
            f->rows[n_rows] = (struct strips_row){ .row = f->rank[s->link], .spans = f->lanes + n };
            f->first_row[s->run + 1] = ++n_rows;
        }
        f->lanes[n++] = (struct lanes_span){ s->from / f->unit.scale, s->to / f->unit.scale,
                                             strips_paint(s->load), false };
        f->rows[n_rows - 1].n++;
    }
    for (int32_t k = 0; k < f->runs.n; k++) /* a run without rows */
        if (f->first_row[k + 1] < f->first_row[k])
            f->first_row[k + 1] = f->first_row[k];
    return 0;
}

static int put_texts(struct links_fig *f, struct err *e)
{
    size_t n = (size_t)f->runs.n * (size_t)f->n_rows;

    f->labels = calloc((size_t)f->n_rows, sizeof *f->labels);
    f->ends = calloc(n, sizeof *f->ends);
    f->end_texts = calloc(n, sizeof *f->end_texts);
    if (!f->labels || !f->ends || !f->end_texts)
        return err_nomem(e, "the figure's labels");
    for (int32_t i = 0; i < f->n_rows; i++)
        f->labels[i] = f->links.list[f->order[i]];
    for (size_t i = 0; i < n; i++) {
        int32_t run = (int32_t)(i / (size_t)f->n_rows), row = (int32_t)(i % (size_t)f->n_rows);
        snprintf(f->end_texts[i], END_TEXT, "%.0f %%", 100 * mean_load(f, run, f->order[row]));
        f->ends[i] = f->end_texts[i];
    }
    return 0;
}

/* ---- the page ---- */

static void paint(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct links_fig *f = of;

    strips_put_rows(c, f->rows + f->first_row[panel], f->first_row[panel + 1] - f->first_row[panel],
                    (f->x.hi - f->x.lo) / (box->right - box->left));
}

static void put_notes(struct links_fig *f)
{
    int32_t n_over = 0, n_left = f->n_used - f->n_rows;

    runs_put_notes(f->c, &f->runs);
    canvas_note(f->c, "share of the link reserved or in use, the most loaded on top; white: idle");
    for (int32_t i = f->n_rows; i < f->n_used; i++)
        n_over += strips_paint(f->peak[f->order[i]]) == STRIPS_PAINTS - 1;
    if (n_left > 0)
        canvas_note(f->c, "%d more links are loaded, %d of them at times beyond 100 %%", (int)n_left,
                    (int)n_over);
    if (f->links.n > f->n_used)
        canvas_note(f->c, "%d links are never used", (int)(f->links.n - f->n_used));
}

static int draw(struct links_fig *f, struct err *e)
{
    bool used[STRIPS_PAINTS] = { false };
    struct text label = { 0 };

    put_notes(f);
    for (int64_t i = 0; i < f->n; i++)
        if (f->rank[f->spans[i].link] >= 0)
            used[strips_paint(f->spans[i].load)] = true;
    strips_put_legend(f->c, used);
    text_printf(&label, "time [%s]", f->unit.name);
    struct strips_spec spec = { .names = f->runs.schedulers.list,
                                .n_panels = f->runs.n,
                                .n_rows = f->n_rows,
                                .labels = f->labels,
                                .ends = f->ends,
                                .end_label = "mean",
                                .unit_px = ROW_PX,
                                .least_unit_px = LEAST_ROW_PX,
                                .x = f->x,
                                .x_label = text_str(&label),
                                .paint = paint,
                                .of = f };
    int rc = text_check(&label, e);
    if (!rc)
        rc = strips_build(f->c, &spec, e);
    text_free(&label);
    return rc;
}

int fig_links(struct canvas *c, const struct rows *r, struct err *e)
{
    struct links_fig f = { .c = c };
    int rc = read_spans(&f, r, e);

    if (!rc) {
        f.x = runs_axis(&f.runs, &f.unit);
        rc = survey(&f, e);
    }
    if (!rc)
        rc = gather_rows(&f, e);
    if (!rc)
        rc = put_texts(&f, e);
    if (!rc)
        rc = draw(&f, e);
    free(f.spans);
    free(f.carried);
    free(f.peak);
    free(f.order);
    free(f.rank);
    free(f.lanes);
    free(f.rows);
    free(f.end_texts);
    free(f.ends);
    free(f.labels);
    names_free_copies(&f.links);
    runs_free(&f.runs);
    return rc;
}
