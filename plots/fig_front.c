/*
 * The front of a sweep, from `weft front --of csv`: time over cost, fronts as steps, the knee, the cloud
 * behind. Marks differ in shape, lines in width and dash: in grey as well.
 *
 * Rows say in `front` what they are, as study/front.h found it over all objectives; nothing is computed here.
 * A front over more than the two columns drawn need not be a staircase in them: scatter.c then puts markers.
 */
#include <math.h>
#include <string.h>

#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/scatter.h"

/* What a row is; those that are drawn over others come later. A knee is one of the others too. Two points for
 * a row that is a knee: its own and, over it, the mark. */
enum what { BEHIND, WITHIN, FRONT, KNEE, DESIGN, N_WHAT };
static const char *const words[N_WHAT] = { "behind", "within", "all", NULL, "design" }; /* in the table */
static const struct scatter_look looks[N_WHAT] = {
    { { MARK_CLOUD, 0 }, SCATTER_CLOUD },  { { MARK_TRACE, 2 }, SCATTER_STEPS },
    { { MARK_FRONT, 0 }, SCATTER_STEPS },  { { MARK_POINT, 0 }, SCATTER_POINTS },
    { { MARK_POINT, 2 }, SCATTER_POINTS },
};

enum { PANEL, COST, TIME, WHAT, IS_KNEE, LOW, HIGH };
static const struct bind binds[] = {
    [PANEL] = { .column = "workload", AS_WORD, NEED },
    [COST] = { .column = COL_COST_USD, AS_ABOVE_ZERO, FILLED },
    [TIME] = { .column = COL_TIME_S, AS_ABOVE_ZERO, FILLED },
    [WHAT] = { .column = "front", AS_WORD, NEED },
    [IS_KNEE] = { .column = "knee", AS_WORD, NEED },
    [LOW] = { .column = COL_TIME_LOW_S, AS_NUMBER, MAY_MISS },
    [HIGH] = { .column = COL_TIME_HIGH_S, AS_NUMBER, MAY_MISS },
};

int fig_front(struct canvas *c, const struct rows *r, struct err *e)
{
    const char *labels[N_WHAT] = { "designs behind the front", "front within the limits", "front", "knee",
                                   "the design" };
    const struct names series = { .list = labels, .n = N_WHAT };
    struct data d;
    double longest_s = 0;
    int64_t n = 0;
    int rc = data_read(&d, c, r, binds, sizeof binds / sizeof *binds, e);

    struct scatter_point *points = rc ? NULL : canvas_new(c, 2 * d.n, sizeof *points, e);
    if (!points)
        return rc ? rc : ERR_NOMEM;
    for (int64_t i = 0; i < d.n; i++) {
        struct scatter_point p = { .panel = d.word[PANEL][i],
                                   .at = { d.x[COST][i], d.x[TIME][i] },
                                   .low = d.x[LOW][i],
                                   .high = d.x[HIGH][i],
                                   .item = i };
        const char *word = d.words[WHAT].list[d.word[WHAT][i]];
        while (p.series < N_WHAT && !(words[p.series] && strcmp(words[p.series], word) == 0))
            p.series++;
        if (p.series == N_WHAT) {
            data_leave_out(&d, i, "that are neither on a front nor behind it");
            continue;
        }
        longest_s = fmax(longest_s, p.at.y);
        points[n++] = p;
        p.series = KNEE;
        if (strcmp(d.words[IS_KNEE].list[d.word[IS_KNEE][i]], "yes") == 0)
            points[n++] = p;
    }
    bool any_cloud = false;
    for (int64_t i = 0; i < n; i++)
        any_cloud = any_cloud || points[i].series == BEHIND;
    if (any_cloud)
        canvas_note(c, "dots behind the front that touch are drawn once");
    if (n == 0)
        return data_none_left(&d, e);
    struct unit unit = unit_pick(unit_seconds, longest_s);
    for (int64_t i = 0; i < n; i++) {
        points[i].at.y /= unit.scale;
        points[i].low /= unit.scale;
        points[i].high /= unit.scale;
    }
    const struct scatter_spec spec = { .data = &d,
                                       .y_label = canvas_keep(c, "time of a training step [%s]", unit.name),
                                       .panels = &d.words[PANEL],
                                       .series = &series,
                                       .looks = looks,
                                       .panel_word = "workloads" };
    return scatter_build(c, points, n, &spec, e);
}
