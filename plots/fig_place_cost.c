#include "plots/fig.h"

#include <stdlib.h>
#include <string.h>

#include "plots/outcomes.h"
#include "plots/scatter.h"

enum { SHORT_LABEL = 18 /* characters */ };

static void put_label(struct text *out, const void *of, int64_t item, bool brief)
{
    const struct outcomes *o = of;
    canvas_put_short(out, o->labels.list[o->list[item].label], brief ? SHORT_LABEL : SIZE_MAX);
}

static int draw(struct canvas *c, const struct outcomes *o, const char *y_label, struct err *e)
{
    struct scatter_point *points = calloc((size_t)o->n + 1, sizeof *points);
    int32_t *styles = calloc((size_t)o->schedulers.n + 1, sizeof *styles);
    struct scatter_spec spec = { .y_label = y_label,
                                 .low_is_better = true,
                                 .lines = true,
                                 .panels = o->panels.list,
                                 .series = o->schedulers.list,
                                 .n_panels = o->panels.n,
                                 .n_series = o->schedulers.n,
                                 .styles = styles,
                                 .panel_word = "panels",
                                 .label = put_label,
                                 .of = o };
    int rc = points && styles ? 0 : err_nomem(e, "the figure's points");

    for (int64_t i = 0; i < o->n && !rc; i++) {
        const struct outcome *from = &o->list[i];
        points[i] = (struct scatter_point){ .panel = from->panel,
                                            .series = from->scheduler,
                                            .at = { from->cost_usd, from->value[0] },
                                            .row = from->row,
                                            .item = i };
    }
    for (int32_t i = 0; i < o->schedulers.n && !rc; i++)
        styles[i] = 1 + o->styles[i]; /* as fig_place has them */
    if (!rc)
        rc = scatter_build(c, points, o->n, &spec, e);
    free(points);
    free(styles);
    return rc;
}

/* Times in the unit that fits the longest. */
static struct unit scale_times(struct outcomes *o, bool seconds)
{
    double longest = 0;

    for (int64_t i = 0; i < o->n; i++)
        longest = o->list[i].value[0] > longest ? o->list[i].value[0] : longest;
    struct unit unit = seconds ? unit_pick(unit_durations, longest) : (struct unit){ 1, "slots" };
    for (int64_t i = 0; i < o->n; i++)
        o->list[i].value[0] /= unit.scale;
    return unit;
}

int fig_place_cost(struct canvas *c, const struct rows *r, struct err *e)
{
    static const char *const choices[] = { "jct_s", "jct", NULL };
    const char *name = outcomes_pick(r, choices);
    struct outcomes o = { 0 };
    struct text label = { 0 };

    if (!name) /* of a table that knows slots alone, and none is finished */
        name =
            table_find(r->t, choices[0]) < 0 && table_find(r->t, choices[1]) >= 0 ? choices[1] : choices[0];
    struct outcomes_spec spec = { .metrics = { name }, .n_metrics = 1, .by_cost = true };
    int rc = outcomes_read(&o, r, &spec, e);
    if (!rc) {
        struct unit unit = scale_times(&o, strcmp(name, "jct_s") == 0);
        text_printf(&label, "mean completion time [%s]", unit.name);
        o.any_interval = false; /* not drawn */
        outcomes_put_notes(c, &o);
        if (o.label_keys.n > 0)
            canvas_note(c, "labels on the front: %s", text_str(&o.label_keys));
        rc = text_check(&label, e);
    }
    if (!rc)
        rc = draw(c, &o, text_str(&label), e);
    text_free(&label);
    outcomes_free(&o);
    return rc;
}
