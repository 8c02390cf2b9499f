#include "plots/design_scatter.h"

#include <stdlib.h>

#include "plots/scatter.h"

struct design_scatter {
    const struct plot_data *d;
    const struct design_scatter_spec *spec;
    struct names workloads, networks;
    struct scatter_point *points; /* shape [2 * n_designs], owned */
    int64_t n;
};

static int add_points(struct design_scatter *s, int64_t i, struct err *e)
{
    const struct plot_design *g = &s->d->designs[i];
    struct scatter_point p = { .row = g->row, .item = i };

    p.panel = names_add(&s->workloads, g->workload);
    p.series = names_add(&s->networks, g->network);
    if (p.panel < 0 || p.series < 0)
        return err_nomem(e, "the figure's series");
    if (s->spec->filled(g, &p.at))
        s->points[s->n++] = p;
    p.hollow = true;
    if (s->spec->hollow(g, &p.at))
        s->points[s->n++] = p;
    return 0;
}

static void put_plan(struct text *out, const void *of, int64_t item, bool brief)
{
    const struct plot_data *d = of;

    plot_data_put_plan(out, d, d->n_designs, &d->designs[item], brief ? PLOT_PLAN_SHORT : PLOT_PLAN_VARYING);
}

static void put_plan_notes(struct canvas *c, const struct plot_data *d)
{
    struct text common = { 0 }, varying = { 0 };

    for (int64_t i = 0; i < d->n_designs && varying.n == 0; i++)
        plot_data_put_plan(&varying, d, d->n_designs, &d->designs[i], PLOT_PLAN_VARYING);
    plot_data_put_plan(&common, d, d->n_designs, &d->designs[0], PLOT_PLAN_COMMON);
    if (common.n)
        canvas_note(c, "%s", text_str(&common));
    if (varying.n > 0)
        canvas_note(c, "labels: the plan where it changes and there is room");
    text_free(&common);
    text_free(&varying);
}

int design_scatter_build(struct canvas *c, const struct plot_data *d, const struct design_scatter_spec *spec,
                         struct err *e)
{
    struct design_scatter s = { .d = d, .spec = spec };
    /* gcc wants to see that it is not negative. */
    size_t room = d->n_designs > 0 ? (size_t)d->n_designs : 1;
    int rc = 0;

    s.points = calloc(2 * room, sizeof *s.points);
    if (!s.points)
        return err_nomem(e, "the figure's points");
    for (int64_t i = 0; i < d->n_designs && !rc; i++)
        rc = add_points(&s, i, e);
    if (!rc && spec->plans)
        put_plan_notes(c, d);
    struct scatter_spec look = { .y_label = spec->y_label,
                                 .panels = s.workloads.list,
                                 .series = s.networks.list,
                                 .n_panels = s.workloads.n,
                                 .n_series = s.networks.n,
                                 .panel_word = "workloads",
                                 .hollow_note = spec->note,
                                 .label = spec->plans ? put_plan : NULL,
                                 .of = d };
    if (!rc)
        rc = scatter_build(c, s.points, s.n, &look, e);
    free(s.points);
    names_free(&s.workloads);
    names_free(&s.networks);
    return rc;
}
