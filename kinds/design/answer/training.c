/*
 * What a training step of a model comes to on a design: what memory it needs, what of the NPUs it uses; and
 * the columns of a row, where its time goes among them (kinds/design/answer/account.h).
 */
#include "kinds/design/answer/training.h"

#include <stdio.h>
#include <string.h>

void design_training_report(struct training_report *out, const struct design_point *s,
                            const struct design_workload *w, const struct design_load *load)
{
    const struct training *x = w->training;
    *out = (struct training_report){ .time_s = load->time_s };
    out->tokens_per_s = training_tokens(x) / out->time_s;
    out->mfu = training_mfu(x, &s->net, out->time_s);
    out->hfu = out->mfu * x->cost.hardware_flop / x->cost.model_flop;
    out->memory_B = x->memory.total_B;
    out->missing_B = training_missing_B(x, &s->net);
    out->tight = out->missing_B <= 0 && plan_reserve(&x->plan) * x->memory.total_B > -out->missing_B;
}

/* ---- as a row ---- */

const struct column training_columns[] = { TRAINING_COLUMNS(struct training_row, ), COLUMNS_END };

/* Where the time goes beside the columns of all designs; of workloads that are no models where it is some. */
static void fill_account(struct training_row *out, const struct account *a, bool trains)
{
    double *columns[] = { &out->recompute_s, &out->bubble_s, &out->optimizer_s, &out->overhead_s };
    const double parts_s[] = { a->recompute_s, a->bubble_s, a->optimizer_s, a->overhead_s };
    for (size_t i = 0; i < sizeof parts_s / sizeof *parts_s; i++)
        if (trains || parts_s[i] > 0)
            *columns[i] = parts_s[i];
    if (!trains)
        return;
    out->tp_s = account_axis_s(a, "tp");
    out->cp_s = account_axis_s(a, "cp");
    out->ep_s = account_axis_s(a, "ep");
    out->dp_s = account_axis_s(a, "dp");
    out->pp_s = account_axis_s(a, "pp");
}

/* One line of YAML; a plan has fewer than 60 keys of 20 bytes beside its chunks. */
static int put_parallel(struct training_row *out, const struct plan *p, struct err *e)
{
    struct text text = { 0 };
    struct json j = { .out = &text, .plain = true };
    json_open(&j, NULL, '{');
    schema_write(&j, &plan_section, p, false);
    json_close(&j, '}');
    int rc = text_check(&text, e);
    if (!rc && text.n < sizeof out->map) {
        memcpy(out->map, text_str(&text), text.n + 1);
        out->parallel = out->map;
    }
    text_free(&text);
    return rc;
}

bool design_time_band(struct evidence_band *out, int64_t *rows, const struct design *d)
{
    const struct design_point *s = d->chosen.point;
    int64_t least = INT64_MAX;
    *out = (struct evidence_band){ 0 };
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct design_workload *w = &s->workloads[i];
        struct evidence v;
        if (!w->training || !evidence_find(&v, w->training, &s->net.npu))
            return false;
        const struct evidence_band one = evidence_band(&v, w->weight * d->loads[i].time_s);
        out->low_s += one.low_s;
        out->high_s += one.high_s;
        if (evidence_rows(&v) < least)
            least = evidence_rows(&v);
    }
    if (rows)
        *rows = least;
    return s->n_workloads > 0;
}

static void fill_band(struct training_row *out, const struct design *d)
{
    struct evidence_band band;
    int64_t rows;
    if (!design_time_band(&band, &rows, d))
        return;
    out->time_low_s = band.low_s;
    out->time_high_s = band.high_s;
    out->evidence_rows = rows;
}

/* Most columns are blank for workloads that are no models. */
int design_training_row_fill(struct training_row *out, const struct design *d, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    const struct design_workload *w = &s->workloads[0];
    struct training_report r;
    struct text text = { 0 };
    row_clear(out, training_columns);
    fill_account(out, &d->account, w->training != NULL);
    if (!w->training)
        return 0;
    const struct plan *p = &w->training->plan;
    design_training_report(&r, s, w, &d->loads[0]);
    plan_format(&text, p, &w->training->model);
    int rc = text_check(&text, e);
    snprintf(out->text, sizeof out->text, "%s", text_str(&text));
    text_free(&text);
    out->plan = out->text;
    if (!rc && choice_plans(&d->chosen, 0))
        rc = put_parallel(out, p, e);
    out->tp = p->degree[PLAN_TP];
    out->cp = p->degree[PLAN_CP];
    out->dp = p->degree[PLAN_DP];
    out->pp = p->degree[PLAN_PP];
    out->ep = p->ep;
    out->micro_batch = p->micro;
    out->interleave = p->interleave;
    out->recompute = plan_recompute_words[p->recompute];
    out->zero = p->zero;
    out->memory_GB = r.memory_B / 1e9;
    out->fits = r.missing_B > 0 ? "no" : r.tight ? "tight" : "yes";
    out->mfu = r.mfu;
    out->tokens_per_s = s->n_workloads > 1 ? design_step_tokens(s) / d->time_s : r.tokens_per_s;
    fill_band(out, d);
    return rc;
}
