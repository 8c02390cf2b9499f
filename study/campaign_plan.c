#include "study/campaign_plan.h"

#include "kinds/design/runner.h"
#include "kinds/design/runner_grid.h"
#include "study/sweep_axis.h"
#include "study/sweep_values.h"

/* ---- units ---- */

/* Of a study at the first point; `o` has the largest units there are. */
static int choose_most(int64_t *most, const struct campaign_plan *p, const struct design_point *s,
                       struct err *e)
{
    enum { QUICK = 64 };
    struct order_unit unit;
    bool is_grid, slow = s->model > SIM_ALPHA_BETA;
    order_find(&unit, &p->order, 0);
    int rc = runner_grid_is(&is_grid, &p->rule, &p->order, s, &unit, e);
    for (int32_t i = 0; i < s->n_workloads; i++)
        slow = slow || (s->workloads[i].training && s->workloads[i].training->search >= 0);
    *most = !rc && is_grid ? RUNNER_GRID_POINTS : slow ? 1 : QUICK;
    return rc;
}

static int cut(struct campaign_plan *p, const struct sweep *w, const struct study_source *from, struct err *e)
{
    struct sweep_point first;
    struct design_point s;
    struct err ignored = { 0 };
    int64_t most = 1;
    int rc = order_build(&p->order, w, RUNNER_GRID_POINTS, e);
    if (rc)
        return rc;
    sweep_find_point(&first, w, 0);
    bool read = !sweep_load(&s, w, &first, *from, STUDY_UNSEARCHED, &ignored);
    if (read) {
        rc = choose_most(&most, p, &s, e);
        study_free(&s);
    }
    order_free(&p->order);
    return rc ? rc : order_build(&p->order, w, most, e);
}

/* ---- the study's own file ---- */

static int read_rule(struct campaign_plan *p, const struct study_source *from, struct err *e)
{
    struct yaml_doc doc;
    int32_t own_source;
    struct study_source own = *from;
    own.n_axes = 0;
    int rc = study_open(&doc, &own_source, &own, e);
    if (rc)
        return rc;
    yaml_id keep = yaml_get(&doc, doc.root, "keep");
    rc = keep_read(&p->rule, &doc, keep, &p->columns, e);
    if (!rc && keep >= 0)
        sweep_put_yaml(&p->keep, &doc, keep, false);
    yaml_free(&doc);
    return rc ? rc : text_check(&p->keep, e);
}

static int read_text(struct campaign_plan *p, const struct study_source *from, struct err *e)
{
    int rc = topo_is_spec(from->path) ? 0 : text_read_file(&p->study, from->path, YAML_MAX_BYTES, e);
    for (int32_t i = 0; i < from->n && !rc; i++)
        text_printf(&p->study, "# --set %s=%s\n", from->overrides[i].path, from->overrides[i].value);
    return rc ? rc : text_check(&p->study, e);
}

int campaign_plan_make(struct campaign_plan *p, const struct sweep *w, const struct study_source *from,
                       struct err *e)
{
    *p = (struct campaign_plan){ .passes = 1 };
    runner_columns(&p->columns, w);
    int rc = p->columns.failed ? err_nomem(e, "columns") : read_rule(p, from, e);
    if (!rc)
        rc = read_text(p, from, e);
    if (!rc)
        rc = cut(p, w, from, e);
    p->passes = p->rule.prune ? 2 : 1;
    if (!rc && p->order.n_units > INT64_MAX / p->passes)
        rc = err_set(e, ERR_RANGE, "%s: keep.prune: sweep has %lld units of points, need at most %lld",
                     from->path, (long long)p->order.n_units, (long long)(INT64_MAX / p->passes));
    if (rc)
        campaign_plan_free(p);
    return rc;
}

void campaign_plan_free(struct campaign_plan *p)
{
    keep_rule_free(&p->rule);
    order_free(&p->order);
    table_free(&p->columns);
    text_free(&p->study);
    text_free(&p->keep);
    *p = (struct campaign_plan){ 0 };
}
