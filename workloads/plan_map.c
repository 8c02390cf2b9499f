#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workloads/group.h"
#include "workloads/plan.h"

/* A part of a dimension that an axis takes. */
struct cell {
    int32_t dim, members, stride;
};

/* What the axes in `wanted` take, innermost first. */
static int32_t list_cells(struct cell *cells, const struct plan *p, const struct plan_place *place,
                          const int32_t (*stride)[TOPO_MAX_DIMS], int32_t n_dims, unsigned wanted)
{
    int32_t n = 0;
    for (int i = 0; i < N_PLAN_AXES; i++) {
        enum plan_axis axis = p->order[i];
        if (!(wanted & 1U << axis))
            continue;
        for (int32_t d = 0; d < n_dims; d++)
            if (place->axis[axis][d] > 1)
                cells[n++] = (struct cell){ d, place->axis[axis][d], stride[axis][d] };
    }
    return n;
}

static void clear_group(struct plan_place *place, enum plan_group g)
{
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        place->members[g][d] = place->stride[g][d] = 1;
}

/* A group takes what another cell of the same dimension leaves beside it; the distance is that of the inner.
 */
static void add_cell(struct plan_place *place, enum plan_group g, const struct cell *c)
{
    if (c->members > 1 && place->members[g][c->dim] == 1)
        place->stride[g][c->dim] = c->stride;
    place->members[g][c->dim] *= c->members;
}

/* Experts' NPUs from the cells, innermost first; what is left of them shares gradients. */
static int place_experts(struct plan_place *place, const struct plan *p, struct cell *cells, int32_t n,
                         struct err *e)
{
    int32_t left[N_PLAN_AXES * TOPO_MAX_DIMS], taken[N_PLAN_AXES * TOPO_MAX_DIMS];
    for (int32_t i = 0; i < n; i++)
        left[i] = cells[i].members;
    int rc = n ? group_fill(taken, left, n, p->ep, e) : 0;
    if (rc)
        return err_wrap(e, "ep");
    for (int32_t i = 0; i < n; i++) {
        struct cell inner = { cells[i].dim, taken[i], cells[i].stride };
        struct cell outer = { cells[i].dim, left[i] / taken[i], cells[i].stride * taken[i] };
        add_cell(place, PLAN_GROUP_EP, &inner);
        add_cell(place, PLAN_GROUP_EXPERTS, &outer);
    }
    return 0;
}

static int place_groups(struct plan_place *place, const struct plan *p,
                        const int32_t (*stride)[TOPO_MAX_DIMS], int32_t n_dims, struct err *e)
{
    static const struct {
        enum plan_group group;
        unsigned axes;
    } rows[] = {
        { PLAN_GROUP_TP, 1U << PLAN_TP },
        { PLAN_GROUP_CP, 1U << PLAN_CP },
        { PLAN_GROUP_DP, 1U << PLAN_CP | 1U << PLAN_DP },
        { PLAN_GROUP_PP, 1U << PLAN_PP },
    };
    struct cell cells[N_PLAN_AXES * TOPO_MAX_DIMS];
    for (int g = 0; g < N_PLAN_GROUPS; g++)
        clear_group(place, (enum plan_group)g);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t n = list_cells(cells, p, place, stride, n_dims, rows[i].axes);
        for (int32_t k = 0; k < n; k++)
            add_cell(place, rows[i].group, &cells[k]);
    }
    unsigned around = 1U << PLAN_CP | 1U << PLAN_DP | (p->expert_tp ? 0 : 1U << PLAN_TP);
    return place_experts(place, p, cells, list_cells(cells, p, place, stride, n_dims, around), e);
}

int plan_map(struct plan_place *place, const struct plan *p, const struct topo_network *net, struct err *e)
{
    int32_t left[TOPO_MAX_DIMS], stride[N_PLAN_AXES][TOPO_MAX_DIMS];
    *place = (struct plan_place){ 0 };
    for (int32_t d = 0; d < net->n_dims; d++)
        left[d] = net->dims[d].size;
    for (int i = 0; i < N_PLAN_AXES; i++) {
        enum plan_axis axis = p->order[i];
        int rc = group_fill(place->axis[axis], left, net->n_dims, p->degree[axis], e);
        if (rc)
            return err_wrap(e, "%s", plan_axis_words[axis]);
        for (int32_t d = 0; d < net->n_dims; d++) {
            stride[axis][d] = net->dims[d].size / left[d];
            left[d] /= place->axis[axis][d];
        }
    }
    return place_groups(place, p, (const int32_t(*)[TOPO_MAX_DIMS])stride, net->n_dims, e);
}

/* ---- the picture ---- */

/* Letters of a bar for each doubling of what it stands for. */
enum { BAR_PER_BIT = 5, BAR_LEAST = 8 };

static void draw_bar(struct text *out, const char *word, int64_t n)
{
    char label[32];
    int width = (int)lround(BAR_PER_BIT * log2((double)n)) - 1;
    int used = snprintf(label, sizeof label, " %s %lld ", word, (long long)n);
    width = width < BAR_LEAST ? BAR_LEAST : width;
    int before = (width - used) / 2;
    for (int i = 0; i < width; i++) {
        if (i == before) {
            text_puts(out, label);
            i += used - 1;
        } else {
            text_puts(out, "-");
        }
    }
    text_puts(out, "|");
}

void plan_draw(struct text *out, const struct plan *p, const struct plan_place *place,
               const struct topo_network *net)
{
    size_t widest = 0;
    char shape[48];
    for (int32_t d = 0; d < net->n_dims; d++)
        widest = strlen(net->dims[d].name) > widest ? strlen(net->dims[d].name) : widest;
    for (int32_t d = net->n_dims; d-- > 0;) {
        snprintf(shape, sizeof shape, "%s:%d", topo_shape_name(net->dims[d].shape), (int)net->dims[d].size);
        text_printf(out, "%-*s  %-12s |", (int)widest, net->dims[d].name, shape);
        for (int i = 0; i < N_PLAN_AXES; i++)
            if (place->axis[p->order[i]][d] > 1)
                draw_bar(out, plan_axis_words[p->order[i]], place->axis[p->order[i]][d]);
        text_puts(out, "\n");
    }
}
