/*
 * A network as its dimensions, the outermost on top. Each has a picture of how its members are joined and
 * says how many there are: few of thousands are drawn, as a line that leaves a member looks like all others.
 *
 * A member of the innermost dimension is an NPU, of another all that stands below it. Pictures are of kinds
 * of shapes: a ring, all with all, a line, a grid, one switch, switches below switches, switches with each
 * other. What a shape has beyond that (tapers, planes, twists) is in words elsewhere.
 */
#include "plots/figure.h"

#include <math.h>
#include <string.h>

#include "base/sheet.h"
#include "plots/fig.h"

enum { DIM, SHAPE, SIZE, BW, BUSY, N_BINDS };

enum {
    MOST_DIMS = 16,
    MOST_JOINED = 8, /* members of a picture */
    ROW_PX = 78,
    PICTURE_PX = 150,
    MEMBER = 0, /* styles of MARK_POINT: a circle */
    SWITCH = 2  /* of MARK_FILL: light grey */
};

enum picture { RING, ALL, LINE, GRID, ONE_SWITCH, TREE, MESH };

static const struct {
    const char *shape;
    enum picture picture;
} pictures[] = {
    { "ring", RING },         { "full", ALL },      { "line", LINE },      { "torus", GRID },
    { "switch", ONE_SWITCH }, { "fat-tree", TREE }, { "dragonfly", MESH }, { "slim-fly", MESH },
};

/* Of a shape that has no picture of its own: switches with each other. The lowest level of a tree is a switch
 * to its members, a level above it ("pod.up1") joins them by several. */
static enum picture picture_of(const struct data *x, int64_t i)
{
    const char *shape = x->words[SHAPE].list[x->word[SHAPE][i]];
    for (size_t k = 0; k < sizeof pictures / sizeof *pictures; k++)
        if (strcmp(pictures[k].shape, shape) == 0)
            return pictures[k].picture == TREE && !strchr(x->words[DIM].list[x->word[DIM][i]], '.')
                       ? ONE_SWITCH
                       : pictures[k].picture;
    return MESH;
}

struct network_drawing {
    struct canvas *c;
    double top; /* of the row at hand */
    int32_t n;  /* members that are drawn */
    struct canvas_xy at[MOST_JOINED];
};

static void join(struct network_drawing *d, struct canvas_xy a, struct canvas_xy b)
{
    canvas_break(d->c);
    canvas_point(d->c, a.x, a.y);
    canvas_point(d->c, b.x, b.y);
}

static struct canvas_xy on_ellipse(const struct network_drawing *d, int32_t i, int32_t n, double share)
{
    double turn = 2 * 3.14159265358979 * (i + 0.5) / n;
    return (struct canvas_xy){ PICTURE_PX / 2.0 + share * 60 * sin(turn),
                               d->top + ROW_PX / 2.0 - share * 28 * cos(turn) };
}

/* ---- where members are ---- */

static void place(struct network_drawing *d, enum picture picture)
{
    for (int32_t i = 0; i < d->n; i++) {
        double along = d->n > 1 ? (double)i / (d->n - 1) : 0.5;
        d->at[i] = on_ellipse(d, i, d->n, 1);
        if (picture == LINE)
            d->at[i] = (struct canvas_xy){ 12 + along * (PICTURE_PX - 24), d->top + ROW_PX / 2.0 };
        if (picture == GRID)
            d->at[i] = (struct canvas_xy){ 30 + (i % 4) * 30.0, d->top + (i < 4 ? 26 : 54) };
        if (picture == ONE_SWITCH || picture == TREE)
            d->at[i] = (struct canvas_xy){ 12 + along * (PICTURE_PX - 24), d->top + ROW_PX - 14 };
    }
}

/* ---- links ---- */

static struct canvas_xy spine_at(const struct network_drawing *d, int32_t i)
{
    return (struct canvas_xy){ 45 + i * 60.0, d->top + 18 };
}

static void put_links(struct network_drawing *d, enum picture picture)
{
    const struct canvas_xy *at = d->at;
    for (int32_t i = 0; i < d->n; i++) {
        if ((picture == RING && (i + 1 < d->n || d->n > 2)) || (picture == LINE && i + 1 < d->n))
            join(d, at[i], at[(i + 1) % d->n]);
        for (int32_t k = i + 1; k < d->n && picture == ALL; k++)
            join(d, at[i], at[k]);
        if (picture == GRID && i % 4 < 3 && i + 1 < d->n)
            join(d, at[i], at[i + 1]);
        if (picture == GRID && i + 4 < d->n)
            join(d, at[i], at[i + 4]);
        if (picture == ONE_SWITCH)
            join(d, at[i],
                 (struct canvas_xy){ PICTURE_PX / 2.0 + (at[i].x - PICTURE_PX / 2.0) * 0.6, d->top + 22 });
        for (int32_t k = 0; k < 2 && picture == TREE; k++)
            join(d, at[i], spine_at(d, k));
        if (picture == MESH)
            join(d, at[i], on_ellipse(d, i, d->n, 0.6));
        for (int32_t k = i + 1; k < d->n && picture == MESH; k++)
            join(d, on_ellipse(d, i, d->n, 0.6), on_ellipse(d, k, d->n, 0.6));
    }
    canvas_block_end(d->c, (struct mark){ MARK_FRONT, 0 });
}

/* ---- switches ---- */

static void put_box(struct network_drawing *d, struct canvas_xy at, double half)
{
    canvas_bar(d->c, at.x - half, at.y + 6, at.x + half, at.y - 6);
}

static void put_switches(struct network_drawing *d, enum picture picture)
{
    if (picture == ONE_SWITCH)
        put_box(d, (struct canvas_xy){ PICTURE_PX / 2.0, d->top + 18 }, 45);
    for (int32_t i = 0; i < 2 && picture == TREE; i++)
        put_box(d, spine_at(d, i), 22);
    for (int32_t i = 0; i < d->n && picture == MESH; i++)
        put_box(d, on_ellipse(d, i, d->n, 0.6), 6);
    canvas_block_end(d->c, (struct mark){ MARK_FILL, SWITCH });
}

/* ---- words ---- */

static void say(struct network_drawing *d, double y_px, double room_px, bool dim, const char *s)
{
    const struct canvas_box *b = &d->c->box;
    const struct canvas_label at = { .x_px = b->left + PICTURE_PX + 10,
                                     .y_px = b->top + d->top + y_px,
                                     .room_px = room_px - PICTURE_PX - 10,
                                     .size_px = dim ? CANVAS_SMALL_PX : CANVAS_FONT_PX,
                                     .color = dim ? CANVAS_GREY : NULL };
    canvas_text(d->c, &at, s);
}

static void put_link_words(struct network_drawing *d, const struct data *x, int64_t i, double room_px)
{
    const char *name = x->words[DIM].list[x->word[DIM][i]], *shape = x->words[SHAPE].list[x->word[SHAPE][i]];
    const char *below = i > 0 ? x->words[DIM].list[x->word[DIM][i - 1]] : NULL;
    char n[SHOW], bw[SHOW];
    show_count(n, (int64_t)x->x[SIZE][i]);
    say(d, 18, room_px, false, canvas_keep(d->c, "%s: %s of %s", name, shape, n));
    say(d, 36, room_px, true, below ? canvas_keep(d->c, "each a whole \"%s\"", below) : "each an NPU");
    if (!isnan(x->x[BW][i]))
        say(d, 51, room_px, true, canvas_keep(d->c, "%s GB/s per NPU", show_real(bw, x->x[BW][i], 5)));
    if (!isnan(x->x[BUSY][i]))
        say(d, 66, room_px, true, canvas_keep(d->c, "busy %.3g %% of the step", 100 * x->x[BUSY][i]));
}

/* ---- the figure ---- */

static void put_dim(struct canvas *c, const struct data *x, int64_t i, double room_px)
{
    struct network_drawing d = { .c = c, .top = (double)(x->n - 1 - i) * ROW_PX };
    enum picture picture = picture_of(x, i);
    d.n = x->x[SIZE][i] < MOST_JOINED ? (int32_t)x->x[SIZE][i] : MOST_JOINED;
    d.n = d.n < 1 ? 1 : d.n;
    place(&d, picture);
    put_links(&d, picture);
    put_switches(&d, picture);
    for (int32_t k = 0; k < d.n; k++)
        canvas_point(c, d.at[k].x, d.at[k].y);
    canvas_block_end(c, (struct mark){ MARK_POINT, i ? marks_point_style(1, 2) : MEMBER });
    put_link_words(&d, x, i, room_px);
}

static int fig_network(struct canvas *c, const struct rows *r, struct err *e)
{
    static const struct bind binds[N_BINDS] = {
        [DIM] = { .column = "dim", AS_WORD, FILLED, .most = MOST_DIMS },
        [SHAPE] = { .column = "shape", AS_WORD, FILLED, .most = MOST_DIMS },
        [SIZE] = { .column = "size", AS_NUMBER, FILLED },
        [BW] = { .column = "bw_GBps", AS_NUMBER, NEED },
        [BUSY] = { .column = "utilization", AS_NUMBER, MAY_MISS },
    };
    struct data x;
    struct canvas_box body;
    double npus = 1;
    bool any_switch = false;
    char n[SHOW];
    int rc = data_read(&x, c, r, binds, N_BINDS, e);
    for (int64_t i = 0; !rc && i < x.n; i++) {
        npus *= x.x[SIZE][i];
        any_switch = any_switch || picture_of(&x, i) >= ONE_SWITCH;
    }
    if (rc)
        return rc;
    canvas_title(c, canvas_keep(c, "The network: %s NPUs", show_real(n, npus, 9)));
    canvas_note(c, "of more than %d members %d are drawn", MOST_JOINED, MOST_JOINED);
    canvas_legend(c, (struct mark){ MARK_POINT, MEMBER }, "NPU");
    if (x.n > 1)
        canvas_legend(c, (struct mark){ MARK_POINT, marks_point_style(1, 2) }, "all below");
    if (any_switch)
        canvas_legend(c, (struct mark){ MARK_FILL, SWITCH }, "switch");
    rc = canvas_open(c, &body, (double)x.n * ROW_PX, (double)x.n * ROW_PX, e);
    if (rc)
        return rc;
    const struct axis across = { .hi = body.right - body.left, .bare = true },
                      down = { .lo = body.bottom - body.top, .bare = true };
    canvas_panel(c, &body, &across, &down);
    for (int64_t i = 0; i < x.n; i++)
        put_dim(c, &x, i, body.right - body.left);
    canvas_draw(c);
    canvas_close(c);
    return 0;
}

int plot_network_draw(const struct table *t, const struct plot_options *opt, struct text *out_image,
                      struct err *e)
{
    static const char *const no_columns[] = { NULL };
    static const struct plot_figure figure = { .name = "network",
                                               .columns = no_columns,
                                               .build = fig_network };
    return figure_draw(&figure, t, opt, out_image, e);
}
