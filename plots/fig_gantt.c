/*
 * Who ran where and when, and the load of the links: from `weft place --places` and `--links`. Rows are
 * stretches of time in the runs of one point and one seed, a run per scheduler and a panel for each.
 *
 * The table of places does not say on which GPUs of a server a job runs: a job keeps what it has from one row
 * to the next, a new one takes the lowest free neighbours, else the lowest free ones. This is a guess that
 * reads well, not the placement of the simulator; what is certain is how many GPUs of each server a job has,
 * and when. Up to 64 servers and 8,000 boxes are drawn with their jobs; beyond that a map shows shares of
 * busy GPUs, a few servers to a row. Time O(stays * GPUs of a server).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "plots/fig.h"
#include "plots/lanes.h"

/* ---- runs ---- */

enum { MAX_RUNS = 4 };

enum { POINT, SEED, RUN, FROM, TO, UNIT, N_RUN_BINDS };
#define RUN_BINDS                                                                                            \
    [POINT] = { .column = "point", AS_WORD, NEED, .most = 1 },                                               \
    [SEED] = { .column = "seed", AS_WORD, NEED, .most = 1 },                                                 \
    [RUN] = { .column = "scheduler", AS_WORD, NEED, .most = MAX_RUNS },                                      \
    [FROM] = { .column = "from", AS_NUMBER, FILLED }, [TO] = { .column = "to", AS_NUMBER, FILLED },          \
    [UNIT] = { .column = "unit", AS_SAME, NEED }

/* The axis of time is one for all runs, so that panels compare. */
struct runs {
    struct canvas *c;
    struct data data;
    int32_t n;
    double end[MAX_RUNS]; /* latest end of a run */
    struct axis x;
    struct unit unit;
};

/* The columns of RUN_BINDS must come first in `binds`. ERR_PARSE: a row ends before it begins. */
static int read_runs(struct runs *x, struct canvas *c, const struct rows *r, const struct bind *binds,
                     int32_t n, struct err *e)
{
    const struct data *d = &x->data;
    double end = 0;
    int rc = data_read(&x->data, c, r, binds, n, e);

    x->c = c;
    for (int64_t i = 0; i < d->n && !rc; i++) {
        int32_t run = d->word[RUN][i];
        struct rows at = *r;
        at.row = d->row[i];
        if (d->x[TO][i] < d->x[FROM][i])
            rc = rows_fault(&at, "to", e, "%g, expected at least its from %g", d->x[TO][i], d->x[FROM][i]);
        x->n = run < x->n ? x->n : run + 1;
        x->end[run] = fmax(x->end[run], d->x[TO][i]);
        end = fmax(end, d->x[TO][i]);
    }
    if (rc)
        return rc;
    bool seconds = d->words[UNIT].n > 0 && strcmp(d->words[UNIT].list[0], "s") == 0;
    x->unit = seconds ? unit_pick(unit_durations, end) : (struct unit){ 1, "slots" };
    /* The frame is the end of the last run. */
    x->x = (struct axis){ .lo = 0, .hi = end > 0 ? end / x->unit.scale : 1 };
    return 0;
}

/* Axes and seed of what is drawn, which stand between point and seed, and what is left out. */
static void put_run_notes(const struct runs *x)
{
    const struct data *d = &x->data;
    struct text common = { 0 };
    char buf[NUM_TEXT];
    size_t n;

    for (int32_t col = d->col[POINT] + 1; col <= d->col[SEED]; col++) {
        text_puts(&common, common.n ? " · " : "");
        table_put_title(&common, d->r.t, col);
        const char *unit = table_unit(d->r.t, col, &n);
        text_printf(&common, " %s%s%s", data_text(buf, d, 0, col), *unit ? " " : "", unit);
    }
    canvas_note(x->c, "%s", text_str(&common));
    text_free(&common);
    if (d->words[POINT].n > 1)
        canvas_note(x->c, "first of %d points", (int)d->words[POINT].n);
    if (d->words[SEED].n > 1)
        canvas_note(x->c, "first of %d seeds", (int)d->words[SEED].n);
    canvas_note_first(x->c, x->n, d->words[RUN].n, "schedulers");
}

static double run_px(const struct runs *x, const struct canvas_box *box)
{
    return (x->x.hi - x->x.lo) / (box->right - box->left);
}

/* ---- places ---- */

enum { JOB = N_RUN_BINDS, GPUS, SERVER, SERVER_NAME, N_PLACE_BINDS };
enum { MAX_GPUS = 4096 /* of a stay */ };
static const struct bind place_binds[N_PLACE_BINDS] = {
    RUN_BINDS,
    [JOB] = { .column = "job", AS_WORD, NEED },
    [SERVER] = { .column = "server", AS_COUNT, NEED, .most = INT32_MAX },
    [SERVER_NAME] = { .column = "server_name", AS_WORD, NEED },
    [GPUS] = { .column = "gpus", AS_COUNT, NEED, .most = MAX_GPUS },
};

/* A job on a server for a while. */
struct stay {
    int32_t run, server, job, n_gpus; /* server: position among the servers */
    double from, to;
    bool goes_on; /* the job has GPUs of that server already */
};

/* A stretch of neighbouring GPUs that a job keeps: gpu..gpu+n_gpus-1 of the server. */
struct gpu_box {
    int32_t run, server, job, gpu, n_gpus;
    double from, to;
};

enum {
    MAX_LANES = 64,   /* servers drawn with their jobs */
    MAX_BOXES = 8000, /* of all panels together: an SVG of two megabytes */
    MAX_LABELS = 600,
    LANES_PX = 720, /* room that all lanes share */
    LEAST_LANE_PX = 11,
    MOST_GPU_PX = 14, /* height of a GPU, as far as lanes are higher than the least */
    MAP_LEAST_PX = 4,
    MAP_ROW_PX = 12,
    JOB_COLORS = 9,
};

#define LANE_GAP_PX 1.5  /* above and below the boxes of a lane */
#define EDGE_PX     3.0  /* narrower boxes have no hairline around */
#define LETTER_PX   13.0 /* height of a box that has its job's name */

struct gantt {
    struct canvas *c;
    struct runs runs;
    struct stay *stays; /* shape [n_stays]; by run, server and start */
    int64_t n_stays;
    struct gpu_box *boxes; /* shape [n_boxes], owned; in the order of the stays */
    int32_t n_boxes, cap_boxes;
    struct names jobs;         /* in the order of the table */
    const char **server_names; /* shape [n_servers], by number */
    int32_t n_servers;
    int32_t *most_gpus;      /* shape [runs.n][n_servers]: in use at once */
    bool map;                /* shares of busy GPUs instead of jobs */
    int32_t n_rows, per_row; /* servers in a row */
    double *tops;            /* shape [n_rows+1]: of the lanes in pixels, before the page is scaled */
    int32_t n_labels;        /* names of jobs written */
    struct lane *lanes;      /* shape [n_lanes]: of the map */
    int64_t n_lanes;
    bool used[LOAD_PAINTS];
};

/* Stays by run, server and start, at one time in the order in which the jobs came; servers once each, by
 * number, with the first name of each. Stays without GPUs or time (a job that passes through a slot) have
 * nothing to draw. */
static int gather_stays(struct gantt *g, struct err *e)
{
    const struct data *d = &g->runs.data;
    int64_t *order = canvas_new(g->c, d->n, sizeof *order, e);
    int32_t *server = canvas_new(g->c, d->n, sizeof *server, e),
            *job = canvas_new(g->c, d->n, sizeof *job, e);
    const struct sort_key by_number = { .word = d->word[SERVER] };
    const struct sort_key keys[] = {
        { .word = d->word[RUN] }, { .word = server }, { .x = d->x[FROM] }, { .word = job }
    };

    g->stays = canvas_new(g->c, d->n, sizeof *g->stays, e);
    g->server_names = canvas_new(g->c, d->n, sizeof *g->server_names, e);
    if (!order || !server || !job || !g->stays || !g->server_names)
        return ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++) {
        if (d->word[GPUS][i] == 0 || !(d->x[TO][i] > d->x[FROM][i])) {
            data_leave_out(d, i, d->word[GPUS][i] == 0 ? "without GPUs" : "without duration");
            continue;
        }
        job[i] = names_add(g->c, &g->jobs, d->words[JOB].list[d->word[JOB][i]]);
        order[g->n_stays++] = i;
    }
    if (g->n_stays == 0)
        return data_none_left(d, e);
    int rc = data_sort(order, g->n_stays, &by_number, 1, e);
    for (int64_t k = 0; k < g->n_stays && !rc; k++) {
        int64_t i = order[k];
        if (k == 0 || d->word[SERVER][i] != d->word[SERVER][order[k - 1]])
            g->server_names[g->n_servers++] = d->words[SERVER_NAME].list[d->word[SERVER_NAME][i]];
        server[i] = g->n_servers - 1;
    }
    if (!rc)
        rc = data_sort(order, g->n_stays, keys, 4, e);
    for (int64_t k = 0; k < g->n_stays && !rc; k++) {
        int64_t i = order[k];
        g->stays[k] = (struct stay){ .run = d->word[RUN][i],
                                     .server = server[i],
                                     .job = job[i],
                                     .n_gpus = d->word[GPUS][i],
                                     .from = d->x[FROM][i],
                                     .to = d->x[TO][i] };
    }
    return rc;
}

/* ---- on which GPUs ---- */

/* One GPU of the server at hand: whose it is, or was last. `box` is the last box of that job there, which may
 * go on. */
struct gpu {
    int32_t job;
    double until;
    int32_t box;
    bool taken; /* by the stay that is being placed */
};

struct bench {
    struct gantt *g;
    struct gpu *gpus; /* shape [n], owned: as many as were ever in use at once */
    int32_t n, cap;
};

/* Times compare exactly: the end of one row and the beginning of the next are the same text in the table. */
static bool gantt_is_own(const struct gpu *gpu, const struct stay *s)
{
    return gpu->job == s->job && gpu->until == s->from;
}

/* Mark GPUs for the stay while it needs more: `own` those that it just had, else any in a row of `run` or
 * more free ones. Returns how many it still needs. */
static int32_t gantt_take_gpus(struct bench *b, const struct stay *s, int32_t need, bool own, int32_t run)
{
    int32_t free_before = 0;

    for (int32_t i = 0; i < b->n && need > 0; i++) {
        bool is_free = b->gpus[i].until <= s->from && !b->gpus[i].taken;
        free_before = is_free && (gantt_is_own(&b->gpus[i], s) || !own) ? free_before + 1 : 0;
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

/*
 * A job that goes on with more GPUs takes any free ones for the rest; a new one first looks for as many
 * neighbours as it needs. What is still missing are GPUs that were never in use so far: the bench grows by
 * them, so its length is the most in use at once.
 */
static int choose_gpus(struct bench *b, const struct stay *s, struct err *e)
{
    int32_t need = gantt_take_gpus(b, s, s->n_gpus, true, 1);

    /* None was its own. */
    if (need == s->n_gpus)
        need = gantt_take_gpus(b, s, need, false, need);
    if (need > 0)
        need = gantt_take_gpus(b, s, need, false, 1);
    for (; need > 0; need--) {
        if (!vec_reserve(b->gpus, b->cap, b->n + 1))
            return err_nomem(e, "the figure's GPUs");
        b->gpus[b->n++] = (struct gpu){ .job = -1, .taken = true };
    }
    return 0;
}

/* GPUs first..end-1 of the stay: the box that they had goes on when it was of just these, else a new one. */
static int put_gpus(struct bench *b, const struct stay *s, int32_t first, int32_t end, struct err *e)
{
    struct gantt *g = b->g;
    const struct gpu *gpu = &b->gpus[first];
    int32_t at = g->n_boxes;
    struct gpu_box *old = gantt_is_own(gpu, s) ? &g->boxes[gpu->box] : NULL;

    if (old && old->gpu == first && old->n_gpus == end - first && old->to == s->from) {
        old->to = s->to;
        at = gpu->box;
    } else {
        if (!vec_reserve(g->boxes, g->cap_boxes, g->n_boxes + 1))
            return err_nomem(e, "the figure's boxes");
        g->boxes[g->n_boxes++] =
            (struct gpu_box){ s->run, s->server, s->job, first, end - first, s->from, s->to };
    }
    for (int32_t i = first; i < end; i++)
        b->gpus[i] = (struct gpu){ s->job, s->to, at, false };
    return 0;
}

static int place_stay(struct bench *b, const struct stay *s, struct err *e)
{
    int rc = choose_gpus(b, s, e);

    for (int32_t i = 0; i < b->n && !rc; i++) {
        int32_t end = i;
        while (end < b->n && b->gpus[end].taken)
            end++;
        if (end > i)
            rc = put_gpus(b, s, i, end, e);
        i = end;
    }
    return rc;
}

/* Stays that begin at one time on one server: first those that go on, so that they keep their GPUs. All are
 * asked before the first is placed anew, as a new one might take GPUs that another goes on with. */
static int place_stays(struct bench *b, struct stay *stays, int64_t n, struct err *e)
{
    int rc = 0;

    for (int64_t i = 0; i < n && !rc; i++) {
        for (int32_t k = 0; k < b->n; k++)
            stays[i].goes_on = stays[i].goes_on || gantt_is_own(&b->gpus[k], &stays[i]);
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

    g->most_gpus = canvas_new(g->c, (int64_t)g->runs.n * g->n_servers, sizeof *g->most_gpus, e);
    if (!g->most_gpus)
        return ERR_NOMEM;
    for (int64_t i = 0, end; i < g->n_stays && !rc; i = end) {
        const struct stay *s = &g->stays[i];
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

static int32_t most_gpus(const struct gantt *g, int32_t run, int32_t server)
{
    return g->most_gpus[(int64_t)run * g->n_servers + server];
}

/* ---- jobs ---- */

static int32_t color_of(int32_t job)
{
    return BAR_FIRST + job % JOB_COLORS;
}

static void put_job_name(struct gantt *g, const struct gpu_box *b, const struct canvas_box *at)
{
    const char *name = g->jobs.list[b->job];
    double width = canvas_width(name, CANVAS_SMALL_PX);

    if (at->bottom - at->top < LETTER_PX || at->right - at->left < width + 4 || g->n_labels == MAX_LABELS)
        return;
    g->n_labels++;
    struct canvas_label where = { .x_px = (at->left + at->right) / 2,
                                  .y_px = (at->top + at->bottom) / 2,
                                  .align = ALIGN_CENTER,
                                  .size_px = CANVAS_SMALL_PX,
                                  .color = marks_bar_is_dark(color_of(b->job)) ? CANVAS_WHITE : CANVAS_DARK };
    canvas_text(g->c, &where, name);
}

/* The most GPUs of the server in use at once, over all runs. */
static int32_t gpus_of_lane(const struct gantt *g, int32_t server)
{
    int32_t most = 0;

    for (int32_t k = 0; k < g->runs.n; k++)
        most = most_gpus(g, k, server) > most ? most_gpus(g, k, server) : most;
    return most;
}

/* Lanes are as high as their GPUs, where that is not too low to be seen. All lanes of all panels share
 * LANES_PX, but none is lower than a label. */
static int fit_tops(struct gantt *g, struct err *e)
{
    double sum = 0;

    g->tops = canvas_new(g->c, g->n_rows + 1, sizeof *g->tops, e);
    if (!g->tops)
        return ERR_NOMEM;
    for (int32_t i = 0; i < g->n_rows; i++)
        sum += gpus_of_lane(g, i);
    double gpu_px = fmin(MOST_GPU_PX, LANES_PX / (sum * g->runs.n));
    for (int32_t i = 0; i < g->n_rows; i++)
        g->tops[i + 1] = g->tops[i] + fmax(LEAST_LANE_PX, gpu_px * gpus_of_lane(g, i) + 2 * LANE_GAP_PX);
    return 0;
}

/* Where a box is in its panel. */
static struct canvas_box edges_of(const struct gantt *g, const struct gpu_box *b)
{
    double height = g->tops[b->server + 1] - g->tops[b->server] - 2 * LANE_GAP_PX;
    double each = height / gpus_of_lane(g, b->server), top = g->tops[b->server] + LANE_GAP_PX + b->gpu * each;

    return (struct canvas_box){ b->from / g->runs.unit.scale, top, b->to / g->runs.unit.scale,
                                top + b->n_gpus * each };
}

/* Hairlines around narrow boxes would hide them. One block per colour and width; wide ones later, so that
 * their edges lie over neighbours. */
static void put_boxes(struct gantt *g, int32_t run, int32_t color, bool wide, double px)
{
    for (int32_t i = 0; i < g->n_boxes; i++) {
        const struct gpu_box *b = &g->boxes[i];
        struct canvas_box at = edges_of(g, b);
        if (b->run != run || color_of(b->job) != color || (at.right - at.left >= EDGE_PX * px) != wide)
            continue;
        if (wide) {
            canvas_bar(g->c, at.left, at.bottom, at.right, at.top);
        } else {
            canvas_break(g->c);
            canvas_area(g->c, at.left, at.bottom, at.right, at.top);
        }
    }
    canvas_block_end(g->c, (struct mark){ wide ? MARK_BAR : MARK_AREA, color });
}

static void paint_jobs(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct gantt *g = of;
    double px = run_px(&g->runs, box), row_px = (box->bottom - box->top) / g->tops[g->n_rows];

    (void)c;
    for (int32_t i = 0; i < g->n_boxes; i++) {
        if (g->boxes[i].run != panel)
            continue;
        struct canvas_box in = edges_of(g, &g->boxes[i]);
        struct canvas_box at = { box->left + in.left / px, box->top + in.top * row_px,
                                 box->left + in.right / px, box->top + in.bottom * row_px };
        put_job_name(g, &g->boxes[i], &at);
    }
    for (int32_t i = 0; i < 2 * JOB_COLORS; i++)
        put_boxes(g, panel, BAR_FIRST + i / 2, i % 2, px);
}

/* ---- the map of busy GPUs ---- */

/* A change of the GPUs in use in one row of the map. */
struct change {
    int32_t run, row;
    double at;
    int32_t gpus;
};

/* At one time GPUs are given back before they are taken: the count never exceeds what is there. */
static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->gpus > y->gpus) - (x->gpus < y->gpus);
}

/* GPUs of a row: the most in use at once on each of its servers. */
static int32_t gpus_of_row(const struct gantt *g, int32_t run, int32_t row)
{
    int32_t sum = 0;

    for (int32_t i = row * g->per_row; i < (row + 1) * g->per_row && i < g->n_servers; i++)
        sum += most_gpus(g, run, i);
    return sum;
}

/* Spans between the changes of each row. */
static void gantt_gather_lanes(struct gantt *g, const struct change *changes, int64_t n_changes,
                               struct lane_span *spans)
{
    int32_t busy = 0;

    for (int64_t i = 0; i < n_changes; i++) {
        const struct change *x = &changes[i];
        if (i == 0 || x->run != x[-1].run || x->row != x[-1].row) {
            g->lanes[g->n_lanes++] =
                (struct lane){ .panel = x->run, .top = x->row + 0.06, .low = x->row + 0.94, .spans = spans };
            busy = 0;
        }
        busy += x->gpus;
        bool last = i + 1 == n_changes || x[1].run != x->run || x[1].row != x->row;
        if (last || !(x[1].at > x->at))
            continue;
        int32_t paint = lanes_load_paint((double)busy / gpus_of_row(g, x->run, x->row));
        g->used[paint] = true;
        *spans++ =
            (struct lane_span){ x->at / g->runs.unit.scale, x[1].at / g->runs.unit.scale, paint, false };
        g->lanes[g->n_lanes - 1].n++;
    }
}

/* Two changes a stay; busy GPUs are their running sum. */
static int make_map(struct gantt *g, struct err *e)
{
    struct change *changes = canvas_new(g->c, 2 * g->n_stays, sizeof *changes, e);
    struct lane_span *spans = canvas_new(g->c, 2 * g->n_stays, sizeof *spans, e);

    g->lanes = canvas_new(g->c, (int64_t)g->runs.n * g->n_rows, sizeof *g->lanes, e);
    if (!changes || !spans || !g->lanes)
        return ERR_NOMEM;
    for (int64_t i = 0; i < g->n_stays; i++) {
        const struct stay *s = &g->stays[i];
        int32_t row = s->server / g->per_row;
        changes[2 * i] = (struct change){ s->run, row, s->from, s->n_gpus };
        changes[2 * i + 1] = (struct change){ s->run, row, s->to, -s->n_gpus };
    }
    qsort(changes, (size_t)(2 * g->n_stays), sizeof *changes, compare_changes);
    gantt_gather_lanes(g, changes, 2 * g->n_stays, spans);
    return 0;
}

/* The lanes of a panel lie together. */
static void put_panel_loads(struct canvas *c, struct lane *lanes, int64_t n, int32_t panel, double px)
{
    int64_t first = 0, end;

    while (first < n && lanes[first].panel != panel)
        first++;
    for (end = first; end < n && lanes[end].panel == panel;)
        end++;
    loads_put(c, lanes + first, end - first, panel, px);
}

static void paint_map(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct gantt *g = of;
    put_panel_loads(c, g->lanes, g->n_lanes, panel, run_px(&g->runs, box));
}

/* ---- the page of jobs ---- */

static void put_gantt_notes(struct gantt *g)
{
    put_run_notes(&g->runs);
    if (!g->map) {
        canvas_note(g->c, "GPUs: the most of a server in use at once");
        if (g->jobs.n > JOB_COLORS)
            canvas_note(g->c, "%d jobs, whose colours repeat", (int)g->jobs.n);
        return;
    }
    canvas_note(g->c, "busy GPUs, of the most in use at once; white: idle");
    if (g->per_row > 1)
        canvas_note(g->c, "%d servers, %d to a row", (int)g->n_servers, (int)g->per_row);
    if (g->n_servers > MAX_LANES)
        canvas_note(g->c, "jobs are drawn of up to %d servers: --where server=N", MAX_LANES);
    else
        canvas_note(g->c, "jobs are drawn where they make up to %d boxes: --where server=N", MAX_BOXES);
}

static int draw_gantt(struct gantt *g, struct err *e)
{
    const struct runs *r = &g->runs;
    const char **labels = canvas_new(g->c, g->n_rows, sizeof *labels, e), *names[MAX_RUNS];
    const char **ends = canvas_new(g->c, (int64_t)r->n * g->n_rows, sizeof *ends, e);

    if (!labels || !ends)
        return ERR_NOMEM;
    for (int32_t i = 0; i < g->n_rows; i++) {
        struct text label = { 0 };
        canvas_put_short(&label, g->server_names[(ptrdiff_t)i * g->per_row], 30);
        text_puts(&label, g->per_row > 1 ? " …" : "");
        labels[i] = canvas_keep_text(g->c, &label);
    }
    for (int32_t k = 0; k < r->n; k++) {
        names[k] = canvas_keep(g->c, "%s: %.4g %s", r->data.words[RUN].list[k], r->end[k] / r->unit.scale,
                               r->unit.name);
        for (int32_t i = 0; i < g->n_rows; i++)
            ends[(int64_t)k * g->n_rows + i] = canvas_keep(g->c, "%d", (int)gpus_of_row(g, k, i));
    }
    put_gantt_notes(g);
    if (g->map)
        loads_put_legend(g->c, g->used);
    for (int32_t i = 0; !g->map && i < g->jobs.n && g->jobs.n <= JOB_COLORS; i++)
        canvas_legend(g->c, (struct mark){ MARK_BAR, color_of(i) }, g->jobs.list[i]);
    const struct strips spec = { .names = names,
                                 .tops = g->tops,
                                 .unit_px = g->map ? MAP_ROW_PX : 1,
                                 .least_unit_px = g->map ? MAP_LEAST_PX : 0.5,
                                 .n_panels = r->n,
                                 .n_rows = g->n_rows,
                                 .labels = labels,
                                 .ends = ends,
                                 .end_label = "GPUs",
                                 .x = r->x,
                                 .x_label = canvas_keep(g->c, "time [%s]", r->unit.name),
                                 .paint = g->map ? paint_map : paint_jobs,
                                 .of = g };
    return strips_build(g->c, &spec, e);
}

int fig_gantt(struct canvas *c, const struct rows *r, struct err *e)
{
    struct gantt g = { .c = c };
    int rc = read_runs(&g.runs, c, r, place_binds, N_PLACE_BINDS, e);

    if (!rc)
        rc = gather_stays(&g, e);
    if (!rc)
        rc = lay_out(&g, e);
    if (!rc) {
        g.map = g.n_servers > MAX_LANES || g.n_boxes > MAX_BOXES;
        g.per_row = g.map ? (g.n_servers + MAX_LANES - 1) / MAX_LANES : 1;
        g.n_rows = (g.n_servers + g.per_row - 1) / g.per_row;
        rc = g.map ? make_map(&g, e) : fit_tops(&g, e);
    }
    if (!rc)
        rc = draw_gantt(&g, e);
    free(g.boxes);
    return rc;
}

/* ---- links ---- */

enum { LINK = N_RUN_BINDS, LOAD, N_LINK_BINDS };
static const struct bind link_binds[N_LINK_BINDS] = {
    RUN_BINDS,
    [LINK] = { .column = "link", AS_WORD, NEED },
    [LOAD] = { .column = "load_frac", AS_NUMBER, NEED },
};

enum {
    MAX_LINKS = 40,   /* of all panels together */
    LEAST_LINKS = 12, /* of one */
    LINK_ROW_PX = 15,
    LEAST_LINK_PX = 4,
};

struct links {
    struct runs runs;
    int64_t *rows, n; /* of the figure: those that know a load, by run, link and start */
    struct names names;
    int32_t *link;                   /* by row */
    int32_t n_links, n_used, n_rows; /* n_used: links that ever have a load; n_rows: those drawn */
    double *carried;                 /* shape [runs.n][n_links]: load times time */
    double *mean, *peak;             /* shape [n_links]: of all runs */
    int64_t *order;                  /* shape [n_links]: links by mean load */
    int32_t *rank;                   /* shape [n_links]: where one stands among them; -1 = not drawn */
    struct lane *lanes;              /* shape [n_lanes], of panels in turn */
    int64_t n_lanes;
};

/* Rows that know a load, and their links in order. */
static int gather_links(struct links *f, struct err *e)
{
    const struct data *d = &f->runs.data;

    f->rows = canvas_new(d->c, d->n, sizeof *f->rows, e);
    f->link = canvas_new(d->c, d->n, sizeof *f->link, e);
    if (!f->rows || !f->link)
        return ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++) {
        if (isnan(d->x[LOAD][i])) {
            data_leave_out(d, i, "without load_frac");
            continue;
        }
        f->link[i] = names_add(d->c, &f->names, d->words[LINK].list[d->word[LINK][i]]);
        f->rows[f->n++] = i;
    }
    f->n_links = f->names.n;
    return f->n > 0 ? 0 : data_none_left(d, e);
}

/* Over the whole run, times without a row of the link among them as idle. */
static double mean_load(const struct links *f, int32_t run, int32_t link)
{
    return f->runs.end[run] > 0 ? f->carried[(int64_t)run * f->n_links + link] / f->runs.end[run] : 0;
}

/* The most loaded on top, by the mean over the runs, so that panels have the same rows; then by the peak.
 * Links at rest stay away; of those that are loaded at most as many as leave readable rows. */
static int rank_links(struct links *f, struct err *e)
{
    const struct data *d = &f->runs.data;
    const struct sort_key keys[] = { { .x = f->mean, .falls = true }, { .x = f->peak, .falls = true } };
    int32_t n = f->n_links, most = MAX_LINKS / f->runs.n;

    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->rows[k];
        int32_t link = f->link[i];
        f->carried[(int64_t)d->word[RUN][i] * n + link] += d->x[LOAD][i] * (d->x[TO][i] - d->x[FROM][i]);
        f->peak[link] = fmax(f->peak[link], d->x[LOAD][i]);
    }
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t k = 0; k < f->runs.n; k++)
            sum += mean_load(f, k, i);
        f->mean[i] = sum / f->runs.n;
        f->order[i] = i;
        f->n_used += f->peak[i] > 0;
    }
    int rc = data_sort(f->order, n, keys, 2, e);
    most = most > LEAST_LINKS ? most : LEAST_LINKS;
    f->n_rows = f->n_used < most ? f->n_used : most;
    f->n_rows = f->n_rows > 0 ? f->n_rows : 1; /* a cluster without traffic still has a figure */
    for (int32_t i = 0; i < n; i++)
        f->rank[f->order[i]] = i < f->n_rows ? i : -1;
    return rc;
}

static int gather_link_lanes(struct links *f, struct err *e)
{
    const struct data *d = &f->runs.data;
    const struct sort_key keys[] = { { .word = d->word[RUN] }, { .word = f->link }, { .x = d->x[FROM] } };
    struct lane_span *spans = canvas_new(d->c, f->n, sizeof *spans, e);

    f->lanes = canvas_new(d->c, (int64_t)f->runs.n * f->n_rows, sizeof *f->lanes, e);
    if (!spans || !f->lanes)
        return ERR_NOMEM;
    int rc = data_sort(f->rows, f->n, keys, 3, e);
    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->rows[k], last = k ? f->rows[k - 1] : -1;
        int32_t row = f->rank[f->link[i]];
        if (row < 0) {
            data_leave_out(d, i,
                           f->peak[f->link[i]] > 0 ? "of links that are less loaded" : "of links at rest");
            continue;
        }
        if (last < 0 || d->word[RUN][i] != d->word[RUN][last] || f->link[i] != f->link[last])
            f->lanes[f->n_lanes++] = (struct lane){
                .panel = d->word[RUN][i], .top = row + 0.06, .low = row + 0.94, .spans = spans
            };
        *spans++ = (struct lane_span){ d->x[FROM][i] / f->runs.unit.scale, d->x[TO][i] / f->runs.unit.scale,
                                       lanes_load_paint(d->x[LOAD][i]), false };
        f->lanes[f->n_lanes - 1].n++;
    }
    return rc;
}

static void paint_links(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct links *f = of;
    put_panel_loads(c, f->lanes, f->n_lanes, panel, run_px(&f->runs, box));
}

static void put_link_notes(const struct links *f)
{
    struct canvas *c = f->runs.c;
    int32_t n_over = 0, n_left = f->n_used - f->n_rows;

    put_run_notes(&f->runs);
    canvas_note(c, "share of the link reserved or in use, the most loaded on top; white: idle");
    for (int32_t i = f->n_rows; i < f->n_used; i++)
        n_over += lanes_load_paint(f->peak[f->order[i]]) == LOAD_PAINTS - 1;
    if (n_left > 0)
        canvas_note(c, "%d more links are loaded, %d of them at times beyond 100 %%", (int)n_left,
                    (int)n_over);
    if (f->n_links > f->n_used)
        canvas_note(c, "%d links are never used", (int)(f->n_links - f->n_used));
}

static int draw_links(struct links *f, struct err *e)
{
    struct canvas *c = f->runs.c;
    const struct data *d = &f->runs.data;
    bool used[LOAD_PAINTS] = { false };
    const char **labels = canvas_new(c, f->n_rows, sizeof *labels, e);
    const char **ends = canvas_new(c, (int64_t)f->runs.n * f->n_rows, sizeof *ends, e);

    if (!labels || !ends)
        return ERR_NOMEM;
    for (int32_t i = 0; i < f->n_rows; i++) {
        labels[i] = f->names.list[f->order[i]];
        for (int32_t k = 0; k < f->runs.n; k++)
            ends[(int64_t)k * f->n_rows + i] =
                canvas_keep(c, "%.0f %%", 100 * mean_load(f, k, (int32_t)f->order[i]));
    }
    put_link_notes(f);
    for (int64_t k = 0; k < f->n; k++)
        if (f->rank[f->link[f->rows[k]]] >= 0)
            used[lanes_load_paint(d->x[LOAD][f->rows[k]])] = true;
    loads_put_legend(c, used);
    const struct strips spec = { .names = d->words[RUN].list,
                                 .n_panels = f->runs.n,
                                 .n_rows = f->n_rows,
                                 .labels = labels,
                                 .ends = ends,
                                 .end_label = "mean",
                                 .unit_px = LINK_ROW_PX,
                                 .least_unit_px = LEAST_LINK_PX,
                                 .x = f->runs.x,
                                 .x_label = canvas_keep(c, "time [%s]", f->runs.unit.name),
                                 .paint = paint_links,
                                 .of = f };
    return strips_build(c, &spec, e);
}

int fig_links(struct canvas *c, const struct rows *r, struct err *e)
{
    struct links f = { 0 };
    int rc = read_runs(&f.runs, c, r, link_binds, N_LINK_BINDS, e);

    if (!rc)
        rc = gather_links(&f, e);
    if (rc)
        return rc;
    f.carried = canvas_new(c, (int64_t)f.runs.n * f.n_links, sizeof *f.carried, e);
    f.mean = canvas_new(c, f.n_links, sizeof *f.mean, e);
    f.peak = canvas_new(c, f.n_links, sizeof *f.peak, e);
    f.order = canvas_new(c, f.n_links, sizeof *f.order, e);
    f.rank = canvas_new(c, f.n_links, sizeof *f.rank, e);
    if (!f.carried || !f.mean || !f.peak || !f.order || !f.rank)
        return ERR_NOMEM;
    rc = rank_links(&f, e);
    if (!rc)
        rc = gather_link_lanes(&f, e);
    return rc ? rc : draw_links(&f, e);
}
