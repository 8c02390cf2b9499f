#include "study/campaign_plan.h"

#include "study/study.h"
#include "study/axes.h"

/* ---- units ---- */

static int cut(struct campaign_plan *p, const struct study *study, struct err *e)
{
    const struct block_ops *blocks = study->kind->blocks;
    const struct block_job largest = { .study = study, .order = &p->order, .rule = &p->rule };
    int64_t most;
    if (!blocks) {
        p->order.n_units = study->sweep.n_points * study->seeds;
        return 0;
    }
    int rc = order_build(&p->order, &study->sweep, blocks->largest, blocks->quick, e);
    if (rc)
        return rc;
    rc = blocks->most(&most, &largest, e);
    order_free(&p->order);
    return rc ? rc : order_build(&p->order, &study->sweep, most, blocks->quick, e);
}

/* ---- the study's own file ---- */

static int read_rule(struct campaign_plan *p, const struct study *study, struct err *e)
{
    struct yaml_doc doc;
    int32_t own_source;
    int rc = source_open(&doc, &own_source, &study->from, e);
    if (rc)
        return rc;
    yaml_id keep = yaml_get(&doc, doc.root, "keep");
    rc = keep_read(&p->rule, study->kind, &doc, keep, &p->columns, e);
    if (!rc && keep >= 0)
        sweep_put_yaml(&p->keep, &doc, keep, false);
    yaml_free(&doc);
    return rc ? rc : text_check(&p->keep, e);
}

static int read_text(struct campaign_plan *p, const struct study_source *from, struct err *e)
{
    int rc = source_rules.is_word(from->path) ? 0 : text_read_file(&p->study, from->path, YAML_MAX_BYTES, e);
    for (int32_t i = 0; i < from->n && !rc; i++)
        text_printf(&p->study, "# --set %s=%s\n", from->overrides[i].path, from->overrides[i].value);
    return rc ? rc : text_check(&p->study, e);
}

int campaign_plan_make(struct campaign_plan *p, const struct study *study, bool all, struct err *e)
{
    const struct study_source *from = &study->from;
    *p = (struct campaign_plan){ .rule = { .kind = study->kind } };
    study_put_columns(&p->columns, study, TABLE_ROWS);
    int rc = p->columns.failed ? err_nomem(e, "columns") : 0;
    if (!rc && !all)
        rc = read_rule(p, study, e);
    if (!rc)
        rc = read_text(p, from, e);
    if (!rc)
        rc = cut(p, study, e);
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
