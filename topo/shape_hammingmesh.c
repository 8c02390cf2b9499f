/*
 * HammingMesh: boards of NPUs joined as a grid, and boards in a grid whose rows and columns of NPUs hang on
 * switches. Levels 0 and 1 are the places on a board, along its rows and its columns; levels 2 and 3 the
 * boards of a row and of a column. Every row of NPUs across the boards of a row has one switch, to which each
 * board leads by the two ends of its row; columns likewise. An NPU has four links of b: two along rows, two
 * along columns.
 *
 * Classes: 0 and 1 the links of boards (traces), 2 (row) and 3 (col) those into switches. With x members
 * along a row of a board: B_0 = B_1 = 2 b, of which an NPU in the middle of a board has both to neighbours
 * and one at the end one to the switch; B_row = 2 b/x, B_col = 2 b/y of one NPU, since x (y) NPUs share two
 * ports.
 *
 * Ways: along the row, then along the column. On one board they stay on it; to another board by the nearer
 * end, from the middle of an odd row towards the nearer board. The network is the product of its rows and its
 * columns.
 *
 * Loads of a class are those of its busiest link. All-to-all: (X-1)/X S on row with X boards in a row; of a
 * board's links the one that carries most of what passes on to and from the ends and what stays on the board.
 *
 * Reductions over all: every row of NPUs is a ring through its boards and their switch, (n-1)/n S on a
 * board's links and 1/x of it on row; both orders of rows and columns are mixed (workloads/order_mix.h). Over
 * a part: level by level, a line on the board, direct through the switches, whose bytes also pass the board's
 * links.
 *
 * T. Hoefler et al., HammingMesh, SC 2022 (structure); coefficients by counting, ours: 1/(2x) X/(X-1) (N-1)/N
 * of four links under uniform load on square boards, which a linear programme bounds for any routes.
 */
#include <math.h>

#include "topo/bill.h"
#include "topo/clos.h"
#include "topo/shape.h"

enum { ROW = 2, COL = 3, MOST_BOARD = 64 };

static int hamming_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const classes[] = { "", "board", "row", "col" };
    const struct topo_fabric f = dim->fabric;
    const int32_t *n = f.sizes;
    if (f.n_sizes != 4 || n[0] > MOST_BOARD || n[1] > MOST_BOARD || n[ROW] < 2 || n[COL] < 2)
        return err_set(
            e, ERR_RANGE,
            "is a hammingmesh; give 4 sizes: NPUs of a board's row and column (1 to %d), boards of a "
            "row and column (2 or more)",
            MOST_BOARD);
    int64_t ports = 2 * (int64_t)(n[ROW] > n[COL] ? n[ROW] : n[COL]);
    if (f.radix && ports > f.radix)
        return err_set(e, ERR_RANGE,
                       "has switches of %lld ports, two for each of a line's boards, expected at most the %d "
                       "of radix: fewer boards; without radix a bill makes trees of them",
                       (long long)ports, (int)f.radix);
    int rc = topo_levels_init(dim, room, 4, classes, n, e);
    for (int32_t k = 1; k < 4 && !rc; k++) {
        dim[k].own_links = k < ROW;
        dim[k].lat_s = k < ROW ? dim->lat_s : 2 * dim->lat_s; /* two links */
    }
    if (rc)
        return rc;
    dim[1].tie = 1;
    dim[ROW].tie = 1.0 / n[0];
    dim[COL].tie = (double)n[0] / n[1];
    return 0;
}

/* Members between one and the next along a row (axis 0) or a column (1), on a board and from board to board.
 */
static int64_t hamming_span(const struct topo_dim *dim, int32_t axis, bool boards)
{
    int64_t span = axis ? dim->size : 1;
    return boards ? (int64_t)dim[0].size * dim[1].size * (axis ? dim[ROW].size : 1) : span;
}

static int64_t hamming_place(const struct topo_dim *dim, int32_t axis, bool boards, int64_t i)
{
    return i / hamming_span(dim, axis, boards) % dim[axis + (boards ? 2 : 0)].size;
}

/* Rows (or columns) of one board, over all boards: each has size-1 board links and two into a switch. */
static int64_t hamming_lines(const struct topo_dim *dim, int32_t axis)
{
    return topo_group_size(dim) / dim[axis].size;
}

/* That of member @p i. */
static int64_t hamming_line(const struct topo_dim *dim, int32_t axis, int64_t i)
{
    int64_t span = hamming_span(dim, axis, false), n = dim[axis].size;
    return i / (span * n) * span + i % span;
}

/* Switches of one axis: as many as there are lines on all the boards beside each other. */
static int64_t hamming_switches(const struct topo_dim *dim, int32_t axis)
{
    return hamming_lines(dim, axis) / dim[axis + 2].size;
}

/* That of member @p i: its address without the places along the axis. */
static int64_t hamming_switch(const struct topo_dim *dim, int32_t axis, int64_t i)
{
    int32_t other = 1 - axis;
    int64_t first = topo_group_size(dim) + (axis ? hamming_switches(dim, 0) : 0);
    return first + hamming_place(dim, other, false, i) + dim[other].size * hamming_place(dim, other, true, i);
}

/* Number of the first link of class @p cls. */
static int64_t hamming_first(const struct topo_dim *dim, int32_t cls)
{
    int64_t first = 0;
    for (int32_t k = 0; k < cls; k++)
        first += hamming_lines(dim, k % 2) * (k < ROW ? dim[k].size - 1 : 2);
    return first;
}

static void hamming_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t row = dim[ROW].size, col = dim[COL].size;
    *c = (struct shape_counts){
        .n_classes = 4,
        .hubs = hamming_switches(dim, 0) + hamming_switches(dim, 1),
        .hub_degree_min = 2 * (row < col ? row : col),
        .degree_max = 4,
        .degree_min = 4,
        .connectivity = 4,
        .ports = 2 * (row > col ? row : col),
    };
    for (int32_t k = 0; k < 4; k++)
        c->links[k] = hamming_first(dim, k + 1) - hamming_first(dim, k);
}

/*
 * Rows across all boards of a row, and columns. Halves of the boards are cut where those of one half lead
 * into the switch; of an odd number the one in the middle is cut too, and has an end in either half.
 */
static int32_t hamming_axes(struct shape_axis *out, const struct topo_dim *dim)
{
    for (int32_t axis = 0; axis < 2; axis++) {
        int64_t boards = dim[axis + 2].size;
        bool middle = boards % 2 && dim[axis].size > 1;
        struct shape_axis a = { .levels = { axis + 2, axis }, .n_levels = 2, .any = 1u << (axis + 2) };
        a.cut[axis + 2] = 2 * (boards / 2) + middle;
        a.cut[axis] = middle;
        out[axis] = a;
    }
    return 2;
}

/* Distances of one row, its switch between boards: of ordered pairs, and the longest. */
static void hamming_row_distances(double *sum, int64_t *longest, int64_t n, int64_t boards)
{
    double same = 0, ends = 0;
    *longest = 0;
    for (int64_t a = 0; a < n; a++) {
        int64_t out = a < n - 1 - a ? a : n - 1 - a;
        ends += (double)out;
        for (int64_t b = a + 1; b < n; b++) { /* on the board, or out at one end and in at the other */
            int64_t around = a + 2 + n - 1 - b, way = b - a < around ? b - a : around;
            same += 2 * (double)way;
            *longest = way > *longest ? way : *longest;
        }
        *longest = boards > 1 && 2 * out + 2 > *longest ? 2 * out + 2 : *longest;
    }
    double x = (double)n, m = (double)boards;
    *sum = m * same + m * (m - 1) * (2 * x * x + 2 * x * ends);
}

static void hamming_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    *sum = 0;
    *longest = 0;
    for (int32_t axis = 0; axis < 2; axis++) {
        double row, others = (double)dim[1 - axis].size * dim[3 - axis].size;
        int64_t far;
        hamming_row_distances(&row, &far, dim[axis].size, dim[axis + 2].size);
        *sum += row * others * others;
        *longest += far;
    }
}

static double hamming_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    return bw_Bps / 2 * (cls < ROW ? 1 : dim[cls - 2].size);
}

static void hamming_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    for (int32_t cls = 0; cls < 4; cls++) {
        int64_t span = hamming_span(dim, cls % 2, false), n = dim[cls % 2].size;
        for (int64_t line = 0; line < hamming_lines(dim, cls % 2); line++) {
            int64_t first = line / span * span * n + line % span, last = first + (n - 1) * span;
            for (int64_t i = first; i < last && cls < ROW; i += span)
                link(x, i, i + span);
            if (cls >= ROW) {
                link(x, first, hamming_switch(dim, cls % 2, first));
                link(x, last, hamming_switch(dim, cls % 2, last));
            }
        }
    }
}

/* A way under construction. */
struct hamming_walk {
    const struct topo_dim *dim;
    void *x;
    int (*step)(void *x, int64_t link, bool back, struct err *e);
};

/* Along a line of a board from place @p a to @p b. */
static int hamming_along(const struct hamming_walk *w, int32_t axis, int64_t line, int64_t a, int64_t b,
                         struct err *e)
{
    int64_t first = hamming_first(w->dim, axis) + line * (w->dim[axis].size - 1);
    int rc = 0;
    for (; a < b && !rc; a++)
        rc = w->step(w->x, first + a, false, e);
    for (; a > b && !rc; a--)
        rc = w->step(w->x, first + a - 1, true, e);
    return rc;
}

/* Is the last end of a line of @p n nearer to place @p a; of equals @p middle. */
static bool hamming_at_last(int64_t n, int64_t a, bool middle)
{
    return 2 * a == n - 1 ? middle : 2 * a > n - 1;
}

static int hamming_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                       int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    struct hamming_walk w = { dim, x, step };
    int64_t at = a;
    int rc = 0;
    for (int32_t axis = 0; axis < 2 && !rc; axis++) {
        int64_t n = dim[axis].size, from = hamming_place(dim, axis, false, at),
                to = hamming_place(dim, axis, false, b);
        int64_t i = hamming_place(dim, axis, true, at), j = hamming_place(dim, axis, true, b);
        int64_t next =
            at + (to - from) * hamming_span(dim, axis, false) + (j - i) * hamming_span(dim, axis, true);
        int64_t line = hamming_line(dim, axis, at), ends = hamming_first(dim, axis + 2);
        if (i == j) {
            rc = hamming_along(&w, axis, line, from, to, e);
        } else {
            /* From the middle to the right or to the left, which the board is nearer by. */
            int64_t boards = dim[axis + 2].size, ahead = (j - i + boards) % boards;
            int32_t across = 1 - axis;
            bool odd = (hamming_place(dim, across, false, a) + hamming_place(dim, across, true, b)) % 2 != 0;
            bool right = (2 * ahead == boards ? odd : 2 * ahead < boards) != (other > 0);
            bool out = hamming_at_last(n, from, right), in = hamming_at_last(n, to, !right);
            rc = hamming_along(&w, axis, line, from, out ? n - 1 : 0, e);
            rc = rc ? rc : step(x, ends + 2 * line + out, false, e);
            line = hamming_line(dim, axis, next);
            rc = rc ? rc : step(x, ends + 2 * line + in, true, e);
            rc = rc ? rc : hamming_along(&w, axis, line, in ? n - 1 : 0, to, e);
        }
        at = next;
    }
    return rc;
}

/* A line on a board. */
static enum topo_algorithm hamming_usual_along(const struct topo_dim *level)
{
    return level->level < ROW ? TOPO_ALGORITHM_RING : TOPO_ALGORITHM_DIRECT;
}

/* From the middle of an odd row both ends are as near. */
static enum shape_lanes hamming_lanes(const struct topo_dim *level)
{
    if (level->level < ROW)
        return SHAPE_SWEEP;
    return level[-ROW].size % 2 ? SHAPE_PAIR : SHAPE_ONE;
}

static int32_t hamming_ports(const struct topo_dim *level)
{
    return level->level < ROW ? 0 : 1;
}

/* Share of what place @p a sends to other boards that leaves by the last end, or by the first; @p middle: of
 * the place in the middle by either. */
static double hamming_share(int64_t n, int64_t a, bool last, double middle)
{
    return 2 * a == n - 1 ? middle : hamming_at_last(n, a, false) == last;
}

/*
 * Bytes over the busiest link of a board's line: every place sends and receives @p beyond to and from other
 * boards, and sends @p pair to each of those of its group on the line, @p k of them @p stride apart. @p mean:
 * over all links of the line.
 */
static double hamming_line_load(double *mean, int64_t n, double beyond, double middle, double pair, int64_t k,
                                int64_t stride)
{
    double most = 0;
    *mean = 0;
    for (int64_t link = 0; link + 1 < n; link++) {
        double load = 0;
        for (int64_t a = 0; a < n; a++) {
            load += beyond * hamming_share(n, a, a <= link, middle);
            for (int64_t b = link + 1; b < n && a <= link; b++)
                load += a / (k * stride) == b / (k * stride) && a % stride == b % stride ? pair : 0;
        }
        most = fmax(most, load);
        *mean += load / (double)(n - 1);
    }
    return most;
}

/*
 * The same where each of @p k members of a line, @p stride apart, sends to the next, and with @p beyond the
 * last one to the first of those on another board: their ways stay in the row that they come from, in which
 * nobody goes back to a first one. @p ends: over the busiest of the links of the line's ends.
 */
static double hamming_send_load(double *ends, int64_t n, bool beyond, int64_t k, int64_t stride)
{
    double most = 0;
    *ends = 0;
    for (int64_t link = -1; link < n; link++) { /* -1 and n - 1: from and to the switch by either end */
        double inside = 0, right = 0, left = 0;
        for (int64_t a = 0; a < n; a++) {
            int64_t at = a / stride % k;
            bool sends = beyond && at == k - 1, gets = beyond && at == 0;
            inside += at < k - 1 && a <= link && link < a + stride;
            right += a <= link ? sends * hamming_share(n, a, true, 1) : gets * hamming_share(n, a, false, 1);
            left += a > link ? sends * hamming_share(n, a, false, 1) : gets * hamming_share(n, a, true, 1);
        }
        bool end = link < 0 || link == n - 1;
        most = end ? most : fmax(most, fmax(inside + right, left));
        *ends = end ? fmax(*ends, fmax(right, left)) : *ends;
    }
    return most;
}

static void hamming_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                         const struct shape_group *g)
{
    struct shape_load port;
    bool single = pattern == SHAPE_SEND || pattern == SHAPE_PASS;
    *out = (struct shape_load){ 0 };
    if (!g->flat && g->level < ROW && g->n > dim[g->level].size) { /* a ring through the boards of a row */
        double sent = (g->n - 1.0) / g->n, n = dim[g->level].size;
        out->hops = 2 * (g->n - 1.0);
        out->load[g->level] = n > 1 ? sent : 0;
        out->load[g->level + 2] = sent / n;
        return;
    }
    for (int32_t axis = 0; axis < 2; axis++) {
        int64_t n = dim[axis].size;
        int32_t k = g->flat ? g->members[axis] : g->level == axis ? g->n : 1;
        int32_t boards = g->flat ? g->members[axis + 2] : g->level == axis + 2 ? g->n : 1;
        int64_t far = (n - 1) / 2;
        double beyond = 0, pair = 0, mean;
        if (boards > 1) {
            shape_port_load(&port, pattern, boards);
            beyond = port.load[0];
            out->hops += (g->flat ? 2 : 1) * (1 + (double)far) * port.hops;
        } else if (k > 1) {
            out->hops += k - 1;
        }
        if (k > 1 && pattern == SHAPE_DIRECT)
            pair = 1.0 / k / boards;
        if (single) {
            out->load[axis] = 2 * hamming_send_load(&mean, n, boards > 1, k, shape_stride(g, axis));
            out->load[axis + 2] = 2 * mean / (double)n;
            continue;
        }
        out->load[axis + 2] = beyond;
        out->load[axis] = 2 * hamming_line_load(&mean, n, beyond, 0.5, pair, k, shape_stride(g, axis));
        out->mean[axis] = pattern == SHAPE_DIRECT ? 2 * mean : 0;
        if (k > 1 && pattern != SHAPE_DIRECT) {
            shape_line_load(&port, pattern, k, shape_stride(g, axis));
            out->load[axis] += 2 * port.load[0];
        }
    }
}

/* ---- parts ---- */

/* Of a bandwidth that is given, each of an NPU's four links is as many cables as there are planes, or a
 * multiple of that. */
static int hamming_check_planes(const struct topo_site *at, const struct topo_dim *dim, struct err *e)
{
    double link_Bps = topo_site_link_Bps(at), links = topo_whole_parts(at->bw_Bps[at->d] / 2 / link_Bps),
           planes = topo_planes(dim);
    if (isnan(dim->bw_Bps) || fmod(links, planes) == 0)
        return 0;
    return err_set(
        e, ERR_RANGE,
        "%g GB/s are %g cable%s of %g GB/s for each of an NPU's links, expected a multiple of the %d "
        "planes",
        at->bw_Bps[at->d] / 1e9, links, links == 1 ? "" : "s", link_Bps / 1e9, (int)planes);
}

/* An NPU has two ports along rows and two along columns in each plane, whether they lead to its board or to a
 * switch; one adapter serves both. */
static void hamming_add_nics(struct topo_items *out, const struct topo_site *at, const struct topo_dim *dim,
                             int32_t level)
{
    if (at->recipe->nic < 0)
        return;
    const struct topo_part *nic = &at->parts->parts[at->recipe->nic];
    bool whole = at->bw_Bps;
    double planes = topo_planes(dim),
           ports = (whole ? topo_site_bw_Bps(at) : 1) / 2 / planes / topo_site_port_Bps(at);
    ports = 2 * planes * (whole ? topo_whole_parts(ports) : ports);
    if (whole)
        topo_add_axis_nics(out, at, level * ports, ports);
    else
        topo_add_item(out, at->recipe->nic, NULL, (double)at->net->n_npus * ports / (double)nic->ports);
}

/*
 * Board links are traces and cost nothing; an NPU with NICs has a port for each of its four links. Rows are
 * wired with end links, columns with up links where the recipe has them; a row of more ports than a switch
 * has is a Clos, and small ones share a box.
 */
static int hamming_parts(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    int32_t level = at->net->dims[at->d].level;
    const struct topo_dim *dim = &at->net->dims[at->d - level];
    const struct topo_recipe *r = at->recipe;
    const struct topo_part *sw = r->sw < 0 ? NULL : &at->parts->parts[r->sw];
    bool whole = at->bw_Bps;
    int rc = level == 0 && whole ? hamming_check_planes(at, dim, e) : 0;
    if (rc)
        return rc;
    if (level < ROW) {
        hamming_add_nics(out, at, dim, level);
        return 0;
    }
    if (!sw || sw->ports < 2)
        return err_set(e, ERR_RANGE,
                       "tier \"%s\" is built without boxes of a switch, expected some: a hammingmesh",
                       r->tier);
    double meshes = (double)at->net->n_npus / (double)topo_group_size(dim) * topo_planes(dim);
    double links = hamming_link_Bps(dim, level, whole ? topo_site_bw_Bps(at) : 1) / topo_planes(dim) /
                   topo_site_link_Bps(at);
    links = whole ? topo_whole_parts(links) : links;
    int64_t lines = hamming_switches(dim, level - ROW), ends = 2 * (int64_t)dim[level].size;
    struct topo_clos c;
    rc = topo_recipe_clos(&c, r, lines * ends, sw->ports, lines, e);
    if (!rc && c.tiers > 1 && r->up_link < 0)
        rc = err_set(e, ERR_RANGE, "tier \"%s\" is built without up_link, expected one: a Clos of %d tiers",
                     r->tier, (int)c.tiers);
    if (rc)
        return rc;
    double boxes =
        whole ? (double)c.switches : (double)(lines * ends) * (2 * c.tiers - 1) / (double)sw->ports;
    double up = whole ? (double)c.up_links : (double)(lines * ends) * (c.tiers - 1);
    /* A line of boards has two ends in its switch: through the other one an NPU keeps half of its bandwidth
     * in this plane. */
    double planes = topo_planes(dim), ports = (double)sw->ports;
    enum topo_way_on by = planes > 1 ? TOPO_BY_PLANES : TOPO_BY_DETOURS;
    const struct topo_loss end = { 1, 1, 1 - 0.5 / planes, false, by },
                           box = { fmin((double)ends, ports), 1, 1 - 0.5 / planes, false, by },
                           link_up = topo_path_loss(planes * ports / 2, ports / 2, 1);
    topo_add_failing(out, level == COL && r->up_link >= 0 ? r->up_link : r->end_link,
                     level == ROW ? "row link" : "column link", meshes * links * (double)(lines * ends),
                     &end);
    topo_add_failing(out, r->up_link, "up link", meshes * links * up, &link_up);
    topo_add_failing(out, r->sw, level == ROW ? "row switch" : "column switch", meshes * links * boxes, &box);
    out->boxes = whole ? (int64_t)(meshes * links * boxes) : 0;
    return 0;
}

const struct shape_ops shape_hammingmesh = {
    .algorithms = 1u << TOPO_ALGORITHM_DIRECT | 1u << TOPO_ALGORITHM_MIXED | 1u << TOPO_ALGORITHM_FIXED,
    .mixed = true,
    .row_levels = 2,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 1,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_PLANES | SHAPE_KEY_RADIX,
    .settle = hamming_settle,
    .counts = hamming_counts,
    .axes = hamming_axes,
    .distances = hamming_distances,
    .link_Bps = hamming_link_Bps,
    .edges = hamming_edges,
    .way = hamming_way,
    .usual = TOPO_ALGORITHM_DIRECT,
    .usual_along = hamming_usual_along,
    .lanes_along = hamming_lanes,
    .link_ports = hamming_ports,
    .load = hamming_load,
    .parts = hamming_parts,
};
