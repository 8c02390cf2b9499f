#include "plots/gantt.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MAX_GPUS = 4096 /* of a stay */ };

/* ---- reading ---- */

/* Columns by position. */
struct columns {
    int32_t job, server, server_name, gpus;
};

static int find_columns(struct columns *at, const struct rows *r, struct err *e)
{
    int rc = rows_column(&at->job, r, "job", e);

    if (!rc)
        rc = rows_column(&at->server, r, "server", e);
    if (!rc)
        rc = rows_column(&at->server_name, r, "server_name", e);
    return rc ? rc : rows_column(&at->gpus, r, "gpus", e);
}

/* The stay's server is its number until all are read; `servers` gathers an entry for each stay. */
static int read_stay(struct gantt *g, const struct rows *r, const struct columns *at, struct err *e)
{
    struct gantt_stay *s = &g->stays[g->n_stays];
    struct runs_span span;
    int rc = runs_read(&span, &g->runs, r, e);

    if (rc || span.run < 0)
        return rc;
    *s = (struct gantt_stay){ .run = span.run, .from = span.from, .to = span.to };
    rc = rows_count(&s->n_gpus, r, at->gpus, MAX_GPUS, e);
    if (!rc)
        rc = rows_count(&s->server, r, at->server, INT32_MAX, e);
    if (rc || s->n_gpus == 0 || !(s->to > s->from))
        return rc;
    rc = rows_name(&s->job, &g->jobs, r, at->job, e);
    g->servers[g->n_stays] = (struct gantt_server){ .number = s->server, .row = r->row };
    g->n_stays += !rc;
    return rc;
}

static int compare_servers(const void *a, const void *b)
{
    const struct gantt_server *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The server of that number, which is there. */
static int32_t find_server(const struct gantt *g, int32_t number)
{
    int32_t lo = 0, hi = g->n_servers - 1;

    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (g->servers[middle].number < number)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Servers once each, by number, with their names, and the stays with them. */
static int settle_servers(struct gantt *g, struct rows r, const struct columns *at, struct err *e)
{
    int rc = 0;

    qsort(g->servers, (size_t)g->n_stays, sizeof *g->servers, compare_servers);
    for (int64_t i = 0; i < g->n_stays; i++)
        if (g->n_servers == 0 || g->servers[i].number != g->servers[g->n_servers - 1].number)
            g->servers[g->n_servers++] = g->servers[i];
    for (int32_t i = 0; i < g->n_servers && !rc; i++) {
        r.row = g->servers[i].row;
        rc = rows_text(&g->servers[i].name, &r, at->server_name, e);
    }
    for (int64_t i = 0; i < g->n_stays; i++)
        g->stays[i].server = find_server(g, g->stays[i].server);
    return rc;
}

static int read_stays(struct gantt *g, const struct rows *rows, struct err *e)
{
    struct rows r = *rows;
    struct columns at;
    int rc = find_columns(&at, rows, e);

    if (!rc)
        rc = runs_begin(&g->runs, rows, e);
    if (rc)
        return rc;
    g->stays = calloc((size_t)r.t->n_rows + 1, sizeof *g->stays);
    g->servers = calloc((size_t)r.t->n_rows + 1, sizeof *g->servers);
    if (!g->stays || !g->servers)
        return err_nomem(e, "the figure's rows");
    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++)
        if (rows_pass(&r))
            rc = read_stay(g, &r, &at, e);
    if (!rc && g->n_stays == 0)
        rc = rows_none_left(&r, g->runs.n_passed, g->runs.n_blank, "", e);
    return rc ? rc : settle_servers(g, r, &at, e);
}

/* ---- GPUs ---- */

/* One GPU of the server at hand: whose it is, or was last. */
struct gpu {
    int32_t job;
    double until;
    int64_t box;
    bool taken; /* by the stay that is being placed */
};

struct bench {
    struct gantt *g;
    struct gpu *gpus; /* shape [n], owned: as many as were ever in use at once */
    int32_t n, cap;
};

/* By run, server and start; at one time in the order in which the jobs came. */
static int compare_stays(const void *a, const void *b)
{
    const struct gantt_stay *x = a, *y = b;

    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->server != y->server)
        return x->server < y->server ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static bool is_free(const struct gpu *gpu, const struct gantt_stay *s)
{
    return gpu->until <= s->from && !gpu->taken;
}

/* Mark GPUs for the stay while it needs more: `own` those that it just had, else any in a row of `run` or
 * more free ones. Returns how many it still needs. */
static int32_t take(struct bench *b, const struct gantt_stay *s, int32_t need, bool own, int32_t run)
{
    int32_t free_before = 0;

    for (int32_t i = 0; i < b->n && need > 0; i++) {
        bool mine = b->gpus[i].job == s->job && b->gpus[i].until == s->from;
        bool open = is_free(&b->gpus[i], s) && (mine || !own);
        free_before = open ? free_before + 1 : 0;
        if (free_before < run)
            continue;
        /* The row of free ones is long enough: all of it, from its beginning. */
        for (int32_t k = i - free_before + 1; k <= i && need > 0; k++)
            if (!b->gpus[k].taken) {
                b->gpus[k].taken = true;
                need--;
            }
    }
    return need;
}

static int add_gpus(struct bench *b, int32_t n, struct err *e)
{
    for (; n > 0; n--) {
        struct gpu *gpus = array_grow(b->gpus, b->n, &b->cap, sizeof *gpus);
        if (!gpus)
            return err_nomem(e, "the figure's GPUs");
        b->gpus = gpus;
        b->gpus[b->n++] = (struct gpu){ .job = -1, .taken = true };
    }
    return 0;
}

static int choose_gpus(struct bench *b, const struct gantt_stay *s, struct err *e)
{
    int32_t need = take(b, s, s->n_gpus, true, 1);

    if (need == s->n_gpus)
        need = take(b, s, need, false, need);
    if (need > 0)
        need = take(b, s, need, false, 1);
    return add_gpus(b, need, e);
}

static int add_box(struct gantt *g, struct gantt_box box, struct err *e)
{
    if (g->n_boxes == g->cap_boxes) {
        int64_t cap = g->cap_boxes ? 2 * g->cap_boxes : 256;
        struct gantt_box *boxes = realloc(g->boxes, (size_t)cap * sizeof *boxes);
        if (!boxes)
            return err_nomem(e, "the figure's boxes");
        g->boxes = boxes;
        g->cap_boxes = cap;
    }
    g->boxes[g->n_boxes++] = box;
    return 0;
}

/* GPUs first..end-1 of the stay: the box that they had goes on when it was of just these, else a new one. */
static int put_box(struct bench *b, const struct gantt_stay *s, int32_t first, int32_t end, struct err *e)
{
    const struct gpu *gpu = &b->gpus[first];
    int64_t at = b->g->n_boxes;
    int rc = 0;
    struct gantt_box *old = gpu->job == s->job && gpu->until == s->from ? &b->g->boxes[gpu->box] : NULL;

    if (old && old->gpu == first && old->n_gpus == end - first && old->to == s->from) {
        old->to = s->to;
        at = gpu->box;
    } else {
        struct gantt_box box = { s->run, s->server, s->job, first, end - first, s->from, s->to };
        rc = add_box(b->g, box, e);
    }
    for (int32_t i = first; i < end; i++)
        b->gpus[i] = (struct gpu){ s->job, s->to, at, false };
    return rc;
}

static int place_stay(struct bench *b, const struct gantt_stay *s, struct err *e)
{
    int rc = choose_gpus(b, s, e);

    for (int32_t i = 0; i < b->n && !rc; i++) {
        int32_t end = i;
        while (end < b->n && b->gpus[end].taken)
            end++;
        if (end > i)
            rc = put_box(b, s, i, end, e);
        i = end;
    }
    return rc;
}

static bool goes_on(const struct bench *b, const struct gantt_stay *s)
{
    for (int32_t i = 0; i < b->n; i++)
        if (b->gpus[i].job == s->job && b->gpus[i].until == s->from)
            return true;
    return false;
}

/* Stays that begin at one time on one server: first those that go on, so that they keep their GPUs. */
static int place_stays(struct bench *b, struct gantt_stay *stays, int64_t n, struct err *e)
{
    int rc = 0;

    for (int64_t i = 0; i < n && !rc; i++) {
        stays[i].goes_on = goes_on(b, &stays[i]);
        if (stays[i].goes_on)
            rc = place_stay(b, &stays[i], e);
    }
    for (int64_t i = 0; i < n && !rc; i++)
        if (!stays[i].goes_on)
            rc = place_stay(b, &stays[i], e);
    return rc;
}

static int lay_out(struct gantt *g, struct err *e)
{
    struct bench b = { .g = g };
    int rc = 0;

    g->most_gpus = calloc((size_t)g->runs.n * (size_t)g->n_servers + 1, sizeof *g->most_gpus);
    if (!g->most_gpus)
        return err_nomem(e, "the figure's servers");
    qsort(g->stays, (size_t)g->n_stays, sizeof *g->stays, compare_stays);
    for (int64_t i = 0, end; i < g->n_stays && !rc; i = end) {
        const struct gantt_stay *s = &g->stays[i];
        for (end = i + 1; end < g->n_stays; end++)
            if (g->stays[end].run != s->run || g->stays[end].server != s->server ||
                g->stays[end].from != s->from)
                break;
        if (i > 0 && (s->run != s[-1].run || s->server != s[-1].server))
            b.n = 0;
        rc = place_stays(&b, g->stays + i, end - i, e);
        g->most_gpus[(int64_t)s->run * g->n_servers + s->server] = b.n;
    }
    free(b.gpus);
    return rc;
}

int gantt_read(struct gantt *g, const struct rows *r, struct err *e)
{
    int rc = read_stays(g, r, e);
    return rc ? rc : lay_out(g, e);
}

void gantt_free(struct gantt *g)
{
    for (int32_t i = 0; i < g->n_servers; i++)
        text_free(&g->servers[i].name);
    free(g->stays);
    free(g->boxes);
    free(g->servers);
    free(g->most_gpus);
    names_free_copies(&g->jobs);
    runs_free(&g->runs);
    *g = (struct gantt){ 0 };
}
