/* The front of a sweep, from `weft front --of csv`: time over cost, fronts as steps, the knee, the cloud
 * behind. */
#include <math.h>
#include <string.h>

#include "plots/fig.h"
#include "plots/scatter.h"

enum { CELL_PX = 3 /* of the cloud one point is drawn in a square so wide */ };

/* What a row is; those that are drawn over others come later. Marks differ in shape, lines in width and dash:
 * in grey as well. */
enum what { BEHIND, WITHIN, FRONT, KNEE, DESIGN, N_WHAT };

static const struct front_look {
    const char *word; /* in the table */
    const char *label;
    struct mark mark;
} looks[N_WHAT] = {
    { "behind", "designs behind the front", { MARK_CLOUD, 0 } },
    { "within", "front within the limits", { MARK_TRACE, 2 } },
    { "all", "front", { MARK_FRONT, 0 } },
    { "", "knee", { MARK_POINT, 0 } },
    { "design", "the design", { MARK_POINT, 2 } },
};

enum { PANEL, COST, TIME, WHAT, IS_KNEE };
static const struct bind binds[] = {
    [PANEL] = { .column = "workload", AS_WORD, NEED },
    [COST] = { .column = "cost_usd", AS_ABOVE_ZERO, FILLED },
    [TIME] = { .column = "time_s", AS_ABOVE_ZERO, FILLED },
    [WHAT] = { .column = "front", AS_WORD, NEED },
    [IS_KNEE] = { .column = "knee", AS_WORD, NEED },
};

struct front_fig {
    struct canvas *c;
    struct data data;
    struct unit usd, seconds;
    struct wrap page;
    int64_t *order; /* shape [data.n]: of one kind, by rising cost */
    bool *taken;    /* cells of the cloud that have a point */
};

static bool is_what(const struct front_fig *f, int64_t i, enum what what)
{
    const struct data *d = &f->data;
    const char *word = d->words[WHAT].list[d->word[WHAT][i]];

    if (what == KNEE)
        return strcmp(d->words[IS_KNEE].list[d->word[IS_KNEE][i]], "yes") == 0 &&
               (is_what(f, i, BEHIND) || is_what(f, i, WITHIN) || is_what(f, i, FRONT) ||
                is_what(f, i, DESIGN));
    return strcmp(word, looks[what].word) == 0;
}

static struct canvas_xy front_at(const struct front_fig *f, int64_t i)
{
    return (struct canvas_xy){ f->data.x[COST][i] / f->usd.scale, f->data.x[TIME][i] / f->seconds.scale };
}

/* One of those that would lie on each other. */
static int64_t thin_cloud(struct front_fig *f, int64_t n, const struct panel *p)
{
    int64_t width = (int64_t)((p->box.right - p->box.left) / CELL_PX) + 1, kept = 0;
    int64_t height = (int64_t)((p->box.bottom - p->box.top) / CELL_PX) + 1;

    memset(f->taken, 0, (size_t)(width * height) * sizeof *f->taken);
    for (int64_t i = 0; i < n; i++) {
        struct canvas_xy at = front_at(f, f->order[i]);
        int64_t column = (int64_t)(axis_share(&p->x, at.x) * (double)(width - 1));
        int64_t row = (int64_t)(axis_share(&p->y, at.y) * (double)(height - 1));
        if (!f->taken[row * width + column])
            f->order[kept++] = f->order[i];
        f->taken[row * width + column] = true;
    }
    return kept;
}

/* A front over other columns too is no staircase in these two. */
static bool is_staircase(const struct front_fig *f, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (f->data.x[TIME][f->order[i]] / f->seconds.scale >
            f->data.x[TIME][f->order[i - 1]] / f->seconds.scale)
            return false;
    return true;
}

/* A staircase is what one gets for a given cost: level until the next design can be paid. */
static int put_what(struct front_fig *f, int32_t panel, enum what what, const struct panel *p, struct err *e)
{
    const struct sort_key keys[] = { { .x = f->data.x[COST] }, { .x = f->data.x[TIME] } };
    struct mark mark = looks[what].mark;
    int64_t n = 0;

    for (int64_t i = 0; i < f->data.n; i++)
        if (f->data.word[PANEL][i] == panel && is_what(f, i, what))
            f->order[n++] = i;
    int rc = data_sort(f->order, n, keys, 2, e);
    bool line = what == FRONT || what == WITHIN, steps = line && is_staircase(f, n);
    if (what == BEHIND)
        n = thin_cloud(f, n, p);
    for (int64_t i = 0; i < n; i++) {
        struct canvas_xy at = front_at(f, f->order[i]);
        if (steps && i == 0)
            canvas_point(f->c, at.x, p->y.hi);
        canvas_point(f->c, at.x, at.y);
        if (steps)
            canvas_point(f->c, i + 1 < n ? front_at(f, f->order[i + 1]).x : p->x.hi, at.y);
    }
    if (line && !steps)
        mark.kind = MARK_DOT;
    canvas_block_end(f->c, mark);
    return rc;
}

static int front_put_panel(struct front_fig *f, int32_t panel, struct err *e)
{
    struct panel p = { .c = f->c, .box = wrap_box(&f->page, panel) };
    struct panel_range range = PANEL_RANGE;
    int rc = 0;

    for (int64_t i = 0; i < f->data.n; i++)
        if (f->data.word[PANEL][i] == panel)
            panel_widen(&range, (struct canvas_xy){ f->data.x[COST][i], f->data.x[TIME][i] });
    p.x = axis_fit(range.lo.x / f->usd.scale, range.hi.x / f->usd.scale);
    p.y = axis_fit(range.lo.y / f->seconds.scale, range.hi.y / f->seconds.scale);
    wrap_panel(&f->page, &p, panel);
    for (enum what what = 0; what < N_WHAT && !rc; what++)
        rc = put_what(f, panel, what, &p, e);
    canvas_draw(f->c);
    return rc;
}

static int draw_front(struct front_fig *f, struct err *e)
{
    static const struct wrap_look look = { .most = 9,
                                           .in_row = 3,
                                           .panel_px = 240,
                                           .least_px = 110,
                                           .alone = 1.4,
                                           .y_tics_px = 44,
                                           .gap_px = 8,
                                           .name_px = 44,
                                           .strip_px = CANVAS_STRIP_PX };
    const struct names *panels = &f->data.words[PANEL];
    struct panel_range range = PANEL_RANGE;

    for (int64_t i = 0; i < f->data.n; i++)
        panel_widen(&range, (struct canvas_xy){ f->data.x[COST][i], f->data.x[TIME][i] });
    f->usd = unit_pick(unit_usd, range.hi.x);
    f->seconds = unit_pick(unit_seconds, range.hi.y);
    for (enum what what = 0; what < N_WHAT; what++)
        for (int64_t i = 0; i < f->data.n; i++)
            if (is_what(f, i, what)) {
                canvas_legend(f->c, looks[what].mark, looks[what].label);
                break;
            }
    wrap_fit(&f->page, f->c, &look, panels->list, panels->n);
    canvas_note_first(f->c, f->page.n, panels->n, "workloads");
    int rc = wrap_open(&f->page, e);
    const struct canvas_box *body = &f->page.body;
    if (rc)
        return rc;
    f->taken =
        canvas_new(f->c, (int64_t)(body->right / CELL_PX + 2) * (int64_t)(body->bottom / CELL_PX + 2), 1, e);
    if (!f->taken)
        return ERR_NOMEM;
    canvas_axis_labels(f->c, body, canvas_keep(f->c, "network cost [%s]", f->usd.name),
                       canvas_keep(f->c, "time of a training step [%s]", f->seconds.name));
    for (int32_t panel = 0; panel < f->page.n && !rc; panel++)
        rc = front_put_panel(f, panel, e);
    canvas_close(f->c);
    return rc;
}

/* Rows that are nothing of a front have no place in the figure. */
static int64_t keep_known(struct front_fig *f)
{
    struct data *d = &f->data;
    int64_t kept = 0;

    for (int64_t i = 0; i < d->n; i++) {
        if (!is_what(f, i, BEHIND) && !is_what(f, i, WITHIN) && !is_what(f, i, FRONT) &&
            !is_what(f, i, DESIGN))
            continue;
        for (int k = 0; k <= IS_KNEE; k++)
            if (d->x[k])
                d->x[k][kept] = d->x[k][i];
            else
                d->word[k][kept] = d->word[k][i];
        kept++;
    }
    return kept;
}

int fig_front(struct canvas *c, const struct rows *r, struct err *e)
{
    struct front_fig f = { .c = c };
    int rc = data_read(&f.data, c, r, binds, sizeof binds / sizeof *binds, e);

    f.order = canvas_new(c, r->t->n_rows, sizeof *f.order, e);
    if (rc || !f.order)
        return rc ? rc : ERR_NOMEM;
    f.data.n = keep_known(&f);
    return f.data.n > 0 ? draw_front(&f, e) : rows_none_left(r, f.data.n_passed, f.data.n_passed, "", e);
}
