#include "plots/lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns by position. */
struct columns {
    int32_t workload, order, chosen, time_s, row, dim, util, npu_class, slot, name, pass, start_s, end_s;
};

struct reader {
    struct lanes *l;
    const struct rows *r;
    struct columns at;
};

static int find_columns(struct columns *c, const struct rows *r, struct err *e)
{
    const struct {
        int32_t *col;
        const char *name;
    } wanted[] = {
        { &c->workload, "workload" }, { &c->order, "order" }, { &c->chosen, "chosen" },
        { &c->time_s, "time_s" },     { &c->row, "row" },     { &c->dim, "dim" },
        { &c->util, "util" },         { &c->slot, "slot" },   { &c->npu_class, "npu_class" },
        { &c->name, "name" },         { &c->pass, "pass" },   { &c->start_s, "start_s" },
        { &c->end_s, "end_s" },
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !rc; i++)
        rc = rows_column(wanted[i].col, r, wanted[i].name, e);
    return rc;
}

/* The run that the row belongs to into *run; LANES_MAX_RUNS when it is one too many. */
static int read_run(struct reader *x, int32_t *run, bool *blank, struct err *e)
{
    struct lanes *l = x->l;
    double time_s;
    int rc = rows_above_zero(&time_s, x->r, x->at.time_s, e);

    *blank = *blank || !isfinite(time_s);
    if (rc || *blank)
        return rc;
    rc = rows_name(run, &l->orders, x->r, x->at.order, e);
    if (rc || *run < l->n_runs)
        return rc;
    if (*run >= LANES_MAX_RUNS) {
        *run = LANES_MAX_RUNS;
        return 0;
    }
    l->runs[*run] = (struct lanes_run){ .order = *run,
                                        .chosen = rows_equal(x->r, x->at.chosen, "yes"),
                                        .time_s = time_s };
    for (int32_t d = 0; d < LANES_DIMS; d++)
        l->runs[*run].busy_frac[d] = (double)NAN;
    l->n_runs = *run + 1;
    return 0;
}

static int read_lane(struct reader *x, struct lanes_bar *b, struct err *e)
{
    struct lanes *l = x->l;
    int32_t name, index;
    int rc = rows_count(&b->dim, x->r, x->at.dim, LANES_DIMS - 1, e);

    if (!rc)
        rc = rows_count(&b->slot, x->r, x->at.slot, LANES_MAX_SLOTS - 1, e);
    if (!rc)
        rc = rows_count(&b->npu_class, x->r, x->at.npu_class, INT32_MAX, e);
    if (!rc)
        rc = rows_name(&index, &l->classes, x->r, x->at.npu_class, e);
    if (!rc)
        rc = rows_name(&name, &l->dims, x->r, x->at.row, e);
    if (rc)
        return rc;
    l->dim_name[b->dim] = name;
    /* Compute is told from collectives by its place, not by its name. */
    b->name = b->pass = -1;
    if (b->dim == LANES_COMPUTE)
        return 0;
    rc = rows_name(&b->name, &l->names, x->r, x->at.name, e);
    return rc ? rc : rows_name(&b->pass, &l->passes, x->r, x->at.pass, e);
}

static int read_times(struct reader *x, struct lanes_bar *b, bool *blank, struct err *e)
{
    int rc = rows_number(&b->start_s, x->r, x->at.start_s, e);

    if (!rc)
        rc = rows_number(&b->end_s, x->r, x->at.end_s, e);
    *blank = *blank || !isfinite(b->start_s) || !isfinite(b->end_s);
    if (!rc && !*blank && b->end_s < b->start_s)
        rc = err_set(e, ERR_PARSE, "figure %s: row %lld, column end_s: is %g, need at least its start_s %g",
                     x->r->figure->name, (long long)x->r->row + 1, b->end_s, b->start_s);
    return rc;
}

/* One row that passes the filters. */
static int read_bar(struct reader *x, struct err *e)
{
    struct lanes *l = x->l;
    struct lanes_bar *b = &l->bars[l->n_bars];
    int32_t workload;
    bool blank = false;
    int rc = rows_name(&workload, &l->workloads, x->r, x->at.workload, e);

    if (rc || workload > 0)
        return rc;
    rc = read_times(x, b, &blank, e);
    if (!rc)
        rc = read_run(x, &b->run, &blank, e);
    l->n_blank += blank;
    if (rc || blank || b->run == LANES_MAX_RUNS)
        return rc;
    rc = read_lane(x, b, e);
    if (!rc && b->dim != LANES_COMPUTE)
        rc = rows_number(&l->runs[b->run].busy_frac[b->dim], x->r, x->at.util, e);
    l->n_bars += !rc;
    return rc;
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_starts(const void *a, const void *b)
{
    const struct lanes_bar *x = a, *y = b;

    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->dim != y->dim)
        return x->dim < y->dim ? -1 : 1;
    int order = compare(x->start_s, y->start_s);
    return order ? order : compare(x->end_s, y->end_s);
}

static int compare_lanes(const void *a, const void *b)
{
    const struct lanes_bar *x = a, *y = b;

    if (x->run == y->run && x->dim == y->dim && x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return compare_starts(a, b);
}

/* The CSV gives the share of each dimension's links, of NPU class 0; that of compute is the union of its
 * bars, which are sorted by their start. */
static void find_busy(struct lanes *l)
{
    double busy_s[LANES_MAX_RUNS] = { 0 }, end_s[LANES_MAX_RUNS] = { 0 };

    for (int64_t i = 0; i < l->n_bars; i++) {
        const struct lanes_bar *b = &l->bars[i];
        if (b->dim != LANES_COMPUTE)
            continue;
        busy_s[b->run] += fmax(0, b->end_s - fmax(b->start_s, end_s[b->run]));
        end_s[b->run] = fmax(end_s[b->run], b->end_s);
    }
    for (int32_t k = 0; k < l->n_runs; k++) {
        for (int32_t d = 0; d < LANES_DIMS && l->npu_class > 0; d++)
            l->runs[k].busy_frac[d] = (double)NAN;
        if (l->n_slots[LANES_COMPUTE] > 0)
            l->runs[k].busy_frac[LANES_COMPUTE] = busy_s[k] / l->runs[k].time_s;
    }
}

/* NPUs of other classes do the same at other speeds: one class tells the story. */
static void keep_one_class(struct lanes *l)
{
    int64_t kept = 0;

    l->npu_class = INT32_MAX;
    for (int64_t i = 0; i < l->n_bars; i++)
        if (l->bars[i].npu_class < l->npu_class)
            l->npu_class = l->bars[i].npu_class;
    for (int64_t i = 0; i < l->n_bars; i++)
        if (l->bars[i].npu_class == l->npu_class)
            l->bars[kept++] = l->bars[i];
    l->n_bars = kept;
    for (int64_t i = 0; i < kept; i++) {
        int32_t *n = &l->n_slots[l->bars[i].dim];
        *n = l->bars[i].slot < *n ? *n : l->bars[i].slot + 1;
    }
}

int lanes_read(struct lanes *l, const struct rows *r, struct err *e)
{
    struct rows at = *r;
    struct reader x = { .l = l, .r = &at };
    int64_t n_passed = 0;

    *l = (struct lanes){ 0 };
    int rc = find_columns(&x.at, r, e);
    if (rc)
        return rc;
    l->bars = calloc((size_t)r->t->n_rows + 1, sizeof *l->bars);
    if (!l->bars)
        return err_nomem(e, "the figure's rows");
    for (at.row = 0; at.row < r->t->n_rows && !rc; at.row++) {
        if (!rows_pass(&at))
            continue;
        n_passed++;
        rc = read_bar(&x, e);
    }
    if (!rc && l->n_bars == 0)
        rc = rows_none_left(r, n_passed, l->n_blank, "", e);
    if (rc)
        return rc;
    keep_one_class(l);
    qsort(l->bars, (size_t)l->n_bars, sizeof *l->bars, compare_starts);
    find_busy(l);
    qsort(l->bars, (size_t)l->n_bars, sizeof *l->bars, compare_lanes);
    return 0;
}

void lanes_free(struct lanes *l)
{
    free(l->bars);
    names_free_copies(&l->workloads);
    names_free_copies(&l->orders);
    names_free_copies(&l->dims);
    names_free_copies(&l->names);
    names_free_copies(&l->passes);
    names_free_copies(&l->classes);
    *l = (struct lanes){ 0 };
}

/* ---- folding ---- */

/* Spans i..end-1 of less than a tolerance together, as one per colour in place at out; how many. The colour
 * that stands before them comes first, so that it goes on. */
static int64_t gather(struct lanes_span *spans, int64_t i, int64_t end, int64_t out)
{
    double sums[LANES_PAINTS] = { 0 }, at = spans[i].start;
    int32_t order[LANES_PAINTS], n = 0, before = out > 0 ? spans[out - 1].paint : -1;

    for (; i < end; i++) {
        int32_t paint = spans[i].paint;
        bool seen = false;
        for (int32_t k = 0; k < n; k++)
            seen = seen || order[k] == paint;
        sums[paint] += spans[i].end - spans[i].start;
        if (seen)
            continue;
        order[n++] = paint;
        if (paint == before) {
            order[n - 1] = order[0];
            order[0] = paint;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        spans[out++] = (struct lanes_span){ at, at + sums[order[k]], order[k], false };
        at += sums[order[k]];
    }
    return n;
}

static int64_t gather_close(struct lanes_span *spans, int64_t n, double tolerance)
{
    int64_t out = 0;

    for (int64_t i = 0; i < n;) {
        int64_t end = i;
        while (end < n && !spans[end].alone && spans[end].end - spans[i].start <= tolerance)
            end++;
        if (end - i > 1) {
            out += gather(spans, i, end, out);
            i = end;
        } else {
            spans[out++] = spans[i++];
        }
    }
    return out;
}

/* Neighbours of one colour become one. */
static int64_t close_gaps(struct lanes_span *spans, int64_t n, double tolerance)
{
    int64_t out = 0;

    for (int64_t i = 0; i < n; i++) {
        struct lanes_span *last = out > 0 ? &spans[out - 1] : NULL, s = spans[i];
        bool same = last && !s.alone && !last->alone && s.paint == last->paint;
        /* What was closed before lies in this gap too: it is how far s would move. */
        if (same && s.start - last->end <= tolerance)
            last->end += s.end - s.start;
        else
            spans[out++] = s;
    }
    return out;
}

int64_t lanes_fold(struct lanes_span *spans, int64_t n, double tolerance)
{
    return close_gaps(spans, gather_close(spans, n, tolerance), tolerance);
}
