#include "plots/fig.h"

#include <string.h>

#include "plots/outcomes_grid.h"

/* What schedulers are compared by: the first of these that the table knows. */
static const char *const choices[] = { "utility", "jct_s", "jct", NULL };
static const struct outcomes_metric looks[] = {
    { .label = "total utility", .unit = "", .scale = 1 },
    { .label = "mean completion time", .units = unit_durations, .scale = 1, .low_is_better = true },
    { .label = "mean completion time", .unit = "slots", .scale = 1, .low_is_better = true },
};

int fig_place(struct canvas *c, const struct rows *r, struct err *e)
{
    struct outcomes o = { 0 };
    const char *name = outcomes_pick(r, choices);
    int32_t i = 0;

    /* Without a value reading says what is amiss. */
    while (choices[i] && (name ? strcmp(choices[i], name) != 0 : table_find(r->t, choices[i]) < 0))
        i++;
    if (!choices[i])
        return err_set(e, ERR_PARSE,
                       "figure %s: columns utility, jct_s, jct: are missing, need one in the CSV of %s",
                       r->figure->name, r->figure->source);
    struct outcomes_spec spec = { .metrics = { choices[i] }, .n_metrics = 1, .n_axes = 1 };
    int rc = outcomes_read(&o, r, &spec, e);
    if (!rc) {
        canvas_title(c, i == 0 ? "Total utility by scheduler" : "Mean completion time by scheduler");
        outcomes_put_notes(c, &o);
        rc = outcomes_grid_build(c, &o, &looks[i], 1, false, e);
    }
    outcomes_free(&o);
    return rc;
}
