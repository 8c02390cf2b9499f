#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/names.h"

enum {
    MAX_PANELS = 9,
    MAX_IN_ROW = 3,
    PANEL_PX = 240,
    LEAST_PANEL_PX = 110,
    Y_TICS_PX = 44,
    CELL_PX = 3, /* of the cloud one point is drawn in a square so wide */
};

/* What a row is; those that are drawn over others come later. */
enum what { BEHIND, WITHIN, FRONT, KNEE, DESIGN, N_WHAT };

/* By their order in enum what. Marks differ in shape, lines in width and dash: in grey as well. */
static const struct look {
    const char *label;
    struct mark mark;
} looks[N_WHAT] = {
    { "designs behind the front", { MARK_CLOUD, 0 } },
    { "front within the limits", { MARK_TRACE, 2 } },
    { "front", { MARK_FRONT, 0 } },
    { "knee", { MARK_POINT, 0 } },
    { "the design", { MARK_POINT, 2 } },
};

struct spot {
    int32_t panel;
    enum what what;
    struct canvas_xy at; /* [USD, s], in a panel in its units */
};

struct picture {
    struct canvas *c;
    struct names panels; /* owned texts */
    struct spot *spots;  /* shape [n], owned */
    int64_t n;
    bool any[N_WHAT];
    struct unit usd, seconds;
    int32_t n_panels, n_columns, n_rows;
    struct canvas_box body;
    struct canvas_xy *line; /* shape [n], owned: one line or cloud */
    bool *taken;            /* owned: cells of the cloud that have a point */
};

/* ---- reading ---- */

static void add(struct picture *f, int32_t panel, enum what what, struct canvas_xy at)
{
    f->spots[f->n++] = (struct spot){ panel, what, at };
    f->any[what] = true;
}

static int read_row(struct picture *f, const struct rows *r, const int32_t columns[5], struct err *e)
{
    static const char *const words[] = { "behind", "all", "within", "design" };
    static const enum what kinds[] = { BEHIND, FRONT, WITHIN, DESIGN };
    struct canvas_xy at = { 0 };
    int32_t panel;
    int rc = rows_name(&panel, &f->panels, r, columns[0], e);
    if (!rc)
        rc = rows_above_zero(&at.x, r, columns[1], e);
    if (!rc)
        rc = rows_above_zero(&at.y, r, columns[2], e);
    if (rc || !(isfinite(at.x) && isfinite(at.y)))
        return rc;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (rows_equal(r, columns[3], words[i])) {
            add(f, panel, kinds[i], at);
            if (rows_equal(r, columns[4], "yes"))
                add(f, panel, KNEE, at);
            return 0;
        }
    return 0;
}

static int read_rows(struct picture *f, struct rows *r, struct err *e)
{
    static const char *const names[] = { "workload", "cost_usd", "time_s", "front", "knee" };
    int32_t columns[5];
    int64_t n_passed = 0;
    int rc = 0;
    for (int i = 0; i < 5 && !rc; i++)
        rc = rows_column(&columns[i], r, names[i], e);
    for (r->row = 0; r->row < r->t->n_rows && !rc; r->row++)
        if (rows_pass(r)) {
            rc = read_row(f, r, columns, e);
            n_passed++;
        }
    return rc || f->n > 0 ? rc : rows_none_left(r, n_passed, n_passed, "", e);
}

/* ---- a panel ---- */

static int compare_cost(const void *a, const void *b)
{
    const struct canvas_xy *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/* Of one kind, by rising cost. */
static int64_t gather(struct picture *f, int32_t panel, enum what what)
{
    int64_t n = 0;
    for (int64_t i = 0; i < f->n; i++)
        if (f->spots[i].panel == panel && f->spots[i].what == what)
            f->line[n++] =
                (struct canvas_xy){ f->spots[i].at.x / f->usd.scale, f->spots[i].at.y / f->seconds.scale };
    qsort(f->line, (size_t)n, sizeof *f->line, compare_cost);
    return n;
}

/* One of those that would lie on each other. */
static int64_t thin(struct picture *f, int64_t n, const struct canvas_box *box, const struct axis *x,
                    const struct axis *y)
{
    int64_t width = (int64_t)((box->right - box->left) / CELL_PX) + 1, kept = 0;
    int64_t height = (int64_t)((box->bottom - box->top) / CELL_PX) + 1;
    memset(f->taken, 0, (size_t)(width * height) * sizeof *f->taken);
    for (int64_t i = 0; i < n; i++) {
        int64_t column = (int64_t)(axis_share(x, f->line[i].x) * (double)(width - 1));
        int64_t row = (int64_t)(axis_share(y, f->line[i].y) * (double)(height - 1));
        bool *taken = &f->taken[row * width + column];
        if (*taken)
            continue;
        *taken = true;
        f->line[kept++] = f->line[i];
    }
    return kept;
}

/* What one gets for a given cost: level until the next design can be paid. */
static void put_steps(struct picture *f, int64_t n, const struct axis *x, const struct axis *y)
{
    canvas_point(f->c, f->line[0].x, y->hi);
    for (int64_t i = 0; i < n; i++) {
        canvas_point(f->c, f->line[i].x, f->line[i].y);
        canvas_point(f->c, i + 1 < n ? f->line[i + 1].x : x->hi, f->line[i].y);
    }
}

/* A front over other columns too is no staircase in these two. */
static bool is_staircase(const struct picture *f, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (f->line[i].y > f->line[i - 1].y)
            return false;
    return true;
}

static void put_kind(struct picture *f, int32_t panel, enum what what, const struct canvas_box *box,
                     const struct axis *x, const struct axis *y)
{
    struct mark mark = looks[what].mark;
    int64_t n = gather(f, panel, what);
    bool steps = (what == FRONT || what == WITHIN) && is_staircase(f, n);
    if (n == 0)
        return;
    if (what == BEHIND)
        n = thin(f, n, box, x, y);
    if (steps)
        put_steps(f, n, x, y);
    for (int64_t i = 0; i < n && !steps; i++)
        canvas_point(f->c, f->line[i].x, f->line[i].y);
    if ((what == FRONT || what == WITHIN) && !steps)
        mark.kind = MARK_DOT;
    canvas_block_end(f->c, mark);
}

static void put_name(struct picture *f, const struct canvas_box *box, int32_t panel)
{
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = box->top - CANVAS_STRIP_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = box->right - box->left + Y_TICS_PX,
                               .color = CANVAS_BLACK };
    if (f->panels.list[panel][0])
        canvas_text(f->c, &at, f->panels.list[panel]);
}

static void put_panel(struct picture *f, int32_t panel)
{
    double width = (f->body.right - f->body.left - CANVAS_Y_LABEL_PX) / f->n_columns;
    double height = (f->body.bottom - f->body.top - CANVAS_X_LABEL_PX) / f->n_rows;
    int32_t column = panel % f->n_columns, row = panel / f->n_columns;
    double left = f->body.left + CANVAS_Y_LABEL_PX + column * width, top = f->body.top + row * height;
    struct canvas_box box = { left + Y_TICS_PX, top + CANVAS_STRIP_PX, left + width - 8,
                              top + height - CANVAS_X_TICS_PX };
    struct canvas_xy lo = { HUGE_VAL, HUGE_VAL }, hi = { 0, 0 };
    for (int64_t i = 0; i < f->n; i++) {
        struct canvas_xy at = f->spots[i].at;
        if (f->spots[i].panel != panel)
            continue;
        lo = (struct canvas_xy){ fmin(lo.x, at.x), fmin(lo.y, at.y) };
        hi = (struct canvas_xy){ fmax(hi.x, at.x), fmax(hi.y, at.y) };
    }
    struct axis x = axis_fit(lo.x / f->usd.scale, hi.x / f->usd.scale);
    struct axis y = axis_fit(lo.y / f->seconds.scale, hi.y / f->seconds.scale);
    canvas_panel(f->c, &box, &x, &y);
    put_name(f, &box, panel);
    for (enum what what = 0; what < N_WHAT; what++)
        put_kind(f, panel, what, &box, &x, &y);
    canvas_draw(f->c);
}

/* ---- the page ---- */

static void survey(struct picture *f)
{
    double most_usd = 0, most_s = 0;
    for (int64_t i = 0; i < f->n; i++) {
        most_usd = fmax(most_usd, f->spots[i].at.x);
        most_s = fmax(most_s, f->spots[i].at.y);
    }
    f->usd = unit_pick(unit_usd, most_usd);
    f->seconds = unit_pick(unit_seconds, most_s);
    f->n_panels = f->panels.n < MAX_PANELS ? f->panels.n : MAX_PANELS;
    f->n_rows = (f->n_panels + MAX_IN_ROW - 1) / MAX_IN_ROW;
    f->n_columns = (f->n_panels + f->n_rows - 1) / f->n_rows;
    for (int32_t i = 0; i < N_WHAT; i++)
        if (f->any[i])
            canvas_legend(f->c, looks[i].mark, looks[i].label);
    if (f->panels.n > f->n_panels)
        canvas_note(f->c, "first %d of %d workloads", (int)f->n_panels, (int)f->panels.n);
}

static void put_axis_labels(struct picture *f)
{
    struct text cost = { 0 }, time = { 0 };
    text_printf(&cost, "network cost [%s]", f->usd.name);
    text_printf(&time, "time of a training step [%s]", f->seconds.name);
    canvas_axis_labels(f->c, &f->body, text_str(&cost), text_str(&time));
    text_free(&cost);
    text_free(&time);
}

static int draw(struct picture *f, struct err *e)
{
    survey(f);
    double panel_px = f->n_panels == 1 ? 1.4 * PANEL_PX : PANEL_PX;
    int rc = canvas_open(f->c, &f->body, f->n_rows * panel_px + CANVAS_X_LABEL_PX,
                         f->n_rows * LEAST_PANEL_PX + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    size_t cells = (size_t)(f->body.right / CELL_PX + 2) * (size_t)(f->body.bottom / CELL_PX + 2);
    f->taken = malloc(cells * sizeof *f->taken);
    if (!f->taken)
        return err_nomem(e, "the figure's points");
    put_axis_labels(f);
    for (int32_t panel = 0; panel < f->n_panels; panel++)
        put_panel(f, panel);
    canvas_close(f->c);
    return 0;
}

int fig_front(struct canvas *c, const struct rows *r, struct err *e)
{
    struct picture f = { .c = c };
    struct rows at = *r;
    size_t room = 2 * (size_t)r->t->n_rows + 1; /* a knee is a spot of its own */
    f.spots = calloc(room, sizeof *f.spots);
    f.line = calloc(room, sizeof *f.line);
    int rc = f.spots && f.line ? read_rows(&f, &at, e) : err_nomem(e, "the figure's points");
    if (!rc)
        rc = draw(&f, e);
    free(f.spots);
    free(f.line);
    free(f.taken);
    names_free_copies(&f.panels);
    return rc;
}
